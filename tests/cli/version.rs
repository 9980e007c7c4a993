//! `capictl version`

use crate::environment::TestEnvironment;

const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

#[test]
fn every_format_has_the_version() {
    let environment = TestEnvironment::new();
    assert_eq!(
        environment.run("version -o short").stdout,
        format!("{VERSION}\n")
    );
    let text = environment.run("version").stdout;
    assert!(text.starts_with("capictl version: {Major:"), "{text}");
    assert!(
        text.contains(&format!("GitVersion:\"{VERSION}\"")),
        "{text}"
    );
    assert_eq!(environment.run("version --output=").stdout, text);

    let json: serde_json::Value =
        serde_json::from_str(&environment.run("version -o json").stdout).unwrap();
    assert_eq!(json["capictl"]["gitVersion"], VERSION);
    assert_eq!(json["clusterctl"]["gitVersion"], "v1.14.0");
    let yaml = environment.run("version -oyaml").stdout;
    assert!(
        yaml.contains(&format!("  gitVersion: {VERSION}\n")),
        "{yaml}"
    );
    assert!(yaml.contains("\nclusterctl:\n"), "{yaml}");
}

#[test]
fn the_version_needs_no_configuration() {
    let environment = TestEnvironment::new().with("CLUSTERCTL_DISABLE_VERSIONCHECK", "true");
    environment.write("home/.config/cluster-api/clusterctl.yaml", "][");
    let run = environment.run("version --config missing.yaml");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}
