//! The stand-in for Mailgun as a program, to try the provider without an account.
//!
//! ```text
//! cargo run --example mailgun -- [--listen ADDRESS] [--domain DOMAIN] [--key KEY] [--delay MILLISECONDS]
//! ```
//!
//! It prints its URL, then a line for each mail that it accepts. A line on standard input is the name of a fault for the
//! next mail, e.g. `lost-answer`; see `Fault` in `tests/support/mailgun/fault.rs`. It ends with standard input, or at
//! SIGTERM or Ctrl-C.

#[path = "../support/mod.rs"]
mod support;

use std::io::BufRead as _;
use std::process::ExitCode;
use std::time::Duration;

use support::mailgun::{DOMAIN, KEY, Mailgun};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str =
    "usage: mailgun [--listen ADDRESS] [--domain DOMAIN] [--key KEY] [--delay MILLISECONDS]";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mailgun = match start() {
        Ok(mailgun) => mailgun,
        Err(message) => {
            eprintln!("error: {message}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", mailgun.url());
    mailgun.on_accept(|mail| {
        let (id, to, subject) = (&mail.id, mail.field("to"), mail.field("subject"));
        println!("accepted <{id}> to {to}: {subject}");
    });
    let mut terminated = signal(SignalKind::terminate()).expect("the runtime handles signals");
    let (ended, end) = tokio::sync::oneshot::channel();
    // A thread of its own: a read of standard input cannot be given up.
    std::thread::spawn(move || {
        read_faults(&mailgun);
        ended.send(()).ok();
    });
    tokio::select! {
        _ = end => {}
        _ = terminated.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    ExitCode::SUCCESS
}

fn start() -> Result<Mailgun, String> {
    let (mut listen, mut domain, mut key) =
        ("127.0.0.1:0".to_owned(), DOMAIN.to_owned(), KEY.to_owned());
    let mut delay = "0".to_owned();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let place = match name.as_str() {
            "--listen" => &mut listen,
            "--domain" => &mut domain,
            "--key" => &mut key,
            "--delay" => &mut delay,
            other => return Err(format!("unknown argument `{other}`")),
        };
        *place = arguments.next().ok_or(format!("`{name}` needs a value"))?;
    }
    let delay = delay
        .parse()
        .map_err(|_| format!("`{delay}` is no number of milliseconds"))?;
    let mailgun = Mailgun::start_for(&listen, &domain, &key)
        .map_err(|error| format!("cannot listen at `{listen}`: {error}"))?;
    mailgun.answer_after(Duration::from_millis(delay));
    Ok(mailgun)
}

fn read_faults(mailgun: &Mailgun) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match line.trim().parse() {
            Ok(fault) => mailgun.fail("POST ", fault, 1),
            Err(_) if line.trim().is_empty() => {}
            Err(message) => eprintln!("error: {message}"),
        }
    }
}
