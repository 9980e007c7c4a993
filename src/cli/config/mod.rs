//! `capictl config`

pub mod repositories;
pub mod view;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::ops::Session;

/// What an interrupted command leaves.
pub const LEFT_BEHIND: &str = "nothing was changed";

/// Show the configuration
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: Option<ConfigCommand>,
}

/// What of the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    Repositories(repositories::RepositoriesArgs),
    View(view::ViewArgs),
}

impl ConfigCommand {
    /// Runs the command and returns what it prints.
    ///
    /// # Errors
    /// The command's own.
    pub async fn run(self, session: &mut Session) -> Result<String> {
        match self {
            Self::Repositories(args) => args.run(session).await,
            Self::View(args) => args.run(session),
        }
    }
}
