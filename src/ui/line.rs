//! The last line of the terminal, which changes until it is gone.

use std::io;

use dialoguer::console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, TermLike};

/// Columns that stay free: a terminal shows `^C` of the key at the end of the line, and a line that it breaks for that cannot be
/// taken away.
const MARGIN: u16 = 3;
/// How often a second the line is drawn at most.
const RATE: u8 = 20;

/// Returns the line, for a standard error that is a terminal.
pub(super) fn show() -> ProgressBar {
    let terminal = Box::new(Terminal(Term::buffered_stderr()));
    ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like_with_hz(terminal, RATE))
}

/// The terminal, with a margin.
#[derive(Debug)]
struct Terminal(Term);

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        let (_, width) = self.0.size();
        width.saturating_sub(MARGIN).max(1)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.0.move_cursor_up(count)
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.0.move_cursor_down(count)
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.0.move_cursor_right(count)
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.0.move_cursor_left(count)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}
