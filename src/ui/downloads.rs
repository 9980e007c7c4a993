//! Downloads that take their time: a bar on a terminal, elsewhere one plain line for each.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressStyle};

use super::{bar, line, write_line};

/// Nothing is shown of downloads that are faster.
const PATIENCE: Duration = Duration::from_secs(1);

/// The downloads under way.
#[derive(Debug, Default)]
pub struct Downloads(Mutex<BTreeMap<u64, Active>>);

#[derive(Debug)]
struct Active {
    begun: Instant,
    label: String,
    received: u64,
    total: Option<u64>,
    /// Off a terminal: its line was written.
    told: bool,
}

/// How far a download is.
#[derive(Debug, Clone, Copy)]
pub struct State<'a> {
    /// What is downloaded.
    pub label: &'a str,
    /// Bytes so far.
    pub received: u64,
    /// Bytes in all, where known.
    pub total: Option<u64>,
}

impl Downloads {
    /// Takes notice of a download; `None` when it is over.
    pub fn note(&self, id: u64, state: Option<State>) {
        let mut all = self.0.lock().expect("no holder of the lock panics");
        match state {
            None => drop(all.remove(&id)),
            Some(state) => {
                let active = all.entry(id).or_insert_with(|| Active::new(state.label));
                (active.received, active.total) = (state.received, state.total);
            }
        }
        match io::stderr().is_terminal() {
            true => show_bar(&all),
            false => new_lines(&mut all).iter().for_each(|line| write_line(line)),
        }
    }
}

impl Active {
    fn new(label: &str) -> Self {
        Self {
            begun: Instant::now(),
            label: label.to_owned(),
            received: 0,
            total: None,
            told: false,
        }
    }

    fn is_slow(&self) -> bool {
        self.begun.elapsed() >= PATIENCE
    }
}

/// One bar for all that are slow, as a terminal has one last line.
fn show_bar(all: &BTreeMap<u64, Active>) {
    let slow: Vec<&Active> = all.values().filter(|active| active.is_slow()).collect();
    let mut slot = bar();
    let Some((first, others)) = slow.split_first() else {
        if let Some(bar) = slot.take_if(|_| all.is_empty()) {
            bar.finish_and_clear();
        }
        return;
    };
    let received = slow.iter().map(|active| active.received).sum();
    let total: Option<u64> = slow.iter().map(|active| active.total).sum();
    let bar = slot.get_or_insert_with(|| line::show().with_style(style(false)));
    bar.set_message(match others.len() {
        0 => format!("Downloading {}", first.label),
        more => format!("Downloading {} and {more} more", first.label),
    });
    bar.set_length(total.unwrap_or(received));
    bar.set_position(received);
    bar.set_style(style(total.is_some()));
}

/// A bar only where it is known how much is to come, as it is not of a compressed answer, or before there is any.
fn style(is_known: bool) -> ProgressStyle {
    let template = match is_known {
        true => "{wide_msg} [{bar:10}] {bytes}/{total_bytes}",
        false => "{wide_msg} {bytes}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    style.progress_chars("=> ")
}

/// Returns the lines of downloads that have become slow.
fn new_lines(all: &mut BTreeMap<u64, Active>) -> Vec<String> {
    let new = all
        .values_mut()
        .filter(|active| active.is_slow() && !active.told);
    new.map(|active| {
        active.told = true;
        let size = active
            .total
            .map_or_else(String::new, |total| format!(" ({})", HumanBytes(total)));
        format!("Downloading {}{size}", active.label)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_downloads_are_told_of_and_each_once() {
        let slow = Active {
            begun: Instant::now().checked_sub(2 * PATIENCE).unwrap(),
            total: Some(3 << 20),
            ..Active::new("slow.yaml")
        };
        let mut all = BTreeMap::from([(1, slow), (2, Active::new("fast.yaml"))]);
        assert_eq!(new_lines(&mut all), ["Downloading slow.yaml (3.00 MiB)"]);
        assert_eq!(new_lines(&mut all), Vec::<String>::new());
    }
}
