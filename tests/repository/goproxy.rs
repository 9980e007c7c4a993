//! Versions from Go module proxies.

use capictl::repository::goproxy::GoProxy;

use super::support::github::{Failure, GitHub};
use super::*;

const REPOSITORY: &str = "Acme/provider";
const MODULE: &str = "/go/mirror/github.com/!acme/provider";

fn provider(github: &GitHub, proxies: &str) -> ProviderRepository {
    let settings = settings(github, None).with_go_proxy(GoProxy::parse(proxies));
    let url = format!("https://github.com/{REPOSITORY}/releases/latest/components.yaml");
    open("infrastructure-acme", &url, &settings)
}

/// Returns a stand-in with releases at GitHub, of which the proxy knows one less, and a tag more.
fn start() -> GitHub {
    let github = GitHub::start();
    let metadata = metadata(&[(1, 0, "v1beta2"), (2, 0, "v1beta2")]);
    for tag in ["v1.0.0", "v1.1.0", "v2.0.0"] {
        github.add_release(REPOSITORY, tag, &[("metadata.yaml", &metadata)]);
    }
    github.add_list(&format!("{MODULE}/@v/list"), "v1.0.0\nv1.2.0\n");
    github.add_list(&format!("{MODULE}/v2/@v/list"), "v2.0.0\nv2.1.0\n");
    github
}

async fn versions(github: &GitHub, proxies: &str) -> Vec<String> {
    let versions = provider(github, proxies).versions().await.unwrap();
    versions.iter().map(ToString::to_string).collect()
}

const OF_PROXY: [&str; 4] = ["v1.0.0", "v1.2.0", "v2.0.0", "v2.1.0"];
const OF_GITHUB: [&str; 3] = ["v1.0.0", "v1.1.0", "v2.0.0"];

#[tokio::test]
async fn the_lists_of_all_major_versions_are_asked_below_the_path_of_the_proxy() {
    let github = start();
    assert_eq!(
        versions(&github, "https://go.example/go/mirror/").await,
        OF_PROXY
    );
    let expected = ["", "/v2", "/v3"].map(|major| format!("go.example{MODULE}{major}/@v/list"));
    assert_eq!(github.take_urls(), expected);
}

#[tokio::test]
async fn tags_without_a_release_are_passed_over() {
    let github = start();
    let repository = provider(&github, "https://go.example/go/mirror");
    assert_eq!(repository.default_version().await.unwrap(), "v2.0.0");
    let urls = github.take_urls();
    assert!(
        !urls.iter().any(|url| url.contains("releases?per_page")),
        "{urls:?}"
    );
}

#[tokio::test]
async fn the_next_proxy_is_asked_as_the_list_says() {
    let broken = "https://go.example/broken";
    let good = "https://go.example/go/mirror";
    for (proxies, expected) in [
        // It lacks the module.
        (format!("https://go.example/empty,{good}"), &OF_PROXY[..]),
        (format!("https://go.example/empty|{good}"), &OF_PROXY),
        // It fails.
        (format!("{broken}|{good}"), &OF_PROXY),
        (format!("{broken},{good}"), &OF_GITHUB),
        // Nothing is left but GitHub.
        ("https://go.example/empty".into(), &OF_GITHUB),
        (
            format!("https://go.example/empty,direct,{good}"),
            &OF_GITHUB,
        ),
        (format!("off,{good}"), &OF_GITHUB),
        ("direct".into(), &OF_GITHUB),
    ] {
        let github = start();
        github.fail("go.example/broken", Failure::Status(500), usize::MAX);
        assert_eq!(versions(&github, &proxies).await, expected, "{proxies}");
    }
}

#[tokio::test]
async fn a_list_that_is_not_whole_is_none() {
    let github = start();
    github.fail("/v2/@v/list", Failure::Status(500), usize::MAX);
    assert_eq!(
        versions(&github, "https://go.example/go/mirror").await,
        OF_GITHUB
    );
}
