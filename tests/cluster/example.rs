//! The small providers of `tests/fixtures/repository`, one of each type that the test-bed has no real one of.

use std::path::Path;

use anyhow::Result;

use crate::support::environment::{Environment, render_clusterctl_yaml};

/// The example provider of each type: type, label, components file.
const EXAMPLES: [(&str, &str, &str); 4] = [
    (
        "InfrastructureProvider",
        "infrastructure-example",
        "infrastructure-components.yaml",
    ),
    ("IPAMProvider", "ipam-example", "ipam-components.yaml"),
    (
        "RuntimeExtensionProvider",
        "runtime-extension-example",
        "runtime-extension-components.yaml",
    ),
    ("AddonProvider", "addon-example", "addon-components.yaml"),
];

/// Adds the example providers to the configuration file of an environment, with a value for the token they ask for.
pub fn add(environment: &mut Environment) -> Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/repository");
    let entries = EXAMPLES.map(|(kind, label, file)| {
        let url = repository.join(label).join("v1.0.0").join(file);
        format!(
            "- name: example\n  type: {kind}\n  url: {}\n",
            url.display()
        )
    });
    let config = render_clusterctl_yaml()?.replacen(
        "providers:\n",
        &format!("providers:\n{}", entries.concat()),
        1,
    );
    std::fs::write(environment.config(), config)?;
    environment.set("EXAMPLE_TOKEN", "hunter2");
    Ok(())
}
