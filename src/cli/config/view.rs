//! `capictl config view`

use clap::{Args, ValueEnum};

use crate::cli::args::ClusterArgs;
use crate::error::Result;
use crate::ops::Session;
use crate::ops::config_view::{Entry, View, config_view};
use crate::ops::values::shorten;
use crate::yaml;

/// Show which files, folders, settings and values are in use, and where each comes from
///
/// Neither the network nor a cluster is asked. Secrets are masked: tokens, passwords in addresses, and variables whose
/// names tell that they are secret.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Which configuration file counts, and which variables of the environment go before it
  capictl config view

  # The same for a script
  capictl config view -o json")]
pub struct ViewArgs {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,

    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// How the view is printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// A table for each part
    Text,
    /// A map of lists, as YAML
    Yaml,
    /// A map of lists, as JSON
    Json,
}

impl ViewArgs {
    /// Returns the view in the format that is asked for.
    ///
    /// # Errors
    /// The operation's own.
    pub fn run(self, session: &Session) -> Result<String> {
        let Self { output, cluster } = self;
        let view = config_view(session, &cluster.into())?;
        Ok(match output {
            Format::Text => text(&view),
            Format::Yaml => yaml::render(&view),
            Format::Json => format!(
                "{}\n",
                serde_json::to_string_pretty(&view).expect("texts can be written as JSON")
            ),
        })
    }
}

fn text(view: &View) -> String {
    let View {
        files,
        cluster,
        settings,
        network,
        tokens,
        cert_manager,
        providers,
        images,
        variables,
    } = view;
    let parts = [
        ("FILES", files),
        ("CLUSTER", cluster),
        ("SETTINGS", settings),
        ("NETWORK", network),
        ("TOKENS", tokens),
        ("CERT-MANAGER", cert_manager),
        ("PROVIDERS", providers),
        ("IMAGES", images),
        ("VARIABLES", variables),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, entries)| !entries.is_empty())
        .map(|(title, entries)| table(title, entries))
        .collect();
    parts.join("\n")
}

/// Returns a table of name, value, and source with the note.
fn table(title: &str, entries: &[Entry]) -> String {
    let header = [title, "VALUE", "SOURCE"].map(str::to_owned);
    let rows: Vec<[String; 3]> = std::iter::once(header)
        .chain(entries.iter().map(row))
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count() + 3);
        widths.max().unwrap_or_default()
    };
    let (names, values) = (width(0), width(1));
    let line =
        |[name, value, source]: &[String; 3]| format!("{name:names$}{value:values$}{source}\n");
    rows.iter().map(line).collect()
}

/// Paths and URLs are of no use when they are cut.
fn is_address(value: &str) -> bool {
    (value.starts_with('/') || value.contains("://")) && !value.chars().any(char::is_control)
}

fn row(entry: &Entry) -> [String; 3] {
    let Entry {
        name,
        value,
        source,
        note,
    } = entry;
    let value = match value {
        None => "-".to_owned(),
        Some(address) if is_address(address) => address.clone(),
        Some(value) => shorten(value),
    };
    let source = match note {
        None => source.clone(),
        Some(note) => format!("{source} ({note})"),
    };
    [name.clone(), value, source]
}
