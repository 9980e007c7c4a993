//! How a template can be written so that a value stays whole.

use std::ops::Range;

use super::{document_around, is_risky, with_words};
use crate::template::{Rendering, Substitution};
use crate::yaml::Outline;

/// Says how the template can be written so that the value stays whole.
pub(super) fn remedy(text: &str, rendering: &Rendering, place: &Substitution) -> String {
    let name = place.name;
    let value = &text[place.range.clone()];
    let is_bad = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{85}');
    if let Some(bad) = value.chars().find(|c| is_bad(*c)) {
        let code = u32::from(bad);
        return format!("YAML allows no control character such as U+{code:04X}, take it out");
    }
    if value.trim_end().contains('\n') {
        return format!(
            "it has several lines, and the template's indentation is that of the first one only: indent the others in `{name}`, \
             or give it on one line"
        );
    }
    if value.ends_with('\n') {
        return format!("it ends with a line break, take that off `{name}`");
    }
    let (mut before, mut behind) = around(text, rendering, place);
    let surrounding = match (before.chars().next_back(), behind.chars().next()) {
        (Some(left @ ('"' | '\'')), Some(right)) if left == right => Some(left),
        _ => None,
    };
    if surrounding.is_some() {
        before.pop();
        behind.remove(0);
    }
    let reference = shown(place);
    let fits = |quote: &char| stays_whole_in_quotes(&before, *quote, value, &behind);
    match (['"', '\''].iter().find(|quote| fits(quote)), surrounding) {
        (Some(quote), _) => {
            format!("put quotes around it in the template: `{quote}{reference}{quote}`")
        }
        (None, Some('\'')) => format!(
            "a `'` within single quotes is written twice: set `{name}` so, or use double quotes in the template"
        ),
        (None, Some(_)) => format!(
            "a `\"` or `\\` within double quotes needs a `\\` before it: set `{name}` so, or use single quotes in the template"
        ),
        (None, None) => {
            format!("put quotes around all of the text that `{reference}` is a part of")
        }
    }
}

/// Returns the reference as the template has it, if that is short.
fn shown(place: &Substitution) -> String {
    const LONGEST: usize = 60;
    match &place.source {
        source if source.len() <= LONGEST && !source.contains('\n') => source.to_string(),
        _ => format!("${{{}...}}", place.name),
    }
}

fn stays_whole_in_quotes(before: &str, quote: char, value: &str, behind: &str) -> bool {
    let text = format!("{before}{quote}{value}{quote}{behind}");
    let place = before.len()..text.len() - behind.len();
    Outline::of(&text).is_ok_and(|outline| {
        let node = outline.around(&place);
        node.is_some_and(|node| node.range == place && node.text == value)
    })
}

/// Returns what is before and behind a place in its document, with harmless words for other risky values.
fn around(text: &str, rendering: &Rendering, place: &Substitution) -> (String, String) {
    let document = document_around(text, &place.range);
    let harmless = |part: Range<usize>| {
        with_words(text, rendering, &part, |other| {
            is_risky(&text[other.range.clone()]).then_some("x")
        })
    };
    let before = harmless(document.start..place.range.start);
    (before, harmless(place.range.end..document.end))
}
