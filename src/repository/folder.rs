//! Repositories in a folder on a web server, laid out like one on disk: `{base}/{provider label}/{version}/{file}`.
//!
//! A web server does not say which folders it has, so for `latest` and for lists there is a file `versions` beside them:
//! one version a line, or a JSON list of texts. A pinned version needs no such file.

use std::sync::Arc;

use super::fetcher;
use super::{Error, File, Reason, Release, Settings, ensure_folders, tag_of, unescaped_segments};
use crate::http::{self, Get, Url, display_url, limit};

/// The file that lists the versions.
const VERSIONS_FILE: &str = "versions";

/// A provider's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HttpFolder {
    /// URL of the folder: `{base}/{provider label}`.
    folder: String,
    pub(super) version: String,
    pub(super) file: String,
}

/// Why the folder gives nothing.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The list of versions is not there.
    #[error("`{url}`, which would tell the versions, does not exist")]
    NoList {
        /// Its URL.
        url: String,
    },
    /// A file is not there.
    #[error("`{url}` does not exist")]
    Missing {
        /// Its URL.
        url: String,
        /// URL of the provider's folder.
        folder: String,
    },
    /// The server wants to know who asks.
    #[error("the server asks for credentials")]
    Closed(#[source] http::Error),
    /// The server gives nothing, whoever asks.
    #[error("the server does not give it out")]
    Forbidden(#[source] http::Error),
    /// The server answers with a page, be it of its own or of a login.
    #[error("`{url}` is a web page, not a file of a release")]
    WebPage {
        /// The URL.
        url: String,
    },
    /// The list of versions is no list.
    #[error("`{url}` does not list versions")]
    List {
        /// Its URL.
        url: String,
        /// What is wrong with its JSON.
        source: serde_json::Error,
    },
}

impl Refusal {
    /// Tells whether the thing is known not to exist.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::NoList { .. } | Self::Missing { .. })
    }

    /// Says what helps.
    pub(super) fn hints(&self) -> Vec<String> {
        match self {
            Self::NoList { .. } => vec![
                "name a version, in the provider's `url` or as `name:version`; or put that file beside the folders of the versions, one version a line"
                    .into(),
            ],
            Self::List { .. } => vec!["write one version a line, or a JSON list of texts".into()],
            Self::Missing { folder, .. } => vec![format!(
                "files are read from `{folder}/{{version}}/{{file}}`; is the version published there?"
            )],
            Self::Forbidden(_) => vec![
                "folders on the web are read without credentials; a storage service answers so too when there is no such file: is it published?"
                    .into(),
            ],
            Self::Closed(_) | Self::WebPage { .. } => vec![
                "folders on the web are read without credentials; for GitHub Enterprise or GitLab set `repositoryType: github` or `repositoryType: gitlab` beside `url`"
                    .into(),
            ],
        }
    }
}

impl HttpFolder {
    /// Takes an address apart.
    pub(super) fn parse(label: &str, url: &Url) -> Result<Self, Error> {
        let invalid = |problem: String| Error::InvalidUrl {
            url: display_url(url),
            problem,
            hint: format!(
                "the address of a folder on the web is `https://{{host}}/{{folder}}/{label}/{{version or latest}}/{{file}}`; \
                 for GitHub Enterprise or GitLab set `repositoryType: github` or `repositoryType: gitlab` beside `url`"
            ),
        };
        if url.query().is_some() {
            return Err(invalid(
                "what is behind its `?` would not lead to the other files of the release".into(),
            ));
        }
        let names = unescaped_segments(url);
        let [.., actual_label, version, file] = &names[..] else {
            return Err(invalid("it has too few parts".into()));
        };
        if file.is_empty() {
            return Err(invalid("it names no file".into()));
        }
        ensure_folders(actual_label, version, label).map_err(invalid)?;
        let mut folder = url.clone();
        folder.set_fragment(None);
        folder
            .path_segments_mut()
            .expect("an http URL has segments")
            .pop()
            .pop();
        Ok(Self {
            folder: folder.into(),
            version: version.clone(),
            file: file.clone(),
        })
    }

    /// Returns the URL of the provider's folder.
    pub(super) fn location(&self) -> String {
        self.folder.clone()
    }

    /// Returns the versions that the list has, in no order; looked up once per process.
    pub(super) async fn releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        settings
            .cache
            .releases()
            .get_or_try_make(&self.folder, self.list_releases(settings))
            .await
    }

    async fn list_releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        let url = self.url([VERSIONS_FILE]);
        let answer = match settings.fetcher.listing(Get::new(&url)).await {
            Err(error) if error.is_not_found() => return Err(Refusal::NoList { url }.into()),
            answer => answer.map_err(reason)?,
        };
        let list = File::from_bytes(answer.body, url.clone())?;
        match parse_versions(&list.text) {
            Ok(releases) => Ok(releases.into()),
            Err(source) => Err(Refusal::List { url, source }.into()),
        }
    }

    /// Reads a file of a version.
    pub(super) async fn read(
        &self,
        settings: &Settings,
        version: &str,
        file: &str,
    ) -> Result<File, Reason> {
        let known = settings.cache.releases().peek(&self.folder);
        let tag = tag_of(known.as_deref().unwrap_or_default(), version);
        let url = self.url([&tag, file]);
        let fetch = self.fetch(settings, &url, file);
        let text = settings.cache.texts().get_or_try_make(&url, fetch).await?;
        Ok(File {
            text: text.to_string(),
            origin: url.clone(),
            overridden: false,
        })
    }

    async fn fetch(&self, settings: &Settings, url: &str, file: &str) -> Result<Arc<str>, Reason> {
        let body = match settings.fetcher.file(Get::new(url).label(file)).await {
            Err(error) if error.is_not_found() => {
                let (url, folder) = (url.to_owned(), self.location());
                return Err(Refusal::Missing { url, folder }.into());
            }
            answer => answer.map_err(reason)?,
        };
        Ok(File::from_bytes(body, url.to_owned())?.text.into())
    }

    fn url<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> String {
        let mut url = Url::parse(&self.folder).expect("it was made of a URL");
        url.path_segments_mut()
            .expect("an http URL has segments")
            .extend(segments);
        url.into()
    }
}

fn reason(error: fetcher::Error) -> Reason {
    let error = match error {
        fetcher::Error::Http(error) => error,
        fetcher::Error::WebPage { url } => return Refusal::WebPage { url }.into(),
        other => return other.into(),
    };
    match error.status() {
        Some(status) if limit::end_of(status).is_some() => Reason::Http(error),
        Some(status) if status.code == 401 => Refusal::Closed(error).into(),
        Some(status) if status.code == 403 => Refusal::Forbidden(error).into(),
        _ => Reason::Http(error),
    }
}

/// Reads a list of versions. Other names in it are passed over, so that a list of a folder's files will do.
fn parse_versions(text: &str) -> Result<Vec<Release>, serde_json::Error> {
    let names: Vec<String> = if text.trim_start().starts_with(['[', '{']) {
        serde_json::from_str(text)?
    } else {
        text.lines()
            .map(|line| line.trim().trim_end_matches('/').to_owned())
            .collect()
    };
    let mut releases: Vec<Release> = names.into_iter().filter_map(Release::from_tag).collect();
    releases.sort_by(|left, right| left.tag.cmp(&right.tag));
    releases.dedup();
    Ok(releases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<HttpFolder, Error> {
        HttpFolder::parse("infrastructure-x", &Url::parse(url).unwrap())
    }

    #[test]
    fn an_address_is_folder_label_version_and_file() {
        for (base, version) in [
            ("https://host", "v1.2.3"),
            ("http://host:8080/a%20b/c", "latest"),
        ] {
            let folder =
                parse(&format!("{base}/infrastructure-x/{version}/c%2B.yaml#top")).unwrap();
            assert_eq!(folder.location(), format!("{base}/infrastructure-x"));
            assert_eq!((&*folder.version, &*folder.file), (version, "c+.yaml"));
            assert_eq!(
                folder.url(["v1.0.0", "a b.yaml"]),
                format!("{base}/infrastructure-x/v1.0.0/a%20b.yaml")
            );
        }
    }

    #[test]
    fn other_addresses_are_refused() {
        for (path, problem) in [
            ("v1.0.0/c.yaml", "too few parts"),
            ("", "too few parts"),
            ("infrastructure-x/v1.0.0/", "names no file"),
            ("o/r/releases/v1.0.0/c.yaml", "the folder `releases` must"),
            ("infrastructure-x/v1.0/c.yaml", "neither a semantic version"),
            ("infrastructure-x/v1.0.0/c.yaml?key=1", "behind its `?`"),
        ] {
            let error = parse(&format!("https://host/{path}")).unwrap_err();
            assert!(error.to_string().contains(problem), "{path}: {error}");
            assert!(!error.to_string().contains("key=1"), "{error}");
        }
    }

    #[test]
    fn versions_are_lines_or_json() {
        let tags = |text| {
            let releases = parse_versions(text).unwrap();
            let tags = releases.into_iter().map(|release| release.tag);
            tags.collect::<Vec<String>>()
        };
        let lines = "# ours\nv1.10.0\r\n 1.9.0 \nv2.0.0-rc.1/\n\nversions\nv1.10.0\n";
        assert_eq!(tags(lines), ["1.9.0", "v1.10.0", "v2.0.0-rc.1"]);
        assert_eq!(tags(r#" ["v1.0.0", "notes"]"#), ["v1.0.0"]);
        assert!(tags("").is_empty());
        assert!(parse_versions(r#"{"versions": []}"#).is_err());
        assert!(parse_versions("[1]").is_err());
    }
}
