//! Repositories in the program itself: `embedded:///{provider label}/{version or latest}/{file}`.

use super::{Error, File, LATEST, Reason, Release};
use crate::http::Url;
use crate::model::{EmbeddedRelease, Version};

/// The scheme of the addresses.
pub(super) const SCHEME: &str = "embedded";

/// The releases of a provider that the program has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Embedded {
    label: String,
    releases: Vec<EmbeddedRelease>,
    pub(super) version: String,
    pub(super) file: String,
}

impl Embedded {
    /// Takes an address apart and finds the provider among the releases.
    pub(super) fn parse(
        label: &str,
        url: &Url,
        releases: &[EmbeddedRelease],
    ) -> Result<Self, Error> {
        let invalid = |problem: String| Error::InvalidUrl {
            url: url.to_string(),
            problem,
            hint: format!(
                "the address of an embedded repository is `{SCHEME}:///{label}/{{version or latest}}/{{file}}`"
            ),
        };
        let parts: Vec<&str> = url.path_segments().into_iter().flatten().collect();
        let ([actual_label, version, file], "") = (&parts[..], url.host_str().unwrap_or_default())
        else {
            return Err(invalid("it has not three parts".into()));
        };
        if *actual_label != label {
            return Err(invalid(format!(
                "`{actual_label}` must be the provider, `{label}`"
            )));
        }
        if *version != LATEST && version.parse::<Version>().is_err() {
            return Err(invalid(format!(
                "`{version}` is neither a semantic version nor `{LATEST}`"
            )));
        }
        let releases: Vec<_> = releases
            .iter()
            .copied()
            .filter(|release| release.label == label)
            .collect();
        if releases.is_empty() {
            return Err(invalid("capictl has no such provider in it".into()));
        }
        Ok(Self {
            label: label.to_owned(),
            releases,
            version: (*version).to_owned(),
            file: (*file).to_owned(),
        })
    }

    /// Returns the place for messages.
    pub(super) fn location(&self) -> String {
        format!("{SCHEME}:///{}", self.label)
    }

    /// Returns the versions, in no order.
    pub(super) fn releases(&self) -> Vec<Release> {
        let tags = self.releases.iter().map(|release| release.version);
        tags.filter_map(|tag| Release::from_tag(tag.to_owned()))
            .collect()
    }

    /// Returns the names of a version's files.
    pub(super) fn files(&self, version: &str) -> Vec<String> {
        let files = self.release(version).map(|release| release.files);
        let names = files.into_iter().flatten().map(|(name, _)| *name);
        names.map(str::to_owned).collect()
    }

    /// Returns a file of a version; `1.2.3` is `v1.2.3` too.
    pub(super) fn read(&self, version: &str, file: &str) -> Result<File, Reason> {
        let Some(release) = self.release(version) else {
            return Err(Reason::MissingVersion {
                version: version.to_owned(),
                location: self.location(),
                available: self.releases.iter().map(|r| r.version.to_owned()).collect(),
            });
        };
        match release.files.iter().find(|(name, _)| *name == file) {
            Some((_, text)) => Ok(File {
                text: (*text).to_owned(),
                origin: format!("{}/{}/{file}", self.location(), release.version),
                overridden: false,
            }),
            None => Err(Reason::MissingFile {
                file: file.to_owned(),
                version: version.to_owned(),
                location: self.location(),
                available: self.files(version),
            }),
        }
    }

    fn release(&self, version: &str) -> Option<&EmbeddedRelease> {
        let wanted: Version = version.parse().ok()?;
        let is_wanted = |release: &&EmbeddedRelease| {
            release.version.parse().is_ok_and(|v: Version| v == wanted)
        };
        self.releases.iter().find(is_wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASES: [EmbeddedRelease; 2] = [
        EmbeddedRelease {
            label: "infrastructure-x",
            version: "v1.2.3",
            files: &[("c.yaml", "text"), ("metadata.yaml", "")],
        },
        EmbeddedRelease {
            label: "infrastructure-y",
            version: "v9.0.0",
            files: &[],
        },
    ];

    fn parse(url: &str) -> Result<Embedded, Error> {
        Embedded::parse("infrastructure-x", &Url::parse(url).unwrap(), &RELEASES)
    }

    #[test]
    fn files_are_found_by_version_and_name() {
        let repository = parse("embedded:///infrastructure-x/latest/c.yaml").unwrap();
        let names = (repository.version.as_str(), repository.file.as_str());
        assert_eq!(names, ("latest", "c.yaml"));
        assert_eq!(repository.releases().len(), 1);
        for version in ["v1.2.3", "1.2.3"] {
            let file = repository.read(version, "c.yaml").unwrap();
            let origin = "embedded:///infrastructure-x/v1.2.3/c.yaml";
            assert_eq!((file.text.as_str(), file.origin.as_str()), ("text", origin));
        }
    }

    #[test]
    fn what_is_not_there_is_said_with_what_is() {
        let repository = parse("embedded:///infrastructure-x/v1.2.3/c.yaml").unwrap();
        let missing = repository.read("v1.2.3", "d.yaml").unwrap_err();
        assert!(
            matches!(&missing, Reason::MissingFile { available, .. } if available == &["c.yaml", "metadata.yaml"]),
            "{missing}"
        );
        let missing = repository.read("v9.0.0", "c.yaml").unwrap_err();
        assert!(
            matches!(&missing, Reason::MissingVersion { available, .. } if available == &["v1.2.3"]),
            "{missing}"
        );
    }

    #[test]
    fn other_addresses_are_refused() {
        for (url, problem) in [
            ("embedded:///c.yaml", "not three parts"),
            (
                "embedded://host/infrastructure-x/latest/c.yaml",
                "not three parts",
            ),
            (
                "embedded:///infrastructure-y/latest/c.yaml",
                "must be the provider",
            ),
            (
                "embedded:///infrastructure-x/newest/c.yaml",
                "neither a semantic version",
            ),
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(error.contains(problem), "{url}: {error}");
        }
        let url = Url::parse("embedded:///addon-z/latest/c.yaml").unwrap();
        let error = Embedded::parse("addon-z", &url, &RELEASES).unwrap_err();
        assert!(
            error.to_string().contains("no such provider in it"),
            "{error}"
        );
    }
}
