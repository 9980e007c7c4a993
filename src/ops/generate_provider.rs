//! Renders the components of a provider, as `init` would apply them.

use super::releases::Release;
use super::values::{self, ValueOptions};
use super::{ProviderSelection, Session};
use crate::error::{Failure, Result};
use crate::model::object;

/// Which provider, and how far to go.
#[derive(Debug, Clone, Default)]
pub struct GenerateProviderOptions {
    /// Exactly one provider.
    pub provider: ProviderSelection,
    /// Namespace to install into; default: the one that the components name.
    pub target_namespace: Option<String>,
    /// Leave the variables as they are.
    pub raw: bool,
    /// Refuse what would be a warning.
    pub strict: bool,
    /// Values of variables.
    pub values: ValueOptions,
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

/// The flags that choose a provider, in clusterctl's words.
const FLAGS: &str =
    "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --extension, --addon";

/// Returns the components as YAML, without a final newline.
///
/// # Errors
/// The release lacks a file, its contract does not fit, or variables have no value.
pub async fn generate_provider(
    session: &mut Session,
    options: GenerateProviderOptions,
) -> Result<String> {
    values::load(session, &options.values, None).await?;
    let release = fetch(session, &options).await?;
    let namespace = options.target_namespace.as_deref();
    if !options.raw {
        let label = release.file.origin.as_str();
        values::settle(session, &options.values, &release.template, label).await?;
        values::warn_of_unused(session);
    }
    let components = if options.raw {
        release.build_raw(session, namespace)?
    } else {
        release.build(session, namespace, options.strict)?
    };
    Ok(object::render_objects(&components.objects))
}

/// Describes the components without substituting variables.
///
/// # Errors
/// As [`generate_provider`], less the missing values.
pub async fn describe_provider(
    session: &Session,
    options: GenerateProviderOptions,
) -> Result<ProviderDescription> {
    let release = fetch(session, &options).await?;
    let components = release.build_raw(session, options.target_namespace.as_deref())?;
    let (url, _) = split_release(&release.provider.url);
    Ok(ProviderDescription {
        name: release.provider.name.clone(),
        provider_type: release.provider.provider_type.to_string(),
        url: url.to_owned(),
        version: release.version.clone(),
        file: release.repository.components_file().to_owned(),
        target_namespace: components.target_namespace,
        variables: release
            .template
            .variables()
            .iter()
            .map(|variable| variable.name.clone())
            .collect(),
        images: components.images,
    })
}

async fn fetch(session: &Session, options: &GenerateProviderOptions) -> Result<Release> {
    let named = options.provider.named();
    let [(provider_type, argument)] = named.as_slice() else {
        let count = if named.is_empty() {
            "at least one"
        } else {
            "only one"
        };
        let failure = Failure::new(format!("{count} of {FLAGS} should be set"));
        return Err(failure.hint("the flag for runtime extensions is `--runtime-extension`"));
    };
    let settings = session.repository_settings()?;
    let release = Release::fetch(session, &settings, *provider_type, argument).await?;
    release.contract().await?;
    Ok(release)
}

/// Splits `https://host/releases/v1/file.yaml` into `https://host/releases/` and `v1/file.yaml`.
fn split_release(url: &str) -> (&str, &str) {
    let cut = url
        .rmatch_indices('/')
        .nth(1)
        .map_or(0, |(place, _)| place + 1);
    url.split_at(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_before_the_version() {
        let (url, rest) = split_release("https://github.com/a/b/releases/latest/c.yaml");
        assert_eq!(
            (url, rest),
            ("https://github.com/a/b/releases/", "latest/c.yaml")
        );
    }
}
