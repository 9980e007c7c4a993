//! `-v` and `CLUSTERCTL_LOG_LEVEL`.

use std::fs;

use crate::environment::TestEnvironment;
use crate::generate_provider::{COMPONENTS, with_provider};

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

/// Returns an environment whose provider is overridden, which is logged at level 4.
fn with_override() -> TestEnvironment {
    let environment = with_provider();
    let folder = "home/.config/cluster-api/overrides/infrastructure-example/v1.2.3";
    environment.write(format!("{folder}/components.yaml"), COMPONENTS);
    environment
}

fn logs_override(environment: &TestEnvironment, flags: &str) -> bool {
    let run = environment.run(&format!("generate provider -i example --raw {flags}"));
    assert_eq!(run.status, 0, "{run}");
    run.stderr
        .contains("DEBUG capictl::repository: Using override")
}

#[test]
fn the_level_comes_from_the_flag_else_the_environment_else_the_file() {
    let silent = with_override();
    assert!(!logs_override(&silent, ""));
    assert!(logs_override(&silent, "-v 4"));

    let by_environment = with_override().with("CLUSTERCTL_LOG_LEVEL", "4");
    assert!(logs_override(&by_environment, ""));
    assert!(
        logs_override(&by_environment, "-v 0"),
        "as with clusterctl, 0 is like no flag"
    );

    let by_file = with_override();
    let file = by_file.path("home/.config/cluster-api/clusterctl.yaml");
    let config = fs::read_to_string(&file).unwrap() + "CLUSTERCTL_LOG_LEVEL: 4\n";
    fs::write(&file, config).unwrap();
    assert!(logs_override(&by_file, ""));
    assert!(!logs_override(
        &by_file.with("CLUSTERCTL_LOG_LEVEL", "0"),
        ""
    ));
}
