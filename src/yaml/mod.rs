//! YAML in and out. No other module names a YAML crate.
//!
//! Manifests are read as the Go tools around Kubernetes read them (`sigs.k8s.io/yaml` over go-yaml v2): the structure is
//! YAML's, the plain scalars are those of YAML 1.1, so that `on` is true and `0644` is 420. Files of our own follow the
//! rules of go-yaml v3. What is written has one meaning under either version.
//!
//! ```text
//! text ─ split ─ granit-parser ─ read (go, tabs, scalar, value) ─ Value
//! Value ─ write ─ text
//! text ─ split ─ granit-parser ─ Outline   where each key and value is
//! ```

mod error;
mod go;
mod outline;
mod read;
mod scalar;
mod split;
mod tabs;
mod value;
mod write;

use serde_json::{Map, Value};

pub use error::{Error, Problem};
pub use outline::{Form, Node, Outline};
use read::Rules;
pub use write::{render, render_documents};

/// A document that holds a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The mapping.
    pub map: Map<String, Value>,
    /// The line of the whole text where the mapping begins, from 1.
    pub line: usize,
    /// The line where content follows that is in no document and that nobody reads, from 1; none as a rule.
    pub unread: Option<usize>,
}

/// Parses the documents of a manifest. Those that are empty, null or nothing but comments are left out.
///
/// As in Kubernetes, a line that begins with `---` separates documents wherever it stands, only the first document between two
/// of them is read (see [`Document::unread`]), the last of several equal keys counts, and a JSON text is fine.
///
/// # Errors
/// The first place that is no YAML, has no counterpart in JSON, or is a document without a mapping.
pub fn parse_documents(text: &str) -> Result<Vec<Document>, Error> {
    split::ensure_printable(text)?;
    let mut documents = Vec::new();
    for part in split::split(text) {
        let number = documents.len() + 1;
        let part = part.map_err(|line| Error::separator(number, line))?;
        let roots = read::read(part.text, part.line, Rules::Manifest);
        for root in roots.map_err(|fault| Error::in_document(number, fault))? {
            match root.value {
                Value::Null => {}
                Value::Object(map) => documents.push(Document {
                    map,
                    line: root.place.line,
                    unread: root.unread,
                }),
                value => {
                    let fault = root.place.fault(no_mapping(&value));
                    return Err(Error::in_document(documents.len() + 1, fault));
                }
            }
        }
    }
    Ok(documents)
}

/// Returns where the line of a place begins.
fn line_start(text: &str, place: usize) -> usize {
    text[..place].rfind('\n').map_or(0, |end| end + 1)
}

fn no_mapping(value: &Value) -> Problem {
    let is_operation = |item: &Value| item.get("op").is_some() && item.get("path").is_some();
    match value.as_array() {
        Some(items) if items.iter().any(is_operation) => Problem::Patch,
        _ => Problem::NotAMapping,
    }
}

/// Parses a configuration file: one document, null when it is empty.
///
/// `yes`, `no`, `on` and `off` are texts, keys are taken as they are written, and no key may occur twice in a mapping.
///
/// # Errors
/// The first place that is no YAML or has no counterpart in JSON, or where a second document begins.
pub fn parse_config(text: &str) -> Result<Value, Error> {
    split::ensure_printable(text)?;
    let mut value = Value::Null;
    for root in read::read(text, 1, Rules::Config).map_err(Error::in_config)? {
        if root.value.is_null() {
            continue;
        }
        if !value.is_null() {
            let fault = root.place.fault(Problem::SecondDocument);
            return Err(Error::in_config(fault));
        }
        value = root.value;
    }
    Ok(value)
}

/// Parses data of our own, such as what is embedded in the binary, into its type.
///
/// # Errors
/// The text is no YAML, or not of that type; line and column, without the text.
pub fn parse_typed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_yaml::from_str(text).map_err(|error| match error.location() {
        Some(place) => format!(
            "line {}, column {}: not of the expected form",
            place.line(),
            place.column()
        ),
        None => "not of the expected form".to_owned(),
    })
}

#[cfg(test)]
mod tests;
