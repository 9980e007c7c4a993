//! Questions on the terminal. They are written to standard error and answered on standard input.
//!
//! While a [`Dialogue`] lives, the terminal shows nothing of what is typed by itself and sends no signals, so that hidden
//! answers stay hidden however fast they come. Whatever ends the dialogue, its drop puts the terminal in order again.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dialoguer::Confirm;
use dialoguer::console::{Key, Term};

use super::Ui;

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// An answer.
    Given(T),
    /// No answer: Esc, Ctrl-D, or the terminal went away.
    Declined,
    /// Ctrl-C.
    Interrupted,
}

impl Ui {
    /// Tells whether somebody sits before the terminal who can read a question and answer it.
    pub fn can_ask(self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

/// A terminal that is ready for questions.
#[derive(Debug)]
#[must_use = "the terminal is as before when this is dropped"]
pub struct Dialogue {
    /// Whether a question waits on its line.
    open: Arc<AtomicBool>,
    _modes: modes::Saved,
}

impl Dialogue {
    /// Prepares the terminal.
    ///
    /// # Errors
    /// There is none.
    pub fn begin() -> io::Result<Self> {
        Ok(Self {
            open: Arc::default(),
            _modes: modes::Saved::quiet()?,
        })
    }

    /// Returns a question that blocks its thread until it is answered with yes or no; Enter alone is yes.
    pub fn confirm(&self, question: String) -> impl FnOnce() -> Answer<bool> + Send + use<> {
        let open = self.open.clone();
        move || {
            let _line = Line::begin(&open);
            let confirm = Confirm::new().with_prompt(question).default(true);
            let answer = confirm.interact_on_opt(&Term::stderr());
            // An answer ends the line by itself.
            open.store(answer.is_err(), Ordering::Relaxed);
            match answer {
                Ok(Some(answer)) => Answer::Given(answer),
                Ok(None) => Answer::Declined,
                Err(dialoguer::Error::IO(error)) => after(&error),
            }
        }
    }

    /// Returns a question that blocks its thread until it is answered with a text, which is shown as `*` when it is to be
    /// `hidden`. Enter alone is no answer.
    pub fn ask(
        &self,
        question: String,
        hidden: bool,
    ) -> impl FnOnce() -> Answer<String> + Send + use<> {
        let open = self.open.clone();
        move || {
            let _line = Line::begin(&open);
            let terminal = Term::stderr();
            let asked = terminal.write_str(&format!("{question}: "));
            match asked.and_then(|()| read(&terminal, hidden)) {
                Ok(answer) => answer,
                Err(error) => after(&error),
            }
        }
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        end_line(&self.open);
    }
}

/// A question's line, which ends with it.
struct Line<'a>(&'a AtomicBool);

impl<'a> Line<'a> {
    fn begin(open: &'a AtomicBool) -> Self {
        open.store(true, Ordering::Relaxed);
        Self(open)
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        end_line(self.0);
    }
}

/// What comes next begins on a line of its own, and with a cursor.
fn end_line(open: &AtomicBool) {
    if open.swap(false, Ordering::Relaxed) {
        let terminal = Term::stderr();
        terminal.show_cursor().ok();
        terminal.write_line("").ok();
    }
}

/// A terminal that cannot be read any more gives no answer.
fn after<T>(error: &io::Error) -> Answer<T> {
    match error.kind() {
        io::ErrorKind::Interrupted => Answer::Interrupted,
        _ => Answer::Declined,
    }
}

/// Reads a line by its keys: a terminal that reads whole lines itself hears neither Esc nor Ctrl-D amid a line.
fn read(terminal: &Term, hidden: bool) -> io::Result<Answer<String>> {
    const END: char = '\u{4}';
    const CLEAR: char = '\u{15}';
    let mut typed = String::new();
    let shown = |c: char| if hidden { '*' } else { c };
    loop {
        match terminal.read_key_raw()? {
            Key::Enter if !typed.is_empty() => return Ok(Answer::Given(typed)),
            Key::CtrlC => return Ok(Answer::Interrupted),
            Key::Escape | Key::Char(END) => return Ok(Answer::Declined),
            Key::Backspace => {
                if let Some(c) = typed.pop() {
                    terminal.clear_chars(width(shown(c)))?;
                }
            }
            Key::Char(CLEAR) => {
                terminal.clear_chars(typed.chars().map(|c| width(shown(c))).sum())?;
                typed.clear();
            }
            Key::Char(c) if !c.is_control() => {
                typed.push(c);
                terminal.write_str(shown(c).encode_utf8(&mut [0; 4]))?;
            }
            _ => {}
        }
    }
}

fn width(c: char) -> usize {
    dialoguer::console::measure_text_width(c.encode_utf8(&mut [0; 4]))
}

#[cfg(unix)]
mod modes {
    use std::io::{self, Stdin};

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// The modes of the terminal before the dialogue.
    #[derive(Debug)]
    pub struct Saved {
        stdin: Stdin,
        before: Termios,
    }

    impl Saved {
        /// Switches echo, lines and signals off.
        pub fn quiet() -> io::Result<Self> {
            let stdin = io::stdin();
            let before = tcgetattr(&stdin)?;
            let mut quiet = before.clone();
            quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
            tcsetattr(&stdin, OptionalActions::Drain, &quiet)?;
            Ok(Self { stdin, before })
        }
    }

    impl Drop for Saved {
        fn drop(&mut self) {
            tcsetattr(&self.stdin, OptionalActions::Now, &self.before).ok();
        }
    }
}

#[cfg(not(unix))]
mod modes {
    use std::io;

    /// The console restores its modes after each key.
    #[derive(Debug)]
    pub struct Saved;

    impl Saved {
        pub fn quiet() -> io::Result<Self> {
            Ok(Self)
        }
    }
}
