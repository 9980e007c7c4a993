//! Plays cert-manager's controller: each Certificate gets its Secret, as from a self-signed issuer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use anyhow::{Context, Result};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt as _;
use kube::api::{Api, DynamicObject, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;

use super::{Node, Round, is_passing, stores::certificate_resource};
use crate::support::authority;

/// The annotation by which webhooks and definitions ask for the CA of a Certificate, `NAMESPACE/NAME`.
pub const INJECT: &str = "cert-manager.io/inject-ca-from";

/// By the UID of a Certificate, what was issued for it.
pub type Authorities = Mutex<HashMap<String, Issued>>;

#[derive(Clone)]
pub struct Issued {
    /// `NAMESPACE/NAME` of the Certificate.
    name: String,
    authority: ByteString,
}

impl Node {
    pub async fn issue_certificates(&self) -> Result<Round> {
        let certificates = self.stores.certificates.state();
        let known = |uid: &str| {
            certificates
                .iter()
                .any(|it| it.metadata.uid.as_deref() == Some(uid))
        };
        self.authorities.lock().unwrap().retain(|uid, _| known(uid));
        if !self.is_available("cert-manager") {
            return Ok(Round::Settled);
        }
        let mut round = Round::Settled;
        for certificate in &certificates {
            let uid = certificate.uid().unwrap_or_default();
            if self.authorities.lock().unwrap().contains_key(&uid) {
                continue;
            }
            match self.issue(certificate).await {
                Ok(issued) => {
                    self.note(format_args!("issued certificate {}", issued.name));
                    self.authorities.lock().unwrap().insert(uid, issued);
                    self.stores.touch(); // the webhooks may wait for it
                }
                Err(error) if is_passing(&error) => round = Round::Pending,
                Err(error) => return Err(error),
            }
        }
        Ok(round)
    }

    /// Returns the CA that an object asks for by its annotation, unless cert-manager's injector is out of order.
    pub fn wanted_authority(&self, object: &ObjectMeta) -> Option<ByteString> {
        let wanted = object.annotations.as_ref()?.get(INJECT)?;
        if !self.is_available("cert-manager-cainjector") {
            return None;
        }
        let authorities = self.authorities.lock().unwrap();
        let issued = authorities.values().find(|issued| issued.name == *wanted)?;
        Some(issued.authority.clone())
    }

    async fn issue(&self, certificate: &DynamicObject) -> Result<Issued> {
        let namespace = certificate.namespace().unwrap_or_default();
        let name = certificate.name_any();
        let secret = self.ensure_secret(&namespace, certificate).await?;
        let data = secret.data.unwrap_or_default();
        let authority = data.get("ca.crt").context("the Secret has no `ca.crt`")?;

        let status = json!({"status": {"conditions": [{
            "type": "Ready", "status": "True", "reason": "Ready",
            "message": "Certificate is up to date and has not expired",
            "lastTransitionTime": Timestamp::now(),
            "observedGeneration": certificate.metadata.generation,
        }]}});
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &namespace, &certificate_resource());
        let params = PatchParams::default();
        api.patch_status(&name, &params, &Patch::Merge(&status))
            .await?;
        Ok(Issued {
            name: format!("{namespace}/{name}"),
            authority: authority.clone(),
        })
    }

    async fn ensure_secret(&self, namespace: &str, certificate: &DynamicObject) -> Result<Secret> {
        let spec = &certificate.data["spec"];
        let name = spec["secretName"]
            .as_str()
            .context("no `spec.secretName`")?;
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        if let Some(secret) = secrets.get_opt(name).await? {
            return Ok(secret);
        }
        let hosts = spec["dnsNames"].as_array().into_iter().flatten();
        let hosts: Vec<&str> = hosts.filter_map(|host| host.as_str()).collect();
        let common_name = spec["commonName"].as_str().unwrap_or(name);
        let identity = authority::self_signed(common_name, &hosts)?;
        let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
        let secret = Secret {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                annotations: Some(BTreeMap::from([(
                    "cert-manager.io/certificate-name".to_owned(),
                    certificate.name_any(),
                )])),
                ..ObjectMeta::default()
            },
            type_: Some("kubernetes.io/tls".into()),
            data: Some(BTreeMap::from([
                ("tls.crt".to_owned(), bytes(&identity.certificate)),
                ("tls.key".to_owned(), bytes(&identity.key)),
                ("ca.crt".to_owned(), bytes(&identity.certificate)),
            ])),
            ..Secret::default()
        };
        Ok(secrets.create(&PostParams::default(), &secret).await?)
    }
}
