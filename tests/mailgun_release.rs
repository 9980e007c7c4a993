//! The files of the Mailgun provider: written from the Rust types and the constants, or checked against them.

use std::path::Path;
use std::{env, fs};

use capictl::controllers::mailgun::{api, release};
use capictl::model::{Object, object};
use serde_json::json;

const FOLDER: &str = "templates/mailgun";
const REFRESH: &str = "UPDATE=1 cargo test --test mailgun_release";
const NAMESPACE: &str = "cluster-api-provider-mailgun-system";

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Holds a generated file against what is there, or writes it when that is asked for.
fn ensure_current(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(FOLDER)
        .join(file);
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "`{FOLDER}/{file}` is stale, refresh it: `{REFRESH}`"
    );
}

#[test]
fn the_components_are_those_of_the_types_and_the_constants() {
    ensure_current(release::COMPONENTS_FILE, &render_components());
}

fn render_components() -> String {
    let source = read(&format!("{FOLDER}/source/components.yaml"));
    let source = source.replace("@IMAGE@", &release::image());
    let (namespace, others) = source.split_once("---\n").unwrap();
    format!(
        "# Written by a test from `source/components.yaml` and the Rust types; refresh it with `{REFRESH}`.\n\
         {namespace}---\n{}\n---\n{others}",
        object::render_objects(&crds())
    )
}

/// Returns the CRDs as the API server would be given them, with the provider's label.
fn crds() -> Vec<Object> {
    api::crds()
        .iter()
        .map(|crd| {
            let mut object: Object = serde_json::from_value(json!(crd)).unwrap();
            object.set_labels([("cluster.x-k8s.io/provider", release::LABEL)]);
            object
        })
        .collect()
}

#[test]
fn the_metadata_are_those_of_the_constants() {
    let mut text = format!(
        "# Written by a test; refresh it with `{REFRESH}`.\n\
         apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    );
    for (major, minor, contract) in release::SERIES {
        text += &format!("- major: {major}\n  minor: {minor}\n  contract: {contract}\n");
    }
    ensure_current("metadata.yaml", &text);
}

/// `docs/mailgun.md` shows commands to copy.
#[test]
fn the_documentation_names_this_version_and_image() {
    let text = read("docs/mailgun.md");
    let version = release::VERSION;
    for needed in [
        format!("docker build --tag {} .", release::image()),
        format!(
            "infrastructure-mailgun/{version}\ncp templates/mailgun/*.yaml ~/repository/infrastructure-mailgun/{version}"
        ),
    ] {
        assert!(text.contains(&needed), "`docs/mailgun.md` lacks `{needed}`");
    }
    for variable in [
        "MAILGUN_API_KEY",
        "MAILGUN_DOMAIN",
        "MAIL_RECIPIENT",
        "MAILGUN_API_BASE",
    ] {
        assert!(
            text.contains(&format!("| `{variable}` | `init` |")),
            "{variable}"
        );
    }
}

/// What is in the folder is what is embedded, so that the folder can be used as a release too.
#[test]
fn every_file_of_the_folder_is_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let mut there: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    there.sort();
    let embedded: Vec<&str> = release::RELEASE
        .files
        .iter()
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(there, embedded);
}

fn components() -> Vec<Object> {
    object::parse_objects(&render_components()).unwrap()
}

fn find<'a>(objects: &'a [Object], name: &str) -> &'a Object {
    let found = objects.iter().find(|object| object.to_string() == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn every_object_is_labelled_and_in_the_one_namespace() {
    let objects = components();
    for object in &objects {
        assert_eq!(
            object.label("cluster.x-k8s.io/provider"),
            Some(release::LABEL),
            "{object}"
        );
        assert!(["", NAMESPACE].contains(&object.namespace()), "{object}");
    }
    let crds: Vec<&Object> = objects
        .iter()
        .filter(|object| object.kind() == "CustomResourceDefinition")
        .collect();
    assert_eq!(crds.len(), 4);
    for crd in crds {
        // One schema for both contracts.
        for contract in ["v1beta1", "v1beta2"] {
            let label = crd.label(&format!("cluster.x-k8s.io/{contract}"));
            assert_eq!(label, Some(api::VERSION), "{crd}");
        }
    }
}

#[test]
fn the_deployment_runs_the_manager_with_the_settings() {
    let objects = components();
    let name = "cluster-api-provider-mailgun-mailgun-config";
    let secret = find(&objects, &format!("Secret {NAMESPACE}/{name}"));
    let config_map = find(&objects, &format!("ConfigMap {NAMESPACE}/{name}"));
    let manager = format!("Deployment {NAMESPACE}/cluster-api-provider-mailgun-controller-manager");
    let deployment = find(&objects, &manager);
    let container = &deployment
        .pointer("/spec/template/spec/containers/0")
        .unwrap();
    assert_eq!(container["image"], release::image());
    assert_eq!(container["command"], json!([release::MANAGER]));
    for variable in container["env"].as_array().unwrap() {
        let from = &variable["valueFrom"];
        let (reference, object, data) = match from.get("secretKeyRef") {
            Some(reference) => (reference, secret, "/stringData"),
            None => (&from["configMapKeyRef"], config_map, "/data"),
        };
        assert_eq!(reference["name"], name);
        let key = reference["key"].as_str().unwrap();
        let value = object.text(&format!("{data}/{key}"));
        let variable = variable["name"].as_str().unwrap();
        assert!(
            value.starts_with(&format!("${{{variable}")),
            "{variable}: {value}"
        );
    }
}

#[test]
fn the_dockerfile_agrees_with_the_deployment() {
    let dockerfile = read("Dockerfile");
    let manager = release::MANAGER;
    let (build, image) = dockerfile.rsplit_once("\nFROM scratch\n").unwrap();
    let has = |stage: &str, line: &str| {
        let found = stage.lines().any(|found| found.contains(line));
        assert!(found, "no line of this stage has `{line}`:\n{stage}");
    };
    has(
        build,
        &format!("ARG RUST={}", env!("CARGO_PKG_RUST_VERSION")),
    );
    has(build, &format!("ln -s capictl /out{manager}"));
    has(image, "COPY --from=build /out/ /");
    has(image, &format!("ENTRYPOINT [\"{manager}\"]"));
    // `runAsNonRoot` needs a number.
    has(image, "USER 65532:65532");
    // Who trusts nobody cannot talk to Mailgun.
    has(image, "/etc/ssl/certs/ca-certificates.crt");
    // All that the sources include.
    let ignored = read(".dockerignore");
    for path in [
        "Cargo.toml",
        "Cargo.lock",
        "providers.yaml",
        "src",
        "templates",
        "completions",
    ] {
        let copied = build
            .lines()
            .any(|line| line.starts_with("COPY ") && line.split(' ').any(|word| word == path));
        assert!(copied, "`{path}` is not copied into the build");
        assert!(
            ignored.lines().any(|line| line == format!("!{path}")),
            "{path}"
        );
    }
}

#[test]
fn the_image_is_named_in_one_place() {
    let image = release::image();
    let [build, images, local] = release::ways_to_run(&image);
    assert!(
        build.contains(&format!("docker build --tag {image} .")),
        "{build}"
    );
    assert!(
        images.contains("images: {infrastructure-mailgun: {repository: REGISTRY}}"),
        "{images}"
    );
    assert!(local.contains("capictl run-local"), "{local}");
}
