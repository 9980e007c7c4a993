//! What `run-local` runs, and the manager in a cluster too: the reconcilers and what surrounds them.

pub mod mailgun;
pub mod manager;
