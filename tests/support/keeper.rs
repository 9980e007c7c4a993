//! Processes that do not outlive this one, whatever ends it.
//!
//! Each [`Keeper`] is a small shell that reads from a pipe whose other end only we hold. When that ends (we closed it,
//! panicked or were killed), it kills the process groups it has heard of and removes a folder. A process announces
//! itself to the keeper before it becomes what it is to be, so there is no moment at which it could be forgotten.

use std::ffi::OsStr;
use std::io::{PipeWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// `$1` is the folder to remove, or empty. Killed processes may still be writing for a moment, hence the attempts.
const KEEPER: &str = r#"
trap '' HUP INT QUIT TERM
groups=
while read -r what group; do
  case $what in
    started) groups="$groups $group" ;;
    ended)
      others=
      for each in $groups; do [ "$each" = "$group" ] || others="$others $each"; done
      groups=$others ;;
  esac
done
for each in $groups; do kill -s KILL -- "-$each"; done
[ -n "$1" ] || exit 0
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf "$1" && exit 0
  sleep 0.1
done
"#;

/// `$0` is the log, the rest is the command.
const ANNOUNCE: &str = r#"echo "started $$"; exec "$@" >>"$0" 2>&1"#;

/// Starts processes and sees to their end.
pub struct Keeper {
    pipe: Mutex<Option<PipeWriter>>,
    shell: Mutex<Child>,
    processes: Mutex<Vec<Process>>,
}

impl Keeper {
    /// Starts a keeper that removes `folder`, if any, at the end.
    pub fn start(folder: Option<PathBuf>) -> Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        let shell = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(folder.unwrap_or_default())
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0) // out of reach of the terminal's signals
            .spawn()
            .context("cannot start `sh`")?;
        Ok(Self {
            pipe: Mutex::new(Some(writer)),
            shell: Mutex::new(shell),
            processes: Mutex::default(),
        })
    }

    /// Starts a program in a process group of its own; its output is added to the file `log`.
    ///
    /// Only `environment` is passed on, and PATH.
    pub fn spawn<S: AsRef<OsStr>>(
        &self,
        log: &Path,
        program: &Path,
        arguments: impl IntoIterator<Item = S>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Process> {
        let announcement = {
            let pipe = self.pipe.lock().unwrap();
            let pipe = pipe.as_ref().context("the control plane is stopped")?;
            pipe.try_clone()?
        };
        let child = Command::new("sh")
            .args(["-c", ANNOUNCE])
            .arg(log)
            .arg(program)
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(environment)
            .current_dir(log.parent().context("the log is in no folder")?)
            .stdin(Stdio::null())
            .stdout(announcement)
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start `{}`", program.display()))?;
        let process = Process {
            id: child.id(),
            child: Arc::new(Mutex::new(child)),
        };
        self.processes.lock().unwrap().push(process.clone());
        Ok(process)
    }

    /// Notes that a process has ended and was waited for: its number may be given to another.
    pub fn forget(&self, process: &Process) {
        self.processes
            .lock()
            .unwrap()
            .retain(|other| other.id != process.id);
        if let Some(pipe) = self.pipe.lock().unwrap().as_mut() {
            // The shell is only gone if somebody killed it; then nothing is left to tell.
            let _ = writeln!(pipe, "ended {}", process.id);
        }
    }

    /// Kills all processes, waits for their end and for the folder's removal.
    pub fn close(&self) {
        if self.pipe.lock().unwrap().take().is_none() {
            return;
        }
        let _ = self.shell.lock().unwrap().wait();
        for process in self.processes.lock().unwrap().drain(..) {
            let _ = process.child.lock().unwrap().wait();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.close();
    }
}

/// A process that a [`Keeper`] has started.
#[derive(Clone)]
pub struct Process {
    id: u32,
    child: Arc<Mutex<Child>>,
}

impl Process {
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns how it ended, if it has.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.child.lock().unwrap().try_wait().ok().flatten()
    }

    /// Ends it as a kubelet does: SIGTERM, then SIGKILL when the grace period is over.
    pub async fn stop(&self, grace_period: Duration) {
        let group = format!("-{}", self.id);
        let _ = Command::new("kill")
            .args(["-s", "TERM", "--", &group])
            .stderr(Stdio::null())
            .status();
        let deadline = Instant::now() + grace_period;
        while self.exit_status().is_none() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut child = self.child.lock().unwrap();
        let _ = child.kill();
        let _ = child.wait();
    }
}
