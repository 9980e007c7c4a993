//! Local repositories and the overrides folder.

use std::fs;
use std::path::Path;

use capictl::repository::Error;
use tempfile::TempDir;

use super::*;

const LABEL: &str = "infrastructure-acme";

/// A folder with a repository and overrides, gone with the value.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    /// Adds a file to a version in the repository.
    fn add(&self, version: &str, file: &str, text: &str) {
        self.write(&format!("base/{LABEL}/{version}/{file}"), text);
    }

    fn repository(&self, version: &str) -> ProviderRepository {
        let url = format!(
            "{}/base/{LABEL}/{version}/components.yaml",
            self.path().display()
        );
        let overrides = self.path().join("overrides");
        let settings = Settings::new(uncached(Http::new("capictl-test")), None, Some(overrides));
        open(LABEL, &url, &settings)
    }

    fn explain(&self, error: &Error) -> String {
        explain(error).replace(self.path().to_str().unwrap(), "~")
    }
}

#[tokio::test]
async fn versions_are_the_folders_with_a_version_as_name() {
    let folder = Folder::new();
    for version in ["v1.10.0", "v1.9.0", "1.2.0", "v2.0.0-rc.1", "notes", "v1"] {
        folder.add(version, "components.yaml", version);
    }
    folder.write(&format!("base/{LABEL}/v3.0.0"), "a file");
    let versions = folder.repository("v1.9.0").versions().await.unwrap();
    let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    assert_eq!(versions, ["v1.2.0", "v1.9.0", "v1.10.0", "v2.0.0-rc.1"]);
    let repository = folder.repository("v1.9.0");
    for (version, text) in [
        ("v1.10.0", "v1.10.0"),
        ("v1.2.0", "1.2.0"),
        ("1.9.0", "v1.9.0"),
    ] {
        let file = repository.fetch(version, "components.yaml").await.unwrap();
        assert_eq!(file.text, text);
    }
}

#[tokio::test]
async fn latest_follows_the_contract_and_passes_over_folders_without_metadata() {
    let folder = Folder::new();
    let metadata = metadata(&[(1, 0, "v1beta2"), (1, 1, "v1beta2"), (2, 0, "v1beta3")]);
    for version in ["v1.0.9", "v1.1.0", "v1.1.1", "v2.0.0"] {
        folder.add(version, "metadata.yaml", &metadata);
    }
    folder.add("v2.1.0", "components.yaml", "");
    folder.add("v1.1.2", "components.yaml", "");
    let repository = folder.repository("latest");
    assert_eq!(repository.default_version().await.unwrap(), "v1.1.1");
    let metadata = repository.fetch_metadata("v1.1.1").await.unwrap();
    assert_eq!(metadata.list_series(), "1.0, 1.1, 2.0");
}

#[tokio::test]
async fn a_pinned_version_needs_no_other() {
    let folder = Folder::new();
    assert_eq!(
        folder.repository("v1.2.3").default_version().await.unwrap(),
        "v1.2.3"
    );
    folder.add("v1.2.3", "components.yaml", "text");
    folder.write(&format!("base/{LABEL}/v9.9.9/metadata.yaml"), b"\xff");
    let repository = folder.repository("v1.2.3");
    let file = repository.fetch("v1.2.3", "components.yaml").await.unwrap();
    assert_eq!(file.text, "text");
    assert!(
        file.origin.ends_with("/v1.2.3/components.yaml"),
        "{}",
        file.origin
    );
}

#[tokio::test]
async fn overrides_go_first_but_do_not_decide_what_is_latest() {
    let folder = Folder::new();
    let text = metadata(&[(1, 0, "v1beta2")]);
    folder.add("v1.0.0", "metadata.yaml", &text);
    folder.add("v1.0.0", "components.yaml", "original");
    folder.write(
        &format!("overrides/{LABEL}/v1.0.0/components.yaml"),
        "override",
    );
    folder.write(
        &format!("overrides/{LABEL}/v1.0.0/metadata.yaml"),
        "override",
    );
    folder.write(&format!("overrides/{LABEL}/v2.0.0/metadata.yaml"), &text);
    let repository = folder.repository("latest");
    assert_eq!(repository.default_version().await.unwrap(), "v1.0.0");
    let file = repository.fetch("v1.0.0", "components.yaml").await.unwrap();
    assert_eq!((file.text.as_str(), file.overridden), ("override", true));
    // The repository need not have the version at all.
    let metadata = repository.fetch_metadata("v2.0.0").await.unwrap();
    assert_eq!(metadata.list_series(), "1.0");
}

#[tokio::test]
async fn errors_name_what_is_missing_and_what_there_is() {
    let folder = Folder::new();
    let mut report = String::new();
    let mut note = |error: Error| report += &format!("{}\n\n", folder.explain(&error));
    let repository = folder.repository("latest");
    fs::create_dir_all(folder.path().join("base/infrastructure-other")).unwrap();
    note(repository.versions().await.unwrap_err());
    for minor in 0..12 {
        folder.add(&format!("v1.{minor}.0"), "components.yaml", "");
    }
    note(repository.default_version().await.unwrap_err());
    note(
        repository
            .fetch("v2.0.0", "components.yaml")
            .await
            .unwrap_err(),
    );
    note(repository.fetch_metadata("v1.0.0").await.unwrap_err());
    note(
        repository
            .fetch("../other/v1.0.0", "components.yaml")
            .await
            .unwrap_err(),
    );
    note(repository.fetch("v1.0.0", "a/b.yaml").await.unwrap_err());
    insta::assert_snapshot!(report, @r#"
    failed to get repository versions of "infrastructure-acme"
    caused by: the folder `~/base/infrastructure-acme` does not exist
    hint: beside it there are `infrastructure-other`

    failed to get latest release of "infrastructure-acme"
    caused by: failed to find releases tagged with a valid semantic version number in `~/base/infrastructure-acme`
    hint: `v1.11.0` has no `metadata.yaml`, `v1.10.0` has no `metadata.yaml`, `v1.9.0` has no `metadata.yaml` and so on for 9 more; name a version to do without `latest`

    failed to read "components.yaml" from provider's repository "infrastructure-acme"
    caused by: release not found for version v2.0.0 in `~/base/infrastructure-acme`
    hint: available versions: `v1.11.0`, `v1.10.0`, `v1.9.0`, `v1.8.0`, `v1.7.0`, `v1.6.0`, `v1.5.0`, `v1.4.0`, `v1.3.0`, `v1.2.0` and 2 more

    failed to read "metadata.yaml" from the repository for provider "infrastructure-acme"
    caused by: failed to get file "metadata.yaml" from "v1.0.0" release in `~/base/infrastructure-acme`
    hint: the release has `components.yaml`

    failed to read "components.yaml" from provider's repository "infrastructure-acme"
    caused by: `../other/v1.0.0` cannot be the name of a version

    failed to read "a/b.yaml" from provider's repository "infrastructure-acme"
    caused by: `a/b.yaml` cannot be the name of a file
    "#);
}

#[tokio::test]
async fn files_that_cannot_be_used_say_why() {
    let folder = Folder::new();
    let mut report = String::new();
    let mut note = |error: Error| report += &format!("{}\n\n", folder.explain(&error));
    let repository = folder.repository("v1.0.0");
    folder.write(&format!("base/{LABEL}/v1.0.0/binary.yaml"), b"\xff\xfe");
    folder.add("v1.0.0", "folder.yaml/inside.yaml", "");
    folder.add("v1.0.0", "metadata.yaml", "releaseSeries: [");
    folder.add(
        "v1.1.0",
        "metadata.yaml",
        "apiVersion: x\nkind: Metadata\nreleaseSeries: []\n",
    );
    note(repository.fetch("v1.0.0", "binary.yaml").await.unwrap_err());
    note(repository.fetch("v1.0.0", "folder.yaml").await.unwrap_err());
    note(repository.fetch_metadata("v1.0.0").await.unwrap_err());
    note(repository.fetch_metadata("v1.1.0").await.unwrap_err());
    insta::assert_snapshot!(report, @r#"
    failed to read "binary.yaml" from provider's repository "infrastructure-acme"
    caused by: `~/base/infrastructure-acme/v1.0.0/binary.yaml` is not UTF-8 text

    failed to read "folder.yaml" from provider's repository "infrastructure-acme"
    caused by: `~/base/infrastructure-acme/v1.0.0/folder.yaml` is a folder, not a file
    hint: it contains `inside.yaml`

    cannot parse `~/base/infrastructure-acme/v1.0.0/metadata.yaml`
    caused by: failed to unmarshal the 1st yaml document: line 1, column 16: unclosed bracket '['
    hint: look at the indentation and the quotes there and on the lines before

    invalid provider metadata in `~/base/infrastructure-acme/v1.1.0/metadata.yaml`: `apiVersion` must be `clusterctl.cluster.x-k8s.io/v1alpha3`, not `x`; `releaseSeries` must not be empty
    hint: the file describes each release series of the provider by `major`, `minor` and `contract`
    "#);
}
