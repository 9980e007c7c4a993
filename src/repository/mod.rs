//! Provider releases: which versions there are, and the files of each.
//!
//! ```text
//! ProviderRepository   overrides folder first, then the repository
//!  ├ Embedded          the program itself
//!  ├ Local             a folder: {base}/{provider label}/{version}/{file}
//!  ├ HttpFolder        the same on a web server
//!  ├ GitLab            generic packages of a project
//!  └ GitHub            releases: download URLs, and the API for `latest` and private repositories
//!     └ goproxy        versions from Go module proxies, before the API, where the user wants it
//! kind                 which of them an address leads to
//! source               templates from files and URLs, which belong to no repository
//! └ contents           files in GitHub repositories, at a branch, tag or commit
//! server               GitHub's API, at github.com and elsewhere
//! fetcher ─ store      downloads, and those of before on disk
//! ```

mod cache;
mod contents;
mod disk;
mod embedded;
mod error;
pub mod fetcher;
mod folder;
mod github;
mod gitlab;
pub mod goproxy;
mod kind;
mod latest;
mod local;
mod metadata;
mod server;
pub mod source;
pub mod store;

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio::sync::OnceCell;

use crate::http::Url;
use crate::model::{EmbeddedRelease, Metadata, Provider, RepositoryType, Secret, Version};
use crate::ui::Ui;
use cache::Cache;
use error::TOLD;
pub use error::{Error, Reason};
use fetcher::Fetcher;
use goproxy::GoProxy;
use kind::Kind;
pub use latest::Offer;
use latest::{Latest, Skipped};
pub use metadata::SyntaxError;
pub use server::Enterprise;

/// In place of a version: the newest one that fits.
pub const LATEST: &str = "latest";
/// The file of a release that names its contract.
pub const METADATA_FILE: &str = "metadata.yaml";

/// What repositories need. Clones share what has been fetched.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The way to download.
    pub fetcher: Fetcher,
    /// Token for github.com's API; no other host sees it.
    pub github_token: Option<Secret>,
    /// Token for the API of the GitLab that a provider's URL leads to.
    pub gitlab_token: Option<Secret>,
    /// Go module proxies to ask for the versions of repositories at github.com.
    pub go_proxy: Option<GoProxy>,
    /// The GitHub Enterprise that links may lead to.
    pub enterprise: Option<Enterprise>,
    /// Folder whose files, `{provider label}/{version}/{file}`, go before those of the repositories.
    pub overrides_folder: Option<PathBuf>,
    embedded: Vec<EmbeddedRelease>,
    cache: Cache,
}

impl Settings {
    /// Returns settings with nothing fetched.
    pub fn new(
        fetcher: Fetcher,
        github_token: Option<Secret>,
        overrides_folder: Option<PathBuf>,
    ) -> Self {
        Self {
            fetcher,
            github_token,
            gitlab_token: None,
            go_proxy: None,
            enterprise: None,
            overrides_folder,
            embedded: Vec::new(),
            cache: Cache::default(),
        }
    }

    /// Adds the token for GitLab.
    #[must_use]
    pub fn with_gitlab_token(mut self, token: Option<Secret>) -> Self {
        self.gitlab_token = token;
        self
    }

    /// Adds the Go module proxies that may be asked.
    #[must_use]
    pub fn with_go_proxy(mut self, proxy: Option<GoProxy>) -> Self {
        self.go_proxy = proxy;
        self
    }

    /// Names the GitHub Enterprise that links may lead to.
    #[must_use]
    pub fn with_enterprise(mut self, enterprise: Option<Enterprise>) -> Self {
        self.enterprise = enterprise;
        self
    }

    /// Adds releases that are part of the program, for `embedded:` addresses.
    #[must_use]
    pub fn with_embedded(mut self, releases: impl IntoIterator<Item = EmbeddedRelease>) -> Self {
        self.embedded.extend(releases);
        self
    }
}

/// A text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The whole text.
    pub text: String,
    /// Path or URL.
    pub origin: String,
    /// It comes from the overrides folder.
    pub overridden: bool,
}

impl File {
    fn from_bytes(bytes: Vec<u8>, origin: String) -> Result<Self, Reason> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self {
                text,
                origin,
                overridden: false,
            }),
            Err(_) => Err(Reason::NotText { origin }),
        }
    }
}

/// A version, and the name it goes by in its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Release {
    version: Version,
    tag: String,
    /// The names of its files, where the list of releases tells them.
    files: Option<Vec<String>>,
}

impl Release {
    /// Returns `None` for tags that are no semantic version.
    fn from_tag(tag: String) -> Option<Self> {
        let version = tag.parse().ok()?;
        Some(Self {
            version,
            tag,
            files: None,
        })
    }

    fn with_files(self, files: Vec<String>) -> Self {
        Self {
            files: Some(files),
            ..self
        }
    }
}

/// The repository of one provider, or of cert-manager.
#[derive(Debug)]
pub struct ProviderRepository {
    label: String,
    url: String,
    kind: Kind,
    settings: Settings,
    latest: OnceCell<Latest>,
}

impl ProviderRepository {
    /// Returns the repository of a provider; nothing is read or asked yet.
    ///
    /// # Errors
    /// As [`ProviderRepository::open_as`].
    pub fn of(provider: &Provider, settings: &Settings) -> Result<Self, Error> {
        let label = provider.label();
        Self::open_as(&label, &provider.url, provider.repository_type, settings)
    }

    /// Returns the repository at a URL that tells of what type it is; nothing is read or asked yet.
    ///
    /// # Errors
    /// As [`ProviderRepository::open_as`].
    pub fn open(label: &str, url: &str, settings: &Settings) -> Result<Self, Error> {
        Self::open_as(label, url, None, settings)
    }

    /// Returns the repository at a URL; its type is guessed where nobody says it. Nothing is read or asked yet.
    ///
    /// # Errors
    /// The URL is none of a repository of this type, or of any.
    pub fn open_as(
        label: &str,
        url: &str,
        repository_type: Option<RepositoryType>,
        settings: &Settings,
    ) -> Result<Self, Error> {
        Ok(Self {
            label: label.to_owned(),
            url: url.to_owned(),
            kind: Kind::parse(label, url, repository_type, settings)?,
            settings: settings.clone(),
            latest: OnceCell::new(),
        })
    }

    /// Returns the provider's label, e.g. `infrastructure-aws`.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the URL that the repository was opened with.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of the components file, the last part of the URL.
    pub fn components_file(&self) -> &str {
        self.kind.file()
    }

    /// Returns the version that the URL names. `latest` is looked up once: the newest release whose series follows our
    /// contract, or the newest at all where no series does. A warning names newer releases that are incomplete.
    ///
    /// # Errors
    /// `latest` leads to no release.
    pub async fn default_version(&self) -> Result<String, Error> {
        match self.pinned_version() {
            Some(version) => Ok(version.to_owned()),
            None => self.latest_version().await,
        }
    }

    /// Returns the version that a user asks for; `latest` is looked up, also where the URL names a version.
    ///
    /// # Errors
    /// As [`ProviderRepository::default_version`].
    pub async fn resolve_version(&self, asked: Option<&str>) -> Result<String, Error> {
        match asked {
            None => self.default_version().await,
            Some(LATEST) => self.latest_version().await,
            Some(version) => Ok(version.to_owned()),
        }
    }

    async fn latest_version(&self) -> Result<String, Error> {
        let resolve = async || {
            let latest = latest::resolve(self).await?;
            self.warn_of(&latest);
            Ok(latest)
        };
        Ok(self.latest.get_or_try_init(resolve).await?.tag.clone())
    }

    /// Returns the version as [`ProviderRepository::default_version`] does, without any warning.
    ///
    /// # Errors
    /// The same.
    pub async fn default_version_silently(&self) -> Result<String, Error> {
        match self.pinned_version() {
            Some(version) => Ok(version.to_owned()),
            None => Ok(latest::resolve(self).await?.tag),
        }
    }

    /// Returns the newest complete release of each contract, the newest first.
    ///
    /// # Errors
    /// The repository cannot be read, or has no release.
    pub async fn offers(&self) -> Result<Vec<Offer>, Error> {
        latest::offers(self).await
    }

    /// Returns the version that the URL names, unless that is `latest`.
    fn pinned_version(&self) -> Option<&str> {
        let version = self.kind.version();
        (version != LATEST).then_some(version)
    }

    fn warn_of(&self, Latest { tag, skipped }: &Latest) {
        let label = &self.label;
        let (told, others) = skipped.split_at(skipped.len().min(TOLD));
        for Skipped { tag: newer, flaw } in told {
            Ui.warn(format!(
                "`{label}` {newer} is passed over, {tag} is taken for the latest: it {flaw}"
            ));
        }
        if !others.is_empty() {
            let count = others.len();
            Ui.warn(format!(
                "`{label}`: {count} more releases are passed over for such reasons"
            ));
        }
    }

    /// Tells whether the repository is part of the program.
    pub fn is_embedded(&self) -> bool {
        matches!(self.kind, Kind::Embedded(_))
    }

    /// Tells whether versions and files can be listed without the network.
    pub fn is_at_hand(&self) -> bool {
        matches!(self.kind, Kind::Embedded(_) | Kind::Local(_))
    }

    /// Returns the names of a version's files, sorted; none where only the network knows them, or nothing is there.
    pub async fn files_at_hand(&self, version: &str) -> Vec<String> {
        match &self.kind {
            Kind::Embedded(embedded) => embedded.files(version),
            Kind::Local(local) => local.files(version).await,
            Kind::HttpFolder(_) | Kind::GitLab(_) | Kind::GitHub(_) => Vec::new(),
        }
    }

    /// Returns all versions, oldest first.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub async fn versions(&self) -> Result<Vec<Version>, Error> {
        let releases = self.releases().await.map_err(|source| Error::Versions {
            label: self.label.clone(),
            source: Box::new(source),
        })?;
        let mut versions: Vec<Version> = releases
            .into_iter()
            .map(|release| release.version)
            .collect();
        versions.sort();
        Ok(versions)
    }

    /// Returns a file of a version, from the overrides folder if it is there. Nothing but this version is looked at.
    ///
    /// # Errors
    /// The version or the file does not exist, or cannot be read.
    pub async fn fetch(&self, version: &str, file: &str) -> Result<File, Error> {
        self.read_or_override(version, file)
            .await
            .map_err(|source| Error::Fetch {
                label: self.label.clone(),
                file: file.to_owned(),
                source: Box::new(source),
            })
    }

    /// Returns the metadata of a version.
    ///
    /// # Errors
    /// As [`ProviderRepository::fetch`], or the file is not valid.
    pub async fn fetch_metadata(&self, version: &str) -> Result<Metadata, Error> {
        let file = self.fetch(version, METADATA_FILE).await?;
        metadata::parse_valid(&file)
    }

    async fn read_or_override(&self, version: &str, file: &str) -> Result<File, Reason> {
        ensure_name(version, "version")?;
        ensure_name(file, "file")?;
        match self.read_override(version, file).await? {
            Some(file) => Ok(file),
            None => self.read(version, file).await,
        }
    }

    async fn read_override(&self, version: &str, file: &str) -> Result<Option<File>, Reason> {
        let Some(folder) = &self.settings.overrides_folder else {
            return Ok(None);
        };
        let path = folder.join(&self.label).join(version).join(file);
        let found = disk::read_if_exists(&path).await?;
        if found.is_some() {
            tracing::debug!(path = %path.display(), provider = self.label, version, "Using override");
        }
        Ok(found.map(|file| File {
            overridden: true,
            ..file
        }))
    }

    /// Reads from the repository itself.
    async fn read(&self, version: &str, file: &str) -> Result<File, Reason> {
        match &self.kind {
            Kind::Embedded(embedded) => embedded.read(version, file),
            Kind::Local(local) => local.read(version, file).await,
            Kind::HttpFolder(folder) => folder.read(&self.settings, version, file).await,
            Kind::GitLab(gitlab) => gitlab.read(&self.settings, version, file).await,
            Kind::GitHub(github) => github.read(&self.settings, version, file).await,
        }
    }

    async fn releases(&self) -> Result<Vec<Release>, Reason> {
        match &self.kind {
            Kind::Embedded(embedded) => Ok(embedded.releases()),
            Kind::Local(local) => local.releases().await,
            Kind::HttpFolder(folder) => Ok(folder.releases(&self.settings).await?.to_vec()),
            Kind::GitLab(gitlab) => Ok(gitlab.releases(&self.settings).await?.to_vec()),
            Kind::GitHub(github) => Ok(github.releases(&self.settings).await?.to_vec()),
        }
    }

    fn location(&self) -> String {
        self.kind.location()
    }
}

/// Returns the tag of a version among those that are known, for tags without a leading `v`.
fn tag_of(known: &[Release], version: &str) -> String {
    let literal = known.iter().any(|release| release.tag == version);
    match version.parse::<Version>() {
        Ok(wanted) if !literal => known
            .iter()
            .find(|release| release.version == wanted)
            .map_or_else(|| version.to_owned(), |release| release.tag.clone()),
        _ => version.to_owned(),
    }
}

/// Checks the names of the folders around a file, of which the outer one is the provider's, as clusterctl wants them.
fn ensure_folders(actual_label: &str, version: &str, label: &str) -> Result<(), String> {
    if actual_label != label {
        return Err(format!(
            "the folder `{actual_label}` must have the name of the provider, `{label}`"
        ));
    }
    if version != LATEST && version.parse::<Version>().is_err() {
        return Err(format!(
            "`{version}` is neither a semantic version nor `{LATEST}`"
        ));
    }
    Ok(())
}

/// Returns the parts of a URL's path as they are meant, without escapes.
fn unescaped_segments(url: &Url) -> Vec<String> {
    let segments = url.path_segments().into_iter().flatten();
    segments
        .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into())
        .collect()
}

/// Versions and files are single parts of paths and URLs, and must not lead elsewhere.
fn ensure_name(name: &str, what: &'static str) -> Result<(), Reason> {
    if matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']) {
        Err(Reason::Name(name.to_owned(), what))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lead_out_of_their_folder() {
        for bad in ["", ".", "..", "../x", "a/b", "a\\b"] {
            assert!(ensure_name(bad, "version").is_err(), "{bad}");
        }
        assert!(ensure_name("v1.2.3-rc.1+x", "version").is_ok());
    }
}
