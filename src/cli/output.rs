//! Where the result of a command goes: standard output, or the file of `--write-to`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Explain, Result};
use crate::ui::Ui;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot write to standard output")]
    Stdout(#[source] io::Error),
    #[error("cannot write `{}`: it is a directory", .0.display())]
    Directory(PathBuf),
    #[error("cannot write `{}`: the folder `{}` does not exist", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("cannot write `{}`", path.display())]
    File { path: PathBuf, source: io::Error },
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Directory(path) => vec![format!(
                "name a file in it, e.g. `--write-to {}`",
                path.join("output.yaml").display()
            )],
            Self::NoFolder { folder, .. } => {
                vec![format!("create it: `mkdir -p {}`", folder.display())]
            }
            Self::Stdout(_) | Self::File { .. } => Vec::new(),
        }
    }
}

/// Prints data. A reader that went away, as `head` does, is no failure.
///
/// # Errors
/// Standard output cannot be written to for another reason, such as a full disk.
pub fn print(text: &str) -> Result<()> {
    match Ui.data(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Stdout(error).into()),
        _ => Ok(()),
    }
}

/// Where a rendered text goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file, which is replaced as a whole and readable for its owner only.
    File(PathBuf),
}

impl Destination {
    /// Reads the value of `--write-to`: blanks around it do not count, nothing and `-` mean standard output.
    ///
    /// # Errors
    /// It can be no file: better to hear this before the work than after it.
    pub fn from_flag(value: Option<&str>) -> Result<Self> {
        let value = value.unwrap_or_default().trim();
        if matches!(value, "" | "-") {
            return Ok(Self::Stdout);
        }
        let path = PathBuf::from(value);
        ensure_can_be_file(&path)?;
        Ok(Self::File(path))
    }

    /// Writes the text to the file and returns nothing, or returns the text for standard output.
    ///
    /// # Errors
    /// The file cannot be written; an older file of that name is as it was.
    pub fn deliver(self, text: String) -> Result<String> {
        match self {
            Self::Stdout => Ok(text),
            Self::File(path) => {
                write(&path, text.as_bytes()).map_err(|source| Error::File { path, source })?;
                Ok(String::new())
            }
        }
    }
}

fn ensure_can_be_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::Directory(path.to_owned()).into());
    }
    match folder_of(path) {
        folder if folder.is_dir() => Ok(()),
        folder => Err(Error::NoFolder {
            path: path.to_owned(),
            folder: folder.to_owned(),
        }
        .into()),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Writes a file so that readers see the old content or the new one. Symbolic links stay; pipes and devices, which
/// cannot be replaced, are written to.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(metadata) if !metadata.is_file() => OpenOptions::new()
            .write(true)
            .open(&target)?
            .write_all(content),
        _ => replace(&target, content),
    }
}

fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder_of(target).join(format!(".{name}.{}.tmp", std::process::id()));
    let result = create_private(&temporary)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, target));
    if result.is_err() {
        fs::remove_file(&temporary).ok();
    }
    result
}

/// Creates a file that only its owner can read: rendered templates may hold secrets.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
