//! What surrounds one reconcile: it is counted, its panic is caught, and its failure has a wait.

use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::future::Future;
use std::hash::Hash;
use std::time::Duration;

use super::backoff::Backoff;
use super::metrics::{ControllerMetrics, Outcome};
use super::panic::{Panicked, catch};

/// Why a reconcile failed.
#[derive(Debug, PartialEq)]
pub enum Cause<E> {
    /// It says so itself.
    Error(E),
    /// It panicked.
    Panic(Panicked),
}

/// A reconcile that failed, and when it is to be tried again.
#[derive(Debug, PartialEq)]
pub struct Failed<E> {
    /// Why.
    pub cause: Cause<E>,
    /// How long to wait; `None` if a repetition would not help.
    pub wait: Option<Duration>,
}

impl<E: Display> Display for Failed<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Error(error) => error.fmt(formatter),
            Cause::Panic(panic) => panic.fmt(formatter),
        }
    }
}

impl<E: StdError> StdError for Failed<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.cause {
            Cause::Error(error) => error.source(),
            Cause::Panic(_) => None,
        }
    }
}

/// Does the work of one reconcile; `judge` says what its result counts as.
///
/// # Errors
/// The work's error or its panic, with the wait that follows from the object's failures in a row.
pub async fn run<K: Eq + Hash, T, E>(
    metrics: &ControllerMetrics,
    backoff: &Backoff<K>,
    key: K,
    work: impl Future<Output = Result<T, E>>,
    judge: impl FnOnce(&Result<T, E>) -> Outcome,
) -> Result<T, Failed<E>> {
    let running = metrics.begin();
    let (outcome, result) = match catch(work).await {
        Ok(result) => (judge(&result), result.map_err(Cause::Error)),
        Err(panic) => {
            tracing::error!(error = %panic, "Observed a panic");
            (Outcome::Panic, Err(Cause::Panic(panic)))
        }
    };
    running.end(outcome);
    match result {
        Ok(value) => {
            backoff.forget(&key);
            Ok(value)
        }
        Err(cause) => {
            let is_final = outcome == Outcome::TerminalError;
            let wait = (!is_final).then(|| backoff.failed(key));
            Err(Failed { cause, wait })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::manager::metrics::Metrics;

    fn judge(result: &Result<(), &'static str>) -> Outcome {
        match result {
            Ok(()) => Outcome::Success,
            Err("for good") => Outcome::TerminalError,
            Err(_) => Outcome::Error,
        }
    }

    #[tokio::test]
    async fn failures_and_panics_back_off_together_until_a_success() {
        let metrics = Metrics::new("lease", &[("c", 1)]);
        let controller = metrics.controller("c").unwrap();
        let backoff = Backoff::default();
        let error = run(controller, &backoff, "a", async { Err("bad") }, judge).await;
        let wait = Some(Duration::from_millis(5));
        let cause = Cause::Error("bad");
        assert_eq!(error, Err(Failed { cause, wait }));
        let panics = async { panic!("worse") };
        let error = run(controller, &backoff, "a", panics, judge)
            .await
            .unwrap_err();
        assert_eq!(error.wait, Some(Duration::from_millis(10)));
        assert_eq!(error.to_string(), "panicked: worse");
        let last = run(controller, &backoff, "a", async { Err("for good") }, judge).await;
        assert_eq!(last.unwrap_err().wait, None);
        run(controller, &backoff, "a", async { Ok(()) }, judge)
            .await
            .unwrap();
        assert_eq!(backoff.failed("a"), Duration::from_millis(5));
        let text = metrics.encode();
        for line in [
            r#"controller_runtime_reconcile_errors_total{controller="c"} 3"#,
            r#"controller_runtime_reconcile_panics_total{controller="c"} 1"#,
            r#"controller_runtime_active_workers{controller="c"} 0"#,
        ] {
            assert!(text.contains(line), "no `{line}` in\n{text}");
        }
    }
}
