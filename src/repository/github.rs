//! Repositories in GitHub releases: `https://github.com/{owner}/{repository}/releases/{version}/{file}`.
//!
//! A pinned version is fetched by its plain download URLs, which have no rate limit. The API comes in for `latest`, and
//! for private repositories, whose assets only the API gives out.

use std::sync::Arc;

use serde::Deserialize;

use super::{Error, File, Reason, Release, Settings};
use crate::http::{Get, Response, Url};
use crate::model::Version;

/// Base of the API.
pub(super) const API: &str = "https://api.github.com";
const JSON: &str = "application/vnd.github+json";
const BINARY: &str = "application/octet-stream";
/// Most releases on one page of the API.
const PAGE_SIZE: u32 = 100;

/// Where a provider's releases are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitHub {
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
}

impl GitHub {
    /// Takes the URL of a provider apart; its host is known to be `github.com`.
    pub(super) fn parse(url: &Url) -> Result<Self, Error> {
        let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
        let invalid = |problem: &str| {
            Error::InvalidUrl {
            url: url.to_string(),
            problem: problem.to_owned(),
            hint: "a GitHub repository should be in the form \
                https://github.com/{owner}/{Repository}/releases/{latest|version-tag}/{componentsClient.yaml}"
                .into(),
        }
        };
        match segments[..] {
            [_, _, "releases", "download", ..] => {
                Err(invalid("it has `download/` before the version"))
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
            owner: owner.into(),
            repository: repository.into(),
            version: version.into(),
            file: file.into(),
        }
    }

    /// Returns the URL of the releases, for people.
    pub(super) fn location(&self) -> String {
        format!("https://github.com/{}/releases", self.slug())
    }

    fn slug(&self) -> String {
        format!("{}/{}", self.owner, self.repository)
    }

    /// Returns the releases whose tags are semantic versions, in no order; looked up once per process.
    pub(super) async fn releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        settings
            .cache
            .releases()
            .get_or_try_make(&self.slug(), self.list_releases(settings))
            .await
    }

    async fn list_releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        let mut releases = Vec::new();
        let first = format!("{API}/repos/{}/releases?per_page={PAGE_SIZE}", self.slug());
        let mut next = Some(first);
        while let Some(url) = next {
            let response = get(settings, &url, JSON).await?;
            // The token goes to the API only, whatever a header says.
            next = response
                .next_page()
                .filter(|page| page.starts_with(&format!("{API}/")))
                .map(str::to_owned);
            let page: Vec<ApiRelease> = decode(&url, &response.body)?;
            releases.extend(
                page.into_iter()
                    .filter(|release| !release.draft)
                    .filter_map(|release| Release::from_tag(release.tag_name)),
            );
        }
        Ok(releases.into())
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
        let known = settings.cache.releases().peek(&self.slug());
        let releases = known.as_deref().unwrap_or_default();
        let literal = releases.iter().any(|release| release.tag == version);
        match version.parse::<Version>() {
            Ok(wanted) if !literal => releases
                .iter()
                .find(|release| release.version == wanted)
                .map_or_else(|| version.to_owned(), |release| release.tag.clone()),
            _ => version.to_owned(),
        }
    }

    fn download_url(&self, tag: &str, file: &str) -> String {
        let mut url = Url::parse("https://github.com").expect("the URL is valid");
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
        match settings.http.get(Get::new(url)).await {
            Ok(response) => text_asset(url, response),
            Err(error) if !error.is_not_found() => Err(Reason::Http(error)),
            Err(_) if settings.github_token.is_none() => Ok(Asset::Unknown),
            Err(_) => self.fetch_by_api(settings, url, tag, file).await,
        }
    }

    async fn fetch_by_api(
        &self,
        settings: &Settings,
        url: &str,
        tag: &str,
        file: &str,
    ) -> Result<Asset, Reason> {
        let mut by_tag = Url::parse(&format!("{API}/repos/{}/releases/tags", self.slug()))
            .expect("the URL is valid");
        by_tag
            .path_segments_mut()
            .expect("an https URL has segments")
            .push(tag);
        let response = match get(settings, by_tag.as_str(), JSON).await {
            Err(reason) if reason.is_not_found() => return Ok(Asset::NoRelease),
            other => other?,
        };
        let release: ApiRelease = decode(by_tag.as_str(), &response.body)?;
        let Some(asset) = release.assets.iter().find(|asset| asset.name == file) else {
            let names = release.assets.into_iter().map(|asset| asset.name);
            return Ok(Asset::NoFile(names.collect()));
        };
        let by_id = format!("{API}/repos/{}/releases/assets/{}", self.slug(), asset.id);
        text_asset(url, get(settings, &by_id, BINARY).await?)
    }
}

fn text_asset(url: &str, response: Response) -> Result<Asset, Reason> {
    match String::from_utf8(response.body) {
        Ok(text) => Ok(Asset::Text(text.into())),
        Err(_) => Err(Reason::NotText {
            origin: url.to_owned(),
        }),
    }
}

/// Asks the API, with the token if there is one.
pub(super) async fn get(
    settings: &Settings,
    url: &str,
    accept: &'static str,
) -> Result<Response, Reason> {
    let token = settings.github_token.as_ref();
    let request = Get::new(url).accept(accept).token(token);
    settings.http.get(request).await.map_err(|error| {
        match error
            .status()
            .map(|status| (status.code, status.rate_limited))
        {
            Some((403 | 429, true)) => Reason::RateLimit(error),
            Some((401, _)) => Reason::Token(error),
            Some((404, _)) => Reason::MissingUrl {
                url: url.split('?').next().unwrap_or(url).to_owned(),
                authorized: token.is_some(),
            },
            _ => Reason::Http(error),
        }
    })
}

fn decode<T: serde::de::DeserializeOwned>(url: &str, body: &[u8]) -> Result<T, Reason> {
    serde_json::from_slice(body).map_err(|source| Reason::Answer {
        url: url.to_owned(),
        source,
    })
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
    }

    #[test]
    fn other_urls_are_refused() {
        for (path, problem) in [
            ("o/r/releases/v1.0.0", "not the address"),
            ("o/r/releases/v1.0.0/", "not the address"),
            ("o/r/tree/v1.0.0/c.yaml", "not the address"),
            ("o/r/releases/download/v1.0.0/c.yaml", "`download/`"),
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
