//! `-v` and `CLUSTERCTL_LOG_LEVEL`.

use crate::environment::TestEnvironment;

#[test]
fn logs_are_for_those_who_ask() {
    let environment = TestEnvironment::new();
    let silent = environment.run("config repositories");
    assert_eq!(silent.stderr, "");
    for line in [
        "-v5 config repositories",
        "config repositories -v 5",
        "config repositories --v=5",
    ] {
        let run = environment.run(line);
        assert!(
            run.stderr
                .contains("DEBUG capictl::config: configuration file"),
            "{run}"
        );
        assert_eq!(run.stdout, silent.stdout, "{line}");
    }
}

#[test]
fn a_level_that_is_no_number_is_an_error() {
    let environment = TestEnvironment::new().with("CLUSTERCTL_LOG_LEVEL", "high");
    insta::assert_snapshot!(environment.run("config repositories"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: failed to convert CLUSTERCTL_LOG_LEVEL string to an int: `high` is not a number
    ");
    // `-v` makes the variable irrelevant, and what needs no configuration does not look.
    assert_eq!(environment.run("config repositories -v1").status, 0);
    assert_eq!(environment.run("version").status, 0);
}
