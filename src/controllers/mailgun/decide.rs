//! From what is observed to the next step. Pure: no clock, no network, no randomness of its own.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::message::{InvalidMessage, Message};
use super::record::{Ledger, Origin, Record, State, Via};

/// How long a holder may take from its claim to the outcome.
pub const CLAIM_TTL: Duration = Duration::from_secs(60);
/// How long one POST may take in all.
pub const POST_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a foreign claim must have stood still, by our own clock, until it is void.
pub const TAKEOVER_AFTER: Duration = Duration::from_secs(75);
/// How long Mailgun may take until an accepted message shows in its events.
pub const VISIBLE_AFTER: Duration = Duration::from_secs(30 * 60);
/// Pauses between look-ups of a mail whose outcome is in doubt; the last one is repeated.
const LOOKUP_PAUSES: [u64; 5] = [15, 30, 60, 120, 300];
/// Reason of the doubt about an object that has no record although it is old enough to have lost one.
const RECORD_MISSING: &str = "RecordMissing";
/// Shortest and longest pause after a refusal.
const REFUSED_PAUSE: (Duration, Duration) = (Duration::from_secs(600), Duration::from_secs(3600));

/// What is done once nothing can be found out about a mail any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUncertain {
    /// Leave it to a person: never twice.
    #[default]
    Hold,
    /// Send again, once its absence is certain as far as Mailgun's events go.
    Resend,
}

/// What a person asked for by an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Take it as sent.
    AssumeSent,
    /// Send another mail.
    Resend,
}

/// Why nothing is to be done for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// Somebody else manages it.
    ExternallyManaged,
    /// No Cluster owns it yet.
    NoOwner,
    /// Its Cluster, or it itself, is paused.
    Paused,
    /// It was moved away and is about to be deleted.
    MovedAway,
}

/// What is known of the object and its surroundings.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The object as it is now.
    pub origin: Origin,
    /// Somebody else manages it.
    pub externally_managed: bool,
    /// A Cluster owns it, or none is needed.
    pub has_owner: bool,
    /// Its Cluster, or it itself, is paused.
    pub paused: bool,
    /// It is being deleted.
    pub deleting: bool,
    /// It was moved away.
    pub moved_away: bool,
    /// Our finalizer is on it.
    pub has_finalizer: bool,
    /// What it says of its mail.
    pub ledger: Ledger,
    /// `status.outbox` holds the attempt of the record.
    pub mirrored: bool,
    /// What a person asked for.
    pub resolution: Option<Resolution>,
    /// When it was created.
    pub created: Timestamp,
    /// The mail that its spec asks for now.
    pub message: Result<Message, InvalidMessage>,
}

/// What the process knows beside the object.
#[derive(Debug, Clone)]
pub struct Situation {
    /// The time of day.
    pub now: Timestamp,
    /// Nonce of the claim that this process holds for the object, while it may still send.
    pub own_nonce: Option<String>,
    /// How long the present claim has been seen to stand still, by a monotonic clock.
    pub claim_unchanged: Duration,
    /// The process sees the object for the first time: what a refusal was due to may have been mended by the restart.
    pub first_sight: bool,
    /// When the last look-up was made, and how many were made for this doubt.
    pub lookups: (Option<Timestamp>, u32),
    /// Whether Mailgun's events can be asked at all with the key that is there.
    pub can_look_up: bool,
    /// The domain that mails are sent through.
    pub domain: String,
    /// The API base that mails are sent through.
    pub api_base: String,
    /// What is done when nothing can be found out.
    pub on_uncertain: OnUncertain,
    /// How long Mailgun keeps its events.
    pub retention: Duration,
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Nothing for now; the object comes again when something about it changes.
    Idle(Idle),
    /// Let the object go.
    DropFinalizer,
    /// Write the finalizer and the first record, in one patch.
    Begin(Record),
    /// Write a record that follows from what is known; nothing is sent.
    Write(Record),
    /// Claim the next attempt.
    Claim(Record),
    /// Copy the claim to the status.
    Mirror,
    /// Send the mail: the claim is ours and written twice.
    Send(Message),
    /// Look the mail up in Mailgun's events.
    LookUp,
    /// Bring the status up to date; then come again, after a while or on a change.
    Settle(Option<Duration>),
}

/// Returns the next step.
pub fn next_step(observed: &Observed, situation: &Situation) -> Step {
    if observed.externally_managed {
        return Step::Idle(Idle::ExternallyManaged);
    }
    if observed.deleting {
        return on_deletion(observed, situation);
    }
    if observed.moved_away {
        return Step::Idle(Idle::MovedAway);
    }
    if !observed.has_owner {
        return Step::Idle(Idle::NoOwner);
    }
    match &observed.ledger {
        // The pause is looked at before the finalizer: a paused object is not touched.
        Ledger::Blank | Ledger::Repaired(_) | Ledger::Unreadable(_) if observed.paused => {
            Step::Idle(Idle::Paused)
        }
        Ledger::Blank => Step::Begin(first_record(observed, situation)),
        Ledger::Repaired(record) | Ledger::Unreadable(record) => Step::Begin(record.clone()),
        Ledger::Current(record) if !observed.has_finalizer && !observed.paused => {
            Step::Begin(record.clone())
        }
        Ledger::Current(record) => on_record(record, observed, situation),
    }
}

/// Nothing is sent on deletion; a send that is under way may end first, so that its outcome can be told.
fn on_deletion(observed: &Observed, situation: &Situation) -> Step {
    if !observed.has_finalizer {
        return Step::Settle(None);
    }
    match &observed.ledger {
        _ if !observed.has_owner => Step::DropFinalizer,
        _ if observed.paused => Step::Idle(Idle::Paused),
        Ledger::Current(record) if record.state == State::Claimed => {
            match TAKEOVER_AFTER.checked_sub(situation.claim_unchanged) {
                Some(left) if !left.is_zero() => Step::Settle(Some(left)),
                _ => Step::DropFinalizer,
            }
        }
        _ => Step::DropFinalizer,
    }
}

/// An object whose uid is not the one of its record came from elsewhere; then the record came with it. One that has no
/// record but is old may have lost it.
fn first_record(observed: &Observed, situation: &Situation) -> Record {
    let record = Record::new(
        observed.origin.clone(),
        &situation.domain,
        &situation.api_base,
    );
    let age = situation.now.duration_since(observed.created);
    if age > to_signed(VISIBLE_AFTER) && situation.can_look_up {
        let last_at = Some(observed.created);
        return Record {
            last_at,
            ..record.with_problem(State::Uncertain, 0, RECORD_MISSING)
        };
    }
    record
}

fn on_record(record: &Record, observed: &Observed, situation: &Situation) -> Step {
    let Origin { uid, name, .. } = &record.origin;
    if *uid != observed.origin.uid {
        return if observed.paused {
            Step::Idle(Idle::Paused)
        } else {
            on_import(record, name, observed, situation)
        };
    }
    match (record.state, observed.resolution) {
        (State::Uncertain | State::Held | State::Rejected, Some(resolution))
            if !observed.paused =>
        {
            return Step::Write(resolve(record, resolution));
        }
        _ => {}
    }
    match record.state {
        State::Sent | State::Held => Step::Settle(None),
        State::Claimed => on_claim(record, observed, situation),
        _ if observed.paused => Step::Settle(None),
        State::Pending => on_pending(record, observed, situation),
        State::Rejected => on_rejection(record, observed, situation),
        State::Uncertain => on_doubt(record, situation),
    }
}

/// The record of an object that was moved or restored, or copied under another name.
fn on_import(record: &Record, name: &str, observed: &Observed, situation: &Situation) -> Step {
    let origin = observed.origin.clone();
    if name != observed.origin.name {
        // A copy of another object's record: this object has a mail of its own.
        return Step::Write(Record::new(origin, &situation.domain, &situation.api_base));
    }
    let adopted = Record {
        origin,
        ..record.clone()
    };
    Step::Write(match record.state {
        State::Sent => adopted.sent(record.bracketed_id(), Via::Adopted),
        State::Held | State::Rejected | State::Uncertain => adopted,
        // The other side may have sent since the copy was made.
        State::Pending | State::Claimed => {
            let last_at = Some(
                record
                    .last_at
                    .unwrap_or(observed.created)
                    .max(observed.created),
            );
            Record {
                last_at,
                ..adopted.with_problem(State::Uncertain, 0, "Imported")
            }
        }
    })
}

fn resolve(record: &Record, resolution: Resolution) -> Record {
    match resolution {
        Resolution::AssumeSent => record.sent(record.bracketed_id(), Via::Operator),
        Resolution::Resend => {
            let epoch = record.epoch + 1;
            let mid = super::record::message_id(&record.token, epoch, &record.domain);
            Record {
                epoch,
                mid,
                attempt: 0,
                error: None,
                id: None,
                via: None,
                ..record.with_state(State::Pending)
            }
        }
    }
}

fn on_pending(record: &Record, observed: &Observed, situation: &Situation) -> Step {
    if let Some(left) = record
        .not_before
        .and_then(|time| left_until(time, situation.now))
    {
        return Step::Settle(Some(left));
    }
    match &observed.message {
        Err(_) => Step::Write(record.with_problem(State::Rejected, 0, "InvalidSender")),
        Ok(message) => Step::Claim(Record {
            attempt: record.attempt + 1,
            domain: situation.domain.clone(),
            api_base: situation.api_base.clone(),
            digest: Some(message.digest()),
            not_before: None,
            ..record.with_state(State::Claimed)
        }),
    }
}

fn on_claim(record: &Record, observed: &Observed, situation: &Situation) -> Step {
    let nonce = record.claim.as_ref().map(|claim| claim.nonce.as_str());
    let is_ours = nonce.is_some() && nonce == situation.own_nonce.as_deref();
    if is_ours {
        return match &observed.message {
            // A pause that came after the claim holds the mail back: nothing was sent for this attempt.
            _ if observed.paused => Step::Write(record.with_state(State::Pending)),
            Err(_) => Step::Write(record.with_problem(State::Rejected, 0, "InvalidSender")),
            // The spec changed between claim and send: the record must tell of the mail that goes out.
            Ok(message) if record.digest != Some(message.digest()) => {
                Step::Write(record.with_state(State::Pending))
            }
            Ok(_) if !observed.mirrored => Step::Mirror,
            Ok(message) => Step::Send(message.clone()),
        };
    }
    match TAKEOVER_AFTER.checked_sub(situation.claim_unchanged) {
        Some(left) if !left.is_zero() => Step::Settle(Some(left)),
        _ if observed.paused => Step::Settle(None),
        _ => Step::Write(taken_over(record, situation)),
    }
}

/// The mail of a void claim may have been sent long before anybody saw the claim.
fn taken_over(record: &Record, situation: &Situation) -> Record {
    let last_at = Some(situation.now);
    let claimed_at = record.claim.as_ref().map(|claim| claim.at);
    let age = claimed_at.map(|at| situation.now.duration_since(at));
    let state = match age.is_some_and(|age| age > to_signed(situation.retention)) {
        true => State::Held,
        false => State::Uncertain,
    };
    Record {
        last_at,
        ..record.with_problem(state, 0, "ClaimExpired")
    }
}

/// A refusal is final until the mail or the configuration changes, the process is started anew (a key is not in the
/// record), or a good while has passed.
fn on_rejection(record: &Record, observed: &Observed, situation: &Situation) -> Step {
    let digest = observed.message.as_ref().ok().map(Message::digest);
    let Some(digest) = digest else {
        return Step::Settle(None);
    };
    let changed = record.digest != Some(digest)
        || record.domain != situation.domain
        || record.api_base != situation.api_base;
    let pause = REFUSED_PAUSE
        .0
        .saturating_mul(1 << record.attempt.saturating_sub(1).min(8))
        .min(REFUSED_PAUSE.1);
    let due = record
        .last_at
        .and_then(|last| last.checked_add(to_signed(pause)).ok());
    match due.and_then(|due| left_until(due, situation.now)) {
        Some(left) if !changed && !situation.first_sight => Step::Settle(Some(left)),
        _ => Step::Write(record.with_state(State::Pending)),
    }
}

/// Nothing says that a mail without a record was ever tried. It is looked up once, for the case that a record was lost,
/// but what cannot be found out does not hold it back: it may just have waited long for its Cluster.
fn only_lacks_its_record(record: &Record) -> bool {
    let problem = record.error.as_ref();
    record.attempt == 0 && problem.is_some_and(|problem| problem.reason == RECORD_MISSING)
}

fn on_doubt(record: &Record, situation: &Situation) -> Step {
    let same_place = record.domain == situation.domain && record.api_base == situation.api_base;
    let last_at = record.last_at.unwrap_or(situation.now);
    let age = situation.now.duration_since(last_at);
    let can_look_up = situation.can_look_up && same_place;
    let is_too_old = age > to_signed(situation.retention);
    match only_lacks_its_record(record) {
        true if !can_look_up => return Step::Write(record.with_state(State::Pending)),
        false if !can_look_up || is_too_old => {
            return Step::Write(record.with_problem(State::Held, 0, "LookupImpossible"));
        }
        _ => {}
    }
    let (looked_up, count) = situation.lookups;
    let index = usize::try_from(count.saturating_sub(1))
        .unwrap_or(usize::MAX)
        .min(LOOKUP_PAUSES.len() - 1);
    let pause = SignedDuration::from_secs(i64::try_from(LOOKUP_PAUSES[index]).unwrap_or(i64::MAX));
    let first = last_at
        .checked_add(SignedDuration::from_secs(15))
        .unwrap_or(last_at);
    let due = match looked_up {
        None => first,
        Some(time) => time.checked_add(pause).unwrap_or(time),
    };
    match left_until(due, situation.now) {
        Some(left) => Step::Settle(Some(left)),
        None => Step::LookUp,
    }
}

/// Returns from when on the events are to be asked for: as far back as Mailgun has them. A claim that was taken over, or
/// that came with a copy, may have led to a mail long before this process knew of it.
pub fn look_up_since(situation: &Situation) -> Timestamp {
    let since = situation.now.checked_sub(to_signed(situation.retention));
    since.unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Returns what follows from a look-up that cannot be made.
pub fn after_impossible(record: &Record, code: u16, reason: &str) -> Record {
    match only_lacks_its_record(record) {
        true => record.with_state(State::Pending),
        false => record.with_problem(State::Held, code, reason),
    }
}

/// Returns what follows from a look-up that found nothing.
pub fn after_absence(record: &Record, situation: &Situation) -> Option<Record> {
    let last_at = record.last_at.unwrap_or(situation.now);
    let trusted = situation.now.duration_since(last_at) >= to_signed(VISIBLE_AFTER);
    if !trusted {
        return None;
    }
    let never_tried = record.attempt == 0;
    Some(match situation.on_uncertain {
        _ if never_tried => record.with_state(State::Pending),
        OnUncertain::Hold => record.with_problem(State::Held, 0, "NotFound"),
        OnUncertain::Resend => record.with_state(State::Pending),
    })
}

fn left_until(time: Timestamp, now: Timestamp) -> Option<Duration> {
    let left = time.duration_since(now);
    left.is_positive().then(|| left.unsigned_abs())
}

fn to_signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests;
