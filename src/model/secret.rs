//! Texts that must not be printed.

use std::fmt::{self, Debug, Display};

/// A token or password. It prints as `[redacted]`, so that neither logs nor errors can give it away.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

impl Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

/// What the name of a variable has in it when its value is to be hidden, in lower case.
const SECRET_PARTS: [&str; 9] = [
    "key",
    "token",
    "secret",
    "pass",
    "pwd",
    "b64",
    "credential",
    "cert",
    "dockerconfig",
];

/// Tells by the name of a variable whether its value is to be hidden.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_authentication = || {
        let mut after = name
            .match_indices("auth")
            .map(|(at, auth)| &name[at + auth.len()..]);
        after.any(|after| !after.starts_with("or"))
    };
    SECRET_PARTS.iter().any(|part| name.contains(part))
        || name == "pat"
        || name.ends_with("_pat")
        || is_authentication()
}

/// Tells whether a value has a URL with a user or password in it, as in `https://user:password@host`.
pub fn has_user_info(value: &str) -> bool {
    let is_end = |c: char| matches!(c, '/' | '?' | '#') || c.is_whitespace();
    let mut authorities = value.split("://").skip(1).map(|rest| {
        let end = rest.find(is_end).unwrap_or(rest.len());
        &rest[..end]
    });
    authorities.any(|authority| authority.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets() {
        for name in [
            "AWS_B64ENCODED_CREDENTIALS",
            "ssh_key_name",
            "GITHUB_TOKEN",
            "CLIENT_SECRET",
            "dbPassword",
            "CA_CERT",
            "DB_PASS",
            "admin_passphrase",
            "ROOT_PWD",
            "BASIC_AUTH",
            "AUTHOR_AUTH",
            "DOCKERCONFIGJSON",
            "CLOUD_CREDENTIALS",
            "GITLAB_PAT",
            "PAT",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "AWS_REGION",
            "CLUSTER_NAME",
            "KUBERNETES_VERSION",
            "AUTHOR",
            "AUTHORITY_HOST",
            "IMAGE_PATH",
            "PATCH",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn urls_tell_secrets_too() {
        for value in [
            "https://user:s3cret@proxy.example.com:3128",
            "a,http://token@example.com/x?y",
            "see ssh://git@example.com/a",
        ] {
            assert!(has_user_info(value), "{value}");
        }
        for value in [
            "https://example.com/a@b",
            "https://example.com?mail=a@b",
            "http://example.com me@example.com",
            "me@example.com",
            "",
        ] {
            assert!(!has_user_info(value), "{value}");
        }
    }

    #[test]
    fn a_secret_never_prints_its_text() {
        let token = Some(Secret::new("ghp_abc"));
        assert_eq!(format!("{token:?}"), "Some([redacted])");
        assert_eq!(Secret::new("ghp_abc").to_string(), "[redacted]");
    }
}
