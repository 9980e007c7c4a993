//! The test-bed itself: what it claims to do must be true, else no other test means anything.

use std::time::Duration;

use anyhow::Result;
use kube::api::{Api, ApiResource, DynamicObject};

use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;
use crate::support::kubelet::Manager;
use crate::support::wait;

#[tokio::test]
async fn an_in_memory_cluster_becomes_available_with_the_real_managers() -> Result<()> {
    let control_plane = ControlPlane::start_with_managers(&Manager::ALL).await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    let init = ["init", "--infrastructure", "docker", "--wait-providers"];
    environment.clusterctl(&init).await?.success();

    let manifest = environment
        .clusterctl(&[
            "generate",
            "cluster",
            "one",
            "--infrastructure",
            "docker",
            "--flavor",
            "in-memory",
            "--target-namespace",
            "default",
            "--kubernetes-version",
            "v1.33.0",
            "--control-plane-machine-count",
            "1",
            "--worker-machine-count",
            "1",
        ])
        .await?
        .success();
    let file = environment.write("one.yaml", &quicken(&manifest))?;
    let file = file.display().to_string();
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
    let client = control_plane.client().await?;
    let clusters: Api<DynamicObject> = Api::namespaced_with(client, "default", &clusters);
    let patience = Duration::from_secs(300);
    wait::for_condition(&clusters, "one", "Available", "True", patience).await;
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
