//! `capictl config repositories`

use crate::environment::TestEnvironment;
use crate::resolution;
use crate::support::github::Failure;

#[test]
fn the_list_has_a_header_and_a_line_for_each_provider() {
    let run = TestEnvironment::new().run("config repositories");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let mut lines = run
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(lines.next().unwrap(), ["NAME", "TYPE", "URL", "FILE"]);
    let core = [
        "cluster-api",
        "CoreProvider",
        "https://github.com/kubernetes-sigs/cluster-api/releases/latest/",
        "core-components.yaml",
    ];
    assert_eq!(lines.next().unwrap(), core);
    assert!(lines.all(|line| line.len() == 4));
}

#[test]
fn json_and_yaml_hold_the_same() {
    let environment = TestEnvironment::new();
    let json = environment.run("config repositories -o json").stdout;
    let json: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json[0],
        serde_json::json!({
            "File": "core-components.yaml",
            "Name": "cluster-api",
            "ProviderType": "CoreProvider",
            "URL": "https://github.com/kubernetes-sigs/cluster-api/releases/latest/",
        })
    );
    let yaml = environment.run("config repositories --output=yaml").stdout;
    let first = "\
- File: core-components.yaml
  Name: cluster-api
  ProviderType: CoreProvider
  URL: https://github.com/kubernetes-sigs/cluster-api/releases/latest/
";
    assert!(yaml.starts_with(first), "{yaml}");
    assert_eq!(yaml.matches("- File: ").count(), json.len());
}

#[test]
fn names_choose_providers() {
    let environment = TestEnvironment::new();
    insta::assert_snapshot!(environment.run("config repositories mailgun bootstrap-kubeadm -o yaml"), @"
    status: 0
    ---- stdout
    - File: bootstrap-components.yaml
      Name: kubeadm
      ProviderType: BootstrapProvider
      URL: https://github.com/kubernetes-sigs/cluster-api/releases/latest/
    - File: infrastructure-components.yaml
      Name: mailgun
      ProviderType: InfrastructureProvider
      URL: embedded:///infrastructure-mailgun/latest/
    ---- stderr
    ");
    insta::assert_snapshot!(environment.failures(&["config repositories kubeadn"]), @"
    $ capictl config repositories kubeadn
    error: no provider is named `kubeadn`
    hint: did you mean `kubeadm`?
    ");
}

#[test]
fn versions_are_asked_for_side_by_side_and_a_failure_stays_in_its_row() {
    let (github, environment) = resolution::environment();
    github.fail("acme/broken", Failure::Status(404), usize::MAX);
    environment.write(
        "home/.config/cluster-api/clusterctl.yaml",
        "providers:\n\
         - {name: demo, type: InfrastructureProvider, url: 'https://github.com/acme/demo/releases/latest/components.yaml'}\n\
         - {name: demo, type: IPAMProvider, url: 'https://github.com/acme/demo/releases/v1.9.0/components.yaml'}\n\
         - {name: broken, type: AddonProvider, url: 'https://github.com/acme/broken/releases/latest/c.yaml'}\n",
    );
    insta::assert_snapshot!(environment.run("config repositories demo broken --versions"), @r#"
    status: 0
    ---- stdout
    NAME      TYPE                     URL                                               FILE              VERSION   NEWEST BY CONTRACT
    demo      InfrastructureProvider   https://github.com/acme/demo/releases/latest/     components.yaml   v1.10.5   v1beta2 v1.10.5, v1beta1 v1.9.0
    demo      IPAMProvider             https://github.com/acme/demo/releases/v1.9.0/     components.yaml   v1.9.0    v1beta2 v1.10.5, v1beta1 v1.9.0
    broken    AddonProvider            https://github.com/acme/broken/releases/latest/   c.yaml            -         failed: `https://api.github.com/repos/acme/broken/releases` does not exist
    ---- stderr
    warning: `infrastructure-demo` v1.10.6 is passed over, v1.10.5 is taken for the latest: it has no `metadata.yaml`
    warning: failed to get latest release of "addon-broken": `https://api.github.com/repos/acme/broken/releases` does not exist
    hint: if the repository is private, set `GITHUB_TOKEN`
    "#);
    let urls = github.take_urls();
    let lists = urls
        .iter()
        .filter(|url| url.contains("acme/demo/releases?"));
    assert_eq!(lists.count(), 1, "{urls:?}");

    let json = environment.run("config repositories demo broken --versions -o json");
    assert_eq!(json.status, 0, "{json}");
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json[0]["Version"], "v1.10.5");
    assert_eq!(
        json[0]["Contracts"],
        serde_json::json!([
            {"Contract": "v1beta2", "Version": "v1.10.5"},
            {"Contract": "v1beta1", "Version": "v1.9.0"},
        ])
    );
    assert_eq!(json[1]["Version"], "v1.9.0");
    assert_eq!(json[2]["Version"], serde_json::Value::Null);
    assert!(
        json[2]["Error"]
            .as_str()
            .unwrap()
            .contains("does not exist")
    );
}

#[test]
fn versions_of_which_none_is_known_are_a_failure() {
    let (github, environment) = resolution::environment();
    github.fail("api.github.com", Failure::Status(404), usize::MAX);
    insta::assert_snapshot!(environment.failures(&["config repositories demo --versions"]), @r#"
    $ capictl config repositories demo --versions
    error: failed to get latest release of "infrastructure-demo"
      caused by: `https://api.github.com/repos/acme/demo/releases` does not exist
    hint: if the repository is private, set `GITHUB_TOKEN`
    "#);
}

/// Whoever uses it is told, and `--versions` shows it.
#[test]
fn a_deprecated_provider_is_told_of() {
    let environment = TestEnvironment::new();
    let lines = [
        "generate provider --infrastructure sidero:v0.6.0 --offline",
        "generate cluster c -n d --infrastructure sidero:v0.6.0 --offline",
        "config repositories --versions sidero --offline",
    ];
    let report: Vec<String> = lines
        .iter()
        .map(|line| format!("$ capictl {line}\n{}", environment.run(line)))
        .collect();
    insta::assert_snapshot!(report.join("\n"), @r#"
    $ capictl generate provider --infrastructure sidero:v0.6.0 --offline
    status: 1
    ---- stdout
    ---- stderr
    warning: `infrastructure-sidero` is deprecated: Sidero Labs no longer develops Sidero Metal and points to Omni and its provider for bare metal
    error: failed to get provider components for the "sidero:v0.6.0" provider
      caused by: failed to read "infrastructure-components.yaml" from provider's repository "infrastructure-sidero"
      caused by: `https://github.com/siderolabs/sidero/releases/download/v0.6.0/infrastructure-components.yaml` is not in the download cache, and `--offline` keeps from fetching it
    hint: run the command once without `--offline`; `capictl cache list` shows what is there

    $ capictl generate cluster c -n d --infrastructure sidero:v0.6.0 --offline
    status: 1
    ---- stdout
    ---- stderr
    warning: `infrastructure-sidero` is deprecated: Sidero Labs no longer develops Sidero Metal and points to Omni and its provider for bare metal
    error: failed to read "cluster-template.yaml" from provider's repository "infrastructure-sidero"
      caused by: `https://github.com/siderolabs/sidero/releases/download/v0.6.0/cluster-template.yaml` is not in the download cache, and `--offline` keeps from fetching it
    hint: run the command once without `--offline`; `capictl cache list` shows what is there

    $ capictl config repositories --versions sidero --offline
    status: 1
    ---- stdout
    ---- stderr
    error: failed to get latest release of "infrastructure-sidero"
      caused by: `https://api.github.com/repos/siderolabs/sidero/releases` is not in the download cache, and `--offline` keeps from fetching it
    hint: run the command once without `--offline`; `capictl cache list` shows what is there
    "#);
}

/// As clusterctl prints them; where a path leads nowhere, other providers are of use all the same.
#[test]
fn addresses_are_as_they_are_written() {
    let environment = TestEnvironment::new();
    let entry = |name: &str, url: &str| {
        format!(
            "- {{name: {name}, type: InfrastructureProvider, url: '{url}/infrastructure-{name}/v1.0.0/c.yaml'}}\n"
        )
    };
    let entries = [
        entry("nowhere", "$NONE"),
        entry("beside", "./releases"),
        entry("home", "~"),
    ];
    let config = format!("providers:\n{}", entries.concat());
    environment.write("home/.config/cluster-api/clusterctl.yaml", &config);
    insta::assert_snapshot!(environment.run("config repositories nowhere beside home"), @"
    status: 0
    ---- stdout
    NAME      TYPE                     URL                                        FILE
    beside    InfrastructureProvider   ./releases/infrastructure-beside/v1.0.0/   c.yaml
    home      InfrastructureProvider   ~/infrastructure-home/v1.0.0/              c.yaml
    nowhere   InfrastructureProvider   $NONE/infrastructure-nowhere/v1.0.0/       c.yaml
    ---- stderr
    ");
    let run = environment.run("config repositories nowhere beside --versions");
    insta::assert_snapshot!(run, @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: no repository tells its versions
      - failed to get latest release of "infrastructure-beside": the folder `[FOLDER]/home/.config/cluster-api/releases/infrastructure-beside` does not exist
      - the `url` of `infrastructure-nowhere` in `[FOLDER]/home/.config/cluster-api/clusterctl.yaml` cannot be used: `$NONE` leads nowhere: the environment variable `NONE` is not set
    "#);
}
