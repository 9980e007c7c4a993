//! `capictl cache list`

use clap::Args;

use crate::cli::format::TableFormat;
use crate::error::Result;
use crate::ops::Session;
use crate::ops::cache::list;
use crate::repository::store::Listed;

/// List the downloads that are kept
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # What is there without a network
  capictl cache list

  # With checksums, for a script
  capictl cache list -o json")]
pub struct ListArgs {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: TableFormat,
}

impl ListArgs {
    /// Returns the list in the format that is asked for.
    ///
    /// # Errors
    /// The operation's own.
    pub fn run(self, session: &Session) -> Result<String> {
        Ok(self.output.render(&list(session)?, table))
    }
}

fn table(entries: &[Listed]) -> String {
    let mut text = format!("{:>10}  {:12}  URL\n", "BYTES", "SHA-256");
    for Listed {
        url, bytes, sha256, ..
    } in entries
    {
        text += &format!("{bytes:>10}  {:12}  {url}\n", &sha256[..12]);
    }
    text
}
