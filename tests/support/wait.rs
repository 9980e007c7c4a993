//! Waits for a state, never for a time: by watch where one object tells, else by asking again.
//!
//! The deadline is for machines that are busy with other things; when it is over, the panic says what was seen.

use std::fmt::Debug;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Resource;
use kube::api::{Api, DynamicObject};
use kube::runtime::watcher::watch_object;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How long anything may take that takes seconds on an idle machine.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// Asks until `probe` returns a value; its errors say what is there instead. Panics after [`DEADLINE`].
pub async fn until<T>(what: &str, probe: impl AsyncFnMut() -> Result<T, String>) -> T {
    until_within(DEADLINE, what, probe).await
}

/// Like [`until`], with a deadline of the caller's.
pub async fn until_within<T>(
    deadline: Duration,
    what: &str,
    mut probe: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    let started = Instant::now();
    let mut seen: Vec<String> = Vec::new();
    let mut look = async || {
        loop {
            match probe().await {
                Ok(value) => return value,
                Err(state) if seen.last() == Some(&state) => {}
                Err(state) => seen.push(state),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let result = tokio::time::timeout(deadline, look()).await;
    match result {
        Ok(value) => value,
        Err(_) => panic!(
            "waited {:.0?} for {what}; seen meanwhile:\n{}",
            started.elapsed(),
            seen.join("\n")
        ),
    }
}

/// Watches an object until `holds` is true of it (of `None` while it does not exist) and returns it.
/// Panics after [`DEADLINE`].
pub async fn for_object<K>(
    api: &Api<K>,
    name: &str,
    what: &str,
    holds: impl FnMut(Option<&K>) -> bool,
) -> Option<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize + Send + 'static,
{
    for_object_within(DEADLINE, api, name, what, holds).await
}

/// Like [`for_object`], with a deadline of the caller's.
pub async fn for_object_within<K>(
    deadline: Duration,
    api: &Api<K>,
    name: &str,
    what: &str,
    mut holds: impl FnMut(Option<&K>) -> bool,
) -> Option<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize + Send + 'static,
{
    let mut seen = "nothing, the watch never answered".to_owned();
    let look = async {
        let mut objects = pin!(watch_object(api.clone(), name));
        loop {
            match objects.next().await {
                Some(Ok(object)) if holds(object.as_ref()) => return object,
                Some(Ok(Some(object))) => {
                    seen = serde_json::to_string_pretty(&object).unwrap_or_default();
                }
                Some(Ok(None)) => seen = "the object does not exist".to_owned(),
                Some(Err(error)) => {
                    seen = format!("{error:?}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                None => panic!("the watch of `{name}` ended"),
            }
        }
    };
    match tokio::time::timeout(deadline, look).await {
        Ok(object) => object,
        Err(_) => panic!("waited {deadline:.0?} until {name} {what}; last seen: {seen}"),
    }
}

/// Waits until a Deployment has this many available replicas for its present generation.
pub async fn for_deployment(api: &Api<Deployment>, name: &str, available: i32) -> Deployment {
    let what = format!("has {available} available replicas");
    let holds = |deployment: Option<&Deployment>| {
        deployment.is_some_and(|deployment| {
            let status = deployment.status.clone().unwrap_or_default();
            status.observed_generation == deployment.metadata.generation
                && status.available_replicas.unwrap_or_default() == available
                && status.conditions.is_some()
        })
    };
    let found = for_object(api, name, &what, holds).await;
    found.expect("a Deployment that does not exist has no replicas")
}

/// Waits until an object has a condition with this status, e.g. `Available` `True`.
pub async fn for_condition(
    api: &Api<DynamicObject>,
    name: &str,
    kind: &str,
    status: &str,
    deadline: Duration,
) -> DynamicObject {
    let what = format!("has condition {kind} {status}");
    let holds = |object: Option<&DynamicObject>| {
        object.is_some_and(|object| condition_of(object, kind).as_deref() == Some(status))
    };
    let found = for_object_within(deadline, api, name, &what, holds).await;
    found.expect("an object that does not exist has no conditions")
}

/// Returns the status of a condition.
pub fn condition_of(object: &DynamicObject, kind: &str) -> Option<String> {
    let conditions = object.data.pointer("/status/conditions")?.as_array()?;
    let condition = conditions
        .iter()
        .find(|condition| condition["type"] == kind)?;
    condition
        .get("status")
        .and_then(Value::as_str)
        .map(str::to_owned)
}

/// Waits until an object does not exist any more.
pub async fn until_gone<K>(api: &Api<K>, name: &str)
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize + Send + 'static,
{
    for_object(api, name, "is gone", |object| object.is_none()).await;
}
