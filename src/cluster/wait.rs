//! Waiting for what controllers make true, and saying for what.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use tokio::time::Instant;

use super::error::one_line;
use super::{Cluster, Error, Resource, Result};
use crate::model::Object;
use crate::ui::Ui;

/// Pause between two looks; one list request serves all Deployments of a namespace.
const PAUSE: Duration = Duration::from_millis(200);

/// Why a kubelet says that it has no image.
const PULL_FAILURES: [&str; 5] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "RegistryUnavailable",
];

/// One of an object's `status.conditions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition<'a> {
    /// `True`, `False` or `Unknown`.
    pub status: &'a str,
    /// The sentence for a reader.
    pub message: &'a str,
}

impl Condition<'_> {
    /// Tells whether the condition holds.
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}

/// Returns a condition of an object.
pub fn condition<'a>(object: &'a Object, name: &str) -> Option<Condition<'a>> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == name)?;
    Some(Condition {
        status: found["status"].as_str().unwrap_or_default(),
        message: found["message"].as_str().unwrap_or_default(),
    })
}

/// A Deployment to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeploymentName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Display for DeploymentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

fn deployments() -> Resource {
    Resource::known("apps", "v1", "deployments", true)
}

impl Cluster {
    /// Waits until every one of the Deployments is available, all of them side by side. Each time one becomes
    /// available, the others have the whole `timeout` again, so that none has less time than with clusterctl, which waits
    /// for one after the other.
    ///
    /// # Errors
    /// One is not available in time, or the server cannot be reached; the error says what keeps its Pods from running.
    pub async fn wait_for_deployments(
        &self,
        names: &[DeploymentName],
        timeout: Duration,
    ) -> Result<()> {
        let mut since = Instant::now();
        let mut left = names.len();
        let mut progress = None;
        loop {
            let waiting = self.unavailable(names).await?;
            if waiting.is_empty() {
                return Ok(());
            }
            if waiting.len() < left {
                (left, since) = (waiting.len(), Instant::now());
            }
            if since.elapsed() > timeout {
                return Err(self.not_ready(&waiting, timeout).await);
            }
            let list: Vec<String> = waiting.iter().map(ToString::to_string).collect();
            let text = format!(
                "Waiting for {} of {} Deployments: {}",
                list.len(),
                names.len(),
                list.join(", ")
            );
            Ui.show_progress(&mut progress, text);
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn unavailable(&self, names: &[DeploymentName]) -> Result<Vec<DeploymentName>> {
        let namespaces: BTreeSet<&str> = names.iter().map(|name| name.namespace.as_str()).collect();
        let resource = deployments();
        let found: Vec<Object> = stream::iter(namespaces)
            .map(|namespace| self.list(&resource, Some(namespace)))
            .buffered(8)
            .try_fold(Vec::new(), |mut all, list| async {
                all.extend(list.unwrap_or_default());
                Ok(all)
            })
            .await?;
        let is_available = |name: &&DeploymentName| {
            found.iter().any(|object| {
                object.name() == name.name
                    && object.namespace() == name.namespace
                    && is_current_and_available(object)
            })
        };
        Ok(names
            .iter()
            .filter(|name| !is_available(name))
            .cloned()
            .collect())
    }

    async fn not_ready(&self, waiting: &[DeploymentName], after: Duration) -> Error {
        let (mut states, mut unpullable) = (Vec::new(), Vec::new());
        for name in waiting {
            let deployment = self
                .get(&deployments(), Some(&name.namespace), &name.name)
                .await
                .ok()
                .flatten();
            let state = match &deployment {
                None => "it does not exist",
                Some(deployment) => {
                    condition(deployment, "Available").map_or("no status yet", |c| c.message)
                }
            };
            let pods = explain_namespace(self, &name.namespace)
                .await
                .ok()
                .flatten();
            match pods {
                None => states.push(format!("{name}: {state}")),
                Some(mut pods) => {
                    states.push(pods.text);
                    unpullable.append(&mut pods.unpullable);
                }
            }
        }
        let names: Vec<String> = waiting
            .iter()
            .map(|name| format!("deployment \"{}\" is not ready", name.name))
            .collect();
        let DeploymentName { namespace, name } = &waiting[0];
        Error::NotReady {
            what: names.join(", "),
            after,
            state: states.join("; "),
            unpullable,
            hints: vec![
                format!("look at it with `kubectl describe deployment --namespace {namespace} {name}`"),
                "the providers are installed; run the command again to go on waiting, `--wait-provider-timeout` gives more seconds".to_owned(),
            ],
        }
    }
}

/// A status of an older generation says nothing about the present one.
fn is_current_and_available(deployment: &Object) -> bool {
    let number = |pointer: &str| {
        deployment
            .pointer(pointer)
            .and_then(Value::as_i64)
            .unwrap_or_default()
    };
    number("/status/observedGeneration") >= number("/metadata/generation")
        && condition(deployment, "Available").is_some_and(|condition| condition.is_true())
}

/// What keeps Pods from running.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PodProblems {
    /// All of it, for a reader.
    pub(super) text: String,
    /// Images that cannot be pulled.
    pub(super) unpullable: Vec<String>,
}

/// Returns what keeps the Pods of a namespace from running: images that cannot be pulled, containers that crash,
/// Pods that cannot be scheduled.
pub(super) async fn explain_namespace(
    cluster: &Cluster,
    namespace: &str,
) -> Result<Option<PodProblems>> {
    let pods = cluster
        .list(&Resource::known("", "v1", "pods", true), Some(namespace))
        .await?;
    let (mut texts, mut unpullable) = (Vec::new(), Vec::new());
    for problem in pods.unwrap_or_default().iter().filter_map(pod_problem) {
        texts.push(problem.text);
        unpullable.extend(problem.unpullable);
    }
    Ok((!texts.is_empty()).then(|| PodProblems {
        text: texts.join("; "),
        unpullable,
    }))
}

fn pod_problem(pod: &Object) -> Option<PodProblems> {
    let statuses = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let containers = statuses
        .iter()
        .filter_map(|pointer| pod.pointer(pointer)?.as_array())
        .flatten();
    for container in containers {
        let waiting = &container["state"]["waiting"];
        let reason = waiting["reason"].as_str().unwrap_or_default();
        if !["", "ContainerCreating", "PodInitializing"].contains(&reason) {
            let message = one_line(waiting["message"].as_str().unwrap_or_default());
            let image = container["image"].as_str().unwrap_or_default();
            let is_pull = PULL_FAILURES.contains(&reason);
            return Some(PodProblems {
                text: format!(
                    "Pod {} waits: {reason} of image `{image}`: {message}",
                    pod.name()
                ),
                unpullable: is_pull.then(|| image.to_owned()).into_iter().collect(),
            });
        }
    }
    let scheduled =
        condition(pod, "PodScheduled").filter(|condition| condition.status == "False")?;
    Some(PodProblems {
        text: format!(
            "Pod {} is not scheduled: {}",
            pod.name(),
            one_line(scheduled.message)
        ),
        unpullable: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Object {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_status_of_an_older_generation_does_not_count() {
        let deployment = |observed: i64| {
            object(json!({
                "metadata": {"generation": 2},
                "status": {"observedGeneration": observed, "conditions": [{"type": "Available", "status": "True"}]},
            }))
        };
        assert!(!is_current_and_available(&deployment(1)));
        assert!(is_current_and_available(&deployment(2)));
    }

    #[test]
    fn an_image_that_cannot_be_pulled_is_named() {
        let pod = object(json!({
            "metadata": {"name": "p"},
            "status": {"containerStatuses": [{
                "image": "r.example/i:1",
                "state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}},
            }]},
        }));
        let problem = pod_problem(&pod).unwrap();
        assert_eq!(
            problem.text,
            "Pod p waits: ImagePullBackOff of image `r.example/i:1`: not found"
        );
        assert_eq!(problem.unpullable, ["r.example/i:1"]);
    }
}
