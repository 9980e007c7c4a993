//! The download cache: nothing is asked for twice, and nothing wrong ever comes out of it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::servers::{COMPONENTS_FILE, Server};
use super::support::github::{Failure, GitHub};
use super::support::random::Random;
use super::*;

const PROVIDER: &str =
    "https://github.com/acme/demo/releases/latest/infrastructure-components.yaml";
const FILE: &str = "infrastructure-components.yaml";
const VERSIONS: [&str; 3] = ["v1.0.0", "v1.1.0", "v1.1.1"];

/// The components of a version: long enough to be cut in the middle, and different for each.
fn components(version: &str) -> String {
    let mut text = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: demo-system\n".to_owned();
    for number in 0..2_000 {
        text += &format!("# {version} {number}\n");
    }
    text
}

fn published() -> GitHub {
    let github = GitHub::start();
    let metadata = metadata(&[(1, 0, "v1beta2"), (1, 1, "v1beta2")]);
    for version in VERSIONS {
        let files = [
            (FILE, components(version)),
            ("metadata.yaml", metadata.clone()),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        github.add_release("acme/demo", version, &files);
    }
    github
}

fn cached(github: &GitHub, folder: &Path, offline: bool) -> Settings {
    let store = Store::new(Some(folder.to_owned()));
    Settings::new(Fetcher::new(client(github), store, offline), None, None)
}

async fn read(settings: &Settings, version: &str) -> Result<String, String> {
    let repository = open("infrastructure-demo", PROVIDER, settings);
    match repository.fetch(version, FILE).await {
        Ok(file) => Ok(file.text),
        Err(error) => Err(explain(&error)),
    }
}

#[tokio::test]
async fn a_file_is_fetched_once_and_is_there_offline() {
    let github = published();
    let folder = tempfile::tempdir().unwrap();
    let online = || cached(&github, folder.path(), false);
    assert_eq!(read(&online(), "v1.0.0").await, Ok(components("v1.0.0")));
    assert_eq!(github.take_urls().len(), 2, "the page and the file");
    assert_eq!(read(&online(), "v1.0.0").await, Ok(components("v1.0.0")));
    assert_eq!(github.take_urls(), Vec::<String>::new());
    let offline = cached(&github, folder.path(), true);
    assert_eq!(read(&offline, "v1.0.0").await, Ok(components("v1.0.0")));
    let error = read(&offline, "v1.1.0").await.unwrap_err();
    insta::assert_snapshot!(error, @r#"
    failed to read "infrastructure-components.yaml" from provider's repository "infrastructure-demo"
    caused by: `https://github.com/acme/demo/releases/download/v1.1.0/infrastructure-components.yaml` is not in the download cache, and `--offline` keeps from fetching it
    hint: run the command once without `--offline`; `capictl cache list` shows what is there
    "#);
    assert_eq!(github.take_urls(), Vec::<String>::new());
}

#[tokio::test]
async fn a_listing_is_sent_again_only_when_it_has_changed() {
    let github = published();
    let folder = tempfile::tempdir().unwrap();
    let latest = async |offline| {
        let settings = cached(&github, folder.path(), offline);
        let repository = open("infrastructure-demo", PROVIDER, &settings);
        repository.default_version().await.unwrap()
    };
    assert_eq!(latest(false).await, "v1.1.1");
    github.take_urls();
    assert_eq!(latest(false).await, "v1.1.1");
    let requests = github.requests();
    let conditional: Vec<bool> = requests
        .iter()
        .map(|request| request.if_none_match.is_some())
        .collect();
    assert_eq!(conditional, [true], "{requests:?}");
    assert_eq!(latest(true).await, "v1.1.1");
    github.add_release(
        "acme/demo",
        "v1.1.2",
        &[
            (FILE, "x: 1"),
            ("metadata.yaml", &metadata(&[(1, 1, "v1beta2")])),
        ],
    );
    assert_eq!(latest(true).await, "v1.1.1");
    assert_eq!(latest(false).await, "v1.1.2");
}

#[tokio::test]
async fn a_download_goes_on_where_it_broke_off() {
    let github = published();
    github.fail("objects.githubusercontent.com", Failure::Cut, 2);
    let settings = settings(&github, None);
    assert_eq!(read(&settings, "v1.0.0").await, Ok(components("v1.0.0")));
    let ranges: Vec<Option<String>> = github
        .requests()
        .into_iter()
        .filter(|request| request.host.starts_with("objects"))
        .map(|request| request.range)
        .collect();
    let length = components("v1.0.0").len();
    let expected = [
        None,
        Some(length / 2),
        Some(length / 2 + (length - length / 2) / 2),
    ];
    let expected = expected.map(|from| Some(format!("bytes={}-", from?)));
    assert_eq!(ranges, expected);
}

#[tokio::test]
async fn a_file_that_has_changed_meanwhile_is_fetched_as_a_whole() {
    let github = published();
    github.fail("objects.githubusercontent.com", Failure::CutAndChanged, 2);
    let settings = settings(&github, None);
    assert_eq!(read(&settings, "v1.0.0").await, Ok(components("v1.0.0")));
}

/// Whatever goes wrong, what is read is right or is not read, also from the cache.
#[tokio::test]
async fn one_faulty_answer_in_five_never_makes_a_wrong_file() {
    let (mut right, mut refused) = (0, 0);
    let mut random = Random::for_test("faulty answers");
    for (round, server) in Server::ALL.into_iter().cycle().enumerate() {
        if round == count(40, 200) {
            break;
        }
        let stand_in = GitHub::start();
        for version in VERSIONS {
            server.publish(&stand_in, version, &components(version));
        }
        server.list(&stand_in, &VERSIONS);
        stand_in.fail_at_random(Random::from_seed(random.below(usize::MAX) as u64), 20);
        let wanted = [VERSIONS[random.below(VERSIONS.len())], "latest"][random.below(2)];
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..3 {
            match read_from(server, wanted, cached(&stand_in, folder.path(), false)).await {
                Ok((version, text)) => {
                    assert!(
                        wanted == "latest" || wanted == version,
                        "{server:?} {version}"
                    );
                    assert_eq!(text, components(&version), "{server:?}");
                    right += 1;
                }
                Err(error) => {
                    assert!(error.contains("`https://"), "{server:?}: {error}");
                    assert!(error.contains("hint: "), "{server:?}: {error}");
                    refused += 1;
                }
            }
        }
        for version in VERSIONS {
            let read = read_from(server, version, cached(&stand_in, folder.path(), true)).await;
            assert!(read.is_err() || read == Ok((version.into(), components(version))));
        }
    }
    println!("{right} right, {refused} refused");
    assert!(right > refused);
}

/// Returns the version and the file.
async fn read_from(
    server: Server,
    version: &str,
    settings: Settings,
) -> Result<(String, String), String> {
    let repository = server.open(version, settings);
    let version = repository.default_version().await;
    let version = version.map_err(|error| explain(&error))?;
    let file = repository.fetch(&version, COMPONENTS_FILE).await;
    let text = file.map_err(|error| explain(&error))?.text;
    Ok((version, text))
}

/// A login or a notice in place of a file is no file, and is not kept as one.
#[tokio::test]
async fn a_page_is_never_kept_for_a_file() {
    for server in Server::ALL {
        let stand_in = GitHub::start();
        server.publish(&stand_in, "v1.0.0", "the file");
        stand_in.add_file("acme/demo", "main", "other", "");
        let login = "https://files.example/acme/demo/blob/login";
        stand_in.fail(COMPONENTS_FILE, Failure::RedirectTo(login.into()), 1);
        let folder = tempfile::tempdir().unwrap();
        let read = async || {
            let settings = cached(&stand_in, folder.path(), false);
            read_from(server, "v1.0.0", settings).await
        };
        let error = read().await.unwrap_err();
        assert!(error.contains("web page"), "{server:?}: {error}");
        assert_eq!(
            read().await,
            Ok(("v1.0.0".into(), "the file".into())),
            "{server:?}"
        );
    }
}

/// Two processes at a time share a cache and are killed whenever it is.
#[tokio::test]
async fn a_killed_process_leaves_no_wrong_file_in_the_cache() {
    let mut random = Random::for_test("killed downloads");
    let github = published();
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("clusterctl.yaml");
    let url = PROVIDER;
    std::fs::write(
        &config,
        format!("providers:\n- {{name: demo, type: InfrastructureProvider, url: '{url}'}}\n"),
    )
    .unwrap();
    let start = |version: &str, offline: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_capictl"));
        command
            .args([
                "generate",
                "provider",
                "--raw",
                offline,
                "--infrastructure",
                &format!("demo:{version}"),
            ])
            .arg("--config")
            .arg(&config)
            .env_clear()
            .env("HOME", home.path())
            .envs(github.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let expected =
        VERSIONS.map(|version| start(version, "--offline=false").output().unwrap().stdout);
    for _ in 0..count(10, 100) {
        clear(&home.path().join(".cache/capictl"), &mut random);
        let mut running: Vec<(usize, std::process::Child)> = (0..2)
            .map(|_| random.below(VERSIONS.len()))
            .map(|version| {
                (
                    version,
                    start(VERSIONS[version], "--offline=false").spawn().unwrap(),
                )
            })
            .collect();
        for (_, child) in &mut running {
            tokio::time::sleep(Duration::from_millis(random.below(60) as u64)).await;
            child.kill().unwrap();
        }
        for (version, child) in running {
            let output = child.wait_with_output().unwrap();
            assert!(output.stdout.is_empty() || output.stdout == expected[version]);
            let offline = start(VERSIONS[version], "--offline").output().unwrap();
            assert!(!offline.status.success() || offline.stdout == expected[version]);
            let again = start(VERSIONS[version], "--offline=false")
                .output()
                .unwrap();
            assert_eq!(again.stdout, expected[version], "{again:?}");
        }
    }
}

/// Removes about half of the entries, lest there is nothing left to download.
fn clear(folder: &Path, random: &mut Random) {
    for entry in std::fs::read_dir(folder).unwrap() {
        if random.below(2) == 0 {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}

/// How often something random is tried: a sample, or all that a sweep wants.
fn count(sample: usize, sweep: usize) -> usize {
    match std::env::var_os("CAPICTL_SWEEP") {
        Some(_) => sweep,
        None => sample,
    }
}
