//! What was downloaded before, on disk: release files, and listings with the ETag that tells whether they still hold.
//!
//! An entry is one file: a line of JSON about the content, then the content. It is written beside and renamed, so another
//! process sees all of it or nothing; its SHA-256 tells what a crash or a bad disk has left. The folder is its owner's
//! alone, for there may be files of private repositories. Credentials are no part of any entry. Whatever goes wrong costs
//! the cache and nothing else.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Explain;
use crate::http::{Url, display_url};
use crate::ui::Ui;

/// Ending of the names of entries; it changes when the form of entries does.
const ENDING: &str = ".entry1";
/// Beginning of the names of files that are being written.
const UNFINISHED: &str = ".unfinished-";
/// No write takes as long; an unfinished file of this age was left by a process that is gone.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// The cache folder. Clones share it.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: Option<PathBuf>,
    /// The user was told that writing fails.
    warned: AtomicBool,
}

/// What is in the cache for a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The content.
    pub body: Vec<u8>,
    /// The ETag that the server gave it, with its quotes.
    pub etag: Option<String>,
    /// The media type with its parameters, empty when the server gave none.
    pub content_type: String,
    /// For a listing, the URL of its next page.
    pub next_page: Option<String>,
}

/// What `cache list` shows of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Where the content is from, without query and credentials.
    pub url: String,
    /// Size of the content, in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
    /// When it was stored, in seconds since 1970.
    pub stored: u64,
}

/// Why the cache cannot be looked through.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its folder cannot be read.
    #[error("cannot read the download cache `{}`", .folder.display())]
    Read {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of it cannot be removed.
    #[error("cannot remove `{}` from the download cache", .path.display())]
    Remove {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Explain for Error {}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    listed: ListedHeader,
    etag: Option<String>,
    content_type: String,
    next_page: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct ListedHeader {
    /// SHA-256 of the whole URL: the one shown may lack parts.
    key: String,
    url: String,
    bytes: u64,
    sha256: String,
    stored: u64,
}

impl Store {
    /// Returns the cache in a folder, which is made when something is stored. Without a folder nothing is kept.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self(Arc::new(Inner {
            folder,
            warned: AtomicBool::new(false),
        }))
    }

    /// Returns the folder.
    pub fn folder(&self) -> Option<&Path> {
        self.0.folder.as_deref()
    }

    /// Returns what is stored for a URL. An entry that is not what was stored is removed.
    pub async fn load(&self, url: &str) -> Option<Entry> {
        let path = self.folder()?.join(name_of(url));
        let key = hexadecimal(url.as_bytes());
        let load = move || {
            let content = fs::read(&path).ok()?;
            let entry = parse(content, &key);
            if entry.is_none() {
                tracing::info!(path = %path.display(), "removing a damaged entry of the download cache");
                fs::remove_file(&path).ok();
            }
            entry
        };
        tokio::task::spawn_blocking(load)
            .await
            .expect("loading does not panic")
    }

    /// Stores what a URL has answered with. When that fails, the user is told once.
    pub async fn save(&self, url: &str, entry: &Entry) {
        let Some(folder) = self.folder().map(Path::to_owned) else {
            return;
        };
        let (name, content) = (name_of(url), render(url, entry));
        let saved = tokio::task::spawn_blocking(move || {
            write(&folder, &name, &content).map_err(|error| (folder, error))
        })
        .await
        .expect("saving does not panic");
        if let Err((folder, error)) = saved
            && !self.0.warned.swap(true, Ordering::Relaxed)
        {
            Ui.warn(format!(
                "downloads are not kept, for `{}` cannot be written: {error}",
                folder.display()
            ));
        }
    }

    /// Lists the entries, by URL.
    ///
    /// # Errors
    /// The folder cannot be read. That there is none is no error.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let mut listed = Vec::new();
        for path in self.paths()? {
            let is_entry = name(&path).ends_with(ENDING);
            let content = if is_entry { fs::read(&path).ok() } else { None };
            if let Some((header, _)) = content.as_deref().and_then(split) {
                let ListedHeader {
                    url,
                    bytes,
                    sha256,
                    stored,
                    ..
                } = header.listed;
                listed.push(Listed {
                    url,
                    bytes,
                    sha256,
                    stored,
                });
            }
        }
        listed.sort_by(|left, right| (&left.url, &left.sha256).cmp(&(&right.url, &right.sha256)));
        Ok(listed)
    }

    /// Removes all entries, and what unfinished writes have left. Returns the number of entries and their size in bytes.
    ///
    /// # Errors
    /// The folder cannot be read, or a file cannot be removed.
    pub fn clear(&self) -> Result<(usize, u64), Error> {
        let (mut entries, mut bytes) = (0, 0);
        for path in self.paths()? {
            let is_entry = name(&path).ends_with(ENDING);
            if !is_entry && !name(&path).starts_with(UNFINISHED) {
                continue;
            }
            let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Remove { path, source });
                }
                _ if is_entry => (entries, bytes) = (entries + 1, bytes + size),
                _ => {}
            }
        }
        Ok((entries, bytes))
    }

    fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        let Some(folder) = self.folder() else {
            return Ok(Vec::new());
        };
        let paths = |entries: fs::ReadDir| entries.map(|entry| Ok(entry?.path())).collect();
        match fs::read_dir(folder).and_then(paths) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            result => result.map_err(|source| Error::Read {
                folder: folder.to_owned(),
                source,
            }),
        }
    }
}

/// Returns the name of an entry's file: its beginning is for people, the rest tells URLs apart.
fn name_of(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let readable: String = last
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        .take(60)
        .collect();
    let readable = readable.trim_start_matches('.');
    format!("{readable}-{}{ENDING}", &hexadecimal(url.as_bytes())[..32])
}

fn name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn render(url: &str, entry: &Entry) -> Vec<u8> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let header = Header {
        listed: ListedHeader {
            key: hexadecimal(url.as_bytes()),
            url: Url::parse(url).map_or_else(|_| String::new(), |url| display_url(&url)),
            bytes: entry.body.len() as u64,
            sha256: hexadecimal(&entry.body),
            stored: now.map_or(0, |since| since.as_secs()),
        },
        etag: entry.etag.clone(),
        content_type: entry.content_type.clone(),
        next_page: entry.next_page.clone(),
    };
    let mut content = serde_json::to_vec(&header).expect("a header is serialisable");
    content.push(b'\n');
    content.extend_from_slice(&entry.body);
    content
}

/// Splits an entry's file into header and content.
fn split(content: &[u8]) -> Option<(Header, usize)> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let header = serde_json::from_slice(&content[..end]).ok()?;
    Some((header, end + 1))
}

/// Returns the entry if it is for this URL, and just as it was stored.
fn parse(mut content: Vec<u8>, key: &str) -> Option<Entry> {
    let (header, start) = split(&content)?;
    let body = content.split_off(start);
    let ListedHeader {
        key: actual,
        bytes,
        sha256,
        ..
    } = header.listed;
    let is_whole = body.len() as u64 == bytes && hexadecimal(&body) == sha256;
    (is_whole && actual == key).then_some(Entry {
        body,
        etag: header.etag,
        content_type: header.content_type,
        next_page: header.next_page,
    })
}

fn write(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    make_private(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)?;
    file.write_all(content)?;
    file.persist(folder.join(name))?;
    remove_abandoned(folder);
    Ok(())
}

fn make_private(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A process that was killed while it wrote cannot tidy up.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let is_old = |path: &Path| {
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
        modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > ABANDONED))
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if name(&path).starts_with(UNFINISHED) && is_old(&path) {
            fs::remove_file(&path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://me:pw@example.com/a/b.yaml?token=secret";

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(Some(folder.path().join("made/when/needed")));
        (folder, store)
    }

    fn entry(body: &str) -> Entry {
        Entry {
            body: body.into(),
            etag: Some("\"1\"".into()),
            content_type: "text/plain".into(),
            next_page: None,
        }
    }

    #[tokio::test]
    async fn what_is_stored_is_found_until_it_is_cleared() {
        let (_folder, store) = store();
        assert_eq!(store.load(URL).await, None);
        assert_eq!(store.list().unwrap(), []);
        store.save(URL, &entry("one\ntwo")).await;
        store.save(URL, &entry("three")).await;
        store.save("https://example.com/a/b.yaml", &entry("")).await;
        assert_eq!(store.load(URL).await, Some(entry("three")));
        let listed = store.list().unwrap();
        let urls: Vec<&str> = listed.iter().map(|entry| entry.url.as_str()).collect();
        assert_eq!(urls, ["https://example.com/a/b.yaml"; 2]);
        assert_eq!(listed.iter().map(|entry| entry.bytes).sum::<u64>(), 5);
        assert_eq!(store.clear().unwrap().0, 2);
        assert_eq!(store.load(URL).await, None);
    }

    #[tokio::test]
    async fn a_damaged_entry_is_none_and_goes() {
        let (_folder, store) = store();
        let damages: [fn(&mut Vec<u8>); 5] = [
            |content| content.truncate(content.len() - 1),
            |content| content.clear(),
            |content| *content.last_mut().unwrap() ^= 1,
            |content| content.push(b'x'),
            |content| content[5] ^= 1,
        ];
        for damage in damages {
            store.save(URL, &entry("text")).await;
            let path = store.folder().unwrap().join(name_of(URL));
            let mut content = fs::read(&path).unwrap();
            damage(&mut content);
            fs::write(&path, content).unwrap();
            assert_eq!(store.load(URL).await, None);
            assert!(!path.exists());
        }
    }

    #[tokio::test]
    async fn an_entry_is_good_for_its_own_url_only() {
        let (_folder, store) = store();
        store.save(URL, &entry("text")).await;
        let folder = store.folder().unwrap();
        let other = "https://example.com/other";
        fs::rename(folder.join(name_of(URL)), folder.join(name_of(other))).unwrap();
        assert_eq!(store.load(other).await, None);
    }

    #[tokio::test]
    async fn entries_are_private_and_show_no_secrets() {
        let (_folder, store) = store();
        store.save(URL, &entry("text")).await;
        let path = store.folder().unwrap().join(name_of(URL));
        let content = fs::read_to_string(&path).unwrap();
        assert!(
            !content.contains("secret") && !content.contains("pw"),
            "{content}"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(store.folder().unwrap())), (0o600, 0o700));
        }
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_costs_the_cache_only() {
        let (folder, _) = store();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let store = Store::new(Some(file));
        store.save(URL, &entry("text")).await;
        assert_eq!(store.load(URL).await, None);
        let nowhere = Store::new(None);
        nowhere.save(URL, &entry("text")).await;
        assert_eq!(nowhere.load(URL).await, None);
        assert_eq!(nowhere.list().unwrap(), []);
    }

    #[test]
    fn names_are_short_readable_and_tell_urls_apart() {
        let name = name_of("https://h/a/..%2Finfrastructure components.yaml?x");
        assert!(
            name.starts_with("2Finfrastructurecomponents.yaml-"),
            "{name}"
        );
        assert_ne!(name_of("https://h/a?page=1"), name_of("https://h/a?page=2"));
        assert!(name_of(&format!("https://h/{}", "x".repeat(999))).len() < 120);
    }
}
