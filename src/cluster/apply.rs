//! Brings objects into the cluster: created where they are missing, merged into what is there.
//!
//! This is clusterctl's way (a merge patch of the whole object, lists replaced), so that both tools leave the same
//! objects; but creation is tried first, because on most runs the object is new: one request where clusterctl needs two.

use futures::{StreamExt, TryStreamExt, stream};

use super::request::Patience;
use super::{Cause, Cluster, Error, Resource, Result};
use crate::model::Object;

/// How many objects are on the way at once.
const SIDE_BY_SIDE: usize = 16;
/// How long a new CRD may take until its kind is served.
const ESTABLISH_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(60);

impl Cluster {
    /// Creates an object or merges it into the one that is there.
    ///
    /// # Errors
    /// The server refuses it, or cannot be reached for about two minutes.
    pub async fn apply(&self, object: &Object) -> Result<Object> {
        let applied = match self.create(object, false, Patience::Write).await {
            Err(Error::Request {
                cause: Cause::Api { code: 409, .. },
                ..
            }) => self.merge(object, Patience::Write).await,
            answer => answer,
        }?;
        match applied.text("/metadata/deletionTimestamp") {
            "" => Ok(applied),
            since => Err(Error::BeingDeleted {
                object: object.to_string(),
                since: since.to_owned(),
            }),
        }
    }

    /// Applies objects in the order that the API server needs: Namespaces, CRDs, the rest, and what is an instance of
    /// one of the CRDs at last. Within a step they go side by side.
    ///
    /// # Errors
    /// The first object that cannot be applied; others of its step may have been.
    pub async fn apply_all(&self, objects: &[Object]) -> Result<()> {
        for crd in objects
            .iter()
            .filter(|object| object.kind() == "CustomResourceDefinition")
        {
            self.resources.learn(crd);
        }
        let step_of = |object: &Object| match object.kind() {
            "Namespace" => 0,
            "CustomResourceDefinition" => 1,
            _ if !is_instance_of_any(object, objects) => 2,
            _ => 3,
        };
        for step in 0..4 {
            let mut members = objects
                .iter()
                .filter(|object| step_of(object) == step)
                .peekable();
            if step == 3 && members.peek().is_some() {
                self.wait_until_served(objects).await?;
            }
            stream::iter(members.map(Ok))
                .try_for_each_concurrent(SIDE_BY_SIDE, |object| async {
                    self.apply(object).await.map(drop)
                })
                .await?;
        }
        Ok(())
    }

    async fn wait_until_served(&self, objects: &[Object]) -> Result<()> {
        let crds = objects
            .iter()
            .filter(|object| object.kind() == "CustomResourceDefinition");
        stream::iter(crds)
            .map(|crd| self.wait_for_crd(crd.name()))
            .buffer_unordered(SIDE_BY_SIDE)
            .try_collect()
            .await
    }

    /// Waits until the API server serves the kind of a CRD.
    ///
    /// # Errors
    /// It does not within a minute.
    pub async fn wait_for_crd(&self, name: &str) -> Result<()> {
        let mut pause = std::time::Duration::from_millis(20);
        let deadline = tokio::time::Instant::now() + ESTABLISH_TIMEOUT;
        loop {
            let crd = self.get(&Resource::crds(), None, name).await?;
            if crd.as_ref().is_some_and(|crd| {
                super::wait::condition(crd, "Established").is_some_and(|c| c.is_true())
            }) {
                return Ok(());
            }
            if tokio::time::Instant::now() > deadline {
                return Err(Error::NotReady {
                    what: format!("CustomResourceDefinition `{name}` is not established"),
                    after: ESTABLISH_TIMEOUT,
                    state: crd.map_or("it does not exist".to_owned(), |crd| {
                        super::wait::condition(&crd, "Established")
                            .map_or_else(String::new, |c| c.message.to_owned())
                    }),
                    hints: Vec::new(),
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(std::time::Duration::from_millis(500));
        }
    }
}

fn is_instance_of_any(object: &Object, objects: &[Object]) -> bool {
    objects.iter().any(|crd| {
        crd.kind() == "CustomResourceDefinition"
            && crd.text("/spec/group") == object.group()
            && crd.text("/spec/names/kind") == object.kind()
    })
}
