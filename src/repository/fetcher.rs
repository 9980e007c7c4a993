//! Downloads, through the cache on disk.
//!
//! ```text
//! file      is what it was when it was published: the cache answers, or the server does, once
//! listing   may have changed: the server is asked whether it has (ETag), the cache answers if not
//! ```
//!
//! Offline the cache alone answers, to either.

use super::store::{Entry, Store};
use crate::http::{self, Get, Http, Response, Url, display_url};

/// What downloads need. Clones share it.
#[derive(Debug, Clone)]
pub struct Fetcher {
    http: Http,
    store: Store,
    offline: bool,
}

/// An answer, of the server or of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The content.
    pub body: Vec<u8>,
    /// The media type with its parameters, empty when the server gave none.
    pub content_type: String,
    /// Where a listing goes on.
    pub next_page: Option<String>,
}

/// Why there is no content.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request failed.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// No request may be made, and the cache has no answer.
    #[error("`{url}` is not in the download cache, and `--offline` keeps from fetching it")]
    Offline {
        /// The URL.
        url: String,
    },
    /// The answer is a page for people, be it of a login or of something between; such are not kept.
    #[error("`{url}` is a web page")]
    WebPage {
        /// The URL.
        url: String,
    },
}

impl Error {
    /// Returns the failure of the request, when that is what it is.
    pub fn http(&self) -> Option<&http::Error> {
        match self {
            Self::Http(error) => Some(error),
            Self::Offline { .. } | Self::WebPage { .. } => None,
        }
    }

    /// Tells whether the server said that there is no such thing.
    pub fn is_not_found(&self) -> bool {
        self.http().is_some_and(http::Error::is_not_found)
    }
}

impl Fetcher {
    /// Returns a way to download that keeps what it gets in `store`; `offline` takes all from there.
    pub fn new(http: Http, store: Store, offline: bool) -> Self {
        Self {
            http,
            store,
            offline,
        }
    }

    /// Tells whether the cache alone answers.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Returns a file that never changes once it is published.
    ///
    /// # Errors
    /// It is not in the cache, and cannot be fetched.
    pub async fn file(&self, request: Get<'_>) -> Result<Vec<u8>, Error> {
        if let Some(body) = self.stored_file(request.url()).await {
            return Ok(body);
        }
        self.ensure_online(request.url())?;
        let url = request.url();
        let body = self.get(request).await?.body;
        self.store_file(url, &body).await;
        Ok(body)
    }

    /// Returns a file if the cache has it.
    pub async fn stored_file(&self, url: &str) -> Option<Vec<u8>> {
        let entry = self.store.load(url).await?;
        tracing::debug!(url = shown(url), "from the download cache");
        Some(entry.body)
    }

    /// Keeps a file that was fetched by other means under its URL.
    pub async fn store_file(&self, url: &str, body: &[u8]) {
        let entry = Entry {
            body: body.to_owned(),
            etag: None,
            content_type: String::new(),
            next_page: None,
        };
        self.store.save(url, &entry).await;
    }

    /// Returns what may have changed since it was fetched the last time.
    ///
    /// # Errors
    /// It cannot be fetched; offline, it is not in the cache.
    pub async fn listing(&self, request: Get<'_>) -> Result<Answer, Error> {
        let url = request.url();
        let stored = self.store.load(url).await;
        if self.offline {
            let entry = stored.ok_or_else(|| offline(url))?;
            return Ok(entry.into());
        }
        let etag = stored.as_ref().and_then(|entry| entry.etag.as_deref());
        let response = self.get(request.if_none_match(etag)).await?;
        if let Some(entry) = stored
            && response.is_not_modified()
        {
            return Ok(entry.into());
        }
        let entry = Entry::from(response);
        self.store.save(url, &entry).await;
        Ok(entry.into())
    }

    /// Returns what is not to be kept, or will be kept under another URL.
    ///
    /// # Errors
    /// It cannot be fetched, or no request may be made.
    pub async fn fetch(&self, request: Get<'_>) -> Result<Answer, Error> {
        self.ensure_online(request.url())?;
        Ok(Entry::from(self.get(request).await?).into())
    }

    async fn get(&self, request: Get<'_>) -> Result<Response, Error> {
        let url = request.url();
        let response = self.http.get(request).await?;
        match response.is_web_page() {
            true => Err(Error::WebPage { url: shown(url) }),
            false => Ok(response),
        }
    }

    fn ensure_online(&self, url: &str) -> Result<(), Error> {
        if self.offline {
            Err(offline(url))
        } else {
            Ok(())
        }
    }
}

impl From<Entry> for Answer {
    fn from(entry: Entry) -> Self {
        Self {
            body: entry.body,
            content_type: entry.content_type,
            next_page: entry.next_page,
        }
    }
}

impl From<Response> for Entry {
    fn from(response: Response) -> Self {
        Self {
            etag: response.etag().map(str::to_owned),
            content_type: response.content_type().to_owned(),
            next_page: response.next_page().map(str::to_owned),
            body: response.body,
        }
    }
}

fn offline(url: &str) -> Error {
    Error::Offline { url: shown(url) }
}

fn shown(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| display_url(&url))
}
