//! Release versions and the contracts between providers.

use std::cmp::Ordering;
use std::fmt::{self, Display};
use std::str::FromStr;

use crate::error::Explain;

/// A strict semantic version, with or without a leading `v`; it prints with one.
///
/// Build metadata does not count when versions are compared (semver.org, rule 10), but it is kept.
#[derive(Debug, Clone, Eq)]
pub struct Version(semver::Version);

impl Version {
    /// Returns major and minor, the part that a release series covers.
    pub fn series(&self) -> (u64, u64) {
        (self.0.major, self.0.minor)
    }

    /// Returns major, minor and patch.
    pub fn release(&self) -> (u64, u64, u64) {
        (self.0.major, self.0.minor, self.0.patch)
    }

    /// Tells whether it is a pre-release, such as `v1.2.0-rc.1`.
    pub fn is_prerelease(&self) -> bool {
        !self.0.pre.is_empty()
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp_precedence(&other.0)
    }
}

impl Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{}", self.0)
    }
}

/// A text that is no strict semantic version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a semantic version")]
pub struct InvalidVersion(pub String);

impl Explain for InvalidVersion {
    fn hints(&self) -> Vec<String> {
        vec!["write it as `v1.2.3`, three numbers without leading zeros".into()]
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('v').unwrap_or(text);
        semver::Version::parse(number)
            .map(Self)
            .map_err(|_| InvalidVersion(text.to_owned()))
    }
}

/// The name of a contract between providers, such as `v1beta2`: the API version of the core provider that they follow.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(transparent)]
pub struct Contract(pub String);

/// The contract that this tool works with, and the API version of the objects it reads and writes.
pub const CURRENT_CONTRACT: &str = "v1beta2";

impl Contract {
    /// Returns the contract that this tool works with.
    pub fn current() -> Self {
        Self(CURRENT_CONTRACT.to_owned())
    }

    /// Returns the contracts that a core provider of this contract works with, newest first.
    ///
    /// `v1beta2` accepts `v1beta1` too; every other contract only itself (Cluster API, `internal/contract/version.go`).
    pub fn compatible(&self) -> Vec<Contract> {
        match self.0.as_str() {
            CURRENT_CONTRACT => vec![self.clone(), Self("v1beta1".to_owned())],
            _ => vec![self.clone()],
        }
    }
}

impl Display for Contract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_precedence() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        assert!(version("v1.10.0") > version("1.9.9"));
        assert!(version("v1.0.0-rc.1") < version("v1.0.0"));
        assert_eq!(version("v1.0.0+a"), version("v1.0.0+b"));
        assert_eq!(version("1.2.3-beta.0+x").to_string(), "v1.2.3-beta.0+x");
    }

    #[test]
    fn only_strict_versions_parse() {
        for bad in [
            "", "v", "1", "v1.2", "v01.2.3", "vv1.2.3", "latest", " v1.2.3",
        ] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }
}
