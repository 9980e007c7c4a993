//! What may differ between the objects that the two tools print.
//!
//! clusterctl reads numbers as doubles and sends some kinds through Go types and back; capictl keeps objects as they were
//! written. A rule takes from an object what that adds, drops or changes, and counts only where it made two objects more
//! alike.

use std::collections::BTreeMap;

use capictl::model::Object;
use serde_json::{Map, Value};

/// A difference that means nothing to an API server.
pub struct Rule {
    pub name: &'static str,
    applies: fn(&Object) -> bool,
    apply: fn(&mut Object),
}

/// The row of `docs/differences.md` that [`RULES`] belong to.
const UNTYPED: &str = "untyped";

/// In the order of application.
const RULES: [Rule; 5] = [
    // The digits of a number that a double has no room for are lost in clusterctl.
    Rule {
        name: "whole numbers beyond 2^53",
        applies: |_| true,
        apply: |object| object.0.values_mut().for_each(round_numbers),
    },
    // `status` is a sub-resource: API servers ignore it when an object is written.
    Rule {
        name: "status of typed kinds",
        applies: is_typed,
        apply: drop_status,
    },
    // Go writes structs that are empty, and API servers fill both spellings with the same defaults.
    Rule {
        name: "empty structs of workloads",
        applies: is_typed,
        apply: drop_empty_structs,
    },
    // Go leaves out optional fields that hold their zero value, which API servers assume anyway.
    Rule {
        name: "optional fields with their zero value",
        applies: is_typed,
        apply: drop_zero_values,
    },
    // Go prints quantities in a canonical form: 1000m of CPU is 1.
    Rule {
        name: "spelling of quantities",
        applies: is_typed,
        apply: spell_quantities,
    },
];

/// A reason of clusterctl to fail that is none of capictl's.
struct Failure {
    row: &'static str,
    name: &'static str,
    /// What clusterctl says.
    text: &'static str,
}

const FAILURES: [Failure; 3] = [
    // capictl reads short names of images as Docker does.
    Failure {
        row: "image-names",
        name: "images without registry host",
        text: "repository name must be canonical",
    },
    // capictl lets names pass that have variables without values; others like them are refused by both.
    Failure {
        row: "image-names",
        name: "images with variables",
        text: "couldn't parse image name",
    },
    // capictl knows no types, so a variable that stands for a number or a boolean may stay in its place.
    Failure {
        row: UNTYPED,
        name: "variables in typed fields",
        text: "unable to convert unstructured object",
    },
];

/// Returns the names of the rules that a row of `docs/differences.md` stands for.
pub fn of_row(row: &str) -> impl Iterator<Item = &'static str> {
    all()
        .filter(move |(key, _)| *key == row)
        .map(|(_, name)| name)
}

/// Returns the row and the name of each rule.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rules = RULES.iter().map(|rule| (UNTYPED, rule.name));
    rules.chain(FAILURES.iter().map(|failure| (failure.row, failure.name)))
}

/// How often each rule excused something.
pub type Excuses = BTreeMap<&'static str, usize>;

/// Returns whether only clusterctl may fail with these words, and counts it.
pub fn excuse_failure(stderr: &str, excuses: &mut Excuses) -> bool {
    let known = FAILURES
        .iter()
        .find(|failure| stderr.contains(failure.text));
    if let Some(failure) = known {
        *excuses.entry(failure.name).or_default() += 1;
    }
    known.is_some()
}

/// Returns what differs between two objects and is not excused; counts what is.
pub fn differences(reference: &Object, ours: &Object, excuses: &mut Excuses) -> Vec<String> {
    let mut found = compare(reference, ours);
    let rules = RULES.iter().filter(|rule| (rule.applies)(ours));
    let (mut reference, mut ours) = (reference.clone(), ours.clone());
    for rule in rules {
        if found.is_empty() {
            break;
        }
        (rule.apply)(&mut reference);
        (rule.apply)(&mut ours);
        let left = compare(&reference, &ours);
        if left.len() < found.len() {
            *excuses.entry(rule.name).or_default() += found.len() - left.len();
        }
        found = left;
    }
    found
}

/// The kinds that clusterctl sends through Go types.
fn is_typed(object: &Object) -> bool {
    matches!(
        object.kind(),
        "Deployment"
            | "DaemonSet"
            | "ClusterRoleBinding"
            | "RoleBinding"
            | "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "CustomResourceDefinition"
    )
}

fn round_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let rounded = number
                .as_f64()
                .filter(|float| float.abs() >= 2_f64.powi(53));
            if let Some(rounded) = rounded.and_then(serde_json::Number::from_f64) {
                *number = rounded;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(round_numbers),
        Value::Object(map) => map.values_mut().for_each(round_numbers),
        _ => {}
    }
}

fn drop_status(object: &mut Object) {
    object.0.remove("status");
}

fn drop_empty_structs(object: &mut Object) {
    if let Some(Value::Object(spec)) = object.pointer_mut("/spec") {
        remove_if(spec, "strategy", is_zero);
    }
    for container in containers(object) {
        remove_if(container, "resources", is_zero);
    }
}

/// The fields are named one by one, so that nothing else slips through.
fn drop_zero_values(object: &mut Object) {
    if let Some(Value::Object(metadata)) = object.pointer_mut("/metadata") {
        remove_if(metadata, "creationTimestamp", Value::is_null);
    }
    let fields: [(&str, &[&str]); 3] = [
        ("/spec", &["preserveUnknownFields"]),
        ("/spec/names", &["categories", "shortNames"]),
        ("/spec/template/spec", &["hostNetwork", "nodeSelector"]),
    ];
    for (pointer, names) in fields {
        if let Some(Value::Object(map)) = object.pointer_mut(pointer) {
            names.iter().for_each(|name| remove_if(map, name, is_zero));
        }
    }
    for version in maps_of(object.pointer_mut("/spec/versions")) {
        remove_if(version, "additionalPrinterColumns", is_zero);
    }
    for subject in maps_of(object.pointer_mut("/subjects")) {
        remove_if(subject, "apiGroup", is_zero);
        remove_if(subject, "namespace", is_zero);
    }
    for container in containers(object) {
        for variable in maps_of(container.get_mut("env")) {
            remove_if(variable, "value", is_zero);
        }
    }
}

fn spell_quantities(object: &mut Object) {
    for container in containers(object) {
        for kind in ["limits", "requests"] {
            let quantities = container
                .get_mut("resources")
                .and_then(|resources| resources.get_mut(kind)?.as_object_mut());
            for (_, quantity) in quantities.into_iter().flatten() {
                if let Some(nano) = nano(quantity) {
                    *quantity = format!("{nano}n").into();
                }
            }
        }
    }
}

/// Returns a quantity in units of 10⁻⁹, or `None` for what is no quantity of digits and suffix.
fn nano(quantity: &Value) -> Option<i128> {
    let text = match quantity {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let factor: i128 = match suffix {
        "n" => 1,
        "u" => 1_000,
        "m" => 1_000_000,
        "" => 1_000_000_000,
        "k" | "M" | "G" | "T" => 1_000_000_000 * 1000_i128.pow(power(suffix, "kMGT")?),
        "Ki" | "Mi" | "Gi" | "Ti" => 1_000_000_000 * 1024_i128.pow(power(suffix, "KMGT")?),
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(digits * factor / 10_i128.pow(u32::try_from(fraction.len()).ok()?))
}

fn power(suffix: &str, order: &str) -> Option<u32> {
    let position = order.find(&suffix[..1])?;
    u32::try_from(position + 1).ok()
}

fn containers(object: &mut Object) -> Vec<&mut Map<String, Value>> {
    let Some(Value::Object(pod)) = object.pointer_mut("/spec/template/spec") else {
        return Vec::new();
    };
    pod.iter_mut()
        .filter(|(field, _)| matches!(field.as_str(), "containers" | "initContainers"))
        .flat_map(|(_, list)| maps_of(Some(list)))
        .collect()
}

fn maps_of(list: Option<&mut Value>) -> Vec<&mut Map<String, Value>> {
    let list = list.and_then(Value::as_array_mut);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
        .collect()
}

fn remove_if(map: &mut Map<String, Value>, field: &str, unwanted: fn(&Value) -> bool) {
    if map.get(field).is_some_and(unwanted) {
        map.remove(field);
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn compare(reference: &Object, ours: &Object) -> Vec<String> {
    let mut found = Vec::new();
    compare_maps(&reference.0, &ours.0, "", &mut found);
    found
}

fn compare_maps(
    reference: &Map<String, Value>,
    ours: &Map<String, Value>,
    path: &str,
    found: &mut Vec<String>,
) {
    let absent = Value::String("(absent)".into());
    let missing = ours.iter().filter(|(key, _)| !reference.contains_key(*key));
    for (key, value) in missing {
        found.push(describe(&format!("{path}/{key}"), &absent, value));
    }
    for (key, value) in reference {
        let path = format!("{path}/{key}");
        match ours.get(key) {
            Some(other) => compare_values(value, other, &path, found),
            None => found.push(describe(&path, value, &absent)),
        }
    }
}

fn compare_values(reference: &Value, ours: &Value, path: &str, found: &mut Vec<String>) {
    match (reference, ours) {
        (Value::Object(reference), Value::Object(ours)) => {
            compare_maps(reference, ours, path, found);
        }
        (Value::Array(reference), Value::Array(ours)) if reference.len() == ours.len() => {
            for (index, (value, other)) in reference.iter().zip(ours).enumerate() {
                compare_values(value, other, &format!("{path}/{index}"), found);
            }
        }
        _ if reference == ours => {}
        _ => found.push(describe(path, reference, ours)),
    }
}

fn describe(path: &str, reference: &Value, ours: &Value) -> String {
    let short = |value: &Value| value.to_string().chars().take(200).collect::<String>();
    format!(
        "{path}: clusterctl has {}, capictl {}",
        short(reference),
        short(ours)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(spec: &Value) -> Object {
        let object = json!({"kind": "Deployment", "spec": {"template": {"spec": spec}}});
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn rules_excuse_what_they_name_and_nothing_else() {
        let reference = deployment(
            &json!({"containers": [{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]}),
        );
        let ours = |cpu: &str, network: Value| {
            deployment(&json!({"hostNetwork": network,
                "containers": [{"resources": {"limits": {"cpu": cpu, "memory": "1Gi"}}}]}))
        };
        let mut excuses = Excuses::new();
        let equal = ours("1000m", json!(false));
        assert_eq!(
            differences(&reference, &equal, &mut excuses),
            [""; 0],
            "{excuses:?}"
        );
        assert_eq!(excuses.values().sum::<usize>(), 2);
        let other = ours("1001m", json!(true));
        assert_eq!(differences(&reference, &other, &mut excuses).len(), 2);

        let number = |number: u64| {
            let object = json!({"kind": "Any", "spec": {"number": number}});
            serde_json::from_value::<Object>(object).unwrap()
        };
        let rounded = number(9_007_199_254_740_992);
        let mut excuses = Excuses::new();
        let exact = number(9_007_199_254_740_993);
        assert_eq!(differences(&rounded, &exact, &mut excuses), [""; 0]);
        assert_eq!(excuses.values().sum::<usize>(), 1);
        let other = number(9_007_199_254_740_994);
        assert_eq!(differences(&rounded, &other, &mut excuses).len(), 1);
    }
}
