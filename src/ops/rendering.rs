//! From the text of a template to objects: what the `generate` commands and `init` have in common.

mod values;

use std::io::{self, IsTerminal, Read};

use super::Session;
use super::values::with_advice;
use crate::error::{Context, Failure, Result};
use crate::model::{Object, object};
use crate::repository::{File, source};
use crate::template::{HoleKind, Rendering, Template};
use crate::ui::Ui;

/// Reads the template that `--from` names.
pub(super) async fn fetch_source(session: &Session, from: &str) -> Result<File> {
    // A read from a terminal blocks until somebody types; Ctrl-C must be heard meanwhile.
    let typed = match from {
        "-" => tokio::task::spawn_blocking(|| read_stdin("template"))
            .await
            .expect("reading does not panic"),
        _ => Ok(Vec::new()),
    };
    Ok(source::fetch_template(from, &session.repository_settings()?, || typed).await?)
}

/// Reads standard input to its end; somebody who sits before it is told `what` to type.
pub(super) fn read_stdin(what: &str) -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        Ui.status(format!(
            "Reading the {what} from standard input, up to its end (Ctrl-D)"
        ));
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).map(|_| bytes)
}

/// Parses a template; the error names where it came from.
pub(super) fn parse_template(file: &File) -> Result<Template> {
    Template::parse(file.text.as_str()).with_context(|| format!("cannot parse `{}`", file.origin))
}

/// Substitutes the variables of a template and reads the objects that come out. What may surprise the user is told as
/// warnings; `strict` makes errors of them.
pub(super) fn render_objects(
    session: &Session,
    file: &File,
    template: &Template,
    strict: bool,
) -> Result<Vec<Object>> {
    let rendering = render(session, file, template)?;
    let (objects, unread) = read_objects(session, file, template, &rendering)?;
    let mut findings = holes(session, template);
    findings.extend(values::misread(&rendering));
    findings.extend(unread);
    report(session, file, findings, strict)?;
    Ok(objects)
}

/// Substitutes the variables of a template that need not be YAML; `strict` as for [`render_objects`].
pub(super) fn render_text(
    session: &Session,
    file: &File,
    template: &Template,
    strict: bool,
) -> Result<String> {
    let rendering = render(session, file, template)?;
    report(session, file, holes(session, template), strict)?;
    Ok(text_of(&rendering).to_owned())
}

/// Substitutes the variables of a template; the result is text, too.
pub(super) fn render<'t>(
    session: &Session,
    file: &File,
    template: &'t Template,
) -> Result<Rendering<'t>> {
    session.values.note_template(template);
    let rendering = template
        .render_tracked(|name| session.config.variable(name))
        .map_err(|error| with_advice(session, error))
        .with_context(|| format!("cannot render `{}`", file.origin))?;
    ensure_whole_characters(&rendering)
        .with_context(|| format!("cannot render `{}`", file.origin))?;
    Ok(rendering)
}

/// Refuses a character of which a reference leaves a part, as `${V:0:1}` does where `V` begins with `é`: no YAML can be read
/// that has one, and no text is meant to.
fn ensure_whole_characters(rendering: &Rendering) -> Result<()> {
    let Err(error) = std::str::from_utf8(&rendering.text) else {
        return Ok(());
    };
    let at = error.valid_up_to();
    let place = rendering
        .substitutions
        .iter()
        .find(|place| place.range.contains(&at))
        .expect("a template is text, so that a reference has cut the character");
    Err(Failure::new(format!(
        "the reference to `{}` at line {} cuts a character in two",
        place.name, place.line
    ))
    .hint("offsets, lengths and patterns work on bytes, of which a character beyond ASCII has several"))
}

/// What [`render`] has ensured.
fn text_of<'r>(rendering: &'r Rendering) -> &'r str {
    std::str::from_utf8(&rendering.text).expect("it is text, or it was not rendered")
}

/// Reads the objects of a rendered template; with them, the places from which on nobody reads it. The error leads to the
/// template's line, and to the variable at fault.
fn read_objects(
    session: &Session,
    file: &File,
    template: &Template,
    rendering: &Rendering,
) -> Result<(Vec<Object>, Vec<String>)> {
    let read = object::parse_manifest(text_of(rendering));
    let (objects, unread) = read.map_err(|error| {
        let failure = values::explain(&file.origin, rendering, error);
        let holes = template.holes(|name| session.config.variable(name));
        let lost_dollars = holes
            .iter()
            .filter(|hole| matches!(hole.kind, HoleKind::NoDollar { .. }));
        lost_dollars.fold(failure, |failure, hole| failure.hint(hole.to_string()))
    })?;
    let told = unread.into_iter().map(|line| {
        let line = rendering.template_line(rendering.line_start(line));
        format!(
            "line {line}: nothing from here to the next `---` is read, for the document before has ended; begin another one with \
             `---`, or indent this as the lines before"
        )
    });
    Ok((objects, told.collect()))
}

/// Names what the template lets slip.
pub(super) fn holes(session: &Session, template: &Template) -> Vec<String> {
    let holes = template.holes(|name| session.config.variable(name));
    holes.iter().map(ToString::to_string).collect()
}

/// Warns of what was found in a file, or fails with it.
fn report(session: &Session, file: &File, findings: Vec<String>, strict: bool) -> Result<()> {
    if strict && !findings.is_empty() {
        let failures = findings.into_iter().map(Failure::new);
        let message = format!("`{}` does not pass `--strict`", file.origin);
        return Err(Failure::several(message, failures));
    }
    for finding in findings {
        session.ui.warn(format!("`{}`, {finding}", file.origin));
    }
    Ok(())
}
