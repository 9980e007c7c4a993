//! `--write-to`: faults of the target are found before the work, and the file is replaced as a whole.

use std::fs;

use crate::environment::TestEnvironment;

/// Returns an environment with a template, and the command that renders it into `target`.
fn rendering_to(target: &str) -> (TestEnvironment, String) {
    let environment = TestEnvironment::new();
    environment.write(
        "template.yaml",
        "kind: A\nmetadata: {name: \"${CLUSTER_NAME}\"}\n",
    );
    let line = format!(
        "generate cluster c --from template.yaml -n default --kubeconfig missing --write-to {target}"
    );
    (environment, line)
}

const RENDERED: &str = "kind: A\nmetadata:\n  name: c\n  namespace: default\n";

#[test]
fn what_cannot_be_a_file_is_refused() {
    let environment = TestEnvironment::new();
    let folder = environment.run("generate provider -i docker --write-to bin");
    insta::assert_snapshot!(folder, @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot write `bin`: it is a directory
    hint: name a file in it, e.g. `--write-to bin/output.yaml`
    ");
    let missing = environment.run("generate cluster c --write-to missing/out.yaml");
    insta::assert_snapshot!(missing, @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot write `missing/out.yaml`: the folder `missing` does not exist
    hint: create it: `mkdir -p missing`
    ");
}

#[test]
fn the_file_is_replaced_and_private() {
    let (environment, line) = rendering_to("out.yaml");
    environment.write("out.yaml", &"old ".repeat(100));
    let run = environment.run(&line);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert_eq!(
        fs::read_to_string(environment.path("out.yaml")).unwrap(),
        RENDERED
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = environment
            .path("out.yaml")
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let left: Vec<_> = fs::read_dir(environment.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 4, "no temporary file is left: {left:?}");
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link() {
    let (environment, line) = rendering_to("link.yaml");
    environment.write("elsewhere/out.yaml", "old");
    std::os::unix::fs::symlink("elsewhere/out.yaml", environment.path("link.yaml")).unwrap();
    let run = environment.run(&line);
    assert_eq!(run.status, 0, "{run}");
    assert!(
        environment
            .path("link.yaml")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::read_to_string(environment.path("elsewhere/out.yaml")).unwrap(),
        RENDERED
    );
}

#[test]
#[cfg(target_os = "linux")]
fn devices_are_written_to() {
    let (environment, line) = rendering_to("/dev/stdout");
    let run = environment.run(&line);
    assert_eq!((run.status, run.stdout.as_str()), (0, RENDERED), "{run}");
}

#[test]
fn a_dash_is_standard_output() {
    for target in ["-", ""] {
        let (environment, line) = rendering_to("");
        let mut command = environment.command(line.trim_end().trim_end_matches("--write-to"));
        command.arg(format!("--write-to= {target} "));
        let run = environment.finish(command.output().unwrap());
        assert_eq!((run.status, run.stdout.as_str()), (0, RENDERED), "{run}");
    }
}

#[test]
fn an_error_leaves_the_file_as_it_was() {
    let (environment, line) = rendering_to("out.yaml");
    environment.write("template.yaml", "kind: ${MISSING}\n");
    environment.write("out.yaml", "old");
    assert_eq!(environment.run(&line).status, 1);
    assert_eq!(
        fs::read_to_string(environment.path("out.yaml")).unwrap(),
        "old"
    );
}
