//! Renders the components of a provider, as `init` would apply them.

use super::{ProviderSelection, Session};
use crate::error::Result;

/// Which provider, and how far to go.
#[derive(Debug, Clone, Default)]
pub struct GenerateProviderOptions {
    /// Exactly one provider.
    pub provider: ProviderSelection,
    /// Namespace to install into; default: the one that the components name.
    pub target_namespace: Option<String>,
    /// Leave the variables as they are.
    pub raw: bool,
}

/// What is known of a provider's components.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ProviderDescription {
    /// Name of the provider.
    pub name: String,
    /// Its type, e.g. `InfrastructureProvider`.
    pub provider_type: String,
    /// Where its releases are, without version and file.
    pub url: String,
    /// The version.
    pub version: String,
    /// Name of the components file.
    pub file: String,
    /// Namespace that it would be installed into.
    pub target_namespace: String,
    /// Variables of the components, sorted.
    pub variables: Vec<String>,
    /// Images in the order of the objects, repetitions included.
    pub images: Vec<String>,
}

/// Returns the components as YAML, without a final newline.
///
/// # Errors
/// The release lacks a file, its contract does not fit, or variables have no value.
pub async fn generate_provider(
    session: &Session,
    options: GenerateProviderOptions,
) -> Result<String> {
    let _ = (session, options);
    todo!()
}

/// Describes the components without substituting variables.
///
/// # Errors
/// As [`generate_provider`], less the missing values.
pub async fn describe_provider(
    session: &Session,
    options: GenerateProviderOptions,
) -> Result<ProviderDescription> {
    let _ = (session, options);
    todo!()
}
