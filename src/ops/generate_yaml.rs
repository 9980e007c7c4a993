//! Renders any template: substitution only, no cluster.

use super::Session;
use crate::error::Result;

/// What to render.
#[derive(Debug, Clone)]
pub struct GenerateYamlOptions {
    /// A URL, a path, or `-` for standard input.
    pub from: String,
}

/// Returns the rendered objects as YAML, without a final newline.
///
/// # Errors
/// The template cannot be read or does not parse, or variables have no value.
pub async fn generate_yaml(session: &Session, options: GenerateYamlOptions) -> Result<String> {
    let _ = (session, options);
    todo!()
}

/// Returns the names of the variables that the template uses, sorted.
///
/// # Errors
/// The template cannot be read or does not parse.
pub async fn list_variables(
    session: &Session,
    options: GenerateYamlOptions,
) -> Result<Vec<String>> {
    let _ = (session, options);
    todo!()
}
