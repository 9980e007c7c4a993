//! The `capictl` binary; everything is in the library, see [`capictl::cli`].

use std::ffi::OsString;
use std::process::ExitCode;

use capictl::cli::{self, completion};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match std::env::var_os(completion::VARIABLE) {
        Some(shell) => completion::answer(&shell, &arguments[1..]),
        None => cli::main(arguments.into_iter()),
    }
}
