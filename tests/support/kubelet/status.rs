//! The status of a Deployment, in the words of the controller that otherwise writes it.

use anyhow::Result;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus};
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt as _;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use super::Node;
use super::deployments::wanted_replicas;
use super::pods::replica_set_of;

impl Node {
    /// Writes the status of a Deployment, unless it says so already.
    pub async fn report_deployment(&self, deployment: &Deployment, available: i32) -> Result<()> {
        let wanted = wanted_replicas(deployment);
        let old = deployment.status.clone().unwrap_or_default();
        let conditions = plan_conditions(&replica_set_of(deployment), available >= wanted);
        if old.observed_generation == deployment.metadata.generation
            && old.replicas.unwrap_or_default() == wanted
            && old.available_replicas.unwrap_or_default() == available
            && conditions.iter().all(|condition| condition.holds_in(&old))
        {
            return Ok(());
        }
        let some = |count: i32| (count > 0).then_some(count); // a zero is left out, as the controller does
        let conditions: Vec<Value> = conditions.iter().map(|it| it.render(&old)).collect();
        let status = json!({"status": {
            "observedGeneration": deployment.metadata.generation,
            "replicas": some(wanted),
            "updatedReplicas": some(wanted),
            "readyReplicas": some(available),
            "availableReplicas": some(available),
            "unavailableReplicas": some(wanted - available),
            "conditions": conditions,
        }});
        let namespace = deployment.namespace().unwrap_or_default();
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), &namespace);
        let patch = Patch::Merge(&status);
        api.patch_status(&deployment.name_any(), &PatchParams::default(), &patch)
            .await?;
        self.note(format_args!(
            "reported {namespace}/{}: {available} of {wanted} available",
            deployment.name_any()
        ));
        Ok(())
    }

    /// Tells whether a Deployment of this name is available in any namespace.
    pub fn is_available(&self, name: &str) -> bool {
        let found = self.stores.deployments.find(|deployment| {
            let status = deployment.status.as_ref();
            let available = status.and_then(|status| status.available_replicas);
            deployment.metadata.name.as_deref() == Some(name) && available.unwrap_or_default() > 0
        });
        found.is_some()
    }
}

struct Condition {
    kind: &'static str,
    status: &'static str,
    reason: &'static str,
    message: String,
}

fn plan_conditions(replica_set: &str, available: bool) -> [Condition; 2] {
    let (status, reason, message) = match available {
        true => (
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        ),
        false => (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        ),
    };
    let (progress, progress_message) = match available {
        true => ("NewReplicaSetAvailable", "has successfully progressed"),
        false => ("ReplicaSetUpdated", "is progressing"),
    };
    [
        Condition {
            kind: "Available",
            status,
            reason,
            message: message.to_owned(),
        },
        Condition {
            kind: "Progressing",
            status: "True",
            reason: progress,
            message: format!("ReplicaSet \"{replica_set}\" {progress_message}."),
        },
    ]
}

impl Condition {
    fn holds_in(&self, status: &DeploymentStatus) -> bool {
        status.conditions.iter().flatten().any(|old| {
            old.type_.as_deref() == Some(self.kind)
                && old.status.as_deref() == Some(self.status)
                && old.reason.as_deref() == Some(self.reason)
        })
    }

    /// Renders it; the time of the last transition stays while the condition's status does.
    fn render(&self, old: &DeploymentStatus) -> Value {
        let now = Timestamp::now();
        let same = old.conditions.iter().flatten().find(|old| {
            old.type_.as_deref() == Some(self.kind) && old.status.as_deref() == Some(self.status)
        });
        let since = same.and_then(|old| old.last_transition_time.as_ref());
        json!({
            "type": self.kind,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "lastUpdateTime": now,
            "lastTransitionTime": since.map_or(now, |time| time.0),
        })
    }
}
