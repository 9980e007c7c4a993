//! The object by which a management cluster remembers that a provider is installed.

use serde_json::json;

use crate::model::{Object, Provider, labels};

/// Returns the inventory object of a provider, as clusterctl reads and writes it.
///
/// `version` is kept as it is, normally with its `v`; `namespace` is the provider's target namespace.
pub fn inventory_object(provider: &Provider, version: &str, namespace: &str) -> Object {
    let label = provider.label();
    let object = json!({
        "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3",
        "kind": "Provider",
        "metadata": {
            "name": label,
            "namespace": namespace,
            "labels": {
                labels::CLUSTERCTL: "",
                labels::CORE: labels::CORE_INVENTORY,
                labels::PROVIDER: label,
            },
        },
        "providerName": provider.name,
        "type": provider.provider_type,
        "version": version,
    });
    serde_json::from_value(object).expect("a JSON map is an object")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProviderType;

    #[test]
    fn the_inventory_object_is_the_one_of_clusterctl() {
        let provider = Provider {
            name: "aws".into(),
            provider_type: ProviderType::InfrastructureProvider,
            url: "https://example.com".into(),
            repository_type: None,
            deprecated: None,
        };
        let object = inventory_object(&provider, "v2.1.0", "capa-system");
        assert_eq!(
            serde_json::to_value(object).unwrap(),
            json!({
                "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3",
                "kind": "Provider",
                "metadata": {
                    "name": "infrastructure-aws",
                    "namespace": "capa-system",
                    "labels": {
                        "clusterctl.cluster.x-k8s.io": "",
                        "clusterctl.cluster.x-k8s.io/core": "inventory",
                        "cluster.x-k8s.io/provider": "infrastructure-aws",
                    },
                },
                "providerName": "aws",
                "type": "InfrastructureProvider",
                "version": "v2.1.0",
            })
        );
    }
}
