//! Which values keep a rendered text from being read.

use std::collections::HashSet;
use std::ops::Range;

use super::remedy::remedy;
use super::{MAX_NAMED, document_around, risky, what};
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
    let fault = rendering.line_start(error.line);
    let culprits = culprits(text, rendering, fault);
    error.line = rendering.template_line(fault);
    let [first, ..] = culprits[..] else {
        let message = format!("what `{origin}` renders to cannot be read");
        return Failure::from(error).context(message);
    };
    let places: Vec<String> = culprits
        .iter()
        .map(|place| format!("the {}, used in line {},", what(place), place.line))
        .collect();
    let message = format!(
        "{} breaks the YAML of `{origin}` there",
        places.join(" and ")
    );
    // The hints of the error are for those who wrote the value's text as YAML.
    Failure::new(error)
        .context(message)
        .hint(remedy(text, rendering, first))
}

/// Finds the variables whose values keep the text from being read, each at its place that is nearest to the fault.
fn culprits<'r>(text: &str, rendering: &'r Rendering, fault: usize) -> Vec<&'r Substitution<'r>> {
    let document = document_around(text, &(fault..fault));
    let is_inside = |place: &&Substitution| {
        document.start <= place.range.start && place.range.end <= document.end
    };
    let mut places: Vec<&Substitution> = risky(text, rendering).filter(is_inside).collect();
    places.sort_by_key(|place| (fault.abs_diff(place.range.end), place.range.start > fault));
    let mut names = HashSet::new();
    places.retain(|place| names.insert(place.name));
    let reads_without = |left_out: &[&Substitution], more: &[&Substitution]| {
        let names: HashSet<&str> = left_out
            .iter()
            .chain(more)
            .map(|place| place.name)
            .collect();
        parse_objects(&without(text, rendering, &document, &names)).is_ok()
    };
    let mut found: Vec<&Substitution> = Vec::new();
    if !reads_without(&[], &places) {
        return found;
    }
    while found.len() < MAX_NAMED && !reads_without(&found, &[]) {
        // The more of them are left out, the better it reads: the first that is needed for that is at fault.
        let (mut low, mut high) = (1, places.len());
        while low < high {
            let middle = low.midpoint(high);
            if reads_without(&found, &places[..middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        found.push(places[low - 1]);
    }
    found.sort_by_key(|place| place.line);
    found
}

/// Returns a part of the text with a harmless word in place of the risky values of some variables.
fn without(
    text: &str,
    rendering: &Rendering,
    part: &Range<usize>,
    left_out: &HashSet<&str>,
) -> String {
    let (mut replaced, mut copied) = (String::with_capacity(part.len()), part.start);
    let is_inside =
        |place: &&Substitution| part.start <= place.range.start && place.range.end <= part.end;
    for place in risky(text, rendering).filter(is_inside) {
        if left_out.contains(place.name) {
            replaced.push_str(&text[copied..place.range.start]);
            replaced.push('x');
            copied = place.range.end;
        }
    }
    replaced + &text[copied..part.end]
}
