//! Tests against real control planes; see `tests/testbed/build.sh` for what they run.

#[path = "../support/mod.rs"]
mod support;

mod testbed;
