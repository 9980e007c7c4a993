//! Renders a cluster template of a provider, a file, a URL or a ConfigMap.

use super::{ClusterOptions, Session};
use crate::error::Result;

/// What to render, and with which values.
#[derive(Debug, Clone, Default)]
pub struct GenerateClusterOptions {
    /// The management cluster.
    pub cluster: ClusterOptions,
    /// Name of the cluster to be.
    pub name: String,
    /// Namespace of the cluster to be; default: the current one.
    pub target_namespace: Option<String>,
    /// Kubernetes version of the cluster to be.
    pub kubernetes_version: Option<String>,
    /// Machines of the control plane.
    pub control_plane_machine_count: Option<i64>,
    /// Worker machines.
    pub worker_machine_count: Option<i64>,
    /// Provider whose template is taken, `name[:version]`.
    pub infrastructure: Option<String>,
    /// Flavor of the provider's template.
    pub flavor: Option<String>,
    /// A URL, a path, or `-` for standard input, in place of a provider's template.
    pub from: Option<String>,
    /// Name of a ConfigMap that holds the template.
    pub from_config_map: Option<String>,
    /// Namespace of that ConfigMap; default: the current one.
    pub from_config_map_namespace: Option<String>,
    /// Key in that ConfigMap; default: `template`.
    pub from_config_map_key: Option<String>,
}

/// A variable of a template and its default, both as `--list-variables` shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVariable {
    /// Name.
    pub name: String,
    /// Default, ready to be printed; `None` when a value is required.
    pub default: Option<String>,
}

/// Returns the rendered objects as YAML, without a final newline.
///
/// # Errors
/// No template is found, variables have no value, or values are not valid.
pub async fn generate_cluster(
    session: &mut Session,
    options: GenerateClusterOptions,
) -> Result<String> {
    let _ = (session, options);
    todo!()
}

/// Returns the variables of the template, sorted by name.
///
/// # Errors
/// As [`generate_cluster`], less the missing values.
pub async fn list_variables(
    session: &mut Session,
    options: GenerateClusterOptions,
) -> Result<Vec<TemplateVariable>> {
    let _ = (session, options);
    todo!()
}
