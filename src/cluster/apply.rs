//! Brings objects into the cluster: created where they are missing, brought up to date where they are.
//!
//! This is clusterctl's way, so that both tools leave the same objects; but creation is tried first, because on most
//! runs the object is new: one request where clusterctl needs two.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use tokio::time::Instant;

use super::request::Existing;
use super::{Cluster, Error, Resource, Result, wait};
use crate::model::Object;

/// How many objects are on the way at once.
const SIDE_BY_SIDE: usize = 16;
/// How long a new CRD may take until its kind is served.
const ESTABLISH_TIMEOUT: Duration = Duration::from_secs(60);
/// How often an object is created again that was there and gone in turn.
const ATTEMPTS: usize = 5;

/// The order that the API server needs. Members of one step go side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Namespaces,
    Definitions,
    /// What others refer to.
    Prerequisites,
    Others,
    /// Objects of kinds that the definitions of this very manifest make.
    Instances,
}

impl Step {
    const ALL: [Self; 5] = [
        Self::Namespaces,
        Self::Definitions,
        Self::Prerequisites,
        Self::Others,
        Self::Instances,
    ];

    fn of(object: &Object, definitions: &[&Object]) -> Self {
        let is_definition_of = |definition: &&&Object| {
            definition.text("/spec/group") == object.group()
                && definition.text("/spec/names/kind") == object.kind()
        };
        match object.kind() {
            "Namespace" => Self::Namespaces,
            "CustomResourceDefinition" => Self::Definitions,
            "ServiceAccount" | "Role" | "ClusterRole" | "Secret" | "ConfigMap" => {
                Self::Prerequisites
            }
            _ if definitions
                .iter()
                .any(|definition| is_definition_of(&definition)) =>
            {
                Self::Instances
            }
            _ => Self::Others,
        }
    }
}

impl Cluster {
    /// Creates an object or brings the one that is there up to date.
    ///
    /// # Errors
    /// The server refuses it, or cannot be reached for a good while.
    pub async fn apply(&self, object: &Object, existing: Existing) -> Result<Object> {
        let mut applied = None;
        for _ in 0..ATTEMPTS {
            applied = match self.create(object).await {
                Ok(created) => Some(created),
                // One that goes away between the two requests is created again.
                Err(error) if error.is_already_exists() => self.update(object, existing).await?,
                Err(error) => return Err(error),
            };
            if applied.is_some() {
                break;
            }
        }
        match applied {
            Some(applied) if applied.text("/metadata/deletionTimestamp").is_empty() => Ok(applied),
            _ => Err(Error::BeingDeleted {
                object: object.to_string(),
            }),
        }
    }

    /// Applies the objects of a manifest in the order that the API server needs.
    ///
    /// # Errors
    /// The first object that cannot be applied; others of its step may have been.
    pub async fn apply_all(&self, objects: &[Object], existing: Existing) -> Result<()> {
        self.learn(objects);
        let definitions = definitions(objects);
        for step in Step::ALL {
            let members: Vec<&Object> = objects
                .iter()
                .filter(|object| Step::of(object, &definitions) == step)
                .collect();
            if step == Step::Instances && !members.is_empty() {
                self.wait_until_served(&definitions).await?;
            }
            stream::iter(members.into_iter().map(Ok))
                .try_for_each_concurrent(SIDE_BY_SIDE, |object| async {
                    self.apply(object, existing).await.map(drop)
                })
                .await?;
        }
        Ok(())
    }

    /// Makes sure that the server knows the kinds of all objects, or will know them by the CRDs among them.
    ///
    /// # Errors
    /// One of the kinds is unknown.
    pub async fn ensure_kinds<'a>(
        &self,
        objects: impl Iterator<Item = &'a Object> + Clone,
    ) -> Result<()> {
        for crd in objects
            .clone()
            .filter(|object| object.kind() == "CustomResourceDefinition")
        {
            self.resources.learn(crd);
        }
        stream::iter(objects)
            .map(|object| self.resource_of(object))
            .buffer_unordered(SIDE_BY_SIDE)
            .try_for_each(|_| async { Ok(()) })
            .await
    }

    fn learn(&self, objects: &[Object]) {
        definitions(objects)
            .into_iter()
            .for_each(|crd| self.resources.learn(crd));
    }

    async fn wait_until_served(&self, definitions: &[&Object]) -> Result<()> {
        let waits = stream::iter(definitions).map(|crd| self.wait_for_crd(crd.name()));
        waits.buffer_unordered(SIDE_BY_SIDE).try_collect().await
    }

    /// Waits until the API server serves the kind of a CRD.
    ///
    /// # Errors
    /// It does not within a minute.
    pub async fn wait_for_crd(&self, name: &str) -> Result<()> {
        let mut pause = Duration::from_millis(20);
        let deadline = Instant::now() + ESTABLISH_TIMEOUT;
        loop {
            let crd = self.get(&Resource::crds(), None, name).await?;
            let established = crd
                .as_ref()
                .and_then(|crd| wait::condition(crd, "Established"));
            if established.is_some_and(|condition| condition.is_true()) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(Error::NotReady {
                    what: format!("CustomResourceDefinition `{name}` is not established"),
                    after: ESTABLISH_TIMEOUT,
                    state: established
                        .map_or("no status yet", |condition| condition.message)
                        .to_owned(),
                    unpullable: Vec::new(),
                    hints: Vec::new(),
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

fn definitions(objects: &[Object]) -> Vec<&Object> {
    objects
        .iter()
        .filter(|object| object.kind() == "CustomResourceDefinition")
        .collect()
}
