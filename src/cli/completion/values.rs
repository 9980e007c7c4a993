//! Which values an argument may have, as far as they can be known at once.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use super::files;
use super::typed::Typed;
use crate::cli::session::offline;
use crate::config::env::{Environment, HOME};
use crate::model::ProviderType;
use crate::ops::{ClusterOptions, Session, complete};

/// How long a Tab may take until nothing is as good an answer.
const LIMIT: Duration = Duration::from_millis(300);

/// Gives the arguments of a command and its children completers, which know the words that are on the line already.
pub fn attach(command: Command, typed: &Typed) -> Command {
    let help = help_commands(&command, typed);
    command
        .mut_args(|argument| attach_to(argument, typed))
        .mut_subcommands(|child| match child.get_name() {
            "help" => child.mut_args(|argument| completed(argument, help.clone())),
            _ => attach(child, typed),
        })
}

fn attach_to(argument: Arg, typed: &Typed) -> Arg {
    let typed = typed.clone();
    let name = argument.get_value_names().and_then(|names| names.first());
    let name = name.map(|name| name.as_str().to_owned());
    match name.as_deref().unwrap_or_default() {
        "FILE" | "SOURCE" => completing(argument, |word| {
            let environment = Environment::from_process();
            files::list(word, environment.get(HOME).map(Path::new))
        }),
        "CONTEXT" => completing(argument, move |_| contexts(&typed)),
        "NAMESPACE" => completing(argument, move |_| namespaces(&typed)),
        "FLAVOR" => completing(argument, move |_| flavors(&typed)),
        "NAME[:VERSION]" => match provider_type(&argument) {
            Some(provider_type) => {
                completing(argument, move |word| providers(&typed, provider_type, word))
            }
            None => argument,
        },
        "true|false" => completing(argument, move |_| bools(&typed)),
        _ if argument.is_positional() && argument.get_id() == "name" => {
            completing(argument, move |_| clusters(&typed))
        }
        _ => argument,
    }
}

/// Adds a completer; what it returns is narrowed down to what begins as the word does.
fn completing(argument: Arg, values: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) -> Arg {
    argument.add(ArgValueCompleter::new(move |word: &OsStr| {
        let word = word.to_str().unwrap_or_default();
        values(word)
            .into_iter()
            .filter(|value| value.starts_with(word))
            .map(CompletionCandidate::new)
            .collect()
    }))
}

fn completed(argument: Arg, values: Vec<String>) -> Arg {
    completing(argument, move |_| values.clone())
}

/// Returns the commands that may follow `help` and the words behind it.
fn help_commands(root: &Command, typed: &Typed) -> Vec<String> {
    let words = typed
        .before()
        .iter()
        .map(|word| word.to_str().unwrap_or(""));
    let named = words.skip_while(|word| *word != "help").skip(1);
    let mut command = Some(root);
    for word in named.filter(|word| !word.starts_with('-')) {
        command = command.and_then(|command| command.find_subcommand(word));
    }
    let children = command.into_iter().flat_map(Command::get_subcommands);
    children.map(|child| child.get_name().to_owned()).collect()
}

/// A bool takes its value behind `=` only.
fn bools(typed: &Typed) -> Vec<String> {
    match typed.current().to_string_lossy().contains('=') {
        true => vec!["true".to_owned(), "false".to_owned()],
        false => Vec::new(),
    }
}

fn provider_type(argument: &Arg) -> Option<ProviderType> {
    let flag = format!("--{}", argument.get_long()?);
    ProviderType::ALL
        .into_iter()
        .find(|provider_type| provider_type.flag() == flag)
}

/// Returns names, or, once a `:` is there, the name with the versions that are known without the network.
fn providers(typed: &Typed, provider_type: ProviderType, word: &str) -> Vec<String> {
    ask(typed, async |session| match word.split_once(':') {
        None => complete::list_providers(session, provider_type),
        Some((name, _)) => {
            let versions = complete::list_versions(session, provider_type, name).await;
            let full = versions.iter().map(|version| format!("{name}:{version}"));
            full.collect()
        }
    })
}

fn flavors(typed: &Typed) -> Vec<String> {
    let provider = typed.value_of("infrastructure", Some('i'));
    provider.map_or_else(Vec::new, |provider| {
        ask(typed, async |session| {
            complete::list_flavors(session, &provider).await
        })
    })
}

fn contexts(typed: &Typed) -> Vec<String> {
    let cluster = cluster(typed);
    ask(typed, async |session| {
        complete::list_contexts(session, &cluster)
    })
}

fn namespaces(typed: &Typed) -> Vec<String> {
    let cluster = cluster(typed);
    ask_server(typed, async |session| {
        complete::list_namespaces(session, &cluster).await
    })
}

fn clusters(typed: &Typed) -> Vec<String> {
    let cluster = cluster(typed);
    let namespace = typed.value_of("target-namespace", Some('n'));
    ask_server(typed, async |session| {
        complete::list_clusters(session, &cluster, namespace.as_deref()).await
    })
}

fn cluster(typed: &Typed) -> ClusterOptions {
    ClusterOptions {
        kubeconfig: typed.value_of("kubeconfig", None),
        context: typed.value_of("kubeconfig-context", None),
    }
}

/// Asks what the disk knows.
fn ask(typed: &Typed, question: impl AsyncFnOnce(&Session) -> Vec<String>) -> Vec<String> {
    let config = typed.value_of("config", None);
    let asked = async {
        let session = offline(config.as_deref()).await?;
        Some(question(&session).await)
    };
    run(asked).unwrap_or_default()
}

/// Asks an API server, which is not waited for beyond the limit.
fn ask_server(typed: &Typed, question: impl AsyncFnOnce(&Session) -> Vec<String>) -> Vec<String> {
    ask(typed, async |session| {
        let answer = tokio::time::timeout(LIMIT, question(session)).await;
        answer.unwrap_or_default()
    })
}

fn run<T>(work: impl Future<Output = Option<T>>) -> Option<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .ok()?;
    let result = runtime.block_on(work);
    // A plugin that is still at work, or the resolver, is not waited for.
    runtime.shutdown_background();
    result
}
