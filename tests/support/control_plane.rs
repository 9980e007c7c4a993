//! A real control plane: etcd, kube-apiserver and kube-controller-manager as plain processes, and the stand-in
//! [`Kubelet`] for the nodes that it lacks.
//!
//! It starts in about three seconds. Tests that only need a namespace share one ([`ControlPlane::shared`]).

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::OnceCell;

use super::authority::{Authority, Identity};
use super::binaries;
use super::keeper::Keeper;
use super::kubelet::{Kubelet, Manager};
use super::lock::MachineLock;
use super::servers::{Layout, start_servers, write_certificates};

/// What a control plane is to be like; the default runs no manager in a temporary folder.
#[derive(Default, Clone)]
pub struct Options {
    /// The managers that run as processes once their Deployments ask for them. All other Deployments become
    /// Available without one, and their webhook configurations are emptied.
    pub managers: Vec<Manager>,
    /// Where certificates, logs and data go; stays there at the end. A temporary folder goes with the control plane,
    /// unless `CAPICTL_TESTBED_KEEP` is set.
    pub folder: Option<PathBuf>,
}

/// A running control plane; it ends when this is dropped, or when the process ends for whatever reason.
pub struct ControlPlane {
    folder: PathBuf,
    kubeconfig: PathBuf,
    server: String,
    authority: Arc<Authority>,
    administrator: Arc<Identity>,
    kubelet: Kubelet,
    keeper: Arc<Keeper>,
    runtime: OwnRuntime,
    _lock: Option<MachineLock>,
}

impl ControlPlane {
    /// Starts a control plane of the caller's own, without managers.
    pub async fn start() -> Result<Self> {
        Self::start_with(Options::default()).await
    }

    /// Starts a control plane of the caller's own, whose kubelet runs the real ones of these managers.
    ///
    /// Waits for its turn if the docker provider's is among them: one can run per machine.
    pub async fn start_with_managers(managers: &[Manager]) -> Result<Self> {
        Self::start_with(Options {
            managers: managers.to_vec(),
            ..Options::default()
        })
        .await
    }

    pub async fn start_with(options: Options) -> Result<Self> {
        let lock = match options.managers.contains(&Manager::Docker) {
            true => Some(MachineLock::docker_manager().await?),
            false => None,
        };
        let runtime = OwnRuntime::new()?;
        let launch = runtime.handle().spawn(launch(options));
        let launched = launch
            .await
            .context("starting a control plane panicked")??;
        Ok(Self {
            folder: launched.layout.folder,
            kubeconfig: launched.layout.kubeconfig,
            server: launched.layout.server,
            authority: launched.authority,
            administrator: launched.administrator,
            kubelet: launched.kubelet,
            keeper: launched.keeper,
            runtime,
            _lock: lock,
        })
    }

    /// Returns the control plane that all tests of this process share; it runs no manager.
    ///
    /// Users keep to a namespace of their own, see [`ControlPlane::create_namespace`].
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<ControlPlane> = OnceCell::const_new();
        let start = || async { Self::start().await };
        match SHARED.get_or_try_init(start).await {
            Ok(control_plane) => control_plane,
            Err(error) => panic!("no control plane: {error:#}"),
        }
    }

    /// Ends it and waits until its processes are gone. Dropping does the same.
    pub fn stop(self) {
        drop(self);
    }

    /// Returns the path of the administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns the folder with the logs: `kubelet.log`, `etcd.log`, `pods/NAME/log` and so on.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the URL of the API server.
    pub fn server(&self) -> &str {
        &self.server
    }

    pub fn kubelet(&self) -> &Kubelet {
        &self.kubelet
    }

    /// Returns the authority that API server and clients trust.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns the administrator's client certificate.
    pub fn administrator(&self) -> &Identity {
        &self.administrator
    }

    /// Returns the runtime whose tasks end with the control plane.
    pub fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Returns a new client of the administrator; it lives as long as the runtime it is made in.
    pub async fn client(&self) -> Result<Client> {
        connect(&self.kubeconfig).await
    }

    /// Creates a namespace whose name starts with `prefix` and is nobody else's.
    pub async fn create_namespace(&self, prefix: &str) -> Result<String> {
        let namespace = Namespace {
            metadata: ObjectMeta {
                generate_name: Some(format!("{prefix}-")),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        };
        let api = Api::all(self.client().await?);
        let created = api.create(&PostParams::default(), &namespace).await?;
        created.metadata.name.context("a namespace without a name")
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.keeper.close();
    }
}

/// Returns a client for a kubeconfig, past any proxy that the environment names.
pub async fn connect(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.proxy_url = None;
    Ok(Client::try_from(config)?)
}

/// Finds a TCP port that is free now.
pub fn find_free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// A runtime that can be dropped anywhere, also in another runtime's task.
struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    fn new() -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let builder = builder
            .worker_threads(2)
            .thread_name("testbed")
            .enable_all();
        Ok(Self(Some(builder.build()?)))
    }

    fn handle(&self) -> &Handle {
        self.0.as_ref().expect("it is taken only by drop").handle()
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// What a successful start leaves behind.
struct Launched {
    layout: Layout,
    authority: Arc<Authority>,
    administrator: Arc<Identity>,
    keeper: Arc<Keeper>,
    kubelet: Kubelet,
}

async fn launch(options: Options) -> Result<Launched> {
    ensure_built(&options.managers)?;
    let (folder, removed) = make_folder(options.folder.as_deref())?;
    let keeper = Arc::new(Keeper::start(removed.then(|| folder.clone()))?);
    let authority = Arc::new(Authority::new("testbed-ca")?);
    let administrator = Arc::new(authority.issue_client("admin", "system:masters")?);
    write_certificates(&folder, &authority)?;

    let mut attempt = 1;
    let (layout, client) = loop {
        match start_servers(&folder, &keeper, &authority, &administrator).await {
            Ok(started) => break started,
            // A port that was free when we looked may have been taken since.
            Err(error)
                if attempt < 3 && format!("{error:#}").contains("address already in use") =>
            {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    };
    let kubelet = Kubelet::start(
        client,
        &layout.folder,
        &layout.server,
        &keeper,
        &options.managers,
    )?;
    Ok(Launched {
        layout,
        authority,
        administrator,
        keeper,
        kubelet,
    })
}

/// Fails before anything is started when a program is missing.
fn ensure_built(managers: &[Manager]) -> Result<()> {
    binaries::etcd()?;
    binaries::kube_apiserver()?;
    binaries::kube_controller_manager()?;
    for manager in managers {
        manager.path()?;
    }
    Ok(())
}

/// Returns the folder, and whether it is to be removed at the end.
fn make_folder(wanted: Option<&Path>) -> Result<(PathBuf, bool)> {
    let Some(wanted) = wanted else {
        let folder = tempfile::Builder::new()
            .prefix("capictl-testbed-")
            .tempdir()?
            .keep();
        let kept = std::env::var_os("CAPICTL_TESTBED_KEEP").is_some();
        if kept {
            eprintln!("the control plane's folder is {}", folder.display());
        }
        return Ok((folder, !kept));
    };
    fs::create_dir_all(wanted).with_context(|| wanted.display().to_string())?;
    if fs::read_dir(wanted)?.next().is_some() {
        bail!("`{}` is not empty", wanted.display());
    }
    Ok((wanted.canonicalize()?, false))
}

/// Renders a kubeconfig; without `identity` it carries no credentials.
pub fn render_kubeconfig(
    server: &str,
    authority: &Authority,
    identity: Option<&Identity>,
) -> String {
    let user = match identity {
        Some(identity) => format!(
            "
    client-certificate-data: {}
    client-key-data: {}",
            STANDARD.encode(&identity.certificate),
            STANDARD.encode(&identity.key)
        ),
        None => " {}".to_owned(),
    };
    format!(
        "apiVersion: v1
kind: Config
current-context: testbed
contexts:
- name: testbed
  context:
    cluster: testbed
    user: admin
clusters:
- name: testbed
  cluster:
    server: {server}
    certificate-authority-data: {}
users:
- name: admin
  user:{user}
",
        STANDARD.encode(authority.pem())
    )
}
