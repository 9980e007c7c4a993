//! Downloads that go on where they broke off.
//!
//! The rest of a body fits to its beginning only if both are of the same answer; a strong ETag says so. Without one, or
//! when the server has encoded the body, the download begins again.

use std::sync::{Mutex, MutexGuard};

use ::http::StatusCode;
use ::http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, RANGE,
};
use reqwest::{RequestBuilder, Response};

use super::{Cause, Error, Reason, header};

/// The beginning of a body.
#[derive(Debug, Default)]
pub(super) struct Partial(Mutex<Option<Beginning>>);

#[derive(Debug)]
struct Beginning {
    body: Vec<u8>,
    etag: String,
}

impl Partial {
    /// Asks for what is behind the beginning, if there is one; another body, if it has changed, is asked for as a whole.
    pub(super) fn ask_for_rest(&self, request: RequestBuilder) -> RequestBuilder {
        match &*self.lock() {
            None => request,
            Some(Beginning { body, etag }) => request
                .header(RANGE, format!("bytes={}-", body.len()))
                .header(IF_RANGE, etag),
        }
    }

    /// Returns the beginning that the body of a successful answer goes on from; it is empty for an answer with a whole body.
    pub(super) fn begin(&self, shown: &str, response: &Response) -> Result<Vec<u8>, Error> {
        let beginning = self.lock().take();
        if response.status() != StatusCode::PARTIAL_CONTENT {
            return Ok(Vec::new());
        }
        match beginning {
            Some(Beginning { body, etag }) if goes_on(response.headers(), &etag, body.len()) => {
                Ok(body)
            }
            _ => Err(Error::Transport {
                url: shown.to_owned(),
                reason: Reason::Interrupted,
                source: Cause("the server sent another part than it was asked for".into()),
            }),
        }
    }

    /// Keeps what there is of a body that broke off, if its rest can be asked for.
    pub(super) fn keep(&self, response: &Response, body: Vec<u8>) {
        let headers = response.headers();
        let takes_ranges = response.status() == StatusCode::PARTIAL_CONTENT
            || header(headers, ACCEPT_RANGES) == Some("bytes");
        // Where the client decodes a body, it takes the length away, for that is the length of the encoded one.
        let is_as_sent = headers.contains_key(CONTENT_LENGTH);
        let etag = header(headers, ETAG).filter(|etag| etag.starts_with('"'));
        if let Some(etag) = etag
            && takes_ranges
            && is_as_sent
            && !body.is_empty()
        {
            tracing::debug!(bytes = body.len(), "the rest will be asked for");
            let etag = etag.to_owned();
            *self.lock() = Some(Beginning { body, etag });
        }
    }

    /// Begins again.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Beginning>> {
        self.0.lock().expect("no holder of the lock panics")
    }
}

fn goes_on(headers: &HeaderMap, etag: &str, length: usize) -> bool {
    let range = header(headers, CONTENT_RANGE).unwrap_or_default();
    header(headers, ETAG).is_none_or(|actual| actual == etag)
        && range.starts_with(&format!("bytes {length}-"))
}
