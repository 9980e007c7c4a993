//! `capictl config repositories`

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::error::Result;
use crate::model::Provider;
use crate::ops::Session;
use crate::ops::config_repositories::config_repositories;
use crate::yaml;

/// List the known providers and their repositories
///
/// These are the built-in ones and those of `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`; neither the network nor a
/// cluster is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All providers
  capictl config repositories

  # The same for a script
  capictl config repositories -o yaml")]
pub struct RepositoriesArgs {
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

impl RepositoriesArgs {
    /// Returns the list in the format that is asked for.
    ///
    /// # Errors
    /// The `providers` section of the configuration is wrong.
    pub fn run(self, session: &Session) -> Result<String> {
        let entries: Vec<Entry> = config_repositories(session)?
            .iter()
            .map(Entry::from)
            .collect();
        Ok(match self.output {
            Format::Text => table(&entries),
            Format::Yaml => yaml::render(&entries),
            Format::Json => format!(
                "{}\n",
                serde_json::to_string_pretty(&entries).expect("texts can be written as JSON")
            ),
        })
    }
}

/// A line of the list; the keys and their order are clusterctl's.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    file: String,
    name: String,
    provider_type: &'static str,
    #[serde(rename = "URL")]
    url: String,
}

impl From<&Provider> for Entry {
    fn from(provider: &Provider) -> Self {
        let (url, file) = provider
            .url
            .split_at(provider.url.rfind('/').map_or(0, |slash| slash + 1));
        Self {
            file: file.to_owned(),
            name: provider.name.clone(),
            provider_type: provider.provider_type.as_str(),
            url: url.to_owned(),
        }
    }
}

/// Returns a table with clusterctl's columns: at least 10 wide, three blanks between them, the last one not padded.
fn table(entries: &[Entry]) -> String {
    let rows = entries
        .iter()
        .map(|entry| [&entry.name, entry.provider_type, &entry.url, &entry.file]);
    let rows: Vec<[&str; 4]> = std::iter::once(["NAME", "TYPE", "URL", "FILE"])
        .chain(rows)
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count() + 3)
            .max()
            .unwrap_or(0)
            .max(10)
    };
    let widths = [width(0), width(1), width(2)];
    let line = |[name, provider_type, url, file]: &[&str; 4]| {
        format!(
            "{name:0$}{provider_type:1$}{url:2$}{file}\n",
            widths[0], widths[1], widths[2]
        )
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProviderType;

    #[test]
    fn the_table_has_the_columns_of_clusterctl() {
        let provider = |name: &str, provider_type, url: &str| Provider {
            name: name.into(),
            provider_type,
            url: url.into(),
            repository_type: None,
        };
        let providers = [
            provider(
                "cluster-api",
                ProviderType::CoreProvider,
                "https://example.com/latest/core.yaml",
            ),
            provider("a", ProviderType::AddonProvider, "a.yaml"),
        ];
        let entries: Vec<Entry> = providers.iter().map(Entry::from).collect();
        insta::assert_snapshot!(table(&entries), @"
        NAME          TYPE            URL                           FILE
        cluster-api   CoreProvider    https://example.com/latest/   core.yaml
        a             AddonProvider                                 a.yaml
        ");
    }
}
