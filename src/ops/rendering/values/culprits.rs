//! Which values keep a rendered text from being read.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use super::misfit::misfit;
use super::remedy::remedy;
use super::{MAX_NAMED, document_around, is_inside, is_risky, risky, what, with_words};
use crate::error::Failure;
use crate::model::object::parse_objects;
use crate::template::{Rendering, Substitution};
use crate::yaml;

/// Makes the failure of a rendered text that cannot be read: names the variables whose values break it, if any do. Lines
/// are those of the template.
pub(in crate::ops::rendering) fn explain(
    origin: &str,
    rendering: &Rendering,
    mut error: yaml::Error,
) -> Failure {
    let text = std::str::from_utf8(&rendering.text).unwrap_or_default();
    let fault = Fault::new(text, rendering, &error);
    error.line = rendering.template_line(fault.line.start);
    let culprits = culprits(text, rendering, &fault);
    if let [nearest, ..] = culprits[..] {
        let remedy = remedy(text, rendering, nearest);
        return broken(origin, error, culprits, remedy);
    }
    let unread = format!("what `{origin}` renders to cannot be read");
    if begins_action(&text[fault.line.clone()]) {
        return Failure::new(error).context(unread).hint(
            "`{{` without quotes looks like a Helm template, which is no YAML: render it with `helm template` first",
        );
    }
    match misfit(text, rendering, &fault) {
        Some((place, remedy)) => broken(origin, error, vec![place], remedy),
        None => Failure::from(error).context(unread),
    }
}

fn broken(
    origin: &str,
    error: yaml::Error,
    mut culprits: Vec<&Substitution>,
    remedy: String,
) -> Failure {
    culprits.sort_by_key(|place| place.line);
    let places: Vec<String> = culprits
        .iter()
        .map(|place| format!("the {}, used in line {},", what(place), place.line))
        .collect();
    let verb = match places.len() {
        1 => "breaks",
        _ => "break",
    };
    let message = format!(
        "{} {verb} the YAML of `{origin}` there",
        places.join(" and ")
    );
    // The hints of the error are for those who wrote the value's text as YAML.
    Failure::new(error).context(message).hint(remedy)
}

/// Where the rendered text cannot be read, in bytes.
pub(super) struct Fault {
    line: Range<usize>,
    /// A byte of the line, or its end.
    at: usize,
    /// What is between the separators around.
    pub document: Range<usize>,
}

impl Fault {
    fn new(text: &str, rendering: &Rendering, error: &yaml::Error) -> Self {
        let start = rendering.line_start(error.line);
        let line = text[start..].lines().next().unwrap_or_default();
        let column = line.char_indices().nth(error.column.saturating_sub(1));
        Self {
            line: start..start + line.len(),
            at: start + column.map_or(line.len(), |(at, _)| at),
            document: document_around(text, &(start..start)),
        }
    }

    /// Returns the places of the document that it could come from, the most likely one first: those in its line go before
    /// all others, and near ones before far ones.
    pub fn nearest<'r>(
        &self,
        places: impl Iterator<Item = &'r Substitution<'r>>,
    ) -> Vec<&'r Substitution<'r>> {
        let mut places: Vec<_> = places
            .filter(|place| is_inside(&self.document, place))
            .collect();
        places.sort_by_key(|place| {
            let Range { start, end } = place.range;
            let is_in_line = start <= self.line.end && end.max(start + 1) > self.line.start;
            let distance = start
                .saturating_sub(self.at)
                .max(self.at.saturating_sub(end));
            (Reverse(is_in_line), distance, start > self.at)
        });
        places
    }
}

/// Finds the variables whose values keep the text from being read, each at its place that is nearest to the fault among
/// those that do; the nearest variable comes first.
fn culprits<'r>(text: &str, rendering: &'r Rendering, fault: &Fault) -> Vec<&'r Substitution<'r>> {
    let mut places = fault.nearest(risky(text, rendering));
    let reads_with = |kept: &[&Substitution]| {
        let kept: HashSet<usize> = kept.iter().map(|place| place.range.start).collect();
        let replaced = with_words(text, rendering, &fault.document, |place| {
            let is_kept = kept.contains(&place.range.start);
            (!is_kept && is_risky(&text[place.range.clone()])).then_some("x")
        });
        parse_objects(&replaced).is_ok()
    };
    let mut found = Vec::new();
    if !reads_with(&[]) {
        return found;
    }
    while found.len() < MAX_NAMED && !reads_with(&places) {
        // The fewer of them are kept, the better it reads: the first with which it does not is at fault.
        let (mut low, mut high) = (1, places.len());
        while low < high {
            let middle = low.midpoint(high);
            if reads_with(&places[..middle]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let culprit = places[low - 1];
        places.retain(|place| place.name != culprit.name);
        found.push(culprit);
    }
    found
}

/// Tells whether a line has a `{{` that is not within quotes.
fn begins_action(line: &str) -> bool {
    line.match_indices("{{").any(|(at, _)| {
        let is_within = |quote| line[..at].matches(quote).count() % 2 == 1;
        !is_within('"') && !is_within('\'')
    })
}
