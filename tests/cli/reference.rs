//! `docs/cli-reference.md` is written from the definition of the command line.

use std::path::Path;
use std::{env, fs};

use capictl::cli;

const FILE: &str = "docs/cli-reference.md";
const REFRESH: &str = "UPDATE=1 cargo test --test cli reference";

#[test]
fn the_reference_is_that_of_the_binary() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let current = reference();
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &current).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == current,
        "`{FILE}` is stale, refresh it: `{REFRESH}`"
    );
}

fn reference() -> String {
    let mut definition = cli::definition().term_width(100);
    definition.build();
    let mut text = format!(
        "# Command-line reference\n\nWritten by a test from what `capictl help COMMAND` says; refresh it with `{REFRESH}`.\n"
    );
    describe(&definition, &[], &mut text);
    text
}

fn describe(command: &clap::Command, path: &[String], text: &mut String) {
    let words = [&["capictl".to_owned()], path].concat().join(" ");
    let mut definition = cli::definition().term_width(100);
    let help = cli::help::render(&mut definition, path, cli::line::Detail::Long).unwrap();
    *text += &format!("\n## {words}\n\n```text\n{}\n```\n", help.trim_end());
    for child in command.get_subcommands() {
        describe(
            child,
            &[path, &[child.get_name().to_owned()]].concat(),
            text,
        );
    }
}
