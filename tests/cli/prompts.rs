//! The questions for missing values, at a pseudo-terminal.
//!
//! A shell runs the command, and notes which modes the terminal has before and after it.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

use crate::environment::TestEnvironment;

/// How long a step may take on a machine that is busy with other things.
const PATIENCE_MS: u64 = 60_000;
pub const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const CTRL_U: &str = "\u{15}";
const ESCAPE: &str = "\u{1b}";
const BACKSPACE: &str = "\u{7f}";
const OFFER: &str = "Enter values now (Esc stops)? [Y/n] ";
const TEMPLATE: &str =
    "region: ${AWS_REGION}\ntoken: ${API_TOKEN}\n# ${API_TOKEN}\nsize: ${SIZE:=1}\n";
const LINE: &str = "generate yaml --from template.yaml";

/// A command at a terminal; its standard output is a file.
pub struct Terminal {
    session: PtySession,
    pub environment: TestEnvironment,
    /// All that was shown.
    shown: String,
}

impl Terminal {
    /// Runs a line of arguments, which may have redirections, where there are templates.
    fn run(line: &str, variables: &[(&str, &str)]) -> Self {
        let environment = TestEnvironment::new();
        environment.write("template.yaml", TEMPLATE);
        environment.write("spellings.yaml", "a: ${region}\nb: ${REGION}\nc: ${SIZE}\n");
        Self::run_in(environment, line, variables)
    }

    /// Runs a line of arguments, which may have redirections, in an environment.
    pub fn run_in(environment: TestEnvironment, line: &str, variables: &[(&str, &str)]) -> Self {
        let binary = env!("CARGO_BIN_EXE_capictl");
        // The inner shell becomes the command, so that its number is the command's; the outer one outlives a Ctrl-C.
        let script = format!(
            "trap : INT; stty echo cols 80 rows 24; stty -g >before; sh -c 'echo \"pid:$$:\"; exec {binary} {line} >out.yaml'; \
             echo \"status:$?:\"; stty -g >after; echo the''end"
        );
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &script])
            .env_clear()
            .env("HOME", environment.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm")
            .envs(variables.iter().copied())
            .current_dir(environment.path(""));
        let session = spawn_command(command, Some(PATIENCE_MS)).unwrap();
        Self {
            session,
            environment,
            shown: String::new(),
        }
    }

    pub fn expect(&mut self, text: &str) {
        match self.session.exp_string(text) {
            Ok(before) => self.shown += &format!("{before}{text}"),
            Err(error) => panic!("{text}: {error}\nbefore: {}", self.shown),
        }
    }

    pub fn send(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
        self.session.flush().unwrap();
    }

    /// Waits for the end; returns the status, standard output, and what was shown. The terminal must be in order.
    fn finish(self) -> (i32, String, String) {
        let (status, written, shown, _) = self.finish_in();
        (status, written, shown)
    }

    /// As [`Terminal::finish`], with the environment.
    pub fn finish_in(mut self) -> (i32, String, String, TestEnvironment) {
        self.expect("theend");
        let (before, after) = self
            .shown
            .split_once("status:")
            .expect("it is before the end");
        let status = after.split(':').next().unwrap();
        let read = |file| fs::read_to_string(self.environment.path(file)).unwrap();
        assert_eq!(read("before"), read("after"), "the modes of the terminal");
        let hidden = before.rfind("\u{1b}[?25l");
        assert!(
            hidden <= before.rfind("\u{1b}[?25h"),
            "the cursor is hidden: {before:?}"
        );
        let shown = before.replace("\u{1b}[?25h", "");
        let status = status.parse().unwrap();
        (status, read("out.yaml"), shown, self.environment)
    }
}

#[test]
fn missing_values_are_asked_for() {
    let mut terminal = Terminal::run(&format!("{LINE} --explain"), &[]);
    terminal.expect("API_TOKEN, AWS_REGION have no value");
    terminal.expect(OFFER);
    terminal.send("y");
    terminal.expect("API_TOKEN (lines 2, 3): ");
    // A paste comes faster than keys are read, and must not be shown either.
    terminal.send("hunter22\u{7f}\r");
    terminal.expect("*");
    terminal.expect("AWS_REGION (line 1): ");
    terminal.send(&format!("\rwrong{CTRL_U}eu-ä{BACKSPACE}west-1"));
    terminal.expect("west-1");
    terminal.send("\r");
    terminal.expect("answer on the terminal");
    let (status, written, shown) = terminal.finish();
    assert_eq!(status, 0, "{shown}");
    assert_eq!(written, "region: eu-west-1\nsize: 1\ntoken: hunter2\n");
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn one_variable_in_two_spellings_is_asked_for_once() {
    let mut terminal = Terminal::run("generate yaml --from spellings.yaml", &[]);
    terminal.expect("REGION, SIZE have no value");
    terminal.expect(OFFER);
    terminal.send("y");
    terminal.expect("REGION (lines 1, 2): ");
    terminal.send("eu\r");
    terminal.expect("SIZE (line 3): ");
    terminal.send("1\r");
    let (status, written, shown) = terminal.finish();
    assert_eq!(status, 0, "{shown}");
    assert_eq!(written, "a: eu\nb: eu\nc: 1\n");
}

#[test]
fn ctrl_c_ends_the_command_and_leaves_the_terminal_in_order() {
    let mut terminal = Terminal::run(LINE, &[]);
    terminal.expect(OFFER);
    terminal.send(CTRL_C);
    let (status, written, shown) = terminal.finish();
    assert_eq!((status, written.as_str()), (130, ""), "{shown}");
    assert!(shown.contains("error: interrupted by Ctrl-C"), "{shown}");

    let mut terminal = Terminal::run(LINE, &[]);
    terminal.expect(OFFER);
    terminal.send("\r");
    terminal.expect("API_TOKEN (lines 2, 3): ");
    terminal.send(&format!("hunter2{CTRL_C}"));
    let (status, written, shown) = terminal.finish();
    assert_eq!((status, written.as_str()), (130, ""), "{shown}");
    assert!(
        shown.contains("\r\nerror: interrupted by Ctrl-C\r\nhint: nothing was written\r\n"),
        "{shown}"
    );
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn a_signal_from_elsewhere_leaves_the_terminal_in_order_too() {
    for keys in ["", "y"] {
        let mut terminal = Terminal::run(LINE, &[]);
        terminal.expect("pid:");
        let process = terminal.session.exp_string(":").unwrap();
        terminal.expect(OFFER);
        if !keys.is_empty() {
            terminal.send(keys);
            terminal.expect("API_TOKEN (lines 2, 3): ");
        }
        let kill = Command::new("sh")
            .args(["-c", &format!("kill -TERM {process}")])
            .status();
        assert!(kill.unwrap().success());
        let (status, written, shown) = terminal.finish();
        assert_eq!((status, written.as_str()), (130, ""), "{shown}");
        assert!(
            shown.contains("\r\nerror: interrupted by SIGTERM"),
            "{shown}"
        );
    }
}

#[test]
fn who_declines_gets_the_ordinary_error() {
    for keys in [&["n"][..], &[ESCAPE], &["y", ESCAPE], &["y", CTRL_D]] {
        let mut terminal = Terminal::run(LINE, &[]);
        terminal.expect(OFFER);
        terminal.send(keys[0]);
        if let Some(key) = keys.get(1) {
            terminal.expect("API_TOKEN (lines 2, 3): ");
            terminal.send(key);
        }
        let (status, written, shown) = terminal.finish();
        assert_eq!((status, written.as_str()), (1, ""), "{keys:?}: {shown}");
        assert!(
            shown.contains("\r\nerror: cannot render `template.yaml`"),
            "{keys:?}: {shown}"
        );
        assert!(
            shown.contains("value for variables [API_TOKEN, AWS_REGION] is not set"),
            "{keys:?}: {shown}"
        );
    }
}

#[test]
fn nobody_is_asked_who_cannot_answer() {
    for (line, variables) in [
        (LINE.to_owned(), &[("CI", "true")][..]),
        (format!("{LINE} </dev/null"), &[]),
        (format!("{LINE} 2>err"), &[]),
    ] {
        let (status, written, shown) = Terminal::run(&line, variables).finish();
        assert_eq!((status, written.as_str()), (1, ""), "{line}: {shown}");
        assert!(!shown.contains("no value"), "{line}: {shown}");
    }
    // An empty `CI` is none.
    let mut terminal = Terminal::run(LINE, &[("CI", "")]);
    terminal.expect(OFFER);
    terminal.send("n");
    assert_eq!(terminal.finish().0, 1);
}

#[test]
fn standard_input_is_not_asked_when_it_is_the_template() {
    let mut terminal = Terminal::run("generate yaml", &[]);
    terminal.expect("Reading the template from standard input");
    terminal.send(&format!("a: ${{NOWHERE}}\n{CTRL_D}"));
    let (status, written, shown) = terminal.finish();
    assert_eq!((status, written.as_str()), (1, ""), "{shown}");
    assert!(
        shown.contains("value for variables [NOWHERE] is not set"),
        "{shown}"
    );
    assert!(!shown.contains("no value"), "{shown}");
}
