//! `generate cluster` and `generate yaml` for every template of every provider release of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use crate::comparison::{self, Compare, Question, compare_objects, compare_texts};
use crate::releases::{self, ReleaseFile};
use crate::support::environment::Environment;
use crate::values;

const GENERATE_CLUSTER: [&str; 7] = [
    "generate",
    "cluster",
    "c1",
    "-n",
    "parity-namespace",
    "--kubernetes-version",
    "v1.36.1",
];
const GENERATE_YAML: [&str; 2] = ["generate", "yaml"];

/// A way to call a command.
struct Mode {
    name: &'static str,
    command: &'static [&'static str],
    source: Source,
    values: Values,
    flags: &'static [&'static str],
    compare: Compare,
}

/// How a command line names a template.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// By `--infrastructure` and `--flavor` where that is possible.
    Flavor,
    /// By `--from`.
    Path,
}

/// What the configuration file sets variables to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Values {
    Plain,
    Awkward,
    None,
}

const MODES: [Mode; 6] = [
    Mode {
        name: "generate cluster",
        command: &GENERATE_CLUSTER,
        source: Source::Flavor,
        values: Values::Plain,
        flags: &[],
        compare: compare_objects,
    },
    Mode {
        name: "generate cluster --list-variables",
        command: &GENERATE_CLUSTER,
        source: Source::Flavor,
        values: Values::Plain,
        flags: &["--list-variables"],
        compare: compare_texts,
    },
    Mode {
        name: "generate cluster --from, awkward values",
        command: &GENERATE_CLUSTER,
        source: Source::Path,
        values: Values::Awkward,
        flags: &[],
        compare: compare_objects,
    },
    Mode {
        name: "generate cluster --from, no values",
        command: &GENERATE_CLUSTER,
        source: Source::Path,
        values: Values::None,
        flags: &[],
        compare: compare_objects,
    },
    Mode {
        name: "generate yaml",
        command: &GENERATE_YAML,
        source: Source::Path,
        values: Values::Plain,
        flags: &[],
        compare: compare_objects,
    },
    Mode {
        name: "generate yaml --list-variables",
        command: &GENERATE_YAML,
        source: Source::Path,
        values: Values::None,
        flags: &["--list-variables"],
        compare: compare_texts,
    },
];

#[tokio::test]
async fn templates_render_as_with_clusterctl() -> Result<()> {
    let files = releases::list(&releases::folder()?, releases::is_template)?;
    compare(&files).await
}

/// Runs every mode of both tools on every template, and panics when anything differs.
pub async fn compare(files: &[ReleaseFile]) -> Result<()> {
    let environment = Environment::new()?;
    let mut configurations = Configurations::new(&environment);
    let mut questions = Vec::new();
    let mut seen = BTreeSet::new();
    for file in files {
        // Releases repeat templates; one that is read by its path means the same at every path.
        let is_new = seen.insert(file.text()?);
        let modes = MODES
            .iter()
            .filter(|mode| is_new || mode.source == Source::Flavor);
        for mode in modes {
            questions.push(prepare(&mut configurations, file, mode)?);
        }
    }
    let report = comparison::ask(&environment, questions).await?;
    report.conclude(&format!("{} templates", files.len()));
    Ok(())
}

fn prepare(
    configurations: &mut Configurations<'_>,
    file: &ReleaseFile,
    mode: &Mode,
) -> Result<Question> {
    let mut arguments: Vec<String> = mode.command.iter().map(|&word| word.into()).collect();
    let config = configurations.path(file, mode.values)?;
    arguments.extend(["--config".into(), config]);
    match file.flavor() {
        Some(flavor) if mode.source == Source::Flavor => {
            arguments.extend(file.arguments());
            arguments.push(format!("--flavor={flavor}"));
        }
        _ => arguments.extend(["--from".into(), file.path().display().to_string()]),
    }
    arguments.extend(mode.flags.iter().map(|&flag| flag.into()));
    Ok(Question {
        subject: file.to_string(),
        mode: mode.name,
        arguments,
        compare: mode.compare,
    })
}

/// The configuration files that are written so far: one for each release and kind of values, since a template may bring
/// ClusterClasses of its release along.
struct Configurations<'a> {
    environment: &'a Environment,
    written: BTreeMap<(PathBuf, Values), String>,
}

impl<'a> Configurations<'a> {
    fn new(environment: &'a Environment) -> Self {
        Self {
            environment,
            written: BTreeMap::new(),
        }
    }

    fn path(&mut self, file: &ReleaseFile, values: Values) -> Result<String> {
        let key = (file.release(), values);
        if let Some(path) = self.written.get(&key) {
            return Ok(path.clone());
        }
        let mut configuration = file.configuration();
        configuration.extend(values_of_release(file, values)?);
        let name = format!("parity/{} {} {values:?}.yaml", file.label, file.version);
        let text = serde_json::to_string(&configuration)?;
        let path = self.environment.write(&name, &text)?;
        let path = path.to_str().context("the home folder is not UTF-8")?;
        self.written.insert(key, path.to_owned());
        Ok(path.to_owned())
    }
}

fn values_of_release(file: &ReleaseFile, values: Values) -> Result<Map<String, Value>> {
    let mut text = String::new();
    for entry in fs::read_dir(file.release())? {
        let entry = entry?;
        if entry
            .file_name()
            .to_str()
            .is_some_and(releases::is_template)
        {
            text += &fs::read_to_string(entry.path())?;
        }
    }
    match values {
        Values::Plain => values::plain(&text),
        Values::Awkward => Ok(values::awkward(&text)),
        Values::None => Ok(Map::new()),
    }
}
