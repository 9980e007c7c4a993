//! What can go wrong with a request, and what helps.

use std::fmt::{self, Display};
use std::time::{Duration, SystemTime};

use super::limit::{self, End};
use crate::error::Explain;

/// Why a request has no usable answer. URLs appear without credentials and query.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL does not parse, or is neither http nor https.
    #[error("`{url}` is not a valid http or https URL")]
    InvalidUrl {
        /// The text.
        url: String,
    },
    /// The client cannot be built, e.g. for want of CA certificates.
    #[error("cannot set up the HTTP client")]
    Setup(#[source] Cause),
    /// There was no answer, or it broke off.
    #[error("{}", .reason.sentence(.url))]
    Transport {
        /// What was asked for.
        url: String,
        /// What kind of trouble it was.
        reason: Reason,
        /// The lowest error of the network or TLS stack.
        source: Cause,
    },
    /// The server answered with something else than success.
    #[error("{0}")]
    Status(Box<Status>),
    /// The answer is larger than the client accepts.
    #[error("`{url}` is larger than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        url: String,
        /// The limit, in bytes.
        limit: usize,
    },
}

impl Error {
    /// Tells whether the server said that there is no such thing (404 or 410).
    pub fn is_not_found(&self) -> bool {
        self.status()
            .is_some_and(|status| matches!(status.code, 404 | 410))
    }

    /// Returns the server's refusal, when that is what it is.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }

    /// Tells whether the same request may well succeed a moment later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Transport { reason, .. } => reason.is_transient(),
            Self::Status(status) => status.is_transient(),
            Self::InvalidUrl { .. } | Self::Setup(_) | Self::TooLarge { .. } => false,
        }
    }

    /// Returns how long the server asked to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.status()?.retry_after
    }
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Setup(_) => vec![
                "install the system's CA certificates, or name a PEM file of them by `SSL_CERT_FILE`"
                    .into(),
            ],
            Self::Transport { reason, .. } => reason.hint().into_iter().map(Into::into).collect(),
            Self::Status(status) => status.hint().into_iter().collect(),
            Self::TooLarge { .. } => vec![
                "nothing that is read here is that large: check that the address is the right one".into(),
            ],
            Self::InvalidUrl { .. } => Vec::new(),
        }
    }
}

/// An answer that is no success.
#[derive(Debug)]
pub struct Status {
    /// What was asked for.
    pub url: String,
    /// The status code, e.g. 404.
    pub code: u16,
    /// The standard phrase of the code, e.g. `Not Found`.
    pub phrase: &'static str,
    /// What the server said about it in a JSON body, shortened.
    pub message: Option<String>,
    /// How long the server asked to wait.
    pub retry_after: Option<Duration>,
    /// The server said that no requests are left (`x-ratelimit-remaining: 0`).
    pub rate_limited: bool,
    /// When requests are possible again, where the server says so (`x-ratelimit-reset`).
    pub reset: Option<SystemTime>,
}

impl Status {
    /// GitHub answers 403 both to what is forbidden for good and to what came too fast; only the latter says when to
    /// come back.
    fn is_transient(&self) -> bool {
        match self.code {
            403 => self.retry_after.is_some(),
            429 => !self.rate_limited || self.retry_after.is_some(),
            code => matches!(code, 500 | 502 | 503 | 504),
        }
    }

    fn hint(&self) -> Option<String> {
        let now = SystemTime::now();
        let wait = self.retry_after.filter(|wait| !wait.is_zero());
        let end = || wait.and_then(|wait| now.checked_add(wait)).map(End::At);
        let end = limit::end_of(self).or_else(end);
        let until = end.map(|end| limit::describe(end, now));
        let hint = match (until, self.code) {
            (Some(until), 500..) => format!("the server is in trouble{until}"),
            (Some(until), _) => format!("the server takes no more requests{until}"),
            (None, _) => self.known_hint()?.to_owned(),
        };
        Some(hint)
    }

    fn known_hint(&self) -> Option<&'static str> {
        match self.code {
            _ if self.rate_limited => Some("no requests are left for now: try again later"),
            401 => Some("credentials are asked for: is it private, or does a proxy want them?"),
            403 => Some(
                "access is refused: it may be private, or a proxy or firewall forbids it; open the address in a browser",
            ),
            407 => Some(Reason::PROXY_LOGIN_HINT),
            429 => Some("there were too many requests: try again later"),
            500.. => Some("the server is in trouble: try again later"),
            // Whoever knows what was asked for knows better what is missing.
            404 | 410 => None,
            400.. => Some("the server does not take the request: check the address"),
            _ => None,
        }
    }
}

impl Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` answered {}", self.url, self.code)?;
        if !self.phrase.is_empty() {
            write!(formatter, " {}", self.phrase)?;
        }
        match &self.message {
            Some(message) if message != self.phrase => write!(formatter, ": {message}"),
            _ => Ok(()),
        }
    }
}

/// The kind of trouble that kept an answer away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No connection: unknown host, refused, unreachable.
    Connect,
    /// The proxy cannot be reached, or does not let the request through.
    Proxy,
    /// The proxy asks for credentials.
    ProxyLogin,
    /// The server's certificate is not trusted.
    Certificate,
    /// The server was silent for too long.
    Timeout,
    /// The answer broke off.
    Interrupted,
    /// Too many redirects, or one that leaves https.
    Redirect,
}

impl Reason {
    const PROXY_HINT: &str =
        "check the address and the credentials in `HTTPS_PROXY`, or list the host in `NO_PROXY`";
    const PROXY_LOGIN_HINT: &str = "give the credentials for the proxy in `HTTPS_PROXY`, as `http://{user}:{password}@{host}:{port}`";

    fn sentence(self, url: &str) -> String {
        match self {
            Self::Connect => format!("cannot connect to `{url}`"),
            Self::Proxy => format!("cannot reach `{url}` through the proxy"),
            Self::ProxyLogin => format!("cannot reach `{url}`: the proxy asks for credentials"),
            Self::Certificate => format!("the certificate of `{url}` is not trusted"),
            Self::Timeout => format!("`{url}` did not answer in time"),
            Self::Interrupted => format!("the answer from `{url}` broke off"),
            Self::Redirect => format!("cannot follow the redirects of `{url}`"),
        }
    }

    fn is_transient(self) -> bool {
        !matches!(self, Self::ProxyLogin | Self::Certificate | Self::Redirect)
    }

    fn hint(self) -> Option<&'static str> {
        match self {
            Self::Connect | Self::Timeout => Some(
                "check the network; a proxy is taken from `HTTPS_PROXY`, exceptions from `NO_PROXY`",
            ),
            Self::Proxy => Some(Self::PROXY_HINT),
            Self::ProxyLogin => Some(Self::PROXY_LOGIN_HINT),
            Self::Certificate => Some(
                "where a proxy inspects TLS, name a PEM file with its CA certificate by `--ca-file` or `SSL_CERT_FILE`",
            ),
            Self::Interrupted => Some("try again"),
            Self::Redirect => Some(
                "the address may be out of date, or something between answers for the server: open it in a browser",
            ),
        }
    }
}

/// The message of the lowest error in a chain. The levels between say nothing that a user could use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cause(pub String);
