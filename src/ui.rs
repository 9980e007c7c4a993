//! Where a command's words go: data to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The channel from a command to its user.
#[derive(Debug, Default)]
pub struct Ui {
    /// The progress line that is on the terminal now; other lines are written above it.
    progress: Mutex<Option<ProgressBar>>,
}

impl Ui {
    /// Writes data to standard output.
    ///
    /// # Errors
    /// Standard output cannot be written to; a reader that went away shows as [`io::ErrorKind::BrokenPipe`].
    pub fn data(&self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes.as_ref())?;
        stdout.flush()
    }

    /// Says on standard error what was done or is being done.
    pub fn status(&self, line: impl AsRef<str>) {
        self.line(line.as_ref());
    }

    /// Warns on standard error.
    pub fn warn(&self, line: impl AsRef<str>) {
        self.line(&format!("warning: {}", line.as_ref()));
    }

    /// Shows what is being waited for: a moving line on a terminal, elsewhere a plain line whenever the text changes.
    ///
    /// The line goes away when the value is dropped.
    pub fn progress(&self, text: impl Into<String>) -> Progress<'_> {
        let text = text.into();
        if io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            bar.set_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .expect("the template is valid"),
            );
            bar.enable_steady_tick(Duration::from_millis(100));
            bar.set_message(text.clone());
            *self.bar() = Some(bar);
        } else if !text.is_empty() {
            self.line(&text);
        }
        Progress { ui: self, text }
    }

    fn line(&self, line: &str) {
        // Standard error that nobody reads any more is no reason to stop.
        let write = || writeln!(io::stderr().lock(), "{line}").ok();
        match &*self.bar() {
            Some(bar) => bar.suspend(write),
            None => write(),
        };
    }

    fn bar(&self) -> std::sync::MutexGuard<'_, Option<ProgressBar>> {
        self.progress.lock().expect("no holder of the lock panics")
    }
}

/// A line about what is being waited for.
#[derive(Debug)]
#[must_use = "the line is gone when this is dropped"]
pub struct Progress<'a> {
    ui: &'a Ui,
    text: String,
}

impl Progress<'_> {
    /// Changes the line.
    pub fn set(&mut self, text: impl Into<String>) {
        let text = text.into();
        if text == self.text {
            return;
        }
        match &*self.ui.bar() {
            Some(bar) => bar.set_message(text.clone()),
            None => {
                writeln!(io::stderr().lock(), "{text}").ok();
            }
        }
        self.text = text;
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if let Some(bar) = self.ui.bar().take() {
            bar.finish_and_clear();
        }
    }
}
