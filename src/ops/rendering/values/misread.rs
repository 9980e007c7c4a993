//! Which values YAML reads, but as something else.

use std::collections::HashMap;
use std::ops::Range;

use super::remedy::remedy;
use super::{MAX_NAMED, document_around, is_odd_number, risky, what};
use crate::template::{Lines, Rendering, Substitution};
use crate::yaml::{self, Form, Node, Outline};

/// Says for each variable where YAML reads its value as something else, and how to mend it.
pub(in crate::ops::rendering) fn misread(rendering: &Rendering) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(&rendering.text) else {
        return Vec::new();
    };
    // In the order of the first places.
    let (mut found, mut order): (HashMap<&str, Vec<&Substitution>>, Vec<&str>) = Default::default();
    for place in misread_places(text, rendering) {
        let places = found.entry(place.name).or_default();
        if places.is_empty() {
            order.push(place.name);
        }
        places.push(place);
    }
    let told = order.iter().take(MAX_NAMED).map(|name| {
        let places = &found[name];
        let mut lines: Vec<usize> = places.iter().map(|place| place.line).collect();
        lines.dedup();
        format!(
            "{}: YAML takes a part of the {} for its own; {}",
            Lines(&lines),
            what(places[0]),
            remedy(text, rendering, places[0])
        )
    });
    let mut told: Vec<String> = told.collect();
    if let Some(more @ 1..) = order.len().checked_sub(MAX_NAMED) {
        told.push(format!("and so it is with {more} more variables"));
    }
    told
}

/// Finds the places whose values do not stay whole. Only documents that have risky ones are looked at, for most of a
/// provider's manifest has none.
fn misread_places<'r>(text: &str, rendering: &'r Rendering) -> Vec<&'r Substitution<'r>> {
    let mut found = Vec::new();
    let mut current: Option<(Range<usize>, Outline)> = None;
    for place in risky(text, rendering) {
        let is_inside = |(document, _): &(Range<usize>, Outline)| place.range.end <= document.end;
        if !current.as_ref().is_some_and(is_inside) {
            let document = document_around(text, &place.range);
            // The text as a whole can be read, so this can.
            let outline = Outline::of(&text[document.clone()]).unwrap_or_default();
            current = Some((document, outline));
        }
        let (document, outline) = current.as_ref().expect("it is set above");
        let inside = place.range.start - document.start..place.range.end - document.start;
        if !stays_whole(&text[document.clone()], outline, &inside) {
            found.push(place);
        }
    }
    found
}

/// Tells whether a value comes out of YAML as it went in: as a part of one scalar or comment, or as a list, a mapping or a
/// quoted text of its own.
fn stays_whole(text: &str, outline: &Outline, range: &Range<usize>) -> bool {
    let value = &text[range.clone()];
    let trimmed = trimmed(text, range);
    let Some(node) = outline.around(&trimmed) else {
        return in_comment(text, outline, range);
    };
    let is_whole_node = node.range == trimmed;
    match node.form {
        Form::Plain if is_whole_node => node.text == value.trim() && keeps_spelling(value.trim()),
        Form::Plain => node.text.contains(value.trim()),
        Form::SingleQuoted => is_whole_node || node.text.contains(&value.replace("''", "'")),
        Form::DoubleQuoted => is_whole_node || node.text.contains(value),
        Form::Block => is_kept_in_block(node, value),
        Form::Alias => false,
        Form::Collection => {
            is_whole_node && text[trimmed.clone()].starts_with(['[', '{'])
                || fills_brackets(text, &trimmed)
                || in_comment(text, outline, range)
                || fills_lines(text, outline, range)
        }
    }
}

/// Tells whether what YAML reads prints as it is written, if it is a number.
fn keeps_spelling(value: &str) -> bool {
    if !is_odd_number(value) {
        return true;
    }
    let read = yaml::parse_documents(&format!("k: {value}"));
    let number = read
        .ok()
        .and_then(|documents| documents[0].map.get("k").cloned())
        .filter(serde_json::Value::is_number);
    let printed = number.map(|number| number.to_string());
    printed.is_none_or(|printed| printed == value)
}

/// The lines of a block lose the blanks that it is indented by, nothing else.
fn is_kept_in_block(node: &Node, value: &str) -> bool {
    value
        .lines()
        .all(|line| node.text.contains(line.trim_start()))
}

fn trimmed(text: &str, range: &Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let start = range.start + value.len() - value.trim_start().len();
    start..(start + value.trim().len())
}

/// Tells whether a range lies behind a `#` that no scalar holds, on one line.
fn in_comment(text: &str, outline: &Outline, range: &Range<usize>) -> bool {
    let line_start = line_start(text, range.start);
    let begins_comment = |at: usize| {
        let is_separate = at == line_start || text[..at].ends_with([' ', '\t']);
        let around = outline.around(&(at..at + 1));
        is_separate && around.is_none_or(|node| node.form == Form::Collection)
    };
    let mut marks = text[line_start..range.start].match_indices('#');
    !text[range.clone()].contains('\n') && marks.any(|(at, _)| begins_comment(line_start + at))
}

fn line_start(text: &str, place: usize) -> usize {
    text[..place].rfind('\n').map_or(0, |end| end + 1)
}

/// Tells whether a range is all that stands between brackets, as in `[${ZONES}]`: a place for the items of a list.
fn fills_brackets(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].trim_end().chars().next_back();
    let behind = text[range.end..].trim_start().chars().next();
    matches!(
        (before, behind),
        (Some('['), Some(']')) | (Some('{'), Some('}'))
    )
}

/// Tells whether a reference has its lines for itself, and the lines of its value are indented like the first, outside of
/// any scalar: such a value is meant to be YAML.
fn fills_lines(text: &str, outline: &Outline, range: &Range<usize>) -> bool {
    let margin = &text[line_start(text, range.start)..range.start];
    let behind = &text[range.end..];
    let rest = &behind[..behind.find('\n').unwrap_or(behind.len())];
    let value = &text[range.clone()];
    let (first, others) = value.split_once('\n').unwrap_or((value, ""));
    let around_first = outline.around(&(range.start..range.start + first.len()));
    margin.trim().is_empty()
        && rest.trim().is_empty()
        && others
            .lines()
            .all(|line| line.is_empty() || line.starts_with(margin))
        && around_first.is_none_or(|node| node.form != Form::Block)
}
