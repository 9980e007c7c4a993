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
//! - [`client`]: Mailgun's HTTP API. [`release`]: what `init` installs: names, version and the embedded files.
//! - `reconcile`: observe, decide, act, record; `watch`: which objects, and when; `conditions`: what the status tells.

pub mod api;
pub mod client;
mod conditions;
pub mod decide;
mod install;
mod ledger;
mod machine;
mod memory;
pub mod message;
mod observe;
mod reconcile;
pub mod record;
pub mod release;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use kube::runtime::events::{Recorder, Reporter};

use crate::controllers::manager::{Controller, Work};
use crate::error::Result;
pub use install::ensure_installed;
use memory::Memories;
use reconcile::Context;

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

/// What a person writes on an object to resolve a doubt: `assume-sent` or `resend`. It is obeyed once.
pub const RESOLVE: &str = "mailgun.infrastructure.cluster.x-k8s.io/resolve";
/// Value of [`RESOLVE`]: send another mail.
const RESEND: &str = "resend";

/// Runs the controllers until the manager asks them to stop.
///
/// # Errors
/// The API server cannot be asked what it serves, or Cluster API is missing.
pub async fn run(client: kube::Client, settings: Settings, work: Work) -> Result<()> {
    let clusters = install::cluster_resource(&client, settings.allow_orphan).await?;
    let holder = crate::controllers::manager::election::holder();
    let reporter = Reporter {
        controller: "mailguncluster-controller".into(),
        instance: Some(holder.clone()),
    };
    let context = Arc::new(Context {
        recorder: Recorder::new(client.clone(), reporter),
        memories: Memories::default(),
        client,
        settings,
        clusters,
        holder,
        work: work.clone(),
    });
    watch::run(context).await;
    Ok(())
}
