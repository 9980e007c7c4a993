//! What `--list-variables` prints.

use clap::ValueEnum;

use crate::error::{Failure, Result};
use crate::ops::variables::TemplateVariable;

/// How variables are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Names, and defaults where the command has any
    Text,
    /// Name, default, whether it is required, and document, path and line of each use
    Json,
}

/// Refuses a format when there is no list.
///
/// # Errors
/// `--output` without `--list-variables`.
pub fn ensure_list(output: Option<ListFormat>, list_variables: bool) -> Result<()> {
    match output {
        Some(_) if !list_variables => Err(Failure::new(
            "`--output` is the format of a list, but no list is asked for",
        )
        .hint("add `--list-variables`")),
        _ => Ok(()),
    }
}

/// Returns the variables as JSON.
pub fn json(variables: &[TemplateVariable]) -> String {
    let text = serde_json::to_string_pretty(variables).expect("texts can be written as JSON");
    text + "\n"
}
