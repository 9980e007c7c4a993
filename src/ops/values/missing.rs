//! What helps against variables without values: names that are set and near, and flags.

use crate::config::is_variable_name;
use crate::error::{Explain, Failure, suggest};
use crate::ops::Session;
use crate::template::{self, MissingVariable, missing_hints};

/// An error of rendering with hints of its own.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
struct Unset {
    error: template::Error,
    hints: Vec<String>,
}

impl Explain for Unset {
    fn hints(&self) -> Vec<String> {
        self.hints.clone()
    }
}

/// Returns the failure of a rendering. Only names are told, never values.
pub(crate) fn with_advice(session: &Session, error: template::Error) -> Failure {
    let template::Error::Missing(variables) = &error else {
        return error.into();
    };
    let set: Vec<String> = session
        .config
        .set_variables()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let mut hints = missing_hints(variables, |variable| advice(session, &set, variable));
    if session.values.accepted {
        hints.push("`--set NAME=VALUE` and `--values FILE` set variables too".to_owned());
    }
    Unset { hints, error }.into()
}

fn advice(session: &Session, set: &[String], variable: &MissingVariable) -> Vec<String> {
    let name = variable.name.as_str();
    let mut advice = Vec::new();
    if let Some(sentence) = session.values.setters.get(name.to_uppercase().as_str()) {
        advice.push((*sentence).to_owned());
    }
    if let Some(unseen) = session.config.unseen_variable(name) {
        advice.push(format!(
            "the environment has `{unseen}`, but only `{}` is seen there",
            name.to_uppercase()
        ));
    } else if let Some(near) = suggest(name, set.iter().map(String::as_str)) {
        advice.push(match is_variable_name(near) {
            true => format!("did you mean `{near}`, which is set?"),
            false => {
                format!("`{near}` is set, but no reference can name it: rename it to `{name}`")
            }
        });
    }
    advice
}
