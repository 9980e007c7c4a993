//! Files of `--values`: a map of variables and scalars.

use serde_json::{Map, Value};

use super::Error;
use super::values::text_of;
use crate::yaml::{self, Node, Outline};

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

    /// Parses what was read from `origin`. Scalars become texts as those of the configuration file do.
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
        let mut entries: Vec<(String, String)> = Vec::new();
        for (line, name, value) in in_order(&text, map) {
            let fault = fault_of(&name, &value).or_else(|| repetition(&name, &entries));
            if let Some(fault) = fault {
                faults.push(match line {
                    None => fault,
                    Some(line) => format!("line {line}: {fault}"),
                });
            } else if let Some(text) = text_of(&value) {
                entries.push((name, text));
            }
        }
        match faults.is_empty() {
            true => Ok(Self { entries }),
            false => Err(Error::ValuesEntries { origin, faults }),
        }
    }
}

/// Returns the entries in the order of the text, with the lines of their keys. A merge (`<<`) brings keys that have none.
fn in_order(text: &str, map: Map<String, Value>) -> Vec<(Option<usize>, String, Value)> {
    let outline = Outline::of(text).unwrap_or_default();
    let line_of = |name: &str| {
        let is_key = |node: &&Node| {
            let path = node.path.as_str();
            node.text == name && (path == name || path == format!("[{name}]"))
        };
        let key = outline.nodes.iter().find(is_key)?;
        Some(1 + text[..key.range.start].matches('\n').count())
    };
    let mut entries: Vec<(Option<usize>, String, Value)> = map
        .into_iter()
        .map(|(name, value)| (line_of(&name), name, value))
        .collect();
    entries.sort_by_key(|(line, ..)| *line);
    entries
}

fn fault_of(name: &str, value: &Value) -> Option<String> {
    let kind = match value {
        _ if !is_variable_name(name) => {
            return Some(format!(
                "`{}` can be no name of a variable",
                name.escape_debug()
            ));
        }
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
        _ => return None,
    };
    Some(format!("`{name}` is {kind}, a value must be a scalar"))
}

fn repetition(name: &str, entries: &[(String, String)]) -> Option<String> {
    let key = name.to_lowercase();
    let earlier = entries
        .iter()
        .find(|(earlier, _)| earlier.to_lowercase() == key)?;
    Some(format!(
        "`{name}` and `{}` are one variable, for case does not count",
        earlier.0
    ))
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

    #[test]
    fn scalars_become_texts_as_in_the_configuration_file() {
        let text =
            "A: 1.10\nB: yes\nC: true\nD: 0x10\nE: null\nF: ''\ng: |\n  two\n  lines\nH: '1.10'\n";
        let expected = [
            ("A", "1.1"),
            ("B", "yes"),
            ("C", "true"),
            ("D", "16"),
            ("F", ""),
            ("H", "1.10"),
            ("g", "two\nlines\n"),
        ];
        let mut found = parse(text).unwrap();
        found.sort();
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found, expected);
        assert_eq!(parse("# nothing\n"), Ok(Vec::new()));
        assert_eq!(parse(r#"{"A": "json"}"#).unwrap().len(), 1);
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
