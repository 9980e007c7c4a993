//! The rows of `docs/differences.md` that need no cluster, each shown by running the reference clusterctl beside capictl.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::binaries;
use crate::environment::{Run, TestEnvironment};
use crate::generate_provider::{COMPONENTS, with_components};

/// Returns a command of the reference clusterctl, in the environment that a command of capictl has.
fn reference(environment: &TestEnvironment, line: &str) -> Command {
    let ours = environment.command(line);
    let mut command = Command::new(binaries::clusterctl().unwrap());
    let set = ours
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    command
        .args(ours.get_args())
        .env_clear()
        .envs(set)
        .env("CLUSTERCTL_DISABLE_VERSIONCHECK", "true")
        .current_dir(ours.get_current_dir().unwrap())
        .stdin(Stdio::null());
    command
}

/// Runs clusterctl, then capictl.
fn both(environment: &TestEnvironment, line: &str) -> (Run, Run) {
    let theirs = reference(environment, line).output().unwrap();
    (environment.finish(theirs), environment.run(line))
}

#[cfg(unix)]
#[test]
fn a_file_is_replaced_as_a_whole() {
    use std::os::unix::fs::PermissionsExt;
    let environment = TestEnvironment::new();
    environment.write("template.yaml", "kind: A\n");
    let line = "generate cluster c -n n --from template.yaml --write-to out.yaml";
    let replaced = |mut command: Command| {
        // Who has the old file open, here by another name, goes on reading the old file.
        let open = environment.write("open.yaml", "old");
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(&open, mode).unwrap();
        let _ = fs::remove_file(environment.path("out.yaml"));
        fs::hard_link(&open, environment.path("out.yaml")).unwrap();
        assert!(command.output().unwrap().status.success());
        let written = fs::metadata(environment.path("out.yaml")).unwrap();
        let whole = fs::read_to_string(open).unwrap() == "old";
        (whole, written.permissions().mode() & 0o777)
    };
    assert_eq!(replaced(reference(&environment, line)), (false, 0o644));
    assert_eq!(replaced(environment.command(line)), (true, 0o600));
}

#[test]
fn the_kubernetes_version_is_checked_wherever_it_comes_from() {
    let environment = TestEnvironment::new().with("KUBERNETES_VERSION", "stable");
    environment.write("template.yaml", "kind: ${KUBERNETES_VERSION}\n");
    let line = "generate cluster c -n n --from template.yaml";
    let (theirs, ours) = both(&environment, line);
    assert_eq!((theirs.status, ours.status), (0, 1), "{theirs}{ours}");
    assert!(theirs.stdout.contains("kind: stable"), "{theirs}");
    let refusal = "error: invalid KubernetesVersion";
    assert!(ours.stderr.starts_with(refusal), "{ours}");
    // Both check the flag.
    let line = &format!("{line} --kubernetes-version latest");
    let (theirs, ours) = both(&environment, line);
    assert_eq!((theirs.status, ours.status), (1, 1), "{theirs}{ours}");
    assert!(
        theirs.stderr.contains("invalid KubernetesVersion"),
        "{theirs}"
    );
    assert!(ours.stderr.starts_with(refusal), "{ours}");
}

#[test]
fn all_faults_of_the_configuration_are_reported() {
    let environment = TestEnvironment::new();
    let config = "\
providers:
- {name: '', type: InfrastructureProvider, url: https://example.com/components.yaml}
- {name: second, type: Infra, url: https://example.com/components.yaml}
";
    environment.write("home/.config/cluster-api/clusterctl.yaml", config);
    let (theirs, ours) = both(&environment, "config repositories");
    assert_eq!((theirs.status, ours.status), (1, 1));
    assert!(!theirs.stderr.contains("second"), "{theirs}");
    assert!(ours.stderr.contains("entry 1"), "{ours}");
    assert!(ours.stderr.contains("second"), "{ours}");
}

#[cfg(unix)]
#[test]
fn an_interruption_is_told() {
    use crate::interruption::send;
    use std::os::unix::process::ExitStatusExt;
    let environment = TestEnvironment::new();
    let mut command = reference(&environment, "generate yaml");
    let theirs = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    send("INT", &theirs);
    let theirs = theirs.wait_with_output().unwrap();
    assert_eq!(theirs.status.signal(), Some(2));
    assert_eq!(String::from_utf8_lossy(&theirs.stderr), "");

    let ours = crate::interruption::interrupted("generate yaml", "INT");
    assert_eq!(ours.status, 130);
    assert!(ours.stderr.contains("hint: nothing was written"), "{ours}");
}

#[test]
fn objects_stay_as_they_were_written() {
    let components = COMPONENTS.replace("  selector:", "  futureField: 1\n  selector:");
    let environment = with_components(&components).with("EXAMPLE_TOKEN", "abc");
    let (theirs, ours) = both(&environment, "generate provider -i example");
    assert_eq!((theirs.status, ours.status), (0, 0), "{theirs}{ours}");
    assert!(!theirs.stdout.contains("futureField"), "{theirs}");
    assert!(ours.stdout.contains("  futureField: 1\n"), "{ours}");

    let components = COMPONENTS.replace("  selector:", "  replicas: ${REPLICAS:=1}\n  selector:");
    let environment = with_components(&components);
    let (theirs, ours) = both(&environment, "generate provider -i example --raw");
    assert_eq!((theirs.status, ours.status), (1, 0), "{theirs}{ours}");
    assert!(
        theirs
            .stderr
            .contains("unable to convert unstructured object"),
        "{theirs}"
    );
    assert!(ours.stdout.contains("replicas: ${REPLICAS:=1}"), "{ours}");
}

#[test]
fn images_need_no_registry() {
    let components = COMPONENTS.replace("registry.example.com/manager", "manager");
    let environment = with_components(&components).with("EXAMPLE_TOKEN", "abc");
    let (theirs, ours) = both(&environment, "generate provider -i example");
    assert_eq!((theirs.status, ours.status), (1, 0), "{theirs}{ours}");
    assert!(
        theirs.stderr.contains("repository name must be canonical"),
        "{theirs}"
    );
    assert!(ours.stdout.contains("image: manager:v1.2.3"), "{ours}");

    let components = COMPONENTS.replace("registry.example.com/manager", "${IMAGE}");
    let raw = with_components(&components);
    let (theirs, ours) = both(&raw, "generate provider -i example --raw");
    assert_eq!((theirs.status, ours.status), (1, 0), "{theirs}{ours}");
    assert!(ours.stdout.contains("image: ${IMAGE}:v1.2.3"), "{ours}");
    // Everything else that is no name is refused by both.
    let environment = with_components(&components)
        .with("EXAMPLE_TOKEN", "abc")
        .with("IMAGE", ".example.com/manager");
    let (theirs, ours) = both(&environment, "generate provider -i example");
    assert_eq!(theirs.status, 1, "{theirs}");
    insta::assert_snapshot!(ours, @"
    status: 1
    ---- stdout
    ---- stderr
    error: the components `[FOLDER]/repository/infrastructure-example/v1.2.3/components.yaml` cannot be used
      caused by: cannot use the image of container `manager` of `Deployment example-system/manager`
      caused by: couldn't parse image name `.example.com/manager:v1.2.3`: the registry host is no host name
    hint: correct the name in the components, or the value of the variable that it comes from
    ");
    // What an override makes of a name has to be one, too.
    let environment = with_components(COMPONENTS).with("EXAMPLE_TOKEN", "abc");
    let config = "home/.config/cluster-api/clusterctl.yaml";
    let providers = fs::read_to_string(environment.path(config)).unwrap();
    environment.write(
        config,
        &format!("{providers}images: {{all: {{tag: v1+2}}}}\n"),
    );
    let (theirs, ours) = both(&environment, "generate provider -i example");
    assert_eq!((theirs.status, ours.status), (0, 1), "{theirs}{ours}");
    assert!(theirs.stdout.contains("manager:v1+2"), "{theirs}");
    assert!(
        ours.stderr
            .contains("manager:v1+2`, which is no image name"),
        "{ours}"
    );
}

#[test]
fn mistyped_lines_fail_without_data() {
    let environment = TestEnvironment::new();
    // clusterctl prints its help as data, with the exit code of success or without, or reads on.
    for (line, status) in [
        ("generate foo", 0),
        ("generate cluster", 1),
        ("generate yaml template.yaml", 0),
    ] {
        let (theirs, ours) = both(&environment, line);
        assert_eq!(theirs.status, status, "{theirs}");
        assert!(!theirs.stdout.is_empty(), "{theirs}");
        assert_eq!((ours.status, ours.stdout.as_str()), (1, ""), "{ours}");
    }
    let (theirs, ours) = both(&environment, "generate provider -i --describe");
    let as_name = "invalid provider name \"--describe\"";
    assert!(theirs.stderr.contains(as_name), "{theirs}");
    let needed = "the flag `--infrastructure` needs a value";
    assert!(ours.stderr.contains(needed), "{ours}");
    let (theirs, ours) = both(&environment, "--bogus -h");
    assert_eq!((theirs.status, ours.status), (1, 0), "{theirs}{ours}");
}

#[test]
fn nobody_is_asked_for_news() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", server.local_addr().unwrap());
    let environment = TestEnvironment::new()
        .with("GOPROXY", &address)
        .with("HTTPS_PROXY", &address);
    let ours = environment.run("version -o short");
    assert_eq!((ours.status, ours.stderr.as_str()), (0, ""), "{ours}");
    server.set_nonblocking(true).unwrap();
    let nobody = server.accept().map(|(_, address)| address);
    assert_eq!(nobody.unwrap_err().kind(), io::ErrorKind::WouldBlock);

    server.set_nonblocking(false).unwrap();
    let mut theirs = reference(&environment, "version -o short")
        .env_remove("CLUSTERCTL_DISABLE_VERSIONCHECK")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _asked = crate::interruption::accept(server);
    theirs.kill().unwrap();
    theirs.wait().unwrap();
}

#[test]
fn sections_come_from_the_file() {
    let environment = TestEnvironment::new().with("PROVIDERS", "mine");
    let (theirs, ours) = both(&environment, "config repositories");
    assert_eq!((theirs.status, ours.status), (1, 0), "{theirs}{ours}");
    assert!(ours.stdout.contains("kubeadm"), "{ours}");
}

#[cfg(unix)]
#[test]
fn both_families_of_names_are_known() {
    use std::os::unix::fs::PermissionsExt;
    let environment = TestEnvironment::new();
    let plugin = |name: &str| {
        let path = environment.write(name, &format!("#!/bin/sh\necho {name}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    plugin("bin/clusterctl-hello");
    let (theirs, ours) = both(&environment, "hello");
    assert_eq!(theirs.stdout, "bin/clusterctl-hello\n");
    assert_eq!(ours.stdout, "bin/clusterctl-hello\n");
    plugin("bin/capictl-hello");
    let (theirs, ours) = both(&environment, "hello");
    assert_eq!(theirs.stdout, "bin/clusterctl-hello\n");
    assert_eq!(ours.stdout, "bin/capictl-hello\n");

    let environment = environment.with("PATH", "bin");
    let (theirs, ours) = both(&environment, "hello");
    assert_eq!((theirs.status, ours.status), (0, 1), "{theirs}{ours}");

    let (theirs, ours) = both(&environment, "version -o json");
    let version = |run: &Run, tool: &str| {
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let version = json[tool]["gitVersion"].as_str().map(str::to_owned);
        version.is_some_and(|version| version.starts_with('v'))
    };
    assert!(version(&theirs, "clusterctl") && !version(&theirs, "capictl"));
    assert!(version(&ours, "clusterctl") && version(&ours, "capictl"));
}

#[test]
fn the_own_provider_is_known() {
    let environment = TestEnvironment::new();
    let (theirs, ours) = both(&environment, "generate provider -i mailgun --describe");
    assert_eq!((theirs.status, ours.status), (1, 0), "{theirs}{ours}");
}
