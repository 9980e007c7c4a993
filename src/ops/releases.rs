//! A provider's release: resolved, fetched, rendered, built. What `init` and `generate provider` have in common.

use super::Session;
use super::rendering::{parse_template, render_objects};
use crate::components::contract::ensure_contract_supported;
use crate::components::{self, Components};
use crate::error::{Context, Result};
use crate::model::{Contract, Object, Provider, ProviderReference, ProviderType, object};
use crate::repository::{File, ProviderRepository, Settings};
use crate::template::Template;

/// A provider at one version, its components file at hand.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) provider: Provider,
    pub(super) version: String,
    pub(super) repository: ProviderRepository,
    pub(super) file: File,
    pub(super) template: Template,
}

impl Release {
    /// Finds the version and fetches the components file.
    pub(super) async fn fetch(
        session: &Session,
        settings: &Settings,
        provider_type: ProviderType,
        argument: &str,
    ) -> Result<Self> {
        let fetched = Self::find(session, settings, provider_type, argument).await;
        fetched.with_context(|| {
            format!("failed to get provider components for the \"{argument}\" provider")
        })
    }

    async fn find(
        session: &Session,
        settings: &Settings,
        provider_type: ProviderType,
        argument: &str,
    ) -> Result<Self> {
        let reference: ProviderReference = argument.parse()?;
        let provider = session.config.provider(provider_type, &reference.name)?;
        session.warn_if_deprecated(&provider);
        let repository = ProviderRepository::of(&provider, settings)?;
        let asked = reference.version.as_deref();
        let version = repository.resolve_version(asked).await?;
        let file = repository
            .fetch(&version, repository.components_file())
            .await?;
        if file.overridden {
            let label = provider.label();
            session.ui.status(format!(
                "Using override \"{}\" for provider `{label}` {version}",
                file.origin
            ));
        }
        let template = parse_template(&file)?;
        Ok(Self {
            provider,
            version,
            repository,
            file,
            template,
        })
    }

    /// Substitutes the variables (`strict`: see [`render_objects`]), then builds the components for the target namespace.
    pub(super) fn build(
        &self,
        session: &Session,
        target_namespace: Option<&str>,
        strict: bool,
    ) -> Result<Components> {
        let objects = render_objects(session, &self.file, &self.template, strict)?;
        self.components(session, objects, target_namespace)
    }

    /// Builds the components with the variables as they stand in the file.
    pub(super) fn build_raw(
        &self,
        session: &Session,
        target_namespace: Option<&str>,
    ) -> Result<Components> {
        let objects = object::parse_objects(&self.file.text).with_context(|| {
            format!(
                "`{}` cannot be read without substituting its variables",
                self.file.origin
            )
        })?;
        self.components(session, objects, target_namespace)
    }

    fn components(
        &self,
        session: &Session,
        objects: Vec<Object>,
        target_namespace: Option<&str>,
    ) -> Result<Components> {
        let images = session.config.image_overrides()?;
        let label = self.provider.label();
        let options = components::Options {
            label: &label,
            target_namespace,
            images: &images,
        };
        components::build(objects, &options)
            .with_context(|| format!("the components `{}` cannot be used", self.file.origin))
    }

    /// Returns the contract of the version, which must be one that this tool works with.
    pub(super) async fn contract(&self) -> Result<Contract> {
        let metadata = self.repository.fetch_metadata(&self.version).await?;
        Ok(ensure_contract_supported(
            &self.provider.label(),
            &self.version,
            &metadata,
        )?)
    }
}
