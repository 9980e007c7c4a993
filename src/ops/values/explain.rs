//! `--explain`: each variable of a template, its value, and where that comes from.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::config::Origin;
use crate::model::secret::{has_user_info, is_secret_name};
use crate::ops::Session;
use crate::template::{Mention, Reference, Template};

/// How many characters of a value are shown.
const MAX_SHOWN: usize = 48;

/// Writes the table to standard error.
pub(super) fn explain(session: &Session, template: &Template, label: &str) {
    let mentions = template.mentions();
    if mentions.is_empty() {
        session.ui.status(format!("`{label}` has no variables"));
        return;
    }
    let others = other_defaults(template, &mentions);
    let row = |mention: &Mention<'_>| {
        let value = session.config.variable_with_origin(mention.name);
        row(mention, others.get(mention.name).copied(), value)
    };
    let rows: Vec<[String; 3]> = mentions.iter().map(row).collect();
    session.ui.status(format!("Variables of `{label}`:"));
    session.ui.status(table(&rows).trim_end());
}

/// Returns the first line of each variable where its default is another one than that of its mention.
fn other_defaults<'t>(template: &'t Template, mentions: &[Mention<'t>]) -> HashMap<&'t str, usize> {
    let first: HashMap<&str, &str> = mentions
        .iter()
        .filter_map(|mention| Some((mention.name, mention.default.as_ref()?.0.as_str())))
        .collect();
    let mut others = HashMap::new();
    for Reference {
        name,
        line,
        default,
        ..
    } in template.references()
    {
        if default.is_some() && default.as_deref() != first.get(name).copied() {
            others.entry(name).or_insert(line);
        }
    }
    others
}

/// `other` is a line with a default other than the mention's.
fn row(
    mention: &Mention<'_>,
    other: Option<usize>,
    value: Option<(String, Origin)>,
) -> [String; 3] {
    let other = other.map(|line| format!("another in line {line}"));
    let (value, source) = match (value, &mention.default) {
        (Some((value, origin)), Some((_, line))) if value.is_empty() => {
            let other = other.map_or_else(String::new, |other| format!(" ({other})"));
            let source = format!("{origin}, empty: the default of line {line} counts{other}");
            (Some(value), source)
        }
        (Some((value, origin)), _) => (Some(value), origin.to_string()),
        (None, Some((text, line))) if !mention.required => {
            let other = other.map_or_else(String::new, |other| format!("; {other}"));
            let source = format!("default of the template (line {line}{other})");
            (Some(text.clone()), source)
        }
        (None, _) => (None, "not set".to_owned()),
    };
    let shown = match value {
        None => "-".to_owned(),
        Some(value) if is_secret_name(mention.name) || has_user_info(&value) => "****".to_owned(),
        Some(value) => shorten(&value),
    };
    [mention.name.to_owned(), shown, source]
}

/// Returns the first line of a value, on which nothing can disturb the terminal.
pub fn shorten(value: &str) -> String {
    if value.is_empty() {
        return "\"\"".to_owned();
    }
    let line = value.split('\n').next().unwrap_or_default();
    let mut shown: String = line
        .chars()
        .take(MAX_SHOWN)
        .fold(String::new(), |mut shown, c| {
            match is_plain(c) {
                true => shown.push(c),
                false => write!(shown, "{}", c.escape_default()).expect("a text takes all"),
            }
            shown
        });
    if line.len() < value.len() || line.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Neither a control character nor one that turns the direction of the text or cannot be seen.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn table(rows: &[[String; 3]]) -> String {
    let header = ["NAME", "VALUE", "SOURCE"].map(str::to_owned);
    let rows = || std::iter::once(&header).chain(rows);
    let width = |column: usize| {
        let widths = rows().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default() + 2
    };
    let (name_width, value_width) = (width(0), width(1));
    rows().fold(String::new(), |mut table, [name, value, source]| {
        writeln!(table, "  {name:name_width$}{value:value_width$}{source}")
            .expect("a text takes all");
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_on_one_line_without_control_characters() {
        assert_eq!(shorten(""), "\"\"");
        assert_eq!(shorten("plain ä"), "plain ä");
        assert_eq!(shorten("one\ntwo"), "one…");
        assert_eq!(shorten("\u{1b}[31mred\r"), "\\u{1b}[31mred\\r");
        assert_eq!(shorten("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(shorten(&"x".repeat(48)), "x".repeat(48));
        assert_eq!(shorten(&"x".repeat(49)), "x".repeat(48) + "…");
    }
}
