//! Plays cert-manager's injector for webhooks and the conversion of CRDs, and takes those out of the way that nobody
//! answers.
//!
//! A webhook without a process behind it makes each write to its kinds fail, and clients repeat failed writes with
//! growing pauses. A conversion without one is worse: the API server converts each object into each served version for
//! its caches, and would try for ever.

use std::fmt::Debug;
use std::sync::Arc;

use anyhow::Result;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ObjectMeta, Patch, PatchParams};
use kube::runtime::reflector::ObjectRef;
use kube::{Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Node, Round, is_passing};

impl Node {
    pub async fn connect_webhooks(&self) -> Result<Round> {
        let mut round = Round::Settled;
        for configuration in self.stores.validating.state() {
            let hooks = configuration.webhooks.iter().flatten();
            let hooks: Vec<_> = hooks.map(|hook| &hook.client_config).collect();
            let next = self
                .connect::<ValidatingWebhookConfiguration>(&configuration.metadata, &hooks)
                .await?;
            round = round.and(next);
        }
        for configuration in self.stores.mutating.state() {
            let hooks = configuration.webhooks.iter().flatten();
            let hooks: Vec<_> = hooks.map(|hook| &hook.client_config).collect();
            let next = self
                .connect::<MutatingWebhookConfiguration>(&configuration.metadata, &hooks)
                .await?;
            round = round.and(next);
        }
        Ok(round)
    }

    async fn connect<K>(
        &self,
        metadata: &ObjectMeta,
        hooks: &[&WebhookClientConfig],
    ) -> Result<Round>
    where
        K: Resource<DynamicType = (), Scope = kube::core::ClusterResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let services: Vec<_> = hooks
            .iter()
            .filter_map(|hook| hook.service.as_ref())
            .collect();
        let mut backends = Vec::new();
        for service in &services {
            let Some(backend) = self.backend(&service.namespace, &service.name) else {
                return Ok(Round::Settled); // its Service or Deployment is still to come, by an event
            };
            backends.push(backend);
        }
        if backends.is_empty() {
            return Ok(Round::Settled);
        }
        let emptied = backends
            .iter()
            .any(|backend| self.manager_of(backend).is_none());
        let patch = if emptied {
            json!([{"op": "replace", "path": "/webhooks", "value": []}])
        } else {
            let Some(authority) = self.wanted_authority(metadata) else {
                return Ok(Round::Settled);
            };
            let missing = |hook: &WebhookClientConfig| hook.ca_bundle.as_ref() != Some(&authority);
            let missing = hooks.iter().enumerate().filter(|(_, hook)| missing(hook));
            let changes = missing.map(|(index, _)| {
                json!({
                    "op": "add",
                    "path": format!("/webhooks/{index}/clientConfig/caBundle"),
                    "value": authority,
                })
            });
            Value::Array(changes.collect())
        };
        if patch == json!([]) {
            return Ok(Round::Settled);
        }
        let name = metadata.name.as_deref().unwrap_or_default();
        let done = if emptied { "emptied" } else { "connected" };
        self.note(format_args!("{done} {} {name}", K::kind(&())));
        let api: Api<K> = Api::all(self.client.clone());
        let patch = Patch::Json::<()>(serde_json::from_value(patch)?);
        settle(
            api.patch(name, &PatchParams::default(), &patch)
                .await
                .map(drop),
        )
    }

    /// Sets the conversion of CRDs that ask for a CA: with it if the manager behind runs, else to `None`, with which
    /// an old version shows the new version's fields.
    pub async fn connect_definitions(&self) -> Result<Round> {
        let mut round = Round::Settled;
        for definition in self.stores.definitions.state() {
            let Some(patch) = self.plan_conversion(&definition.metadata) else {
                continue;
            };
            let uid = definition.uid().unwrap_or_default();
            let version = definition.resource_version();
            if self.connected.lock().unwrap().get(&uid) == version.as_ref() {
                continue;
            }
            let api: Api<CustomResourceDefinition> = Api::all(self.client.clone());
            let patch = Patch::Json::<()>(serde_json::from_value(patch)?);
            let params = PatchParams::default();
            let patched = api
                .patch_metadata(&definition.name_any(), &params, &patch)
                .await;
            let version = match patched {
                Ok(patched) => patched.resource_version(),
                Err(kube::Error::Api(status)) if status.is_invalid() => version, // it has no conversion webhook
                Err(error) => {
                    round = round.and(settle(Err(error))?);
                    continue;
                }
            };
            self.connected
                .lock()
                .unwrap()
                .insert(uid, version.unwrap_or_default());
        }
        Ok(round)
    }

    fn plan_conversion(&self, metadata: &ObjectMeta) -> Option<Value> {
        let wanted = metadata
            .annotations
            .as_ref()?
            .get(super::certificates::INJECT)?;
        let namespace = wanted.split('/').next();
        let deployments = self.stores.deployments.state();
        let mut backends = deployments
            .iter()
            .filter(|deployment| deployment.metadata.namespace.as_deref() == namespace)
            .peekable();
        backends.peek()?;
        Some(
            if backends.any(|backend| self.manager_of(backend).is_some()) {
                let authority = self.wanted_authority(metadata)?;
                json!([{"op": "add", "path": "/spec/conversion/webhook/clientConfig/caBundle", "value": authority}])
            } else {
                json!([{"op": "add", "path": "/spec/conversion", "value": {"strategy": "None"}}])
            },
        )
    }

    /// Returns the Deployment whose Pods a Service selects.
    pub fn backend(&self, namespace: &str, service: &str) -> Option<Arc<Deployment>> {
        let service = self
            .stores
            .services
            .get(&ObjectRef::<Service>::new(service).within(namespace))?;
        let selector = service.spec.as_ref()?.selector.as_ref()?;
        self.stores.deployments.find(|deployment| {
            let template = deployment.spec.template.metadata.as_ref();
            let labels = template.and_then(|template| template.labels.as_ref());
            deployment.metadata.namespace.as_deref() == Some(namespace)
                && labels.is_some_and(|labels| {
                    selector
                        .iter()
                        .all(|(key, value)| labels.get(key) == Some(value))
                })
        })
    }
}

fn settle(result: kube::Result<()>) -> Result<Round> {
    match result.map_err(anyhow::Error::from) {
        Ok(()) => Ok(Round::Settled),
        Err(error) if is_passing(&error) => Ok(Round::Pending),
        Err(error) => Err(error),
    }
}
