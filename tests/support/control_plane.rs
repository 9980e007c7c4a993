//! A real control plane: etcd, kube-apiserver and kube-controller-manager as plain processes, and the stand-in
//! [`Kubelet`] for the nodes that it lacks.
//!
//! It starts in about three seconds. Tests that only need a namespace share one ([`ControlPlane::shared`]).

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::OnceCell;

use super::authority::{Authority, Identity, generate_keys};
use super::binaries;
use super::keeper::{Keeper, Process};
use super::kubelet::{Kubelet, Manager};
use super::lock::MachineLock;

/// How long etcd and kube-apiserver may take on a machine that is busy with other things.
const START_DEADLINE: Duration = Duration::from_secs(120);

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

/// The files and addresses of one control plane.
struct Layout {
    folder: PathBuf,
    kubeconfig: PathBuf,
    server: String,
    port: u16,
    etcd: String,
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
        binaries::manager(manager.program())?;
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

fn write_certificates(folder: &Path, authority: &Authority) -> Result<()> {
    let server = authority.issue_server(
        "kube-apiserver",
        &[
            "localhost",
            "127.0.0.1",
            "kubernetes.default.svc",
            "10.96.0.1",
        ],
    )?;
    let (private, public) = generate_keys()?;
    for (name, content) in [
        ("ca.crt", authority.pem()),
        ("server.crt", &server.certificate),
        ("server.key", &server.key),
        ("service-accounts.key", &private),
        ("service-accounts.pub", &public),
        ("egress.yaml", &render_egress(folder)),
    ] {
        fs::write(folder.join(name), content)?;
    }
    Ok(())
}

/// Leads kube-apiserver's calls to Services, i.e. to webhooks, to the kubelet's socket.
fn render_egress(folder: &Path) -> String {
    format!(
        "apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: {}
",
        folder.join("egress.sock").display()
    )
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

async fn start_servers(
    folder: &Path,
    keeper: &Keeper,
    authority: &Authority,
    administrator: &Identity,
) -> Result<(Layout, Client)> {
    let port = find_free_port()?;
    let layout = Layout {
        folder: folder.to_owned(),
        kubeconfig: folder.join("kubeconfig"),
        server: format!("https://127.0.0.1:{port}"),
        port,
        etcd: format!("http://127.0.0.1:{}", find_free_port()?),
    };
    let kubeconfig = render_kubeconfig(&layout.server, authority, Some(administrator));
    fs::write(&layout.kubeconfig, kubeconfig)?;
    let etcd = start_etcd(&layout, keeper)?;
    let api_server = start_api_server(&layout, keeper)?;
    let client = connect(&layout.kubeconfig).await?;
    let ready = wait_until_ready(
        &client,
        &layout,
        [("etcd", &etcd), ("kube-apiserver", &api_server)],
    )
    .await;
    if let Err(error) = ready {
        for process in [etcd, api_server] {
            process.stop(Duration::ZERO).await;
            keeper.forget(&process);
        }
        return Err(error);
    }
    start_controller_manager(&layout, keeper)?;
    Ok((layout, client))
}

fn start_etcd(layout: &Layout, keeper: &Keeper) -> Result<Process> {
    let peers = format!("http://127.0.0.1:{}", find_free_port()?);
    let client = &layout.etcd;
    spawn(
        layout,
        keeper,
        "etcd",
        &binaries::etcd()?,
        &[
            format!("--data-dir={}", layout.folder.join("etcd").display()),
            "--unsafe-no-fsync".into(), // the data is thrown away anyway
            "--log-level=error".into(),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peers}"),
            format!("--initial-advertise-peer-urls={peers}"),
            format!("--initial-cluster=default={peers}"),
        ],
    )
}

fn start_api_server(layout: &Layout, keeper: &Keeper) -> Result<Process> {
    let file = |name: &str| layout.folder.join(name).display().to_string();
    spawn(
        layout,
        keeper,
        "kube-apiserver",
        &binaries::kube_apiserver()?,
        &[
            format!("--etcd-servers={}", layout.etcd),
            "--bind-address=127.0.0.1".into(),
            "--advertise-address=127.0.0.1".into(),
            format!("--secure-port={}", layout.port),
            "--endpoint-reconciler-type=none".into(), // an endpoint on the loopback address is refused
            format!("--tls-cert-file={}", file("server.crt")),
            format!("--tls-private-key-file={}", file("server.key")),
            format!("--client-ca-file={}", file("ca.crt")),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            format!(
                "--service-account-key-file={}",
                file("service-accounts.pub")
            ),
            format!(
                "--service-account-signing-key-file={}",
                file("service-accounts.key")
            ),
            "--service-cluster-ip-range=10.96.0.0/16".into(),
            "--authorization-mode=RBAC".into(),
            "--allow-privileged=true".into(),
            "--profiling=false".into(),
            format!("--egress-selector-config-file={}", file("egress.yaml")),
        ],
    )
}

/// All controllers but those that would set back what the stand-in says of Deployments, since no Pod ever runs.
fn start_controller_manager(layout: &Layout, keeper: &Keeper) -> Result<Process> {
    let file = |name: &str| layout.folder.join(name).display().to_string();
    let program = binaries::kube_controller_manager()?;
    spawn(
        layout,
        keeper,
        "kube-controller-manager",
        &program,
        &[
            format!("--kubeconfig={}", layout.kubeconfig.display()),
            "--bind-address=127.0.0.1".into(),
            "--secure-port=0".into(), // nobody asks it for metrics
            "--leader-elect=false".into(),
            "--profiling=false".into(),
            format!(
                "--service-account-private-key-file={}",
                file("service-accounts.key")
            ),
            format!("--root-ca-file={}", file("ca.crt")),
            "--kube-api-qps=1000".into(), // the default would throttle the end of large namespaces
            "--kube-api-burst=2000".into(),
            "--controllers=*,-deployment-controller,-replicaset-controller".into(),
        ],
    )
}

fn spawn(
    layout: &Layout,
    keeper: &Keeper,
    name: &str,
    program: &Path,
    arguments: &[String],
) -> Result<Process> {
    let log = layout.folder.join(format!("{name}.log"));
    keeper.spawn(&log, program, arguments, [])
}

/// Waits for the API server's own readiness and for the namespace that it makes next.
async fn wait_until_ready(
    client: &Client,
    layout: &Layout,
    processes: [(&str, &Process); 2],
) -> Result<()> {
    let deadline = Instant::now() + START_DEADLINE;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    loop {
        let ready = client.request_text(http::Request::get("/readyz").body(vec![])?);
        if ready.await.is_ok() && matches!(namespaces.get_opt("default").await, Ok(Some(_))) {
            return Ok(());
        }
        for (name, process) in processes {
            if let Some(status) = process.exit_status() {
                bail!("{name} ended ({status}): {}", end_of_log(layout, name));
            }
        }
        if Instant::now() > deadline {
            let log = end_of_log(layout, "kube-apiserver");
            bail!("the API server was not ready after {START_DEADLINE:?}: {log}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn end_of_log(layout: &Layout, name: &str) -> String {
    let log = fs::read_to_string(layout.folder.join(format!("{name}.log"))).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}
