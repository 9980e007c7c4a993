//! Talks to Mailgun: sends one mail, once, and looks up what became of it.
//!
//! A mail is posted by [`Once`], which neither repeats nor redirects a request; [`Outcome`] keeps apart what certainly
//! happened, what certainly did not, and what may have. The mail carries its identity twice: as its Message-Id, and as a
//! variable that Mailgun shows in its events, for the case that it gives another Message-Id.
//!
//! ```text
//! Message ─► POST /v3/DOMAIN/messages ─► Outcome      mid ─► GET /v3/DOMAIN/events ─► LookUp
//! ```

mod events;
mod outcome;
pub mod reason;
mod redact;
mod wait;

use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;

use super::decide::POST_TIMEOUT;
use super::message::Message;
use crate::error::Explain;
use crate::http::Url;
use crate::http::once::{Once, Target, Timeouts};
use crate::model::Secret;
pub use events::LookUp;
pub use outcome::Outcome;
pub use reason::remedy;
use redact::Redaction;

const US: &str = "https://api.mailgun.net";
const EU: &str = "https://api.eu.mailgun.net";
/// User of the Basic authentication, whoever the key belongs to.
const USER: &str = "api";
/// Time for DNS, TCP, proxy and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// An answer to a mail has an id and a sentence.
const ANSWER_LIMIT: usize = 64 * 1024;
/// Tag of all mails of this provider.
const TAG: &str = "capi-mailgun";
/// Variable with the uid of the object.
const TOKEN_VARIABLE: &str = "v:capi-token";
/// Variable with the Message-Id that was asked for.
const MID_VARIABLE: &str = "v:capi-message-id";

/// Where mails are sent through, and with which keys.
#[derive(Debug, Clone)]
pub struct Account {
    /// The Mailgun domain.
    pub domain: String,
    /// `us`, `eu` or a URL.
    pub api_base: String,
    /// The key that sends.
    pub key: Secret,
    /// The key that reads events, where the other one may not.
    pub events_key: Option<Secret>,
}

/// What is wrong with an account. The texts of keys are not in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The domain goes into URLs.
    #[error("`{0}` is not a domain name")]
    InvalidDomain(String),
    /// Neither a region nor a URL; its text may have a password in it.
    #[error(
        "the address of Mailgun's API is neither `us`, `eu` nor an http or https URL without user and query"
    )]
    InvalidApiBase,
    /// There is no key.
    #[error("the API key is empty")]
    EmptyKey,
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::InvalidDomain(_) => {
                "set `MAILGUN_DOMAIN` to the domain as Mailgun's control panel shows it"
            }
            Self::InvalidApiBase => {
                "set `MAILGUN_API_BASE` to `us`, `eu` or a URL like `https://api.mailgun.net`"
            }
            Self::EmptyKey => {
                "set `MAILGUN_API_KEY` to an account key, or a sending key of the domain"
            }
        };
        vec![hint.to_owned()]
    }
}

/// Mailgun, as one account sees it; cheap to clone.
#[derive(Debug, Clone)]
pub struct Mailgun {
    account: Account,
    once: Once,
}

impl Mailgun {
    /// Returns a client; nothing is asked yet.
    ///
    /// # Errors
    /// The account is malformed.
    pub fn new(account: Account, user_agent: &str) -> Result<Self, Error> {
        let timeouts = Timeouts {
            connect: CONNECT_TIMEOUT,
            total: POST_TIMEOUT,
        };
        Self::with_timeouts(account, user_agent, timeouts)
    }

    /// Like [`Self::new`], with less patience.
    ///
    /// # Errors
    /// The account is malformed.
    pub fn with_timeouts(
        account: Account,
        user_agent: &str,
        timeouts: Timeouts,
    ) -> Result<Self, Error> {
        Ok(Self {
            account: normalise(account)?,
            once: Once::new(user_agent, timeouts),
        })
    }

    /// Returns the domain that mails are sent through.
    pub fn domain(&self) -> &str {
        &self.account.domain
    }

    /// Returns the URL of the API, without a slash at its end.
    pub fn api_base(&self) -> &str {
        &self.account.api_base
    }

    /// Sends a mail, or tells how far it came. `mid` is the Message-Id to be, without angle brackets; `token` names the
    /// object. Ends within the timeouts; must not be dropped before its end, or nothing is known of the mail.
    pub async fn send(&self, message: &Message, mid: &str, token: &str) -> Outcome {
        let url = format!("{}/v3/{}/messages", self.api_base(), self.domain());
        let target = Target {
            url: &url,
            user: USER,
            password: &self.account.key,
            body_limit: ANSWER_LIMIT,
        };
        let fields = [
            ("from", message.from.clone()),
            ("to", message.to.clone()),
            ("subject", message.subject.clone()),
            ("text", message.text.clone()),
            ("h:Message-Id", outcome::bracketed(mid)),
            (TOKEN_VARIABLE, token.to_owned()),
            (MID_VARIABLE, mid.to_owned()),
            ("o:tag", TAG.to_owned()),
        ];
        match self.once.post_form(&target, fields).await {
            Ok(answer) => outcome::of_answer(&answer, &self.redaction().and_mail(message), now()),
            Err(unanswered) => outcome::of_silence(&unanswered),
        }
    }

    /// Looks a mail up in Mailgun's events. `mid` is the Message-Id that it was sent with, without angle brackets;
    /// `since` is a time before it was first sent.
    pub async fn look_up(&self, mid: &str, since: Timestamp) -> LookUp {
        events::look_up(self, mid, since).await
    }

    fn redaction(&self) -> Redaction {
        let Account {
            key, events_key, ..
        } = &self.account;
        Redaction::of_keys([key].into_iter().chain(events_key))
    }
}

/// Secrets that are mounted as files often end with a line break.
fn normalise(account: Account) -> Result<Account, Error> {
    let trimmed = |key: &Secret| Secret::new(key.expose().trim());
    let key = trimmed(&account.key);
    if key.expose().is_empty() {
        return Err(Error::EmptyKey);
    }
    let events_key = account
        .events_key
        .as_ref()
        .map(trimmed)
        .filter(|key| !key.expose().is_empty());
    Ok(Account {
        domain: normalise_domain(&account.domain)?,
        api_base: normalise_api_base(&account.api_base)?,
        key,
        events_key,
    })
}

fn normalise_domain(text: &str) -> Result<String, Error> {
    let domain = text.trim().trim_end_matches('.').to_lowercase();
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    if domain.split('.').all(is_label) {
        Ok(domain)
    } else {
        Err(Error::InvalidDomain(text.to_owned()))
    }
}

/// Takes an address that ends with the API's version too, as Mailgun's own clients have it.
fn normalise_api_base(text: &str) -> Result<String, Error> {
    let text = match text.trim().to_lowercase().as_str() {
        "" | "us" => US.to_owned(),
        "eu" => EU.to_owned(),
        _ => text.trim().to_owned(),
    };
    let url = Url::parse(&text).map_err(|_| Error::InvalidApiBase)?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !is_plain {
        return Err(Error::InvalidApiBase);
    }
    let base = url.as_str().trim_end_matches('/');
    Ok(base.strip_suffix("/v3").unwrap_or(base).to_owned())
}

fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_a_region_or_a_url() {
        let table = [
            ("", Some(US)),
            ("us", Some(US)),
            (" EU\n", Some(EU)),
            ("https://api.eu.mailgun.net/v3/", Some(EU)),
            ("https://api.mailgun.net/", Some(US)),
            (
                "http://localhost:8080/mail/",
                Some("http://localhost:8080/mail"),
            ),
            ("asia", None),
            ("ftp://host", None),
            ("https://me:pw@host", None),
            ("https://host/?key=a", None),
        ];
        for (text, expected) in table {
            assert_eq!(normalise_api_base(text).ok().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_domain_cannot_leave_its_place_in_the_url() {
        assert_eq!(normalise_domain(" Example.ORG.\n").unwrap(), "example.org");
        for text in [
            "",
            ".",
            "a b",
            "a/b",
            "..",
            "a..b",
            "a?b",
            "a%2fb",
            "me@example.org",
        ] {
            assert_eq!(
                normalise_domain(text),
                Err(Error::InvalidDomain(text.into()))
            );
        }
    }

    #[test]
    fn keys_lose_their_line_breaks_and_are_not_shown() {
        let account = Account {
            domain: "example.org".into(),
            api_base: "us".into(),
            key: Secret::new("key-0123\n"),
            events_key: Some(Secret::new("\n")),
        };
        let mailgun = Mailgun::new(account.clone(), "test").unwrap();
        assert_eq!(mailgun.account.key.expose(), "key-0123");
        assert_eq!(mailgun.account.events_key, None);
        assert!(!format!("{mailgun:?}").contains("0123"));
        let without = Account {
            key: Secret::new(" "),
            ..account
        };
        assert_eq!(Mailgun::new(without, "test").unwrap_err(), Error::EmptyKey);
    }
}
