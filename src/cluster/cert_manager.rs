//! cert-manager, which issues the certificates of the providers' webhooks.
//!
//! Whether it works is asked by a dry run: an Issuer and a Certificate go through its CRDs and webhooks without being
//! kept. clusterctl creates and deletes real ones in a namespace of their own; the answer is the same.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{Cause, Cluster, Error, Resource, Result, wait};
use crate::model::{Object, labels};
use crate::ui::Ui;

/// Namespace that cert-manager's release installs into.
pub const NAMESPACE: &str = "cert-manager";
/// API group of cert-manager's kinds.
pub const GROUP: &str = "cert-manager.io";
/// Pause between two looks at an answer that is awaited.
const PAUSE: Duration = Duration::from_millis(250);

/// An Issuer and a Certificate; `default` is there in every cluster.
fn test_resources() -> [Object; 2] {
    let of = |value| serde_json::from_value(value).expect("an object is a map");
    [
        of(json!({
            "apiVersion": "cert-manager.io/v1", "kind": "Issuer",
            "metadata": {"name": "capictl-test", "namespace": "default"},
            "spec": {"selfSigned": {}},
        })),
        of(json!({
            "apiVersion": "cert-manager.io/v1", "kind": "Certificate",
            "metadata": {"name": "capictl-test", "namespace": "default"},
            "spec": {
                "dnsNames": ["example.com"],
                "secretName": "capictl-test",
                "issuerRef": {"name": "capictl-test"},
            },
        })),
    ]
}

impl Cluster {
    /// Tells whether cert-manager is there and takes an Issuer and a Certificate; if not, why.
    ///
    /// # Errors
    /// Only those that have nothing to do with cert-manager: the server cannot be reached, or the user may not do it.
    pub async fn cert_manager_problem(&self) -> Result<Option<String>> {
        for object in test_resources() {
            match self.try_create(&object).await {
                Ok(_) => {}
                Err(error) if error.is_already_exists() => {} // somebody has one of that name
                Err(Error::UnknownKind { .. }) => {
                    return Ok(Some("it is not installed".to_owned()));
                }
                // The server waits for a webhook that does not answer.
                Err(Error::Request {
                    cause: cause @ (Cause::Api { .. } | Cause::Timeout { .. }),
                    ..
                }) => {
                    return Ok(Some(cause.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Tells whether an installation of cert-manager was interrupted: by its label it is capictl's or clusterctl's, and it has
    /// kinds but no webhook. The webhooks come last, and without them the API server takes every Issuer and Certificate.
    ///
    /// # Errors
    /// The server cannot be asked.
    pub async fn is_cert_manager_cut_short(&self) -> Result<bool> {
        let kinds = Resource::known(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            false,
        );
        let webhooks = Resource::known(
            "admissionregistration.k8s.io",
            "v1",
            "validatingwebhookconfigurations",
            false,
        );
        let (kind, webhooks) = tokio::try_join!(
            self.get(&kinds, None, "certificates.cert-manager.io"),
            self.list(&webhooks, None),
        )?;
        let is_ours =
            |object: &Object| object.label(labels::CORE) == Some(labels::CORE_CERT_MANAGER);
        let has_webhook = webhooks.unwrap_or_default().iter().any(is_ours);
        Ok(kind.as_ref().is_some_and(is_ours) && !has_webhook)
    }

    /// Waits until cert-manager takes an Issuer and a Certificate.
    ///
    /// # Errors
    /// It does not within `timeout`; the error says what was the matter last.
    pub async fn wait_for_cert_manager(&self, timeout: Duration) -> Result<()> {
        let started = Instant::now();
        let mut progress = None;
        loop {
            let problem = match self.cert_manager_problem().await {
                Ok(None) => return Ok(()),
                Ok(Some(problem)) => problem,
                Err(Error::Request {
                    cause: cause @ Cause::Unreachable { .. },
                    ..
                }) => cause.to_string(),
                Err(error) => return Err(error),
            };
            let mut unpullable = Vec::new();
            let state = match wait::explain_namespace(self, NAMESPACE)
                .await
                .ok()
                .flatten()
            {
                Some(pods) => {
                    unpullable = pods.unpullable;
                    format!("{problem}; {}", pods.text)
                }
                None => problem,
            };
            if started.elapsed() > timeout {
                return Err(not_available(timeout, state, unpullable));
            }
            Ui.show_progress(
                &mut progress,
                format!("Waiting for cert-manager to be available... ({state})"),
            );
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn not_available(after: Duration, state: String, unpullable: Vec<String>) -> Error {
    Error::NotReady {
        what: "cert-manager is not available".to_owned(),
        after,
        state,
        unpullable,
        hints: vec![
            "look at it with `kubectl get pods --namespace cert-manager`, then run the command again".to_owned(),
            "a longer time can be set as `timeout` under `cert-manager` in the configuration file".to_owned(),
        ],
    }
}
