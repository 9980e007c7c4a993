//! Files and folders that begin as the word does.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the paths, folders with a slash at their end. `~/` is `home`; hidden files only show when a dot asks for them.
pub fn list(word: &str, home: Option<&Path>) -> Vec<String> {
    let (folder, name) = word
        .rfind('/')
        .map_or(("", word), |at| word.split_at(at + 1));
    let Ok(entries) = fs::read_dir(place_of(folder, home)) else {
        return Vec::new();
    };
    let mut paths: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let hidden = found.starts_with('.') && !name.starts_with('.');
            let slash = if entry.path().is_dir() { "/" } else { "" };
            (found.starts_with(name) && !hidden).then(|| format!("{folder}{found}{slash}"))
        })
        .collect();
    paths.sort();
    paths
}

fn place_of(folder: &str, home: Option<&Path>) -> PathBuf {
    match (folder.strip_prefix("~/"), home, folder) {
        (Some(rest), Some(home), _) => home.join(rest),
        (_, _, "") => PathBuf::from("."),
        _ => PathBuf::from(folder),
    }
}
