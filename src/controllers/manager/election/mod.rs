//! Leader election by a Lease, by client-go's rules, so that managers in Go and this one exclude each other.
//!
//! Each write is a compare-and-swap on the `resourceVersion`. The leader gives up some seconds before others may take
//! over, and [`Leadership`] tells at any moment whether that time has come.

mod error;
mod terms;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, Resource as _};

use super::client::describe;
use super::metrics::ElectionMetrics;
use super::server::Readiness;
pub use error::{Error, Loss};
use terms::{Move, Observer};

/// The Lease of the provider's manager in Go, as kubebuilder's scaffold names it: FNV-1a of its module path.
pub const LEASE: &str = "872ab3b9.cluster.x-k8s.io";
/// The namespace that the provider is installed in.
pub const NAMESPACE: &str = "cluster-api-provider-mailgun-system";
/// How much longer than the retry period a wait may be, as a share of it.
const JITTER: f64 = 1.2;

/// What the election goes by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the Lease.
    pub name: String,
    /// Namespace of the Lease.
    pub namespace: String,
    /// Who we are; nobody else may be called so.
    pub holder: String,
    /// How long a Lease that is not renewed is respected; whole seconds.
    pub lease_duration: Duration,
    /// After how long without renewal the leader gives up.
    pub renew_deadline: Duration,
    /// How often the Lease is renewed; others look at it at random times of 1 to 2.2 such periods.
    pub retry_period: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: LEASE.to_owned(),
            namespace: NAMESPACE.to_owned(),
            holder: holder(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

impl Settings {
    /// Tells whether a leader gives up before others take over, and tries more than once before that.
    ///
    /// # Errors
    /// The times do not fit.
    pub fn ensure_valid(&self) -> Result<(), Error> {
        let (lease, renew, retry) = (
            Duration::from_secs(self.lease_duration.as_secs()),
            self.renew_deadline,
            self.retry_period,
        );
        if lease > renew && renew > retry.mul_f64(JITTER) && !retry.is_zero() {
            return Ok(());
        }
        Err(Error::Times {
            lease,
            renew,
            retry,
        })
    }

    /// Namespace and name of the Lease.
    fn lease(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// Returns a name for this process: `<hostname>_<uuid>`.
pub fn holder() -> String {
    let host = hostname::get().unwrap_or_default();
    format!("{}_{}", host.to_string_lossy(), uuid::Uuid::new_v4())
}

/// Whether this process leads at this moment.
#[derive(Debug, Clone, Default)]
pub struct Leadership(Arc<Mutex<Option<Instant>>>);

impl Leadership {
    /// Tells whether nobody else can lead now. False from the renew deadline on, even if the process stood still.
    pub fn holds(&self) -> bool {
        self.end().is_some_and(|end| Instant::now() < end)
    }

    fn end(&self) -> Option<Instant> {
        *self.0.lock().expect("no holder of the lock panics")
    }

    fn set(&self, end: Option<Instant>) {
        *self.0.lock().expect("no holder of the lock panics") = end;
    }
}

/// One who wants to lead.
pub struct Elector {
    settings: Settings,
    leases: Api<Lease>,
    recorder: Recorder,
    metrics: ElectionMetrics,
    readiness: Readiness,
    observer: Observer,
    /// The Lease as we wrote it last.
    ours: Option<Lease>,
    /// Whether a write was begun whose outcome is not known.
    in_doubt: bool,
    leadership: Leadership,
}

/// How an attempt ended that the API server answered.
enum Attempt {
    Ours,
    Theirs(String),
    /// Somebody else wrote at the same time.
    Raced,
}

/// Why an attempt failed.
enum Failed {
    Api(kube::Error),
    /// A namespace that is missing shows only when the Lease is created.
    Create(kube::Error),
    Timeout(Duration),
}

impl Elector {
    /// Makes one that does nothing yet; it tells `readiness` when it waits for another leader.
    ///
    /// # Errors
    /// The times do not fit.
    pub fn new(
        client: Client,
        settings: Settings,
        metrics: ElectionMetrics,
        readiness: Readiness,
    ) -> Result<Self, Error> {
        settings.ensure_valid()?;
        let reporter = Reporter {
            controller: "leader-elector".to_owned(),
            instance: Some(settings.holder.clone()),
        };
        Ok(Self {
            leases: Api::namespaced(client.clone(), &settings.namespace),
            recorder: Recorder::new(client, reporter),
            observer: Observer::new(settings.holder.clone(), settings.lease_duration),
            metrics,
            readiness,
            ours: None,
            in_doubt: false,
            leadership: Leadership::default(),
            settings,
        })
    }

    /// Returns what tells whether this one leads.
    pub fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Says that the wait begins.
    pub(super) fn announce(&self) {
        let lease = self.settings.lease();
        tracing::info!(klog = true, "attempting to acquire leader lease {lease}...");
    }

    /// Waits until this one leads.
    ///
    /// # Errors
    /// The Lease cannot be had at all: no namespace, no permission. Failures that may pass are logged and waited out.
    pub async fn acquire(&mut self) -> Result<(), Error> {
        let (mut told_holder, mut told_problem) = (None, None);
        loop {
            let started = Instant::now();
            match self.attempt().await {
                Ok(Attempt::Ours) => {
                    self.lead(started);
                    return Ok(());
                }
                Ok(Attempt::Theirs(holder)) => {
                    self.readiness.stand_by();
                    if told_holder.as_ref() != Some(&holder) {
                        self.tell_holder(&holder);
                    }
                    (told_holder, told_problem) = (Some(holder), None);
                }
                Ok(Attempt::Raced) => {}
                Err(failed) => {
                    let problem = self.explain(failed)?;
                    if told_problem.as_ref() != Some(&problem) {
                        tracing::warn!(
                            error = problem,
                            "cannot read the lease {} yet",
                            self.settings.lease()
                        );
                    }
                    told_problem = Some(problem);
                }
            }
            let jitter = 1.0 + JITTER * fastrand::f64();
            tokio::time::sleep(self.settings.retry_period.mul_f64(jitter)).await;
        }
    }

    /// Renews the Lease until it is lost, and says how that came about.
    pub async fn keep(&mut self) -> Error {
        let mut problem = None;
        let loss = loop {
            let next = Instant::now() + self.settings.retry_period;
            let end = self.leadership.end().unwrap_or(next);
            tokio::time::sleep_until(end.min(next).into()).await;
            if !self.leadership.holds() {
                let problem = problem.unwrap_or_else(|| "this process stood still".to_owned());
                break self.not_renewed(problem);
            }
            let started = Instant::now();
            let failed = match tokio::time::timeout_at(end.into(), self.attempt()).await {
                Ok(Ok(Attempt::Ours)) => {
                    self.renewed(started);
                    problem = None;
                    continue;
                }
                Ok(Ok(Attempt::Theirs(holder))) => {
                    let lease = self.settings.lease();
                    break Loss::Taken { lease, holder };
                }
                Ok(Ok(Attempt::Raced)) => "somebody else wrote it at the same time".to_owned(),
                Ok(Err(failed)) => self
                    .explain(failed)
                    .unwrap_or_else(|error| error.to_string()),
                Err(_) => "the API server did not answer".to_owned(),
            };
            let lease = self.settings.lease();
            tracing::warn!(error = failed, "cannot renew the lease {lease}");
            problem = Some(failed);
        };
        self.stop_leading();
        Error::Lost(loss)
    }

    /// Gives the Lease back, so that the next leader need not wait until it runs out. All work must have ended.
    pub async fn release(mut self) {
        let lease = self.settings.lease();
        match self.within_timeout(self.write_released()).await {
            Ok(()) => tracing::debug!("released the lease {lease}"),
            Err(failed) => {
                let problem = self
                    .explain(failed)
                    .unwrap_or_else(|error| error.to_string());
                let after = self.settings.lease_duration;
                tracing::warn!(
                    error = problem,
                    "cannot release the lease {lease}; it runs out after {after:?}"
                );
            }
        }
        if self.leadership.end().is_some() {
            self.stop_leading();
            self.say_stopped().await;
        }
    }

    /// Returns whether the Lease may be ours although nobody said so: a write was broken off.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// Writes an event that this one leads no more.
    pub(super) async fn say_stopped(&self) {
        self.event("StopLeading", "stopped leading").await;
    }

    async fn write_released(&self) -> kube::Result<()> {
        loop {
            let Some(mut lease) = self.leases.get_opt(&self.settings.name).await? else {
                return Ok(());
            };
            let spec = lease.spec.take().unwrap_or_default();
            if spec.holder_identity.as_deref() != Some(&self.settings.holder) {
                return Ok(());
            }
            lease.spec = Some(self.observer.released(&spec, Timestamp::now()));
            match self.replace(&lease).await {
                Err(kube::Error::Api(status)) if status.is_conflict() => {}
                result => return result.map(drop),
            }
        }
    }

    /// Tries once to get or to renew the Lease.
    async fn attempt(&mut self) -> Result<Attempt, Failed> {
        if let Some(lease) = self.ours.clone() {
            let spec = lease.spec.as_ref().expect("we wrote it with one");
            let renewed = self.observer.renewed(spec, Timestamp::now());
            match self.write(lease, renewed).await {
                Ok(Attempt::Ours) => return Ok(Attempt::Ours),
                Ok(_) => {}
                Err(failed) => {
                    tracing::debug!(error = self.explain(failed).ok(), "reading the lease anew")
                }
            }
            self.metrics.slow_path.inc();
        }
        let get = self.leases.get_opt(&self.settings.name);
        let Some(lease) = self.within_timeout(get).await? else {
            return self.create().await;
        };
        let found = lease.spec.clone().unwrap_or_default();
        match self
            .observer
            .decide(&found, Instant::now(), Timestamp::now())
        {
            Move::Wait(holder) => Ok(Attempt::Theirs(holder)),
            Move::Write(spec) => self.write(lease, spec).await,
        }
    }

    async fn create(&mut self) -> Result<Attempt, Failed> {
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.settings.name.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(self.observer.first(Timestamp::now())),
        };
        self.in_doubt = true;
        let parameters = PostParams::default();
        let create = self.leases.create(&parameters, &lease);
        let created = self.within_timeout(create).await;
        self.written(created.map_err(|failed| match failed {
            Failed::Api(error) => Failed::Create(error),
            other => other,
        }))
    }

    /// Writes over the Lease that was read, if nobody else has in the meantime.
    async fn write(&mut self, lease: Lease, spec: LeaseSpec) -> Result<Attempt, Failed> {
        let lease = Lease {
            spec: Some(spec),
            ..lease
        };
        self.in_doubt = true;
        let written = self.within_timeout(self.replace(&lease)).await;
        self.written(written)
    }

    fn written(&mut self, result: Result<Lease, Failed>) -> Result<Attempt, Failed> {
        let is_answered = |failed: &Failed| {
            matches!(
                failed,
                Failed::Api(kube::Error::Api(_)) | Failed::Create(kube::Error::Api(_))
            )
        };
        self.in_doubt = result.as_ref().is_err_and(|failed| !is_answered(failed));
        match result {
            Ok(lease) => {
                self.ours = Some(lease);
                Ok(Attempt::Ours)
            }
            Err(
                Failed::Api(kube::Error::Api(status)) | Failed::Create(kube::Error::Api(status)),
            ) if status.is_conflict() || status.is_already_exists() => Ok(Attempt::Raced),
            Err(failed) => Err(failed),
        }
    }

    async fn replace(&self, lease: &Lease) -> kube::Result<Lease> {
        let parameters = PostParams::default();
        self.leases
            .replace(&self.settings.name, &parameters, lease)
            .await
    }

    /// Half of the renew deadline, so that a second request fits in.
    fn request_timeout(&self) -> Duration {
        (self.settings.renew_deadline / 2).max(Duration::from_secs(1))
    }

    async fn within_timeout<T>(
        &self,
        request: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Failed> {
        let limit = self.request_timeout();
        match tokio::time::timeout(limit, request).await {
            Ok(result) => result.map_err(Failed::Api),
            Err(_) => Err(Failed::Timeout(limit)),
        }
    }

    fn lead(&mut self, started: Instant) {
        self.renewed(started);
        self.metrics.master.set(1);
        let lease = self.settings.lease();
        tracing::info!(klog = true, "successfully acquired lease {lease}");
        // Whoever leads has better things to wait for.
        tokio::spawn(self.event("BecomeLeader", "became leader"));
    }

    fn renewed(&self, started: Instant) {
        self.leadership
            .set(Some(started + self.settings.renew_deadline));
    }

    fn stop_leading(&mut self) {
        self.leadership.set(None);
        self.metrics.master.set(0);
    }

    fn not_renewed(&self, problem: String) -> Loss {
        Loss::NotRenewed {
            lease: self.settings.lease(),
            after: self.settings.renew_deadline,
            problem,
        }
    }

    fn tell_holder(&self, holder: &str) {
        let Settings {
            name,
            namespace,
            lease_duration,
            ..
        } = &self.settings;
        tracing::info!(
            holder,
            "`{holder}` leads; this process takes over when that one ends. If it has ended without a word, the lease \
             is free after {lease_duration:?}, or at once by `kubectl delete lease -n {namespace} {name}`"
        );
    }

    /// Returns the text of a failure that may pass, and the error of one that will not.
    fn explain(&self, failed: Failed) -> Result<String, Error> {
        let (lease, namespace) = (self.settings.lease(), self.settings.namespace.clone());
        let (error, creates) = match failed {
            Failed::Timeout(limit) => return Ok(format!("no answer within {limit:?}")),
            Failed::Api(error) => (error, false),
            Failed::Create(error) => (error, true),
        };
        match &error {
            kube::Error::Api(status) if creates && status.is_not_found() => {
                Err(Error::NoNamespace { lease, namespace })
            }
            kube::Error::Api(status) if creates && is_terminating(status) => {
                Err(Error::Terminating { lease })
            }
            kube::Error::Api(status) if matches!(status.code, 401 | 403) => Err(Error::Forbidden {
                lease,
                namespace,
                message: status.message.clone(),
            }),
            error => Ok(describe(error)),
        }
    }

    /// Logs what happened, and returns what writes it as an event on the Lease; without the permission for that, the
    /// log has it.
    ///
    /// kube takes events for repetitions of one, and drops what they say, unless their `action` differs.
    fn event(&self, action: &str, what: &str) -> impl Future<Output = ()> + Send + 'static {
        let note = format!("{} {what}", self.settings.holder);
        let lease = self.ours.clone().unwrap_or_default();
        let object = reference(&lease);
        tracing::debug!(logger = "events", "type" = "Normal", %object, reason = "LeaderElection", "{note}");
        let event = Event {
            type_: EventType::Normal,
            reason: "LeaderElection".to_owned(),
            note: Some(note),
            action: action.to_owned(),
            secondary: None,
        };
        let (recorder, limit) = (self.recorder.clone(), self.request_timeout());
        async move {
            let reference = lease.object_ref(&());
            let publish = recorder.publish(&event, &reference);
            if let Ok(Err(error)) = tokio::time::timeout(limit, publish).await {
                tracing::debug!(error = describe(&error), "cannot write the event");
            }
        }
    }
}

/// A namespace that is being deleted refuses new objects with this cause.
fn is_terminating(status: &kube::core::Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes
        .into_iter()
        .any(|cause| cause.reason == "NamespaceTerminating")
}

/// Returns the reference to a Lease as JSON, in client-go's order.
fn reference(lease: &Lease) -> String {
    let text = |text: &Option<String>| serde_json::json!(text.as_deref().unwrap_or_default());
    let metadata = &lease.metadata;
    format!(
        r#"{{"kind":"Lease","namespace":{},"name":{},"uid":{},"apiVersion":"coordination.k8s.io/v1","resourceVersion":{}}}"#,
        text(&metadata.namespace),
        text(&metadata.name),
        text(&metadata.uid),
        text(&metadata.resource_version),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_client_gos_and_fit() {
        let settings = Settings::default();
        assert_eq!(
            settings.lease(),
            "cluster-api-provider-mailgun-system/872ab3b9.cluster.x-k8s.io"
        );
        settings.ensure_valid().unwrap();
        let (host, id) = settings.holder.rsplit_once('_').unwrap();
        assert!(!host.is_empty());
        assert_eq!(uuid::Uuid::parse_str(id).unwrap().get_version_num(), 4);
        assert_ne!(holder(), holder());
    }

    #[test]
    fn times_that_could_make_two_leaders_are_refused() {
        let seconds = Duration::from_secs;
        let table = [
            (seconds(15), seconds(15), seconds(2)),
            (
                Duration::from_millis(10_900),
                Duration::from_millis(10_500),
                seconds(2),
            ),
            (seconds(15), seconds(2), seconds(2)),
            (seconds(15), seconds(10), Duration::ZERO),
        ];
        for (lease_duration, renew_deadline, retry_period) in table {
            let settings = Settings {
                lease_duration,
                renew_deadline,
                retry_period,
                ..Settings::default()
            };
            let error = settings.ensure_valid().unwrap_err();
            assert!(matches!(error, Error::Times { .. }), "{error}");
        }
    }

    #[test]
    fn leadership_ends_by_itself() {
        let leadership = Leadership::default();
        assert!(!leadership.holds());
        let now = Instant::now();
        leadership.set(Some(now + Duration::from_secs(3600)));
        assert!(leadership.holds());
        leadership.set(Some(now));
        assert!(!leadership.holds(), "nobody had to say so");
    }
}
