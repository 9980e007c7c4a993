//! The inventory: one `Provider` object for each provider that is installed. clusterctl reads and writes the same ones.

use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Cluster, Error, Resource, Result};
use crate::model::{Object, ProviderType};

/// Name of the inventory's CRD.
pub const CRD_NAME: &str = "providers.clusterctl.cluster.x-k8s.io";

/// Provider defines an entry in the provider inventory.
#[allow(clippy::duplicated_attributes, reason = "columns of the same type")]
#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "clusterctl.cluster.x-k8s.io",
    version = "v1alpha3",
    kind = "Provider",
    namespaced,
    no_spec,
    category = "cluster-api",
    label("clusterctl.cluster.x-k8s.io/core", "inventory"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(name = "Type", type_ = "string", json_path = ".type"),
    printcolumn(name = "Provider", type_ = "string", json_path = ".providerName"),
    printcolumn(name = "Version", type_ = "string", json_path = ".version")
)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "Provider defines an entry in the provider inventory.")]
pub struct InventoryFields {
    /// Name of the provider.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider_name: String,
    /// Type of the provider, e.g. `InfrastructureProvider`.
    #[serde(rename = "type", default, skip_serializing_if = "String::is_empty")]
    pub provider_type: String,
    /// Version of the components that are installed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Namespace that the provider watches; written by old versions of clusterctl only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub watched_namespace: String,
}

/// A provider that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Name within its type.
    pub name: String,
    /// What it does.
    pub provider_type: ProviderType,
    /// Version as it was installed, normally with `v`.
    pub version: String,
    /// Namespace that it is installed in.
    pub namespace: String,
}

impl Installed {
    /// Reads an inventory object; one of an unknown type, from the future perhaps, is passed over.
    fn from_object(object: &Object) -> Option<Self> {
        Some(Self {
            name: object.text("/providerName").to_owned(),
            provider_type: object.text("/type").parse().ok()?,
            version: object.text("/version").to_owned(),
            namespace: object.namespace().to_owned(),
        })
    }

    /// Returns the provider label.
    pub fn label(&self) -> String {
        self.provider_type.label(&self.name)
    }
}

/// Returns the inventory's CRD as clusterctl has it, less descriptions.
pub fn crd() -> Object {
    let mut crd = json!(Provider::crd());
    let version = &mut crd["spec"]["versions"][0];
    version["subresources"] = json!({});
    let schema = &mut version["schema"]["openAPIV3Schema"];
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("title"); // the name of the Rust type
    }
    // The generator of Go writes down what every object has; the one of Rust does not.
    for (field, kind) in [
        ("apiVersion", "string"),
        ("kind", "string"),
        ("metadata", "object"),
    ] {
        schema["properties"][field] = json!({"type": kind});
    }
    serde_json::from_value(crd).expect("a CRD is a map")
}

impl Cluster {
    /// Returns what is installed, in the order of namespace and label; `None` when there is no inventory yet.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub async fn list_inventory(&self) -> Result<Option<Vec<Installed>>> {
        let providers =
            Resource::known("clusterctl.cluster.x-k8s.io", "v1alpha3", "providers", true);
        let Some(objects) = self.list(&providers, None).await? else {
            return Ok(None);
        };
        let mut installed: Vec<Installed> =
            objects.iter().filter_map(Installed::from_object).collect();
        installed.sort_by_key(|provider| (provider.namespace.clone(), provider.label()));
        Ok(Some(installed))
    }

    /// Creates the inventory's CRD unless it is there. An existing one is never changed: both tools share it.
    ///
    /// # Errors
    /// The server refuses it, or the existing one is of another age.
    pub async fn ensure_inventory(&self) -> Result<()> {
        let crd = crd();
        match self.create(&crd).await {
            Ok(_) => {}
            Err(error) if error.is_already_exists() => {
                let there = self.get(&Resource::crds(), None, CRD_NAME).await?;
                if there.is_some_and(|there| !super::contract::serves(&there, "v1alpha3")) {
                    return Err(Error::InventoryVersion);
                }
            }
            Err(error) => return Err(error),
        }
        self.wait_for_crd(CRD_NAME).await?;
        self.resources.learn(&crd);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crd_is_the_one_that_clusterctl_creates() {
        let crd = crd();
        assert_eq!(crd.name(), CRD_NAME);
        assert_eq!(
            crd.labels().into_iter().collect::<Vec<_>>(),
            [("clusterctl.cluster.x-k8s.io/core", "inventory")]
        );
        assert_eq!(crd.text("/spec/scope"), "Namespaced");
        assert_eq!(
            crd.pointer("/spec/names/categories/0").unwrap(),
            "cluster-api"
        );
        let version = crd.pointer("/spec/versions/0").unwrap();
        let columns = version["additionalPrinterColumns"].as_array().unwrap();
        let columns: Vec<&str> = columns
            .iter()
            .filter_map(|column| column["name"].as_str())
            .collect();
        assert_eq!(columns, ["Age", "Type", "Provider", "Version"]);
        assert_eq!(version["name"], "v1alpha3");
        let schema = &version["schema"]["openAPIV3Schema"];
        for field in ["providerName", "type", "version", "watchedNamespace"] {
            assert_eq!(schema["properties"][field]["type"], "string", "{schema:#}");
        }
    }
}
