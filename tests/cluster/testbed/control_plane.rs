//! Control planes start, stop and leave nothing behind.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::Api;

use crate::support::control_plane::{ControlPlane, connect};
use crate::support::wait;

/// Returns the command lines of the processes that name `folder`.
fn processes_of(folder: &Path) -> Result<Vec<String>> {
    let folder = folder.display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        // Processes come and go, and other entries are no processes.
        let Ok(line) = fs::read(entry?.path().join("cmdline")) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(&folder) {
            found.push(line);
        }
    }
    Ok(found)
}

async fn until_no_process_names(folder: &Path) {
    wait::until("the end of all processes", async || {
        match processes_of(folder).map_err(|error| error.to_string())? {
            left if left.is_empty() => Ok(()),
            left => Err(left.join("\n")),
        }
    })
    .await;
}

#[tokio::test]
async fn a_control_plane_stops_without_leaving_a_process_or_a_file() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let folder = control_plane.folder().to_owned();
    assert!(
        processes_of(&folder)?.len() >= 4,
        "{:?}",
        processes_of(&folder)?
    );
    control_plane.stop();
    assert_eq!(processes_of(&folder)?, Vec::<String>::new());
    assert!(!folder.exists());
    Ok(())
}

#[tokio::test]
async fn the_controllers_of_a_control_plane_work() -> Result<()> {
    let control_plane = ControlPlane::shared().await;
    let client = control_plane.client().await?;
    let namespace = control_plane.create_namespace("controllers").await?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &namespace);
    wait::for_object(&accounts, "default", "exists", |account| account.is_some()).await;

    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client);
    namespaces.delete(&namespace, &Default::default()).await?;
    wait::until_gone(&namespaces, &namespace).await;
    Ok(())
}

/// The program that the demo uses, running; killed with the test.
struct Program {
    child: Child,
    folder: PathBuf,
    parent: tempfile::TempDir,
}

impl Program {
    /// Starts it and waits until it prints the path of its kubeconfig.
    fn start() -> Result<Self> {
        let parent = tempfile::tempdir()?;
        let folder = parent.path().join("control-plane");
        let program = std::env::current_exe()?;
        let program = program
            .ancestors()
            .nth(2)
            .context("no target folder")?
            .join("examples/testbed");
        assert!(
            program.exists(),
            "`{}` is not there, run `cargo build --example testbed` to build it",
            program.display()
        );
        let child = Command::new(program)
            .args(["up", "--dir"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut started = Self {
            child,
            folder,
            parent,
        };
        let mut line = String::new();
        let stdout = started.child.stdout.as_mut().context("no stdout")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let kubeconfig = started.folder.join("kubeconfig").canonicalize()?;
        assert_eq!(line.trim_end(), kubeconfig.display().to_string());
        Ok(started)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn nothing_outlives_an_owner_that_is_killed() -> Result<()> {
    let mut program = Program::start()?;
    let client = connect(&program.folder.join("kubeconfig")).await?;
    client.apiserver_version().await?;
    program.child.kill()?;
    assert_eq!(program.child.wait()?.signal(), Some(9));
    until_no_process_names(program.parent.path()).await;
    Ok(())
}

#[tokio::test]
async fn the_testbed_program_ends_well_when_its_input_is_closed() -> Result<()> {
    let mut program = Program::start()?;
    assert!(program.folder.join("clusterctl.yaml").exists());
    drop(program.child.stdin.take());
    assert!(program.child.wait()?.success());
    assert_eq!(processes_of(program.parent.path())?, Vec::<String>::new());

    let mut rest = String::new();
    let stdout = program.child.stdout.as_mut().context("no stdout")?;
    stdout.read_to_string(&mut rest)?;
    assert_eq!(rest, "");
    Ok(())
}
