//! The versions of a GitHub repository as Go module proxies know them, where the user has set `GOPROXY`.
//!
//! A proxy answers quickly and without a limit. It knows tags, not releases, and nothing of what is no Go module: GitHub's
//! API is asked when it has nothing. The protocol: <https://go.dev/ref/mod#goproxy-protocol>.

use std::fmt::{self, Debug};

use super::fetcher::{self, Fetcher};
use super::{Release, Settings};
use crate::http::{Get, Url, display_url};
use crate::ui::Ui;

/// What Go adds to a tag of major version 2 or later whose module says nothing of it.
const INCOMPATIBLE: &str = "+incompatible";

/// The proxies of a `GOPROXY`, in the order to ask them.
#[derive(Clone, PartialEq, Eq)]
pub struct GoProxy(Vec<Proxy>);

#[derive(Clone, PartialEq, Eq)]
struct Proxy {
    url: Url,
    /// The next proxy is asked after any error (`|`), not only when this one lacks the module (`,`).
    any_error: bool,
}

impl Debug for GoProxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls = self.0.iter().map(|proxy| display_url(&proxy.url));
        formatter.debug_list().entries(urls).finish()
    }
}

impl GoProxy {
    /// Reads the value of `GOPROXY`. The list ends at `off` or `direct`: behind them comes GitHub. Returns `None` where no
    /// proxy is left.
    pub fn parse(text: &str) -> Option<Self> {
        let mut proxies = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find([',', '|']).unwrap_or(rest.len());
            let (entry, after) = rest.split_at(end);
            let any_error = after.starts_with('|');
            rest = after.get(1..).unwrap_or_default();
            match entry.trim() {
                "" => {}
                "off" | "direct" => break,
                entry => match parse_url(entry) {
                    Some(url) => proxies.push(Proxy { url, any_error }),
                    None => tracing::warn!(
                        entry = proxies.len() + 1,
                        "passing over an entry of `GOPROXY` that is no http(s) URL"
                    ),
                },
            }
        }
        (!proxies.is_empty()).then_some(Self(proxies))
    }

    /// Returns the tags of a repository that are semantic versions, in no order; `None` when no proxy has any.
    pub(super) async fn releases(&self, settings: &Settings, module: &str) -> Option<Vec<Release>> {
        for proxy in &self.0 {
            match proxy.list(&settings.fetcher, module).await {
                Ok(releases) if !releases.is_empty() => return Some(releases),
                Ok(_) => tracing::debug!(proxy = display_url(&proxy.url), module, "no versions"),
                Err(error) => {
                    tracing::info!(proxy = display_url(&proxy.url), %error, "a Go module proxy does not tell versions");
                    if error.http().is_some() && settings.cache.is_first_failure_of_go_proxy() {
                        Ui.warn(format!(
                            "a Go module proxy of `GOPROXY` fails, going on without it: {error}"
                        ));
                    }
                    if !proxy.any_error {
                        return None;
                    }
                }
            }
        }
        None
    }
}

impl Proxy {
    /// Lists the versions of all major versions up to the first that has none.
    async fn list(&self, fetcher: &Fetcher, module: &str) -> Result<Vec<Release>, fetcher::Error> {
        let mut releases = Vec::new();
        for major in 1.. {
            let url = self.list_url(module, major);
            let found = match fetcher.listing(Get::new(&url)).await {
                Err(error) if error.is_not_found() => Vec::new(),
                answer => parse_list(&answer?.body, major),
            };
            if found.is_empty() && major > 1 {
                break;
            }
            releases.extend(found);
        }
        Ok(releases)
    }

    /// Major versions from 2 on are modules of their own.
    fn list_url(&self, module: &str, major: u64) -> String {
        let major = (major > 1).then(|| format!("v{major}"));
        let escaped = escape(module);
        let mut url = self.url.clone();
        url.path_segments_mut()
            .expect("an http URL has segments")
            .pop_if_empty()
            .extend(escaped.split('/'))
            .extend(major.as_deref())
            .extend(["@v", "list"]);
        url.into()
    }
}

/// As Go does, takes what looks like a host without a scheme for one with https.
fn parse_url(entry: &str) -> Option<Url> {
    let looks_like_host =
        entry.contains(['.', ':', '/']) && !entry.contains(":/") && !entry.starts_with('/');
    let url = if looks_like_host {
        Url::parse(&format!("https://{entry}"))
    } else {
        Url::parse(entry)
    };
    url.ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// File systems may not tell upper from lower case, so a module path has `!` and the lower-case letter for an upper-case one.
fn escape(module: &str) -> String {
    let mut escaped = String::new();
    for character in module.chars() {
        if character.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(character.to_ascii_lowercase());
    }
    escaped
}

/// Returns the versions of a list that belong to a major version's module.
fn parse_list(body: &[u8], major: u64) -> Vec<Release> {
    let text = String::from_utf8_lossy(body);
    let lines = text.lines().filter_map(|line| {
        let name = line.split_whitespace().next()?;
        let tag = name.strip_suffix(INCOMPATIBLE);
        let release = Release::from_tag(tag.unwrap_or(name).to_owned())?;
        let (actual, _) = release.version.series();
        let fits = match major {
            1 => actual < 2 || tag.is_some(),
            _ => actual == major && tag.is_none(),
        };
        fits.then_some(release)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_to_where_github_comes() {
        let parse = |text| {
            let proxies = GoProxy::parse(text)?.0;
            let shown = proxies
                .iter()
                .map(|proxy| (proxy.url.to_string(), proxy.any_error));
            Some(shown.collect::<Vec<_>>())
        };
        for none in [
            "",
            "off",
            "direct",
            " , |",
            "direct,https://a",
            "file:///a",
            "nonsense",
        ] {
            assert_eq!(parse(none), None, "{none}");
        }
        let https = |host: &str, any_error| (format!("https://{host}"), any_error);
        assert_eq!(
            parse("https://a/go, b.example|c:8080/x,direct,https://d"),
            Some(vec![
                https("a/go", false),
                https("b.example/", true),
                https("c:8080/x", false)
            ])
        );
        let secret = GoProxy::parse("https://me:s3cret@host/go").unwrap();
        assert_eq!(format!("{secret:?}"), "[\"https://host/go\"]");
    }

    #[test]
    fn upper_case_is_escaped_below_the_path_of_the_proxy() {
        let list_url = |proxy, major| {
            let proxy = &GoProxy::parse(proxy).unwrap().0[0];
            proxy.list_url("github.com/OpenNebula/provider", major)
        };
        let path = "github.com/!open!nebula/provider";
        assert_eq!(
            list_url("https://a", 1),
            format!("https://a/{path}/@v/list")
        );
        assert_eq!(
            list_url("https://a/b/", 3),
            format!("https://a/b/{path}/v3/@v/list")
        );
    }

    #[test]
    fn versions_belong_to_their_major_versions() {
        let tags = |text: &str, major| {
            let releases = parse_list(text.as_bytes(), major);
            let tags = releases.into_iter().map(|release| release.tag);
            tags.collect::<Vec<String>>()
        };
        let list = "v0.1.0\nv1.0.0-rc.1\nv2.0.0+incompatible\nv3.0.0\nnonsense\n\n";
        assert_eq!(tags(list, 1), ["v0.1.0", "v1.0.0-rc.1", "v2.0.0"]);
        assert_eq!(tags(list, 3), ["v3.0.0"]);
        assert!(tags(list, 2).is_empty());
    }
}
