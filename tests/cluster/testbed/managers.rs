//! Cluster API on the test-bed, installed by the reference `clusterctl`.

use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;
use crate::support::kubelet::{Manager, Misbehaviour};
use crate::support::objects::{compare, list_objects};
use crate::support::wait;

const INIT: [&str; 3] = ["init", "--infrastructure=docker", "--wait-providers"];

fn clusters(client: Client) -> Api<DynamicObject> {
    let resource = ApiResource {
        group: "cluster.x-k8s.io".into(),
        version: "v1beta2".into(),
        api_version: "cluster.x-k8s.io/v1beta2".into(),
        kind: "Cluster".into(),
        plural: "clusters".into(),
    };
    Api::namespaced_with(client, "default", &resource)
}

#[tokio::test]
async fn an_in_memory_cluster_becomes_available_with_the_real_managers() -> Result<()> {
    let control_plane = ControlPlane::start_with_managers(&Manager::ALL).await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    environment.clusterctl(&INIT).await?.success();

    let manifest = environment
        .clusterctl(&[
            "generate",
            "cluster",
            "one",
            "--infrastructure=docker",
            "--flavor=in-memory",
            "--target-namespace=default",
            "--kubernetes-version=v1.33.0",
            "--control-plane-machine-count=1",
            "--worker-machine-count=0",
        ])
        .await?
        .success();
    let file = environment.write("one.yaml", &quicken(&manifest))?;
    let file = file.display().to_string();
    environment
        .kubectl(&["apply", "-f", &file])
        .await?
        .success();

    let client = control_plane.client().await?;
    let patience = Duration::from_secs(300);
    wait::for_condition(
        &clusters(client.clone()),
        "one",
        "Available",
        "True",
        patience,
    )
    .await;

    // A webhook that really answers.
    let wrong = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"name": "wrong"}, "spec": {"topology": {"classRef": {"name": "in-memory"}, "version": "newest"}},
    });
    let wrong = serde_json::from_value(wrong)?;
    let refusal = clusters(client.clone())
        .create(&PostParams::default(), &wrong)
        .await;
    let refusal = refusal.expect_err("the webhook refuses it").to_string();
    assert!(refusal.contains("admission webhook"), "{refusal}");

    a_crashed_manager_is_started_again(&control_plane, client).await
}

async fn a_crashed_manager_is_started_again(
    control_plane: &ControlPlane,
    client: Client,
) -> Result<()> {
    let (namespace, name) = ("capi-system", "capi-controller-manager");
    let kubelet = control_plane.kubelet();
    let first = kubelet
        .process_id(namespace, name)
        .await
        .context("it runs")?;
    let killed = std::process::Command::new("kill")
        .args(["-KILL", &first.to_string()])
        .status()?;
    assert!(killed.success());
    wait::until("another process runs", async || {
        match kubelet.process_id(namespace, name).await {
            Some(next) if next != first => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let deployments: Api<Deployment> = Api::namespaced(client, namespace);
    wait::for_deployment(&deployments, name, 1).await;
    let patch = Patch::Merge(json!({"spec": {"replicas": 0}}));
    deployments
        .patch(name, &PatchParams::default(), &patch)
        .await?;
    wait::for_deployment(&deployments, name, 0).await;
    assert_eq!(kubelet.process_id(namespace, name).await, None);
    Ok(())
}

/// Shortens the time that in-memory machines pretend to boot in.
fn quicken(manifest: &str) -> String {
    let lines = manifest
        .lines()
        .map(|line| match line.split_once("startupDuration:") {
            Some((indent, _)) => format!("{indent}startupDuration: 1s\n"),
            None => format!("{line}\n"),
        });
    lines.collect()
}

#[tokio::test]
async fn providers_can_be_installed_without_running_them() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let client = control_plane.client().await?;
    let before = list_objects(&client).await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    environment.clusterctl(&INIT).await?.success();

    // `clusterctl` does not wait for the end of what it tried cert-manager with.
    let namespaces: Api<Namespace> = Api::all(client.clone());
    wait::until_gone(&namespaces, "cert-manager-test").await;
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    wait::until("no webhook is left", async || {
        let list = configurations.list(&ListParams::default()).await;
        let list = list.map_err(|error| error.to_string())?;
        match list
            .iter()
            .map(|it| it.webhooks.iter().flatten().count())
            .sum()
        {
            0 => Ok(()),
            left => Err(format!("{left} webhooks")),
        }
    })
    .await;
    let cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "plain"},
        "spec": {"infrastructureRef": {
            "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster", "name": "plain",
        }},
    });
    let cluster = serde_json::from_value(cluster)?;
    clusters(client.clone())
        .create(&PostParams::default(), &cluster)
        .await?;

    let after = list_objects(&client).await?;
    let differences = compare(&before, &after);
    for expected in [
        "+ Cluster.cluster.x-k8s.io default/plain",
        "+ Deployment.apps cert-manager/cert-manager",
        "+ Secret. capd-system/capd-webhook-service-cert",
    ] {
        assert!(
            differences.iter().any(|line| line == expected),
            "{differences:#?}"
        );
    }
    assert_eq!(
        compare(&after, &list_objects(&client).await?),
        Vec::<String>::new()
    );
    Ok(())
}

#[tokio::test]
async fn init_fails_when_a_provider_never_becomes_available() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let never = Misbehaviour::NeverAvailable;
    control_plane
        .kubelet()
        .misbehave("capd-controller-manager", never);
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    let arguments = [&INIT[..], &["--wait-provider-timeout=3"]].concat();
    let message = environment.clusterctl(&arguments).await?.failure();
    assert!(message.contains("capd-controller-manager"), "{message}");
    Ok(())
}
