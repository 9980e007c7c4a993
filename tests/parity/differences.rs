//! `docs/differences.md`: each rule by which something is excused is a row there, and each row has tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::rules;

const DOCUMENT: &str = include_str!("../../docs/differences.md");

/// More rows than a reader keeps in mind are no rules any more.
const ROWS: usize = 12;

/// A row of the table.
pub struct Row {
    pub key: &'static str,
    /// `target::module::name`, or `target::name` where a target is one file.
    tests: Vec<&'static str>,
}

/// Returns the rows of the table.
pub fn rows() -> Vec<Row> {
    let lines = DOCUMENT.lines().filter(|line| line.starts_with("| `"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [key, _, _, _, tests] = cells[..] else {
                panic!("a row has five cells: {line}");
            };
            Row {
                key: key.trim_matches('`'),
                tests: tests.split('`').skip(1).step_by(2).collect(),
            }
        })
        .collect()
}

#[test]
fn each_row_has_tests_and_each_rule_is_a_row() {
    let rows = rows();
    let mut faults = Vec::new();
    if rows.is_empty() || rows.len() > ROWS {
        faults.push(format!("{} rows, 1 to {ROWS} are good", rows.len()));
    }
    let keys: BTreeSet<&str> = rows.iter().map(|row| row.key).collect();
    if keys.len() < rows.len() {
        faults.push("two rows have the same key".into());
    }
    let strangers = rules::all().filter(|(row, _)| !keys.contains(row));
    faults.extend(strangers.map(|(row, rule)| format!("no row `{row}` for the rule {rule}")));
    for Row { key, tests } in &rows {
        if tests.is_empty() {
            faults.push(format!("`{key}` has no test"));
        }
        let missing = tests.iter().filter(|test| !exists(test));
        faults.extend(missing.map(|test| format!("`{key}`: there is no test `{test}`")));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Whether the sources have a test of this name.
fn exists(test: &str) -> bool {
    let Some((module, name)) = test.rsplit_once("::") else {
        return false;
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(module.replace("::", "/"))
        .with_extension("rs");
    let Ok(source) = fs::read_to_string(path) else {
        return false;
    };
    let mut above = "";
    for line in source.lines().map(str::trim) {
        let function = line.trim_start_matches("async ").strip_prefix("fn ");
        if function.and_then(|rest| rest.split('(').next()) == Some(name) {
            return above.starts_with("#[test]") || above.starts_with("#[tokio::test");
        }
        above = line;
    }
    false
}
