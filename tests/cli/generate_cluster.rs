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
