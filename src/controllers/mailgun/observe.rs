//! From an object and its Cluster to what the decision needs to know. Pure.

use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::DynamicObject;

use super::Settings;
use super::api::MailgunCluster;
use super::decide::{Observed, Resolution};
use super::message::Message;
use super::record::{self, Ledger, Origin, Record};

/// The finalizer that keeps an object until the outcome of a send under way is written down.
pub const FINALIZER: &str = "mailguncluster.infrastructure.cluster.x-k8s.io";
/// On an object, or in the spec of its Cluster: nothing is to be done.
const PAUSED: &str = "cluster.x-k8s.io/paused";
/// Somebody else manages the object. The contract calls it a label, the code an annotation; both count.
const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";
/// The object was moved away.
const DELETE_FOR_MOVE: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";

/// Returns the name of the Cluster that owns an object, by kind and group; version and controller flag do not count.
pub fn owner(object: &MailgunCluster) -> Option<&str> {
    let owners = object.metadata.owner_references.iter().flatten();
    let mut clusters = owners.filter(|owner| {
        owner.kind == "Cluster" && owner.api_version.split('/').next() == Some("cluster.x-k8s.io")
    });
    clusters.next().map(|owner| owner.name.as_str())
}

/// Returns why an object is paused, in a sentence, if it is.
pub fn paused(object: &MailgunCluster, cluster: Option<&DynamicObject>) -> Option<String> {
    let by_cluster = cluster.filter(|cluster| cluster.data["spec"]["paused"] == true);
    let causes: Vec<String> = [
        by_cluster
            .map(|cluster| format!("Cluster `{}` is paused (spec.paused)", cluster.name_any())),
        object
            .annotations()
            .contains_key(PAUSED)
            .then(|| format!("the object has the annotation `{PAUSED}`")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!causes.is_empty()).then(|| causes.join(", "))
}

/// Returns where an object is.
pub fn origin(object: &MailgunCluster) -> Origin {
    Origin {
        uid: object.uid().unwrap_or_default(),
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    }
}

/// Reads the copies of an object's record together.
pub fn ledger(object: &MailgunCluster, domain: &str, api_base: &str) -> Ledger {
    let status = object.status.as_ref();
    record::read(
        object
            .annotations()
            .get(record::ANNOTATION)
            .map(String::as_str),
        status.and_then(|status| status.outbox.as_ref()),
        status.and_then(|status| status.response.as_deref()),
        Record::new(origin(object), domain, api_base),
    )
}

/// Puts together what is known of an object. `mirrored` when copy B cannot be written at all.
pub fn observe(
    object: &MailgunCluster,
    cluster: Option<&DynamicObject>,
    settings: &Settings,
    no_copy: bool,
    now: Timestamp,
) -> Observed {
    let annotations = object.annotations();
    let ledger = ledger(
        object,
        settings.mailgun.domain(),
        settings.mailgun.api_base(),
    );
    let outbox = object
        .status
        .as_ref()
        .and_then(|status| status.outbox.as_ref());
    let mirrored = match &ledger {
        Ledger::Current(record) => outbox == Some(&record.to_outbox()),
        _ => false,
    };
    let cluster_name = cluster.map_or_else(|| object.name_any(), ResourceExt::name_any);
    Observed {
        origin: origin(object),
        externally_managed: annotations.contains_key(MANAGED_BY)
            || object.labels().contains_key(MANAGED_BY),
        has_owner: cluster.is_some() || settings.allow_orphan,
        paused: paused(object, cluster).is_some(),
        deleting: object.metadata.deletion_timestamp.is_some(),
        moved_away: annotations.contains_key(DELETE_FOR_MOVE),
        has_finalizer: object
            .finalizers()
            .iter()
            .any(|finalizer| finalizer == FINALIZER),
        ledger,
        mirrored: mirrored || no_copy,
        resolution: match annotations.get(super::RESOLVE).map(String::as_str) {
            Some("assume-sent") => Some(Resolution::AssumeSent),
            Some(super::RESEND) => Some(Resolution::Resend),
            _ => None,
        },
        created: object.creation_timestamp().map_or(now, |time| time.0),
        message: Message::of(
            &object.spec,
            &cluster_name,
            &settings.recipient,
            settings.subject_style,
        ),
    }
}
