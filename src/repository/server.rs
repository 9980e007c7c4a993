//! GitHub itself, and GitHub Enterprise: where the API is, and which token it may see.
//!
//! A token goes to the API that it is meant for and to no other host: `GITHUB_TOKEN` to github.com's, the enterprise
//! token to that of the host that the user named with it. A link alone never decides where a token goes.

use std::time::SystemTime;

use super::fetcher::{self, Answer};
use super::{Reason, Settings};
use crate::http::{self, Get, Url, limit};
use crate::model::Secret;
use crate::ui::Ui;

/// Asks for the content of an asset.
pub(super) const BINARY: &str = "application/octet-stream";
/// Asks for the JSON of the API.
pub(super) const JSON: &str = "application/vnd.github+json";

/// A GitHub Enterprise host that the user has named, and the token for it.
#[derive(Debug, Clone)]
pub struct Enterprise {
    /// Host name, with `:port` unless that is 443.
    pub host: String,
    /// Token for its API.
    pub token: Option<Secret>,
}

/// A GitHub by its web host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    host: String,
}

impl Server {
    /// Returns github.com.
    pub(super) fn dot_com() -> Self {
        Self::at("github.com")
    }

    /// Returns the GitHub at a host.
    pub(super) fn at(host: &str) -> Self {
        Self {
            host: host.to_lowercase(),
        }
    }

    /// Tells whether it is github.com.
    pub(super) fn is_dot_com(&self) -> bool {
        self.host == "github.com"
    }

    /// Returns the host, with its port where that is not the usual one.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the URL of the web pages.
    pub(super) fn web(&self) -> String {
        format!("https://{}", self.host)
    }

    /// Returns the base of the API's URLs: a host of its own at github.com and with data residency, otherwise a path.
    ///
    /// See <https://docs.github.com/en/enterprise-server/rest/using-the-rest-api/getting-started-with-the-rest-api>.
    pub(super) fn api(&self) -> String {
        if self.is_dot_com() || self.host.ends_with(".ghe.com") {
            format!("https://api.{}", self.host)
        } else {
            format!("https://{}/api/v3", self.host)
        }
    }

    /// Returns a URL of the API, below `/repos/{owner}/{repository}`, from segments that are not escaped.
    pub(super) fn repository_api<'a>(
        &self,
        slug: &'a str,
        segments: impl IntoIterator<Item = &'a str>,
    ) -> Url {
        let mut url = Url::parse(&self.api()).expect("a host of a URL makes a URL");
        url.path_segments_mut()
            .expect("an https URL has segments")
            .push("repos")
            .extend(slug.split('/'))
            .extend(segments);
        url
    }

    /// Returns the token that this server's API may see.
    pub(super) fn token<'a>(&self, settings: &'a Settings) -> Option<&'a Secret> {
        if self.is_dot_com() {
            return settings.github_token.as_ref();
        }
        let enterprise = settings.enterprise.as_ref()?;
        self.is(&enterprise.host)
            .then_some(enterprise.token.as_ref())
            .flatten()
    }

    /// Tells whether it is the one at a host.
    pub(super) fn is(&self, host: &str) -> bool {
        self.host.eq_ignore_ascii_case(host)
    }

    /// Asks the API, with the token if there is one. What is public is had without a token that the API refuses.
    pub(super) async fn get(
        &self,
        settings: &Settings,
        url: &str,
        accept: &'static str,
    ) -> Result<Answer, Reason> {
        let ask = async |request: Get<'_>| match accept {
            // Whoever asks for a file keeps it, under the address that people know.
            BINARY => settings.fetcher.fetch(request).await,
            _ => settings.fetcher.listing(request).await,
        };
        let request = Get::new(url).accept(accept);
        let Some(token) = self.token(settings) else {
            return ask(request)
                .await
                .map_err(|error| reason(error, url, false));
        };
        match ask(request.clone().token(Some(token))).await {
            Err(fetcher::Error::Http(error)) if refuses_the_token(&error) => {
                let Ok(public) = ask(request).await else {
                    return Err(Reason::Token(error));
                };
                if settings.cache.is_first_refusal() {
                    Ui.warn(format!(
                        "GitHub refuses the token in `{}`, going on without it: {error}; renew or unset it",
                        self.token_variable()
                    ));
                }
                Ok(public)
            }
            answer => answer.map_err(|error| reason(error, url, true)),
        }
    }

    fn token_variable(&self) -> &'static str {
        if self.is_dot_com() {
            "GITHUB_TOKEN"
        } else {
            "GITHUB_ENTERPRISE_TOKEN"
        }
    }
}

/// The token is unknown (401), or an organisation does not accept it (403), e.g. one that wants single sign-on.
fn refuses_the_token(error: &http::Error) -> bool {
    error.status().is_some_and(|status| match status.code {
        401 => true,
        403 => !status.rate_limited && status.retry_after.is_none(),
        _ => false,
    })
}

fn reason(error: fetcher::Error, url: &str, authorized: bool) -> Reason {
    let error = match error {
        fetcher::Error::Http(error) => error,
        other => return other.into(),
    };
    if let Some(end) = error.status().and_then(limit::end_of) {
        return Reason::RateLimit {
            until: limit::describe(end, SystemTime::now()),
            authorized,
            source: error,
        };
    }
    match error.status().map(|status| status.code) {
        Some(401) if authorized => Reason::Token(error),
        Some(401) => Reason::NoToken(error),
        Some(404) => Reason::MissingUrl {
            url: url.split('?').next().unwrap_or(url).to_owned(),
            authorized,
        },
        _ => Reason::Http(error),
    }
}

/// Reads an answer of the API.
pub(super) fn decode<T: serde::de::DeserializeOwned>(url: &str, body: &[u8]) -> Result<T, Reason> {
    serde_json::from_slice(body).map_err(|source| Reason::Answer {
        url: url.split('?').next().unwrap_or(url).to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Http;
    use crate::repository::fetcher::Fetcher;
    use crate::repository::store::Store;

    #[test]
    fn the_api_is_on_a_host_or_a_path_of_its_own() {
        for (host, api) in [
            ("github.com", "https://api.github.com"),
            ("acme.ghe.com", "https://api.acme.ghe.com"),
            ("git.acme.example", "https://git.acme.example/api/v3"),
            (
                "git.acme.example:8443",
                "https://git.acme.example:8443/api/v3",
            ),
        ] {
            assert_eq!(Server::at(host).api(), api);
        }
        assert_eq!(
            Server::dot_com()
                .repository_api("o/r", ["git", "a b", "c/d?"])
                .as_str(),
            "https://api.github.com/repos/o/r/git/a%20b/c%2Fd%3F"
        );
    }

    #[test]
    fn a_token_goes_to_its_own_host_only() {
        let enterprise = Enterprise {
            host: "Git.acme.example".into(),
            token: Some(Secret::new("enterprise")),
        };
        let fetcher = Fetcher::new(Http::new("x"), Store::new(None), false);
        let settings = Settings::new(fetcher, Some(Secret::new("public")), None)
            .with_enterprise(Some(enterprise));
        let token = |host| Server::at(host).token(&settings).map(Secret::expose);
        assert_eq!(token("github.com"), Some("public"));
        assert_eq!(token("git.acme.example"), Some("enterprise"));
        for other in [
            "git.acme.example:8443",
            "acme.ghe.com",
            "evil.example",
            "github.com.evil.example",
        ] {
            assert_eq!(token(other), None, "{other}");
        }
    }
}
