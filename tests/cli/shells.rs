//! Completion as a user sees it: real shells at a pseudo-terminal, the scripts of `completions/`, the Tab key.
//!
//! Each shell gets a key that prints its line as it is, so that a test waits for what it asked for and for nothing else.
#![cfg(unix)]

use std::env;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

use crate::environment::TestEnvironment;

/// How long a shell may take on a machine that is busy with other things.
const PATIENCE_MS: u64 = 60_000;
const TAB: char = '\t';
/// Ctrl-O: prints the line.
const SHOW: char = '\u{f}';
/// Ctrl-U: empties the line.
const CLEAR: char = '\u{15}';

struct Shell {
    program: &'static str,
    arguments: &'static [&'static str],
    /// Makes the prompt known and binds the key.
    setup: &'static str,
}

const BASH: Shell = Shell {
    program: "bash",
    arguments: &["--norc", "--noprofile", "-i"],
    setup: r#"show() { echo "<<$READLINE_LINE>>"; }; bind -x '"\C-o": show'; bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'; bind 'set page-completions off'"#,
};
const ZSH: Shell = Shell {
    program: "zsh",
    arguments: &["-f", "-i"],
    setup: r#"unset zle_bracketed_paste; autoload -Uz compinit; compinit -u -d compdump; show() { zle -I; print -r -- "<<$BUFFER>>"; }; zle -N show; bindkey '^O' show; bindkey '^U' kill-whole-line; setopt no_beep no_list_ambiguous"#,
};
const FISH: Shell = Shell {
    program: "fish",
    arguments: &["--no-config", "-i"],
    setup: r#"function show; echo "<<"(commandline)">>"; end; bind \co show; bind \cu kill-whole-line; set -U fish_autosuggestion_enabled 0"#,
};

/// A shell that waits at its prompt.
struct Terminal {
    session: PtySession,
    environment: TestEnvironment,
}

impl Terminal {
    fn open(shell: &Shell) -> Self {
        let environment = TestEnvironment::new();
        environment.write(
            "home/.kube/config",
            "contexts: [{name: here-and-now}, {name: here-today}]\n",
        );
        environment.write("a folder/kubeconfig", "");
        symlink(
            env!("CARGO_BIN_EXE_capictl"),
            environment.path("bin/capictl"),
        )
        .unwrap();
        let mut command = Command::new(find(shell.program));
        command
            .args(shell.arguments)
            .env_clear()
            .env("HOME", environment.path("home"))
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", environment.path("bin").display()),
            )
            .env("TERM", "xterm")
            .env("PS1", "$ ")
            .current_dir(environment.path(""));
        let mut session = spawn_command(command, Some(PATIENCE_MS)).unwrap();
        // Interactive shells pay no heed to the polite signal at the end.
        session.process_mut().set_kill_timeout(Some(1));
        let mut terminal = Self {
            session,
            environment,
        };
        terminal.run("stty cols 250 rows 60");
        terminal.run(shell.setup);
        terminal
    }

    /// Types, as fast as a terminal takes it.
    fn send(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
        self.session.flush().unwrap();
    }

    /// Runs a command to its end.
    fn run(&mut self, line: &str) {
        // What is typed is echoed, but not what `printf` makes of it.
        self.send(&format!("{line}; printf 'do%s\\n' ne\r"));
        self.session.exp_string("done").unwrap();
    }

    /// Types a line, presses Tab, and returns the line as it is then, and all that was shown meanwhile.
    fn press_tab(&mut self, line: &str) -> (String, String) {
        self.send(&format!("{CLEAR}{line}{TAB}{SHOW}"));
        let shown = self.session.exp_string("<<").unwrap();
        let result = self.session.exp_string(">>").unwrap();
        (result, without_escapes(&shown))
    }
}

/// Returns the program's path. A shell that is missing is an error: a test that runs nothing proves nothing.
fn find(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("`{program}` is missing, install it: `apt-get install {program}` or `brew install {program}`"))
}

/// Drops colours and movements of the cursor.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => {
                if rest.next() == Some('[') {
                    rest.by_ref().find(|c| c.is_ascii_alphabetic());
                }
            }
            character => plain.push(character),
        }
    }
    plain
}

/// What every shell does alike: the line, and what Tab makes of it.
fn ensure_completes(terminal: &mut Terminal) {
    let version = env!("CARGO_PKG_VERSION");
    for (line, expected) in [
        ("capictl gen", "capictl generate "),
        ("capictl generate clu", "capictl generate cluster "),
        (
            "capictl init --wait-providers --kubec",
            "capictl init --wait-providers --kubeconfig",
        ),
        (
            "capictl config repositories -o y",
            "capictl config repositories -o yaml ",
        ),
        (
            "capictl config repositories --output=y",
            "capictl config repositories --output=yaml ",
        ),
        (
            "capictl init -i docker,mailg",
            "capictl init -i docker,mailgun ",
        ),
        (
            "capictl init --infrastructure=mailg",
            "capictl init --infrastructure=mailgun ",
        ),
        (
            "capictl init -i mailgun:",
            &format!("capictl init -i mailgun:v{version} "),
        ),
        (
            "capictl init --infrastructure=mailgun:v",
            &format!("capictl init --infrastructure=mailgun:v{version} "),
        ),
        (
            "capictl init --kubeconfig-context here-t",
            "capictl init --kubeconfig-context here-today ",
        ),
        (
            "capictl -v 3 init --kubeconfig-context here-a",
            "capictl -v 3 init --kubeconfig-context here-and-now ",
        ),
        (
            "capictl generate cluster c -i mailgun --flavor clu",
            "capictl generate cluster c -i mailgun --flavor clusterclass ",
        ),
        (
            "capictl init --kubeconfig a\\ fol",
            "capictl init --kubeconfig a\\ folder/",
        ),
        (
            "capictl init --kubeconfig ~/.ku",
            "capictl init --kubeconfig ~/.kube/",
        ),
        // No kubeconfig leads to a server: nothing happens, and nothing is said.
        (
            "capictl init --target-namespace def",
            "capictl init --target-namespace def",
        ),
    ] {
        let (result, shown) = terminal.press_tab(line);
        assert_eq!(result, expected, "{line}: {shown}");
        assert!(!shown.contains("rror"), "{line}: {shown}");
    }
    let (result, shown) = terminal.press_tab("capictl init --kubeconfig-context ");
    assert!(
        result.starts_with("capictl init --kubeconfig-context "),
        "{result}"
    );
    assert!(
        shown.contains("here-and-now") && shown.contains("here-today"),
        "{shown}"
    );
}

fn completions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("completions")
}

#[test]
fn bash_completes() {
    let mut terminal = Terminal::open(&BASH);
    terminal.run("source <(capictl completion bash)");
    ensure_completes(&mut terminal);
    // Without `:` and `=` among the characters that end a word, as some have it.
    terminal.run("COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/}");
    ensure_completes(&mut terminal);
}

#[test]
fn zsh_completes() {
    let mut terminal = Terminal::open(&ZSH);
    terminal.run("source <(capictl completion zsh)");
    ensure_completes(&mut terminal);
}

/// The first Tab loads the function, and answers too.
#[test]
fn zsh_completes_from_a_folder_of_fpath() {
    let mut terminal = Terminal::open(&ZSH);
    let folder = terminal.environment.path("functions");
    std::fs::create_dir(&folder).unwrap();
    symlink(completions().join("_capictl"), folder.join("_capictl")).unwrap();
    let path = folder.display();
    terminal.run(&format!("fpath=({path} $fpath); compinit -u -d other-dump"));
    ensure_completes(&mut terminal);
}

#[test]
fn fish_completes() {
    let mut terminal = Terminal::open(&FISH);
    terminal.run("capictl completion fish | source");
    ensure_completes(&mut terminal);
}
