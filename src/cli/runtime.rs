//! The asynchronous runtime of a command, and what Ctrl-C and SIGTERM do to it.
//!
//! The first signal ends the work at its next await, so that guards put temporary files and the terminal in order;
//! work that runs until then is told, and ends by itself. The second one, or one that comes when only printing is left,
//! ends the process at once.

use std::future::Future;
use std::io;

use tokio::sync::oneshot;

use crate::error::{Explain, Failure, Kind, Result};

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot start the asynchronous runtime")]
    Start(#[source] io::Error),
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
}

impl Explain for Error {}

/// A runtime that listens for signals as long as it lives.
#[derive(Debug)]
pub struct Runtime {
    tokio: Option<tokio::runtime::Runtime>,
    interrupted: Option<oneshot::Receiver<&'static str>>,
}

impl Runtime {
    /// Starts the runtime of a command and takes over the signals.
    ///
    /// The work itself is done by the thread that calls [`Runtime::run`]; one more has the signals and the connections.
    ///
    /// # Errors
    /// The system refuses threads or signal handlers.
    pub fn start() -> Result<Self> {
        Self::build(&mut two_threads())
    }

    /// Starts the runtime of a process that serves, with a thread for each processor, and takes over the signals.
    ///
    /// # Errors
    /// As [`Runtime::start`].
    pub fn start_server() -> Result<Self> {
        Self::build(&mut tokio::runtime::Builder::new_multi_thread())
    }

    fn build(builder: &mut tokio::runtime::Builder) -> Result<Self> {
        let tokio = builder.enable_all().build().map_err(Error::Start)?;
        let mut signals = {
            let _context = tokio.enter();
            Signals::listen().map_err(Error::Signals)?
        };
        let (sender, receiver) = oneshot::channel();
        tokio.spawn(async move {
            let signal = signals.next().await;
            if sender.send(signal).is_ok() {
                signals.next().await;
            }
            std::process::exit(Kind::Interrupted.exit_code().into());
        });
        Ok(Self {
            tokio: Some(tokio),
            interrupted: Some(receiver),
        })
    }

    /// Does the work, unless a signal comes first; `left_behind` is the hint about what that leaves.
    ///
    /// # Errors
    /// The work's failure, or the interruption.
    pub fn run<T>(
        &mut self,
        left_behind: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let interrupted = self.interrupted.take().expect("a runtime runs one command");
        self.tokio.as_ref().expect("it is there until the drop").block_on(async {
            tokio::select! {
                biased;
                Ok(signal) = interrupted => Err(Failure::interrupted(format!("interrupted by {signal}")).hint(left_behind)),
                result = work => result,
            }
        })
    }
}

impl Runtime {
    /// Does work that goes on until a signal comes, and ends by itself after that. It is handed what waits for the
    /// signal and returns its name.
    pub fn serve<T>(&mut self, work: impl AsyncFnOnce(FirstSignal) -> T) -> T {
        let signal = self.interrupted.take().expect("a runtime runs one command");
        self.tokio
            .as_ref()
            .expect("it is there until the drop")
            .block_on(work(FirstSignal(signal)))
    }
}

/// tokio's own rule is a thread for each processor, and on a large machine those take longer to start than most commands
/// to do their work.
fn two_threads() -> tokio::runtime::Builder {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1);
    builder
}

/// What waits for the first signal.
#[derive(Debug)]
pub struct FirstSignal(oneshot::Receiver<&'static str>);

impl FirstSignal {
    /// Waits for it and returns its name; to be awaited to the end once. May be given up and begun again before that.
    pub async fn received(&mut self) -> &'static str {
        (&mut self.0)
            .await
            .expect("whoever listens for signals does so to the end")
    }
}

impl Drop for Runtime {
    /// Leaves blocking calls behind, such as one that waits for standard input.
    fn drop(&mut self) {
        if let Some(tokio) = self.tokio.take() {
            tokio.shutdown_background();
        }
    }
}

/// The signals that ask a process to end.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

/// The signals that ask a process to end.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) -> &'static str {
        self.0.recv().await;
        "Ctrl-C"
    }
}

#[cfg(test)]
mod tests {
    use super::two_threads;

    #[test]
    fn a_command_starts_one_thread_whatever_the_machine() {
        let runtime = two_threads().build().unwrap();
        assert_eq!(runtime.metrics().num_workers(), 1);
    }
}
