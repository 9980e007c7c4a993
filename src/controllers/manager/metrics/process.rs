//! What Prometheus clients tell of their process, from `/proc`; nothing where there is none.

use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Clock ticks per second in `/proc`: 100 on every Linux architecture that Rust runs on.
const TICKS: f64 = 100.0;

#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        if let Some(seconds) = cpu_seconds() {
            let help = "Time on processors, user and system, in seconds";
            let metric = ConstCounter::new(seconds);
            let encoder = encoder.encode_descriptor(
                "process_cpu_seconds",
                help,
                None,
                metric.metric_type(),
            )?;
            metric.encode(encoder)?;
        }
        let gauges = [
            (
                "process_resident_memory_bytes",
                "Memory in use, in bytes",
                status_bytes("VmRSS:"),
            ),
            (
                "process_virtual_memory_bytes",
                "Memory mapped, in bytes",
                status_bytes("VmSize:"),
            ),
            ("process_open_fds", "Open file descriptors", open_files()),
            (
                "process_max_fds",
                "Limit of open file descriptors",
                max_files(),
            ),
            (
                "process_start_time_seconds",
                "Start of the process, in seconds since 1970",
                start(),
            ),
        ];
        for (name, help, value) in gauges {
            let Some(value) = value else { continue };
            let encoder = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(value).encode(encoder)?;
        }
        Ok(())
    }
}

/// Returns a field of `/proc/self/stat`, counted from 1 as in proc(5), from the third on.
fn stat(field: usize) -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses, and may hold blanks.
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(field - 3)?.parse().ok()
}

fn cpu_seconds() -> Option<f64> {
    Some((stat(14)? + stat(15)?) / TICKS)
}

fn start() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let boot = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(boot.trim().parse::<f64>().ok()? + stat(22)? / TICKS)
}

fn status_bytes(name: &str) -> Option<f64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: f64 = value.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

fn open_files() -> Option<f64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    // One of them is the folder that is being read.
    u32::try_from(count.saturating_sub(1)).ok().map(f64::from)
}

fn max_files() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
