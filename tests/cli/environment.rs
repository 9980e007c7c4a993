//! The binary in a hermetic environment: a home of its own, an empty `PATH`, no variables but those of the test.

use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::github::GitHub;

/// A folder with a home and a `PATH`, removed at the end.
pub struct TestEnvironment {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl TestEnvironment {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self {
            folder,
            variables: Vec::new(),
        }
    }

    /// Sets a variable for all runs.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Leads all runs to the stand-in for GitHub and for web servers.
    pub fn led_to(self, github: &GitHub) -> Self {
        let variables = github.environment().into_iter();
        variables.fold(self, |environment, (name, value)| {
            environment.with(name, value)
        })
    }

    /// Returns the path of a file in the environment's folder, which is the current folder of each run.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: impl AsRef<Path>, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Returns a command of the binary, with its arguments separated by blanks.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_capictl"));
        command
            .args(line.split_whitespace())
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", self.path("bin"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary.
    pub fn run(&self, line: &str) -> Run {
        self.finish(self.command(line).output().unwrap())
    }

    /// Returns the errors of command lines that fail as they should: exit code 1, nothing on standard output.
    pub fn failures(&self, lines: &[&str]) -> String {
        let failure = |line: &&str| {
            let run = self.run(line);
            assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{line}");
            format!("$ capictl {line}\n{}", run.stderr)
        };
        lines.iter().map(failure).collect::<Vec<_>>().join("\n")
    }

    /// Turns what a process left into a [`Run`].
    pub fn finish(&self, output: Output) -> Run {
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(self.folder.path().to_str().unwrap(), "[FOLDER]")
        };
        Run {
            status: output.status.code().expect("no signal ended the process"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// What a finished process left. It prints as one text, for snapshots; paths of the environment as `[FOLDER]`.
#[derive(Debug)]
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            status,
            stdout,
            stderr,
        } = self;
        write!(
            formatter,
            "status: {status}\n---- stdout\n{stdout}---- stderr\n{stderr}"
        )
    }
}
