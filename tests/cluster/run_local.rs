//! `run-local` as a process: what it says, how it is stopped, and who waits for whom.

use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Result;
use capictl::controllers::mailgun::api::{self, MailgunCluster, MailgunClusterSpec};
use capictl::controllers::manager::election::LEASE;
use capictl::http::{Get, Http};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt as _};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr};
use tokio::sync::OnceCell;

use crate::support::control_plane::ControlPlane;
use crate::support::environment::{Environment, capictl};
use crate::support::mailgun::{DOMAIN, Fault, KEY, Mailgun};
use crate::support::wait::{DEADLINE, for_object};

/// A namespace with Lease and objects of a test's own, in a cluster with the provider's kinds and no Cluster API.
struct Bed {
    client: Client,
    namespace: String,
    mailgun: Mailgun,
    environment: Environment,
}

async fn start() -> Result<ControlPlane> {
    let control_plane = ControlPlane::start().await?;
    let crds: Api<CustomResourceDefinition> = Api::all(control_plane.client().await?);
    for crd in api::crds() {
        crds.create(&PostParams::default(), &crd).await?;
        for_object(&crds, &crd.name_any(), "is served", |crd| {
            let conditions = crd.and_then(|crd| crd.status.as_ref()?.conditions.as_ref());
            conditions
                .into_iter()
                .flatten()
                .any(|condition| condition.type_ == "Established" && condition.status == "True")
        })
        .await;
    }
    Ok(control_plane)
}

impl Bed {
    async fn new() -> Result<Self> {
        static SHARED: OnceCell<ControlPlane> = OnceCell::const_new();
        capictl::http::install_tls_provider();
        let control_plane = SHARED.get_or_try_init(start).await?;
        let mailgun = Mailgun::start();
        let mut environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
        environment
            .set("MAILGUN_DOMAIN", DOMAIN)
            .set("MAILGUN_API_KEY", KEY)
            .set("MAIL_RECIPIENT", "someone@example.org")
            .set("MAILGUN_API_BASE", mailgun.url());
        Ok(Self {
            client: control_plane.client().await?,
            namespace: control_plane.create_namespace("run-local").await?,
            mailgun,
            environment,
        })
    }

    fn arguments(&self, more: &str) -> Vec<String> {
        let namespace = &self.namespace;
        format!(
            "run-local --allow-orphan --namespace {namespace} --leader-election-namespace {namespace} \
             --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 127.0.0.1:0 {more}"
        )
        .split_whitespace()
        .map(str::to_owned)
        .collect()
    }

    fn run(&self, more: &str) -> Result<Process> {
        let arguments = self.arguments(more);
        let mut child = self.environment.spawn(&capictl()?, &arguments)?;
        let stderr = child.stderr.take().expect("it is piped");
        Ok(Process {
            child,
            lines: BufReader::new(stderr).lines(),
            seen: Vec::new(),
        })
    }

    async fn create(&self) -> Result<()> {
        let spec = MailgunClusterSpec {
            priority: "Urgent".to_owned(),
            request: "One, please".to_owned(),
            requester: "me@example.org".to_owned(),
            control_plane_endpoint: None,
        };
        let object = MailgunCluster::new("hello", spec);
        self.objects()
            .create(&PostParams::default(), &object)
            .await?;
        Ok(())
    }

    fn objects(&self) -> Api<MailgunCluster> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    async fn response(&self) -> Result<Option<String>> {
        let object = self.objects().get("hello").await?;
        Ok(object.status.and_then(|status| status.response))
    }

    /// Returns who holds the Lease.
    async fn holder(&self) -> Result<String> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.namespace);
        let spec = leases.get(LEASE).await?.spec.unwrap_or_default();
        Ok(spec.holder_identity.unwrap_or_default())
    }
}

/// A `run-local` and what it has said so far.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
    seen: Vec<String>,
}

impl Process {
    /// Waits for a line with this text.
    async fn says(&mut self, text: &str) -> Result<String> {
        while let Some(line) = self.next_line().await? {
            if line.contains(text) {
                return Ok(line);
            }
        }
        panic!(
            "it ended without a word of `{text}`:\n{}",
            self.seen.join("\n")
        )
    }

    async fn next_line(&mut self) -> Result<Option<String>> {
        let line = tokio::time::timeout(DEADLINE, self.lines.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("it is silent:\n{}", self.seen.join("\n")))?;
        self.seen.extend(line.clone());
        Ok(line)
    }

    fn id(&self) -> u32 {
        self.child.id().expect("it was not waited for")
    }

    /// Waits for the end, and returns it with everything that was said.
    async fn end(mut self) -> Result<(ExitStatus, String)> {
        while self.next_line().await?.is_some() {}
        let status = tokio::time::timeout(DEADLINE, self.child.wait()).await??;
        Ok((status, self.seen.join("\n")))
    }
}

fn send(signal: &str, process: u32) {
    let kill = format!("kill -{signal} {process}");
    let status = std::process::Command::new("sh")
        .args(["-c", &kill])
        .status();
    assert!(status.unwrap().success());
}

async fn get(url: &str) -> Result<String> {
    let response = Http::new("test").get(Get::new(url)).await?;
    Ok(String::from_utf8(response.body)?)
}

/// Returns the part of `line` from `start` to the next blank, comma or semicolon.
fn word<'a>(line: &'a str, start: &str) -> &'a str {
    let rest = &line[line.find(start).unwrap_or_else(|| panic!("{line}"))..];
    let text = &rest[rest.find("http").expect("a URL follows")..];
    text.split([';', ' ']).next().unwrap_or(text)
}

/// Ctrl-C comes when Mailgun has the mail but has not answered yet.
#[tokio::test]
async fn the_first_signal_lets_a_mail_under_way_end() -> Result<()> {
    let bed = Bed::new().await?;
    let mut process = bed.run("")?;
    let id = process.id();
    bed.mailgun.on_accept(move |_| send("INT", id));
    bed.mailgun
        .fail("POST ", Fault::DoAndDelay(Duration::from_secs(1)), 1);
    process
        .says("Running the Mailgun provider against https://")
        .await?;
    let served = process.says("metrics at").await?;
    process.says("successfully acquired lease").await?;
    let metrics = get(word(&served, "metrics at")).await?;
    assert!(
        metrics.contains("leader_election_master_status"),
        "{metrics}"
    );
    bed.create().await?;

    let (status, said) = process.end().await?;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("Stopping after Ctrl-C"), "{said}");
    assert!(said.ends_with("\nStopped"), "{said}");
    for secret in [KEY, "someone@example.org"] {
        assert!(!said.contains(secret), "{said}");
    }
    assert_eq!(bed.mailgun.mails().len(), 1);
    let response = bed.response().await?.expect("the outcome is recorded");
    assert!(said.contains(&format!("Message ID {response}")), "{said}");
    assert_eq!(bed.holder().await?, "", "the Lease is given back");
    Ok(())
}

#[tokio::test]
async fn the_second_signal_ends_it_at_once() -> Result<()> {
    let bed = Bed::new().await?;
    let mut process = bed.run("")?;
    let id = process.id();
    bed.mailgun.on_accept(move |_| send("TERM", id));
    // Longer than the patience with Mailgun, so that nothing else can end the process.
    bed.mailgun
        .fail("POST ", Fault::DoAndDelay(Duration::from_secs(60)), 1);
    process.says("successfully acquired lease").await?;
    bed.create().await?;
    process.says("Stopping after SIGTERM").await?;
    send("TERM", id);
    let (status, said) = process.end().await?;
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(!said.contains("Stopped"), "{said}");
    assert_eq!(bed.mailgun.mails().len(), 1);
    assert_ne!(bed.holder().await?, "", "there was no time for that");
    Ok(())
}

#[tokio::test]
async fn who_waits_for_another_says_so_is_healthy_and_can_be_stopped() -> Result<()> {
    let bed = Bed::new().await?;
    let mut leader = bed.run("--log-format json")?;
    leader.says("successfully acquired lease").await?;
    let holder = bed.holder().await?;
    let mut other = bed.run("")?;
    let served = other.says("probes at").await?;
    let waits = other.says("this process takes over").await?;
    assert!(waits.contains(&format!("`{holder}` leads")), "{waits}");
    let delete = format!("kubectl delete lease -n {} {LEASE}", bed.namespace);
    assert!(waits.contains(&delete), "{waits}");
    let ready = word(&served, "probes at");
    get(ready).await?;
    get(&ready.replace("readyz", "healthz")).await?;

    send("TERM", other.id());
    let (status, said) = other.end().await?;
    assert_eq!(status.code(), Some(0), "{said}");
    assert_eq!(bed.holder().await?, holder);
    send("TERM", leader.id());
    let (status, said) = leader.end().await?;
    assert_eq!(status.code(), Some(0), "{said}");
    for line in said.lines() {
        let object: serde_json::Value = serde_json::from_str(line)?;
        assert!(object["msg"].is_string(), "{line}");
    }
    Ok(())
}

#[tokio::test]
async fn a_namespace_that_is_missing_names_the_fix() -> Result<()> {
    let bed = Bed::new().await?;
    let arguments = bed.arguments("--leader-election-namespace absent");
    let output = bed.environment.capictl(&arguments).await?.failure();
    let failure = &output[output.find("error: ").expect("it failed")..];
    insta::assert_snapshot!(failure, @"
    error: cannot create the lease `absent/872ab3b9.cluster.x-k8s.io`: there is no namespace `absent`
    hint: create it: `kubectl create namespace absent`
    hint: or name another one with `--leader-election-namespace`; managers that work on the same objects need the same one
    ");
    Ok(())
}

/// The lines that the tutorial shows, from the start over a mail to the end; our own debug lines are left out.
#[tokio::test]
async fn zap_lines_are_those_of_the_tutorial() -> Result<()> {
    let bed = Bed::new().await?;
    let mut process = bed.run("--zap-devel")?;
    process.says("Starting workers").await?;
    bed.create().await?;
    process.says("Message ID").await?;
    send("INT", process.id());
    let (status, said) = process.end().await?;
    assert_eq!(status.code(), Some(0), "{said}");
    let shown = said
        .lines()
        .filter(|line| !line.contains("\tDEBUG\t") || line.contains("\tevents\t"))
        .filter(|line| !line.contains("the API server says"));
    let shown = shown.collect::<Vec<_>>().join("\n");
    insta::with_settings!({filters => [
        (&*bed.namespace, "[namespace]"),
        (r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[time]"),
        (r"(?m)^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+\]", "[klog]"),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "[uuid]"),
        (r"\t\S+_\[uuid\] ", "\t[holder] "),
        (r"127\.0\.0\.1:\d+", "[address]"),
        (r#""resourceVersion":"\d+""#, r#""resourceVersion":"[version]""#),
    ]}, {
        insta::assert_snapshot!(shown, @r#"
    [time]	INFO	controller-runtime.metrics	Metrics server is starting to listen	{"addr": "[address]"}
    [time]	INFO	setup	starting manager
    [klog] attempting to acquire leader lease [namespace]/872ab3b9.cluster.x-k8s.io...
    [time]	INFO	Starting server	{"kind": "health probe", "addr": "[address]"}
    [time]	INFO	Starting server	{"path": "/metrics", "kind": "metrics", "addr": "[address]"}
    [klog] successfully acquired lease [namespace]/872ab3b9.cluster.x-k8s.io
    [time]	DEBUG	events	[holder] became leader	{"type": "Normal", "object": {"kind":"Lease","namespace":"[namespace]","name":"872ab3b9.cluster.x-k8s.io","uid":"[uuid]","apiVersion":"coordination.k8s.io/v1","resourceVersion":"[version]"}, "reason": "LeaderElection"}
    [time]	INFO	Starting EventSource	{"controller": "mailgunmachine", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunMachine", "source": "kind source: *v1beta1.MailgunMachine"}
    [time]	INFO	Starting Controller	{"controller": "mailgunmachine", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunMachine"}
    [time]	INFO	Starting EventSource	{"controller": "mailguncluster", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunCluster", "source": "kind source: *v1beta1.MailgunCluster"}
    [time]	INFO	Starting Controller	{"controller": "mailguncluster", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunCluster"}
    [time]	INFO	Starting workers	{"controller": "mailguncluster", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunCluster", "worker count": 1}
    [time]	INFO	Starting workers	{"controller": "mailgunmachine", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunMachine", "worker count": 1}
    [time]	INFO	Message ID <capi-mailgun.[uuid].0@mail.example.org>	{"controller": "mailguncluster", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunCluster", "MailgunCluster": {"name":"hello","namespace":"[namespace]"}, "namespace": "[namespace]", "name": "hello", "reconcileID": "[uuid]"}
    [time]	INFO	Stopping and waiting for non leader election runnables
    [time]	INFO	Stopping and waiting for leader election runnables
    [time]	INFO	Shutdown signal received, waiting for all workers to finish	{"controller": "mailgunmachine", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunMachine"}
    [time]	INFO	Shutdown signal received, waiting for all workers to finish	{"controller": "mailguncluster", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunCluster"}
    [time]	INFO	All workers finished	{"controller": "mailgunmachine", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunMachine"}
    [time]	INFO	All workers finished	{"controller": "mailguncluster", "controllerGroup": "infrastructure.cluster.x-k8s.io", "controllerKind": "MailgunCluster"}
    [time]	INFO	Stopping and waiting for caches
    [time]	INFO	Stopping and waiting for webhooks
    [time]	INFO	Wait completed, proceeding to shutdown the manager
    [time]	DEBUG	events	[holder] stopped leading	{"type": "Normal", "object": {"kind":"Lease","namespace":"[namespace]","name":"872ab3b9.cluster.x-k8s.io","uid":"[uuid]","apiVersion":"coordination.k8s.io/v1","resourceVersion":"[version]"}, "reason": "LeaderElection"}
    "#);
    });
    Ok(())
}
