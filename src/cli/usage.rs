//! Says in our own form what clap found wrong with a command line.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::line::CommandLine;
use super::values::{Quoted, parse_bool};
use crate::error::{Failure, suggest};

/// Turns clap's finding into a failure, with clap's suggestions as hints.
pub fn explain(error: &clap::Error, line: &CommandLine, definition: &Command) -> Failure {
    let (command, name) = find(definition, &line.path);
    let finding = Finding {
        error,
        command,
        name: &name,
    };
    let failure = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            unknown(&finding.text(ContextKind::InvalidSubcommand), command)
        }
        ErrorKind::UnknownArgument => finding.unknown_argument(),
        ErrorKind::InvalidValue => finding.invalid_choice(),
        ErrorKind::ValueValidation => finding.invalid_value(),
        ErrorKind::MissingRequiredArgument => finding.missing_arguments(),
        ErrorKind::ArgumentConflict => finding.conflict(),
        ErrorKind::InvalidUtf8 => Failure::new("an argument is not valid UTF-8"),
        _ => Failure::new(finding.own_words()),
    };
    hint_at_bool_value(failure, error, line).hint(format!("see `{name} --help`"))
}

/// Returns the failure of a word that names no command of `parent`.
pub fn unknown_command(word: &str, parent: &Command) -> Failure {
    unknown(word, parent).hint(format!("see `{} --help`", name_of(parent)))
}

/// Returns the failure of a first word that is neither a command nor a plugin.
pub fn unknown_plugin(word: &str, program: &Command) -> Failure {
    let plugins =
        format!("no plugin is in PATH either, as `capictl-{word}` or `clusterctl-{word}`");
    unknown(word, program)
        .hint(plugins)
        .hint("see `capictl --help`")
}

fn unknown(word: &str, parent: &Command) -> Failure {
    let name = name_of(parent);
    let known = || parent.get_subcommands().map(Command::get_name);
    let begins = |known: &&str| !word.is_empty() && known.starts_with(word);
    let failure = Failure::new(format!("unknown command `{word}` for `{name}`"));
    match known().find(begins).or_else(|| suggest(word, known())) {
        Some(meant) => failure.hint(format!("did you mean `{name} {meant}`?")),
        None => failure,
    }
}

fn name_of(command: &Command) -> &str {
    command.get_bin_name().unwrap_or(command.get_name())
}

fn find<'a>(definition: &'a Command, path: &[String]) -> (&'a Command, String) {
    let step = |command: &'a Command, word: &String| {
        command
            .find_subcommand(word)
            .expect("the path was found before")
    };
    let command = path.iter().fold(definition, step);
    let words: Vec<&str> = std::iter::once(definition.get_name())
        .chain(path.iter().map(String::as_str))
        .collect();
    (command, words.join(" "))
}

/// `--validate false`: users of other tools expect the value there, but then it is a word of its own, as with clusterctl.
fn hint_at_bool_value(failure: Failure, error: &clap::Error, line: &CommandLine) -> Failure {
    let word = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg]
        .into_iter()
        .find_map(|kind| text(error, kind));
    let Some(word) = word.filter(|word| parse_bool(word).is_ok()) else {
        return failure;
    };
    let position = line
        .arguments
        .iter()
        .position(|argument| *argument == *word);
    let before = position
        .and_then(|position| position.checked_sub(1))
        .map(|before| &line.arguments[before]);
    match before
        .and_then(|flag| flag.to_str())
        .filter(|flag| flag.starts_with("--"))
    {
        Some(flag) => failure.hint(format!("write `{flag}={word}` if `{word}` is its value")),
        None => failure,
    }
}

/// What clap found, and the command that it belongs to.
struct Finding<'a> {
    error: &'a clap::Error,
    command: &'a Command,
    name: &'a str,
}

impl Finding<'_> {
    fn text(&self, kind: ContextKind) -> String {
        text(self.error, kind).unwrap_or_default()
    }

    /// Returns the flag or argument that is meant.
    fn argument(&self) -> String {
        match name_of_argument(&self.text(ContextKind::InvalidArg)) {
            "--v" => "-v".to_owned(),
            name => name.to_owned(),
        }
    }

    fn unknown_argument(&self) -> Failure {
        let argument = self.text(ContextKind::InvalidArg);
        if !argument.starts_with('-') {
            return self.superfluous_argument(&argument);
        }
        let failure = Failure::new(format!("unknown flag `{argument}` for `{}`", self.name));
        let word = argument.trim_start_matches('-');
        if self.command.find_subcommand(word).is_some() {
            return failure.hint(format!("did you mean `{} {word}`?", self.name));
        }
        match text(self.error, ContextKind::SuggestedArg)
            .as_deref()
            .map(name_of_argument)
        {
            Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
            None => failure,
        }
    }

    fn superfluous_argument(&self, argument: &str) -> Failure {
        match self.name {
            "capictl generate cluster" => Failure::new(format!(
                "please specify a cluster name, one only: `{argument}` is a second one"
            )),
            // clusterctl ignores the word and waits for standard input.
            "capictl generate yaml" => Failure::new(format!(
                "unexpected argument `{argument}` for `{}`",
                self.name
            ))
            .hint(format!("did you mean `--from {argument}`?")),
            _ => Failure::new(format!(
                "unexpected argument `{argument}` for `{}`",
                self.name
            )),
        }
    }

    fn invalid_choice(&self) -> Failure {
        let (argument, value) = (self.argument(), self.text(ContextKind::InvalidValue));
        if value.is_empty() {
            return Failure::new(format!("the flag `{argument}` needs a value"));
        }
        let failure = match argument.as_str() {
            "--output" => Failure::new(format!("invalid output format `{value}`")),
            _ => Failure::new(format!("invalid value `{value}` for `{argument}`")),
        };
        match self.error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(valid)) => {
                failure.hint(format!("valid values: {}", Quoted(valid)))
            }
            _ => failure,
        }
    }

    fn invalid_value(&self) -> Failure {
        let reason = std::error::Error::source(self.error)
            .map(ToString::to_string)
            .unwrap_or_default();
        Failure::new(reason).context(format!(
            "invalid value `{}` for `{}`",
            self.text(ContextKind::InvalidValue),
            self.argument()
        ))
    }

    fn missing_arguments(&self) -> Failure {
        match self.name {
            "capictl generate cluster" => Failure::new("please specify a cluster name")
                .hint("e.g. `capictl generate cluster my-cluster --infrastructure docker`"),
            _ => Failure::new(format!(
                "please specify {}",
                self.text(ContextKind::InvalidArg)
            )),
        }
    }

    fn conflict(&self) -> Failure {
        let other = self.text(ContextKind::PriorArg);
        Failure::new(format!(
            "`{}` and `{}` exclude each other",
            self.argument(),
            name_of_argument(&other)
        ))
    }

    /// Returns clap's own first line, for findings that no definition of ours leads to today.
    fn own_words(&self) -> String {
        let text = self.error.to_string();
        let line = text.lines().next().unwrap_or_default();
        line.trim_start_matches("error: ").to_owned()
    }
}

/// Returns `--flag` of clap's `--flag <VALUE>` or `--flag[=<VALUE>]`.
fn name_of_argument(shown: &str) -> &str {
    shown.split([' ', '[', '=']).next().unwrap_or(shown)
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    }
}
