//! capictl: Cluster API management clusters from the command line.
//!
//! Dependencies point down, and `tests/architecture.rs` keeps watch:
//!
//! ```text
//! cli          clap: one file per command; takes arguments apart, calls one operation, prints its result
//!  └ ops       one operation per file: options in, value out; may report status, never prints data
//!     ├ config       config file, environment, catalogue of providers, variables
//!     ├ repository   provider releases: GitHub, GitLab, folders; versions, files, overrides
//!     ├ cluster      a connected cluster: client, apply, inventory, cert-manager, waits
//!     ├ controllers  what `run-local` runs: reconcilers, election, metrics, probes
//!     └ components   a provider's manifest: images, namespaces, labels, order      (pure)
//! template     text in, text out: variables, defaults, substitution               (pure)
//! ui · http · model · yaml · error      leaves
//! ```
//!
//! Neighbours in one row do not know each other; `ops` brings them together.

pub mod cli;
pub mod cluster;
pub mod components;
pub mod config;
pub mod controllers;
pub mod error;
pub mod http;
pub mod model;
pub mod ops;
pub mod repository;
pub mod template;
pub mod ui;
pub mod yaml;
