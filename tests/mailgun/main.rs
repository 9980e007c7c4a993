//! Tests of the Mailgun provider against a stand-in for Mailgun's API.

#[path = "../support/mod.rs"]
mod support;

mod client;
mod look_up;

use std::time::Duration;

use capictl::controllers::mailgun::client::{Account, Mailgun as Client, Outcome};
use capictl::controllers::mailgun::message::Message;
use capictl::http::once::Timeouts;
use capictl::model::Secret;
use support::mailgun::{DOMAIN, KEY, Mailgun, SENDING_KEY};

const MID: &str = "capi-mailgun.0b5e.0@mail.example.org";
const TOKEN: &str = "0b5e";

fn account(base: &str) -> Account {
    Account {
        domain: DOMAIN.into(),
        api_base: base.into(),
        key: Secret::new(KEY),
        events_key: None,
    }
}

fn client_of(account: Account) -> Client {
    Client::new(account, "capictl-test").unwrap()
}

fn client(mailgun: &Mailgun) -> Client {
    client_of(account(mailgun.url()))
}

/// Returns a client that gives up after so long, half of it to connect.
fn hasty_client(base: &str, total: Duration) -> Client {
    let timeouts = Timeouts {
        connect: total / 2,
        total,
    };
    Client::with_timeouts(account(base), "capictl-test", timeouts).unwrap()
}

fn message() -> Message {
    Message {
        from: "Cluster API Sandbox Provider <mailgun@sender.example>".into(),
        to: "Jo Doe <jo@recipient.example>".into(),
        subject: "[ExtremelyUrgent] New Cluster requested".into(),
        text: "Hello! One cluster please.\n\nWith sugar on top ☃\r\n--x\r\n".into(),
    }
}

async fn send(client: &Client) -> Outcome {
    client.send(&message(), MID, TOKEN).await
}
