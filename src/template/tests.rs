use proptest::prelude::*;

use super::*;
use crate::error::{Explain, Failure};

fn render(text: &str, values: &[(&str, &str)]) -> Result<String, Error> {
    let template = Template::parse(text)?;
    let lookup = |name: &str| {
        let found = values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Ok(String::from_utf8(template.render(lookup)?).unwrap())
}

/// The whole message of an error as a user reads it.
fn message(text: &str) -> String {
    Failure::from(render(text, &[]).unwrap_err()).to_string()
}

#[test]
fn only_dollar_brace_begins_a_variable() {
    let text = "$A $(cmd) $1 \\${A} $${A} $$${A} {{ .A }} $";
    assert_eq!(
        render(text, &[("A", "x")]).unwrap(),
        "$A $(cmd) $1 \\x ${A} $x {{ .A }} $"
    );
}

#[test]
fn the_first_use_decides_on_the_default() {
    let template = Template::parse("${B} ${A:=${C:-d}x}\n${B:=late} ${A} ${A}").unwrap();
    let variable = |name: &str, default: Option<&str>, lines: &[usize]| Variable {
        name: name.into(),
        default: default.map(Into::into),
        empty_default: false,
        lines: lines.to_vec(),
    };
    assert_eq!(
        template.variables(),
        [
            variable("A", Some("${C}x"), &[1, 2]),
            variable("B", None, &[1, 2])
        ]
    );
}

#[test]
fn all_missing_variables_are_reported_with_their_lines() {
    assert_eq!(
        message("${B}\n${A}\n${B} ${C:=c} ${D:=${E}}"),
        "error: value for variables [A, B] is not set. Please set the value using os environment variables or the \
         clusterctl config file\n\
         hint: `A` is used in line 2\n\
         hint: `B` is used in lines 1, 3\n\
         hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`"
    );
}

#[test]
fn a_parse_error_names_the_place_and_what_to_do() {
    assert_eq!(
        message("a: 1\nkey é: ${A.B} secret"),
        "error: invalid variable reference at line 2, column 8: `A` is followed neither by `}` nor by an operator\n\
         hint: if it is text for a shell or another program, write `$${` in place of `${`"
    );
    assert_eq!(
        message("${ A }${\n\nB\n} ${A:=${B-c}}"),
        "error: invalid variable reference at line 4, column 8: `B` is followed neither by `}` nor by an operator\n\
         hint: a default is written `${NAME:=default}`; `-`, `+` and `?` need the colon too\n\
         hint: inside another reference `${` always begins a variable, it cannot be kept as text there"
    );
    assert_eq!(
        message("${A:=b"),
        "error: invalid variable reference at line 1, column 1: an argument is missing in default `${A:=default}`\n\
         hint: the template ends before the reference is closed\n\
         hint: if it is text for a shell or another program, write `$${` in place of `${`"
    );
}

#[test]
fn errors_show_nothing_of_a_template_but_names() {
    for text in [
        "${A.s3cret}",
        "${A:=s3cret",
        "${A/s3cret}",
        "${A#s3cret${B}}",
        "${-s3cret}",
        "${A:0:-1}s3cret",
    ] {
        let error = render(text, &[("A", "value")]).unwrap_err();
        let message = Failure::from(error).to_string();
        assert!(!message.contains("s3cret"), "{message}");
        assert!(!message.contains("value\n"), "{message}");
    }
}

#[test]
fn a_substring_that_ends_before_it_begins_is_an_error() {
    let error = render("\n${A:2:-1}", &[("A", "hello")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot render the reference to `A` at line 2: the substring ends before it begins"
    );
    assert_eq!(
        error.hints(),
        ["the length of a substring cannot be negative"]
    );
}

#[test]
fn parse_errors_come_before_missing_ones_and_those_before_evaluation() {
    assert!(matches!(
        render("${B} ${A:0:-1} ${", &[]),
        Err(Error::Parse { .. })
    ));
    assert!(matches!(
        render("${B} ${A:0:-1}", &[]),
        Err(Error::Missing(_))
    ));
    assert!(matches!(
        render("${A:0:-1}", &[]),
        Err(Error::Evaluation { .. })
    ));
}

#[test]
fn replacements_inside_replacements_do_not_fill_the_memory() {
    let text = (0..20).fold("y".to_owned(), |inner, _| format!("${{A//x/{inner}}}"));
    let error = render(&text, &[("A", &"x".repeat(30))]).unwrap_err();
    assert!(matches!(
        error,
        Error::Evaluation {
            problem: EvaluationError::TooLong,
            ..
        }
    ));
}

#[test]
fn a_nul_ends_the_text_but_is_there_to_look_ahead_to() {
    let label = |text: &str| match Template::parse(text).unwrap_err() {
        Error::Parse { detail, .. } => detail.label(),
        error => panic!("{error}"),
    };
    assert_eq!(label("${V:\0}"), "bad-argument");
    assert_eq!(label("${V:"), "malformed-expression");
}

#[test]
fn bytes_that_are_no_characters_pass_unchanged() {
    let template = Template::parse(b"\xFF${A:=\xFE}\xFD".as_slice()).unwrap();
    assert_eq!(template.variables()[0].default.as_deref(), Some("\u{FFFD}"));
    assert_eq!(template.render(|_| None).unwrap(), b"\xFF\xFE\xFD");
}

#[test]
fn a_name_is_looked_up_once_however_often_it_is_used() {
    let asked = std::cell::RefCell::new(Vec::new());
    let template = Template::parse("${A} ${A} ${B:=${A}${C}}").unwrap();
    let lookup = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        Some(String::new())
    };
    template.render(lookup).unwrap();
    asked.borrow_mut().sort();
    assert_eq!(*asked.borrow(), ["A", "B", "C"]);
}

#[test]
fn nesting_is_as_deep_as_the_text_says() {
    let depth = 100_000;
    let text = format!("{}d{}", "${A:=".repeat(depth), "}".repeat(depth));
    assert_eq!(render(&text, &[("A", "")]).unwrap(), "d");
}

/// Text in which references, escapes and odd bytes are frequent.
fn template_like() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        4 => proptest::sample::select(vec![
            "${", "}", "$", "$$", "A", "B", ":", ":=", ":-", "=", "#", "##", "%", "/", "//", "/#", "^", "^^", ",", "\\",
            "[", "]", "*", "?", "-", "1", "\n", " ", "\0", "é", "日", "ß", "${A}", "${ B }", "${A:1:2}", "${A/x/y}",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in template_like(), value in "\\PC{0,8}") {
        if let Ok(template) = Template::parse(text) {
            for variable in template.variables() {
                prop_assert!(!variable.name.is_empty() && !variable.lines.is_empty());
            }
            let _ = template.render(|_| Some(value.clone()));
            let _ = template.render(|name| (name == "A").then(|| value.clone()));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(template) = Template::parse(text) {
            let _ = template.render(|_| None);
        }
    }

    #[test]
    fn text_without_a_dollar_is_unchanged(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let plain: Vec<u8> = text.into_iter().filter(|byte| !matches!(byte, b'$' | 0)).collect();
        let template = Template::parse(plain.clone()).unwrap();
        prop_assert!(template.variables().is_empty());
        prop_assert_eq!(template.render(|_| None).unwrap(), plain);
    }

    #[test]
    fn escaped_text_comes_out_as_it_was(text in "[^\0]{0,80}") {
        // White space around a bare name would be taken out, escaped or not.
        prop_assume!(!text.contains("${"));
        let template = Template::parse(text.replace('$', "$$")).unwrap();
        prop_assert_eq!(template.render(|_| None).unwrap(), text.into_bytes());
    }
}
