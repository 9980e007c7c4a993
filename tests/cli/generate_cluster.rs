//! `capictl generate cluster` without a cluster.

use crate::environment::TestEnvironment;

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
