//! What `latest` means, and what it costs to find out. Every request is counted.

use std::time::{Duration, SystemTime};

use super::support::github::{Failure, GitHub};
use super::*;

const REPOSITORY: &str = "acme/provider";
const URL: &str = "https://github.com/acme/provider/releases/latest/components.yaml";
const LIST: &str = "api.github.com/repos/acme/provider/releases?per_page=100";
/// What every test of a version has in its list.
const SERIES: [(u64, u64, &str); 1] = [(1, 0, "v1beta2")];

fn provider(github: &GitHub) -> ProviderRepository {
    open("infrastructure-acme", URL, &settings(github, None))
}

async fn latest(github: &GitHub) -> String {
    provider(github).default_version().await.unwrap()
}

/// Returns the requests so far, without those that a redirect of github.com leads to.
fn take_requests(github: &GitHub) -> Vec<String> {
    let urls = github.take_urls().into_iter();
    urls.filter(|url| !url.starts_with("objects."))
        .map(|url| url.replace("github.com/acme/provider/releases/download/", "download "))
        .collect()
}

#[tokio::test]
async fn the_newest_full_release_wins_and_two_requests_find_it() {
    for (tags, expected) in [
        (&["v1.9.0", "v1.10.0", "v1.10.0-rc.1"][..], "v1.10.0"),
        (&["v1.0.0", "v2.0.0-alpha.1"], "v1.0.0"),
        (&["v0.7.0-alpha.0", "v0.7.0-beta.1"], "v0.7.0-beta.1"),
        (&["nightly", "1.2", "v0.9.0"], "v0.9.0"),
        (
            &["v1.0.0", "v01.2.0", "v1.0.0.1", "release-2.0.0"],
            "v1.0.0",
        ),
    ] {
        let github = GitHub::start();
        for tag in tags {
            add_release(&github, REPOSITORY, tag, &SERIES);
        }
        assert_eq!(latest(&github).await, expected, "{tags:?}");
        let metadata = format!("download {expected}/metadata.yaml");
        assert_eq!(take_requests(&github), [LIST.to_owned(), metadata]);
    }
}

#[tokio::test]
async fn a_tag_without_a_release_is_not_asked_for() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.3.9", &SERIES);
    github.add_tagged_file(REPOSITORY, "v1.4.0", "README.md", "");
    assert_eq!(latest(&github).await, "v1.3.9");
    assert_eq!(take_requests(&github).len(), 2);
}

#[tokio::test]
async fn a_release_without_all_its_files_is_passed_over_without_a_request() {
    let text = metadata(&SERIES);
    let (complete, components) = (("metadata.yaml", text.as_str()), ("components.yaml", ""));
    for files in [vec![], vec![complete], vec![components]] {
        let github = GitHub::start();
        add_release(&github, REPOSITORY, "v1.3.9", &SERIES);
        github.add_release(REPOSITORY, "v1.4.0", &files);
        assert_eq!(latest(&github).await, "v1.3.9", "{files:?}");
        assert_eq!(
            take_requests(&github),
            [LIST, "download v1.3.9/metadata.yaml"]
        );
    }
}

#[tokio::test]
async fn a_file_that_is_still_being_uploaded_is_not_there() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.3.9", &SERIES);
    let text = metadata(&SERIES);
    github.add_release(REPOSITORY, "v1.4.0", &[("metadata.yaml", &text)]);
    github.begin_upload(REPOSITORY, "v1.4.0", "components.yaml");
    assert_eq!(latest(&github).await, "v1.3.9");

    github.accept_token("t0ken");
    let with_token = open(
        "infrastructure-acme",
        URL,
        &settings(&github, Some("t0ken")),
    );
    let error = with_token
        .fetch("v1.4.0", "components.yaml")
        .await
        .unwrap_err();
    insta::assert_snapshot!(explain(&error), @r#"
    failed to read "components.yaml" from provider's repository "infrastructure-acme"
    caused by: failed to get file "components.yaml" from "v1.4.0" release in `https://github.com/acme/provider/releases`
    hint: the release has `metadata.yaml`
    "#);
}

#[tokio::test]
async fn metadata_that_is_not_valid_does_not_hide_the_other_releases() {
    for bad in ["not: [valid", "", "apiVersion: v1\nkind: Metadata", "- a"] {
        let github = GitHub::start();
        add_release(&github, REPOSITORY, "v1.3.9", &SERIES);
        let files = [("metadata.yaml", bad), ("components.yaml", "")];
        github.add_release(REPOSITORY, "v1.4.0", &files);
        assert_eq!(latest(&github).await, "v1.3.9", "{bad:?}");
    }
}

/// As with clusterctl: the version is found, and what is wrong with it is told by whoever needs it.
#[tokio::test]
async fn when_no_release_is_complete_the_newest_with_metadata_is_taken() {
    let github = GitHub::start();
    let text = metadata(&[(1, 0, "v1beta2"), (2, 0, "v1beta3")]);
    for tag in ["v1.0.0", "v1.0.1", "v2.0.0"] {
        github.add_release(REPOSITORY, tag, &[("metadata.yaml", &text)]);
    }
    github.add_release(REPOSITORY, "v1.0.2", &[("components.yaml", "")]);
    assert_eq!(latest(&github).await, "v1.0.1");

    let github = GitHub::start();
    github.add_release(REPOSITORY, "v1.0.0", &[("metadata.yaml", "not: [valid")]);
    assert_eq!(latest(&github).await, "v1.0.0");
}

#[tokio::test]
async fn many_incomplete_releases_cost_nothing_and_hide_nothing() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &SERIES);
    for minor in 1..20 {
        github.add_release(REPOSITORY, &format!("v1.{minor}.0"), &[]);
    }
    assert_eq!(latest(&github).await, "v1.0.0");
    assert_eq!(take_requests(&github).len(), 2);
}

#[tokio::test]
async fn latest_is_the_newest_patch_of_the_newest_series_with_our_contract() {
    let github = GitHub::start();
    let series = [(1, 9, "v1beta2"), (2, 0, "v1beta3")];
    for tag in ["v1.9.0", "v1.9.4", "v2.0.1"] {
        add_release(&github, REPOSITORY, tag, &series);
    }
    assert_eq!(latest(&github).await, "v1.9.4");
    assert_eq!(
        take_requests(&github),
        [
            LIST,
            "download v2.0.1/metadata.yaml",
            "download v1.9.4/metadata.yaml"
        ]
    );
}

#[tokio::test]
async fn a_series_without_a_release_is_no_end_of_the_search() {
    let github = GitHub::start();
    let series = [
        (1, 8, "v1beta2"),
        (1, 9, "v1beta2"),
        (1, 10, "v1beta2"),
        (2, 0, "v1beta3"),
    ];
    for tag in ["v1.8.0", "v2.0.1"] {
        add_release(&github, REPOSITORY, tag, &series);
    }
    github.add_release(REPOSITORY, "v1.9.0", &[("components.yaml", "")]);
    assert_eq!(latest(&github).await, "v1.8.0");
}

#[tokio::test]
async fn the_newest_of_each_contract_is_known_from_one_file() {
    let github = GitHub::start();
    let series = [
        (0, 9, "v1beta1"),
        (1, 0, "v1beta1"),
        (1, 1, "v1beta2"),
        (1, 3, "v1beta3"),
    ];
    for tag in ["v0.9.0", "v1.0.3", "v1.0.4", "v1.1.0", "v1.2.0-rc.1"] {
        add_release(&github, REPOSITORY, tag, &series);
    }
    github.add_release(REPOSITORY, "v1.0.5", &[("metadata.yaml", "")]);
    let offers = provider(&github).offers().await.unwrap();
    let offers: Vec<(&str, &str)> = offers
        .iter()
        .map(|offer| (offer.contract.0.as_str(), offer.version.as_str()))
        .collect();
    assert_eq!(offers, [("v1beta2", "v1.1.0"), ("v1beta1", "v1.0.4")]);
    assert_eq!(take_requests(&github).len(), 2);
}

#[tokio::test]
async fn a_renamed_repository_is_followed_and_its_api_still_sees_the_token() {
    let github = GitHub::start();
    add_release(&github, REPOSITORY, "v1.0.0", &SERIES);
    github.accept_token("t0ken");
    github.rename(REPOSITORY, "other/name");
    let repository = open(
        "infrastructure-acme",
        URL,
        &settings(&github, Some("t0ken")),
    );
    assert_eq!(repository.default_version().await.unwrap(), "v1.0.0");
    let file = repository.fetch("v1.0.0", "components.yaml").await.unwrap();
    assert_eq!(file.text, "v1.0.0");
    let requests = github.requests();
    assert!(
        requests[1].path.starts_with("/repositories/"),
        "{requests:?}"
    );
    for request in requests {
        let expected = (request.host == "api.github.com").then(|| "Bearer t0ken".to_owned());
        assert_eq!(request.authorization, expected, "{request:?}");
    }
}

#[tokio::test]
async fn a_rate_limit_fails_at_once_and_says_when_it_ends() {
    for code in [403, 429] {
        let github = GitHub::start();
        add_release(&github, REPOSITORY, "v1.0.0", &SERIES);
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        let reset = (now + Duration::from_secs(17 * 60 - 20)).as_secs();
        github.fail(
            "api.github.com",
            Failure::RateLimitUntil(code, reset),
            usize::MAX,
        );
        let error = provider(&github).default_version().await.unwrap_err();
        assert_eq!(github.take_urls().len(), 1);
        let (hours, minutes) = (reset / 3600 % 24, reset / 60 % 60);
        let message = format!(
            "caused by: rate limit for github api has been reached, \
             until {hours:02}:{minutes:02} UTC, in 17 minutes\n"
        );
        let text = explain(&error);
        assert!(text.contains(&message), "{text}");
        assert!(
            text.contains("5,000 requests an hour instead of 60"),
            "{text}"
        );

        // A version that is named is downloaded all the same.
        let file = provider(&github).fetch("v1.0.0", "components.yaml").await;
        assert_eq!(file.unwrap().text, "v1.0.0");
    }
}

#[tokio::test]
async fn the_limit_of_a_token_asks_for_no_token() {
    let github = GitHub::start();
    github.fail("api.github.com", Failure::RateLimit, usize::MAX);
    let settings = settings(&github, Some("t0ken"));
    let error = open("infrastructure-acme", URL, &settings)
        .default_version()
        .await
        .unwrap_err();
    insta::assert_snapshot!(explain(&error), @r#"
    failed to get latest release of "infrastructure-acme"
    caused by: rate limit for github api has been reached, until 2096-10-02 07:06 UTC
    caused by: `https://api.github.com/repos/acme/provider/releases` answered 403 Forbidden: API rate limit exceeded for 192.0.2.1
    hint: the requests of the token in `GITHUB_TOKEN` are used up: wait, or use another token
    hint: a version that is named, as in `aws:v2.9.0`, is downloaded without a request that counts
    "#);
}
