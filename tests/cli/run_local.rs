//! `run-local` up to the first word with a cluster, and the same program as `manager`.
#![cfg(unix)]

use std::ffi::OsString;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use capictl::cli::{self, Request};

use crate::environment::{Run, TestEnvironment};
use crate::interruption::{accept, send};

const KUBECONFIG: &str = "\
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: test}}]
clusters: [{name: test, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: test, user: {}}]
";

/// Returns an environment with all that is needed but a kubeconfig.
fn with_variables() -> TestEnvironment {
    TestEnvironment::new()
        .with("MAILGUN_DOMAIN", "mg.example.com")
        .with("MAILGUN_API_KEY", "key-hunter2")
        .with("MAIL_RECIPIENT", "me@example.com")
}

/// Runs the program by the name that the provider's image has for it.
fn run_as_manager(environment: &TestEnvironment, line: &str) -> Run {
    let output = environment.command(line).arg0("/manager").output();
    environment.finish(output.unwrap())
}

#[test]
fn all_missing_variables_are_named_at_once() {
    insta::assert_snapshot!(TestEnvironment::new().run("run-local"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: missing required env `MAILGUN_DOMAIN`, `MAILGUN_API_KEY`, `MAIL_RECIPIENT`
    hint: `MAILGUN_DOMAIN` is the domain as Mailgun's control panel shows it; a sandbox domain will do
    hint: `MAILGUN_API_KEY` is an account key, or a sending key of the domain
    hint: `MAIL_RECIPIENT` is the address that all mails go to; a sandbox domain sends to authorized recipients only
    hint: set variables in the environment, or as keys of the configuration file `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`
    ");
    let environment = TestEnvironment::new()
        .with("MAILGUN_DOMAIN", "mg.example.com")
        .with("MAILGUN_API_KEY", " ")
        .with("MAILGUN_RECIPIENT", "me@example.com");
    insta::assert_snapshot!(environment.run("run-local"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: missing required env `MAILGUN_API_KEY`
    hint: `MAILGUN_API_KEY` is an account key, or a sending key of the domain
    hint: set variables in the environment, or as keys of the configuration file `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`
    ");
}

/// The tutorial's manager logs such a line, and ends at the first one.
#[test]
fn missing_variables_are_logged_as_the_tutorial_has_it() {
    let run = TestEnvironment::new().run("run-local --zap-devel");
    assert_eq!(run.status, 1);
    let lines: Vec<&str> = run.stderr.lines().collect();
    let logged: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_once('\t'))
        .map(|(_, line)| line)
        .collect();
    insta::assert_snapshot!(logged.join("\n"), @r#"
    INFO	setup	missing required env MAILGUN_DOMAIN
    INFO	setup	missing required env MAILGUN_API_KEY
    INFO	setup	missing required env MAIL_RECIPIENT
    "#);
    let time = lines[0].split('\t').next().unwrap();
    assert_eq!(
        time.replace(|c: char| c.is_ascii_digit(), "0"),
        "0000-00-00T00:00:00Z"
    );
}

#[test]
fn variables_may_come_from_the_configuration_file() {
    let environment = TestEnvironment::new();
    environment.write(
        "home/.config/cluster-api/clusterctl.yaml",
        "MAILGUN_DOMAIN: mg.example.com\nmailgun_api_key: key-1\nMAIL_RECIPIENT: me@example.com\n",
    );
    insta::assert_snapshot!(environment.run("run-local"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: clusterctl requires either a valid kubeconfig or in cluster config to connect to the management cluster: there is neither `[FOLDER]/home/.kube/config`, nor is this a Pod with a ServiceAccount
    hint: name a kubeconfig with `--kubeconfig` or the variable `KUBECONFIG`
    ");
}

#[test]
fn bad_values_are_named_without_secrets() {
    let failure = |(name, value): (&str, &str)| {
        let run = with_variables().with(name, value).run("run-local");
        assert!(!run.stderr.contains("hunter2"), "{run}");
        format!("{name}={value}\n{run}")
    };
    let table = [
        ("MAILGUN_DOMAIN", "mg.example.com/v3"),
        ("MAILGUN_API_BASE", "https://user:hunter2@example.com"),
        ("MAIL_RECIPIENT", "me"),
    ];
    insta::assert_snapshot!(table.map(failure).join("\n"), @"
    MAILGUN_DOMAIN=mg.example.com/v3
    status: 1
    ---- stdout
    ---- stderr
    error: `mg.example.com/v3` is not a domain name
    hint: set `MAILGUN_DOMAIN` to the domain as Mailgun's control panel shows it

    MAILGUN_API_BASE=https://user:hunter2@example.com
    status: 1
    ---- stdout
    ---- stderr
    error: the address of Mailgun's API is neither `us`, `eu` nor an http or https URL without user and query
    hint: set `MAILGUN_API_BASE` to `us`, `eu` or a URL like `https://api.mailgun.net`

    MAIL_RECIPIENT=me
    status: 1
    ---- stdout
    ---- stderr
    error: the recipient in `MAIL_RECIPIENT` is no mail address
    hint: set `MAIL_RECIPIENT` to one address, e.g. `me@example.com`
    ");
}

#[test]
fn flags_are_checked() {
    let environment = with_variables();
    environment.write("kubeconfig", KUBECONFIG);
    insta::assert_snapshot!(environment.failures(&[
        "run-local --concurrency 0",
        "run-local --on-uncertain maybe",
        "run-local --subject-style=new",
        "run-local --log-format xml",
        "run-local --log-format json --zap-devel",
        "run-local --leader-elect-lease-duration 15",
        "run-local --leader-elect=maybe",
        "run-local --kubeconfig kubeconfig --leader-elect-renew-deadline 20s",
    ]), @"
    $ capictl run-local --concurrency 0
    error: invalid value `0` for `--concurrency`
      caused by: expected a whole number from 1 to 1000
    hint: see `capictl run-local --help`

    $ capictl run-local --on-uncertain maybe
    error: invalid value `maybe` for `--on-uncertain`
    hint: valid values: `hold`, `resend`
    hint: see `capictl run-local --help`

    $ capictl run-local --subject-style=new
    error: invalid value `new` for `--subject-style`
    hint: valid values: `seed`, `book`
    hint: see `capictl run-local --help`

    $ capictl run-local --log-format xml
    error: invalid value `xml` for `--log-format`
    hint: valid values: `text`, `json`
    hint: see `capictl run-local --help`

    $ capictl run-local --log-format json --zap-devel
    error: `--log-format` and `--zap-devel` exclude each other
    hint: see `capictl run-local --help`

    $ capictl run-local --leader-elect-lease-duration 15
    error: invalid value `15` for `--leader-elect-lease-duration`
      caused by: expected a duration, e.g. `15s`, `1m30s` or `500ms`
    hint: see `capictl run-local --help`

    $ capictl run-local --leader-elect=maybe
    error: invalid value `maybe` for `--leader-elect`
      caused by: expected `true` or `false`
    hint: see `capictl run-local --help`

    $ capictl run-local --kubeconfig kubeconfig --leader-elect-renew-deadline 20s
    error: the times of the election do not fit: lease 15s, renew deadline 20s, retry 2s
    hint: the lease must be longer than the renew deadline, and that longer than 1.2 times the retry period, e.g. 15s, 10s and 2s
    ");
}

#[test]
fn no_kubeconfig_is_told() {
    insta::assert_snapshot!(with_variables().run("run-local"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: clusterctl requires either a valid kubeconfig or in cluster config to connect to the management cluster: there is neither `[FOLDER]/home/.kube/config`, nor is this a Pod with a ServiceAccount
    hint: name a kubeconfig with `--kubeconfig` or the variable `KUBECONFIG`
    ");
    insta::assert_snapshot!(with_variables().run("run-local --kubeconfig absent"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot read the kubeconfig `absent`
      caused by: No such file or directory (os error 2)
    ");
}

#[test]
fn the_help_is_complete() {
    insta::assert_snapshot!(TestEnvironment::new().run("run-local --help"), @"
    status: 0
    ---- stdout
    Run the manager of the Mailgun provider on this machine

    Works like the provider's Deployment, in the foreground and without an image: each MailgunCluster
    makes one mail go out, and never a second one. The kinds have to be installed, `capictl init
    --infrastructure mailgun` does that. Only one manager works at a time: this one waits while the
    Deployment, or another one, holds the Lease.

    Ctrl-C or SIGTERM stops it when mails on their way are done, within 30 seconds; a second one stops
    it at once. The exit code is 0 after a stop, 1 after a failure or when the Lease was lost, 130 after
    a second signal.

    Usage: capictl run-local [OPTIONS]

    Options:
          --kubeconfig <FILE>
              Path of the management cluster's kubeconfig [default: KUBECONFIG, ~/.kube/config,
              in-cluster]

          --kubeconfig-context <CONTEXT>
              Context within the kubeconfig [default: the current one]

      -n, --namespace <NAMESPACE>
              Namespace to work in [default: all of them] (comma list, can be repeated)

          --watch-filter <VALUE>
              Work on what has this value of the label `cluster.x-k8s.io/watch-filter` only [default: on
              everything]

          --concurrency <COUNT>
              MailgunClusters to work on at a time

              [default: 1]

          --on-uncertain <hold|resend>
              A mail that Mailgun's events do not tell of: `hold` it for a person, or `resend` it,
              though it may be out

              [default: hold]

          --event-retention <DURATION>
              How long Mailgun keeps its events; what is older is held, whatever `--on-uncertain` says

              [default: 24h]

          --allow-orphan[=<true|false>]
              Send for a MailgunCluster that no Cluster owns, too

          --subject-style <seed|book>
              Subject of mails: `[Urgent] New Cluster requested`, or with the cluster's name in it, as
              the book has it

              [default: seed]

    Leader election:
          --leader-elect[=<true|false>]
              Work only while holding the Lease; `--leader-elect=false` is for who is certainly alone

              [default: true]

          --leader-election-id <NAME>
              Name of the Lease; managers that work on the same objects need the same one

              [default: 872ab3b9.cluster.x-k8s.io]

          --leader-election-namespace <NAMESPACE>
              Namespace of the Lease [default: cluster-api-provider-mailgun-system; in a Pod, the Pod's
              own]

          --leader-elect-lease-duration <DURATION>
              How long the others respect a Lease that is not renewed

              [default: 15s]

          --leader-elect-renew-deadline <DURATION>
              After how long without renewal the leader gives up

              [default: 10s]

          --leader-elect-retry-period <DURATION>
              How often the Lease is renewed, or looked at

              [default: 2s]

    Metrics, probes, logs:
          --metrics-bind-address <HOST:PORT>
              Where to serve /metrics; `0` for nowhere

              [default: 127.0.0.1:8080]

          --health-probe-bind-address <HOST:PORT>
              Where to serve /healthz and /readyz; `0` for nowhere

              [default: :8081]

          --log-format <text|json>
              Form of the log: for a person, or an object a line [default: text; in the provider's
              Deployment, json]

          --zap-devel[=<true|false>]
              Log as kubebuilder's scaffold does with this flag: its lines, fields separated by TABs,
              down to debug

    Global options:
      -v, --v <LEVEL>
              Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything

              Without it, or with 0, `CLUSTERCTL_LOG_LEVEL` of the environment or of the configuration
              file counts

          --config <FILE>
              Path or URL of the configuration file [default:
              $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]

          --offline[=<true|false>]
              Take releases and templates from the download cache alone, without any request for them

          --ca-file <FILE>
              PEM file of CA certificates to trust for downloads, besides those of the system

      -h, --help
              Print help

    Variables, from the environment or the configuration file:
      MAILGUN_DOMAIN          the Mailgun domain that mails go out by; a sandbox domain will do
      MAILGUN_API_KEY         an account key, or a sending key of the domain
      MAIL_RECIPIENT          where all mails go; MAILGUN_RECIPIENT does the same
      MAILGUN_API_BASE        `us` (the default), `eu`, or a URL
      MAILGUN_EVENTS_API_KEY  a key that may read events, if the other one may only send

    Examples:
      # Against the current context, with a key typed once
      export MAILGUN_DOMAIN=mg.example.com MAIL_RECIPIENT=me@example.com
      read -rs MAILGUN_API_KEY && export MAILGUN_API_KEY
      capictl run-local

      # Only some namespaces, in Mailgun's EU region, with logs for machines
      MAILGUN_API_BASE=eu capictl run-local -n team-a -n team-b --log-format json

      # The lines that a manager of kubebuilder's scaffold logs
      capictl run-local --zap-devel
    ---- stderr
    ");
}

#[test]
fn the_first_signal_is_no_failure() {
    for signal in ["INT", "TERM"] {
        let environment = TestEnvironment::new();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let mut command = environment.command("run-local");
        command.arg(format!("--config=http://{address}/clusterctl.yaml"));
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let _connection = accept(server);
        send(signal, &child);
        let run = environment.finish(child.wait_with_output().unwrap());
        assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
        assert!(run.stderr.starts_with("Stopped by "), "{run}");
    }
}

#[test]
fn called_manager_the_program_is_the_manager() {
    let environment = TestEnvironment::new();
    // The Deployment's command line.
    let run = run_as_manager(&environment, "--leader-elect");
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    let mut line: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&run.stderr).unwrap();
    assert!(line.remove("ts").is_some(), "{run}");
    insta::assert_json_snapshot!(line, @r#"
    {
      "error": "missing required env `MAILGUN_DOMAIN`, `MAILGUN_API_KEY`, `MAIL_RECIPIENT`",
      "hints": [
        "`MAILGUN_DOMAIN` is the domain as Mailgun's control panel shows it; a sandbox domain will do",
        "`MAILGUN_API_KEY` is an account key, or a sending key of the domain",
        "`MAIL_RECIPIENT` is the address that all mails go to; a sandbox domain sends to authorized recipients only",
        "set variables in the environment, or as keys of the configuration file `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`"
      ],
      "level": "error",
      "logger": "setup",
      "msg": "problem running manager"
    }
    "#);

    let text = run_as_manager(&environment, "-leader-elect -log-format=text");
    assert_eq!(text.stderr, environment.run("run-local").stderr);
    let zap = run_as_manager(&environment, "-leader-elect -zap-devel");
    assert!(
        zap.stderr
            .contains("\tINFO\tsetup\tmissing required env MAILGUN_DOMAIN\n"),
        "{zap}"
    );
}

#[test]
fn the_manager_has_help_and_errors_of_its_own() {
    let environment = TestEnvironment::new();
    let help = run_as_manager(&environment, "-help");
    assert_eq!((help.status, help.stderr.as_str()), (0, ""), "{help}");
    assert!(help.stdout.contains("Usage: manager [OPTIONS]"), "{help}");
    let bad = run_as_manager(&environment, "--leader-elec");
    insta::assert_snapshot!(bad, @"
    status: 1
    ---- stdout
    ---- stderr
    error: unknown flag `--leader-elec` for `manager`
    hint: did you mean `--leader-elect`?
    hint: see `manager --help`
    ");
}

/// What the tutorial tells its reader to type is understood.
#[test]
fn the_tutorials_command_lines_are_ours() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tutorial-mailgun.md");
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("capictl "))
        .map(|line| line.split('|').next().unwrap())
        .collect();
    assert!(lines.len() > 3, "{lines:?}");
    let spans = text
        .split('`')
        .filter_map(|span| span.strip_prefix("capictl "));
    for line in lines.into_iter().chain(spans) {
        let typed: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let parsed = cli::parse(&typed);
        assert!(matches!(parsed, Ok(Request::Run(_))), "{line}: {parsed:?}");
    }
}
