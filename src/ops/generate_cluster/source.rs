//! Where the template comes from.

use super::GenerateClusterOptions;
use crate::cluster::Resource;
use crate::cluster::inventory::Installed;
use crate::error::{Context, Failure, Result, suggest};
use crate::model::{Object, Provider, ProviderReference, ProviderType};
use crate::ops::Session;
use crate::ops::rendering::fetch_source;
use crate::repository::{File, ProviderRepository};

/// The three places that a template can come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A file of an infrastructure provider's release.
    Repository,
    /// `--from`.
    Url,
    /// `--from-config-map`.
    ConfigMap,
}

/// A template and, when it is a provider's, the release that further files may be taken from.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: File,
    pub(super) repository: Option<Release>,
}

/// The release of an infrastructure provider.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) repository: ProviderRepository,
    pub(super) version: String,
}

impl Source {
    /// Decides which of the places the options mean.
    pub(super) fn choose(options: &GenerateClusterOptions) -> Result<Self> {
        let given =
            |option: &Option<String>| option.as_deref().is_some_and(|text| !text.is_empty());
        let repository = given(&options.infrastructure) || given(&options.flavor);
        let url = given(&options.from);
        let config_map = given(&options.from_config_map)
            || given(&options.from_config_map_namespace)
            || given(&options.from_config_map_key);
        match (repository, url, config_map) {
            (_, false, false) => Ok(Self::Repository),
            (false, true, false) => Ok(Self::Url),
            (false, false, true) if given(&options.from_config_map) => Ok(Self::ConfigMap),
            (false, false, true) => Err(Failure::new(
                "invalid GetFromConfigMap operation: missing configMapName value",
            )
            .hint("name the ConfigMap with `--from-config-map`")),
            _ => Err(Failure::new(
                "invalid cluster template source: only one template can be used at time",
            )
            .hint(
                "use either `--infrastructure` and `--flavor`, or `--from`, or `--from-config-map`",
            )),
        }
    }

    pub(super) async fn fetch(
        self,
        session: &Session,
        options: &GenerateClusterOptions,
    ) -> Result<Found> {
        match self {
            Self::Repository => from_repository(session, options).await,
            Self::Url => {
                let from = options.from.as_deref().unwrap_or_default();
                let file = fetch_source(session, from).await?;
                Ok(Found {
                    file,
                    repository: None,
                })
            }
            Self::ConfigMap => Ok(Found {
                file: from_config_map(session, options).await?,
                repository: None,
            }),
        }
    }
}

async fn from_repository(session: &Session, options: &GenerateClusterOptions) -> Result<Found> {
    if options.cluster.kubeconfig.is_some() {
        session
            .connect(&options.cluster)
            .await?
            .ensure_contract()
            .await?;
    }
    let (name, version) = choose_provider(session, options).await?;
    let provider = find(session, &name)?;
    session.warn_if_deprecated(&provider);
    let repository = open(session, &provider)?;
    let file_name = match options.flavor.as_deref() {
        None | Some("") => "cluster-template.yaml".to_owned(),
        Some(flavor) => format!("cluster-template-{flavor}.yaml"),
    };
    let file = repository
        .fetch(&version, &file_name)
        .await
        .with_context(|| {
            let label = repository.label();
            format!("failed to read \"{file_name}\" from provider's repository \"{label}\"")
        })?;
    Ok(Found {
        file,
        repository: Some(Release {
            repository,
            version,
        }),
    })
}

fn open(session: &Session, provider: &Provider) -> Result<ProviderRepository> {
    let settings = session.repository_settings()?;
    Ok(ProviderRepository::of(provider, &settings)?)
}

fn find(session: &Session, name: &str) -> Result<Provider> {
    let provider_type = ProviderType::InfrastructureProvider;
    Ok(session.config.provider(provider_type, name)?)
}

/// Returns name and version of the infrastructure provider: as given, the rest from the inventory.
async fn choose_provider(
    session: &Session,
    options: &GenerateClusterOptions,
) -> Result<(String, String)> {
    let reference: Option<ProviderReference> = options
        .infrastructure
        .as_deref()
        .filter(|text| !text.is_empty())
        .map(str::parse)
        .transpose()?;
    match reference {
        Some(ProviderReference {
            name,
            version: Some(version),
        }) => {
            let repository = open(session, &find(session, &name)?)?;
            let version = repository.resolve_version(Some(&version)).await?;
            Ok((name, version))
        }
        Some(ProviderReference {
            name,
            version: None,
        }) => {
            // A name that nobody knows is better told before the cluster is asked.
            let repository = open(session, &find(session, &name)?)?;
            if repository.is_embedded() {
                // There is no choice, hence nothing to ask a cluster for.
                return Ok((name, repository.default_version().await?));
            }
            let installed = installed_infrastructure(session, options).await?;
            let version = the_only(
                installed
                    .iter()
                    .filter(|provider| provider.name == name)
                    .map(|p| p.version.clone()),
            );
            let version = version.ok_or_else(|| {
                let message = format!(
                    "Unable to identify version for the provider \"{name}\" automatically. Please specify a version"
                );
                Failure::new(message).hint(format!("name it as `--infrastructure {name}:VERSION`, or install the provider with `capictl init`"))
            })?;
            Ok((name, version))
        }
        None => {
            let installed = installed_infrastructure(session, options).await?;
            let only = the_only(
                installed
                    .iter()
                    .map(|provider| (provider.name.clone(), provider.version.clone())),
            );
            only.ok_or_else(|| {
                let names: Vec<&str> = installed.iter().map(|provider| provider.name.as_str()).collect();
                let found = if names.is_empty() { "none is installed".to_owned() } else { format!("installed are {}", names.join(", ")) };
                Failure::new("failed to identify the default infrastructure provider. Please specify an infrastructure provider")
                    .hint(format!("name one with `--infrastructure`; {found}"))
            })
        }
    }
}

async fn installed_infrastructure(
    session: &Session,
    options: &GenerateClusterOptions,
) -> Result<Vec<Installed>> {
    let installed = session
        .connect(&options.cluster)
        .await?
        .list_inventory()
        .await?;
    let installed = installed.unwrap_or_default();
    let is_infrastructure =
        |provider: &Installed| provider.provider_type == ProviderType::InfrastructureProvider;
    Ok(installed.into_iter().filter(is_infrastructure).collect())
}

/// Returns the one value that there is, when all are equal.
fn the_only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

async fn from_config_map(session: &Session, options: &GenerateClusterOptions) -> Result<File> {
    let cluster = session.connect(&options.cluster).await?;
    let or = |option: &Option<String>, default: &str| match option.as_deref() {
        None | Some("") => default.to_owned(),
        Some(text) => text.to_owned(),
    };
    let name = or(&options.from_config_map, "");
    let namespace = or(&options.from_config_map_namespace, cluster.namespace());
    let key = or(&options.from_config_map_key, "template");
    let config_maps = Resource::known("", "v1", "configmaps", true);
    let Some(config_map) = cluster.get(&config_maps, Some(&namespace), &name).await? else {
        let others = cluster.list(&config_maps, Some(&namespace)).await;
        return Err(missing_config_map(&namespace, &name, &key, others.ok()));
    };
    match config_map
        .pointer("/data")
        .and_then(|data| data.get(&key))
        .and_then(|text| text.as_str())
    {
        Some(text) => Ok(File {
            text: text.to_owned(),
            origin: format!("ConfigMap {namespace}/{name}, key {key}"),
            overridden: false,
        }),
        None => {
            let keys = config_map
                .pointer("/data")
                .and_then(|data| data.as_object());
            let keys: Vec<&str> = keys
                .into_iter()
                .flatten()
                .map(|(key, _)| key.as_str())
                .collect();
            let hint = match keys[..] {
                [] => "it has no data at all".to_owned(),
                _ => format!(
                    "name a key with `--from-config-map-key`; there are: {}",
                    keys.join(", ")
                ),
            };
            let message =
                format!("the ConfigMap {namespace}/{name} does not have the \"{key}\" data key");
            Err(Failure::new(message).hint(hint))
        }
    }
}

/// `others` are the ConfigMaps of the namespace, where the user may list them.
fn missing_config_map(
    namespace: &str,
    name: &str,
    key: &str,
    others: Option<Option<Vec<Object>>>,
) -> Failure {
    let failure = Failure::new(format!("there is no ConfigMap {namespace}/{name}"));
    let Some(others) = others.flatten() else {
        return failure;
    };
    let has_key = |other: &&Object| {
        let data = other.pointer("/data");
        data.is_some_and(|data| data.get(key).is_some())
    };
    let names: Vec<&str> = others.iter().filter(has_key).map(Object::name).collect();
    let failure = match suggest(name, names.iter().copied()) {
        Some(similar) => failure.hint(format!("did you mean `{similar}`?")),
        None => failure,
    };
    failure.hint(match names[..] {
        [] => format!(
            "no ConfigMap in the namespace `{namespace}` has the key `{key}`; another namespace is named with \
             `--from-config-map-namespace`, another key with `--from-config-map-key`"
        ),
        _ => format!(
            "in the namespace `{namespace}`, these have the key `{key}`: {}",
            names.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_source_can_be_used() {
        let some = |text: &str| Some(text.to_owned());
        let choose = |options: GenerateClusterOptions| Source::choose(&options);
        assert_eq!(
            choose(GenerateClusterOptions::default()).unwrap(),
            Source::Repository
        );
        let url = GenerateClusterOptions {
            from: some("-"),
            ..Default::default()
        };
        assert_eq!(choose(url.clone()).unwrap(), Source::Url);
        assert!(
            choose(GenerateClusterOptions {
                flavor: some("f"),
                ..url.clone()
            })
            .is_err()
        );
        assert!(
            choose(GenerateClusterOptions {
                from_config_map: some("m"),
                ..url
            })
            .is_err()
        );
        let key_alone = GenerateClusterOptions {
            from_config_map_key: some("k"),
            ..Default::default()
        };
        assert!(
            choose(key_alone)
                .unwrap_err()
                .to_string()
                .contains("missing configMapName")
        );
    }
}
