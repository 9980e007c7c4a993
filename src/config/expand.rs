//! Environment variables in URLs and paths of the configuration: `${HOME}/overrides`.

use super::env::Environment;
use crate::template::{Error, Template};

/// Substitutes the variables of a text, in the syntax of templates. Values come from the process environment only; what
/// is not set is empty.
///
/// # Errors
/// The text does not parse.
pub fn expand(text: &str, environment: &Environment) -> Result<String, Error> {
    let value_of = |name: &str| Some(environment.get(name).unwrap_or_default().to_owned());
    let expanded = Template::parse(text)?.render(value_of)?;
    Ok(String::from_utf8_lossy(&expanded).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_from_the_environment_and_may_be_unset() {
        let environment = Environment::from_pairs([("HOME", "/home/me")]);
        let table = [
            ("${HOME}/overrides", "/home/me/overrides"),
            ("/a/${NONE}/b", "/a//b"),
            ("${NONE:=/opt}/x", "/opt/x"),
            ("/$HOME/$$", "/$HOME/$"),
        ];
        for (text, expected) in table {
            assert_eq!(expand(text, &environment).unwrap(), expected);
        }
        assert!(expand("/a/${HOME", &environment).is_err());
    }
}
