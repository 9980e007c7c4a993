//! The HTTP servers for metrics and probes. All processes have them, also those that do not lead.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::metrics::Metrics;
use crate::error::Explain;

/// Where metrics are served unless somebody says otherwise.
pub const METRICS_ADDRESS: &str = "127.0.0.1:8080";
/// Where probes are served unless somebody says otherwise.
pub const PROBE_ADDRESS: &str = ":8081";

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address without a port, or with one that is no number.
    #[error("`{address}` of `{flag}` is no address")]
    Address {
        /// The address.
        address: String,
        /// The flag that it came by.
        flag: &'static str,
    },
    /// The system refuses the address.
    #[error("cannot serve {what} at `{address}` (`{flag}`)")]
    Bind {
        /// What is served.
        what: &'static str,
        /// The address.
        address: String,
        /// The flag that it came by.
        flag: &'static str,
        /// Why not.
        #[source]
        problem: io::Error,
    },
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Address { .. } => {
                vec!["write `HOST:PORT`, `:PORT` for all addresses of this host, or `0` for no server".to_owned()]
            }
            Self::Bind { flag, problem, .. } if problem.kind() == io::ErrorKind::AddrInUse => {
                vec![format!(
                    "another process listens there: end it, or give another address with `{flag}`, or `{flag}=0` to do without"
                )]
            }
            Self::Bind { flag, .. } => {
                vec![format!(
                    "give another address with `{flag}`, or `{flag}=0` to do without"
                )]
            }
        }
    }
}

/// What `/readyz` is to say.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<AtomicU8>);

impl Readiness {
    const STARTING: u8 = 0;
    const STANDING_BY: u8 = 1;
    const SYNCED: u8 = 2;

    /// Ready to take over from another leader. A Deployment's update needs that: its old Pod goes when the new is ready.
    pub fn stand_by(&self) {
        self.0.store(Self::STANDING_BY, Ordering::Release);
    }

    /// Not ready: this process leads, but has not seen the objects yet.
    pub fn start(&self) {
        self.0.store(Self::STARTING, Ordering::Release);
    }

    /// Ready: the first list of all objects is there. Returns whether that is news.
    pub fn sync(&self) -> bool {
        self.0.swap(Self::SYNCED, Ordering::AcqRel) != Self::SYNCED
    }

    /// Tells whether it is ready.
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Acquire) != Self::STARTING
    }
}

/// A server that has its socket but does not answer yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Returns the address; its port is a real one even if port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop`.
    pub fn serve(
        self,
        router: Router,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> JoinHandle<()> {
        tokio::spawn(async move {
            let serving = axum::serve(self.listener, router).with_graceful_shutdown(stop);
            if let Err(error) = serving.await {
                tracing::error!(error = %error, addr = %self.address, "the server ended");
            }
        })
    }
}

/// Takes the address for metrics; `None` if there is to be no server.
///
/// # Errors
/// No address, or one that cannot be had.
pub async fn bind_metrics(address: &str) -> Result<Option<Bound>, Error> {
    bind("metrics", "--metrics-bind-address", address).await
}

/// Takes the address for probes; `None` if there is to be no server.
///
/// # Errors
/// No address, or one that cannot be had.
pub async fn bind_probes(address: &str) -> Result<Option<Bound>, Error> {
    bind("health probes", "--health-probe-bind-address", address).await
}

async fn bind(
    what: &'static str,
    flag: &'static str,
    address: &str,
) -> Result<Option<Bound>, Error> {
    if matches!(address, "" | "0") {
        return Ok(None);
    }
    let port = address.rsplit_once(':').map(|(_, port)| port);
    if port.and_then(|port| port.parse::<u16>().ok()).is_none() {
        let address = address.to_owned();
        return Err(Error::Address { address, flag });
    }
    let problem = |problem| Error::Bind {
        what,
        address: address.to_owned(),
        flag,
        problem,
    };
    let listener = listen(address).await.map_err(problem)?;
    let address = listener.local_addr().map_err(problem)?;
    Ok(Some(Bound { listener, address }))
}

/// As in Go, `:PORT` means all addresses, of both families where the host has both.
async fn listen(address: &str) -> io::Result<TcpListener> {
    if !address.starts_with(':') {
        return TcpListener::bind(address).await;
    }
    match TcpListener::bind(format!("[::]{address}")).await {
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind(format!("0.0.0.0{address}")).await
        }
        result => result,
    }
}

/// Returns what is served at the address for metrics.
pub fn metrics_router(metrics: Arc<Metrics>) -> Router {
    let show = async move || {
        let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
        (kind, metrics.encode())
    };
    Router::new().route("/metrics", get(show))
}

/// Returns what is served at the address for probes.
pub fn probe_router(readiness: Readiness) -> Router {
    Router::new()
        .route("/healthz", get(async || answer("healthz", &[PING])))
        .route("/healthz/{check}", get(healthz_check))
        .route("/readyz", get(readyz))
        .route("/readyz/{check}", get(readyz_check))
        .with_state(readiness)
}

type Check = (&'static str, bool);

/// That an answer comes at all is what it checks.
const PING: Check = ("ping", true);

fn readiness_checks(readiness: &Readiness) -> [Check; 2] {
    [PING, ("caches", readiness.is_ready())]
}

async fn readyz(State(readiness): State<Readiness>) -> Response {
    answer("readyz", &readiness_checks(&readiness))
}

async fn healthz_check(Path(name): Path<String>) -> Response {
    answer_one("healthz", &name, &[PING])
}

async fn readyz_check(State(readiness): State<Readiness>, Path(name): Path<String>) -> Response {
    answer_one("readyz", &name, &readiness_checks(&readiness))
}

fn answer_one(path: &str, name: &str, checks: &[Check]) -> Response {
    match checks.iter().find(|(known, _)| *known == name) {
        Some(check) => answer(path, &[*check]),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Answers as API servers do: `ok`, or each check and its result.
fn answer(path: &str, checks: &[Check]) -> Response {
    if checks.iter().all(|(_, holds)| *holds) {
        return "ok".into_response();
    }
    let mut text = String::new();
    for (name, holds) in checks {
        let line = if *holds {
            format!("[+]{name} ok\n")
        } else {
            format!("[-]{name} failed\n")
        };
        text.push_str(&line);
    }
    text.push_str(&format!("{path} check failed\n"));
    (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tower::ServiceExt as _;

    async fn ask(router: Router, path: &str) -> (u16, String) {
        let request = axum::http::Request::get(path).body(axum::body::Body::empty());
        let response = router.oneshot(request.unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20)
            .await
            .unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn probes_tell_what_holds() {
        let readiness = Readiness::default();
        let probes = || probe_router(readiness.clone());
        let ok = (200, "ok".to_owned());
        assert_eq!(ask(probes(), "/healthz").await, ok);
        assert_eq!(ask(probes(), "/healthz/ping").await, ok);
        assert_eq!(ask(probes(), "/healthz/other").await.0, 404);
        let failed = "[+]ping ok\n[-]caches failed\nreadyz check failed\n".to_owned();
        assert_eq!(ask(probes(), "/readyz").await, (500, failed));
        assert_eq!(ask(probes(), "/readyz/caches").await.0, 500);
        assert_eq!(ask(probes(), "/readyz/ping").await, ok);
        readiness.stand_by();
        assert_eq!(ask(probes(), "/readyz").await, ok, "standing by is ready");
        readiness.start();
        assert_eq!(
            ask(probes(), "/readyz").await.0,
            500,
            "leading without a list is not"
        );
        assert!(readiness.sync() && !readiness.sync(), "news only once");
        assert_eq!(ask(probes(), "/readyz/caches").await, ok);
    }

    #[tokio::test]
    async fn an_address_can_be_switched_off_or_left_to_the_system() {
        assert!(bind_metrics("0").await.unwrap().is_none());
        assert!(bind_probes("").await.unwrap().is_none());
        let bound = bind_metrics("127.0.0.1:0").await.unwrap().unwrap();
        assert_ne!(bound.address().port(), 0);
        let all = bind_probes(":0").await.unwrap().unwrap();
        assert!(all.address().ip().is_unspecified());
    }

    #[tokio::test]
    async fn a_taken_address_is_named_with_its_flag() {
        let taken = bind_metrics("127.0.0.1:0").await.unwrap().unwrap();
        let address = taken.address().to_string();
        let error = bind_probes(&address).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot serve health probes at `{address}` (`--health-probe-bind-address`)")
        );
        assert!(
            error.hints()[0].contains("another process listens there"),
            "{error:?}"
        );
        for wrong in ["8080", "localhost", "localhost:http", ":99999"] {
            let error = bind_metrics(wrong).await.unwrap_err();
            assert!(error.to_string().contains(wrong), "{error}");
            assert!(
                error.to_string().contains("`--metrics-bind-address`"),
                "{error}"
            );
        }
    }
}
