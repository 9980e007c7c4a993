//! The formats that a list of things can be printed in.

use clap::ValueEnum;
use serde::Serialize;

use crate::yaml;

/// How a list is printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum TableFormat {
    /// A table
    Text,
    /// A list of maps, as YAML
    Yaml,
    /// A list of maps, as JSON
    Json,
}

impl TableFormat {
    /// Renders the list; `table` makes the table.
    pub fn render<T: Serialize>(self, entries: &[T], table: impl FnOnce(&[T]) -> String) -> String {
        match self {
            Self::Text => table(entries),
            Self::Yaml => yaml::render(&entries),
            Self::Json => format!(
                "{}\n",
                serde_json::to_string_pretty(entries)
                    .expect("texts and numbers can be written as JSON")
            ),
        }
    }
}
