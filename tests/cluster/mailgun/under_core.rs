//! The life of a MailgunCluster beside Cluster API's core manager: made, restarted, paused, moved, deleted.

use anyhow::Result;
use kube::ResourceExt as _;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::bed::{self, Bed, NAME, RECIPIENT, REQUEST, condition, until_condition};
use crate::support::mailgun::DOMAIN;
use crate::support::wait;

/// The metric of reconciles that left nothing to do but to look again after hours.
const RECONCILED: &str =
    r#"controller_runtime_reconcile_total{controller="mailguncluster",result="requeue_after"}"#;

/// In the form of the tutorial, or in today's.
fn sample(version: &str) -> (Value, Value) {
    let reference = match version {
        "v1beta1" => json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
            "kind": "MailgunCluster", "name": NAME,
        }),
        _ => json!({
            "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "MailgunCluster", "name": NAME,
        }),
    };
    let (object_version, requester) = match version {
        "v1beta1" => ("v1beta1", DOMAIN),
        _ => ("v1alpha1", "somebody@mail.example.org"),
    };
    let cluster = json!({
        "apiVersion": format!("cluster.x-k8s.io/{version}"), "kind": "Cluster",
        "metadata": {"name": NAME},
        "spec": {
            "clusterNetwork": {"pods": {"cidrBlocks": ["192.168.0.0/16"]}},
            "infrastructureRef": reference,
        },
    });
    let object = json!({
        "apiVersion": format!("infrastructure.cluster.x-k8s.io/{object_version}"),
        "kind": "MailgunCluster", "metadata": {"name": NAME},
        "spec": {"priority": "ExtremelyUrgent", "request": REQUEST, "requester": requester},
    });
    (cluster, object)
}

/// Waits until the core manager says that the infrastructure of a Cluster is there.
async fn until_infrastructure_is_ready(bed: &Bed) -> DynamicObject {
    let provisioned = |cluster: &DynamicObject| {
        let pointer = "/status/initialization/infrastructureProvisioned";
        cluster.data.pointer(pointer) == Some(&json!(true))
            && wait::condition_of(cluster, "InfrastructureReady").as_deref() == Some("True")
    };
    let holds = |cluster: Option<&DynamicObject>| cluster.is_some_and(provisioned);
    let clusters = bed.clusters();
    let found = wait::for_object(&clusters, NAME, "has its infrastructure", holds).await;
    found.expect("it exists")
}

#[tokio::test]
async fn the_samples_in_both_forms_make_the_infrastructure_ready_with_one_mail_each() -> Result<()>
{
    for (version, from) in [
        ("v1beta2", "somebody@mail.example.org"),
        (
            "v1beta1",
            "Cluster API Sandbox Provider <mailgun@mail.example.org>",
        ),
    ] {
        let bed = Bed::new().await?;
        let environment = crate::support::environment::Environment::with_kubeconfig(
            bed.control_plane.kubeconfig(),
        )?;
        let (cluster, object) = sample(version);
        let provider = bed.run().await?;
        // The Cluster first, as in the samples: the core manager waits for what it refers to.
        for (name, object) in [("cluster.yaml", cluster), ("object.yaml", object)] {
            let file = environment.write(name, &object.to_string())?;
            let file = file.display().to_string();
            let arguments = ["apply", "-n", bed.namespace.as_str(), "-f", file.as_str()];
            environment.kubectl(&arguments).await?.success();
        }
        let object = bed.until_sent(NAME).await;
        until_infrastructure_is_ready(&bed).await;
        let mails = bed.mailgun.mails();
        let [mail] = &mails[..] else {
            panic!("{version}: {mails:#?}")
        };
        assert_eq!(mail.token, object.uid());
        assert_eq!(mail.field("from"), from);
        assert_eq!(mail.field("to"), RECIPIENT);
        assert_eq!(
            mail.field("subject"),
            "[ExtremelyUrgent] New Cluster requested"
        );
        let text = format!("Hello! One cluster please.\n\n{REQUEST}\n");
        assert_eq!(mail.field("text"), text);
        let id = format!("<{}>", mail.id);
        assert_eq!(object.status.unwrap().response, Some(id.clone()));
        bed.until_event(NAME, "MessageSent").await;
        // What kubectl keeps of the manifest in an annotation is the user's own.
        bed.patch(
            NAME,
            json!({"metadata": {"annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": null,
            }}}),
        )
        .await?;
        let log = provider.stop(&bed).await?;
        assert!(log.contains(&id), "{log}");
    }
    Ok(())
}

#[tokio::test]
async fn a_restart_and_a_change_of_the_request_send_nothing() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed.run().await?;
    bed.create(NAME).await?;
    let before = bed.until_sent(NAME).await;
    provider.stop(&bed).await?;

    let provider = bed.run().await?;
    provider.until_metric(RECONCILED, 1.0).await;
    bed.patch(NAME, json!({"spec": {"request": "Two whale clusters"}}))
        .await?;
    bed.create("another").await?;
    bed.until_sent("another").await;
    assert_eq!(bed.mailgun.mails().len(), 2);
    let after = bed.objects().get(NAME).await?;
    assert_eq!(after.annotations(), before.annotations());
    assert_eq!(
        after.status.unwrap().response,
        before.status.unwrap().response
    );
    provider.stop(&bed).await?;
    Ok(())
}

#[tokio::test]
async fn a_deletion_sends_nothing_and_is_not_held_up() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed.run().await?;
    bed.create(NAME).await?;
    let object = bed.until_sent(NAME).await;
    let finalizer = "mailguncluster.infrastructure.cluster.x-k8s.io";
    assert!(object.finalizers().iter().any(|name| name == finalizer));
    bed.clusters()
        .delete(NAME, &DeleteParams::default())
        .await?;
    wait::until_gone(&bed.objects(), NAME).await;
    wait::until_gone(&bed.clusters(), NAME).await;
    // One that was refused is not tried again on its way out either.
    bed.mailgun.authorize_only(&[]);
    bed.create("refused").await?;
    bed.until("refused", "False", "RecipientNotAuthorized")
        .await;
    bed.mailgun.authorize_only(&[RECIPIENT]);
    bed.clusters()
        .delete("refused", &DeleteParams::default())
        .await?;
    wait::until_gone(&bed.objects(), "refused").await;
    assert_eq!(bed.mailgun.mails().len(), 1);
    provider.stop(&bed).await?;
    Ok(())
}

#[tokio::test]
async fn a_pause_of_the_cluster_or_of_the_object_holds_the_mail_back_until_it_ends() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed.run().await?;
    let object = |name: &str, uid: String, annotations: Value| {
        let mut object = bed::object(name);
        object.metadata = serde_json::from_value(json!({
            "name": name, "annotations": annotations,
            "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name, "uid": uid,
            }],
        }))
        .unwrap();
        object
    };
    let mut by_cluster = bed::cluster("by-cluster");
    by_cluster["spec"]["paused"] = json!(true);
    let cluster = bed::create(&bed.clusters(), &by_cluster).await?;
    let paused = object("by-cluster", cluster.uid().unwrap(), json!({}));
    bed.objects()
        .create(&PostParams::default(), &paused)
        .await?;
    let cluster = bed::create(&bed.clusters(), &bed::cluster("by-annotation")).await?;
    let annotation = json!({"cluster.x-k8s.io/paused": ""});
    let paused = object("by-annotation", cluster.uid().unwrap(), annotation);
    bed.objects()
        .create(&PostParams::default(), &paused)
        .await?;

    for (name, cause) in [
        ("by-cluster", "spec.paused"),
        ("by-annotation", "cluster.x-k8s.io/paused"),
    ] {
        let object = until_condition(&bed.objects(), name, "Paused", "True", None).await;
        let condition = condition(&object, "Paused").unwrap();
        assert!(condition.message.contains(cause), "{condition:?}");
        assert_eq!(object.finalizers().len(), 0, "it is not touched");
    }
    bed.create("another").await?;
    bed.until_sent("another").await;
    assert_eq!(bed.mailgun.mails().len(), 1);

    bed.patch_cluster("by-cluster", json!({"spec": {"paused": false}}))
        .await?;
    let resumed = json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": null}}});
    bed.patch("by-annotation", resumed).await?;
    for name in ["by-cluster", "by-annotation"] {
        bed.until_sent(name).await;
        until_condition(&bed.objects(), name, "Paused", "False", None).await;
    }
    assert_eq!(bed.mailgun.mails().len(), 3);
    provider.stop(&bed).await?;
    Ok(())
}

/// What `clusterctl move` does, from one namespace to another: the copy has the annotations, but no status, and a uid of
/// its own; the source loses all its annotations before it is deleted.
#[tokio::test]
async fn a_moved_object_is_adopted_without_a_mail_at_either_end() -> Result<()> {
    let (source, target) = (Bed::new().await?, Bed::new().await?);
    let namespaces = vec![source.namespace.clone(), target.namespace.clone()];
    let provider = source
        .run_with(|settings| settings.namespaces = namespaces)
        .await?;
    source.create(NAME).await?;
    let original = source.until_sent(NAME).await;
    source
        .patch_cluster(NAME, json!({"spec": {"paused": true}}))
        .await?;

    let mut cluster = bed::cluster(NAME);
    cluster["spec"]["paused"] = json!(true);
    let cluster = bed::create(&target.clusters(), &cluster).await?;
    let mut copy = original.clone();
    copy.status = None;
    copy.metadata = serde_json::from_value(json!({
        "name": NAME,
        "annotations": original.annotations(), "labels": original.labels(), "finalizers": original.finalizers(),
        "ownerReferences": [{
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
            "name": NAME, "uid": cluster.uid(),
        }],
    }))?;
    target
        .objects()
        .create(&PostParams::default(), &copy)
        .await?;

    let moved = json!([{"op": "add", "path": "/metadata/annotations", "value": {
        "clusterctl.cluster.x-k8s.io/delete-for-move": "",
    }}]);
    let moved = Patch::<()>::Json(serde_json::from_value(moved)?);
    let objects = source.objects();
    objects.patch(NAME, &PatchParams::default(), &moved).await?;
    objects.delete(NAME, &DeleteParams::default()).await?;
    source
        .patch(NAME, json!({"metadata": {"finalizers": null}}))
        .await?;
    wait::until_gone(&objects, NAME).await;

    until_condition(&target.objects(), NAME, "Paused", "True", None).await;
    target
        .patch_cluster(NAME, json!({"spec": {"paused": null}}))
        .await?;
    let adopted = target.until("hello-mailgun", "True", "Adopted").await;
    let response = |status: Option<capictl::controllers::mailgun::api::MailgunClusterStatus>| {
        status.unwrap().response.unwrap()
    };
    assert_eq!(response(adopted.status), response(original.status));
    until_infrastructure_is_ready(&target).await;
    target.until_event(NAME, "MessageAdopted").await;
    assert_eq!(source.mailgun.mails().len(), 1);
    provider.stop(&source).await?;
    target.ensure_discreet(&[]).await
}
