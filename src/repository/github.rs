//! Repositories in GitHub releases: `https://github.com/{owner}/{repository}/releases/{version}/{file}`, or `download/` before
//! the version, as the address of a file has it.
//!
//! A pinned version is fetched by its plain download URLs, which have no rate limit. The API comes in for `latest`, and
//! for private repositories, whose assets only the API gives out. Where the user has set `GOPROXY`, that is asked for versions
//! before the API.

use std::sync::Arc;

use serde::Deserialize;

use super::server::{BINARY, JSON, Server, decode};
use super::{
    Error, File, LATEST, METADATA_FILE, Reason, Release, Settings, tag_of, unescaped_segments,
};
use crate::http::{Get, Url, display_url};

/// Most releases on one page of the API.
const PAGE_SIZE: u32 = 100;

/// Where a provider's releases are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitHub {
    server: Server,
    owner: String,
    repository: String,
    pub(super) version: String,
    pub(super) file: String,
}

/// A file of a release, or how much of the way to it there is.
#[derive(Debug, Clone)]
pub(super) enum Asset {
    /// The file's text.
    Text(Arc<str>),
    /// Nothing is at the download URL, and there is no token to ask the API with.
    Unknown,
    /// The API has no such release.
    NoRelease,
    /// The release has these files only.
    NoFile(Vec<String>),
}

#[derive(Deserialize)]
struct ApiRelease {
    tag_name: String,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    assets: Vec<ApiAsset>,
}

#[derive(Deserialize)]
struct ApiAsset {
    id: u64,
    name: String,
    /// `uploaded`, when it is all there.
    #[serde(default)]
    state: Option<String>,
}

impl GitHub {
    /// Takes the URL of a provider apart; its host is known to be GitHub's.
    pub(super) fn parse(url: &Url) -> Result<Self, Error> {
        let segments = unescaped_segments(url);
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let invalid = |problem: &str| {
            Error::InvalidUrl {
            url: display_url(url),
            problem: problem.to_owned(),
            hint: "a GitHub repository should be in the form \
                https://github.com/{owner}/{Repository}/releases/{latest|version-tag}/{componentsClient.yaml}"
                .into(),
        }
        };
        match segments[..] {
            [owner, repository, "releases", LATEST, "download", file]
            | [owner, repository, "releases", "download", LATEST, file]
                if ![owner, repository, file].contains(&"") =>
            {
                Ok(Self::new(owner, repository, LATEST, file))
            }
            [owner, repository, "releases", "download", version, file]
                if ![owner, repository, version, file].contains(&"") =>
            {
                Ok(Self::new(owner, repository, version, file))
            }
            [_, _, "releases", "download" | "tag", ..] => {
                Err(invalid("it names no file of a release"))
            }
            [owner, repository, "releases", version, .., file]
                if ![owner, repository, version, file].contains(&"") =>
            {
                Ok(Self::new(owner, repository, version, file))
            }
            _ => Err(invalid("it is not the address of a release's file")),
        }
    }

    /// Returns the place of one file of a release.
    pub(super) fn new(owner: &str, repository: &str, version: &str, file: &str) -> Self {
        Self {
            server: Server::dot_com(),
            owner: owner.into(),
            repository: repository.into(),
            version: version.into(),
            file: file.into(),
        }
    }

    /// Returns the same place in another GitHub.
    pub(super) fn on(self, server: Server) -> Self {
        Self { server, ..self }
    }

    /// Returns the GitHub that it is on.
    #[cfg(any(test, fuzzing))]
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the URL of the releases, for people.
    pub(super) fn location(&self) -> String {
        format!("{}/{}/releases", self.server.web(), self.slug())
    }

    fn slug(&self) -> String {
        format!("{}/{}", self.owner, self.repository)
    }

    /// Returns the releases whose tags are semantic versions, in no order; looked up once per process.
    pub(super) async fn releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        settings
            .cache
            .releases()
            .get_or_try_make(&self.location(), self.list_releases(settings))
            .await
    }

    async fn list_releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        if let Some(releases) = self.ask_go_proxy(settings).await {
            return Ok(releases.into());
        }
        let mut releases = Vec::new();
        let api = self.server.api();
        let first = format!("{api}/repos/{}/releases?per_page={PAGE_SIZE}", self.slug());
        let mut next = Some(first);
        while let Some(url) = next {
            let response = self.server.get(settings, &url, JSON).await?;
            // The token goes to the API only, whatever a header says.
            next = response
                .next_page
                .filter(|page| page.starts_with(&format!("{api}/")));
            let page: Vec<ApiRelease> = decode(&url, &response.body)?;
            releases.extend(
                page.into_iter()
                    .filter(|release| !release.draft)
                    .filter_map(ApiRelease::into_release),
            );
        }
        Ok(releases.into())
    }

    /// The names of repositories at an enterprise are not for others.
    async fn ask_go_proxy(&self, settings: &Settings) -> Option<Vec<Release>> {
        let proxy = settings.go_proxy.as_ref()?;
        if !self.server.is_dot_com() {
            return None;
        }
        let module = format!("{}/{}", self.server.host(), self.slug());
        proxy.releases(settings, &module).await
    }

    /// Reads a file of a release.
    pub(super) async fn read(
        &self,
        settings: &Settings,
        version: &str,
        file: &str,
    ) -> Result<File, Reason> {
        let tag = self.tag_of(settings, version);
        let url = self.download_url(&tag, file);
        let fetch = self.fetch_asset(settings, &url, &tag, file);
        match settings.cache.assets().get_or_try_make(&url, fetch).await? {
            Asset::Text(text) => Ok(File {
                text: text.to_string(),
                origin: url,
                overridden: false,
            }),
            Asset::Unknown => Err(Reason::MissingUrl {
                url,
                authorized: false,
            }),
            Asset::NoRelease => Err(Reason::MissingVersion {
                version: tag,
                location: self.location(),
                available: Vec::new(),
            }),
            Asset::NoFile(available) => Err(Reason::MissingFile {
                file: file.to_owned(),
                version: tag,
                location: self.location(),
                available,
            }),
        }
    }

    /// Returns the tag of a version where the releases are known already, for tags without a leading `v`.
    fn tag_of(&self, settings: &Settings, version: &str) -> String {
        let known = settings.cache.releases().peek(&self.location());
        tag_of(known.as_deref().unwrap_or_default(), version)
    }

    fn download_url(&self, tag: &str, file: &str) -> String {
        let mut url = Url::parse(&self.server.web()).expect("a host of a URL makes a URL");
        let segments = [
            &self.owner,
            &self.repository,
            "releases",
            "download",
            tag,
            file,
        ];
        url.path_segments_mut()
            .expect("an https URL has segments")
            .extend(segments);
        url.into()
    }

    async fn fetch_asset(
        &self,
        settings: &Settings,
        url: &str,
        tag: &str,
        file: &str,
    ) -> Result<Asset, Reason> {
        // The pages of an enterprise ask for a password where its API takes the token.
        if !self.server.is_dot_com() {
            return match settings.fetcher.stored_file(url).await {
                Some(body) => text_asset(url, body),
                None => self.fetch_by_api(settings, url, tag, file).await,
            };
        }
        match settings.fetcher.file(Get::new(url).label(file)).await {
            Ok(body) => text_asset(url, body),
            Err(error) if !error.is_not_found() => Err(error.into()),
            Err(_) if self.server.token(settings).is_none() => {
                Ok(self.explain_missing(settings, tag, file).await)
            }
            Err(_) => self.fetch_by_api(settings, url, tag, file).await,
        }
    }

    /// Lists the files of a release that lacks one. Many releases lack metadata, which is no cause for a request that
    /// counts; and when the API does not answer, what was known before stands.
    async fn explain_missing(&self, settings: &Settings, tag: &str, file: &str) -> Asset {
        if file == METADATA_FILE {
            return Asset::Unknown;
        }
        match self.find_release(settings, tag).await {
            Ok(Some(release)) if !release.uploaded().any(|asset| asset.name == file) => {
                release.without(file)
            }
            _ => Asset::Unknown,
        }
    }

    async fn fetch_by_api(
        &self,
        settings: &Settings,
        url: &str,
        tag: &str,
        file: &str,
    ) -> Result<Asset, Reason> {
        let Some(release) = self.find_release(settings, tag).await? else {
            return Ok(Asset::NoRelease);
        };
        let Some(asset) = release.uploaded().find(|asset| asset.name == file) else {
            return Ok(release.without(file));
        };
        let id = asset.id.to_string();
        let by_id = self
            .server
            .repository_api(&self.slug(), ["releases", "assets", &id]);
        let body = self
            .server
            .get(settings, by_id.as_str(), BINARY)
            .await?
            .body;
        settings.fetcher.store_file(url, &body).await;
        text_asset(url, body)
    }

    async fn find_release(
        &self,
        settings: &Settings,
        tag: &str,
    ) -> Result<Option<ApiRelease>, Reason> {
        let by_tag = self
            .server
            .repository_api(&self.slug(), ["releases", "tags", tag]);
        match self.server.get(settings, by_tag.as_str(), JSON).await {
            Err(reason) if reason.is_not_found() => Ok(None),
            Ok(response) => decode(by_tag.as_str(), &response.body).map(Some),
            Err(reason) => Err(reason),
        }
    }
}

impl ApiRelease {
    /// Returns the files that can be downloaded: one that is being uploaded is listed already.
    fn uploaded(&self) -> impl Iterator<Item = &ApiAsset> {
        let is_there = |asset: &&ApiAsset| {
            let state = asset.state.as_deref();
            state.is_none_or(|state| state == "uploaded")
        };
        self.assets.iter().filter(is_there)
    }

    fn names(&self) -> Vec<String> {
        self.uploaded().map(|asset| asset.name.clone()).collect()
    }

    /// Returns `None` for tags that are no semantic version.
    fn into_release(self) -> Option<Release> {
        let files = self.names();
        Some(Release::from_tag(self.tag_name)?.with_files(files))
    }

    /// Returns the names of the files, for a file that is not among them.
    fn without(self, file: &str) -> Asset {
        let mut names = self.names();
        names.retain(|name| name != file);
        names.sort();
        Asset::NoFile(names)
    }
}

fn text_asset(url: &str, body: Vec<u8>) -> Result<Asset, Reason> {
    match String::from_utf8(body) {
        Ok(text) => Ok(Asset::Text(text.into())),
        Err(_) => Err(Reason::NotText {
            origin: url.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<GitHub, Error> {
        GitHub::parse(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_url_is_owner_repository_version_and_file() {
        assert_eq!(
            parse("https://github.com/o/r/releases/latest/c.yaml").unwrap(),
            GitHub::new("o", "r", "latest", "c.yaml")
        );
        assert_eq!(
            parse("https://github.com/o/r/releases/v1.0.0/a/b/c.yaml").unwrap(),
            GitHub::new("o", "r", "v1.0.0", "c.yaml")
        );
        assert_eq!(
            parse("https://github.com/o/r/releases/v1.0.0%2B1/c.yaml").unwrap(),
            GitHub::new("o", "r", "v1.0.0+1", "c.yaml")
        );
    }

    #[test]
    fn the_address_of_a_download_is_understood() {
        for (path, version) in [
            ("download/v0.1.0/c.yaml", "v0.1.0"),
            ("latest/download/c.yaml", "latest"),
            ("download/latest/c.yaml", "latest"),
        ] {
            assert_eq!(
                parse(&format!("https://github.com/o/r/releases/{path}")).unwrap(),
                GitHub::new("o", "r", version, "c.yaml")
            );
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for (path, problem) in [
            ("o/r/releases/v1.0.0", "not the address"),
            ("o/r/releases/v1.0.0/", "not the address"),
            ("o/r/tree/v1.0.0/c.yaml", "not the address"),
            ("o/r/releases/download/v1.0.0", "names no file"),
            ("o/r/releases/download/v1.0.0/", "names no file"),
            ("o/r/releases/tag/v1.0.0", "names no file"),
            ("", "not the address"),
        ] {
            let error = parse(&format!("https://github.com/{path}")).unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
        }
    }

    #[test]
    fn names_are_escaped_in_download_urls() {
        let github = GitHub::new("o", "r", "", "");
        assert_eq!(
            github.download_url("v1.0.0+a b", "c?.yaml"),
            "https://github.com/o/r/releases/download/v1.0.0+a%20b/c%3F.yaml"
        );
    }
}
