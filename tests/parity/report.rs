//! What came out of the questions.

use std::collections::BTreeMap;
use std::io::Write as _;

use crate::differences;
use crate::rules::{self, Excuses};

/// Figures, and what no rule excuses.
#[derive(Default)]
pub struct Report {
    /// Questions, of both tools.
    pub asked: usize,
    /// Answers that both gave and that were compared.
    pub compared: usize,
    /// Questions that neither answered, by the way to ask.
    pub refused: BTreeMap<&'static str, usize>,
    pub excuses: Excuses,
    pub differences: Vec<String>,
}

impl Report {
    /// Prints the figures, and fails when anything differs or nothing was compared.
    pub fn conclude(mut self, subject: &str) {
        // Past the test harness, which would keep the figures of tests that pass to itself.
        let written = std::io::stderr().write_all(self.render(subject).as_bytes());
        written.expect("standard error is open");
        assert!(self.compared > 0, "nothing was compared");
        self.differences.sort();
        let count = self.differences.len();
        self.differences.truncate(50);
        assert!(
            count == 0,
            "{count} differences, the first of them:\n{}",
            self.differences.join("\n")
        );
    }

    fn render(&self, subject: &str) -> String {
        let Self {
            asked,
            compared,
            refused,
            differences,
            ..
        } = self;
        let both: usize = refused.values().sum();
        let runs = 2 * asked;
        let mut text = format!(
            "parity of {subject}: {runs} runs, {compared} outputs compared, {both} refused by both tools, {} differences\n",
            differences.len()
        );
        for (mode, count) in refused {
            text += &format!("{count:8} refused by both: {mode}\n");
        }
        for row in differences::rows() {
            let rules: Vec<(&str, usize)> = rules::of_row(row.key)
                .map(|name| (name, self.excuses.get(name).copied().unwrap_or_default()))
                .collect();
            let sum: usize = rules.iter().map(|(_, count)| count).sum();
            text += &format!("{sum:8} excused by `{}`\n", row.key);
            for (name, count) in rules {
                text += &format!("{count:12} {name}\n");
            }
        }
        text
    }
}
