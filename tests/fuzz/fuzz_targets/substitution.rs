//! Substitution gives what the model gives: text, kind and place of the error, variables, defaults, lines.

#![no_main]

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Result, Unstructured};
use capictl_fuzz::error::Explain;
use capictl_fuzz::model::{Failure, Listed, Model};
use capictl_fuzz::template::{Error, EvaluationError, Rendering, Template};
use capictl_fuzz::words;
use libfuzzer_sys::fuzz_target;

#[rustfmt::skip]
const SYNTAX: &[&str] = &[
    "${", "}", "A", "B", "C", "é", "_", ":", "=", "-", "?", "+", "#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^",
    ",", ",,", "$", "$$", "\\", "*", "[", "]", "^", "-", "!", " ", "\n", "\t", "\r", "\x0C", "\0", "0", "1", "2", "9",
    "a", "b", "ab", "日", "ß", "\"", "'", "{", ".", "x", "${A}", "${B}", "${ C }", "$${", "${A:=", "${B:-", "${C#",
    "${A%", "${B/", "${C//", "${A:", "${#A}", "${A^^}", "${B,}", ":=", ":-", "-1", "9223372036854775807", "[^a]", "a-b",
    "\u{301}", "٣", "\u{A0}", "\\/", "\\\\",
];
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "a", "b", "ab", "A", "x", "é", "日", "ß", "İ", "Σ", "ᾳ", "ŉ", "/", "*", "[", "]", "\\", "$", "${A}", "}", " ", "\n",
    ":", "-", "0", "1", "9", "-1", "\u{301}", "😀", "aaaa", "\0",
];
const NAMES: [&str; 4] = ["A", "B", "C", "é"];

#[derive(Debug)]
struct Case {
    template: Template8,
    values: BTreeMap<String, String>,
}

/// Bytes that show as text.
struct Template8(Vec<u8>);

impl std::fmt::Debug for Template8 {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "b\"{}\"", self.0.escape_ascii())
    }
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let mut values = BTreeMap::new();
        let set = u8::arbitrary(input)?;
        for (index, name) in NAMES.into_iter().enumerate() {
            if set & (1 << index) != 0 {
                values.insert(name.to_owned(), words::short_text(input, VALUES)?);
            }
        }
        let template = match set & 0x80 {
            0 => words::text(input, SYNTAX, 4096),
            _ => input.bytes(input.len())?.to_vec(),
        };
        Ok(Self {
            template: Template8(template),
            values,
        })
    }
}

fuzz_target!(|case: Case| {
    let Case {
        template: Template8(template),
        values,
    } = case;
    let lines = template.split(|byte| *byte == b'\n').count();
    let model = Model::parse(&template);
    let parsed = Template::parse(template);
    let (model, parsed) = match (model, parsed) {
        (Ok(model), Ok(parsed)) => (model, parsed),
        (model, parsed) => {
            assert_eq!(parsed.map_err(failure).err(), model.err());
            return;
        }
    };
    let listed: Vec<Listed> = parsed
        .variables()
        .iter()
        .map(|variable| Listed {
            name: variable.name.clone(),
            default: variable.default.clone(),
            lines: variable.lines.clone(),
        })
        .collect();
    assert_eq!(listed, model.variables());
    let lookup = |name: &str| values.get(name).cloned();
    for hole in parsed.holes(lookup) {
        assert!((1..=lines).contains(&hole.line), "{hole}");
    }
    let expected = model.render(&values);
    if expected != Err(Failure::TooLong) {
        let rendering = parsed.render_tracked(lookup);
        if let Ok(rendering) = &rendering {
            check_places(rendering, lines);
        }
        assert_eq!(
            rendering.map(|rendering| rendering.text).map_err(failure),
            expected
        );
    }
});

/// What came of references is in order, and so are the lines that the text comes from.
fn check_places(rendering: &Rendering<'_>, lines: usize) {
    let mut end = 0;
    for substitution in &rendering.substitutions {
        let range = &substitution.range;
        assert!(
            end <= range.start && range.start <= range.end,
            "{rendering:?}"
        );
        end = range.end;
    }
    assert!(end <= rendering.text.len(), "{rendering:?}");
    let mut last = 1;
    for offset in 0..=rendering.text.len().min(200) {
        let line = rendering.template_line(offset);
        assert!((last..=lines).contains(&line), "{offset}: {rendering:?}");
        last = line;
    }
}

/// The failure as the model has it; that it can be shown is seen on the way.
fn failure(error: Error) -> Failure {
    assert!(!error.to_string().is_empty());
    assert!(error.hints().iter().all(|hint| !hint.is_empty()));
    match error {
        Error::Parse {
            line,
            column,
            detail,
            ..
        } => Failure::Parse(detail.label(), (line, column)),
        Error::Missing(variables) => Failure::Missing(
            variables
                .into_iter()
                .map(|variable| variable.name)
                .collect(),
        ),
        Error::Evaluation {
            variable,
            line,
            problem: EvaluationError::NegativeLength,
        } => Failure::NegativeLength(variable, line),
        Error::Evaluation { .. } => Failure::TooLong,
    }
}
