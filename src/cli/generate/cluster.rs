//! `capictl generate cluster`

use clap::Args;

use super::variables::{ListFormat, ensure_list, json};
use crate::cli::args::{ClusterArgs, ValueArgs};
use crate::cli::output::Destination;
use crate::cli::values::{given, parse_bool, parse_integer};
use crate::error::Result;
use crate::ops::Session;
use crate::ops::generate_cluster::{GenerateClusterOptions, generate_cluster, list_variables};
use crate::ops::variables::{DefaultSource, TemplateVariable};

/// Render the objects of a workload cluster from a template
///
/// The template is a provider's, or that of a file, a URL or a ConfigMap. The values of variables come from the flags,
/// `--set`, `--values`, the environment and the configuration file (`$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`), in
/// this order. On a terminal the command offers to ask for those that are missing, unless `CI` is set.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Use the template of the management cluster's infrastructure provider
  capictl generate cluster my-cluster --kubernetes-version v1.36.0 | kubectl apply -f -

  # Without a management cluster: name the provider's version and the namespace
  capictl generate cluster my-cluster -i aws:v2.9.0 -n default --control-plane-machine-count 3

  # See which variables the template has
  capictl generate cluster my-cluster -i aws --list-variables
  capictl generate cluster my-cluster -i aws --list-variables -o json

  # Take values from a file, change one of them, and see where each comes from
  capictl generate cluster my-cluster -i aws --values aws.yaml --set AWS_REGION=eu-west-1 --explain

  # Use a template of your own
  capictl generate cluster my-cluster --from ~/cluster-template.yaml
  capictl generate cluster my-cluster --from https://github.com/foo-org/foo-repository/blob/main/cluster-template.yaml
  capictl generate cluster my-cluster --from-config-map my-templates

  # Ask the API server first whether it would take the objects; nothing is printed or applied unless it would
  capictl generate cluster my-cluster --dry-run=server | kubectl apply -f -")]
pub struct ClusterTemplateArgs {
    /// Name of the cluster to be
    pub name: String,

    /// Namespace of the cluster to be [default: the current one of the kubeconfig]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub target_namespace: Option<String>,

    /// Kubernetes version of the cluster to be [default: the variable KUBERNETES_VERSION]
    #[arg(long, value_name = "VERSION")]
    pub kubernetes_version: Option<String>,

    /// Machines of the control plane [default: the variable CONTROL_PLANE_MACHINE_COUNT, else 1]
    #[arg(long, value_name = "COUNT", value_parser = parse_integer, allow_negative_numbers = true)]
    pub control_plane_machine_count: Option<i64>,

    /// Worker machines [default: the variable WORKER_MACHINE_COUNT, else 0]
    #[arg(long, value_name = "COUNT", value_parser = parse_integer, allow_negative_numbers = true)]
    pub worker_machine_count: Option<i64>,

    /// Infrastructure provider whose template is taken [default: the one in the management cluster]
    #[arg(short, long, value_name = "NAME[:VERSION]")]
    pub infrastructure: Option<String>,

    /// Flavor of the provider's template
    #[arg(short, long, value_name = "FLAVOR")]
    pub flavor: Option<String>,

    /// Path or URL of a template to take instead of a provider's; `-` is standard input
    ///
    /// Links to files and release assets on GitHub may be pasted from a browser. Private ones need a token, in GITHUB_TOKEN for
    /// github.com; for a GitHub Enterprise in GITHUB_ENTERPRISE_TOKEN, with the host in GH_HOST, the only one that sees it.
    #[arg(long, value_name = "SOURCE")]
    pub from: Option<String>,

    /// ConfigMap to take the template from instead of a provider
    #[arg(long, value_name = "NAME")]
    pub from_config_map: Option<String>,

    /// Namespace of that ConfigMap [default: the current one of the kubeconfig]
    #[arg(long, value_name = "NAMESPACE")]
    pub from_config_map_namespace: Option<String>,

    /// Key in that ConfigMap [default: template]
    #[arg(long, value_name = "KEY")]
    pub from_config_map_key: Option<String>,

    /// List the template's variables instead of rendering it
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub list_variables: bool,

    /// Fail where a warning says that a value is lost or misread
    ///
    /// That is: a variable without a value inside of a default or with an operator (`${A:=${B}}`, `${A#x}`), the text of `${A:?text}`
    /// in place of a value, `${A:+text}`, a default that the next place lacks, `${1}` of a shell, `{A}` without its `$`, and a value
    /// that YAML reads in part as its own (docs/templates.md tells what to write instead).
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool, conflicts_with = "list_variables"
    )]
    pub strict: bool,

    /// Ask the API server whether it would take the objects; if not, print why beside the template's lines, and fail
    ///
    /// Nothing is changed in the cluster. Objects whose kind or namespace is not there are named and not checked.
    #[arg(long, value_name = "server", value_parser = parse_dry_run, conflicts_with = "list_variables")]
    pub dry_run: Option<DryRun>,

    /// Format of that list [default: text]
    #[arg(short, long, value_name = "FORMAT")]
    pub output: Option<ListFormat>,

    #[command(flatten)]
    pub values: ValueArgs,

    /// File to write to instead of standard output, readable for its owner only
    #[arg(long, value_name = "FILE")]
    pub write_to: Option<String>,

    #[command(flatten)]
    pub cluster: ClusterArgs,
}

impl ClusterTemplateArgs {
    /// Returns the rendered objects, or the template's variables.
    ///
    /// # Errors
    /// The operation's own, or the file cannot be written.
    pub async fn run(self, session: &mut Session) -> Result<String> {
        let destination = Destination::from_flag(self.write_to.as_deref())?;
        let (wants_list, output) = (self.list_variables, self.output);
        ensure_list(output, wants_list)?;
        let options = self.into_options()?;
        if wants_list {
            // As with clusterctl, the list goes to standard output always.
            let variables = list_variables(session, options).await?;
            return Ok(match output {
                Some(ListFormat::Json) => json(&variables),
                Some(ListFormat::Text) | None => list(&variables),
            });
        }
        destination.deliver(generate_cluster(session, options).await? + "\n")
    }

    fn into_options(self) -> Result<GenerateClusterOptions> {
        Ok(GenerateClusterOptions {
            cluster: self.cluster.into(),
            name: self.name,
            target_namespace: given(self.target_namespace),
            kubernetes_version: given(self.kubernetes_version),
            control_plane_machine_count: self.control_plane_machine_count,
            worker_machine_count: self.worker_machine_count,
            infrastructure: given(self.infrastructure),
            flavor: given(self.flavor),
            from: given(self.from),
            from_config_map: given(self.from_config_map),
            from_config_map_namespace: given(self.from_config_map_namespace),
            from_config_map_key: given(self.from_config_map_key),
            strict: self.strict,
            dry_run: self.dry_run.is_some(),
            values: self.values.into_options()?,
        })
    }
}

/// The dry run that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DryRun;

fn parse_dry_run(text: &str) -> Result<DryRun, &'static str> {
    match text {
        "server" => Ok(DryRun),
        "client" => {
            Err("it would ask nobody, as without the flag; say `server` to ask the API server")
        }
        _ => Err("expected `server`"),
    }
}

/// Returns clusterctl's two lists. The blank line belongs to the second heading, and another one ends the output.
fn list(variables: &[TemplateVariable]) -> String {
    let mut text = String::new();
    let variables = || variables.iter().filter(|variable| !variable.only_nested);
    let required: Vec<&str> = variables()
        .filter(|variable| variable.required)
        .map(|variable| variable.name.as_str())
        .collect();
    if !required.is_empty() {
        text += "Required Variables:\n";
        text.extend(required.iter().map(|name| format!("  - {name}\n")));
    }
    let optional: Vec<(&str, String)> = variables()
        .filter_map(|v| Some((v.name.as_str(), shown_default(v)?)))
        .collect();
    let width = optional
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    if !optional.is_empty() {
        text += "\nOptional Variables:\n";
        text.extend(
            optional
                .iter()
                .map(|(name, default)| format!("  - {name:width$}  (defaults to {default})\n")),
        );
    }
    text + "\n"
}

/// Only the template's own defaults are quoted.
fn shown_default(variable: &TemplateVariable) -> Option<String> {
    if variable.default_source == DefaultSource::CurrentNamespace {
        return Some("current Namespace in the KubeConfig file".to_owned());
    }
    let default = variable.default.as_deref()?;
    Some(match variable.default_source {
        DefaultSource::Template => quote(default),
        _ => default.to_owned(),
    })
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
    use super::*;

    fn variable(name: &str, default: Option<&str>) -> TemplateVariable {
        TemplateVariable {
            name: name.into(),
            default: default.map(str::to_owned),
            required: default.is_none(),
            uses: Vec::new(),
            default_source: match name {
                "LONG_NAME" => DefaultSource::Template,
                _ => DefaultSource::Command,
            },
            only_nested: false,
        }
    }

    #[test]
    fn a_default_is_quoted_once() {
        assert_eq!(quote("text"), r#""text""#);
        assert_eq!(quote(r#""text""#), r#""text""#);
        assert_eq!(quote("a\"b\n"), r#""a\"b\n""#);
    }

    #[test]
    fn the_list_is_that_of_clusterctl() {
        let variables = [
            variable("A_NAME_THAT_IS_LONGER_THAN_THE_OTHERS", None),
            variable("CONTROL_PLANE_MACHINE_COUNT", Some("1")),
            variable("LONG_NAME", Some("text")),
        ];
        assert_eq!(
            list(&variables),
            "\
Required Variables:
  - A_NAME_THAT_IS_LONGER_THAN_THE_OTHERS

Optional Variables:
  - CONTROL_PLANE_MACHINE_COUNT  (defaults to 1)
  - LONG_NAME                    (defaults to \"text\")

"
        );
        assert_eq!(
            list(&variables[..1]),
            "Required Variables:\n  - A_NAME_THAT_IS_LONGER_THAN_THE_OTHERS\n\n"
        );
        assert_eq!(
            list(&variables[2..]),
            "\nOptional Variables:\n  - LONG_NAME  (defaults to \"text\")\n\n"
        );
        assert_eq!(list(&[]), "\n");
    }
}
