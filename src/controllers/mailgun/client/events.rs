//! Looks a mail up in Mailgun's events.
//!
//! They come late, out of order, and by filters that are expressions: so every event is compared here again, and
//! only a query that was read to its empty last page can tell that something is absent.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::outcome::{bracketed, describe, explain, refusal, said_by, unbracketed, wait_of};
use super::{MID_VARIABLE, Mailgun, TAG, USER, now, reason};
use crate::http::Url;
use crate::http::once::{Answer, Target};

/// Most events that Mailgun gives on a page.
const PAGE_SIZE: &str = "300";
/// More pages than any mail, or any day of this provider's mails, has.
const MAX_PAGES: usize = 100;
/// A page has 300 events of some kilobytes.
const PAGE_LIMIT: usize = 16 * 1024 * 1024;
/// Clocks may differ by so much.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_hours(1);
/// What happens to every mail first. A filter by this keeps out what the recipient does with it.
const FIRST_EVENTS: &str = "accepted OR rejected";

/// What Mailgun's events tell of a mail. It has no key, no address and nothing of the mail in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUp {
    /// Mailgun took it.
    Found {
        /// Its message id, in angle brackets.
        id: String,
        /// How often it was accepted: once per recipient. More often means that it was sent twice.
        accepted: usize,
    },
    /// Mailgun took it, and then rejected it: it went to nobody.
    OnlyRejected {
        /// One word, see [`super::reason`].
        reason: &'static str,
        /// What Mailgun says.
        message: String,
    },
    /// There is no event of it, by a query that was read to its end. It may still come.
    Absent,
    /// Events cannot be read with this key, at this place.
    Impossible {
        /// HTTP status.
        code: u16,
        /// One word, see [`super::reason`].
        reason: &'static str,
        /// What Mailgun says.
        message: String,
    },
    /// Nothing is known; it may work later.
    Failed {
        /// HTTP status, 0 without an answer.
        code: u16,
        /// One word, see [`super::reason`].
        reason: &'static str,
        /// How long Mailgun asks to wait, if it says so.
        wait: Option<Duration>,
        /// What happened.
        message: String,
    },
}

/// Asks by the Message-Id; if that finds nothing, goes through the mails of this provider: Mailgun may have given the
/// mail another Message-Id than the one that was asked for.
pub(super) async fn look_up(mailgun: &Mailgun, mid: &str, since: Timestamp) -> LookUp {
    let mid = unbracketed(mid);
    let filters = [("message-id", mid)];
    let by_id = query(mailgun, mid, &filters, since, |event| {
        id_of(event) == Some(mid)
    })
    .await;
    if by_id != LookUp::Absent {
        return by_id;
    }
    let filters = [("tags", TAG), ("event", FIRST_EVENTS)];
    let name = MID_VARIABLE.trim_start_matches("v:");
    let is_it = |event: &Value| event["user-variables"][name].as_str() == Some(mid);
    query(mailgun, mid, &filters, since, is_it).await
}

async fn query(
    mailgun: &Mailgun,
    mid: &str,
    filters: &[(&str, &str)],
    since: Timestamp,
    is_it: impl Fn(&Value) -> bool,
) -> LookUp {
    let mut seen = Seen {
        id: mid.to_owned(),
        ..Seen::default()
    };
    let mut visited = BTreeSet::new();
    let mut next = first_page(mailgun, filters, since);
    loop {
        if visited.len() == MAX_PAGES || !visited.insert(next.clone()) {
            let message = format!("the events of `{}` do not end", mailgun.domain());
            return seen.or(failed(0, reason::ENDLESS_PAGES, message));
        }
        match fetch(mailgun, &next).await {
            Err(problem) => return seen.or(problem),
            Ok(page) if page.events.is_empty() => return seen.or(seen.verdict(mailgun)),
            Ok(page) => {
                page.events
                    .iter()
                    .filter(|event| is_it(event))
                    .for_each(|event| seen.add(event));
                next = page.next;
            }
        }
    }
}

fn first_page(mailgun: &Mailgun, filters: &[(&str, &str)], since: Timestamp) -> String {
    let begin = since.checked_sub(CLOCK_SKEW).unwrap_or(since).as_second();
    let address = format!("{}/v3/{}/events", mailgun.api_base(), mailgun.domain());
    let mut url = Url::parse(&address).expect("the base is a URL and the domain has plain letters");
    url.query_pairs_mut()
        .append_pair("begin", &begin.max(0).to_string())
        .append_pair("ascending", "yes")
        .append_pair("limit", PAGE_SIZE)
        .extend_pairs(filters);
    url.into()
}

/// A page of events.
struct Page {
    events: Vec<Value>,
    next: String,
}

async fn fetch(mailgun: &Mailgun, url: &str) -> Result<Page, LookUp> {
    let account = &mailgun.account;
    let target = Target {
        url,
        user: USER,
        password: account.events_key.as_ref().unwrap_or(&account.key),
        body_limit: PAGE_LIMIT,
    };
    let answer = mailgun.once.get(&target).await.map_err(|unanswered| {
        let (reason, message) = explain(&unanswered);
        failed(0, reason, message)
    })?;
    if answer.code != 200 {
        return Err(refused(mailgun, &answer));
    }
    read_page(mailgun, &answer).ok_or_else(|| {
        let message = "the answer is not a page of events".to_owned();
        failed(answer.code, reason::UNEXPECTED_ANSWER, message)
    })
}

fn read_page(mailgun: &Mailgun, answer: &Answer) -> Option<Page> {
    let mut page: Value = serde_json::from_slice(answer.body.as_ref().ok()?).ok()?;
    let Value::Array(events) = page["items"].take() else {
        return None;
    };
    let next = match &page["paging"]["next"] {
        Value::String(next) => rebase(mailgun, next)?,
        // Nothing is asked for after an empty page.
        _ if events.is_empty() => String::new(),
        _ => return None,
    };
    Some(Page { events, next })
}

/// Returns the next page's address at our own base: the key goes nowhere else, and a gateway may stand before Mailgun.
fn rebase(mailgun: &Mailgun, next: &str) -> Option<String> {
    let url = Url::parse(next).ok()?;
    let path = &url.path()[url.path().find("/v3/")?..];
    let own = format!("/v3/{}/events", mailgun.domain());
    let query = url.query().map(|query| format!("?{query}"));
    path.to_lowercase()
        .starts_with(&own)
        .then(|| format!("{}{path}{}", mailgun.api_base(), query.unwrap_or_default()))
}

fn refused(mailgun: &Mailgun, answer: &Answer) -> LookUp {
    let code = answer.code;
    let said = said_by(answer);
    let message = describe(code, &mailgun.redaction().apply(&said.text));
    match (code, refusal(code, &said)) {
        (300..=399 | 401..=407 | 410, Some(reason)) => LookUp::Impossible {
            code,
            reason,
            message,
        },
        (_, reason) => LookUp::Failed {
            code,
            reason: reason.unwrap_or(reason::SERVER_ERROR),
            wait: wait_of(answer, &said.text, now()),
            message,
        },
    }
}

fn failed(code: u16, reason: &'static str, message: String) -> LookUp {
    LookUp::Failed {
        code,
        reason,
        wait: None,
        message,
    }
}

/// What was seen of the mail so far.
#[derive(Default)]
struct Seen {
    /// As asked for, until an event tells another.
    id: String,
    /// Ids of the events, as pages may overlap.
    accepted: BTreeSet<String>,
    rejected: Option<String>,
    taken: bool,
}

impl Seen {
    fn add(&mut self, event: &Value) {
        match event["event"].as_str() {
            Some("rejected") => {
                let said = event["reject"]["reason"].as_str().unwrap_or_default();
                self.rejected = Some(said.to_owned());
            }
            // A route of the receiving domain accepts the same mail once more.
            Some("accepted") if event["flags"]["is-routed"] != true => {
                let id = event["id"].as_str().map(str::to_owned);
                self.accepted
                    .insert(id.unwrap_or_else(|| event.to_string()));
                self.taken = true;
            }
            _ => self.taken = true,
        }
        if let Some(id) = id_of(event) {
            self.id = id.to_owned();
        }
    }

    /// What was found is certain, whatever happens on later pages.
    fn or(&self, otherwise: LookUp) -> LookUp {
        if !self.taken {
            return otherwise;
        }
        LookUp::Found {
            id: bracketed(&self.id),
            accepted: self.accepted.len(),
        }
    }

    fn verdict(&self, mailgun: &Mailgun) -> LookUp {
        let Some(said) = &self.rejected else {
            return LookUp::Absent;
        };
        let is_sandbox = said.to_lowercase().contains("authorized recipient");
        LookUp::OnlyRejected {
            reason: if is_sandbox {
                reason::RECIPIENT_NOT_AUTHORIZED
            } else {
                reason::REFUSED
            },
            message: mailgun.redaction().apply(said),
        }
    }
}

fn id_of(event: &Value) -> Option<&str> {
    event["message"]["headers"]["message-id"]
        .as_str()
        .map(unbracketed)
}
