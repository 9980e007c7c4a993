//! A proxy between a client and the API server that injects faults on command and keeps a log of all requests.
//!
//! It ends TLS with a certificate of the control plane's authority and passes requests on as the administrator, or as
//! whoever a request's bearer token says. Rules are tried in the order of their injection; the first that matches and
//! is not used up decides.
//!
//! ```text
//! let proxy = FaultProxy::start(&control_plane).await?;
//! let fault = proxy.inject(Rule::new(Fault::ResetAfter).writes().skip(3).once());
//! ... run a command with KUBECONFIG set to proxy.kubeconfig() ...
//! assert_eq!(fault.hits(), 1);
//! ```

mod connection;
mod rule;
mod upstream;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use anyhow::{Context, Result};
use hyper::body::Bytes;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

pub use rule::{Fault, Request, Rule};

use super::control_plane::{ControlPlane, render_kubeconfig};
use upstream::{Upstream, parse_identity, provider};

/// A running proxy; it ends when it is dropped.
pub struct FaultProxy {
    shared: Arc<Shared>,
    server: String,
    folder: TempDir,
    task: tokio::task::JoinHandle<()>,
}

/// What the proxy and its connections share.
struct Shared {
    upstream: Upstream,
    rules: RwLock<Vec<Injected>>,
    log: watch::Sender<Vec<Request>>,
    /// Whether connections are to be accepted.
    open: watch::Sender<bool>,
    /// Whether they are.
    opened: watch::Sender<bool>,
}

impl FaultProxy {
    /// Starts a proxy in front of a control plane; it passes everything on until it is told otherwise.
    pub async fn start(control_plane: &ControlPlane) -> Result<Self> {
        let authority = control_plane.authority();
        let shared = Arc::new(Shared {
            upstream: Upstream::new(
                control_plane.server(),
                authority,
                control_plane.administrator(),
            )?,
            rules: RwLock::default(),
            log: watch::Sender::default(),
            open: watch::Sender::new(true),
            opened: watch::Sender::new(true),
        });
        let identity = authority.issue_server("fault-proxy", &["localhost", "127.0.0.1"])?;
        let (certificates, key) = parse_identity(&identity)?;
        let mut tls = rustls::ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates, key)?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(tls));

        // The sockets belong to the runtime they are made in: the control plane's, which outlives a test's.
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let task = control_plane.runtime().spawn({
            let shared = shared.clone();
            async move {
                match TcpListener::bind("127.0.0.1:0").await {
                    Ok(listener) => {
                        let _ = sender.send(listener.local_addr());
                        accept(shared, acceptor, listener).await;
                    }
                    Err(error) => drop(sender.send(Err(error))),
                }
            }
        });
        let address = receiver.await.context("the control plane is stopped")??;
        let folder = tempfile::Builder::new()
            .prefix("capictl-proxy-")
            .tempdir()?;
        let server = format!("https://{address}");
        let kubeconfig = render_kubeconfig(&server, authority, None);
        std::fs::write(folder.path().join("kubeconfig"), kubeconfig)?;
        Ok(Self {
            shared,
            server,
            folder,
            task,
        })
    }

    /// Returns the path of a kubeconfig that leads through the proxy. It holds no credentials: the proxy adds the
    /// administrator's.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// Returns the folder of the kubeconfig, for others beside it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the URL of the proxy.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Adds a rule behind those that there are.
    pub fn inject(&self, rule: Rule) -> Injected {
        let injected = Injected(Arc::new(State {
            rule,
            counts: watch::Sender::default(),
            released: watch::Sender::new(false),
            withdrawn: watch::Sender::new(false),
        }));
        self.shared.rules.write().unwrap().push(injected.clone());
        injected
    }

    /// Withdraws all rules; requests that are being held go on.
    pub fn clear(&self) {
        for injected in self.shared.rules.write().unwrap().drain(..) {
            injected.release();
        }
    }

    /// Refuses new connections and resets those that there are, until [`FaultProxy::accept`].
    pub async fn refuse(&self) {
        self.shared.switch(false).await;
    }

    /// Accepts connections again.
    pub async fn accept(&self) {
        self.shared.switch(true).await;
    }

    /// Returns all requests so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.log.borrow().clone()
    }

    /// Returns how many requests there were of which this is true.
    pub fn count(&self, predicate: impl Fn(&Request) -> bool) -> usize {
        let log = self.shared.log.borrow();
        log.iter().filter(|request| predicate(request)).count()
    }

    /// Waits until a request has come of which this is true.
    pub async fn wait_for(&self, predicate: impl Fn(&Request) -> bool) {
        let mut log = self.shared.log.subscribe();
        let seen = |log: &Vec<Request>| log.iter().any(&predicate);
        let waiting = log.wait_for(seen);
        let result = tokio::time::timeout(super::wait::DEADLINE, waiting).await;
        assert!(result.is_ok(), "no such request: {:#?}", self.requests());
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.open.send_replace(false); // ends the connections
    }
}

/// A rule that a proxy follows.
#[derive(Clone, Debug)]
pub struct Injected(Arc<State>);

#[derive(Debug)]
struct State {
    rule: Rule,
    counts: watch::Sender<Counts>,
    released: watch::Sender<bool>,
    withdrawn: watch::Sender<bool>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    matched: usize,
    hits: usize,
}

impl Injected {
    /// Returns how often the fault was applied.
    pub fn hits(&self) -> usize {
        self.0.counts.borrow().hits
    }

    /// Returns how many requests matched, those that it skipped or no longer applies to included.
    pub fn matched(&self) -> usize {
        self.0.counts.borrow().matched
    }

    /// Waits until the fault was applied so often: with a `Hold`, until a request is being held.
    pub async fn reached(&self, hits: usize) {
        let mut counts = self.0.counts.subscribe();
        let waiting = counts.wait_for(|counts| counts.hits >= hits);
        let result = tokio::time::timeout(super::wait::DEADLINE, waiting).await;
        assert!(result.is_ok(), "not hit {hits} times: {self:?}");
    }

    /// Lets go on what the rule is holding, and holds nothing any more.
    pub fn release(&self) {
        self.0.released.send_replace(true);
    }

    /// Takes the rule back; what it is holding goes on.
    pub fn withdraw(&self) {
        self.0.withdrawn.send_replace(true);
        self.release();
    }

    fn fault(&self) -> &Fault {
        &self.0.rule.fault
    }

    async fn released(&self) {
        let mut released = self.0.released.subscribe();
        let _ = released.wait_for(|released| *released).await; // the sender lives as long as we do
    }

    /// Counts a request and tells whether the fault is for it.
    fn claim(&self, request: &Request) -> bool {
        if *self.0.withdrawn.borrow() || !self.0.rule.matches(request) {
            return false;
        }
        let mut applies = false;
        self.0.counts.send_modify(|counts| {
            counts.matched += 1;
            applies = counts.matched > self.0.rule.skip && counts.hits < self.0.rule.times;
            counts.hits += usize::from(applies);
        });
        applies
    }
}

impl Shared {
    /// Adds a request to the log and finds the rule for it; returns its number in the log.
    fn record(&self, request: &hyper::Request<Bytes>) -> (usize, Option<Injected>) {
        let mut entry = Request {
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            body: request.body().clone(),
            fault: None,
            status: None,
        };
        let rules = self.rules.read().unwrap();
        let injected = rules.iter().find(|rule| rule.claim(&entry)).cloned();
        entry.fault = injected.as_ref().map(|injected| injected.fault().clone());
        let mut number = 0;
        self.log.send_modify(|log| {
            number = log.len();
            log.push(entry);
        });
        (number, injected)
    }

    fn note_status(&self, number: usize, status: u16) {
        self.log
            .send_modify(|log| log[number].status = Some(status));
    }

    /// Opens or closes the port and waits until that has happened.
    async fn switch(&self, open: bool) {
        self.open.send_replace(open);
        let mut opened = self.opened.subscribe();
        let _ = opened.wait_for(|opened| *opened == open).await; // the sender lives as long as we do
    }

    /// Closes the port for a while.
    fn refuse_for(self: &Arc<Self>, pause: Duration) {
        let shared = self.clone();
        tokio::spawn(async move {
            shared.switch(false).await;
            tokio::time::sleep(pause).await;
            shared.open.send_replace(true);
        });
    }
}

/// Accepts connections while the port is to be open.
async fn accept(shared: Arc<Shared>, acceptor: TlsAcceptor, mut listener: TcpListener) {
    let mut open = shared.open.subscribe();
    let Ok(address) = listener.local_addr() else {
        return;
    };
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    tokio::spawn(connection::serve(shared.clone(), acceptor.clone(), stream));
                }
                continue;
            }
            closed = open.wait_for(|open| !open) => if closed.is_err() { return },
        }
        drop(listener);
        let Ok(socket) = reserve(address) else { return };
        shared.opened.send_replace(false);
        if open.wait_for(|open| *open).await.is_err() {
            return;
        }
        match socket.listen(64) {
            Ok(next) => listener = next,
            Err(_) => return,
        }
        shared.opened.send_replace(true);
    }
}

/// Binds a port without listening: nobody else gets it, and connections are refused.
fn reserve(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
