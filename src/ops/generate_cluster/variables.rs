//! The variables that `generate cluster` sets itself, and how a template's variables are listed.

use super::GenerateClusterOptions;
use crate::config::Origin;
use crate::error::{Context, Failure, Result};
use crate::model::Version;
use crate::model::provider::{dns1123_label_problem, dns1123_subdomain_problem};
use crate::ops::Session;
use crate::ops::variables::{self, DefaultSource, TemplateVariable};
use crate::template::Template;

const CLUSTER_NAME: &str = "CLUSTER_NAME";
const NAMESPACE: &str = "NAMESPACE";
const KUBERNETES_VERSION: &str = "KUBERNETES_VERSION";
const CONTROL_PLANE_MACHINE_COUNT: &str = "CONTROL_PLANE_MACHINE_COUNT";
const WORKER_MACHINE_COUNT: &str = "WORKER_MACHINE_COUNT";

/// The cluster's name as messages call it: it is an argument without a flag.
const NAME_ARGUMENT: &str = "the cluster's name on the command line";
const KUBERNETES_VERSION_FLAG: &str = "--kubernetes-version";
const TARGET_NAMESPACE_FLAG: &str = "--target-namespace";

/// Checks the values of the command line and sets them, over those of all other sources.
pub(super) fn set(session: &mut Session, options: &GenerateClusterOptions) -> Result<()> {
    if let Some(problem) = dns1123_subdomain_problem(&options.name) {
        return Err(Failure::new(format!(
            "invalid cluster name: `{}`: {problem}",
            options.name
        )));
    }
    set_flag(session, CLUSTER_NAME, NAME_ARGUMENT, &options.name)?;
    for count in COUNTS {
        count.set(session, options)?;
    }
    let version = options.kubernetes_version.as_deref();
    if let Some(version) = version.filter(|version| !version.is_empty()) {
        let parsed = version.parse::<Version>();
        parsed.context(INVALID_VERSION)?;
        set_flag(
            session,
            KUBERNETES_VERSION,
            KUBERNETES_VERSION_FLAG,
            version,
        )?;
    }
    session
        .values
        .note_setter(KUBERNETES_VERSION, "`--kubernetes-version` sets it");
    Ok(())
}

/// Sets what a flag says, unless `--set` says something else: one of them must be a mistake.
fn set_flag(session: &mut Session, variable: &str, flag: &'static str, value: &str) -> Result<()> {
    if let Some((other, Origin::Set)) = session.config.variable_with_origin(variable)
        && other != value
    {
        return Err(Failure::new(format!(
            "{} and `--set {variable}` have different values",
            show(flag)
        ))
        .hint("leave one of them out"));
    }
    session
        .config
        .set_variable_from(variable, value, Origin::Flag(flag));
    Ok(())
}

fn show(flag: &str) -> String {
    match flag.starts_with('-') {
        true => format!("`{flag}`"),
        false => flag.to_owned(),
    }
}

/// Returns the target namespace that the command line names, by its flag, `--set` or `--values`. As with clusterctl, an
/// environment variable `NAMESPACE` is none, for other programs have their own use for that.
pub(super) fn namespace(
    session: &mut Session,
    options: &GenerateClusterOptions,
) -> Result<Option<(String, Origin)>> {
    session.values.note_use(NAMESPACE);
    let given = session.config.variable_with_origin(NAMESPACE);
    let given = given.filter(|(namespace, origin)| {
        matches!(origin, Origin::Set | Origin::Values(_)) && !namespace.is_empty()
    });
    let flag = options.target_namespace.as_deref();
    let Some(namespace) = flag.filter(|namespace| !namespace.is_empty()) else {
        return Ok(given);
    };
    set_flag(session, NAMESPACE, TARGET_NAMESPACE_FLAG, namespace)?;
    Ok(Some((
        namespace.to_owned(),
        Origin::Flag(TARGET_NAMESPACE_FLAG),
    )))
}

/// Checks the target namespace, wherever it comes from, and sets it.
pub(super) fn set_namespace(session: &mut Session, namespace: &str, origin: Origin) -> Result<()> {
    if let Some(problem) = dns1123_label_problem(namespace) {
        // What a file has under this name may be anything.
        let shown = match origin {
            Origin::Flag(_) | Origin::Kubeconfig => format!("`{namespace}`: "),
            _ => String::new(),
        };
        let failure = Failure::new(format!("invalid target-namespace: {shown}{problem}"));
        return Err(with_source(failure, &origin));
    }
    session
        .config
        .set_variable_from(NAMESPACE, namespace, origin);
    Ok(())
}

/// Says where a value comes from, unless the command line has it in plain sight.
fn with_source(failure: Failure, origin: &Origin) -> Failure {
    match origin {
        Origin::Flag(_) => failure,
        origin => failure.hint(format!("the value comes from: {origin}")),
    }
}

/// A number of machines.
struct Count {
    variable: &'static str,
    flag: &'static str,
    /// What clusterctl's messages call it.
    field: &'static str,
    minimum: i64,
    given: fn(&GenerateClusterOptions) -> Option<i64>,
}

const COUNTS: [Count; 2] = [
    Count {
        variable: CONTROL_PLANE_MACHINE_COUNT,
        flag: "--control-plane-machine-count",
        field: "ControlPlaneMachineCount",
        minimum: 1,
        given: |options| options.control_plane_machine_count,
    },
    Count {
        variable: WORKER_MACHINE_COUNT,
        flag: "--worker-machine-count",
        field: "WorkerMachineCount",
        minimum: 0,
        given: |options| options.worker_machine_count,
    },
];

impl Count {
    /// Sets the flag's number, else the variable's, else the smallest that makes sense.
    fn set(&self, session: &mut Session, options: &GenerateClusterOptions) -> Result<()> {
        let variable = self.variable;
        if let Some(flag) = (self.given)(options) {
            self.ensure_enough(flag, &Origin::Flag(self.flag))?;
            return set_flag(session, variable, self.flag, &flag.to_string());
        }
        let (value, origin) = match session.config.variable_with_origin(variable) {
            None => (self.minimum, Origin::BuiltIn),
            Some((text, origin)) => match text.parse::<i64>() {
                Ok(value) => (value, origin),
                Err(_) => {
                    let message = format!("invalid value for {variable} set: it is no number");
                    return Err(with_source(Failure::new(message), &origin));
                }
            },
        };
        self.ensure_enough(value, &origin)?;
        session
            .config
            .set_variable_from(variable, value.to_string(), origin);
        Ok(())
    }

    fn ensure_enough(&self, value: i64, origin: &Origin) -> Result<()> {
        if value >= self.minimum {
            return Ok(());
        }
        let failure = Failure::new(format!(
            "invalid {}. Please use a number greater than or equal to {}",
            self.field, self.minimum
        ));
        Err(with_source(failure, origin))
    }
}

const INVALID_VERSION: &str = "invalid KubernetesVersion. Please use a semantic version number";

/// Checks the Kubernetes version, wherever it comes from, if the template uses it. Nothing is no version, as for the flag.
pub(super) fn ensure_version(session: &Session, template: &Template) -> Result<()> {
    match version_in_use(session, template) {
        Some((version, origin)) if version.parse::<Version>().is_err() => {
            let cause = Failure::new(format!(
                "the value of `{KUBERNETES_VERSION}` is not a semantic version"
            ));
            let failure = cause.context(INVALID_VERSION);
            Err(with_source(failure, &origin)
                .hint("write it as `v1.2.3`, three numbers without leading zeros"))
        }
        _ => Ok(()),
    }
}

/// Warns of a version that is accepted here, as by clusterctl, but by no control plane.
pub(super) fn warn_of_bare_version(session: &Session, template: &Template) {
    if let Some((version, origin)) = version_in_use(session, template)
        && let Ok(parsed) = version.parse::<Version>()
        && !version.starts_with('v')
    {
        session.ui.warn(format!(
            "the control plane wants `{parsed}`, but `{KUBERNETES_VERSION}` is `{version}` ({origin})"
        ));
    }
}

fn version_in_use(session: &Session, template: &Template) -> Option<(String, Origin)> {
    let is_used = || {
        template
            .names()
            .any(|name| name.to_uppercase() == KUBERNETES_VERSION)
    };
    session
        .config
        .variable_with_origin(KUBERNETES_VERSION)
        .filter(|(version, _)| !version.is_empty() && is_used())
}

/// Lists the variables of a template; those that `generate cluster` sets show what they would be set to. As with
/// clusterctl, the configuration file does not count here.
pub(super) fn list(
    session: &Session,
    options: &GenerateClusterOptions,
    template: &Template,
) -> Vec<TemplateVariable> {
    let mut variables = variables::list(template);
    for variable in &mut variables {
        if let Some((source, value)) = shown(session, options, &variable.name) {
            variable.default = value;
            variable.default_source = source;
            variable.required = false;
        }
    }
    variables
}

/// Returns what a variable would be set to, if the command sets it.
fn shown(
    session: &Session,
    options: &GenerateClusterOptions,
    name: &str,
) -> Option<(DefaultSource, Option<String>)> {
    let (value, origin) = session.config.variable_with_origin(name)?;
    if name == NAMESPACE && origin == Origin::Kubeconfig {
        return Some((DefaultSource::CurrentNamespace, None));
    }
    let environment = || session.config.environment().get(name).map(str::to_owned);
    let given = match origin {
        Origin::Environment(_) => environment(),
        Origin::File(_) | Origin::BuiltIn => None,
        _ => Some(value),
    };
    let value = match name {
        CLUSTER_NAME => options.name.clone(),
        CONTROL_PLANE_MACHINE_COUNT => given.unwrap_or_else(|| "1".to_owned()),
        WORKER_MACHINE_COUNT => given.unwrap_or_else(|| "0".to_owned()),
        NAMESPACE | KUBERNETES_VERSION => given?,
        _ => return None,
    };
    Some((DefaultSource::Command, Some(value)))
}
