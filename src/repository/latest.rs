//! Which version `latest` means: the newest complete release that fits the contract of this tool.
//!
//! Complete is a release that has metadata, which is valid, and the components file. Where the list of releases names
//! their files, no request is needed to find that out. What is incomplete is passed over and named: it must not hide
//! the releases before it. When no release is complete, the newest that has metadata is taken, as clusterctl does, and
//! whatever needs the rest of it says what is wrong.

use super::{Error, METADATA_FILE, ProviderRepository, Reason, Release, metadata};
use crate::model::{Contract, Metadata, Version};

/// How many releases are asked for their metadata, newest first, until one has it.
const CANDIDATES: usize = 5;

/// What `latest` means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Latest {
    pub(super) tag: String,
    /// Newer releases that do not count.
    pub(super) skipped: Vec<Skipped>,
}

/// A release that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Skipped {
    pub(super) tag: String,
    /// What is wrong with it: `has no ...`
    pub(super) flaw: String,
}

/// The newest release of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The contract.
    pub contract: Contract,
    /// The tag of the release.
    pub version: String,
}

/// Returns the version that `latest` means.
///
/// It is the newest release, or, when the provider's metadata says that a series for our contract is another one, the
/// newest release of the newest such series. A provider that has no release for our contract gets its newest release.
pub(super) async fn resolve(repository: &ProviderRepository) -> Result<Latest, Error> {
    find_latest(repository)
        .await
        .map_err(|source| failed(repository, source))
}

/// Returns the newest release of each contract, the newest first; the metadata of the newest release of all tells which
/// contract a series follows.
pub(super) async fn offers(repository: &ProviderRepository) -> Result<Vec<Offer>, Error> {
    find_offers(repository)
        .await
        .map_err(|source| failed(repository, source))
}

fn failed(repository: &ProviderRepository, source: Reason) -> Error {
    Error::Latest {
        label: repository.label().to_owned(),
        source: Box::new(source),
    }
}

async fn find_latest(repository: &ProviderRepository) -> Result<Latest, Reason> {
    let releases = repository.releases().await?;
    let mut search = Search::new(repository, Demand::Complete);
    if let Some(latest) = search.latest(&releases).await? {
        return Ok(latest);
    }
    let flawed = Search::new(repository, Demand::Metadata)
        .latest(&releases)
        .await?;
    flawed.ok_or_else(|| Reason::NoReleases {
        location: repository.location(),
        skipped: search
            .skipped
            .iter()
            .map(|Skipped { tag, flaw }| format!("`{tag}` {flaw}"))
            .collect(),
    })
}

async fn find_offers(repository: &ProviderRepository) -> Result<Vec<Offer>, Reason> {
    let releases = repository.releases().await?;
    let mut search = Search::new(repository, Demand::Complete);
    let Some((newest, Some(metadata))) = search.newest(&releases, |_| true).await? else {
        return Ok(Vec::new());
    };
    let mut contracts: Vec<&Contract> = metadata
        .release_series
        .iter()
        .map(|series| &series.contract)
        .collect();
    contracts.sort();
    contracts.dedup();
    let mut offers = Vec::new();
    for contract in contracts {
        let follows = |version: &Version| {
            let series = metadata.series_of(version);
            series.is_some_and(|series| series.contract == *contract)
        };
        let found = match follows(&newest.version) && !newest.version.is_prerelease() {
            true => Some(newest),
            false => search.newest_listed(&releases, follows).await?,
        };
        offers.extend(found.map(|release| (contract, release)));
    }
    offers.sort_by(|(_, left), (_, right)| right.version.cmp(&left.version));
    Ok(offers
        .into_iter()
        .map(|(contract, release)| Offer {
            contract: contract.clone(),
            version: release.tag.clone(),
        })
        .collect())
}

/// What is wrong with a release.
enum Flaw {
    /// It has not these files.
    Missing(Vec<String>),
    /// Its metadata says nothing that could be used.
    Metadata(String),
}

impl Flaw {
    fn describe(&self) -> String {
        match self {
            Self::Missing(files) => {
                let names: Vec<String> = files.iter().map(|file| format!("no `{file}`")).collect();
                format!("has {}", names.join(" and "))
            }
            Self::Metadata(problem) => {
                format!("has a `{METADATA_FILE}` that is not valid: {problem}")
            }
        }
    }
}

/// What a release must have to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// Valid metadata, and components.
    Complete,
    /// A file for metadata, whatever is in it.
    Metadata,
}

struct Search<'a> {
    repository: &'a ProviderRepository,
    demand: Demand,
    skipped: Vec<Skipped>,
}

impl<'a> Search<'a> {
    fn new(repository: &'a ProviderRepository, demand: Demand) -> Self {
        Self {
            repository,
            demand,
            skipped: Vec::new(),
        }
    }

    /// Returns the newest release for our contract, or the newest at all; `None` when no release is what is demanded.
    async fn latest(&mut self, releases: &[Release]) -> Result<Option<Latest>, Reason> {
        let Some((newest, metadata)) = self.newest(releases, |_| true).await? else {
            return Ok(None);
        };
        let ours = Contract::current();
        let series = metadata.map(|metadata| metadata.all_series_for(&ours));
        let mut found = newest;
        for series in series.into_iter().flatten() {
            let in_series = |version: &Version| version.series() == series;
            if in_series(&newest.version) {
                break;
            }
            if let Some((release, _)) = self.newest(releases, in_series).await? {
                found = release;
                break;
            }
        }
        Ok(Some(Latest {
            tag: found.tag.clone(),
            skipped: self.skipped.clone(),
        }))
    }

    /// Returns the newest release among those whose version passes, and its metadata if that is valid.
    async fn newest<'b>(
        &mut self,
        releases: &'b [Release],
        passes: impl Fn(&Version) -> bool,
    ) -> Result<Option<(&'b Release, Option<Metadata>)>, Reason> {
        let mut asked = 0;
        for release in candidates(releases, passes) {
            if asked == CANDIDATES {
                break;
            }
            let flaw = match self.find_missing(release).await {
                Some(flaw) => flaw,
                None => {
                    asked += 1;
                    match self.read_metadata(release).await? {
                        Ok(metadata) => return Ok(Some((release, Some(metadata)))),
                        Err(Flaw::Metadata(_)) if self.demand == Demand::Metadata => {
                            return Ok(Some((release, None)));
                        }
                        Err(flaw) => flaw,
                    }
                }
            };
            self.skip(release, &flaw);
        }
        Ok(None)
    }

    /// Returns the newest release that has all its files; where that is not known without a request, that has metadata.
    async fn newest_listed<'b>(
        &mut self,
        releases: &'b [Release],
        passes: impl Fn(&Version) -> bool,
    ) -> Result<Option<&'b Release>, Reason> {
        if releases.iter().any(|release| release.files.is_none()) {
            let found = self.newest(releases, passes).await?;
            return Ok(found.map(|(release, _)| release));
        }
        for release in candidates(releases, passes) {
            if self.find_missing(release).await.is_none() {
                return Ok(Some(release));
            }
        }
        Ok(None)
    }

    /// Tells which files a release lacks, as far as that is known without a request. Overrides do not count: they are
    /// for single files, not for what is newest.
    async fn find_missing(&self, release: &Release) -> Option<Flaw> {
        let at_hand;
        let files = match &release.files {
            Some(files) => files,
            None if self.repository.is_at_hand() => {
                at_hand = self.repository.files_at_hand(&release.tag).await;
                &at_hand
            }
            None => return None,
        };
        let needed: &[&str] = match self.demand {
            Demand::Complete => &[METADATA_FILE, self.repository.components_file()],
            Demand::Metadata => &[METADATA_FILE],
        };
        let missing: Vec<String> = needed
            .iter()
            .copied()
            .filter(|needed| !files.iter().any(|file| file == needed))
            .map(str::to_owned)
            .collect();
        (!missing.is_empty()).then_some(Flaw::Missing(missing))
    }

    async fn read_metadata(&self, release: &Release) -> Result<Result<Metadata, Flaw>, Reason> {
        let file = match self.repository.read(&release.tag, METADATA_FILE).await {
            Ok(file) => file,
            Err(Reason::NotText { .. }) => {
                return Ok(Err(Flaw::Metadata("it is not UTF-8 text".into())));
            }
            Err(reason) if reason.is_not_found() => {
                return Ok(Err(Flaw::Missing(vec![METADATA_FILE.into()])));
            }
            Err(reason) => return Err(reason),
        };
        Ok(metadata::parse_valid(&file).map_err(|error| Flaw::Metadata(problem_of(error))))
    }

    fn skip(&mut self, release: &Release, flaw: &Flaw) {
        let is_known = |skipped: &Skipped| skipped.tag == release.tag;
        if !self.skipped.iter().any(is_known) {
            self.skipped.push(Skipped {
                tag: release.tag.clone(),
                flaw: flaw.describe(),
            });
        }
    }
}

/// Returns the lowest cause in one line.
fn problem_of(error: Error) -> String {
    let text = match error {
        Error::MetadataSyntax { source, .. } => source.to_string(),
        Error::InvalidMetadata { problems, .. } => problems.join("; "),
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// Returns the releases whose version passes, in the order to try them: any full release before any pre-release, newer
/// before older.
fn candidates(releases: &[Release], passes: impl Fn(&Version) -> bool) -> Vec<&Release> {
    let mut candidates: Vec<&Release> = releases
        .iter()
        .filter(|release| passes(&release.version))
        .collect();
    candidates.sort_by(|left, right| {
        let prerelease = |release: &Release| release.version.is_prerelease();
        prerelease(left)
            .cmp(&prerelease(right))
            .then_with(|| right.version.cmp(&left.version))
    });
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_go_before_prereleases_and_newer_before_older() {
        let tags = [
            "v1.2.0",
            "v1.10.0",
            "v2.0.0-rc.1",
            "v1.9.9",
            "v2.0.0-rc.2",
            "v1.2.1",
        ];
        let releases: Vec<Release> = tags
            .iter()
            .filter_map(|tag| Release::from_tag((*tag).into()))
            .collect();
        let order = |series: Option<(u64, u64)>| -> Vec<&str> {
            let passes = |version: &Version| series.is_none_or(|series| version.series() == series);
            let candidates = candidates(&releases, passes);
            candidates
                .iter()
                .map(|release| release.tag.as_str())
                .collect()
        };
        assert_eq!(
            order(None),
            [
                "v1.10.0",
                "v1.9.9",
                "v1.2.1",
                "v1.2.0",
                "v2.0.0-rc.2",
                "v2.0.0-rc.1"
            ]
        );
        assert_eq!(order(Some((1, 2))), ["v1.2.1", "v1.2.0"]);
        assert_eq!(order(Some((2, 0))), ["v2.0.0-rc.2", "v2.0.0-rc.1"]);
        assert!(order(Some((3, 0))).is_empty());
    }
}
