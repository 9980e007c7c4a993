//! What can be wrong with the configuration, and what helps. File contents are never printed: there may be tokens.

use std::io;
use std::path::PathBuf;

use super::file;
use crate::error::Explain;
use crate::http;
use crate::model::ProviderType;
use crate::template;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the configuration file `{path}`", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `--config` names a folder.
    #[error("the configuration file `{path}` is a folder", path = .0.display())]
    Directory(PathBuf),
    /// `--config` names a URL that has no answer.
    #[error("failed to download the clusterctl config file from `{url}`", url = shown(.url))]
    Download {
        /// The URL.
        url: String,
        /// What went wrong.
        source: http::Error,
    },
    /// The extension belongs to no format that can be read.
    #[error("the format of the configuration file `{path}` is not supported", path = .0.display())]
    Format(PathBuf),
    /// The file is not UTF-8.
    #[error("the configuration file `{origin}` is not UTF-8 text")]
    NotText {
        /// Path or URL.
        origin: String,
    },
    /// The file does not parse.
    #[error("cannot parse the configuration file `{origin}`")]
    Syntax {
        /// Path or URL.
        origin: String,
        /// Where and why.
        source: SyntaxError,
    },
    /// The file is YAML, but a list or a scalar.
    #[error("the configuration file `{origin}` is not a map of keys and values")]
    NotAMapping {
        /// Path or URL.
        origin: String,
    },
    /// A file of `--values` cannot be read.
    #[error("cannot read the values file `{path}`")]
    ReadValues {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file of `--values` is not UTF-8.
    #[error("the values of `{origin}` are not UTF-8 text")]
    ValuesNotText {
        /// Path, or standard input.
        origin: String,
    },
    /// A file of `--values` does not parse.
    #[error("cannot parse the values of `{origin}`")]
    ValuesSyntax {
        /// Path, or standard input.
        origin: String,
        /// Where and why.
        source: crate::yaml::Error,
    },
    /// A file of `--values` is YAML, but a list or a scalar.
    #[error("the values of `{origin}` are not a map of names and values")]
    ValuesNotAMapping {
        /// Path, or standard input.
        origin: String,
    },
    /// A file of `--values` has entries that can be no variables, all of them listed.
    #[error("the values of `{origin}` cannot be used:{}", list(.faults))]
    ValuesEntries {
        /// Path, or standard input.
        origin: String,
        /// One line each.
        faults: Vec<String>,
    },
    /// A section has faults, all of them listed.
    #[error("`{section}` in `{origin}` is not valid:{}", list(.faults))]
    Section {
        /// The key of the section.
        section: &'static str,
        /// Path or URL.
        origin: String,
        /// One line each.
        faults: Vec<String>,
    },
    /// An environment variable reference in an address does not parse.
    #[error("cannot expand the variables in {what}")]
    Expand {
        /// Which setting it is.
        what: &'static str,
        /// Why.
        source: template::Error,
    },
    /// A path begins at something that is not there.
    #[error("cannot use the path in {what}: {problem}")]
    Path {
        /// Which setting it is.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The path of a provider's repository begins at something that is not there.
    #[error("the `url` of `{label}` in `{origin}` cannot be used: {problem}")]
    ProviderUrl {
        /// The provider.
        label: String,
        /// Path or URL of the configuration file.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The verbosity is no number.
    #[error("failed to convert CLUSTERCTL_LOG_LEVEL string to an int: `{0}` is not a number")]
    LogLevel(String),
    /// Neither the catalogue nor the configuration has the provider.
    #[error(
        "failed to get configuration for the {provider_type} with name {name}: no such provider is known"
    )]
    UnknownProvider {
        /// The type that was asked for.
        provider_type: ProviderType,
        /// The name that was asked for.
        name: String,
        /// What may have been meant.
        similar: Option<String>,
        /// Other types that have a provider of this name.
        elsewhere: Vec<ProviderType>,
    },
}

/// Where and why a configuration file does not parse.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum SyntaxError {
    /// A YAML file.
    Yaml(#[from] crate::yaml::Error),
    /// A JSON file.
    Json(#[from] serde_json::Error),
}

impl Explain for SyntaxError {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Yaml(error) => error.hints(),
            Self::Json(_) => Vec::new(),
        }
    }
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                vec!["`--config` takes a path or an http(s) URL".into()]
            }
            Self::Directory(_) => vec!["name the file within it".into()],
            Self::Download { source, .. } => source.hints(),
            Self::Format(_) => vec![format!("the supported formats are {}", file::SUPPORTED)],
            Self::NotText { .. } | Self::ValuesNotText { .. } => vec![
                "save it as UTF-8; what `>` of Windows PowerShell writes is UTF-16, `Out-File -Encoding utf8` helps".into(),
            ],
            Self::Read { .. } | Self::Path { .. } | Self::ProviderUrl { .. } | Self::LogLevel(_) => Vec::new(),
            Self::ReadValues { .. } => vec!["`--values` takes a path, or `-` for standard input".into()],
            Self::Syntax { source, .. } => source.hints(),
            Self::ValuesSyntax { source, .. } => source.hints(),
            Self::ValuesEntries { .. } => vec![
                "names consist of letters, digits and `_`; write a list or a map as text, e.g. `SUBNETS: \"a,b\"`".into(),
            ],
            Self::NotAMapping { .. } | Self::ValuesNotAMapping { .. } => vec!["write it as `KEY: value` lines".into()],
            Self::Section { section, .. } => vec![format!(
                "please fix the {section} value in clusterctl configuration file"
            )],
            Self::Expand { .. } => {
                vec!["`$${` stands for a literal `${`".into()]
            }
            Self::UnknownProvider {
                name,
                similar,
                elsewhere,
                ..
            } => unknown_provider_hints(name, similar.as_deref(), elsewhere),
        }
    }
}

fn unknown_provider_hints(
    name: &str,
    similar: Option<&str>,
    elsewhere: &[ProviderType],
) -> Vec<String> {
    let mut hints: Vec<String> = elsewhere
        .iter()
        .map(|other| {
            format!(
                "there is a {other} of this name: did you mean `{} {name}`?",
                other.flag()
            )
        })
        .collect();
    if let Some(similar) = similar {
        hints.push(format!("did you mean `{similar}`?"));
    }
    hints.push(
        "`capictl config repositories` lists the known providers; add others under `providers` in the configuration file"
            .into(),
    );
    hints
}

fn list(faults: &[String]) -> String {
    match faults {
        [only] => format!(" {only}"),
        _ => faults
            .iter()
            .map(|fault| format!("\n  - {fault}"))
            .collect(),
    }
}

fn shown(url: &str) -> String {
    http::Url::parse(url).map_or_else(|_| url.to_owned(), |url| http::display_url(&url))
}
