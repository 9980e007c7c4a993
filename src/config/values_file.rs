//! Files of `--values`: a map of variables and scalars.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Error;
use super::values::text_of;
use crate::yaml::{self, Form, Node, Outline};

/// What a values file says, in the order of the text; variables that are null there are not set.
#[derive(Clone, Default)]
pub struct Values {
    /// Names as they are spelled, and texts.
    pub(super) entries: Vec<(String, String)>,
}

impl Values {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, or [`Values::parse`] fails.
    pub async fn load(path: &str) -> Result<Self, Error> {
        match tokio::fs::read(path).await {
            Ok(bytes) => Self::parse(path, bytes),
            Err(source) => Err(Error::ReadValues {
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// Parses what was read from `origin`. The text of a scalar without quotes counts as it is written, `1.30` or
    /// `0123` too; null is not set.
    ///
    /// # Errors
    /// It is no YAML, no map, or some of its entries can be no variables; all of these are named.
    pub fn parse(origin: &str, bytes: Vec<u8>) -> Result<Self, Error> {
        let origin = origin.to_owned();
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(Error::ValuesNotText { origin });
        };
        let value = match yaml::parse_config(&text) {
            Ok(value) => value,
            Err(source) => return Err(Error::ValuesSyntax { origin, source }),
        };
        let map = match value {
            Value::Null => {
                return Ok(Self::default());
            }
            Value::Object(map) => map,
            _ => return Err(Error::ValuesNotAMapping { origin }),
        };
        let mut faults: Vec<String> = Vec::new();
        let mut values = Self::default();
        let mut names: HashMap<String, String> = HashMap::new();
        for entry in in_order(&text, map) {
            match fault_of(&entry, &names) {
                Some(fault) => faults.push(match entry.spelling {
                    None => fault,
                    Some(Spelling { line, .. }) => format!("line {line}: {fault}"),
                }),
                None => {
                    if let Some(text) = entry.text() {
                        names.insert(entry.name.to_lowercase(), entry.name.clone());
                        values.entries.push((entry.name, text));
                    }
                }
            }
        }
        match faults.is_empty() {
            true => Ok(values),
            false => Err(Error::ValuesEntries { origin, faults }),
        }
    }
}

/// What a file says of one name.
struct Entry {
    name: String,
    value: Value,
    /// `None` for what a merge (`<<`) brings.
    spelling: Option<Spelling>,
}

/// How an entry is written.
#[derive(Debug, Clone)]
struct Spelling {
    /// Where its key is, in bytes.
    offset: usize,
    /// The line of its key, from 1.
    line: usize,
    /// The text of a value without quotes.
    plain: Option<String>,
}

impl Entry {
    /// Returns the text of the value, `None` for null.
    fn text(&self) -> Option<String> {
        match (&self.value, &self.spelling) {
            (
                Value::Bool(_) | Value::Number(_),
                Some(Spelling {
                    plain: Some(plain), ..
                }),
            ) => Some(plain.clone()),
            (value, _) => text_of(value),
        }
    }
}

/// Returns the entries in the order of the text.
fn in_order(text: &str, map: Map<String, Value>) -> Vec<Entry> {
    let mut spellings = spellings(text);
    let mut entries: Vec<Entry> = map
        .into_iter()
        .map(|(name, value)| Entry {
            spelling: spellings.remove(&name),
            name,
            value,
        })
        .collect();
    entries.sort_by_key(|entry| entry.spelling.as_ref().map(|spelling| spelling.offset));
    entries
}

/// Returns how the entries of the map are written, by name.
fn spellings(text: &str) -> HashMap<String, Spelling> {
    let outline = Outline::of(text).unwrap_or_default();
    let mut found: HashMap<String, Spelling> = HashMap::new();
    let mut anchors: HashMap<&str, Option<String>> = HashMap::new();
    let (mut line, mut counted) = (1, 0);
    for pair in outline.nodes.windows(2) {
        let (key, value) = (&pair[0], &pair[1]);
        if !is_key(key) || value.path != key.path || found.contains_key(&key.text) {
            continue;
        }
        let offset = key.range.start;
        line += text[counted..offset].matches('\n').count();
        counted = offset;
        let plain = match value.form {
            Form::Plain => Some(value.text.clone()),
            Form::Alias => {
                let alias = text[value.range.clone()].trim_start_matches('*');
                anchors.get(alias).cloned().flatten()
            }
            _ => None,
        };
        let between = text.get(key.range.end..value.range.start);
        if let Some(anchor) = between.and_then(anchor_in) {
            anchors.insert(anchor, plain.clone());
        }
        let spelling = Spelling {
            offset,
            line,
            plain,
        };
        found.insert(key.text.clone(), spelling);
    }
    found
}

/// Tells a key of the outermost map, or a value that reads the same, from all other nodes.
fn is_key(node: &Node) -> bool {
    let (path, text) = (node.path.as_str(), node.text.as_str());
    let in_brackets = path
        .strip_prefix('[')
        .and_then(|path| path.strip_suffix(']'));
    let is_outermost = match text.contains(['.', '[', ']']) {
        true => in_brackets == Some(text),
        false => path == text,
    };
    is_outermost && node.form != Form::Collection
}

/// Finds the anchor of a value in what is between it and its key; it stands right before the value, or before its tag.
fn anchor_in(between: &str) -> Option<&str> {
    let words = between.split_whitespace().rev().take(2);
    words.filter_map(|word| word.strip_prefix('&')).next()
}

/// `names` are those of the entries before, by themselves in lower case.
fn fault_of(entry: &Entry, names: &HashMap<String, String>) -> Option<String> {
    let name = &entry.name;
    if !is_variable_name(name) {
        let name = name.escape_debug();
        return Some(format!("`{name}` can be no name of a variable"));
    }
    let kind = match entry.value {
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
        _ => {
            let earlier = names.get(&name.to_lowercase())?;
            return Some(format!(
                "`{name}` and `{earlier}` are one variable, for case does not count"
            ));
        }
    };
    Some(format!("`{name}` is {kind}, a value must be a scalar"))
}

/// Tells whether templates can refer to a variable of this name.
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
        let parsed = Values::parse("v.yaml", text.as_bytes().to_vec());
        parsed
            .map(|values| values.entries)
            .map_err(|error| Failure::from(error).to_string())
    }

    fn assert_values(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(parse(text), Ok(expected), "{text}");
    }

    #[test]
    fn scalars_are_the_texts_that_are_written() {
        assert_values(
            "A: 1.30\nB: yes\nC: True\nD: 0x10\nE: null\nF: ''\ng: |\n  two\n  lines\nH: '1.10'\nI: 012345678901\n\
             J: 12345678901234567890123\nK: 1_000 # many\nL: ~\nM:\nN: 1e3\nO: !!str 0644\nP: P\nQ: +1\nR: 2024-01-01\n",
            &[
                ("A", "1.30"),
                ("B", "yes"),
                ("C", "True"),
                ("D", "0x10"),
                ("F", ""),
                ("g", "two\nlines\n"),
                ("H", "1.10"),
                ("I", "012345678901"),
                ("J", "12345678901234567890123"),
                ("K", "1_000"),
                ("N", "1e3"),
                ("O", "0644"),
                ("P", "P"),
                ("Q", "+1"),
                ("R", "2024-01-01"),
            ],
        );
        assert_values("# nothing\n", &[]);
        assert_values(
            r#"{"B": 1.30, "A": "json", "C": true}"#,
            &[("B", "1.30"), ("A", "json"), ("C", "true")],
        );
    }

    #[test]
    fn aliases_are_the_texts_of_their_anchors() {
        assert_values(
            "A: &a 1.30\nB: *a\nC: &a '2.0'\nD: *a\nE: &e !!float 3.0\nF: *e\n",
            &[
                ("A", "1.30"),
                ("B", "1.30"),
                ("C", "2.0"),
                ("D", "2.0"),
                ("E", "3.0"),
                ("F", "3.0"),
            ],
        );
    }

    /// Sixty seconds are many times what a reader takes that looks at each byte once, and half of what one takes that
    /// begins anew with each key.
    #[test]
    fn long_files_are_read_in_one_pass() {
        let mut text: String = (0..50_000).map(|n| format!("NAME_{n}: 1.{n}0\n")).collect();
        let start = std::time::Instant::now();
        assert_eq!(parse(&text).unwrap().len(), 50_000);
        text += "name_7: s3cret\n";
        let error = parse(&text).unwrap_err();
        assert!(
            error.contains("line 50001: `name_7` and `NAME_7` are one"),
            "{error}"
        );
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    #[test]
    fn all_faults_are_named_with_their_lines_and_never_with_values() {
        let text = "a: 1\nLIST:\n  - s3cret\nMAP: {x: s3cret}\nA: s3cret\nno-name: s3cret\n";
        let error = parse(text).unwrap_err();
        insta::assert_snapshot!(error, @"
        error: the values of `v.yaml` cannot be used:
          - line 2: `LIST` is a list, a value must be a scalar
          - line 4: `MAP` is a map, a value must be a scalar
          - line 5: `A` and `a` are one variable, for case does not count
          - line 6: `no-name` can be no name of a variable
        hint: names consist of letters, digits and `_`; write a list or a map as text, e.g. `SUBNETS: \"a,b\"`
        ");
        insta::assert_snapshot!(parse("- s3cret").unwrap_err(), @"
        error: the values of `v.yaml` are not a map of names and values
        hint: write it as `KEY: value` lines
        ");
        assert!(!parse("A: 's3cret").unwrap_err().contains("s3cret"));
    }
}
