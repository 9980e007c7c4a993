//! Logs for humans on standard error: level, target, message, fields; no timestamps.

use std::io;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, registry, reload};

use crate::ui;

/// Where kube logs each answer of 500 and above as an error, though its caller may well cope with it.
const KUBE_ANSWERS: &str = "kube_client::client::builder";
/// Where kube warns, once for each client it makes, that the kubeconfig turns off the check of certificates.
const KUBE_TLS: &str = "kube_client::client::tls";

/// The running logs.
pub struct Logging(reload::Handle<Targets, Registry>);

impl Logging {
    /// Starts logging; once per process.
    pub fn start(verbosity: i64) -> Self {
        let (filter, handle) = reload::Layer::new(targets(verbosity));
        let lines = fmt::layer()
            .with_writer(Line::default)
            .without_time()
            .with_ansi(false);
        registry().with(filter).with(lines).init();
        Self(handle)
    }

    /// Changes the verbosity.
    pub fn set(&self, verbosity: i64) {
        self.0
            .reload(targets(verbosity))
            .expect("the subscriber lives as long as the process");
    }
}

/// A line of the log on its way to standard error, where it must not cut into a progress line.
#[derive(Default)]
struct Line(Vec<u8>);

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        ui::write_line(String::from_utf8_lossy(&self.0).trim_end());
    }
}

/// Returns what is logged at a verbosity: of capictl itself, and less of the crates beneath it.
fn targets(verbosity: i64) -> Targets {
    let (own, others) = match verbosity {
        ..=0 => (LevelFilter::WARN, LevelFilter::WARN),
        1..=3 => (LevelFilter::INFO, LevelFilter::WARN),
        4..=5 => (LevelFilter::DEBUG, LevelFilter::INFO),
        6..=8 => (LevelFilter::TRACE, LevelFilter::DEBUG),
        9.. => (LevelFilter::TRACE, LevelFilter::TRACE),
    };
    let answers = if own == LevelFilter::TRACE {
        others
    } else {
        LevelFilter::OFF
    };
    Targets::new()
        .with_default(others)
        .with_target("capictl", own)
        .with_target(KUBE_ANSWERS, answers)
        .with_target(KUBE_TLS, answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn verbosity_opens_our_own_logs_first() {
        let table = [
            (-1, Level::WARN, Level::WARN),
            (0, Level::WARN, Level::WARN),
            (1, Level::INFO, Level::WARN),
            (3, Level::INFO, Level::WARN),
            (4, Level::DEBUG, Level::INFO),
            (5, Level::DEBUG, Level::INFO),
            (6, Level::TRACE, Level::DEBUG),
            (9, Level::TRACE, Level::TRACE),
        ];
        for (verbosity, own, others) in table {
            let highest = |target: &str| {
                let levels = [
                    Level::TRACE,
                    Level::DEBUG,
                    Level::INFO,
                    Level::WARN,
                    Level::ERROR,
                ];
                levels
                    .into_iter()
                    .find(|level| targets(verbosity).would_enable(target, level))
            };
            assert_eq!(highest("capictl::ops"), Some(own), "{verbosity}");
            assert_eq!(highest("hyper"), Some(others), "{verbosity}");
            assert_eq!(
                highest(KUBE_ANSWERS).is_some(),
                verbosity > 5,
                "{verbosity}"
            );
        }
    }
}
