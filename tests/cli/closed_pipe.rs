//! `capictl ... | head`: a reader that goes away is not an error; a full disk is one.

use std::io;

use crate::environment::TestEnvironment;

#[test]
fn a_reader_that_went_away_is_no_error() {
    let environment = TestEnvironment::new();
    for line in [
        "--help",
        "version",
        "help init",
        "generate",
        "config repositories",
    ] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = environment.command(line).stdout(writer).output().unwrap();
        let run = environment.finish(output);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let environment = TestEnvironment::new();
    for line in ["version", "config repositories"] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = environment.command(line).stdout(full).output().unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(environment.finish(output), @"
            status: 1
            ---- stdout
            ---- stderr
            error: cannot write to standard output
              caused by: No space left on device (os error 28)
            ");
        }
    }
}
