//! What a user reads when a command fails: what happened, why, and what to do next.
//!
//! Modules raise typed errors of their own (`thiserror`) and say beside them, by [`Explain`], what helps. The `?` of
//! `ops` and `cli` turns any of them into a [`Failure`], which carries the chain of causes, the hints and the exit code.

use std::fmt::{self, Display, Write as _};

/// The exit code that a failure ends the process with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command could not do what it was asked for, wrong usage included: exit code 1, as with clusterctl.
    Failed,
    /// The user interrupted the command: exit code 130, as shells report it.
    Interrupted,
}

impl Kind {
    /// Returns the exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Interrupted => 130,
        }
    }
}

/// An error that knows what its reader can do about it.
pub trait Explain: std::error::Error {
    /// Returns pieces of advice, each a line without final period; commands and paths in backticks.
    fn hints(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The failure of a whole command.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    error: anyhow::Error,
    hints: Vec<String>,
}

/// What operations and commands return.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Returns a failure that has no cause beneath it.
    pub fn new(message: impl Display) -> Self {
        Self {
            kind: Kind::Failed,
            error: anyhow::Error::msg(message.to_string()),
            hints: Vec::new(),
        }
    }

    /// Returns the failure of a command that Ctrl-C or a SIGTERM ended; `message` says how things were left.
    pub fn interrupted(message: impl Display) -> Self {
        Self {
            kind: Kind::Interrupted,
            ..Self::new(message)
        }
    }

    /// Returns the failure that stands for several; each is told with its causes, hints are told once.
    pub fn several(message: impl Display, failures: impl IntoIterator<Item = Failure>) -> Self {
        let mut text = message.to_string();
        let mut hints: Vec<String> = Vec::new();
        for failure in failures {
            let chain: Vec<String> = failure.chain().collect();
            text.push_str(&format!("\n  - {}", chain.join(": ")));
            hints.extend(
                failure
                    .hints
                    .into_iter()
                    .filter(|hint| !hints.contains(hint))
                    .collect::<Vec<_>>(),
            );
        }
        Self {
            hints,
            ..Self::new(text)
        }
    }

    /// Wraps the failure into what was being done when it happened.
    #[must_use]
    pub fn context(self, message: impl Display) -> Self {
        Self {
            error: self.error.context(message.to_string()),
            ..self
        }
    }

    /// Adds a piece of advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Tells whether the failure was made of an error of this type that satisfies a condition.
    pub fn is<E: std::error::Error + Send + Sync + 'static>(
        &self,
        condition: impl Fn(&E) -> bool,
    ) -> bool {
        self.error.downcast_ref::<E>().is_some_and(condition)
    }

    /// Returns what kind of failure it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the pieces of advice, the most specific one first.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Returns the messages from the outermost to the root cause.
    pub fn chain(&self) -> impl Iterator<Item = String> + '_ {
        self.error.chain().map(ToString::to_string)
    }
}

/// The text for standard error: `error:`, the causes, the hints.
impl Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut last = String::new();
        for message in self.chain() {
            // An error type that repeats its source in its own message would be read twice.
            if !last.is_empty() && last.ends_with(&message) {
                continue;
            }
            let label = if last.is_empty() {
                "error"
            } else {
                "  caused by"
            };
            writeln!(text, "{label}: {message}")?;
            last = message;
        }
        for hint in &self.hints {
            writeln!(text, "hint: {hint}")?;
        }
        formatter.write_str(text.trim_end())
    }
}

impl<E: Explain + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            kind: Kind::Failed,
            hints: error.hints(),
            error: anyhow::Error::new(error),
        }
    }
}

/// Adds what was being done to the error of a result.
pub trait Context<T> {
    /// Wraps an error into `message`.
    ///
    /// # Errors
    /// The error of the result, wrapped.
    fn context(self, message: impl Display) -> Result<T>;

    /// Wraps an error into the message that `message` makes.
    ///
    /// # Errors
    /// The error of the result, wrapped.
    fn with_context<M: Display>(self, message: impl FnOnce() -> M) -> Result<T>;
}

impl<T, E: Into<Failure>> Context<T> for std::result::Result<T, E> {
    fn context(self, message: impl Display) -> Result<T> {
        self.map_err(|error| error.into().context(message))
    }

    fn with_context<M: Display>(self, message: impl FnOnce() -> M) -> Result<T> {
        self.map_err(|error| error.into().context(message()))
    }
}

/// Returns the one of `known` that `word` was probably meant to be, if any is near enough.
///
/// Near is an edit distance of at most a third of the longer word, and at most three.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (word.len().max(candidate.len()) / 3).min(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The Levenshtein distance, by characters, without regard to case.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, r) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("no provider is named `{0}`")]
    struct Unknown(&'static str);
    impl Explain for Unknown {
        fn hints(&self) -> Vec<String> {
            vec!["did you mean `aws`?".into()]
        }
    }

    #[test]
    fn a_failure_says_what_why_and_what_next() {
        let failure = Err::<(), _>(Unknown("asw"))
            .context("cannot install `asw`")
            .unwrap_err();
        assert_eq!(
            failure.to_string(),
            "error: cannot install `asw`\n  caused by: no provider is named `asw`\nhint: did you mean `aws`?"
        );
    }

    #[test]
    fn only_near_words_are_suggested() {
        let known = ["docker", "aws", "azure", "openstack"];
        assert_eq!(suggest("dokcer", known), Some("docker"));
        assert_eq!(suggest("openstak", known), Some("openstack"));
        assert_eq!(suggest("gcp", known), None);
    }
}
