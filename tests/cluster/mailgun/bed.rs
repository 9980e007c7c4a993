//! A control plane with Cluster API's core manager and the provider's CRDs, and the provider as part of this process.

use std::time::Duration;

use anyhow::{Context, Result};
use capictl::controllers::mailgun::api::{self, Condition, MailgunCluster};
use capictl::controllers::mailgun::client::{Account, Mailgun as Client};
use capictl::controllers::mailgun::decide::OnUncertain;
use capictl::controllers::mailgun::message::SubjectStyle;
use capictl::controllers::mailgun::record::{ANNOTATION, Record};
use capictl::controllers::mailgun::{self, Settings};
use capictl::controllers::manager::{self, Manager, client};
use capictl::error::Failure;
use capictl::model::Secret;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::sync::{OnceCell, oneshot};

use crate::manager::{Log, config};
use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;
use crate::support::kubelet::Manager as Program;
use crate::support::mailgun::{DOMAIN, KEY, Mailgun};
use crate::support::wait::{self, DEADLINE, for_object};

/// The name of the objects of most tests, in a namespace of their own.
pub const NAME: &str = "hello-mailgun";
/// The recipient of all mails; it must not show anywhere.
pub const RECIPIENT: &str = "whale-recipient@example.org";
/// A part of the text of all mails; it must not show anywhere.
pub const REQUEST: &str = "Please make me a cluster, with whale sugar on top?";

/// Returns the control plane that the tests of this folder share: the core manager runs, the CRDs are there.
pub async fn shared() -> &'static ControlPlane {
    static SHARED: OnceCell<ControlPlane> = OnceCell::const_new();
    match SHARED.get_or_try_init(start).await {
        Ok(control_plane) => control_plane,
        Err(error) => panic!("no control plane with Cluster API: {error:#}"),
    }
}

async fn start() -> Result<ControlPlane> {
    let control_plane = ControlPlane::start_with_managers(&[Program::Core]).await?;
    let environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    let core_only = [
        "init",
        "--bootstrap=-",
        "--control-plane=-",
        "--wait-providers",
    ];
    environment.capictl(&core_only).await?.success();
    install(&control_plane.client().await?, api::crds()).await?;
    Ok(control_plane)
}

/// Installs CRDs and waits until they are served.
pub async fn install(
    client: &kube::Client,
    crds: impl IntoIterator<Item = CustomResourceDefinition>,
) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds {
        api.create(&PostParams::default(), &crd).await?;
        for_object(&api, &crd.name_any(), "is served", |crd| {
            let conditions = crd.and_then(|crd| crd.status.as_ref()?.conditions.as_ref());
            conditions.is_some_and(|conditions| {
                let mut all = conditions.iter();
                all.any(|condition| condition.type_ == "Established" && condition.status == "True")
            })
        })
        .await;
    }
    Ok(())
}

/// A namespace of a test's own, and Mailgun.
pub struct Bed {
    pub control_plane: &'static ControlPlane,
    pub client: kube::Client,
    pub namespace: String,
    pub mailgun: Mailgun,
}

impl Bed {
    pub async fn new() -> Result<Self> {
        capictl::http::install_tls_provider();
        let control_plane = shared().await;
        Ok(Self {
            control_plane,
            client: control_plane.client().await?,
            namespace: control_plane.create_namespace("mailgun").await?,
            mailgun: Mailgun::start(),
        })
    }

    /// Starts the provider for the namespace of the test.
    pub async fn run(&self) -> Result<Provider> {
        self.run_with(|_| ()).await
    }

    /// Starts the provider with other settings.
    pub async fn run_with(&self, change: impl FnOnce(&mut Settings)) -> Result<Provider> {
        let mut settings = settings(&self.mailgun, &[&self.namespace]);
        change(&mut settings);
        Provider::start(self.control_plane, settings).await
    }

    pub fn objects(&self) -> Api<MailgunCluster> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub fn clusters(&self) -> Api<DynamicObject> {
        clusters(&self.client, &self.namespace)
    }

    /// Creates a Cluster and its MailgunCluster.
    pub async fn create(&self, name: &str) -> Result<MailgunCluster> {
        create(&self.clusters(), &cluster(name)).await?;
        self.create_object(name).await
    }

    /// Creates a MailgunCluster.
    pub async fn create_object(&self, name: &str) -> Result<MailgunCluster> {
        let objects = self.objects();
        let object = object(name);
        Ok(objects.create(&PostParams::default(), &object).await?)
    }

    /// Waits until a mail is known to be sent.
    pub async fn until_sent(&self, name: &str) -> MailgunCluster {
        let object = until_condition(&self.objects(), name, "MessageSent", "True", None).await;
        assert_eq!(condition(&object, "Ready").unwrap().status, "True");
        let status = object.status.as_ref().expect("it has conditions");
        assert!(status.ready);
        let id = status.response.as_deref().expect("it was sent");
        assert!(id.starts_with('<') && id.ends_with('>'), "{id}");
        object
    }

    /// Waits until the condition `MessageSent` has this status and reason.
    pub async fn until(&self, name: &str, status: &str, reason: &str) -> MailgunCluster {
        until_condition(&self.objects(), name, "MessageSent", status, Some(reason)).await
    }

    /// Makes a merge patch.
    pub async fn patch(&self, name: &str, patch: Value) -> Result<MailgunCluster> {
        let patch = Patch::Merge(patch);
        let objects = self.objects();
        Ok(objects.patch(name, &PatchParams::default(), &patch).await?)
    }

    /// Makes a merge patch to a Cluster.
    pub async fn patch_cluster(&self, name: &str, patch: Value) -> Result<()> {
        let patch = Patch::Merge(patch);
        let clusters = self.clusters();
        clusters
            .patch(name, &PatchParams::default(), &patch)
            .await?;
        Ok(())
    }

    /// Waits for an event of this reason about an object, and returns its note.
    pub async fn until_event(&self, name: &str, reason: &str) -> Event {
        wait::until(&format!("the event {reason} about {name}"), async || {
            let events = self.events().await.map_err(|error| error.to_string())?;
            let about = |event: &Event| {
                let regarding = event.regarding.as_ref();
                regarding.and_then(|it| it.name.as_deref()) == Some(name)
                    && event.reason.as_deref() == Some(reason)
            };
            let found = events.iter().find(|event| about(event)).cloned();
            found.ok_or_else(|| {
                let lines = events
                    .iter()
                    .map(|event| format!("{:?}: {:?}", event.reason, event.note));
                lines.collect::<Vec<_>>().join("\n")
            })
        })
        .await
    }

    pub async fn events(&self) -> Result<Vec<Event>> {
        let api: Api<Event> = Api::namespaced(self.client.clone(), &self.namespace);
        Ok(api.list(&ListParams::default()).await?.items)
    }

    /// Makes sure that nothing in the cluster and in these texts tells what only the mail may tell.
    pub async fn ensure_discreet(&self, texts: &[&str]) -> Result<()> {
        let mut all = vec![serde_json::to_string_pretty(&self.events().await?)?];
        for mut object in self.objects().list(&ListParams::default()).await? {
            object.spec = Default::default();
            all.push(serde_json::to_string_pretty(&object)?);
        }
        let texts = texts.iter().map(|text| (*text).to_owned());
        for text in all.into_iter().chain(texts) {
            ensure_discreet(&text);
        }
        Ok(())
    }
}

/// Makes sure that a text has no key, no recipient and no text of a mail in it.
pub fn ensure_discreet(text: &str) {
    for secret in [KEY, "a-wrong-key-77", "whale", "Hello! One cluster"] {
        let Some(at) = text.find(secret) else {
            continue;
        };
        let line = text[..at].matches('\n').count();
        panic!(
            "`{secret}` shows in `{}`",
            text.lines().nth(line).unwrap_or_default()
        );
    }
}

/// Returns the usual settings.
pub fn settings(mailgun: &Mailgun, namespaces: &[&str]) -> Settings {
    let account = account(mailgun);
    Settings {
        mailgun: Client::new(account, "test").expect("the account is well-formed"),
        recipient: RECIPIENT.into(),
        subject_style: SubjectStyle::Seed,
        on_uncertain: OnUncertain::Hold,
        retention: Duration::from_secs(24 * 3600),
        allow_orphan: false,
        watch_filter: None,
        namespaces: namespaces.iter().map(ToString::to_string).collect(),
        concurrency: 10,
    }
}

/// Returns the account of the stand-in.
pub fn account(mailgun: &Mailgun) -> Account {
    Account {
        domain: DOMAIN.into(),
        api_base: mailgun.url().into(),
        key: Secret::new(KEY),
        events_key: None,
    }
}

/// Replaces the account.
pub fn use_account(settings: &mut Settings, change: impl FnOnce(&mut Account), mailgun: &Mailgun) {
    let mut account = account(mailgun);
    change(&mut account);
    settings.mailgun = Client::new(account, "test").expect("the account is well-formed");
}

pub fn clusters(client: &kube::Client, namespace: &str) -> Api<DynamicObject> {
    let resource = ApiResource {
        group: "cluster.x-k8s.io".into(),
        version: "v1beta2".into(),
        api_version: "cluster.x-k8s.io/v1beta2".into(),
        kind: "Cluster".into(),
        plural: "clusters".into(),
    };
    Api::namespaced_with(client.clone(), namespace, &resource)
}

/// Returns a Cluster whose infrastructure is a MailgunCluster of its name.
pub fn cluster(name: &str) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": name},
        "spec": {"infrastructureRef": {
            "apiGroup": api::GROUP, "kind": "MailgunCluster", "name": name,
        }},
    })
}

pub fn object(name: &str) -> MailgunCluster {
    let spec = api::MailgunClusterSpec {
        priority: "ExtremelyUrgent".into(),
        request: REQUEST.into(),
        requester: DOMAIN.into(),
        control_plane_endpoint: None,
    };
    MailgunCluster::new(name, spec)
}

/// Creates an object from its JSON.
pub async fn create(api: &Api<DynamicObject>, object: &Value) -> Result<DynamicObject> {
    let object: DynamicObject = serde_json::from_value(object.clone())?;
    Ok(api.create(&PostParams::default(), &object).await?)
}

pub fn condition<'a>(object: &'a MailgunCluster, type_: &str) -> Option<&'a Condition> {
    let conditions = &object.status.as_ref()?.conditions;
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Waits until an object has this condition.
pub async fn until_condition(
    api: &Api<MailgunCluster>,
    name: &str,
    type_: &str,
    status: &str,
    reason: Option<&str>,
) -> MailgunCluster {
    let what = format!("has condition {type_} {status} {reason:?}");
    let holds = |object: Option<&MailgunCluster>| {
        let found = object.and_then(|object| condition(object, type_));
        found.is_some_and(|found| {
            found.status == status && reason.is_none_or(|reason| found.reason == reason)
        })
    };
    let found = for_object(api, name, &what, holds).await;
    found.expect("an object that does not exist has no conditions")
}

/// Returns the record in the annotation.
pub fn record(object: &MailgunCluster) -> Record {
    let text = object.annotations().get(ANNOTATION);
    let text = text.unwrap_or_else(|| panic!("no annotation in {object:#?}"));
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// The provider, as part of this process; its log is recorded.
pub struct Provider {
    log: Log,
    _guard: tracing::subscriber::DefaultGuard,
    addresses: [String; 2],
    stop: oneshot::Sender<()>,
    end: tokio::task::JoinHandle<Result<(), Failure>>,
}

impl Provider {
    /// Starts it and waits until it is ready.
    pub async fn start(control_plane: &ControlPlane, settings: Settings) -> Result<Self> {
        let (log, guard) = Log::record();
        let manager = manager::Settings {
            election: None,
            metrics_address: "127.0.0.1:0".into(),
            probe_address: "127.0.0.1:0".into(),
            ..manager::Settings::new(mailgun::controllers(settings.concurrency))
        };
        let metrics = manager.metrics();
        let config = config(control_plane.kubeconfig()).await?;
        let client = client::connect(config, &metrics.requests).await?;
        let manager = Manager::start(client.clone(), manager, metrics).await;
        let manager = manager.expect("the ports are free");
        let addresses = manager.addresses();
        let addresses = addresses.map(|address| address.expect("both are served").to_string());
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move { stopped.await.unwrap_or_default() };
        let work = move |work| mailgun::run(client, settings, work);
        let end = tokio::spawn(manager.run(shutdown, work));
        let provider = Self {
            log,
            _guard: guard,
            addresses,
            stop,
            end,
        };
        provider.until_ready().await;
        Ok(provider)
    }

    async fn until_ready(&self) {
        wait::until("the provider to be ready", async || {
            match self.get(1, "/readyz").await {
                Ok((200, _)) => Ok(()),
                other => Err(format!("{other:?}\n{}", self.log())),
            }
        })
        .await;
    }

    async fn get(&self, server: usize, path: &str) -> Result<(u16, String)> {
        let client = reqwest::Client::builder().no_proxy().build()?;
        let url = format!("http://{}{path}", self.addresses[server]);
        let response = client.get(url).send().await?;
        Ok((response.status().as_u16(), response.text().await?))
    }

    pub async fn metrics(&self) -> Result<String> {
        Ok(self.get(0, "/metrics").await?.1)
    }

    /// Waits until a metric has at least this value.
    pub async fn until_metric(&self, name: &str, least: f64) {
        wait::until(&format!("{name} {least}"), async || {
            let text = self.metrics().await.map_err(|error| error.to_string())?;
            let mut lines = text.lines().filter_map(|line| line.rsplit_once(' '));
            let value = lines
                .find(|(metric, _)| *metric == name)
                .map(|(_, value)| value);
            match value.and_then(|value| value.parse::<f64>().ok()) {
                Some(value) if value >= least => Ok(()),
                _ => Err(format!("{value:?}")),
            }
        })
        .await;
    }

    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Ends it in order; returns all that it has told, after making sure that it has told no secret.
    pub async fn stop(self, bed: &Bed) -> Result<String> {
        let metrics = self.metrics().await?;
        self.stop.send(()).ok();
        let ended = tokio::time::timeout(DEADLINE, self.end).await;
        ended
            .context("it does not end")??
            .map_err(|failure| anyhow::anyhow!("{failure}"))?;
        let log = self.log.text();
        bed.ensure_discreet(&[&metrics, &log]).await?;
        Ok(log)
    }
}
