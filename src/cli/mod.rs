//! The command line: one file per command, groups are folders.
//!
//! A command is an args struct, whose doc comments are its help, and a `run` that takes the args apart, calls one
//! operation and renders the result as text. [`main`] prints that text, or the failure, and chooses the exit code.
//!
//! ```text
//! line ─> clap ─┬─> a command ─> ops ─> text on standard output
//!   (sorts      ├─> help
//!   the words)  ├─> plugins   an unknown first word
//!               └─> usage     everything else that clap refuses
//! ```
//!
//! Called by the name `manager`, the program is the Mailgun provider's manager instead, see [`manager`].

pub mod args;
pub mod cache;
pub mod completion;
pub mod config;
pub mod format;
pub mod generate;
pub mod help;
pub mod init;
pub mod line;
pub mod logging;
pub mod manager;
mod output;
mod plugins;
pub mod run_local;
mod runtime;
mod session;
mod usage;
pub mod values;
pub mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::Result;
use crate::ui::Ui;
use args::GlobalArgs;
use line::{CommandLine, Detail};
use session::online;

/// Manage Cluster API management clusters and the providers in them
///
/// Works with the configuration file, the environment variables, the provider repositories and the clusters of
/// clusterctl. Data goes to standard output, everything else to standard error.
#[derive(Debug, Parser)]
#[command(
    name = "capictl",
    disable_help_flag = true,
    disable_help_subcommand = true,
    args_override_self = true,
    subcommand_help_heading = "Commands",
    after_help = "\
Any other word runs the plugin of that name: `capictl-WORD` or `clusterctl-WORD` from PATH.
Use `capictl help COMMAND` for more about a command."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The first word.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(init::InitArgs),
    Generate(generate::GenerateArgs),
    Config(config::ConfigArgs),
    Cache(cache::CacheArgs),
    RunLocal(run_local::RunLocalArgs),
    Version(version::VersionArgs),
    Completion(completion::CompletionArgs),
    Help(help::HelpArgs),
}

/// What a command line asks for.
#[derive(Debug)]
pub enum Request {
    /// A command.
    Run(Box<Cli>),
    /// The help of the command with this path of words.
    Help(Vec<String>, Detail),
    /// A first word that is no command; it may be a plugin's name.
    Unknown(String),
}

/// Runs the command line, the program's name first, and returns the exit code.
pub fn main(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let program = words.next().unwrap_or_default();
    let typed: Vec<OsString> = words.collect();
    let result = match manager::is_meant(&program) {
        true => manager::run(&typed),
        false => run(&typed),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            Ui.status(failure.to_string());
            ExitCode::from(failure.kind().exit_code())
        }
    }
}

fn run(typed: &[OsString]) -> Result<ExitCode> {
    match parse(typed)? {
        Request::Run(cli) => dispatch(*cli),
        Request::Help(path, detail) => done(print_help(&path, detail)),
        Request::Unknown(word) => {
            plugins::run(&word, typed)?;
            Err(usage::unknown_plugin(&word, &definition()))
        }
    }
}

fn print_help(path: &[String], detail: Detail) -> Result<()> {
    output::print(&help::render(&mut definition(), path, detail)?)
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// The command line is none of ours: exit code 1, as with clusterctl.
pub fn parse(typed: &[OsString]) -> Result<Request> {
    let mut definition = definition();
    let line = CommandLine::arrange(&definition, typed);
    let may_be_plugin = line.path.is_empty() && line.unknown_command.is_some();
    if let Some(detail) = line.help
        && !may_be_plugin
    {
        return Ok(Request::Help(line.path, detail));
    }
    let arguments = std::iter::once("capictl".into()).chain(line.arguments.iter().cloned());
    let error = match definition.try_get_matches_from_mut(arguments) {
        Ok(matches) => {
            let cli = Cli::from_arg_matches(&matches)
                .expect("the matches are those of the same definition");
            return Ok(Request::Run(Box::new(cli)));
        }
        Err(error) => error,
    };
    match (error.kind(), &line.unknown_command) {
        (ErrorKind::DisplayHelp, _) => Ok(Request::Help(line.path, Detail::Short)),
        (ErrorKind::InvalidSubcommand, Some(word)) if may_be_plugin => {
            Ok(Request::Unknown(word.clone()))
        }
        _ => Err(usage::explain(&error, &line, &definition)),
    }
}

/// Calls the command. A group without a child shows its help, as with clusterctl.
fn dispatch(cli: Cli) -> Result<ExitCode> {
    let Cli { global, command } = cli;
    let help_of = |path: &[&str]| {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        print_help(&path, Detail::Short)
    };
    let result = match command {
        None => help_of(&[]),
        Some(Command::RunLocal(args)) => return args.run(global),
        Some(Command::Help(args)) => output::print(&args.run(&mut definition())?),
        Some(Command::Version(args)) => output::print(&args.run()?),
        Some(Command::Completion(args)) => output::print(args.run()),
        Some(Command::Init(args)) => online(global, args.left_behind(), async |session| {
            args.run(session).await
        }),
        Some(Command::Generate(args)) => match args.command {
            None => help_of(&["generate"]),
            Some(command) => online(global, generate::LEFT_BEHIND, async |session| {
                command.run(session).await
            }),
        },
        Some(Command::Cache(args)) => match args.command {
            None => help_of(&["cache"]),
            Some(command) => online(global, cache::LEFT_BEHIND, async |session| {
                command.run(session)
            }),
        },
        Some(Command::Config(args)) => match args.command {
            None => help_of(&["config"]),
            Some(command) => online(global, config::LEFT_BEHIND, async |session| {
                command.run(session).await
            }),
        },
    };
    done(result)
}

/// What ended well is a success.
fn done(result: Result<()>) -> Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}

/// Returns the definition of the whole command line, for the reference and for tests.
pub fn definition() -> clap::Command {
    Cli::command()
}
