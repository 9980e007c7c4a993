//! `init` of both tools leaves the same objects, and each tool goes on where the other one stopped.

use anyhow::Result;
use serde_json::Value;

use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;
use crate::support::objects::{self, Objects};

const INIT: [&str; 3] = ["init", "--infrastructure", "docker"];

/// A control plane of its own, and an environment that leads to it.
async fn prepare() -> Result<(ControlPlane, Environment)> {
    let control_plane = ControlPlane::start().await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    Ok((control_plane, environment))
}

/// Takes out of the inventory's CRD what says nothing about its objects: descriptions, and the mark of the generator.
async fn list(control_plane: &ControlPlane) -> Result<Objects> {
    let mut objects = objects::list_objects(&control_plane.client().await?).await?;
    for (name, object) in &mut objects {
        if name.contains("CustomResourceDefinition")
            && name.ends_with("/providers.clusterctl.cluster.x-k8s.io")
        {
            if let Some(annotations) = object
                .pointer_mut("/metadata/annotations")
                .and_then(Value::as_object_mut)
            {
                annotations.remove("controller-gen.kubebuilder.io/version");
            }
            remove_descriptions(object);
        }
    }
    Ok(objects)
}

fn remove_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| key != "description" || !value.is_string());
            map.values_mut().for_each(remove_descriptions);
            if map
                .get("annotations")
                .is_some_and(|annotations| annotations == &serde_json::json!({}))
            {
                map.remove("annotations");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(remove_descriptions),
        _ => {}
    }
}

#[tokio::test]
async fn init_leaves_the_objects_that_clusterctl_leaves() -> Result<()> {
    let ((ours, our_environment), (theirs, their_environment)) =
        tokio::try_join!(prepare(), prepare())?;
    our_environment.capictl(&INIT).await?.success();
    their_environment.clusterctl(&INIT).await?.success();
    let differences = objects::compare(&list(&ours).await?, &list(&theirs).await?);
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
    Ok(())
}

#[tokio::test]
async fn clusterctl_goes_on_where_capictl_stopped() -> Result<()> {
    let (_control_plane, environment) = prepare().await?;
    environment
        .capictl(&["init", "--infrastructure", "-"])
        .await?
        .success();
    let added = environment.clusterctl(&INIT).await?;
    assert!(added.status.success(), "{added}");
    assert!(
        added
            .stderr
            .contains("Skipping installing cert-manager as it is already installed"),
        "{added}"
    );
    let plan = environment
        .clusterctl(&["upgrade", "plan"])
        .await?
        .success();
    assert!(
        plan.contains("Cert-Manager is already up to date"),
        "{plan}"
    );
    for label in [
        "cluster-api",
        "bootstrap-kubeadm",
        "control-plane-kubeadm",
        "infrastructure-docker",
    ] {
        assert!(plan.contains(label), "{plan}");
    }
    Ok(())
}

#[tokio::test]
async fn capictl_goes_on_where_clusterctl_stopped() -> Result<()> {
    let (_control_plane, environment) = prepare().await?;
    environment
        .clusterctl(&["init", "--infrastructure", "-"])
        .await?
        .success();
    let added = environment.capictl(&INIT).await?;
    assert!(added.status.success(), "{added}");
    assert!(
        added
            .stderr
            .contains("Skipping installing cert-manager as it is already installed"),
        "{added}"
    );
    assert!(
        added.stderr.contains("Installed infrastructure-docker"),
        "{added}"
    );
    let plan = environment
        .clusterctl(&["upgrade", "plan"])
        .await?
        .success();
    assert!(plan.contains("infrastructure-docker"), "{plan}");
    Ok(())
}
