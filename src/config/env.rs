//! The process environment, read once, and the names of the variables that have a meaning.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

/// Base of the user's configuration folder, by the XDG base directory specification; absolute, or ignored.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// Further configuration folders, separated by `:`, searched after [`XDG_CONFIG_HOME`].
pub const XDG_CONFIG_DIRS: &str = "XDG_CONFIG_DIRS";
/// Base of the user's cache folder, by the same specification.
pub const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// The user's home folder.
pub const HOME: &str = "HOME";
/// Base of the user's configuration folder on Windows.
pub const LOCALAPPDATA: &str = "LOCALAPPDATA";
/// Token for GitHub's API. `github-token` in the configuration file does the same.
pub const GITHUB_TOKEN: &str = "GITHUB_TOKEN";
/// Token for the API of GitLab. `gitlab-access-token` in the configuration file does the same.
pub const GITLAB_ACCESS_TOKEN: &str = "GITLAB_ACCESS_TOKEN";
/// Go module proxies that know the versions of GitHub repositories. Only the environment counts, as with clusterctl.
pub const GOPROXY: &str = "GOPROXY";
/// Kubeconfig files, separated by `:`, merged in this order.
pub const KUBECONFIG: &str = "KUBECONFIG";
/// Hosts that are reached without a proxy.
pub const NO_PROXY: &str = "NO_PROXY";
/// The same; curl made this spelling common.
pub const NO_PROXY_LOWER: &str = "no_proxy";
/// What leads requests through proxies or around them.
pub const PROXIES: [&str; 8] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    NO_PROXY,
    NO_PROXY_LOWER,
];
/// A PEM file, and a folder of PEM files, with the CA certificates to trust in place of the system's.
pub const CERTIFICATES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];
/// Feature gate of Cluster API for ClusterClasses; it raises the oldest API server that is accepted.
pub const CLUSTER_TOPOLOGY: &str = "CLUSTER_TOPOLOGY";
/// How much is logged, when the command line has no `-v`. The configuration file may have it too.
pub const CLUSTERCTL_LOG_LEVEL: &str = "CLUSTERCTL_LOG_LEVEL";
/// Set to anything: no colours. See <https://no-color.org>.
pub const NO_COLOR: &str = "NO_COLOR";
/// Set to anything but nothing by the machines of continuous integration: nobody is there to answer.
pub const CI: &str = "CI";
/// The Mailgun domain that mails are sent through. The configuration file may have it too, as all that follow.
pub const MAILGUN_DOMAIN: &str = "MAILGUN_DOMAIN";
/// The Mailgun key that mails are sent with.
pub const MAILGUN_API_KEY: &str = "MAILGUN_API_KEY";
/// A Mailgun key that may read events, where [`MAILGUN_API_KEY`] may only send.
pub const MAILGUN_EVENTS_API_KEY: &str = "MAILGUN_EVENTS_API_KEY";
/// Mailgun's API: `us`, `eu` or a URL.
pub const MAILGUN_API_BASE: &str = "MAILGUN_API_BASE";
/// The recipient of all mails.
pub const MAIL_RECIPIENT: &str = "MAIL_RECIPIENT";
/// The same; the implementers' guide has used both names.
pub const MAILGUN_RECIPIENT: &str = "MAILGUN_RECIPIENT";

/// A snapshot of the process environment. Its values are not printed, for there may be tokens among them.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Takes the snapshot; variables that are not UTF-8 are left out.
    pub fn from_process() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        )
    }

    /// Returns an environment of these variables only.
    pub fn from_pairs<N: Into<String>, V: Into<String>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// Returns the value of a variable, be it empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the value of a variable unless it is empty.
    pub fn get_non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Returns the names of all variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Tells whether a machine runs the command, with nobody to answer questions.
    pub fn is_unattended(&self) -> bool {
        self.get_non_empty(CI).is_some()
    }

    /// Tells whether the user wants no colours.
    pub fn no_color(&self) -> bool {
        self.get_non_empty(NO_COLOR).is_some()
    }
}

impl Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Environment({} variables)", self.0.len())
    }
}
