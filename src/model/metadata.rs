//! `metadata.yaml` of a release: which contract each release series implements.

use serde::{Deserialize, Serialize};

use super::{Contract, Version};

/// The API version that `metadata.yaml` must have.
pub const API_VERSION: &str = "clusterctl.cluster.x-k8s.io/v1alpha3";

/// A provider's release series, oldest first as a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Must be [`API_VERSION`].
    #[serde(default)]
    pub api_version: String,
    /// `Metadata`, or absent.
    #[serde(default)]
    pub kind: String,
    /// One entry per major and minor version.
    #[serde(default)]
    pub release_series: Vec<ReleaseSeries>,
}

/// The releases that share major and minor version, and the contract that they implement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseSeries {
    /// Major version.
    #[serde(default)]
    pub major: u64,
    /// Minor version.
    #[serde(default)]
    pub minor: u64,
    /// Contract that the series implements.
    pub contract: Contract,
}

impl Metadata {
    /// Returns the series of a version: the first entry with its major and minor number.
    pub fn series_of(&self, version: &Version) -> Option<&ReleaseSeries> {
        self.release_series
            .iter()
            .find(|series| (series.major, series.minor) == version.series())
    }

    /// Returns the newest series that implements a contract; on a tie the later entry.
    pub fn newest_series_for(&self, contract: &Contract) -> Option<&ReleaseSeries> {
        self.release_series
            .iter()
            .filter(|series| series.contract == *contract)
            .max_by_key(|series| (series.major, series.minor))
    }

    /// Returns major and minor number of the series that implement a contract, the newest first.
    pub fn all_series_for(&self, contract: &Contract) -> Vec<(u64, u64)> {
        let series = self.release_series.iter();
        let mut numbers: Vec<(u64, u64)> = series
            .filter(|series| series.contract == *contract)
            .map(|series| (series.major, series.minor))
            .collect();
        numbers.sort_unstable_by(|left, right| right.cmp(left));
        numbers.dedup();
        numbers
    }

    /// Returns the series as a reader lists them: `1.0, 1.1`.
    pub fn list_series(&self) -> String {
        let names: Vec<String> = self
            .release_series
            .iter()
            .map(|series| format!("{}.{}", series.major, series.minor))
            .collect();
        names.join(", ")
    }
}
