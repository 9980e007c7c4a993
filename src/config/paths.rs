//! Paths and addresses in the configuration file: relative to the file, `~/...`, `$NAME/...`.
//!
//! clusterctl takes absolute paths and URLs alone, so whatever it understands means the same here.

use std::path::{Path, PathBuf};

use super::env::{self, Environment};
use super::expand::expand;
use crate::template::Template;

/// What paths are resolved by.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The environment of the process.
    pub environment: &'a Environment,
    /// The folder of the configuration file, when that is one on disk.
    pub folder: Option<&'a Path>,
}

impl Surroundings<'_> {
    /// Returns the address that a text of the file stands for: variables are substituted; what is a path becomes an
    /// absolute one.
    ///
    /// # Errors
    /// A variable reference does not parse, or nothing tells where the path begins: says so.
    pub fn resolve_address(&self, text: &str) -> Result<String, String> {
        self.locate(self.substitute(text)?)
    }

    /// Returns a text of the file with `${NAME}` substituted.
    ///
    /// # Errors
    /// A variable reference does not parse: says so.
    pub fn substitute(&self, text: &str) -> Result<String, String> {
        expand(text, self.environment).map_err(|error| error.to_string())
    }

    /// Returns the variables of a text that are not set and have no default.
    pub fn unset_variables(&self, text: &str) -> Vec<String> {
        let Ok(template) = Template::parse(text) else {
            return Vec::new();
        };
        let variables = template.variables().iter();
        let unset = variables.filter(|variable| {
            variable.default.is_none() && self.environment.get(&variable.name).is_none()
        });
        unset.map(|variable| variable.name.clone()).collect()
    }

    /// Returns an address, made absolute when it is a path.
    ///
    /// # Errors
    /// Nothing tells where the path begins: says so.
    pub fn locate(&self, address: String) -> Result<String, String> {
        if address.is_empty() || is_url(&address) || is_windows_path(&address) {
            return Ok(address);
        }
        ensure_no_url_is_meant(&address)?;
        let path = self.resolve_home(&address)?;
        if path.is_absolute() {
            return Ok(path.to_string_lossy().into_owned());
        }
        let Some(folder) = self.folder else {
            return Err(
                "a relative path begins at the folder of the configuration file, which is not on disk: write an absolute one"
                    .into(),
            );
        };
        match std::path::absolute(folder.join(path)) {
            Ok(path) => Ok(path.to_string_lossy().into_owned()),
            Err(error) => Err(format!("the path cannot be made absolute: {error}")),
        }
    }

    /// Replaces `~` and `$NAME` where a path begins with them.
    ///
    /// # Errors
    /// The variable is not set: says so.
    pub fn resolve_home(&self, path: &str) -> Result<PathBuf, String> {
        let end = path.find(['/', '\\']).unwrap_or(path.len());
        let (first, rest) = path.split_at(end);
        let rest = rest.trim_start_matches(['/', '\\']);
        let variable = match first.strip_prefix('$') {
            _ if first == "~" => env::HOME,
            Some(name) if is_name(name) => name,
            _ if first.starts_with('~') => {
                return Err(format!(
                    "`{first}` is not understood: write `~` for your own home folder, or the whole path"
                ));
            }
            _ => return Ok(path.into()),
        };
        match self.environment.get_non_empty(variable) {
            Some(folder) => Ok(Path::new(folder).join(rest)),
            None => Err(format!(
                "`{first}` leads nowhere: the environment variable `{variable}` is not set"
            )),
        }
    }
}

fn is_url(address: &str) -> bool {
    address.contains("://") || address.starts_with("file:")
}

/// A drive (`C:\`, `C:/`) or a share (`\\server`).
fn is_windows_path(address: &str) -> bool {
    let drive = |bytes: &[u8]| matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    address.starts_with(r"\\") || drive(address.as_bytes())
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Addresses that lack a part would otherwise be searched for beside the configuration file.
fn ensure_no_url_is_meant(address: &str) -> Result<(), String> {
    let host = address.split('/').next().unwrap_or_default();
    match host {
        "http:" | "https:" => Err(format!("`{host}` must be followed by two slashes")),
        "github.com" | "www.github.com" | "gitlab.com" => {
            Err("an address on the web begins with `https://`".into())
        }
        // As git has them; a path with a colon there is none for clusterctl either.
        _ if host.contains(':') => Err(format!(
            "`{host}` is neither a path nor an address: the latter begins with `https://`"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<String, String> {
        let environment = Environment::from_pairs([("HOME", "/home/me"), ("RELEASES", "/srv/r")]);
        Surroundings {
            environment: &environment,
            folder: Some(Path::new("/etc/capi")),
        }
        .resolve_address(text)
    }

    #[test]
    #[cfg(unix)]
    fn paths_become_absolute() {
        for (text, expected) in [
            ("/a b/x", "/a b/x"),
            ("x/v1.0.0/c.yaml", "/etc/capi/x/v1.0.0/c.yaml"),
            ("./x/c.yaml", "/etc/capi/x/c.yaml"),
            ("../x/c.yaml", "/etc/capi/../x/c.yaml"),
            ("~/x", "/home/me/x"),
            ("$RELEASES/x", "/srv/r/x"),
            ("${RELEASES}/x", "/srv/r/x"),
            ("${HOME}/a$b/x", "/home/me/a$b/x"),
            ("/a/$HOME/x", "/a/$HOME/x"),
        ] {
            assert_eq!(resolve(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn urls_and_paths_of_windows_stay_as_they_are() {
        for text in [
            "https://github.com/o/r/releases/latest/c.yaml",
            "file:///a%20b/x",
            "file:/a/x",
            r"C:\a b\x",
            "c:/a/x",
            r"\\server\share\x",
            "",
        ] {
            assert_eq!(resolve(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_leads_nowhere_says_why() {
        for (text, problem) in [
            ("$NONE/x", "`NONE` is not set"),
            ("~other/x", "`~other` is not understood"),
            ("github.com/o/r/releases/latest/c.yaml", "`https://`"),
            ("https:/github.com/o/r/c.yaml", "two slashes"),
            ("git@github.com:o/r.git", "`git@github.com:o` is neither"),
            ("${X", "invalid variable reference"),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
        let nowhere = Surroundings {
            environment: &Environment::default(),
            folder: None,
        };
        let error = nowhere.resolve_address("x/c.yaml").unwrap_err();
        assert!(error.contains("not on disk"), "{error}");
        let error = nowhere.resolve_address("~/x").unwrap_err();
        assert!(error.contains("`HOME` is not set"), "{error}");
    }
}
