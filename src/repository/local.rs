//! Repositories in a local folder: `{base}/{provider label}/{version}/{file}`, as a path or a `file:` URL.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::{Error, File, Reason, Release, disk, ensure_folders};
use crate::http::Url;
use crate::model::Version;

/// A provider's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Local {
    /// `{base}/{provider label}`.
    folder: PathBuf,
    pub(super) version: String,
    pub(super) file: String,
}

impl Local {
    /// Takes an address apart: a `file:` URL or an absolute path.
    pub(super) fn parse(label: &str, url: &str) -> Result<Self, Error> {
        let invalid = |problem: String| Error::InvalidUrl {
            url: url.to_owned(),
            problem,
            hint: format!(
                "the address of a local repository is `/{{folder}}/{label}/{{version or latest}}/{{file}}`"
            ),
        };
        let path = path_of(url).map_err(&invalid)?;
        let version_folder = path.parent().unwrap_or(&path);
        let folder = version_folder.parent().unwrap_or(version_folder);
        let names = [&path, version_folder, folder].map(name_of);
        let [Some(file), Some(version), Some(actual_label)] = names else {
            return Err(invalid("it has too few parts".into()));
        };
        ensure_folders(actual_label, version, label).map_err(invalid)?;
        Ok(Self {
            folder: folder.to_owned(),
            version: version.to_owned(),
            file: file.to_owned(),
        })
    }

    /// Returns the folder for messages.
    pub(super) fn location(&self) -> String {
        self.folder.display().to_string()
    }

    /// Returns the versions, in no order.
    pub(super) async fn releases(&self) -> Result<Vec<Release>, Reason> {
        self.ensure_folder().await?;
        let names = disk::names_in(&self.folder, Metadata::is_dir).await;
        Ok(names.into_iter().filter_map(Release::from_tag).collect())
    }

    /// Reads a file of a version; `v1.2.3` also finds a folder that is named `1.2.3`.
    pub(super) async fn read(&self, version: &str, file: &str) -> Result<File, Reason> {
        let folder = self.version_folder(version).await?;
        if let Some(file) = disk::read_if_exists(&folder.join(file)).await? {
            return Ok(file);
        }
        Err(Reason::MissingFile {
            file: file.to_owned(),
            version: version.to_owned(),
            location: self.location(),
            available: disk::names_in(&folder, Metadata::is_file).await,
        })
    }

    /// Returns the names of a version's files.
    pub(super) async fn files(&self, version: &str) -> Vec<String> {
        match self.version_folder(version).await {
            Ok(folder) => disk::names_in(&folder, Metadata::is_file).await,
            Err(_) => Vec::new(),
        }
    }

    async fn version_folder(&self, version: &str) -> Result<PathBuf, Reason> {
        let folder = self.folder.join(version);
        if tokio::fs::metadata(&folder).await.is_ok() {
            return Ok(folder);
        }
        let mut releases = self.releases().await?;
        let wanted = version.parse::<Version>().ok();
        if let Some(release) = releases
            .iter()
            .find(|release| Some(&release.version) == wanted.as_ref())
        {
            return Ok(self.folder.join(&release.tag));
        }
        releases.sort_by(|left, right| right.version.cmp(&left.version));
        Err(Reason::MissingVersion {
            version: version.to_owned(),
            location: self.location(),
            available: releases.into_iter().map(|release| release.tag).collect(),
        })
    }

    async fn ensure_folder(&self) -> Result<(), Reason> {
        if tokio::fs::metadata(&self.folder).await.is_ok() {
            return Ok(());
        }
        let base = self.folder.parent().unwrap_or(&self.folder);
        Err(Reason::MissingFolder {
            folder: self.folder.clone(),
            beside: disk::names_in(base, Metadata::is_dir).await,
        })
    }
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Returns the path of a `file:` URL, or the text itself when it is an absolute path.
fn path_of(address: &str) -> Result<PathBuf, String> {
    let path = match windows_path(address) {
        Some(path) if cfg!(windows) => PathBuf::from(path),
        Some(_) => return Err("it is a path of Windows, and this is another system".into()),
        None if address.starts_with("file:") => path_of_url(address)?,
        None => PathBuf::from(address),
    };
    if path.is_absolute() {
        Ok(path)
    } else {
        Err("it is not an absolute path".into())
    }
}

fn path_of_url(address: &str) -> Result<PathBuf, String> {
    let url = Url::parse(address).map_err(|error| format!("it is not a valid URL ({error})"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err("`?` and `#` are written `%3F` and `%23` in a `file:` URL".into());
    }
    match (url.to_file_path(), url.host_str()) {
        (Ok(path), _) => Ok(path),
        (Err(()), Some(host)) => Err(format!(
            "it is not an absolute path: `{host}` is taken for a host, three slashes go before a path"
        )),
        (Err(()), None) => Err("it is not an absolute path".into()),
    }
}

/// Returns the path with `\` that an address of Windows means: `C:\folder`, `C:/folder`, `/C:/folder`, `file:///C:/folder`,
/// `\\server\share`.
fn windows_path(address: &str) -> Option<String> {
    let path = match address.strip_prefix("file:") {
        Some(rest) => percent_decode_str(rest.trim_start_matches('/'))
            .decode_utf8()
            .ok()?
            .into_owned(),
        None if address.starts_with(r"\\") => return Some(address.to_owned()),
        None => address.strip_prefix('/').unwrap_or(address).to_owned(),
    };
    let is_drive = matches!(
        path.as_bytes(),
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic()
    );
    is_drive.then(|| path.replace('/', r"\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_folder_label_version_and_file() {
        for url in [
            "/base/infrastructure-x/v1.2.3/c.yaml",
            "file:///base/infrastructure-x/v1.2.3/c.yaml",
            "file:/base/infrastructure-x/v1.2.3/c.yaml",
        ] {
            let local = Local::parse("infrastructure-x", url).unwrap();
            assert_eq!(local.folder, Path::new("/base/infrastructure-x"), "{url}");
            assert_eq!((&*local.version, &*local.file), ("v1.2.3", "c.yaml"));
        }
        for spaced in [
            "file:///a%20b/x/latest/c.yaml",
            "file:///a b/x/latest/c.yaml",
            "/a b/x/latest/c.yaml",
        ] {
            let spaced = Local::parse("x", spaced).unwrap();
            assert_eq!(spaced.folder, Path::new("/a b/x"));
        }
    }

    #[test]
    fn paths_of_windows_are_recognised_everywhere() {
        for (address, path) in [
            (r"C:\a b\x", r"C:\a b\x"),
            ("c:/a/x", r"c:\a\x"),
            ("/C:/a/x", r"C:\a\x"),
            ("file:///C:/a%20b/x", r"C:\a b\x"),
            (r"file://C:\a\x", r"C:\a\x"),
            (r"\\server\share\x", r"\\server\share\x"),
        ] {
            assert_eq!(windows_path(address).as_deref(), Some(path), "{address}");
        }
        for other in ["/a/x", "/ab:/x", "file:///a/C:/x", "C:x", "a/b", ""] {
            assert_eq!(windows_path(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(not(windows))]
    fn paths_of_windows_are_refused_elsewhere() {
        let error = Local::parse("x", r"C:\base\x\v1.0.0\c.yaml").unwrap_err();
        assert!(
            error.to_string().contains("it is a path of Windows"),
            "{error}"
        );
    }

    #[test]
    fn other_addresses_are_refused() {
        for (url, problem) in [
            ("base/x/v1.0.0/c.yaml", "not an absolute path"),
            ("file://host/x/v1.0.0/c.yaml", "`host` is taken for a host"),
            ("file:///a#b/x/v1.0.0/c.yaml", "`%23`"),
            ("/v1.0.0/c.yaml", "too few parts"),
            ("/", "too few parts"),
            (
                "/base/y/v1.0.0/c.yaml",
                "must have the name of the provider",
            ),
            ("/base/x/v1.0/c.yaml", "neither a semantic version"),
        ] {
            let error = Local::parse("x", url).unwrap_err().to_string();
            assert!(error.contains(problem), "{url}: {error}");
        }
    }
}
