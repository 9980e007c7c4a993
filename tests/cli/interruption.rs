//! Ctrl-C and SIGTERM.
#![cfg(unix)]

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::environment::{Run, TestEnvironment};

/// Runs a command until it waits for its configuration file, which never comes, then sends the signal.
pub fn interrupted(line: &str, signal: &str) -> Run {
    let environment = TestEnvironment::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let mut command = environment.command(line);
    command.arg(format!("--config=http://{address}/clusterctl.yaml"));
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _connection = accept(server);
    send(signal, &child);
    let mut run = environment.finish(child.wait_with_output().unwrap());
    // On a machine that is busy with other things, the command may have waited long enough to say so.
    let lines = run.stderr.split_inclusive('\n');
    run.stderr = lines
        .filter(|line| !line.starts_with("Downloading "))
        .collect();
    run
}

/// Waits for the one connection; a deadline, lest a command that fails early hangs the test.
pub fn accept(server: TcpListener) -> TcpStream {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(server.accept().unwrap().0));
    receiver
        .recv_timeout(Duration::from_secs(60))
        .expect("the command asks for its configuration file")
}

pub fn send(signal: &str, child: &Child) {
    let kill = format!("kill -{signal} {}", child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn ctrl_c_ends_a_command_with_130() {
    insta::assert_snapshot!(interrupted("config repositories", "INT"), @"
    status: 130
    ---- stdout
    ---- stderr
    error: interrupted by Ctrl-C
    hint: nothing was changed
    ");
}

#[test]
fn sigterm_ends_a_command_with_130() {
    insta::assert_snapshot!(interrupted("generate yaml", "TERM"), @"
    status: 130
    ---- stdout
    ---- stderr
    error: interrupted by SIGTERM
    hint: nothing was written
    ");
}

#[test]
fn an_interrupted_init_says_how_it_goes_on() {
    insta::assert_snapshot!(interrupted("init", "INT"), @"
    status: 130
    ---- stdout
    ---- stderr
    error: interrupted by Ctrl-C
    hint: run the same command again, it goes on where it stopped
    ");
}

/// Only printing is left, and nobody reads on: the process must not wait for its reader.
#[test]
fn ctrl_c_ends_a_command_that_waits_for_its_reader() {
    let environment = TestEnvironment::new();
    // More than a pipe holds.
    let template = "name: value\n---\n".repeat(100_000);
    environment.write("template.yaml", &template);
    let mut command = environment.command("generate yaml --from template.yaml");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    send("INT", &child);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    drop(stdout);
}
