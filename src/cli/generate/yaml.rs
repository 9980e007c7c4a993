//! `capictl generate yaml`

use clap::Args;

use crate::cli::values::parse_bool;
use crate::error::{Failure, Result};
use crate::ops::Session;
use crate::ops::generate_yaml::{self, GenerateYamlOptions};

/// Substitute the variables of any template
///
/// The values come from the environment and from the configuration file. No cluster is asked.
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
  cat ~/cluster-template.yaml | capictl generate yaml --list-variables")]
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
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub raw: bool,

    /// Fail where a warning says that a value is lost or misread
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub strict: bool,
}

impl YamlArgs {
    /// Returns the rendered template, or its variables.
    ///
    /// # Errors
    /// No template is named, or the operation fails.
    pub async fn run(self, session: &Session) -> Result<String> {
        let Self {
            from,
            list_variables,
            raw,
            strict,
        } = self;
        if from.is_empty() {
            return Err(Failure::new(
                "unable to read custom template. Please specify a template source",
            )
            .hint("give `--from` a path, a URL, or `-` for standard input"));
        }
        let options = GenerateYamlOptions { from, raw, strict };
        if list_variables {
            Ok(list(
                &generate_yaml::list_variables(session, options).await?,
            ))
        } else {
            generate_yaml::generate_yaml(session, options).await
        }
    }
}

/// Returns clusterctl's list; a template without variables gives one blank line.
fn list(variables: &[String]) -> String {
    if variables.is_empty() {
        return "\n".into();
    }
    let lines: String = variables
        .iter()
        .map(|name| format!("  - {name}\n"))
        .collect();
    format!("Variables:\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_that_of_clusterctl() {
        assert_eq!(
            list(&["A".into(), "B".into()]),
            "Variables:\n  - A\n  - B\n"
        );
        assert_eq!(list(&[]), "\n");
    }
}
