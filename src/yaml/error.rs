//! What can be wrong with a YAML text. No message shows any of the text.

use std::fmt::{self, Display};

use crate::error::Explain;

/// Why a YAML text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Which document of a manifest it is, from 1, among those that hold something; `None` for a configuration file.
    pub document: Option<usize>,
    /// Line of the whole text, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong at a place of a YAML text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not YAML; the text says what the parser expected.
    #[error("{0}")]
    Syntax(String),
    /// Characters that YAML does not allow, by code point.
    #[error("the control character U+{0:04X} is not allowed")]
    ControlCharacter(u32),
    /// A tab where only blanks count as white space.
    #[error("a tab is not allowed here, neither to indent nor behind `-` or `?`")]
    Tab,
    /// A line end of YAML 1.1 that nobody sees, by code point.
    #[error(
        "the character U+{0:04X} ends a line in YAML 1.1, and with it a text without double quotes"
    )]
    LineSeparator(u32),
    /// A `?` in a text without quotes inside of brackets.
    #[error("a `?` ends a text without quotes inside of brackets")]
    QuestionMark,
    /// Text behind `---`.
    #[error("invalid Yaml document separator: only a comment may follow `---`")]
    Separator,
    /// A list or a scalar where an object is expected.
    #[error("the document is no mapping")]
    NotAMapping,
    /// The operations of a JSON patch, as kustomize has them in files beside manifests.
    #[error("the document is no mapping, but a list of operations with `op` and `path`")]
    Patch,
    /// A second document in a configuration file.
    #[error("a second document begins, there may be one only")]
    SecondDocument,
    /// A list, a mapping or null as a key.
    #[error("a key must be a text, a number or a boolean")]
    UnsupportedKey,
    /// A key that the mapping has already, in a configuration file.
    #[error("the key is in the same mapping twice")]
    DuplicateKey,
    /// `<<` with something else than mappings.
    #[error("map merge requires map or sequence of maps as the value")]
    MergeValue,
    /// `.inf` or `.nan`.
    #[error("infinity and not-a-number have no counterpart in JSON")]
    NotFinite,
    /// A scalar that its tag does not fit.
    #[error("the value is no `!!{0}`")]
    Tag(&'static str),
    /// An alias inside of the node that it stands for.
    #[error("the anchor's value contains itself")]
    SelfReference,
    /// Deeper nesting than any manifest has.
    #[error("the nesting is deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Aliases that expand to more than any manifest has.
    #[error("document contains excessive aliasing")]
    ExcessiveAliasing,
}

/// Limit on the depth of a document. The values are dropped and serialised recursively.
pub(super) const MAX_DEPTH: usize = 256;

/// A problem and its place.
#[derive(Debug)]
pub(super) struct Fault {
    pub place: Place,
    pub problem: Problem,
}

/// A place of the whole text, both from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    pub fn fault(self, problem: Problem) -> Fault {
        Fault {
            place: self,
            problem,
        }
    }
}

impl Error {
    pub(super) fn in_document(number: usize, fault: Fault) -> Self {
        Self {
            document: Some(number),
            ..Self::in_config(fault)
        }
    }

    pub(super) fn in_config(fault: Fault) -> Self {
        Self {
            document: None,
            line: fault.place.line,
            column: fault.place.column,
            problem: fault.problem,
        }
    }

    pub(super) fn separator(number: usize, line: usize) -> Self {
        let place = Place { line, column: 1 };
        Self::in_document(number, place.fault(Problem::Separator))
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.document {
            write!(
                formatter,
                "failed to unmarshal the {} yaml document: ",
                ordinal(number)
            )?;
        }
        write!(
            formatter,
            "line {}, column {}: {}",
            self.line, self.column, self.problem
        )
    }
}

impl std::error::Error for Error {}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        let hint = match &self.problem {
            Problem::NotAMapping => {
                "every document must hold one object, with `apiVersion` and `kind`"
            }
            Problem::Patch => {
                "this looks like a JSON patch, which is no manifest: give what comes of it, as `kustomize build` prints it"
            }
            Problem::Separator => "put the content on the line below `---`",
            Problem::UnsupportedKey => "put the key in quotes",
            Problem::DuplicateKey => "remove one of them",
            Problem::NotFinite => "put the value in quotes if it is meant as text",
            Problem::Syntax(expected) if expected.contains("tab") => {
                "indent with spaces, YAML allows no tabs there"
            }
            Problem::Tab => "indent with spaces, YAML allows no tabs there",
            Problem::QuestionMark => "put the text in quotes",
            Problem::LineSeparator(_) => {
                "put the text in double quotes and write the character as `\\L` or `\\P`"
            }
            Problem::Syntax(_) => {
                "look at the indentation and the quotes there and on the lines before"
            }
            Problem::ControlCharacter(_) => {
                "write it as an escape in double quotes, such as `\"\\x07\"`"
            }
            _ => return Vec::new(),
        };
        vec![hint.into()]
    }
}

/// `1st`, `2nd`, `3rd`, `4th`, `11th`, `21st`
fn ordinal(number: usize) -> String {
    let suffix = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_follow_english() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal);
        let expected = [
            "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
        ];
        assert_eq!(ordinals, expected);
    }
}
