//! `capictl cache`

pub mod clear;
pub mod list;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::ops::Session;

/// What an interrupted command leaves.
pub const LEFT_BEHIND: &str = "what is gone from the cache will be fetched again when it is needed";

/// Show or empty the cache of downloads
///
/// Release files are kept in `$XDG_CACHE_HOME/capictl`, by default `~/.cache/capictl`: each is fetched once, and is there
/// without a network (`--offline`).
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub command: Option<CacheCommand>,
}

/// What is done with the cache.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    List(list::ListArgs),
    Clear(clear::ClearArgs),
}

impl CacheCommand {
    /// Runs the command and returns what it prints.
    ///
    /// # Errors
    /// The command's own.
    pub fn run(self, session: &Session) -> Result<String> {
        match self {
            Self::List(args) => args.run(session),
            Self::Clear(args) => args.run(session),
        }
    }
}
