//! Renders any template: substitution only, no cluster.

use super::Session;
use super::rendering::{fetch_source, parse_template, render_objects, render_text};
use crate::error::{Failure, Result};
use crate::model::object;
use crate::repository::File;

/// What to render.
#[derive(Debug, Clone)]
pub struct GenerateYamlOptions {
    /// A URL, a path, or `-` for standard input.
    pub from: String,
    /// Leave the text as it is but for the variables; it need not be YAML.
    pub raw: bool,
    /// Refuse what would be a warning.
    pub strict: bool,
}

/// Returns the rendered objects as YAML, or the text itself if it is to be left raw.
///
/// # Errors
/// The template cannot be read or does not parse, or variables have no value.
pub async fn generate_yaml(session: &Session, options: GenerateYamlOptions) -> Result<String> {
    let file = fetch(session, &options).await?;
    let template = parse_template(&file)?;
    if options.raw {
        return render_text(session, &file, &template, options.strict);
    }
    let objects = render_objects(session, &file, &template, options.strict)?;
    Ok(object::render_objects(&objects) + "\n")
}

/// Returns the names of the variables that the template uses, sorted.
///
/// # Errors
/// The template cannot be read or does not parse.
pub async fn list_variables(
    session: &Session,
    options: GenerateYamlOptions,
) -> Result<Vec<String>> {
    let template = parse_template(&fetch(session, &options).await?)?;
    Ok(template
        .variables()
        .iter()
        .map(|variable| variable.name.clone())
        .collect())
}

async fn fetch(session: &Session, options: &GenerateYamlOptions) -> Result<File> {
    if options.from.is_empty() {
        return Err(Failure::new(
            "unable to read custom template. Please specify a template source",
        )
        .hint("name a file or URL with `--from`, or `-` for standard input"));
    }
    fetch_source(session, &options.from).await
}
