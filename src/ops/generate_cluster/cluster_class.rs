//! The ClusterClasses that a template's Clusters refer to: taken from the same release unless the cluster has them.

use std::collections::BTreeSet;

use futures::{StreamExt, TryStreamExt, stream};

use super::source::Release;
use super::variables::ensure_version;
use super::{GenerateClusterOptions, connect_if_any, parse_template, render_objects};
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

/// Returns the objects of the classes that the cluster lacks, in the order in which the template names the classes.
pub(super) async fn missing(
    session: &mut Session,
    options: &GenerateClusterOptions,
    release: &Release,
    objects: &[Object],
) -> Result<Vec<Object>> {
    let references = references(objects);
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
        let objects = fetch(session, options, release, &reference).await?;
        if let Some(cluster) = &cluster {
            ensure_absent(cluster, &objects).await?;
        }
        found.extend(objects);
    }
    Ok(found)
}

async fn fetch(
    session: &mut Session,
    options: &GenerateClusterOptions,
    release: &Release,
    reference: &ClassReference,
) -> Result<Vec<Object>> {
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
    Ok(objects)
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
fn references(objects: &[Object]) -> Vec<ClassReference> {
    let mut seen = BTreeSet::new();
    let all = objects
        .iter()
        .filter(|object| object.group() == "cluster.x-k8s.io" && object.kind() == "Cluster");
    all.filter_map(reference)
        .filter(|reference| seen.insert(reference.clone()))
        .collect()
}

fn reference(cluster: &Object) -> Option<ClassReference> {
    let (name, namespace) = match cluster.version() {
        "v1beta2" => (
            "/spec/topology/classRef/name",
            "/spec/topology/classRef/namespace",
        ),
        "v1beta1" => ("/spec/topology/class", "/spec/topology/classNamespace"),
        _ => return None,
    };
    let name = cluster.text(name);
    let namespace = Some(cluster.text(namespace)).filter(|namespace| !namespace.is_empty());
    (!name.is_empty()).then(|| ClassReference {
        namespace: namespace.unwrap_or_else(|| cluster.namespace()).to_owned(),
        name: name.to_owned(),
        api_version: cluster.api_version().to_owned(),
    })
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

    #[test]
    fn a_class_is_named_in_two_ways_and_counted_once() {
        let cluster = |version: &str, topology| {
            serde_json::from_value(json!({
                "apiVersion": format!("cluster.x-k8s.io/{version}"), "kind": "Cluster",
                "metadata": {"name": "c", "namespace": "n"}, "spec": {"topology": topology},
            }))
            .unwrap()
        };
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
            .iter()
            .map(|r| format!("{}/{}", r.namespace, r.name))
            .collect();
        assert_eq!(found, ["n/a", "m/b"]);
    }
}
