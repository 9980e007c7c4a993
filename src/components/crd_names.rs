//! The rule that a CRD is named after its kind.
//!
//! The controllers of Cluster API find the CRD of a referenced object by a name that they make from its kind, so a CRD of
//! another name goes unnoticed.

use crate::model::{Object, labels};

use super::{Error, plural};

/// A CRD whose name breaks the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "CRD name `{name}` is invalid for a CRD referenced in a core Cluster API CRD, it should be `{expected}`"
)]
pub struct InvalidCrdName {
    /// `metadata.name`.
    pub name: String,
    /// The name by the rule.
    pub expected: String,
}

/// Checks that every CRD is named `{plural of the kind}.{group}`, unless an annotation excuses it.
///
/// # Errors
/// Some are not; all of them.
pub fn ensure_crd_names(objects: &[Object]) -> Result<(), Error> {
    let invalid: Vec<InvalidCrdName> = objects.iter().filter_map(invalid_name).collect();
    if invalid.is_empty() {
        Ok(())
    } else {
        Err(Error::CrdNames(invalid))
    }
}

fn invalid_name(object: &Object) -> Option<InvalidCrdName> {
    if object.kind() != "CustomResourceDefinition" || is_excused(object) {
        return None;
    }
    let kind = object.text("/spec/names/kind").to_lowercase();
    let expected = format!("{}.{}", plural::plural(&kind), object.text("/spec/group"));
    (object.name() != expected).then(|| InvalidCrdName {
        name: object.name().to_owned(),
        expected,
    })
}

fn is_excused(object: &Object) -> bool {
    object.annotation(labels::SKIP_CRD_NAME_CHECK).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::objects;
    use super::*;

    fn crd(name: &str, annotations: Value) -> Value {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
               "metadata": {"name": name, "annotations": annotations},
               "spec": {"group": "x.io", "names": {"kind": "ClusterProxy", "plural": "anything"}}})
    }

    #[test]
    fn all_wrong_names_are_reported_at_once() {
        let objects = objects(json!([
            crd("clusterproxies.x.io", json!(null)),
            crd("clusterproxys.x.io", json!({})),
            crd("excused.x.io", json!({labels::SKIP_CRD_NAME_CHECK: ""})),
            crd("clusterproxies.y.io", json!({})),
            {"kind": "Other", "metadata": {"name": "b"}},
        ]));
        let Err(Error::CrdNames(invalid)) = ensure_crd_names(&objects) else {
            panic!("names must be refused");
        };
        let names: Vec<&str> = invalid.iter().map(|crd| crd.name.as_str()).collect();
        assert_eq!(names, ["clusterproxys.x.io", "clusterproxies.y.io"]);
        assert_eq!(invalid[0].expected, "clusterproxies.x.io");
        assert!(ensure_crd_names(&objects[..1]).is_ok());
    }
}
