//! `capictl init list-images`

use std::time::Duration;

use clap::Args;

use crate::cli::args::{ClusterArgs, ProviderListArgs};
use crate::error::Result;
use crate::ops::Session;
use crate::ops::init::{InitOptions, list_images};

/// List the images that `init` with the same flags would need
///
/// Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Images of Cluster API, kubeadm, cert-manager and an infrastructure provider
  capictl init list-images --infrastructure aws

  # Certain releases
  capictl init list-images -i vcd:v1.3.0 -b kubeadm -c nested --core cluster-api:v1.14.0")]
pub struct ListImagesArgs {
    #[command(flatten)]
    pub providers: ProviderListArgs,

    #[command(flatten)]
    pub cluster: ClusterArgs,
}

impl ListImagesArgs {
    /// Returns the images, one a line.
    ///
    /// # Errors
    /// The operation's own.
    pub async fn run(self, session: &Session) -> Result<String> {
        let Self { providers, cluster } = self;
        let options = InitOptions {
            cluster: cluster.into(),
            providers: providers.into(),
            target_namespace: None,
            wait_providers: false,
            wait_provider_timeout: Duration::ZERO,
            validate: false,
        };
        let images = list_images(session, options).await?;
        Ok(images.iter().map(|image| format!("{image}\n")).collect())
    }
}
