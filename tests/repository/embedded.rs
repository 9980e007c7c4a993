//! Releases that are part of the program.

use super::uncached;
use capictl::controllers::mailgun::release;
use capictl::http::{Http, Options};
use capictl::repository::{ProviderRepository, Settings};
use std::path::PathBuf;

use crate::{explain, open};

const URL: &str = "embedded:///infrastructure-mailgun/latest/infrastructure-components.yaml";

fn settings(overrides: Option<PathBuf>) -> Settings {
    // A proxy that nobody listens at: whoever needs the network fails.
    let http = Http::with_options(Options {
        proxy: Some("http://127.0.0.1:9".into()),
        ..Options::new("capictl-test")
    });
    Settings::new(uncached(http), None, overrides).with_embedded([release::RELEASE])
}

#[tokio::test]
async fn the_release_needs_no_network() {
    let repository = open(release::LABEL, URL, &settings(None));
    assert_eq!(
        repository.default_version().await.unwrap(),
        release::VERSION
    );
    let versions = repository.versions().await.unwrap();
    assert_eq!(
        versions.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [release::VERSION]
    );
    for file in repository.files_at_hand(release::VERSION).await {
        let found = repository.fetch(release::VERSION, &file).await.unwrap();
        assert!(!found.text.is_empty() && !found.overridden, "{file}");
    }
    let metadata = repository.fetch_metadata(release::VERSION).await.unwrap();
    let series = metadata
        .series_of(&release::VERSION.parse().unwrap())
        .unwrap();
    assert_eq!(series.contract.to_string(), "v1beta1");
}

#[tokio::test]
async fn the_overrides_folder_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let version = folder.path().join(release::LABEL).join(release::VERSION);
    std::fs::create_dir_all(&version).unwrap();
    std::fs::write(version.join("cluster-template.yaml"), "mine").unwrap();
    let repository = open(
        release::LABEL,
        URL,
        &settings(Some(folder.path().to_owned())),
    );
    let file = repository
        .fetch(release::VERSION, "cluster-template.yaml")
        .await
        .unwrap();
    assert_eq!((file.text.as_str(), file.overridden), ("mine", true));
}

#[tokio::test]
async fn what_is_missing_is_told_with_what_is_there() {
    let repository = open(release::LABEL, URL, &settings(None));
    let version = repository
        .fetch("v9.9.9", "metadata.yaml")
        .await
        .unwrap_err();
    assert!(version.is_not_found());
    let file = repository
        .fetch(release::VERSION, "cluster-template-x.yaml")
        .await
        .unwrap_err();
    let nobody = ProviderRepository::open(
        "addon-x",
        "embedded:///addon-x/latest/c.yaml",
        &settings(None),
    );
    let told = [
        explain(&version),
        explain(&file),
        explain(&nobody.unwrap_err()),
    ]
    .join("\n");
    let told = told.replace(release::VERSION, "[VERSION]");
    insta::assert_snapshot!(told, @r#"
    failed to read "metadata.yaml" from the repository for provider "infrastructure-mailgun"
    caused by: release not found for version v9.9.9 in `embedded:///infrastructure-mailgun`
    hint: available versions: `[VERSION]`
    failed to read "cluster-template-x.yaml" from provider's repository "infrastructure-mailgun"
    caused by: failed to get file "cluster-template-x.yaml" from "[VERSION]" release in `embedded:///infrastructure-mailgun`
    hint: did you mean `cluster-template.yaml`?
    hint: the release has `cluster-template-clusterclass.yaml`, `cluster-template.yaml`, `clusterclass-mailgun.yaml`, `infrastructure-components.yaml`, `metadata.yaml`
    invalid provider url `embedded:///addon-x/latest/c.yaml`: capictl has no such provider in it
    hint: the address of an embedded repository is `embedded:///addon-x/{version or latest}/{file}`
    "#);
}
