//! Container image references and what the configuration's `images` section changes about them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What replaces the parts of an image reference; an empty field replaces nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImageOverride {
    /// Everything before the last path element, the registry's host included.
    pub repository: String,
    /// The last path element, without tag.
    pub name: String,
    /// The tag.
    pub tag: String,
}

/// The `images` section of the configuration, by key: `all`, a provider label, or `{provider label}/{image name}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageOverrides(pub BTreeMap<String, ImageOverride>);
