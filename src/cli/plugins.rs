//! Plugins: `capictl foo bar` runs `capictl-foo-bar` or `capictl-foo` from `PATH`, else the same of `clusterctl-`.
//!
//! Only an unknown first word is looked up, so that no plugin can stand in for a command.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::values::Quoted;
use crate::error::{Explain, Failure, Result};

/// The families of plugins, our own first.
const PREFIXES: [&str; 2] = ["capictl", "clusterctl"];

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot run the plugin `{path}`")]
    Run { path: PathBuf, source: io::Error },
}

impl Explain for Error {}

/// Becomes the plugin that `typed` names, if there is one; on systems without `exec` it ends with the plugin's code.
///
/// # Errors
/// There is one, but it cannot be run, or flags stand before its name.
pub fn run(unknown: &str, typed: &[OsString]) -> Result<()> {
    let folders = folders();
    let words = leading_words(typed);
    if words.is_empty() {
        return match find(&[unknown.to_owned()], &folders) {
            Some(_) => Err(flags_before(unknown, typed)),
            None => Ok(()),
        };
    }
    match find(&words, &folders) {
        Some((path, used)) => Err(execute(path, &typed[used..])),
        None => Ok(()),
    }
}

/// Returns the arguments up to the first flag.
fn leading_words(typed: &[OsString]) -> Vec<String> {
    let words = typed
        .iter()
        .map_while(|word| word.to_str().filter(|word| !word.starts_with('-')));
    words.map(str::to_owned).collect()
}

/// The folders of `PATH`. Relative ones are left out: a plugin must not depend on the current folder.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .collect()
}

/// Returns the first plugin with the most words, and the number of words that its name took.
///
/// `-` joins the words of a name, hence `_` stands for a `-` within a word.
fn find(words: &[String], folders: &[PathBuf]) -> Option<(PathBuf, usize)> {
    let words: Vec<String> = words.iter().map(|word| word.replace('-', "_")).collect();
    PREFIXES.iter().find_map(|prefix| {
        (1..=words.len()).rev().find_map(|used| {
            let name = format!("{prefix}-{}", words[..used].join("-"));
            folders
                .iter()
                .find_map(|folder| executable(folder, &name))
                .map(|path| (path, used))
        })
    })
}

#[cfg(unix)]
fn executable(folder: &Path, name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    let metadata = path.metadata().ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
}

#[cfg(not(unix))]
fn executable(folder: &Path, name: &str) -> Option<PathBuf> {
    ["exe", "cmd", "bat"]
        .iter()
        .map(|extension| folder.join(format!("{name}.{extension}")))
        .find(|path| path.is_file())
}

#[cfg(unix)]
fn execute(path: PathBuf, arguments: &[impl AsRef<OsStr>]) -> Failure {
    use std::os::unix::process::CommandExt;
    let source = Command::new(&path).args(arguments).exec();
    Error::Run { path, source }.into()
}

#[cfg(not(unix))]
fn execute(path: PathBuf, arguments: &[impl AsRef<OsStr>]) -> Failure {
    match Command::new(&path).args(arguments).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(source) => Error::Run { path, source }.into(),
    }
}

fn flags_before(plugin: &str, typed: &[OsString]) -> Failure {
    let flag = typed
        .first()
        .map(|flag| flag.to_string_lossy().into_owned())
        .unwrap_or_default();
    Failure::new(format!(
        "flags cannot be placed before plugin name: {}",
        Quoted(&[flag])
    ))
    .hint(format!(
        "write `capictl {plugin}` first, then the plugin's flags"
    ))
}
