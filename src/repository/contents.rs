//! A file in a GitHub repository at a branch, tag or commit.
//!
//! In a link, nothing tells where the name of the branch ends and the path begins: `/blob/feature/x/a.yaml` is `x/a.yaml`
//! at `feature`, or `a.yaml` at `feature/x`. The shortest name is tried first. Only when that fails is the API asked which
//! branches and tags begin so; Git does not allow both `feature` and `feature/x`, so at most one can be meant.

use serde::Deserialize;

use super::fetcher::Answer;
use super::server::{JSON, Server, decode};
use super::{File, Reason, Settings};
use crate::http::{Get, Url};

/// Asks the contents API for the file itself in place of a description with the file in base64.
const RAW: &str = "application/vnd.github.raw+json";

/// A file as a link names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) server: Server,
    /// `owner/repository`
    pub(super) slug: String,
    /// Branch, tag or commit, then the path: at least two segments, without escapes.
    pub(super) route: Vec<String>,
    /// The link itself, for messages.
    pub(super) page: String,
}

/// A branch or tag, e.g. `refs/heads/feature/x`.
#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "ref")]
    name: String,
}

/// An entry of a folder.
#[derive(Deserialize)]
struct Entry {
    name: String,
}

impl Link {
    /// Reads the file.
    pub(super) async fn fetch(&self, settings: &Settings) -> Result<File, Reason> {
        match self.fetch_by_api(settings).await {
            Err(reason @ Reason::RateLimit { .. }) if self.server.is_dot_com() => {
                self.fetch_raw(settings).await.ok_or(reason)
            }
            answer => answer,
        }
    }

    async fn fetch_by_api(&self, settings: &Settings) -> Result<File, Reason> {
        let shortest = self.shortest();
        let first = match self.fetch_at(settings, shortest).await {
            Err(reason) if may_be_missing(&reason) => reason,
            answer => return answer,
        };
        let length = match self.find_longer(settings).await {
            Ok(found) => found.unwrap_or(shortest),
            // The same once more, of an address that the user knows less.
            Err(Reason::Token(_)) if matches!(first, Reason::Token(_)) => return Err(first),
            Err(reason) => return Err(reason),
        };
        if length > shortest {
            match self.fetch_at(settings, length).await {
                Err(reason) if may_be_missing(&reason) => {}
                answer => return answer,
            }
        }
        Err(self.missing(settings, length).await)
    }

    /// Reads the file when the first `length` segments are the branch, tag or commit.
    async fn fetch_at(&self, settings: &Settings, length: usize) -> Result<File, Reason> {
        let response = self.get(settings, length, &self.route[length..]).await?;
        // For a folder the API answers with a list, whatever was asked for.
        if response.content_type.starts_with("application/json") {
            return Err(Reason::Folder {
                path: self.page.clone(),
                contents: names(&response),
            });
        }
        File::from_bytes(response.body, self.page.clone())
    }

    async fn get(
        &self,
        settings: &Settings,
        length: usize,
        path: &[String],
    ) -> Result<Answer, Reason> {
        let path = path.iter().flat_map(|segment| segment.split('/'));
        let mut url = self
            .server
            .repository_api(&self.slug, ["contents"].into_iter().chain(path));
        url.query_pairs_mut()
            .append_pair("ref", &self.route[..length].join("/"));
        self.server.get(settings, url.as_str(), RAW).await
    }

    /// The raw host has no limit of requests, but only what is public, and it may be minutes behind.
    async fn fetch_raw(&self, settings: &Settings) -> Option<File> {
        let mut url = Url::parse("https://raw.githubusercontent.com").expect("the URL is valid");
        url.path_segments_mut()
            .expect("an https URL has segments")
            .extend(self.slug.split('/'))
            .extend(self.route.iter().flat_map(|segment| segment.split('/')));
        let response = settings
            .fetcher
            .listing(Get::new(url.as_str()))
            .await
            .ok()?;
        File::from_bytes(response.body, self.page.clone()).ok()
    }

    /// Returns how many segments the name has at least: one, behind `refs/heads` or `refs/tags` if the link has these.
    fn shortest(&self) -> usize {
        let is_qualified = self.route.len() > 3
            && self.route[0] == "refs"
            && matches!(self.route[1].as_str(), "heads" | "tags");
        if is_qualified { 3 } else { 1 }
    }

    /// Returns how many segments the branch or tag has that the route begins with, if there is one.
    async fn find_longer(&self, settings: &Settings) -> Result<Option<usize>, Reason> {
        let kinds: &[&str] = match (self.shortest(), self.route[1].as_str()) {
            (3, kind) => &[kind],
            // Nothing longer is possible, but this tells a hidden repository from a missing file.
            _ if self.route.len() == 2 => &["heads"],
            _ => &["heads", "tags"],
        };
        for kind in kinds {
            let found = self.find_among(settings, kind, self.shortest() - 1).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    async fn find_among(
        &self,
        settings: &Settings,
        kind: &str,
        start: usize,
    ) -> Result<Option<usize>, Reason> {
        let name = &self.route[start];
        let segments = ["git", "matching-refs", kind].into_iter();
        let url = self
            .server
            .repository_api(&self.slug, segments.chain(name.split('/')));
        let response = match self.server.get(settings, url.as_str(), JSON).await {
            Err(Reason::MissingUrl { authorized, .. }) => {
                return Err(self.missing_repository(authorized));
            }
            other => other?,
        };
        let references: Vec<Reference> = decode(url.as_str(), &response.body)?;
        let found = (start + 1..self.route.len()).rev().find(|length| {
            let name = format!("refs/{kind}/{}", self.route[start..*length].join("/"));
            references.iter().any(|reference| reference.name == name)
        });
        Ok(found)
    }

    /// Says what is missing at a branch, tag or commit: itself, or the file in it.
    async fn missing(&self, settings: &Settings, length: usize) -> Reason {
        let path = &self.route[length..];
        let (_, folder) = path.split_last().expect("a route goes on behind its name");
        let beside = match self.get(settings, length, folder).await {
            Ok(response) => names(&response),
            Err(reason) if !may_be_missing(&reason) => return reason,
            Err(_) if folder.is_empty() => return self.missing_reference(),
            Err(_) => match self.get(settings, length, &[]).await {
                Ok(_) => Vec::new(),
                Err(reason) if may_be_missing(&reason) => return self.missing_reference(),
                Err(reason) => return reason,
            },
        };
        Reason::MissingContents {
            file: path.join("/"),
            reference: self.route[..length].join("/"),
            repository: self.repository(),
            beside,
        }
    }

    fn missing_reference(&self) -> Reason {
        Reason::MissingReference {
            route: self.route.join("/"),
            repository: self.repository(),
        }
    }

    fn missing_repository(&self, authorized: bool) -> Reason {
        Reason::MissingRepository {
            repository: self.repository(),
            authorized,
        }
    }

    fn repository(&self) -> String {
        format!("{}/{}", self.server.web(), self.slug)
    }
}

/// Tells whether there may be nothing. Where a token is refused, that was found out without one.
fn may_be_missing(reason: &Reason) -> bool {
    reason.is_not_found() || matches!(reason, Reason::Token(_))
}

/// Returns the names in a folder; an answer of another form is no reason for another error.
fn names(response: &Answer) -> Vec<String> {
    let entries: Vec<Entry> = serde_json::from_slice(&response.body).unwrap_or_default();
    entries.into_iter().map(|entry| entry.name).collect()
}
