//! Templates from anywhere.

use std::fs;

use capictl::config::{Config, Environment};
use capictl::repository::source::fetch_template;

use super::support::github::{Failure, GitHub};
use super::*;

const REPOSITORY: &str = "acme/templates";

fn github() -> GitHub {
    let github = GitHub::start();
    github.add_file(REPOSITORY, "main", "folder/template.yaml", "contents");
    github.add_release(REPOSITORY, "v1.0.0", &[("template.yaml", "asset")]);
    github
}

async fn fetch(
    github: &GitHub,
    token: Option<&str>,
    from: &str,
) -> Result<String, capictl::repository::Error> {
    let stdin = || Ok(b"standard input".to_vec());
    let file = fetch_template(from, &settings(github, token), stdin).await?;
    Ok(file.text)
}

#[tokio::test]
async fn templates_come_from_standard_input_disk_and_urls() {
    let github = github();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b.yaml");
    fs::write(&path, "disk").unwrap();
    let url = format!("file://{}/a%20b.yaml", folder.path().display());
    for (from, text) in [
        ("-", "standard input"),
        (path.to_str().unwrap(), "disk"),
        (&url, "disk"),
        (
            "https://github.com/acme/templates/blob/main/folder/template.yaml",
            "contents",
        ),
        (
            "https://github.com/acme/templates/raw/main/folder/template.yaml",
            "contents",
        ),
        (
            "https://raw.githubusercontent.com/acme/templates/main/folder/template.yaml",
            "contents",
        ),
        (
            "https://github.com/acme/templates/releases/download/v1.0.0/template.yaml",
            "asset",
        ),
    ] {
        assert_eq!(fetch(&github, None, from).await.unwrap(), text, "{from}");
    }
}

#[tokio::test]
async fn private_repositories_are_read_with_the_token() {
    let github = github();
    github.make_private(REPOSITORY);
    github.accept_token("t0ken");
    for (from, text) in [
        (
            "https://github.com/acme/templates/blob/main/folder/template.yaml",
            "contents",
        ),
        (
            "https://github.com/acme/templates/releases/download/v1.0.0/template.yaml",
            "asset",
        ),
    ] {
        assert_eq!(fetch(&github, Some("t0ken"), from).await.unwrap(), text);
        assert!(fetch(&github, None, from).await.unwrap_err().is_not_found());
    }
}

/// Returns the settings with a GitHub Enterprise and its token.
fn with_enterprise(github: &GitHub, host: &str) -> Settings {
    let enterprise = Enterprise {
        host: host.into(),
        token: Some(Secret::new("enterprise-t0ken")),
    };
    settings(github, Some("t0ken")).with_enterprise(Some(enterprise))
}

async fn fetch_with(settings: &Settings, from: &str) -> Result<String, capictl::repository::Error> {
    let stdin = || unreachable!("standard input is not named");
    Ok(fetch_template(from, settings, stdin).await?.text)
}

/// Returns the explanations of the errors that these sources lead to.
async fn explain_all(settings: &Settings, sources: &[&str]) -> String {
    let mut report = Vec::new();
    for from in sources {
        let error = fetch_with(settings, from).await.unwrap_err();
        report.push(explain(&error));
    }
    report.join("\n\n")
}

#[tokio::test]
async fn a_branch_or_tag_may_have_slashes() {
    let github = github();
    github.add_file(REPOSITORY, "feature/new/api", "a/t.yaml", "branch");
    github.add_file(REPOSITORY, "feature/new-api", "a/t.yaml", "other branch");
    github.add_tagged_file(REPOSITORY, "charts/v1&2", "a b/t.yaml", "tag");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    github.add_file(REPOSITORY, commit, "t.yaml", "commit");
    let contents = "api.github.com/repos/acme/templates/contents";
    let references = "api.github.com/repos/acme/templates/git/matching-refs";
    for (link, text, requests) in [
        (
            "main/folder/template.yaml",
            "contents",
            vec!["folder/template.yaml?ref=main"],
        ),
        (
            &format!("{commit}/t.yaml"),
            "commit",
            vec![&format!("t.yaml?ref={commit}")],
        ),
        (
            "feature/new/api/a/t.yaml",
            "branch",
            vec![
                "new/api/a/t.yaml?ref=feature",
                "heads/feature",
                "a/t.yaml?ref=feature%2Fnew%2Fapi",
            ],
        ),
        (
            "refs/heads/feature/new/api/a/t.yaml",
            "branch",
            vec![
                "new/api/a/t.yaml?ref=refs%2Fheads%2Ffeature",
                "heads/feature",
                "a/t.yaml?ref=refs%2Fheads%2Ffeature%2Fnew%2Fapi",
            ],
        ),
        (
            "feature%2Fnew%2Fapi/a/t.yaml",
            "branch",
            vec!["a/t.yaml?ref=feature%2Fnew%2Fapi"],
        ),
        (
            "charts/v1&2/a b/t.yaml?plain=1#L2",
            "tag",
            vec![
                "v1&2/a%20b/t.yaml?ref=charts",
                "heads/charts",
                "tags/charts",
                "a%20b/t.yaml?ref=charts%2Fv1%262",
            ],
        ),
    ] {
        let from = format!("https://github.com/acme/templates/blob/{link}");
        assert_eq!(fetch(&github, None, &from).await.unwrap(), text, "{link}");
        let urls: Vec<String> = requests
            .into_iter()
            .map(|request| match request.contains('?') {
                true => format!("{contents}/{request}"),
                false => format!("{references}/{request}"),
            })
            .collect();
        assert_eq!(github.take_urls(), urls, "{link}");
    }
}

#[tokio::test]
async fn raw_files_of_private_repositories_are_read_with_the_token() {
    let github = github();
    github.add_file(REPOSITORY, "feature/x", "t.yaml", "branch");
    github.make_private(REPOSITORY);
    github.accept_token("t0ken");
    for from in [
        "https://github.com/acme/templates/raw/feature/x/t.yaml",
        "https://raw.githubusercontent.com/acme/templates/feature/x/t.yaml",
        "https://raw.githubusercontent.com/acme/templates/refs/heads/feature/x/t.yaml",
    ] {
        assert_eq!(fetch(&github, Some("t0ken"), from).await.unwrap(), "branch");
    }
    for request in github.requests() {
        let expected = (request.host == "api.github.com").then(|| "Bearer t0ken".to_owned());
        assert_eq!(request.authorization, expected, "{request:?}");
    }
}

/// The token of github.com is shown to no other host, and that of an enterprise to none but the one it is for.
#[tokio::test]
async fn an_enterprise_sees_its_own_token_alone() {
    let github = github();
    github.add_file(REPOSITORY, "feature/x", "t.yaml", "branch");
    github.accept_token("enterprise-t0ken");
    github.accept_token("t0ken");
    let known = with_enterprise(&github, "GHE.acme.example");
    for (from, text) in [
        (
            "https://ghe.acme.example/acme/templates/blob/main/folder/template.yaml",
            "contents",
        ),
        (
            "https://ghe.acme.example/acme/templates/blob/feature/x/t.yaml",
            "branch",
        ),
        (
            "https://ghe.acme.example/acme/templates/raw/main/folder/template.yaml",
            "contents",
        ),
        (
            "https://ghe.acme.example/acme/templates/releases/download/v1.0.0/template.yaml",
            "asset",
        ),
    ] {
        assert_eq!(fetch_with(&known, from).await.unwrap(), text, "{from}");
    }
    for request in github.requests() {
        let expected = match request.host.as_str() {
            "ghe.acme.example" => Some("Bearer enterprise-t0ken".to_owned()),
            _ => None,
        };
        assert_eq!(request.authorization, expected, "{request:?}");
    }
    github.take_urls();

    // A link alone is nobody's permission, whatever it looks like.
    let unknown = with_enterprise(&github, "git.acme.example");
    let link = "https://ghe.acme.example/acme/templates/blob/main/folder/template.yaml";
    insta::assert_snapshot!(explain_all(&unknown, &[link]).await, @"
    cannot read the template `https://ghe.acme.example/acme/templates/blob/main/folder/template.yaml`
    caused by: `https://ghe.acme.example/acme/templates/blob/main/folder/template.yaml` is a web page, not a file
    hint: if this is GitHub Enterprise, set `GH_HOST=ghe.acme.example`, and `GITHUB_ENTERPRISE_TOKEN` to a token for it
    hint: otherwise use the address of the raw file
    ");
    let requests = github.requests();
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert!(
        requests
            .iter()
            .all(|request| request.authorization.is_none()),
        "{requests:?}"
    );

    github.make_private(REPOSITORY);
    let missing = "https://ghe.acme.example/acme/other/blob/main/folder/template.yaml";
    insta::assert_snapshot!(explain_all(&known, &[missing]).await, @"
    cannot read the template `https://ghe.acme.example/acme/other/blob/main/folder/template.yaml`
    caused by: the repository `https://ghe.acme.example/acme/other` does not exist, or is private
    hint: if the repository is private, the token must be allowed to read it
    ");
    let wrong = settings(&github, None).with_enterprise(Some(Enterprise {
        host: "ghe.acme.example".into(),
        token: Some(Secret::new("old")),
    }));
    insta::assert_snapshot!(explain_all(&wrong, &[link]).await, @"
    cannot read the template `https://ghe.acme.example/acme/templates/blob/main/folder/template.yaml`
    caused by: GitHub refuses the token
    caused by: `https://ghe.acme.example/api/v3/repos/acme/templates/contents/folder/template.yaml` answered 401 Unauthorized: Bad credentials
    hint: renew `GITHUB_ENTERPRISE_TOKEN` (in the configuration file: `github-enterprise-token`), which goes to the host `GH_HOST`
    ");
    let none = settings(&github, None).with_enterprise(Some(Enterprise {
        host: "ghe.acme.example".into(),
        token: None,
    }));
    insta::assert_snapshot!(explain_all(&none, &[link]).await, @"
    cannot read the template `https://ghe.acme.example/acme/templates/blob/main/folder/template.yaml`
    caused by: GitHub asks for a token
    caused by: `https://ghe.acme.example/api/v3/repos/acme/templates/contents/folder/template.yaml` answered 401 Unauthorized: Must authenticate to access this API
    hint: set `GH_HOST=ghe.acme.example`, and `GITHUB_ENTERPRISE_TOKEN` to a token for it
    ");
}

/// What clusterctl fetches from such an address is fetched.
#[tokio::test]
async fn a_host_that_only_looks_like_github_is_taken_at_its_word() {
    let github = github();
    let files = settings(&github, Some("t0ken"));
    let file = "https://files.example/acme/templates/blob/folder/template.yaml";
    assert_eq!(fetch_with(&files, file).await.unwrap(), "contents");
    assert_eq!(github.take_urls().len(), 1);
    let missing = "https://files.example/acme/templates/blob/folder/missing.yaml";
    insta::assert_snapshot!(explain_all(&files, &[missing]).await, @"
    cannot read the template `https://files.example/acme/templates/blob/folder/missing.yaml`
    caused by: `https://files.example/acme/templates/blob/folder/missing.yaml` is a web page, not a file
    hint: if this is GitHub Enterprise, set `GH_HOST=files.example`, and `GITHUB_ENTERPRISE_TOKEN` to a token for it
    hint: otherwise use the address of the raw file
    ");
    assert!(
        github
            .requests()
            .iter()
            .all(|request| request.authorization.is_none())
    );
}

#[tokio::test]
async fn what_is_public_is_read_though_the_token_is_refused() {
    let github = github();
    let link = "https://github.com/acme/templates/blob/main/folder/template.yaml";
    assert_eq!(
        fetch(&github, Some("expired"), link).await.unwrap(),
        "contents"
    );
    let authorized: Vec<bool> = github
        .requests()
        .iter()
        .map(|request| request.authorization.is_some())
        .collect();
    assert_eq!(authorized, [true, false]);
    // An organisation that wants single sign-on refuses a token that is valid.
    github.accept_token("t0ken");
    github.fail("api.github.com", Failure::Status(403), 1);
    assert_eq!(
        fetch(&github, Some("t0ken"), link).await.unwrap(),
        "contents"
    );

    github.make_private(REPOSITORY);
    insta::assert_snapshot!(explain_all(&settings(&github, Some("expired")), &[link]).await, @"
    cannot read the template `https://github.com/acme/templates/blob/main/folder/template.yaml`
    caused by: GitHub refuses the token
    caused by: `https://api.github.com/repos/acme/templates/contents/folder/template.yaml` answered 401 Unauthorized: Bad credentials
    hint: renew or unset `GITHUB_TOKEN` (in the configuration file: `github-token`); public releases need none
    ");
}

#[tokio::test]
async fn without_requests_left_the_raw_host_gives_what_is_public() {
    let github = github();
    github.add_file(REPOSITORY, "feature/x", "t.yaml", "branch");
    github.fail("api.github.com", Failure::RateLimit, usize::MAX);
    let link = "https://github.com/acme/templates/blob/feature/x/t.yaml";
    assert_eq!(fetch(&github, None, link).await.unwrap(), "branch");
    let hosts: Vec<String> = github
        .requests()
        .into_iter()
        .map(|request| request.host)
        .collect();
    assert_eq!(hosts, ["api.github.com", "raw.githubusercontent.com"]);
    let missing = "https://github.com/acme/templates/blob/main/missing.yaml";
    insta::assert_snapshot!(explain_all(&settings(&github, None), &[missing]).await, @"
    cannot read the template `https://github.com/acme/templates/blob/main/missing.yaml`
    caused by: rate limit for github api has been reached, until 2096-10-02 07:06 UTC
    caused by: `https://api.github.com/repos/acme/templates/contents/missing.yaml` answered 403 Forbidden: API rate limit exceeded for 192.0.2.1
    hint: get a personal API token and assign it to the GITHUB_TOKEN environment variable: it allows 5,000 requests an hour instead of 60
    ");
}

#[tokio::test]
async fn paths_mean_what_they_mean_to_clusterctl_unless_there_is_such_a_file() {
    let github = GitHub::start();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("a b.yaml"), "decoded").unwrap();
    let settings = settings(&github, None);
    for from in ["a b.yaml", "a%20b.yaml", "a%20b.yaml?x#y"] {
        assert_eq!(fetch_with(&settings, &path(from)).await.unwrap(), "decoded");
    }
    fs::write(path("a%20b.yaml"), "as written").unwrap();
    assert_eq!(
        fetch_with(&settings, &path("a%20b.yaml")).await.unwrap(),
        "as written"
    );
}

#[tokio::test]
async fn what_is_missing_on_github_is_named_with_what_there_is() {
    let github = github();
    github.add_file(REPOSITORY, "main", "folder/other.yaml", "");
    github.add_release(REPOSITORY, "v1.0.0", &[("metadata.yaml", "")]);
    github.add_file("acme/private", "main", "template.yaml", "");
    github.make_private("acme/private");
    github.accept_token("t0ken");
    let sources = [
        "https://github.com/acme/templates/blob/main/folder",
        "https://github.com/acme/templates/tree/main/folder",
        "https://github.com/acme/templates/raw/main/folder",
        "https://github.com/acme/templates/blob/main/folder/templat.yaml",
        "https://github.com/acme/templates/blob/main/nowhere/template.yaml",
        "https://github.com/acme/templates/blob/mian/folder/template.yaml",
        "https://github.com/acme/templates/blob/mian/template.yaml",
        "https://github.com/acme/private/blob/main/template.yaml",
        "https://github.com/acme/private/raw/main/template.yaml",
        "https://github.com/acme/templates/releases/download/v1.0.0/templates.yaml",
        "https://github.com/acme/templates/releases/download/v2.0.0/template.yaml",
        "https://github.com/acme/templates/releases/tag/v1.0.0",
    ];
    insta::assert_snapshot!(explain_all(&settings(&github, None), &sources).await, @r#"
    cannot read the template `https://github.com/acme/templates/blob/main/folder`
    caused by: `https://github.com/acme/templates/blob/main/folder` is a folder, not a file
    hint: it contains `other.yaml`, `template.yaml`

    cannot read the template `https://github.com/acme/templates/tree/main/folder`
    caused by: `https://github.com/acme/templates/tree/main/folder` is a folder, not a file
    hint: it contains `other.yaml`, `template.yaml`

    cannot read the template `https://github.com/acme/templates/raw/main/folder`
    caused by: `https://github.com/acme/templates/raw/main/folder` is a folder, not a file
    hint: it contains `other.yaml`, `template.yaml`

    cannot read the template `https://github.com/acme/templates/blob/main/folder/templat.yaml`
    caused by: the file `folder/templat.yaml` does not exist at `main` of `https://github.com/acme/templates`
    hint: did you mean `template.yaml`?
    hint: its folder has `other.yaml`, `template.yaml`

    cannot read the template `https://github.com/acme/templates/blob/main/nowhere/template.yaml`
    caused by: the file `nowhere/template.yaml` does not exist at `main` of `https://github.com/acme/templates`

    cannot read the template `https://github.com/acme/templates/blob/mian/folder/template.yaml`
    caused by: no branch, tag or commit of `https://github.com/acme/templates` is what `mian/folder/template.yaml` begins with
    hint: `https://github.com/acme/templates/branches` and `https://github.com/acme/templates/tags` list them

    cannot read the template `https://github.com/acme/templates/blob/mian/template.yaml`
    caused by: no branch, tag or commit of `https://github.com/acme/templates` is what `mian/template.yaml` begins with
    hint: `https://github.com/acme/templates/branches` and `https://github.com/acme/templates/tags` list them

    cannot read the template `https://github.com/acme/private/blob/main/template.yaml`
    caused by: the repository `https://github.com/acme/private` does not exist, or is private
    hint: if the repository is private, set `GITHUB_TOKEN`

    cannot read the template `https://github.com/acme/private/raw/main/template.yaml`
    caused by: `https://github.com/acme/private/raw/main/template.yaml` does not exist
    hint: if the repository is private, set `GITHUB_TOKEN`

    cannot read the template `https://github.com/acme/templates/releases/download/v1.0.0/templates.yaml`
    caused by: failed to get file "templates.yaml" from "v1.0.0" release in `https://github.com/acme/templates/releases`
    hint: did you mean `template.yaml`?
    hint: the release has `metadata.yaml`, `template.yaml`

    cannot read the template `https://github.com/acme/templates/releases/download/v2.0.0/template.yaml`
    caused by: `https://github.com/acme/templates/releases/download/v2.0.0/template.yaml` does not exist
    hint: `https://github.com/acme/templates/releases` lists the releases and their files
    hint: if the repository is private, set `GITHUB_TOKEN`

    cannot read the template `https://github.com/acme/templates/releases/tag/v1.0.0`
    caused by: unknown github URL: `https://github.com/acme/templates/releases/tag/v1.0.0`
    hint: a file is `https://github.com/{owner}/{repository}/blob/{branch, tag or commit}/{path}`, an asset `https://github.com/{owner}/{repository}/releases/download/{tag}/{file}`
    "#);
    let other = ["https://github.com/acme/other/blob/main/template.yaml"];
    insta::assert_snapshot!(explain_all(&settings(&github, Some("t0ken")), &other).await, @"
    cannot read the template `https://github.com/acme/other/blob/main/template.yaml`
    caused by: the repository `https://github.com/acme/other` does not exist, or is private
    hint: if the repository is private, the token must be allowed to read it
    ");
}

#[tokio::test]
async fn templates_that_cannot_be_read_say_why() {
    let github = github();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("binary"), b"\xff").unwrap();
    let path = folder.path().to_str().unwrap();
    let mut report = explain_all(
        &settings(&github, None),
        &[
            path,
            &format!("{path}/binarry"),
            &format!("{path}/template.yaml"),
            &format!("{path}/binary"),
            "~/template.yaml",
            "github.com/acme/templates/blob/main/folder/template.yaml",
            "file://template.yaml",
            "https://raw.githubusercontent.com/acme/templates/main/missing.yaml?token=s3cret",
            "https://files.example/missing.yaml",
            "oci://example.com/template",
        ],
    )
    .await;
    let stdin = || Err(std::io::Error::other("closed"));
    let error = fetch_template("-", &settings(&github, None), stdin).await;
    report += &format!("\n\n{}", explain(&error.unwrap_err()));
    assert!(!report.contains("s3cret"), "{report}");
    insta::assert_snapshot!(report.replace(path, "FOLDER"), @"
    cannot read the template `FOLDER`
    caused by: `FOLDER` is a folder, not a file
    hint: it contains `binary`

    cannot read the template `FOLDER/binarry`
    caused by: the file `FOLDER/binarry` does not exist
    hint: did you mean `FOLDER/binary`?

    cannot read the template `FOLDER/template.yaml`
    caused by: the file `FOLDER/template.yaml` does not exist

    cannot read the template `FOLDER/binary`
    caused by: `FOLDER/binary` is not UTF-8 text

    cannot read the template `~/template.yaml`
    caused by: the file `~/template.yaml` does not exist
    hint: a shell replaces `~` only at the beginning of a word: write `--from ~/...` without `=`, or `$HOME`

    cannot read the template `github.com/acme/templates/blob/main/folder/template.yaml`
    caused by: the file `github.com/acme/templates/blob/main/folder/template.yaml` does not exist
    hint: an address on the web begins with `https://`: `https://github.com/acme/templates/blob/main/folder/template.yaml`

    cannot read the template `file://template.yaml/`
    caused by: it is not a valid URL
    hint: a file URL has three slashes, as `file:///folder/template.yaml`; a path needs no `file:`

    cannot read the template `https://raw.githubusercontent.com/acme/templates/main/missing.yaml`
    caused by: `https://raw.githubusercontent.com/acme/templates/main/missing.yaml` does not exist
    hint: if the repository is private, set `GITHUB_TOKEN`

    cannot read the template `https://files.example/missing.yaml`
    caused by: `https://files.example/missing.yaml` answered 404 Not Found

    cannot read the template `oci://example.com/template`
    caused by: there is no way to read from `oci:` URLs
    hint: use `-` for standard input, a path, or an http(s) URL

    cannot read the template `-`
    caused by: cannot read standard input
    caused by: closed
    ");
}

#[tokio::test]
async fn the_configuration_may_come_from_a_url_and_stays_in_memory() {
    let github = github();
    github.add_file(REPOSITORY, "main", "clusterctl.txt", "FOO: bar\n");
    let home = tempfile::tempdir().unwrap();
    let environment = || Environment::from_pairs([("HOME", home.path().to_str().unwrap())]);
    let url = "https://raw.githubusercontent.com/acme/templates/main/clusterctl.txt";
    let http = client(&github);
    let config = Config::load(Some(url), environment(), &http).await.unwrap();
    assert_eq!(config.variable("FOO").as_deref(), Some("bar"));
    assert_eq!(config.path(), None);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    let missing = format!("{url}.missing?token=s3cret");
    let error = Config::load(Some(&missing), environment(), &http)
        .await
        .unwrap_err();
    insta::assert_snapshot!(explain(&error), @r"
    failed to download the clusterctl config file from `https://raw.githubusercontent.com/acme/templates/main/clusterctl.txt.missing`
    caused by: `https://raw.githubusercontent.com/acme/templates/main/clusterctl.txt.missing` answered 404 Not Found
    ");
}
