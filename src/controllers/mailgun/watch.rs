//! Which objects are reconciled, and what wakes them up.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{join_all, join3};
use kube::api::{Api, DynamicObject};
use kube::core::NamespaceResourceScope;
use kube::runtime::controller::{self, Action, Controller};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher;
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tracing::Instrument;

use super::api::{GROUP, MailgunCluster, MailgunMachine};
use super::reconcile::{self, Context, Error};
use super::{Settings, machine};
use crate::controllers::manager::backoff::Backoff;
use crate::controllers::manager::client::describe;
use crate::controllers::manager::metrics::Outcome;
use crate::controllers::manager::reconcile::{Failed, run as surrounded};

/// The label that chooses objects, as Cluster API's own controllers know it.
const WATCH_FILTER: &str = "cluster.x-k8s.io/watch-filter";
/// Back-off of an object whose reconcile tells none.
const FALLBACK: Duration = Duration::from_secs(5);

/// What the reconciles of one kind have in common beside the context.
struct Shared {
    context: Arc<Context>,
    name: &'static str,
    kind: &'static str,
    backoff: Backoff<(String, String)>,
}

/// Runs the controllers of both kinds, in each namespace that is asked for.
pub async fn run(context: Arc<Context>) {
    let shared = |name, kind| {
        Arc::new(Shared {
            context: context.clone(),
            name,
            kind,
            backoff: Backoff::default(),
        })
    };
    let (clusters, machines) = (
        shared("mailguncluster", "MailgunCluster"),
        shared("mailgunmachine", "MailgunMachine"),
    );
    let (mut stores, mut cluster_runs, mut machine_runs) = (Vec::new(), Vec::new(), Vec::new());
    for namespace in namespaces(&context.settings) {
        let (store, run) = run_clusters(clusters.clone(), namespace);
        stores.push(store);
        cluster_runs.push(run);
        machine_runs.push(run_machines(machines.clone(), namespace));
    }
    let synced = async {
        let ready = join_all(stores.iter().map(Store::wait_until_ready)).await;
        if ready.iter().all(Result::is_ok) {
            context.work.synced();
        }
    };
    join3(synced, join_all(cluster_runs), join_all(machine_runs)).await;
}

/// All namespaces are one watch; several chosen ones are one watch each.
fn namespaces(settings: &Settings) -> Vec<Option<&str>> {
    match settings.namespaces.as_slice() {
        [] => vec![None],
        chosen => chosen
            .iter()
            .map(|namespace| Some(namespace.as_str()))
            .collect(),
    }
}

fn scoped<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

fn config(settings: &Settings) -> watcher::Config {
    match &settings.watch_filter {
        Some(value) => watcher::Config::default().labels(&format!("{WATCH_FILTER}={value}")),
        None => watcher::Config::default(),
    }
}

fn run_clusters(
    shared: Arc<Shared>,
    namespace: Option<&str>,
) -> (Store<MailgunCluster>, impl Future<Output = ()> + use<>) {
    let context = shared.context.clone();
    let settings = &context.settings;
    let objects = scoped::<MailgunCluster>(&context.client, namespace);
    let mut controller = Controller::new(objects, config(settings))
        .with_config(controller::Config::default().concurrency(concurrency(settings.concurrency)));
    let store = controller.store();
    if let Some(resource) = &context.clusters {
        let clusters: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(context.client.clone(), namespace, resource),
            None => Api::all_with(context.client.clone(), resource),
        };
        controller = controller.watches_with(
            clusters,
            resource.clone(),
            watcher::Config::default(),
            infrastructure_of,
        );
    }
    let run = controller
        .graceful_shutdown_on(context.work.stopped())
        .run(
            reconcile_cluster,
            |_, error: &Failed<Error>, _| again(error),
            shared,
        )
        .for_each(log_failure);
    (store, run)
}

fn run_machines(shared: Arc<Shared>, namespace: Option<&str>) -> impl Future<Output = ()> + use<> {
    let context = shared.context.clone();
    let objects = scoped::<MailgunMachine>(&context.client, namespace);
    Controller::new(objects, config(&context.settings))
        .with_config(controller::Config::default().concurrency(1))
        .graceful_shutdown_on(context.work.stopped())
        .run(
            reconcile_machine,
            |_, error: &Failed<Error>, _| again(error),
            shared,
        )
        .for_each(log_failure)
}

fn concurrency(wanted: usize) -> u16 {
    u16::try_from(wanted.max(1)).unwrap_or(u16::MAX)
}

/// A Cluster names its infrastructure by group and kind, in the older contract by API version and kind.
fn infrastructure_of(cluster: DynamicObject) -> Option<ObjectRef<MailgunCluster>> {
    let reference = &cluster.data["spec"]["infrastructureRef"];
    let group = reference["apiGroup"]
        .as_str()
        .or_else(|| reference["apiVersion"].as_str()?.split('/').next())?;
    let is_ours = group == GROUP && reference["kind"] == "MailgunCluster";
    let name = reference["name"].as_str().filter(|_| is_ours)?;
    Some(ObjectRef::new(name).within(&cluster.namespace()?))
}

async fn reconcile_cluster(
    object: Arc<MailgunCluster>,
    shared: Arc<Shared>,
) -> Result<Action, Failed<Error>> {
    let context = shared.context.clone();
    let work = {
        let object = object.clone();
        async move { reconcile::reconcile(object, &context).await }
    };
    guarded(&*object, &shared, work).await
}

async fn reconcile_machine(
    object: Arc<MailgunMachine>,
    shared: Arc<Shared>,
) -> Result<Action, Failed<Error>> {
    let client = shared.context.client.clone();
    let work = {
        let object = object.clone();
        async move { machine::reconcile(&object, client).await }
    };
    guarded(&*object, &shared, work).await
}

/// Counts a reconcile, catches its panic, and gives its log lines the keys of controller-runtime.
async fn guarded<K>(
    object: &K,
    shared: &Shared,
    work: impl Future<Output = Result<Action, Error>>,
) -> Result<Action, Failed<Error>>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
    let id = uuid::Uuid::new_v4().to_string();
    let reference = serde_json::json!({"name": name, "namespace": namespace}).to_string();
    // Given at once, since what is recorded later comes after all other keys.
    let of = |kind| (shared.kind == kind).then(|| tracing::field::display(&reference));
    let span = tracing::info_span!(
        "reconcile",
        controller = shared.name,
        controllerGroup = GROUP,
        controllerKind = shared.kind,
        MailgunCluster = of("MailgunCluster"),
        MailgunMachine = of("MailgunMachine"),
        namespace,
        name,
        reconcileID = id,
    );
    let metrics = shared
        .context
        .work
        .metrics
        .controller(shared.name)
        .expect("the controllers are registered");
    let judge = |result: &Result<Action, Error>| match result {
        Ok(action) if *action == Action::await_change() => Outcome::Success,
        Ok(_) => Outcome::RequeueAfter,
        Err(_) => Outcome::Error,
    };
    surrounded(metrics, &shared.backoff, (namespace, name), work, judge)
        .instrument(span)
        .await
}

fn again(error: &Failed<Error>) -> Action {
    Action::requeue(error.wait.unwrap_or(FALLBACK))
}

/// Returns what the API server says, without the client library's repetitions.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut next = Some(error);
    let mut text = String::new();
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<kube::Error>() {
            return describe(error);
        }
        text = error.to_string();
        next = error.source();
    }
    text
}

async fn log_failure<K: Resource<DynamicType = ()>>(
    result: Result<(ObjectRef<K>, Action), controller::Error<Failed<Error>, watcher::Error>>,
) {
    match result {
        Ok(_) | Err(controller::Error::ObjectNotFound(_)) => {} // gone while it was queued
        Err(controller::Error::ReconcilerFailed(error, object)) => {
            tracing::error!(error = %error, object = %object, "Reconciler error");
        }
        Err(error) => tracing::warn!(error = innermost(&error), "a watch failed, it is tried again"),
    }
}
