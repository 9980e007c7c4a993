//! What can go wrong with a repository, and what helps.

use std::io;
use std::path::{Path, PathBuf};

use super::{fetcher, folder, gitlab};
use crate::error::{Explain, suggest};
use crate::http;
use crate::model::Version;

/// How many names an error lists at most.
const LISTED: usize = 10;
/// How many findings an error or a warning tells at most.
pub(super) const TOLD: usize = 3;

/// What was being done when a repository failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address of the provider leads to no repository.
    #[error("invalid provider url `{url}`: {problem}")]
    InvalidUrl {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: String,
        /// What it should look like.
        hint: String,
    },
    /// The versions cannot be listed.
    #[error("failed to get repository versions of \"{label}\"")]
    Versions {
        /// Label of the provider.
        label: String,
        /// Why.
        source: Box<Reason>,
    },
    /// `latest` leads nowhere.
    #[error("failed to get latest release of \"{label}\"")]
    Latest {
        /// Label of the provider.
        label: String,
        /// Why.
        source: Box<Reason>,
    },
    /// A file cannot be fetched.
    #[error("{}", fetch_message(.label, .file))]
    Fetch {
        /// Label of the provider.
        label: String,
        /// Name of the file.
        file: String,
        /// Why.
        source: Box<Reason>,
    },
    /// `metadata.yaml` does not parse.
    #[error("cannot parse `{origin}`")]
    MetadataSyntax {
        /// Path or URL.
        origin: String,
        /// Where and why.
        source: super::metadata::SyntaxError,
    },
    /// `metadata.yaml` parses, but says something that it must not say.
    #[error("invalid provider metadata in `{origin}`: {}", .problems.join("; "))]
    InvalidMetadata {
        /// Path or URL.
        origin: String,
        /// Everything that is wrong.
        problems: Vec<String>,
    },
    /// A template cannot be read from where the user said.
    #[error("cannot read the template `{from}`")]
    Template {
        /// Path or URL.
        from: String,
        /// Why.
        source: Box<Reason>,
    },
}

impl Error {
    /// Tells whether the file or version is known not to exist, as opposed to out of reach.
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::Versions { source, .. }
            | Self::Latest { source, .. }
            | Self::Fetch { source, .. }
            | Self::Template { source, .. } => source.is_not_found(),
            Self::InvalidUrl { .. }
            | Self::MetadataSyntax { .. }
            | Self::InvalidMetadata { .. } => false,
        }
    }
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::InvalidUrl { hint, .. } => vec![hint.clone()],
            Self::Fetch { source, .. } if source.is_not_found() => {
                let mut hints = source.hints();
                hints.splice(0..0, missing_v_hint(&source.to_string()));
                hints
            }
            Self::Versions { source, .. }
            | Self::Latest { source, .. }
            | Self::Fetch { source, .. }
            | Self::Template { source, .. } => source.hints(),
            Self::MetadataSyntax { source, .. } => source.hints(),
            Self::InvalidMetadata { .. } => vec![
                "the file describes each release series of the provider by `major`, `minor` and `contract`"
                    .into(),
            ],
        }
    }
}

fn fetch_message(label: &str, file: &str) -> String {
    if file == super::METADATA_FILE {
        format!("failed to read \"{file}\" from the repository for provider \"{label}\"")
    } else {
        format!("failed to read \"{file}\" from provider's repository \"{label}\"")
    }
}

/// Why a file or a list of versions cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// No version, or none that has metadata.
    #[error("failed to find releases tagged with a valid semantic version number in `{location}`")]
    NoReleases {
        /// Folder or URL.
        location: String,
        /// Versions that were passed over, each with what is wrong with it.
        skipped: Vec<String>,
    },
    /// A version that does not exist.
    #[error("release not found for version {version} in `{location}`")]
    MissingVersion {
        /// The version.
        version: String,
        /// Folder or URL.
        location: String,
        /// The versions that exist, newest first, where that is known.
        available: Vec<String>,
    },
    /// A version that lacks the file.
    #[error("failed to get file \"{file}\" from \"{version}\" release in `{location}`")]
    MissingFile {
        /// Name of the file.
        file: String,
        /// The version.
        version: String,
        /// Folder or URL.
        location: String,
        /// The files that the release has.
        available: Vec<String>,
    },
    /// GitHub has nothing at this URL; without a token it does not say whether repository, release or file is missing.
    #[error("`{url}` does not exist")]
    MissingUrl {
        /// The URL.
        url: String,
        /// Whether a token was sent.
        authorized: bool,
    },
    /// A folder that does not exist.
    #[error("the folder `{folder}` does not exist", folder = .folder.display())]
    MissingFolder {
        /// The folder.
        folder: PathBuf,
        /// The folders beside it.
        beside: Vec<String>,
    },
    /// A file that does not exist.
    #[error("the file `{path}` does not exist", path = .path.display())]
    MissingPath {
        /// The file.
        path: PathBuf,
        /// The file beside it that was probably meant.
        similar: Option<PathBuf>,
    },
    /// A repository that GitHub does not show.
    #[error("the repository `{repository}` does not exist, or is private")]
    MissingRepository {
        /// Its URL.
        repository: String,
        /// Whether a token was sent.
        authorized: bool,
    },
    /// A link whose branch, tag or commit does not exist.
    #[error("no branch, tag or commit of `{repository}` is what `{route}` begins with")]
    MissingReference {
        /// The link from the branch on.
        route: String,
        /// URL of the repository.
        repository: String,
    },
    /// A file that does not exist at a branch, tag or commit.
    #[error("the file `{file}` does not exist at `{reference}` of `{repository}`")]
    MissingContents {
        /// Path of the file.
        file: String,
        /// Branch, tag or commit.
        reference: String,
        /// URL of the repository.
        repository: String,
        /// What is in its folder instead.
        beside: Vec<String>,
    },
    /// A folder where a file should be.
    #[error("`{path}` is a folder, not a file")]
    Folder {
        /// Path or URL.
        path: String,
        /// What is in it, where that is known.
        contents: Vec<String>,
    },
    /// A file that the system does not give.
    #[error("cannot read `{path}`", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Standard input that cannot be read.
    #[error("cannot read standard input")]
    Stdin(#[source] io::Error),
    /// A file that is no UTF-8.
    #[error("`{origin}` is not UTF-8 text")]
    NotText {
        /// Path or URL.
        origin: String,
    },
    /// HTML where a template should be.
    #[error("`{url}` is a web page, not a file")]
    WebPage {
        /// The URL.
        url: String,
        /// The host, where it may be one of GitHub Enterprise.
        host: Option<String>,
    },
    /// A version or file name that would lead out of its folder.
    #[error("`{0}` cannot be the name of a {1}")]
    Name(String, &'static str),
    /// A page of GitHub that is neither a file nor an asset.
    #[error("unknown github URL: `{0}`")]
    UnknownGitHubUrl(String),
    /// HTML where a server has files or an API.
    #[error("`{url}` is answered with a web page")]
    Page {
        /// The URL.
        url: String,
    },
    /// A scheme that nothing can be read from.
    #[error("there is no way to read from `{0}:` URLs")]
    Scheme(String),
    /// A URL that does not parse.
    #[error("it is not a valid URL")]
    NotAUrl,
    /// The API allows no more requests for now.
    #[error("rate limit for github api has been reached{until}")]
    RateLimit {
        /// When requests are possible again: `, until 14:05 UTC, in 17 minutes`, or nothing where nobody knows.
        until: String,
        /// Whether a token was sent.
        authorized: bool,
        /// The refusal.
        source: http::Error,
    },
    /// The API does not take the token.
    #[error("GitHub refuses the token")]
    Token(#[source] http::Error),
    /// The API answers nobody without a token.
    #[error("GitHub asks for a token")]
    NoToken(#[source] http::Error),
    /// An answer of the API that has another form than documented.
    #[error("cannot understand the answer of `{url}`")]
    Answer {
        /// The URL.
        url: String,
        /// What was found instead.
        source: serde_json::Error,
    },
    /// No request may be made, and the cache has no answer.
    #[error("`{url}` is not in the download cache, and `--offline` keeps from fetching it")]
    Offline {
        /// The URL.
        url: String,
    },
    /// GitLab gives nothing.
    #[error(transparent)]
    GitLab(#[from] gitlab::Refusal),
    /// A folder on the web gives nothing.
    #[error(transparent)]
    HttpFolder(#[from] folder::Refusal),
    /// No connection, or another refusal.
    #[error(transparent)]
    Http(http::Error),
}

impl From<fetcher::Error> for Reason {
    fn from(error: fetcher::Error) -> Self {
        match error {
            fetcher::Error::Http(error) => Self::Http(error),
            fetcher::Error::Offline { url } => Self::Offline { url },
            fetcher::Error::WebPage { url } => Self::Page { url },
        }
    }
}

impl Reason {
    /// Tells whether the thing is known not to exist.
    pub(super) fn is_not_found(&self) -> bool {
        match self {
            Self::NoReleases { .. }
            | Self::MissingVersion { .. }
            | Self::MissingFile { .. }
            | Self::MissingUrl { .. }
            | Self::MissingFolder { .. }
            | Self::MissingRepository { .. }
            | Self::MissingReference { .. }
            | Self::MissingContents { .. }
            | Self::MissingPath { .. } => true,
            Self::GitLab(refusal) => refusal.is_not_found(),
            Self::HttpFolder(refusal) => refusal.is_not_found(),
            Self::Http(error) => error.is_not_found(),
            _ => false,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::NoReleases { skipped, .. } if !skipped.is_empty() => vec![format!(
                "{}; name a version to do without `latest`",
                shorten(skipped)
            )],
            Self::MissingVersion { available, .. } if !available.is_empty() => {
                vec![format!("available versions: {}", list(available))]
            }
            Self::MissingVersion { location, .. } if location.starts_with("https:") => {
                vec![format!("`{location}` lists the releases")]
            }
            Self::MissingFile {
                file, available, ..
            } if !available.is_empty() => missing_file_hints(file, available),
            Self::MissingPath { path, similar } => missing_path_hints(path, similar.as_deref()),
            Self::MissingRepository {
                repository,
                authorized,
            } => vec![token_hint(repository, *authorized)],
            Self::MissingReference { repository, .. } => {
                vec![format!("`{repository}/branches` and `{repository}/tags` list them")]
            }
            Self::MissingContents { file, beside, .. } if !beside.is_empty() => {
                let name = file.rsplit('/').next().unwrap_or(file);
                let mut hints = did_you_mean(name, beside);
                hints.push(format!("its folder has {}", list(beside)));
                hints
            }
            Self::MissingUrl { url, authorized } => missing_url_hints(url, *authorized),
            Self::MissingFolder { beside, .. } if !beside.is_empty() => {
                vec![format!("beside it there are {}", list(beside))]
            }
            Self::Folder { contents, .. } if !contents.is_empty() => {
                vec![format!("it contains {}", list(contents))]
            }
            Self::WebPage { host: Some(host), .. } => vec![
                format!(
                    "if this is GitHub Enterprise, set `GH_HOST={host}`, and `GITHUB_ENTERPRISE_TOKEN` to a token for it"
                ),
                "otherwise use the address of the raw file".into(),
            ],
            Self::WebPage { host: None, .. } => vec!["use the address of the raw file".into()],
            Self::Page { .. } | Self::Answer { .. } => vec![
                "something between answers for the server, such as the login of a proxy or gateway: open the address in a browser".into(),
            ],
            Self::UnknownGitHubUrl(_) => vec![
                "a file is `https://github.com/{owner}/{repository}/blob/{branch, tag or commit}/{path}`, \
                 an asset `https://github.com/{owner}/{repository}/releases/download/{tag}/{file}`"
                    .into(),
            ],
            Self::NotAUrl => vec![
                "a file URL has three slashes, as `file:///folder/template.yaml`; a path needs no `file:`"
                    .into(),
            ],
            Self::Scheme(_) => {
                vec!["use `-` for standard input, a path, or an http(s) URL".into()]
            }
            Self::RateLimit {
                authorized, source, ..
            } => rate_limit_hints(source.status().map_or("", |status| &status.url), *authorized),
            Self::NoToken(error) => {
                let url = error.status().map_or("", |status| &status.url);
                vec![missing_token_hint(url)]
            }
            Self::Token(error) => vec![refused_token_hint(
                error.status().map_or("", |status| &status.url),
            )],
            Self::GitLab(refusal) => refusal.hints(),
            Self::HttpFolder(refusal) => refusal.hints(),
            Self::Http(error) => error.hints(),
            Self::Offline { .. } => vec![
                "run the command once without `--offline`; `capictl cache list` shows what is there".into(),
            ],
            _ => Vec::new(),
        }
    }
}

fn missing_url_hints(url: &str, authorized: bool) -> Vec<String> {
    let mut hints = Vec::new();
    if let Some((repository, _)) = url.split_once("/releases/download/") {
        hints.push(format!(
            "`{repository}/releases` lists the releases and their files"
        ));
    }
    hints.push(token_hint(url, authorized));
    hints
}

/// Says how a private repository can be read.
fn token_hint(url: &str, authorized: bool) -> String {
    if authorized {
        return "if the repository is private, the token must be allowed to read it".into();
    }
    format!("if the repository is private, {}", missing_token_hint(url))
}

fn missing_token_hint(url: &str) -> String {
    match enterprise_host(url) {
        None => "set `GITHUB_TOKEN`".into(),
        Some(host) => {
            format!("set `GH_HOST={host}`, and `GITHUB_ENTERPRISE_TOKEN` to a token for it")
        }
    }
}

fn rate_limit_hints(url: &str, authorized: bool) -> Vec<String> {
    let token = match (enterprise_host(url), authorized) {
        (None, false) => {
            "get a personal API token and assign it to the GITHUB_TOKEN environment variable: \
             it allows 5,000 requests an hour instead of 60"
                .into()
        }
        (None, true) => {
            "the requests of the token in `GITHUB_TOKEN` are used up: wait, or use another token"
                .into()
        }
        (Some(_), false) => missing_token_hint(url),
        (Some(_), true) => "wait, or use another token".into(),
    };
    let mut hints = vec![token];
    if url.ends_with("/releases") && enterprise_host(url).is_none() {
        hints.push(
            "a version that is named, as in `aws:v2.9.0`, is downloaded without a request that counts"
                .into(),
        );
    }
    hints
}

fn refused_token_hint(url: &str) -> String {
    match enterprise_host(url) {
        None => "renew or unset `GITHUB_TOKEN` (in the configuration file: `github-token`); public releases need none",
        Some(_) => "renew `GITHUB_ENTERPRISE_TOKEN` (in the configuration file: `github-enterprise-token`), which goes to the host `GH_HOST`",
    }
    .into()
}

/// Returns the host of a URL that is not of github.com.
fn enterprise_host(url: &str) -> Option<String> {
    let url = http::Url::parse(url).ok()?;
    let host = url.host_str()?;
    let own = ["github.com", "api.github.com", "raw.githubusercontent.com"];
    (!own.contains(&host)).then(|| match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

fn missing_file_hints(file: &str, available: &[String]) -> Vec<String> {
    // Of many files, those of the same purpose are what the user wants to know.
    let purpose = file.split_once('-').map_or(file, |(purpose, _)| purpose);
    let (mut names, others): (Vec<String>, Vec<String>) = available
        .iter()
        .cloned()
        .partition(|name| name.starts_with(purpose));
    let count = names.len().max(LISTED);
    names.extend(others);
    let mut hints = did_you_mean(file, available);
    hints.push(format!("the release has {}", list_of(&names, count)));
    hints
}

/// Most tags begin with a `v`, which is easily left out; the message about what is missing has the version in it.
fn missing_v_hint(message: &str) -> Option<String> {
    let parts = message.split(['/', ' ', '"', '`']);
    let mut versions =
        parts.filter(|part| !part.starts_with('v') && part.parse::<Version>().is_ok());
    let version = versions.next()?;
    Some(format!("did you mean `v{version}`?"))
}

fn did_you_mean(name: &str, known: &[String]) -> Vec<String> {
    let similar = suggest(name, known.iter().map(String::as_str));
    let hint = similar.map(|similar| format!("did you mean `{similar}`?"));
    hint.into_iter().collect()
}

fn missing_path_hints(path: &Path, similar: Option<&Path>) -> Vec<String> {
    let first = path.components().next();
    let first = first.and_then(|component| component.as_os_str().to_str());
    let hint = match (similar, first) {
        (Some(similar), _) => format!("did you mean `{}`?", similar.display()),
        (None, Some("~")) => {
            "a shell replaces `~` only at the beginning of a word: write `--from ~/...` without `=`, or `$HOME`".into()
        }
        (None, Some("github.com" | "www.github.com" | "raw.githubusercontent.com")) => {
            format!("an address on the web begins with `https://`: `https://{}`", path.display())
        }
        _ => return Vec::new(),
    };
    vec![hint]
}

/// Joins the first few of several findings.
fn shorten(findings: &[String]) -> String {
    let mut text = findings[..findings.len().min(TOLD)].join(", ");
    if findings.len() > TOLD {
        text += &format!(" and so on for {} more", findings.len() - TOLD);
    }
    text
}

fn list(names: &[String]) -> String {
    list_of(names, LISTED)
}

fn list_of(names: &[String], count: usize) -> String {
    let mut text = names
        .iter()
        .take(count)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > count {
        text += &format!(" and {} more", names.len() - count);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_files_those_of_the_same_purpose_are_listed_whole() {
        let others = (0..20).map(|number| format!("a-{number}.yaml"));
        let templates = (0..12).map(|number| format!("cluster-template-flavor{number}.yaml"));
        let available: Vec<String> = others.chain(templates).collect();
        let hints = missing_file_hints("cluster-template-flavor.yaml", &available);
        assert_eq!(hints[0], "did you mean `cluster-template-flavor0.yaml`?");
        assert!(hints[1].starts_with("the release has `cluster-template-flavor0.yaml`, "));
        assert!(hints[1].ends_with("`cluster-template-flavor11.yaml` and 20 more"));
    }
}
