//! What surrounds reconcilers: election, metrics, probes, and an orderly end. It knows nothing of what they do.
//!
//! ```text
//! Manager::start ─► sockets ─► run: election ─► workers ─► stop: no new work ─► workers end ─► Lease ─► servers
//! ```
//!
//! - [`election`]: one leader at a time. [`metrics`], [`server`]: what can be asked from outside.
//! - [`reconcile`], [`backoff`], [`panic`]: what surrounds each reconcile. [`work`]: what the workers are handed.
//! - [`client`]: a client that counts.

pub mod backoff;
pub mod client;
pub mod election;
pub mod metrics;
pub mod panic;
pub mod reconcile;
pub mod server;
pub mod work;

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use crate::error::{Explain, Failure, Result};
use election::Elector;
use metrics::Metrics;
use server::{Bound, Readiness};
pub use work::{Stop, Work};

/// How long the workers get to end.
pub const GRACE: Duration = Duration::from_secs(30);
/// How long answers that are under way get when all else has ended.
const SERVER_GRACE: Duration = Duration::from_secs(2);

/// What went wrong with the workers.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// They did not end in time.
    #[error("the workers did not end within {0:?}")]
    NotEnded(Duration),
    /// They panicked, outside of any reconcile.
    #[error("the workers panicked: {0}")]
    Panicked(String),
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::NotEnded(_) => vec![
                "the lease was not given back, it runs out by itself; start again, and what was under way is found in the objects".to_owned(),
            ],
            Self::Panicked(_) => vec!["this is a defect of capictl: please report it with the log".to_owned()],
        }
    }
}

/// A controller, as logs name it.
#[derive(Debug, Clone)]
pub struct Controller {
    /// Its name, e.g. `mailguncluster`.
    pub name: &'static str,
    /// API group of its kind.
    pub group: &'static str,
    /// API version of its kind.
    pub version: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Reconciles at a time.
    pub workers: usize,
}

/// Logs a line of controller-runtime's with the keys that name the controller.
macro_rules! log_controller {
    ($controller:expr, $message:literal $(, $name:literal = $value:expr)*) => {
        tracing::info!(
            controller = $controller.name,
            controllerGroup = $controller.group,
            controllerKind = $controller.kind,
            $($name = $value,)*
            $message
        )
    };
}

impl Controller {
    fn log_start(&self) {
        let source = format!("kind source: *{}.{}", self.version, self.kind);
        log_controller!(self, "Starting EventSource", "source" = source);
        log_controller!(self, "Starting Controller");
    }

    fn log_workers(&self) {
        log_controller!(self, "Starting workers", "worker count" = self.workers);
    }
}

/// What a manager goes by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The election; `None` for a process that is certainly alone.
    pub election: Option<election::Settings>,
    /// Where metrics are served; `0` for nowhere.
    pub metrics_address: String,
    /// Where probes are served; `0` for nowhere.
    pub probe_address: String,
    /// The controllers among the workers, in the order in which they start.
    pub controllers: Vec<Controller>,
    /// How long the workers get to end.
    pub grace: Duration,
}

impl Settings {
    /// Returns the usual settings, by which these controllers run.
    pub fn new(controllers: Vec<Controller>) -> Self {
        Self {
            election: Some(election::Settings::default()),
            metrics_address: server::METRICS_ADDRESS.to_owned(),
            probe_address: server::PROBE_ADDRESS.to_owned(),
            controllers,
            grace: GRACE,
        }
    }

    /// Makes the metrics of these controllers; before the client, which counts its requests in them.
    pub fn metrics(&self) -> Arc<Metrics> {
        let lease = self
            .election
            .as_ref()
            .map_or(election::LEASE, |settings| &settings.name);
        let controllers: Vec<_> = self
            .controllers
            .iter()
            .map(|controller| (controller.name, controller.workers))
            .collect();
        Arc::new(Metrics::new(lease, &controllers))
    }
}

/// A manager that has its sockets and does nothing yet.
pub struct Manager {
    elector: Option<Elector>,
    controllers: Arc<[Controller]>,
    grace: Duration,
    metrics: Arc<Metrics>,
    readiness: Readiness,
    metrics_socket: Option<Bound>,
    probe_socket: Option<Bound>,
}

impl Manager {
    /// Takes the addresses and checks the settings; nothing is asked of the API server.
    ///
    /// # Errors
    /// An address cannot be had, or the times of the election do not fit.
    pub async fn start(client: Client, settings: Settings, metrics: Arc<Metrics>) -> Result<Self> {
        let Settings {
            election,
            metrics_address,
            probe_address,
            controllers,
            grace,
        } = settings;
        let readiness = Readiness::default();
        let elector = election
            .map(|settings| {
                Elector::new(
                    client,
                    settings,
                    metrics.election.clone(),
                    readiness.clone(),
                )
            })
            .transpose()?;
        let metrics_socket = server::bind_metrics(&metrics_address).await?;
        let probe_socket = server::bind_probes(&probe_address).await?;
        if let Some(socket) = &metrics_socket {
            let addr = socket.address().to_string();
            tracing::info!(
                logger = "controller-runtime.metrics",
                addr,
                "Metrics server is starting to listen"
            );
        }
        Ok(Self {
            elector,
            controllers: controllers.into(),
            grace,
            metrics,
            readiness,
            metrics_socket,
            probe_socket,
        })
    }

    /// Returns where metrics and probes are served.
    pub fn addresses(&self) -> [Option<std::net::SocketAddr>; 2] {
        [&self.metrics_socket, &self.probe_socket].map(|socket| socket.as_ref().map(Bound::address))
    }

    /// Runs the workers while this process leads, until `shutdown` or their end.
    ///
    /// The future of `workers` runs as a task; it is to end soon after [`Work::stopped`].
    ///
    /// # Errors
    /// The election fails or is lost, or the workers fail or do not end in time.
    pub async fn run<F>(
        mut self,
        shutdown: impl Future<Output = ()>,
        workers: impl FnOnce(Work) -> F,
    ) -> Result<()>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        tracing::info!(logger = "setup", "starting manager");
        if let Some(elector) = &self.elector {
            elector.announce();
        }
        let servers = self.serve();
        let mut shutdown = pin!(shutdown);
        let mut elector = self.elector.take();
        let acquired = match &mut elector {
            None => Some(Ok(())),
            Some(elector) => tokio::select! {
                acquired = elector.acquire() => Some(acquired),
                () = &mut shutdown => None,
            },
        };
        let result = match acquired {
            None => {
                if let Some(elector) = elector.filter(Elector::is_in_doubt) {
                    elector.release().await;
                }
                Ok(())
            }
            Some(Err(error)) => Err(error.into()),
            Some(Ok(())) => self.lead(elector, shutdown.as_mut(), workers).await,
        };
        servers.end().await;
        result
    }

    /// Starts the servers.
    fn serve(&mut self) -> Servers {
        let stop = Stop::default();
        let mut tasks = Vec::new();
        if let Some(socket) = self.probe_socket.take() {
            let addr = socket.address().to_string();
            tracing::info!(kind = "health probe", addr, "Starting server");
            let router = server::probe_router(self.readiness.clone());
            tasks.push(socket.serve(router, stop.requested()));
        }
        if let Some(socket) = self.metrics_socket.take() {
            let addr = socket.address().to_string();
            tracing::info!(path = "/metrics", kind = "metrics", addr, "Starting server");
            let router = server::metrics_router(self.metrics.clone());
            tasks.push(socket.serve(router, stop.requested()));
        }
        Servers { stop, tasks }
    }

    async fn lead<F>(
        &self,
        elector: Option<Elector>,
        shutdown: impl Future<Output = ()>,
        workers: impl FnOnce(Work) -> F,
    ) -> Result<()>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.readiness.start();
        let work = Work {
            stop: Stop::default(),
            leadership: elector.as_ref().map(Elector::leadership),
            readiness: self.readiness.clone(),
            controllers: self.controllers.clone(),
            metrics: self.metrics.clone(),
        };
        let stop = work.stop.clone();
        let mut lease = HeldLease::keep(elector);
        self.controllers.iter().for_each(Controller::log_start);
        let mut workers = tokio::spawn(workers(work));
        let ended = tokio::select! {
            () = shutdown => None,
            () = lease.lost() => None,
            ended = &mut workers => Some(ended),
        };
        stop.request();
        let (result, all_ended) = self.end_workers(workers, ended).await;
        let lost = lease.end(all_ended).await;
        match lost {
            Some(lost) if result.is_ok() => Err(lost.into()),
            _ => result,
        }
    }

    /// Waits for the workers; returns what came of them, and whether they have ended.
    async fn end_workers(
        &self,
        mut workers: JoinHandle<Result<()>>,
        ended: Option<Result<Result<()>, JoinError>>,
    ) -> (Result<()>, bool) {
        tracing::info!("Stopping and waiting for non leader election runnables");
        tracing::info!("Stopping and waiting for leader election runnables");
        for controller in self.controllers.iter() {
            log_controller!(
                controller,
                "Shutdown signal received, waiting for all workers to finish"
            );
        }
        let ended = match ended {
            Some(ended) => Some(ended),
            None => tokio::time::timeout(self.grace, &mut workers).await.ok(),
        };
        let Some(ended) = ended else {
            workers.abort();
            return (Err(Error::NotEnded(self.grace).into()), false);
        };
        for controller in self.controllers.iter() {
            log_controller!(controller, "All workers finished");
        }
        tracing::info!("Stopping and waiting for caches");
        tracing::info!("Stopping and waiting for webhooks");
        tracing::info!("Wait completed, proceeding to shutdown the manager");
        (ended.unwrap_or_else(|error| Err(panicked(error))), true)
    }
}

/// Nobody aborts the workers before their end is awaited, so a task that failed has panicked.
fn panicked(error: JoinError) -> Failure {
    let message = error.try_into_panic().map_or_else(
        |error| error.to_string(),
        |payload| panic::message(&*payload),
    );
    Error::Panicked(message).into()
}

/// The servers that run.
struct Servers {
    stop: Stop,
    tasks: Vec<JoinHandle<()>>,
}

impl Servers {
    async fn end(self) {
        self.stop.request();
        for mut task in self.tasks {
            if tokio::time::timeout(SERVER_GRACE, &mut task).await.is_err() {
                task.abort();
            }
        }
    }
}

/// A Lease that a task of its own renews, so that no busy worker keeps it from that.
struct HeldLease {
    task: Option<JoinHandle<(Elector, Option<election::Error>)>>,
    end: Option<oneshot::Sender<()>>,
    /// What came of the task.
    outcome: Option<(Elector, Option<election::Error>)>,
}

impl HeldLease {
    fn keep(elector: Option<Elector>) -> Self {
        let (end, ended) = oneshot::channel();
        let task = elector.map(|mut elector| {
            tokio::spawn(async move {
                let lost = tokio::select! {
                    lost = elector.keep() => Some(lost),
                    _ = ended => None,
                };
                (elector, lost)
            })
        });
        Self {
            task,
            end: Some(end),
            outcome: None,
        }
    }

    /// Waits until the Lease is lost.
    async fn lost(&mut self) {
        match &mut self.task {
            Some(task) => self.outcome = Some(task.await.expect("renewing does not panic")),
            None => pending().await,
        }
        self.task = None;
    }

    /// Ends the renewal, gives the Lease back if all work has ended, and returns how it was lost if it was.
    async fn end(mut self, release: bool) -> Option<election::Error> {
        if let Some(end) = self.end.take() {
            end.send(()).ok();
        }
        if let Some(task) = self.task.take() {
            self.outcome = Some(task.await.expect("renewing does not panic"));
        }
        let (elector, lost) = self.outcome?;
        match &lost {
            Some(_) => elector.say_stopped().await,
            None if release => elector.release().await,
            None => {}
        }
        lost
    }
}
