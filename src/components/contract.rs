//! Which providers can live together in one management cluster.
//!
//! Plain values in, a verdict out; `ops` fetches the metadata and lists the inventory.

use crate::error::Explain;
use crate::model::version::InvalidVersion;
use crate::model::{Contract, Metadata, ProviderType, ReleaseSeries, Version};

/// A provider that is installed, or queued to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Label, e.g. `infrastructure-aws`.
    pub provider_label: String,
    /// Type.
    pub provider_type: ProviderType,
    /// Name within the type.
    pub name: &'a str,
    /// Target namespace.
    pub namespace: &'a str,
    /// Version as the inventory or the repository spells it.
    pub version: &'a str,
    /// Whether it is queued; else it is installed.
    pub queued: bool,
}

/// A queued provider that is there already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "installing provider `{label}` can lead to a non functioning management cluster: there is already an instance of \
     the `{label}` provider {} in the `{}` namespace",
    if *.queued { "to be installed" } else { "installed" },
    .namespaces.join("`, `")
)]
pub struct SecondInstance {
    /// Label of the provider.
    pub label: String,
    /// Where the first instances are, as they are listed.
    pub namespaces: Vec<String>,
    /// Whether the first instance is only queued.
    pub queued: bool,
}

/// Why providers do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A provider may be installed once only; all that are not.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    SecondInstances(Vec<SecondInstance>),
    /// Everything follows the one core provider.
    #[error(
        "invalid management cluster: there must be one core provider, found {}{}",
        .0.len(),
        if .0.is_empty() { String::new() } else { format!(" (`{}`)", .0.join("`, `")) }
    )]
    CoreProviders(Vec<String>),
    /// The version is none.
    #[error("failed to parse the version of the provider `{label}`")]
    Version {
        /// Label of the provider.
        label: String,
        /// What is wrong with it.
        source: InvalidVersion,
    },
    /// The metadata do not cover the version.
    #[error(
        "invalid provider metadata: version {version} for the provider `{label}` does not match any release series{}",
        if .available.is_empty() { String::new() } else { format!(", available series: [{}]", .available) }
    )]
    NoSeries {
        /// Label of the provider.
        label: String,
        /// The version.
        version: String,
        /// The series that there are.
        available: String,
    },
    /// This tool works with other contracts.
    #[error(
        "current version of capictl is only compatible with providers implementing the {} contract versions, detected \
         contract version {contract} for provider `{label}` {version}",
        list(&Contract::current().compatible())
    )]
    Unsupported {
        /// Label of the provider.
        label: String,
        /// Its version.
        version: String,
        /// The contract of its series.
        contract: Contract,
        /// The newest series of the same metadata that would do.
        supported: Option<ReleaseSeries>,
    },
    /// The core provider works with other contracts.
    #[error(
        "installing provider `{label}` could lead to a non functioning management cluster: the target version for the \
         provider implements the {contract} contract version, while the core provider is compatible with {} contract \
         versions",
        list(&.core.compatible())
    )]
    DoesNotFit {
        /// Label of the provider.
        label: String,
        /// The contract of the provider's version.
        contract: Contract,
        /// The contract of the core provider's version.
        core: Contract,
    },
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::SecondInstances(instances) => instances.iter().map(second_instance_hint).collect(),
            Self::CoreProviders(found) if found.is_empty() => {
                vec!["install one with `--core cluster-api`".into()]
            }
            Self::CoreProviders(_) => {
                vec!["leave `--core` out, or use a management cluster of its own".into()]
            }
            Self::Version { source, .. } => source.hints(),
            Self::NoSeries { .. } => vec![
                "the release's `metadata.yaml` is older than the release, or the provider's repository is not the right \
                 one: use another version, or put a corrected `metadata.yaml` into the overrides folder"
                    .into(),
            ],
            Self::Unsupported { supported, .. } => vec![unsupported_hint(supported.as_ref())],
            Self::DoesNotFit { .. } => vec![
                "choose a version of the provider that implements one of these contracts, or upgrade the core provider \
                 first, with `clusterctl upgrade`"
                    .into(),
            ],
        }
    }
}

fn second_instance_hint(instance: &SecondInstance) -> String {
    let label = &instance.label;
    if instance.queued {
        format!("name `{label}` only once")
    } else {
        format!("leave `{label}` out; to change its version, use `clusterctl upgrade apply`")
    }
}

fn unsupported_hint(supported: Option<&ReleaseSeries>) -> String {
    match supported {
        Some(series) => format!(
            "a version v{}.{}.x of the provider implements {}",
            series.major, series.minor, series.contract
        ),
        None => "use another version of the provider, one that implements such a contract".into(),
    }
}

/// Checks that no queued provider is installed already, in whatever namespace and version, or queued twice.
///
/// # Errors
/// Some are; all of them.
pub fn ensure_single_instances(installed: &[Candidate], queued: &[Candidate]) -> Result<(), Error> {
    let mut second = Vec::new();
    for (index, candidate) in queued.iter().enumerate() {
        let known = installed.iter().chain(&queued[..index]);
        let first: Vec<&Candidate> = known.filter(|one| is_same(one, candidate)).collect();
        if !first.is_empty() {
            second.push(SecondInstance {
                label: candidate.provider_label.clone(),
                namespaces: first.iter().map(|one| one.namespace.to_owned()).collect(),
                queued: first.iter().all(|one| one.queued),
            });
        }
    }
    if second.is_empty() {
        Ok(())
    } else {
        Err(Error::SecondInstances(second))
    }
}

fn is_same(one: &Candidate, other: &Candidate) -> bool {
    (one.provider_type, one.name) == (other.provider_type, other.name)
}

/// Returns the one core provider among those installed and queued.
///
/// # Errors
/// There is none, or there are several.
pub fn ensure_one_core<'c, 'a>(
    installed: &'c [Candidate<'a>],
    queued: &'c [Candidate<'a>],
) -> Result<&'c Candidate<'a>, Error> {
    let core: Vec<&Candidate> = installed
        .iter()
        .chain(queued)
        .filter(|one| one.provider_type == ProviderType::CoreProvider)
        .collect();
    match core[..] {
        [core] => Ok(core),
        _ => Err(Error::CoreProviders(
            core.iter().map(|one| describe(one)).collect(),
        )),
    }
}

fn describe(candidate: &Candidate) -> String {
    let Candidate {
        provider_label,
        namespace,
        version,
        ..
    } = candidate;
    format!("{namespace}/{provider_label} {version}")
}

/// Returns the contract of a provider's version.
///
/// # Errors
/// The version is none or in no series of the metadata, or this tool does not work with the contract.
pub fn ensure_contract_supported(
    label: &str,
    version: &str,
    metadata: &Metadata,
) -> Result<Contract, Error> {
    let parsed: Version = version.parse().map_err(|source| Error::Version {
        label: label.to_owned(),
        source,
    })?;
    let series = metadata.series_of(&parsed).ok_or_else(|| Error::NoSeries {
        label: label.to_owned(),
        version: version.to_owned(),
        available: metadata.list_series(),
    })?;
    let compatible = Contract::current().compatible();
    if compatible.contains(&series.contract) {
        return Ok(series.contract.clone());
    }
    Err(Error::Unsupported {
        label: label.to_owned(),
        version: version.to_owned(),
        contract: series.contract.clone(),
        supported: compatible
            .iter()
            .find_map(|contract| metadata.newest_series_for(contract))
            .cloned(),
    })
}

/// Checks that a provider's contract is one that the core provider works with.
///
/// # Errors
/// It is not.
pub fn ensure_contract_fits(
    label: &str,
    contract: &Contract,
    core_contract: &Contract,
) -> Result<(), Error> {
    if core_contract.compatible().contains(contract) {
        return Ok(());
    }
    Err(Error::DoesNotFit {
        label: label.to_owned(),
        contract: contract.clone(),
        core: core_contract.clone(),
    })
}

fn list(contracts: &[Contract]) -> String {
    let names: Vec<&str> = contracts
        .iter()
        .map(|contract| contract.0.as_str())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use ProviderType::{CoreProvider, InfrastructureProvider};

    fn candidate<'a>(
        provider_type: ProviderType,
        name: &'a str,
        namespace: &'a str,
        queued: bool,
    ) -> Candidate<'a> {
        Candidate {
            provider_label: provider_type.label(name),
            provider_type,
            name,
            namespace,
            version: "v1.0.0",
            queued,
        }
    }

    fn contract(name: &str) -> Contract {
        Contract(name.to_owned())
    }

    fn metadata() -> Metadata {
        serde_json::from_value(json!({"releaseSeries": [
            {"major": 0, "minor": 4, "contract": "v1alpha4"},
            {"major": 1, "minor": 0, "contract": "v1beta1"},
            {"major": 1, "minor": 1, "contract": "v1beta2"},
        ]}))
        .unwrap()
    }

    #[test]
    fn a_provider_is_installed_once() {
        let installed = [candidate(InfrastructureProvider, "aws", "capa", false)];
        let queued = [
            candidate(InfrastructureProvider, "aws", "other", true),
            candidate(InfrastructureProvider, "gcp", "capg", true),
            candidate(InfrastructureProvider, "gcp", "capg2", true),
        ];
        let error = ensure_single_instances(&installed, &queued).unwrap_err();
        assert_eq!(
            error.to_string(),
            "installing provider `infrastructure-aws` can lead to a non functioning management cluster: there is already \
             an instance of the `infrastructure-aws` provider installed in the `capa` namespace; \
             installing provider `infrastructure-gcp` can lead to a non functioning management cluster: there is already \
             an instance of the `infrastructure-gcp` provider to be installed in the `capg` namespace"
        );
        assert_eq!(error.hints().len(), 2);
        assert_eq!(ensure_single_instances(&installed, &queued[1..2]), Ok(()));
    }

    #[test]
    fn there_is_one_core_provider() {
        let core = candidate(CoreProvider, "cluster-api", "capi-system", false);
        let other = candidate(CoreProvider, "own", "own-system", true);
        let aws = candidate(InfrastructureProvider, "aws", "capa", true);
        let installed = [core.clone()];
        assert_eq!(
            ensure_one_core(&installed, std::slice::from_ref(&aws)).unwrap(),
            &core
        );
        assert_eq!(
            ensure_one_core(&[], &[aws]).unwrap_err().to_string(),
            "invalid management cluster: there must be one core provider, found 0"
        );
        assert_eq!(
            ensure_one_core(&installed, &[other])
                .unwrap_err()
                .to_string(),
            "invalid management cluster: there must be one core provider, found 2 \
             (`capi-system/cluster-api v1.0.0`, `own-system/own v1.0.0`)"
        );
    }

    #[test]
    fn the_contract_of_a_version_is_that_of_its_series() {
        let supported = |version| ensure_contract_supported("x", version, &metadata());
        assert_eq!(supported("v1.0.7"), Ok(contract("v1beta1")));
        assert_eq!(supported("1.1.0-rc.1"), Ok(contract("v1beta2")));
        assert!(matches!(supported("v1.0"), Err(Error::Version { .. })));
        assert_eq!(
            supported("v2.0.0").unwrap_err().to_string(),
            "invalid provider metadata: version v2.0.0 for the provider `x` does not match any release series, \
             available series: [0.4, 1.0, 1.1]"
        );
    }

    #[test]
    fn an_old_contract_is_refused_with_a_series_that_would_do() {
        let error = ensure_contract_supported("x", "v0.4.1", &metadata()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "current version of capictl is only compatible with providers implementing the v1beta2, v1beta1 contract \
             versions, detected contract version v1alpha4 for provider `x` v0.4.1"
        );
        assert_eq!(
            error.hints(),
            ["a version v1.1.x of the provider implements v1beta2"]
        );
    }

    #[test]
    fn a_contract_has_to_fit_the_core_provider() {
        let fits = |provider, core| {
            ensure_contract_fits("x", &contract(provider), &contract(core)).is_ok()
        };
        assert!(fits("v1beta1", "v1beta2") && fits("v1beta2", "v1beta2"));
        assert!(fits("v1beta1", "v1beta1") && !fits("v1beta2", "v1beta1"));
        assert!(!fits("v1alpha4", "v1beta2"));
    }
}
