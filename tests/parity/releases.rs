//! The provider releases of a local repository, and the configuration that lets a tool read one.

use std::collections::BTreeMap;
use std::env;
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use capictl::model::ProviderType;
use serde_json::{Value, json};

use crate::support::binaries;

const VARIABLES: &str = include_str!("../fixtures/parity/variables.yaml");

/// A components file of a provider's version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    pub label: String,
    pub version: String,
    pub file: String,
    folder: PathBuf,
}

/// Returns the folder with the releases to compare: `CAPICTL_CORPUS`, else what the test bed builds.
pub fn folder() -> Result<PathBuf> {
    if let Some(corpus) = env::var_os("CAPICTL_CORPUS").filter(|value| !value.is_empty()) {
        return Ok(corpus.into());
    }
    let repository = binaries::repository()?;
    eprintln!(
        "CAPICTL_CORPUS is not set, only the providers of `{}` are compared",
        repository.display()
    );
    Ok(repository)
}

/// Returns the components files below `folder`, which is laid out as `LABEL/VERSION/FILE`, in a stable order.
pub fn list(folder: &Path) -> Result<Vec<Release>> {
    let mut releases = Vec::new();
    for label in names_in(folder)? {
        let provider = folder.join(&label);
        if !provider.is_dir() || identify(&label).is_none() {
            continue;
        }
        for version in names_in(&provider)? {
            let files = names_in(&provider.join(&version))?;
            releases.extend(
                files
                    .into_iter()
                    .filter(|file| is_components(file))
                    .map(|file| Release {
                        label: label.clone(),
                        version: version.clone(),
                        file,
                        folder: provider.clone(),
                    }),
            );
        }
    }
    releases.sort();
    ensure!(
        !releases.is_empty(),
        "`{}` has no provider release",
        folder.display()
    );
    Ok(releases)
}

impl Release {
    /// Returns the flag and the reference by which a command line names the release.
    pub fn arguments(&self) -> [String; 2] {
        let (provider_type, name) = identify(&self.label).expect("only providers are listed");
        [
            provider_type.flag().to_owned(),
            format!("{name}:{}", self.version),
        ]
    }

    /// Returns a configuration file: the provider, values for its variables, and image overrides.
    pub fn configuration(&self, images: Value) -> Result<String> {
        let (provider_type, name) = identify(&self.label).expect("only providers are listed");
        let path = self.folder.join(&self.version).join(&self.file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let url = self.folder.join("latest").join(&self.file);
        let mut configuration = json!({
            "providers": [{"name": name, "type": provider_type, "url": url}],
            "images": images,
        });
        for (variable, value) in values(&text)? {
            configuration[variable] = value.into();
        }
        Ok(configuration.to_string())
    }
}

impl Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            label,
            version,
            file,
            ..
        } = self;
        write!(formatter, "{label} {version} {file}")
    }
}

fn is_components(file: &str) -> bool {
    file.contains("components") && file.ends_with(".yaml")
}

fn identify(label: &str) -> Option<(ProviderType, &str)> {
    ProviderType::ALL.into_iter().find_map(|provider_type| {
        let name = match provider_type {
            ProviderType::CoreProvider => (label == "cluster-api").then_some(label),
            other => label.strip_prefix(&other.label("")),
        }?;
        Some((provider_type, name))
    })
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries
        .map(|entry| {
            let name = entry?.file_name();
            name.into_string()
                .map_err(|name| anyhow::anyhow!("{name:?} is not UTF-8"))
        })
        .collect()
}

/// Returns the table, and for variables without default that it lacks a value made from the name.
fn values(text: &str) -> Result<BTreeMap<String, String>> {
    let mut values: BTreeMap<String, String> = serde_yaml::from_str(VARIABLES)?;
    for rest in text.split("${").skip(1) {
        let rest = rest.trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        if !name.is_empty() && rest.trim_start().starts_with('}') {
            values
                .entry(name.to_owned())
                .or_insert_with(|| format!("value-of-{}", name.to_lowercase().replace('_', "-")));
        }
    }
    Ok(values)
}
