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

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::error::Failure;
use crate::model::object::parse_objects;
use crate::template::{Lines, Rendering, Substitution};
use crate::yaml::{self, Form, Node, Outline};

/// Limit on the variables that one message names.
const MAX_NAMED: usize = 10;

/// Makes the failure of a rendered text that cannot be read: names the variables whose values break it, if any do. Lines
/// are those of the template.
pub(super) fn explain(origin: &str, rendering: &Rendering, mut error: yaml::Error) -> Failure {
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

/// The text of a place is the variable's value or, for want of one, a default.
fn what(place: &Substitution) -> String {
    let what = if place.is_default { "default" } else { "value" };
    format!("{what} of `{}`", place.name)
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
    found
}

/// Returns the bytes between the separators around a place.
fn document_around(text: &str, place: &Range<usize>) -> Range<usize> {
    let start = text[..place.start].rfind("\n---").map_or(0, |end| end + 1);
    let end = text[place.end..]
        .find("\n---")
        .map_or(text.len(), |end| place.end + end + 1);
    start..end
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

/// Says for each variable where YAML reads its value as something else, and how to mend it.
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
    // In the order of the first places.
    let (mut found, mut order): (HashMap<&str, Vec<&Substitution>>, Vec<&str>) = Default::default();
    for place in places.filter(|place| !stays_whole(text, &outline, place)) {
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
    let is_harmless =
        value.chars().all(is_plain) && value.starts_with(begins_plain) && !value.ends_with(':');
    !value.trim().is_empty() && (!is_harmless || is_odd_number(value))
}

/// Tells whether a value may be a number of which YAML leaves another spelling: `012345678901`, `1.30`, `1234e56`. Modes of
/// files, such as `0644`, are octal numbers on purpose.
fn is_odd_number(value: &str) -> bool {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    let is_number = |c: char| c.is_ascii_hexdigit() || "._xo+-".contains(c);
    let is_usual = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (!digits.starts_with('0') || digits.len() <= 4);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.chars().all(is_number)
        && !is_usual
}

/// Tells whether a value comes out of YAML as it went in: as a part of one scalar or comment, or as a list, a mapping or a
/// quoted text of its own.
fn stays_whole(text: &str, outline: &Outline, place: &Substitution) -> bool {
    let value = &text[place.range.clone()];
    let trimmed = trimmed(text, &place.range);
    let Some(node) = outline.around(&trimmed) else {
        return in_comment(text, outline, &place.range);
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
                || in_comment(text, outline, &place.range)
                || fills_lines(text, outline, &place.range)
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
        .and_then(|documents| documents[0].map.get("k").cloned());
    number.is_none_or(|number| !number.is_number() || number.to_string() == value)
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

/// Says how the template can be written so that the value stays whole.
fn remedy(text: &str, rendering: &Rendering, place: &Substitution) -> String {
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
    let (mut before, mut behind) = (String::new(), String::new());
    let mut copied = document.start;
    for other in risky(text, rendering) {
        if other.range.start < document.start || other.range.end > document.end {
            continue;
        }
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
    (before, behind + &text[copied..document.end])
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
    const LINES: &str =
        "it has several lines, and the template's indentation is that of the first one only";
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
            (
                "k: \"${V}\"",
                "a\n",
                "it ends with a line break, take that off `V`",
            ),
            ("k: \"${V}\"", "CORP\\bob", SINGLE_QUOTES),
            ("k: '${V}'", "a''b", ""),
            ("k: ${V}", "012345678901", QUOTES),
            ("k: ${V}", "1.30", QUOTES),
            ("k: ${V}", "1234e56", QUOTES),
            ("k: {a: ' #', b: ${V}}", "x, c: d", QUOTES),
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
            ("k: {${V}}", "a: 1, b: 2"),
            ("k: a=${V}", " "),
            ("k: ${V}", "0644"),
            ("k: '${V}'", "012345678901"),
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
    error: the value of `D`, used in line 4, and the value of `B`, used in line 2, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 2, column 5: mapping values are not allowed in this context
    hint: put quotes around it in the template: `"${D}"`
    "#);
    }

    #[test]
    fn a_default_is_told_apart_from_a_value_and_kept_in_the_remedy() {
        let template = Template::parse("a: ${A:=x: y}\n").unwrap();
        let rendering = template.render_tracked(|_| None).unwrap();
        let text = std::str::from_utf8(&rendering.text).unwrap();
        let error = parse_objects(text).unwrap_err();
        insta::assert_snapshot!(explain("t.yaml", &rendering, error), @r#"
    error: the default of `A`, used in line 1, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 1, column 5: mapping values are not allowed in this context
    hint: put quotes around it in the template: `"${A:=x: y}"`
    "#);
    }

    #[test]
    fn lines_are_those_of_the_template_also_behind_a_value_with_several() {
        let template = Template::parse("a: |\n  ${A}\nb: 1\nc: ${C}\n").unwrap();
        let value = |name: &str| if name == "A" { "1\n  2\n  3" } else { "x: y" };
        let rendering = template
            .render_tracked(|name| Some(value(name).into()))
            .unwrap();
        let text = std::str::from_utf8(&rendering.text).unwrap();
        let error = parse_objects(text).unwrap_err();
        insta::assert_snapshot!(explain("t.yaml", &rendering, error), @r#"
    error: the value of `C`, used in line 4, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 4, column 5: mapping values are not allowed in this context
    hint: put quotes around it in the template: `"${C}"`
    "#);
    }

    #[test]
    fn a_template_that_is_no_yaml_by_itself_is_not_put_on_values() {
        let told = told("a: ${V}\n${V}\nb: [", "x #y");
        insta::assert_snapshot!(told[0], @"
    error: what `t.yaml` renders to cannot be read
      caused by: failed to unmarshal the 1st yaml document: line 2, column 1: simple key expected ':'
    hint: look at the indentation and the quotes there and on the lines before
    ");
    }
}
