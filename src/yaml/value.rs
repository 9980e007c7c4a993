//! From scalars to JSON values, and what copies and merges of values come to.

use base64::{
    Engine, alphabet,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use granit_parser::Tag;
use serde_json::{Map, Number, Value};

use super::error::Problem;
use super::read::Rules;
use super::scalar::{Scalar, resolve};

/// What a scalar stands for.
pub(super) enum Meaning {
    Scalar(Scalar),
    /// The text of a `!!binary`.
    Decoded(String),
}

/// The namespace of YAML's own tags, which `!!` stands for.
const YAML_TAGS: &str = "tag:yaml.org,2002:";

pub(super) fn is_merge_tag(tag: &Tag) -> bool {
    tag.suffix_in_namespace(YAML_TAGS).as_deref() == Some("merge")
}

/// Applies tag and style. Tags of others are ignored, and make a text of a plain scalar.
pub(super) fn meaning(
    text: &str,
    plain: bool,
    tag: Option<&Tag>,
    rules: Rules,
) -> Result<Meaning, Problem> {
    let Some(tag) = tag else {
        return Ok(Meaning::Scalar(if plain {
            resolve(text, rules)
        } else {
            Scalar::Text
        }));
    };
    let name = tag.suffix_in_namespace(YAML_TAGS);
    let resolved = resolve(text, rules);
    let scalar = match (name.as_deref(), resolved) {
        (Some("bool"), Scalar::Bool(_)) | (Some("null"), Scalar::Null) => resolved,
        (Some("int"), Scalar::Int(_) | Scalar::Uint(_)) => resolved,
        (Some("float"), Scalar::Float(_)) => resolved,
        #[expect(clippy::cast_precision_loss, reason = "it is tagged as a float")]
        (Some("float"), Scalar::Int(number)) => Scalar::Float(number as f64),
        (Some("bool"), _) => return Err(Problem::Tag("bool")),
        (Some("null"), _) => return Err(Problem::Tag("null")),
        (Some("int"), _) => return Err(Problem::Tag("int")),
        (Some("float"), _) => return Err(Problem::Tag("float")),
        (Some("binary"), _) => return decode(text).map(Meaning::Decoded),
        _ => Scalar::Text,
    };
    Ok(Meaning::Scalar(scalar))
}

/// Decodes base64 over several lines; each byte that belongs to no character becomes U+FFFD, as JSON in Go does it.
fn decode(text: &str) -> Result<String, Problem> {
    let config = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, config);
    let bytes = engine
        .decode(text.replace(['\r', '\n'], ""))
        .map_err(|_| Problem::Tag("binary"))?;
    let mut decoded = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        decoded.push_str(chunk.valid());
        decoded.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Ok(decoded)
}

pub(super) fn to_value(scalar: Scalar, text: &str) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => value.into(),
        Scalar::Int(number) => number.into(),
        Scalar::Uint(number) => number.into(),
        Scalar::Float(number) => float(number),
        Scalar::Text => text.into(),
    }
}

/// JSON in Go writes a float without a fraction as an integer, and Kubernetes reads it back as one.
#[expect(clippy::cast_possible_truncation, reason = "only where it is exact")]
fn float(number: f64) -> Value {
    // Beyond it Go writes other digits than an integer has.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return (number as i64).into();
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// What `<<` brings: of several maps, the first that has a key provides it.
pub(super) fn merged_maps(value: Value) -> Option<Map<String, Value>> {
    let maps = match value {
        Value::Object(map) => return Some(map),
        Value::Array(maps) => maps,
        _ => return None,
    };
    let mut merged = Map::new();
    for map in maps {
        let Value::Object(map) = map else {
            return None;
        };
        for (key, value) in map {
            merged.entry(key).or_insert(value);
        }
    }
    Some(merged)
}

/// About the bytes that a value takes. The depth is limited, so recursion is too.
pub(super) fn weight(value: &Value) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| NODE + key.len() + weight(value))
            .sum(),
        Value::String(text) => text.len(),
        _ => 0,
    }
}

/// How many lists and mappings are inside one another.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
