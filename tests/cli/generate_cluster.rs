//! `capictl generate cluster` without a cluster.

use crate::environment::TestEnvironment;
use crate::generate_provider::with_provider;

#[test]
fn flags_reach_the_template() {
    let environment = TestEnvironment::new();
    environment.write(
        "template.yaml",
        "kind: ${CLUSTER_NAME}\nv: ${KUBERNETES_VERSION}\nc: ${CONTROL_PLANE_MACHINE_COUNT}\nw: ${WORKER_MACHINE_COUNT}\nspace: ${NAMESPACE}\n",
    );
    let line = "-n prod generate cluster c1 --from=template.yaml --kubernetes-version v1.36.0 \
                --control-plane-machine-count 3 --worker-machine-count=0x0A";
    insta::assert_snapshot!(environment.run(line), @"
    status: 0
    ---- stdout
    c: 3
    kind: c1
    metadata:
      namespace: prod
    space: prod
    v: v1.36.0
    w: 10
    ---- stderr
    ");
}

#[test]
fn variables_are_listed_with_their_defaults() {
    let environment = TestEnvironment::new();
    environment.write(
        "template.yaml",
        "a: ${NEEDED}\nb: ${WITH_DEFAULT:=1}\nc: ${CLUSTER_NAME}\nd: ${WORKER_MACHINE_COUNT}\ne: ${NAMESPACE}\n",
    );
    let line = "generate cluster c1 --from template.yaml -n prod --list-variables";
    insta::assert_snapshot!(environment.run(line), @r#"
    status: 0
    ---- stdout
    Required Variables:
      - NEEDED

    Optional Variables:
      - CLUSTER_NAME          (defaults to c1)
      - NAMESPACE             (defaults to prod)
      - WITH_DEFAULT          (defaults to "1")
      - WORKER_MACHINE_COUNT  (defaults to 0)

    ---- stderr
    "#);
}

/// Neither a cluster nor the network is there, and the version need not be named.
#[test]
fn the_embedded_provider_needs_nobody() {
    let environment = TestEnvironment::new()
        .with("MAILGUN_DOMAIN", "mg.example.com")
        .with("HTTPS_PROXY", "http://127.0.0.1:9");
    let line = "generate cluster hello --infrastructure mailgun -n prod";
    insta::assert_snapshot!(environment.run(line), @"
    status: 0
    ---- stdout
    apiVersion: cluster.x-k8s.io/v1beta2
    kind: Cluster
    metadata:
      name: hello
      namespace: prod
    spec:
      clusterNetwork:
        pods:
          cidrBlocks:
          - 192.168.0.0/16
      infrastructureRef:
        apiGroup: infrastructure.cluster.x-k8s.io
        kind: MailgunCluster
        name: hello
    ---
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: MailgunCluster
    metadata:
      name: hello
      namespace: prod
    spec:
      priority: Urgent
      request: Please make me a cluster, with sugar on top?
      requester: mg.example.com
    ---- stderr
    ");
    let line = "generate cluster hello -i mailgun -n prod --flavor clusterclass --kubernetes-version v1.36.0";
    let rendered = environment.run(line);
    let kinds: Vec<&str> = rendered
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("kind: "))
        .collect();
    insta::assert_snapshot!(kinds.join(" "), @"
    ClusterClass MailgunClusterTemplate KubeadmControlPlaneTemplate MailgunMachineTemplate MailgunMachineTemplate KubeadmConfigTemplate Cluster
    ");
    let missing = environment.run("generate cluster hello -i mailgun -n prod --flavor other");
    assert_eq!((missing.status, missing.stdout.as_str()), (1, ""));
    let hint =
        "hint: the release has `cluster-template-clusterclass.yaml`, `cluster-template.yaml`,";
    assert!(missing.stderr.contains(hint), "{missing}");
}

#[test]
fn a_topology_without_a_class_is_explained() {
    let environment = with_provider();
    let template = "\
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: '${CLUSTER_NAME}'}
spec:
  topology: {class: quick-start, version: v1.36.0}
";
    let path = "repository/infrastructure-example/v1.2.3/cluster-template.yaml";
    environment.write(path, template);
    let line = "generate cluster c1 -i example:v1.2.3 -n prod";
    insta::assert_snapshot!(environment.run(line), @"
    status: 1
    ---- stdout
    ---- stderr
    error: failed to get the cluster class template: the topology of Cluster prod/c1 names no class, `spec.topology.classRef.name` is empty
    hint: `spec.topology.class` is a field of v1beta1; the template says cluster.x-k8s.io/v1beta2, where it is `spec.topology.classRef.name`
    ");

    let template = template.replace("class: quick-start", "classRef: {name: 1.0}");
    environment.write(path, &template);
    insta::assert_snapshot!(environment.run(line), @"
    status: 1
    ---- stdout
    ---- stderr
    error: failed to get the cluster class template: `spec.topology.classRef.name` of Cluster prod/c1 is not a text
    hint: put the name into quotes, lest YAML reads it as a number or a boolean
    ");
}

#[test]
fn the_only_dry_run_is_that_of_the_server() {
    let environment = TestEnvironment::new();
    environment.write("template.yaml", "kind: Example\n");
    let mut report = String::new();
    for flag in [
        "--dry-run=client",
        "--dry-run=none",
        "--dry-run",
        "--dry-run=server --list-variables",
    ] {
        let line = format!("generate cluster c -n d --from template.yaml {flag}");
        report += &format!("{}\n", environment.run(&line));
    }
    // There is no API server to ask.
    report += &environment
        .run("generate cluster c -n d --from template.yaml --dry-run=server")
        .to_string();
    insta::assert_snapshot!(report, @"
    status: 1
    ---- stdout
    ---- stderr
    error: invalid value `client` for `--dry-run`
      caused by: it would ask nobody, as without the flag; say `server` to ask the API server
    hint: see `capictl generate cluster --help`

    status: 1
    ---- stdout
    ---- stderr
    error: invalid value `none` for `--dry-run`
      caused by: expected `server`
    hint: see `capictl generate cluster --help`

    status: 1
    ---- stdout
    ---- stderr
    error: the flag `--dry-run` needs a value
    hint: see `capictl generate cluster --help`

    status: 1
    ---- stdout
    ---- stderr
    error: `--dry-run` and `--list-variables` exclude each other
    hint: see `capictl generate cluster --help`

    status: 1
    ---- stdout
    ---- stderr
    error: clusterctl requires either a valid kubeconfig or in cluster config to connect to the management cluster: there is neither `[FOLDER]/home/.kube/config`, nor is this a Pod with a ServiceAccount
    hint: name a kubeconfig with `--kubeconfig` or the variable `KUBECONFIG`
    ");
}
