//! The kinds of the provider.
//!
//! One schema serves the contracts v1beta1 and v1beta2 of Cluster API: `status.ready` is what the first reads,
//! `status.initialization.provisioned` what the second does. The version `v1alpha1` is that of the implementers'
//! guide; it has the same schema.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::Outbox;

/// API group of all infrastructure providers.
pub const GROUP: &str = "infrastructure.cluster.x-k8s.io";
/// Version of the kinds that is stored.
pub const VERSION: &str = "v1beta1";
/// Version of the implementers' guide, served with the same schema.
const TUTORIAL_VERSION: &str = "v1alpha1";

#[allow(
    clippy::duplicated_attributes,
    reason = "columns and labels of equal values"
)]
/// What a MailgunCluster asks for: a mail that asks a person for a cluster.
#[derive(CustomResource, Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "MailgunCluster",
    namespaced,
    status = "MailgunClusterStatus",
    derive = "PartialEq",
    derive = "Default",
    shortname = "mgc",
    category = "cluster-api",
    label("cluster.x-k8s.io/v1beta1", "v1beta1"),
    label("cluster.x-k8s.io/v1beta2", "v1beta1"),
    doc = "MailgunCluster makes one e-mail go out that asks a person for a cluster.",
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name"
    ),
    printcolumn(
        name = "Sent",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='MessageSent')].status"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='MessageSent')].reason"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.response",
        priority = 1
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct MailgunClusterSpec {
    /// How much of a hurry the requester is in: Urgent, ExtremelyUrgent, BusinessCritical, or any other text.
    pub priority: String,
    /// The request, in the requester's own words.
    pub request: String,
    /// The address that the mail comes from, or a domain, for which `mailgun@` is put in front.
    pub requester: String,
    /// Where the control plane answers. Mailgun supplies none; a person may set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
}

/// Where an API server answers; an empty host and port 0 mean that it is not known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ApiEndpoint {
    /// Host name or address.
    #[serde(default)]
    pub host: String,
    /// Port.
    #[serde(default)]
    #[schemars(range(min = 0, max = 65535))]
    pub port: i32,
}

/// What became of the mail.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailgunClusterStatus {
    /// The message id that Mailgun gave, in angle brackets; set once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Whether the mail is known to be sent; what the contract v1beta1 reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ready: bool,
    /// What the contract v1beta2 reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// The second copy of the outbox record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbox: Option<Outbox>,
    /// Ready sums up; MessageSent, Paused and Deleting say the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Observations of the object's first initialization.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Initialization {
    /// True once the mail is known to be sent; it never becomes false again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioned: Option<bool>,
}

/// A condition that both contracts can read: those of Kubernetes, and the severity of Cluster API's older ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub type_: String,
    /// True, False or Unknown.
    pub status: String,
    /// Error, Warning or Info; only while the status is False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Why, in one word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
    /// Since when the status is what it is.
    pub last_transition_time: Time,
    /// The generation of the spec that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// The template that a ClusterClass makes MailgunClusters from.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "MailgunClusterTemplate",
    namespaced,
    derive = "PartialEq",
    category = "cluster-api",
    label("cluster.x-k8s.io/v1beta1", "v1beta1"),
    label("cluster.x-k8s.io/v1beta2", "v1beta1"),
    doc = "MailgunClusterTemplate is what a ClusterClass makes MailgunClusters from."
)]
pub struct MailgunClusterTemplateSpec {
    /// The MailgunCluster to be.
    pub template: MailgunClusterTemplateResource,
}

/// A MailgunCluster to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MailgunClusterTemplateResource {
    /// Labels and annotations of the MailgunCluster to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Its spec.
    pub spec: MailgunClusterSpec,
}

/// Labels and annotations that a template hands on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateMetadata {
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A machine of this provider. Nobody makes one: a person who reads the mail may.
#[derive(CustomResource, Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "MailgunMachine",
    namespaced,
    status = "MailgunMachineStatus",
    derive = "PartialEq",
    derive = "Default",
    shortname = "mgm",
    category = "cluster-api",
    label("cluster.x-k8s.io/v1beta1", "v1beta1"),
    label("cluster.x-k8s.io/v1beta2", "v1beta1"),
    doc = "MailgunMachine is a machine that a person would have to make."
)]
#[serde(rename_all = "camelCase")]
pub struct MailgunMachineSpec {
    /// Identifies the machine at its provider; must equal the Node's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub provider_id: Option<String>,
}

/// What became of a machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailgunMachineStatus {
    /// Whether the machine exists; what the contract v1beta1 reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ready: bool,
    /// What the contract v1beta2 reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// Ready says that no machine is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// The template that MachineDeployments make MailgunMachines from.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "MailgunMachineTemplate",
    namespaced,
    derive = "PartialEq",
    category = "cluster-api",
    label("cluster.x-k8s.io/v1beta1", "v1beta1"),
    label("cluster.x-k8s.io/v1beta2", "v1beta1"),
    doc = "MailgunMachineTemplate is what MailgunMachines are made from."
)]
pub struct MailgunMachineTemplateSpec {
    /// The MailgunMachine to be.
    pub template: MailgunMachineTemplateResource,
}

/// A MailgunMachine to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MailgunMachineTemplateResource {
    /// Labels and annotations of the MailgunMachine to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Its spec.
    pub spec: MailgunMachineSpec,
}

/// Returns the CRDs of the provider, each with the version of the implementers' guide beside the stored one.
pub fn crds() -> [CustomResourceDefinition; 4] {
    [
        MailgunCluster::crd(),
        MailgunClusterTemplate::crd(),
        MailgunMachine::crd(),
        MailgunMachineTemplate::crd(),
    ]
    .map(with_tutorial_version)
}

fn with_tutorial_version(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    let mut version = crd.spec.versions[0].clone();
    version.name = TUTORIAL_VERSION.to_owned();
    version.storage = false;
    crd.spec.versions.insert(0, version);
    crd
}
