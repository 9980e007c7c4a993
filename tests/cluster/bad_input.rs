//! What goes wrong between a user and a cluster: one message with a way out, exit code 1, nothing on standard output,
//! nothing changed in the cluster.

use anyhow::Result;

use crate::example;
use crate::support::control_plane::{self, ControlPlane};
use crate::support::environment::Environment;

/// Makes an environment for the shared control plane with a kubeconfig of its own.
async fn with_kubeconfig(kubeconfig: &str) -> Result<Environment> {
    let mut environment = Environment::new()?;
    let path = environment.write("kubeconfig", kubeconfig)?;
    environment.set("KUBECONFIG", path.display().to_string());
    example::add(&mut environment)?;
    Ok(environment)
}

/// Runs `init` and checks what holds for all failures; returns standard error.
async fn init_fails(environment: &Environment, arguments: &[&str]) -> Result<String> {
    let all = [&["init", "--infrastructure", "docker"], arguments].concat();
    let output = environment.capictl(&all).await?;
    assert_eq!(output.status.code(), Some(1), "{output}");
    assert_eq!(output.stdout, "", "{output}");
    assert!(output.stderr.contains("error: "), "{output}");
    // Nothing that an `init` writes, from its first write on, is in the cluster that the tests of this file share.
    let shared = ControlPlane::shared().await;
    let administrator = Environment::with_kubeconfig(shared.kubeconfig())?;
    let there = administrator
        .kubectl(&["get", "namespaces,crds", "-o", "name"])
        .await?
        .success();
    for written in [
        "clusterctl.cluster.x-k8s.io",
        "cert-manager",
        "capi-system",
        "capd-system",
    ] {
        assert!(!there.contains(written), "{output}\n{there}");
    }
    Ok(output.stderr)
}

#[tokio::test]
async fn an_unreachable_server_is_named() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let port = control_plane::find_free_port()?;
    let server = format!("https://127.0.0.1:{port}");
    let kubeconfig =
        control_plane::render_kubeconfig(&server, shared.authority(), Some(shared.administrator()));
    let stderr = init_fails(&with_kubeconfig(&kubeconfig).await?, &[]).await?;
    assert!(
        stderr.contains(&format!("the API server `{server}/` cannot be reached")),
        "{stderr}"
    );
    assert!(stderr.contains("Connection refused"), "{stderr}");
    assert!(
        stderr.contains("hint: check that the cluster runs"),
        "{stderr}"
    );
    Ok(())
}

#[tokio::test]
async fn an_untrusted_certificate_is_called_so() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let stranger = crate::support::authority::Authority::new("stranger")?;
    let kubeconfig =
        control_plane::render_kubeconfig(shared.server(), &stranger, Some(shared.administrator()));
    let stderr = init_fails(&with_kubeconfig(&kubeconfig).await?, &[]).await?;
    assert!(
        stderr.contains("the certificate of the API server"),
        "{stderr}"
    );
    assert!(stderr.contains("certificate-authority-data"), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn an_expired_token_is_refused_and_not_shown() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let stderr = init_fails(&with_kubeconfig(&token_kubeconfig(shared)).await?, &[]).await?;
    assert!(
        stderr.contains("does not accept the credentials (401)"),
        "{stderr}"
    );
    assert!(stderr.contains("log in again"), "{stderr}");
    assert!(!stderr.contains("secret-token"), "{stderr}");
    Ok(())
}

/// A kubeconfig whose user has a token that the server does not know.
fn token_kubeconfig(shared: &ControlPlane) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
         contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: \"{}\", insecure-skip-tls-verify: true}}}}]\n\
         users: [{{name: u, user: {{token: secret-token-of-yesterday}}}}]\n",
        shared.server()
    )
}

#[tokio::test]
async fn a_kubeconfig_without_a_context_lists_those_that_it_has() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let kubeconfig = token_kubeconfig(shared).replace("current-context: c\n", "");
    let environment = with_kubeconfig(&kubeconfig).await?;
    let stderr = init_fails(&environment, &[]).await?;
    assert!(stderr.contains("names no current context"), "{stderr}");
    assert!(
        stderr.contains("choose one with `--kubeconfig-context`: c"),
        "{stderr}"
    );
    let stderr = init_fails(&environment, &["--kubeconfig-context", "d"]).await?;
    assert!(stderr.contains("has no context `d`"), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn a_broken_kubeconfig_is_located_and_not_shown() -> Result<()> {
    let environment = with_kubeconfig("apiVersion: v1\nusers: [{token: secret-token\n").await?;
    let stderr = init_fails(&environment, &[]).await?;
    assert!(stderr.contains("cannot read the kubeconfig"), "{stderr}");
    assert!(stderr.contains("line "), "{stderr}");
    assert!(!stderr.contains("secret-token"), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn no_kubeconfig_at_all_says_how_to_name_one() -> Result<()> {
    let mut environment = Environment::new()?;
    environment.unset("KUBECONFIG");
    let stderr = init_fails(&environment, &[]).await?;
    assert!(
        stderr.contains("requires either a valid kubeconfig or in cluster config"),
        "{stderr}"
    );
    assert!(stderr.contains("`--kubeconfig`"), "{stderr}");
    let stderr = init_fails(&environment, &["--kubeconfig", "missing.yaml"]).await?;
    assert!(
        stderr.contains("cannot read the kubeconfig `missing.yaml`"),
        "{stderr}"
    );
    Ok(())
}

#[tokio::test]
async fn a_user_who_may_only_read_is_told_what_is_missing() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let administrator = Environment::with_kubeconfig(shared.kubeconfig())?;
    let bind = [
        "create",
        "clusterrolebinding",
        "readers",
        "--clusterrole=reader",
        "--group=readers",
    ];
    let role = [
        "create",
        "clusterrole",
        "reader",
        "--verb=get,list,watch",
        "--resource=*.*",
    ];
    administrator.kubectl(&role).await?.success();
    administrator.kubectl(&bind).await?.success();
    let reader = shared.authority().issue_client("reader", "readers")?;
    let kubeconfig =
        control_plane::render_kubeconfig(shared.server(), shared.authority(), Some(&reader));
    let stderr = init_fails(&with_kubeconfig(&kubeconfig).await?, &[]).await?;
    assert!(stderr.contains("forbidden"), "{stderr}");
    assert!(
        stderr.contains("hint: ask for the missing permission"),
        "{stderr}"
    );
    Ok(())
}

#[tokio::test]
async fn missing_variables_of_all_providers_are_told_at_once() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let mut environment = Environment::with_kubeconfig(shared.kubeconfig())?;
    example::add(&mut environment)?;
    environment.unset("EXAMPLE_TOKEN");
    let stderr = init_fails(&environment, &["--infrastructure", "example"]).await?;
    assert!(
        stderr.contains("value for variables [EXAMPLE_TOKEN] is not set"),
        "{stderr}"
    );
    Ok(())
}

#[tokio::test]
async fn an_unknown_provider_is_told_with_a_suggestion() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let environment = Environment::with_kubeconfig(shared.kubeconfig())?;
    let stderr = init_fails(&environment, &["--infrastructure", "openstak,azur"]).await?;
    assert!(stderr.contains("did you mean `openstack`?"), "{stderr}");
    assert!(stderr.contains("did you mean `azure`?"), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn a_namespace_that_cannot_be_is_refused_before_anything_is_written() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let environment = Environment::with_kubeconfig(shared.kubeconfig())?;
    let stderr = init_fails(&environment, &["--target-namespace", "Bad_Name"]).await?;
    assert!(
        stderr.contains("invalid target-namespace: `Bad_Name`"),
        "{stderr}"
    );
    Ok(())
}

#[tokio::test]
async fn a_context_is_not_ignored_where_there_is_no_kubeconfig() -> Result<()> {
    let mut environment = Environment::new()?;
    environment.set("KUBECONFIG", "missing.yaml");
    let stderr = init_fails(&environment, &["--kubeconfig-context", "production"]).await?;
    assert!(
        stderr.contains("the kubeconfig `missing.yaml` has no context `production`"),
        "{stderr}"
    );
    Ok(())
}

#[tokio::test]
async fn credentials_that_fail_are_not_taken_for_no_cluster() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let exec =
        "{apiVersion: client.authentication.k8s.io/v1, command: 'false', interactiveMode: Never}";
    let kubeconfig = token_kubeconfig(shared)
        .replace("token: secret-token-of-yesterday", &format!("exec: {exec}"));
    let environment = with_kubeconfig(&kubeconfig).await?;
    let arguments = [
        "generate",
        "cluster",
        "one",
        "-i",
        "docker:v1.14.0",
        "-f",
        "in-memory",
        "-n",
        "default",
        "--kubernetes-version",
        "v1.33.0",
    ];
    let output = environment.capictl(&arguments).await?;
    assert_eq!(
        (output.status.code(), output.stdout.as_str()),
        (Some(1), ""),
        "{output}"
    );
    assert!(
        output
            .stderr
            .contains("failed to check if the cluster is initialized"),
        "{output}"
    );
    assert!(
        output
            .stderr
            .contains("the exec plugin of the kubeconfig failed with exit status: 1"),
        "{output}"
    );
    Ok(())
}

#[tokio::test]
async fn a_name_with_odd_characters_stays_a_name() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let environment = Environment::with_kubeconfig(shared.kubeconfig())?;
    for name in ["my map", "x?y", "x#y"] {
        let output = environment
            .capictl(&["generate", "cluster", "one", "--from-config-map", name])
            .await?;
        assert_eq!(
            (output.status.code(), output.stdout.as_str()),
            (Some(1), ""),
            "{output}"
        );
        assert!(
            output
                .stderr
                .contains(&format!("there is no ConfigMap default/{name}")),
            "{output}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_release_that_lacks_a_file_is_told_with_what_it_has() -> Result<()> {
    let shared = ControlPlane::shared().await;
    let environment = Environment::with_kubeconfig(shared.kubeconfig())?;
    let stderr = init_fails(&environment, &["--infrastructure", "docker:v0.0.1"]).await?;
    assert!(
        stderr.contains("failed to get provider components for the \"docker:v0.0.1\" provider"),
        "{stderr}"
    );
    assert!(stderr.contains("v1.14.0"), "{stderr}");
    Ok(())
}
