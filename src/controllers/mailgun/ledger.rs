//! Writes records and status. Every write names the version that it was decided on: of two writers one loses.

use kube::api::{Api, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};

use super::api::{MailgunCluster, MailgunClusterStatus};
use super::observe::FINALIZER;
use super::record::{ANNOTATION, Outbox, Record, State};

/// Asks `clusterctl move` to wait while a mail is being sent.
const BLOCK_MOVE: &str = "clusterctl.cluster.x-k8s.io/block-move";

/// The objects of one namespace.
#[derive(Clone)]
pub struct Ledgers(pub Api<MailgunCluster>);

impl Ledgers {
    /// Reads an object, from the API server and not from a cache.
    pub async fn get(&self, name: &str) -> kube::Result<Option<MailgunCluster>> {
        self.0.get_opt(name).await
    }

    /// Writes the record, and the finalizer where it is missing (W0).
    pub async fn begin(
        &self,
        object: &MailgunCluster,
        record: &Record,
    ) -> kube::Result<MailgunCluster> {
        let mut patch = record_patch(object, record);
        let mut finalizers = object.finalizers().to_vec();
        if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
            finalizers.push(FINALIZER.to_owned());
            patch["metadata"]["finalizers"] = json!(finalizers);
        }
        self.patch(object, patch).await
    }

    /// Writes the record (W1, W3), with or without the annotation that holds up a move.
    pub async fn write(
        &self,
        object: &MailgunCluster,
        record: &Record,
    ) -> kube::Result<MailgunCluster> {
        self.patch(object, record_patch(object, record)).await
    }

    /// Lets the object go.
    pub async fn drop_finalizer(&self, object: &MailgunCluster) -> kube::Result<MailgunCluster> {
        let finalizers: Vec<&String> = object
            .finalizers()
            .iter()
            .filter(|name| *name != FINALIZER)
            .collect();
        let patch = json!({"metadata": {"resourceVersion": object.resource_version(), "finalizers": finalizers}});
        self.patch(object, patch).await
    }

    /// Writes copy B only (W2).
    pub async fn mirror(
        &self,
        object: &MailgunCluster,
        outbox: &Outbox,
    ) -> kube::Result<MailgunCluster> {
        self.patch_status(object, json!({"outbox": outbox})).await
    }

    /// Writes the status (W4).
    pub async fn publish(
        &self,
        object: &MailgunCluster,
        status: &MailgunClusterStatus,
    ) -> kube::Result<MailgunCluster> {
        let mut status = json!(status);
        // A merge patch keeps what it does not name.
        if let Some(outbox) = status["outbox"].as_object_mut() {
            outbox.entry("claimedAt").or_insert(Value::Null);
        }
        self.patch_status(object, status).await
    }

    async fn patch(&self, object: &MailgunCluster, patch: Value) -> kube::Result<MailgunCluster> {
        self.0
            .patch(
                &object.name_any(),
                &PatchParams::default(),
                &Patch::Merge(patch),
            )
            .await
    }

    async fn patch_status(
        &self,
        object: &MailgunCluster,
        status: Value,
    ) -> kube::Result<MailgunCluster> {
        let patch =
            json!({"metadata": {"resourceVersion": object.resource_version()}, "status": status});
        self.0
            .patch_status(
                &object.name_any(),
                &PatchParams::default(),
                &Patch::Merge(patch),
            )
            .await
    }
}

fn record_patch(object: &MailgunCluster, record: &Record) -> Value {
    let mut annotations = json!({ANNOTATION: record.to_annotation()});
    if record.state == State::Claimed {
        annotations[BLOCK_MOVE] = "".into();
    } else if object.annotations().contains_key(BLOCK_MOVE) {
        annotations[BLOCK_MOVE] = Value::Null;
    }
    // What a person asked for is done once.
    if object.annotations().contains_key(super::RESOLVE) {
        annotations[super::RESOLVE] = Value::Null;
    }
    json!({"metadata": {"resourceVersion": object.meta().resource_version, "annotations": annotations}})
}
