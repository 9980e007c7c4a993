//! The three processes of a control plane, their files and flags.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::Api;

use super::authority::{Authority, Identity, generate_keys};
use super::binaries;
use super::control_plane::{connect, find_free_port, render_kubeconfig};
use super::keeper::{Keeper, Process};

/// How long etcd and kube-apiserver may take on a machine that is busy with other things.
const START_DEADLINE: Duration = Duration::from_secs(120);

/// The files and addresses of one control plane.
pub struct Layout {
    pub folder: PathBuf,
    pub kubeconfig: PathBuf,
    pub server: String,
    port: u16,
    etcd: String,
}

/// Writes the certificates, keys and configuration files that the processes share.
pub fn write_certificates(folder: &Path, authority: &Authority) -> Result<()> {
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

/// Starts etcd and kube-apiserver, waits until they are ready, and starts kube-controller-manager.
pub async fn start_servers(
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
