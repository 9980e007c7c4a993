//! The manager around reconcilers, against a real API server: election, servers, the orderly end.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Result;
use capictl::controllers::manager::backoff::Backoff;
use capictl::controllers::manager::election::{Elector, Error, Leadership, Loss, Settings};
use capictl::controllers::manager::metrics::{Metrics, Outcome};
use capictl::controllers::manager::server::Readiness;
use capictl::controllers::manager::{self, Controller, Manager, Work, client, reconcile};
use capictl::error::{Explain as _, Failure};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::sync::oneshot;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::binaries;
use crate::support::control_plane::{self, ControlPlane};
use crate::support::wait::{DEADLINE, for_object, until};

/// Long enough that nothing runs out by itself while a test runs.
const LONG: Duration = Duration::from_secs(3600);

/// Times by which a leader that is gone is followed within seconds.
fn short(namespace: &str) -> Settings {
    Settings {
        namespace: namespace.to_owned(),
        lease_duration: Duration::from_secs(3),
        renew_deadline: Duration::from_secs(2),
        retry_period: Duration::from_millis(200),
        ..Settings::default()
    }
}

/// Times by which only a Lease that is given back is followed.
fn long(namespace: &str) -> Settings {
    Settings {
        lease_duration: LONG,
        renew_deadline: LONG / 2,
        ..short(namespace)
    }
}

fn elector(client: &Client, settings: &Settings) -> Elector {
    let settings = Settings {
        holder: manager::election::holder(),
        ..settings.clone()
    };
    let metrics = Metrics::new(&settings.name, &[]);
    let made = Elector::new(
        client.clone(),
        settings,
        metrics.election.clone(),
        Readiness::default(),
    );
    made.expect("the times fit")
}

async fn acquire(elector: &mut Elector) -> Result<(), Error> {
    tokio::time::timeout(DEADLINE, elector.acquire())
        .await
        .expect("the Lease is to be had in time")
}

/// Returns a client and a namespace of the test's own.
async fn prepare() -> Result<(Client, String)> {
    capictl::http::install_tls_provider();
    let shared = ControlPlane::shared().await;
    Ok((
        shared.client().await?,
        shared.create_namespace("manager").await?,
    ))
}

async fn lease(client: &Client, namespace: &str) -> Result<LeaseSpec> {
    let api: Api<Lease> = Api::namespaced(client.clone(), namespace);
    let lease = api.get(manager::election::LEASE).await?;
    Ok(lease.spec.unwrap_or_default())
}

/// What is logged on this thread.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Takes the log of this thread until the guard is dropped.
    pub fn record() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(log.clone())
            .with_max_level(tracing::Level::DEBUG)
            .with_ansi(false)
            .without_time()
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// One who leads again and again, and each time ends in another way.
async fn lead_often(
    client: Client,
    settings: Settings,
    leaders: Arc<Mutex<Vec<Leadership>>>,
    led: Arc<AtomicUsize>,
) {
    for round in 0..3 {
        let mut elector = elector(&client, &settings);
        acquire(&mut elector).await.expect("the namespace is there");
        let own = elector.leadership();
        leaders.lock().unwrap().push(own.clone());
        led.fetch_add(1, Ordering::Relaxed);
        let keep_a_while = tokio::time::timeout(Duration::from_millis(700), elector.keep()).await;
        if keep_a_while.is_ok() {
            continue; // lost on a busy machine; that is no harm
        }
        let holding = leaders
            .lock()
            .unwrap()
            .iter()
            .filter(|one| one.holds())
            .count();
        assert!(holding <= 1, "{holding} lead at once");
        match round {
            0 => elector.release().await,
            1 => drop(elector),
            // It stands still, and knows by itself when it leads no more.
            _ => {
                until("the end of its leadership", async || match own.holds() {
                    true => Err("it still leads".to_owned()),
                    false => Ok(()),
                })
                .await;
            }
        }
    }
}

#[tokio::test]
async fn several_electors_never_lead_at_once() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let (leaders, led) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let settings = short(&namespace);
            let (leaders, led) = (Arc::clone(&leaders), led.clone());
            lead_often(client.clone(), settings, leaders, led)
        })
        .collect();
    futures::future::join_all(tasks).await;
    assert_eq!(led.load(Ordering::Relaxed), 9);
    let transitions = lease(&client, &namespace).await?.lease_transitions;
    assert!(transitions.unwrap_or_default() >= 8, "{transitions:?}");
    Ok(())
}

#[tokio::test]
async fn a_holder_that_is_gone_is_followed_after_its_term_and_one_that_wakes_up_knows_that_it_lost()
-> Result<()> {
    let (client, namespace) = prepare().await?;
    let settings = short(&namespace);
    let mut sleeper = elector(&client, &settings);
    acquire(&mut sleeper).await?;
    let started = Instant::now();
    let mut next = elector(&client, &settings);
    acquire(&mut next).await?;
    assert!(started.elapsed() >= settings.lease_duration);
    assert!(!sleeper.leadership().holds());
    let lost = sleeper.keep().await;
    assert!(
        matches!(lost, Error::Lost(Loss::NotRenewed { .. })),
        "{lost:?}"
    );
    assert_eq!(lost.to_string(), "leader election lost");
    assert_eq!(lease(&client, &namespace).await?.lease_transitions, Some(1));
    Ok(())
}

#[tokio::test]
async fn a_lease_that_is_given_back_is_taken_at_once_and_the_holder_was_told() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let settings = long(&namespace);
    let mut first = elector(&client, &settings);
    acquire(&mut first).await?;
    let holder = lease(&client, &namespace).await?.holder_identity.unwrap();
    let (log, _guard) = Log::record();
    let mut second = elector(&client, &settings);
    let told = format!("`{holder}` leads");
    let several_looks = tokio::time::timeout(Duration::from_secs(2), second.acquire());
    assert!(several_looks.await.is_err(), "the first one has it");
    let text = log.text();
    assert_eq!(text.matches(&told).count(), 1, "{text}");
    let way_out = format!("kubectl delete lease -n {namespace} {}", settings.name);
    assert!(text.contains(&way_out), "{text}");
    first.release().await;
    acquire(&mut second).await?;
    assert!(second.leadership().holds());
    assert_eq!(lease(&client, &namespace).await?.lease_transitions, Some(1));
    let events: Api<Event> = Api::namespaced(client, &namespace);
    until("both events", async || {
        let list = events.list(&ListParams::default()).await;
        let events = list.map_err(|error| error.to_string())?.items;
        let has = |what: &str| {
            events.iter().any(|event| {
                let regards = event
                    .regarding
                    .as_ref()
                    .and_then(|regarding| regarding.kind.as_deref());
                regards == Some("Lease")
                    && event.note.as_deref() == Some(&format!("{holder} {what}"))
            })
        };
        match has("became leader") && has("stopped leading") {
            true => Ok(()),
            false => Err(format!("{events:?}")),
        }
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_lease_that_somebody_took_is_lost_at_once_and_one_that_was_deleted_comes_back()
-> Result<()> {
    let (client, namespace) = prepare().await?;
    let settings = long(&namespace);
    let mut elector = elector(&client, &settings);
    acquire(&mut elector).await?;
    let leases: Api<Lease> = Api::namespaced(client.clone(), &namespace);
    leases
        .delete(&settings.name, &DeleteParams::default())
        .await?;
    let keeping = tokio::spawn(async move { elector.keep().await });
    until("a new Lease", async || {
        let found = leases.get_opt(&settings.name).await;
        found
            .map_err(|error| error.to_string())?
            .ok_or("none".to_owned())
    })
    .await;
    let thief = serde_json::json!({"spec": {"holderIdentity": "thief"}});
    let merge = Patch::Merge(thief);
    leases
        .patch(&settings.name, &PatchParams::default(), &merge)
        .await?;
    let lost = tokio::time::timeout(DEADLINE, keeping).await??;
    let Error::Lost(Loss::Taken { holder, .. }) = &lost else {
        panic!("{lost:?}")
    };
    assert_eq!(holder, "thief");
    Ok(())
}

/// Starts kube-controller-manager with hardly any controller: it is led by client-go's election.
fn start_client_go(
    kubeconfig: &Path,
    namespace: &str,
    log: &Path,
) -> Result<tokio::process::Child> {
    let child = tokio::process::Command::new(binaries::kube_controller_manager()?)
        .arg(format!("--kubeconfig={}", kubeconfig.display()))
        .arg(format!("--leader-elect-resource-namespace={namespace}"))
        .arg(format!(
            "--leader-elect-resource-name={}",
            manager::election::LEASE
        ))
        .args(["--leader-elect=true", "--leader-elect-lease-duration=3s"])
        .args([
            "--leader-elect-renew-deadline=2s",
            "--leader-elect-retry-period=200ms",
        ])
        .args([
            "--secure-port=0",
            "--controllers=ttl-after-finished-controller",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(log)?)
        .kill_on_drop(true)
        .spawn()?;
    Ok(child)
}

#[tokio::test]
async fn client_go_and_this_elector_exclude_each_other() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let mut ours = elector(&client, &short(&namespace));
    acquire(&mut ours).await?;
    let shared = ControlPlane::shared().await;
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log");
    let mut theirs = start_client_go(shared.kubeconfig(), &namespace, &log)?;
    let its_start = until("its first attempt", async || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        match text
            .to_lowercase()
            .contains("attempting to acquire leader lease")
        {
            true => Ok(()),
            false => Err(text),
        }
    });
    tokio::select! {
        () = its_start => {}
        lost = ours.keep() => panic!("{lost:?}"),
    }
    // Twice the term that it would have to wait for a leader that is gone.
    let kept = tokio::time::timeout(Duration::from_secs(6), ours.keep()).await;
    assert!(
        kept.is_err(),
        "it took the lease of a leader that renews: {kept:?}"
    );
    ours.release().await;
    let leases: Api<Lease> = Api::namespaced(client.clone(), &namespace);
    let is_led = |lease: Option<&Lease>| {
        let holder = lease.and_then(|lease| lease.spec.as_ref()?.holder_identity.as_ref());
        holder.is_some_and(|holder| !holder.is_empty())
    };
    for_object(
        &leases,
        manager::election::LEASE,
        "is led by client-go",
        is_led,
    )
    .await;
    let mut next = elector(&client, &short(&namespace));
    let early = tokio::time::timeout(Duration::from_secs(6), next.acquire()).await;
    assert!(early.is_err(), "client-go renews: {early:?}");
    theirs.kill().await?;
    acquire(&mut next).await?;
    assert_eq!(lease(&client, &namespace).await?.lease_transitions, Some(2));
    Ok(())
}

#[tokio::test]
async fn a_missing_namespace_is_named_with_the_ways_out() -> Result<()> {
    let (client, _) = prepare().await?;
    let error = acquire(&mut elector(&client, &short("not-there")))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot create the lease `not-there/872ab3b9.cluster.x-k8s.io`: there is no namespace `not-there`"
    );
    let hints = error.hints().join("\n");
    assert!(
        hints.contains("`kubectl create namespace not-there`"),
        "{hints}"
    );
    assert!(hints.contains("`--leader-election-namespace`"), "{hints}");
    Ok(())
}

#[tokio::test]
async fn a_missing_permission_is_named_with_the_ways_out() -> Result<()> {
    let (_, namespace) = prepare().await?;
    let shared = ControlPlane::shared().await;
    let nobody = shared.authority().issue_client("nobody", "nobodies")?;
    let kubeconfig =
        control_plane::render_kubeconfig(shared.server(), shared.authority(), Some(&nobody));
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, kubeconfig)?;
    let client = control_plane::connect(&path).await?;
    let error = acquire(&mut elector(&client, &short(&namespace)))
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("no permission for the lease"), "{text}");
    assert!(
        text.contains("User \"nobody\" cannot get resource \"leases\""),
        "{text}"
    );
    let hints = error.hints().join("\n");
    assert!(hints.contains("get, create and update"), "{hints}");
    assert!(hints.contains("`--leader-election-namespace`"), "{hints}");
    Ok(())
}

/// Returns settings with free ports for the servers.
fn manager_settings(election: Settings) -> manager::Settings {
    let controllers = vec![Controller {
        name: "mailguncluster",
        group: "infrastructure.cluster.x-k8s.io",
        version: "v1beta1",
        kind: "MailgunCluster",
        workers: 1,
    }];
    manager::Settings {
        election: Some(election),
        metrics_address: "127.0.0.1:0".into(),
        probe_address: "127.0.0.1:0".into(),
        ..manager::Settings::new(controllers)
    }
}

pub async fn config(path: &Path) -> Result<Config> {
    let kubeconfig = Kubeconfig::read_from(path)?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.proxy_url = None;
    Ok(config)
}

/// A manager that runs, and how it is talked to.
struct Running {
    addresses: [String; 2],
    stop: oneshot::Sender<()>,
    end: tokio::task::JoinHandle<Result<(), Failure>>,
}

impl Running {
    async fn start<F>(
        settings: manager::Settings,
        workers: impl FnOnce(Work) -> F + Send + 'static,
    ) -> Result<Self>
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let metrics = settings.metrics();
        let config = config(ControlPlane::shared().await.kubeconfig()).await?;
        let client = client::connect(config, &metrics.requests).await?;
        let manager = Manager::start(client, settings, metrics)
            .await
            .expect("the ports are free");
        let addresses = manager
            .addresses()
            .map(|address| address.unwrap().to_string());
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move { stopped.await.unwrap_or_default() };
        let end = tokio::spawn(manager.run(shutdown, workers));
        Ok(Self {
            addresses,
            stop,
            end,
        })
    }

    /// Asks the server for metrics (0) or probes (1).
    async fn get(&self, server: usize, path: &str) -> Result<(u16, String), reqwest::Error> {
        let client = reqwest::Client::builder().no_proxy().build()?;
        let url = format!("http://{}{path}", self.addresses[server]);
        let response = client.get(url).send().await?;
        Ok((response.status().as_u16(), response.text().await?))
    }

    async fn get_until(&self, server: usize, path: &str, part: &str) -> String {
        until(&format!("`{part}` at {path}"), async || {
            let (_, text) = self
                .get(server, path)
                .await
                .map_err(|error| error.to_string())?;
            if text.contains(part) {
                Ok(text)
            } else {
                Err(text)
            }
        })
        .await
    }

    async fn stop(self) -> Result<(), Failure> {
        self.stop.send(()).ok();
        tokio::time::timeout(DEADLINE, self.end)
            .await
            .expect("it ends")
            .expect("no panic")
    }
}

/// Works until it is asked to stop.
async fn idle(work: Work) -> Result<(), Failure> {
    work.synced();
    work.stopped().await;
    Ok(())
}

#[tokio::test]
async fn a_manager_leads_serves_counts_and_ends_in_order() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let (log, _guard) = Log::record();
    let (go_on, may_go_on) = oneshot::channel::<()>();
    let running = Running::start(manager_settings(long(&namespace)), |work| async move {
        may_go_on.await.expect("the test lives");
        work.synced();
        assert!(work.may_begin());
        let metrics = work
            .metrics
            .controller("mailguncluster")
            .expect("it was named");
        let panics = async { panic!("one reconcile") };
        let judge = |_: &Result<(), String>| Outcome::Success;
        reconcile::run(metrics, &Backoff::default(), (), panics, judge)
            .await
            .unwrap_err();
        work.stopped().await;
        assert!(!work.may_begin());
        Ok(())
    })
    .await?;
    running
        .get_until(
            0,
            "/metrics",
            "leader_election_master_status{name=\"872ab3b9.cluster.x-k8s.io\"} 1",
        )
        .await;
    assert_eq!(running.get(1, "/healthz").await?.0, 200);
    let (status, text) = running.get(1, "/readyz").await?;
    assert_eq!(
        (status, text.contains("[-]caches failed")),
        (500, true),
        "{text}"
    );
    go_on.send(()).unwrap();
    running.get_until(1, "/readyz", "ok").await;
    let panics = "controller_runtime_reconcile_panics_total{controller=\"mailguncluster\"} 1";
    let text = running.get_until(0, "/metrics", panics).await;
    assert!(
        text.contains("controller_runtime_active_workers{controller=\"mailguncluster\"} 0"),
        "{text}"
    );
    let host = ControlPlane::shared()
        .await
        .server()
        .trim_start_matches("https://");
    let created =
        format!("rest_client_requests_total{{code=\"201\",method=\"POST\",host=\"{host}\"}}");
    assert!(text.contains(&created), "{text}");
    running.stop().await.unwrap();
    assert_eq!(
        lease(&client, &namespace).await?.holder_identity.as_deref(),
        Some("")
    );
    let text = log.text();
    let expected = [
        "Metrics server is starting to listen".to_owned(),
        "starting manager".into(),
        format!("attempting to acquire leader lease {namespace}/872ab3b9.cluster.x-k8s.io..."),
        "Starting server kind=\"health probe\"".into(),
        "Starting server path=\"/metrics\" kind=\"metrics\"".into(),
        format!("successfully acquired lease {namespace}/872ab3b9.cluster.x-k8s.io"),
        "became leader".into(),
        "Starting EventSource controller=\"mailguncluster\"".into(),
        "source=\"kind source: *v1beta1.MailgunCluster\"".into(),
        "Starting Controller controller=\"mailguncluster\"".into(),
        "Starting workers controller=\"mailguncluster\"".into(),
        "Observed a panic".into(),
        "Stopping and waiting for non leader election runnables".into(),
        "Stopping and waiting for leader election runnables".into(),
        "Shutdown signal received, waiting for all workers to finish".into(),
        "All workers finished".into(),
        "Stopping and waiting for caches".into(),
        "Stopping and waiting for webhooks".into(),
        "Wait completed, proceeding to shutdown the manager".into(),
        "released the lease".into(),
        "stopped leading".into(),
    ];
    let mut rest = text.as_str();
    for part in expected {
        let at = rest
            .find(&part)
            .unwrap_or_else(|| panic!("no `{part}` in its place in\n{text}"));
        rest = &rest[at + part.len()..];
    }
    Ok(())
}

#[tokio::test]
async fn a_manager_that_waits_is_ready_and_can_be_ended() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let settings = long(&namespace);
    let mut other = elector(&client, &settings);
    acquire(&mut other).await?;
    let running = Running::start(manager_settings(settings), |_| async {
        panic!("it does not lead")
    })
    .await?;
    running.get_until(1, "/readyz", "ok").await;
    let (_, text) = running.get(0, "/metrics").await?;
    assert!(
        text.contains("leader_election_master_status{name=\"872ab3b9.cluster.x-k8s.io\"} 0"),
        "{text}"
    );
    running.stop().await.unwrap();
    assert!(
        lease(&client, &namespace)
            .await?
            .holder_identity
            .is_some_and(|holder| !holder.is_empty())
    );
    Ok(())
}

#[tokio::test]
async fn a_manager_whose_lease_is_lost_asks_its_workers_to_stop_and_fails() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let settings = long(&namespace);
    let name = settings.name.clone();
    let (leads, led) = oneshot::channel();
    let running = Running::start(manager_settings(settings), |work| async move {
        leads.send(()).expect("the test lives");
        idle(work).await
    })
    .await?;
    led.await?;
    let leases: Api<Lease> = Api::namespaced(client, &namespace);
    let thief = Patch::Merge(serde_json::json!({"spec": {"holderIdentity": "thief"}}));
    leases.patch(&name, &PatchParams::default(), &thief).await?;
    let failure = tokio::time::timeout(DEADLINE, running.end)
        .await??
        .unwrap_err();
    let text = failure.to_string();
    assert!(
        text.starts_with("error: leader election lost\n  caused by: `thief` holds the lease"),
        "{text}"
    );
    let holder = leases.get(&name).await?.spec.unwrap().holder_identity;
    assert_eq!(holder.as_deref(), Some("thief"));
    Ok(())
}

#[tokio::test]
async fn workers_that_do_not_end_keep_the_lease_from_others() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let settings = manager::Settings {
        grace: Duration::from_millis(50),
        ..manager_settings(long(&namespace))
    };
    let running = Running::start(settings, |work| async move {
        work.synced();
        std::future::pending().await
    })
    .await?;
    running.get_until(1, "/readyz/caches", "ok").await;
    running
        .get_until(
            0,
            "/metrics",
            "master_status{name=\"872ab3b9.cluster.x-k8s.io\"} 1",
        )
        .await;
    let text = running.stop().await.unwrap_err().to_string();
    assert!(
        text.contains("the workers did not end within 50ms"),
        "{text}"
    );
    let holder = lease(&client, &namespace).await?.holder_identity;
    assert!(
        holder.is_some_and(|holder| !holder.is_empty()),
        "it may still be at work"
    );
    Ok(())
}

#[tokio::test]
async fn workers_that_fail_end_the_manager_with_their_failure() -> Result<()> {
    let (client, namespace) = prepare().await?;
    let fails = |_| async { Err(Failure::new("no such kind")) };
    let running = Running::start(manager_settings(long(&namespace)), fails).await?;
    let failure = tokio::time::timeout(DEADLINE, running.end)
        .await??
        .unwrap_err();
    assert_eq!(failure.to_string(), "error: no such kind");
    assert_eq!(
        lease(&client, &namespace).await?.holder_identity.as_deref(),
        Some("")
    );
    let panics = |_| async { panic!("outside of a reconcile") };
    let running = Running::start(manager_settings(long(&namespace)), panics).await?;
    let failure = tokio::time::timeout(DEADLINE, running.end)
        .await??
        .unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("the workers panicked: outside of a reconcile"),
        "{failure}"
    );
    Ok(())
}
