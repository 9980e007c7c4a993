//! What tests, the demo and benches share: real control planes, a stand-in for the kubelet, injected faults.
//!
//! Each target includes it by `#[path = "../support/mod.rs"] mod support;`, so that `tests/` holds no crate of its own.

#![allow(dead_code, reason = "each target uses a part of it")]

pub mod authority;
pub mod binaries;
pub mod control_plane;
pub mod environment;
pub mod files;
pub mod github;
pub mod keeper;
pub mod kubelet;
pub mod lock;
pub mod mailgun;
pub mod objects;
pub mod proxy;
pub mod random;
pub mod servers;
pub mod wait;
