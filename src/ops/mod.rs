//! One operation per file: an options struct in, a value out. Operations may report status, they never print data.

pub mod config_repositories;
pub mod generate_cluster;
pub mod generate_provider;
pub mod generate_yaml;
pub mod init;

use crate::config::Config;
use crate::http::Http;
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
