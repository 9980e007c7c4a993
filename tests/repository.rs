//! Repositories: a stand-in for GitHub and GitLab at the socket, folders on disk and on the web, and what is embedded.

#[path = "repository/cache.rs"]
mod cache;
#[path = "repository/connections.rs"]
mod connections;
#[path = "repository/embedded.rs"]
mod embedded;
#[path = "repository/faults.rs"]
mod faults;
#[path = "repository/folder.rs"]
mod folder;
#[path = "repository/github.rs"]
mod github;
#[path = "repository/gitlab.rs"]
mod gitlab;
#[path = "repository/goproxy.rs"]
mod goproxy;
#[path = "repository/http.rs"]
mod http;
#[path = "repository/latest.rs"]
mod latest;
#[path = "repository/local.rs"]
mod local;
#[path = "repository/servers.rs"]
mod servers;
#[path = "repository/source.rs"]
mod source;
mod support;

use std::time::Duration;

use capictl::error::Explain;
use capictl::http::{Http, Options};
use capictl::model::Secret;
use capictl::repository::fetcher::Fetcher;
use capictl::repository::store::Store;
use capictl::repository::{Enterprise, ProviderRepository, Settings};
use support::github::GitHub;

/// Returns a client that is led to the stand-in and does not dawdle between retries.
fn client(github: &GitHub) -> Http {
    Http::with_options(Options {
        proxy: Some(github.proxy_url().into()),
        extra_certificates: Some(github.ca_pem().into()),
        first_delay: Duration::from_millis(1),
        ..Options::new("capictl-test")
    })
}

/// A way to download that keeps nothing.
fn uncached(http: Http) -> Fetcher {
    Fetcher::new(http, Store::new(None), false)
}

fn settings(github: &GitHub, token: Option<&str>) -> Settings {
    Settings::new(uncached(client(github)), token.map(Secret::new), None)
}

fn open(label: &str, url: &str, settings: &Settings) -> ProviderRepository {
    ProviderRepository::open(label, url, settings).unwrap()
}

/// Publishes a complete release, whose components are the name of its tag.
fn add_release(github: &GitHub, repository: &str, tag: &str, series: &[(u64, u64, &str)]) {
    let metadata = metadata(series);
    let files = [
        ("metadata.yaml", metadata.as_str()),
        ("components.yaml", tag),
    ];
    github.add_release(repository, tag, &files);
}

/// Returns a `metadata.yaml` of series and contracts.
fn metadata(series: &[(u64, u64, &str)]) -> String {
    let mut text = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\n".to_owned();
    text += "releaseSeries:\n";
    for (major, minor, contract) in series {
        text += &format!("- {{major: {major}, minor: {minor}, contract: {contract}}}\n");
    }
    text
}

/// Returns an error, its causes and its hints as a user reads them.
fn explain(error: &(impl Explain + 'static)) -> String {
    let mut lines = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        lines.push(format!("caused by: {cause}"));
        source = cause.source();
    }
    let hints = error.hints();
    lines.extend(hints.into_iter().map(|hint| format!("hint: {hint}")));
    lines.join("\n")
}
