//! One request to the API server: send, understand the answer, repeat where that makes sense.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use http::{Method, Request, header::CONTENT_TYPE};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Cause, Cluster, Error, Resource, Result};
use crate::model::Object;
use crate::ui::Ui;

/// What a client sends to be answered in JSON.
pub(super) const JSON: &str = "application/json";
/// A patch that replaces lists as a whole, the way clusterctl updates objects.
pub(super) const MERGE_PATCH: &str = "application/merge-patch+json";
/// How long to wait before an object is read again that somebody else has changed.
const CONFLICT_PAUSE: Duration = Duration::from_millis(200);
/// How long a write may be tried in silence.
const SILENCE: Duration = Duration::from_secs(5);

/// How long a request is repeated that may succeed in a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// Once, for probes that have a loop of their own.
    Once,
    /// For a reader, who wants to know soon that nobody is there.
    Read,
    /// For what was begun and should be finished: webhooks take their time to come up.
    Write,
}

impl Patience {
    /// Returns how long one answer may take. A webhook may take 30 seconds of a write.
    fn answer(self) -> Duration {
        Duration::from_secs(if self == Self::Read { 15 } else { 45 })
    }

    /// Returns after how long no further attempt begins.
    fn limit(self) -> Duration {
        match self {
            Self::Once => Duration::ZERO,
            Self::Read => Duration::from_secs(10),
            Self::Write => Duration::from_secs(150),
        }
    }
}

/// What becomes of an object that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The new one is merged into it: what only the old one has stays. clusterctl does so with providers.
    Merge,
    /// The new one takes its place. clusterctl does so with cert-manager.
    Replace,
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
        let path = format!("{}/{}", resource.path(namespace), encode(name));
        let action = format!("read {} `{name}`", resource.plural);
        self.get_path(&action, &path).await
    }

    /// Returns the objects of a kind, in one namespace or all, or `None` when the server serves no such kind.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> Result<Option<Vec<Object>>> {
        #[derive(serde::Deserialize)]
        struct List {
            #[serde(default)]
            items: Option<Vec<Object>>,
        }
        let action = format!("list {}", resource.plural);
        let list: Option<List> = self.get_path(&action, &resource.path(namespace)).await?;
        Ok(list.map(|list| list.items.unwrap_or_default()))
    }

    /// Returns what the server says of its version, e.g. `v1.36.3`.
    pub(super) async fn server_version(&self) -> Result<String> {
        let make = || request(Method::GET, "/version", JSON, Vec::new());
        let version: Value = self
            .send("ask the API server for its version", Patience::Read, make)
            .await?;
        Ok(version["gitVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    /// Returns the answer to a GET of any path, `None` for 404.
    pub(super) async fn get_path<T: DeserializeOwned>(
        &self,
        action: &str,
        path: &str,
    ) -> Result<Option<T>> {
        not_found_is_none(
            self.send(action, Patience::Read, || {
                request(Method::GET, path, JSON, Vec::new())
            })
            .await,
        )
    }

    /// Creates an object.
    pub(super) async fn create(&self, object: &Object) -> Result<Object> {
        let action = format!("create {object}");
        self.post(&action, object, "", Patience::Write).await
    }

    /// Asks the server whether it would create an object; nothing is kept.
    pub(super) async fn try_create(&self, object: &Object) -> Result<Object> {
        let action = format!("check {object}");
        self.post(&action, object, "&dryRun=All", Patience::Once)
            .await
    }

    async fn post(
        &self,
        action: &str,
        object: &Object,
        query: &str,
        patience: Patience,
    ) -> Result<Object> {
        let resource = self.resource_of(object).await?;
        let path = resource.path(Some(object.namespace()));
        let path = format!("{path}?fieldManager=capictl{query}");
        let body = body(object, &resource);
        let make = || request(Method::POST, &path, JSON, body.clone());
        self.send(action, patience, make).await
    }

    /// Brings the object that is there up to date; `None` when it is there no more.
    pub(super) async fn update(
        &self,
        object: &Object,
        existing: Existing,
    ) -> Result<Option<Object>> {
        let resource = self.resource_of(object).await?;
        let path = format!(
            "{}/{}",
            resource.path(Some(object.namespace())),
            encode(object.name())
        );
        if existing == Existing::Replace {
            return self.replace(object, &resource, &path).await;
        }
        let body = body(object, &resource);
        self.write_update(object, Method::PATCH, &path, body).await
    }

    /// Puts an object in the place of the one that is there. What is read before is out of date when somebody else writes,
    /// and when it was this very request whose answer got lost: then it is read again.
    async fn replace(
        &self,
        object: &Object,
        resource: &Resource,
        path: &str,
    ) -> Result<Option<Object>> {
        let action = format!("read {object}");
        let started = Instant::now();
        loop {
            let Some(there) = self.get_path::<Object>(&action, path).await? else {
                return Ok(None);
            };
            let mut object = object.clone();
            object.set_resource_version(there.text("/metadata/resourceVersion"));
            let body = body(&object, resource);
            match self.write_update(&object, Method::PUT, path, body).await {
                Err(error)
                    if error.is_conflict() && started.elapsed() < Patience::Write.limit() =>
                {
                    tokio::time::sleep(CONFLICT_PAUSE).await;
                }
                result => return result,
            }
        }
    }

    async fn write_update(
        &self,
        object: &Object,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<Option<Object>> {
        let content_type = match method {
            Method::PATCH => MERGE_PATCH,
            _ => JSON,
        };
        let path = format!("{path}?fieldManager=capictl");
        let make = || request(method.clone(), &path, content_type, body.clone());
        let action = format!("update {object}");
        not_found_is_none(self.send(&action, Patience::Write, make).await)
    }

    /// Sends a request, again and again while that may help; `make` makes it anew each time.
    async fn send<T: DeserializeOwned>(
        &self,
        action: &str,
        patience: Patience,
        make: impl Fn() -> Request<Vec<u8>>,
    ) -> Result<T> {
        let started = Instant::now();
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(200))
            .with_max_delay(Duration::from_secs(5))
            .with_factor(1.6)
            .with_jitter()
            .without_max_times()
            .build();
        loop {
            let request = make();
            let is_write = request.method() != Method::GET;
            let is_for_one_version = request.method() == Method::PUT;
            let cause =
                match tokio::time::timeout(patience.answer(), self.client.request::<T>(request))
                    .await
                {
                    Ok(Ok(value)) => return Ok(value),
                    Ok(Err(error)) => Cause::of(error, &self.server),
                    Err(_) => Cause::Timeout {
                        server: self.server.clone(),
                        after: patience.answer(),
                    },
                };
            let pause = pauses.next().unwrap_or_default();
            let tried = started.elapsed();
            let is_out_of_date = is_for_one_version && cause.is_conflict();
            let may_help = cause.is_transient()
                || (patience == Patience::Write
                    && cause.is_transient_for_writes()
                    && !is_out_of_date);
            if !may_help || tried + pause > patience.limit() {
                return Err(Error::Request {
                    action: action.to_owned(),
                    server: self.server.clone(),
                    tried,
                    cause,
                });
            }
            tracing::debug!(%cause, ?pause, "could not {action}, trying again");
            if is_write && tried > SILENCE && self.resources.is_news(&cause) {
                Ui.status(format!("Waiting to {action}: {cause}"));
            }
            tokio::time::sleep(pause).await;
        }
    }
}

pub(super) fn request(
    method: Method,
    path: &str,
    content_type: &str,
    body: Vec<u8>,
) -> Request<Vec<u8>> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(CONTENT_TYPE, content_type);
    request
        .body(body)
        .expect("names in the path are percent-encoded")
}

/// The object as it is sent. A cluster-scoped object may name a namespace in its manifest, where it has no meaning.
pub(super) fn body(object: &Object, resource: &Resource) -> Vec<u8> {
    let mut body = json!(object);
    if !resource.namespaced
        && let Some(metadata) = body["metadata"].as_object_mut()
    {
        metadata.remove("namespace");
    }
    body.to_string().into_bytes()
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

/// Percent-encodes a segment of a path: whatever a name is, it stays one segment.
pub(super) fn encode(segment: &str) -> String {
    segment
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b':' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_segment() {
        assert_eq!(encode("system:node-1.a"), "system:node-1.a");
        assert_eq!(encode("../my map?x"), "..%2Fmy%20map%3Fx");
    }
}
