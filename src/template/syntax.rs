//! What a template consists of once it is parsed.

use std::ops::Range;

/// A part of the text or of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// This range of the text, as it is.
    Text(Range<usize>),
    /// Text from which escapes were taken out.
    Unescaped(Vec<u8>),
    /// The reference with this index.
    Reference(usize),
}

/// One `${...}`.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    /// Index of the variable's name.
    pub name: usize,
    pub operator: Operator,
    /// As many as the operator takes: any number for a default, else none, one or two.
    pub arguments: Vec<Piece>,
    /// Its bytes in the text, from `${` to `}`.
    pub range: Range<usize>,
    /// Line of the original text where it begins, from 1.
    pub line: usize,
    /// Line where it ends; white space around the name may hold line ends.
    pub end_line: usize,
}

/// What happens to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `${V}`
    Value,
    /// `${#V}`
    Length,
    /// `${V=d}` `${V:=d}` `${V:-d}` `${V:?d}` `${V:+d}`, all with the same meaning.
    Default(Intent),
    /// `${V^}` `${V^^}` `${V,}` `${V,,}`; `None` for `${V^,}` and `${V,^}`, which change nothing.
    Case(Option<(Case, Extent)>),
    /// `${V:offset}` `${V:offset:length}`
    Substring,
    /// `${V/p/r}` and its kin.
    Replace(Replace),
    /// `${V#p}` and its kin.
    Trim(End, Reach),
}

/// What a shell would make of the spelling of a default; here all mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// `=` `:=` `:-`: what stands in for a value that is missing.
    Default,
    /// `:?`: the error message for a value that is missing.
    Message,
    /// `:+`: what replaces a value that is there.
    Alternative,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Upper,
    Lower,
}

/// Which characters change their case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    First,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replace {
    /// `/`
    First,
    /// `//`
    All,
    /// `/#`
    Prefix,
    /// `/%`
    Suffix,
}

/// The end of the value that is trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// `#` `##`
    Front,
    /// `%` `%%`
    Back,
}

/// Which of the matches is trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Shortest,
    Longest,
}
