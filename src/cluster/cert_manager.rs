//! cert-manager, which issues the certificates of the providers' webhooks.
//!
//! Whether it works is asked by a dry run: an Issuer and a Certificate go through its CRDs and webhooks without being
//! kept. clusterctl creates and deletes real ones in a namespace of their own; the answer is the same.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::request::Patience;
use super::{Cause, Cluster, Error, Result, wait};
use crate::model::Object;
use crate::ui::Ui;

/// Namespace that cert-manager's release installs into.
pub const NAMESPACE: &str = "cert-manager";
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
    /// Tells whether cert-manager is there and takes an Issuer and a Certificate.
    ///
    /// # Errors
    /// Only those that have nothing to do with cert-manager: the server cannot be reached, or the user may not do it.
    pub async fn cert_manager_problem(&self) -> Result<Option<String>> {
        for object in test_resources() {
            match self.create(&object, true, Patience::None).await {
                Ok(_) => {}
                Err(Error::Request {
                    cause: Cause::Api { code: 409, .. },
                    ..
                }) => {} // somebody has one of that name
                Err(Error::UnknownKind { .. }) => {
                    return Ok(Some("it is not installed".to_owned()));
                }
                Err(Error::Request {
                    cause: cause @ Cause::Api { .. },
                    ..
                }) => return Ok(Some(cause.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Waits until cert-manager takes an Issuer and a Certificate.
    ///
    /// # Errors
    /// It does not within `timeout`; the error says what was the matter last.
    pub async fn wait_for_cert_manager(&self, timeout: Duration, ui: &Ui) -> Result<()> {
        let deadline = Instant::now() + timeout;
        let mut progress = None;
        loop {
            let Some(problem) = self.cert_manager_problem().await? else {
                return Ok(());
            };
            let state = match wait::explain_namespace(self, NAMESPACE)
                .await
                .ok()
                .flatten()
            {
                Some(pods) => format!("{problem}; {pods}"),
                None => problem,
            };
            if Instant::now() > deadline {
                return Err(Error::NotReady {
                    what: "cert-manager is not available".to_owned(),
                    after: timeout,
                    state,
                    hints: vec![
                        "look at it with `kubectl get pods --namespace cert-manager`, then run the command again".to_owned(),
                        "a longer time can be set as `timeout` under `cert-manager` in the configuration file".to_owned(),
                    ],
                });
            }
            let text = format!("Waiting for cert-manager to be available... ({state})");
            match &mut progress {
                None => progress = Some(ui.progress(text)),
                Some(progress) => progress.set(text),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
