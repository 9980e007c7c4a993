//! `--dry-run=server`: what the API server would say to the rendered objects, beside the lines of the template.

use std::cell::RefCell;

use futures::{StreamExt, TryStreamExt, stream};

use super::{Part, parse_template};
use crate::cluster::dry_run::{Problem, Verdict};
use crate::error::{Context, Failure, Result};
use crate::model::Object;
use crate::model::secret::{has_user_info, is_secret_name};
use crate::ops::{ClusterOptions, Session};
use crate::repository::File;
use crate::template::Rendering;
use crate::yaml::Outline;

mod redact;

/// How many objects are on the way at once.
const SIDE_BY_SIDE: usize = 16;
/// How many objects are named that share a fate.
const NAMES: usize = 5;
/// How much of a template's line is shown, in characters.
const LINE_WIDTH: usize = 100;

/// An object of a part, and what the server says of it.
struct Answer<'a> {
    part: &'a Part,
    /// The object's place in its part, from 1, which is that of its document in the file.
    document: usize,
    object: &'a Object,
    verdict: Verdict,
}

/// Asks the API server about all objects; nothing is changed in the cluster.
///
/// # Errors
/// The server refuses one, or cannot be asked.
pub(super) async fn check(
    session: &Session,
    options: &ClusterOptions,
    parts: &[Part],
) -> Result<()> {
    let cluster = session.connect(options).await?;
    let objects = parts.iter().flat_map(|part| {
        let numbered = part.objects.iter().enumerate();
        numbered.map(move |(index, object)| (part, index + 1, object))
    });
    let answers: Vec<Answer> = stream::iter(objects)
        .map(|(part, document, object)| {
            let cluster = &cluster;
            async move {
                let verdict = cluster.dry_run(object).await;
                Ok::<_, Failure>(Answer {
                    part,
                    document,
                    object,
                    verdict: verdict.context("cannot ask the API server about the objects")?,
                })
            }
        })
        .buffered(SIDE_BY_SIDE)
        .try_collect()
        .await?;
    tell_unchecked(session, &answers);
    ensure_accepted(session, &answers)
}

fn tell_unchecked(session: &Session, answers: &[Answer]) {
    let mut unchecked = 0;
    for Answer {
        object, verdict, ..
    } in answers
    {
        if let Verdict::Unchecked(obstacle) = verdict {
            unchecked += 1;
            session
                .ui
                .status(format!("Not checked: {object}: {obstacle}"));
        }
    }
    // What the user may not do, the server has not looked at either; the error says so.
    unchecked += count(answers, |verdict| matches!(verdict, Verdict::Forbidden(_)));
    session.ui.status(format!(
        "{} checked by the API server, {unchecked} unchecked",
        objects(answers.len() - unchecked)
    ));
}

fn count(answers: &[Answer], is_counted: impl Fn(&Verdict) -> bool) -> usize {
    let counted = answers.iter().filter(|answer| is_counted(&answer.verdict));
    counted.count()
}

fn objects(count: usize) -> String {
    match count {
        1 => "1 object".to_owned(),
        count => format!("{count} objects"),
    }
}

fn ensure_accepted(session: &Session, answers: &[Answer]) -> Result<()> {
    let mut refusals = forbidden(answers).into_iter().collect::<Vec<String>>();
    let mut last: Option<(&Part, Source)> = None;
    for answer in answers {
        let Verdict::Refused(problems) = &answer.verdict else {
            continue;
        };
        let source = match last.take() {
            Some((part, source)) if std::ptr::eq(part, answer.part) => source,
            _ => Source::of(session, &answer.part.file)?,
        };
        // The server has them in no order.
        let mut told: Vec<(usize, String)> = problems
            .iter()
            .map(|problem| source.explain(answer, problem))
            .collect();
        told.sort();
        refusals.extend(told.into_iter().map(|(_, text)| text));
        last = Some((answer.part, source));
    }
    if refusals.is_empty() {
        return Ok(());
    }
    let forbidden = count(answers, |verdict| matches!(verdict, Verdict::Forbidden(_)));
    let refused = count(answers, |verdict| matches!(verdict, Verdict::Refused(_)));
    let failure = Failure::new(format!(
        "{}\n  - {}",
        summary(refused, forbidden, answers.len()),
        refusals.join("\n  - ")
    ));
    if forbidden == 0 {
        return Err(failure);
    }
    Err(failure.hint(
        "a dry run needs the permissions of the real one: ask for them, or use a context whose user has them",
    ))
}

/// Says how many objects the server would refuse, and about how many the user may not ask it.
fn summary(refused: usize, forbidden: usize, all: usize) -> String {
    let all = objects(all);
    match (refused, forbidden) {
        (refused, 0) => format!("the API server would refuse {refused} of {all}"),
        (0, forbidden) => {
            format!("the user may not ask the API server about {forbidden} of {all}")
        }
        (refused, forbidden) => format!(
            "the API server would refuse {refused} of {all}, and the user may not ask it about {forbidden} more"
        ),
    }
}

/// What a user may not do is told once, for it is the same for all objects.
fn forbidden(answers: &[Answer]) -> Option<String> {
    let mut message = None;
    let mut names = Vec::new();
    for Answer {
        object, verdict, ..
    } in answers
    {
        if let Verdict::Forbidden(text) = verdict {
            message.get_or_insert(text);
            names.push(object.to_string());
        }
    }
    let shown = names
        .iter()
        .take(NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    let rest = match names.len().saturating_sub(NAMES) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    Some(format!("{shown}{rest}: {}", message?))
}

/// A file once more, to find the lines that objects come from.
struct Source {
    origin: String,
    lines: Vec<String>,
    /// The nodes of the rendered text; none where that is no UTF-8.
    outline: Outline,
    /// For each node of the outline its line in the template, and whether a secret is in it.
    places: Vec<(usize, bool)>,
    secrets: Vec<String>,
}

impl Source {
    fn of(session: &Session, file: &File) -> Result<Self> {
        let template = parse_template(file)?;
        let secrets = RefCell::new(Vec::new());
        let rendering = template.render_tracked(|name| {
            let value = session.config.variable(name);
            let has_secret = |value: &&String| is_secret_name(name) || has_user_info(value);
            if let Some(secret) = value.as_ref().filter(has_secret) {
                secrets.borrow_mut().push(secret.clone());
            }
            value
        })?;
        let text = std::str::from_utf8(&rendering.text).unwrap_or_default();
        let outline = Outline::of(text).unwrap_or_default();
        let mut secrets = secrets.into_inner();
        let results = rendering.substitutions.iter();
        secrets.extend(
            results
                .filter(|substitution| is_secret_name(substitution.name))
                .filter_map(|substitution| text.get(substitution.range.clone()))
                .map(str::to_owned),
        );
        Ok(Self {
            origin: file.origin.clone(),
            lines: file.text.lines().map(str::to_owned).collect(),
            places: places(&outline, &rendering),
            outline,
            secrets,
        })
    }

    /// Returns the template's line, and with it object, field and the server's reason.
    fn explain(&self, answer: &Answer, problem: &Problem) -> (usize, String) {
        let object = answer.object;
        let place = self.place(answer.document, problem.field.as_deref());
        let is_secret = object.kind() == "Secret" || place.is_some_and(|(_, secret)| secret);
        let message = redact::redact(&problem.message, &self.secrets, is_secret);
        let field = match &problem.field {
            Some(field) if !message.contains(field.as_str()) => format!("{field}: "),
            _ => String::new(),
        };
        let (line, shown) = match place {
            Some((line, _)) => (line, format!(":{line}{}", self.quote(object, line))),
            None => (0, String::new()),
        };
        let origin = &self.origin;
        (
            line,
            format!("{object}: {field}{message}\n      {origin}{shown}"),
        )
    }

    /// Returns the line of a field, or of what is around it: where its key is.
    fn place(&self, document: usize, field: Option<&str>) -> Option<(usize, bool)> {
        let path = field.map(plain_path).unwrap_or_default();
        let value = self.outline.nearest(document, &path)?;
        let same = |node: &&crate::yaml::Node| node.document == document && node.path == value.path;
        let mut indices =
            (0..self.outline.nodes.len()).filter(|index| same(&&self.outline.nodes[*index]));
        let first = indices.next()?;
        let is_secret = indices.chain([first]).any(|index| self.places[index].1);
        Some((self.places[first].0, is_secret))
    }

    /// Returns a line of the template: it names variables, not their values. Those of a Secret may be in the text itself.
    fn quote(&self, object: &Object, line: usize) -> String {
        let text = self.lines.get(line - 1).map_or("", |text| text.trim());
        if text.is_empty() || object.kind() == "Secret" {
            return String::new();
        }
        let shown: String = text.chars().take(LINE_WIDTH).collect();
        let rest = if shown.len() < text.len() { "..." } else { "" };
        format!(": `{shown}{rest}`")
    }
}

fn places(outline: &Outline, rendering: &Rendering<'_>) -> Vec<(usize, bool)> {
    let secrets = rendering.substitutions.iter();
    let secrets: Vec<_> = secrets
        .filter(|substitution| is_secret_name(substitution.name))
        .map(|substitution| &substitution.range)
        .collect();
    let nodes = outline.nodes.iter().map(|node| &node.range);
    nodes
        .map(|range| {
            let line = rendering.template_line(range.start);
            let overlaps = |secret: &&&std::ops::Range<usize>| {
                secret.start < range.end && range.start < secret.end
            };
            (line, secrets.iter().any(|secret| overlaps(&secret)))
        })
        .collect()
}

/// Returns the path as the outline writes it: the server says `data[key]` where that says `data.key`.
fn plain_path(field: &str) -> String {
    let mut path = String::new();
    let mut rest = field;
    while let Some((before, inside)) = rest.split_once('[') {
        path += before;
        let Some((key, after)) = inside.split_once(']') else {
            break;
        };
        let key = key.trim_matches('"');
        let is_plain = !key.contains('.') && key.parse::<usize>().is_err();
        path += &if is_plain {
            format!(".{key}")
        } else {
            format!("[{key}]")
        };
        rest = after;
    }
    path + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_and_forbidden_objects_are_counted_apart() {
        assert_eq!(
            summary(1, 0, 1),
            "the API server would refuse 1 of 1 object"
        );
        assert_eq!(
            summary(0, 3, 3),
            "the user may not ask the API server about 3 of 3 objects"
        );
        assert_eq!(
            summary(1, 1, 3),
            "the API server would refuse 1 of 3 objects, and the user may not ask it about 1 more"
        );
    }

    #[test]
    fn the_paths_of_the_server_are_those_of_the_outline() {
        for (server, outline) in [
            ("spec.a[0].b", "spec.a[0].b"),
            ("data[key]", "data.key"),
            ("metadata.labels[a.b/c].x", "metadata.labels[a.b/c].x"),
            ("spec", "spec"),
        ] {
            assert_eq!(plain_path(server), outline);
        }
    }
}
