//! The provider as a process of its own: `capictl run-local`.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Result;
use tokio::process::Child;

use super::bed::{Bed, RECIPIENT};
use crate::support::environment::{self, Environment};
use crate::support::mailgun::{DOMAIN, KEY};
use crate::support::wait;

/// A `run-local` for the namespace of a test; it is killed when this is dropped.
pub struct Process {
    pub child: Child,
    log: PathBuf,
    _environment: Environment,
}

impl Process {
    /// Starts it. Its Lease is in the namespace of the test, and outlives it: nobody follows before it is deleted.
    pub fn start(bed: &Bed, kubeconfig: &std::path::Path, more: &[&str]) -> Result<Self> {
        let mut environment = Environment::with_kubeconfig(kubeconfig)?;
        environment
            .set("MAILGUN_DOMAIN", DOMAIN)
            .set("MAILGUN_API_KEY", KEY)
            .set("MAIL_RECIPIENT", RECIPIENT)
            .set("MAILGUN_API_BASE", bed.mailgun.url());
        let namespace = bed.namespace.as_str();
        let usual = [
            "run-local",
            "-v=5",
            "--namespace",
            namespace,
            "--leader-election-namespace",
            namespace,
            "--leader-elect-lease-duration=600s",
            "--leader-elect-renew-deadline=300s",
            "--leader-elect-retry-period=200ms",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
        ];
        let arguments = [&usual[..], more].concat();
        let log = environment.home().join("log");
        let output = File::create(&log)?;
        let child = environment
            .command(&environment::capictl()?, &arguments)
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        Ok(Self {
            child,
            log,
            _environment: environment,
        })
    }

    pub fn id(&self) -> u32 {
        self.child.id().expect("it was not waited for")
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it says something.
    pub async fn says(&self, text: &str) {
        wait::until(&format!("`{text}`"), async || {
            let log = self.log();
            if log.contains(text) { Ok(()) } else { Err(log) }
        })
        .await;
    }
}

/// Sends a signal.
pub fn signal(name: &str, process: u32) {
    let arguments = [format!("-{name}"), process.to_string()];
    let status = std::process::Command::new("kill").args(arguments).status();
    assert!(status.expect("there is a `kill`").success());
}
