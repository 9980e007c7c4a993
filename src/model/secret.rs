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
const SECRET_PARTS: [&str; 7] = [
    "key",
    "token",
    "secret",
    "password",
    "b64",
    "credential",
    "cert",
];

/// Tells by the name of a variable whether its value is to be hidden.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
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
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["AWS_REGION", "CLUSTER_NAME", "KUBERNETES_VERSION"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_secret_never_prints_its_text() {
        let token = Some(Secret::new("ghp_abc"));
        assert_eq!(format!("{token:?}"), "Some([redacted])");
        assert_eq!(Secret::new("ghp_abc").to_string(), "[redacted]");
    }
}
