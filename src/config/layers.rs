//! Values that a command line sets over the environment and the configuration file, and where a value came from.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// Where the value of a variable came from, the strongest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag or an argument of its own, as it is written: `--kubernetes-version`.
    Flag(&'static str),
    /// The user's answer to a question.
    Answer,
    /// `--set`.
    Set,
    /// A file of `--values`.
    Values(String),
    /// The environment variable of this name.
    Environment(String),
    /// The configuration file at this path or URL.
    File(String),
    /// The current namespace of the kubeconfig.
    Kubeconfig,
    /// What the command itself takes where nothing is said.
    BuiltIn,
}

impl Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) if flag.starts_with('-') => write!(formatter, "flag {flag}"),
            Self::Flag(_) => formatter.write_str("command line"),
            Self::Answer => formatter.write_str("answer on the terminal"),
            Self::Set => formatter.write_str("--set"),
            Self::Values(file) => write!(formatter, "--values {file}"),
            Self::Environment(name) => write!(formatter, "environment {name}"),
            Self::File(origin) => write!(formatter, "config file {origin}"),
            Self::Kubeconfig => formatter.write_str("namespace of the kubeconfig"),
            Self::BuiltIn => formatter.write_str("default of the command"),
        }
    }
}

/// A name in its own spelling, and its value.
#[derive(Clone)]
struct Entry {
    name: String,
    value: String,
    origin: Origin,
}

/// Values by name; case does not count. A value set before one of equal strength gives way.
#[derive(Clone, Default)]
pub(super) struct Layers {
    /// Flags and answers.
    flags: BTreeMap<String, Entry>,
    set: BTreeMap<String, Entry>,
    values: BTreeMap<String, Entry>,
}

impl Layers {
    pub fn insert(&mut self, name: &str, value: String, origin: Origin) {
        let layer = match origin {
            Origin::Set => &mut self.set,
            Origin::Values(_) => &mut self.values,
            _ => &mut self.flags,
        };
        let entry = Entry {
            name: name.to_owned(),
            value,
            origin,
        };
        layer.insert(name.to_lowercase(), entry);
    }

    /// Returns the strongest value of a key in lower case.
    pub fn get(&self, key: &str) -> Option<(&str, &Origin)> {
        let layers = [&self.flags, &self.set, &self.values];
        let entry = layers.into_iter().find_map(|layer| layer.get(key))?;
        Some((&entry.value, &entry.origin))
    }

    /// Returns what a flag has set.
    pub fn flag(&self, key: &str) -> Option<&str> {
        self.flags.get(key).map(|entry| entry.value.as_str())
    }

    /// Returns the names that `--set` has, as they are spelled there.
    pub fn set_names(&self) -> impl Iterator<Item = &str> {
        self.set.values().map(|entry| entry.name.as_str())
    }

    /// Returns all names, as they are spelled.
    pub fn names(&self) -> impl Iterator<Item = (&str, &Origin)> {
        [&self.flags, &self.set, &self.values]
            .into_iter()
            .flat_map(BTreeMap::values)
            .map(|entry| (entry.name.as_str(), &entry.origin))
    }
}
