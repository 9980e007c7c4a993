//! `--from` with addresses on GitHub: the variables that matter reach the requests, and warnings the user.

use crate::environment::TestEnvironment;
use crate::support::github::GitHub;

const LINK: &str = "acme/templates/blob/feature/x/a%20b.yaml?plain=1#L1";

/// Returns a stand-in for GitHub with one template, and an environment that leads to it.
fn environment() -> (GitHub, TestEnvironment) {
    let github = GitHub::start();
    github.add_file("acme/templates", "feature/x", "a b.yaml", "kind: ${KIND}\n");
    let environment = TestEnvironment::new().with("KIND", "Example");
    let environment = environment.led_to(&github);
    (github, environment)
}

#[test]
fn a_link_is_enough() {
    let (_github, environment) = environment();
    let line = format!("generate yaml --from https://github.com/{LINK}");
    insta::assert_snapshot!(environment.run(&line), @"
    status: 0
    ---- stdout
    kind: Example
    ---- stderr
    ");
}

#[test]
fn a_refused_token_is_named_once_and_public_files_are_read_without_it() {
    let (_github, environment) = environment();
    let environment = environment.with("GITHUB_TOKEN", "s3cret");
    let line = format!("generate cluster c -n d --from https://github.com/{LINK}");
    insta::assert_snapshot!(environment.run(&line), @"
    status: 0
    ---- stdout
    kind: Example
    metadata:
      namespace: d
    ---- stderr
    warning: GitHub refuses the token in `GITHUB_TOKEN`, going on without it: `https://api.github.com/repos/acme/templates/git/matching-refs/heads/feature` answered 401 Unauthorized: Bad credentials; renew or unset it
    ");
}

#[test]
fn an_enterprise_is_named_together_with_its_token() {
    let (github, environment) = environment();
    github.accept_token("enterprise");
    let environment = environment
        .with("GITHUB_TOKEN", "public")
        .with("GH_HOST", "ghe.acme.example")
        .with("GITHUB_ENTERPRISE_TOKEN", "enterprise");
    let line = format!("generate yaml --from https://ghe.acme.example/{LINK}");
    insta::assert_snapshot!(environment.run(&line), @"
    status: 0
    ---- stdout
    kind: Example
    ---- stderr
    ");
    let tokens: Vec<Option<String>> = github
        .requests()
        .into_iter()
        .map(|request| request.authorization)
        .collect();
    assert!(!tokens.is_empty());
    assert!(
        tokens
            .iter()
            .all(|token| token.as_deref() == Some("Bearer enterprise")),
        "{tokens:?}"
    );
}
