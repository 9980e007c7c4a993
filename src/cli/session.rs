//! What a command needs that does more than print: the runtime, the logs, the configuration.

use std::sync::Arc;

use super::args::GlobalArgs;
use super::logging::Logging;
use super::output;
use super::runtime::Runtime;
use super::values::given;
use crate::config::{Config, Environment};
use crate::error::{Failure, Result};
use crate::http::{Download, Http, Options};
use crate::ops::Session;
use crate::ui::{Downloads, State};

/// What this program calls itself to servers.
const USER_AGENT: &str = concat!("capictl/", env!("CARGO_PKG_VERSION"));

/// Runs a command in a session and prints the text that it returns; `left_behind` is the hint after an interruption.
///
/// # Errors
/// The command's failure, or that of its surroundings.
pub fn online(
    global: GlobalArgs,
    left_behind: &str,
    command: impl AsyncFnOnce(&mut Session) -> Result<String>,
) -> Result<()> {
    let mut runtime = Runtime::start()?;
    let text = runtime.run(left_behind, async {
        let logging = Logging::start(global.verbosity);
        let mut session = open(global, Environment::from_process(), &logging, 0).await?;
        command(&mut session).await
    })?;
    output::print(&text)
}

/// Loads the configuration, and logs from then on as flags or configuration say, but not less than `least`.
///
/// # Errors
/// The configuration cannot be read.
pub async fn open(
    global: GlobalArgs,
    environment: Environment,
    logging: &Logging,
    least: i64,
) -> Result<Session> {
    let GlobalArgs {
        verbosity,
        config,
        ca_file,
        offline,
        ..
    } = global;
    let ca_file = given(ca_file);
    let http = Http::with_options(http_options(ca_file.clone())?);
    let config = Config::load(given(config).as_deref(), environment, &http).await?;
    // As with clusterctl, `-v 0` is like no `-v` at all.
    let level = match verbosity {
        0 => config.log_level()?.map_or(0, i64::from),
        given => given,
    };
    logging.set(level.max(least));
    Ok(Session::new(config, http).offline(offline).ca_file(ca_file))
}

/// Returns the settings of the client for downloads, which are shown when they take their time.
fn http_options(ca_file: Option<String>) -> Result<Options> {
    let extra_certificates = ca_file.map(read_certificates).transpose()?;
    let downloads = Downloads::default();
    let observer = move |download: &Download| {
        let state = State {
            label: &download.label,
            received: download.received,
            total: download.total,
        };
        downloads.note(download.id, (!download.ended).then_some(state));
    };
    Ok(Options {
        extra_certificates,
        observer: Some(Arc::new(observer)),
        ..Options::new(USER_AGENT)
    })
}

fn read_certificates(path: String) -> Result<String> {
    let hint = "`--ca-file` takes a PEM file of CA certificates";
    match std::fs::read_to_string(&path) {
        Ok(text) if text.contains("-----BEGIN CERTIFICATE-----") => Ok(text),
        Ok(_) => Err(Failure::new(format!("`{path}` has no PEM certificate in it")).hint(hint)),
        Err(error) => Err(Failure::new(error)
            .context(format!("cannot read `{path}`"))
            .hint(hint)),
    }
}

/// Returns a session for questions that must not take long and have no use for errors; none where the configuration
/// cannot be read from the disk.
pub async fn offline(config: Option<&str>) -> Option<Session> {
    if config.is_some_and(|config| config.contains("://")) {
        return None;
    }
    let http = Http::new(USER_AGENT);
    let config = Config::load(config, Environment::from_process(), &http).await;
    Some(Session::new(config.ok()?, http))
}
