//! A release that is part of the program.

/// The files of one release of one provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedRelease {
    /// Label of the provider, e.g. `infrastructure-mailgun`.
    pub label: &'static str,
    /// Version.
    pub version: &'static str,
    /// Names and texts, sorted by name.
    pub files: &'static [(&'static str, &'static str)],
}
