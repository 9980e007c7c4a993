//! What is in use, and where it comes from; for people who ask why a value is what it is.

use std::path::PathBuf;

use serde_json::Value;

use super::env::{self, Environment};
use super::{Config, Error, Origin, environment_name, providers, values};
use crate::model::Provider;

/// Keys of the configuration file that set up the tool, in lower case; all others are variables of templates.
const SETTINGS: [&str; 9] = [
    "providers",
    "images",
    "cert-manager",
    "overridesfolder",
    "github-token",
    "gh-host",
    "github-enterprise-token",
    "gitlab-access-token",
    "clusterctl_log_level",
];

/// A variable of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVariable {
    /// Its name, in upper case.
    pub name: String,
    /// The value that counts.
    pub value: String,
    /// Where that comes from.
    pub origin: Origin,
}

/// A provider of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomProvider {
    /// The provider.
    pub provider: Provider,
    /// The address of the built-in one that it replaces.
    pub replaces: Option<String>,
}

impl Config {
    /// Returns path or URL of the configuration file in use.
    pub fn file_in_use(&self) -> Option<String> {
        Some(self.file.origin.clone()).filter(|origin| !origin.is_empty())
    }

    /// Tells whether the command line names the configuration file.
    pub fn is_file_named(&self) -> bool {
        self.is_named
    }

    /// Returns where a configuration file is looked for when none is named, the first place first.
    pub fn searched_files(&self) -> Vec<PathBuf> {
        let files = self.folders.in_order().map(super::file::pattern_in);
        files.collect()
    }

    /// Tells where a setting of the tool comes from; `None` where it is not set.
    pub fn origin_of_setting(&self, name: &str) -> Option<Origin> {
        match self.layers.flag(&name.to_lowercase()) {
            Some(_) => Some(Origin::Flag("")),
            None => Some(self.surroundings(name)?.1),
        }
    }

    /// Tells whether the configuration file has a value of this name; a `.` leads into a section.
    pub fn file_has(&self, key: &str) -> bool {
        let value = values::find(&self.file.values, &key.to_lowercase());
        value.is_some_and(|value| !value.is_null())
    }

    /// Returns the providers of the configuration file, sorted by type and name.
    ///
    /// # Errors
    /// As [`Config::providers`].
    pub fn custom_providers(&self) -> Result<Vec<CustomProvider>, Error> {
        let custom = self.section("providers", |section| {
            providers::parse_custom(section, &self.surroundings_of_paths())
        })?;
        let catalogue = providers::catalogue();
        let custom = providers::merge(Vec::new(), custom.unwrap_or_default());
        let with_replaced = |provider: Provider| {
            let same = |known: &&Provider| {
                (known.provider_type, &known.name) == (provider.provider_type, &provider.name)
            };
            let replaces = catalogue.iter().find(same).map(|known| known.url.clone());
            let provider = self.locate(provider.clone()).unwrap_or(provider);
            CustomProvider { provider, replaces }
        };
        Ok(custom.into_iter().map(with_replaced).collect())
    }

    /// Returns the variables of the configuration file with the values that count, by name.
    pub fn file_variables(&self) -> Vec<FileVariable> {
        let variables = self.file.values.iter();
        let variables = variables.filter(|(key, value)| {
            !SETTINGS.contains(&key.as_str())
                && !matches!(value, Value::Null | Value::Object(_) | Value::Array(_))
        });
        variables
            .filter_map(|(key, value)| {
                let (value, origin) = self.surroundings(key).or_else(|| {
                    let origin = Origin::File(self.file.origin.clone());
                    Some((values::text_of(value)?, origin))
                })?;
                Some(FileVariable {
                    name: environment_name(key),
                    value,
                    origin,
                })
            })
            .collect()
    }
}

impl Environment {
    /// Returns the variables that lead requests through proxies or around them, in the spelling that is set.
    pub fn proxy_variables(&self) -> Vec<(&'static str, &str)> {
        let set = |name: &&'static str| Some((*name, self.get_non_empty(name)?));
        env::PROXIES.iter().filter_map(set).collect()
    }

    /// Returns the variables that name CA certificates.
    pub fn certificate_variables(&self) -> Vec<(&'static str, &str)> {
        let set = |name: &&'static str| Some((*name, self.get_non_empty(name)?));
        env::CERTIFICATES.iter().filter_map(set).collect()
    }
}
