//! `init` on real API servers: rerun, interruption, waiting, and what stays unchanged.

use std::time::Duration;

use anyhow::Result;

use crate::example;
use crate::support::control_plane::ControlPlane;
use crate::support::environment::{self, Environment};
use crate::support::kubelet::Misbehaviour;
use crate::support::wait;

const ALL_EXAMPLES: [&str; 9] = [
    "init",
    "--infrastructure",
    "docker,example",
    "--ipam",
    "example",
    "--runtime-extension",
    "example",
    "--addon",
    "example",
];

async fn prepare() -> Result<(ControlPlane, Environment)> {
    let control_plane = ControlPlane::start().await?;
    let mut environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    example::add(&mut environment)?;
    Ok((control_plane, environment))
}

async fn inventory(environment: &Environment) -> Result<String> {
    let columns = "custom-columns=NS:.metadata.namespace,NAME:.metadata.name,VERSION:.version";
    let arguments = [
        "get",
        "providers.clusterctl.cluster.x-k8s.io",
        "-A",
        "--no-headers",
        "-o",
        columns,
    ];
    Ok(environment.kubectl(&arguments).await?.success())
}

#[tokio::test]
async fn init_installs_all_seven_types() -> Result<()> {
    let (_control_plane, environment) = prepare().await?;
    let first = environment.capictl(&ALL_EXAMPLES).await?;
    assert!(first.status.success(), "{first}");
    assert_eq!(first.stdout, "");
    assert!(
        first
            .stderr
            .contains("Your management cluster has been initialized successfully!"),
        "{first}"
    );
    let installed = inventory(&environment).await?;
    assert_eq!(installed.lines().count(), 8, "{installed}");

    let again = environment.capictl(&ALL_EXAMPLES).await?;
    assert!(again.status.success(), "{again}");
    assert!(again.stderr.contains("already installed"), "{again}");
    assert_eq!(inventory(&environment).await?, installed);
    Ok(())
}

#[tokio::test]
async fn an_interrupted_init_is_finished_by_the_next_one() -> Result<()> {
    let (_control_plane, environment) = prepare().await?;
    let program = environment::capictl()?;
    let child = environment.spawn(&program, &ALL_EXAMPLES)?;
    let process = child.id().expect("it was just started").to_string();
    wait::until("the first provider to be in the inventory", async || {
        let arguments = [
            "get",
            "providers.clusterctl.cluster.x-k8s.io",
            "-A",
            "-o",
            "name",
        ];
        let listed = environment
            .kubectl(&arguments)
            .await
            .map_err(|error| format!("{error:#}"))?;
        if listed.stdout.is_empty() {
            Err(listed.stderr)
        } else {
            Ok(())
        }
    })
    .await;
    environment
        .run("kill".as_ref(), &["-INT", &process])
        .await?;
    let interrupted = environment::finish(child).await?;
    // On a fast machine it may have been done by then; what counts is that the next run ends well.
    if !interrupted.status.success() {
        assert_eq!(interrupted.status.code(), Some(130), "{interrupted}");
        assert!(
            interrupted.stderr.contains("run the same command again"),
            "{interrupted}"
        );
    }
    let again = environment.capictl(&ALL_EXAMPLES).await?;
    assert!(again.status.success(), "{again}");
    assert_eq!(inventory(&environment).await?.lines().count(), 8);
    Ok(())
}

#[tokio::test]
async fn waiting_for_a_provider_says_what_keeps_it_from_running() -> Result<()> {
    let (control_plane, environment) = prepare().await?;
    let misbehaviour = Misbehaviour::ImagePullError {
        message: "no such tag".into(),
    };
    control_plane
        .kubelet()
        .misbehave("capd-controller-manager", misbehaviour);
    let arguments = [
        "init",
        "--infrastructure",
        "docker",
        "--wait-providers",
        "--wait-provider-timeout",
        "5",
    ];
    let failed = environment.capictl(&arguments).await?;
    assert_eq!(failed.status.code(), Some(1), "{failed}");
    assert!(
        failed
            .stderr
            .contains("deployment \"capd-controller-manager\" is not ready after 5s"),
        "{failed}"
    );
    assert!(failed.stderr.contains("ImagePullBackOff"), "{failed}");
    // Everything is installed all the same, so that a rerun has only to wait; and it does wait.
    assert_eq!(inventory(&environment).await?.lines().count(), 4);
    let again = environment.capictl(&arguments).await?;
    assert_eq!(again.status.code(), Some(1), "{again}");
    assert!(again.stderr.contains("ImagePullBackOff"), "{again}");
    control_plane.kubelet().behave("capd-controller-manager");
    environment
        .capictl(&["init", "--infrastructure", "docker", "--wait-providers"])
        .await?
        .success();
    Ok(())
}

#[tokio::test]
async fn init_waits_for_late_providers() -> Result<()> {
    let (control_plane, environment) = prepare().await?;
    let late = Misbehaviour::Late(Duration::from_secs(3));
    control_plane
        .kubelet()
        .misbehave("capd-controller-manager", late);
    let arguments = ["init", "--infrastructure", "docker", "--wait-providers"];
    let done = environment.capictl(&arguments).await?;
    assert!(done.status.success(), "{done}");
    assert!(
        done.stderr.contains("capd-system/capd-controller-manager"),
        "{done}"
    );
    Ok(())
}

#[tokio::test]
async fn list_images_prints_every_image_once() -> Result<()> {
    let (_control_plane, environment) = prepare().await?;
    let arguments = ["init", "list-images", "--infrastructure", "docker"];
    let ours = environment.capictl(&arguments).await?.success();
    let theirs = environment.clusterctl(&arguments).await?.success();
    assert_eq!(ours, theirs);
    assert!(
        ours.contains("registry.k8s.io/cluster-api/cluster-api-controller:"),
        "{ours}"
    );
    Ok(())
}
