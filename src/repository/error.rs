//! What can go wrong with a repository, and what helps.

use std::io;
use std::path::PathBuf;

use crate::error::Explain;
use crate::http;

/// How many names an error lists at most.
const LISTED: usize = 10;

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
        /// Versions that were passed over because they have no `metadata.yaml`.
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
    #[error("the file `{path}` does not exist", path = .0.display())]
    MissingPath(PathBuf),
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
    #[error("`{0}` is a web page, not a file")]
    WebPage(String),
    /// A version or file name that would lead out of its folder.
    #[error("`{0}` cannot be the name of a {1}")]
    Name(String, &'static str),
    /// A page of GitHub that is neither a file nor an asset.
    #[error("unknown github URL: `{0}`")]
    UnknownGitHubUrl(String),
    /// A scheme that nothing can be read from.
    #[error("there is no way to read from `{0}:` URLs")]
    Scheme(String),
    /// A URL that does not parse.
    #[error("it is not a valid URL")]
    NotAUrl,
    /// The API allows no more requests for now.
    #[error(
        "rate limit for github api has been reached. Please wait one hour or get a personal API token and assign it to the GITHUB_TOKEN environment variable"
    )]
    RateLimit(#[source] http::Error),
    /// The API does not take the token.
    #[error("GitHub refuses the token")]
    Token(#[source] http::Error),
    /// An answer of the API that has another form than documented.
    #[error("cannot understand the answer of `{url}`")]
    Answer {
        /// The URL.
        url: String,
        /// What was found instead.
        source: serde_json::Error,
    },
    /// No connection, or another refusal.
    #[error(transparent)]
    Http(http::Error),
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
            | Self::MissingPath(_) => true,
            Self::Http(error) => error.is_not_found(),
            _ => false,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::NoReleases { skipped, .. } if !skipped.is_empty() => vec![format!(
                "no `metadata.yaml` was found in {}; name a version to do without `latest`",
                list(skipped)
            )],
            Self::MissingVersion { available, .. } if !available.is_empty() => {
                vec![format!("available versions: {}", list(available))]
            }
            Self::MissingVersion { location, .. } if location.starts_with("https:") => {
                vec![format!("`{location}` lists the releases")]
            }
            Self::MissingFile { available, .. } if !available.is_empty() => {
                vec![format!("the release has {}", list(available))]
            }
            Self::MissingUrl { url, authorized } => missing_url_hints(url, *authorized),
            Self::MissingFolder { beside, .. } if !beside.is_empty() => {
                vec![format!("beside it there are {}", list(beside))]
            }
            Self::Folder { contents, .. } if !contents.is_empty() => {
                vec![format!("it contains {}", list(contents))]
            }
            Self::WebPage(_) => vec!["use the address of the raw file".into()],
            Self::UnknownGitHubUrl(_) => vec![
                "a file is `https://github.com/{owner}/{repository}/blob/{branch, tag or commit}/{path}`, \
                 an asset `https://github.com/{owner}/{repository}/releases/download/{tag}/{file}`"
                    .into(),
            ],
            Self::Scheme(_) => {
                vec!["use `-` for standard input, a path, or an http(s) URL".into()]
            }
            Self::Token(_) => vec![
                "renew or unset `GITHUB_TOKEN` (in the configuration file: `github-token`); public releases need none"
                    .into(),
            ],
            Self::Http(error) => error.hints(),
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
    if authorized {
        hints.push("if the repository is private, the token must be allowed to read it".into());
    } else {
        hints.push("if the repository is private, set `GITHUB_TOKEN`".into());
    }
    hints
}

fn list(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(LISTED)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED {
        text += &format!(" and {} more", names.len() - LISTED);
    }
    text
}
