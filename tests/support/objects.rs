//! What is in a cluster, in a form that can be compared: less what differs between any two runs.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::civil::Date;
use kube::api::{Api, DynamicObject, ListParams};
use kube::discovery::{Discovery, verbs};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

/// Kinds that come and go by themselves, or that stand for what runs.
const PASSING: [&str; 10] = [
    "ComponentStatus",
    "ControllerRevision",
    "Endpoints",
    "EndpointSlice",
    "Event",
    "IPAddress",
    "Lease",
    "Pod",
    "PodMetrics",
    "ReplicaSet",
];

/// All objects of a cluster, by `KIND.GROUP NAMESPACE/NAME`.
pub type Objects = BTreeMap<String, Value>;

/// Lists every object of every kind, in comparable form, in each kind's preferred version.
pub async fn list_objects(client: &Client) -> Result<Objects> {
    let discovery = Discovery::new(client.clone()).run().await?;
    let mut objects = Objects::new();
    for group in discovery.groups() {
        for (resource, capabilities) in group.recommended_resources() {
            let kind = resource.kind.as_str();
            if PASSING.contains(&kind) || !capabilities.supports_operation(verbs::LIST) {
                continue;
            }
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            let list = api.list(&ListParams::default()).await;
            for object in list.with_context(|| format!("cannot list {kind}"))? {
                if kind == "Service" && object.name_any() == "kubernetes" {
                    continue; // the API server itself, on a port of its own
                }
                let name = format!(
                    "{kind}.{} {}/{}",
                    resource.group,
                    object.namespace().unwrap_or_default(),
                    object.name_any()
                );
                let mut object = serde_json::to_value(object)?;
                // The items of a list leave out what the list says.
                object["kind"] = kind.into();
                object["apiVersion"] = resource.api_version.as_str().into();
                objects.insert(name, comparable(object));
            }
        }
    }
    Ok(objects)
}

/// Takes out of an object what differs between any two runs: identities, times, versions, certificates, secrets.
pub fn comparable(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in [
            "uid",
            "creationTimestamp",
            "managedFields",
            "resourceVersion",
            "generation",
            "selfLink",
        ] {
            metadata.remove(field);
        }
        if let Some(owners) = metadata
            .get_mut("ownerReferences")
            .and_then(Value::as_array_mut)
        {
            owners
                .iter_mut()
                .for_each(|owner| owner["uid"] = "[uid]".into());
        }
    }
    if object["kind"] == "Secret"
        && let Some(data) = object.get_mut("data").and_then(Value::as_object_mut)
    {
        data.values_mut()
            .for_each(|value| *value = "[secret]".into());
    }
    if object["kind"] == "Service"
        && let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
    {
        spec.retain(|field, _| !matches!(field.as_str(), "clusterIP" | "clusterIPs"));
    }
    mask(&mut object);
    object
}

/// Masks times, certificates and counts of generations, wherever they are.
fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "observedGeneration" => *value = json!("[generation]"),
                    "caBundle" => *value = json!("[certificate]"),
                    _ => mask(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::String(text) if text.starts_with("-----BEGIN CERTIFICATE-----") => {
            *value = json!("[certificate]");
        }
        Value::String(text) if is_time(text) => *value = json!("[time]"),
        _ => {}
    }
}

/// Tells whether a text is a point in time or, as in what API servers note about tokens of old, a day.
fn is_time(text: &str) -> bool {
    text.parse::<Timestamp>().is_ok() || text.parse::<Date>().is_ok()
}

/// Returns what differs, one line for each object or field: `-` only on the left, `+` only on the right.
pub fn compare(left: &Objects, right: &Objects) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, object) in left {
        match right.get(name) {
            None => lines.push(format!("- {name}")),
            Some(other) => compare_values(name, object, other, &mut lines),
        }
    }
    let added = right.keys().filter(|name| !left.contains_key(*name));
    lines.extend(added.map(|name| format!("+ {name}")));
    lines
}

fn compare_values(path: &str, left: &Value, right: &Value, lines: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            for (field, value) in left {
                let path = format!("{path} .{field}");
                match right.get(field) {
                    None => lines.push(format!("- {path}: {value}")),
                    Some(other) => compare_values(&path, value, other, lines),
                }
            }
            let added = right.iter().filter(|(field, _)| !left.contains_key(*field));
            lines.extend(added.map(|(field, value)| format!("+ {path} .{field}: {value}")));
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare_values(&format!("{path} [{index}]"), left, right, lines);
            }
        }
        _ if left == right => {}
        _ => {
            lines.push(format!("- {path}: {left}"));
            lines.push(format!("+ {path}: {right}"));
        }
    }
}
