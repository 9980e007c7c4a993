//! Whether this tool may work with a management cluster: the server's version, and the version of Cluster API in it.

use serde_json::Value;

use super::{Cluster, Error, Resource, Result};
use crate::model::version::CURRENT_CONTRACT;
use crate::model::{Object, Version};

/// Oldest Kubernetes version of a management cluster (clusterctl, `version/version.go`).
const MINIMUM_SERVER: &str = "v1.20.0";
/// The same where ClusterClasses are used, that is, where `CLUSTER_TOPOLOGY` is true.
const MINIMUM_SERVER_WITH_TOPOLOGY: &str = "v1.22.0";

/// Tells whether a CRD has a version.
pub fn serves(crd: &Object, version: &str) -> bool {
    versions(crd).any(|known| known["name"] == version)
}

fn versions(crd: &Object) -> impl Iterator<Item = &Value> {
    crd.pointer("/spec/versions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn storage_version(crd: &Object) -> &str {
    versions(crd)
        .find(|version| version["storage"] == true)
        .and_then(|v| v["name"].as_str())
        .unwrap_or_default()
}

impl Cluster {
    /// Makes sure that the server is not too old. The minimum is higher when `topology` is set.
    ///
    /// # Errors
    /// It is too old, or cannot be asked.
    pub async fn ensure_server_version(&self, topology: bool) -> Result<()> {
        let minimum = if topology {
            MINIMUM_SERVER_WITH_TOPOLOGY
        } else {
            MINIMUM_SERVER
        };
        let found = self.server_version().await?;
        // Distributions add their own mark, as in `v1.31.2-gke.1000`: only the numbers count.
        let release = found
            .parse::<Version>()
            .map(|version| version.release())
            .unwrap_or_default();
        let oldest = minimum
            .parse::<Version>()
            .expect("the constant is a version")
            .release();
        if release < oldest {
            return Err(Error::ServerVersion { found, minimum });
        }
        Ok(())
    }

    /// Makes sure that Cluster API, when it is there, stores its objects in the version of our contract.
    ///
    /// # Errors
    /// It stores another version, or the server cannot be asked.
    pub async fn ensure_contract(&self) -> Result<()> {
        match self
            .get(&Resource::crds(), None, "clusters.cluster.x-k8s.io")
            .await?
        {
            None => Ok(()),
            Some(crd) if storage_version(&crd) == CURRENT_CONTRACT => Ok(()),
            Some(crd) => Err(Error::Contract {
                expected: CURRENT_CONTRACT.to_owned(),
                found: storage_version(&crd).to_owned(),
            }),
        }
    }
}
