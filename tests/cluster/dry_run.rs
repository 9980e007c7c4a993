//! `generate cluster --dry-run=server`: what the API server says of rendered objects, before anything is applied.

use anyhow::Result;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;

use crate::support::control_plane::{self, ControlPlane};
use crate::support::environment::{Environment, Output};
use crate::support::wait::for_object;

const LINE: [&str; 6] = [
    "generate",
    "cluster",
    "one",
    "--from",
    "template.yaml",
    "--dry-run=server",
];

/// Renders `template.yaml` into a namespace and asks the server about it.
async fn dry_run(environment: &Environment, namespace: &str) -> Result<Output> {
    let arguments = [&LINE[..], &["--target-namespace", namespace]].concat();
    environment.capictl(&arguments).await
}

/// Returns standard error of a command that must fail and print nothing else.
#[track_caller]
fn refusal(output: &Output, namespace: &str) -> String {
    assert_eq!(
        (output.status.code(), output.stdout.as_str()),
        (Some(1), ""),
        "{output}"
    );
    output.stderr.replace(namespace, "NAMESPACE")
}

/// The objects of a namespace by name, less those that every namespace has.
async fn objects(environment: &Environment, namespace: &str) -> Result<String> {
    let get = "get configmaps,secrets,deployments,services -o name";
    let get: Vec<&str> = get.split(' ').chain(["-n", namespace]).collect();
    let names = environment.kubectl(&get).await?.success();
    Ok(names.replace("configmap/kube-root-ca.crt\n", ""))
}

#[tokio::test]
async fn what_is_accepted_is_printed_as_without_the_flag_and_not_applied() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.create_namespace("dry-run").await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    environment.write(
        "template.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${CLUSTER_NAME}\"}\n\
         ---\napiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n",
    )?;
    let arguments = [&LINE[..5], &["--target-namespace", &namespace]].concat();
    let plain = environment.capictl(&arguments).await?.success();

    let checked = dry_run(&environment, &namespace).await?;
    assert_eq!(checked.stdout, plain);
    insta::assert_snapshot!(checked.stderr.replace(&namespace, "NAMESPACE"), @"
    Not checked: Gadget NAMESPACE/g: its kind is not installed: the API server serves no `Gadget` in `example.com/v1`
    1 object checked by the API server, 1 unchecked
    ");
    assert_eq!(checked.success(), plain);
    assert_eq!(objects(&environment, &namespace).await?, "");

    // An object that is there would be changed, and is as it was.
    let create = [
        "create",
        "configmap",
        "one",
        "-n",
        &namespace,
        "--from-literal=a=b",
    ];
    environment.kubectl(&create).await?.success();
    let before = environment
        .kubectl(&["get", "configmap", "one", "-n", &namespace, "-o", "yaml"])
        .await?
        .success();
    let checked = dry_run(&environment, &namespace).await?;
    assert!(
        checked
            .stderr
            .contains("1 object checked by the API server, 1 unchecked"),
        "{checked}"
    );
    assert_eq!(checked.success(), plain);
    let after = environment
        .kubectl(&["get", "configmap", "one", "-n", &namespace, "-o", "yaml"])
        .await?
        .success();
    assert_eq!(after, before);
    Ok(())
}

/// Schema, strict fields, types and values of several kinds; secrets are in none of the messages.
#[tokio::test]
async fn each_refusal_is_told_beside_the_line_of_the_template() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let mut environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    let components = environment
        .capictl(&["generate", "provider", "--core", "cluster-api"])
        .await?
        .success();
    let crd = components
        .split("\n---\n")
        .find(|document| document.contains("\n  name: clusters.cluster.x-k8s.io\n"))
        .expect("the release has the CRD of clusters");
    let crd = environment.write("crd.yaml", crd)?.display().to_string();
    environment
        .kubectl(&["create", "-f", &crd])
        .await?
        .success();
    let crds: Api<CustomResourceDefinition> = Api::all(control_plane.client().await?);
    for_object(&crds, "clusters.cluster.x-k8s.io", "is served", |crd| {
        let conditions = crd.and_then(|crd| crd.status.as_ref()?.conditions.as_ref());
        conditions
            .into_iter()
            .flatten()
            .any(|condition| condition.type_ == "Established" && condition.status == "True")
    })
    .await;

    environment.write(
        "template.yaml",
        r#"# A template with mistakes
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: ${CLUSTER_NAME}
spec:
  paused: ${PAUSED}
  clusterNetwork:
    serviceDomain: "${ DOMAIN }"
    pods: {cidrBlocks: []}
  controlPlaneEndpoint:
    host: ""
    port: ${PORT}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: second}
spec:
  ${LINES}
  clusterNetwrok: {apiServerPort: 6443}
---
# nothing but a comment
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: fine
---
apiVersion: v1
kind: Secret
metadata:
  name: secret
  labels: {token: "${API_TOKEN}"}
data:
  token: ${API_TOKEN}
  "a key": ""
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: deployment}
spec:
  replicas: "${WORDS}"
---
apiVersion: v1
kind: Service
metadata:
  name: service
  labels:
    key: "${APP_KEY}"
spec:
  ports: [{port: ${PORT}}]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MailgunCluster
metadata: {name: hello}
"#,
    )?;
    environment
        .set("PAUSED", "maybe")
        .set("DOMAIN", "a.b")
        .set("PORT", "70000")
        .set("LINES", "paused: true\n  # two\n  # three")
        .set("WORDS", "three")
        .set("API_TOKEN", "hunter2!")
        .set("APP_KEY", "not/a label");
    let output = dry_run(&environment, "default").await?;
    for secret in ["hunter2", "not/a label"] {
        assert!(!output.stderr.contains(secret), "{output}");
    }
    insta::assert_snapshot!(refusal(&output, "NAMESPACE"), @r#"
    Not checked: MailgunCluster default/hello: its kind is not installed: the API server serves no `MailgunCluster` in `infrastructure.cluster.x-k8s.io/v1beta1`
    6 objects checked by the API server, 1 unchecked
    error: the API server would refuse 5 of 7 objects
      - Cluster default/one: Invalid value: "string": spec.paused in body must be of type boolean: "string"
          template.yaml:7: `paused: ${PAUSED}`
      - Cluster default/one: Invalid value: 0: spec.clusterNetwork.pods.cidrBlocks in body should have at least 1 items
          template.yaml:10: `pods: {cidrBlocks: []}`
      - Cluster default/one: Invalid value: "": spec.controlPlaneEndpoint.host in body should be at least 1 chars long
          template.yaml:12: `host: ""`
      - Cluster default/one: Invalid value: 70000: spec.controlPlaneEndpoint.port in body should be less than or equal to 65535
          template.yaml:13: `port: ${PORT}`
      - Cluster default/second: unknown field "spec.clusterNetwrok"
          template.yaml:20: `clusterNetwrok: {apiServerPort: 6443}`
      - Secret default/secret: Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 7
          template.yaml:29
      - Deployment default/deployment: Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32
          template.yaml:42: `replicas: "${WORDS}"`
      - Service default/service: metadata.labels: Invalid value: [redacted]: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
          template.yaml:48: `labels:`
      - Service default/service: spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive
          template.yaml:51: `ports: [{port: ${PORT}}]`
      - Service default/service: spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive
          template.yaml:51: `ports: [{port: ${PORT}}]`
    "#);
    Ok(())
}

#[tokio::test]
async fn objects_of_a_namespace_that_is_not_there_are_unchecked() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    environment.write(
        "template.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: not-there}\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
    )?;
    let output = dry_run(&environment, "not-there").await?;
    insta::assert_snapshot!(output.stderr, @"
    Not checked: ConfigMap not-there/c: the namespace `not-there` does not exist
    1 object checked by the API server, 1 unchecked
    ");
    assert!(output.success().contains("namespace: not-there"));
    Ok(())
}

/// Returns the environment of a user with the rights that `bind` gives in the namespace.
async fn environment_of(
    user: &str,
    control_plane: &ControlPlane,
    bind: &str,
) -> Result<Environment> {
    let administrator = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    for line in bind.lines() {
        let line: Vec<&str> = line.split(' ').collect();
        administrator.kubectl(&line).await?.success();
    }
    let client = control_plane.authority().issue_client(user, "users")?;
    let kubeconfig = control_plane::render_kubeconfig(
        control_plane.server(),
        control_plane.authority(),
        Some(&client),
    );
    let mut environment = Environment::new()?;
    let path = environment.write("kubeconfig", &kubeconfig)?;
    environment.set("KUBECONFIG", path.display().to_string());
    Ok(environment)
}

#[tokio::test]
async fn a_user_who_may_only_read_is_told_so_once() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.create_namespace("dry-run").await?;
    let bind = format!("create rolebinding viewer --clusterrole=view --user=viewer -n {namespace}");
    let environment = environment_of("viewer", control_plane, &bind).await?;
    environment.write(
        "template.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n\
         ---\napiVersion: v1\nkind: Service\nmetadata: {name: c}\n",
    )?;
    let output = dry_run(&environment, &namespace).await?;
    insta::assert_snapshot!(refusal(&output, &namespace), @r#"
    0 objects checked by the API server, 3 unchecked
    error: the user may not ask the API server about 3 of 3 objects
      - ConfigMap NAMESPACE/a, ConfigMap NAMESPACE/b, Service NAMESPACE/c: configmaps is forbidden: User "viewer" cannot create resource "configmaps" in API group "" in the namespace "NAMESPACE"
    hint: a dry run needs the permissions of the real one: ask for them, or use a context whose user has them
    "#);
    Ok(())
}

#[tokio::test]
async fn what_is_refused_and_what_may_not_be_asked_are_counted_apart() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.create_namespace("dry-run").await?;
    let bind = format!(
        "create role maker --verb=get,create,patch --resource=configmaps -n {namespace}\n\
         create rolebinding maker --role=maker --user=maker -n {namespace}"
    );
    let environment = environment_of("maker", control_plane, &bind).await?;
    environment.write(
        "template.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: 1\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n\
         ---\napiVersion: v1\nkind: Service\nmetadata: {name: c}\n",
    )?;
    let output = dry_run(&environment, &namespace).await?;
    insta::assert_snapshot!(refusal(&output, &namespace), @r#"
    2 objects checked by the API server, 1 unchecked
    error: the API server would refuse 1 of 3 objects, and the user may not ask it about 1 more
      - Service NAMESPACE/c: services is forbidden: User "maker" cannot create resource "services" in API group "" in the namespace "NAMESPACE"
      - ConfigMap NAMESPACE/a: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string
          template.yaml:4: `data: 1`
    hint: a dry run needs the permissions of the real one: ask for them, or use a context whose user has them
    "#);
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_once() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let port = control_plane::find_free_port()?;
    let server = format!("https://127.0.0.1:{port}");
    let kubeconfig = control_plane::render_kubeconfig(
        &server,
        control_plane.authority(),
        Some(control_plane.administrator()),
    );
    let mut environment = Environment::new()?;
    let path = environment.write("kubeconfig", &kubeconfig)?;
    environment.set("KUBECONFIG", path.display().to_string());
    environment.write(
        "template.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
    )?;
    let output = dry_run(&environment, "default").await?;
    let stderr = refusal(&output, "NAMESPACE").replace(&server, "SERVER");
    let stderr = stderr
        .lines()
        .map(|line| match line.split_once(", tried for") {
            Some((before, _)) => before.to_owned(),
            None => line.to_owned(),
        });
    insta::assert_snapshot!(stderr.collect::<Vec<_>>().join("\n"), @"
    error: cannot ask the API server about the objects
      caused by: cannot ask what the API server serves in `v1`
      caused by: the API server `SERVER/` cannot be reached: Connection refused (os error 111)
    hint: check that the cluster runs, and that `--kubeconfig` and `--kubeconfig-context` name the right one
    ");
    Ok(())
}

#[tokio::test]
async fn a_config_map_that_is_missing_is_told_with_those_that_hold_templates() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.create_namespace("templates").await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    for (name, key) in [
        ("small", "template"),
        ("large", "template"),
        ("other", "data"),
    ] {
        let literal = format!("--from-literal={key}=x: y");
        let create = ["create", "configmap", name, "-n", &namespace, &literal];
        environment.kubectl(&create).await?.success();
    }
    let mut report = String::new();
    for arguments in [
        &["--from-config-map", "smal"][..],
        &["--from-config-map", "smal", "--from-config-map-key", "x"],
        &["--from-config-map", "other"],
    ] {
        let line = ["generate", "cluster", "one", "-n", "default"];
        let place = ["--from-config-map-namespace", &namespace];
        let output = environment
            .capictl(&[&line[..], &place, arguments].concat())
            .await?;
        report += &refusal(&output, &namespace);
        report += "\n";
    }
    insta::assert_snapshot!(report, @r#"
    error: there is no ConfigMap NAMESPACE/smal
    hint: did you mean `small`?
    hint: in the namespace `NAMESPACE`, these have the key `template`: large, small

    error: there is no ConfigMap NAMESPACE/smal
    hint: no ConfigMap in the namespace `NAMESPACE` has the key `x`; another namespace is named with `--from-config-map-namespace`, another key with `--from-config-map-key`

    error: the ConfigMap NAMESPACE/other does not have the "template" data key
    hint: name a key with `--from-config-map-key`; there are: data
    "#);
    Ok(())
}
