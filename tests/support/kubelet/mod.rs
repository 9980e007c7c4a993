//! Stands in for what a cluster without nodes lacks: kubelets, the controllers of Deployments, cert-manager, and the
//! API server's way to webhooks.
//!
//! ```text
//! deployments   a Deployment gets a ReplicaSet, Pods and a status; if its image is that of a manager that is to run,
//!  ├ managers   the real manager runs as a process, with a token of its ServiceAccount
//!  ├ pods       the ReplicaSet and Pods, with the statuses that kubelets report
//!  └ status     the Deployment's status
//! certificates  a Certificate gets a Secret, as from a self-signed issuer
//! webhooks      CA bundles are injected; webhooks of what does not run are emptied, since each write would fail
//! egress        kube-apiserver's calls to a Service reach the process behind it
//! ```
//!
//! It follows the cluster by watches and acts on changes. [`Kubelet::misbehave`] makes it fail on purpose.

mod certificates;
mod deployments;
mod egress;
mod managers;
mod pods;
mod status;
mod stores;
mod webhooks;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kube::Client;
use tokio::net::UnixListener;

use super::keeper::Keeper;
use super::{binaries, environment};
use stores::Stores;

/// A manager that the kubelet can run as a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Manager {
    Core,
    KubeadmBootstrap,
    KubeadmControlPlane,
    /// The docker provider's, for in-memory machines; one per machine, see [`super::lock`].
    Docker,
    /// The Mailgun provider's: the program under test, under the name `manager`.
    Mailgun,
}

impl Manager {
    /// Those of Cluster API's own repository.
    pub const ALL: [Self; 4] = [
        Self::Core,
        Self::KubeadmBootstrap,
        Self::KubeadmControlPlane,
        Self::Docker,
    ];

    /// Returns the name of the program; all but the last one are built by `build.sh`.
    pub fn program(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::KubeadmBootstrap => "kubeadm-bootstrap",
            Self::KubeadmControlPlane => "kubeadm-control-plane",
            Self::Docker => "capd",
            Self::Mailgun => "capictl",
        }
    }

    /// Returns the path of its program.
    pub fn path(self) -> Result<PathBuf> {
        match self {
            Self::Mailgun => environment::capictl(),
            _ => binaries::manager(self.program()),
        }
    }

    /// Returns the name of its image, without registry and tag: any registry and version runs the one program.
    fn image(self) -> &'static str {
        match self {
            Self::Core => "cluster-api-controller",
            Self::KubeadmBootstrap => "kubeadm-bootstrap-controller",
            Self::KubeadmControlPlane => "kubeadm-control-plane-controller",
            Self::Docker => "capd-manager",
            Self::Mailgun => "cluster-api-provider-mailgun",
        }
    }
}

impl FromStr for Manager {
    type Err = anyhow::Error;

    /// Parses the name of the program.
    fn from_str(name: &str) -> Result<Self> {
        match Self::ALL
            .into_iter()
            .find(|manager| manager.program() == name)
        {
            Some(manager) => Ok(manager),
            None => bail!(
                "no manager is named `{name}`, known are {}",
                Self::ALL.map(Self::program).join(", ")
            ),
        }
    }
}

/// What goes wrong with the Pods of a Deployment.
#[derive(Debug, Clone, PartialEq)]
pub enum Misbehaviour {
    /// The Pods run, but never pass their readiness probe.
    NeverAvailable,
    /// The Pods become ready, but so much later than they would.
    Late(Duration),
    /// The container ends as soon as it is started, with this exit code; no process runs.
    CrashLoop { exit_code: i32 },
    /// The image cannot be pulled, for this reason (the registry's words); no process runs.
    ImagePullError { message: String },
}

/// A handle on the stand-in; it works until its control plane ends.
pub struct Kubelet {
    node: Arc<Node>,
}

/// What all its tasks share.
struct Node {
    client: Client,
    server: String,
    folder: PathBuf,
    managers: Vec<Manager>,
    keeper: Arc<Keeper>,
    stores: Stores,
    misbehaviours: Mutex<HashMap<String, Misbehaviour>>,
    deployments: deployments::Records,
    webhook_ports: Mutex<HashMap<deployments::Key, u16>>,
    authorities: certificates::Authorities,
    /// By the UID of a CRD, its version after its conversion was set.
    connected: Mutex<HashMap<String, String>>,
    log: Mutex<File>,
    started: Instant,
}

/// Whether a round has left something that another look would finish, though no event may announce it.
#[derive(Clone, Copy, PartialEq)]
enum Round {
    Settled,
    Pending,
}

impl Round {
    fn and(self, other: Self) -> Self {
        if self == Self::Pending { self } else { other }
    }
}

#[derive(Clone, Copy, Debug)]
enum Duty {
    Certificates,
    Webhooks,
    Definitions,
    Deployments,
}

impl Kubelet {
    /// Starts the stand-in's tasks in the current runtime.
    pub fn start(
        client: Client,
        folder: &Path,
        server: &str,
        keeper: &Arc<Keeper>,
        managers: &[Manager],
    ) -> Result<Self> {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("kubelet.log"))?;
        let node = Arc::new(Node {
            stores: Stores::follow(&client),
            client,
            server: server.to_owned(),
            folder: folder.to_owned(),
            managers: managers.to_vec(),
            keeper: keeper.clone(),
            misbehaviours: Mutex::default(),
            deployments: deployments::Records::default(),
            webhook_ports: Mutex::default(),
            authorities: certificates::Authorities::default(),
            connected: Mutex::default(),
            log: Mutex::new(log),
            started: Instant::now(),
        });
        let socket = folder.join("egress.sock");
        let socket = UnixListener::bind(&socket).with_context(|| {
            let length = "the path of a socket has at most 107 bytes";
            format!("cannot listen on `{}` ({length})", socket.display())
        })?;
        tokio::spawn(egress::serve(node.clone(), socket));
        for duty in [
            Duty::Certificates,
            Duty::Webhooks,
            Duty::Definitions,
            Duty::Deployments,
        ] {
            tokio::spawn(node.clone().attend(duty));
        }
        Ok(Self { node })
    }

    /// Makes the Pods of a Deployment of this name misbehave, in whatever namespace, from now on.
    pub fn misbehave(&self, deployment: &str, how: Misbehaviour) {
        self.node
            .note(format_args!("{deployment} misbehaves: {how:?}"));
        let mut misbehaviours = self.node.misbehaviours.lock().unwrap();
        misbehaviours.insert(deployment.to_owned(), how);
        self.node.stores.touch();
    }

    /// Ends the misbehaviour of a Deployment.
    pub fn behave(&self, deployment: &str) {
        self.node.note(format_args!("{deployment} behaves again"));
        self.node.misbehaviours.lock().unwrap().remove(deployment);
        self.node.stores.touch();
    }

    /// Returns the process id of the manager that runs for a Deployment.
    pub async fn process_id(&self, namespace: &str, deployment: &str) -> Option<u32> {
        let key = (namespace.to_owned(), deployment.to_owned());
        let records = self.node.deployments.lock().await;
        Some(records.get(&key)?.running.as_ref()?.process.id())
    }
}

impl Node {
    /// Does one duty, again and again: on each change, and soon if something is unfinished. The longest pause is for
    /// what no watch tells, the death of a process.
    async fn attend(self: Arc<Self>, duty: Duty) {
        let mut changes = self.stores.changes();
        loop {
            changes.mark_unchanged();
            let pause = match self.perform(duty).await {
                Ok(Round::Settled) => Duration::from_secs(1),
                Ok(Round::Pending) => Duration::from_millis(100),
                Err(error) => {
                    self.note(format_args!("{duty:?}: {error:#}"));
                    Duration::from_millis(200)
                }
            };
            if let Ok(Err(_)) = tokio::time::timeout(pause, changes.changed()).await {
                return; // the watches are gone, and so is the control plane
            }
        }
    }

    async fn perform(&self, duty: Duty) -> Result<Round> {
        match duty {
            Duty::Certificates => self.issue_certificates().await,
            Duty::Webhooks => self.connect_webhooks().await,
            Duty::Definitions => self.connect_definitions().await,
            Duty::Deployments => self.tend_deployments().await,
        }
    }

    fn misbehaviour(&self, deployment: &str) -> Option<Misbehaviour> {
        self.misbehaviours.lock().unwrap().get(deployment).cloned()
    }

    /// Writes a line to `kubelet.log`.
    fn note(&self, what: std::fmt::Arguments<'_>) {
        let seconds = self.started.elapsed().as_secs_f64();
        let mut log = self.log.lock().unwrap();
        let _ = writeln!(log, "{seconds:8.3} {what}"); // nobody could be told of a failure
    }
}

/// Tells whether an API call failed since its object or its namespace is gone, is going or has changed: another round
/// will see.
fn is_passing(error: &anyhow::Error) -> bool {
    let Some(kube::Error::Api(status)) = error.downcast_ref() else {
        return false;
    };
    matches!(status.code, 403 | 404 | 409)
}
