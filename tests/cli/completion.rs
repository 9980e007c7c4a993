//! `capictl completion`, and what it answers to the scripts; `shells.rs` has the shells themselves.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use capictl::cli;
use capictl::cli::completion::VARIABLE;
use clap_complete::aot;

use crate::environment::TestEnvironment;

const POWERSHELL: &str = "completions/_capictl.ps1";
const REFRESH: &str = "UPDATE=1 cargo test --test cli completion";

/// Returns what follows the words of a line, up to its end.
fn answer(environment: &TestEnvironment, line: &str) -> Vec<String> {
    let mut command = environment.command("");
    command
        .env(VARIABLE, "bash")
        .arg("--")
        .args(line.split(' '));
    let run = environment.finish(command.output().unwrap());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{line}");
    run.stdout.lines().map(str::to_owned).collect()
}

/// The other scripts are what `completions/` has: they are included from there.
#[test]
fn the_script_of_powershell_is_that_of_the_definition() {
    let mut script = Vec::new();
    aot::generate(
        aot::PowerShell,
        &mut cli::definition(),
        "capictl",
        &mut script,
    );
    let script = String::from_utf8(script).unwrap();
    let script: String = script
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(POWERSHELL);
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &script).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == script,
        "`{POWERSHELL}` is stale, refresh it: `{REFRESH}`"
    );
}

#[test]
fn each_shell_gets_its_file() {
    let environment = TestEnvironment::new();
    for (shell, file) in [
        ("bash", "capictl.bash"),
        ("zsh", "_capictl"),
        ("fish", "capictl.fish"),
        ("elvish", "capictl.elv"),
        ("powershell", "_capictl.ps1"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("completions")
            .join(file);
        let run = environment.run(&format!("completion {shell}"));
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{shell}");
        let refresh = format!("the binary has another `{}`: `cargo build`", path.display());
        assert!(
            run.stdout == fs::read_to_string(&path).unwrap(),
            "{refresh}"
        );
    }
    insta::assert_snapshot!(environment.failures(&["completion", "completion csh"]), @"
    $ capictl completion
    error: please specify <SHELL>
    hint: see `capictl completion --help`

    $ capictl completion csh
    error: invalid value `csh` for `<SHELL>`
    hint: valid values: `bash`, `zsh`, `fish`, `powershell`, `elvish`
    hint: see `capictl completion --help`
    ");
}

#[test]
fn providers_are_those_of_the_configuration_by_type() {
    let environment = TestEnvironment::new();
    environment.write(
        "home/.config/cluster-api/clusterctl.yaml",
        "providers:\n- {name: mail-order, type: InfrastructureProvider, url: /r/infrastructure-mail-order/v1.0.0/c.yaml}\n",
    );
    assert_eq!(
        answer(&environment, "capictl init --infrastructure mail"),
        ["mail-order", "mailgun"]
    );
    assert_eq!(
        answer(&environment, "capictl init --infrastructure=docker,mailg"),
        ["--infrastructure=docker,mailgun"]
    );
    assert_eq!(
        answer(&environment, "capictl init -i docker,mailg"),
        ["docker,mailgun"]
    );
    assert_eq!(
        answer(&environment, "capictl init --core "),
        ["cluster-api"]
    );
    assert!(answer(&environment, "capictl init --bootstrap mail").is_empty());
    assert_eq!(
        answer(&environment, "capictl generate provider --ipam in"),
        ["in-cluster"]
    );
}

#[test]
fn versions_and_flavors_come_from_what_is_on_the_disk_or_in_the_program() {
    let environment = TestEnvironment::new();
    let release = |version: &str| format!("repository/infrastructure-example/{version}");
    for version in ["v1.2.0", "v1.10.0"] {
        environment.write(format!("{}/metadata.yaml", release(version)), "");
    }
    environment.write(
        format!("{}/cluster-template-big.yaml", release("v1.2.0")),
        "",
    );
    let url = environment.path(release("v1.2.0")).join("c.yaml");
    environment.write(
        "other.yaml",
        &format!(
            "providers: [{{name: example, type: InfrastructureProvider, url: '{}'}}]",
            url.display()
        ),
    );
    let line = "capictl --config other.yaml init -i example:";
    assert_eq!(
        answer(&environment, line),
        ["example:v1.10.0", "example:v1.2.0"]
    );
    let line = "capictl generate cluster --config=other.yaml c -i example -f ";
    assert_eq!(answer(&environment, line), ["big"]);

    let version = concat!("mailgun:v", env!("CARGO_PKG_VERSION"));
    assert_eq!(answer(&environment, "capictl init -i mailgun:"), [version]);
    let line = "capictl generate cluster c --infrastructure mailgun --flavor ";
    assert_eq!(answer(&environment, line), ["clusterclass"]);
    // GitHub is not asked.
    assert!(answer(&environment, "capictl init -i docker:").is_empty());
}

#[test]
fn contexts_and_files_come_from_the_disk() {
    let environment = TestEnvironment::new();
    environment.write(
        "home/.kube/config",
        "contexts: [{name: here}, {name: there}]\n",
    );
    let path = environment.write("a file.yaml", "contexts: [{name: elsewhere}]\n");
    environment.write("folder/.hidden", "");
    let line = "capictl init --kubeconfig-context ";
    assert_eq!(answer(&environment, line), ["here", "there"]);
    let mut command = environment.command("");
    command
        .env(VARIABLE, "bash")
        .args(["--", "capictl", "init", "--kubeconfig"]);
    command.args([
        path.as_os_str(),
        OsStr::new("--kubeconfig-context"),
        OsStr::new(""),
    ]);
    assert_eq!(
        environment.finish(command.output().unwrap()).stdout,
        "elsewhere\n"
    );

    assert_eq!(
        answer(&environment, "capictl init --kubeconfig f"),
        ["folder/"]
    );
    assert_eq!(
        answer(&environment, "capictl init --kubeconfig ./a"),
        ["./a file.yaml"]
    );
    assert!(answer(&environment, "capictl init --kubeconfig folder/").is_empty());
    assert_eq!(
        answer(&environment, "capictl init --kubeconfig folder/."),
        ["folder/.hidden"]
    );
    assert_eq!(
        answer(&environment, "capictl init --kubeconfig ~/.k"),
        ["~/.kube/"]
    );
}

/// A server that takes connections and never answers, a port that nobody listens at, no kubeconfig, a broken one.
#[test]
fn a_server_that_is_away_is_waited_for_a_moment_and_nothing_is_said() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    for kubeconfig in [
        kubeconfig(&address, ""),
        kubeconfig(&closed, ""),
        String::new(),
        "[".to_owned(),
    ] {
        let environment = TestEnvironment::new();
        if !kubeconfig.is_empty() {
            environment.write("home/.kube/config", &kubeconfig);
        }
        let started = Instant::now();
        assert!(answer(&environment, "capictl init --target-namespace ").is_empty());
        let answers = answer(&environment, "capictl generate cluster ");
        assert!(
            answers.iter().all(|word| word.starts_with('-')),
            "{answers:?}"
        );
        // Each is 0.3 s and the start of a process; ten seconds would be the time to connect.
        assert!(
            started.elapsed() < Duration::from_secs(8),
            "{:?}",
            started.elapsed()
        );
    }
}

#[test]
#[cfg(unix)]
fn a_plugin_that_talks_to_its_user_is_not_run() {
    let environment = |mode: &str| {
        let environment = TestEnvironment::new();
        let exec = format!(
            "exec: {{apiVersion: client.authentication.k8s.io/v1, command: /bin/touch, args: [ran], interactiveMode: {mode}}}"
        );
        environment.write("home/.kube/config", &kubeconfig("127.0.0.1:9", &exec));
        environment
    };
    let has_run = |environment: &TestEnvironment| {
        answer(environment, "capictl init --target-namespace ");
        environment.path("ran").exists()
    };
    assert!(!has_run(&environment("Always")));
    // On a busy machine, the time may be over before the plugin is started.
    let quiet = environment("Never");
    assert!((0..100).any(|_| has_run(&quiet)));
}

fn kubeconfig(server: &str, user: &str) -> String {
    format!(
        "clusters: [{{name: c, cluster: {{server: \"http://{server}\"}}}}]\n\
         users: [{{name: u, user: {{{user}}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n"
    )
}
