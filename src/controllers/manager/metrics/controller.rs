//! What is told of each controller: reconciles by result, their time, and the work that is under way.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::{Labels, family};

/// Upper bounds of the reconcile time in seconds; those of controller-runtime.
const RECONCILE_SECONDS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];

/// How a reconcile ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done; a change wakes the object up.
    Success,
    /// Done for now, to be repeated with back-off.
    Requeue,
    /// Done for now, to be repeated after a while.
    RequeueAfter,
    /// Failed, to be repeated with back-off.
    Error,
    /// Failed, and a repetition would not help.
    TerminalError,
    /// It panicked; counts as an error too.
    Panic,
    /// It took too long; counts as an error too.
    Timeout,
}

impl Outcome {
    const RESULTS: [&str; 4] = ["success", "requeue", "requeue_after", "error"];

    fn result(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Requeue => "requeue",
            Self::RequeueAfter => "requeue_after",
            Self::Error | Self::TerminalError | Self::Panic | Self::Timeout => "error",
        }
    }
}

/// The metrics of one controller.
#[derive(Debug, Clone)]
pub struct ControllerMetrics {
    totals: [BTreeMap<&'static str, Counter>; 2],
    times: [Histogram; 3],
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    timeouts: Counter,
    active: Gauge,
    adds: Counter,
    retries: Counter,
    running: Arc<Running>,
}

impl ControllerMetrics {
    /// Counts a reconcile that begins now.
    pub fn begin(&self) -> Reconcile<'_> {
        self.active.inc();
        self.adds.inc();
        let started = Instant::now();
        let number = self.running.begin(started);
        Reconcile {
            metrics: self,
            started,
            number,
        }
    }

    fn count(&self, outcome: Outcome) {
        for totals in &self.totals {
            totals[outcome.result()].inc();
        }
        if outcome.result() == "error" {
            self.errors.inc();
        }
        match outcome {
            Outcome::TerminalError => self.terminal_errors.inc(),
            Outcome::Panic => self.panics.inc(),
            Outcome::Timeout => self.timeouts.inc(),
            _ => 0,
        };
        let is_retried = !matches!(
            outcome,
            Outcome::Success | Outcome::RequeueAfter | Outcome::TerminalError
        );
        if is_retried {
            self.retries.inc();
        }
    }
}

/// A reconcile that is under way; one that is dropped without an outcome was cut short, and counts with its time only.
#[derive(Debug)]
#[must_use = "it ends when this is dropped"]
pub struct Reconcile<'a> {
    metrics: &'a ControllerMetrics,
    started: Instant,
    number: u64,
}

impl Reconcile<'_> {
    /// Counts its outcome.
    pub fn end(self, outcome: Outcome) {
        self.metrics.count(outcome);
    }
}

impl Drop for Reconcile<'_> {
    fn drop(&mut self) {
        self.metrics.active.dec();
        self.metrics.running.end(self.number);
        for time in &self.metrics.times {
            time.observe(self.started.elapsed().as_secs_f64());
        }
    }
}

/// Registers the metrics of all controllers, which have a name and a number of workers.
pub(super) fn register(
    registry: &mut Registry,
    controllers: &[(&'static str, usize)],
) -> BTreeMap<&'static str, ControllerMetrics> {
    let families = Families::register(registry);
    let made: BTreeMap<_, _> = controllers
        .iter()
        .map(|(name, workers)| (*name, families.controller(name, *workers)))
        .collect();
    let running = made
        .iter()
        .map(|(name, made)| (*name, made.running.clone()));
    registry.register_collector(Box::new(Unfinished(running.collect())));
    made
}

type Counters = Family<Labels, Counter>;
type Times = Family<Labels, Histogram, fn() -> Histogram>;

struct Families {
    totals: [Counters; 2],
    errors: Counters,
    terminal_errors: Counters,
    panics: Counters,
    timeouts: Counters,
    times: [Times; 2],
    workers: Family<Labels, Gauge>,
    active: Family<Labels, Gauge>,
    adds: Counters,
    retries: Counters,
    work: Times,
}

impl Families {
    fn register(registry: &mut Registry) -> Self {
        let mut counters =
            |name: &str, help: &str| family(registry, name, help, Counters::default());
        let (total, capi_total) = ("controller_runtime_reconcile", "capi_reconcile");
        let totals =
            [total, capi_total].map(|name| counters(name, "Reconciles by controller and result"));
        let errors = counters(
            "controller_runtime_reconcile_errors",
            "Reconciles that failed",
        );
        let terminal_errors = counters(
            "controller_runtime_terminal_reconcile_errors",
            "Reconciles that failed and are not repeated",
        );
        let panics = counters(
            "controller_runtime_reconcile_panics",
            "Reconciles that panicked",
        );
        let timeouts = counters(
            "controller_runtime_reconcile_timeouts",
            "Reconciles that took too long",
        );
        let adds = counters("workqueue_adds", "Objects that were queued and taken up");
        let retries = counters(
            "workqueue_retries",
            "Objects that were queued again with back-off",
        );
        let mut times = |name: &str, help: &str, make: fn() -> Histogram| {
            family(registry, name, help, Times::new_with_constructor(make))
        };
        let reconcile: fn() -> Histogram = || Histogram::new(RECONCILE_SECONDS);
        let (time, capi_time) = (
            "controller_runtime_reconcile_time_seconds",
            "capi_reconcile_time_seconds",
        );
        let reconcile_times = [time, capi_time]
            .map(|name| times(name, "Time that a reconcile took, in seconds", reconcile));
        let work = times(
            "workqueue_work_duration_seconds",
            "Time that an object of the queue took, in seconds",
            || Histogram::new(exponential_buckets(1e-8, 10.0, 12)),
        );
        let mut gauges = |name: &str, help: &str| {
            family(registry, name, help, Family::<Labels, Gauge>::default())
        };
        Self {
            totals,
            errors,
            terminal_errors,
            panics,
            timeouts,
            times: reconcile_times,
            workers: gauges(
                "controller_runtime_max_concurrent_reconciles",
                "Largest number of reconciles at a time",
            ),
            active: gauges("controller_runtime_active_workers", "Reconciles under way"),
            adds,
            retries,
            work,
        }
    }

    fn controller(&self, name: &str, workers: usize) -> ControllerMetrics {
        let labels = vec![("controller", name.to_owned())];
        let queue = queue_labels(name);
        let counter = |counters: &Counters| counters.get_or_create_owned(&labels);
        let totals = |counters: &Counters| {
            let total = |result| {
                let mut labels = labels.clone();
                labels.push(("result", String::from(result)));
                (result, counters.get_or_create_owned(&labels))
            };
            Outcome::RESULTS.into_iter().map(total).collect()
        };
        let workers = i64::try_from(workers).unwrap_or(i64::MAX);
        self.workers.get_or_create(&labels).set(workers);
        ControllerMetrics {
            totals: self.totals.each_ref().map(totals),
            times: [
                self.times[0].get_or_create_owned(&labels),
                self.times[1].get_or_create_owned(&labels),
                self.work.get_or_create_owned(&queue),
            ],
            errors: counter(&self.errors),
            terminal_errors: counter(&self.terminal_errors),
            panics: counter(&self.panics),
            timeouts: counter(&self.timeouts),
            active: self.active.get_or_create_owned(&labels),
            adds: self.adds.get_or_create_owned(&queue),
            retries: self.retries.get_or_create_owned(&queue),
            running: Arc::default(),
        }
    }
}

fn queue_labels(name: &str) -> Labels {
    vec![("name", name.to_owned()), ("controller", name.to_owned())]
}

/// When the reconciles that are under way began.
#[derive(Debug, Default)]
struct Running(Mutex<(u64, HashMap<u64, Instant>)>);

impl Running {
    fn begin(&self, started: Instant) -> u64 {
        let mut running = self.0.lock().expect("no holder of the lock panics");
        running.0 += 1;
        let number = running.0;
        running.1.insert(number, started);
        number
    }

    fn end(&self, number: u64) {
        let mut running = self.0.lock().expect("no holder of the lock panics");
        running.1.remove(&number);
    }

    /// Returns the sum of their ages and the greatest one, in seconds.
    fn seconds(&self) -> [f64; 2] {
        let running = self.0.lock().expect("no holder of the lock panics");
        let ages = running
            .1
            .values()
            .map(|started| started.elapsed().as_secs_f64());
        ages.fold([0.0, 0.0], |[sum, max], age| [sum + age, age.max(max)])
    }
}

/// The metrics that are worked out when they are asked for.
#[derive(Debug)]
struct Unfinished(Vec<(&'static str, Arc<Running>)>);

impl Collector for Unfinished {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let rows = [
            (
                "workqueue_unfinished_work_seconds",
                "Ages of the reconciles under way, added up, in seconds",
            ),
            (
                "workqueue_longest_running_processor_seconds",
                "Age of the oldest reconcile under way, in seconds",
            ),
        ];
        for (row, (name, help)) in rows.into_iter().enumerate() {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (controller, running) in &self.0 {
                let labels = queue_labels(controller);
                let value = ConstGauge::new(running.seconds()[row]);
                value.encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(outcome: Outcome) -> String {
        let mut registry = Registry::default();
        let made = register(&mut registry, &[("c", 1)]);
        made["c"].begin().end(outcome);
        let mut text = String::new();
        prometheus_client::encoding::prometheus_text::encode(&mut text, &registry).unwrap();
        let counted = |line: &&str| line.contains("_total") && line.ends_with(" 1");
        let lines: Vec<&str> = text.lines().filter(counted).collect();
        lines
            .join(" ")
            .replace("controller=\"c\"", "")
            .replace("name=\"c\",", "")
    }

    #[test]
    fn each_outcome_counts_in_its_series() {
        let retried = "workqueue_retries_total{} 1";
        let table = [
            (Outcome::Success, "result=\"success\"", "", false),
            (Outcome::Requeue, "result=\"requeue\"", "", true),
            (Outcome::RequeueAfter, "result=\"requeue_after\"", "", false),
            (
                Outcome::Error,
                "result=\"error\"",
                "reconcile_errors_total",
                true,
            ),
            (
                Outcome::TerminalError,
                "result=\"error\"",
                "terminal_reconcile_errors_total",
                false,
            ),
            (
                Outcome::Panic,
                "result=\"error\"",
                "reconcile_panics_total",
                true,
            ),
            (
                Outcome::Timeout,
                "result=\"error\"",
                "reconcile_timeouts_total",
                true,
            ),
        ];
        for (outcome, result, also, is_retried) in table {
            let text = counted(outcome);
            assert_eq!(text.matches(result).count(), 2, "{outcome:?}: {text}");
            assert!(text.contains(also), "{outcome:?}: {text}");
            assert_eq!(text.contains(retried), is_retried, "{outcome:?}: {text}");
            let is_error = text.contains("controller_runtime_reconcile_errors_total");
            assert_eq!(is_error, outcome.result() == "error", "{text}");
        }
    }

    #[test]
    fn work_under_way_has_an_age_and_leaves_with_its_guard() {
        let mut registry = Registry::default();
        let made = register(&mut registry, &[("c", 1)]);
        let first = made["c"].begin();
        let second = made["c"].begin();
        assert_eq!(made["c"].active.get(), 2);
        let [sum, max] = made["c"].running.seconds();
        assert!(max > 0.0 && sum >= max, "{sum} {max}");
        drop(first);
        second.end(Outcome::Success);
        assert_eq!(made["c"].active.get(), 0);
        assert_eq!(made["c"].running.seconds(), [0.0, 0.0]);
    }
}
