//! Moves objects into one namespace, and with them what refers to it: RBAC subjects, webhooks, DNS names of certificates.
//!
//! Scopes are decided by kind alone and from a fixed list, because no API server is asked; a cluster-scoped kind that is
//! not on the list gets a namespace too, which the API server ignores.

use serde_json::Value;

use crate::model::provider::dns1123_label_problem;
use crate::model::{Object, labels};

use super::{Error, Problem, bare_object};

/// The kinds that clusterctl takes for cluster-scoped.
const CLUSTER_SCOPED: [&str; 16] = [
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "CertificateSigningRequest",
    "ClusterRoleBinding",
    "ClusterRole",
    "VolumeAttachment",
    "StorageClass",
    "CSIDriver",
    "CSINode",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "CustomResourceDefinition",
    "PriorityClass",
    "RuntimeClass",
];

/// Returns the namespace to install into: the requested one, else that of the manifest's Namespace object.
pub fn choose_target_namespace(
    objects: &[Object],
    requested: Option<&str>,
) -> Result<String, Error> {
    let names: Vec<&str> = objects
        .iter()
        .filter(|object| object.kind() == "Namespace")
        .map(Object::name)
        .collect();
    if names.len() > 1 {
        let names = names.into_iter().map(str::to_owned).collect();
        return Err(Error::SeveralNamespaces(names));
    }
    let chosen = requested
        .into_iter()
        .chain(names)
        .find(|name| !name.is_empty())
        .ok_or(Error::NoTargetNamespace)?;
    match dns1123_label_problem(chosen) {
        Some(problem) => Err(Error::NamespaceName {
            name: chosen.to_owned(),
            problem,
        }),
        None => Ok(chosen.to_owned()),
    }
}

/// Adds the Namespace object that a manifest lacks.
pub fn ensure_namespace_object(objects: &mut Vec<Object>, namespace: &str) {
    if !objects.iter().any(|object| object.kind() == "Namespace") {
        objects.push(bare_object("v1", "Namespace", namespace));
    }
}

/// Moves all objects into one namespace, for a provider's components as for a cluster template.
///
/// Nothing within pods, ConfigMaps or other free text is changed.
///
/// # Errors
/// Objects have a form that cannot be adapted; all of them are named.
pub fn set_target_namespace(objects: &mut [Object], namespace: &str) -> Result<(), Error> {
    let problems = objects
        .iter_mut()
        .filter_map(|object| move_object(object, namespace).err());
    fail_with(problems.collect())
}

/// Moves the components of a provider as [`set_target_namespace`] moves the objects of a template. Their workloads must have
/// a form that is known, since images are looked up in them.
///
/// # Errors
/// Those of [`set_target_namespace`].
pub fn move_components(objects: &mut [Object], namespace: &str) -> Result<(), Error> {
    let problems = objects.iter_mut().filter_map(|object| {
        let moved = ensure_workload_version(object).and_then(|()| move_object(object, namespace));
        moved.err()
    });
    fail_with(problems.collect())
}

fn fail_with(problems: Vec<Problem>) -> Result<(), Error> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::TargetNamespace(problems))
    }
}

fn move_object(object: &mut Object, namespace: &str) -> Result<(), Problem> {
    ensure_api_version(object)?;
    move_references(object, namespace)?;
    if object.kind() == "Namespace" {
        object.set_name(namespace);
    }
    if !CLUSTER_SCOPED.contains(&object.kind()) {
        object.set_namespace(namespace);
    }
    Ok(())
}

/// Changes what an object says of namespaces, while its own is still the original one.
fn move_references(object: &mut Object, namespace: &str) -> Result<(), Problem> {
    match object.kind() {
        "ClusterRoleBinding" | "RoleBinding" => move_subjects(object, namespace),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            move_ca_source(object, namespace)?;
            move_webhooks(object, namespace);
        }
        "CustomResourceDefinition" => {
            move_ca_source(object, namespace)?;
            move_conversion(object, namespace);
        }
        "Certificate" => move_dns_names(object, namespace)?,
        _ => {}
    }
    Ok(())
}

/// Refuses built-in kinds in versions whose form is not known, before anything is written to a cluster.
fn ensure_api_version(object: &Object) -> Result<(), Problem> {
    let supported: &'static [&'static str] = match object.kind() {
        "ClusterRoleBinding" | "RoleBinding" => &["rbac.authorization.k8s.io/v1"],
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => &[
            "admissionregistration.k8s.io/v1",
            "admissionregistration.k8s.io/v1beta1",
        ],
        "CustomResourceDefinition" => &["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"],
        _ => return Ok(()),
    };
    ensure_one_of(object, supported)
}

/// What [`ensure_api_version`] is for other kinds.
fn ensure_workload_version(object: &Object) -> Result<(), Problem> {
    match object.kind() {
        "Deployment" | "DaemonSet" => ensure_one_of(object, &["apps/v1"]),
        _ => Ok(()),
    }
}

fn ensure_one_of(object: &Object, supported: &'static [&'static str]) -> Result<(), Problem> {
    // A kind of the same name in somebody's own group is none of our business.
    let group = object.group();
    let is_built_in = !group.contains('.') || group.ends_with(".k8s.io");
    if !is_built_in || supported.contains(&object.api_version()) {
        return Ok(());
    }
    Err(Problem::ApiVersion {
        object: object.to_string(),
        found: object.api_version().to_owned(),
        supported,
    })
}

/// Subjects without a namespace are users and groups, or a mistake that is not ours to mend.
fn move_subjects(object: &mut Object, namespace: &str) {
    let subjects = object
        .pointer_mut("/subjects")
        .and_then(Value::as_array_mut);
    for subject in subjects.into_iter().flatten() {
        if let Some(Value::String(subject)) = subject.get_mut("namespace")
            && !subject.is_empty()
        {
            namespace.clone_into(subject);
        }
    }
}

fn move_ca_source(object: &mut Object, namespace: &str) -> Result<(), Problem> {
    let Some(value) = object.annotation(labels::INJECT_CA_FROM) else {
        return Ok(());
    };
    match value.split_once('/') {
        Some((_, certificate)) if !certificate.contains('/') => {
            let moved = format!("{namespace}/{certificate}");
            object.set_annotations([(labels::INJECT_CA_FROM, moved.as_str())]);
            Ok(())
        }
        _ => Err(Problem::InjectCaFrom {
            object: object.to_string(),
            value: value.to_owned(),
        }),
    }
}

fn move_webhooks(object: &mut Object, namespace: &str) {
    let webhooks = object
        .pointer_mut("/webhooks")
        .and_then(Value::as_array_mut);
    for webhook in webhooks.into_iter().flatten() {
        move_service(webhook.pointer_mut("/clientConfig/service"), namespace);
    }
}

fn move_conversion(object: &mut Object, namespace: &str) {
    let service = match object.version() {
        "v1beta1" => "/spec/conversion/webhookClientConfig/service",
        _ => "/spec/conversion/webhook/clientConfig/service",
    };
    move_service(object.pointer_mut(service), namespace);
}

fn move_service(service: Option<&mut Value>, namespace: &str) {
    if let Some(Value::Object(service)) = service {
        service.insert("namespace".into(), namespace.into());
    }
}

/// The names of a provider's Services, `{service}.{namespace}.svc`, follow the Services.
fn move_dns_names(object: &mut Object, namespace: &str) -> Result<(), Problem> {
    let (old, new) = (
        format!(".{}.", object.namespace()),
        format!(".{namespace}."),
    );
    let problem = Problem::DnsNames {
        object: object.to_string(),
    };
    let names = match object.pointer_mut("/spec/dnsNames") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(names)) => names,
        Some(_) => return Err(problem),
    };
    for name in names {
        let Value::String(name) = name else {
            return Err(problem);
        };
        *name = name.replacen(&old, &new, 1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::objects;
    use super::*;

    /// Moves one object to the namespace `new`.
    fn moved(object: Value) -> Value {
        let mut objects = objects(json!([object]));
        set_target_namespace(&mut objects, "new").unwrap();
        serde_json::to_value(&objects[0]).unwrap()
    }

    #[test]
    fn only_kinds_that_are_not_listed_get_a_namespace() {
        for kind in CLUSTER_SCOPED {
            let object =
                moved(json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {}}));
            assert_eq!(object["metadata"].get("namespace"), None, "{kind}");
        }
        for kind in ["ConfigMap", "ValidatingAdmissionPolicy", "Anything"] {
            assert_eq!(moved(json!({"kind": kind}))["metadata"]["namespace"], "new");
        }
    }

    #[test]
    fn namespaces_are_renamed() {
        let object =
            moved(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}}));
        assert_eq!(object["metadata"], json!({"name": "new"}));
    }

    #[test]
    fn subjects_that_have_a_namespace_move() {
        for kind in ["ClusterRoleBinding", "RoleBinding"] {
            let object = moved(json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "unknown": 1,
                "subjects": [{"name": "a", "namespace": "other"}, {"name": "b"}, {"name": "c", "namespace": ""}],
            }));
            assert_eq!(
                object["subjects"],
                json!([{"name": "a", "namespace": "new"}, {"name": "b"}, {"name": "c", "namespace": ""}])
            );
            assert_eq!(object["unknown"], 1);
        }
    }

    #[test]
    fn webhooks_and_their_ca_move() {
        let object = moved(json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": {"annotations": {"cert-manager.io/inject-ca-from": "old/cert"}},
            "webhooks": [{"clientConfig": {"service": {"name": "s", "namespace": "elsewhere"}}},
                         {"clientConfig": {"url": "https://x"}}, {"clientConfig": {"service": null}}],
        }));
        assert_eq!(
            object["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
            "new/cert"
        );
        assert_eq!(
            object["webhooks"],
            json!([{"clientConfig": {"service": {"name": "s", "namespace": "new"}}},
                   {"clientConfig": {"url": "https://x"}}, {"clientConfig": {"service": null}}])
        );
    }

    #[test]
    fn conversions_of_crds_move_in_both_versions() {
        let service = json!({"service": {"name": "s", "namespace": "old"}});
        let v1 = moved(
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"conversion": {"webhook": {"clientConfig": service}}}}),
        );
        assert_eq!(
            v1["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["namespace"],
            "new"
        );
        let v1beta1 = moved(
            json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
            "spec": {"conversion": {"webhookClientConfig": service}}}),
        );
        assert_eq!(
            v1beta1["spec"]["conversion"]["webhookClientConfig"]["service"]["namespace"],
            "new"
        );
    }

    #[test]
    fn dns_names_follow_the_original_namespace_once() {
        let object = moved(
            json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
            "metadata": {"namespace": "old"},
            "spec": {"dnsNames": ["s.old.svc", "s.old.svc.old.local", "s.older.svc", "old.svc"]}}),
        );
        assert_eq!(
            object["spec"]["dnsNames"],
            json!(["s.new.svc", "s.new.svc.old.local", "s.older.svc", "old.svc"])
        );
    }

    #[test]
    fn nothing_else_is_rewritten() {
        let service = moved(
            json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"annotations": {"cert-manager.io/inject-ca-from": "old/cert"}}}),
        );
        assert_eq!(
            service["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
            "old/cert"
        );
        let foreign = json!({"apiVersion": "example.com/v7", "kind": "Deployment", "metadata": {"namespace": "new"}});
        assert_eq!(moved(foreign.clone()), foreign);
    }

    #[test]
    fn all_objects_that_cannot_be_moved_are_named() {
        let mut objects = objects(json!([
            {"apiVersion": "apiextensions.k8s.io/v2", "kind": "CustomResourceDefinition", "metadata": {"name": "a"}},
            {"apiVersion": "extensions/v1beta1", "kind": "Deployment", "metadata": {"name": "b", "namespace": "n"}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fine"}},
            {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "c"}, "spec": {"dnsNames": [1]}},
            {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": "d", "annotations": {"cert-manager.io/inject-ca-from": "cert"}}},
        ]));
        let mut template = objects.clone();
        let error = set_target_namespace(&mut template, "new").unwrap_err();
        assert!(matches!(error, Error::TargetNamespace(problems) if problems.len() == 3));
        let error = move_components(&mut objects, "new").unwrap_err();
        let Error::TargetNamespace(problems) = &error else {
            panic!("{error}");
        };
        assert_eq!(problems.len(), 4, "{error}");
        assert!(error.to_string().starts_with(
            "failed to set the target namespace: failed to patch `CustomResourceDefinition a`: \
             its apiVersion is `apiextensions.k8s.io/v2`, supported is `apiextensions.k8s.io/v1`, "
        ));
    }

    #[test]
    fn several_namespaces_or_none_leave_no_default() {
        let namespace = |name: &str| bare_object("v1", "Namespace", name);
        let choose = |objects: &[Object], requested| choose_target_namespace(objects, requested);
        assert!(matches!(choose(&[], None), Err(Error::NoTargetNamespace)));
        assert!(matches!(
            choose(&[namespace("a"), namespace("b")], Some("c")),
            Err(Error::SeveralNamespaces(names)) if names == ["a", "b"]
        ));
        assert_eq!(choose(&[namespace("a")], Some("c")).unwrap(), "c");
    }
}
