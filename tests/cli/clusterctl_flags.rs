//! Every flag that the reference clusterctl has on our commands, in every form that its users type.
//!
//! The flags are read from clusterctl's own help while the test runs, so that a newer clusterctl brings its new flags.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use capictl::cli::{self, Request};

use crate::binaries;

/// A flag as clusterctl's help shows it.
#[derive(Debug)]
struct Flag {
    long: String,
    short: Option<char>,
    /// The name of the value's type; `None` for bools.
    value: Option<String>,
}

impl Flag {
    /// Reads a line such as `  -i, --infrastructure strings   Infrastructure providers ...`.
    fn parse(line: &str) -> Option<Self> {
        let line = line.strip_prefix("  ")?;
        let (short, rest) = match line.strip_prefix('-') {
            Some(rest) => (rest.chars().next(), rest.get(1..)?.strip_prefix(", ")?),
            None => (None, line.trim_start()),
        };
        let rest = rest.strip_prefix("--")?;
        let (name, _) = rest.split_once("  ").unwrap_or((rest, ""));
        let (long, value) = match name.split_once(' ') {
            Some((long, value)) => (long, Some(value.to_owned())),
            None => (name, None),
        };
        Some(Self {
            long: long.to_owned(),
            short,
            value,
        })
    }

    fn is_list(&self) -> bool {
        self.value.as_deref() == Some("strings")
    }

    /// Returns a value of the flag's type that nothing else on the command line has.
    fn example(&self) -> &'static str {
        match self.value.as_deref() {
            Some("int") => "4711",
            _ => "value-4711",
        }
    }

    /// Returns the field of our parsed command line that the flag sets.
    fn field(&self) -> String {
        match self.long.as_str() {
            "v" => "verbosity".to_owned(),
            long => long.replace('-', "_"),
        }
    }

    /// Returns each form of the flag with its example.
    fn forms(&self) -> Vec<Vec<String>> {
        let (long, value) = (&self.long, self.example());
        let mut forms = vec![
            vec![format!("--{long}"), value.to_owned()],
            vec![format!("--{long}={value}")],
        ];
        if let Some(short) = self.short {
            forms.push(vec![format!("-{short}"), value.to_owned()]);
            forms.push(vec![format!("-{short}{value}")]);
            forms.push(vec![format!("-{short}={value}")]);
        }
        forms
    }
}

/// Commands that clusterctl does not have, and the `help` that every tool has its own way with.
const OWN: [&str; 3] = ["cache", "help", "run-local"];

/// Returns the paths of the commands that clusterctl has too.
fn commands() -> Vec<Vec<String>> {
    fn collect(command: &clap::Command, path: &[String], found: &mut Vec<Vec<String>>) {
        found.push(path.to_vec());
        for child in command
            .get_subcommands()
            .filter(|child| !OWN.contains(&child.get_name()))
        {
            collect(
                child,
                &[path, &[child.get_name().to_owned()]].concat(),
                found,
            );
        }
    }
    let mut found = Vec::new();
    collect(&cli::definition(), &[], &mut found);
    found
}

/// Asks clusterctl for the flags of a command.
fn flags_of(clusterctl: &Path, command: &[String]) -> Vec<Flag> {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(clusterctl)
        .args(command)
        .arg("--help")
        .env_clear()
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    let mut in_flags = false;
    let mut flags = Vec::new();
    for line in help.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            in_flags = line.ends_with("Flags:");
        } else if in_flags && !line.is_empty() {
            flags.push(Flag::parse(line).unwrap_or_else(|| panic!("no flag: {line}")));
        }
    }
    flags
}

/// Parses `arguments` and returns the parsed command line as text.
fn parsed(arguments: &[String]) -> String {
    let typed: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    match cli::parse(&typed) {
        Ok(Request::Run(cli)) => format!("{cli:?}"),
        other => panic!("{arguments:?}: {other:?}"),
    }
}

/// Returns the command lines that have `form` before the command, within it, after it, and after its arguments.
fn positions(command: &[String], form: &[String]) -> Vec<Vec<String>> {
    let argument = match command.join(" ").as_str() {
        "generate cluster" => Some("my-cluster".to_owned()),
        "completion" => Some("bash".to_owned()),
        _ => None,
    };
    let name = argument.as_slice();
    let mut lines: Vec<Vec<String>> = (0..=command.len())
        .map(|position| [&command[..position], form, &command[position..], name].concat())
        .collect();
    lines.push([command, name, form].concat());
    lines
}

#[test]
fn every_flag_of_clusterctl_is_understood_in_every_form_and_position() {
    let clusterctl = binaries::clusterctl().unwrap();
    let mut seen = BTreeSet::new();
    for command in commands() {
        for flag in flags_of(&clusterctl, &command)
            .iter()
            .filter(|flag| flag.long != "help")
        {
            seen.insert(format!("{} --{}", command.join(" "), flag.long));
            match flag.value {
                Some(_) => check_value(&command, flag),
                None => check_bool(&command, flag),
            }
        }
    }
    // The help was really read: one flag of each kind, and of each command's own.
    for expected in [
        " --v",
        "init --validate",
        "init --wait-provider-timeout",
        "init list-images --infrastructure",
        "generate cluster --flavor",
        "generate provider --raw",
        "generate yaml --from",
        "config repositories --output",
        "version --config",
    ] {
        assert!(seen.contains(expected), "{expected} is not in {seen:#?}");
    }
}

fn check_value(command: &[String], flag: &Flag) {
    if flag.long == "output" {
        return check_output(command, flag);
    }
    for form in flag.forms() {
        for line in positions(command, &form) {
            let text = parsed(&line);
            let wanted = [
                format!("{}: Some({:?})", flag.field(), flag.example()),
                format!("{}: [{:?}]", flag.field(), flag.example()),
            ];
            let number = [
                format!("{}: {}", flag.field(), flag.example()),
                format!("{}: Some({})", flag.field(), flag.example()),
            ];
            let plain = format!("{}: {:?}", flag.field(), flag.example());
            assert!(
                wanted
                    .iter()
                    .chain(&number)
                    .chain([&plain])
                    .any(|wanted| text.contains(wanted)),
                "{line:?}: {text}"
            );
        }
    }
    check_repetition(command, flag);
}

/// Lists grow, by commas and by repetition; of other flags the last one wins.
fn check_repetition(command: &[String], flag: &Flag) {
    let (first, last) = match flag.value.as_deref() {
        Some("int") => ("1", "2"),
        _ => ("a,b", "c"),
    };
    let form = [
        format!("--{}", flag.long),
        first.to_owned(),
        format!("--{}={last}", flag.long),
    ];
    let text = parsed(&positions(command, &form)[command.len()]);
    let field = flag.field();
    let wanted = match flag.value.as_deref() {
        Some("int") => vec![format!("{field}: 2"), format!("{field}: Some(2)")],
        _ if flag.is_list() => vec![format!("{field}: [\"a\", \"b\", \"c\"]")],
        _ => vec![format!("{field}: Some(\"c\")"), format!("{field}: \"c\"")],
    };
    assert!(
        wanted.iter().any(|wanted| text.contains(wanted)),
        "{form:?}: {text}"
    );
}

/// The values of `--output` are a fixed set, of which clusterctl's `yaml` is one on each command.
fn check_output(command: &[String], flag: &Flag) {
    for form in flag.forms() {
        let form: Vec<String> = form
            .iter()
            .map(|word| word.replace(flag.example(), "yaml"))
            .collect();
        for line in positions(command, &form) {
            assert!(parsed(&line).contains("output: Yaml"), "{line:?}");
        }
    }
}

fn check_bool(command: &[String], flag: &Flag) {
    let long = &flag.long;
    let mut forms = vec![(format!("--{long}"), true)];
    for (text, value) in [
        ("1", true),
        ("t", true),
        ("T", true),
        ("true", true),
        ("TRUE", true),
        ("True", true),
    ] {
        forms.push((format!("--{long}={text}"), value));
    }
    for (text, value) in [
        ("0", false),
        ("f", false),
        ("F", false),
        ("false", false),
        ("FALSE", false),
        ("False", false),
    ] {
        forms.push((format!("--{long}={text}"), value));
    }
    for (form, value) in forms {
        for line in positions(command, std::slice::from_ref(&form)) {
            let text = parsed(&line);
            assert!(
                text.contains(&format!("{}: {value}", flag.field())),
                "{line:?}: {text}"
            );
        }
    }
    let twice = [format!("--{long}=true"), format!("--{long}=false")];
    let text = parsed(&positions(command, &twice)[command.len()]);
    assert!(
        text.contains(&format!("{}: false", flag.field())),
        "{twice:?}: {text}"
    );
}

#[test]
fn lines_of_clusterctls_help_are_read_as_flags() {
    let flag =
        Flag::parse("  -i, --infrastructure strings   Infrastructure providers, and more").unwrap();
    assert_eq!(
        (flag.long.as_str(), flag.short, flag.value.as_deref()),
        ("infrastructure", Some('i'), Some("strings"))
    );
    let flag = Flag::parse("      --validate                  If true, clusterctl will").unwrap();
    assert_eq!(
        (flag.long.as_str(), flag.short, flag.value),
        ("validate", None, None)
    );
    assert!(Flag::parse("  some prose").is_none());
}
