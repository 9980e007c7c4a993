//! A client for requests that must not happen twice.
//!
//! It does what it is asked for once, or not at all: no redirect is followed, nothing is repeated, no connection is used
//! a second time, since the server may close an idle one in just that moment. A failure tells whether the server can
//! have seen anything of the request.

use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ::http::header::{ACCEPT, HeaderMap};
use reqwest::RequestBuilder;
use reqwest::multipart::Form;
use reqwest::redirect::Policy;

use super::{
    Error, display_url, header, install_tls_provider, parse_url, read_body, root_cause, transport,
};
use crate::model::Secret;

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// DNS, TCP, proxy and TLS together; shorter than the total, which does not tell whether anything was written.
    pub connect: Duration,
    /// All of it, to the end of the answer's body.
    pub total: Duration,
}

/// Where a request goes, and as whom.
#[derive(Debug, Clone)]
pub struct Target<'a> {
    /// URL with the query.
    pub url: &'a str,
    /// User of the Basic authentication.
    pub user: &'a str,
    /// Its password.
    pub password: &'a Secret,
    /// Largest body of an answer that is read, in bytes.
    pub body_limit: usize,
}

/// What the server answered, success or not.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub code: u16,
    /// The body, or why there is none: it broke off, came too late or was too large.
    pub body: Result<Vec<u8>, Error>,
    pub(crate) headers: HeaderMap,
}

impl Answer {
    /// Returns the text of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Unanswered {
    /// A part of the request may have reached the server. If not, it certainly did nothing.
    pub maybe_written: bool,
    /// What happened.
    pub error: Error,
}

/// The client; cheap to clone, nothing is set up before the first request.
#[derive(Clone)]
pub struct Once(Arc<Inner>);

struct Inner {
    user_agent: String,
    timeouts: Timeouts,
    client: OnceLock<reqwest::Client>,
}

impl Debug for Once {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Once")
            .field("user_agent", &self.0.user_agent)
            .field("timeouts", &self.0.timeouts)
            .finish_non_exhaustive()
    }
}

impl Once {
    /// Returns a client.
    pub fn new(user_agent: impl Into<String>, timeouts: Timeouts) -> Self {
        Self(Arc::new(Inner {
            user_agent: user_agent.into(),
            timeouts,
            client: OnceLock::new(),
        }))
    }

    /// Posts a form, as `multipart/form-data`.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn post_form(
        &self,
        target: &Target<'_>,
        fields: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Answer, Unanswered> {
        let form = fields
            .into_iter()
            .fold(Form::new().percent_encode_noop(), |form, (name, value)| {
                form.text(name, value)
            });
        let send = |client: &reqwest::Client, url| client.post(url).multipart(form);
        self.send("POST", target, send).await
    }

    /// Gets a URL.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn get(&self, target: &Target<'_>) -> Result<Answer, Unanswered> {
        self.send("GET", target, |client, url| client.get(url))
            .await
    }

    async fn send(
        &self,
        method: &'static str,
        target: &Target<'_>,
        request: impl FnOnce(&reqwest::Client, super::Url) -> RequestBuilder,
    ) -> Result<Answer, Unanswered> {
        let url = parse_url(target.url).map_err(unwritten)?;
        let shown = display_url(&url);
        let begun = Instant::now();
        let response = request(self.client().map_err(unwritten)?, url)
            .header(ACCEPT, "application/json")
            .basic_auth(target.user, Some(target.password.expose()))
            .send()
            .await
            .map_err(|error| unanswered(&shown, &error))?;
        let code = response.status().as_u16();
        let headers = response.headers().clone();
        let body = read_body(&shown, response, target.body_limit).await;
        tracing::debug!(
            url = shown,
            status = code,
            milliseconds = begun.elapsed().as_millis(),
            method,
            complete = body.is_ok(),
            "answered"
        );
        Ok(Answer {
            code,
            body,
            headers,
        })
    }

    fn client(&self) -> Result<&reqwest::Client, Error> {
        let Inner {
            user_agent,
            timeouts,
            client,
        } = &*self.0;
        if let Some(client) = client.get() {
            return Ok(client);
        }
        let built =
            build(user_agent, *timeouts).map_err(|error| Error::Setup(root_cause(&error)))?;
        Ok(client.get_or_init(|| built))
    }
}

fn build(user_agent: &str, timeouts: Timeouts) -> Result<reqwest::Client, reqwest::Error> {
    install_tls_provider();
    reqwest::Client::builder()
        .user_agent(user_agent)
        .connect_timeout(timeouts.connect)
        .timeout(timeouts.total)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(0)
        .http1_only()
        .no_gzip()
        .build()
}

/// A request is written once the connection stands, TLS and the proxy's tunnel included; what fails before that is a
/// failure to connect.
fn unanswered(shown: &str, error: &reqwest::Error) -> Unanswered {
    let maybe_written = !(error.is_connect() || error.is_builder());
    let error = if error.is_builder() {
        Error::Setup(root_cause(error))
    } else {
        transport(shown, error)
    };
    Unanswered {
        maybe_written,
        error,
    }
}

fn unwritten(error: Error) -> Unanswered {
    Unanswered {
        maybe_written: false,
        error,
    }
}
