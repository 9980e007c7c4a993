//! Where a command's words go: data to standard output, everything else to standard error.

pub mod dialogue;
mod downloads;
mod line;

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub use downloads::{Downloads, State};

/// The progress line that is on the terminal now, for a process has one terminal; other lines are written above it.
static PROGRESS: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The channel from a command to its user.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ui;

impl Ui {
    /// Writes data to standard output.
    ///
    /// # Errors
    /// Standard output cannot be written to; a reader that went away shows as [`io::ErrorKind::BrokenPipe`].
    pub fn data(self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes.as_ref())?;
        stdout.flush()
    }

    /// Says on standard error what was done or is being done.
    pub fn status(self, line: impl AsRef<str>) {
        write_line(line.as_ref());
    }

    /// Warns on standard error.
    pub fn warn(self, line: impl AsRef<str>) {
        write_line(&format!("warning: {}", line.as_ref()));
    }

    /// Shows what is being waited for: a moving line on a terminal, elsewhere a plain line whenever the text changes.
    /// The line is gone when `progress` is dropped.
    pub fn show_progress(self, progress: &mut Option<Progress>, text: impl Into<String>) {
        let text = text.into();
        let progress = progress.get_or_insert_with(Progress::start);
        if text != progress.text {
            match &*bar() {
                Some(bar) => bar.set_message(text.clone()),
                None => write_plain(&text),
            }
            progress.text = text;
        }
    }
}

/// Writes a line to standard error, above the progress line if there is one. Logs come this way too.
pub fn write_line(line: &str) {
    match &*bar() {
        Some(bar) => bar.suspend(|| write_plain(line)),
        None => write_plain(line),
    }
}

/// Standard error that nobody reads any more is no reason to stop.
fn write_plain(line: &str) {
    writeln!(io::stderr().lock(), "{line}").ok();
}

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    PROGRESS.lock().expect("no holder of the lock panics")
}

/// A line about what is being waited for.
#[derive(Debug)]
#[must_use = "the line is gone when this is dropped"]
pub struct Progress {
    text: String,
}

impl Progress {
    fn start() -> Self {
        if io::stderr().is_terminal() {
            let line = line::show();
            line.set_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .expect("the template is valid"),
            );
            line.enable_steady_tick(Duration::from_millis(100));
            *bar() = Some(line);
        }
        Self {
            text: String::new(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = bar().take() {
            bar.finish_and_clear();
        }
    }
}
