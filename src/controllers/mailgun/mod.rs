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
//! - [`decide`]: from what is observed to the next step, pure.
//! - [`message`]: the mail itself, pure.
//! - [`release`]: what `init` installs: names, version and the embedded files.

pub mod api;
pub mod decide;

pub mod message;
pub mod record;
pub mod release;
