//! Mailgun has the mail, but its answer is lost: the mail is looked up, and not sent again.

use anyhow::Result;
use kube::ResourceExt as _;

use super::bed::{Bed, condition, record};
use crate::support::mailgun::{Answer, Cut, Fault};

#[tokio::test]
async fn mails_whose_answer_was_lost_are_found_and_never_sent_twice() -> Result<()> {
    let bed = Bed::new().await?;
    let failure = |status| Answer::message(status, "Internal Server Error");
    let cases = [
        ("silence", Fault::DoAndCut(Cut::Silence), "FoundByLookup"),
        (
            "status-line",
            Fault::DoAndCut(Cut::StatusLine),
            "FoundByLookup",
        ),
        ("headers", Fault::DoAndCut(Cut::Headers), "FoundByLookup"),
        ("body", Fault::DoAndCut(Cut::Body), "Sent"),
        (
            "error-500",
            Fault::DoAndAnswer(failure(500)),
            "FoundByLookup",
        ),
        (
            "error-502",
            Fault::DoAndAnswer(failure(502)),
            "FoundByLookup",
        ),
        (
            "error-503",
            Fault::DoAndAnswer(failure(503)),
            "FoundByLookup",
        ),
        (
            "error-504",
            Fault::DoAndAnswer(failure(504)),
            "FoundByLookup",
        ),
        (
            "error-408",
            Fault::DoAndAnswer(failure(408)),
            "FoundByLookup",
        ),
        (
            "page",
            Fault::DoAndAnswer(Answer::plain(200, "<html>")),
            "FoundByLookup",
        ),
        ("other-id", Fault::DropMessageId, "Sent"),
    ];
    // All at once: the first look-up comes a while after the attempt.
    for (name, fault, _) in &cases {
        let object = bed.create_object(name).await?;
        bed.mailgun.fail(&object.uid().unwrap(), fault.clone(), 1);
    }
    let provider = bed
        .run_with(|settings| settings.allow_orphan = true)
        .await?;
    for (name, fault, reason) in &cases {
        if *reason == "FoundByLookup" {
            bed.until_event(name, "SendUncertain").await;
        }
        let object = bed.until_sent(name).await;
        let sent = condition(&object, "MessageSent").unwrap();
        assert_eq!(sent.reason, *reason, "{fault:?}: {sent:?}");
        let token = object.uid().unwrap();
        assert_eq!(bed.mailgun.accepted(&token), 1, "{fault:?}");
        assert_eq!(record(&object).attempt, 1, "{fault:?}");
        let mails = bed.mailgun.mails();
        let mail = mails
            .iter()
            .find(|mail| mail.token.as_ref() == Some(&token))
            .unwrap();
        let response = object.status.as_ref().unwrap().response.clone();
        assert_eq!(response, Some(format!("<{}>", mail.id)), "{fault:?}");
    }
    let log = provider.stop(&bed).await?;
    assert!(
        log.contains("it is not known whether the mail was sent"),
        "{log}"
    );
    assert_eq!(bed.mailgun.mails().len(), cases.len());
    Ok(())
}

#[tokio::test]
async fn a_key_that_cannot_read_events_leaves_a_lost_answer_to_a_person() -> Result<()> {
    let bed = Bed::new().await?;
    let provider = bed
        .run_with(|settings| {
            settings.allow_orphan = true;
            let sending = capictl::model::Secret::new(crate::support::mailgun::SENDING_KEY);
            super::bed::use_account(settings, |account| account.key = sending, &bed.mailgun);
        })
        .await?;
    let mut uids = Vec::new();
    bed.mailgun
        .fail("POST /v3/", Fault::DoAndCut(Cut::Silence), 2);
    for name in ["taken-as-sent", "sent-again"] {
        uids.push(bed.create_object(name).await?.uid().unwrap());
    }
    for name in ["taken-as-sent", "sent-again"] {
        let object = bed.until(name, "Unknown", "Held").await;
        let held = condition(&object, "MessageSent").unwrap();
        assert!(held.message.contains("assume-sent"), "{held:?}");
        bed.until_event(name, "SendHeld").await;
    }
    let resolve = |how: &str| {
        let annotations = serde_json::json!({capictl::controllers::mailgun::RESOLVE: how});
        serde_json::json!({"metadata": {"annotations": annotations}})
    };
    bed.patch("taken-as-sent", resolve("assume-sent")).await?;
    bed.patch("sent-again", resolve("resend")).await?;
    bed.until("taken-as-sent", "True", "AssumedSent").await;
    let again = bed.until("sent-again", "True", "Sent").await;
    assert_eq!(record(&again).epoch, 1);
    assert!(
        !again
            .annotations()
            .contains_key(capictl::controllers::mailgun::RESOLVE)
    );
    // The second mail is the one that was asked for.
    let accepted: Vec<usize> = uids.iter().map(|uid| bed.mailgun.accepted(uid)).collect();
    assert_eq!(accepted, [1, 2]);
    provider.stop(&bed).await?;
    Ok(())
}
