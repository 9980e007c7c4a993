//! Names that exist, for the completion of command lines. What cannot be known is left out: nobody reads an error here.
//!
//! Of the network, only the API server is asked.

use super::{ClusterOptions, Session};
use crate::cluster::access::{asks_its_user, list_contexts as contexts_of};
use crate::cluster::{Cluster, Resource};
use crate::model::{Object, ProviderReference, ProviderType};
use crate::repository::ProviderRepository;

/// Returns the names of the known providers of a type.
pub fn list_providers(session: &Session, provider_type: ProviderType) -> Vec<String> {
    let providers = session.config.providers().unwrap_or_default();
    let of_type = providers
        .into_iter()
        .filter(|provider| provider.provider_type == provider_type);
    of_type.map(|provider| provider.name).collect()
}

/// Returns the versions of a provider, newest first, if its repository is embedded or a local folder.
pub async fn list_versions(
    session: &Session,
    provider_type: ProviderType,
    name: &str,
) -> Vec<String> {
    let Some(repository) = open_at_hand(session, provider_type, name) else {
        return Vec::new();
    };
    let versions = repository.versions().await.unwrap_or_default();
    versions.iter().rev().map(ToString::to_string).collect()
}

/// Returns the flavors of an infrastructure provider, `name[:version]`, if its repository is embedded or a local folder.
pub async fn list_flavors(session: &Session, provider: &str) -> Vec<String> {
    let Ok(ProviderReference { name, version }) = provider.parse() else {
        return Vec::new();
    };
    let repository = open_at_hand(session, ProviderType::InfrastructureProvider, &name);
    let Some(repository) = repository else {
        return Vec::new();
    };
    let version = match version {
        Some(version) => version,
        None => repository
            .default_version_silently()
            .await
            .unwrap_or_default(),
    };
    let files = repository.files_at_hand(&version).await;
    let flavor = |file: &String| {
        let name = file.strip_prefix("cluster-template-")?;
        Some(name.strip_suffix(".yaml")?.to_owned())
    };
    files.iter().filter_map(flavor).collect()
}

fn open_at_hand(
    session: &Session,
    provider_type: ProviderType,
    name: &str,
) -> Option<ProviderRepository> {
    let provider = session.config.provider(provider_type, name).ok()?;
    let settings = session.repository_settings().ok()?;
    let opened = ProviderRepository::of(&provider, &settings);
    opened.ok().filter(ProviderRepository::is_at_hand)
}

/// Returns the contexts of the kubeconfig.
pub fn list_contexts(session: &Session, cluster: &ClusterOptions) -> Vec<String> {
    contexts_of(&session.access(cluster)).unwrap_or_default()
}

/// Returns the namespaces of the management cluster.
pub async fn list_namespaces(session: &Session, cluster: &ClusterOptions) -> Vec<String> {
    let Some(cluster) = connect_silently(session, cluster).await else {
        return Vec::new();
    };
    names(
        &cluster,
        &Resource::known("", "v1", "namespaces", false),
        None,
    )
    .await
    .unwrap_or_default()
}

/// Returns the Clusters of a namespace of the management cluster; default: the namespace of the context.
pub async fn list_clusters(
    session: &Session,
    cluster: &ClusterOptions,
    namespace: Option<&str>,
) -> Vec<String> {
    let Some(cluster) = connect_silently(session, cluster).await else {
        return Vec::new();
    };
    let namespace = namespace.unwrap_or(cluster.namespace());
    for version in ["v1beta2", "v1beta1"] {
        let clusters = Resource::known("cluster.x-k8s.io", version, "clusters", true);
        if let Some(names) = names(&cluster, &clusters, Some(namespace)).await {
            return names;
        }
    }
    Vec::new()
}

async fn names(
    cluster: &Cluster,
    resource: &Resource,
    namespace: Option<&str>,
) -> Option<Vec<String>> {
    let objects = cluster.list(resource, namespace).await.ok()??;
    let name = |object: &Object| object.name().to_owned();
    Some(objects.iter().map(name).collect())
}

/// Connects, unless that would make a program ask its user for something in the middle of a line.
async fn connect_silently(session: &Session, cluster: &ClusterOptions) -> Option<Cluster> {
    let access = session.access(cluster);
    if asks_its_user(&access) {
        return None;
    }
    Cluster::connect(&access).await.ok()
}
