//! The life of a manager's process: logs, signals, exit code.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::ValueEnum;

use crate::cli::args::GlobalArgs;
use crate::cli::logging::{Format, Logging};
use crate::cli::runtime::{FirstSignal, Runtime};
use crate::cli::session;
use crate::config::Environment;
use crate::controllers::manager::GRACE;
use crate::error::{Failure, Result};
use crate::ops::run_local::{Prepared, RunLocalOptions, missing_variables, prepare};
use crate::ui::Ui;

/// The forms of the log that `--log-format` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For a person.
    Text,
    /// One object a line.
    Json,
}

/// What the command line says of the log's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogChoice {
    /// Nothing.
    Open,
    /// A form of our own.
    Ours(LogFormat),
    /// That of kubebuilder's scaffold.
    Zap,
}

impl LogChoice {
    /// Joins the two flags, which exclude each other.
    pub fn new(format: Option<LogFormat>, zap_devel: bool) -> Self {
        match (zap_devel, format) {
            (true, _) => Self::Zap,
            (false, Some(format)) => Self::Ours(format),
            (false, None) => Self::Open,
        }
    }

    /// Chooses `format` if nothing is chosen.
    #[must_use]
    pub fn or(self, format: LogFormat) -> Self {
        match self {
            Self::Open => Self::Ours(format),
            chosen => chosen,
        }
    }

    fn format(self, environment: &Environment) -> Format {
        match self {
            Self::Zap => Format::Zap,
            Self::Ours(LogFormat::Json) => Format::Json,
            Self::Open | Self::Ours(LogFormat::Text) => Format::Person {
                color: io::stderr().is_terminal() && !environment.no_color(),
            },
        }
    }

    /// A manager's log begins where a command's ends: at what is done. zap's development mode has debug lines too.
    fn least_verbosity(self) -> i64 {
        match self {
            Self::Zap => 4,
            _ => 1,
        }
    }
}

/// Runs a manager until a signal, and returns the exit code.
///
/// # Errors
/// The operation's own, unless the log has told of it.
pub fn run(global: GlobalArgs, logs: LogChoice, options: RunLocalOptions) -> Result<ExitCode> {
    let mut runtime = Runtime::start_server()?;
    let environment = Environment::from_process();
    let format = logs.format(&environment);
    let least = logs.least_verbosity();
    let logging = Logging::start(global.verbosity);
    logging.choose(format);
    let result = runtime.serve(async |mut signal| {
        let preparation = async {
            let session = session::open(global, environment, &logging, least).await?;
            if format == Format::Zap {
                log_missing(&missing_variables(&session.config));
            }
            prepare(&session, options).await
        };
        let prepared = tokio::select! {
            biased;
            name = signal.received() => {
                say(format, &format!("Stopped by {name}, before anything had begun"));
                return Ok(());
            }
            prepared = preparation => prepared?,
        };
        announce(format, &prepared);
        prepared.run(stop(signal, format)).await?;
        say(format, "Stopped");
        Ok(())
    });
    match result {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failure) if format == Format::Json => Ok(log_failure(&failure)),
        Err(failure) => Err(failure),
    }
}

/// The lines of the tutorial's manager, which stops at the first one.
fn log_missing(names: &[&str]) {
    for name in names {
        tracing::info!(logger = "setup", "missing required env {name}");
    }
}

fn announce(format: Format, prepared: &Prepared) {
    for line in prepared.describe() {
        say(format, &line);
    }
    say(
        format,
        &format!(
            "Ctrl-C stops it when mails on their way are done, within {GRACE:?}; a second one stops it at once"
        ),
    );
}

async fn stop(mut signal: FirstSignal, format: Format) {
    let name = signal.received().await;
    say(
        format,
        &format!(
            "Stopping after {name}: mails on their way are being finished, for {GRACE:?} at most; once more stops at once"
        ),
    );
}

/// Speaks to a person; machines have the log.
fn say(format: Format, line: &str) {
    if matches!(format, Format::Person { .. }) {
        Ui.status(line);
    }
}

/// Who reads JSON lines is not to stumble over another kind of line at the end.
fn log_failure(failure: &Failure) -> ExitCode {
    let error = failure.chain().collect::<Vec<_>>().join(": ");
    let hints = serde_json::json!(failure.hints());
    tracing::error!(logger = "setup", error, %hints, "problem running manager");
    ExitCode::from(failure.kind().exit_code())
}
