//! One operation per file: an options struct in, a value out. Operations may report status, they never print data.

pub mod cache;
pub mod complete;
pub mod config_repositories;
pub mod config_view;
pub mod generate_cluster;
pub mod generate_provider;
pub mod generate_yaml;
pub mod init;
mod releases;
mod rendering;
pub mod run_local;
pub mod values;
pub mod variables;

use std::path::PathBuf;

use tokio::sync::OnceCell;

use crate::cluster::{self, Access, Cluster};
use crate::config::Config;
use crate::controllers::mailgun::release as mailgun;
use crate::error::{Failure, Result};
use crate::http::Http;
use crate::model::{Provider, ProviderType};
use crate::repository::fetcher::Fetcher;
use crate::repository::goproxy::GoProxy;
use crate::repository::store::Store;
use crate::repository::{Enterprise, Settings};
use crate::ui::Ui;

/// What every operation has at hand.
#[derive(Debug)]
pub struct Session {
    /// Where status and warnings go.
    pub ui: Ui,
    /// The configuration file, the environment and the catalogue of providers.
    pub config: Config,
    /// The HTTP client for everything but the API server.
    pub http: Http,
    /// Only the download cache is asked for releases and templates.
    offline: bool,
    /// The file of further CA certificates, as the command line names it.
    ca_file: Option<String>,
    cluster: OnceCell<Cluster>,
    values: values::Known,
}

impl Session {
    /// Returns a session that has not connected to a management cluster yet.
    pub fn new(config: Config, http: Http) -> Self {
        Self {
            ui: Ui,
            config,
            http,
            offline: false,
            ca_file: None,
            cluster: OnceCell::new(),
            values: values::Known::default(),
        }
    }

    /// Makes the download cache the only source of releases and templates, or not.
    #[must_use]
    pub fn offline(self, offline: bool) -> Self {
        Self { offline, ..self }
    }

    /// Notes which file of CA certificates the command line names; the client has read it.
    #[must_use]
    pub fn ca_file(self, ca_file: Option<String>) -> Self {
        Self { ca_file, ..self }
    }

    /// Returns what provider repositories need to know of the configuration.
    fn repository_settings(&self) -> Result<Settings> {
        let overrides_folder = self.config.overrides_folder()?;
        let store = Store::new(self.config.cache_folder());
        let settings = Settings::new(
            Fetcher::new(self.http.clone(), store, self.offline),
            self.config.github_token(),
            overrides_folder,
        );
        let enterprise = self.config.github_enterprise();
        let enterprise = enterprise.map(|(host, token)| Enterprise { host, token });
        Ok(settings
            .with_embedded([mailgun::RELEASE])
            .with_gitlab_token(self.config.gitlab_token())
            .with_go_proxy(
                self.config
                    .environment()
                    .go_proxy()
                    .and_then(GoProxy::parse),
            )
            .with_enterprise(enterprise))
    }

    /// Warns of a provider that should not be used any more.
    fn warn_if_deprecated(&self, provider: &Provider) {
        if let Some(why) = &provider.deprecated {
            let label = provider.label();
            self.ui.warn(format!("`{label}` is deprecated: {why}"));
        }
    }

    /// Returns the way to the management cluster.
    fn access(&self, options: &ClusterOptions) -> Access {
        let environment = self.config.environment();
        Access {
            kubeconfig: options
                .kubeconfig
                .as_deref()
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            search: environment.kubeconfig_files(),
            context: options
                .context
                .clone()
                .filter(|context| !context.is_empty()),
            no_proxy: environment.no_proxy().map(str::to_owned),
        }
    }

    /// Returns the management cluster, connected once for a command, for that may run a plugin that asks for a password.
    async fn connect(&self, options: &ClusterOptions) -> Result<Cluster> {
        let cluster = self
            .cluster
            .get_or_try_init(|| async { Cluster::connect(&self.access(options)).await });
        Ok(cluster.await?.clone())
    }

    /// Returns the namespace of the context, for commands that need nothing else of the cluster.
    async fn current_namespace(&self, options: &ClusterOptions) -> Result<String> {
        Ok(cluster::access::current_namespace(&self.access(options)).await?)
    }
}

/// Which management cluster is meant; without a word the rules of client-go hold (`KUBECONFIG`, `~/.kube/config`,
/// in-cluster).
#[derive(Debug, Clone, Default)]
pub struct ClusterOptions {
    /// Path of a kubeconfig.
    pub kubeconfig: Option<String>,
    /// Context within the kubeconfig.
    pub context: Option<String>,
}

/// The providers that a command line names, `name[:version]` each, by type.
#[derive(Debug, Clone, Default)]
pub struct ProviderSelection {
    /// `--core`
    pub core: Option<String>,
    /// `--bootstrap`
    pub bootstrap: Vec<String>,
    /// `--control-plane`
    pub control_plane: Vec<String>,
    /// `--infrastructure`
    pub infrastructure: Vec<String>,
    /// `--ipam`
    pub ipam: Vec<String>,
    /// `--runtime-extension`
    pub runtime_extension: Vec<String>,
    /// `--addon`
    pub addon: Vec<String>,
}

impl ProviderSelection {
    /// Returns what was named, in the order of installation.
    fn named(&self) -> Vec<(ProviderType, &str)> {
        ProviderType::ALL
            .into_iter()
            .flat_map(|provider_type| {
                self.of_type(provider_type)
                    .iter()
                    .map(move |name| (provider_type, name.as_str()))
            })
            .collect()
    }

    fn of_type(&self, provider_type: ProviderType) -> &[String] {
        match provider_type {
            ProviderType::CoreProvider => self.core.as_slice(),
            ProviderType::BootstrapProvider => &self.bootstrap,
            ProviderType::ControlPlaneProvider => &self.control_plane,
            ProviderType::InfrastructureProvider => &self.infrastructure,
            ProviderType::IPAMProvider => &self.ipam,
            ProviderType::RuntimeExtensionProvider => &self.runtime_extension,
            ProviderType::AddonProvider => &self.addon,
        }
    }
}

/// Makes one failure of several, so that a reader can mend all of them at once.
fn all_or_failures<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (mut values, mut failures) = (Vec::new(), Vec::<Failure>::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(failure) => failures.push(failure),
        }
    }
    match failures.len() {
        0 => Ok(values),
        1 => Err(failures.remove(0)),
        count => Err(Failure::several(
            format!("{count} things are wrong"),
            failures,
        )),
    }
}
