//! `capictl config repositories`

use clap::Args;
use serde::Serialize;

use crate::cli::format::TableFormat;
use crate::cli::values::{given_list, parse_bool};
use crate::error::{Failure, Result};
use crate::model::Provider;
use crate::ops::Session;
use crate::ops::config_repositories::{Listed, RepositoriesOptions, Versions, config_repositories};
use crate::repository::Offer;

/// List the known providers and their repositories
///
/// These are the built-in ones and those of `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`; neither the network nor a
/// cluster is asked. With `--versions` the repositories are asked what they offer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All providers
  capictl config repositories

  # The same for a script
  capictl config repositories -o yaml

  # The version that `init` would install, and the newest of each contract
  capictl config repositories aws kubeadm --versions")]
pub struct RepositoriesArgs {
    /// Names or labels of providers, as `aws` or `infrastructure-aws`; without any, all are listed
    #[arg(value_name = "PROVIDER")]
    pub names: Vec<String>,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: TableFormat,

    /// Ask the repositories for the version that is taken when none is named, and for the newest complete release of each contract
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub versions: bool,
}

impl RepositoriesArgs {
    /// Returns the list in the format that is asked for.
    ///
    /// # Errors
    /// The operation's own.
    pub async fn run(self, session: &Session) -> Result<String> {
        let Self {
            names,
            output,
            versions,
        } = self;
        let options = RepositoriesOptions {
            names: given_list(names),
            versions,
        };
        let listed = config_repositories(session, &options).await?;
        let entries: Vec<Entry> = listed.iter().map(Entry::from).collect();
        Ok(output.render(&entries, |entries| table(entries, versions)))
    }
}

/// A line of the list; the first four keys and their order are clusterctl's.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    file: String,
    name: String,
    provider_type: &'static str,
    #[serde(rename = "URL")]
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contracts: Option<Vec<ContractEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The newest version of a contract.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct ContractEntry {
    contract: String,
    version: String,
}

impl From<&Listed> for Entry {
    fn from(Listed { provider, versions }: &Listed) -> Self {
        let entry = Self::from(provider);
        let Some(versions) = versions else {
            return entry;
        };
        let entry = Self {
            deprecated: provider.deprecated.clone(),
            ..entry
        };
        match versions {
            Ok(Versions { default, offers }) => Self {
                version: Some(default.clone()),
                contracts: Some(
                    offers
                        .iter()
                        .map(|Offer { contract, version }| ContractEntry {
                            contract: contract.0.clone(),
                            version: version.clone(),
                        })
                        .collect(),
                ),
                ..entry
            },
            Err(failure) => Self {
                error: Some(problem_of(failure)),
                ..entry
            },
        }
    }
}

/// Returns why a provider has no versions; the outermost message only says what was being done.
fn problem_of(failure: &Failure) -> String {
    let mut chain: Vec<String> = failure.chain().collect();
    if chain.len() > 1 {
        chain.remove(0);
    }
    chain.join(": ")
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
            version: None,
            contracts: None,
            deprecated: None,
            error: None,
        }
    }
}

impl Entry {
    fn cells(&self, versions: bool) -> Vec<String> {
        let Self {
            file,
            name,
            provider_type,
            url,
            ..
        } = self;
        let mut cells = vec![
            name.clone(),
            (*provider_type).to_owned(),
            url.clone(),
            file.clone(),
        ];
        if versions {
            cells.push(self.version.clone().unwrap_or_else(|| "-".to_owned()));
            let deprecated = self.deprecated.iter();
            let remarks = deprecated.map(|why| format!("; deprecated: {why}"));
            cells.push(self.list_contracts() + &remarks.collect::<String>());
        }
        cells
    }

    fn list_contracts(&self) -> String {
        if let Some(error) = &self.error {
            return format!("failed: {error}");
        }
        let contracts = self.contracts.iter().flatten();
        let contracts: Vec<String> = contracts
            .map(|ContractEntry { contract, version }| format!("{contract} {version}"))
            .collect();
        match contracts.is_empty() {
            true => "-".to_owned(),
            false => contracts.join(", "),
        }
    }
}

/// Returns a table with clusterctl's columns: at least 10 wide, three blanks between them, the last one not padded.
fn table(entries: &[Entry], versions: bool) -> String {
    let mut header = vec!["NAME", "TYPE", "URL", "FILE"];
    if versions {
        header.extend(["VERSION", "NEWEST BY CONTRACT"]);
    }
    let header = header.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(header)
        .chain(entries.iter().map(|entry| entry.cells(versions)))
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count() + 3);
        widths.max().unwrap_or(0).max(10)
    };
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let (last, padded) = row.split_last().expect("a row has cells");
        let cells = padded.iter().zip(&widths);
        let cells: String = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        format!("{cells}{last}\n")
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
            deprecated: None,
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
        insta::assert_snapshot!(table(&entries, false), @"
        NAME          TYPE            URL                           FILE
        cluster-api   CoreProvider    https://example.com/latest/   core.yaml
        a             AddonProvider                                 a.yaml
        ");
    }

    #[test]
    fn a_deprecated_provider_says_so_where_versions_are_asked_for() {
        let provider = Provider {
            name: "old".into(),
            provider_type: ProviderType::AddonProvider,
            url: "https://example.com/latest/old.yaml".into(),
            repository_type: None,
            deprecated: Some("see `new`".into()),
        };
        let versions = Versions {
            default: "v1.0.0".into(),
            offers: Vec::new(),
        };
        let mut listed = Listed {
            provider,
            versions: Some(Ok(versions)),
        };
        let with_versions = Entry::from(&listed);
        assert_eq!(
            with_versions.cells(true)[4..],
            ["v1.0.0", "-; deprecated: see `new`"]
        );
        listed.versions = None;
        let as_in_clusterctl = serde_json::to_value(Entry::from(&listed)).unwrap();
        assert_eq!(as_in_clusterctl.as_object().unwrap().len(), 4);
    }
}
