//! Which objects the provider leaves alone.

use anyhow::Result;
use kube::api::PostParams;
use serde_json::json;

use super::bed::{Bed, NAME, condition, object};
use crate::support::wait;

/// Creates an object that is to be left alone, and makes sure of it after another one was sent.
async fn ensure_left_alone(bed: &Bed, name: &str) -> Result<()> {
    let another = format!("after-{name}");
    let mut object = object(&another);
    object.metadata.labels = Some([("cluster.x-k8s.io/watch-filter".into(), "ours".into())].into());
    super::bed::create(&bed.clusters(), &super::bed::cluster(&another)).await?;
    bed.objects()
        .create(&PostParams::default(), &object)
        .await?;
    let sent = bed.until_sent(&another).await;
    let alone = bed.objects().get(name).await?;
    let annotations = alone.metadata.annotations.unwrap_or_default();
    assert!(
        !annotations.contains_key(capictl::controllers::mailgun::record::ANNOTATION),
        "{annotations:?}"
    );
    assert_eq!(alone.metadata.finalizers, None);
    assert_eq!(alone.status.and_then(|status| status.response), None);
    let uid = sent.metadata.uid.unwrap();
    let others: Vec<_> = bed
        .mailgun
        .mails()
        .into_iter()
        .filter(|mail| mail.token.as_ref() != Some(&uid))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    Ok(())
}

#[tokio::test]
async fn what_somebody_else_manages_is_not_touched_by_annotation_or_label() -> Result<()> {
    let managed = json!({"cluster.x-k8s.io/managed-by": "somebody"});
    for metadata in [json!({"annotations": managed}), json!({"labels": managed})] {
        let bed = Bed::new().await?;
        let provider = bed.run().await?;
        let mut managed = object(NAME);
        managed.metadata = serde_json::from_value(metadata)?;
        managed.metadata.name = Some(NAME.to_owned());
        super::bed::create(&bed.clusters(), &super::bed::cluster(NAME)).await?;
        bed.objects()
            .create(&PostParams::default(), &managed)
            .await?;
        // The core manager is done with it: whatever the provider does would have been done as well.
        let owned = |object: Option<&capictl::controllers::mailgun::api::MailgunCluster>| {
            object.is_some_and(|object| object.metadata.owner_references.is_some())
        };
        wait::for_object(&bed.objects(), NAME, "has its owner", owned).await;
        ensure_left_alone(&bed, NAME).await?;
        assert_eq!(bed.objects().get(NAME).await?.status, None);
        provider.stop(&bed).await?;
    }
    Ok(())
}

#[tokio::test]
async fn only_objects_with_the_label_of_the_filter_are_worked_on() -> Result<()> {
    let bed = Bed::new().await?;
    let filter = Some("ours".to_owned());
    let provider = bed
        .run_with(|settings| settings.watch_filter = filter)
        .await?;
    bed.create(NAME).await?;
    ensure_left_alone(&bed, NAME).await?;
    assert_eq!(bed.objects().get(NAME).await?.status, None);
    let label = json!({"metadata": {"labels": {"cluster.x-k8s.io/watch-filter": "ours"}}});
    bed.patch(NAME, label).await?;
    bed.until_sent(NAME).await;
    provider.stop(&bed).await?;
    Ok(())
}

#[tokio::test]
async fn only_objects_of_the_namespaces_are_worked_on() -> Result<()> {
    let (ours, theirs) = (Bed::new().await?, Bed::new().await?);
    let provider = ours.run().await?;
    theirs.create(NAME).await?;
    ours.create(NAME).await?;
    ours.until_sent(NAME).await;
    assert_eq!(theirs.objects().get(NAME).await?.status, None);
    assert_eq!(theirs.mailgun.mails(), []);
    provider.stop(&ours).await?;
    Ok(())
}

#[tokio::test]
async fn an_object_without_a_cluster_waits_for_one_and_says_so() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed.run().await?;
    bed.create_object(NAME).await?;
    ensure_left_alone(&bed, NAME).await?;
    // The Cluster that comes later is the owner it waits for.
    super::bed::create(&bed.clusters(), &super::bed::cluster(NAME)).await?;
    bed.until_sent(NAME).await;
    assert_eq!(bed.mailgun.mails().len(), 2);
    let log = provider.stop(&bed).await?;
    assert!(log.to_lowercase().contains("owner"), "{log}");
    Ok(())
}

#[tokio::test]
async fn orphans_are_sent_when_that_is_asked_for() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed
        .run_with(|settings| settings.allow_orphan = true)
        .await?;
    bed.create_object(NAME).await?;
    let object = bed.until_sent(NAME).await;
    assert_eq!(condition(&object, "MessageSent").unwrap().reason, "Sent");
    assert_eq!(bed.mailgun.mails().len(), 1);
    provider.stop(&bed).await?;
    Ok(())
}
