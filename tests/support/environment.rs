//! A hermetic environment for command lines under test: homes of its own, none of the caller's variables, and a
//! `clusterctl.yaml` that names the local provider repository.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::binaries;

/// The release of cert-manager in `tests/fixtures/cert-manager`.
pub const CERT_MANAGER: &str = "v1.21.1";

/// How long a command may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs commands with exactly the variables that it holds.
pub struct Environment {
    home: TempDir,
    variables: BTreeMap<String, String>,
}

/// What a command left behind when it ended.
#[derive(Debug, Clone)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    pub status: ExitStatus,
}

impl Environment {
    /// Makes an environment without a kubeconfig and with the test-bed's `clusterctl.yaml` in its place.
    pub fn new() -> Result<Self> {
        let home = tempfile::Builder::new().prefix("capictl-home-").tempdir()?;
        let folder = |name: &str| home.path().join(name).display().to_string();
        let variables = [
            ("HOME", home.path().display().to_string()),
            ("XDG_CONFIG_HOME", folder(".config")),
            ("XDG_CACHE_HOME", folder(".cache")),
            ("XDG_DATA_HOME", folder(".local/share")),
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("TMPDIR", folder("tmp")),
            ("TERM", "dumb".into()),
            ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true".into()), // else it asks the internet for news
            ("CLUSTER_TOPOLOGY", "true".into()), // a feature gate in the managers' flags
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value));
        fs::create_dir(home.path().join("tmp"))?;
        let environment = Self {
            variables: variables.into_iter().collect(),
            home,
        };
        environment.write(
            ".config/cluster-api/clusterctl.yaml",
            &render_clusterctl_yaml()?,
        )?;
        Ok(environment)
    }

    /// Makes an environment whose KUBECONFIG is this file.
    pub fn with_kubeconfig(kubeconfig: &Path) -> Result<Self> {
        let mut environment = Self::new()?;
        environment.set("KUBECONFIG", kubeconfig.display().to_string());
        Ok(environment)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// Removes a variable.
    pub fn unset(&mut self, name: &str) -> &mut Self {
        self.variables.remove(name);
        self
    }

    /// Returns the home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the path of the `clusterctl.yaml` that commands find by themselves.
    pub fn config(&self) -> PathBuf {
        self.home().join(".config/cluster-api/clusterctl.yaml")
    }

    /// Writes a file into the home folder and returns its path.
    pub fn write(&self, path: &str, content: &str) -> Result<PathBuf> {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().context("a file needs a folder")?)?;
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Runs the binary under test.
    pub async fn capictl<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output> {
        self.run(&capictl()?, arguments).await
    }

    /// Runs the reference `clusterctl`.
    pub async fn clusterctl<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output> {
        self.run(&binaries::clusterctl()?, arguments).await
    }

    /// Runs kubectl.
    pub async fn kubectl<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output> {
        self.run(&binaries::kubectl()?, arguments).await
    }

    /// Runs a program in the home folder, without input; one that does not end is killed and is an error.
    pub async fn run<S: AsRef<OsStr>>(&self, program: &Path, arguments: &[S]) -> Result<Output> {
        finish(self.command(program, arguments).spawn()?)
            .await
            .with_context(|| format!("{}", program.display()))
    }

    /// Runs a program like [`Environment::run`], with this input.
    pub async fn run_with_input<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: &[S],
        input: &str,
    ) -> Result<Output> {
        let mut command = self.command(program, arguments);
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().context("no stdin")?;
        let input = input.as_bytes().to_vec();
        // Beside it, since the program may write before it has read all; one that does not read is no error.
        tokio::spawn(async move { stdin.write_all(&input).await });
        finish(child)
            .await
            .with_context(|| format!("{}", program.display()))
    }

    /// Starts a program, to be finished by [`finish`] or to be killed when it is dropped.
    pub fn spawn<S: AsRef<OsStr>>(&self, program: &Path, arguments: &[S]) -> Result<Child> {
        Ok(self.command(program, arguments).spawn()?)
    }

    /// Returns a command with this environment, its outputs piped, its input empty.
    pub fn command<S: AsRef<OsStr>>(&self, program: &Path, arguments: &[S]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(&self.variables)
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

/// Returns the path of the binary under test, which cargo builds for tests and benches only.
pub fn capictl() -> Result<PathBuf> {
    let path = option_env!("CARGO_BIN_EXE_capictl");
    Ok(path
        .context("only tests and benches know `capictl`")?
        .into())
}

/// Waits for the end of a program and collects its outputs.
pub async fn finish(mut child: Child) -> Result<Output> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let all = async { tokio::try_join!(read(stdout), read(stderr), child.wait()) };
    match tokio::time::timeout(PATIENCE, all).await {
        Ok(result) => {
            let (stdout, stderr, status) = result?;
            Ok(Output {
                stdout,
                stderr,
                status,
            })
        }
        Err(_) => anyhow::bail!("did not end within {PATIENCE:?}"),
    }
}

async fn read(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Output {
    /// Returns standard output, or panics with all of the output if the command failed.
    #[track_caller]
    pub fn success(self) -> String {
        assert!(self.status.success(), "{self}");
        self.stdout
    }

    /// Returns standard error, or panics with all of the output if the command succeeded.
    #[track_caller]
    pub fn failure(self) -> String {
        assert!(!self.status.success(), "{self}");
        self.stderr
    }
}

impl Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stdout,
            stderr,
            status,
        } = self;
        write!(
            formatter,
            "{status}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}

/// Renders a `clusterctl.yaml` with the four providers of the local repository and the fixture of cert-manager.
pub fn render_clusterctl_yaml() -> Result<String> {
    let repository = binaries::repository()?;
    let version = binaries::cluster_api_version()?;
    let cert_manager = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/cert-manager")
        .join(CERT_MANAGER)
        .join("cert-manager.yaml");
    let provider = |name: &str, kind: &str, label: &str, file: &str| {
        let url = repository.join(label).join(&version).join(file);
        format!("- name: {name}\n  type: {kind}\n  url: {}\n", url.display())
    };
    Ok([
        "providers:\n".to_owned(),
        provider(
            "cluster-api",
            "CoreProvider",
            "cluster-api",
            "core-components.yaml",
        ),
        provider(
            "kubeadm",
            "BootstrapProvider",
            "bootstrap-kubeadm",
            "bootstrap-components.yaml",
        ),
        provider(
            "kubeadm",
            "ControlPlaneProvider",
            "control-plane-kubeadm",
            "control-plane-components.yaml",
        ),
        provider(
            "docker",
            "InfrastructureProvider",
            "infrastructure-docker",
            "infrastructure-components-development.yaml",
        ),
        format!(
            "cert-manager:\n  url: {}\n  version: {CERT_MANAGER}\n",
            cert_manager.display()
        ),
    ]
    .concat())
}
