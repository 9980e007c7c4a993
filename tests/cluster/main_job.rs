//! The main job from beginning to end, with the real managers: install, render, apply, Available.

use std::time::Duration;

use anyhow::Result;
use kube::api::{Api, ApiResource, DynamicObject};

use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;
use crate::support::kubelet::Manager;
use crate::support::wait;

#[tokio::test]
async fn a_cluster_that_capictl_renders_becomes_available() -> Result<()> {
    let control_plane = ControlPlane::start_with_managers(&Manager::ALL).await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    environment
        .capictl(&["init", "--infrastructure", "docker", "--wait-providers"])
        .await?
        .success();

    let counts = [
        "--control-plane-machine-count",
        "1",
        "--worker-machine-count",
        "1",
    ];
    let generate = [
        "generate",
        "cluster",
        "one",
        "--flavor",
        "in-memory",
        "--kubernetes-version",
        "v1.33.0",
    ];
    let manifest = environment
        .capictl(&[&generate[..], &counts].concat())
        .await?
        .success();
    let file = environment
        .write("one.yaml", &manifest)?
        .display()
        .to_string();
    environment
        .kubectl(&["apply", "-f", &file])
        .await?
        .success();

    let clusters = ApiResource {
        group: "cluster.x-k8s.io".into(),
        version: "v1beta2".into(),
        api_version: "cluster.x-k8s.io/v1beta2".into(),
        kind: "Cluster".into(),
        plural: "clusters".into(),
    };
    let clusters: Api<DynamicObject> =
        Api::namespaced_with(control_plane.client().await?, "default", &clusters);
    wait::for_condition(
        &clusters,
        "one",
        "Available",
        "True",
        Duration::from_secs(300),
    )
    .await;

    // The other tool reads what this one installed.
    let described = environment
        .clusterctl(&["describe", "cluster", "one"])
        .await?
        .success();
    assert!(described.contains("Cluster default/one"), "{described}");
    let plan = environment
        .clusterctl(&["upgrade", "plan"])
        .await?
        .success();
    assert!(plan.contains("infrastructure-docker"), "{plan}");
    Ok(())
}
