//! The answer to a shell: one candidate a line.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap_complete::engine::{CompletionCandidate, complete};

use super::typed::Typed;
use super::values;
use crate::cli;
use crate::ui::Ui;

/// The variable by which a script asks for an answer; its value is the shell.
pub const VARIABLE: &str = "CAPICTL_COMPLETE";

/// Prints what may follow. `arguments` are a `--` and the words from the program's name to the one to be completed.
///
/// A shell has no use for errors: whatever goes wrong, there is less to choose from.
pub fn answer(shell: &OsStr, arguments: &[OsString]) -> ExitCode {
    let words = match arguments.split_first() {
        Some((dashes, words)) if dashes == "--" => words,
        _ => &[],
    };
    let shell = shell.to_string_lossy();
    let lines: String = candidates(words)
        .iter()
        .filter_map(|candidate| line(&shell, candidate))
        .collect();
    Ui.data(lines).ok();
    ExitCode::SUCCESS
}

fn candidates(words: &[OsString]) -> Vec<CompletionCandidate> {
    let definition = cli::definition();
    let typed = Typed::new(&definition, words);
    let mut definition = values::attach(definition, &typed);
    let mut arguments = vec![OsString::from("capictl")];
    arguments.extend_from_slice(typed.before());
    let place = arguments.len();
    arguments.push(typed.current().clone());
    let mut found = complete(&mut definition, arguments, place, None).unwrap_or_default();
    let is_flag = |candidate: &CompletionCandidate| {
        candidate.get_value().as_encoded_bytes().starts_with(b"-")
    };
    // Flags would drown what an empty word most likely wants.
    if typed.current().is_empty() && !found.iter().all(is_flag) {
        found.retain(|candidate| !is_flag(candidate));
    }
    found
}

/// Returns the line for a candidate; none for names that would not survive as a line.
fn line(shell: &str, candidate: &CompletionCandidate) -> Option<String> {
    let value = candidate.get_value().to_str()?;
    if value.chars().any(char::is_control) {
        return None;
    }
    let help = candidate.get_help().map(ToString::to_string);
    let help = help.as_deref().unwrap_or_default();
    let help = help.lines().next().unwrap_or_default();
    Some(match shell {
        "fish" if !help.is_empty() => format!("{value}\t{help}\n"),
        "zsh" => {
            let value = value.replace('\\', "\\\\").replace(':', "\\:");
            match help {
                "" => format!("{value}\n"),
                help => format!("{value}:{help}\n"),
            }
        }
        _ => format!("{value}\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &str) -> Vec<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let values = candidates(&words);
        let text = |c: &CompletionCandidate| c.get_value().to_str().unwrap().to_owned();
        values.iter().map(text).collect()
    }

    #[test]
    fn commands_come_before_flags_and_flags_when_asked_for() {
        let commands = values("capictl ");
        assert!(commands.contains(&"generate".to_owned()), "{commands:?}");
        assert!(
            commands.iter().all(|word| !word.starts_with('-')),
            "{commands:?}"
        );
        assert_eq!(values("capictl gen"), ["generate"]);
        assert_eq!(values("capictl --v 5 generate pro"), ["provider"]);
        assert_eq!(
            values("capictl init --wait-p"),
            ["--wait-providers", "--wait-provider-timeout"]
        );
    }

    #[test]
    fn fixed_values_are_known() {
        assert_eq!(values("capictl version -o j"), ["json"]);
        assert_eq!(values("capictl version --output=j"), ["--output=json"]);
        assert_eq!(values("capictl init --validate=f"), ["--validate=false"]);
        assert_eq!(values("capictl help generate c"), ["cluster"]);
        assert_eq!(values("capictl completion p"), ["powershell"]);
    }

    #[test]
    fn colons_and_backslashes_are_escaped_where_they_would_mean_something() {
        let candidate = CompletionCandidate::new("a:b\\c").help(Some("x: y\nz".into()));
        assert_eq!(line("zsh", &candidate).unwrap(), "a\\:b\\\\c:x: y\n");
        assert_eq!(line("fish", &candidate).unwrap(), "a:b\\c\tx: y\n");
        assert_eq!(line("bash", &candidate).unwrap(), "a:b\\c\n");
        assert_eq!(line("bash", &CompletionCandidate::new("a\nb")), None);
    }
}
