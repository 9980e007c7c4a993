//! From a kind to the URL of its objects.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, RwLock};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::request::encode;
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
    /// Returns a resource that needs no look-up, because every API server has it or its CRD is known.
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
        let root = group_path(&self.group, &self.version);
        match namespace {
            Some(namespace) if self.namespaced => {
                format!(
                    "{root}/namespaces/{}/{}",
                    encode(namespace),
                    encode(&self.plural)
                )
            }
            _ => format!("{root}/{}", encode(&self.plural)),
        }
    }
}

fn group_path(group: &str, version: &str) -> String {
    match group {
        "" => format!("/api/{}", encode(version)),
        group => format!("/apis/{}/{}", encode(group), encode(version)),
    }
}

/// What the API server tells of a kind.
#[derive(Debug, Clone, Deserialize)]
struct Served {
    name: String,
    kind: String,
    namespaced: bool,
}

type Group = Arc<OnceCell<Vec<Served>>>;

/// The kinds that are known by now: what the server told, and the CRDs that were applied since.
#[derive(Default)]
pub(super) struct Resources {
    groups: Mutex<HashMap<String, Group>>,
    learned: RwLock<HashMap<(String, String), Resource>>,
    told: Mutex<BTreeSet<String>>,
}

impl Resources {
    /// Remembers the kinds of a CRD, so that its objects can be applied without asking the server.
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

    /// Tells whether a cause is told for the first time, so that a user reads it once and not for every object.
    pub(super) fn is_news(&self, cause: &Cause) -> bool {
        self.told
            .lock()
            .expect("no holder of the lock panics")
            .insert(cause.to_string())
    }

    fn learned(&self, object: &Object) -> Option<Resource> {
        let learned = self.learned.read().expect("no holder of the lock panics");
        learned
            .get(&(object.api_version().to_owned(), object.kind().to_owned()))
            .cloned()
    }

    fn group(&self, api_version: &str) -> Group {
        let mut groups = self.groups.lock().expect("no holder of the lock panics");
        groups.entry(api_version.to_owned()).or_default().clone()
    }

    fn forget(&self, api_version: &str) {
        self.groups
            .lock()
            .expect("no holder of the lock panics")
            .remove(api_version);
    }
}

impl Cluster {
    /// Returns how the server serves the kind of an object. It is asked once for each API version.
    ///
    /// # Errors
    /// The kind is unknown to the server, or the server cannot be asked.
    pub async fn resource_of(&self, object: &Object) -> Result<Resource> {
        if let Some(resource) = self.resources.learned(object) {
            return Ok(resource);
        }
        let api_version = object.api_version();
        let group = self.resources.group(api_version);
        let was_known = group.initialized();
        if let Some(resource) = self.find(&group, object).await? {
            return Ok(resource);
        }
        // The answer may be older than the kind, which somebody else has just created.
        self.resources.forget(api_version);
        if was_known
            && let Some(resource) = self
                .find(&self.resources.group(api_version), object)
                .await?
        {
            return Ok(resource);
        }
        Err(Error::UnknownKind {
            kind: object.kind().to_owned(),
            api_version: api_version.to_owned(),
        })
    }

    async fn find(&self, group: &Group, object: &Object) -> Result<Option<Resource>> {
        let served = group.get_or_try_init(|| self.list_served(object)).await?;
        // A name with a slash is a sub-resource.
        let found = served
            .iter()
            .find(|served| served.kind == object.kind() && !served.name.contains('/'));
        Ok(found.map(|served| {
            Resource::known(
                object.group(),
                object.version(),
                &served.name,
                served.namespaced,
            )
        }))
    }

    async fn list_served(&self, object: &Object) -> Result<Vec<Served>> {
        #[derive(Deserialize)]
        struct List {
            resources: Vec<Served>,
        }
        let action = format!(
            "ask what the API server serves in `{}`",
            object.api_version()
        );
        let path = group_path(object.group(), object.version());
        let list: Option<List> = self.get_path(&action, &path).await?;
        Ok(list.map(|list| list.resources).unwrap_or_default())
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
