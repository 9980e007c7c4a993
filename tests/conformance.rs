//! Templates render as the reference implementation renders them.
//!
//! The cases are recordings of the reference, see `tests/fixtures/conformance/README.md`. The environment variable
//! `CAPICTL_CONFORMANCE` names another folder of such files to read instead.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use capictl::template::{Error, Template};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

/// How many of the failing cases are shown.
const SHOWN: usize = 20;

#[derive(Deserialize)]
struct Case {
    id: String,
    #[serde(default)]
    tags: Vec<String>,
    template: String,
    env: BTreeMap<String, String>,
    want: Want,
    variables: Option<Vec<String>>,
    defaults: Option<BTreeMap<String, Option<String>>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Want {
    Text {
        output: String,
    },
    Bytes {
        output_b64: String,
    },
    Error {
        error_kind: String,
        missing: Vec<String>,
        detail: Option<String>,
    },
}

#[test]
fn every_recorded_case_gives_the_recorded_result() {
    let folder = std::env::var_os("CAPICTL_CONFORMANCE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/conformance"),
        PathBuf::from,
    );
    let mut cases = 0;
    let mut failures = Vec::new();
    for file in case_files(&folder) {
        for (index, line) in lines(&file).enumerate() {
            let place = || format!("{}:{}", file.display(), index + 1);
            let line = line.unwrap_or_else(|error| panic!("{}: {error}", place()));
            if line.trim().is_empty() {
                continue;
            }
            let case: Case =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{}: {error}", place()));
            cases += 1;
            if let Err(difference) = check(&case) {
                failures.push(format!("{} {:?}: {difference}", case.id, case.tags));
            }
        }
    }
    println!("{} of {cases} cases passed", cases - failures.len());
    for failure in failures.iter().take(SHOWN) {
        println!("{failure}");
    }
    assert!(cases > 0, "{} has no cases", folder.display());
    assert!(failures.is_empty(), "{} cases failed", failures.len());
}

fn case_files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
        })
        .collect();
    files.sort();
    files
}

fn lines(path: &Path) -> impl Iterator<Item = std::io::Result<String>> + use<> {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let reader: Box<dyn Read> = match path.extension() {
        Some(extension) if extension == "gz" => Box::new(MultiGzDecoder::new(file)),
        _ => Box::new(file),
    };
    BufReader::new(reader).lines()
}

fn check(case: &Case) -> Result<(), String> {
    let template = match Template::parse(case.template.as_str()) {
        Ok(template) => template,
        Err(error) => {
            same("variables", &None, &case.variables)?;
            same("defaults", &None, &case.defaults)?;
            return check_error(&error, &case.want);
        }
    };
    let variables = template.variables();
    let names = variables.iter().map(|variable| variable.name.clone());
    same("variables", &Some(names.collect()), &case.variables)?;
    let defaults = variables
        .iter()
        .map(|variable| (variable.name.clone(), variable.default.clone()));
    same("defaults", &Some(defaults.collect()), &case.defaults)?;
    match (
        template.render(|name| case.env.get(name).cloned()),
        &case.want,
    ) {
        (Ok(output), Want::Text { output: want }) => {
            same("output", &output, &want.clone().into_bytes())
        }
        (Ok(output), Want::Bytes { output_b64 }) => same(
            "output",
            &output,
            &BASE64_STANDARD.decode(output_b64).unwrap(),
        ),
        (Ok(_), Want::Error { error_kind, .. }) => {
            Err(format!("renders, wanted a {error_kind} error"))
        }
        (Err(error), want) => check_error(&error, want),
    }
}

fn check_error(error: &Error, want: &Want) -> Result<(), String> {
    let Want::Error {
        error_kind,
        missing,
        detail,
    } = want
    else {
        return Err(format!("wanted output, got an error: {error}"));
    };
    let (kind, names, label) = match error {
        Error::Parse { detail, .. } => ("parse", Vec::new(), Some(detail.label())),
        Error::Missing(variables) => {
            let names = variables.iter().map(|variable| variable.name.clone());
            ("missing", names.collect(), None)
        }
        Error::Evaluation { .. } => ("eval", Vec::new(), None),
    };
    same("kind of error", &kind, &error_kind.as_str())?;
    same("missing", &names, missing)?;
    same("detail", &label, &detail.as_deref())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, want: &T) -> Result<(), String> {
    if got == want {
        return Ok(());
    }
    let short = |value: &T| format!("{value:?}").chars().take(300).collect::<String>();
    Err(format!(
        "{what}: got {}, wanted {}",
        short(got),
        short(want)
    ))
}
