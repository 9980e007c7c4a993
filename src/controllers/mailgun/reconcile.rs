//! Observe, decide, act, record: until there is nothing to do for now.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder};
use kube::{Client, Resource, ResourceExt};

use super::Settings;
use super::api::{MailgunCluster, MailgunClusterStatus};
use super::client::{LookUp, Outcome};
use super::conditions::{self, Shown};
use super::decide::{self, CLAIM_TTL, Idle, Situation, Step};
use super::ledger::Ledgers;
use super::memory::{Key, Memories, OwnClaim};
use super::message::Message;
use super::observe;
use super::record::{Claim, Ledger, Record, State, Via};
use crate::controllers::manager::backoff::resync;
use crate::controllers::manager::metrics::{LookupResult, MailgunMetrics, SendResult};
use crate::controllers::manager::{Work, client::describe};

/// How many steps one reconcile takes; more than any object needs, so a loop is an error and not for ever.
const STEPS: usize = 30;
/// How long a reconcile tries to write down what came of a POST.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(600);
/// Shortest pause after Mailgun asked to wait without saying how long.
const RATE_LIMIT_PAUSE: Duration = Duration::from_secs(30);

/// What reconciles have in common.
pub struct Context {
    pub(super) client: Client,
    pub(super) settings: Settings,
    pub(super) work: Work,
    pub(super) recorder: Recorder,
    pub(super) memories: Memories,
    /// Clusters, in the version that the API server prefers; `None` where Cluster API is not installed.
    pub(super) clusters: Option<ApiResource>,
    /// Who this process is, in claims.
    pub(super) holder: String,
}

/// Why a reconcile is to be repeated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server.
    #[error("{}", describe(.0))]
    Api(#[from] kube::Error),
    /// The object changed again and again.
    #[error("the object did not come to rest within {STEPS} steps")]
    Restless,
}

/// Brings one object forward, as far as it goes now.
///
/// # Errors
/// The API server fails; the object says how far it came.
pub async fn reconcile(object: Arc<MailgunCluster>, context: &Context) -> Result<Action, Error> {
    let namespace = object.namespace().unwrap_or_default();
    let one = One {
        context,
        key: (namespace.clone(), object.name_any()),
        ledgers: Ledgers(Api::namespaced(context.client.clone(), &namespace)),
    };
    one.run().await
}

/// The reconcile of one object.
struct One<'a> {
    context: &'a Context,
    key: Key,
    ledgers: Ledgers,
}

/// How a step ended.
enum Next {
    /// The object as it is now, for the next decision.
    Continue(Box<MailgunCluster>),
    /// Read it again: somebody else has changed it.
    Again,
    /// Nothing more for now.
    Rest(Action),
}

impl One<'_> {
    async fn run(&self) -> Result<Action, Error> {
        let mut current = None;
        let mut no_copy = false;
        for _ in 0..STEPS {
            let object = match current.take() {
                Some(object) => object,
                None => match self.ledgers.get(&self.key.1).await? {
                    Some(object) => Box::new(object),
                    None => return Ok(self.forget()),
                },
            };
            match self.step(&object, &mut no_copy).await {
                Ok(Next::Continue(object)) => current = Some(object),
                Ok(Next::Again) => {}
                Ok(Next::Rest(action)) => return Ok(action),
                Err(Error::Api(error)) if is_conflict(&error) => {
                    tracing::warn!("the object has changed meanwhile, reading it again");
                }
                Err(Error::Api(error)) if is_not_found(&error) => return Ok(self.forget()),
                Err(error) => return Err(error),
            }
        }
        Err(Error::Restless)
    }

    fn forget(&self) -> Action {
        self.context.memories.forget(&self.key);
        Action::await_change()
    }

    async fn step(&self, object: &MailgunCluster, no_copy: &mut bool) -> Result<Next, Error> {
        let cluster = self.get_cluster(object).await?;
        let now = Timestamp::now();
        let settings = &self.context.settings;
        let observed = observe::observe(object, cluster.as_ref(), settings, *no_copy, now);
        let record = match &observed.ledger {
            Ledger::Blank => None,
            Ledger::Current(record) | Ledger::Repaired(record) | Ledger::Unreadable(record) => {
                Some(record.clone())
            }
        };
        let shown = Shown {
            paused: observe::paused(object, cluster.as_ref()),
            deleting: observed.deleting,
            generation: object.metadata.generation,
        };
        let own = record
            .as_ref()
            .and_then(|record| self.context.memories.own_claim(&self.key, record));
        // What this process knows of its own claim needs no decision: the outcome, or that nothing was sent.
        if let (Some(record), Some(own)) = (&record, &own)
            && let Some(known) = known_outcome(record, own)
        {
            return self
                .wrote(
                    self.ledgers.write(object, &known).await?,
                    Some(record),
                    &known,
                )
                .await;
        }
        let situation = self.situation(record.as_ref(), own.as_ref(), now);
        let step = decide::next_step(&observed, &situation);
        tracing::debug!(?step, "next step");
        match step {
            Step::Idle(idle) => self.rest(object, idle, &shown, now).await,
            Step::DropFinalizer => {
                self.ledgers.drop_finalizer(object).await?;
                Ok(Next::Rest(self.forget()))
            }
            Step::Begin(begun) => {
                let written = self.ledgers.begin(object, &begun).await?;
                self.wrote(
                    written,
                    record
                        .as_ref()
                        .filter(|_| matches!(observed.ledger, Ledger::Current(_))),
                    &begun,
                )
                .await
            }
            Step::Write(changed) => {
                let written = self.ledgers.write(object, &changed).await?;
                self.wrote(written, record.as_ref(), &changed).await
            }
            Step::Claim(claimed) => self.claim(object, claimed).await,
            Step::Mirror => self.mirror(object, record.as_ref(), no_copy).await,
            Step::Send(message) => self.send(object, record, &message).await,
            Step::LookUp => self.look_up(object, record, &situation).await,
            Step::Settle(after) => self.settle(object, record, &shown, after, now).await,
        }
    }

    fn situation(
        &self,
        record: Option<&Record>,
        own: Option<&OwnClaim>,
        now: Timestamp,
    ) -> Situation {
        let Context {
            settings, memories, ..
        } = self.context;
        Situation {
            now,
            own_nonce: own
                .filter(|own| own.may_post())
                .map(|own| own.nonce.clone()),
            claim_unchanged: record
                .filter(|record| record.state == State::Claimed)
                .map_or(Duration::ZERO, |record| {
                    memories.unchanged(&self.key, record)
                }),
            first_sight: memories.is_first_sight(&self.key),
            lookups: record.map_or((None, 0), |record| memories.lookups(&self.key, record)),
            can_look_up: true,
            domain: settings.mailgun.domain().to_owned(),
            api_base: settings.mailgun.api_base().to_owned(),
            on_uncertain: settings.on_uncertain,
            retention: settings.retention,
        }
    }

    /// Reads the Cluster that owns the object, from the API server: whether it is paused must not be old news.
    async fn get_cluster(&self, object: &MailgunCluster) -> Result<Option<DynamicObject>, Error> {
        let (Some(name), Some(resource)) = (observe::owner(object), &self.context.clusters) else {
            return Ok(None);
        };
        let clusters: Api<DynamicObject> =
            Api::namespaced_with(self.context.client.clone(), &self.key.0, resource);
        Ok(clusters.get_opt(name).await?)
    }

    /// Goes on with the object as it was written; tells what changed.
    async fn wrote(
        &self,
        object: MailgunCluster,
        before: Option<&Record>,
        after: &Record,
    ) -> Result<Next, Error> {
        if before.is_none_or(|before| (before.state, before.via) != (after.state, after.via)) {
            self.tell(&object, after).await;
        }
        Ok(Next::Continue(Box::new(object)))
    }

    async fn rest(
        &self,
        object: &MailgunCluster,
        idle: Idle,
        shown: &Shown,
        now: Timestamp,
    ) -> Result<Next, Error> {
        match idle {
            Idle::NoOwner => tracing::info!("Waiting for a Cluster to own the object"),
            Idle::ExternallyManaged => tracing::info!("The object is externally managed"),
            Idle::MovedAway => tracing::info!("The object was moved away"),
            Idle::Paused => {
                tracing::info!("Reconciliation is paused");
                let status = object.status.clone().unwrap_or_default();
                let wanted = conditions::paused_only(&status, shown, now);
                if wanted != status {
                    self.ledgers.publish(object, &wanted).await?;
                }
            }
        }
        Ok(Next::Rest(Action::await_change()))
    }

    async fn claim(&self, object: &MailgunCluster, mut record: Record) -> Result<Next, Error> {
        if !self.context.work.may_begin() {
            return Ok(Next::Rest(Action::await_change()));
        }
        let nonce = uuid::Uuid::new_v4().to_string();
        record.claim = Some(Claim {
            holder: self.context.holder.clone(),
            nonce: nonce.clone(),
            at: Timestamp::now(),
            ttl_seconds: CLAIM_TTL.as_secs(),
        });
        // Known before it is written: the answer may be lost, and the claim stored all the same.
        self.context.memories.claim(&self.key, &nonce);
        Ok(Next::Continue(Box::new(
            self.ledgers.write(object, &record).await?,
        )))
    }

    async fn mirror(
        &self,
        object: &MailgunCluster,
        record: Option<&Record>,
        no_copy: &mut bool,
    ) -> Result<Next, Error> {
        let Some(outbox) = record.map(Record::to_outbox) else {
            return Ok(Next::Again);
        };
        match self.ledgers.mirror(object, &outbox).await {
            Ok(written) => {
                let kept = written
                    .status
                    .as_ref()
                    .and_then(|status| status.outbox.as_ref())
                    == Some(&outbox);
                *no_copy = !kept;
                Ok(Next::Continue(Box::new(written)))
            }
            Err(kube::Error::Api(status)) if status.code == 422 => {
                *no_copy = true;
                Ok(Next::Again)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Sends the mail, unless the claim has become too old, or somebody else may lead.
    async fn send(
        &self,
        object: &MailgunCluster,
        record: Option<Record>,
        message: &Message,
    ) -> Result<Next, Error> {
        let Context {
            memories,
            settings,
            work,
            ..
        } = self.context;
        let Some(record) = record else {
            return Ok(Next::Again);
        };
        let may_post = memories
            .own_claim(&self.key, &record)
            .is_some_and(|own| own.may_post());
        if !may_post || !work.may_begin() {
            let back = record.with_state(State::Pending);
            self.ledgers.write(object, &back).await?;
            return Ok(Next::Rest(Action::await_change()));
        }
        memories.posting(&self.key);
        let outcome = settings
            .mailgun
            .send(message, &record.mid, &record.token)
            .await;
        work.metrics.mailgun.count_send(result_of(&outcome));
        let settled = after_post(&record, outcome, Timestamp::now());
        memories.posted(&self.key, &settled);
        self.write_down(&record, &settled).await
    }

    /// Writes what came of a POST, however often it takes: the mail is out. Changes of others are kept.
    async fn write_down(&self, claimed: &Record, settled: &Record) -> Result<Next, Error> {
        let deadline = tokio::time::Instant::now() + SETTLE_TIMEOUT;
        let mut pause = Duration::from_millis(100);
        loop {
            let written = async {
                let Some(object) = self.ledgers.get(&self.key.1).await? else {
                    return Ok(None);
                };
                let domain = self.context.settings.mailgun.domain();
                let ledger =
                    observe::ledger(&object, domain, self.context.settings.mailgun.api_base());
                match ledger {
                    Ledger::Current(record) if record.claim == claimed.claim => {
                        Ok(Some((true, self.ledgers.write(&object, settled).await?)))
                    }
                    _ => Ok(Some((false, object))),
                }
            };
            match written.await {
                Ok(Some((true, object))) => {
                    return self.wrote(object, Some(claimed), settled).await;
                }
                Ok(Some((false, _))) => return Ok(Next::Again),
                Ok(None) => {
                    tracing::warn!(id = settled.bracketed_id(), state = ?settled.state, "the object is gone; this came of its mail");
                    return Ok(Next::Rest(self.forget()));
                }
                Err(error) if tokio::time::Instant::now() > deadline => {
                    return Err(Error::Api(error));
                }
                Err(error) => tracing::warn!(
                    error = describe(&error),
                    "cannot write down what came of the mail, trying again"
                ),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    }

    async fn look_up(
        &self,
        object: &MailgunCluster,
        record: Option<Record>,
        situation: &Situation,
    ) -> Result<Next, Error> {
        let Context {
            memories,
            settings,
            work,
            ..
        } = self.context;
        let Some(record) = record else {
            return Ok(Next::Again);
        };
        let since = decide::look_up_since(situation);
        let found = settings.mailgun.look_up(&record.mid, since).await;
        memories.looked_up(&self.key, &record, Timestamp::now());
        let (result, changed) = match found {
            LookUp::Found { id, accepted } => {
                if accepted > 1 {
                    self.tell_duplicate(object, &id, accepted).await;
                }
                (LookupResult::Found, Some(record.sent(id, Via::Lookup)))
            }
            LookUp::OnlyRejected { reason, .. } => (
                LookupResult::Found,
                Some(record.with_problem(State::Rejected, 0, reason)),
            ),
            LookUp::Absent => (
                LookupResult::NotFound,
                decide::after_absence(&record, situation),
            ),
            LookUp::Impossible { code, reason, .. } => (
                LookupResult::Forbidden,
                Some(decide::after_impossible(&record, code, reason)),
            ),
            LookUp::Failed { code, reason, .. } => {
                tracing::info!(code, reason, "Mailgun's events cannot be looked up now");
                (LookupResult::Failed, None)
            }
        };
        work.metrics.mailgun.count_lookup(result);
        match changed {
            Some(changed) => {
                let written = self.ledgers.write(object, &changed).await?;
                self.wrote(written, Some(&record), &changed).await
            }
            None => Ok(Next::Again),
        }
    }

    /// Brings the status up to date, and rests.
    async fn settle(
        &self,
        object: &MailgunCluster,
        record: Option<Record>,
        shown: &Shown,
        after: Option<Duration>,
        now: Timestamp,
    ) -> Result<Next, Error> {
        let rest = Next::Rest(Action::requeue(after.unwrap_or_else(resync)));
        let Some(record) = record else {
            return Ok(rest);
        };
        self.count(record.state);
        let status = object.status.clone().unwrap_or_default();
        let wanted = conditions::status_of(&status, &record, shown, now);
        if wanted != status {
            self.publish(object, &wanted).await?;
        }
        Ok(rest)
    }

    async fn publish(
        &self,
        object: &MailgunCluster,
        wanted: &MailgunClusterStatus,
    ) -> Result<(), Error> {
        match self.ledgers.publish(object, wanted).await {
            // An older CRD wants a response in every status: there is nothing to show yet.
            Err(kube::Error::Api(status)) if status.code == 422 && wanted.response.is_none() => {
                Ok(())
            }
            result => Ok(result.map(drop)?),
        }
    }

    fn count(&self, state: State) {
        let counts = self.context.memories.count(&self.key, state);
        let states = [
            State::Pending,
            State::Claimed,
            State::Rejected,
            State::Uncertain,
            State::Held,
            State::Sent,
        ];
        for (state, label) in states.into_iter().zip(MailgunMetrics::STATES) {
            self.context
                .work
                .metrics
                .mailgun
                .set_objects(label, counts.get(&state).copied().unwrap_or_default());
        }
    }

    /// Says in the log and by an event what became of the mail.
    async fn tell(&self, object: &MailgunCluster, record: &Record) {
        let reason = record
            .error
            .as_ref()
            .map_or("", |problem| problem.reason.as_str());
        let (type_, event) = match (record.state, record.via) {
            (State::Sent, Some(Via::Adopted)) => (EventType::Normal, "MessageAdopted"),
            (State::Sent, _) => (EventType::Normal, "MessageSent"),
            (State::Rejected, _) => (EventType::Warning, "SendRejected"),
            (State::Uncertain, _) => (EventType::Warning, "SendUncertain"),
            (State::Held, _) => (EventType::Warning, "SendHeld"),
            (State::Pending, _) if reason == super::client::reason::RATE_LIMITED => {
                (EventType::Warning, "SendRateLimited")
            }
            (State::Pending, _) if !reason.is_empty() => (EventType::Warning, "SendFailed"),
            (State::Pending | State::Claimed, _) => return,
        };
        let note = conditions::sentence(record);
        match (record.state, record.via) {
            (State::Sent, Some(Via::Response | Via::Derived)) => {
                tracing::info!("Message ID {}", record.bracketed_id())
            }
            (State::Sent, _) => tracing::info!("{note}"),
            (State::Rejected, _) => {
                tracing::error!(error = %note, "couldn't send message \"<{}>\"", record.mid)
            }
            _ => tracing::warn!("{note}"),
        }
        // The recorder merges events of one action and keeps the first text, so a new reason is a new action.
        let action = if reason.is_empty() { "Send" } else { reason };
        self.publish_event(object, type_, event, action.to_owned(), note)
            .await;
    }

    async fn tell_duplicate(&self, object: &MailgunCluster, id: &str, accepted: usize) {
        self.context.work.metrics.mailgun.duplicates.inc();
        let note = format!("Mailgun accepted the mail {id} {accepted} times");
        tracing::error!("{note}");
        self.publish_event(
            object,
            EventType::Warning,
            "DuplicateDetected",
            "LookUp".to_owned(),
            note,
        )
        .await;
    }

    async fn publish_event(
        &self,
        object: &MailgunCluster,
        type_: EventType,
        reason: &str,
        action: String,
        note: String,
    ) {
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(note),
            action,
            secondary: None,
        };
        // An event that is lost is no reason to do anything again.
        if let Err(error) = self
            .context
            .recorder
            .publish(&event, &object.object_ref(&()))
            .await
        {
            tracing::warn!(error = describe(&error), reason, "cannot publish an event");
        }
    }
}

/// Returns what is to be written of an own claim that can send nothing any more.
fn known_outcome(record: &Record, own: &OwnClaim) -> Option<Record> {
    match (&own.outcome, own.posted) {
        (Some(outcome), _) => Some(outcome.clone()),
        (None, false) if !own.may_post() => Some(record.with_state(State::Pending)),
        _ => None,
    }
}

/// Returns the record after a POST (§ "outcome of the POST" of the design).
fn after_post(record: &Record, outcome: Outcome, now: Timestamp) -> Record {
    let record = Record {
        last_at: Some(now),
        ..record.clone()
    };
    let wait_until = |wait: Duration| {
        now.checked_add(SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX))
            .ok()
    };
    match outcome {
        Outcome::Sent { id } => record.sent(id, Via::Response),
        Outcome::SentUnread => record.sent(record.bracketed_id(), Via::Derived),
        Outcome::NotSent { reason, .. } => {
            let pause = Duration::from_secs(1 << record.attempt.min(8));
            Record {
                not_before: wait_until(pause),
                ..record.with_problem(State::Pending, 0, reason)
            }
        }
        Outcome::RateLimited { code, wait, .. } => {
            let pending =
                record.with_problem(State::Pending, code, super::client::reason::RATE_LIMITED);
            Record {
                not_before: wait_until(wait.unwrap_or(RATE_LIMIT_PAUSE)),
                ..pending
            }
        }
        Outcome::Refused { code, reason, .. } => record.with_problem(State::Rejected, code, reason),
        Outcome::Unknown { code, reason, .. } => {
            record.with_problem(State::Uncertain, code, reason)
        }
    }
}

fn result_of(outcome: &Outcome) -> SendResult {
    match outcome {
        Outcome::Sent { .. } | Outcome::SentUnread => SendResult::Accepted,
        Outcome::NotSent { .. } => SendResult::NotSent,
        Outcome::RateLimited { .. } => SendResult::RateLimited,
        Outcome::Refused { .. } => SendResult::Refused,
        Outcome::Unknown { .. } => SendResult::Uncertain,
    }
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_conflict())
}

fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_not_found())
}
