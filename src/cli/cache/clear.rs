//! `capictl cache clear`

use clap::Args;

use crate::error::Result;
use crate::ops::Session;
use crate::ops::cache::{Cleared, clear};

/// Remove all downloads that are kept
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Fetch everything anew from now on
  capictl cache clear")]
pub struct ClearArgs {}

impl ClearArgs {
    /// Empties the cache; what was in it is told as status.
    ///
    /// # Errors
    /// The operation's own.
    pub fn run(self, session: &Session) -> Result<String> {
        let Self {} = self;
        let Cleared {
            folder,
            entries,
            bytes,
        } = clear(session)?;
        let place = folder.map_or_else(String::new, |folder| {
            format!(" from `{}`", folder.display())
        });
        session.ui.status(format!(
            "Removed {entries} downloads, {bytes} bytes,{place}"
        ));
        Ok(String::new())
    }
}
