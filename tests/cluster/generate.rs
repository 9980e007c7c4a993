//! `generate cluster` with a management cluster at hand.

use anyhow::Result;

use crate::example;
use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;

/// A control plane with the docker provider installed, shared by the tests of this file by being one test.
#[tokio::test]
async fn the_management_cluster_fills_in_what_the_command_line_leaves_out() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let mut environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    example::add(&mut environment)?;

    let nothing = environment.capictl(&["generate", "cluster", "one"]).await?;
    assert_eq!(nothing.status.code(), Some(1), "{nothing}");
    assert!(
        nothing
            .stderr
            .contains("failed to identify the default infrastructure provider"),
        "{nothing}"
    );
    // It asked for the inventory without making one.
    let definitions = ["get", "crds", "-o", "name"];
    let definitions = environment.kubectl(&definitions).await?.success();
    assert!(!definitions.contains("clusterctl"), "{definitions}");

    environment
        .capictl(&["init", "--infrastructure", "docker", "--wait-providers"])
        .await?
        .success();
    // Provider and version come from the inventory, the class from the same release.
    let arguments = [
        "generate",
        "cluster",
        "one",
        "--flavor",
        "in-memory",
        "--kubernetes-version",
        "v1.33.0",
    ];
    let ours = environment.capictl(&arguments).await?.success();
    let theirs = environment.clusterctl(&arguments).await?.success();
    assert_eq!(ours.matches("kind: ClusterClass").count(), 1);
    let kinds = |yaml: &str| -> Vec<String> {
        yaml.lines()
            .filter(|line| line.starts_with("kind: "))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(kinds(&ours), kinds(&theirs));

    // Once the class is in the cluster, it is not rendered again.
    let file = environment.write("one.yaml", &ours)?.display().to_string();
    environment
        .kubectl(&["apply", "-f", &file])
        .await?
        .success();
    let ours = environment.capictl(&arguments).await?.success();
    assert_eq!(ours.matches("kind: ClusterClass").count(), 0, "{ours}");
    assert_eq!(
        kinds(&ours),
        kinds(&environment.clusterctl(&arguments).await?.success())
    );

    // Of a class whose file's other objects are there, applying would overwrite them.
    environment
        .kubectl(&["delete", "clusterclass", "--all", "--wait=false"])
        .await?
        .success();
    environment
        .kubectl(&[
            "patch",
            "clusterclass",
            "in-memory",
            "--type=merge",
            "-p",
            r#"{"metadata":{"finalizers":null}}"#,
        ])
        .await
        .ok();
    let refused = environment.capictl(&arguments).await?;
    assert_eq!(refused.status.code(), Some(1), "{refused}");
    assert!(
        refused.stderr.contains("already exists in the cluster"),
        "{refused}"
    );
    Ok(())
}

#[tokio::test]
async fn a_config_map_can_hold_the_template() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.create_namespace("templates").await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    let template = environment.write(
        "template.yaml",
        "kind: Example\nmetadata: {name: \"${CLUSTER_NAME}\"}\n",
    )?;
    let from_file = format!("--from-file=template={}", template.display());
    environment
        .kubectl(&["create", "configmap", "t", "-n", &namespace, &from_file])
        .await?
        .success();

    let base = [
        "generate",
        "cluster",
        "one",
        "--from-config-map",
        "t",
        "--from-config-map-namespace",
        &namespace,
    ];
    let rendered = environment.capictl(&base).await?.success();
    assert_eq!(rendered, environment.clusterctl(&base).await?.success());
    assert!(
        rendered.contains("name: one\n  namespace: default"),
        "{rendered}"
    );

    let wrong_key = [&base[..], &["--from-config-map-key", "other"]].concat();
    let failed = environment.capictl(&wrong_key).await?;
    assert_eq!(
        (failed.status.code(), failed.stdout.as_str()),
        (Some(1), ""),
        "{failed}"
    );
    assert!(
        failed
            .stderr
            .contains("does not have the \"other\" data key"),
        "{failed}"
    );
    assert!(failed.stderr.contains("there are: template"), "{failed}");
    Ok(())
}

#[tokio::test]
async fn without_a_cluster_a_provider_with_its_version_is_enough() -> Result<()> {
    let mut environment = Environment::new()?;
    example::add(&mut environment)?;
    environment.set("EXAMPLE_REGION", "north");
    let arguments = [
        "generate",
        "cluster",
        "one",
        "-i",
        "example:v1.0.0",
        "--target-namespace",
        "team",
    ];
    let ours = environment.capictl(&arguments).await?.success();
    assert_eq!(ours, environment.clusterctl(&arguments).await?.success());
    assert!(ours.contains("namespace: team"), "{ours}");

    environment.unset("EXAMPLE_REGION");
    let missing = environment.capictl(&arguments).await?;
    assert_eq!(
        (missing.status.code(), missing.stdout.as_str()),
        (Some(1), ""),
        "{missing}"
    );
    assert!(
        missing
            .stderr
            .contains("value for variables [EXAMPLE_REGION] is not set"),
        "{missing}"
    );
    Ok(())
}
