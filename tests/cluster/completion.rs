//! What completion learns from an API server.

use anyhow::Result;
use capictl::cli::completion::VARIABLE;

use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;
use crate::support::wait;

/// Presses Tab again and again until the answer is this one: an answer that takes too long is left out.
async fn ensure_answer(environment: &Environment, words: &[&str], expected: &[&str]) {
    let arguments = [&["--", "capictl"], words].concat();
    wait::until(&format!("{words:?} to be completed"), async || {
        let output = environment
            .capictl(&arguments)
            .await
            .map_err(|error| format!("{error:#}"))?;
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output}"
        );
        let found: Vec<&str> = output.stdout.lines().collect();
        if found == expected {
            Ok(())
        } else {
            Err(output.stdout)
        }
    })
    .await;
}

#[tokio::test]
async fn namespaces_and_clusters_are_those_of_the_server() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let mut environment = Environment::new()?;
    let kubeconfig = control_plane.kubeconfig().display().to_string();
    environment
        .set("MAILGUN_API_KEY", "key")
        .set("MAILGUN_DOMAIN", "mg.example.com")
        .set("MAIL_RECIPIENT", "someone@example.com");
    let init = [
        "init",
        "--infrastructure",
        "mailgun",
        "--kubeconfig",
        &kubeconfig,
    ];
    environment.capictl(&init).await?.success();
    for name in ["one", "other"] {
        let generate = [
            "generate", "cluster", name, "-i", "mailgun", "-n", "default",
        ];
        let manifest = environment.capictl(&generate).await?.success();
        let file = environment
            .write("cluster.yaml", &manifest)?
            .display()
            .to_string();
        let apply = ["apply", "--kubeconfig", &kubeconfig, "-f", &file];
        // The server tells of new kinds a moment later than it takes them.
        wait::until("the cluster to be applied", async || {
            let output = environment.kubectl(&apply).await;
            let output = output.map_err(|error| format!("{error:#}"))?;
            if output.status.success() {
                Ok(())
            } else {
                Err(output.stderr)
            }
        })
        .await;
    }

    environment.set(VARIABLE, "bash");
    let server = ["--kubeconfig", kubeconfig.as_str()];
    let namespaces = [
        &["init"],
        &server[..],
        &["--target-namespace", "capi-kubeadm-b"],
    ]
    .concat();
    ensure_answer(
        &environment,
        &namespaces,
        &["capi-kubeadm-bootstrap-system"],
    )
    .await;
    let clusters = [&["generate", "cluster"], &server[..], &["o"]].concat();
    ensure_answer(&environment, &clusters, &["one", "other"]).await;
    let elsewhere = [
        &["generate", "cluster", "-n", "kube-system"],
        &server[..],
        &["o"],
    ]
    .concat();
    ensure_answer(&environment, &elsewhere, &[]).await;
    Ok(())
}
