//! One request to the API server: send, understand the answer, repeat where that makes sense.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use http::{Method, Request, header::CONTENT_TYPE};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Cause, Cluster, Error, Resource, Result};
use crate::model::Object;

/// How long one answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// What a client sends to be answered in JSON.
const JSON: &str = "application/json";
/// A patch that replaces lists as a whole, the way clusterctl updates objects.
const MERGE_PATCH: &str = "application/merge-patch+json";

/// How long a request that may succeed in a moment is repeated.
#[derive(Debug, Clone, Copy)]
pub(super) enum Patience {
    /// Once, for probes that have a loop of their own.
    None,
    /// About five seconds: a reader wants to know soon that nobody is there.
    Read,
    /// About two minutes: what was begun should be finished; webhooks take their time to come up.
    Write,
}

impl Patience {
    fn backoff(self) -> ExponentialBuilder {
        let backoff = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(200))
            .with_jitter();
        match self {
            Self::None => backoff.with_max_times(0),
            Self::Read => backoff.with_factor(1.5).with_max_times(6),
            Self::Write => backoff
                .with_factor(1.6)
                .with_max_delay(Duration::from_secs(10))
                .with_max_times(18),
        }
    }
}

impl Cluster {
    /// Returns an object, or `None` when there is none of that name or no such kind.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub async fn get(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Object>> {
        let path = format!("{}/{name}", resource.path(namespace));
        let action = format!("read {} `{name}`", resource.plural);
        let request = || request(Method::GET, &path, JSON, Vec::new());
        not_found_is_none(self.send(&action, Patience::Read, request).await)
    }

    /// Returns the objects of a kind that match a label selector, or `None` when the server serves no such kind.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Option<Vec<Object>>> {
        #[derive(serde::Deserialize)]
        struct List {
            #[serde(default)]
            items: Option<Vec<Object>>,
        }
        let query = selector.map_or_else(String::new, |selector| {
            format!("?labelSelector={}", encode(selector))
        });
        let path = format!("{}{query}", resource.path(namespace));
        let action = format!("list {}", resource.plural);
        let answer = self
            .send(&action, Patience::Read, || {
                request(Method::GET, &path, JSON, Vec::new())
            })
            .await;
        Ok(not_found_is_none::<List>(answer)?.map(|list| list.items.unwrap_or_default()))
    }

    /// Returns what the server says of its version, e.g. `v1.36.3`.
    pub(super) async fn server_version(&self) -> Result<String> {
        let request = || request(Method::GET, "/version", JSON, Vec::new());
        let version: Value = self
            .send(
                "ask the API server for its version",
                Patience::Read,
                request,
            )
            .await?;
        Ok(version["gitVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    /// Creates an object, without persisting it when `dry_run` is set.
    pub(super) async fn create(
        &self,
        object: &Object,
        dry_run: bool,
        patience: Patience,
    ) -> Result<Object> {
        let resource = self.resource_of(object).await?;
        let query = if dry_run { "&dryRun=All" } else { "" };
        let path = format!(
            "{}?fieldManager=capictl{query}",
            resource.path(Some(object.namespace()))
        );
        // A cluster-scoped object whose manifest names a namespace: clusterctl drops it too.
        let mut body = json!(object);
        if !resource.namespaced
            && let Some(metadata) = body["metadata"].as_object_mut()
        {
            metadata.remove("namespace");
        }
        let action = if dry_run {
            format!("check {object}")
        } else {
            format!("create {object}")
        };
        self.send(&action, patience, || {
            request(Method::POST, &path, JSON, body.to_string().into_bytes())
        })
        .await
    }

    /// Merges an object into the one that is there.
    pub(super) async fn merge(&self, object: &Object, patience: Patience) -> Result<Object> {
        let resource = self.resource_of(object).await?;
        let path = format!(
            "{}/{}?fieldManager=capictl",
            resource.path(Some(object.namespace())),
            object.name()
        );
        let mut body = json!(object);
        if !resource.namespaced
            && let Some(metadata) = body["metadata"].as_object_mut()
        {
            metadata.remove("namespace");
        }
        let action = format!("update {object}");
        self.send(&action, patience, || {
            request(
                Method::PATCH,
                &path,
                MERGE_PATCH,
                body.to_string().into_bytes(),
            )
        })
        .await
    }

    /// Sends a request, again and again while that may help; `make` makes it anew each time.
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        action: &str,
        patience: Patience,
        make: impl Fn() -> Request<Vec<u8>>,
    ) -> Result<T> {
        let attempt = || async {
            let answer =
                tokio::time::timeout(ANSWER_TIMEOUT, self.client.request::<T>(make())).await;
            match answer {
                Ok(Ok(value)) => Ok(value),
                Ok(Err(error)) => Err(Cause::of(error, &self.server)),
                Err(_) => Err(Cause::Timeout {
                    server: self.server.clone(),
                    after: ANSWER_TIMEOUT,
                }),
            }
        };
        attempt
            .retry(patience.backoff())
            .when(Cause::is_transient)
            .notify(
                |cause, pause| tracing::debug!(%cause, ?pause, "could not {action}, trying again"),
            )
            .await
            .map_err(|cause| Error::Request {
                action: action.to_owned(),
                server: self.server.clone(),
                cause,
            })
    }
}

fn request(method: Method, path: &str, content_type: &str, body: Vec<u8>) -> Request<Vec<u8>> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(CONTENT_TYPE, content_type);
    request
        .body(body)
        .expect("the path is made of names that were checked")
}

fn not_found_is_none<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(Error::Request {
            cause: Cause::Api { code: 404, .. },
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Percent-encodes a label selector for a query.
fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
