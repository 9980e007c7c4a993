//! MailgunMachines: nobody makes one, and their status says so.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::Action;
use serde_json::json;

use super::api::{Condition, MailgunMachine};
use super::conditions::READY;
use super::reconcile::Error;

/// Says that no machine is made.
///
/// # Errors
/// The API server refuses the status.
pub async fn reconcile(machine: &MailgunMachine, client: kube::Client) -> Result<Action, Error> {
    let conditions = machine
        .status
        .as_ref()
        .map(|status| &status.conditions[..])
        .unwrap_or_default();
    let is_told = conditions.iter().any(|condition| condition.type_ == READY);
    let is_ours = !["cluster.x-k8s.io/managed-by", "cluster.x-k8s.io/paused"]
        .iter()
        .any(|mark| machine.annotations().contains_key(*mark));
    if !is_told && is_ours && machine.metadata.deletion_timestamp.is_none() {
        let condition = Condition {
            type_: READY.to_owned(),
            status: "False".to_owned(),
            severity: Some("Info".to_owned()),
            reason: "NotImplemented".to_owned(),
            message: "the Mailgun provider makes no machines: a person who got the mail may"
                .to_owned(),
            last_transition_time: Time(Timestamp::now()),
            observed_generation: machine.metadata.generation,
        };
        let machines: Api<MailgunMachine> =
            Api::namespaced(client, &machine.namespace().unwrap_or_default());
        let patch = json!({
            "metadata": {"resourceVersion": machine.resource_version()},
            "status": {"conditions": [condition]},
        });
        machines
            .patch_status(
                &machine.name_any(),
                &PatchParams::default(),
                &Patch::Merge(patch),
            )
            .await?;
    }
    Ok(Action::await_change())
}
