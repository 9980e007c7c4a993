//! The provider releases to compare: a folder laid out as `LABEL/VERSION/FILE`, as local provider repositories are.

use std::env;
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use capictl::model::ProviderType;
use serde_json::{Map, Value, json};

use crate::support::binaries;

/// A file of a provider's version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseFile {
    pub label: String,
    pub version: String,
    pub name: String,
    /// The provider's folder.
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

/// Returns the files below `folder` whose names are `wanted`, in a stable order.
pub fn list(folder: &Path, wanted: fn(&str) -> bool) -> Result<Vec<ReleaseFile>> {
    let mut found = Vec::new();
    for label in names_in(folder)? {
        let provider = folder.join(&label);
        if !provider.is_dir() || identify(&label).is_none() {
            continue;
        }
        for version in names_in(&provider)? {
            let names = names_in(&provider.join(&version))?;
            found.extend(
                names
                    .into_iter()
                    .filter(|name| wanted(name))
                    .map(|name| ReleaseFile {
                        label: label.clone(),
                        version: version.clone(),
                        name,
                        folder: provider.clone(),
                    }),
            );
        }
    }
    found.sort();
    ensure!(
        !found.is_empty(),
        "`{}` has no provider release",
        folder.display()
    );
    Ok(found)
}

/// Whether a file of this name has a provider's components.
pub fn is_components(name: &str) -> bool {
    name.contains("components") && name.ends_with(".yaml")
}

/// Whether a file of this name is a template: the rest of a release, but for its metadata.
pub fn is_template(name: &str) -> bool {
    name.ends_with(".yaml") && !is_components(name) && name != "metadata.yaml"
}

impl ReleaseFile {
    /// Returns the flag and the reference by which a command line names the release.
    pub fn arguments(&self) -> [String; 2] {
        let (provider_type, name) = identify(&self.label).expect("only providers are listed");
        [
            provider_type.flag().to_owned(),
            format!("{name}:{}", self.version),
        ]
    }

    /// Returns the flavor by which `generate cluster` finds the file; `None` when it does not.
    pub fn flavor(&self) -> Option<&str> {
        if !self.label.starts_with("infrastructure-") {
            return None;
        }
        match self.name.strip_prefix("cluster-template")? {
            ".yaml" => Some(""),
            rest => rest.strip_prefix('-')?.strip_suffix(".yaml"),
        }
    }

    /// Returns the folder of the provider's version.
    pub fn release(&self) -> PathBuf {
        self.folder.join(&self.version)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.release().join(&self.name)
    }

    /// Returns the text of the file.
    pub fn text(&self) -> Result<String> {
        let path = self.path();
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    /// Returns what a configuration file needs to find the provider.
    pub fn configuration(&self) -> Map<String, Value> {
        let (provider_type, name) = identify(&self.label).expect("only providers are listed");
        // Of the URL, only the folder and `latest` count for templates, whatever the file is called.
        let file = match is_components(&self.name) {
            true => &self.name,
            false => "components.yaml",
        };
        let url = self.folder.join("latest").join(file);
        let providers = json!([{"name": name, "type": provider_type, "url": url}]);
        Map::from_iter([("providers".to_owned(), providers)])
    }
}

impl Display for ReleaseFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            label,
            version,
            name,
            ..
        } = self;
        write!(formatter, "{label} {version} {name}")
    }
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
