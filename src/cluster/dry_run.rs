//! Asks the API server whether it would take an object, without changing anything.
//!
//! The request is the one that `kubectl apply` would send: a creation, or a merge patch where the object is there, both
//! with strict validation of the fields. So what is accepted here is accepted then, unless something changes meanwhile.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use http::{Method, Request};
use kube::core::Status;
use serde_json::Value;

use super::error::one_line;
use super::request::{JSON, MERGE_PATCH, body, encode, request};
use super::{Cause, Cluster, Error, Resource, Result};
use crate::model::Object;

/// Nothing is kept, and fields that the kind does not have are refused instead of dropped.
const QUERY: &str = "fieldManager=capictl&dryRun=All&fieldValidation=Strict";
/// How long an answer may take; a webhook may take 30 seconds of it.
const ANSWER: Duration = Duration::from_secs(45);

/// What the server adds to other causes, and that helps nobody.
const UNFINISHED: &str = "some validation rules were not checked";

/// What the API server says of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It would be created or changed.
    Accepted,
    /// The server cannot tell.
    Unchecked(Obstacle),
    /// The user may not do this; the server's sentence.
    Forbidden(String),
    /// It would be refused.
    Refused(Vec<Problem>),
}

/// Why an object cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// No such kind is served.
    #[error("its kind is not installed: the API server serves no `{kind}` in `{api_version}`")]
    Kind {
        /// The kind.
        kind: String,
        /// Its group and version.
        api_version: String,
    },
    /// The object's namespace is not there.
    #[error("the namespace `{0}` does not exist")]
    Namespace(String),
    /// A webhook that has a say in it takes no part in dry runs.
    #[error("a webhook takes no part in dry runs: {0}")]
    Webhook(String),
}

/// One reason of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field that it is about, as in `spec.containers[0].image`.
    pub field: Option<String>,
    /// The server's sentence; it may quote the value of the field.
    pub message: String,
}

impl Cluster {
    /// Asks the API server what would become of an object.
    ///
    /// # Errors
    /// There is no answer, or the credentials are refused.
    pub async fn dry_run(&self, object: &Object) -> Result<Verdict> {
        let resource = match self.resource_of(object).await {
            Err(Error::UnknownKind { kind, api_version }) => {
                return Ok(Verdict::Unchecked(Obstacle::Kind { kind, api_version }));
            }
            resource => resource?,
        };
        let body = body(object, &resource);
        let all = resource.path(Some(object.namespace()));
        let create = || request(Method::POST, &format!("{all}?{QUERY}"), JSON, body.clone());
        let Err(refusal) = self.ask(object, create).await? else {
            return Ok(Verdict::Accepted);
        };
        if refusal.reason != "AlreadyExists" {
            return Ok(verdict(object, &resource, *refusal));
        }
        let path = format!("{all}/{}?{QUERY}", encode(object.name()));
        let patch = || request(Method::PATCH, &path, MERGE_PATCH, body.clone());
        Ok(match self.ask(object, patch).await? {
            Ok(()) => Verdict::Accepted,
            Err(refusal) => verdict(object, &resource, *refusal),
        })
    }

    /// Sends a request, again if that may help soon, and returns what the server has against it.
    async fn ask(
        &self,
        object: &Object,
        make: impl Fn() -> Request<Vec<u8>>,
    ) -> Result<Result<(), Box<Status>>> {
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(200))
            .with_max_times(5)
            .with_jitter()
            .build();
        loop {
            let sent = self.client.request::<Value>(make());
            let (refusal, cause) = match tokio::time::timeout(ANSWER, sent).await {
                Ok(Ok(_)) => return Ok(Ok(())),
                Ok(Err(kube::Error::Api(status))) => {
                    let cause = Cause::of(kube::Error::Api(status.clone()), &self.server);
                    (Some(status), cause)
                }
                Ok(Err(error)) => (None, Cause::of(error, &self.server)),
                Err(_) => (None, self.silence()),
            };
            if cause.is_transient()
                && let Some(pause) = pauses.next()
            {
                tokio::time::sleep(pause).await;
                continue;
            }
            return match (refusal, cause) {
                (Some(status), Cause::Api { .. } | Cause::Forbidden(_)) => Ok(Err(status)),
                (_, cause) => Err(Error::Request {
                    action: format!("check {object}"),
                    server: self.server.clone(),
                    tried: Duration::ZERO,
                    cause,
                }),
            };
        }
    }

    fn silence(&self) -> Cause {
        Cause::Timeout {
            server: self.server.clone(),
            after: ANSWER,
        }
    }
}

fn verdict(object: &Object, resource: &Resource, status: Status) -> Verdict {
    let message = status.message.as_str();
    let about = status.details.as_ref().map(|details| details.kind.as_str());
    if status.code == 404 && about == Some("namespaces") {
        return Verdict::Unchecked(Obstacle::Namespace(object.namespace().to_owned()));
    }
    if status.code == 404 && resource.namespaced {
        // The kind has gone since it was looked up.
        return Verdict::Unchecked(Obstacle::Kind {
            kind: object.kind().to_owned(),
            api_version: object.api_version().to_owned(),
        });
    }
    if message.contains("does not support dry run") {
        return Verdict::Unchecked(Obstacle::Webhook(one_line(message)));
    }
    // What admission forbids has the same code, but no user in it.
    if status.code == 403 && message.contains("User \"") && message.contains("\" cannot ") {
        return Verdict::Forbidden(one_line(message));
    }
    Verdict::Refused(problems(&status))
}

fn problems(status: &Status) -> Vec<Problem> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let told: Vec<Problem> = causes
        .filter(|cause| !cause.message.is_empty() && !cause.message.contains(UNFINISHED))
        .map(|cause| Problem {
            field: Some(cause.field.clone())
                .filter(|field| !matches!(field.as_str(), "" | "<nil>")),
            message: cause.message.clone(),
        })
        .collect();
    if !told.is_empty() {
        return told;
    }
    if let Some((_, faults)) = status.message.split_once("strict decoding error: ") {
        return faults.split(", ").map(strict_problem).collect();
    }
    vec![Problem {
        field: field_of_type_error(&status.message),
        message: status.message.clone(),
    }]
}

/// Reads `unknown field "spec.x"` and `duplicate field "spec.x"`.
fn strict_problem(fault: &str) -> Problem {
    let quoted = fault
        .split_once('"')
        .and_then(|(_, rest)| rest.split_once('"'));
    Problem {
        field: quoted.map(|(field, _)| field.to_owned()),
        message: fault.to_owned(),
    }
}

/// Reads `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`.
fn field_of_type_error(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("Go struct field ")?;
    let (_, field) = rest.split(' ').next()?.split_once('.')?;
    Some(field.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict_of(status: Value) -> Verdict {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}});
        verdict(
            &serde_json::from_value(object).unwrap(),
            &Resource::known("", "v1", "configmaps", true),
            serde_json::from_value(status).unwrap(),
        )
    }

    fn refusal(status: Value) -> Vec<(Option<String>, String)> {
        match verdict_of(status) {
            Verdict::Refused(problems) => {
                let pairs = problems.into_iter();
                pairs
                    .map(|problem| (problem.field, problem.message))
                    .collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn pair(field: &str, message: &str) -> (Option<String>, String) {
        let field = Some(field.to_owned()).filter(|field| !field.is_empty());
        (field, message.to_owned())
    }

    #[test]
    fn causes_name_their_fields() {
        let causes = json!([
            {"field": "spec.a", "message": "Required value", "reason": "FieldValueRequired"},
            {"field": "<nil>", "message": "Invalid value: \"\"", "reason": "FieldValueInvalid"},
            {"field": "<nil>", "message": "Invalid value: null: some validation rules were not checked because", "reason": "x"},
        ]);
        let status = json!({"code": 422, "reason": "Invalid", "message": "all", "details": {"causes": causes}});
        assert_eq!(
            refusal(status),
            [
                pair("spec.a", "Required value"),
                pair("", "Invalid value: \"\"")
            ]
        );
    }

    #[test]
    fn sentences_name_fields_too() {
        let strict = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: \
                      unknown field \"spec.a\", duplicate field \"spec.b\"";
        assert_eq!(
            refusal(json!({"code": 400, "message": strict})),
            [
                pair("spec.a", "unknown field \"spec.a\""),
                pair("spec.b", "duplicate field \"spec.b\"")
            ]
        );
        let wrong = "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32";
        assert_eq!(
            refusal(json!({"code": 400, "message": wrong})),
            [pair("spec.replicas", wrong)]
        );
        let denied = "admission webhook \"w\" denied the request: no";
        assert_eq!(
            refusal(json!({"code": 403, "message": denied})),
            [pair("", denied)]
        );
    }

    #[test]
    fn what_cannot_be_checked_is_no_refusal() {
        let namespace = json!({"code": 404, "message": "namespaces \"n\" not found", "details": {"kind": "namespaces", "name": "n"}});
        assert_eq!(
            verdict_of(namespace),
            Verdict::Unchecked(Obstacle::Namespace("n".into()))
        );
        let webhook = "admission webhook \"w\" does not support dry run";
        assert_eq!(
            verdict_of(json!({"code": 400, "message": webhook})),
            Verdict::Unchecked(Obstacle::Webhook(webhook.into()))
        );
        let user = "configmaps is forbidden: User \"u\" cannot create resource \"configmaps\"";
        assert_eq!(
            verdict_of(json!({"code": 403, "message": user})),
            Verdict::Forbidden(user.into())
        );
    }
}
