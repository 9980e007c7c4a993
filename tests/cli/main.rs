//! The binary from outside: what it takes, prints and returns.

mod cache;
mod closed_pipe;
mod clusterctl_flags;
mod completion;
mod config_repositories;
mod config_view;
mod differences;
mod downloads;
mod environment;
mod flags;
mod from;
mod generate_cluster;
mod generate_provider;
mod generate_yaml;
mod help;
mod interruption;
mod logging;
mod plugins;
mod prompts;
mod reference;
mod rendering;
mod repositories;
mod resolution;
mod run_local;
mod shells;
mod usage;
mod values;
mod version;
mod write_to;

#[path = "../support"]
mod support {
    pub mod files;
    pub mod github;
    #[allow(dead_code, reason = "nothing here is random")]
    pub mod random;
}

#[path = "../support/binaries.rs"]
#[allow(dead_code, reason = "other test targets use the rest")]
mod binaries;
