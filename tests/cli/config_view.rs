//! `capictl config view`

use crate::environment::{Run, TestEnvironment};

const CONFIG: &str = "\
providers:
- {name: aws, type: InfrastructureProvider, url: 'https://me:pa55@mirror.example/infrastructure-aws/v1.0.0/c.yaml'}
- {name: own, type: IPAMProvider, url: /srv/ipam-own/v1.0.0/c.yaml}
images:
  all: {repository: registry.example, tag: v9}
cert-manager: {timeout: 5m}
overridesFolder: ${HOME}/patches
github-token: ghp_file
AWS_REGION: eu-west-1
AWS_B64ENCODED_CREDENTIALS: c2VjcmV0
GREETING: \"one\\ntwo\"
ENDPOINT: https://me:pa55@api.example/v1?key=abc
";

/// Returns what a run prints with ` | ` between columns, whose widths depend on where the test runs.
fn columns(run: &Run) -> String {
    let text = run.to_string();
    let lines = text.lines().map(|line| {
        let cells = line.split("   ").map(str::trim);
        let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        cells.join(" | ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn environment() -> TestEnvironment {
    let environment = TestEnvironment::new()
        .with("AWS_REGION", "us-east-1")
        .with("HTTPS_PROXY", "http://me:pa55@127.0.0.1:9")
        .with("no_proxy", "localhost");
    environment.write("home/.config/cluster-api/clusterctl.yaml", CONFIG);
    environment.write(
        "home/.kube/config",
        "contexts: [{name: here}]\ncurrent-context: here\n",
    );
    environment
}

#[test]
fn everything_in_use_is_shown_with_its_source() {
    let run = environment().run("config view");
    insta::assert_snapshot!(columns(&run), @"
    status: 0
    ---- stdout
    FILES | VALUE | SOURCE
    configuration file | [FOLDER]/home/.config/cluster-api/clusterctl.yaml | first one found
    looked for | [FOLDER]/home/.config/cluster-api/clusterctl.* | default
    looked for | [FOLDER]/home/.cluster-api/clusterctl.* | default
    overrides folder | [FOLDER]/home/patches | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml (does not exist)
    cache folder | [FOLDER]/home/.cache/capictl | default (does not exist)

    CLUSTER | VALUE | SOURCE
    kubeconfig | [FOLDER]/home/.kube/config | default
    context | here | kubeconfig

    SETTINGS | VALUE | SOURCE
    CLUSTERCTL_LOG_LEVEL | - | default
    CLUSTER_TOPOLOGY | - | default
    offline | false | default

    NETWORK | VALUE | SOURCE
    HTTPS_PROXY | http://127.0.0.1:9 | environment HTTPS_PROXY
    no_proxy | localhost | environment no_proxy

    TOKENS | VALUE | SOURCE
    github.com | **** | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml
    GitLab | - | default

    CERT-MANAGER | VALUE | SOURCE
    url | https://github.com/cert-manager/cert-manager/releases/v1.21.1/cert-manager.yaml | default
    version | v1.21.1 | default
    timeout | 300s | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml
    externallyProvisioned | false | default

    PROVIDERS | VALUE | SOURCE
    infrastructure-aws | https://mirror.example/infrastructure-aws/v1.0.0/c.yaml | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml (replaces https://github.com/kubernetes-sigs/cluster-api-provider-aws/releases/latest/infrastructure-components.yaml)
    ipam-own | /srv/ipam-own/v1.0.0/c.yaml | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml (added)

    IMAGES | VALUE | SOURCE
    all | repository=registry.example tag=v9 | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml

    VARIABLES | VALUE | SOURCE
    AWS_B64ENCODED_CREDENTIALS | **** | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml
    AWS_REGION | us-east-1 | environment AWS_REGION (the value in the configuration file does not count)
    ENDPOINT | https://api.example/v1 | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml
    GREETING | one… | config file [FOLDER]/home/.config/cluster-api/clusterctl.yaml
    ---- stderr
    ");
}

#[test]
fn nothing_need_be_there() {
    let run = TestEnvironment::new().run("config view");
    insta::assert_snapshot!(columns(&run), @"
    status: 0
    ---- stdout
    FILES | VALUE | SOURCE
    configuration file | - | default
    looked for | [FOLDER]/home/.config/cluster-api/clusterctl.* | default
    looked for | [FOLDER]/home/.cluster-api/clusterctl.* | default
    overrides folder | - | default (none of the usual folders has `overrides`)
    cache folder | [FOLDER]/home/.cache/capictl | default (does not exist)

    CLUSTER | VALUE | SOURCE
    kubeconfig | [FOLDER]/home/.kube/config | default (does not exist)
    context | - | kubeconfig (there is no kubeconfig; in a Pod its own credentials count)

    SETTINGS | VALUE | SOURCE
    CLUSTERCTL_LOG_LEVEL | - | default
    CLUSTER_TOPOLOGY | - | default
    offline | false | default

    TOKENS | VALUE | SOURCE
    github.com | - | default
    GitLab | - | default

    CERT-MANAGER | VALUE | SOURCE
    url | https://github.com/cert-manager/cert-manager/releases/v1.21.1/cert-manager.yaml | default
    version | v1.21.1 | default
    timeout | 600s | default
    externallyProvisioned | false | default
    ---- stderr
    ");
}

#[test]
fn flags_go_before_everything() {
    let environment = environment().with("KUBECONFIG", "/none");
    environment.write("other.yaml", "A: b\n");
    environment.write("kubeconfig", "contexts: [{name: there}]\n");
    let line = "config view --config other.yaml --kubeconfig kubeconfig --kubeconfig-context there --offline -o json";
    let run = environment.run(line);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let view: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let entry = |part: &str, name: &str| {
        let entries = view[part].as_array().unwrap().iter();
        let mut entries = entries.filter(|entry| entry["name"] == name);
        let entry = entries.next().unwrap();
        format!("{} from {}", entry["value"], entry["source"])
    };
    for (part, name, expected) in [
        (
            "files",
            "configuration file",
            r#""other.yaml" from "flag --config""#,
        ),
        (
            "cluster",
            "kubeconfig",
            r#""kubeconfig" from "flag --kubeconfig""#,
        ),
        (
            "cluster",
            "context",
            r#""there" from "flag --kubeconfig-context""#,
        ),
        ("settings", "offline", r#""true" from "flag --offline""#),
        ("variables", "A", r#""b" from "config file other.yaml""#),
    ] {
        assert_eq!(entry(part, name), expected);
    }
}

#[test]
fn json_and_yaml_hold_the_same_and_no_format_shows_a_secret() {
    let environment = environment().with("GITHUB_TOKEN", "ghp_variable");
    let json = environment.run("config view -o json");
    let yaml = environment.run("config view -o yaml -v 9");
    let text = environment.run("config view");
    let names = |text: &str| text.matches("name").count();
    assert_eq!(names(&json.stdout), names(&yaml.stdout));
    for run in [json, yaml, text] {
        assert_eq!(run.status, 0, "{run}");
        for secret in ["pa55", "ghp_", "c2VjcmV0", "key=abc"] {
            assert!(!run.to_string().contains(secret), "{secret}: {run}");
        }
    }
}

#[test]
fn a_kubeconfig_that_cannot_be_read_is_no_reason_to_show_nothing() {
    let environment = environment();
    environment.write("home/.kube/config", "contexts: [");
    let run = environment.run("config view");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let mut lines = run.stdout.lines();
    let context = lines.find(|line| line.starts_with("context ")).unwrap();
    assert!(context.contains("[FOLDER]/home/.kube/config"), "{context}");
}
