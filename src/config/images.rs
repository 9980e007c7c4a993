//! The `images` section: what replaces parts of the providers' image references.

use std::collections::BTreeMap;

use serde_json::Value;

use super::values::text_field;
use crate::model::image::{ImageOverride, ImageOverrides};

/// Returns the overrides of the section.
///
/// # Errors
/// Every faulty entry, a line each.
pub fn parse(section: &Value) -> Result<ImageOverrides, Vec<String>> {
    let Value::Object(entries) = section else {
        return Err(vec!["it must be a map of overrides".into()]);
    };
    let (mut overrides, mut faults) = (BTreeMap::new(), Vec::new());
    for (key, entry) in entries {
        match parse_entry(entry) {
            Ok(entry) => {
                overrides.insert(key.clone(), entry);
            }
            Err(fault) => faults.push(format!("`{key}`: {fault}")),
        }
    }
    if faults.is_empty() {
        Ok(ImageOverrides(overrides))
    } else {
        Err(faults)
    }
}

fn parse_entry(entry: &Value) -> Result<ImageOverride, String> {
    let fields = match entry {
        Value::Object(fields) => fields,
        Value::Null => return Ok(ImageOverride::default()),
        _ => return Err("it must be a map with `repository`, `name` or `tag`".into()),
    };
    Ok(ImageOverride {
        repository: text_field(fields, "repository")?,
        name: text_field(fields, "name")?,
        tag: text_field(fields, "tag")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn overrides_keep_their_keys() {
        let section = json!({
            "all": {"repository": "registry.local"},
            "infrastructure-aws/manager": {"tag": 2, "other": true},
        });
        let ImageOverrides(overrides) = parse(&section).unwrap();
        assert_eq!(overrides["all"].repository, "registry.local");
        assert_eq!(overrides["infrastructure-aws/manager"].tag, "2");
    }

    #[test]
    fn every_faulty_entry_is_reported() {
        let section = json!({"a": "x", "b": {"tag": []}, "c": {}});
        assert_eq!(
            parse(&section).unwrap_err(),
            [
                "`a`: it must be a map with `repository`, `name` or `tag`",
                "`b`: `tag` must be a text"
            ]
        );
    }
}
