//! Values of variables that a command line brings: read, told, asked for.
//!
//! ```text
//! load ── --values, --set ──> Config
//! settle ─┬─ ask       on a terminal, for what has no value
//!         └─ explain   where each value comes from
//! missing               what helps when there still is none
//! ```

mod ask;
mod explain;
mod missing;
mod unused;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use super::Session;
use super::rendering::read_stdin;
use crate::config::{Origin, Values};
use crate::error::{Failure, Result};
use crate::model::Secret;
use crate::template::Template;
pub use explain::shorten;
pub(super) use missing::with_advice;
pub(super) use unused::warn_of_unused;

/// Where values come from besides the environment and the configuration file.
#[derive(Debug, Clone, Default)]
pub struct ValueOptions {
    /// Paths of YAML files, `-` for standard input; of equal names the last counts.
    pub files: Vec<String>,
    /// Names and values; these beat the files, and the last of equal names counts.
    pub set: Vec<(String, Secret)>,
    /// Say on standard error where each value comes from.
    pub explain: bool,
}

/// What a session knows of its values.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Whether the command has `--set` and `--values`.
    accepted: bool,
    /// Whether somebody may be asked.
    may_ask: bool,
    /// What else would set a variable: names, and sentences for the error about missing ones.
    setters: BTreeMap<&'static str, &'static str>,
    /// Names that the command itself has a use for.
    own: Vec<&'static str>,
    /// Names that the templates have, by name in lower case; `None` before the first template.
    mentioned: Mutex<Option<BTreeMap<String, String>>>,
}

impl Known {
    /// Notes that something other than `--set` and `--values` would set a variable.
    pub(super) fn note_setter(&mut self, variable: &'static str, sentence: &'static str) {
        self.setters.insert(variable, sentence);
    }

    /// Notes the names that a template has.
    pub(super) fn note_template(&self, template: &Template) {
        let mut mentioned = self.mentioned();
        let mentioned = mentioned.get_or_insert_default();
        for name in template.names() {
            mentioned.insert(name.to_lowercase(), name.to_owned());
        }
    }

    /// Notes a name that means something even when no template has it.
    pub(super) fn note_use(&mut self, name: &'static str) {
        self.own.push(name);
    }

    fn mentioned(&self) -> MutexGuard<'_, Option<BTreeMap<String, String>>> {
        self.mentioned.lock().expect("no holder of the lock panics")
    }
}

const STDIN: &str = "-";

/// Reads the files and hands all values to the configuration. `from` is where the template comes from, for standard input
/// can be read once.
pub(super) async fn load(
    session: &mut Session,
    options: &ValueOptions,
    from: Option<&str>,
) -> Result<()> {
    ensure_one_reader(options, from)?;
    let reads_stdin = |path: &String| path == STDIN;
    session.values.accepted = true;
    session.values.may_ask = from != Some(STDIN) && !options.files.iter().any(reads_stdin);
    for path in &options.files {
        let values = match path.as_str() {
            STDIN => stdin_values().await?,
            path => Values::load(path).await?,
        };
        session.config.add_values(values, path);
    }
    for (name, value) in &options.set {
        session
            .config
            .set_variable_from(name, value.expose(), Origin::Set);
    }
    Ok(())
}

async fn stdin_values() -> Result<Values> {
    const ORIGIN: &str = "standard input";
    let read = tokio::task::spawn_blocking(|| read_stdin("values")).await;
    match read.expect("reading does not panic") {
        Ok(bytes) => Ok(Values::parse(ORIGIN, bytes)?),
        Err(error) => Err(Failure::new(error).context("cannot read the values on standard input")),
    }
}

fn ensure_one_reader(options: &ValueOptions, from: Option<&str>) -> Result<()> {
    let files = options.files.iter().filter(|path| *path == STDIN).count();
    let message = match (files, from) {
        (1.., Some(STDIN)) => "`--from -` and `--values -` both read standard input",
        (2.., _) => "`--values -` is there twice, but standard input can be read once",
        _ => return Ok(()),
    };
    Err(Failure::new(message).hint("write one of them to a file and name that"))
}

/// Asks for missing values where somebody can answer, then [tells](tell) what there is. `label` names the template.
pub(super) async fn settle(
    session: &mut Session,
    options: &ValueOptions,
    template: &Template,
    label: &str,
) -> Result<()> {
    ask::ask_for_missing(session, template).await?;
    tell(session, options, template, label);
    Ok(())
}

/// Explains all values if that is wanted.
pub(super) fn tell(session: &Session, options: &ValueOptions, template: &Template, label: &str) {
    session.values.note_template(template);
    if options.explain {
        explain::explain(session, template, label);
    }
}
