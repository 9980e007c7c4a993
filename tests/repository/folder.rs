//! Folders on a web server.

use super::support::files::Files;
use super::*;

const LABEL: &str = "infrastructure-acme";

fn folder_settings(store: Store, offline: bool) -> Settings {
    let http = Http::with_options(Options {
        first_delay: Duration::from_millis(1),
        ..Options::new("capictl-test")
    });
    Settings::new(Fetcher::new(http, store, offline), None, None)
}

fn provider(files: &Files, version: &str) -> ProviderRepository {
    let url = format!("{}/a/{LABEL}/{version}/components.yaml", files.url());
    open(LABEL, &url, &folder_settings(Store::new(None), false))
}

fn add(files: &Files, version: &str) {
    let metadata = metadata(&[(1, 0, "v1beta2"), (1, 1, "v1beta2"), (2, 0, "v1beta3")]);
    let path = |file| format!("/a/{LABEL}/{version}/{file}");
    files.add(&path("metadata.yaml"), &metadata);
    files.add(&path("components.yaml"), version);
}

fn tell(files: &Files, error: &capictl::repository::Error) -> String {
    explain(error).replace(files.url(), "[URL]")
}

#[tokio::test]
async fn a_pinned_version_needs_no_list() {
    let files = Files::start();
    add(&files, "v1.0.0");
    let repository = provider(&files, "v1.0.0");
    let version = repository.default_version().await.unwrap();
    let file = repository.fetch(&version, "components.yaml").await.unwrap();
    assert_eq!(file.text, "v1.0.0");
    assert_eq!(
        files.take_requests(),
        [format!("/a/{LABEL}/v1.0.0/components.yaml")]
    );
}

#[tokio::test]
async fn a_list_of_versions_leads_to_latest() {
    for list in [
        "v1.0.0\nv1.1.0\nv2.0.0\nversions\n",
        r#"["v2.0.0", "v1.1.0", "v1.0.0"]"#,
    ] {
        let files = Files::start();
        for version in ["v1.0.0", "v1.1.0", "v2.0.0"] {
            add(&files, version);
        }
        files.add(&format!("/a/{LABEL}/versions"), list);
        let repository = provider(&files, "latest");
        assert_eq!(repository.default_version().await.unwrap(), "v1.1.0");
        let versions = repository.versions().await.unwrap();
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        assert_eq!(versions, ["v1.0.0", "v1.1.0", "v2.0.0"]);
    }
}

#[tokio::test]
async fn what_is_missing_or_no_file_says_so() {
    let files = Files::start();
    add(&files, "v1.0.0");
    let path = |file| format!("/a/{LABEL}/v1.0.0/{file}");
    files.add_as(&path("login.yaml"), "text/html; charset=utf-8", "<html>");
    files.fail(&path("closed.yaml"), 401);
    files.fail(&path("broken.yaml"), 500);
    let mut report = String::new();
    let mut note = |error| report += &format!("{}\n\n", tell(&files, &error));
    let repository = provider(&files, "latest");
    let error = repository.default_version().await.unwrap_err();
    assert!(error.is_not_found());
    note(error);
    for file in ["none.yaml", "login.yaml", "closed.yaml", "broken.yaml"] {
        let error = repository.fetch("v1.0.0", file).await.unwrap_err();
        assert_eq!(error.is_not_found(), file == "none.yaml");
        note(error);
    }
    files.add(&format!("/a/{LABEL}/versions"), "{\"v1.0.0\": {}}");
    note(repository.versions().await.unwrap_err());
    files.add_as(&format!("/a/{LABEL}/versions"), "text/html", "<html>");
    note(repository.versions().await.unwrap_err());
    insta::assert_snapshot!(report, @r#"
    failed to get latest release of "infrastructure-acme"
    caused by: `[URL]/a/infrastructure-acme/versions`, which would tell the versions, does not exist
    hint: name a version, in the provider's `url` or as `name:version`; or put that file beside the folders of the versions, one version a line

    failed to read "none.yaml" from provider's repository "infrastructure-acme"
    caused by: `[URL]/a/infrastructure-acme/v1.0.0/none.yaml` does not exist
    hint: files are read from `[URL]/a/infrastructure-acme/{version}/{file}`; is the version published there?

    failed to read "login.yaml" from provider's repository "infrastructure-acme"
    caused by: `[URL]/a/infrastructure-acme/v1.0.0/login.yaml` is a web page, not a file of a release
    hint: folders on the web are read without credentials; for GitHub Enterprise or GitLab set `repositoryType: github` or `repositoryType: gitlab` beside `url`

    failed to read "closed.yaml" from provider's repository "infrastructure-acme"
    caused by: the server asks for credentials
    caused by: `[URL]/a/infrastructure-acme/v1.0.0/closed.yaml` answered 401 Unauthorized
    hint: folders on the web are read without credentials; for GitHub Enterprise or GitLab set `repositoryType: github` or `repositoryType: gitlab` beside `url`

    failed to read "broken.yaml" from provider's repository "infrastructure-acme"
    caused by: `[URL]/a/infrastructure-acme/v1.0.0/broken.yaml` answered 500 Internal Server Error
    hint: the server is in trouble: try again later

    failed to get repository versions of "infrastructure-acme"
    caused by: `[URL]/a/infrastructure-acme/versions` does not list versions
    caused by: invalid type: map, expected a sequence at line 1 column 0
    hint: write one version a line, or a JSON list of texts

    failed to get repository versions of "infrastructure-acme"
    caused by: `[URL]/a/infrastructure-acme/versions` is a web page, not a file of a release
    hint: folders on the web are read without credentials; for GitHub Enterprise or GitLab set `repositoryType: github` or `repositoryType: gitlab` beside `url`
    "#);
}

#[tokio::test]
async fn what_was_fetched_once_is_had_offline_but_no_page_is_kept() {
    let files = Files::start();
    add(&files, "v1.1.0");
    files.add(&format!("/a/{LABEL}/versions"), "v1.1.0\n");
    let login = format!("/a/{LABEL}/v1.1.0/login.yaml");
    files.add_as(&login, "text/html", "<html>");
    let cache = tempfile::tempdir().unwrap();
    let url = format!("{}/a/{LABEL}/latest/components.yaml", files.url());
    let repository = |offline| {
        let store = Store::new(Some(cache.path().into()));
        open(LABEL, &url, &folder_settings(store, offline))
    };
    let read = async |repository: ProviderRepository| {
        let version = repository.default_version().await?;
        let file = repository.fetch(&version, "components.yaml").await?;
        Ok::<_, capictl::repository::Error>(file.text)
    };
    assert!(read(repository(true)).await.is_err());
    assert_eq!(read(repository(false)).await.unwrap(), "v1.1.0");
    assert!(
        repository(false)
            .fetch("v1.1.0", "login.yaml")
            .await
            .is_err()
    );
    files.take_requests();
    assert_eq!(read(repository(true)).await.unwrap(), "v1.1.0");
    let error = repository(true).fetch("v1.1.0", "login.yaml").await;
    assert!(explain(&error.unwrap_err()).contains("not in the download cache"));
    assert_eq!(files.take_requests(), [""; 0]);
}
