//! From the text of a template to objects: what the `generate` commands and `init` have in common.

use super::Session;
use crate::error::{Context, Result};
use crate::model::{Object, object};
use crate::repository::File;
use crate::template::Template;

/// Parses a template; the error names where it came from.
pub(super) fn parse_template(file: &File) -> Result<Template> {
    Template::parse(file.text.as_str()).with_context(|| format!("cannot parse `{}`", file.origin))
}

/// Substitutes the variables of a template and reads the objects that come out.
pub(super) fn render_objects(
    session: &Session,
    file: &File,
    template: &Template,
) -> Result<Vec<Object>> {
    let rendered = template
        .render(|name| session.config.variable(name))
        .with_context(|| format!("cannot render `{}`", file.origin))?;
    // A template may cut a character in two, as the reference does; the objects that are read have whole ones.
    let text = String::from_utf8_lossy(&rendered);
    object::parse_objects(&text)
        .with_context(|| format!("what `{}` renders to cannot be read", file.origin))
}
