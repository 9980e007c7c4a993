//! Looking up what became of a mail.

use capictl::controllers::mailgun::client::{LookUp, reason};
use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::support::mailgun::{Answer, Cut, Fault};
use super::*;

async fn look_up(client: &Client) -> LookUp {
    client.look_up(MID, Timestamp::now()).await
}

fn found(id: &str, accepted: usize) -> LookUp {
    LookUp::Found {
        id: format!("<{id}>"),
        accepted,
    }
}

#[tokio::test]
async fn a_mail_whose_answer_was_lost_is_found() {
    let mailgun = Mailgun::start();
    let client = client(&mailgun);
    assert_eq!(look_up(&client).await, LookUp::Absent);
    mailgun.fail("POST", Fault::DoAndCut(Cut::Silence), 1);
    send(&client).await;
    assert_eq!(look_up(&client).await, found(MID, 1));
    assert_eq!(
        client.look_up(&format!("<{MID}>"), Timestamp::now()).await,
        found(MID, 1)
    );
}

#[tokio::test]
async fn other_mails_are_not_taken_for_it() {
    let mailgun = Mailgun::start();
    let client = client(&mailgun);
    for mid in [
        "capi-mailgun.0b5e.1@mail.example.org",
        "other@mail.example.org",
    ] {
        client.send(&message(), mid, TOKEN).await;
    }
    assert_eq!(look_up(&client).await, LookUp::Absent);
}

#[tokio::test]
async fn what_is_hidden_for_now_is_absent_for_now() {
    let mailgun = Mailgun::start();
    let client = client(&mailgun);
    send(&client).await;
    mailgun.hide_events_for(Duration::MAX);
    assert_eq!(look_up(&client).await, LookUp::Absent);
    mailgun.hide_events_for(Duration::ZERO);
    assert_eq!(look_up(&client).await, found(MID, 1));
}

#[tokio::test]
async fn a_mail_that_got_another_message_id_is_found() {
    let mailgun = Mailgun::start();
    mailgun.set_page_size(2);
    let client = client(&mailgun);
    for mid in [
        "1@mail.example.org",
        "2@mail.example.org",
        "3@mail.example.org",
    ] {
        client.send(&message(), mid, TOKEN).await;
    }
    mailgun.fail("POST", Fault::DropMessageId, 1);
    send(&client).await;
    let id = mailgun.mails()[3].id.clone();
    assert_eq!(look_up(&client).await, found(&id, 1));
}

#[tokio::test]
async fn a_second_mail_is_noticed_on_whatever_page() {
    let mailgun = Mailgun::start();
    mailgun.set_page_size(1);
    let client = client(&mailgun);
    send(&client).await;
    send(&client).await;
    assert_eq!(look_up(&client).await, found(MID, 2));
}

#[tokio::test]
async fn a_mail_that_was_only_rejected_went_to_nobody() {
    let mailgun = Mailgun::start();
    let client = client(&mailgun);
    let said = "add jo@recipient.example to your authorized recipients";
    mailgun.fail("POST", Fault::RejectLater(said.into()), 1);
    send(&client).await;
    let expected = LookUp::OnlyRejected {
        reason: reason::RECIPIENT_NOT_AUTHORIZED,
        message: "add [redacted] to your authorized recipients".into(),
    };
    assert_eq!(look_up(&client).await, expected);
    send(&client).await;
    assert_eq!(look_up(&client).await, found(MID, 1));
}

#[tokio::test]
async fn a_key_that_only_sends_needs_another_beside_it() {
    let mailgun = Mailgun::start();
    let account = Account {
        key: Secret::new(SENDING_KEY),
        ..account(mailgun.url())
    };
    let client = client_of(account.clone());
    send(&client).await;
    let LookUp::Impossible { code, reason, .. } = look_up(&client).await else {
        panic!()
    };
    assert_eq!((code, reason), (401, reason::UNAUTHORIZED));
    let client = client_of(Account {
        events_key: Some(Secret::new(KEY)),
        ..account
    });
    assert_eq!(look_up(&client).await, found(MID, 1));
}

#[tokio::test]
async fn what_cannot_be_read_is_neither_found_nor_absent() {
    let refuse = |status| Fault::Refuse(Answer::message(status, "no"));
    let limit = Answer::message(429, "no").header("Retry-After", 7);
    let same_page = || {
        let next = format!("https://api.mailgun.net/v3/{DOMAIN}/events/1");
        Answer::json(200, &json!({ "items": [{}], "paging": { "next": next } }))
    };
    let elsewhere =
        json!({ "items": [{}], "paging": { "next": "https://host/v3/x.org/events/1" } });
    let no_next = json!({ "items": [{}], "paging": {} });
    let table = [
        (refuse(403), "Impossible", 403, reason::FORBIDDEN),
        (refuse(404), "Impossible", 404, reason::DOMAIN_NOT_FOUND),
        (refuse(400), "Failed", 400, reason::INVALID_MESSAGE),
        (refuse(500), "Failed", 500, reason::SERVER_ERROR),
        (Fault::Refuse(limit), "Failed", 429, reason::RATE_LIMITED),
        (
            Fault::DoAndCut(Cut::Silence),
            "Failed",
            0,
            reason::INTERRUPTED,
        ),
        (
            Fault::DoAndCut(Cut::Body),
            "Failed",
            200,
            reason::UNEXPECTED_ANSWER,
        ),
        (
            Fault::Refuse(Answer::plain(200, "<html>")),
            "Failed",
            200,
            reason::UNEXPECTED_ANSWER,
        ),
        (
            Fault::Refuse(Answer::json(200, &json!({}))),
            "Failed",
            200,
            reason::UNEXPECTED_ANSWER,
        ),
        (
            Fault::Refuse(Answer::json(200, &elsewhere)),
            "Failed",
            200,
            reason::UNEXPECTED_ANSWER,
        ),
        (
            Fault::Refuse(Answer::json(200, &no_next)),
            "Failed",
            200,
            reason::UNEXPECTED_ANSWER,
        ),
        (
            Fault::Refuse(same_page()),
            "Failed",
            0,
            reason::ENDLESS_PAGES,
        ),
    ];
    for (fault, word, code, expected) in table {
        let mailgun = Mailgun::start();
        mailgun.fail("GET", fault.clone(), usize::MAX);
        let (name, told, reason) = match look_up(&client(&mailgun)).await {
            LookUp::Impossible { code, reason, .. } => ("Impossible", code, reason),
            LookUp::Failed {
                code, reason, wait, ..
            } => {
                let expected = (code == 429).then_some(Duration::from_secs(7));
                assert_eq!(wait, expected);
                ("Failed", code, reason)
            }
            other => panic!("{fault:?}: {other:?}"),
        };
        assert_eq!((name, told, reason), (word, code, expected), "{fault:?}");
        assert!(
            mailgun.requests().len() <= 2,
            "{fault:?}: {:?}",
            mailgun.requests()
        );
    }
}

#[tokio::test]
async fn a_failure_on_the_second_page_is_not_absence() {
    let mailgun = Mailgun::start();
    mailgun.set_page_size(1);
    let client = client(&mailgun);
    client
        .send(&message(), "other@mail.example.org", TOKEN)
        .await;
    mailgun.fail("/page-", Fault::Refuse(Answer::message(500, "no")), 1);
    let outcome = look_up(&client).await;
    assert!(
        matches!(outcome, LookUp::Failed { code: 500, .. }),
        "{outcome:?}"
    );
    // What was found before the failure stays found.
    mailgun.behave();
    send(&client).await;
    mailgun.fail("/page-", Fault::Refuse(Answer::message(500, "no")), 1);
    assert_eq!(look_up(&client).await, found(MID, 1));
}

/// The next page's address is Mailgun's, while a gateway may stand before it, and the key must go nowhere else.
#[tokio::test]
async fn pages_are_asked_for_at_our_own_base() {
    let mailgun = Mailgun::start();
    let next = format!("https://elsewhere.invalid/v3/{DOMAIN}/events/page-0?a=b");
    let page = Answer::json(200, &json!({ "items": [{}], "paging": { "next": next } }));
    mailgun.fail("/events?", Fault::Refuse(page), 1);
    mailgun.fail(
        "/events/page-0",
        Fault::Refuse(Answer::json(200, &json!({ "items": [] }))),
        1,
    );
    assert_eq!(look_up(&client(&mailgun)).await, LookUp::Absent);
    let path = &mailgun.requests()[1].path;
    assert_eq!(*path, format!("/v3/{DOMAIN}/events/page-0?a=b"));
}
