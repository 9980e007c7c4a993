//! A Kubernetes object of any kind, kept as it was written.
//!
//! A typed round trip would lose the fields that a type does not know, so objects that we did not define stay JSON from
//! reading to writing.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::yaml;

/// An object: a JSON map with `apiVersion`, `kind` and `metadata`. Missing fields read as empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Object(pub Map<String, Value>);

impl Object {
    /// Returns `apiVersion`, e.g. `apps/v1`.
    pub fn api_version(&self) -> &str {
        self.text("/apiVersion")
    }

    /// Returns the API group, empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version()
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// Returns the version within the group, e.g. `v1`.
    pub fn version(&self) -> &str {
        self.api_version()
            .split_once('/')
            .map_or(self.api_version(), |(_, version)| version)
    }

    /// Returns `kind`.
    pub fn kind(&self) -> &str {
        self.text("/kind")
    }

    /// Returns `metadata.name`.
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// Returns `metadata.namespace`, empty when there is none.
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// Returns an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.0
            .get("metadata")?
            .get("annotations")?
            .get(key)?
            .as_str()
    }

    /// Returns a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.0.get("metadata")?.get("labels")?.get(key)?.as_str()
    }

    /// Returns the value at a JSON pointer.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        let (first, rest) = split_pointer(pointer)?;
        self.0.get(first)?.pointer(rest)
    }

    /// Returns the value at a JSON pointer, to be changed.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        let (first, rest) = split_pointer(pointer)?;
        self.0.get_mut(first)?.pointer_mut(rest)
    }

    /// Returns the text at a JSON pointer, empty when there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Sets `metadata.name`.
    pub fn set_name(&mut self, name: &str) {
        self.metadata_mut().insert("name".into(), name.into());
    }

    /// Sets `metadata.namespace`.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.metadata_mut()
            .insert("namespace".into(), namespace.into());
    }

    /// Sets `metadata.resourceVersion`: a write fails when the object has changed since.
    pub fn set_resource_version(&mut self, version: &str) {
        self.metadata_mut()
            .insert("resourceVersion".into(), version.into());
    }

    /// Sets labels, over those of the same keys.
    pub fn set_labels<'a>(&mut self, labels: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.set_metadata_map("labels", labels);
    }

    /// Sets annotations, over those of the same keys.
    pub fn set_annotations<'a>(
        &mut self,
        annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        self.set_metadata_map("annotations", annotations);
    }

    /// Returns the labels that are texts.
    pub fn labels(&self) -> BTreeMap<&str, &str> {
        let labels = self.pointer("/metadata/labels").and_then(Value::as_object);
        labels
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
            .collect()
    }

    fn set_metadata_map<'a>(
        &mut self,
        field: &str,
        entries: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let map = self
            .metadata_mut()
            .entry(field)
            .or_insert_with(|| json!({}));
        if !map.is_object() {
            *map = json!({});
        }
        for (key, value) in entries {
            map[key] = value.into();
        }
    }

    fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        let metadata = self.0.entry("metadata").or_insert_with(|| json!({}));
        if !metadata.is_object() {
            *metadata = json!({});
        }
        metadata.as_object_mut().expect("it was made a map above")
    }
}

/// Reads the objects of a manifest, in its order.
///
/// # Errors
/// The text is no YAML, or a document is no map.
pub fn parse_objects(text: &str) -> Result<Vec<Object>, yaml::Error> {
    Ok(parse_manifest(text)?.0)
}

/// Reads the objects of a manifest, in its order, and the lines, from 1, where content begins that is in no document.
///
/// # Errors
/// Those of [`parse_objects`].
pub fn parse_manifest(text: &str) -> Result<(Vec<Object>, Vec<usize>), yaml::Error> {
    let documents = yaml::parse_documents(text)?;
    let unread = documents.iter().filter_map(|document| document.unread);
    let unread = unread.collect();
    let objects = documents
        .into_iter()
        .map(|document| Object(document.map))
        .collect();
    Ok((objects, unread))
}

/// Writes objects as one manifest, without a final newline.
pub fn render_objects(objects: &[Object]) -> String {
    yaml::render_documents(objects.iter().map(|object| &object.0))
}

/// Splits `/a/b/0` into `a` and `/b/0`.
fn split_pointer(pointer: &str) -> Option<(&str, &str)> {
    let path = pointer.strip_prefix('/')?;
    Some(path.find('/').map_or((path, ""), |end| path.split_at(end)))
}

/// The way a reader names an object: `Deployment capi-system/capi-controller-manager`.
impl Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace() {
            "" => write!(formatter, "{} {}", self.kind(), self.name()),
            namespace => write!(formatter, "{} {namespace}/{}", self.kind(), self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_set_where_there_were_none() {
        let mut object: Object =
            serde_json::from_value(json!({"kind": "Namespace", "metadata": {"labels": null}}))
                .unwrap();
        object.set_labels([("a", "b")]);
        object.set_namespace("n");
        assert_eq!(object.label("a"), Some("b"));
        assert_eq!(object.namespace(), "n");
    }
}
