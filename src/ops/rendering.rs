//! From the text of a template to objects: what the `generate` commands and `init` have in common.

use std::io::Read;

use super::Session;
use crate::error::{Context, Result};
use crate::model::{Object, object};
use crate::repository::{File, source};
use crate::template::Template;

/// Reads the template that `--from` names.
pub(super) async fn fetch_source(session: &Session, from: &str) -> Result<File> {
    let stdin = || {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    };
    Ok(source::fetch_template(from, &session.repository_settings()?, stdin).await?)
}

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
