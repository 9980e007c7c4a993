//! Providers of Cluster API, their types, and how the command line names them.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RepositoryType;
use crate::error::Explain;

/// The name of the one core provider, Cluster API itself.
pub const CORE_PROVIDER_NAME: &str = "cluster-api";

/// What a provider does in the management cluster. The order is the order of installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ProviderType {
    /// Cluster API itself.
    CoreProvider,
    /// Turns machines into nodes.
    BootstrapProvider,
    /// Runs control planes.
    ControlPlaneProvider,
    /// Creates the machines and networks.
    InfrastructureProvider,
    /// Hands out IP addresses.
    IPAMProvider,
    /// Serves runtime hooks.
    RuntimeExtensionProvider,
    /// Installs add-ons into workload clusters.
    AddonProvider,
}

impl ProviderType {
    /// Every type, in the order of installation.
    pub const ALL: [Self; 7] = [
        Self::CoreProvider,
        Self::BootstrapProvider,
        Self::ControlPlaneProvider,
        Self::InfrastructureProvider,
        Self::IPAMProvider,
        Self::RuntimeExtensionProvider,
        Self::AddonProvider,
    ];

    /// Returns the type's name as the inventory and the configuration file spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CoreProvider => "CoreProvider",
            Self::BootstrapProvider => "BootstrapProvider",
            Self::ControlPlaneProvider => "ControlPlaneProvider",
            Self::InfrastructureProvider => "InfrastructureProvider",
            Self::IPAMProvider => "IPAMProvider",
            Self::RuntimeExtensionProvider => "RuntimeExtensionProvider",
            Self::AddonProvider => "AddonProvider",
        }
    }

    /// Returns the command-line flag that names a provider of this type, e.g. `--infrastructure`.
    pub fn flag(self) -> &'static str {
        match self {
            Self::CoreProvider => "--core",
            Self::BootstrapProvider => "--bootstrap",
            Self::ControlPlaneProvider => "--control-plane",
            Self::InfrastructureProvider => "--infrastructure",
            Self::IPAMProvider => "--ipam",
            Self::RuntimeExtensionProvider => "--runtime-extension",
            Self::AddonProvider => "--addon",
        }
    }

    /// Returns the provider label (clusterctl's "manifest label"): value of `cluster.x-k8s.io/provider`, name of the
    /// inventory object, folder in local repositories and in the overrides layer.
    pub fn label(self, name: &str) -> String {
        match self {
            Self::CoreProvider => name.to_owned(),
            other => format!("{}-{name}", &other.flag()[2..]),
        }
    }
}

impl Display for ProviderType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for ProviderType {
    type Err = UnknownProviderType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|provider_type| provider_type.as_str() == text)
            .ok_or_else(|| UnknownProviderType(text.to_owned()))
    }
}

/// A type that is none of the seven.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a provider type")]
pub struct UnknownProviderType(pub String);

impl Explain for UnknownProviderType {
    fn hints(&self) -> Vec<String> {
        let known: Vec<&str> = ProviderType::ALL.map(ProviderType::as_str).to_vec();
        vec![format!("the types are {}", known.join(", "))]
    }
}

/// A provider as the catalogue or the configuration file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// Name within its type, e.g. `aws`.
    pub name: String,
    /// What it does.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// Where its releases are: the components file of a version, or of `latest`.
    pub url: String,
    /// What kind of server that is; guessed from the URL when nobody says.
    #[serde(
        rename = "repositoryType",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub repository_type: Option<RepositoryType>,
    /// Why it should not be used any more, and what should be instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
}

impl Provider {
    /// Returns the provider label, see [`ProviderType::label`].
    pub fn label(&self) -> String {
        self.provider_type.label(&self.name)
    }
}

/// `name[:version]` as the command line has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReference {
    /// Lower-case name, a DNS-1123 label.
    pub name: String,
    /// The version as it was typed.
    pub version: Option<String>,
}

impl Display for ProviderReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(formatter, "{}:{version}", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}

/// Why a text is no `name[:version]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// Too many colons, or nothing before or after the colon.
    #[error("invalid provider name `{0}`: it should be in the form `name[:version]`")]
    Form(String),
    /// The name is no DNS-1123 label.
    #[error("invalid provider name `{0}`: {1}")]
    Name(String, &'static str),
}

impl Explain for ReferenceError {}

impl FromStr for ProviderReference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default().to_lowercase();
        let version = parts.next().map(str::to_owned);
        if name.is_empty() || version.as_deref() == Some("") || parts.next().is_some() {
            return Err(ReferenceError::Form(text.to_owned()));
        }
        match dns1123_label_problem(&name) {
            Some(problem) => Err(ReferenceError::Name(text.to_owned(), problem)),
            None => Ok(Self { name, version }),
        }
    }
}

/// Returns why `text` is no DNS-1123 label (RFC 1123: the name of a Namespace), or `None` when it is one.
pub fn dns1123_label_problem(text: &str) -> Option<&'static str> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.is_empty() || text.len() > 63 {
        Some("it must have 1 to 63 characters")
    } else if !text.bytes().all(inner) || text.starts_with('-') || text.ends_with('-') {
        Some(
            "only lower-case letters, digits and `-` are allowed, with a letter or digit at both ends",
        )
    } else {
        None
    }
}

/// Returns why `text` is no DNS-1123 subdomain (the name of most objects), or `None` when it is one.
pub fn dns1123_subdomain_problem(text: &str) -> Option<&'static str> {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    if text.is_empty() || text.len() > 253 {
        Some("it must have 1 to 253 characters")
    } else if !text.split('.').all(part) {
        Some(
            "only lower-case letters, digits, `-` and `.` are allowed, each part with a letter or digit at both ends",
        )
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_carry_the_prefix_of_the_type() {
        assert_eq!(
            ProviderType::CoreProvider.label("cluster-api"),
            "cluster-api"
        );
        assert_eq!(
            ProviderType::ControlPlaneProvider.label("kubeadm"),
            "control-plane-kubeadm"
        );
        assert_eq!(
            ProviderType::RuntimeExtensionProvider.label("nutanix"),
            "runtime-extension-nutanix"
        );
    }

    #[test]
    fn a_reference_is_a_name_and_perhaps_a_version() {
        let parse = |text: &str| text.parse::<ProviderReference>();
        assert_eq!(parse("AWS:v2.1.0").unwrap().to_string(), "aws:v2.1.0");
        assert_eq!(parse("docker").unwrap().version, None);
        for bad in ["", ":", "aws:", ":v1", "a:b:c", "a.b", "-a", "a_b"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
