//! cert-manager's manifest: images and labels change, namespaces do not.

use crate::model::image::ImageOverrides;
use crate::model::{Object, labels};

use super::{Error, images, order};

/// The component key of cert-manager in image overrides.
const COMPONENT: &str = "cert-manager";

/// What is installed for cert-manager, in the order of installation.
#[derive(Debug, Clone, PartialEq)]
pub struct CertManager {
    /// The objects.
    pub objects: Vec<Object>,
    /// Images of the Deployments and DaemonSets, in the order of the manifest, repetitions included.
    pub images: Vec<String>,
}

/// Adapts cert-manager's manifest.
///
/// clusterctl finds cert-manager by the labels, and its version by the annotation, of every object.
///
/// # Errors
/// An image that an override applies to cannot be read.
pub fn cert_manager(
    mut objects: Vec<Object>,
    version: &str,
    overrides: &ImageOverrides,
) -> Result<CertManager, Error> {
    images::override_images(&mut objects, COMPONENT, overrides)?;
    let images = images::list_images(&objects);
    for object in &mut objects {
        object.set_labels([
            (labels::CLUSTERCTL, ""),
            (labels::CORE, labels::CORE_CERT_MANAGER),
        ]);
        object.set_annotations([(labels::CERT_MANAGER_VERSION, version)]);
    }
    Ok(CertManager {
        objects: order::for_cert_manager(objects),
        images,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::objects;
    use super::*;

    #[test]
    fn objects_are_marked_and_stay_in_their_namespace() {
        let manifest = objects(json!([
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "kube-system"},
             "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "quay.io/jetstack/c:v1"}]}}}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cert-manager"}},
        ]));
        let overrides: ImageOverrides =
            serde_json::from_value(json!({"cert-manager": {"repository": "mirror.example"}}))
                .unwrap();
        let CertManager { objects, images } =
            cert_manager(manifest, "v1.21.1", &overrides).unwrap();
        assert_eq!(images, ["mirror.example/c:v1"]);
        assert_eq!(objects[0].to_string(), "Namespace cert-manager");
        assert_eq!(objects[1].to_string(), "Deployment kube-system/d");
        for object in &objects {
            assert_eq!(object.label(labels::CLUSTERCTL), Some(""));
            assert_eq!(object.label(labels::CORE), Some("cert-manager"));
            assert_eq!(object.label(labels::PROVIDER), None);
            assert_eq!(
                object.annotation(labels::CERT_MANAGER_VERSION),
                Some("v1.21.1")
            );
        }
    }
}
