//! What Mailgun refuses, and what people get wrong: each says what happened and what to do, and holds up nobody else.

use anyhow::Result;
use capictl::controllers::mailgun::api;
use capictl::controllers::mailgun::client::Account;
use capictl::controllers::mailgun::record::ANNOTATION;
use capictl::controllers::mailgun::{self};
use capictl::model::Secret;
use kube::ResourceExt as _;
use kube::api::PostParams;
use serde_json::json;

use super::bed::{self, Bed, NAME, RECIPIENT, condition, record};
use crate::support::control_plane::{ControlPlane, find_free_port};
use crate::support::mailgun::{Answer, DOMAIN, Fault, KEY, Mailgun};
use crate::support::wait;

/// A configuration with which Mailgun takes no mail, and what is said about it.
struct Case {
    name: &'static str,
    account: fn(&mut Account),
    reason: &'static str,
    advice: &'static str,
}

#[tokio::test]
async fn a_wrong_key_domain_or_recipient_is_told_with_the_way_out() -> Result<()> {
    let cases = [
        Case {
            name: "wrong key",
            account: |account| account.key = Secret::new("a-wrong-key-77"),
            reason: "Unauthorized",
            advice: "`MAILGUN_API_KEY`",
        },
        Case {
            name: "unknown domain, or the other region's",
            account: |account| account.domain = "eu.example.org".into(),
            reason: "DomainNotFound",
            advice: "`MAILGUN_API_BASE=eu`",
        },
        Case {
            name: "recipient who has not agreed",
            account: |_| (),
            reason: "RecipientNotAuthorized",
            advice: "`MAIL_RECIPIENT`",
        },
        Case {
            name: "an address that is not Mailgun's",
            account: |account| account.api_base.push_str("/elsewhere"),
            reason: "WrongApiBase",
            advice: "`MAILGUN_API_BASE`",
        },
    ];
    for case in cases {
        let bed = Bed::new().await?;
        bed.mailgun.authorize_only(&["somebody.else@example.org"]);
        let provider = bed
            .run_with(|settings| {
                settings.allow_orphan = true;
                bed::use_account(settings, case.account, &bed.mailgun);
            })
            .await?;
        bed.create_object(NAME).await?;
        let object = bed.until(NAME, "False", case.reason).await;
        let refused = condition(&object, "MessageSent").unwrap();
        assert!(
            refused.message.contains(case.advice),
            "{}: {refused:?}",
            case.name
        );
        assert_eq!(refused.severity.as_deref(), Some("Error"));
        let ready = condition(&object, "Ready").unwrap();
        assert_eq!(
            (ready.status.as_str(), &ready.reason),
            ("False", &refused.reason)
        );
        let event = bed.until_event(NAME, "SendRejected").await;
        assert_eq!(event.type_.as_deref(), Some("Warning"));
        let note = event.note.unwrap_or_default();
        assert!(note.contains(case.advice), "{}: {note}", case.name);
        // Once, and not again and again.
        let sends = bed.mailgun.requests();
        let sends = sends.iter().filter(|request| request.is_send()).count();
        assert_eq!(sends, 1, "{}", case.name);
        assert_eq!(bed.mailgun.mails(), []);
        let log = provider.stop(&bed).await?;
        assert!(log.contains(case.reason), "{}: {log}", case.name);
    }
    Ok(())
}

#[tokio::test]
async fn a_configuration_that_was_corrected_sends_what_was_refused_before() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed
        .run_with(|settings| {
            settings.allow_orphan = true;
            let wrong = |account: &mut Account| account.domain = "eu.example.org".into();
            bed::use_account(settings, wrong, &bed.mailgun);
        })
        .await?;
    bed.create_object(NAME).await?;
    bed.until(NAME, "False", "DomainNotFound").await;
    provider.stop(&bed).await?;
    let provider = bed
        .run_with(|settings| settings.allow_orphan = true)
        .await?;
    let object = bed.until_sent(NAME).await;
    assert_eq!(record(&object).attempt, 2);
    assert_eq!(bed.mailgun.mails().len(), 1);
    provider.stop(&bed).await?;
    Ok(())
}

#[tokio::test]
async fn an_unreachable_mailgun_is_told_and_tried_again_until_it_answers() -> Result<()> {
    let bed = Bed::new().await?;
    let port = find_free_port()?;
    let provider = bed
        .run_with(|settings| {
            settings.allow_orphan = true;
            let nowhere = |account: &mut Account| {
                account.api_base = format!("http://127.0.0.1:{port}");
            };
            bed::use_account(settings, nowhere, &bed.mailgun);
        })
        .await?;
    bed.create_object(NAME).await?;
    let unreachable = |object: Option<&api::MailgunCluster>| {
        let sent = object.and_then(|object| condition(object, "MessageSent"));
        sent.is_some_and(|sent| sent.message.contains("Unreachable"))
    };
    let objects = bed.objects();
    let found = wait::for_object(&objects, NAME, "says so", unreachable).await;
    let object = found.unwrap();
    let sent = condition(&object, "MessageSent").unwrap();
    assert_eq!(
        (sent.status.as_str(), sent.reason.as_str()),
        ("False", "NotSent")
    );
    assert!(sent.message.contains("`MAILGUN_API_BASE`"), "{sent:?}");
    let mailgun = Mailgun::start_for(&format!("127.0.0.1:{port}"), DOMAIN, KEY)?;
    let object = bed.until_sent(NAME).await;
    assert!(record(&object).attempt > 1);
    assert_eq!(mailgun.mails().len(), 1);
    provider.stop(&bed).await?;
    Ok(())
}

#[tokio::test]
async fn one_object_in_trouble_does_not_hold_up_the_others() -> Result<()> {
    let bed = Bed::new().await?;
    let slow = Fault::DoAndDelay(std::time::Duration::from_secs(3));
    let limit = Answer::message(429, "try again after 600 seconds");
    let mut bad_sender = bed::object("bad-sender");
    bad_sender.spec.requester = "a\nb".into();
    let mut no_address = bed::object("no-address");
    no_address.spec.requester = "me@nowhere".into();
    let mut broken = bed::object("broken");
    broken.metadata.annotations = Some([(ANNOTATION.to_owned(), "{\"v\":".to_owned())].into());
    for object in [&bad_sender, &no_address, &broken] {
        bed.objects().create(&PostParams::default(), object).await?;
    }
    for (name, fault) in [("slow", slow), ("limited", Fault::Refuse(limit))] {
        let uid = bed.create_object(name).await?.uid().unwrap();
        bed.mailgun.fail(&uid, fault, 1);
    }
    let good: Vec<String> = (0..5).map(|number| format!("good-{number}")).collect();
    for name in &good {
        bed.create_object(name).await?;
    }
    let provider = bed
        .run_with(|settings| {
            settings.allow_orphan = true;
            settings.concurrency = 2;
        })
        .await?;
    for name in good.iter().map(String::as_str).chain(["slow"]) {
        bed.until_sent(name).await;
    }
    for (name, status, reason, part, event) in [
        (
            "bad-sender",
            "False",
            "InvalidSender",
            "spec.requester",
            "SendRejected",
        ),
        (
            "no-address",
            "False",
            "InvalidSender",
            "`spec.requester`",
            "SendRejected",
        ),
        ("broken", "Unknown", "Held", ANNOTATION, "SendHeld"),
        ("limited", "False", "RateLimited", "429", "SendRateLimited"),
    ] {
        let object = bed.until(name, status, reason).await;
        let sent = condition(&object, "MessageSent").unwrap();
        assert!(sent.message.contains(part), "{name}: {sent:?}");
        let told = bed.until_event(name, event).await;
        assert_eq!(told.type_.as_deref(), Some("Warning"), "{name}");
        assert_eq!(bed.mailgun.accepted(&object.uid().unwrap()), 0, "{name}");
    }
    // Who corrects the sender gets the mail.
    bed.patch("no-address", json!({"spec": {"requester": RECIPIENT}}))
        .await?;
    bed.until_sent("no-address").await;
    assert_eq!(bed.mailgun.mails().len(), good.len() + 2);
    provider.stop(&bed).await?;
    Ok(())
}

#[tokio::test]
async fn an_annotation_that_was_broken_after_the_mail_is_repaired_from_the_status() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed
        .run_with(|settings| settings.allow_orphan = true)
        .await?;
    bed.create_object(NAME).await?;
    bed.until_sent(NAME).await;
    for value in [json!("nonsense"), json!(null), json!("{}")] {
        bed.patch(
            NAME,
            json!({"metadata": {"annotations": {ANNOTATION: value}}}),
        )
        .await?;
        let repaired = |object: Option<&api::MailgunCluster>| {
            let text = object.and_then(|object| object.annotations().get(ANNOTATION));
            text.is_some_and(|text| text.contains("\"Sent\""))
        };
        wait::for_object(&bed.objects(), NAME, "has a record", repaired).await;
    }
    bed.create_object("another").await?;
    bed.until_sent("another").await;
    assert_eq!(bed.mailgun.mails().len(), 2);
    provider.stop(&bed).await?;
    Ok(())
}

#[tokio::test]
async fn missing_kinds_and_missing_contract_labels_are_told_before_anything_starts() -> Result<()> {
    capictl::http::install_tls_provider();
    let control_plane = ControlPlane::start().await?;
    let client = control_plane.client().await?;
    let failure = mailgun::ensure_installed(&client).await.unwrap_err();
    let text = failure.to_string();
    assert!(
        text.contains("mailgunclusters.infrastructure.cluster.x-k8s.io"),
        "{text}"
    );
    assert!(
        text.contains("capictl init --infrastructure mailgun"),
        "{text}"
    );

    let unlabelled = api::crds().map(|mut crd| {
        crd.metadata.labels = None;
        crd
    });
    bed::install(&client, unlabelled).await?;
    let failure = mailgun::ensure_installed(&client).await.unwrap_err();
    let text = failure.to_string();
    assert!(text.contains("cluster.x-k8s.io/v1beta1"), "{text}");
    assert!(text.contains("hint: "), "{text}");

    let crds: kube::Api<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> =
        kube::Api::all(client.clone());
    for crd in api::crds() {
        let labels = json!({"metadata": {"labels": crd.metadata.labels}});
        let patch = kube::api::Patch::Merge(labels);
        crds.patch(&crd.name_any(), &Default::default(), &patch)
            .await?;
    }
    if let Err(failure) = mailgun::ensure_installed(&client).await {
        panic!("{failure}");
    }
    Ok(())
}
