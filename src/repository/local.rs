//! Repositories in a local folder: `{base}/{provider label}/{version}/{file}`.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::{Error, File, LATEST, Reason, Release, disk};
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
        let path = path_of(url).ok_or_else(|| invalid("it is not an absolute path".into()))?;
        let version_folder = path.parent().unwrap_or(&path);
        let folder = version_folder.parent().unwrap_or(version_folder);
        let names = [&path, version_folder, folder].map(name_of);
        let [Some(file), Some(version), Some(actual_label)] = names else {
            return Err(invalid("it has too few parts".into()));
        };
        if actual_label != label {
            return Err(invalid(format!(
                "the folder `{actual_label}` must have the name of the provider, `{label}`"
            )));
        }
        if version != LATEST && version.parse::<Version>().is_err() {
            return Err(invalid(format!(
                "`{version}` is neither a semantic version nor `{LATEST}`"
            )));
        }
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
fn path_of(url: &str) -> Option<PathBuf> {
    let path = match url.strip_prefix("file:") {
        Some(_) => Url::parse(url).ok()?.to_file_path().ok()?,
        None => PathBuf::from(url),
    };
    path.is_absolute().then_some(path)
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
        let spaced = Local::parse("x", "file:///a%20b/x/latest/c.yaml").unwrap();
        assert_eq!(spaced.folder, Path::new("/a b/x"));
    }

    #[test]
    fn other_addresses_are_refused() {
        for (url, problem) in [
            ("base/x/v1.0.0/c.yaml", "not an absolute path"),
            ("file://host/x/v1.0.0/c.yaml", "not an absolute path"),
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
