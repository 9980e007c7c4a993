//! Releases on GitHub: what capictl makes of them is what it makes of the same files on disk, and which version it takes for
//! the latest is which clusterctl takes. GitHub is played by the stand-in; both tools are led to it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};

use crate::releases::{self, ReleaseFile};
use crate::support::environment::{Environment, Output};
use crate::support::github::GitHub;
use crate::support::random::Random;

const FILE: &str = "infrastructure-components.yaml";
/// How many lists of versions are compared.
const LISTS: usize = 200;
/// Oldest first.
const CONTRACTS: [&str; 4] = ["v1alpha4", "v1beta1", "v1beta2", "v1beta3"];

fn led_to(github: &GitHub) -> Result<Environment> {
    let mut environment = Environment::new()?;
    for (name, value) in github.environment() {
        environment.set(name, value);
    }
    // clusterctl would ask the public proxy of Go modules for versions.
    environment.set("GOPROXY", "off");
    Ok(environment)
}

#[tokio::test]
async fn releases_on_github_render_as_those_on_disk() -> Result<()> {
    let files = releases::list(&releases::folder()?, releases::is_components)?;
    let github = GitHub::start();
    let mut folders: Vec<_> = files
        .iter()
        .map(|file| (&file.label, file.release()))
        .collect();
    folders.sort();
    folders.dedup_by_key(|(label, _)| *label);
    for (label, release) in folders {
        let folder = release.parent().context("a version is in a folder")?;
        github.add_folder(&format!("corpus/{label}"), folder);
    }
    let environment = led_to(&github)?;
    let asked = files.iter().map(|file| both_ways(&environment, file));
    let answers: Vec<Result<(String, Output, Output)>> =
        stream::iter(asked).buffer_unordered(2).collect().await;
    let mut rendered = 0;
    for answer in answers {
        let (file, disk, published) = answer?;
        assert_eq!(
            disk.status.success(),
            published.status.success(),
            "{file}: {published:?}"
        );
        assert!(disk.stdout == published.stdout, "{file} differs");
        rendered += usize::from(disk.status.success());
    }
    println!(
        "{} components files, {rendered} rendered alike",
        files.len()
    );
    assert!(rendered * 2 > files.len());
    Ok(())
}

/// Renders a components file from its folder and from the stand-in.
async fn both_ways(
    environment: &Environment,
    file: &ReleaseFile,
) -> Result<(String, Output, Output)> {
    let disk = file.configuration();
    let mut published = disk.clone();
    let url = format!(
        "https://github.com/corpus/{}/releases/latest/{}",
        file.label, file.name
    );
    published["providers"][0]["url"] = json!(url);
    let ask = async |place: &str, configuration: Value| {
        let path = format!(
            "published/{place}-{}-{}-{}.json",
            file.label, file.version, file.name
        );
        let path = environment.write(&path, &configuration.to_string())?;
        let [flag, reference] = file.arguments();
        let path = path.display().to_string();
        let arguments = [
            "generate", "provider", "--raw", &flag, &reference, "--config", &path,
        ];
        environment.capictl(&arguments).await
    };
    let (disk, published) = tokio::try_join!(
        ask("disk", Value::Object(disk)),
        ask("github", Value::Object(published))
    )?;
    Ok((file.to_string(), disk, published))
}

/// The tags of a repository, and the contract of each series.
struct List {
    tags: Vec<String>,
    contracts: BTreeMap<(usize, usize), &'static str>,
}

impl List {
    /// Makes a list as repositories have it: gaps, pre-releases, tags without `v`, build metadata, tags that are no version,
    /// in the order in which somebody happened to publish them. Contracts only rise.
    fn any(random: &mut Random) -> Self {
        let mut list = Self {
            tags: Vec::new(),
            contracts: BTreeMap::new(),
        };
        for _ in 0..1 + random.below(10) {
            let (major, minor) = (random.below(3), random.below(4));
            let mut tag = format!("{major}.{minor}.{}", random.below(3));
            if random.below(3) == 0 {
                let word = ["alpha", "beta", "rc"][random.below(3)];
                tag += &format!("-{word}.{}", random.below(3));
            }
            if random.below(20) == 0 {
                tag += "+build.1";
            }
            if random.below(12) > 0 {
                tag.insert(0, 'v');
            }
            list.add((major, minor), tag);
        }
        for junk in ["nightly", "v1.2", "v01.2.3", "release-1.0.0", "v1.0.0.0"] {
            if random.below(12) == 0 {
                list.tags.push(junk.to_owned());
            }
        }
        let mut contract = random.below(CONTRACTS.len());
        for value in list.contracts.values_mut() {
            *value = CONTRACTS[contract];
            contract = (contract + usize::from(random.below(3) == 0)).min(CONTRACTS.len() - 1);
        }
        list
    }

    fn add(&mut self, series: (usize, usize), tag: String) {
        let same = |known: &String| known.trim_start_matches('v') == tag.trim_start_matches('v');
        if !self.tags.iter().any(same) {
            self.tags.push(tag);
            self.contracts.insert(series, "");
        }
    }

    fn publish(&self, github: &GitHub, repository: &str) {
        let mut metadata =
            "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                .to_owned();
        for ((major, minor), contract) in &self.contracts {
            metadata += &format!("- {{major: {major}, minor: {minor}, contract: {contract}}}\n");
        }
        let components = "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n";
        for tag in &self.tags {
            github.add_release(
                repository,
                tag,
                &[(FILE, components), ("metadata.yaml", &metadata)],
            );
        }
    }

    /// The same list as clusterctl can use it: it writes a `v` before each version, and finds no release whose tag has none.
    fn spelled_out(&self) -> Self {
        let spell = |tag: &String| match tag.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("v{tag}"),
            false => tag.clone(),
        };
        Self {
            tags: self.tags.iter().map(spell).collect(),
            contracts: self.contracts.clone(),
        }
    }
}

#[tokio::test]
async fn latest_is_the_version_that_clusterctl_takes() -> Result<()> {
    let mut random = Random::for_test("lists of versions");
    let lists: Vec<List> = (0..LISTS).map(|_| List::any(&mut random)).collect();
    let found = assert_same_latest(&lists).await?;
    println!("{LISTS} lists: in {found} of them both find the same version");
    ensure!(found * 3 > LISTS, "too many lists hold nothing to find");
    Ok(())
}

/// Both refuse this one, for the newest full release follows a contract of old; a pre-release is no way out of that.
#[tokio::test]
async fn an_old_release_whose_tag_has_no_v_is_not_passed_over_for_a_prerelease() -> Result<()> {
    let list = List {
        tags: vec!["v2.0.2-alpha.2".into(), "1.2.2".into()],
        contracts: [((1, 2), "v1alpha4"), ((2, 0), "v1beta1")].into(),
    };
    let found = assert_same_latest(&[list]).await?;
    ensure!(found == 0, "one of them passes it over");
    Ok(())
}

/// Returns in how many of the lists both find a version.
async fn assert_same_latest(lists: &[List]) -> Result<usize> {
    let github = GitHub::start();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for (number, list) in lists.iter().enumerate() {
        let publish = |list: &List, repository: String| {
            list.publish(&github, &format!("acme/{repository}"));
            let url = format!("https://github.com/acme/{repository}/releases/latest/{FILE}");
            json!({"name": format!("list-{number}"), "type": "InfrastructureProvider", "url": url})
        };
        theirs.push(publish(
            &list.spelled_out(),
            format!("spelled-out-{number}"),
        ));
        ours.push(publish(list, format!("list-{number}")));
    }
    let environment = led_to(&github)?;
    let configure = |name: &str, providers: Vec<Value>| -> Result<String> {
        let configuration = json!({"providers": providers}).to_string();
        let path = environment.write(name, &configuration)?;
        Ok(path.display().to_string())
    };
    let (theirs, ours) = (
        configure("theirs.yaml", theirs)?,
        configure("ours.yaml", ours)?,
    );
    let asked = (0..lists.len()).map(|number| ask_for_latest(&environment, number, &theirs, &ours));
    let answers: Vec<Result<(usize, String, String)>> =
        stream::iter(asked).buffer_unordered(2).collect().await;
    let mut found = 0;
    for answer in answers {
        let (number, theirs, ours) = answer?;
        let list = &lists[number];
        let ours = ours.trim_start_matches('v');
        assert_eq!(
            theirs.trim_start_matches('v'),
            ours,
            "clusterctl takes the left one of {:?} {:?}",
            list.tags,
            list.contracts
        );
        ensure!(
            ours.is_empty()
                || list
                    .tags
                    .iter()
                    .any(|tag| tag.trim_start_matches('v') == ours),
            "{ours} is none of {:?}",
            list.tags
        );
        found += usize::from(!ours.is_empty());
    }
    Ok(found)
}

/// Returns what both tools take for the latest version, empty where they find none that they can use.
async fn ask_for_latest(
    environment: &Environment,
    number: usize,
    theirs: &str,
    ours: &str,
) -> Result<(usize, String, String)> {
    let name = format!("list-{number}");
    let arguments = |configuration| {
        [
            "generate",
            "provider",
            "--describe",
            "--infrastructure",
            &name,
            "--config",
            configuration,
        ]
    };
    let (theirs, ours) = (arguments(theirs), arguments(ours));
    let (theirs, ours) =
        tokio::try_join!(environment.clusterctl(&theirs), environment.capictl(&ours))?;
    Ok((number, version_of(&theirs), version_of(&ours)))
}

fn version_of(output: &Output) -> String {
    let line = output
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("Version:"));
    line.unwrap_or_default().trim().to_owned()
}
