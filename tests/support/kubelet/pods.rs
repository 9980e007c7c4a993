//! The ReplicaSet and the Pods of a Deployment: no container runs in them, but who looks for the reason of a failure
//! finds in their statuses what kubelets write there.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec};
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Node;
use super::deployments::{Record, wanted_replicas};

const HASH_LABEL: &str = "pod-template-hash";

/// The state of a Deployment's Pods; they are all in the same.
#[derive(Debug, Clone, PartialEq)]
pub enum PodState {
    Ready,
    /// Running, but the readiness probe fails.
    Unready,
    /// The container does not run.
    Waiting {
        reason: &'static str,
        message: String,
        restarts: i32,
        last_exit: Option<i32>,
    },
}

impl PodState {
    pub fn creating() -> Self {
        Self::waiting("ContainerCreating", String::new())
    }

    pub fn crash_loop(exit_code: i32, restarts: i32) -> Self {
        Self::Waiting {
            reason: "CrashLoopBackOff",
            message: "back-off 10s restarting failed container".into(),
            restarts,
            last_exit: Some(exit_code),
        }
    }

    pub fn image_pull(deployment: &Deployment, message: &str) -> Self {
        let spec = deployment.spec.template.spec.as_ref();
        let container = spec.and_then(|spec| spec.containers.first());
        let image = container.and_then(|container| container.image.as_deref());
        let image = image.unwrap_or_default();
        Self::waiting(
            "ImagePullBackOff",
            format!("Back-off pulling image \"{image}\": {message}"),
        )
    }

    fn waiting(reason: &'static str, message: String) -> Self {
        Self::Waiting {
            reason,
            message,
            restarts: 0,
            last_exit: None,
        }
    }
}

/// The Pods of one version of a Deployment's template.
pub struct PodSet {
    replica_set: String,
    /// Names and UIDs.
    pods: Vec<(String, String)>,
    reported: Option<PodState>,
}

impl PodSet {
    /// Returns name and UID of the Pod that the process stands for.
    pub fn first(&self) -> Option<(String, String)> {
        self.pods.first().cloned()
    }
}

impl Node {
    /// Creates what is missing and deletes what a changed template or scale has left over.
    pub async fn ensure_pods(&self, deployment: &Deployment, record: &mut Record) -> Result<()> {
        let template = &deployment.spec.template;
        let hash = hash_of(template);
        let replica_set = replica_set_of(deployment);
        let wanted = usize::try_from(wanted_replicas(deployment)).unwrap_or_default();
        if let Some(pods) = &record.pods {
            if pods.replica_set == replica_set && pods.pods.len() == wanted {
                return Ok(());
            }
            self.delete_pods(deployment, pods).await?;
            record.pods = None;
        }
        if wanted == 0 {
            return Ok(());
        }
        let namespace = deployment.namespace().unwrap_or_default();
        let set = plan_replica_set(deployment, &replica_set, &hash)?;
        let sets = Api::namespaced(self.client.clone(), &namespace);
        let set = ensure(&sets, &set).await?;
        let owner = set
            .controller_owner_ref(&())
            .context("the ReplicaSet has no UID")?;
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &namespace);
        let mut pods = Vec::new();
        for index in 0..wanted {
            let name = format!("{replica_set}-{}", suffix(&set.uid(), index));
            let pod = plan_pod(template, name, &hash, owner.clone());
            let pod = ensure(&api, &pod).await?;
            pods.push((pod.name_any(), pod.uid().unwrap_or_default()));
        }
        record.pods = Some(PodSet {
            replica_set,
            pods,
            reported: None,
        });
        Ok(())
    }

    async fn delete_pods(&self, deployment: &Deployment, pods: &PodSet) -> Result<()> {
        let namespace = deployment.namespace().unwrap_or_default();
        let sets: Api<ReplicaSet> = Api::namespaced(self.client.clone(), &namespace);
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &namespace);
        ignore_missing(
            sets.delete(&pods.replica_set, &DeleteParams::background())
                .await,
        )?;
        for (name, _) in &pods.pods {
            ignore_missing(
                api.delete(name, &DeleteParams::default().grace_period(0))
                    .await,
            )?;
        }
        Ok(())
    }

    pub async fn report_pods(
        &self,
        deployment: &Deployment,
        pods: &mut PodSet,
        state: &PodState,
    ) -> Result<()> {
        if pods.reported.as_ref() == Some(state) {
            return Ok(());
        }
        let namespace = deployment.namespace().unwrap_or_default();
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &namespace);
        let status = render_status(&deployment.spec.template, state);
        for (name, _) in &pods.pods {
            let patch = Patch::Merge(json!({"status": status}));
            api.patch_status(name, &PatchParams::default(), &patch)
                .await?;
        }
        pods.reported = Some(state.clone());
        Ok(())
    }
}

/// Creates an object, or returns the one of its name.
async fn ensure<K>(api: &Api<K>, object: &K) -> kube::Result<K>
where
    K: Resource + Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    match api.create(&PostParams::default(), object).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let name = object.meta().name.as_deref().unwrap_or_default();
            api.get(name).await
        }
        result => result,
    }
}

fn ignore_missing<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => result.map(drop),
    }
}

fn plan_replica_set(deployment: &Deployment, name: &str, hash: &str) -> Result<ReplicaSet> {
    let spec = &deployment.spec;
    let owner = deployment.controller_owner_ref(&()).context("no UID")?;
    let mut selector = spec.selector.clone();
    let labels = selector.match_labels.get_or_insert_default();
    labels.insert(HASH_LABEL.to_owned(), hash.to_owned());
    let mut template = spec.template.clone();
    let metadata = template.metadata.get_or_insert_default();
    metadata.labels = Some(labels_of(&spec.template, hash));
    Ok(ReplicaSet {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(labels_of(&spec.template, hash)),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: ReplicaSetSpec {
            replicas: spec.replicas,
            selector,
            template: Some(template),
            ..ReplicaSetSpec::default()
        },
        status: None,
    })
}

fn plan_pod(template: &PodTemplateSpec, name: String, hash: &str, owner: OwnerReference) -> Pod {
    let metadata = template.metadata.as_ref();
    Pod {
        metadata: ObjectMeta {
            name: Some(name),
            labels: Some(labels_of(template, hash)),
            annotations: metadata.and_then(|metadata| metadata.annotations.clone()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: template.spec.clone(),
        status: None,
    }
}

fn labels_of(template: &PodTemplateSpec, hash: &str) -> BTreeMap<String, String> {
    let labels = template
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.labels.clone());
    let mut labels = labels.unwrap_or_default();
    labels.insert(HASH_LABEL.to_owned(), hash.to_owned());
    labels
}

fn render_status(template: &PodTemplateSpec, state: &PodState) -> Value {
    let ready = *state == PodState::Ready;
    let containers = template
        .spec
        .as_ref()
        .map(|spec| spec.containers.as_slice());
    let containers = containers.unwrap_or_default();
    let names: Vec<&str> = containers
        .iter()
        .map(|container| container.name.as_str())
        .collect();
    let condition = |kind: &str, holds: bool| {
        let mut condition = json!({
            "type": kind,
            "status": if holds { "True" } else { "False" },
            "lastTransitionTime": Timestamp::now(),
        });
        if !holds {
            condition["reason"] = "ContainersNotReady".into();
            condition["message"] =
                format!("containers with unready status: [{}]", names.join(" ")).into();
        }
        condition
    };
    let statuses: Vec<Value> = containers
        .iter()
        .map(|container| render_container(&container.name, container.image.as_deref(), state))
        .collect();
    let pending = matches!(
        state,
        PodState::Waiting {
            last_exit: None,
            ..
        }
    );
    json!({
        "phase": if pending { "Pending" } else { "Running" },
        "startTime": Timestamp::now(),
        "conditions": [
            condition("PodScheduled", true),
            condition("Initialized", true),
            condition("ContainersReady", ready),
            condition("Ready", ready),
        ],
        "containerStatuses": statuses,
    })
}

fn render_container(name: &str, image: Option<&str>, state: &PodState) -> Value {
    let now = Timestamp::now();
    let mut status = json!({
        "name": name,
        "image": image.unwrap_or_default(),
        "imageID": "",
        "ready": *state == PodState::Ready,
        "restartCount": 0,
    });
    match state {
        PodState::Ready | PodState::Unready => {
            status["started"] = true.into();
            status["state"] = json!({"running": {"startedAt": now}});
        }
        PodState::Waiting {
            reason,
            message,
            restarts,
            last_exit,
        } => {
            status["started"] = false.into();
            status["restartCount"] = (*restarts).into();
            status["state"] = json!({"waiting": {"reason": reason, "message": message}});
            if let Some(exit_code) = last_exit {
                status["lastState"] = json!({"terminated": {
                    "exitCode": exit_code, "reason": "Error", "startedAt": now, "finishedAt": now,
                }});
            }
        }
    }
    status
}

/// Returns the name of the ReplicaSet that a Deployment has at present.
pub fn replica_set_of(deployment: &Deployment) -> String {
    format!(
        "{}-{}",
        deployment.name_any(),
        hash_of(&deployment.spec.template)
    )
}

fn hash_of(template: &PodTemplateSpec) -> String {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(template)
        .expect("a template is JSON")
        .hash(&mut hasher);
    format!("{:010x}", hasher.finish() & 0xff_ffff_ffff)
}

fn suffix(uid: &Option<String>, index: usize) -> String {
    let mut hasher = DefaultHasher::new();
    (uid, index).hash(&mut hasher);
    format!("{:05x}", hasher.finish() & 0xf_ffff)
}
