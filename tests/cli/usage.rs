//! Command lines that are wrong: an error and hints on standard error, nothing on standard output, exit code 1.

use crate::environment::TestEnvironment;

#[test]
fn unknown_commands_lead_to_known_ones() {
    let lines = [
        "foo",
        "gen",
        "intt",
        "generate foo",
        "generate custer c",
        "config repos",
        "init list-image",
        "init foo -n a",
        "help foo",
    ];
    insta::assert_snapshot!(TestEnvironment::new().failures(&lines), @"
    $ capictl foo
    error: unknown command `foo` for `capictl`
    hint: no plugin is in PATH either, as `capictl-foo` or `clusterctl-foo`
    hint: see `capictl --help`

    $ capictl gen
    error: unknown command `gen` for `capictl`
    hint: did you mean `capictl generate`?
    hint: no plugin is in PATH either, as `capictl-gen` or `clusterctl-gen`
    hint: see `capictl --help`

    $ capictl intt
    error: unknown command `intt` for `capictl`
    hint: did you mean `capictl init`?
    hint: no plugin is in PATH either, as `capictl-intt` or `clusterctl-intt`
    hint: see `capictl --help`

    $ capictl generate foo
    error: unknown command `foo` for `capictl generate`
    hint: see `capictl generate --help`

    $ capictl generate custer c
    error: unknown command `custer` for `capictl generate`
    hint: did you mean `capictl generate cluster`?
    hint: see `capictl generate --help`

    $ capictl config repos
    error: unknown command `repos` for `capictl config`
    hint: did you mean `capictl config repositories`?
    hint: see `capictl config --help`

    $ capictl init list-image
    error: unknown command `list-image` for `capictl init`
    hint: did you mean `capictl init list-images`?
    hint: see `capictl init --help`

    $ capictl init foo -n a
    error: unknown command `foo` for `capictl init`
    hint: see `capictl init --help`

    $ capictl help foo
    error: unknown command `foo` for `capictl`
    hint: see `capictl --help`
    ");
}

#[test]
fn unknown_flags_lead_to_known_ones() {
    let lines = [
        "init --infra aws",
        "init -x",
        "init -n a list-images",
        "--version",
        "--bogus init",
        "generate yaml --flavor x",
    ];
    insta::assert_snapshot!(TestEnvironment::new().failures(&lines), @"
    $ capictl init --infra aws
    error: unknown flag `--infra` for `capictl init`
    hint: did you mean `--infrastructure`?
    hint: see `capictl init --help`

    $ capictl init -x
    error: unknown flag `-x` for `capictl init`
    hint: see `capictl init --help`

    $ capictl init -n a list-images
    error: unknown flag `-n` for `capictl init list-images`
    hint: see `capictl init list-images --help`

    $ capictl --version
    error: unknown flag `--version` for `capictl`
    hint: did you mean `capictl version`?
    hint: see `capictl --help`

    $ capictl --bogus init
    error: unknown flag `--bogus` for `capictl init`
    hint: see `capictl init --help`

    $ capictl generate yaml --flavor x
    error: unknown flag `--flavor` for `capictl generate yaml`
    hint: see `capictl generate yaml --help`
    ");
}

#[test]
fn the_number_of_arguments_counts() {
    let lines = [
        "generate cluster",
        "generate cluster a b",
        "generate cluster a --list-variables true",
        "version foo",
        "generate yaml template.yaml",
        "-- init",
    ];
    insta::assert_snapshot!(TestEnvironment::new().failures(&lines), @"
    $ capictl generate cluster
    error: please specify a cluster name
    hint: e.g. `capictl generate cluster my-cluster --infrastructure docker`
    hint: see `capictl generate cluster --help`

    $ capictl generate cluster a b
    error: please specify a cluster name, one only: `b` is a second one
    hint: see `capictl generate cluster --help`

    $ capictl generate cluster a --list-variables true
    error: please specify a cluster name, one only: `true` is a second one
    hint: write `--list-variables=true` if `true` is its value
    hint: see `capictl generate cluster --help`

    $ capictl version foo
    error: unexpected argument `foo` for `capictl version`
    hint: see `capictl version --help`

    $ capictl generate yaml template.yaml
    error: unexpected argument `template.yaml` for `capictl generate yaml`
    hint: did you mean `--from template.yaml`?
    hint: see `capictl generate yaml --help`

    $ capictl -- init
    error: unexpected argument `init` for `capictl`
    hint: see `capictl --help`
    ");
}

#[test]
fn one_provider_and_no_more_is_rendered() {
    let lines = [
        "generate provider",
        "generate provider --core=",
        "generate provider -i aws --core cluster-api",
        "generate yaml --from=",
    ];
    insta::assert_snapshot!(TestEnvironment::new().failures(&lines), @"
    $ capictl generate provider
    error: at least one of --core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon should be set
    hint: name the provider, e.g. `--infrastructure docker`
    hint: `capictl config repositories` lists the known ones

    $ capictl generate provider --core=
    error: at least one of --core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon should be set
    hint: name the provider, e.g. `--infrastructure docker`
    hint: `capictl config repositories` lists the known ones

    $ capictl generate provider -i aws --core cluster-api
    error: only one of --core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon should be set
    hint: run the command once for each provider

    $ capictl generate yaml --from=
    error: unable to read custom template. Please specify a template source
    hint: name a file or URL with `--from`, or `-` for standard input
    ");
}
