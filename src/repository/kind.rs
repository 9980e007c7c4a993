//! Which kind of repository an address leads to: what the user says, or what the address looks like.

use super::embedded::{self, Embedded};
use super::folder::HttpFolder;
use super::github::GitHub;
use super::gitlab::GitLab;
use super::local::Local;
use super::server::Server;
use super::{Error, Settings};
use crate::http::{Url, display_url};
use crate::model::RepositoryType;

/// A repository by its kind.
#[derive(Debug)]
pub(super) enum Kind {
    Embedded(Embedded),
    Local(Local),
    HttpFolder(HttpFolder),
    GitLab(GitLab),
    GitHub(GitHub),
}

impl Kind {
    /// Takes an address apart.
    pub(super) fn parse(
        label: &str,
        address: &str,
        repository_type: Option<RepositoryType>,
        settings: &Settings,
    ) -> Result<Self, Error> {
        if !address.contains("://") || address.starts_with("file:") {
            ensure_type(address, repository_type, &[RepositoryType::Local])?;
            return Local::parse(label, address).map(Self::Local);
        }
        let Ok(url) = Url::parse(address) else {
            return Err(invalid(address, "it is not a valid URL"));
        };
        let shown = display_url(&url);
        match url.scheme() {
            embedded::SCHEME => {
                ensure_type(&shown, repository_type, &[])?;
                Embedded::parse(label, &url, &settings.embedded).map(Self::Embedded)
            }
            "https" | "http" => {
                use RepositoryType::{GitHub, GitLab, Http};
                ensure_type(&shown, repository_type, &[GitHub, GitLab, Http])?;
                ensure_no_credentials(&url)?;
                let guess = || guess(&url, settings);
                Self::on_the_web(label, &url, repository_type.unwrap_or_else(guess))
            }
            scheme => Err(invalid(
                &shown,
                &format!("there are no provider implementation for \"{scheme}\" schema"),
            )),
        }
    }

    fn on_the_web(label: &str, url: &Url, repository_type: RepositoryType) -> Result<Self, Error> {
        if repository_type == RepositoryType::Http {
            return HttpFolder::parse(label, url).map(Self::HttpFolder);
        }
        if url.scheme() != "https" {
            let problem =
                format!("releases of a `{repository_type}` repository are fetched by https only");
            return Err(invalid(&display_url(url), &problem));
        }
        match repository_type {
            RepositoryType::GitLab => GitLab::parse(url).map(Self::GitLab),
            _ => Ok(Self::GitHub(
                GitHub::parse(url)?.on(Server::at(&host_of(url))),
            )),
        }
    }

    /// Returns the version that the address names.
    pub(super) fn version(&self) -> &str {
        match self {
            Self::Embedded(embedded) => &embedded.version,
            Self::Local(local) => &local.version,
            Self::HttpFolder(folder) => &folder.version,
            Self::GitLab(gitlab) => &gitlab.version,
            Self::GitHub(github) => &github.version,
        }
    }

    /// Returns the name of the components file.
    pub(super) fn file(&self) -> &str {
        match self {
            Self::Embedded(embedded) => &embedded.file,
            Self::Local(local) => &local.file,
            Self::HttpFolder(folder) => &folder.file,
            Self::GitLab(gitlab) => &gitlab.file,
            Self::GitHub(github) => &github.file,
        }
    }

    /// Returns folder or URL, for people.
    pub(super) fn location(&self) -> String {
        match self {
            Self::Embedded(embedded) => embedded.location(),
            Self::Local(local) => local.location(),
            Self::HttpFolder(folder) => folder.location(),
            Self::GitLab(gitlab) => gitlab.location(),
            Self::GitHub(github) => github.location(),
        }
    }
}

/// GitHub is known by its name, or because the user has named it (`GH_HOST`); GitLab by the beginning of its name, as
/// clusterctl does, or by the form of the address, which is like no other. All else is a folder.
fn guess(url: &Url, settings: &Settings) -> RepositoryType {
    let host = host_of(url);
    let is_enterprise = settings
        .enterprise
        .as_ref()
        .is_some_and(|enterprise| Server::at(&host).is(&enterprise.host));
    if host == "github.com" || is_enterprise {
        RepositoryType::GitHub
    } else if GitLab::has_form(url) || (url.scheme() == "https" && host.starts_with("gitlab.")) {
        RepositoryType::GitLab
    } else {
        RepositoryType::Http
    }
}

/// Returns the host, with its port where that is not the usual one.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match (host, url.port()) {
        ("www.github.com", None) => "github.com".into(),
        (_, Some(port)) => format!("{host}:{port}"),
        _ => host.to_owned(),
    }
}

fn ensure_type(
    address: &str,
    repository_type: Option<RepositoryType>,
    possible: &[RepositoryType],
) -> Result<(), Error> {
    match repository_type {
        Some(wanted) if !possible.contains(&wanted) => Err(invalid(
            address,
            &format!("it cannot be of the `repositoryType` `{wanted}`"),
        )),
        _ => Ok(()),
    }
}

/// Addresses are shown and kept in many places, where no password should be.
fn ensure_no_credentials(url: &Url) -> Result<(), Error> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(());
    }
    Err(Error::InvalidUrl {
        url: display_url(url),
        problem: "it must not have a user name or password in it".into(),
        hint:
            "GitHub takes the token in `GITHUB_TOKEN`, GitLab the one in `GITLAB_ACCESS_TOKEN`; folders on the web are read without credentials"
                .into(),
    })
}

fn invalid(url: &str, problem: &str) -> Error {
    Error::InvalidUrl {
        url: url.to_owned(),
        problem: problem.to_owned(),
        hint: "supported are GitHub releases, \
            `https://github.com/{owner}/{repository}/releases/{version or latest}/{file}`, \
            generic packages of GitLab, \
            `https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version or latest}/{file}`, \
            and folders on this machine or on the web, \
            `/{folder}/{provider label}/{version or latest}/{file}` and \
            `https://{host}/{folder}/{provider label}/{version or latest}/{file}`"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Http;
    use crate::repository::Enterprise;
    use crate::repository::fetcher::Fetcher;
    use crate::repository::store::Store;

    const GITLAB: &str = "api/v4/projects/42/packages/generic/x/v1.0.0/c.yaml";
    const GITHUB: &str = "o/r/releases/v1.0.0/c.yaml";
    const FOLDER: &str = "a/x/v1.0.0/c.yaml";

    fn parse(address: &str, repository_type: Option<RepositoryType>) -> Result<Kind, Error> {
        let fetcher = Fetcher::new(Http::new("x"), Store::new(None), false);
        let enterprise = Enterprise {
            host: "git.acme.example:8443".into(),
            token: None,
        };
        let settings = Settings::new(fetcher, None, None).with_enterprise(Some(enterprise));
        Kind::parse("x", address, repository_type, &settings)
    }

    /// Returns the kind, and its location.
    fn describe(address: &str, repository_type: Option<RepositoryType>) -> (&'static str, String) {
        let kind = parse(address, repository_type).unwrap_or_else(|error| panic!("{error}"));
        let name = match kind {
            Kind::Embedded(_) => "embedded",
            Kind::Local(_) => "local",
            Kind::HttpFolder(_) => "http",
            Kind::GitLab(_) => "gitlab",
            Kind::GitHub(_) => "github",
        };
        (name, kind.location())
    }

    #[test]
    fn an_address_tells_its_kind() {
        for (address, kind) in [
            (format!("https://github.com/{GITHUB}"), "github"),
            (format!("https://git.acme.example:8443/{GITHUB}"), "github"),
            (format!("https://gitlab.com/{GITLAB}"), "gitlab"),
            (format!("https://git.acme.example/{GITLAB}"), "gitlab"),
            (format!("https://git.acme.example/{FOLDER}"), "http"),
            (format!("http://localhost:8080/{FOLDER}"), "http"),
            (format!("/{FOLDER}"), "local"),
            (format!("file:///{FOLDER}"), "local"),
        ] {
            assert_eq!(describe(&address, None).0, kind, "{address}");
        }
        let (_, location) = describe(&format!("https://www.github.com/{GITHUB}"), None);
        assert_eq!(location, "https://github.com/o/r/releases");
    }

    #[test]
    fn the_setting_goes_before_the_guess() {
        for (address, wanted, location) in [
            (
                format!("https://ghe.acme.example:444/{GITHUB}"),
                RepositoryType::GitHub,
                "https://ghe.acme.example:444/o/r/releases",
            ),
            (
                format!("https://gitlab.acme.example/{FOLDER}"),
                RepositoryType::Http,
                "https://gitlab.acme.example/a/x",
            ),
            (
                format!("https://code.acme.example/{GITLAB}"),
                RepositoryType::GitLab,
                "https://code.acme.example/api/v4/projects/42/packages/generic/x",
            ),
            (format!("/{FOLDER}"), RepositoryType::Local, "/a/x"),
        ] {
            let (kind, actual) = describe(&address, Some(wanted));
            assert_eq!((kind, actual.as_str()), (wanted.as_str(), location));
        }
    }

    #[test]
    fn other_addresses_are_no_repositories() {
        use RepositoryType::{GitHub, GitLab, Http, Local};
        for (address, repository_type, problem) in [
            ("https://example.com/x", None, "too few parts"),
            (
                "https://gitlab.com/x/v1.0.0/c.yaml",
                None,
                "package of GitLab",
            ),
            ("http://github.com/o/r/releases/v1/c", None, "by https only"),
            ("ftp://a/x/v1.0.0/c.yaml", None, "for \"ftp\" schema"),
            ("https://", None, "not a valid URL"),
            ("relative/x/v1.0.0/c.yaml", None, "not an absolute path"),
            ("/a/x/v1.0.0/c.yaml", Some(Http), "`repositoryType` `http`"),
            ("https://a/x/v1.0.0/c.yaml", Some(Local), "`local`"),
            (
                "https://a/x/v1.0.0/c.yaml",
                Some(GitLab),
                "package of GitLab",
            ),
            (
                "https://a/x/v1.0.0/c.yaml",
                Some(GitHub),
                "a release's file",
            ),
            ("embedded:///x/v1.0.0/c.yaml", Some(Local), "`local`"),
            (
                "https://me:s3cret@a/x/v1.0.0/c.yaml",
                None,
                "must not have a user name or password",
            ),
        ] {
            let error = parse(address, repository_type).unwrap_err().to_string();
            assert!(error.contains(problem), "{address}: {error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
