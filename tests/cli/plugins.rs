//! Plugins from `PATH`.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::environment::TestEnvironment;

/// Returns an environment with plugins of these names.
fn plugins(names: &[&str]) -> TestEnvironment {
    let environment = TestEnvironment::new().with("GREETING", "hello");
    for name in names {
        link(&environment, name, "show-arguments");
    }
    environment
}

/// Makes a committed program a plugin: one that was written just now can be refused as busy while other tests fork.
fn link(environment: &TestEnvironment, name: &str, program: &str) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cli/plugins")
        .join(program);
    symlink(program, environment.path("bin").join(name)).unwrap();
}

fn first_line(environment: &TestEnvironment, line: &str) -> String {
    environment
        .run(line)
        .stdout
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_plugin_gets_everything_after_its_name_and_its_code_is_ours() {
    insta::assert_snapshot!(plugins(&["capictl-foo"]).run("foo bar -v --config=x -h -- init"), @"
    status: 7
    ---- stdout
    plugin capictl-foo
    [bar]
    [-v]
    [--config=x]
    [-h]
    [--]
    [init]
    GREETING=hello
    ---- stderr
    ");
}

#[test]
fn our_family_comes_first_and_more_words_win_within_it() {
    let all = [
        "capictl-foo",
        "capictl-foo-bar",
        "clusterctl-foo",
        "clusterctl-foo-bar-baz",
        "clusterctl-old_name",
    ];
    let environment = plugins(&all);
    assert_eq!(first_line(&environment, "foo"), "plugin capictl-foo");
    assert_eq!(
        first_line(&environment, "foo bar"),
        "plugin capictl-foo-bar"
    );
    assert_eq!(
        first_line(&environment, "foo bar baz"),
        "plugin capictl-foo-bar"
    );
    assert_eq!(first_line(&environment, "foo --bar"), "plugin capictl-foo");
    assert_eq!(
        first_line(&environment, "old-name"),
        "plugin clusterctl-old_name"
    );
}

#[test]
fn commands_cannot_be_replaced() {
    let environment = plugins(&["capictl-version", "capictl-generate-foo", "clusterctl-help"]);
    assert!(first_line(&environment, "version").starts_with("capictl version:"));
    assert_eq!(environment.run("generate foo").status, 1);
    assert!(first_line(&environment, "help").starts_with("Manage"));
}

#[test]
fn files_that_cannot_be_run_are_no_plugins() {
    let environment = TestEnvironment::new();
    environment.write("bin/capictl-foo", "#!/bin/sh\n");
    std::fs::create_dir(environment.path("bin/clusterctl-foo")).unwrap();
    insta::assert_snapshot!(environment.run("foo"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: unknown command `foo` for `capictl`
    hint: no plugin is in PATH either, as `capictl-foo` or `clusterctl-foo`
    hint: see `capictl --help`
    ");
}

#[test]
fn the_current_folder_is_not_searched() {
    let environment = plugins(&["capictl-foo"]).with("PATH", "bin:.:");
    assert_eq!(environment.run("foo").status, 1);
}

#[test]
fn flags_stand_after_the_name_of_a_plugin() {
    insta::assert_snapshot!(plugins(&["capictl-foo"]).run("-v 5 foo"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: flags cannot be placed before plugin name: `-v`
    hint: write `capictl foo` first, then the plugin's flags
    ");
}

#[test]
fn a_broken_plugin_is_named() {
    let environment = TestEnvironment::new();
    link(&environment, "capictl-foo", "no-interpreter");
    insta::assert_snapshot!(environment.run("foo"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot run the plugin `[FOLDER]/bin/capictl-foo`
      caused by: No such file or directory (os error 2)
    ");
}
