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

#[tokio::test]
async fn templates_that_cannot_be_read_say_why() {
    let github = github();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("binary"), b"\xff").unwrap();
    let path = folder.path().to_str().unwrap();
    github.fail("limited.yaml", Failure::RateLimit, usize::MAX);
    let mut report = String::new();
    for from in [
        path,
        &format!("{path}/missing.yaml"),
        &format!("{path}/binary"),
        "https://github.com/acme/templates/blob/main/folder",
        "https://github.com/acme/templates/blob/main/missing.yaml",
        "https://github.com/acme/templates/blob/main/limited.yaml",
        "https://github.com/acme/templates/raw/main/folder",
        "https://github.com/acme/templates/tree/main/folder",
        "https://github.com/acme/templates/releases/download/v1.0.0/missing.yaml",
        "https://raw.githubusercontent.com/acme/templates/main/missing.yaml?token=s3cret",
        "oci://example.com/template",
    ] {
        let error = fetch(&github, None, from).await.unwrap_err();
        report += &format!("{}\n\n", explain(&error));
    }
    let stdin = || Err(std::io::Error::other("closed"));
    let error = fetch_template("-", &settings(&github, None), stdin).await;
    report += &explain(&error.unwrap_err());
    assert!(!report.contains("s3cret"), "{report}");
    insta::assert_snapshot!(report.replace(path, "~"), @r"
    cannot read the template `~`
    caused by: `~` is a folder, not a file
    hint: it contains `binary`

    cannot read the template `~/missing.yaml`
    caused by: the file `~/missing.yaml` does not exist

    cannot read the template `~/binary`
    caused by: `~/binary` is not UTF-8 text

    cannot read the template `https://github.com/acme/templates/blob/main/folder`
    caused by: `https://github.com/acme/templates/blob/main/folder` is a folder, not a file

    cannot read the template `https://github.com/acme/templates/blob/main/missing.yaml`
    caused by: `https://api.github.com/repos/acme/templates/contents/missing.yaml` does not exist
    hint: if the repository is private, set `GITHUB_TOKEN`

    cannot read the template `https://github.com/acme/templates/blob/main/limited.yaml`
    caused by: rate limit for github api has been reached. Please wait one hour or get a personal API token and assign it to the GITHUB_TOKEN environment variable
    caused by: `https://api.github.com/repos/acme/templates/contents/limited.yaml` answered 403 Forbidden: API rate limit exceeded for 192.0.2.1

    cannot read the template `https://github.com/acme/templates/raw/main/folder`
    caused by: `https://github.com/acme/templates/raw/main/folder` is a web page, not a file
    hint: use the address of the raw file

    cannot read the template `https://github.com/acme/templates/tree/main/folder`
    caused by: unknown github URL: `https://github.com/acme/templates/tree/main/folder`
    hint: a file is `https://github.com/{owner}/{repository}/blob/{branch, tag or commit}/{path}`, an asset `https://github.com/{owner}/{repository}/releases/download/{tag}/{file}`

    cannot read the template `https://github.com/acme/templates/releases/download/v1.0.0/missing.yaml`
    caused by: `https://github.com/acme/templates/releases/download/v1.0.0/missing.yaml` does not exist
    hint: `https://github.com/acme/templates/releases` lists the releases and their files
    hint: if the repository is private, set `GITHUB_TOKEN`

    cannot read the template `https://raw.githubusercontent.com/acme/templates/main/missing.yaml`
    caused by: `https://raw.githubusercontent.com/acme/templates/main/missing.yaml` answered 404 Not Found

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
