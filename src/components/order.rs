//! The order in which objects are written to the cluster.

use crate::model::Object;

/// Orders a provider's objects: Namespace, the objects of cert-manager, the rest as in the file.
///
/// Certificates come before webhooks and CRDs, so that cert-manager's CA injector hears of them in time. clusterctl sorts
/// with a comparison that calls each of two cert-manager objects less than the other. Go's stable sort takes that "less"
/// for "move in front of everything that is not a Namespace", both when it inserts within blocks and when it merges them,
/// so the cert-manager objects come out in reverse; we emit the same order.
pub fn for_provider(objects: Vec<Object>) -> Vec<Object> {
    let (mut ordered, others) = split(objects, |object| object.kind() == "Namespace");
    let (cert_manager, others) = split(others, |object| object.group() == "cert-manager.io");
    ordered.extend(cert_manager.into_iter().rev());
    ordered.extend(others);
    ordered
}

/// Kinds that come before all others when cert-manager is installed, in this order (Cluster API, `util/resource`; that its
/// list says `Endpoint`, which no kind is named, makes no difference).
const FIRST_KINDS: [&str; 12] = [
    "Namespace",
    "CustomResourceDefinition",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Secret",
    "ConfigMap",
    "ServiceAccount",
    "LimitRange",
    "Pod",
    "ReplicaSet",
    "Endpoint",
];

/// Orders cert-manager's objects by kind, and within a kind as in the file.
pub fn for_cert_manager(mut objects: Vec<Object>) -> Vec<Object> {
    objects.sort_by_key(|object| {
        let position = FIRST_KINDS.iter().position(|kind| *kind == object.kind());
        position.unwrap_or(FIRST_KINDS.len())
    });
    objects
}

fn split(objects: Vec<Object>, first: impl Fn(&Object) -> bool) -> (Vec<Object>, Vec<Object>) {
    objects.into_iter().partition(first)
}

#[cfg(test)]
mod tests {
    use super::super::bare_object;
    use super::*;

    fn names(objects: &[Object]) -> Vec<&str> {
        objects.iter().map(Object::name).collect()
    }

    #[test]
    fn cert_manager_objects_come_out_in_reverse_also_beyond_a_sorting_block_of_go() {
        let mut input = Vec::new();
        for index in 0..50 {
            let api_version = match index % 3 {
                0 => "cert-manager.io/v1",
                1 => "acme.cert-manager.io/v1",
                _ => "v1",
            };
            input.push(bare_object(api_version, "Thing", &index.to_string()));
        }
        input.push(bare_object("v1", "Namespace", "n"));
        let mut expected = vec!["n".to_owned()];
        expected.extend((0..50).rev().filter(|i| i % 3 == 0).map(|i| i.to_string()));
        expected.extend((0..50).filter(|i| i % 3 != 0).map(|i| i.to_string()));
        assert_eq!(names(&for_provider(input)), expected);
    }

    #[test]
    fn cert_manager_is_installed_by_kind() {
        let objects = [
            "Deployment",
            "Role",
            "ServiceAccount",
            "CustomResourceDefinition",
            "Namespace",
        ]
        .map(|kind| bare_object("v1", kind, kind));
        assert_eq!(
            names(&for_cert_manager(objects.to_vec())),
            [
                "Namespace",
                "CustomResourceDefinition",
                "ServiceAccount",
                "Deployment",
                "Role"
            ]
        );
    }
}
