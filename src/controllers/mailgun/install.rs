//! Whether the API server has what the provider works with.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, PartialObjectMeta};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt};

use super::api;
use crate::controllers::manager::client::describe;
use crate::error::{Explain, Result};

/// API group of Cluster API.
const CLUSTER_API: &str = "cluster.x-k8s.io";
/// Cluster API finds a provider's version by a label of the contract that both follow; either will do.
const CONTRACT_LABELS: [&str; 2] = ["cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io/v1beta2"];

/// What is missing in the API server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The CRDs of the provider.
    #[error("the Mailgun provider is not installed: the API server has no {}", .0.join(", "))]
    NotInstalled(Vec<String>),
    /// The label by which Cluster API recognises the provider's kinds.
    #[error(
        "the CRD {0} lacks the label `cluster.x-k8s.io/v1beta1` or `cluster.x-k8s.io/v1beta2`: Cluster API does not \\
         recognise its objects and would never own them"
    )]
    NoContractLabel(String),
    /// Cluster API itself.
    #[error(
        "Cluster API is not installed: no Cluster can own a MailgunCluster, so no mail would be sent"
    )]
    NoClusterApi,
    /// The API server cannot be asked.
    #[error("cannot ask the API server what is installed: {0}")]
    Unknown(String),
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::NotInstalled(_) => "install it with `capictl init --infrastructure mailgun`",
            Self::NoContractLabel(_) => {
                "install the provider anew with `capictl init --infrastructure mailgun`, or add the label `cluster.x-k8s.io/v1beta1=v1beta1`"
            }
            Self::NoClusterApi => {
                "install it with `capictl init`, or send without it by `--allow-orphan`"
            }
            Self::Unknown(_) => return Vec::new(),
        };
        vec![hint.to_owned()]
    }
}

/// Makes sure that the CRDs are installed, and that Cluster API will recognise them by their contract labels.
///
/// # Errors
/// A CRD is missing, or it lacks the label; the error says how to install it.
pub async fn ensure_installed(client: &Client) -> Result<()> {
    let crds: Api<PartialObjectMeta<CustomResourceDefinition>> = Api::all(client.clone());
    let mut missing = Vec::new();
    for name in [
        format!("mailgunclusters.{}", api::GROUP),
        format!("mailgunmachines.{}", api::GROUP),
    ] {
        match crds.get_metadata_opt(&name).await {
            Ok(None) => missing.push(name),
            Ok(Some(crd))
                if !CONTRACT_LABELS
                    .iter()
                    .any(|label| crd.labels().contains_key(*label)) =>
            {
                return Err(Error::NoContractLabel(name).into());
            }
            Ok(Some(_)) => {}
            Err(error) => return Err(Error::Unknown(describe(&error)).into()),
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::NotInstalled(missing).into()),
    }
}

/// Returns the Cluster kind in the version that the API server prefers, `None` where it is not needed.
///
/// # Errors
/// Cluster API is missing though it is needed.
pub(super) async fn cluster_resource(
    client: &Client,
    allow_orphan: bool,
) -> Result<Option<ApiResource>> {
    let groups = client
        .list_api_groups()
        .await
        .map_err(|error| Error::Unknown(describe(&error)))?;
    let group = groups
        .groups
        .into_iter()
        .find(|group| group.name == CLUSTER_API);
    match group.and_then(|group| group.preferred_version) {
        Some(preferred) => {
            let kind = GroupVersionKind::gvk(CLUSTER_API, &preferred.version, "Cluster");
            Ok(Some(ApiResource::from_gvk(&kind)))
        }
        None if allow_orphan => Ok(None),
        None => Err(Error::NoClusterApi.into()),
    }
}
