//! The stand-in kubelet reports what a real cluster would.

use std::time::{Duration, Instant};

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::support::control_plane::ControlPlane;
use crate::support::kubelet::Misbehaviour;
use crate::support::wait;

/// A Deployment in a namespace of its own.
struct Subject {
    control_plane: &'static ControlPlane,
    name: String,
    deployments: Api<Deployment>,
    pods: Api<Pod>,
}

impl Subject {
    /// Creates a Deployment, which misbehaves from the start if it is to.
    async fn create(name: &str, misbehaviour: Option<Misbehaviour>) -> Result<Self> {
        let control_plane = ControlPlane::shared().await;
        let client = control_plane.client().await?;
        let namespace = control_plane.create_namespace(name).await?;
        let subject = Self {
            control_plane,
            name: name.to_owned(),
            deployments: Api::namespaced(client.clone(), &namespace),
            pods: Api::namespaced(client, &namespace),
        };
        if let Some(how) = misbehaviour {
            control_plane.kubelet().misbehave(name, how);
        }
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "manager", "image": "example.com/manager:v1"}]},
                },
            },
        });
        let deployment = serde_json::from_value(deployment)?;
        subject
            .deployments
            .create(&PostParams::default(), &deployment)
            .await?;
        Ok(subject)
    }

    async fn scale(&self, replicas: i32) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        let params = PatchParams::default();
        self.deployments.patch(&self.name, &params, &patch).await?;
        Ok(())
    }

    /// Returns status and reason of the Deployment's condition `Available`.
    async fn available(&self) -> Result<(String, String)> {
        let deployment = self.deployments.get(&self.name).await?;
        let conditions = deployment.status.unwrap_or_default().conditions;
        let mut conditions = conditions.into_iter().flatten();
        let available = conditions.find(|it| it.type_.as_deref() == Some("Available"));
        let available = available.expect("a reported Deployment has the condition");
        Ok((
            available.status.unwrap_or_default(),
            available.reason.unwrap_or_default(),
        ))
    }

    /// Returns the statuses of the containers, found by the Deployment's selector as any tool would.
    async fn containers(&self) -> Result<Vec<Value>> {
        let selector = ListParams::default().labels(&format!("app={}", self.name));
        let pods = self.pods.list(&selector).await?;
        let statuses = pods
            .items
            .into_iter()
            .map(|pod| serde_json::to_value(pod.status));
        let statuses: Vec<Value> = statuses.collect::<Result<_, _>>()?;
        Ok(statuses
            .iter()
            .map(|status| status["containerStatuses"][0].clone())
            .collect())
    }
}

#[tokio::test]
async fn a_deployment_becomes_available_and_scales() -> Result<()> {
    let subject = Subject::create("plain", None).await?;
    wait::for_deployment(&subject.deployments, "plain", 2).await;
    let (status, reason) = subject.available().await?;
    assert_eq!(
        (status.as_str(), reason.as_str()),
        ("True", "MinimumReplicasAvailable")
    );
    let containers = subject.containers().await?;
    assert_eq!(containers.len(), 2);
    assert!(
        containers.iter().all(|status| status["ready"] == true),
        "{containers:?}"
    );

    subject.scale(1).await?;
    wait::for_deployment(&subject.deployments, "plain", 1).await;
    assert_eq!(subject.containers().await?.len(), 1);
    subject.scale(0).await?;
    wait::for_deployment(&subject.deployments, "plain", 0).await;
    assert_eq!(subject.containers().await?.len(), 0);
    Ok(())
}

#[tokio::test]
async fn the_pods_of_a_deleted_deployment_go_with_it() -> Result<()> {
    let subject = Subject::create("deleted", None).await?;
    wait::for_deployment(&subject.deployments, "deleted", 2).await;
    subject
        .deployments
        .delete("deleted", &DeleteParams::background())
        .await?;
    wait::until("the Pods are gone", async || {
        match subject.containers().await {
            Ok(left) if left.is_empty() => Ok(()),
            left => Err(format!("{left:?}")),
        }
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_deployment_that_never_becomes_available_does_once_it_behaves() -> Result<()> {
    let subject = Subject::create("stuck", Some(Misbehaviour::NeverAvailable)).await?;
    wait::for_deployment(&subject.deployments, "stuck", 0).await;
    let (status, reason) = subject.available().await?;
    assert_eq!(
        (status.as_str(), reason.as_str()),
        ("False", "MinimumReplicasUnavailable")
    );
    let containers = subject.containers().await?;
    assert_eq!(containers[0]["ready"], false);
    assert!(
        containers[0]["state"]["running"].is_object(),
        "{containers:?}"
    );

    subject.control_plane.kubelet().behave("stuck");
    wait::for_deployment(&subject.deployments, "stuck", 2).await;
    Ok(())
}

#[tokio::test]
async fn a_late_deployment_becomes_available_after_its_time() -> Result<()> {
    let started = Instant::now();
    let pause = Duration::from_secs(2);
    let subject = Subject::create("late", Some(Misbehaviour::Late(pause))).await?;
    wait::for_deployment(&subject.deployments, "late", 2).await;
    assert!(started.elapsed() >= pause, "{:?}", started.elapsed());
    Ok(())
}

#[tokio::test]
async fn a_crash_loop_shows_in_the_pods() -> Result<()> {
    let crash = Misbehaviour::CrashLoop { exit_code: 2 };
    let subject = Subject::create("crashing", Some(crash)).await?;
    wait::for_deployment(&subject.deployments, "crashing", 0).await;
    let containers = subject.containers().await?;
    assert_eq!(
        containers[0]["state"]["waiting"]["reason"],
        "CrashLoopBackOff"
    );
    assert_eq!(containers[0]["lastState"]["terminated"]["exitCode"], 2);
    assert_eq!(containers[0]["restartCount"], 3);
    Ok(())
}

#[tokio::test]
async fn an_image_pull_error_shows_in_the_pods() -> Result<()> {
    let refused = Misbehaviour::ImagePullError {
        message: "unauthorized".into(),
    };
    let subject = Subject::create("pulling", Some(refused)).await?;
    wait::for_deployment(&subject.deployments, "pulling", 0).await;
    let waiting = subject.containers().await?[0]["state"]["waiting"].clone();
    assert_eq!(waiting["reason"], "ImagePullBackOff");
    let expected = "Back-off pulling image \"example.com/manager:v1\": unauthorized";
    assert_eq!(waiting["message"], expected);
    Ok(())
}
