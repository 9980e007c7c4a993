//! A provider's manifest on its way into the management cluster: images, namespaces, labels and order.
//!
//! ```text
//! objects ─ images ─ namespaces ─ labels ─ order ─▶ Components        (providers)
//! objects ─ images ─ labels ─ install order ──────▶ CertManager
//! objects ─ namespaces ───────────────────────────▶ cluster templates
//! ```
//!
//! Everything here is pure and works on untyped objects, so fields that no type of ours knows survive.

mod cert_manager;
pub mod contract;
mod crd_names;
mod error;
mod images;
mod inventory;
mod namespaces;
mod order;
mod plural;

use serde_json::json;

use crate::model::image::ImageOverrides;
use crate::model::{Object, labels};

pub use cert_manager::{CertManager, cert_manager};
pub use crd_names::{InvalidCrdName, ensure_crd_names};
pub use error::{Error, Problem};
pub use inventory::inventory_object;
pub use namespaces::set_target_namespace;

/// What the components of a provider are adapted to.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The provider label, e.g. `infrastructure-aws`.
    pub label: &'a str,
    /// The namespace to install into; default: the one that the components define.
    pub target_namespace: Option<&'a str>,
    /// The configuration's `images`.
    pub images: &'a ImageOverrides,
}

/// What is installed for a provider, in the order of installation.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// The objects.
    pub objects: Vec<Object>,
    /// Images of the Deployments and DaemonSets, in the order of the manifest, repetitions included.
    pub images: Vec<String>,
    /// The namespace of all namespaced objects.
    pub target_namespace: String,
}

/// Adapts the objects of a provider's components file to their management cluster.
///
/// # Errors
/// An image that an override applies to cannot be read, there is no or more than one namespace to choose from, or
/// objects have a form that cannot be adapted.
pub fn build(mut objects: Vec<Object>, options: &Options) -> Result<Components, Error> {
    let Options {
        label,
        target_namespace,
        images,
    } = *options;
    images::override_images(&mut objects, label, images)?;
    let images = images::list_images(&objects);
    let target_namespace = namespaces::choose_target_namespace(&objects, target_namespace)?;
    namespaces::ensure_namespace_object(&mut objects, &target_namespace);
    namespaces::move_components(&mut objects, &target_namespace)?;
    for object in &mut objects {
        object.set_labels([(labels::CLUSTERCTL, ""), (labels::PROVIDER, label)]);
    }
    Ok(Components {
        objects: order::for_provider(objects),
        images,
        target_namespace,
    })
}

/// Returns an object of no more than its type and name.
fn bare_object(api_version: &str, kind: &str, name: &str) -> Object {
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    serde_json::from_value(object).expect("a JSON map is an object")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::image::ImageOverride;

    /// Reads objects of a JSON array.
    pub(super) fn objects(value: serde_json::Value) -> Vec<Object> {
        serde_json::from_value(value).unwrap()
    }

    fn manifest() -> Vec<Object> {
        objects(json!([
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "namespace": "old"}},
            {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "cert", "namespace": "old"}},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "old"},
             "spec": {"template": {"metadata": {"labels": {}}, "spec": {"containers": [{"name": "manager", "image": "r.io/m:v1"}]}}}},
            {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "issuer", "namespace": "old"}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old", "labels": {labels::PROVIDER: "wrong", "own": "x"}}},
        ]))
    }

    fn build_with(objects: Vec<Object>, target_namespace: Option<&str>) -> Components {
        let entry = ImageOverride {
            tag: "v2".into(),
            ..ImageOverride::default()
        };
        let images = ImageOverrides([("infrastructure-x".to_owned(), entry)].into());
        let options = Options {
            label: "infrastructure-x",
            target_namespace,
            images: &images,
        };
        build(objects, &options).unwrap()
    }

    #[test]
    fn components_are_ordered_labelled_and_moved() {
        let components = build_with(manifest(), Some("new"));
        let names: Vec<String> = components.objects.iter().map(Object::to_string).collect();
        assert_eq!(
            names,
            [
                "Namespace new",
                "Issuer new/issuer",
                "Certificate new/cert",
                "ServiceAccount new/a",
                "Deployment new/d"
            ]
        );
        for object in &components.objects {
            assert_eq!(object.label(labels::CLUSTERCTL), Some(""), "{object}");
            assert_eq!(object.label(labels::PROVIDER), Some("infrastructure-x"));
        }
        assert_eq!(components.objects[0].label("own"), Some("x"));
        let pod_labels = components.objects[4].pointer("/spec/template/metadata/labels");
        assert_eq!(pod_labels, Some(&json!({})));
        assert_eq!(components.images, ["r.io/m:v2"]);
        assert_eq!(components.target_namespace, "new");
    }

    #[test]
    fn the_namespace_of_the_manifest_is_the_default() {
        assert_eq!(build_with(manifest(), None).target_namespace, "old");
        assert_eq!(build_with(manifest(), Some("")).target_namespace, "old");
    }

    #[test]
    fn a_missing_namespace_object_is_added() {
        let mut manifest = manifest();
        manifest.pop();
        let components = build_with(manifest, Some("new"));
        assert_eq!(components.objects.len(), 5);
        assert_eq!(components.objects[0].to_string(), "Namespace new");
    }
}
