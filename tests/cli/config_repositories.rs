//! `capictl config repositories`

use crate::environment::TestEnvironment;

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
