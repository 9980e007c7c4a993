//! What the status tells of a mail: for people and for Cluster API. Pure.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

use super::api::{Condition, Initialization, MailgunClusterStatus};
use super::client::reason::RATE_LIMITED;
use super::client::remedy;
use super::record::{Record, State, Via};

/// Sums up; Cluster API shows it as the Cluster's `InfrastructureReady`.
pub const READY: &str = "Ready";
/// What became of the mail.
pub const MESSAGE_SENT: &str = "MessageSent";
/// Whether work on the object is held up.
pub const PAUSED: &str = "Paused";
/// That the object is on its way out.
pub const DELETING: &str = "Deleting";

/// What an object is to show, beside its record.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// Why it is paused, if it is.
    pub paused: Option<String>,
    /// It is being deleted.
    pub deleting: bool,
    /// Generation of the spec that was looked at.
    pub generation: Option<i64>,
}

/// One condition, before it is known since when.
#[derive(Debug, Clone)]
struct Finding {
    type_: &'static str,
    status: &'static str,
    severity: Option<&'static str>,
    reason: String,
    message: String,
}

/// Returns the status that follows from a record. What is known to be sent stays so.
pub fn status_of(
    current: &MailgunClusterStatus,
    record: &Record,
    shown: &Shown,
    now: Timestamp,
) -> MailgunClusterStatus {
    let is_sent = record.state == State::Sent;
    let response = match is_sent {
        true => Some(record.bracketed_id()),
        false => current.response.clone(),
    };
    let is_ready = is_sent || current.ready;
    MailgunClusterStatus {
        response,
        ready: is_ready,
        initialization: is_ready.then_some(Initialization {
            provisioned: Some(true),
        }),
        outbox: Some(record.to_outbox()),
        conditions: conditions(current, record, shown, now),
    }
}

fn conditions(
    current: &MailgunClusterStatus,
    record: &Record,
    shown: &Shown,
    now: Timestamp,
) -> Vec<Condition> {
    let sent = message_sent(record);
    let mut all = vec![ready(&sent, shown), sent];
    if shown.deleting {
        all.push(of(
            DELETING,
            "True",
            None,
            "Deleting",
            "the object is being deleted; that sends nothing",
        ));
    }
    all.push(paused(shown.paused.as_deref()));
    all.into_iter()
        .map(|state| dated(state, &current.conditions, shown.generation, now))
        .collect()
}

/// Returns what became of a mail, in a sentence.
pub fn sentence(record: &Record) -> String {
    message_sent(record).message
}

/// Returns the condition that tells only that an object is paused, for one that has no record yet.
pub fn paused_only(
    current: &MailgunClusterStatus,
    shown: &Shown,
    now: Timestamp,
) -> MailgunClusterStatus {
    let mut status = current.clone();
    status
        .conditions
        .retain(|condition| condition.type_ != PAUSED);
    let condition = dated(
        paused(shown.paused.as_deref()),
        &current.conditions,
        shown.generation,
        now,
    );
    status.conditions.push(condition);
    status
}

/// The time of a condition is that of the last change of its status.
fn dated(
    state: Finding,
    before: &[Condition],
    generation: Option<i64>,
    now: Timestamp,
) -> Condition {
    let Finding {
        type_,
        status,
        severity,
        reason,
        message,
    } = state;
    let same = before
        .iter()
        .find(|condition| condition.type_ == type_ && condition.status == status);
    let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
    Condition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        severity: severity.map(str::to_owned),
        reason,
        message,
        last_transition_time: same.map_or(Time(seconds), |condition| {
            condition.last_transition_time.clone()
        }),
        observed_generation: generation,
    }
}

fn of(
    type_: &'static str,
    status: &'static str,
    severity: Option<&'static str>,
    reason: &str,
    message: impl Into<String>,
) -> Finding {
    Finding {
        type_,
        status,
        severity,
        reason: reason.to_owned(),
        message: message.into(),
    }
}

fn ready(sent: &Finding, shown: &Shown) -> Finding {
    if shown.deleting {
        return of(
            READY,
            "False",
            Some("Info"),
            "Deleting",
            "the object is being deleted",
        );
    }
    match sent.status {
        "True" => of(READY, "True", None, "Ready", "the mail was sent"),
        status => Finding {
            type_: READY,
            status,
            ..sent.clone()
        },
    }
}

fn paused(why: Option<&str>) -> Finding {
    match why {
        Some(why) => of(PAUSED, "True", None, "Paused", why),
        None => of(PAUSED, "False", Some("Info"), "NotPaused", ""),
    }
}

fn message_sent(record: &Record) -> Finding {
    let problem = record.error.as_ref();
    let reason = problem.map_or("", |problem| problem.reason.as_str());
    let advice = remedy(reason).map_or_else(String::new, |remedy| format!("; {remedy}"));
    let code = problem
        .filter(|problem| problem.code > 0)
        .map_or_else(String::new, |p| format!(" ({})", p.code));
    match record.state {
        State::Sent => of(
            MESSAGE_SENT,
            "True",
            None,
            sent_reason(record.via),
            format!("message id {}", record.bracketed_id()),
        ),
        State::Pending if reason.is_empty() => of(
            MESSAGE_SENT,
            "False",
            Some("Info"),
            "NotSent",
            "the mail has not been sent yet",
        ),
        State::Pending => {
            let next = record.not_before.map_or_else(String::new, |time| {
                format!("; the next attempt is at {time:.0}")
            });
            let (word, what) = match reason {
                RATE_LIMITED => (RATE_LIMITED, "Mailgun asks to wait".to_owned()),
                reason => (
                    "NotSent",
                    format!("the mail did not reach Mailgun: {reason}"),
                ),
            };
            of(
                MESSAGE_SENT,
                "False",
                Some("Warning"),
                word,
                format!("{what}{code}{advice}{next}"),
            )
        }
        State::Claimed => of(
            MESSAGE_SENT,
            "Unknown",
            None,
            "Sending",
            "the mail is being sent",
        ),
        State::Rejected => of(
            MESSAGE_SENT,
            "False",
            Some("Error"),
            reason,
            format!("Mailgun did not take the mail: {reason}{code}{advice}"),
        ),
        State::Uncertain => {
            let message = format!(
                "it is not known whether the mail was sent: {reason}{code}; Mailgun's events are being looked up"
            );
            of(MESSAGE_SENT, "Unknown", None, "OutcomeUncertain", message)
        }
        State::Held => of(MESSAGE_SENT, "Unknown", None, "Held", held(record, reason)),
    }
}

fn sent_reason(via: Option<Via>) -> &'static str {
    match via {
        Some(Via::Lookup) => "FoundByLookup",
        Some(Via::Adopted) => "Adopted",
        Some(Via::Operator) => "AssumedSent",
        Some(Via::Response | Via::Derived | Via::Legacy) | None => "Sent",
    }
}

fn held(record: &Record, reason: &str) -> String {
    let why = match reason {
        "RecordUnreadable" => {
            "its annotation `mailgun.infrastructure.cluster.x-k8s.io/outbox` cannot be read"
        }
        "NotFound" => "Mailgun's events do not have it",
        _ => "Mailgun's events cannot tell",
    };
    format!(
        "it is not known whether the mail {} was sent, for {why}, and it is not sent a second time; look for it in \
         Mailgun's logs, then annotate the object with `{}=assume-sent` or `={}`",
        record.mid,
        super::RESOLVE,
        super::RESEND
    )
}

#[cfg(test)]
mod tests {
    use super::super::record::Origin;
    use super::*;

    fn record(state: State) -> Record {
        let origin = Origin {
            uid: "u".into(),
            namespace: "n".into(),
            name: "o".into(),
        };
        Record::new(origin, "example.org", "https://api.example.org").with_state(state)
    }

    fn condition<'a>(status: &'a MailgunClusterStatus, type_: &str) -> &'a Condition {
        status
            .conditions
            .iter()
            .find(|condition| condition.type_ == type_)
            .unwrap()
    }

    #[test]
    fn a_mail_that_was_sent_makes_the_infrastructure_ready_for_ever() {
        let now = Timestamp::UNIX_EPOCH;
        let sent = record(State::Pending).sent("<id@example.org>".into(), Via::Response);
        let status = status_of(
            &MailgunClusterStatus::default(),
            &sent,
            &Shown::default(),
            now,
        );
        assert_eq!(status.response.as_deref(), Some("<id@example.org>"));
        assert_eq!(condition(&status, READY).status, "True");
        let later = status_of(&status, &record(State::Held), &Shown::default(), now);
        assert!(later.ready && later.initialization.is_some());
        assert_eq!(later.response, status.response);
    }

    #[test]
    fn a_condition_keeps_its_time_while_its_status_does() {
        let (early, late) = (
            Timestamp::from_second(10).unwrap(),
            Timestamp::from_second(20).unwrap(),
        );
        let first = status_of(
            &MailgunClusterStatus::default(),
            &record(State::Pending),
            &Shown::default(),
            early,
        );
        let second = status_of(&first, &record(State::Rejected), &Shown::default(), late);
        assert_eq!(
            condition(&second, MESSAGE_SENT).last_transition_time,
            Time(early)
        );
        let third = status_of(&second, &record(State::Uncertain), &Shown::default(), late);
        assert_eq!(
            condition(&third, MESSAGE_SENT).last_transition_time,
            Time(late)
        );
    }

    #[test]
    fn severity_goes_with_false_only() {
        for state in [
            State::Pending,
            State::Claimed,
            State::Rejected,
            State::Uncertain,
            State::Held,
            State::Sent,
        ] {
            let record = record(state).with_problem(state, 401, "Unauthorized");
            let status = status_of(
                &MailgunClusterStatus::default(),
                &record,
                &Shown::default(),
                Timestamp::UNIX_EPOCH,
            );
            for condition in &status.conditions {
                assert_eq!(
                    condition.severity.is_some(),
                    condition.status == "False",
                    "{state:?} {condition:?}"
                );
                assert!(!condition.reason.is_empty(), "{state:?} {condition:?}");
            }
        }
    }
}
