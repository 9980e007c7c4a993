//! `capictl generate provider` from a local repository.

use crate::environment::TestEnvironment;

pub const COMPONENTS: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: example-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: example-system}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: manager
        image: registry.example.com/manager:v1.2.3
        args: ['--token=${EXAMPLE_TOKEN}']
";
pub const METADATA: &str = "\
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 1, minor: 2, contract: v1beta2}]
";

/// Returns an environment with a provider `example`, v1.2.3, in a folder.
pub fn with_provider() -> TestEnvironment {
    with_components(COMPONENTS)
}

/// Returns an environment as [`with_provider`] does, with other components.
pub fn with_components(components: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    let release = "repository/infrastructure-example/v1.2.3";
    let components = environment.write(format!("{release}/components.yaml"), components);
    environment.write(format!("{release}/metadata.yaml"), METADATA);
    let config = format!(
        "providers:\n- {{name: example, type: InfrastructureProvider, url: \"{}\"}}\n",
        components.display()
    );
    environment.write("home/.config/cluster-api/clusterctl.yaml", &config);
    environment
}

#[test]
fn the_description_has_variables_and_images() {
    insta::assert_snapshot!(with_provider().run("generate provider -i example --describe"), @"
    status: 0
    ---- stdout
    Name:               example
    Type:               InfrastructureProvider
    URL:                [FOLDER]/repository/infrastructure-example/
    Version:            v1.2.3
    File:               components.yaml
    TargetNamespace:    example-system
    Variables:
      - EXAMPLE_TOKEN
    Images:
      - registry.example.com/manager:v1.2.3

    ---- stderr
    ");
}

#[test]
fn raw_leaves_the_variables() {
    let environment = with_provider().with("EXAMPLE_TOKEN", "abc");
    let raw = environment.run("generate provider -iexample:v1.2.3 --raw -n other");
    assert!(raw.stdout.contains("--token=${EXAMPLE_TOKEN}"), "{raw}");
    assert!(raw.stdout.contains("namespace: other"), "{raw}");
    let rendered = environment.run("generate provider --infrastructure=example --raw=false");
    assert!(rendered.stdout.contains("--token=abc"), "{rendered}");
    assert!(
        rendered.stdout.contains("namespace: example-system"),
        "{rendered}"
    );
}

#[test]
fn the_embedded_provider_is_described_without_the_network() {
    let environment = TestEnvironment::new().with("HTTPS_PROXY", "http://127.0.0.1:9");
    let described = environment.run("generate provider -i mailgun --describe");
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    let described = described.to_string().replace(version, "[VERSION]");
    insta::assert_snapshot!(described, @"
    status: 0
    ---- stdout
    Name:               mailgun
    Type:               InfrastructureProvider
    URL:                embedded:///infrastructure-mailgun/
    Version:            [VERSION]
    File:               infrastructure-components.yaml
    TargetNamespace:    cluster-api-provider-mailgun-system
    Variables:
      - MAILGUN_API_BASE
      - MAILGUN_API_KEY
      - MAILGUN_DOMAIN
      - MAIL_RECIPIENT
    Images:
      - localhost:5000/cluster-api-provider-mailgun:[VERSION]

    ---- stderr
    ");
}
