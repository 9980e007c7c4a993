//! Forms of flags that clusterctl's own list does not show.

use std::ffi::OsString;

use capictl::cli::{self, Command, Request};

use crate::environment::TestEnvironment;

fn parsed(line: &str) -> Command {
    let typed: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    match cli::parse(&typed) {
        Ok(Request::Run(cli)) => cli.command.unwrap(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_dash_is_a_value() {
    let Command::Init(init) = parsed("init -b - --control-plane - -i=- --ipam=-") else {
        panic!()
    };
    for list in [
        init.providers.bootstrap,
        init.providers.control_plane,
        init.providers.infrastructure,
        init.providers.ipam,
    ] {
        assert_eq!(list, ["-"]);
    }
}

#[test]
fn integers_are_read_as_go_reads_them() {
    for (line, seconds) in [
        ("init --wait-provider-timeout 0x10", 16),
        ("init --wait-provider-timeout=010", 8),
        ("init --wait-provider-timeout -1", -1),
        ("init --wait-provider-timeout=1_000", 1000),
        (
            "init --wait-provider-timeout 1 --wait-provider-timeout +2",
            2,
        ),
    ] {
        let Command::Init(init) = parsed(line) else {
            panic!()
        };
        assert_eq!(init.wait_provider_timeout, seconds, "{line}");
    }
}

#[test]
fn words_after_two_dashes_are_no_flags() {
    let Command::Generate(generate) = parsed("generate cluster -n a -- -i") else {
        panic!()
    };
    assert!(
        format!("{generate:?}").contains("name: \"-i\""),
        "{generate:?}"
    );
}

#[test]
fn bools_do_not_take_the_next_word() {
    insta::assert_snapshot!(TestEnvironment::new().run("init --validate false"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: unknown command `false` for `capictl init`
    hint: write `--validate=false` if `false` is its value
    hint: see `capictl init --help`
    ");
}

#[test]
fn values_that_are_none_are_named() {
    let environment = TestEnvironment::new();
    let lines = [
        "init --validate=maybe",
        "init --wait-providers=",
        "init -v x",
        "init --wait-provider-timeout 5m",
        "init --wait-provider-timeout 9223372036854775808",
        "init --wait-provider-timeout -1",
        "init -i",
        "init -i --core cluster-api",
        "config repositories -o xml",
        "version --output xml",
    ];
    insta::assert_snapshot!(environment.failures(&lines), @"
    $ capictl init --validate=maybe
    error: invalid value `maybe` for `--validate`
      caused by: expected `true` or `false`
    hint: see `capictl init --help`

    $ capictl init --wait-providers=
    error: invalid value `` for `--wait-providers`
      caused by: expected `true` or `false`
    hint: see `capictl init --help`

    $ capictl init -v x
    error: invalid value `x` for `-v`
      caused by: expected a whole number
    hint: see `capictl init --help`

    $ capictl init --wait-provider-timeout 5m
    error: invalid value `5m` for `--wait-provider-timeout`
      caused by: expected a whole number
    hint: see `capictl init --help`

    $ capictl init --wait-provider-timeout 9223372036854775808
    error: invalid value `9223372036854775808` for `--wait-provider-timeout`
      caused by: the number is out of range
    hint: see `capictl init --help`

    $ capictl init --wait-provider-timeout -1
    error: invalid value `-1` for `--wait-provider-timeout`
    hint: give the seconds to wait, 0 for the default of 300

    $ capictl init -i
    error: the flag `--infrastructure` needs a value
    hint: see `capictl init --help`

    $ capictl init -i --core cluster-api
    error: the flag `--infrastructure` needs a value
    hint: see `capictl init --help`

    $ capictl config repositories -o xml
    error: invalid output format `xml`
    hint: valid values: `text`, `yaml`, `json`
    hint: see `capictl config repositories --help`

    $ capictl version --output xml
    error: invalid output format `xml`
    hint: valid values: `text`, `short`, `yaml`, `json`
    hint: see `capictl version --help`
    ");
}
