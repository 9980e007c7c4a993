//! What is told of mails.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::{Labels, family};

/// How an attempt to send ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendResult {
    /// Mailgun took the mail.
    Accepted,
    /// Mailgun refused it for good.
    Refused,
    /// Mailgun asked to come back later.
    RateLimited,
    /// It certainly did not reach Mailgun.
    NotSent,
    /// It may have been taken, or not.
    Uncertain,
}

/// How a look-up in Mailgun's events ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupResult {
    /// The mail was accepted.
    Found,
    /// The events do not have it (yet).
    NotFound,
    /// The key may not read events.
    Forbidden,
    /// No answer that says either.
    Failed,
}

/// The metrics of mails.
#[derive(Debug, Clone)]
pub struct MailgunMetrics {
    sends: Family<Labels, Counter>,
    lookups: Family<Labels, Counter>,
    objects: Family<Labels, Gauge>,
    /// Mails that Mailgun accepted more often than once.
    pub duplicates: Counter,
}

impl MailgunMetrics {
    /// The states of the outbox that objects are counted by.
    pub const STATES: [&str; 6] = [
        "pending",
        "claimed",
        "rejected",
        "uncertain",
        "held",
        "sent",
    ];

    pub(super) fn register(registry: &mut Registry) -> Self {
        let sends: Family<Labels, Counter> = family(
            registry,
            "capictl_mailgun_sends",
            "Attempts to send a mail, by result",
            Family::default(),
        );
        for result in SendResult::ALL {
            sends.get_or_create_owned(&label("result", result.label()));
        }
        let lookups: Family<Labels, Counter> = family(
            registry,
            "capictl_mailgun_lookups",
            "Look-ups in Mailgun's events, by result",
            Family::default(),
        );
        for result in LookupResult::ALL {
            lookups.get_or_create_owned(&label("result", result.label()));
        }
        let objects: Family<Labels, Gauge> = family(
            registry,
            "capictl_mailgun_outbox_objects",
            "Objects by the state of their mail",
            Family::default(),
        );
        for state in Self::STATES {
            objects.get_or_create_owned(&label("state", state));
        }
        let duplicates = family(
            registry,
            "capictl_mailgun_duplicates_detected",
            "Mails that Mailgun accepted more often than once",
            Counter::default(),
        );
        Self {
            sends,
            lookups,
            objects,
            duplicates,
        }
    }

    /// Counts an attempt to send.
    pub fn count_send(&self, result: SendResult) {
        self.sends
            .get_or_create(&label("result", result.label()))
            .inc();
    }

    /// Counts a look-up.
    pub fn count_lookup(&self, result: LookupResult) {
        self.lookups
            .get_or_create(&label("result", result.label()))
            .inc();
    }

    /// Says how many objects are in a state, one of [`MailgunMetrics::STATES`].
    pub fn set_objects(&self, state: &'static str, number: usize) {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.objects
            .get_or_create(&label("state", state))
            .set(number);
    }
}

impl SendResult {
    const ALL: [Self; 5] = [
        Self::Accepted,
        Self::Refused,
        Self::RateLimited,
        Self::NotSent,
        Self::Uncertain,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::RateLimited => "rate_limited",
            Self::NotSent => "not_sent",
            Self::Uncertain => "uncertain",
        }
    }
}

impl LookupResult {
    const ALL: [Self; 4] = [Self::Found, Self::NotFound, Self::Forbidden, Self::Failed];

    fn label(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Failed => "failed",
        }
    }
}

fn label(name: &'static str, value: &str) -> Labels {
    vec![(name, value.to_owned())]
}
