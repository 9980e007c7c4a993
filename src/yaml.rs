//! (being written)

/// Why a text does not parse.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// Parses a configuration file.
///
/// # Errors
/// The text is no YAML.
pub fn parse_config(text: &str) -> Result<serde_json::Value, Error> {
    if text.trim().is_empty() {
        return Ok(serde_json::Value::Null);
    }
    serde_yaml::from_str(text).map_err(|error| {
        Error(match error.location() {
            Some(place) => format!(
                "line {}, column {}: not valid YAML",
                place.line(),
                place.column()
            ),
            None => "not valid YAML".into(),
        })
    })
}
