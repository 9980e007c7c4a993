//! What can be wrong with a template. No message shows more of a template than names of variables.

use std::fmt::{self, Display};

use super::syntax::Operator;
use crate::error::Explain;

/// Why a template cannot be parsed or rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A reference does not follow the grammar.
    #[error("invalid variable reference at line {line}, column {column}: {detail}")]
    Parse {
        /// Line of the reference's `${`, from 1.
        line: usize,
        /// Column of the reference's `${`, in characters, from 1.
        column: usize,
        /// What is wrong.
        detail: ParseError,
        /// What stands where parsing ended.
        next: Next,
        /// Whether the reference is inside another one.
        nested: bool,
    },
    /// Required variables have no value: all of them, in byte order.
    #[error(
        "value for variables [{}] is not set. Please set the value using os environment variables or the clusterctl \
         config file", names_of(.0)
    )]
    Missing(Vec<MissingVariable>),
    /// A reference has no result.
    #[error("cannot render the reference to `{variable}` at line {line}: {problem}")]
    Evaluation {
        /// The variable that the reference begins with.
        variable: String,
        /// Line of the reference, from 1.
        line: usize,
        /// What is wrong.
        problem: EvaluationError,
    },
}

/// A required variable without a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVariable {
    /// The name as it is written.
    pub name: String,
    /// The lines where the template uses it, from 1.
    pub lines: Vec<usize>,
    /// It has an empty default, which counts as none.
    pub empty_default: bool,
}

impl MissingVariable {
    /// Says what about the way in which the template uses the variable may be a mistake.
    fn remark(&self) -> Option<String> {
        let name = &self.name;
        let is_shell_like = |c: char| c.is_lowercase() || c.is_ascii_digit();
        if self.empty_default {
            Some(format!(
                "an empty default is none; where a value of YAML stands alone, `${{{name}:=\"\"}}` makes it an empty text"
            ))
        } else if name.starts_with(is_shell_like) {
            Some(format!(
                "if it is a variable of a shell, write `$${{{name}}}`"
            ))
        } else {
            None
        }
    }
}

/// The way in which a reference does not follow the grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// `${}`, `${-A}`, `${{ x }}`
    #[error("no variable name follows the `${{`")]
    BadName,
    /// `${A.B}`, `${A-b}`, `${A :=b}`
    #[error("`{name}` is followed neither by `}}` nor by an operator")]
    ExpectedClose {
        /// The variable's name.
        name: String,
    },
    /// `${A#}`, `${A:1:}`, `${A:=b` at the end of the text
    #[error("an argument is missing in {}", form.of_variable(name))]
    BadArgument {
        /// The variable's name.
        name: String,
        /// What the operator says it is.
        form: Form,
    },
    /// `${#}`, `${A^b}`, `${A/x}`
    #[error("it is no complete {}", form.of_variable(name.as_deref().unwrap_or("NAME")))]
    MalformedExpression {
        /// The variable's name, if there is any.
        name: Option<String>,
        /// What the operator says it is.
        form: Form,
    },
}

impl ParseError {
    /// Returns the short name of the kind of error: `bad-name`, `expected-close`, `bad-argument`, `malformed-expression`.
    pub fn label(&self) -> &'static str {
        match self {
            Self::BadName => "bad-name",
            Self::ExpectedClose { .. } => "expected-close",
            Self::BadArgument { .. } => "bad-argument",
            Self::MalformedExpression { .. } => "malformed-expression",
        }
    }
}

/// The kinds of references that have an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `${#V}`
    Length,
    /// `${V:=default}` and the like
    Default,
    /// `${V^^}` and the like
    Case,
    /// `${V:offset:length}`
    Substring,
    /// `${V/pattern/replacement}` and the like
    Replace,
    /// `${V#pattern}` and the like
    Trim,
}

impl Form {
    pub(super) fn of(operator: Operator) -> Self {
        match operator {
            Operator::Length => Self::Length,
            Operator::Value | Operator::Default(_) => Self::Default,
            Operator::Case(_) => Self::Case,
            Operator::Substring => Self::Substring,
            Operator::Replace(_) => Self::Replace,
            Operator::Trim(..) => Self::Trim,
        }
    }

    fn of_variable(self, name: &str) -> String {
        match self {
            Self::Length => format!("length `${{#{name}}}`"),
            Self::Default => format!("default `${{{name}:=default}}`"),
            Self::Case => format!("change of case `${{{name}^^}}`"),
            Self::Substring => format!("substring `${{{name}:offset:length}}`"),
            Self::Replace => format!("replacement `${{{name}/pattern/replacement}}`"),
            Self::Trim => format!("removal `${{{name}#pattern}}`"),
        }
    }
}

/// What stands where the parser gave up: a kind of text, never the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The end of the template.
    End,
    /// White space.
    Space,
    /// `-`, `+` or `?`, which a shell would take for an operator.
    ShellOperator,
    /// Another `${`.
    Reference,
    /// Anything else.
    Other,
}

impl Next {
    pub(super) fn of(rest: &[u8]) -> Self {
        match rest {
            [] => Self::End,
            [b'-' | b'+' | b'?', ..] => Self::ShellOperator,
            [b'$', b'{', ..] => Self::Reference,
            [byte, ..] if byte.is_ascii_whitespace() => Self::Space,
            _ => Self::Other,
        }
    }
}

/// Why a reference has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// Offset plus length lies before the offset; the reference implementation crashes.
    #[error("the substring ends before it begins")]
    NegativeLength,
    /// The result is longer than any template needs.
    #[error("the result is longer than {} MiB", MAX_RESULT >> 20)]
    TooLong,
}

/// Limit on the bytes of a result. Replacements within replacements multiply, and could fill any memory.
pub(super) const MAX_RESULT: usize = 256 << 20;

/// How many lines or variables a hint names.
const MAX_LISTED: usize = 8;

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Parse {
                detail,
                next,
                nested,
                ..
            } => parse_hints(detail, *next, *nested),
            Self::Missing(variables) => missing_hints(variables, |_| Vec::new()),
            Self::Evaluation { problem, .. } => match problem {
                EvaluationError::NegativeLength => {
                    vec!["the length of a substring cannot be negative".into()]
                }
                EvaluationError::TooLong => {
                    vec!["look for replacements inside replacements".into()]
                }
            },
        }
    }
}

fn parse_hints(detail: &ParseError, next: Next, nested: bool) -> Vec<String> {
    let specific = match (detail, next) {
        (_, Next::End) => Some("the template ends before the reference is closed"),
        (ParseError::ExpectedClose { .. }, Next::ShellOperator) => {
            Some("a default is written `${NAME:=default}`; `-`, `+` and `?` need the colon too")
        }
        (ParseError::BadName | ParseError::ExpectedClose { .. }, Next::Space) => {
            Some("only a bare name may have white space around it, not one with an operator")
        }
        (ParseError::MalformedExpression { .. }, Next::Reference) => {
            Some("text and references can be mixed in defaults only")
        }
        (ParseError::BadArgument { .. }, _) => Some("only a default or a replacement may be empty"),
        _ => None,
    };
    let escape = if nested {
        "inside another reference `${` always begins a variable, it cannot be kept as text there"
    } else {
        "if it is text for a shell or another program, write `$${` in place of `${`"
    };
    specific
        .into_iter()
        .chain([escape])
        .map(Into::into)
        .collect()
}

/// Returns the hints of [`Error::Missing`]; `advice` has more to say about one of the variables.
pub fn missing_hints(
    variables: &[MissingVariable],
    advice: impl Fn(&MissingVariable) -> Vec<String>,
) -> Vec<String> {
    let hint = |variable: &MissingVariable| {
        let used = format!("`{}` is used in {}", variable.name, Lines(&variable.lines));
        let parts: Vec<String> = std::iter::once(used)
            .chain(variable.remark())
            .chain(advice(variable))
            .collect();
        parts.join("; ")
    };
    let mut hints: Vec<String> = variables.iter().take(MAX_LISTED).map(hint).collect();
    if variables.len() > MAX_LISTED {
        hints.push(format!("and {} more", variables.len() - MAX_LISTED));
    }
    hints.push(
        "a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`"
            .into(),
    );
    hints
}

fn names_of(variables: &[MissingVariable]) -> String {
    let names: Vec<&str> = variables
        .iter()
        .map(|variable| variable.name.as_str())
        .collect();
    names.join(", ")
}

/// Displays lines as `line 3`, `lines 3, 7`, `lines 1, 2, 3, 4, 5, 6, 7, 8 and 2 more`.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a>(pub &'a [usize]);

impl Display for Lines<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed: Vec<String> = self
            .0
            .iter()
            .take(MAX_LISTED)
            .map(usize::to_string)
            .collect();
        let plural = if self.0.len() == 1 { "" } else { "s" };
        write!(formatter, "line{plural} {}", listed.join(", "))?;
        match self.0.len().checked_sub(MAX_LISTED) {
            None | Some(0) => Ok(()),
            Some(more) => write!(formatter, " and {more} more"),
        }
    }
}
