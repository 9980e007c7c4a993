//! Generic packages of GitLab.

use super::support::github::{Failure, GitHub};
use super::*;

const PROJECT: &str = "group/sub/provider";
const API: &str =
    "https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages/generic/provider";

fn gitlab_settings(gitlab: &GitHub, token: Option<&str>) -> Settings {
    // GitHub's token must not get to GitLab.
    settings(gitlab, Some("for-github")).with_gitlab_token(token.map(Secret::new))
}

fn provider(gitlab: &GitHub, version: &str, token: Option<&str>) -> ProviderRepository {
    let url = format!("{API}/{version}/components.yaml");
    open("infrastructure-acme", &url, &gitlab_settings(gitlab, token))
}

fn add(gitlab: &GitHub, version: &str) {
    let metadata = metadata(&[(1, 0, "v1beta2"), (1, 1, "v1beta2"), (2, 0, "v1beta3")]);
    let files = [
        ("metadata.yaml", metadata.as_str()),
        ("components.yaml", version),
    ];
    gitlab.add_package(PROJECT, "provider", version, &files);
}

fn authorizations(gitlab: &GitHub) -> Vec<Option<String>> {
    let requests = gitlab.requests().into_iter();
    requests.map(|request| request.authorization).collect()
}

#[tokio::test]
async fn a_pinned_version_is_one_request_for_each_file() {
    let gitlab = GitHub::start();
    add(&gitlab, "v1.0.0");
    let repository = provider(&gitlab, "v1.0.0", None);
    let version = repository.default_version().await.unwrap();
    for _ in 0..2 {
        let file = repository
            .fetch(&version, repository.components_file())
            .await
            .unwrap();
        assert_eq!(file.text, "v1.0.0");
        assert_eq!(file.origin, format!("{API}/v1.0.0/components.yaml"));
    }
    let url = format!("{API}/v1.0.0/components.yaml").replace("https://", "");
    assert_eq!(gitlab.requests().len(), 1);
    assert_eq!(authorizations(&gitlab), [None]);
    assert_eq!(gitlab.take_urls(), [url]);
}

#[tokio::test]
async fn latest_is_found_among_all_pages_of_the_package() {
    let gitlab = GitHub::start();
    for minor in 0..150 {
        let name = if minor % 2 == 0 {
            "provider"
        } else {
            "provider-charts"
        };
        gitlab.add_package(PROJECT, name, &format!("v0.{minor}.0"), &[]);
    }
    for version in ["v1.0.0", "1.1.0", "v2.0.0", "nightly"] {
        add(&gitlab, version);
    }
    gitlab.add_package_of_status(PROJECT, "provider", "v1.9.0", "processing", &[]);
    let repository = provider(&gitlab, "latest", None);
    assert_eq!(repository.default_version().await.unwrap(), "1.1.0");
    let versions = repository.versions().await.unwrap();
    assert_eq!(versions.len(), 75 + 3);
    assert!(versions.is_sorted());
    let lists: Vec<String> = gitlab.take_urls();
    let lists = lists.iter().filter(|url| url.contains("/packages?"));
    assert_eq!(lists.count(), 2);
    // The package is without a `v`.
    let file = repository.fetch("v1.1.0", "components.yaml").await.unwrap();
    assert_eq!(file.text, "1.1.0");
}

#[tokio::test]
async fn the_token_goes_to_gitlab_alone() {
    let gitlab = GitHub::start();
    add(&gitlab, "v1.1.0");
    gitlab.make_project_private(PROJECT);
    gitlab.accept_token("t0ken");
    let repository = provider(&gitlab, "latest", Some("t0ken"));
    assert_eq!(repository.default_version().await.unwrap(), "v1.1.0");
    assert_eq!(
        authorizations(&gitlab),
        vec![Some("Bearer t0ken".into()); 2]
    );
    gitlab.take_urls();

    // Files may be in a storage elsewhere.
    gitlab.add_file("a/b", "main", "stored", "from the storage");
    let storage = "https://raw.githubusercontent.com/a/b/main/stored";
    gitlab.fail("components.yaml", Failure::RedirectTo(storage.into()), 1);
    let file = repository.fetch("v1.1.0", "components.yaml").await.unwrap();
    assert_eq!(file.text, "from the storage");
    assert_eq!(authorizations(&gitlab), [Some("Bearer t0ken".into()), None]);
}

#[tokio::test]
async fn what_is_public_is_had_without_a_token_that_is_refused() {
    let gitlab = GitHub::start();
    add(&gitlab, "v1.0.0");
    let repository = provider(&gitlab, "v1.0.0", Some("expired"));
    let file = repository.fetch("v1.0.0", "components.yaml").await.unwrap();
    assert_eq!(file.text, "v1.0.0");
    assert_eq!(
        authorizations(&gitlab),
        [Some("Bearer expired".into()), None]
    );
}

#[tokio::test]
async fn refusals_say_what_helps() {
    let gitlab = GitHub::start();
    add(&gitlab, "v1.0.0");
    gitlab.make_project_private(PROJECT);
    gitlab.accept_token("t0ken");
    let mut report = String::new();
    let mut note = |error| report += &format!("{}\n\n", explain(&error));

    let anonymous = provider(&gitlab, "latest", None);
    note(anonymous.versions().await.unwrap_err());
    let error = anonymous.fetch("v1.0.0", "components.yaml").await;
    let error = error.unwrap_err();
    assert!(error.is_not_found());
    note(error);
    let refused = provider(&gitlab, "v1.0.0", Some("expired"));
    note(refused.fetch_metadata("v1.0.0").await.unwrap_err());
    let allowed = provider(&gitlab, "v1.0.0", Some("t0ken"));
    note(allowed.fetch_metadata("v9.0.0").await.unwrap_err());
    gitlab.fail("packages", Failure::Status(401), 1);
    note(anonymous.versions().await.unwrap_err());
    gitlab.fail("packages", Failure::Status(403), 1);
    note(allowed.versions().await.unwrap_err());
    insta::assert_snapshot!(report, @r#"
    failed to get repository versions of "infrastructure-acme"
    caused by: `https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages` does not exist
    hint: check project, package, version and file; if project `group/sub/provider` is private, set `GITLAB_ACCESS_TOKEN`

    failed to read "components.yaml" from provider's repository "infrastructure-acme"
    caused by: `https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages/generic/provider/v1.0.0/components.yaml` does not exist
    hint: check project, package, version and file; if project `group/sub/provider` is private, set `GITLAB_ACCESS_TOKEN`

    failed to read "metadata.yaml" from the repository for provider "infrastructure-acme"
    caused by: GitLab refuses the token: unauthorized access, please check your credentials
    caused by: `https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages/generic/provider/v1.0.0/metadata.yaml` answered 401 Unauthorized: 401 Unauthorized
    hint: renew or unset `GITLAB_ACCESS_TOKEN` (in the configuration file: `gitlab-access-token`)

    failed to read "metadata.yaml" from the repository for provider "infrastructure-acme"
    caused by: `https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages/generic/provider/v9.0.0/metadata.yaml` does not exist
    hint: check project, package, version and file; if project `group/sub/provider` is private, the token must be allowed to read it

    failed to get repository versions of "infrastructure-acme"
    caused by: GitLab asks for a token: unauthorized access, please check your credentials
    caused by: `https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages` answered 401 Unauthorized: something went wrong
    hint: set `GITLAB_ACCESS_TOKEN` (in the configuration file: `gitlab-access-token`) to a token with the scope `read_api`

    failed to get repository versions of "infrastructure-acme"
    caused by: GitLab does not allow it
    caused by: `https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages` answered 403 Forbidden: something went wrong
    hint: the token in `GITLAB_ACCESS_TOKEN` needs the scope `read_api`, and its owner the role Reporter in the project
    "#);
}

#[tokio::test]
async fn without_packages_there_is_no_latest() {
    let gitlab = GitHub::start();
    gitlab.add_package(PROJECT, "other", "v1.0.0", &[]);
    let error = provider(&gitlab, "latest", None)
        .default_version()
        .await
        .unwrap_err();
    insta::assert_snapshot!(explain(&error), @r#"
    failed to get latest release of "infrastructure-acme"
    caused by: failed to find releases tagged with a valid semantic version number in `https://gitlab.acme.example/api/v4/projects/group%2Fsub%2Fprovider/packages/generic/provider`
    "#);
}

#[tokio::test]
async fn passing_trouble_is_tried_again() {
    let gitlab = GitHub::start();
    add(&gitlab, "v1.0.0");
    for failure in [
        Failure::Status(502),
        Failure::Cut,
        Failure::RetryAfter(429, 0),
    ] {
        gitlab.fail("components.yaml", failure, 2);
        let repository = provider(&gitlab, "v1.0.0", None);
        let file = repository.fetch("v1.0.0", "components.yaml").await.unwrap();
        assert_eq!(file.text, "v1.0.0");
        assert_eq!(gitlab.take_urls().len(), 3);
    }
}
