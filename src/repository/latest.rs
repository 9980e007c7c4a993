//! Which version `latest` means: the newest release that fits the contract of this tool.

use super::{Error, METADATA_FILE, ProviderRepository, Reason, Release, metadata};
use crate::model::{Contract, Metadata};

/// How many releases are tried, newest first, until one has metadata.
const CANDIDATES: usize = 5;

/// Returns the version that `latest` means.
///
/// It is the newest release, or, when the provider's metadata says that its newest series for our contract is another
/// one, the newest release of that series. A provider that has no series for our contract gets its newest release.
pub(super) async fn resolve(repository: &ProviderRepository) -> Result<String, Error> {
    let failed = |source| Error::Latest {
        label: repository.label().to_owned(),
        source: Box::new(source),
    };
    let releases = repository.releases().await.map_err(failed)?;
    let newest = newest_with_metadata(repository, &releases, None)
        .await
        .map_err(failed)?;
    let wanted = newest
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.newest_series_for(&Contract::current()))
        .map(|series| (series.major, series.minor));
    match wanted {
        Some(series) if series != newest.release.version.series() => {
            newest_with_metadata(repository, &releases, Some(series))
                .await
                .map(|found| found.release.tag.clone())
                .map_err(failed)
        }
        _ => Ok(newest.release.tag.clone()),
    }
}

struct Newest<'a> {
    release: &'a Release,
    /// `None` when it does not parse.
    metadata: Option<Metadata>,
}

async fn newest_with_metadata<'a>(
    repository: &ProviderRepository,
    releases: &'a [Release],
    series: Option<(u64, u64)>,
) -> Result<Newest<'a>, Reason> {
    let mut skipped = Vec::new();
    for release in candidates(releases, series) {
        // Overrides do not count here: they are for single files, not for what is newest.
        match repository.read(&release.tag, METADATA_FILE).await {
            Ok(file) => {
                let metadata = metadata::parse(&file);
                if metadata.is_err() {
                    tracing::warn!(file = file.origin, "this metadata does not parse");
                }
                return Ok(Newest {
                    release,
                    metadata: metadata.ok(),
                });
            }
            Err(reason) if reason.is_not_found() => {
                tracing::warn!(
                    provider = repository.label(),
                    version = release.tag,
                    "skipping a release without {METADATA_FILE}"
                );
                skipped.push(release.tag.clone());
            }
            Err(reason) => return Err(reason),
        }
    }
    Err(Reason::NoReleases {
        location: repository.location(),
        skipped,
    })
}

/// Returns the releases of a series, or all, in the order to try them: any full release before any pre-release, newer
/// before older.
fn candidates(releases: &[Release], series: Option<(u64, u64)>) -> Vec<&Release> {
    let mut candidates: Vec<&Release> = releases
        .iter()
        .filter(|release| series.is_none_or(|series| release.version.series() == series))
        .collect();
    candidates.sort_by(|left, right| {
        let prerelease = |release: &Release| release.version.is_prerelease();
        prerelease(left)
            .cmp(&prerelease(right))
            .then_with(|| right.version.cmp(&left.version))
    });
    candidates.truncate(CANDIDATES);
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
            "v1.1.0",
        ];
        let releases: Vec<Release> = tags
            .iter()
            .filter_map(|tag| Release::from_tag((*tag).into()))
            .collect();
        let order = |series| -> Vec<&str> {
            let candidates = candidates(&releases, series);
            candidates
                .iter()
                .map(|release| release.tag.as_str())
                .collect()
        };
        assert_eq!(
            order(None),
            ["v1.10.0", "v1.9.9", "v1.2.1", "v1.2.0", "v1.1.0"]
        );
        assert_eq!(order(Some((1, 2))), ["v1.2.1", "v1.2.0"]);
        assert_eq!(order(Some((2, 0))), ["v2.0.0-rc.2", "v2.0.0-rc.1"]);
        assert!(order(Some((3, 0))).is_empty());
    }
}
