//! Shows and empties the cache of downloads.

use std::path::PathBuf;

use super::Session;
use crate::error::Result;
use crate::repository::store::{Listed, Store};

/// What a cleared cache had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// Its folder, where there is one.
    pub folder: Option<PathBuf>,
    /// Entries.
    pub entries: usize,
    /// Their size on disk, in bytes.
    pub bytes: u64,
}

/// Lists what is in the cache, by URL.
///
/// # Errors
/// Its folder cannot be read.
pub fn list(session: &Session) -> Result<Vec<Listed>> {
    Ok(store(session).list()?)
}

/// Removes all that is in the cache. Commands that are under way go on without it.
///
/// # Errors
/// Its folder cannot be read, or a file in it not be removed.
pub fn clear(session: &Session) -> Result<Cleared> {
    let store = store(session);
    let (entries, bytes) = store.clear()?;
    Ok(Cleared {
        folder: session.config.cache_folder(),
        entries,
        bytes,
    })
}

fn store(session: &Session) -> Store {
    Store::new(session.config.cache_folder())
}
