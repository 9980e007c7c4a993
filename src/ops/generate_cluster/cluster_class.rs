//! The ClusterClasses that a template's Clusters refer to: taken from the same release unless the cluster has them.

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

use super::source::Release;
use super::variables::ensure_version;
use super::{GenerateClusterOptions, Part, connect_if_any, parse_template, render_objects};
use crate::cluster::{Cluster, Error};
use crate::components::set_target_namespace;
use crate::error::{Context, Failure, Result};
use crate::model::Object;
use crate::ops::Session;
use crate::ops::values;

/// A reference from a Cluster to its class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ClassReference {
    namespace: String,
    name: String,
    api_version: String,
}

/// Returns the files of the classes that the cluster lacks and their objects, in the order in which the template names
/// the classes.
pub(super) async fn missing(
    session: &mut Session,
    options: &GenerateClusterOptions,
    release: &Release,
    objects: &[Object],
) -> Result<Vec<Part>> {
    let references = references(objects)?;
    if references.is_empty() {
        return Ok(Vec::new());
    }
    let cluster = connect_if_any(session, &options.cluster).await?;
    let mut found = Vec::new();
    for reference in references {
        if let Some(cluster) = &cluster
            && exists(cluster, &reference.object()).await?
        {
            continue;
        }
        let part = fetch(session, options, release, &reference).await?;
        if let Some(cluster) = &cluster {
            ensure_absent(cluster, &part.objects).await?;
        }
        found.push(part);
    }
    Ok(found)
}

async fn fetch(
    session: &mut Session,
    options: &GenerateClusterOptions,
    release: &Release,
    reference: &ClassReference,
) -> Result<Part> {
    let file_name = format!("clusterclass-{}.yaml", reference.name);
    let Release {
        repository,
        version,
    } = release;
    let file = repository
        .fetch(version, &file_name)
        .await
        .with_context(|| {
            format!(
                "failed to read \"{file_name}\" from provider's repository \"{}\"",
                repository.label()
            )
        })?;
    let template = parse_template(&file)?;
    values::settle(session, &options.values, &template, &file.origin).await?;
    ensure_version(session, &template)?;
    let mut objects = render_objects(session, &file, &template, options.strict)?;
    set_target_namespace(&mut objects, &reference.namespace)?;
    Ok(Part { file, objects })
}

/// Applying the rendered file would overwrite what somebody else put there.
async fn ensure_absent(cluster: &Cluster, objects: &[Object]) -> Result<()> {
    let existing: Vec<String> = stream::iter(objects)
        .map(|object| async move {
            exists(cluster, object)
                .await
                .map(|exists| exists.then(|| object.to_string()))
        })
        .buffered(8)
        .try_filter_map(|name| async { Ok(name) })
        .try_collect()
        .await?;
    match existing.as_slice() {
        [] => Ok(()),
        existing => Err(Failure::new(format!("{} already exists in the cluster", existing.join(", ")))
            .hint("the ClusterClass is missing there, but objects of its file are not: delete them or render into another namespace")),
    }
}

async fn exists(cluster: &Cluster, object: &Object) -> Result<bool> {
    match cluster.resource_of(object).await {
        Ok(resource) => Ok(cluster
            .get(&resource, Some(object.namespace()), object.name())
            .await?
            .is_some()),
        Err(Error::UnknownKind { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the classes of all Clusters with a topology, each once.
fn references(objects: &[Object]) -> Result<Vec<ClassReference>> {
    let mut found = Vec::new();
    let all = objects
        .iter()
        .filter(|object| object.group() == "cluster.x-k8s.io" && object.kind() == "Cluster");
    for cluster in all {
        if let Some(reference) = reference(cluster)?
            && !found.contains(&reference)
        {
            found.push(reference);
        }
    }
    Ok(found)
}

/// Returns the class that a Cluster refers to; `None` when its topology is not used.
fn reference(cluster: &Object) -> Result<Option<ClassReference>> {
    let (name, namespace) = match cluster.version() {
        "v1beta2" => (
            "/spec/topology/classRef/name",
            "/spec/topology/classRef/namespace",
        ),
        "v1beta1" => ("/spec/topology/class", "/spec/topology/classNamespace"),
        _ => return Ok(None),
    };
    let class = match cluster.pointer(name) {
        None | Some(Value::Null) => "",
        Some(Value::String(class)) => class,
        Some(_) => return Err(not_a_text(cluster, name)),
    };
    if class.is_empty() {
        return match uses_topology(cluster) {
            true => Err(without_class(cluster, name)),
            false => Ok(None),
        };
    }
    let namespace = Some(cluster.text(namespace)).filter(|namespace| !namespace.is_empty());
    Ok(Some(ClassReference {
        namespace: namespace.unwrap_or_else(|| cluster.namespace()).to_owned(),
        name: class.to_owned(),
        api_version: cluster.api_version().to_owned(),
    }))
}

/// Whether a Cluster has a topology. In v1beta2, one whose fields all have their zero value is none.
fn uses_topology(cluster: &Object) -> bool {
    let Some(Value::Object(topology)) = cluster.pointer("/spec/topology") else {
        return false;
    };
    let fields = ["version", "controlPlane", "workers", "variables"];
    cluster.version() == "v1beta1"
        || fields
            .iter()
            .any(|field| topology.get(*field).is_some_and(is_set))
}

fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(map) => map.values().any(is_set),
        _ => true,
    }
}

fn without_class(cluster: &Object, pointer: &str) -> Failure {
    let field = field(pointer);
    let failure = Failure::new(format!(
        "failed to get the cluster class template: the topology of {cluster} names no class, `{field}` is empty"
    ));
    let of_v1beta1 = !cluster.text("/spec/topology/class").is_empty();
    match cluster.version() == "v1beta2" && of_v1beta1 {
        true => failure.hint(format!(
            "`spec.topology.class` is a field of v1beta1; the template says {}, where it is `{field}`",
            cluster.api_version()
        )),
        false => failure.hint(format!("name the ClusterClass in `{field}`")),
    }
}

fn not_a_text(cluster: &Object, pointer: &str) -> Failure {
    let field = field(pointer);
    Failure::new(format!(
        "failed to get the cluster class template: `{field}` of {cluster} is not a text"
    ))
    .hint("put the name into quotes, lest YAML reads it as a number or a boolean")
}

/// Returns a JSON pointer the way in which people write the path of a field.
fn field(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

impl ClassReference {
    fn object(&self) -> Object {
        let value = serde_json::json!({
            "apiVersion": self.api_version, "kind": "ClusterClass",
            "metadata": {"name": self.name, "namespace": self.namespace},
        });
        serde_json::from_value(value).expect("an object is a map")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cluster(version: &str, topology: Value) -> Object {
        serde_json::from_value(json!({
            "apiVersion": format!("cluster.x-k8s.io/{version}"), "kind": "Cluster",
            "metadata": {"name": "c", "namespace": "n"}, "spec": {"topology": topology},
        }))
        .unwrap()
    }

    #[test]
    fn a_class_is_named_in_two_ways_and_counted_once() {
        let objects = [
            cluster("v1beta2", json!({"classRef": {"name": "a"}})),
            cluster(
                "v1beta2",
                json!({"classRef": {"name": "a", "namespace": "n"}}),
            ),
            cluster("v1beta1", json!({"class": "b", "classNamespace": "m"})),
            cluster("v1alpha4", json!({"class": "c"})),
        ];
        let found: Vec<String> = references(&objects)
            .unwrap()
            .iter()
            .map(|r| format!("{}/{}", r.namespace, r.name))
            .collect();
        assert_eq!(found, ["n/a", "m/b"]);
    }

    #[test]
    fn a_topology_without_a_class_is_refused() {
        let refused = [
            ("v1beta1", json!({})),
            ("v1beta1", json!({"class": 5})),
            ("v1beta1", json!({"classRef": {"name": "a"}})),
            ("v1beta2", json!({"class": "a", "version": "v1.36.0"})),
            ("v1beta2", json!({"classRef": {"name": true}})),
            ("v1beta2", json!({"variables": []})),
            ("v1beta2", json!({"controlPlane": {"replicas": 0}})),
        ];
        for (version, topology) in refused {
            let found = reference(&cluster(version, topology.clone()));
            assert!(found.is_err(), "{version} {topology}");
        }
        let unused = [
            ("v1beta1", json!(null)),
            ("v1beta2", json!({})),
            ("v1beta2", json!({"class": "a"})),
            (
                "v1beta2",
                json!({"version": "", "controlPlane": {"metadata": {}}}),
            ),
        ];
        for (version, topology) in unused {
            let found = reference(&cluster(version, topology.clone())).unwrap();
            assert_eq!(found, None, "{version} {topology}");
        }
    }
}
