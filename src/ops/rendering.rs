//! From the text of a template to objects: what the `generate` commands and `init` have in common.

use std::io::{self, IsTerminal, Read};

use super::Session;
use crate::error::{Context, Result};
use crate::model::{Object, object};
use crate::repository::{File, source};
use crate::template::Template;
use crate::ui::Ui;

/// Reads the template that `--from` names.
pub(super) async fn fetch_source(session: &Session, from: &str) -> Result<File> {
    // A read from a terminal blocks until somebody types; Ctrl-C must be heard meanwhile.
    let typed = match from {
        "-" => tokio::task::spawn_blocking(read_stdin)
            .await
            .expect("reading does not panic"),
        _ => Ok(Vec::new()),
    };
    Ok(source::fetch_template(from, &session.repository_settings()?, || typed).await?)
}

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        Ui.status("Reading the template from standard input, up to its end (Ctrl-D)");
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).map(|_| bytes)
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
