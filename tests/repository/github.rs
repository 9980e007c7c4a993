//! GitHub releases.

use capictl::config::{Config, Environment};
use capictl::controllers::mailgun::release;
use capictl::http::Http;

use super::support::github::{Failure, GitHub};
use super::*;

const REPOSITORY: &str = "acme/provider";
const URL: &str = "https://github.com/acme/provider/releases/latest/components.yaml";

fn provider(github: &GitHub, token: Option<&str>) -> ProviderRepository {
    open("infrastructure-acme", URL, &settings(github, token))
}

#[tokio::test]
async fn a_pinned_version_is_fetched_by_its_download_url_and_nothing_else() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &[(1, 0, "v1beta2")]);
    add_release(&github, REPOSITORY, "v2.0.0", &[(2, 0, "v1beta2")]);
    let url = "https://github.com/acme/provider/releases/v1.0.0/components.yaml";
    let repository = open("infrastructure-acme", url, &settings(&github, None));
    let version = repository.default_version().await.unwrap();
    let file = repository
        .fetch(&version, repository.components_file())
        .await
        .unwrap();
    assert_eq!(file.text, "v1.0.0");
    assert!(!file.overridden);
    assert_eq!(
        file.origin,
        "https://github.com/acme/provider/releases/download/v1.0.0/components.yaml"
    );
    let requests = github.requests();
    let hosts: Vec<&str> = requests
        .iter()
        .map(|request| request.host.as_str())
        .collect();
    assert_eq!(hosts, ["github.com", "objects.githubusercontent.com"]);
    assert!(
        requests
            .iter()
            .all(|request| request.user_agent == "capictl-test")
    );
}

#[tokio::test]
async fn latest_is_the_newest_release_whose_series_follows_our_contract() {
    let github = GitHub::start();
    let series = [(1, 0, "v1beta1"), (1, 1, "v1beta2"), (2, 0, "v1beta3")];
    for tag in [
        "v1.0.0",
        "v2.0.0",
        "v1.1.0",
        "v1.1.1",
        "v1.1.2-rc.0",
        "v2.1.0-rc.0",
    ] {
        add_release(&github, REPOSITORY, tag, &series);
    }
    assert_eq!(
        provider(&github, None).default_version().await.unwrap(),
        "v1.1.1"
    );
}

#[tokio::test]
async fn latest_is_simply_the_newest_when_no_series_follows_our_contract() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &[(1, 0, "v1beta1")]);
    add_release(
        &github,
        REPOSITORY,
        "v1.1.0",
        &[(1, 0, "v1beta1"), (1, 1, "v1beta1")],
    );
    assert_eq!(
        provider(&github, None).default_version().await.unwrap(),
        "v1.1.0"
    );
}

#[tokio::test]
async fn latest_passes_over_drafts_and_releases_without_metadata() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &[(1, 0, "v1beta2")]);
    github.add_release(REPOSITORY, "v1.1.0", &[("components.yaml", "")]);
    github.add_draft(REPOSITORY, "v1.2.0");
    github.add_release(REPOSITORY, "chart-9", &[]);
    assert_eq!(
        provider(&github, None).default_version().await.unwrap(),
        "v1.0.0"
    );
    let versions = provider(&github, None).versions().await.unwrap();
    let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    assert_eq!(versions, ["v1.0.0", "v1.1.0"]);

    github.add_release("acme/bare", "v1.0.0", &[]);
    let url = URL.replace("provider", "bare");
    let bare = open("infrastructure-acme", &url, &settings(&github, None));
    let error = bare.default_version().await.unwrap_err();
    assert!(error.is_not_found());
    insta::assert_snapshot!(explain(&error), @r#"
    failed to get latest release of "infrastructure-acme"
    caused by: failed to find releases tagged with a valid semantic version number in `https://github.com/acme/bare/releases`
    hint: `v1.0.0` has no `metadata.yaml` and no `components.yaml`; name a version to do without `latest`
    "#);
}

#[tokio::test]
async fn latest_does_not_pass_over_metadata_that_is_out_of_reach() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &[(1, 0, "v1beta2")]);
    add_release(&github, REPOSITORY, "v1.1.0", &[(1, 1, "v1beta2")]);
    github.fail("v1.1.0/metadata.yaml", Failure::Status(500), usize::MAX);
    let error = provider(&github, None).default_version().await.unwrap_err();
    assert!(!error.is_not_found());
    insta::assert_snapshot!(explain(&error), @r#"
    failed to get latest release of "infrastructure-acme"
    caused by: `https://github.com/acme/provider/releases/download/v1.1.0/metadata.yaml` answered 500 Internal Server Error: something went wrong
    hint: the server is in trouble: try again later
    "#);
}

#[tokio::test]
async fn tags_without_a_v_are_found_again() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "1.0.0", &[(1, 0, "v1beta2")]);
    let repository = provider(&github, None);
    assert_eq!(repository.default_version().await.unwrap(), "1.0.0");
    let versions = repository.versions().await.unwrap();
    let file = repository
        .fetch(&versions[0].to_string(), "components.yaml")
        .await;
    assert_eq!(file.unwrap().text, "1.0.0");
}

#[tokio::test]
async fn all_pages_of_releases_are_read() {
    let github = GitHub::start();
    for minor in 0..201 {
        github.add_release(REPOSITORY, &format!("v1.{minor}.0"), &[]);
    }
    let versions = provider(&github, None).versions().await.unwrap();
    assert_eq!(versions.len(), 201);
    assert!(versions.is_sorted());
    let urls = github.take_urls();
    assert_eq!(
        urls[0],
        "api.github.com/repos/acme/provider/releases?per_page=100"
    );
    assert_eq!(urls.len(), 3);
}

#[tokio::test]
async fn providers_of_one_repository_share_the_requests() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &[(1, 0, "v1beta2")]);
    let settings = settings(&github, None);
    for file in ["bootstrap.yaml", "control-plane.yaml", "core.yaml"] {
        github.add_release(REPOSITORY, "v1.0.0", &[(file, "")]);
    }
    let urls = ["core.yaml", "bootstrap.yaml", "control-plane.yaml"]
        .map(|file| URL.replace("components.yaml", file));
    let [core, bootstrap, control_plane] = [0, 1, 2].map(|i| open("x", &urls[i], &settings));
    let versions = futures::join!(
        core.default_version(),
        bootstrap.default_version(),
        control_plane.default_version(),
    );
    assert_eq!(versions.0.unwrap(), "v1.0.0");
    assert_eq!(versions.1.unwrap(), "v1.0.0");
    assert_eq!(versions.2.unwrap(), "v1.0.0");
    assert_eq!(
        core.fetch_metadata("v1.0.0").await.unwrap().list_series(),
        "1.0"
    );
    // The list, and the metadata with its redirect.
    assert_eq!(github.take_urls().len(), 3);
}

#[tokio::test]
async fn private_repositories_need_a_token_which_goes_to_the_api_alone() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &[(1, 0, "v1beta2")]);
    github.make_private(REPOSITORY);
    github.accept_token("t0ken");

    let with_token = provider(&github, Some("t0ken"));
    assert_eq!(with_token.default_version().await.unwrap(), "v1.0.0");
    let file = with_token.fetch("v1.0.0", "components.yaml").await.unwrap();
    assert_eq!(file.text, "v1.0.0");
    for request in github.requests() {
        let expected = (request.host == "api.github.com").then(|| "Bearer t0ken".to_owned());
        assert_eq!(request.authorization, expected, "{request:?}");
    }

    let without = provider(&github, None);
    let error = without
        .fetch("v1.0.0", "components.yaml")
        .await
        .unwrap_err();
    insta::assert_snapshot!(explain(&error), @r#"
    failed to read "components.yaml" from provider's repository "infrastructure-acme"
    caused by: `https://github.com/acme/provider/releases/download/v1.0.0/components.yaml` does not exist
    hint: `https://github.com/acme/provider/releases` lists the releases and their files
    hint: if the repository is private, set `GITHUB_TOKEN`
    "#);
    insta::assert_snapshot!(explain(&without.versions().await.unwrap_err()), @r#"
    failed to get repository versions of "infrastructure-acme"
    caused by: `https://api.github.com/repos/acme/provider/releases` does not exist
    hint: if the repository is private, set `GITHUB_TOKEN`
    "#);
    let error = provider(&github, Some("wrong"))
        .versions()
        .await
        .unwrap_err();
    assert!(!error.is_not_found());
    insta::assert_snapshot!(explain(&error), @r#"
    failed to get repository versions of "infrastructure-acme"
    caused by: GitHub refuses the token
    caused by: `https://api.github.com/repos/acme/provider/releases` answered 401 Unauthorized: Bad credentials
    hint: renew or unset `GITHUB_TOKEN` (in the configuration file: `github-token`); public releases need none
    "#);
}

#[tokio::test]
async fn what_is_missing_is_named_together_with_what_there_is() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &[(1, 0, "v1beta2")]);
    github.accept_token("t0ken");
    let with_token = provider(&github, Some("t0ken"));
    let error = with_token
        .fetch("v1.0.0", "cluster-template-x.yaml")
        .await
        .unwrap_err();
    assert!(error.is_not_found());
    insta::assert_snapshot!(explain(&error), @r#"
    failed to read "cluster-template-x.yaml" from provider's repository "infrastructure-acme"
    caused by: failed to get file "cluster-template-x.yaml" from "v1.0.0" release in `https://github.com/acme/provider/releases`
    hint: the release has `components.yaml`, `metadata.yaml`
    "#);
    let error = with_token
        .fetch("v9.0.0", "metadata.yaml")
        .await
        .unwrap_err();
    assert!(error.is_not_found());
    insta::assert_snapshot!(explain(&error), @r#"
    failed to read "metadata.yaml" from the repository for provider "infrastructure-acme"
    caused by: release not found for version v9.0.0 in `https://github.com/acme/provider/releases`
    hint: `https://github.com/acme/provider/releases` lists the releases
    "#);
    let error = provider(&github, None)
        .fetch("v9.0.0", "metadata.yaml")
        .await
        .unwrap_err();
    assert!(error.is_not_found());
    insta::assert_snapshot!(explain(&error), @r#"
    failed to read "metadata.yaml" from the repository for provider "infrastructure-acme"
    caused by: `https://github.com/acme/provider/releases/download/v9.0.0/metadata.yaml` does not exist
    hint: `https://github.com/acme/provider/releases` lists the releases and their files
    hint: if the repository is private, set `GITHUB_TOKEN`
    "#);
}

#[tokio::test]
async fn the_rate_limit_is_reported_at_once() {
    let github = GitHub::start();
    github.fail("api.github.com", Failure::RateLimit, usize::MAX);
    let error = provider(&github, None).default_version().await.unwrap_err();
    assert_eq!(github.take_urls().len(), 1);
    insta::assert_snapshot!(explain(&error), @r#"
    failed to get latest release of "infrastructure-acme"
    caused by: rate limit for github api has been reached, until 2096-10-02 07:06 UTC
    caused by: `https://api.github.com/repos/acme/provider/releases` answered 403 Forbidden: API rate limit exceeded for 192.0.2.1
    hint: get a personal API token and assign it to the GITHUB_TOKEN environment variable: it allows 5,000 requests an hour instead of 60
    hint: a version that is named, as in `aws:v2.9.0`, is downloaded without a request that counts
    "#);
}

#[tokio::test]
async fn a_redirect_to_another_host_goes_without_the_token() {
    let github = GitHub::start();
    github.add_release(REPOSITORY, "v1.0.0", &[]);
    github.accept_token("t0ken");
    let target = "https://raw.githubusercontent.com/acme/provider/main/list.json";
    github.add_file(REPOSITORY, "main", "list.json", "[]");
    github.fail("api.github.com", Failure::RedirectTo(target.into()), 1);
    let versions = provider(&github, Some("t0ken")).versions().await.unwrap();
    assert_eq!(versions, []);
    let requests = github.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].authorization, None);
}

#[tokio::test]
async fn folders_of_a_local_repository_are_served_as_releases() {
    let folder = tempfile::tempdir().unwrap();
    for (label, file) in [
        ("cluster-api", "core.yaml"),
        ("bootstrap-x", "bootstrap.yaml"),
    ] {
        let version = folder.path().join(label).join("v1.0.0");
        std::fs::create_dir_all(&version).unwrap();
        std::fs::write(version.join(file), label).unwrap();
    }
    let github = GitHub::start();
    github.add_folder(REPOSITORY, &folder.path().join("cluster-api"));
    github.add_folder(REPOSITORY, &folder.path().join("bootstrap-x"));
    let repository = provider(&github, None);
    for (file, text) in [
        ("core.yaml", "cluster-api"),
        ("bootstrap.yaml", "bootstrap-x"),
    ] {
        assert_eq!(repository.fetch("v1.0.0", file).await.unwrap().text, text);
    }
}

#[tokio::test]
async fn every_provider_of_the_catalogue_has_a_repository() {
    let http = Http::new("capictl-test");
    let config = Config::load(None, Environment::default(), &http)
        .await
        .unwrap();
    let settings = Settings::new(uncached(http), None, None).with_embedded([release::RELEASE]);
    for provider in config.providers().unwrap() {
        let repository = open(&provider.label(), &provider.url, &settings);
        assert!(repository.components_file().ends_with(".yaml"));
    }
    let cert_manager = config.cert_manager().unwrap();
    let repository = open("cert-manager", &cert_manager.url, &settings);
    assert_eq!(
        repository.default_version().await.unwrap(),
        cert_manager.version
    );
}
