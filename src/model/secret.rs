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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints_its_text() {
        let token = Some(Secret::new("ghp_abc"));
        assert_eq!(format!("{token:?}"), "Some([redacted])");
        assert_eq!(Secret::new("ghp_abc").to_string(), "[redacted]");
    }
}
