//! `generate provider` for every provider release of a folder, see [`releases::folder`].

use anyhow::{Context, Result};
use capictl::model::Object;
use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};

use crate::releases::{self, Release};
use crate::rules::{self, Excuses, RULES};
use crate::support::environment::{Environment, Output};

/// A way to call the command.
struct Mode {
    name: &'static str,
    flags: &'static [&'static str],
    overrides_images: bool,
    compare: Compare,
}

/// Compares what both printed, once both succeeded: differences that no rule excuses.
type Compare = fn(&str, &str, &mut Excuses) -> Result<Vec<String>>;

const MODES: [Mode; 4] = [
    Mode {
        name: "as published",
        flags: &[],
        overrides_images: false,
        compare: compare_objects,
    },
    Mode {
        name: "moved, with other images",
        flags: &["--target-namespace", "parity-system"],
        overrides_images: true,
        compare: compare_objects,
    },
    Mode {
        name: "--raw",
        flags: &["--raw"],
        overrides_images: false,
        compare: compare_objects,
    },
    Mode {
        name: "--describe",
        flags: &["--describe"],
        overrides_images: true,
        compare: compare_texts,
    },
];

/// Reasons of clusterctl to fail that are none of capictl's: what it says, and the rule.
const CLUSTERCTL_FAILS: [(&str, &str); 2] = [
    // capictl reads the names of images only where an override applies, and reads short ones as Docker does.
    (
        "repository name must be canonical",
        "images without registry host",
    ),
    // capictl knows no types, so a variable that stands for a number or a boolean may stay in its place.
    (
        "unable to convert unstructured object",
        "variables in typed fields",
    ),
];

#[tokio::test]
async fn generate_provider_prints_what_clusterctl_prints() -> Result<()> {
    compare(&releases::list(&releases::folder()?)?).await
}

/// Runs every mode of both tools on every release, and panics when anything differs.
pub async fn compare(releases: &[Release]) -> Result<()> {
    let environment = Environment::new()?;
    let runs = releases
        .iter()
        .flat_map(|release| MODES.iter().map(move |mode| (release, mode)))
        .map(|(release, mode)| run_both(&environment, release, mode));
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runs = stream::iter(runs).buffer_unordered(at_once);
    let mut report = Report::default();
    while let Some(run) = runs.next().await {
        report.add(run?);
    }
    report.conclude(releases.len());
    Ok(())
}

/// The same command, run by both tools.
struct Run {
    title: String,
    compare: Compare,
    reference: Output,
    ours: Output,
}

async fn run_both(environment: &Environment, release: &Release, mode: &Mode) -> Result<Run> {
    let title = format!("{release}, {}", mode.name);
    let arguments = prepare(environment, release, mode)?;
    let (reference, ours) = tokio::try_join!(
        environment.clusterctl(&arguments),
        environment.capictl(&arguments)
    )
    .with_context(|| title.clone())?;
    Ok(Run {
        title,
        compare: mode.compare,
        reference,
        ours,
    })
}

/// What came out so far.
#[derive(Default)]
struct Report {
    compared: usize,
    both_failed: usize,
    excuses: Excuses,
    differences: Vec<String>,
}

impl Report {
    fn add(&mut self, run: Run) {
        let title = &run.title;
        let found = match self.judge(&run) {
            Ok(found) => found,
            Err(error) => vec![format!("{error:#}")],
        };
        let found = found.into_iter().map(|one| format!("{title}: {one}"));
        self.differences.extend(found);
    }

    fn judge(&mut self, run: &Run) -> Result<Vec<String>> {
        let Run {
            reference, ours, ..
        } = run;
        match (reference.status.success(), ours.status.success()) {
            (true, true) => {
                self.compared += 1;
                (run.compare)(&reference.stdout, &ours.stdout, &mut self.excuses)
            }
            (false, false) => {
                self.both_failed += 1;
                Ok(Vec::new())
            }
            (true, false) => Ok(vec![format!("only capictl fails: {}", ours.stderr)]),
            (false, true) => Ok(self.judge_failure(reference)),
        }
    }

    /// Excuses that only clusterctl fails, or reports it.
    fn judge_failure(&mut self, reference: &Output) -> Vec<String> {
        let known = CLUSTERCTL_FAILS
            .into_iter()
            .find(|(text, _)| reference.stderr.contains(text));
        match known {
            Some((_, rule)) => {
                *self.excuses.entry(rule).or_default() += 1;
                Vec::new()
            }
            None => vec![format!("only clusterctl fails: {}", reference.stderr)],
        }
    }

    /// Prints the figures, and fails when anything differs or nothing was compared.
    fn conclude(mut self, releases: usize) {
        let Self {
            compared,
            both_failed,
            ..
        } = self;
        eprintln!(
            "{releases} components files: {compared} outputs compared, {both_failed} refused by both tools"
        );
        let rules = RULES.iter().map(|rule| rule.name);
        for rule in rules.chain(CLUSTERCTL_FAILS.map(|(_, rule)| rule)) {
            let count = self.excuses.get(rule).copied().unwrap_or_default();
            eprintln!("excused {count:5} times: {rule}");
        }
        assert!(compared > 0, "nothing was compared");
        self.differences.sort();
        let count = self.differences.len();
        self.differences.truncate(50);
        assert!(
            count == 0,
            "{count} differences, the first of them:\n{}",
            self.differences.join("\n")
        );
    }
}

/// Writes the configuration and returns the arguments for either tool.
fn prepare(environment: &Environment, release: &Release, mode: &Mode) -> Result<Vec<String>> {
    let images = match mode.overrides_images {
        true => json!({
            "all": {"repository": "mirror.example/all/"},
            release.label.as_str(): {"tag": "parity"},
        }),
        false => Value::Null,
    };
    let file = format!("parity/{release}, {}.yaml", mode.name);
    let config = environment.write(&file, &release.configuration(images)?)?;
    let config = config
        .to_str()
        .context("the home folder's path is not UTF-8")?;
    let mut arguments = vec!["generate".into(), "provider".into()];
    arguments.extend(release.arguments());
    arguments.extend(["--config".into(), config.to_owned()]);
    arguments.extend(mode.flags.iter().map(|flag| (*flag).to_owned()));
    Ok(arguments)
}

fn compare_texts(reference: &str, ours: &str, _: &mut Excuses) -> Result<Vec<String>> {
    Ok(match reference == ours {
        true => Vec::new(),
        false => vec![format!(
            "clusterctl prints\n{reference}capictl prints\n{ours}"
        )],
    })
}

/// Compares the objects and their order.
pub fn compare_objects(reference: &str, ours: &str, excuses: &mut Excuses) -> Result<Vec<String>> {
    let reference = read_objects(reference).context("output of clusterctl")?;
    let ours = read_objects(ours).context("output of capictl")?;
    let names =
        |objects: &[Object]| -> Vec<String> { objects.iter().map(Object::to_string).collect() };
    if names(&reference) != names(&ours) {
        return Ok(vec![format!(
            "the objects are not the same: clusterctl has {}, capictl {}",
            names(&reference).join(", "),
            names(&ours).join(", ")
        )]);
    }
    let mut found = Vec::new();
    for (reference, ours) in reference.iter().zip(&ours) {
        for difference in rules::differences(reference, ours, excuses) {
            found.push(format!("{ours}: {difference}"));
        }
    }
    Ok(found)
}

/// Reads YAML that a tool printed. Not by capictl's own reader, which might undo a fault of its writer.
fn read_objects(text: &str) -> Result<Vec<Object>> {
    let options = serde_yaml::options! { budget: None };
    Ok(serde_yaml::from_multiple_with_options(text, options)?)
}
