//! Environment variables in URLs and paths of the configuration: `${HOME}/overrides`.
//!
//! Values come from the process environment only; what is not set is empty. The forms with a default are
//! known (`${X:=d}`, `${X:-d}`, `${X=d}`); an address has no use for the string functions of templates.

use super::env::Environment;

/// Why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `${` without `}`.
    #[error("`${{` has no closing brace")]
    Unclosed,
    /// Neither a name nor a name with a default stands between the braces.
    #[error("`${{{0}}}` is neither `${{NAME}}` nor `${{NAME:=default}}`")]
    Form(String),
}

/// Replaces every `${NAME}` and `${NAME:=default}` of a text; `$$` gives `$`, any other `$` stays.
///
/// # Errors
/// A brace is not closed, or something else stands between the braces.
pub fn expand(text: &str, environment: &Environment) -> Result<String, Error> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$$") {
            expanded.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("${") {
            let (inner, after) = after.split_once('}').ok_or(Error::Unclosed)?;
            expanded.push_str(&value_of(inner, environment)?);
            rest = after;
        } else {
            expanded.push('$');
            rest = &rest[1..];
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn value_of(inner: &str, environment: &Environment) -> Result<String, Error> {
    // clusterctl removes blanks around a name that stands alone.
    let inner = inner.trim();
    let end = inner
        .find(|character: char| !(character.is_alphanumeric() || character == '_'))
        .unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let default = match rest {
        "" => Some(""),
        _ => [":=", ":-", "="]
            .iter()
            .find_map(|operator| rest.strip_prefix(operator))
            .filter(|default| !default.contains('$')),
    };
    match default {
        Some(default) if !name.is_empty() => {
            let value = environment.get_non_empty(name).unwrap_or(default);
            Ok(value.to_owned())
        }
        _ => Err(Error::Form(inner.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_environment_are_replaced() {
        let environment = Environment::from_pairs([("HOME", "/home/me"), ("EMPTY", "")]);
        let expand = |text| expand(text, &environment).unwrap();
        assert_eq!(expand("file://${HOME}/x"), "file:///home/me/x");
        assert_eq!(expand("${ HOME }${UNSET}${EMPTY}!"), "/home/me!");
        assert_eq!(expand("${A:=a}${EMPTY:-b}${HOME=c}"), "ab/home/me");
        assert_eq!(expand("$HOME $${HOME} $"), "$HOME ${HOME} $");
    }

    #[test]
    fn anything_else_between_the_braces_is_refused() {
        let environment = Environment::default();
        for bad in ["${X", "${}", "${X^^}", "${:=d}", "${X:=${Y}}"] {
            assert!(expand(bad, &environment).is_err(), "{bad}");
        }
    }
}
