//! The outbox: what is known of an object's mail, written down before each step.
//!
//! Copy A is an annotation: it survives moves, backups and older CRDs, and it counts. Copy B is in the status: it
//! survives `kubectl replace`, and the loss of all annotations before a moved object is deleted.

use k8s_openapi::jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The annotation that holds copy A.
pub const ANNOTATION: &str = "mailgun.infrastructure.cluster.x-k8s.io/outbox";

/// How far a mail has come.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum State {
    /// Nothing was sent for this attempt, and that is certain.
    Pending,
    /// Somebody is about to send, or is sending.
    Claimed,
    /// Mailgun refused it, for certain.
    Rejected,
    /// It may have been sent, or not.
    Uncertain,
    /// It may have been sent, and nothing more can be found out: a person decides.
    Held,
    /// It was sent. There is no way back from here.
    Sent,
}

/// How it is known that a mail was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// Mailgun's answer had the message id.
    Response,
    /// Mailgun accepted it, but the answer could not be read to its end.
    Derived,
    /// Mailgun's events had it.
    Lookup,
    /// The object came from another cluster, where it had been sent.
    Adopted,
    /// `status.response` was there before there were records.
    Legacy,
    /// A person said so.
    Operator,
}

/// Where a record began its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `metadata.uid` at first sight.
    pub uid: String,
    /// Namespace at first sight.
    pub namespace: String,
    /// Name at first sight.
    pub name: String,
}

/// The intention of one process to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Who, for a reader.
    pub holder: String,
    /// Who, for the process itself: drawn for each claim.
    pub nonce: String,
    /// When, by the holder's clock; for a reader.
    pub at: Timestamp,
    /// How long the holder may take.
    pub ttl_seconds: u64,
}

/// Why a mail was refused or is in doubt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// HTTP status, 0 without an answer.
    #[serde(default)]
    pub code: u16,
    /// In one word, the reason of the condition.
    pub reason: String,
}

/// Copy A.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Version of this form.
    pub v: u32,
    /// The object's uid at first sight: names the mail for ever.
    pub token: String,
    /// Raised only when a person asks for another mail.
    pub epoch: u32,
    /// The Message-Id that is sent, without angle brackets.
    pub mid: String,
    /// Mailgun domain that the mail is sent through.
    pub domain: String,
    /// API base that the mail is sent through.
    pub api_base: String,
    /// Where the record began its life.
    pub origin: Origin,
    /// How far the mail has come.
    pub state: State,
    /// Number of the attempt, 0 before the first.
    pub attempt: u32,
    /// Who is sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// When the last attempt ended, or was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
    /// Not to be tried again before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// Digest of the mail of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Message id that Mailgun gave, in angle brackets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How it is known that the mail was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
}

/// Copy B.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outbox {
    /// As in the annotation.
    pub token: String,
    /// As in the annotation.
    #[schemars(with = "i32")]
    pub epoch: u32,
    /// As in the annotation.
    pub mid: String,
    /// As in the annotation.
    #[schemars(with = "i32")]
    pub attempt: u32,
    /// As in the annotation.
    pub state: State,
    /// When the attempt was claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_at: Option<String>,
}

/// What the object says of its mail, all copies together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ledger {
    /// Nothing: the object was never seen.
    Blank,
    /// The annotation as it stands.
    Current(Record),
    /// The annotation is missing or behind; this is what is known. It is written before anything else.
    Repaired(Record),
    /// The annotation cannot be read, so nothing may be sent.
    Unreadable(Record),
}

impl Record {
    /// Returns the record of an object that is seen for the first time.
    pub fn new(origin: Origin, domain: &str, api_base: &str) -> Self {
        let token = origin.uid.clone();
        Self {
            v: 1,
            mid: message_id(&token, 0, domain),
            token,
            epoch: 0,
            domain: domain.to_owned(),
            api_base: api_base.to_owned(),
            origin,
            state: State::Pending,
            attempt: 0,
            claim: None,
            last_at: None,
            not_before: None,
            digest: None,
            id: None,
            via: None,
            error: None,
        }
    }

    /// Returns the text of the annotation.
    pub fn to_annotation(&self) -> String {
        serde_json::to_string(self).expect("a record has no keys that are not texts")
    }

    /// Returns copy B.
    pub fn to_outbox(&self) -> Outbox {
        Outbox {
            token: self.token.clone(),
            epoch: self.epoch,
            mid: self.mid.clone(),
            attempt: self.attempt,
            state: self.state,
            claimed_at: self.claim.as_ref().map(|claim| claim.at.to_string()),
        }
    }

    /// Returns the record in another state, without a claim.
    #[must_use]
    pub fn with_state(&self, state: State) -> Self {
        Self {
            state,
            claim: None,
            ..self.clone()
        }
    }

    /// Returns the record as Sent.
    #[must_use]
    pub fn sent(&self, id: String, via: Via) -> Self {
        Self {
            id: Some(id),
            via: Some(via),
            error: None,
            not_before: None,
            ..self.with_state(State::Sent)
        }
    }

    /// Returns the record with what went wrong.
    #[must_use]
    pub fn with_problem(&self, state: State, code: u16, reason: &str) -> Self {
        Self {
            error: Some(Problem {
                code,
                reason: reason.to_owned(),
            }),
            ..self.with_state(state)
        }
    }

    /// Returns the message id in angle brackets: as Mailgun gave it, else as it was sent.
    pub fn bracketed_id(&self) -> String {
        self.id.clone().unwrap_or_else(|| format!("<{}>", self.mid))
    }

    fn rank(&self) -> (u32, u32) {
        (self.epoch, self.attempt)
    }
}

/// Returns the Message-Id of a mail: the same for every attempt, so that what was sent can be recognised.
pub fn message_id(token: &str, epoch: u32, domain: &str) -> String {
    format!("capi-mailgun.{token}.{epoch}@{domain}")
}

/// Reads the copies together. `fresh` is what the record would be if the object were new.
///
/// The copy with the higher epoch and attempt counts. Copy B is written before a mail is sent and after its outcome is
/// known, so a copy B that is ahead means that an attempt was under way whose outcome nobody wrote down.
pub fn read(
    annotation: Option<&str>,
    outbox: Option<&Outbox>,
    response: Option<&str>,
    fresh: Record,
) -> Ledger {
    let annotated = match annotation.map(serde_json::from_str::<Record>) {
        Some(Err(_)) => return unreadable(outbox, response, fresh),
        Some(Ok(record)) => Some(record),
        None => None,
    };
    match (annotated, outbox) {
        (Some(record), Some(outbox)) => match outbox_is_ahead(&record, outbox) {
            true => Ledger::Repaired(repaired(record, outbox, response)),
            false => Ledger::Current(record),
        },
        (Some(record), None) => Ledger::Current(record),
        (None, Some(outbox)) => Ledger::Repaired(repaired(fresh, outbox, response)),
        (None, None) => match response {
            Some(response) => Ledger::Repaired(fresh.sent(response.to_owned(), Via::Legacy)),
            None => Ledger::Blank,
        },
    }
}

fn outbox_is_ahead(record: &Record, outbox: &Outbox) -> bool {
    let theirs = (outbox.epoch, outbox.attempt);
    theirs > record.rank()
        || (theirs == record.rank() && outbox.state == State::Sent && record.state != State::Sent)
}

/// The record that copy B tells of. An attempt that it saw claimed may have been made.
fn repaired(base: Record, outbox: &Outbox, response: Option<&str>) -> Record {
    let record = Record {
        token: outbox.token.clone(),
        epoch: outbox.epoch,
        mid: outbox.mid.clone(),
        attempt: outbox.attempt,
        claim: None,
        ..base
    };
    match outbox.state {
        State::Sent => {
            let id = response.map_or_else(|| record.bracketed_id(), str::to_owned);
            record.sent(id, Via::Adopted)
        }
        State::Claimed => record.with_problem(State::Uncertain, 0, "RecordLost"),
        state => record.with_state(state),
    }
}

/// An annotation that somebody broke: what copy B says of a mail that was sent still counts, all else is in doubt.
fn unreadable(outbox: Option<&Outbox>, response: Option<&str>, fresh: Record) -> Ledger {
    let base = match outbox {
        Some(outbox) => repaired(fresh, outbox, response),
        None => fresh,
    };
    match (base.state, response) {
        (State::Sent, _) => Ledger::Repaired(base),
        (_, Some(response)) => Ledger::Repaired(base.sent(response.to_owned(), Via::Legacy)),
        _ => Ledger::Unreadable(base.with_problem(State::Held, 0, "RecordUnreadable")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> Record {
        let origin = Origin {
            uid: "u".into(),
            namespace: "n".into(),
            name: "o".into(),
        };
        Record::new(origin, "example.org", "https://api.example.org")
    }

    fn attempted(state: State, attempt: u32) -> Record {
        Record {
            attempt,
            ..fresh().with_state(state)
        }
    }

    fn state(ledger: &Ledger) -> State {
        match ledger {
            Ledger::Blank => panic!("the ledger is blank"),
            Ledger::Current(record) | Ledger::Repaired(record) | Ledger::Unreadable(record) => {
                record.state
            }
        }
    }

    #[test]
    fn a_record_survives_its_annotation() {
        let record = fresh().sent("<id@example.org>".into(), Via::Response);
        let text = record.to_annotation();
        assert_eq!(
            read(Some(&text), None, None, fresh()),
            Ledger::Current(record)
        );
        assert!(text.len() < 1024, "{text}");
    }

    #[test]
    fn the_copy_with_the_later_attempt_counts() {
        let table = [
            // annotation, status, what counts
            (State::Pending, 0, State::Claimed, 1, State::Uncertain),
            (State::Claimed, 1, State::Claimed, 1, State::Claimed),
            (State::Pending, 1, State::Claimed, 1, State::Pending),
            (State::Uncertain, 1, State::Claimed, 1, State::Uncertain),
            (State::Sent, 1, State::Claimed, 1, State::Sent),
            (State::Pending, 0, State::Sent, 1, State::Sent),
            (State::Claimed, 1, State::Sent, 1, State::Sent),
            (State::Claimed, 2, State::Rejected, 1, State::Claimed),
        ];
        for (a, a_attempt, b, b_attempt, expected) in table {
            let annotation = attempted(a, a_attempt).to_annotation();
            let outbox = attempted(b, b_attempt).to_outbox();
            let ledger = read(Some(&annotation), Some(&outbox), None, fresh());
            assert_eq!(
                state(&ledger),
                expected,
                "{a:?} {a_attempt}, {b:?} {b_attempt}"
            );
        }
    }

    #[test]
    fn a_lost_annotation_is_rebuilt_from_the_status() {
        let sent = attempted(State::Sent, 1).to_outbox();
        let Ledger::Repaired(record) = read(None, Some(&sent), Some("<x@y>"), fresh()) else {
            panic!()
        };
        assert_eq!(
            (record.state, record.id.as_deref()),
            (State::Sent, Some("<x@y>"))
        );
        let claimed = attempted(State::Claimed, 1).to_outbox();
        assert_eq!(
            state(&read(None, Some(&claimed), None, fresh())),
            State::Uncertain
        );
    }

    #[test]
    fn a_broken_annotation_never_leads_to_a_mail() {
        assert_eq!(state(&read(Some("{"), None, None, fresh())), State::Held);
        assert_eq!(
            state(&read(
                Some("{}"),
                Some(&attempted(State::Pending, 0).to_outbox()),
                None,
                fresh()
            )),
            State::Held
        );
        assert_eq!(
            state(&read(Some("nonsense"), None, Some("<x@y>"), fresh())),
            State::Sent
        );
        assert_eq!(
            state(&read(
                Some("[]"),
                Some(&attempted(State::Sent, 1).to_outbox()),
                None,
                fresh()
            )),
            State::Sent
        );
    }

    #[test]
    fn a_response_without_any_record_was_sent() {
        assert_eq!(
            state(&read(None, None, Some("<x@y>"), fresh())),
            State::Sent
        );
        assert_eq!(read(None, None, None, fresh()), Ledger::Blank);
    }
}
