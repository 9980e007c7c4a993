//! The program under the name `manager`: that of the Mailgun provider's Deployment, with the flags of such managers.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};

use super::args::GlobalArgs;
use super::line::{CommandLine, Detail};
use super::run_local::flags::ManagerArgs;
use super::run_local::process::{self, LogFormat};
use super::values::given;
use super::{help, output, usage};
use crate::error::Result;
use crate::ops::ClusterOptions;

/// The name that makes the program the manager.
const NAME: &str = "manager";

/// Run the manager of the Mailgun provider
///
/// What `capictl run-local` runs, for the provider's Deployment: variables, signals and exit codes are the same, and so
/// are the flags, which may have one dash or two.
#[derive(Debug, Parser)]
#[command(name = NAME, disable_help_flag = true, args_override_self = true)]
struct Manager {
    #[command(flatten)]
    global: GlobalArgs,

    /// Path of the kubeconfig [default: KUBECONFIG, ~/.kube/config, in-cluster]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<String>,

    #[command(flatten)]
    manager: ManagerArgs,
}

/// Tells whether the program was called by the manager's name.
pub fn is_meant(program: &OsStr) -> bool {
    Path::new(program).file_stem() == Some(OsStr::new(NAME))
}

/// Runs the manager with these arguments until it is stopped.
///
/// # Errors
/// The command line is wrong, or the operation's own.
pub fn run(typed: &[OsString]) -> Result<ExitCode> {
    let mut definition = Manager::command();
    let arguments = std::iter::once(NAME.into()).chain(typed.iter().map(double_dash));
    let matches = match definition.try_get_matches_from_mut(arguments) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            output::print(&help::render(&mut definition, &[], Detail::Long)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => {
            return Err(usage::explain(&error, &CommandLine::default(), &definition));
        }
    };
    let Manager {
        global,
        kubeconfig,
        manager,
    } = Manager::from_arg_matches(&matches).expect("the matches are those of the same definition");
    let cluster = ClusterOptions {
        kubeconfig: given(kubeconfig),
        context: None,
    };
    let (options, logs) = manager.split(cluster);
    process::run(global, logs.or(LogFormat::Json), options)
}

/// Go's flags may have one dash, however long they are.
fn double_dash(argument: &OsString) -> OsString {
    let text = argument.to_string_lossy();
    let name = text
        .strip_prefix('-')
        .map(|rest| rest.split('=').next().unwrap_or(rest));
    match name {
        Some(name) if name.len() > 1 && !name.starts_with('-') => format!("-{text}").into(),
        _ => argument.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_alone_makes_a_manager() {
        for program in ["manager", "/manager", "./bin/manager", "/manager.exe"] {
            assert!(is_meant(OsStr::new(program)), "{program}");
        }
        for program in [
            "",
            "/",
            "capictl",
            "/manager/capictl",
            "mymanager",
            "manager-capictl",
        ] {
            assert!(!is_meant(OsStr::new(program)), "{program}");
        }
    }

    #[test]
    fn long_flags_may_have_one_dash() {
        let table = [
            ("-leader-elect", "--leader-elect"),
            ("-zap-devel=true", "--zap-devel=true"),
            ("--leader-elect", "--leader-elect"),
            ("-v=2", "-v=2"),
            ("-v", "-v"),
            ("-", "-"),
            ("--", "--"),
            (":8081", ":8081"),
        ];
        for (typed, expected) in table {
            assert_eq!(double_dash(&typed.into()), OsString::from(expected));
        }
    }
}
