//! What kind of server has the releases of a provider.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How a repository is read, where its address alone does not tell: `repositoryType` beside `url` in the configuration
/// file, a field that clusterctl passes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RepositoryType {
    /// GitHub releases, at github.com or at an enterprise.
    GitHub,
    /// Generic packages of a GitLab project.
    GitLab,
    /// A folder on a web server.
    Http,
    /// A folder on this machine.
    Local,
}

impl RepositoryType {
    /// Every type.
    pub const ALL: [Self; 4] = [Self::GitHub, Self::GitLab, Self::Http, Self::Local];

    /// Returns the type's name in the configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Http => "http",
            Self::Local => "local",
        }
    }
}

impl Display for RepositoryType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A text that names no type of repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it must be one of {known}, not `{0}`", known = RepositoryType::ALL.map(RepositoryType::as_str).join(", "))]
pub struct UnknownRepositoryType(pub String);

impl FromStr for RepositoryType {
    type Err = UnknownRepositoryType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|repository_type| repository_type.as_str() == text)
            .ok_or_else(|| UnknownRepositoryType(text.to_owned()))
    }
}
