//! The variables that `generate cluster` sets itself, and how a template's variables are listed.

use super::GenerateClusterOptions;
use crate::error::{Context, Failure, Result};
use crate::model::Version;
use crate::model::provider::{dns1123_label_problem, dns1123_subdomain_problem};
use crate::ops::Session;
use crate::template::Template;

const CLUSTER_NAME: &str = "CLUSTER_NAME";
const NAMESPACE: &str = "NAMESPACE";
const KUBERNETES_VERSION: &str = "KUBERNETES_VERSION";
const CONTROL_PLANE_MACHINE_COUNT: &str = "CONTROL_PLANE_MACHINE_COUNT";
const WORKER_MACHINE_COUNT: &str = "WORKER_MACHINE_COUNT";

/// A variable of a template and its default, both as `--list-variables` shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVariable {
    /// Name.
    pub name: String,
    /// Default, ready to be printed; `None` when a value is required.
    pub default: Option<String>,
}

/// Checks the values of the command line and sets them, over those of the environment and the configuration file.
pub(super) fn set(session: &mut Session, options: &GenerateClusterOptions) -> Result<()> {
    if let Some(problem) = dns1123_subdomain_problem(&options.name) {
        return Err(Failure::new(format!(
            "invalid cluster name: `{}`: {problem}",
            options.name
        )));
    }
    let control_plane = count(
        session,
        CONTROL_PLANE_MACHINE_COUNT,
        options.control_plane_machine_count,
    )?;
    let workers = count(session, WORKER_MACHINE_COUNT, options.worker_machine_count)?;
    let config = &mut session.config;
    if let Some(version) = options
        .kubernetes_version
        .as_deref()
        .filter(|version| !version.is_empty())
    {
        let parsed = version.parse::<Version>();
        parsed.context("invalid KubernetesVersion. Please use a semantic version number")?;
        config.set_variable(KUBERNETES_VERSION, version);
    }
    config.set_variable(CLUSTER_NAME, options.name.as_str());
    config.set_variable(CONTROL_PLANE_MACHINE_COUNT, control_plane.to_string());
    config.set_variable(WORKER_MACHINE_COUNT, workers.to_string());
    Ok(())
}

/// Checks the target namespace, wherever it comes from, and sets it.
pub(super) fn set_namespace(session: &mut Session, namespace: &str) -> Result<()> {
    if let Some(problem) = dns1123_label_problem(namespace) {
        return Err(Failure::new(format!(
            "invalid target-namespace: `{namespace}`: {problem}"
        )));
    }
    session.config.set_variable(NAMESPACE, namespace);
    Ok(())
}

/// Returns a machine count: the flag, else the variable, else the smallest that makes sense.
fn count(session: &Session, variable: &str, flag: Option<i64>) -> Result<i64> {
    let (field, minimum) = match variable {
        CONTROL_PLANE_MACHINE_COUNT => ("ControlPlaneMachineCount", 1),
        _ => ("WorkerMachineCount", 0),
    };
    let value = match flag {
        Some(flag) => flag,
        None => match session.config.variable(variable) {
            None => minimum,
            Some(text) => {
                let parsed = text.parse::<i64>();
                parsed.map_err(|_| {
                    Failure::new(format!(
                        "invalid value for {variable} set: `{text}` is no number"
                    ))
                })?
            }
        },
    };
    if value < minimum {
        let message =
            format!("invalid {field}. Please use a number greater than or equal to {minimum}");
        return Err(Failure::new(message));
    }
    Ok(value)
}

/// Lists the variables of a template; those that `generate cluster` sets show what they would be set to.
pub(super) fn list(
    session: &Session,
    options: &GenerateClusterOptions,
    template: &Template,
) -> Vec<TemplateVariable> {
    let environment = session.config.environment();
    let given = |flag: Option<String>, name: &str| {
        flag.or_else(|| environment.get(name).map(str::to_owned))
    };
    let number = |flag: Option<i64>| flag.map(|count| count.to_string());
    let text = |flag: &Option<String>| flag.clone().filter(|text| !text.is_empty());
    let shown = |name: &str| match name {
        CLUSTER_NAME => Some(options.name.clone()),
        NAMESPACE => Some(
            text(&options.target_namespace)
                .unwrap_or_else(|| "current Namespace in the KubeConfig file".to_owned()),
        ),
        CONTROL_PLANE_MACHINE_COUNT => Some(
            given(number(options.control_plane_machine_count), name)
                .unwrap_or_else(|| "1".to_owned()),
        ),
        WORKER_MACHINE_COUNT => Some(
            given(number(options.worker_machine_count), name).unwrap_or_else(|| "0".to_owned()),
        ),
        KUBERNETES_VERSION => given(text(&options.kubernetes_version), name),
        _ => None,
    };
    let variables = template.variables().iter();
    variables
        .map(|variable| TemplateVariable {
            name: variable.name.clone(),
            default: shown(&variable.name).or_else(|| variable.default.as_deref().map(quote)),
        })
        .collect()
}

/// Shows a default in quotes, unless it brings its own.
fn quote(default: &str) -> String {
    if default.starts_with('"') {
        return default.to_owned();
    }
    let mut quoted = String::from('"');
    for c in default.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn a_default_is_quoted_once() {
        assert_eq!(quote("text"), r#""text""#);
        assert_eq!(quote(r#""text""#), r#""text""#);
        assert_eq!(quote("a\"b\n"), r#""a\"b\n""#);
    }
}
