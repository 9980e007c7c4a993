//! What is written reads back as the same values: by our reader, by libyaml, and by a reader of YAML 1.2 in Rust.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use capictl_fuzz::words;
use capictl_fuzz::yaml;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Number, Value};
use yaml_rust2::{Yaml, YamlLoader};

#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "a", "b", "x y", "é", "日本", "😀", " ", "  ", "\n", "\n\n", "\t", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{A0}",
    "\u{FEFF}", "\0", "\x07", "\x1B", "\x7F", "\u{FFFE}", "\u{E000}", ":", ": ", " :", "#", " #", "-", "- ", "--", "---",
    "...", "?", "? ", "|", ">", "&a", "*", "*a", "!", "!!str", "%", "@", "`", "\"", "'", "\\", "{", "}", "[", "]", ",",
    "<<", "=", "~", "null", "Null", "true", "True", "yes", "NO", "on", "Off", "y", "n", "0", "1", "-1", "+1", "0644",
    "0o17", "0x1F", "0b1", "1_000", "1.5", ".5", "1.", "1e3", "1e", ".inf", "-.INF", ".nan", "1:30", "190:20:30",
    "2001-01-01", "2001-12-14t21:59:43.10-05:00", "18446744073709551616", "v1.2.3", "/", "$", "${A}", "key: value",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
const DEEPEST: usize = 24;

#[derive(Debug)]
struct Case(Vec<Map<String, Value>>);

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let mut documents = Vec::new();
        while documents.is_empty() || !input.is_empty() && documents.len() < 4 {
            documents.push(map(input, 0)?);
        }
        Ok(Self(documents))
    }
}

fn map(input: &mut Unstructured<'_>, depth: usize) -> Result<Map<String, Value>> {
    let size = u8::arbitrary(input)? % 5;
    (0..size)
        .map(|_| Ok((text(input)?, value(input, depth + 1)?)))
        .collect()
}

fn value(input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    Ok(match u8::arbitrary(input)? % 10 {
        0 => Value::Null,
        1 => bool::arbitrary(input)?.into(),
        2 => i64::arbitrary(input)?.into(),
        3 => u64::arbitrary(input)?.into(),
        4 => Number::from_f64(f64::arbitrary(input)?).map_or(Value::Null, Value::Number),
        5 if depth < DEEPEST => map(input, depth)?.into(),
        6 if depth < DEEPEST => (0..u8::arbitrary(input)? % 5)
            .map(|_| value(input, depth + 1))
            .collect::<Result<Vec<Value>>>()?
            .into(),
        _ => text(input)?.into(),
    })
}

/// Most texts are of words; some are repeated, since long keys are written in another way.
fn text(input: &mut Unstructured<'_>) -> Result<String> {
    match u8::arbitrary(input)? {
        0..=3 => Ok(words::short_text(input, TEXTS)?.repeat(50)),
        4..=40 => Ok(String::arbitrary(input)?.chars().take(80).collect()),
        _ => words::short_text(input, TEXTS),
    }
}

fuzz_target!(|case: Case| {
    let Case(maps) = case;
    let expected: Vec<Value> = maps
        .iter()
        .map(|map| with_plain_numbers(Value::Object(map.clone())))
        .collect();
    for (map, expected) in maps.iter().zip(&expected) {
        let text = yaml::render(map);
        assert_eq!(text.chars().last(), Some('\n'));
        let read = yaml::parse_config(&text).expect("our reader takes it as a configuration file");
        assert_eq!(read, *expected, "our reader, configuration:\n{text}");
        let read: Value = serde_norway::from_str(&text)
            .unwrap_or_else(|error| panic!("libyaml: {error}\n{text}"));
        assert_eq!(with_plain_numbers(read), *expected, "libyaml:\n{text}");
        let read = YamlLoader::load_from_str(&text)
            .unwrap_or_else(|error| panic!("yaml-rust2: {error}\n{text}"));
        assert_eq!(read.len(), 1, "yaml-rust2:\n{text}");
        assert_eq!(
            with_plain_numbers(json(&read[0])),
            *expected,
            "yaml-rust2:\n{text}"
        );
    }
    // The line end is that of the command that prints it.
    let text = yaml::render_documents(&maps) + "\n";
    let documents = yaml::parse_documents(&text).expect("our reader takes it as a manifest");
    let read: Vec<Value> = documents
        .into_iter()
        .map(|document| document.map.into())
        .collect();
    assert_eq!(read, expected, "our reader, manifest:\n{text}");
});

/// As JSON goes in Kubernetes, a float without a fraction is an integer.
fn with_plain_numbers(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(with_plain_numbers).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, with_plain_numbers(value)))
            .collect(),
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().expect("it is one");
            match float.fract() == 0.0 && float.abs() <= (1_u64 << 53) as f64 {
                true => (float as i64).into(),
                false => number.into(),
            }
        }
        other => other,
    }
}

/// yaml-rust2 reads integers of 64 bits with a sign, and takes larger ones for floats.
fn json(value: &Yaml) -> Value {
    match value {
        Yaml::Null => Value::Null,
        Yaml::Boolean(value) => (*value).into(),
        Yaml::Integer(number) => (*number).into(),
        Yaml::Real(digits) => digits.parse::<u64>().map_or_else(
            |_| {
                let float = digits.parse().expect("the text of a float");
                Number::from_f64(float).map_or(Value::Null, Value::Number)
            },
            Into::into,
        ),
        Yaml::String(text) => text.as_str().into(),
        Yaml::Array(items) => items.iter().map(json).collect(),
        Yaml::Hash(map) => map
            .iter()
            .map(|(key, value)| match key {
                Yaml::String(key) => (key.clone(), json(value)),
                other => panic!("a key that is no text: {other:?}"),
            })
            .collect(),
        other => panic!("no value of JSON: {other:?}"),
    }
}
