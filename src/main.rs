//! The `capictl` binary; everything is in the library, see [`capictl::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    capictl::cli::main(std::env::args_os())
}
