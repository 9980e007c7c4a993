//! Makes a cluster a management cluster: cert-manager, providers, inventory.

use std::time::Duration;

use super::{ClusterOptions, ProviderSelection, Session};
use crate::error::Result;

/// What to install, and how careful to be.
#[derive(Debug, Clone)]
pub struct InitOptions {
    /// The management cluster.
    pub cluster: ClusterOptions,
    /// The providers; `-` opts out of a default.
    pub providers: ProviderSelection,
    /// Namespace to install all of them into; default: what each one's components name.
    pub target_namespace: Option<String>,
    /// Wait until the providers' Deployments are available.
    pub wait_providers: bool,
    /// How long to wait for each Deployment.
    pub wait_provider_timeout: Duration,
    /// Refuse what would not work; otherwise only warn of it.
    pub validate: bool,
}

/// Installs the providers. A rerun converges: what is there is left, what is missing is added.
///
/// # Errors
/// The first thing that does not work; what was installed before it stays.
pub async fn init(session: &Session, options: InitOptions) -> Result<()> {
    let _ = (session, options);
    todo!()
}

/// Returns the images that [`init`] would need, sorted, each once.
///
/// # Errors
/// The cluster cannot be reached, or the release lacks a file.
pub async fn list_images(session: &Session, options: InitOptions) -> Result<Vec<String>> {
    let _ = (session, options);
    todo!()
}
