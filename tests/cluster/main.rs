//! Tests against real control planes; see `tests/testbed/build.sh` for what they run.

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod completion;
mod dry_run;
mod example;
mod faults;
mod generate;
mod init;
mod mailgun;
mod mailgun_release;
mod main_job;
mod manager;
mod run_local;
mod testbed;
