//! The words that stand on the command line when Tab is pressed.

use std::ffi::OsString;
use std::sync::Arc;

use crate::cli::line::CommandLine;

/// The words, sorted as for a run: those that name the command in front.
#[derive(Debug, Clone)]
pub struct Typed {
    before: Arc<[OsString]>,
    current: OsString,
}

impl Typed {
    /// Takes the words from the program's name to the one that is to be completed, which may be empty.
    pub fn new(definition: &clap::Command, words: &[OsString]) -> Self {
        let (current, before) = words.split_last().map_or_else(
            || (OsString::new(), &[][..]),
            |(current, before)| (current.clone(), before),
        );
        let before = before.get(1..).unwrap_or_default();
        Self {
            before: CommandLine::arrange(definition, before).arguments.into(),
            current,
        }
    }

    /// Returns the words before the one that is to be completed, without the program's name.
    pub fn before(&self) -> &[OsString] {
        &self.before
    }

    /// Returns the word that is to be completed.
    pub fn current(&self) -> &OsString {
        &self.current
    }

    /// Returns the last value of a flag among the words before, in any of its forms.
    pub fn value_of(&self, long: &str, short: Option<char>) -> Option<String> {
        let words: Vec<&str> = self
            .before
            .iter()
            .map(|w| w.to_str().unwrap_or(""))
            .collect();
        let long = format!("--{long}");
        let short = short.map(|short| format!("-{short}"));
        let mut value = None;
        for (at, word) in words.iter().enumerate() {
            let next = || words.get(at + 1).copied();
            let found = match word.strip_prefix(&long) {
                Some("") => next(),
                Some(rest) => rest.strip_prefix('='),
                None => match short.as_deref().and_then(|short| word.strip_prefix(short)) {
                    Some("") => next(),
                    Some(rest) => Some(rest.strip_prefix('=').unwrap_or(rest)),
                    None => None,
                },
            };
            value = found.or(value);
        }
        value.filter(|value| !value.is_empty()).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Typed {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Typed::new(&crate::cli::definition(), &words)
    }

    #[test]
    fn values_are_found_in_every_form() {
        for line in [
            "capictl generate cluster -i docker x",
            "capictl generate cluster -idocker x",
            "capictl generate cluster -i=docker x",
            "capictl --infrastructure docker generate cluster x",
            "capictl generate cluster -i aws --infrastructure=docker x",
        ] {
            let value = typed(line).value_of("infrastructure", Some('i'));
            assert_eq!(value.as_deref(), Some("docker"), "{line}");
        }
        for line in [
            "capictl init --infrastructure ",
            "capictl init --infrastructures=docker ",
            "capictl init docker ",
            "capictl",
        ] {
            assert_eq!(
                typed(line).value_of("infrastructure", Some('i')),
                None,
                "{line}"
            );
        }
    }

    #[test]
    fn the_command_comes_first() {
        let typed = typed("capictl -n foo generate cluster --fl");
        assert_eq!(typed.before(), ["generate", "cluster", "-n", "foo"]);
        assert_eq!(typed.current(), "--fl");
    }
}
