//! Help: asked for in any way, it goes to standard output and the exit code is 0.

use crate::environment::TestEnvironment;

#[test]
fn the_program_shows_its_commands() {
    insta::assert_snapshot!(TestEnvironment::new().run("-h"), @"
    status: 0
    ---- stdout
    Manage Cluster API management clusters and the providers in them

    Usage: capictl [OPTIONS] [COMMAND]

    Commands:
      init        Make a cluster a management cluster
      generate    Render cluster templates, provider components and other templates
      config      Show the configuration
      cache       Show or empty the cache of downloads
      run-local   Run the manager of the Mailgun provider on this machine
      version     Print the version
      completion  Print the completion script of a shell
      help        Show the help of a command

    Global options:
      -v, --v <LEVEL>               Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6
                                    on for everything
          --config <FILE>           Path or URL of the configuration file [default:
                                    $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]
          --offline[=<true|false>]  Take releases and templates from the download cache alone, without
                                    any request for them
          --ca-file <FILE>          PEM file of CA certificates to trust for downloads, besides those of
                                    the system
      -h, --help                    Print help

    Any other word runs the plugin of that name: `capictl-WORD` or `clusterctl-WORD` from PATH.
    Use `capictl help COMMAND` for more about a command.
    ---- stderr
    ");
}

#[test]
fn help_is_shown_anywhere_on_the_line() {
    let environment = TestEnvironment::new();
    let short = environment.run("generate cluster -h");
    let long = environment.run("generate cluster --help");
    assert!(
        short
            .stdout
            .starts_with("Render the objects of a workload cluster"),
        "{short}"
    );
    assert!(
        long.stdout.contains("The template is a provider's"),
        "{long}"
    );
    for (line, expected) in [
        ("-h generate cluster", &short),
        ("generate -h cluster", &short),
        ("generate cluster a b -h", &short),
        ("generate cluster --bogus -h", &short),
        ("generate cluster -n -h", &short),
        ("generate cluster -v5 -h=true", &short),
        ("help generate cluster", &long),
        ("generate cluster --help=1", &long),
    ] {
        let run = environment.run(line);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{line}");
        assert_eq!(run.stdout, expected.stdout, "{line}");
    }
}

#[test]
fn groups_alone_show_their_help() {
    let environment = TestEnvironment::new();
    for (group, asked) in [
        ("", "-h"),
        ("generate", "generate -h"),
        ("config", "config -h"),
        ("help", "--help"),
    ] {
        let run = environment.run(group);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{group}");
        assert_eq!(run.stdout, environment.run(asked).stdout, "{group}");
    }
}

#[test]
fn help_that_is_declined_is_not_shown() {
    let run = TestEnvironment::new().run("version -o short --help=false");
    assert_eq!(run.stdout, concat!("v", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn help_of_what_is_no_command_is_an_error() {
    insta::assert_snapshot!(TestEnvironment::new().run("help generate clustre"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: unknown command `clustre` for `capictl generate`
    hint: did you mean `capictl generate cluster`?
    hint: see `capictl generate --help`
    ");
}
