//! A connected management cluster: access, objects of any kind, inventory, cert-manager, waits.
//!
//! [`Cluster`] is a client with a few verbs over [`Object`](crate::model::Object), so that nothing is lost on the way
//! between a manifest and the API server. Everything else here is built on those verbs:
//!
//! ```text
//! access ──► Cluster ◄── resource (kind → URL)      request (send, classify, retry)
//!               ▲
//!     apply · dry_run · inventory · contract · cert_manager · wait
//! ```

pub mod access;
pub mod apply;
pub mod cert_manager;
pub mod contract;
pub mod dry_run;
mod error;
pub mod inventory;
mod request;
pub mod resource;
pub mod wait;

pub use access::{Access, Cluster};
pub(crate) use error::one_line;
pub use error::{Cause, Error};
pub use request::Existing;
pub use resource::Resource;

/// What the functions of this module return.
pub type Result<T, E = Error> = std::result::Result<T, E>;
