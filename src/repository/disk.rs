//! Files and folders on disk, for local repositories, overrides and templates.

use std::io::ErrorKind;
use std::path::Path;

use super::{File, Reason};

/// Reads a file, `None` when it does not exist.
pub(super) async fn read_if_exists(path: &Path) -> Result<Option<File>, Reason> {
    let bytes = match tokio::fs::read(path).await {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(_) if path.is_dir() => {
            return Err(Reason::Folder {
                path: path.display().to_string(),
                contents: names_in(path, |_| true).await,
            });
        }
        Err(source) => {
            return Err(Reason::Io {
                path: path.to_owned(),
                source,
            });
        }
    };
    File::from_bytes(bytes, path.display().to_string()).map(Some)
}

/// Returns the sorted names in a folder whose file type passes; none for a folder that cannot be read.
pub(super) async fn names_in(
    folder: &Path,
    passes: impl Fn(&std::fs::Metadata) -> bool,
) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(mut entries) = tokio::fs::read_dir(folder).await else {
        return names;
    };
    while let Ok(Some(entry)) = entries.next_entry().await {
        // Follows symbolic links: a link to a version's folder is a version.
        let metadata = tokio::fs::metadata(entry.path()).await;
        if let (Ok(metadata), Ok(name)) = (metadata, entry.file_name().into_string())
            && passes(&metadata)
        {
            names.push(name);
        }
    }
    names.sort();
    names
}
