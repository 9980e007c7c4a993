//! `capictl help`, and the help of any command.

use clap::{Args, Command};

use super::line::Detail;
use super::usage;
use crate::error::Result;

/// Show the help of a command
#[derive(Debug, Args)]
pub struct HelpArgs {
    /// The command's words, e.g. `generate cluster`
    #[arg(value_name = "COMMAND")]
    pub path: Vec<String>,
}

impl HelpArgs {
    /// Returns the help text.
    ///
    /// # Errors
    /// There is no such command.
    pub fn run(self, definition: &mut Command) -> Result<String> {
        render(definition, &self.path, Detail::Long)
    }
}

/// Returns the help text of the command with this path of words; an empty path is the program itself.
///
/// # Errors
/// There is no such command.
pub fn render(definition: &mut Command, path: &[String], detail: Detail) -> Result<String> {
    definition.build();
    let mut command = definition;
    for word in path {
        if command.find_subcommand(word).is_none() {
            return Err(usage::unknown_command(word, command));
        }
        command = command
            .find_subcommand_mut(word)
            .expect("it was found just now");
    }
    let help = match detail {
        Detail::Short => command.render_help(),
        Detail::Long => command.render_long_help(),
    };
    // clap leaves blanks in empty lines.
    let lines = help.to_string();
    Ok(lines
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect())
}
