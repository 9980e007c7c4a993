//! The release of the Mailgun provider that capictl has in it, laid out on disk: what clusterctl's users do.

use std::fs;

use anyhow::Result;
use capictl::controllers::mailgun::release::{LABEL, RELEASE, VERSION};
use serde_json::json;
use tempfile::TempDir;

use crate::comparison::compare_objects;
use crate::generate_cluster;
use crate::generate_provider;
use crate::releases;
use crate::rules::Excuses;
use crate::support::environment::Environment;

fn lay_out() -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let release = folder.path().join(LABEL).join(VERSION);
    fs::create_dir_all(&release)?;
    for (name, text) in RELEASE.files {
        fs::write(release.join(name), text)?;
    }
    Ok(folder)
}

#[tokio::test]
async fn clusterctl_renders_the_components_of_the_mailgun_provider_alike() -> Result<()> {
    let folder = lay_out()?;
    let files = releases::list(folder.path(), releases::is_components)?;
    generate_provider::compare(&files).await
}

#[tokio::test]
async fn clusterctl_renders_the_templates_of_the_mailgun_provider_alike() -> Result<()> {
    let folder = lay_out()?;
    let files = releases::list(folder.path(), releases::is_template)?;
    generate_cluster::compare(&files).await
}

#[tokio::test]
async fn clusterctl_renders_the_clusters_of_the_mailgun_provider_alike() -> Result<()> {
    let folder = lay_out()?;
    let mut environment = Environment::new()?;
    environment.set("MAILGUN_DOMAIN", "mg.example.com");
    let url = folder
        .path()
        .join(LABEL)
        .join("latest/infrastructure-components.yaml");
    let config = json!({
        "providers": [{"name": "mailgun", "type": "InfrastructureProvider", "url": url}],
    });
    let config = environment.write("mailgun.yaml", &config.to_string())?;
    let config = config.display().to_string();
    let provider = format!("mailgun:{VERSION}");
    for flavor in ["", "clusterclass"] {
        let mut arguments = vec![
            "generate", "cluster", "hello", "-n", "prod", "--flavor", flavor,
        ];
        arguments.extend(["--kubernetes-version", "v1.36.0", "-i", &provider]);
        let embedded = environment.capictl(&arguments).await?.success();
        arguments.extend(["--config", &config]);
        let theirs = environment.clusterctl(&arguments).await?.success();
        let ours = environment.capictl(&arguments).await?.success();
        let differences = compare_objects(&theirs, &ours, &mut Excuses::new())?;
        assert!(differences.is_empty(), "{differences:?}");
        assert_eq!(embedded, ours);
        assert!(ours.contains("mg.example.com"), "{ours}");
    }
    Ok(())
}
