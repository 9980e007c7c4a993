//! Local copies of the resources that the stand-in acts on, kept by watches.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, PartialObjectMeta};
use kube::runtime::reflector::{Store, store::Writer};
use kube::runtime::watcher;
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

/// The copies, and a signal after each change of any of them.
pub struct Stores {
    pub deployments: Store<Deployment>,
    pub services: Store<Service>,
    pub certificates: Store<DynamicObject>,
    pub validating: Store<ValidatingWebhookConfiguration>,
    pub mutating: Store<MutatingWebhookConfiguration>,
    /// Only their metadata: the schemas are megabytes.
    pub definitions: Store<PartialObjectMeta<CustomResourceDefinition>>,
    changed: Arc<watch::Sender<()>>,
}

/// cert-manager's Certificate.
pub fn certificate_resource() -> ApiResource {
    ApiResource {
        group: "cert-manager.io".into(),
        version: "v1".into(),
        api_version: "cert-manager.io/v1".into(),
        kind: "Certificate".into(),
        plural: "certificates".into(),
    }
}

impl Stores {
    /// Starts the watches, as tasks of the current runtime.
    pub fn follow(client: &Client) -> Self {
        let changed = Arc::new(watch::Sender::new(()));
        Self {
            deployments: follow(Api::all(client.clone()), (), &changed),
            services: follow(Api::all(client.clone()), (), &changed),
            certificates: follow(
                Api::all_with(client.clone(), &certificate_resource()),
                certificate_resource(),
                &changed,
            ),
            validating: follow(Api::all(client.clone()), (), &changed),
            mutating: follow(Api::all(client.clone()), (), &changed),
            definitions: follow(Api::all(client.clone()), (), &changed),
            changed,
        }
    }

    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Signals a change that no watch tells.
    pub fn touch(&self) {
        self.changed.send_replace(());
    }
}

fn follow<K>(api: Api<K>, kind: K::DynamicType, changed: &Arc<watch::Sender<()>>) -> Store<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone + Send + Sync,
{
    let mut writer = Writer::new(kind);
    let store = writer.as_reader();
    let changed = changed.clone();
    tokio::spawn(async move {
        let mut events = watcher(api, watcher::Config::default()).boxed();
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    writer.apply_watcher_event(&event);
                    changed.send_replace(());
                }
                // The kind may not exist yet, as with Certificates. The usual growing pauses would be too slow here.
                Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    });
    store
}
