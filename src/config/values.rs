//! Scalars of the configuration file, turned back into text as clusterctl's library does it.

use serde_json::{Map, Value};

/// Returns the text of a variable: `true`, `1`, `1.1`; a list or map reads as empty, null as not set.
pub fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(text_of_number(number)),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => Some(String::new()),
    }
}

/// Without exponent, and without fraction when there is none.
fn text_of_number(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float.to_string(),
        _ => number.to_string(),
    }
}

/// Returns the text of a field of a structured section: as [`text_of`], but `1` and `0` for booleans, empty for null,
/// and `None` for a list or map, which no field can be.
fn field_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(value) => Some(u8::from(*value).to_string()),
        Value::Array(_) | Value::Object(_) => None,
        scalar => text_of(scalar),
    }
}

/// Returns the text of `field` in a section, empty when it is absent; keys are in lower case.
///
/// # Errors
/// The field is a list or a map: says so.
pub fn text_field(section: &Map<String, Value>, field: &str) -> Result<String, String> {
    match section.get(&field.to_lowercase()) {
        None => Ok(String::new()),
        Some(value) => field_text(value).ok_or_else(|| format!("`{field}` must be a text")),
    }
}

/// Finds a key, in lower case; a `.` in it may lead into nested maps.
pub fn find<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    if let Some(value) = map.get(key) {
        return Some(value);
    }
    key.match_indices('.').find_map(|(at, _)| {
        let inner = map.get(&key[..at])?.as_object()?;
        find(inner, &key[at + 1..])
    })
}

/// Parses a boolean as Go's `strconv.ParseBool` does.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_turn_back_into_text() {
        let cases = [
            (json!(true), Some("true")),
            (json!(1), Some("1")),
            (json!(-7), Some("-7")),
            (json!(u64::MAX), Some("18446744073709551615")),
            (json!(1.10), Some("1.1")),
            (json!(1.0), Some("1")),
            (json!(1e21), Some("1000000000000000000000")),
            (json!("1.10"), Some("1.10")),
            (json!([1]), Some("")),
            (json!({"a": 1}), Some("")),
            (json!(null), None),
        ];
        for (value, text) in cases {
            assert_eq!(text_of(&value).as_deref(), text, "{value}");
        }
    }

    #[test]
    fn dots_lead_into_nested_maps() {
        let value = json!({"a": {"b.c": 1, "d": {"e": 2}}, "a.x": 3});
        let map = value.as_object().unwrap();
        assert_eq!(find(map, "a.b.c"), Some(&json!(1)));
        assert_eq!(find(map, "a.d.e"), Some(&json!(2)));
        assert_eq!(find(map, "a.x"), Some(&json!(3)));
        assert_eq!(find(map, "a.y"), None);
    }

    #[test]
    fn fields_are_weakly_typed() {
        let value = json!({"tag": 1.20, "name": true, "repository": ["a"]});
        let section = value.as_object().unwrap();
        assert_eq!(text_field(section, "tag"), Ok("1.2".into()));
        assert_eq!(text_field(section, "name"), Ok("1".into()));
        assert_eq!(text_field(section, "absent"), Ok(String::new()));
        assert!(text_field(section, "repository").is_err());
    }
}
