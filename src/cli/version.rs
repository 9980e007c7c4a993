//! `capictl version`

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::error::Result;
use crate::yaml;

/// The clusterctl release whose flags, files and inventory this version follows.
const CLUSTERCTL_VERSION: &str = "v1.14.0";

/// Print the version
///
/// No network is used: there is no check for newer releases, with or without `CLUSTERCTL_DISABLE_VERSIONCHECK`.
#[derive(Debug, Args)]
pub struct VersionArgs {
    /// Output format
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true
    )]
    pub output: Format,
}

/// How the version is printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// A sentence; the default
    // clusterctl's spelling of its default is the empty text.
    #[value(alias = "")]
    Text,
    /// The bare version
    Short,
    /// All that is known, as YAML
    Yaml,
    /// All that is known, as JSON
    Json,
}

impl VersionArgs {
    /// Returns the version in the format that is asked for.
    ///
    /// # Errors
    /// None today; YAML is written by a fallible writer.
    pub fn run(self) -> Result<String> {
        let versions = Versions::new();
        Ok(match self.output {
            Format::Text => format!("{}\n", versions.sentence()),
            Format::Short => format!("{}\n", versions.capictl.git_version),
            Format::Yaml => yaml::render(&versions),
            Format::Json => format!(
                "{}\n",
                serde_json::to_string_pretty(&versions).expect("texts can be written as JSON")
            ),
        })
    }
}

/// The document of `-o yaml|json`.
///
/// Scripts written for clusterctl read `.clusterctl.gitVersion` to decide what they can ask for, so that key answers
/// with the clusterctl release whose behaviour this is. Our own version has a key of its own: a number of ours under the
/// other name would mislead every comparison.
#[derive(Debug, Serialize)]
struct Versions {
    capictl: Information,
    clusterctl: Information,
}

/// Version information with clusterctl's field names; what is not known is left out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Information {
    major: &'static str,
    minor: &'static str,
    git_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_date: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
}

impl Versions {
    fn new() -> Self {
        let (major, minor) = series(CLUSTERCTL_VERSION);
        Self {
            capictl: Information {
                major: env!("CARGO_PKG_VERSION_MAJOR"),
                minor: env!("CARGO_PKG_VERSION_MINOR"),
                git_version: concat!("v", env!("CARGO_PKG_VERSION")).to_owned(),
                // Release builds set these two; other builds, from an archive for instance, do without.
                git_commit: option_env!("CAPICTL_GIT_COMMIT"),
                build_date: option_env!("CAPICTL_BUILD_DATE"),
                compiler: Some("rustc"),
                platform: Some(platform()),
            },
            clusterctl: Information {
                major,
                minor,
                git_version: CLUSTERCTL_VERSION.to_owned(),
                git_commit: None,
                build_date: None,
                compiler: None,
                platform: None,
            },
        }
    }

    /// Returns the text for humans. It has clusterctl's shape, since scripts cut `GitVersion:"..."` out of that.
    fn sentence(&self) -> String {
        let own = &self.capictl;
        let mut fields = vec![
            ("Major", own.major),
            ("Minor", own.minor),
            ("GitVersion", &own.git_version),
        ];
        fields.extend(own.git_commit.map(|commit| ("GitCommit", commit)));
        fields.extend(own.build_date.map(|date| ("BuildDate", date)));
        fields.extend(own.compiler.map(|compiler| ("Compiler", compiler)));
        fields.extend(
            own.platform
                .as_deref()
                .map(|platform| ("Platform", platform)),
        );
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}:{value:?}"))
            .collect();
        format!(
            "capictl version: {{{}}}\nfollows clusterctl {CLUSTERCTL_VERSION}",
            fields.join(", ")
        )
    }
}

/// Returns major and minor of a version with a leading `v`.
fn series(version: &'static str) -> (&'static str, &'static str) {
    let mut parts = version.trim_start_matches('v').split('.');
    (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    )
}

/// Returns system and processor as Go, and hence everything around Kubernetes, names them.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("{system}/{processor}")
}
