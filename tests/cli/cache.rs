//! `capictl cache`, and what commands say about downloads that are kept.

use crate::resolution::environment;

const LINE: &str = "generate provider --raw --infrastructure demo:v1.10.5";

#[test]
fn what_is_downloaded_is_listed_and_cleared() {
    let (github, environment) = environment();
    insta::assert_snapshot!(environment.run("cache list"), @"
    status: 0
    ---- stdout
         BYTES  SHA-256       URL
    ---- stderr
    ");
    assert_eq!(environment.run(LINE).status, 0);
    insta::assert_snapshot!(environment.run("cache list"), @"
    status: 0
    ---- stdout
         BYTES  SHA-256       URL
           385  f9b0fc4f791c  https://github.com/acme/demo/releases/download/v1.10.5/components.yaml
           164  88e7c68724a5  https://github.com/acme/demo/releases/download/v1.10.5/metadata.yaml
    ---- stderr
    ");
    let listed = environment.run("cache list -o json").stdout;
    assert!(
        listed.contains("\"sha256\"") && listed.contains("\"stored\""),
        "{listed}"
    );
    github.take_urls();
    let offline = environment.run(&format!("{LINE} --offline"));
    assert_eq!(offline.status, 0, "{offline}");
    assert_eq!(github.take_urls(), Vec::<String>::new());
    insta::assert_snapshot!(environment.run("cache clear"), @"
    status: 0
    ---- stdout
    ---- stderr
    Removed 2 downloads, 1165 bytes, from `[FOLDER]/home/.cache/capictl`
    ");
    insta::assert_snapshot!(environment.run(&format!("{LINE} --offline")), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: failed to get provider components for the "demo:v1.10.5" provider
      caused by: failed to read "components.yaml" from provider's repository "infrastructure-demo"
      caused by: `https://github.com/acme/demo/releases/download/v1.10.5/components.yaml` is not in the download cache, and `--offline` keeps from fetching it
    hint: run the command once without `--offline`; `capictl cache list` shows what is there
    "#);
}

/// A cache that cannot be kept costs nothing else, and is told of once.
#[test]
fn a_folder_that_cannot_be_written_is_told_of_once() {
    let (_github, environment) = environment();
    let environment = environment.with("XDG_CACHE_HOME", "/dev/null/x");
    let run = environment.run(LINE);
    assert!(run.stdout.contains("kind: "), "{run}");
    insta::assert_snapshot!(run.stderr, @"
    warning: downloads are not kept, for `/dev/null/x/capictl` cannot be written: Not a directory (os error 20)
    ");
    assert_eq!(run.status, 0);
}

#[test]
fn tokens_are_in_no_output_and_in_no_file() {
    let (github, environment) = environment();
    github.make_private("acme/demo");
    github.accept_token("gh-s3cret-token");
    let environment = environment.with("GITHUB_TOKEN", "gh-s3cret-token");
    for verbosity in ["0", "5", "10"] {
        let run = environment.run(&format!("{LINE} -v {verbosity}"));
        assert_eq!(run.status, 0, "{run}");
        assert!(!run.to_string().contains("s3cret"), "{run}");
        environment.run("cache list");
    }
    let folder = environment.path("home/.cache/capictl");
    let entries: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(entries.len() >= 2);
    for entry in entries {
        let content = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&content).contains("s3cret"));
    }
}

#[test]
fn a_file_of_certificates_must_be_one() {
    let (_github, environment) = environment();
    environment.write("empty.pem", "");
    let lines = [
        "generate provider --infrastructure demo:v1.10.5 --ca-file missing.pem",
        "generate provider --infrastructure demo:v1.10.5 --ca-file empty.pem",
    ];
    insta::assert_snapshot!(environment.failures(&lines), @"
    $ capictl generate provider --infrastructure demo:v1.10.5 --ca-file missing.pem
    error: cannot read `missing.pem`
      caused by: No such file or directory (os error 2)
    hint: `--ca-file` takes a PEM file of CA certificates

    $ capictl generate provider --infrastructure demo:v1.10.5 --ca-file empty.pem
    error: `empty.pem` has no PEM certificate in it
    hint: `--ca-file` takes a PEM file of CA certificates
    ");
}
