//! Starts a control plane for the demo and for hands: `cargo run --example testbed -- up --dir DIR`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

#[path = "../support/mod.rs"]
mod support;

use support::control_plane::{ControlPlane, Options};
use support::environment::render_clusterctl_yaml;
use support::kubelet::Manager;

/// A Kubernetes control plane of plain processes, with the Cluster API managers
#[derive(Parser)]
#[command(name = "testbed")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a control plane and keep it running in the foreground
    ///
    /// Prints the path of the kubeconfig once it is ready. It ends with SIGTERM, Ctrl-C, or when the pipe or terminal
    /// on standard input is closed; nothing is left running. The folder also gets a `clusterctl.yaml` that names the
    /// local provider repository.
    Up {
        /// Folder for certificates, kubeconfig, logs and data; it must be empty or not exist yet
        #[arg(long)]
        dir: PathBuf,
        /// Managers to run as real processes: core, kubeadm-bootstrap, kubeadm-control-plane, capd
        #[arg(long, value_delimiter = ',', value_name = "NAME")]
        run: Vec<Manager>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let Command::Up { dir, run } = Arguments::parse().command;
    match up(dir, run).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn up(dir: PathBuf, managers: Vec<Manager>) -> Result<()> {
    // From here on, so that a signal during the start ends it in good order too.
    let mut end = tokio::spawn(wait_for_end()?);
    let options = Options {
        managers,
        folder: Some(dir),
    };
    let control_plane = tokio::select! {
        started = ControlPlane::start_with(options) => started?,
        _ = &mut end => return Ok(()),
    };
    let clusterctl = control_plane.folder().join("clusterctl.yaml");
    std::fs::write(&clusterctl, render_clusterctl_yaml()?)?;
    eprintln!("Started a control plane at {}", control_plane.server());
    eprintln!("Wrote {}", clusterctl.display());
    println!("{}", control_plane.kubeconfig().display());
    end.await?;
    control_plane.stop();
    Ok(())
}

/// Returns when the process is asked to end.
fn wait_for_end() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, closed) = tokio::sync::oneshot::channel();
    let can_close = stdin_can_close();
    if can_close {
        // A thread of its own, since nothing interrupts a read from a terminal.
        std::thread::spawn(move || {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            let _ = sender.send(());
        });
    }
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = closed, if can_close => {}
        }
    })
}

/// Tells whether somebody holds the other end: `/dev/null`, which shells give to background jobs, is at its end at once.
fn stdin_can_close() -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = std::fs::metadata("/dev/stdin").map(|metadata| metadata.file_type());
    io::stdin().is_terminal() || kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}
