//! What `/metrics` tells, under the names that controller-runtime, client-go and Cluster API use, and some of our own.
//!
//! Every series is there from the start, so that a rate can be taken of the first event too. The depth of the queue and
//! the time in it are missing: kube's scheduler does not tell them. So are `go_*`, for want of a Go runtime.

mod controller;
mod mailgun;
mod process;
mod requests;

use std::collections::BTreeMap;

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Metric, Registry};

pub use controller::{ControllerMetrics, Outcome, Reconcile};
pub use mailgun::{LookupResult, MailgunMetrics, SendResult};
pub use requests::{CountRequests, RequestCounter};

/// The labels of a series.
type Labels = Vec<(&'static str, String)>;

/// All metrics of a process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    controllers: BTreeMap<&'static str, ControllerMetrics>,
    /// Of requests to the API server.
    pub requests: RequestCounter,
    /// Of the election.
    pub election: ElectionMetrics,
    /// Of the Mailgun provider.
    pub mailgun: MailgunMetrics,
}

/// What is told of the election.
#[derive(Debug, Clone)]
pub struct ElectionMetrics {
    /// 1 while this process leads.
    pub master: Gauge,
    /// Renewals that had to read the Lease first.
    pub slow_path: Counter,
}

impl Metrics {
    /// Makes the metrics of these controllers, each with its number of workers, and of the election by the Lease `lease`.
    pub fn new(lease: &str, controllers: &[(&'static str, usize)]) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(process::Process));
        let controllers = controller::register(&mut registry, controllers);
        Self {
            controllers,
            requests: RequestCounter::register(&mut registry),
            election: ElectionMetrics::register(&mut registry, lease),
            mailgun: MailgunMetrics::register(&mut registry),
            registry,
        }
    }

    /// Returns those of one controller; `None` if it was not named at the start.
    pub fn controller(&self, name: &str) -> Option<&ControllerMetrics> {
        self.controllers.get(name)
    }

    /// Returns them all in Prometheus's text format, version 0.0.4.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)
            .expect("writing to a string does not fail");
        text
    }
}

impl ElectionMetrics {
    fn register(registry: &mut Registry, lease: &str) -> Self {
        let name = || vec![("name", lease.to_owned())];
        let master = family(
            registry,
            "leader_election_master_status",
            "1 while this process is the leader, else 0",
            Family::<Labels, Gauge>::default(),
        );
        let slow_path = family(
            registry,
            "leader_election_slowpath",
            "Renewals of the Lease that had to read it first",
            Family::<Labels, Counter>::default(),
        );
        Self {
            master: master.get_or_create_owned(&name()),
            slow_path: slow_path.get_or_create_owned(&name()),
        }
    }
}

/// Registers a metric and returns it; counters get their `_total` when they are written.
fn family<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics() -> Metrics {
        Metrics::new(
            "lease.example",
            &[("mailguncluster", 3), ("mailgunmachine", 1)],
        )
    }

    #[test]
    fn every_series_is_there_before_anything_happens() {
        let text = metrics().encode();
        let expected = [
            r#"controller_runtime_reconcile_total{controller="mailguncluster",result="success"} 0"#,
            r#"controller_runtime_reconcile_total{controller="mailguncluster",result="error"} 0"#,
            r#"controller_runtime_reconcile_total{controller="mailguncluster",result="requeue"} 0"#,
            r#"controller_runtime_reconcile_total{controller="mailgunmachine",result="requeue_after"} 0"#,
            r#"controller_runtime_reconcile_errors_total{controller="mailguncluster"} 0"#,
            r#"controller_runtime_terminal_reconcile_errors_total{controller="mailguncluster"} 0"#,
            r#"controller_runtime_reconcile_panics_total{controller="mailguncluster"} 0"#,
            r#"controller_runtime_reconcile_timeouts_total{controller="mailguncluster"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{controller="mailguncluster",le="0.005"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{controller="mailguncluster",le="60"} 0"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="mailguncluster"} 3"#,
            r#"controller_runtime_active_workers{controller="mailgunmachine"} 0"#,
            r#"workqueue_adds_total{name="mailguncluster",controller="mailguncluster"} 0"#,
            r#"workqueue_retries_total{name="mailguncluster",controller="mailguncluster"} 0"#,
            r#"workqueue_work_duration_seconds_count{name="mailguncluster",controller="mailguncluster"} 0"#,
            r#"workqueue_unfinished_work_seconds{name="mailguncluster",controller="mailguncluster"} 0.0"#,
            r#"workqueue_longest_running_processor_seconds{name="mailgunmachine",controller="mailgunmachine"} 0.0"#,
            r#"capi_reconcile_total{controller="mailguncluster",result="success"} 0"#,
            r#"capi_reconcile_time_seconds_count{controller="mailguncluster"} 0"#,
            r#"leader_election_master_status{name="lease.example"} 0"#,
            r#"leader_election_slowpath_total{name="lease.example"} 0"#,
            r#"capictl_mailgun_sends_total{result="accepted"} 0"#,
            r#"capictl_mailgun_lookups_total{result="found"} 0"#,
            r#"capictl_mailgun_outbox_objects{state="held"} 0"#,
            "capictl_mailgun_duplicates_detected_total 0",
        ];
        for line in expected {
            assert!(text.lines().any(|l| l == line), "no `{line}` in\n{text}");
        }
    }

    #[test]
    fn what_happened_is_counted_where_it_belongs() {
        let metrics = metrics();
        metrics.election.master.set(1);
        metrics.mailgun.count_send(SendResult::Uncertain);
        metrics.mailgun.count_lookup(LookupResult::Failed);
        metrics.mailgun.set_objects("held", 2);
        metrics.mailgun.duplicates.inc();
        let text = metrics.encode();
        for line in [
            r#"leader_election_master_status{name="lease.example"} 1"#,
            r#"capictl_mailgun_sends_total{result="uncertain"} 1"#,
            r#"capictl_mailgun_lookups_total{result="failed"} 1"#,
            r#"capictl_mailgun_outbox_objects{state="held"} 2"#,
            "capictl_mailgun_duplicates_detected_total 1",
        ] {
            assert!(text.lines().any(|l| l == line), "no `{line}` in\n{text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_is_described() {
        let text = metrics().encode();
        let value = |name: &str| -> f64 {
            let line = text
                .lines()
                .find(|line| line.starts_with(&format!("{name} ")));
            let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        assert!(value("process_resident_memory_bytes") > 1e5);
        assert!(value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"));
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_max_fds") >= value("process_open_fds"));
        assert!(value("process_cpu_seconds_total") >= 0.0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let age = now.unwrap().as_secs_f64() - value("process_start_time_seconds");
        assert!((-5.0..86_400.0).contains(&age), "{age}");
    }
}
