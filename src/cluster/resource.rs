//! From a kind to the URL of its objects.

use std::collections::HashMap;
use std::sync::RwLock;

use kube::Discovery;
use kube::core::GroupVersionKind;
use kube::discovery::Scope;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Cause, Cluster, Error, Result};
use crate::model::Object;

/// A kind as the API server serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// API group, empty for the core group.
    pub group: String,
    /// Version within the group.
    pub version: String,
    /// Plural name in URLs.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl Resource {
    /// Returns a resource that needs no look-up, because every API server has it or its CRD is ours.
    pub fn known(group: &str, version: &str, plural: &str, namespaced: bool) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            namespaced,
        }
    }

    /// Returns the resource of CustomResourceDefinitions.
    pub fn crds() -> Self {
        Self::known(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            false,
        )
    }

    /// Returns the URL path of all objects, or of those in one namespace.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match namespace {
            Some(namespace) if self.namespaced => {
                format!("{root}/namespaces/{namespace}/{}", self.plural)
            }
            _ => format!("{root}/{}", self.plural),
        }
    }
}

/// The kinds that are known by now: what the server told, and the CRDs that were applied since.
#[derive(Default)]
pub(super) struct Resources {
    discovered: OnceCell<Discovery>,
    learned: RwLock<HashMap<(String, String), Resource>>,
}

impl Resources {
    /// Remembers the kinds of a CRD, so that its objects can be applied without asking the server again.
    pub(super) fn learn(&self, crd: &Object) {
        let namespaced = crd.text("/spec/scope") == "Namespaced";
        let (group, plural) = (crd.text("/spec/group"), crd.text("/spec/names/plural"));
        let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
        let mut learned = self.learned.write().expect("no holder of the lock panics");
        for version in versions
            .into_iter()
            .flatten()
            .filter_map(|version| version["name"].as_str())
        {
            let key = (
                format!("{group}/{version}"),
                crd.text("/spec/names/kind").to_owned(),
            );
            learned.insert(key, Resource::known(group, version, plural, namespaced));
        }
    }

    fn learned(&self, object: &Object) -> Option<Resource> {
        let learned = self.learned.read().expect("no holder of the lock panics");
        learned
            .get(&(object.api_version().to_owned(), object.kind().to_owned()))
            .cloned()
    }
}

impl Cluster {
    /// Returns how the server serves the kind of an object.
    ///
    /// # Errors
    /// The kind is unknown to the server, or the server cannot be asked.
    pub async fn resource_of(&self, object: &Object) -> Result<Resource> {
        if let Some(resource) = self.resources.learned(object) {
            return Ok(resource);
        }
        let kind = GroupVersionKind::gvk(object.group(), object.version(), object.kind());
        let discovered = self
            .resources
            .discovered
            .get_or_try_init(|| self.discover())
            .await?;
        let found = match discovered.resolve_gvk(&kind) {
            Some((resource, capabilities)) => Some((resource, capabilities.scope)),
            // A kind that came into being since then, by somebody else's hand.
            None => kube::discovery::pinned_kind(&self.client, &kind)
                .await
                .ok()
                .map(|(r, c)| (r, c.scope)),
        };
        match found {
            Some((resource, scope)) => Ok(Resource::known(
                &resource.group,
                &resource.version,
                &resource.plural,
                scope == Scope::Namespaced,
            )),
            None => Err(Error::UnknownKind {
                kind: object.kind().to_owned(),
                api_version: object.api_version().to_owned(),
            }),
        }
    }

    /// Two requests where the server knows aggregated discovery (Kubernetes 1.26), one per group elsewhere.
    async fn discover(&self) -> Result<Discovery> {
        let aggregated = Discovery::new(self.client.clone()).run_aggregated().await;
        let discovery = match aggregated {
            Ok(discovery) => Ok(discovery),
            Err(kube::Error::Api(_) | kube::Error::SerdeError(_)) => {
                Discovery::new(self.client.clone()).run().await
            }
            Err(error) => Err(error),
        };
        discovery.map_err(|error| Error::Request {
            action: "discover what the API server serves".to_owned(),
            server: self.server.clone(),
            cause: Cause::of(error, &self.server),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_group_and_scope() {
        let deployments = Resource::known("apps", "v1", "deployments", true);
        assert_eq!(
            deployments.path(Some("a")),
            "/apis/apps/v1/namespaces/a/deployments"
        );
        assert_eq!(deployments.path(None), "/apis/apps/v1/deployments");
        assert_eq!(
            Resource::known("", "v1", "nodes", false).path(Some("a")),
            "/api/v1/nodes"
        );
    }
}
