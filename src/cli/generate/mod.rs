//! `capictl generate`

pub mod cluster;
pub mod provider;
mod variables;
pub mod yaml;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::ops::Session;

/// What an interrupted command leaves.
pub const LEFT_BEHIND: &str = "nothing was written";

/// Render cluster templates, provider components and other templates
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct GenerateArgs {
    #[command(subcommand)]
    pub command: Option<GenerateCommand>,
}

/// What to render.
#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    Cluster(cluster::ClusterTemplateArgs),
    Provider(provider::ProviderArgs),
    Yaml(yaml::YamlArgs),
}

impl GenerateCommand {
    /// Runs the command and returns what it prints.
    ///
    /// # Errors
    /// The command's own.
    pub async fn run(self, session: &mut Session) -> Result<String> {
        match self {
            Self::Cluster(args) => args.run(session).await,
            Self::Provider(args) => args.run(session).await,
            Self::Yaml(args) => args.run(session).await,
        }
    }
}
