//! `capictl init`

pub mod list_images;

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::cli::args::{ClusterArgs, ProviderListArgs};
use crate::cli::values::{given, parse_bool, parse_integer};
use crate::error::{Failure, Result};
use crate::ops::Session;
use crate::ops::init::{InitOptions, init};

/// How long to wait for a Deployment when nothing else is said, as in clusterctl.
const WAIT_SECONDS: u64 = 300;

/// Make a cluster a management cluster
///
/// Installs cert-manager, if it is missing, and the providers. The first run adds Cluster API itself and the kubeadm
/// bootstrap and control plane providers, unless others are named; `-` as the name leaves one out.
/// Running it again adds what is missing and leaves the rest alone.
///
/// `capictl config repositories` lists the known providers; `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml` can add more.
/// `capictl generate provider --infrastructure NAME --describe` shows which variables a provider needs.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  # Install Cluster API, kubeadm, and the newest release of an infrastructure provider
  capictl init --infrastructure aws

  # A certain release, two providers at once, another kubeconfig
  capictl init --infrastructure aws:v2.9.0,vsphere --kubeconfig management.yaml

  # Wait until everything is ready to be used
  capictl init -i docker --wait-providers --wait-provider-timeout 600

  # Only show which images would be needed
  capictl init list-images --infrastructure aws"
)]
pub struct InitArgs {
    #[command(subcommand)]
    pub command: Option<InitCommand>,

    #[command(flatten)]
    pub providers: ProviderListArgs,

    #[command(flatten)]
    pub cluster: ClusterArgs,

    /// Namespace to install all named providers into [default: what each one's components name]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub target_namespace: Option<String>,

    /// Wait until the providers are available
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub wait_providers: bool,

    /// Seconds to wait for each of a provider's Deployments; 0 means 300
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = parse_integer, allow_negative_numbers = true)]
    pub wait_provider_timeout: i64,

    /// Refuse what would not work in this cluster; `--validate=false` only warns of it
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", value_parser = parse_bool
    )]
    pub validate: bool,
}

/// What else can be asked about `init`.
#[derive(Debug, Subcommand)]
pub enum InitCommand {
    ListImages(list_images::ListImagesArgs),
}

impl InitArgs {
    /// Returns what an interrupted command leaves.
    pub fn left_behind(&self) -> &'static str {
        match self.command {
            None => "run the same command again, it goes on where it stopped",
            Some(InitCommand::ListImages(_)) => "nothing was changed",
        }
    }

    /// Installs the providers; there is nothing to print.
    ///
    /// # Errors
    /// The operation's own.
    pub async fn run(self, session: &Session) -> Result<String> {
        let Self {
            command,
            providers,
            cluster,
            target_namespace,
            wait_providers,
            wait_provider_timeout,
            validate,
        } = self;
        if let Some(InitCommand::ListImages(args)) = command {
            return args.run(session).await;
        }
        let options = InitOptions {
            cluster: cluster.into(),
            providers: providers.into(),
            target_namespace: given(target_namespace),
            wait_providers,
            wait_provider_timeout: parse_timeout(wait_provider_timeout)?,
            validate,
        };
        init(session, options).await?;
        Ok(String::new())
    }
}

/// 0 means the default, as with clusterctl.
fn parse_timeout(seconds: i64) -> Result<Duration> {
    match u64::try_from(seconds) {
        Ok(0) => Ok(Duration::from_secs(WAIT_SECONDS)),
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) => Err(Failure::new(format!(
            "invalid value `{seconds}` for `--wait-provider-timeout`"
        ))
        .hint("give the seconds to wait, 0 for the default of 300")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timeout_means_five_minutes() {
        assert_eq!(parse_timeout(0).unwrap().as_secs(), 300);
        assert_eq!(parse_timeout(7).unwrap().as_secs(), 7);
        assert!(parse_timeout(-1).is_err());
    }
}
