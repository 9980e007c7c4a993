//! Downloads that take longer than a second: what is shown meanwhile, and what is left of it.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Stdio};

use crate::environment::TestEnvironment;
use crate::interruption::send;
use crate::prompts::{CTRL_C, Terminal};
use crate::support::github::{Failure, GitHub};

const FILE: &str = "infrastructure-components.yaml";
const LINE: &str = "generate provider --raw --infrastructure demo:v1.0.0";
const FOLDER: &str = "web.example/infrastructure-demo";
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 1, minor: 0, contract: v1beta2}\n";

/// What is printed: the comments, which make the file long, are none of it.
const RENDERED: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  labels:\n    cluster.x-k8s.io/provider: infrastructure-demo\n    clusterctl.cluster.x-k8s.io: \"\"\n  name: demo-system\n";

fn components() -> String {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: demo-system\n";
    namespace.to_owned() + &"# something that takes its time\n".repeat(6_500)
}

/// A web server that holds the file back, in one of two ways.
fn slow(failure: Failure) -> GitHub {
    let github = GitHub::start();
    github.add_text(&format!("{FOLDER}/v1.0.0/metadata.yaml"), METADATA);
    github.add_text(&format!("{FOLDER}/v1.0.0/{FILE}"), &components());
    github.fail(FILE, failure, 1);
    github
}

fn environment(github: &GitHub) -> TestEnvironment {
    let environment = TestEnvironment::new();
    let url = format!("https://{FOLDER}/latest/{FILE}");
    let provider =
        format!("providers:\n- {{name: demo, type: InfrastructureProvider, url: '{url}'}}\n");
    environment.write("home/.config/cluster-api/clusterctl.yaml", &provider);
    environment.led_to(github)
}

fn at_terminal(github: &GitHub) -> Terminal {
    let variables = github.environment();
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    Terminal::run_in(environment(github), LINE, &variables)
}

/// Returns the lines that a terminal of 80 columns has after all this.
fn screen(shown: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut rest = shown.chars();
    while let Some(character) = rest.next() {
        match character {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                assert_eq!(rest.next(), Some('['), "{shown:?}");
                let mut sequence = String::new();
                while !sequence.ends_with(|end: char| end.is_ascii_alphabetic()) {
                    sequence.push(rest.next().expect("a sequence has an end"));
                }
                let count = sequence[..sequence.len() - 1].parse().unwrap_or(1);
                match sequence.chars().last() {
                    Some('A') => row = row.saturating_sub(count),
                    Some('K') if sequence == "2K" => lines[row].clear(),
                    Some('K') => lines[row] = lines[row].chars().take(column).collect(),
                    Some('m') => {}
                    _ => panic!("nobody expects `{sequence}` in {shown:?}"),
                }
            }
            character => {
                if column == 80 {
                    (row, column) = (row + 1, 0);
                    lines.resize(lines.len().max(row + 1), String::new());
                }
                let mut line: Vec<char> = lines[row].chars().collect();
                line.resize(line.len().max(column + 1), ' ');
                line[column] = character;
                lines[row] = line.into_iter().collect();
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), String::new());
    }
    let mut lines: Vec<String> = lines
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.retain(|line| !line.is_empty() && !line.starts_with("pid:"));
    lines
}

#[test]
fn a_bar_is_shown_while_the_file_comes_and_is_gone_at_the_end() {
    let github = slow(Failure::Hold);
    let mut terminal = at_terminal(&github);
    terminal.expect("Downloading infrastructure-components.yaml");
    terminal.expect("101.59 KiB/203.18 KiB");
    github.let_go();
    let (status, written, shown, _) = terminal.finish_in();
    assert_eq!(status, 0, "{shown}");
    assert_eq!(written, RENDERED);
    assert_eq!(screen(&shown), Vec::<String>::new());
}

#[test]
fn a_server_that_thinks_about_it_is_waited_for_visibly() {
    let github = slow(Failure::Silence);
    let mut terminal = at_terminal(&github);
    terminal.expect("Downloading infrastructure-components.yaml");
    terminal.send(CTRL_C);
    let (status, written, shown, _) = terminal.finish_in();
    assert_eq!((status, written.as_str()), (130, ""));
    assert_eq!(screen(&shown), INTERRUPTED);
}

const INTERRUPTED: [&str; 2] = ["error: interrupted by Ctrl-C", "hint: nothing was written"];

#[test]
fn ctrl_c_takes_the_bar_away_and_leaves_nothing_wrong_in_the_cache() {
    let github = slow(Failure::Hold);
    let mut terminal = at_terminal(&github);
    terminal.expect("Downloading infrastructure-components.yaml");
    terminal.send(CTRL_C);
    let (status, written, shown, environment) = terminal.finish_in();
    assert_eq!((status, written.as_str()), (130, ""));
    assert_eq!(screen(&shown), INTERRUPTED);
    let environment = environment.led_to(&github);
    let offline = environment.run(&format!("{LINE} --offline"));
    assert_eq!((offline.status, offline.stdout.as_str()), (1, ""));
    assert!(
        offline.stderr.contains("not in the download cache"),
        "{offline}"
    );
    let again = environment.run(LINE);
    assert_eq!((again.status, again.stdout.as_str()), (0, RENDERED));
    let offline = environment.run(&format!("{LINE} --offline"));
    assert_eq!((offline.status, offline.stdout.as_str()), (0, RENDERED));
}

/// Starts the download off a terminal. Returns the process, its first line about it, and where the others come.
fn off_a_terminal(environment: &TestEnvironment) -> (Child, String, BufReader<ChildStderr>) {
    let mut command = environment.command(LINE);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    (child, line, stderr)
}

#[test]
fn off_a_terminal_there_is_one_plain_line() {
    let github = slow(Failure::Hold);
    let environment = environment(&github);
    let (child, line, mut stderr) = off_a_terminal(&environment);
    assert_eq!(
        line,
        "Downloading infrastructure-components.yaml (203.18 KiB)\n"
    );
    github.let_go();
    let output = child.wait_with_output().unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), RENDERED);
}

#[test]
fn sigterm_off_a_terminal_ends_a_download_too() {
    let github = slow(Failure::Hold);
    let environment = environment(&github);
    let (child, _, mut stderr) = off_a_terminal(&environment);
    send("TERM", &child);
    let output = child.wait_with_output().unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        rest,
        "error: interrupted by SIGTERM\nhint: nothing was written\n"
    );
}
