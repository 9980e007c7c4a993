//! `capictl generate yaml`

use std::io::Write;
use std::process::Stdio;

use crate::environment::{Run, TestEnvironment};

fn with_input(line: &str, input: &str) -> Run {
    let environment = TestEnvironment::new().with("A", "one");
    let mut command = environment.command(line);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    environment.finish(child.wait_with_output().unwrap())
}

#[test]
fn standard_input_is_the_default() {
    for line in [
        "generate yaml",
        "generate yaml --from -",
        "generate yaml --from=-",
    ] {
        assert_eq!(
            with_input(line, "b: ${B:=two}\na: ${A}\n").stdout,
            "a: one\nb: two\n",
            "{line}"
        );
    }
}

#[test]
fn variables_are_listed() {
    let run = with_input("generate yaml --list-variables", "b: ${B:=two}\na: ${A}\n");
    assert_eq!(run.stdout, "Variables:\n  - A\n  - B\n");
    let run = with_input("generate yaml --list-variables", "a: b\n");
    assert_eq!(run.stdout, "\n");
    let run = with_input("generate yaml --list-variables=false", "a: b\n");
    assert_eq!(run.stdout, "a: b\n");
}

#[test]
fn a_template_without_a_value_prints_no_data() {
    let run = with_input("generate yaml", "a: ${MISSING_ONE}\n");
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("MISSING_ONE"), "{run}");
}
