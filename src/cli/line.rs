//! Sorts a command line so that clap understands what clusterctl's users type.
//!
//! clusterctl takes flags anywhere, also before the command that they belong to (`--kubeconfig f init`), and bool values
//! for the help flag. Here the words that name the command move to the front; all else keeps its order.

use std::ffi::OsString;

use clap::{Arg, Command};

use super::values::parse_bool;

/// A command line with the command's words in front.
#[derive(Debug, Default)]
pub struct CommandLine {
    /// The words that name the command, e.g. `generate`, `cluster`.
    pub path: Vec<String>,
    /// All arguments: first the path, then the others as they were typed.
    pub arguments: Vec<OsString>,
    /// The first word that should name a command, after the path, but does not.
    pub unknown_command: Option<String>,
    /// The help flag is among the flags.
    pub help: Option<Detail>,
}

/// How much help is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// `-h`: a line for each flag.
    Short,
    /// `--help`: all there is.
    Long,
}

impl CommandLine {
    /// Sorts what was typed after the program's name.
    pub fn arrange(root: &Command, typed: &[OsString]) -> Self {
        let mut line = Self::default();
        let mut others = Vec::new();
        let mut current = root;
        let mut words_may_name_commands = true;
        let mut rest = typed.iter().peekable();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if text == "--" {
                others.push(argument.clone());
                others.extend(rest.cloned());
                break;
            }
            if text.starts_with('-') && text != "-" {
                match help_flag(&text) {
                    Some((detail, true)) => line.help = Some(detail),
                    Some((_, false)) => {}
                    None => others.push(argument.clone()),
                }
                if takes_next_argument(root, &text) {
                    others.extend(rest.next_if(|next| is_value(next)).cloned());
                }
                continue;
            }
            match current.find_subcommand(text.as_ref()) {
                Some(command) if words_may_name_commands => {
                    line.path.push(text.into_owned());
                    current = command;
                }
                _ => {
                    let expects_command = current.has_subcommands() && words_may_name_commands;
                    line.unknown_command = line
                        .unknown_command
                        .or(expects_command.then(|| text.into_owned()));
                    words_may_name_commands = false;
                    others.push(argument.clone());
                }
            }
        }
        line.arguments = line.path.iter().map(OsString::from).chain(others).collect();
        line
    }
}

/// Reads a help flag, which asks for help (`-h`, `--help`, `--help=true`) or not (`--help=false`); `None` for others.
fn help_flag(text: &str) -> Option<(Detail, bool)> {
    let (name, value) = text.split_once('=').unwrap_or((text, "true"));
    let detail = match name {
        "-h" => Detail::Short,
        "--help" => Detail::Long,
        _ => return None,
    };
    Some((detail, parse_bool(value).ok()?))
}

/// A value that follows its flag after a space: anything but another flag. `-` is standard input, or no provider.
fn is_value(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    text == "-" || !text.starts_with('-')
}

/// Tells whether the flag, as it was typed, has its value in the next argument: `-i aws`, but not `-iaws` or `-i=aws`.
fn takes_next_argument(command: &Command, flag: &str) -> bool {
    let is_meant = |argument: &&Arg| match flag.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => argument
            .get_short()
            .is_some_and(|short| flag[1..] == *short.encode_utf8(&mut [0; 4])),
    };
    match command.get_arguments().find(is_meant) {
        Some(argument) => argument.get_action().takes_values() && !argument.is_require_equals_set(),
        None => command
            .get_subcommands()
            .any(|child| takes_next_argument(child, flag)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn arrange(line: &str) -> CommandLine {
        let typed: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        CommandLine::arrange(&crate::cli::Cli::command(), &typed)
    }

    fn arranged(line: &str) -> String {
        let arguments = arrange(line).arguments;
        arguments.join(&OsString::from(" ")).into_string().unwrap()
    }

    #[test]
    fn the_command_moves_to_the_front_and_the_rest_keeps_its_order() {
        let table = [
            ("--kubeconfig init init -n a", "init --kubeconfig init -n a"),
            ("--validate=false init", "init --validate=false"),
            ("--wait-providers init", "init --wait-providers"),
            (
                "-v 5 generate -n foo cluster c",
                "generate cluster -v 5 -n foo c",
            ),
            (
                "-v5 generate cluster c -- -i",
                "generate cluster -v5 c -- -i",
            ),
            ("init -i - list-images", "init list-images -i -"),
            ("-- init", "-- init"),
            ("version version", "version version"),
            ("plugin --flag init", "plugin --flag init"),
        ];
        for (typed, expected) in table {
            assert_eq!(arranged(typed), expected, "{typed}");
        }
    }

    #[test]
    fn help_is_seen_anywhere_but_in_values_and_after_dashes() {
        for line in [
            "-h",
            "init --help",
            "generate cluster a b -h",
            "init --help=true",
            "-h=1 version",
        ] {
            assert!(arrange(line).help.is_some(), "{line}");
        }
        for line in [
            "init --help=false",
            "generate cluster -- -h",
            "init -ih",
            "init --kubeconfig=-h",
        ] {
            assert_eq!(arrange(line).help, None, "{line}");
        }
    }

    #[test]
    fn a_word_where_a_command_should_be_is_unknown() {
        for (line, word) in [
            ("foo init", "foo"),
            ("init foo", "foo"),
            ("-v 5 generate bar c", "bar"),
        ] {
            assert_eq!(
                arrange(line).unknown_command.as_deref(),
                Some(word),
                "{line}"
            );
        }
        for line in ["generate cluster foo", "version foo", "init", "init -n foo"] {
            assert_eq!(arrange(line).unknown_command, None, "{line}");
        }
    }
}
