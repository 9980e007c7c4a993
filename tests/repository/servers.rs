//! A provider at each kind of server, in the stand-in.

use capictl::model::RepositoryType;
use capictl::repository::goproxy::GoProxy;

use super::support::github::GitHub;
use super::*;

pub const LABEL: &str = "infrastructure-demo";
pub const COMPONENTS_FILE: &str = "components.yaml";

/// Where the releases are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    GitHub,
    /// GitHub, whose versions a Go module proxy knows.
    GoProxy,
    GitLab,
    /// A folder on the web.
    Folder,
}

impl Server {
    pub const ALL: [Self; 4] = [Self::GitHub, Self::GoProxy, Self::GitLab, Self::Folder];

    /// Publishes a version.
    pub fn publish(self, stand_in: &GitHub, version: &str, components: &str) {
        let metadata = metadata(&[(1, 0, "v1beta2"), (1, 1, "v1beta2")]);
        let files = [(COMPONENTS_FILE, components), ("metadata.yaml", &metadata)];
        match self {
            Self::GitHub | Self::GoProxy => stand_in.add_release("acme/demo", version, &files),
            Self::GitLab => stand_in.add_package("acme/demo", "demo", version, &files),
            Self::Folder => {
                for (name, text) in files {
                    stand_in.add_text(&format!("web.example/{LABEL}/{version}/{name}"), text);
                }
            }
        }
    }

    /// Publishes the list of versions, where there is one.
    pub fn list(self, stand_in: &GitHub, versions: &[&str]) {
        let text = versions.join("\n");
        match self {
            Self::GitHub | Self::GitLab => {}
            Self::GoProxy => stand_in.add_list("/github.com/acme/demo/@v/list", &text),
            Self::Folder => stand_in.add_text(&format!("web.example/{LABEL}/versions"), &text),
        }
    }

    /// Returns the URL of a provider at a host, for a version or `latest`.
    pub fn url(self, host: &str, version: &str) -> String {
        match self {
            Self::GitHub | Self::GoProxy => {
                format!("https://{host}/acme/demo/releases/{version}/{COMPONENTS_FILE}")
            }
            Self::GitLab => format!(
                "https://{host}/api/v4/projects/acme%2Fdemo/packages/generic/demo/{version}/{COMPONENTS_FILE}"
            ),
            Self::Folder => format!("https://{host}/{LABEL}/{version}/{COMPONENTS_FILE}"),
        }
    }

    /// Returns the host in the stand-in.
    pub fn host(self) -> &'static str {
        match self {
            Self::GitHub | Self::GoProxy => "github.com",
            Self::GitLab => "gitlab.acme.example",
            Self::Folder => "web.example",
        }
    }

    /// Returns what a user would say of another host of this type.
    pub fn repository_type(self) -> RepositoryType {
        match self {
            Self::GitHub | Self::GoProxy => RepositoryType::GitHub,
            Self::GitLab => RepositoryType::GitLab,
            Self::Folder => RepositoryType::Http,
        }
    }

    /// Opens the provider in the stand-in.
    pub fn open(self, version: &str, settings: Settings) -> ProviderRepository {
        let url = self.url(self.host(), version);
        open(LABEL, &url, &self.settings(settings))
    }

    /// Adds the proxy to the settings where it is asked.
    pub fn settings(self, settings: Settings) -> Settings {
        let proxy = (self == Self::GoProxy).then_some("https://go.example");
        settings.with_go_proxy(proxy.and_then(GoProxy::parse))
    }
}
