//! `capictl generate yaml`

use clap::Args;

use super::variables::{ListFormat, ensure_list, json};
use crate::cli::args::ValueArgs;
use crate::cli::values::parse_bool;
use crate::error::Result;
use crate::ops::Session;
use crate::ops::generate_yaml::{self, GenerateYamlOptions};
use crate::ops::variables::TemplateVariable;

/// Substitute the variables of any template
///
/// The values come from `--set`, `--values`, the environment and the configuration file, in this order. No cluster is asked.
/// On a terminal the command offers to ask for those that are missing, unless `CI` is set.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Render a file
  capictl generate yaml --from ~/cluster-template.yaml

  # Render a file of a GitHub repository
  capictl generate yaml --from https://github.com/foo-org/foo-repository/blob/main/cluster-template.yaml

  # Substitute in any text, and leave the rest of it as it is
  capictl generate yaml --raw --from ~/cloud-init.sh

  # List the variables of a template on standard input
  cat ~/cluster-template.yaml | capictl generate yaml --list-variables

  # Take values from a file, change one of them, and see where each comes from
  capictl generate yaml --from ~/cluster-template.yaml --values values.yaml --set REGION=eu-west-1 --explain")]
pub struct YamlArgs {
    /// Path or URL of the template; `-` is standard input
    #[arg(long, value_name = "SOURCE", default_value = "-")]
    pub from: String,

    /// List the variables that the template uses instead of rendering it
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub list_variables: bool,

    /// Substitute the variables and leave the text as it is otherwise; it need not be YAML
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool,
        conflicts_with = "list_variables"
    )]
    pub raw: bool,

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

    /// Format of that list [default: text]
    #[arg(short, long, value_name = "FORMAT")]
    pub output: Option<ListFormat>,

    #[command(flatten)]
    pub values: ValueArgs,
}

impl YamlArgs {
    /// Returns the rendered template, or its variables.
    ///
    /// # Errors
    /// A format without a list, or the operation fails.
    pub async fn run(self, session: &mut Session) -> Result<String> {
        let Self {
            from,
            list_variables,
            raw,
            strict,
            output,
            values,
        } = self;
        ensure_list(output, list_variables)?;
        let options = GenerateYamlOptions {
            from,
            raw,
            strict,
            values: values.into_options()?,
        };
        if list_variables {
            let variables = generate_yaml::list_variables(session, options).await?;
            Ok(match output {
                Some(ListFormat::Json) => json(&variables),
                Some(ListFormat::Text) | None => list(&variables),
            })
        } else {
            generate_yaml::generate_yaml(session, options).await
        }
    }
}

/// Returns clusterctl's list; a template without variables gives one blank line.
fn list(variables: &[TemplateVariable]) -> String {
    if variables.iter().all(|variable| variable.only_nested) {
        return "\n".into();
    }
    let lines: String = variables
        .iter()
        .filter(|variable| !variable.only_nested)
        .map(|variable| format!("  - {}\n", variable.name))
        .collect();
    format!("Variables:\n{lines}")
}
