//! The HTTP clients, for everything but the API server.
//!
//! [`Http`] fetches: it answers with a whole body of limited size or with an [`Error`] that says what helps. Failures
//! that may pass are retried. [`once::Once`] is for what must not happen twice. Proxies come from `HTTPS_PROXY`,
//! `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, CA certificates from the system or `SSL_CERT_FILE`: the libraries beneath
//! read those by themselves.

mod error;
pub mod limit;
pub mod once;
mod partial;
mod progress;

use std::fmt::{self, Debug};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use ::http::StatusCode;
use ::http::header::{
    ACCEPT, AsHeaderName, CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH, LINK, RETRY_AFTER,
};
use backon::{ExponentialBuilder, Retryable};
use reqwest::redirect::Policy;

use crate::model::Secret;
pub use error::{Cause, Error, Reason, Status};
use partial::Partial;
pub use progress::{Download, Observer};
pub use reqwest::Url;

/// Time for DNS, TCP, proxy and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may be silent, unless somebody says otherwise.
const SILENCE: Duration = Duration::from_secs(30);
/// Longest wait that a server may ask for by `Retry-After`; a longer one fails at once.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 10;
/// How much of a refusal is read for its message.
const MESSAGE_LIMIT: usize = 64 * 1024;

/// Makes ring the cryptography of all TLS in the process. Repeated calls do no harm.
///
/// reqwest and kube both panic when no provider is installed.
pub fn install_tls_provider() {
    // An error means that a provider is installed already.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
}

/// Settings of a client.
#[derive(Clone)]
pub struct Options {
    /// What the client calls itself; GitHub refuses requests without a name.
    pub user_agent: String,
    /// URL of the proxy for all requests; default: as the environment says.
    pub proxy: Option<String>,
    /// PEM text of CA certificates to trust besides the system's.
    pub extra_certificates: Option<String>,
    /// How often a request is repeated after a failure that may pass.
    pub retries: usize,
    /// Wait before the first repetition; it doubles with each one, with jitter.
    pub first_delay: Duration,
    /// Longest silence: before the answer begins, and between two pieces of it.
    pub silence: Duration,
    /// Largest body that is accepted, in bytes.
    pub body_limit: usize,
    /// Who is told how downloads go.
    pub observer: Option<Observer>,
}

impl Options {
    /// Returns the usual settings.
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self {
            user_agent: user_agent.into(),
            proxy: None,
            extra_certificates: None,
            retries: 3,
            first_delay: Duration::from_millis(500),
            silence: SILENCE,
            body_limit: 64 * 1024 * 1024,
            observer: None,
        }
    }
}

/// A request by GET, the only method that is needed, and always safe to repeat.
#[derive(Debug, Clone)]
pub struct Get<'a> {
    url: &'a str,
    accept: &'static str,
    token: Option<&'a Secret>,
    etag: Option<&'a str>,
    label: Option<&'a str>,
}

impl<'a> Get<'a> {
    /// Returns a request without credentials that takes any kind of answer.
    pub fn new(url: &'a str) -> Self {
        Self {
            url,
            accept: "*/*",
            token: None,
            etag: None,
            label: None,
        }
    }

    /// Returns the URL.
    pub fn url(&self) -> &'a str {
        self.url
    }

    /// Asks for a media type.
    #[must_use]
    pub fn accept(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }

    /// Sends a bearer token; a redirect to another host goes without it.
    #[must_use]
    pub fn token(self, token: Option<&'a Secret>) -> Self {
        Self { token, ..self }
    }

    /// Asks for an answer only if it is another one than that with this ETag, see [`Response::is_not_modified`].
    #[must_use]
    pub fn if_none_match(self, etag: Option<&'a str>) -> Self {
        Self { etag, ..self }
    }

    /// Names what is downloaded, for the observer of the client.
    #[must_use]
    pub fn label(self, label: &'a str) -> Self {
        Self {
            label: Some(label),
            ..self
        }
    }
}

/// A successful answer.
#[derive(Debug)]
pub struct Response {
    /// The whole body.
    pub body: Vec<u8>,
    status: StatusCode,
    headers: HeaderMap,
}

impl Response {
    /// Returns the media type with its parameters, empty when the server gave none.
    pub fn content_type(&self) -> &str {
        header(&self.headers, CONTENT_TYPE).unwrap_or_default()
    }

    /// Tells whether it is a page for people.
    pub fn is_web_page(&self) -> bool {
        let media_type = self.content_type().to_ascii_lowercase();
        media_type.starts_with("text/html")
    }

    /// Tells whether nothing has changed since the answer whose ETag the request has; the body is empty then.
    pub fn is_not_modified(&self) -> bool {
        self.status == StatusCode::NOT_MODIFIED
    }

    /// Returns the ETag, with its quotes.
    pub fn etag(&self) -> Option<&str> {
        header(&self.headers, ETAG)
    }

    /// Returns the URL of the next page, from the `Link` header (RFC 8288).
    pub fn next_page(&self) -> Option<&str> {
        next_link(header(&self.headers, LINK)?)
    }
}

/// The client; cheap to clone, connections are shared, nothing is set up before the first request.
#[derive(Clone)]
pub struct Http(Arc<Inner>);

struct Inner {
    options: Options,
    client: OnceLock<reqwest::Client>,
}

impl Debug for Http {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options {
            user_agent,
            retries,
            ..
        } = &self.0.options;
        formatter
            .debug_struct("Http")
            .field("user_agent", user_agent)
            .field("retries", retries)
            .finish_non_exhaustive()
    }
}

impl Http {
    /// Returns a client with the usual settings.
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self::with_options(Options::new(user_agent))
    }

    /// Returns a client with these settings.
    pub fn with_options(options: Options) -> Self {
        Self(Arc::new(Inner {
            options,
            client: OnceLock::new(),
        }))
    }

    /// Fetches a URL, with retries.
    ///
    /// # Errors
    /// No connection, no success, or too large a body.
    pub async fn get(&self, request: Get<'_>) -> Result<Response, Error> {
        let Options {
            retries,
            first_delay,
            ..
        } = self.0.options;
        let backoff = ExponentialBuilder::default()
            .with_min_delay(first_delay)
            .with_max_times(retries)
            .with_jitter();
        let partial = Partial::default();
        (|| self.attempt(&request, &partial))
            .retry(backoff)
            .when(Error::is_transient)
            .adjust(wait_before_retry)
            .notify(|error, wait| {
                tracing::info!(%error, wait_ms = wait.as_millis(), "trying again");
            })
            .await
    }

    /// What an attempt has got of the body before it broke off is left in `partial` for the next one.
    async fn attempt(&self, request: &Get<'_>, partial: &Partial) -> Result<Response, Error> {
        let url = parse_url(request.url)?;
        let shown = display_url(&url);
        let begun = Instant::now();
        let mut builder = self.client()?.get(url).header(ACCEPT, request.accept);
        if let Some(token) = request.token {
            builder = builder.bearer_auth(token.expose());
        }
        if let Some(etag) = request.etag {
            builder = builder.header(IF_NONE_MATCH, etag);
        }
        let observer = self.0.options.observer.clone();
        let download = Download::begin(observer, request.label.unwrap_or(&shown));
        let response = download
            .watch(partial.ask_for_rest(builder).send())
            .await
            .map_err(|error| transport(&shown, &error))?;
        let status = response.status();
        tracing::debug!(
            url = shown,
            status = status.as_u16(),
            milliseconds = begun.elapsed().as_millis(),
            authorized = request.token.is_some(),
            "GET"
        );
        let headers = response.headers().clone();
        if status == StatusCode::NOT_MODIFIED && request.etag.is_some() {
            let body = Vec::new();
            return Ok(Response {
                body,
                status,
                headers,
            });
        }
        if !status.is_success() {
            partial.forget();
            return Err(refusal(shown, response).await);
        }
        let body = self.receive(&shown, response, partial, download).await?;
        Ok(Response {
            body,
            status,
            headers,
        })
    }

    /// Reads the body of an answer behind what is there of it already.
    async fn receive(
        &self,
        shown: &str,
        mut response: reqwest::Response,
        partial: &Partial,
        mut download: Download,
    ) -> Result<Vec<u8>, Error> {
        let limit = self.0.options.body_limit;
        let mut body = partial.begin(shown, &response)?;
        download.total = response
            .content_length()
            .map(|rest| rest + body.len() as u64);
        loop {
            download.received(body.len());
            match download.watch(response.chunk()).await {
                Ok(None) => return Ok(body),
                Ok(Some(chunk)) if body.len() + chunk.len() > limit => {
                    return Err(Error::TooLarge {
                        url: shown.to_owned(),
                        limit,
                    });
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Err(error) => {
                    partial.keep(&response, body);
                    return Err(transport(shown, &error));
                }
            }
        }
    }

    fn client(&self) -> Result<&reqwest::Client, Error> {
        if let Some(client) = self.0.client.get() {
            return Ok(client);
        }
        let client = build(&self.0.options).map_err(|error| Error::Setup(root_cause(&error)))?;
        Ok(self.0.client.get_or_init(|| client))
    }
}

fn build(options: &Options) -> Result<reqwest::Client, reqwest::Error> {
    install_tls_provider();
    let mut builder = reqwest::Client::builder()
        .user_agent(&options.user_agent)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(options.silence)
        .redirect(redirects());
    if let Some(proxy) = &options.proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy)?);
    }
    if let Some(pem) = &options.extra_certificates {
        builder = builder.tls_certs_merge(reqwest::Certificate::from_pem_bundle(pem.as_bytes())?);
    }
    builder.build()
}

/// Follows redirects, but never from https to http. reqwest drops credentials when the host, port or scheme changes.
fn redirects() -> Policy {
    Policy::custom(|attempt| {
        let secure = attempt
            .previous()
            .iter()
            .any(|previous| previous.scheme() == "https");
        if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("there are too many")
        } else if secure && attempt.url().scheme() != "https" {
            let target = display_url(attempt.url());
            attempt.error(format!("`{target}` is not encrypted"))
        } else {
            attempt.follow()
        }
    })
}

fn parse_url(text: &str) -> Result<Url, Error> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| Error::InvalidUrl {
            url: text.to_owned(),
        })
}

/// Returns the URL for a message: without user, password, query and fragment, any of which may hold secrets.
pub fn display_url(url: &Url) -> String {
    let mut shown = url.clone();
    // These fail only for URLs that cannot have credentials.
    shown.set_username("").ok();
    shown.set_password(None).ok();
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}

fn wait_before_retry(error: &Error, proposed: Option<Duration>) -> Option<Duration> {
    let proposed = proposed?;
    match error.retry_after() {
        Some(wait) if wait > LONGEST_WAIT => None,
        Some(wait) => Some(wait.max(proposed)),
        None => Some(proposed),
    }
}

async fn read_body(
    shown: &str,
    mut response: reqwest::Response,
    limit: usize,
) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| transport(shown, &error))?
    {
        if body.len() + chunk.len() > limit {
            return Err(Error::TooLarge {
                url: shown.to_owned(),
                limit,
            });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

async fn refusal(shown: String, response: reqwest::Response) -> Error {
    let headers = response.headers();
    let status = Status {
        code: response.status().as_u16(),
        phrase: response.status().canonical_reason().unwrap_or_default(),
        retry_after: header(headers, RETRY_AFTER).and_then(wait_of),
        rate_limited: limit_header(headers, "remaining") == Some("0"),
        reset: limit_header(headers, "reset").and_then(time_of),
        message: None,
        url: shown,
    };
    // A refusal whose text cannot be read is a refusal all the same.
    let body = read_body(&status.url, response, MESSAGE_LIMIT)
        .await
        .unwrap_or_default();
    Error::Status(Box::new(Status {
        message: message_of(&body),
        ..status
    }))
}

/// Reads a header about the limit of requests: GitHub's have an `x-`, GitLab's have none.
fn limit_header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    header(headers, format!("x-ratelimit-{name}"))
        .or_else(|| header(headers, format!("ratelimit-{name}")))
}

/// Returns `message` of a JSON body, as GitHub and GitLab have it, as one line of at most 200 characters.
fn message_of(body: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    let line: String = value
        .get("message")?
        .as_str()?
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(200)
        .collect();
    Some(line.trim_end_matches('.').to_owned()).filter(|line| !line.is_empty())
}

fn transport(shown: &str, error: &reqwest::Error) -> Error {
    Error::Transport {
        url: shown.to_owned(),
        reason: reason_of(error),
        source: root_cause(error),
    }
}

fn reason_of(error: &reqwest::Error) -> Reason {
    if error.is_redirect() {
        Reason::Redirect
    } else if chain(error).any(is_certificate_error) {
        Reason::Certificate
    } else if chain(error).any(|cause| cause.to_string().contains(PROXY_LOGIN)) {
        Reason::ProxyLogin
    } else if chain(error).any(|cause| cause.to_string().contains("tunnel")) {
        Reason::Proxy
    } else if error.is_timeout() {
        Reason::Timeout
    } else if error.is_connect() {
        Reason::Connect
    } else {
        Reason::Interrupted
    }
}

/// What the library says when a proxy answers 407 to CONNECT.
const PROXY_LOGIN: &str = "proxy authorization required";
/// What it says when the answer is another one than success; it does not tell which.
const PROXY_REFUSAL: &str = "tunnel error: unsuccessful";

fn is_certificate_error(cause: &(dyn std::error::Error + 'static)) -> bool {
    // `io::Error` hides the error that it wraps from `source()`, and without a proxy one wraps another.
    let wrapped = cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match (wrapped, cause.downcast_ref()) {
        (Some(inner), _) => is_certificate_error(inner),
        (None, tls) => matches!(tls, Some(rustls::Error::InvalidCertificate(_))),
    }
}

fn chain<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

fn root_cause(error: &reqwest::Error) -> Cause {
    let root = chain(error)
        .last()
        .expect("the chain begins with the error");
    let cut_off = |io: &io::Error| io.kind() == io::ErrorKind::UnexpectedEof;
    if root.downcast_ref().is_some_and(cut_off) {
        // rustls has a link to its manual here.
        return Cause("the connection was closed before the end".into());
    }
    match root.to_string() {
        refused if refused == PROXY_REFUSAL => Cause("it refuses to connect, or cannot".into()),
        text => Cause(text),
    }
}

fn header(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date, which may have passed.
fn wait_of(header: &str) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(header).ok()?;
    let now = SystemTime::now();
    Some(date.duration_since(now).unwrap_or_default())
}

/// Reads seconds since 1970.
fn time_of(header: &str) -> Option<SystemTime> {
    let seconds = Duration::from_secs(header.trim().parse().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(seconds)
}

fn next_link(header: &str) -> Option<&str> {
    header.split(',').find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters
            .split(';')
            .any(|parameter| matches!(parameter.trim(), r#"rel="next""# | "rel=next"));
        is_next.then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, retry_after: Option<u64>, rate_limited: bool) -> Error {
        Error::Status(Box::new(Status {
            url: "https://api.github.com/".into(),
            code,
            phrase: "",
            message: None,
            retry_after: retry_after.map(Duration::from_secs),
            rate_limited,
            reset: None,
        }))
    }

    #[test]
    fn only_failures_that_may_pass_are_retried() {
        assert!(status(500, None, false).is_transient());
        assert!(status(503, None, false).is_transient());
        assert!(status(429, None, false).is_transient());
        assert!(status(403, Some(1), false).is_transient());
        assert!(!status(429, None, true).is_transient());
        assert!(!status(403, None, true).is_transient());
        assert!(!status(403, None, false).is_transient());
        assert!(!status(404, None, false).is_transient());
        assert!(!status(501, None, false).is_transient());
    }

    #[test]
    fn a_server_may_ask_for_a_longer_wait_but_not_for_an_hour() {
        let second = Duration::from_secs(1);
        let wait = |retry_after| wait_before_retry(&status(429, retry_after, false), Some(second));
        assert_eq!(wait(None), Some(second));
        assert_eq!(wait(Some(0)), Some(second));
        assert_eq!(wait(Some(5)), Some(second * 5));
        assert_eq!(wait(Some(3600)), None);
        assert_eq!(wait_before_retry(&status(429, Some(5), false), None), None);
    }

    #[test]
    fn a_wait_is_given_in_seconds_or_by_a_date() {
        assert_eq!(wait_of(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(
            wait_of("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::ZERO)
        );
        let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(90));
        let wait = wait_of(&soon).unwrap().as_secs();
        assert!((80..=90).contains(&wait), "{wait}");
        assert_eq!(wait_of("later"), None);
        assert_eq!(time_of("x"), None);
        assert_eq!(
            time_of("60"),
            Some(SystemTime::UNIX_EPOCH + Duration::from_secs(60))
        );
    }

    #[test]
    fn the_next_page_is_found_among_the_links() {
        let header = r#"<https://a/?page=1>; rel="prev", <https://a/?page=3>; rel="next", <https://a/?page=9>; rel="last""#;
        assert_eq!(next_link(header), Some("https://a/?page=3"));
        assert_eq!(next_link(r#"<https://a/?page=1>; rel="last""#), None);
        assert_eq!(next_link("nonsense"), None);
    }

    #[test]
    fn messages_show_urls_without_secrets() {
        let url = Url::parse("https://me:pw@host/path?token=abc#x").unwrap();
        assert_eq!(display_url(&url), "https://host/path");
    }

    #[test]
    fn a_refusal_says_what_the_server_said() {
        assert_eq!(
            message_of(br#"{"message":"Bad\n credentials.","status":"401"}"#),
            Some("Bad credentials".into())
        );
        assert_eq!(message_of(b"<html>"), None);
        assert_eq!(message_of(br#"{"message":""}"#), None);
    }
}
