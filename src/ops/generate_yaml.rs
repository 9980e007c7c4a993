//! Renders any template: substitution only, no cluster.

use super::Session;
use super::rendering::{fetch_source, parse_template, render_objects, render_text};
use super::values::{self, ValueOptions};
use super::variables::{self, TemplateVariable};
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
    /// Values of variables.
    pub values: ValueOptions,
}

/// Whoever renders a cluster template here may want another command.
const SETTERS: [(&str, &str); 5] = [
    ("CLUSTER_NAME", "`capictl generate cluster NAME` sets it"),
    (
        "NAMESPACE",
        "`capictl generate cluster NAME -n NAMESPACE` sets it",
    ),
    (
        "KUBERNETES_VERSION",
        "`capictl generate cluster NAME --kubernetes-version VERSION` sets it",
    ),
    (
        "CONTROL_PLANE_MACHINE_COUNT",
        "`capictl generate cluster NAME` sets it",
    ),
    (
        "WORKER_MACHINE_COUNT",
        "`capictl generate cluster NAME` sets it",
    ),
];

/// Returns the rendered objects as YAML, or the text itself if it is to be left raw.
///
/// # Errors
/// The template cannot be read or does not parse, or variables have no value.
pub async fn generate_yaml(session: &mut Session, options: GenerateYamlOptions) -> Result<String> {
    for (variable, sentence) in SETTERS {
        session.values.note_setter(variable, sentence);
    }
    let file = fetch(session, &options).await?;
    let template = parse_template(&file)?;
    values::settle(session, &options.values, &template, &file.origin).await?;
    values::warn_of_unused(session);
    if options.raw {
        return render_text(session, &file, &template, options.strict);
    }
    let objects = render_objects(session, &file, &template, options.strict)?;
    Ok(object::render_objects(&objects) + "\n")
}

/// Returns the variables that the template uses, sorted by name.
///
/// # Errors
/// The template cannot be read or does not parse.
pub async fn list_variables(
    session: &mut Session,
    options: GenerateYamlOptions,
) -> Result<Vec<TemplateVariable>> {
    let file = fetch(session, &options).await?;
    let template = parse_template(&file)?;
    values::tell(session, &options.values, &template, &file.origin);
    values::warn_of_unused(session);
    Ok(variables::list(&template))
}

async fn fetch(session: &mut Session, options: &GenerateYamlOptions) -> Result<File> {
    if options.from.is_empty() {
        return Err(Failure::new(
            "unable to read custom template. Please specify a template source",
        )
        .hint("name a file or URL with `--from`, or `-` for standard input"));
    }
    values::load(session, &options.values, Some(&options.from)).await?;
    fetch_source(session, &options.from).await
}
