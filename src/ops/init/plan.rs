//! What `init` installs, and whether it would work together.

use std::fmt::{self, Display};

use futures::future::join_all;

use super::{ProviderSelection, Release, Session};
use crate::cluster::inventory::Installed;
use crate::cluster::wait::DeploymentName;
use crate::components::contract::{self, Candidate};
use crate::components::{self, Components};
use crate::error::{Failure, Result};
use crate::model::provider::CORE_PROVIDER_NAME;
use crate::model::{Contract, Object, ProviderType};
use crate::ops::all_or_failures;
use crate::repository::{ProviderRepository, Settings};

/// Opts out of a default on the command line.
const NONE: &str = "-";

/// The providers that the command line and the defaults name.
#[derive(Debug)]
pub(super) struct Queue {
    /// Type and `name[:version]`, in the order of installation.
    pub(super) entries: Vec<(ProviderType, String)>,
    /// Whether the cluster becomes a management cluster by this run.
    pub(super) first_run: bool,
}

impl Queue {
    /// Adds the defaults of a first run: Cluster API itself, and kubeadm for what is not named.
    pub(super) fn choose(selection: &ProviderSelection, installed: &[Installed]) -> Result<Self> {
        let has_core = installed
            .iter()
            .any(|provider| provider.provider_type == ProviderType::CoreProvider);
        let mut entries: Vec<(ProviderType, String)> = selection
            .named()
            .into_iter()
            .map(|(provider_type, argument)| (provider_type, argument.to_owned()))
            .collect();
        if !has_core {
            let defaults = [
                (ProviderType::CoreProvider, CORE_PROVIDER_NAME),
                (ProviderType::BootstrapProvider, "kubeadm"),
                (ProviderType::ControlPlaneProvider, "kubeadm"),
            ];
            for (provider_type, name) in defaults {
                let is_named = entries.iter().any(|(named, _)| *named == provider_type);
                // A run that was interrupted may have installed it.
                let is_there = installed
                    .iter()
                    .any(|there| (there.provider_type, &*there.name) == (provider_type, name));
                if !is_named && !is_there {
                    entries.push((provider_type, name.to_owned()));
                }
            }
        }
        if entries.iter().any(|(provider_type, argument)| {
            *provider_type == ProviderType::CoreProvider && argument == NONE
        }) {
            return Err(Failure::new(
                "the '-' value can not be used for the core provider",
            ));
        }
        entries.retain(|(_, argument)| argument != NONE);
        entries.sort_by_key(|(provider_type, _)| *provider_type);
        Ok(Self {
            entries,
            first_run: !has_core,
        })
    }
}

/// A provider that is to be installed, ready to be applied.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) release: Release,
    pub(super) components: Components,
}

impl Planned {
    /// Tells whether it is the core provider.
    pub(super) fn is_core(&self) -> bool {
        self.release.provider.provider_type == ProviderType::CoreProvider
    }

    /// Returns the object that records it in the inventory.
    pub(super) fn inventory_object(&self) -> Object {
        let Release {
            provider, version, ..
        } = &self.release;
        components::inventory_object(provider, version, &self.components.target_namespace)
    }

    /// Tells whether this very version is installed in this very namespace.
    pub(super) fn is_among(&self, installed: &[Installed]) -> bool {
        let provider = &self.release.provider;
        installed.iter().any(|there| {
            there.name == provider.name
                && there.provider_type == provider.provider_type
                && there.namespace == self.components.target_namespace
                && there.version == self.release.version
        })
    }

    /// Returns the Deployments that run the provider's manager.
    pub(super) fn deployments(&self) -> Vec<DeploymentName> {
        let has_manager = |object: &&Object| {
            let containers = object
                .pointer("/spec/template/spec/containers")
                .and_then(|list| list.as_array());
            object.kind() == "Deployment"
                && containers
                    .into_iter()
                    .flatten()
                    .any(|c| c["name"] == "manager")
        };
        let objects = self.components.objects.iter().filter(has_manager);
        objects
            .map(|o| DeploymentName {
                namespace: o.namespace().to_owned(),
                name: o.name().to_owned(),
            })
            .collect()
    }

    async fn contract(&self) -> Result<Contract> {
        self.release.contract().await
    }

    fn candidate(&self) -> Candidate<'_> {
        let provider = &self.release.provider;
        Candidate {
            provider_label: provider.label(),
            provider_type: provider.provider_type,
            name: &provider.name,
            namespace: &self.components.target_namespace,
            version: &self.release.version,
            queued: true,
        }
    }
}

/// The way a reader names it: ``InfrastructureProvider `docker` v1.14.0 in `capd-system` ``.
impl Display for Planned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Release {
            provider, version, ..
        } = &self.release;
        let (kind, name) = (provider.provider_type, &provider.name);
        write!(
            formatter,
            "{kind} `{name}` {version} in `{}`",
            self.components.target_namespace
        )
    }
}

fn candidate_of(installed: &Installed) -> Candidate<'_> {
    Candidate {
        provider_label: installed.label(),
        provider_type: installed.provider_type,
        name: &installed.name,
        namespace: &installed.namespace,
        version: &installed.version,
        queued: false,
    }
}

/// Makes sure that inventory and plan together make a management cluster that works.
pub(super) async fn ensure_valid(
    session: &Session,
    settings: &Settings,
    installed: &[Installed],
    planned: &[Planned],
) -> Result<()> {
    let there: Vec<_> = installed.iter().map(candidate_of).collect();
    let queued: Vec<_> = planned.iter().map(Planned::candidate).collect();
    contract::ensure_single_instances(&there, &queued)?;
    if planned.is_empty() {
        return Ok(());
    }
    let core = contract::ensure_one_core(&there, &queued)?;
    let core = core_contract(session, settings, core, planned).await?;
    let checks = planned.iter().map(|planned| ensure_fits(planned, &core));
    all_or_failures(join_all(checks).await)?;
    let names = planned
        .iter()
        .map(|planned| Ok(components::ensure_crd_names(&planned.components.objects)?));
    all_or_failures(names.collect::<Vec<_>>()).map(drop)
}

/// Returns the contract of the core provider, be it planned or installed.
async fn core_contract(
    session: &Session,
    settings: &Settings,
    core: &Candidate<'_>,
    planned: &[Planned],
) -> Result<Contract> {
    if let Some(planned) = planned.iter().find(|planned| planned.is_core()) {
        return planned.contract().await;
    }
    let provider = session.config.provider(core.provider_type, core.name)?;
    let repository = ProviderRepository::of(&provider, settings)?;
    let metadata = repository.fetch_metadata(core.version).await?;
    Ok(contract::ensure_contract_supported(
        &core.provider_label,
        core.version,
        &metadata,
    )?)
}

async fn ensure_fits(planned: &Planned, core: &Contract) -> Result<()> {
    let contract = planned.contract().await?;
    Ok(contract::ensure_contract_fits(
        &planned.release.provider.label(),
        &contract,
        core,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(selection: ProviderSelection, installed: &[Installed]) -> Vec<String> {
        let queue = Queue::choose(&selection, installed).unwrap();
        queue
            .entries
            .iter()
            .map(|(provider_type, argument)| format!("{} {argument}", provider_type.flag()))
            .collect()
    }

    #[test]
    fn a_first_run_brings_the_defaults() {
        let selection = ProviderSelection {
            infrastructure: vec!["docker".into()],
            ..Default::default()
        };
        let expected = [
            "--core cluster-api",
            "--bootstrap kubeadm",
            "--control-plane kubeadm",
            "--infrastructure docker",
        ];
        assert_eq!(choose(selection, &[]), expected);
    }

    #[test]
    fn a_minus_opts_out_of_a_default() {
        let selection = ProviderSelection {
            bootstrap: vec!["-".into()],
            control_plane: vec!["talos".into(), "rke2:v1.0.0".into()],
            ..Default::default()
        };
        let expected = [
            "--core cluster-api",
            "--control-plane talos",
            "--control-plane rke2:v1.0.0",
        ];
        assert_eq!(choose(selection, &[]), expected);
        let core = ProviderSelection {
            core: Some("-".into()),
            ..Default::default()
        };
        assert!(Queue::choose(&core, &[]).is_err());
    }

    #[test]
    fn a_later_run_adds_only_what_is_named() {
        let core = Installed {
            name: "cluster-api".into(),
            provider_type: ProviderType::CoreProvider,
            version: "v1.14.0".into(),
            namespace: "capi-system".into(),
        };
        let selection = ProviderSelection {
            addon: vec!["helm".into()],
            ..Default::default()
        };
        assert_eq!(choose(selection, &[core]), ["--addon helm"]);
    }
}
