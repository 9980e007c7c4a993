//! Values that do not stay where the template puts them: YAML takes a part of them for its own.
//!
//! ```text
//! key: ${V}      V is `a: b`       no YAML                      an error that names V
//! key: ${V}      V is `a #b`       `b` is lost as a comment     a warning
//! key: |         V is `a` and
//!   ${V}         `b` on two lines  `b` stands at column 0       an error or a warning
//! ```
//!
//! Nothing here shows a value.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::Failure;
use crate::model::object::parse_objects;
use crate::template::{Rendering, Substitution};
use crate::yaml::{self, Form, Node, Outline};

/// Limit on how often a text is read again to find the values that break it.
const MAX_TRIALS: usize = 200;

/// Makes the failure of a rendered text that cannot be read: names the variables whose values break it, if any do.
pub(super) fn explain(origin: &str, rendering: &Rendering, error: yaml::Error) -> Failure {
    let line = rendering.template_line(rendering.line_start(error.line));
    let text = std::str::from_utf8(&rendering.text).unwrap_or_default();
    let culprits = culprits(text, rendering, error.line);
    let [first, ..] = culprits[..] else {
        let message = format!("what `{origin}` renders to cannot be read, see its line {line}");
        return Failure::from(error).context(message);
    };
    let places: Vec<String> = culprits
        .iter()
        .map(|place| format!("`{}`, used in line {},", place.name, place.line))
        .collect();
    let message = format!(
        "the value of {} breaks the YAML of `{origin}` there",
        places.join(" and of ")
    );
    // The hints of the error are for those who wrote the value's text as YAML.
    Failure::new(error)
        .context(message)
        .hint(remedy(text, rendering, first))
}

/// Finds the variables whose values keep the text from being read, each at its place that is nearest to the fault.
fn culprits<'r>(
    text: &str,
    rendering: &'r Rendering,
    faulty_line: usize,
) -> Vec<&'r Substitution<'r>> {
    let fault = rendering.line_start(faulty_line + 1);
    let mut places: Vec<&Substitution> = risky(text, rendering).collect();
    places.sort_by_key(|place| (fault.abs_diff(place.range.end), place.range.start > fault));
    let mut names = HashSet::new();
    places.retain(|place| names.insert(place.name));
    places.truncate(MAX_TRIALS);
    let reads_without = |left_out: &[&Substitution]| {
        let is_left_out = |name: &str| left_out.iter().any(|place| place.name == name);
        parse_objects(&without(text, rendering, is_left_out)).is_ok()
    };
    if let Some(alone) = places.iter().find(|place| reads_without(&[place])) {
        return vec![alone];
    }
    if !reads_without(&places) {
        return Vec::new();
    }
    for candidate in places.clone() {
        let others: Vec<&Substitution> = places
            .iter()
            .copied()
            .filter(|place| place.name != candidate.name)
            .collect();
        if reads_without(&others) {
            places = others;
        }
    }
    places
}

/// Returns the text with a harmless word in place of the risky values of some variables.
fn without(text: &str, rendering: &Rendering, is_left_out: impl Fn(&str) -> bool) -> String {
    let (mut replaced, mut copied) = (String::with_capacity(text.len()), 0);
    for place in risky(text, rendering).filter(|place| is_left_out(place.name)) {
        replaced.push_str(&text[copied..place.range.start]);
        replaced.push('x');
        copied = place.range.end;
    }
    replaced + &text[copied..]
}

/// Returns the text around a place, before and behind it, with harmless words for the risky values there.
fn around(text: &str, rendering: &Rendering, place: &Substitution) -> (String, String) {
    let (mut before, mut behind) = (String::new(), String::new());
    let mut copied = 0;
    for other in risky(text, rendering) {
        let part = &text[copied..other.range.start];
        copied = other.range.end;
        if other.range.start < place.range.start {
            before = before + part + "x";
        } else if other.range == place.range {
            before += part;
        } else {
            behind = behind + part + "x";
        }
    }
    (before, behind + &text[copied..])
}

/// Says for each variable, at the first place where YAML reads its value as something else, how to mend it.
pub(super) fn misread(rendering: &Rendering) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(&rendering.text) else {
        return Vec::new();
    };
    let mut places = risky(text, rendering).peekable();
    if places.peek().is_none() {
        return Vec::new();
    }
    let Ok(outline) = Outline::of(text) else {
        return Vec::new();
    };
    let mut names = HashSet::new();
    places
        .filter(|substitution| !stays_whole(text, &outline, substitution))
        .filter(|substitution| names.insert(substitution.name))
        .map(|substitution| {
            format!(
                "line {}: YAML takes a part of the value of `{}` for its own; {}",
                substitution.line,
                substitution.name,
                remedy(text, rendering, substitution)
            )
        })
        .collect()
}

/// The places whose values could mean something to YAML.
fn risky<'r>(text: &str, rendering: &'r Rendering) -> impl Iterator<Item = &'r Substitution<'r>> {
    let places = rendering.substitutions.iter();
    // Two references may share a character that each has cut; that is no place to look at.
    places.filter(|place| text.get(place.range.clone()).is_some_and(is_risky))
}

/// Tells whether a value could mean something to YAML, wherever it stands.
fn is_risky(value: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "._/+=@-:".contains(c);
    let begins_plain = |c: char| c.is_alphanumeric() || "._/+=".contains(c);
    !(value.chars().all(is_plain) && value.starts_with(begins_plain) && !value.ends_with(':'))
        && !value.is_empty()
}

/// Tells whether a value comes out of YAML as it went in: as a part of one scalar or comment, or as a list, a mapping or a
/// quoted text of its own.
fn stays_whole(text: &str, outline: &Outline, substitution: &Substitution) -> bool {
    let value = &text[substitution.range.clone()];
    let trimmed = trimmed(text, &substitution.range);
    let Some(node) = outline.around(&trimmed) else {
        return in_comment(text, &substitution.range) || value.trim().is_empty();
    };
    let is_whole_node = node.range == trimmed;
    match node.form {
        Form::Plain => node.text.contains(value.trim()),
        Form::SingleQuoted => is_whole_node || node.text.contains(&value.replace("''", "'")),
        // Escapes are for those who know them.
        Form::DoubleQuoted => is_whole_node || value.contains('\\') || node.text.contains(value),
        Form::Block => is_kept_in_block(node, value),
        Form::Alias => false,
        Form::Collection => {
            is_whole_node && text[trimmed.clone()].starts_with(['[', '{'])
                || fills_list(text, &trimmed)
                || in_comment(text, &substitution.range)
                || fills_lines(text, outline, &substitution.range)
        }
    }
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
fn in_comment(text: &str, range: &Range<usize>) -> bool {
    let line_start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line_start..range.start];
    let begins_comment = before.starts_with('#') || before.contains(" #") || before.contains("\t#");
    begins_comment && !text[range.clone()].contains('\n')
}

/// Tells whether a range is all that stands between brackets, as in `[${ZONES}]`: a place for the items of a list.
fn fills_list(text: &str, range: &Range<usize>) -> bool {
    text[..range.start].trim_end().ends_with('[') && text[range.end..].trim_start().starts_with(']')
}

/// Tells whether a reference has its lines for itself, and the lines of its value are indented like the first, outside of
/// any scalar: such a value is meant to be YAML.
fn fills_lines(text: &str, outline: &Outline, range: &Range<usize>) -> bool {
    let before = &text[..range.start];
    let margin = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
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

/// Says how the template can be written so that the value stays whole.
fn remedy(text: &str, rendering: &Rendering, place: &Substitution) -> String {
    let name = place.name;
    let value = &text[place.range.clone()];
    let (mut before, mut behind) = around(text, rendering, place);
    let surrounding = match (before.chars().next_back(), behind.chars().next()) {
        (Some(left @ ('"' | '\'')), Some(right)) if left == right => Some(left),
        _ => None,
    };
    if surrounding.is_some() {
        before.pop();
        behind.remove(0);
    }
    let fits = |quote: &char| stays_whole_in_quotes(&before, *quote, value, &behind);
    match (['"', '\''].iter().find(|quote| fits(quote)), surrounding) {
        _ if value.trim_end().contains('\n') => format!(
            "the value of `{name}` has several lines, and the template's indentation is that of the first one only: indent the \
             others in the value, or give it on one line"
        ),
        (Some(quote), _) => {
            format!("put quotes around it in the template: `{quote}${{{name}}}{quote}`")
        }
        (None, Some('\'')) => format!(
            "a `'` within single quotes is written twice: set `{name}` so, or use double quotes in the template"
        ),
        (None, Some(_)) => format!(
            "a `\"` or `\\` within double quotes needs a `\\` before it: set `{name}` so, or use single quotes in the template"
        ),
        (None, None) => {
            format!("put quotes around all of the text that `${{{name}}}` is a part of")
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    fn with_rendering<T>(text: &str, value: &str, look: impl FnOnce(&Rendering) -> T) -> T {
        let template = Template::parse(text).unwrap();
        look(&template.render_tracked(|_| Some(value.to_owned())).unwrap())
    }

    /// The failure that the value causes, or what is misread of it.
    fn told(text: &str, value: &str) -> Vec<String> {
        with_rendering(text, value, |rendering| {
            let text = std::str::from_utf8(&rendering.text).unwrap();
            match parse_objects(text) {
                Err(error) => vec![explain("t.yaml", rendering, error).to_string()],
                Ok(_) => misread(rendering),
            }
        })
    }

    const QUOTES: &str = "put quotes around it in the template: `\"${V}\"`";
    const SINGLE_QUOTES: &str = "put quotes around it in the template: `'${V}'`";
    const LINES: &str = "the value of `V` has several lines, and the template's indentation is that of the first one only";
    const WHOLE: &str = "put quotes around all of the text that `${V}` is a part of";

    #[test]
    fn a_value_that_breaks_the_text_is_named_with_a_remedy() {
        let cases = [
            ("k: ${V}", "a: b", QUOTES),
            ("k: ${V}", "*/Resources", QUOTES),
            ("k: ${V}", "@x", QUOTES),
            ("k: ${V}", "say \"hi", ""),
            ("k: ${V}", "\"hi\" he said: no", SINGLE_QUOTES),
            ("k: pre-${V}", "a: b", WHOLE),
            ("k: '${V}'", "it's", QUOTES),
            ("k: \"${V}\"", "a\"b", SINGLE_QUOTES),
            (
                "k: '${V}'",
                "it's \"x\"",
                "a `'` within single quotes is written twice",
            ),
            (
                "k: \"${V}\"",
                "it's \"x\"",
                "a `\"` or `\\` within double quotes needs",
            ),
            ("k: |\n  ${V}\n", "a\nb", LINES),
            ("k: ${V}\nl: 1", "a\nb", LINES),
        ];
        for (text, value, remedy) in cases {
            let told = told(&format!("a: 1\n---\n{text}"), value);
            if remedy.is_empty() {
                assert_eq!(told, Vec::<String>::new(), "{text} {value}");
                continue;
            }
            let [told] = &told[..] else {
                panic!("{text} {value}: {told:?}");
            };
            assert!(
                told.contains("`V`") && told.contains("line ") && told.contains(remedy),
                "{text}: {told}"
            );
            assert!(!told.contains(value), "{text}: {told}");
        }
    }

    #[test]
    fn a_value_of_which_something_else_is_read_is_named() {
        let cases = [
            ("k: ${V}", "a #b", QUOTES),
            ("k: ${V}", "&a b", QUOTES),
            ("k: ${V}", "!x b", QUOTES),
            ("- ${V}", "a: b", QUOTES),
            ("k: [c, ${V}]", "a, b", QUOTES),
            ("k: \"${V}\"", "a\nb", LINES),
            ("k: '${V}'", "a''b", ""),
            ("k: |\n  ${V}\n", "a\nl: b", LINES),
            ("k: # ${V}\n  1", "a\nl: b", LINES),
        ];
        for (text, value, remedy) in cases {
            let text = text.replace("- ", "l:\n- ");
            let told = told(&text, value);
            if remedy.is_empty() {
                assert_eq!(told, Vec::<String>::new(), "{text} {value}");
                continue;
            }
            let [told] = &told[..] else {
                panic!("{text} {value}: {told:?}");
            };
            assert!(told.contains(remedy), "{text} {value}: {told}");
        }
    }

    #[test]
    fn values_that_stay_whole_are_nothing_to_talk_about() {
        let cases = [
            ("k: ${V}", "[a, b]"),
            ("k: ${V}", "{a: b}"),
            ("k: [ ${V} ]", "a, b"),
            ("k: ${V}", "\"a: b\""),
            ("k: ${V}", " padded "),
            ("k: ${V}", "it's 100% -x http://a:80/?b=c&d"),
            ("k: \"${V}\"", "a: b #c"),
            ("k: \"${V}\"", "a\\nb"),
            ("# ${V}\nk: 1", "a: b"),
            ("k: |\n  ${V}\n", "a: b #c"),
            ("k: |\n  ${V}\n", "a\n  b"),
            ("k:\n  ${V}\n", "a: 1\n  b: 2"),
            ("k:\n${V}\n", "- a\n- b"),
            ("${V}: 1", "a b"),
            ("k: ${V}", ""),
        ];
        for (text, value) in cases {
            assert_eq!(told(text, value), Vec::<String>::new(), "{text} {value}");
        }
    }

    #[test]
    fn only_the_values_at_fault_are_named() {
        let template = Template::parse("a: ${A}\nb: ${B}\nc: ${C}\nd: ${D}\n").unwrap();
        let value = |name: &str| match name {
            "B" => "b: x",
            "D" => "d: y",
            _ => "a #c",
        };
        let rendering = template
            .render_tracked(|name| Some(value(name).into()))
            .unwrap();
        let text = std::str::from_utf8(&rendering.text).unwrap();
        let error = parse_objects(text).unwrap_err();
        insta::assert_snapshot!(explain("t.yaml", &rendering, error), @r#"
    error: the value of `B`, used in line 2, and of `D`, used in line 4, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 2, column 5: mapping values are not allowed in this context
    hint: put quotes around it in the template: `"${B}"`
    "#);
    }

    #[test]
    fn a_template_that_is_no_yaml_by_itself_is_not_put_on_values() {
        let told = told("a: ${V}\n${V}\nb: [", "x #y");
        insta::assert_snapshot!(told[0], @"
    error: what `t.yaml` renders to cannot be read, see its line 2
      caused by: failed to unmarshal the 1st yaml document: line 2, column 1: simple key expected ':'
    hint: look at the indentation and the quotes there and on the lines before
    ");
    }
}
