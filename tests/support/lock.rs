//! A lock that all processes of this machine share, for what there can be only one of.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

/// Held as long as it lives; the kernel gives it back when the process ends, however it ends.
#[derive(Debug)]
pub struct MachineLock(#[allow(dead_code)] File);

impl MachineLock {
    /// Waits for the right to run a docker provider's manager: it opens fixed ports, so there can be one per machine.
    pub async fn docker_manager() -> Result<Self> {
        Self::acquire("docker-manager").await
    }

    /// Waits for the lock of this name.
    pub async fn acquire(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("capictl-testbed.{name}.lock"));
        // A thread of its own: a blocking task would hold up the end of a runtime whose test gave up waiting.
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(lock(&path)));
        receiver
            .await
            .context("the thread that waited for the lock is gone")?
    }
}

fn lock(path: &Path) -> Result<MachineLock> {
    let file = open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    file.lock()
        .with_context(|| format!("cannot lock `{}`", path.display()))?;
    Ok(MachineLock(file))
}

/// Opens for reading if it can, since the file may belong to another user.
fn open(path: &Path) -> io::Result<File> {
    loop {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => return result,
        }
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result,
        }
    }
}
