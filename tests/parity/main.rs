//! capictl and the reference clusterctl on the same input: the same data on standard output, success where it succeeds.
//!
//! What may differ is named by a rule with its reason, never by file; `docs/differences.md` has the same for readers.

#[path = "../support/mod.rs"]
mod support;

mod comparison;
mod differences;
mod generate_cluster;
mod generate_provider;
mod init;
mod mailgun;
mod published;
mod releases;
mod report;
mod rules;
mod values;
