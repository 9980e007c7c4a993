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

mod culprits;
mod misfit;
mod misread;
mod remedy;

use std::ops::Range;

use crate::template::{Rendering, Substitution};

pub(super) use culprits::explain;
pub(super) use misread::misread;

/// Limit on the variables that one message names.
const MAX_NAMED: usize = 10;

/// The text of a place is the variable's value or, for want of one, a default.
fn what(place: &Substitution) -> String {
    let what = if place.is_default { "default" } else { "value" };
    format!("{what} of `{}`", place.name)
}

/// Returns the bytes between the separators around a place.
fn document_around(text: &str, place: &Range<usize>) -> Range<usize> {
    let start = text[..place.start].rfind("\n---").map_or(0, |end| end + 1);
    let end = text[place.end..]
        .find("\n---")
        .map_or(text.len(), |end| place.end + end + 1);
    start..end
}

/// The places of a text. Two references may share a character that each has cut; that is no place to look at.
fn places<'r>(text: &str, rendering: &'r Rendering) -> impl Iterator<Item = &'r Substitution<'r>> {
    let places = rendering.substitutions.iter();
    places.filter(|place| text.get(place.range.clone()).is_some())
}

/// The places whose values could mean something to YAML.
fn risky<'r>(text: &str, rendering: &'r Rendering) -> impl Iterator<Item = &'r Substitution<'r>> {
    places(text, rendering).filter(|place| is_risky(&text[place.range.clone()]))
}

fn is_inside(part: &Range<usize>, place: &Substitution) -> bool {
    part.start <= place.range.start && place.range.end <= part.end
}

/// Returns a part of the text as it would be if some of its places had other values, those that `word` gives.
fn with_words<'w>(
    text: &str,
    rendering: &Rendering,
    part: &Range<usize>,
    word: impl Fn(&Substitution) -> Option<&'w str>,
) -> String {
    let (mut replaced, mut copied) = (String::with_capacity(part.len()), part.start);
    for place in places(text, rendering).filter(|place| is_inside(part, place)) {
        if let Some(word) = word(place) {
            replaced.push_str(&text[copied..place.range.start]);
            replaced.push_str(word);
            copied = place.range.end;
        }
    }
    replaced + &text[copied..part.end]
}

/// Tells whether a value could mean something to YAML, wherever it stands.
fn is_risky(value: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "._/+=@-:".contains(c);
    let begins_plain = |c: char| c.is_alphanumeric() || "._/+=:".contains(c);
    let is_harmless =
        value.chars().all(is_plain) && value.starts_with(begins_plain) && !value.ends_with(':');
    !value.trim().is_empty() && (!is_harmless || is_odd_number(value) || is_endless(value))
}

/// Tells whether a value may be a number of which YAML leaves another spelling: `012345678901`, `1.30`, `1234e56`. Modes of
/// files, such as `0644`, are octal numbers on purpose.
fn is_odd_number(value: &str) -> bool {
    /// Digits of the longest number that fits into 64 bits whatever they are.
    const ALWAYS_FIT: usize = 18;
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_number = |c: char| c.is_ascii_hexdigit() || "._xo+-".contains(c);
    let is_mode = digits.len() == 4 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    let is_usual = digits.len() <= ALWAYS_FIT
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (!digits.starts_with('0') || digits == "0" || is_mode);
    digits.starts_with(|c: char| c.is_ascii_digit() || "+.".contains(c))
        && digits.chars().all(is_number)
        && !is_usual
}

/// Tells whether a value is infinity or not-a-number, for which JSON has nothing.
fn is_endless(value: &str) -> bool {
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
    matches!(
        unsigned,
        ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::parse_objects;
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
            ("k: ${V}", "+.Inf", QUOTES),
            ("k: ${V}", ".nan", QUOTES),
            ("${V}: 1", "null", QUOTES),
            ("k: \"q\" ${V}", "foo", WHOLE),
            ("k: !!float ${V}", "foo", "such as `1`"),
            ("k: !!bool ${V}", "foo", "such as `true`"),
            (
                "k:\n  ${V}\n  l: ${V}",
                "foo",
                "as in `key: value`, or to nothing",
            ),
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
            ("k: ${V}", "007", QUOTES),
            ("k: ${V}", "09", QUOTES),
            ("k: ${V}", "+491234567", QUOTES),
            ("k: ${V}", "123456789012345678901", QUOTES),
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
            ("k: ${V}", "0"),
            ("k: ${V}", "-64"),
            ("k: ${V}", "12345678901234567890"),
            ("k: ${V}", "123456789012"),
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
        error: the value of `B`, used in line 2, and the value of `D`, used in line 4, break the YAML of `t.yaml` there
          caused by: failed to unmarshal the 1st yaml document: line 2, column 5: mapping values are not allowed in this context
        hint: put quotes around it in the template: `"${B}"`
        "#);
    }

    #[test]
    fn of_all_places_of_a_value_one_at_fault_is_named() {
        let lines = |break_at: usize| {
            let line = |at| {
                if at == break_at {
                    "k: ${V}\n"
                } else {
                    "k: '${V}'\n"
                }
            };
            (1..=50).map(line).collect::<String>()
        };
        for break_at in [1, 2, 25, 49, 50] {
            let told = told(&lines(break_at), "a: b");
            let place = format!("the value of `V`, used in line {break_at}, breaks");
            assert!(told[0].contains(&place), "{break_at}: {told:?}");
        }
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
