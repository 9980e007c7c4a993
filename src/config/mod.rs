//! What the user has set: flags, environment variables, the configuration file, and the catalogue of providers.
//!
//! File, keys and rules are those of clusterctl, so that both tools work from one configuration.

mod access;
mod cert_manager;
pub mod env;
mod error;
mod expand;
mod file;
mod folders;
mod images;
mod layers;
mod paths;
mod providers;
mod sources;
mod values;
mod values_file;

use std::fmt::{self, Debug};
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use cert_manager::CertManager;
pub use env::Environment;
pub use error::{Error, SyntaxError};
pub use layers::Origin;
pub use sources::{CustomProvider, FileVariable};
pub use values_file::{Values, is_variable_name};

use crate::error::suggest;
use crate::http::Http;
use crate::model::image::ImageOverrides;
use crate::model::{Provider, ProviderType, Secret};
use file::ConfigFile;
use folders::Folders;
use layers::Layers;
use paths::Surroundings;

/// The configuration of a run. Its values are not printed, for there may be tokens among them.
#[derive(Clone)]
pub struct Config {
    environment: Environment,
    folders: Folders,
    file: ConfigFile,
    /// The command line names the file.
    is_named: bool,
    /// What the command line sets.
    layers: Layers,
}

impl Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Config")
            .field("origin", &self.file.origin)
            .field("environment", &self.environment)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// Reads the configuration file: `path`, which may be an http(s) URL, or else the first of
    /// `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml` and `~/.cluster-api/clusterctl.yaml` (or `.json`, `.yml`). That
    /// there is none is no error. Nothing is written.
    ///
    /// # Errors
    /// The file cannot be read, does not parse, or has a format that is not supported.
    pub async fn load(
        path: Option<&str>,
        environment: Environment,
        http: &Http,
    ) -> Result<Self, Error> {
        let folders = Folders::find(&environment);
        let path = path.filter(|path| !path.is_empty());
        let file = ConfigFile::load(path, &folders, http).await?;
        tracing::debug!(origin = file.origin, "configuration file");
        let config = Self {
            environment,
            folders,
            file,
            is_named: path.is_some(),
            layers: Layers::default(),
        };
        config.warn_of_unused_token();
        config.warn_of_settings_that_are_no_text();
        Ok(config)
    }

    /// Returns the environment of the process.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the configuration file in use, when it is one on disk.
    pub fn path(&self) -> Option<&Path> {
        self.file.path.as_deref()
    }

    /// Returns the folder where downloads are kept: `capictl` in `$XDG_CACHE_HOME`, by default `~/.cache`. None where
    /// nothing tells the user's home folder.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        folders::cache(&self.environment)
    }

    /// Returns the value of a variable: from a flag, else `--set`, `--values`, the environment, the configuration file.
    ///
    /// Case does not count: the environment is asked for the upper-case name with `_` for `-`, so a variable in lower
    /// case is never seen there. A variable that is set to nothing is set.
    pub fn variable(&self, name: &str) -> Option<String> {
        Some(self.variable_with_origin(name)?.0)
    }

    /// Returns the value of a variable as [`Config::variable`] does, and where it comes from.
    pub fn variable_with_origin(&self, name: &str) -> Option<(String, Origin)> {
        match self.layers.get(&name.to_lowercase()) {
            Some((value, origin)) => Some((value.to_owned(), origin.clone())),
            None => self.surroundings(name),
        }
    }

    /// Returns the value that environment or configuration file have.
    fn surroundings(&self, name: &str) -> Option<(String, Origin)> {
        let variable = environment_name(name);
        if let Some(value) = self.environment.get(&variable) {
            return Some((value.to_owned(), Origin::Environment(variable)));
        }
        let value = values::find(&self.file.values, &name.to_lowercase());
        let text = value.and_then(values::text_of)?;
        Some((text, Origin::File(self.file.origin.clone())))
    }

    /// Returns a setting of the tool itself, which `--set` and `--values` have no say in: these are for templates.
    fn setting(&self, name: &str) -> Option<String> {
        let flag = self.layers.flag(&name.to_lowercase());
        flag.map(str::to_owned)
            .or_else(|| Some(self.surroundings(name)?.0))
    }

    /// Sets a variable on behalf of a flag; this beats all other sources.
    pub fn set_variable(&mut self, name: &str, value: impl Into<String>) {
        self.set_variable_from(name, value, Origin::Flag(""));
    }

    /// Sets a variable. [`Origin::Set`] and [`Origin::Values`] beat environment and file, all others beat these too; of
    /// equal ones the last counts.
    pub fn set_variable_from(&mut self, name: &str, value: impl Into<String>, origin: Origin) {
        self.layers.insert(name, value.into(), origin);
    }

    /// Takes over the values of a file; those of an earlier file give way. `path` is what the command line calls it.
    pub fn add_values(&mut self, values: Values, path: &str) {
        for (name, value) in values.entries {
            self.set_variable_from(&name, value, Origin::Values(path.to_owned()));
        }
    }

    /// Returns the names that `--set` has given values, as they are spelled there.
    pub fn set_names(&self) -> impl Iterator<Item = &str> {
        self.layers.set_names()
    }

    /// Returns the names of all variables that are set, with where, as they would be written in a template. Variables of
    /// the environment whose name is not in upper case are not among them, for they are never asked for.
    pub fn set_variables(&self) -> Vec<(String, Origin)> {
        let given = self.layers.names();
        let given = given.map(|(name, origin)| (name.to_owned(), origin.clone()));
        let environment = self.environment.names();
        let environment = environment
            .filter(|name| environment_name(name) == **name)
            .map(|name| (name.to_owned(), Origin::Environment(name.to_owned())));
        let file = self.file.values.iter();
        let file = file
            .filter(|(_, value)| !matches!(value, Value::Null | Value::Object(_) | Value::Array(_)))
            .map(|(key, _)| (key.to_uppercase(), Origin::File(self.file.origin.clone())));
        given.chain(environment).chain(file).collect()
    }

    /// Returns the environment variable that would be this one if case counted for nothing there.
    pub fn unseen_variable(&self, name: &str) -> Option<&str> {
        let wanted = environment_name(name);
        let mut names = self.environment.names();
        names.find(|found| **found != wanted && environment_name(found) == wanted)
    }

    /// Returns the known providers: the catalogue with those of the configuration, sorted by type and name. Paths are as
    /// they are written, see [`Config::locate`].
    ///
    /// # Errors
    /// Entries of the configuration are faulty; all of them are reported.
    pub fn providers(&self) -> Result<Vec<Provider>, Error> {
        let custom = self.section("providers", |section| {
            providers::parse_custom(section, &self.surroundings_of_paths())
        })?;
        Ok(providers::merge(
            providers::catalogue(),
            custom.unwrap_or_default(),
        ))
    }

    /// Makes the path of a provider's repository an absolute one: it may begin at the configuration file, `~` or `$NAME`.
    ///
    /// # Errors
    /// Nothing tells where the path begins.
    pub fn locate(&self, provider: Provider) -> Result<Provider, Error> {
        let label = provider.label();
        match self.surroundings_of_paths().locate(provider.url) {
            Ok(url) => Ok(Provider { url, ..provider }),
            Err(problem) => Err(Error::ProviderUrl {
                label,
                origin: self.file.origin.clone(),
                problem,
            }),
        }
    }

    /// Returns a known provider, its repository's path an absolute one.
    ///
    /// # Errors
    /// There is none of this type and name, or [`Config::providers`] or [`Config::locate`] fails.
    pub fn provider(&self, provider_type: ProviderType, name: &str) -> Result<Provider, Error> {
        let (matching, others): (Vec<Provider>, Vec<Provider>) = self
            .providers()?
            .into_iter()
            .partition(|provider| provider.provider_type == provider_type);
        if let Some(provider) = matching.iter().find(|provider| provider.name == name) {
            self.warn_of_unset_variables(provider);
            return self.locate(provider.clone());
        }
        let names = matching.iter().map(|provider| provider.name.as_str());
        Err(Error::UnknownProvider {
            provider_type,
            name: name.to_owned(),
            similar: suggest(name, names).map(str::to_owned),
            elsewhere: others
                .iter()
                .filter(|provider| provider.name == name)
                .map(|provider| provider.provider_type)
                .collect(),
        })
    }

    fn warn_of_unset_variables(&self, provider: &Provider) {
        let Some(section) = self.file.values.get("providers") else {
            return;
        };
        let (surroundings, label) = (self.surroundings_of_paths(), provider.label());
        for name in providers::unset_variables(section, provider, &surroundings) {
            tracing::warn!(
                "`{name}` in the `url` of `{label}` is not set and reads as empty: set it in the environment"
            );
        }
    }

    /// Returns what is to be replaced in image references.
    ///
    /// # Errors
    /// Entries are faulty; all of them are reported.
    pub fn image_overrides(&self) -> Result<ImageOverrides, Error> {
        Ok(self.section("images", images::parse)?.unwrap_or_default())
    }

    /// Returns the settings of cert-manager.
    ///
    /// # Errors
    /// Settings are faulty; all of them are reported.
    pub fn cert_manager(&self) -> Result<CertManager, Error> {
        let settings = self.section("cert-manager", |section| {
            cert_manager::parse(section, &self.surroundings_of_paths())
        })?;
        Ok(settings.unwrap_or_default())
    }

    /// Returns the folder whose files go before those of repositories: `overridesFolder`, else `overrides` beside the
    /// configuration file's usual places, if it exists.
    ///
    /// # Errors
    /// A variable reference in `overridesFolder` does not parse.
    pub fn overrides_folder(&self) -> Result<Option<PathBuf>, Error> {
        let Some(folder) = self
            .setting("overridesFolder")
            .filter(|folder| !folder.trim().is_empty())
        else {
            return Ok(self
                .folders
                .in_order()
                .map(|folder| folder.join("overrides"))
                .find(|folder| folder.exists()));
        };
        let expanded = expand::expand(&folder, &self.environment);
        match expanded {
            Ok(folder) => {
                let resolved = self.surroundings_of_paths().resolve_home(&folder);
                resolved.map(Some).map_err(|problem| Error::Path {
                    what: "`overridesFolder`",
                    problem,
                })
            }
            Err(source) => Err(Error::Expand {
                what: "`overridesFolder`",
                source,
            }),
        }
    }

    /// Returns what the paths in the file are relative to.
    fn surroundings_of_paths(&self) -> Surroundings<'_> {
        Surroundings {
            environment: &self.environment,
            folder: self.file.path.as_deref().and_then(Path::parent),
        }
    }

    /// Returns the token for GitHub's API: `GITHUB_TOKEN` of the environment, else `github-token` of the file.
    ///
    /// An empty token counts as none.
    pub fn github_token(&self) -> Option<Secret> {
        self.setting("github-token")
            .filter(|token| !token.trim().is_empty())
            .map(|token| Secret::new(token.trim()))
    }

    /// Returns the token for GitLab's API: `GITLAB_ACCESS_TOKEN` of the environment, else `gitlab-access-token` of the
    /// file. An empty token counts as none.
    pub fn gitlab_token(&self) -> Option<Secret> {
        let token = self.setting("gitlab-access-token")?;
        Some(token.trim())
            .filter(|token| !token.is_empty())
            .map(Secret::new)
    }

    /// Returns the host of the GitHub Enterprise that links may lead to, and the token for it: `GH_HOST` and
    /// `GITHUB_ENTERPRISE_TOKEN` of the environment, which gh reads too, else `gh-host` and `github-enterprise-token` of
    /// the file.
    pub fn github_enterprise(&self) -> Option<(String, Option<Secret>)> {
        let get = |name| {
            let value = self.variable(name)?;
            Some(value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let host = get("gh-host")?;
        Some((host, get("github-enterprise-token").map(Secret::new)))
    }

    /// Returns the verbosity that `CLUSTERCTL_LOG_LEVEL` asks for, for command lines without `-v`.
    ///
    /// # Errors
    /// The value is no number.
    pub fn log_level(&self) -> Result<Option<i32>, Error> {
        match self.setting(env::CLUSTERCTL_LOG_LEVEL) {
            None => Ok(None),
            Some(text) if text.is_empty() => Ok(None),
            Some(text) => match text.parse() {
                Ok(level) => Ok(Some(level)),
                Err(_) => Err(Error::LogLevel(text)),
            },
        }
    }

    /// Parses a structured section of the file. Environment variables of the same name mean something else
    /// (`IMAGES`, say, may well be set for another program) and do not count.
    fn section<T>(
        &self,
        key: &'static str,
        parse: impl FnOnce(&Value) -> Result<T, Vec<String>>,
    ) -> Result<Option<T>, Error> {
        match self.file.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(section) => parse(section).map(Some).map_err(|faults| Error::Section {
                section: key,
                origin: self.file.origin.clone(),
                faults,
            }),
        }
    }

    /// clusterctl takes a list or a map for an empty text, without a word.
    fn warn_of_settings_that_are_no_text(&self) {
        for name in TEXT_SETTINGS {
            let value = self.file.values.get(&name.to_lowercase());
            if matches!(value, Some(Value::Array(_) | Value::Object(_))) {
                tracing::warn!(
                    file = self.file.origin,
                    "`{name}` in the configuration file is not used: it must be a text"
                );
            }
        }
    }

    /// In the file, clusterctl uses `GITHUB_TOKEN` for its version check alone; a token there is easily thought to work.
    fn warn_of_unused_token(&self) {
        let in_file = self
            .file
            .values
            .contains_key(&env::GITHUB_TOKEN.to_lowercase());
        if in_file && self.github_token().is_none() {
            tracing::warn!(
                file = self.file.origin,
                "`GITHUB_TOKEN` in the configuration file is not used for repositories: name it `github-token`"
            );
        }
    }
}

/// The settings of the file that are a text each.
const TEXT_SETTINGS: [&str; 6] = [
    "github-token",
    "gitlab-access-token",
    "gh-host",
    "github-enterprise-token",
    "overridesFolder",
    env::CLUSTERCTL_LOG_LEVEL,
];

/// Returns the name that the environment is asked for.
fn environment_name(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}
