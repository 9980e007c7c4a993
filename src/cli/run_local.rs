//! `capictl run-local`

pub mod flags;
pub mod process;

use std::process::ExitCode;

use clap::Args;

use super::args::{ClusterArgs, GlobalArgs};
use crate::error::Result;
use flags::ManagerArgs;
use process::LogFormat;

/// Run the manager of the Mailgun provider on this machine
///
/// Works like the provider's Deployment, in the foreground and without an image: each MailgunCluster makes one mail go
/// out, and never a second one. The kinds have to be installed, `capictl init --infrastructure mailgun` does that.
/// Only one manager works at a time: this one waits while the Deployment, or another one, holds the Lease.
///
/// Ctrl-C or SIGTERM stops it when mails on their way are done, within 30 seconds; a second one stops it at once. The exit
/// code is 0 after a stop, 1 after a failure or when the Lease was lost, 130 after a second signal.
#[derive(Debug, Args)]
#[command(after_help = "\
Variables, from the environment or the configuration file:
  MAILGUN_DOMAIN          the Mailgun domain that mails go out by; a sandbox domain will do
  MAILGUN_API_KEY         an account key, or a sending key of the domain
  MAIL_RECIPIENT          where all mails go; MAILGUN_RECIPIENT does the same
  MAILGUN_API_BASE        `us` (the default), `eu`, or a URL
  MAILGUN_EVENTS_API_KEY  a key that may read events, if the other one may only send

Examples:
  # Against the current context, with a key typed once
  export MAILGUN_DOMAIN=mg.example.com MAIL_RECIPIENT=me@example.com
  read -rs MAILGUN_API_KEY && export MAILGUN_API_KEY
  capictl run-local

  # Only some namespaces, in Mailgun's EU region, with logs for machines
  MAILGUN_API_BASE=eu capictl run-local -n team-a -n team-b --log-format json

  # The lines that a manager of kubebuilder's scaffold logs
  capictl run-local --zap-devel")]
pub struct RunLocalArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,

    #[command(flatten)]
    pub manager: ManagerArgs,
}

impl RunLocalArgs {
    /// Runs the manager until it is stopped.
    ///
    /// # Errors
    /// The operation's own.
    pub fn run(self, global: GlobalArgs) -> Result<ExitCode> {
        let Self { cluster, manager } = self;
        let (options, logs) = manager.split(cluster.into());
        process::run(global, logs.or(LogFormat::Text), options)
    }
}
