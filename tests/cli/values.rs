//! Where the values of variables come from: `--set`, `--values`, `--explain`, and what is said of those that are missing.

use std::io::Write;
use std::process::Stdio;

use crate::environment::{Run, TestEnvironment};

const CONFIG: &str = "home/.config/cluster-api/clusterctl.yaml";

fn with_input(environment: &TestEnvironment, line: &str, input: &str) -> Run {
    let mut child = environment
        .command(line)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses its flags reads nothing.
    stdin.write_all(input.as_bytes()).ok();
    drop(stdin);
    environment.finish(child.wait_with_output().unwrap())
}

#[test]
fn set_beats_values_which_beat_the_environment_which_beats_the_file() {
    let environment = TestEnvironment::new()
        .with("ENVIRONMENT", "environment")
        .with("SECOND", "environment")
        .with("FIRST", "environment")
        .with("SET", "environment");
    environment.write(
        CONFIG,
        "CONFIG: config\nENVIRONMENT: config\nSECOND: config\nSET: config\n",
    );
    environment.write(
        "1.yaml",
        "FIRST: first\nsecond: first\nSET: first\nNUMBER: 1.10\nNOTHING:\n",
    );
    environment.write(
        "2.yaml",
        "SECOND: second\nSET: second\nYES: yes\nEMPTY: ''\n",
    );
    environment.write(
        "template.yaml",
        "a: ${CONFIG}\nb: ${ENVIRONMENT}\nc: ${FIRST}\nd: ${SECOND}\ne: ${SET}\nf: '${NUMBER}'\ng: '${YES}'\n\
         h: '${EMPTY}'\ni: ${EQUALS}\nj: ${NOTHING:=default}\nk: '${VOID}'\n",
    );
    let line = "generate yaml --from template.yaml --values 1.yaml --values 2.yaml --set set=lost --set SET=set \
                --set EQUALS=a=b= --set VOID= --explain";
    insta::assert_snapshot!(environment.run(line), @r#"
    status: 0
    ---- stdout
    a: config
    b: environment
    c: first
    d: second
    e: set
    f: "1.10"
    g: "yes"
    h: ""
    i: a=b=
    j: default
    k: ""
    ---- stderr
    Variables of `template.yaml`:
      NAME         VALUE        SOURCE
      CONFIG       config       config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml
      EMPTY        ""           --values 2.yaml
      ENVIRONMENT  environment  environment ENVIRONMENT
      EQUALS       a=b=         --set
      FIRST        first        --values 1.yaml
      NOTHING      default      default of the template (line 10)
      NUMBER       1.10         --values 1.yaml
      SECOND       second       --values 2.yaml
      SET          set          --set
      VOID         ""           --set
      YES          yes          --values 2.yaml
    "#);
}

#[test]
fn values_may_be_on_standard_input() {
    let environment = TestEnvironment::new();
    environment.write("template.yaml", "a: ${A}\n");
    let run = with_input(
        &environment,
        "generate yaml --from template.yaml --values - --explain",
        "A: typed\n",
    );
    insta::assert_snapshot!(run, @"
    status: 0
    ---- stdout
    a: typed
    ---- stderr
    Variables of `template.yaml`:
      NAME  VALUE  SOURCE
      A     typed  --values -
    ");
    let run = with_input(&environment, "generate yaml --values -", "A: typed\n");
    insta::assert_snapshot!(run, @"
    status: 1
    ---- stdout
    ---- stderr
    error: `--from -` and `--values -` both read standard input
    hint: write one of them to a file and name that
    ");
    let line = "generate cluster c -n d --from=template.yaml --values=- --values -";
    insta::assert_snapshot!(with_input(&environment, line, "A: typed\n"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: `--values -` is there twice, but standard input can be read once
    hint: write one of them to a file and name that
    ");
}

#[test]
fn values_that_are_none_are_named_with_their_lines_and_not_shown() {
    let environment = TestEnvironment::new();
    environment.write("template.yaml", "a: ${A}\n");
    environment.write(
        "nested.yaml",
        "A: fine\nB:\n  x: s3cret\nC:\n- s3cret\na: s3cret\n\"d-e\": s3cret\n",
    );
    environment.write("list.yaml", "- s3cret\n");
    environment.write("broken.yaml", "A: [s3cret\n");
    let errors = environment.failures(&[
        "generate yaml --from template.yaml --values nested.yaml",
        "generate yaml --from template.yaml --values list.yaml",
        "generate yaml --from template.yaml --values broken.yaml",
        "generate yaml --from template.yaml --values absent.yaml",
        "generate yaml --from template.yaml --set s3cret",
        "generate yaml --from template.yaml --set =s3cret",
        "generate yaml --from template.yaml --set a-b=s3cret",
        "generate provider -i mailgun --raw --set A=s3cret",
        "generate provider -i mailgun --describe --explain",
        "generate yaml --from template.yaml -o json",
        "generate yaml --from template.yaml --values=",
    ]);
    assert!(
        !errors
            .replace("--set s3cret", "")
            .replace("=s3cret", "")
            .contains("s3cret"),
        "{errors}"
    );
    insta::assert_snapshot!(errors, @r#"
    $ capictl generate yaml --from template.yaml --values nested.yaml
    error: the values of `nested.yaml` cannot be used:
      - line 2: `B` is a map, a value must be a scalar
      - line 4: `C` is a list, a value must be a scalar
      - line 6: `a` and `A` are one variable, for case does not count
      - line 7: `d-e` can be no name of a variable
    hint: names consist of letters, digits and `_`; write a list or a map as text, e.g. `SUBNETS: "a,b"`

    $ capictl generate yaml --from template.yaml --values list.yaml
    error: the values of `list.yaml` are not a map of names and values
    hint: write it as `KEY: value` lines

    $ capictl generate yaml --from template.yaml --values broken.yaml
    error: cannot parse the values of `broken.yaml`
      caused by: line 1, column 4: unclosed bracket '['
    hint: look at the indentation and the quotes there and on the lines before

    $ capictl generate yaml --from template.yaml --values absent.yaml
    error: cannot read the values file `absent.yaml`
      caused by: No such file or directory (os error 2)
    hint: `--values` takes a path, or `-` for standard input

    $ capictl generate yaml --from template.yaml --set s3cret
    error: a value of `--set` has no `=`
    hint: write `--set NAME=VALUE`, for nothing `--set NAME=`

    $ capictl generate yaml --from template.yaml --set =s3cret
    error: `` of `--set` can be no name of a variable
    hint: names consist of letters, digits and `_`
    hint: write `--set NAME=VALUE`, for nothing `--set NAME=`

    $ capictl generate yaml --from template.yaml --set a-b=s3cret
    error: `a-b` of `--set` can be no name of a variable
    hint: names consist of letters, digits and `_`
    hint: write `--set NAME=VALUE`, for nothing `--set NAME=`

    $ capictl generate provider -i mailgun --raw --set A=s3cret
    error: `--set` has no effect with `--raw`, which substitutes nothing
    hint: leave one of them out

    $ capictl generate provider -i mailgun --describe --explain
    error: `--explain` has no effect with `--describe`, which substitutes nothing
    hint: leave one of them out

    $ capictl generate yaml --from template.yaml -o json
    error: `--output` is the format of a list, but no list is asked for
    hint: add `--list-variables`

    $ capictl generate yaml --from template.yaml --values=
    error: `--values` needs a file, but its value is empty
    hint: a variable of the shell in it may not be set; name the file, or `-` for standard input
    "#);
}

#[test]
fn explain_masks_secrets_and_shortens_values() {
    let environment = TestEnvironment::new()
        .with("AWS_B64ENCODED_CREDENTIALS", "s3cret")
        .with("BUCKET", "")
        .with("EMPTY_TOKEN", "")
        .with("LONG", "0123456789".repeat(6))
        .with("ESCAPES", "\u{1b}[31mred\u{7}");
    environment.write("values.yaml", "LINES: \"one\\ntwo\"\n");
    let template = "a: ${AWS_B64ENCODED_CREDENTIALS}\nb: ${SSH_KEY:=s3cret}\nc: ${BUCKET:=mine}\nd: ${LONG}\n\
                    e: \"${ESCAPES}\"\nf: |-\n  ${LINES/one/1}\ng: ${OUTER:=${INNER:=in}${NOWHERE}}\nh: ${EMPTY_TOKEN:=s3cret}\n";
    environment.write("template.yaml", template);
    let line = "generate yaml --from template.yaml --values values.yaml --list-variables --explain";
    insta::assert_snapshot!(environment.run(line), @r#"
    status: 0
    ---- stdout
    Variables:
      - AWS_B64ENCODED_CREDENTIALS
      - BUCKET
      - EMPTY_TOKEN
      - ESCAPES
      - LINES
      - LONG
      - OUTER
      - SSH_KEY
    ---- stderr
    Variables of `template.yaml`:
      NAME                        VALUE                                              SOURCE
      AWS_B64ENCODED_CREDENTIALS  ****                                               environment AWS_B64ENCODED_CREDENTIALS
      BUCKET                      ""                                                 environment BUCKET, empty: the default of line 3 counts
      EMPTY_TOKEN                 ****                                               environment EMPTY_TOKEN, empty: the default of line 9 counts
      ESCAPES                     \u{1b}[31mred\u{7}                                 environment ESCAPES
      INNER                       in                                                 default of the template (line 8)
      LINES                       one…                                               --values values.yaml
      LONG                        012345678901234567890123456789012345678901234567…  environment LONG
      NOWHERE                     -                                                  not set
      OUTER                       ${INNER}${NOWHERE}                                 default of the template (line 8)
      SSH_KEY                     ****                                               default of the template (line 2)
    "#);
    environment.write("none.yaml", "a: b\n");
    insta::assert_snapshot!(environment.run("generate yaml --from none.yaml --explain"), @"
    status: 0
    ---- stdout
    a: b
    ---- stderr
    `none.yaml` has no variables
    ");
}

#[test]
fn explain_masks_urls_with_passwords_and_tells_of_several_defaults() {
    let environment = TestEnvironment::new()
        .with("PROXY", "http://me:s3cret@proxy.example.com:3128")
        .with("EMPTY", "")
        .with("EMPTY_TOKEN", "");
    environment.write(
        "template.yaml",
        "a: ${PROXY}\nb: ${MIRROR:=https://me:s3cret@example.com/x}\nc: ${SIZE:=1}\nd: ${SIZE:=1}\ne: ${SIZE:=2}\n\
         f: ${EMPTY:=1}\ng: ${EMPTY:=2}\nh: ${EMPTY_TOKEN:=s3cret}\n",
    );
    let run = environment.run("generate yaml --from template.yaml --explain");
    insta::assert_snapshot!(run.stderr, @r#"
    Variables of `template.yaml`:
      NAME         VALUE  SOURCE
      EMPTY        ""     environment EMPTY, empty: the default of line 6 counts (another in line 7)
      EMPTY_TOKEN  ****   environment EMPTY_TOKEN, empty: the default of line 8 counts
      MIRROR       ****   default of the template (line 2)
      PROXY        ****   environment PROXY
      SIZE         1      default of the template (line 3; another in line 5)
    "#);
}

#[test]
fn flags_that_have_no_effect_together_are_refused() {
    let environment = TestEnvironment::new();
    environment.write("template.yaml", "a: ${A}\n");
    insta::assert_snapshot!(environment.failures(&[
        "generate provider -i mailgun --raw --strict",
        "generate provider -i mailgun --describe --strict",
        "generate yaml --from template.yaml --raw --list-variables",
        "generate yaml --from template.yaml --strict --list-variables",
        "generate cluster c --from template.yaml --strict --list-variables",
    ]), @"
    $ capictl generate provider -i mailgun --raw --strict
    error: `--raw` and `--strict` exclude each other
    hint: see `capictl generate provider --help`

    $ capictl generate provider -i mailgun --describe --strict
    error: `--describe` and `--strict` exclude each other
    hint: see `capictl generate provider --help`

    $ capictl generate yaml --from template.yaml --raw --list-variables
    error: `--raw` and `--list-variables` exclude each other
    hint: see `capictl generate yaml --help`

    $ capictl generate yaml --from template.yaml --strict --list-variables
    error: `--strict` and `--list-variables` exclude each other
    hint: see `capictl generate yaml --help`

    $ capictl generate cluster c --from template.yaml --strict --list-variables
    error: `--strict` and `--list-variables` exclude each other
    hint: see `capictl generate cluster --help`
    ");
}

#[test]
fn explain_comes_before_the_error_about_missing_values() {
    let environment = TestEnvironment::new();
    environment.write("template.yaml", "a: ${SET_BY_NOBODY}\nb: ${PLACE:=here}\n");
    let run = environment.run("generate yaml --from template.yaml --explain");
    insta::assert_snapshot!(run, @"
    status: 1
    ---- stdout
    ---- stderr
    Variables of `template.yaml`:
      NAME           VALUE  SOURCE
      PLACE          here   default of the template (line 2)
      SET_BY_NOBODY  -      not set
    error: cannot render `template.yaml`
      caused by: value for variables [SET_BY_NOBODY] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `SET_BY_NOBODY` is used in line 1
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    ");
}

#[test]
fn explain_knows_what_generate_cluster_sets() {
    let environment = TestEnvironment::new()
        .with("CONTROL_PLANE_MACHINE_COUNT", "3")
        .with("NAMESPACE", "of-another-program");
    environment.write(
        "home/.kube/config",
        "contexts: [{name: c, context: {cluster: c, namespace: current}}]\ncurrent-context: c\n\
         clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n",
    );
    environment.write(
        "template.yaml",
        "kind: ${CLUSTER_NAME}\nspace: ${NAMESPACE}\nv: ${KUBERNETES_VERSION}\nc: ${CONTROL_PLANE_MACHINE_COUNT}\n\
         w: ${WORKER_MACHINE_COUNT}\n",
    );
    let line = "generate cluster c1 --from template.yaml --kubernetes-version v1.36.0 --explain";
    insta::assert_snapshot!(environment.run(line), @"
    status: 0
    ---- stdout
    c: 3
    kind: c1
    metadata:
      namespace: current
    space: current
    v: v1.36.0
    w: 0
    ---- stderr
    Variables of `template.yaml`:
      NAME                         VALUE    SOURCE
      CLUSTER_NAME                 c1       command line
      CONTROL_PLANE_MACHINE_COUNT  3        environment CONTROL_PLANE_MACHINE_COUNT
      KUBERNETES_VERSION           v1.36.0  flag --kubernetes-version
      NAMESPACE                    current  namespace of the kubeconfig
      WORKER_MACHINE_COUNT         0        default of the command
    ");
    let line = "generate cluster c1 --from template.yaml --set KUBERNETES_VERSION=v1.35.0 --set namespace=prod \
                --set WORKER_MACHINE_COUNT=2 --explain";
    insta::assert_snapshot!(environment.run(line), @"
    status: 0
    ---- stdout
    c: 3
    kind: c1
    metadata:
      namespace: prod
    space: prod
    v: v1.35.0
    w: 2
    ---- stderr
    Variables of `template.yaml`:
      NAME                         VALUE    SOURCE
      CLUSTER_NAME                 c1       command line
      CONTROL_PLANE_MACHINE_COUNT  3        environment CONTROL_PLANE_MACHINE_COUNT
      KUBERNETES_VERSION           v1.35.0  --set
      NAMESPACE                    prod     --set
      WORKER_MACHINE_COUNT         2        --set
    ");
    environment.write("values.yaml", "CLUSTER_NAME: lost\nNAMESPACE: lost\nKUBERNETES_VERSION: v1.0.0\nWORKER_MACHINE_COUNT: 7\n");
    let line = "generate cluster c1 --from template.yaml --kubernetes-version v1.36.0 -n prod --worker-machine-count 1 \
                --values values.yaml --explain";
    insta::assert_snapshot!(environment.run(line), @"
    status: 0
    ---- stdout
    c: 3
    kind: c1
    metadata:
      namespace: prod
    space: prod
    v: v1.36.0
    w: 1
    ---- stderr
    Variables of `template.yaml`:
      NAME                         VALUE    SOURCE
      CLUSTER_NAME                 c1       command line
      CONTROL_PLANE_MACHINE_COUNT  3        environment CONTROL_PLANE_MACHINE_COUNT
      KUBERNETES_VERSION           v1.36.0  flag --kubernetes-version
      NAMESPACE                    prod     flag --target-namespace
      WORKER_MACHINE_COUNT         1        flag --worker-machine-count
    ");
}

#[test]
fn a_flag_and_set_must_agree() {
    let environment = TestEnvironment::new();
    environment.write("template.yaml", "kind: ${CLUSTER_NAME}\n");
    insta::assert_snapshot!(environment.failures(&[
        "generate cluster c1 --from template.yaml -n a --set CLUSTER_NAME=c2",
        "generate cluster c1 --from template.yaml -n a --set NAMESPACE=b",
        "generate cluster c1 --from template.yaml -n a --kubernetes-version v1.36.0 --set kubernetes_version=v1.35.0",
        "generate cluster c1 --from template.yaml -n a --worker-machine-count 1 --set WORKER_MACHINE_COUNT=2",
        "generate cluster c1 --from template.yaml -n a --set WORKER_MACHINE_COUNT=s3cret",
        "generate cluster c1 --from template.yaml -n a --set CONTROL_PLANE_MACHINE_COUNT=0",
        "generate cluster c1 --from template.yaml --set NAMESPACE=No",
    ]), @"
    $ capictl generate cluster c1 --from template.yaml -n a --set CLUSTER_NAME=c2
    error: the cluster's name on the command line and `--set CLUSTER_NAME` have different values
    hint: leave one of them out

    $ capictl generate cluster c1 --from template.yaml -n a --set NAMESPACE=b
    error: `--target-namespace` and `--set NAMESPACE` have different values
    hint: leave one of them out

    $ capictl generate cluster c1 --from template.yaml -n a --kubernetes-version v1.36.0 --set kubernetes_version=v1.35.0
    error: `--kubernetes-version` and `--set KUBERNETES_VERSION` have different values
    hint: leave one of them out

    $ capictl generate cluster c1 --from template.yaml -n a --worker-machine-count 1 --set WORKER_MACHINE_COUNT=2
    error: `--worker-machine-count` and `--set WORKER_MACHINE_COUNT` have different values
    hint: leave one of them out

    $ capictl generate cluster c1 --from template.yaml -n a --set WORKER_MACHINE_COUNT=s3cret
    error: invalid value for WORKER_MACHINE_COUNT set: it is no number
    hint: the value comes from: --set

    $ capictl generate cluster c1 --from template.yaml -n a --set CONTROL_PLANE_MACHINE_COUNT=0
    error: invalid ControlPlaneMachineCount. Please use a number greater than or equal to 1
    hint: the value comes from: --set

    $ capictl generate cluster c1 --from template.yaml --set NAMESPACE=No
    error: invalid target-namespace: only lower-case letters, digits and `-` are allowed, with a letter or digit at both ends
    hint: the value comes from: --set
    ");
    let line =
        "generate cluster c1 --from template.yaml -n a --set CLUSTER_NAME=c1 --set NAMESPACE=a";
    assert_eq!(environment.run(line).status, 0);
}

#[test]
fn set_of_what_no_template_has_is_warned_of() {
    let environment = TestEnvironment::new().with("AWS_REGION", "x");
    environment.write("template.yaml", "kind: ${AWS_REGION}\n");
    let line = "generate yaml --from template.yaml --set AWS_REGON=y --set OTHER_THING=z --set aws_region=w";
    insta::assert_snapshot!(environment.run(line), @"
    status: 0
    ---- stdout
    kind: w
    ---- stderr
    warning: the template has no variable `AWS_REGON`, which `--set` sets; did you mean `AWS_REGION`?
    warning: the template has no variable `OTHER_THING`, which `--set` sets
    ");
    let line = "generate cluster c -n d --from template.yaml --set AWS_REGON=y --set NAMESPACE=d";
    insta::assert_snapshot!(environment.run(line), @"
    status: 0
    ---- stdout
    kind: x
    metadata:
      namespace: d
    ---- stderr
    warning: the template has no variable `AWS_REGON`, which `--set` sets; did you mean `AWS_REGION`?
    ");
    let run = environment.run("generate cluster c -n d --from absent.yaml --set AWS_REGON=y");
    assert!(!run.stderr.contains("warning"), "{run}");
}

#[test]
fn near_names_that_are_set_are_named_for_missing_ones() {
    let environment = TestEnvironment::new()
        .with("AWS_REGION", "s3cret")
        .with("vpc_id", "s3cret")
        .with("SUBNET_IDS", "s3cret");
    environment.write(CONFIG, "GCP_PROJEKT: s3cret\nnested: {a: b}\n");
    environment.write("values.yaml", "DOCKER_NETWORKS: s3cret\n");
    environment.write(
        "template.yaml",
        "a: ${AWS_REGON}\nb: ${VPC_ID}\nc: ${GCP_PROJECT}\nd: ${DOCKER_NETWORK}\ne: ${SUBNET_ID}\nf: ${FLAVOR}\n\
         g: ${AWS_REGON}\nh: ${NOTHING_NEAR}\n",
    );
    let line = "generate yaml --from template.yaml --values values.yaml --set FLAVOUR=s3cret";
    insta::assert_snapshot!(environment.run(line), @"
    status: 1
    ---- stdout
    ---- stderr
    warning: the template has no variable `FLAVOUR`, which `--set` sets; did you mean `FLAVOR`?
    error: cannot render `template.yaml`
      caused by: value for variables [AWS_REGON, DOCKER_NETWORK, FLAVOR, GCP_PROJECT, NOTHING_NEAR, SUBNET_ID, VPC_ID] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `AWS_REGON` is used in lines 1, 7; did you mean `AWS_REGION`, which is set?
    hint: `DOCKER_NETWORK` is used in line 4; did you mean `DOCKER_NETWORKS`, which is set?
    hint: `FLAVOR` is used in line 6; did you mean `FLAVOUR`, which is set?
    hint: `GCP_PROJECT` is used in line 3; did you mean `GCP_PROJEKT`, which is set?
    hint: `NOTHING_NEAR` is used in line 8
    hint: `SUBNET_ID` is used in line 5; did you mean `SUBNET_IDS`, which is set?
    hint: `VPC_ID` is used in line 2; the environment has `vpc_id`, but only `VPC_ID` is seen there
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    ");
}

#[test]
fn a_missing_version_is_set_by_its_flag() {
    let environment = TestEnvironment::new();
    environment.write(
        "template.yaml",
        "a: ${KUBERNETES_VERSION}\nb: ${CLUSTER_NAME}\nc: ${NAMESPACE}\n",
    );
    insta::assert_snapshot!(environment.failures(&[
        "generate cluster c -n d --from template.yaml",
        "generate yaml --from template.yaml",
    ]), @"
    $ capictl generate cluster c -n d --from template.yaml
    error: cannot render `template.yaml`
      caused by: value for variables [KUBERNETES_VERSION] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `KUBERNETES_VERSION` is used in line 1; `--kubernetes-version` sets it
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too

    $ capictl generate yaml --from template.yaml
    error: cannot render `template.yaml`
      caused by: value for variables [CLUSTER_NAME, KUBERNETES_VERSION, NAMESPACE] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `CLUSTER_NAME` is used in line 2; `capictl generate cluster NAME` sets it
    hint: `KUBERNETES_VERSION` is used in line 1; `capictl generate cluster NAME --kubernetes-version VERSION` sets it
    hint: `NAMESPACE` is used in line 3; `capictl generate cluster NAME -n NAMESPACE` sets it
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    ");
}

#[test]
fn a_version_is_checked_wherever_it_comes_from() {
    let environment = TestEnvironment::new();
    environment.write("values.yaml", "KUBERNETES_VERSION: 1.30\n");
    environment.write("template.yaml", "kind: ${KUBERNETES_VERSION}\n");
    environment.write("without.yaml", "kind: A\n");
    insta::assert_snapshot!(environment.failures(&[
        "generate cluster c -n d --from template.yaml --kubernetes-version 1.30",
        "generate cluster c -n d --from template.yaml --set KUBERNETES_VERSION=latest",
        "generate cluster c -n d --from template.yaml --values values.yaml",
    ]), @"
    $ capictl generate cluster c -n d --from template.yaml --kubernetes-version 1.30
    error: invalid KubernetesVersion. Please use a semantic version number
      caused by: `1.30` is not a semantic version
    hint: write it as `v1.2.3`, three numbers without leading zeros

    $ capictl generate cluster c -n d --from template.yaml --set KUBERNETES_VERSION=latest
    error: invalid KubernetesVersion. Please use a semantic version number
      caused by: the value of `KUBERNETES_VERSION` is not a semantic version
    hint: the value comes from: --set
    hint: write it as `v1.2.3`, three numbers without leading zeros

    $ capictl generate cluster c -n d --from template.yaml --values values.yaml
    error: invalid KubernetesVersion. Please use a semantic version number
      caused by: the value of `KUBERNETES_VERSION` is not a semantic version
    hint: the value comes from: --values values.yaml
    hint: write it as `v1.2.3`, three numbers without leading zeros
    ");
    let environment = environment.with("KUBERNETES_VERSION", "stable");
    environment.write(CONFIG, "KUBERNETES_VERSION: v1.36.0\n");
    let line = "generate cluster c -n d --from template.yaml";
    insta::assert_snapshot!(environment.run(line), @"
    status: 1
    ---- stdout
    ---- stderr
    error: invalid KubernetesVersion. Please use a semantic version number
      caused by: the value of `KUBERNETES_VERSION` is not a semantic version
    hint: the value comes from: environment KUBERNETES_VERSION
    hint: write it as `v1.2.3`, three numbers without leading zeros
    ");
    // Nobody asks for it.
    let run = environment.run("generate cluster c -n d --from without.yaml");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    let run = environment.run("generate cluster c -n d --from template.yaml --list-variables");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
}

#[test]
fn a_version_in_the_file_is_checked_too() {
    let environment = TestEnvironment::new();
    environment.write(CONFIG, "KUBERNETES_VERSION: s3cret\n");
    environment.write("template.yaml", "kind: ${KUBERNETES_VERSION}\n");
    let lines = ["generate cluster c -n d --from template.yaml"];
    insta::assert_snapshot!(environment.failures(&lines), @"
    $ capictl generate cluster c -n d --from template.yaml
    error: invalid KubernetesVersion. Please use a semantic version number
      caused by: the value of `KUBERNETES_VERSION` is not a semantic version
    hint: the value comes from: config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml
    hint: write it as `v1.2.3`, three numbers without leading zeros
    ");
}

#[test]
fn a_version_without_v_is_warned_of() {
    let environment = TestEnvironment::new().with("KUBERNETES_VERSION", "1.30.2");
    environment.write("template.yaml", "kind: ${KUBERNETES_VERSION}\n");
    environment.write("without.yaml", "kind: A\n");
    insta::assert_snapshot!(environment.run("generate cluster c -n d --from template.yaml"), @"
    status: 0
    ---- stdout
    kind: 1.30.2
    metadata:
      namespace: d
    ---- stderr
    warning: the control plane wants `v1.30.2`, but `KUBERNETES_VERSION` is `1.30.2` (environment KUBERNETES_VERSION)
    ");
    let line = "generate cluster c -n d --from without.yaml --kubernetes-version 1.30.2";
    assert_eq!(environment.run(line).stderr, "");
}

#[test]
fn variables_are_listed_as_json_with_their_places() {
    let environment = TestEnvironment::new();
    environment.write(
        "template.yaml",
        "kind: ${KIND}\n---\nspec:\n  # ${KIND}\n  names: [a, \"${KIND}-${SUFFIX:=x}\"]\n  version: ${KUBERNETES_VERSION}\n",
    );
    let line = "generate yaml --from template.yaml --list-variables -o json";
    insta::assert_snapshot!(environment.run(line), @r#"
    status: 0
    ---- stdout
    [
      {
        "name": "KIND",
        "default": null,
        "required": true,
        "uses": [
          {
            "document": 1,
            "path": "kind",
            "line": 1
          },
          {
            "document": 2,
            "path": null,
            "line": 4
          },
          {
            "document": 2,
            "path": "spec.names[1]",
            "line": 5
          }
        ]
      },
      {
        "name": "KUBERNETES_VERSION",
        "default": null,
        "required": true,
        "uses": [
          {
            "document": 2,
            "path": "spec.version",
            "line": 6
          }
        ]
      },
      {
        "name": "SUFFIX",
        "default": "x",
        "required": false,
        "uses": [
          {
            "document": 2,
            "path": "spec.names[1]",
            "line": 5
          }
        ]
      }
    ]
    ---- stderr
    "#);
    let line = "generate cluster c -n d --from template.yaml --list-variables --output=json --set KUBERNETES_VERSION=v1.36.0";
    let run = environment.run(line);
    let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(list[1]["name"], "KUBERNETES_VERSION", "{run}");
    assert_eq!(
        (&list[1]["default"], &list[1]["required"]),
        (&"v1.36.0".into(), &false.into())
    );
    assert_eq!(list[1]["uses"][0]["path"], "spec.version");
    environment.write("none.yaml", "a: b\n");
    let run = environment.run("generate yaml --from none.yaml --list-variables -o json");
    assert_eq!(run.stdout, "[]\n");
    let run = environment.run("generate yaml --from none.yaml --list-variables -o text");
    assert_eq!(run.stdout, "\n");
}

#[test]
fn the_list_as_json_has_what_is_within_references_and_keys_as_they_are_written() {
    let environment = TestEnvironment::new();
    environment.write(
        "home/.kube/config",
        "contexts: [{name: c, context: {cluster: c, namespace: current}}]\ncurrent-context: c\n\
         clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n",
    );
    environment.write(
        "template.yaml",
        "kind: ${NAMESPACE}\nlabels:\n  ${K:=a}: ${OUTER:=${INNER:=in}-net}\n",
    );
    let line = "generate cluster c --from template.yaml --list-variables -o json";
    insta::assert_snapshot!(environment.run(line), @r#"
    status: 0
    ---- stdout
    [
      {
        "name": "INNER",
        "default": "in",
        "required": false,
        "uses": [
          {
            "document": 1,
            "path": "labels.${K}",
            "line": 3
          }
        ]
      },
      {
        "name": "K",
        "default": "a",
        "required": false,
        "uses": [
          {
            "document": 1,
            "path": "labels.${K}",
            "line": 3
          }
        ]
      },
      {
        "name": "NAMESPACE",
        "default": null,
        "required": false,
        "uses": [
          {
            "document": 1,
            "path": "kind",
            "line": 1
          }
        ]
      },
      {
        "name": "OUTER",
        "default": "${INNER}-net",
        "required": false,
        "uses": [
          {
            "document": 1,
            "path": "labels.${K}",
            "line": 3
          }
        ]
      }
    ]
    ---- stderr
    "#);
    let line = "generate cluster c --from template.yaml --list-variables";
    insta::assert_snapshot!(environment.run(line), @r#"
    status: 0
    ---- stdout

    Optional Variables:
      - K          (defaults to "a")
      - NAMESPACE  (defaults to current Namespace in the KubeConfig file)
      - OUTER      (defaults to "${INNER}-net")

    ---- stderr
    "#);
    environment.write("nested.yaml", "a: ${A:=${B}}\n");
    let line = "generate yaml --from nested.yaml --list-variables";
    assert_eq!(environment.run(line).stdout, "Variables:\n  - A\n");
}

#[test]
fn generate_provider_takes_values_too() {
    let environment = TestEnvironment::new();
    environment.write(
        "values.yaml",
        "MAILGUN_DOMAIN: mg.example.com\nMAIL_RECIPIENT: me@example.com\n",
    );
    let line =
        "generate provider -i mailgun --values values.yaml --set MAILGUN_API_KEY=s3cret --explain";
    let run = environment.run(line);
    assert_eq!(run.status, 0, "{run}");
    insta::assert_snapshot!(run.stderr, @"
    Variables of `embedded:///infrastructure-mailgun/v0.1.0/infrastructure-components.yaml`:
      NAME              VALUE                    SOURCE
      MAILGUN_API_BASE  https://api.mailgun.net  default of the template (line 928)
      MAILGUN_API_KEY   ****                     --set
      MAILGUN_DOMAIN    mg.example.com           --values values.yaml
      MAIL_RECIPIENT    me@example.com           --values values.yaml
    ");
}

/// clusterctl asks for `MY_VAR` and looks at `my_var`, so a key with `-` is out of reach.
#[test]
fn a_key_that_no_reference_can_name_is_told() {
    let environment = TestEnvironment::new();
    environment.write(CONFIG, "my-var: 6\n");
    environment.write("t.yaml", "a: ${MY_VAR}\n");
    insta::assert_snapshot!(environment.run("generate yaml --from t.yaml"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot render `t.yaml`
      caused by: value for variables [MY_VAR] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `MY_VAR` is used in line 1; `MY-VAR` is set, but no reference can name it: rename it to `MY_VAR`
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    ");
}
