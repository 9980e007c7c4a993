//! Any text is read or refused, the same way each time, within bounds, and no refusal shows what is in the text.
//!
//! That the time is linear is for libFuzzer's `-timeout` to see: some inputs are repeated up to 16 KiB.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use capictl_fuzz::error::Explain;
use capictl_fuzz::words;
use capictl_fuzz::yaml::{self, Error, Form, Outline};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// What the names, values, anchors and tags of the texts are made of; no message may have it.
const SECRET: &str = "qZx7";

#[rustfmt::skip]
const SYNTAX: &[&str] = &[
    "qZx7", "qZx7qZx7", ": ", ":", "\n", "\n  ", "\n    ", " ", "  ", "- ", "-", "? ", "---\n", "--- ", "...\n", "#",
    " # qZx7\n", "|", "|-\n", "|+2\n", ">", ">-\n", "&qZx7 ", "*qZx7", "*qZx7 ", "<<: ", "<<", "!", "!!", "!qZx7 ",
    "!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "!!binary ", "!!merge ", "!!set ", "!<qZx7> ", "%YAML 1.1\n",
    "%TAG ! qZx7\n", "%qZx7 ", "{", "}", "[", "]", ",", "\"", "'", "''", "\\", "\\n", "\\x", "\\uD800", "\\qZx7", "\t",
    "\r\n", "\r", "\u{85}", "\u{2028}", "\u{FEFF}", "\0", "\x07", "@qZx7", "`", "=", "~", "null", "true", "yes", "on",
    "0644", "0x1F", "0b-1", "1_000", "1e3", ".inf", "-.inf", ".nan", "1e999", "18446744073709551616", "a: 1\n", "é",
    "😀", "a:\n", "  b: ", "  - ", "cVp4Nw==", "%41",
];
const LARGEST: usize = 16 << 10;
/// Deepest nesting that is read, as `yaml` documents it.
const DEEPEST: usize = 256;

#[derive(Debug)]
struct Case {
    text: String,
    /// Whether the text is made of words.
    made: bool,
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let choice = u8::arbitrary(input)?;
        let made = choice & 1 == 0;
        let bytes = match made {
            true => words::text(input, SYNTAX, 1 << 12),
            false => input.bytes(input.len())?.to_vec(),
        };
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if choice == 0xFF && !text.is_empty() {
            text = text.repeat(LARGEST / text.len());
        }
        Ok(Self { text, made })
    }
}

fuzz_target!(|case: Case| {
    let Case { text, made } = case;
    let documents = yaml::parse_documents(&text);
    if text.len() > LARGEST / 2 {
        return;
    }
    assert_eq!(documents, yaml::parse_documents(&text));
    let reads = documents.is_ok();
    match documents {
        Ok(documents) => {
            let lines = text.matches(['\n', '\r', '\u{85}']).count() + 1;
            for document in &documents {
                assert!((1..=lines).contains(&document.line), "{}", document.line);
                assert!(document.map.values().map(depth).max().unwrap_or(0) < DEEPEST);
            }
        }
        Err(error) => check(&error, &text, made),
    }
    match Outline::of(&text) {
        Ok(outline) => check_outline(&outline, &text),
        // For a comment that touches what is before it the text is read again, by the outline not quite as often.
        Err(error) => {
            assert!(!reads || text.matches('#').count() > 1000, "{error}");
            check(&error, &text, made);
        }
    }
    match yaml::parse_config(&text) {
        Ok(value) => assert!(depth(&value) <= DEEPEST),
        Err(error) => check(&error, &text, made),
    }
});

/// Nodes are in the order of the text, and where they say.
fn check_outline(outline: &Outline, text: &str) {
    let mut start = 0;
    for node in &outline.nodes {
        assert!(start <= node.range.start, "{node:?}");
        start = node.range.start;
        let written = text.get(node.range.clone()).expect("whole characters");
        if node.form == Form::Plain && !written.contains(['\n', '\r', '\u{85}']) {
            assert_eq!(written, node.text, "{node:?}");
        }
    }
}

fn check(error: &Error, text: &str, made: bool) {
    let shown = format!("{error} {}", error.hints().join(" "));
    assert!(!made || !shown.contains(SECRET), "{shown}");
    assert!(error.column >= 1, "{shown}");
    // Line breaks of YAML 1.1 count for the parser, and an error may be behind the last one.
    let breaks = text.matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
    assert!((1..=breaks.count() + 2).contains(&error.line), "{shown}");
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
