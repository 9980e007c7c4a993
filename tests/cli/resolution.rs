//! Which version a command takes from GitHub, what it asks for that, and what it says when GitHub refuses.

use std::time::{Duration, SystemTime};

use crate::environment::TestEnvironment;
use crate::generate_provider::COMPONENTS;
use crate::support::github::{Failure, GitHub};

const REPOSITORY: &str = "acme/demo";
const METADATA: &str = "\
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 1, minor: 9, contract: v1beta1}
- {major: 1, minor: 10, contract: v1beta2}
";

/// Returns a stand-in for GitHub with v1.9.0, v1.10.5, and v1.10.6, which has no metadata; and an environment with the
/// provider `demo`, led to it.
pub fn environment() -> (GitHub, TestEnvironment) {
    let github = GitHub::start();
    let components = ("components.yaml", COMPONENTS);
    for tag in ["v1.9.0", "v1.10.5"] {
        github.add_release(REPOSITORY, tag, &[components, ("metadata.yaml", METADATA)]);
    }
    github.add_release(REPOSITORY, "v1.10.6", &[components]);
    let environment = TestEnvironment::new().with("EXAMPLE_TOKEN", "abc");
    environment.write(
        "home/.config/cluster-api/clusterctl.yaml",
        "providers:\n- name: demo\n  type: InfrastructureProvider\n  \
         url: https://github.com/acme/demo/releases/latest/components.yaml\n",
    );
    let environment = environment.led_to(&github);
    (github, environment)
}

#[test]
fn a_pinned_version_touches_no_other() {
    let (github, environment) = environment();
    let run = environment.run("generate provider --infrastructure demo:v1.10.5");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("--token=abc"), "{run}");
    let urls = github.take_urls();
    let (downloads, others): (Vec<&String>, Vec<&String>) = urls
        .iter()
        .partition(|url| url.starts_with("github.com/acme/demo/releases/download/v1.10.5/"));
    assert_eq!(downloads.len(), 2, "{urls:?}");
    assert!(
        others
            .iter()
            .all(|url| url.starts_with("objects.githubusercontent.com/")),
        "{urls:?}"
    );

    // The second time everything is there already.
    let again = environment.run("generate provider --infrastructure demo:v1.10.5");
    assert_eq!(again.stdout, run.stdout);
    assert!(github.take_urls().is_empty());
}

#[test]
fn an_incomplete_release_is_named_and_passed_over() {
    let (github, environment) = environment();
    let run = environment.run("generate provider -i demo --describe");
    assert!(run.stdout.contains("Version:            v1.10.5"), "{run}");
    insta::assert_snapshot!(run.stderr, @"
    warning: `infrastructure-demo` v1.10.6 is passed over, v1.10.5 is taken for the latest: it has no `metadata.yaml`
    ");
    let urls = github.take_urls();
    assert!(!urls.iter().any(|url| url.contains("v1.10.6")), "{urls:?}");
}

#[test]
fn a_rate_limit_ends_the_command_at_once() {
    let (github, environment) = environment();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let reset = (now.unwrap() + Duration::from_secs(17 * 60 - 20)).as_secs();
    let failure = Failure::RateLimitUntil(403, reset);
    github.fail("api.github.com", failure, usize::MAX);
    let run = environment.run("generate provider -i demo");
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    let time = format!("{:02}:{:02} UTC", reset / 3600 % 24, reset / 60 % 60);
    insta::assert_snapshot!(run.stderr.replace(&time, "[TIME]"), @r#"
    error: failed to get provider components for the "demo" provider
      caused by: failed to get latest release of "infrastructure-demo"
      caused by: rate limit for github api has been reached, until [TIME], in 17 minutes
      caused by: `https://api.github.com/repos/acme/demo/releases` answered 403 Forbidden: API rate limit exceeded for 192.0.2.1
    hint: get a personal API token and assign it to the GITHUB_TOKEN environment variable: it allows 5,000 requests an hour instead of 60
    hint: a version that is named, as in `aws:v2.9.0`, is downloaded without a request that counts
    "#);
    assert_eq!(github.take_urls().len(), 1);
    let pinned = environment.run("generate provider -i demo:v1.10.5");
    assert_eq!((pinned.status, pinned.stderr.as_str()), (0, ""));
}

#[test]
fn a_refused_token_is_named_and_never_shown() {
    let (_github, environment) = environment();
    let environment = environment.with("GITHUB_TOKEN", "wrong-token");
    let run = environment.run("generate provider -i demo -v 9");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stdout.contains("--token=abc"), "{run}");
    assert!(!run.to_string().contains("wrong-token"), "{run}");
    let warnings = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("warning:"));
    let warnings: Vec<&str> = warnings.collect();
    insta::assert_snapshot!(warnings.join("\n"), @"
    warning: GitHub refuses the token in `GITHUB_TOKEN`, going on without it: `https://api.github.com/repos/acme/demo/releases` answered 401 Unauthorized: Bad credentials; renew or unset it
    warning: `infrastructure-demo` v1.10.6 is passed over, v1.10.5 is taken for the latest: it has no `metadata.yaml`
    ");
}

#[test]
fn a_refused_token_hides_a_private_repository() {
    let (github, environment) = environment();
    github.make_private(REPOSITORY);
    let environment = environment.with("GITHUB_TOKEN", "wrong-token");
    insta::assert_snapshot!(environment.failures(&["generate provider -i demo"]), @r#"
    $ capictl generate provider -i demo
    error: failed to get provider components for the "demo" provider
      caused by: failed to get latest release of "infrastructure-demo"
      caused by: GitHub refuses the token
      caused by: `https://api.github.com/repos/acme/demo/releases` answered 401 Unauthorized: Bad credentials
    hint: renew or unset `GITHUB_TOKEN` (in the configuration file: `github-token`); public releases need none
    "#);
}
