//! Repositories in GitLab's generic packages:
//! `https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}`.
//!
//! The token goes to the API of the project and nowhere else: every URL that is asked begins with the user's own. Files
//! may be redirected to the storage behind GitLab, which the client goes to without the token. The documentation of the
//! API: <https://docs.gitlab.com/api/packages/>, <https://docs.gitlab.com/user/packages/generic_packages/>.

use std::sync::Arc;
use std::time::SystemTime;

use serde::Deserialize;

use super::fetcher::{self, Answer};
use super::server::decode;
use super::{Error, File, Reason, Release, Settings, tag_of, unescaped_segments};
use crate::http::{self, Get, Url, display_url, limit};
use crate::ui::Ui;

/// Most packages on one page of the API.
const PAGE_SIZE: usize = 100;
/// GitLab counts pages up to 50,000 packages.
const LAST_PAGE: usize = 500;

/// Where a provider's packages are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitLab {
    /// The API's URL of the project, which is a number or an escaped path: `https://{host}/api/v4/projects/{project}`.
    project: String,
    package: String,
    pub(super) version: String,
    pub(super) file: String,
}

/// Why GitLab gives nothing.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The token is unknown, or has expired.
    #[error("GitLab refuses the token: unauthorized access, please check your credentials")]
    Token(#[source] http::Error),
    /// Nobody is answered without a token.
    #[error("GitLab asks for a token: unauthorized access, please check your credentials")]
    NoToken(#[source] http::Error),
    /// The token is good, but not for this; or it needs one.
    #[error("GitLab does not allow it")]
    Forbidden {
        /// Whether a token was sent.
        authorized: bool,
        /// The refusal.
        source: http::Error,
    },
    /// There were too many requests.
    #[error("GitLab takes no more requests{until}")]
    RateLimit {
        /// When requests are possible again, as for [`Reason::RateLimit`].
        until: String,
        /// Whether a token was sent.
        authorized: bool,
        /// The refusal.
        source: http::Error,
    },
    /// There is no such thing, or GitLab hides it.
    #[error("`{url}` does not exist")]
    Missing {
        /// The URL.
        url: String,
        /// Project as the URL has it.
        project: String,
        /// Whether a token was sent.
        authorized: bool,
    },
}

impl Refusal {
    /// Tells whether the thing is known not to exist.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// Says what helps.
    pub(super) fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::Token(_) => "renew or unset `GITLAB_ACCESS_TOKEN` (in the configuration file: `gitlab-access-token`)".into(),
            Self::NoToken(_) => {
                "set `GITLAB_ACCESS_TOKEN` (in the configuration file: `gitlab-access-token`) to a token with the scope `read_api`".into()
            }
            Self::Forbidden { authorized: false, .. } => {
                "if the project is private, set `GITLAB_ACCESS_TOKEN` to a token with the scope `read_api`; otherwise a proxy or firewall may forbid it"
                    .into()
            }
            Self::RateLimit { authorized: false, .. } => {
                "set `GITLAB_ACCESS_TOKEN`: GitLab takes more requests of users whom it knows".into()
            }
            Self::RateLimit { authorized: true, .. } => {
                "the requests of the token in `GITLAB_ACCESS_TOKEN` are used up: wait, or use another token".into()
            }
            Self::Forbidden { authorized: true, .. } => {
                "the token in `GITLAB_ACCESS_TOKEN` needs the scope `read_api`, and its owner the role Reporter in the project".into()
            }
            Self::Missing { project, authorized: true, .. } => format!(
                "check project, package, version and file; if project `{project}` is private, the token must be allowed to read it"
            ),
            Self::Missing { project, authorized: false, .. } => format!(
                "check project, package, version and file; if project `{project}` is private, set `GITLAB_ACCESS_TOKEN`"
            ),
        };
        vec![hint]
    }
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Option<String>,
    #[serde(default)]
    status: Option<String>,
}

impl GitLab {
    /// Tells whether a URL is one of GitLab's API, whatever its host is called.
    pub(super) fn has_form(url: &Url) -> bool {
        Self::take_apart(url).is_some()
    }

    /// Takes the URL of a provider apart. GitLab itself may be below a folder of its host.
    pub(super) fn parse(url: &Url) -> Result<Self, Error> {
        Self::take_apart(url).ok_or_else(|| Error::InvalidUrl {
            url: display_url(url),
            problem: "it is not the address of a file in a generic package of GitLab".into(),
            hint: "a GitLab repository should be in the form \
                `https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version or latest}/{file}`, \
                with `%2F` for the slashes in the project"
                .into(),
        })
    }

    fn take_apart(url: &Url) -> Option<Self> {
        let escaped: Vec<&str> = url.path_segments()?.collect();
        let api = escaped
            .windows(3)
            .position(|window| window == ["api", "v4", "projects"])?;
        let project = api + 3;
        let names = unescaped_segments(url);
        let [_, packages, generic, package, version, file] = names.get(project..)? else {
            return None;
        };
        let is_complete = [escaped[project], package, version, file]
            .iter()
            .all(|part| !part.is_empty());
        if packages != "packages" || generic != "generic" || !is_complete {
            return None;
        }
        let origin = url.origin().ascii_serialization();
        Some(Self {
            project: format!("{origin}/{}", escaped[..=project].join("/")),
            package: package.clone(),
            version: version.clone(),
            file: file.clone(),
        })
    }

    /// Returns the URL of the package.
    pub(super) fn location(&self) -> String {
        self.url(["packages", "generic", &self.package]).into()
    }

    /// Returns the versions of the package that are semantic ones, in no order; looked up once per process.
    pub(super) async fn releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        settings
            .cache
            .releases()
            .get_or_try_make(&self.location(), self.list_releases(settings))
            .await
    }

    async fn list_releases(&self, settings: &Settings) -> Result<Arc<[Release]>, Reason> {
        let mut releases = Vec::new();
        for page in 1..=LAST_PAGE {
            let url = self.page_url(page);
            let answer = self.get(settings, &url, None).await?;
            let packages: Vec<Package> = decode(&url, &answer.body)?;
            // Behind a proxy the link to the next page may have another scheme or host: only that there is one counts.
            let goes_on = packages.len() >= PAGE_SIZE || answer.next_page.is_some();
            let is_empty = packages.is_empty();
            let versions = packages
                .into_iter()
                .filter(|package| self.is_of(package))
                .filter_map(|package| package.version);
            releases.extend(versions.filter_map(Release::from_tag));
            if is_empty || !goes_on {
                break;
            }
        }
        releases.sort_by(|left: &Release, right| left.tag.cmp(&right.tag));
        releases.dedup();
        Ok(releases.into())
    }

    /// GitLab finds names that contain the one that is asked for, too, and packages that are not whole.
    fn is_of(&self, package: &Package) -> bool {
        let status = package.status.as_deref().unwrap_or("default");
        package.name == self.package && status == "default"
    }

    /// Reads a file of a version.
    pub(super) async fn read(
        &self,
        settings: &Settings,
        version: &str,
        file: &str,
    ) -> Result<File, Reason> {
        let known = settings.cache.releases().peek(&self.location());
        let tag = tag_of(known.as_deref().unwrap_or_default(), version);
        let url: String = self
            .url(["packages", "generic", &self.package, &tag, file])
            .into();
        let fetch = async {
            let body = self.get(settings, &url, Some(file)).await?.body;
            Ok::<_, Reason>(File::from_bytes(body, url.clone())?.text.into())
        };
        let text = settings.cache.texts().get_or_try_make(&url, fetch).await?;
        Ok(File {
            text: text.to_string(),
            origin: url.clone(),
            overridden: false,
        })
    }

    fn page_url(&self, page: usize) -> String {
        let mut url = self.url(["packages"]);
        url.query_pairs_mut()
            .append_pair("package_type", "generic")
            .append_pair("package_name", &self.package)
            .append_pair("order_by", "version")
            .append_pair("sort", "desc")
            .append_pair("per_page", &PAGE_SIZE.to_string())
            .append_pair("page", &page.to_string());
        url.into()
    }

    fn url<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = Url::parse(&self.project).expect("it was part of a URL");
        url.path_segments_mut()
            .expect("an https URL has segments")
            .extend(segments);
        url
    }

    /// Asks for a file, or for a list, with the token if there is one. What is public is had without a token that GitLab
    /// refuses.
    async fn get(
        &self,
        settings: &Settings,
        url: &str,
        file: Option<&str>,
    ) -> Result<Answer, Reason> {
        let ask = async |request: Get<'_>| match file {
            None => settings.fetcher.listing(request).await,
            Some(file) => {
                let body = settings.fetcher.file(request.label(file)).await?;
                Ok(Answer {
                    body,
                    content_type: String::new(),
                    next_page: None,
                })
            }
        };
        let request = Get::new(url);
        let Some(token) = &settings.gitlab_token else {
            return ask(request)
                .await
                .map_err(|error| self.reason(error, url, false));
        };
        match ask(request.clone().token(Some(token))).await {
            Err(fetcher::Error::Http(error)) if status_of(&error) == Some(401) => {
                let Ok(public) = ask(request).await else {
                    return Err(Refusal::Token(error).into());
                };
                if settings.cache.is_first_refusal_of_gitlab() {
                    Ui.warn(format!(
                        "GitLab refuses the token in `GITLAB_ACCESS_TOKEN`, going on without it: {error}; renew or unset it"
                    ));
                }
                Ok(public)
            }
            answer => answer.map_err(|error| self.reason(error, url, true)),
        }
    }

    fn reason(&self, error: fetcher::Error, url: &str, authorized: bool) -> Reason {
        let error = match error {
            fetcher::Error::Http(error) => error,
            other => return other.into(),
        };
        if let Some(end) = error.status().and_then(limit::end_of) {
            let until = limit::describe(end, SystemTime::now());
            return Refusal::RateLimit {
                until,
                authorized,
                source: error,
            }
            .into();
        }
        match status_of(&error) {
            Some(401) => Refusal::NoToken(error).into(),
            Some(403) => Refusal::Forbidden {
                authorized,
                source: error,
            }
            .into(),
            Some(404) => Refusal::Missing {
                url: url.split('?').next().unwrap_or(url).to_owned(),
                project: self.project_name(),
                authorized,
            }
            .into(),
            _ => Reason::Http(error),
        }
    }

    fn project_name(&self) -> String {
        let url = Url::parse(&self.project).expect("it was part of a URL");
        unescaped_segments(&url).pop().unwrap_or_default()
    }
}

fn status_of(error: &http::Error) -> Option<u16> {
    error.status().map(|status| status.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<GitLab, Error> {
        GitLab::parse(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_url_is_project_package_version_and_file() {
        for (project, name) in [
            ("https://gitlab.com/api/v4/projects/42", "42"),
            (
                "https://gitlab.com:8443/api/v4/projects/group%2Fsub%2Fname",
                "group/sub/name",
            ),
            ("https://host/gitlab/api/v4/projects/a%2Fb", "a/b"),
        ] {
            let gitlab = parse(&format!("{project}/packages/generic/p/v1.0.0/c.yaml")).unwrap();
            assert_eq!(gitlab.project, project);
            assert_eq!(gitlab.project_name(), name);
            assert_eq!(gitlab.location(), format!("{project}/packages/generic/p"));
            let names = [gitlab.package, gitlab.version, gitlab.file];
            assert_eq!(names, ["p", "v1.0.0", "c.yaml"]);
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for path in [
            "group/name/-/packages",
            "api/v4/projects/group/name/packages/generic/p/v1.0.0/c.yaml",
            "api/v4/projects/42/packages/generic/p/v1.0.0/",
            "api/v4/projects/42/packages/generic/p/v1.0.0/a/c.yaml",
            "api/v4/projects/42/packages/maven/p/v1.0.0/c.yaml",
            "api/v4/projects/42/repository/files/p/raw/c.yaml",
            "",
        ] {
            let url = format!("https://gitlab.com/{path}");
            assert!(!GitLab::has_form(&Url::parse(&url).unwrap()));
            let error = parse(&url).unwrap_err().to_string();
            assert!(error.contains("generic package of GitLab"), "{error}");
        }
    }

    #[test]
    fn names_are_escaped_in_urls() {
        let gitlab = parse(
            "https://gitlab.com/api/v4/projects/a%2Fb/packages/generic/p%20q/v1.0.0%2B1/c.yaml",
        )
        .unwrap();
        assert_eq!(
            (gitlab.package.as_str(), gitlab.version.as_str()),
            ("p q", "v1.0.0+1")
        );
        assert_eq!(
            gitlab.page_url(2),
            "https://gitlab.com/api/v4/projects/a%2Fb/packages?package_type=generic&package_name=p+q\
             &order_by=version&sort=desc&per_page=100&page=2"
        );
    }
}
