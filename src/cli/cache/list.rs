//! `capictl cache list`

use clap::{Args, ValueEnum};

use crate::error::Result;
use crate::ops::Session;
use crate::ops::cache::list;
use crate::repository::store::Listed;
use crate::yaml;

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
    pub output: Format,
}

/// How the list is printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// A table
    Text,
    /// A list of maps, as YAML
    Yaml,
    /// A list of maps, as JSON
    Json,
}

impl ListArgs {
    /// Returns the list in the format that is asked for.
    ///
    /// # Errors
    /// The operation's own.
    pub fn run(self, session: &Session) -> Result<String> {
        let entries = list(session)?;
        Ok(match self.output {
            Format::Text => table(&entries),
            Format::Yaml => yaml::render(&entries),
            Format::Json => format!(
                "{}\n",
                serde_json::to_string_pretty(&entries)
                    .expect("texts and numbers can be written as JSON")
            ),
        })
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
