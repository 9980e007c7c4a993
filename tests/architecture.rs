//! Keeps watch over the layers that `src/lib.rs` draws, and over what belongs to one module only.
//!
//! It reads the sources as text: comments and the tests at the foot of a file do not count.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate from top to bottom; those of one row do not know each other.
const ROWS: [&[&str]; 10] = [
    &["main"],
    &["cli"],
    &["ops"],
    &[
        "config",
        "repository",
        "cluster",
        "controllers",
        "components",
    ],
    &["template"],
    &["ui"],
    &["http"],
    &["model"],
    &["yaml"],
    &["error"],
];

/// A word of code, and the beginnings of the paths that may have it.
const BELONGS: [(&str, &[&str]); 16] = [
    ("clap::", &["cli/"]),
    ("reqwest::", &["http.rs"]),
    ("serde_yaml::", &["yaml/"]),
    ("granit_parser::", &["yaml/"]),
    // The search for plugins is the one look into the environment that no configuration has a part in.
    ("std::env", &["config/", "main.rs", "cli/plugins.rs"]),
    ("println!", &["ui.rs", "main.rs"]),
    ("print!", &["ui.rs", "main.rs"]),
    ("eprintln!", &["ui.rs", "main.rs"]),
    ("eprint!", &["ui.rs", "main.rs"]),
    ("io::stdout", &["ui.rs"]),
    ("dbg!", &[]),
    // The second Ctrl-C, and the exit code of a plugin on systems without `exec`.
    (
        "process::exit",
        &["main.rs", "cli/runtime.rs", "cli/plugins.rs"],
    ),
    (".unwrap()", &[]),
    ("todo!", &[]),
    ("unimplemented!", &[]),
    ("unsafe ", &[]),
];

/// Effects that the pure modules have no part in.
const EFFECTS: [&str; 6] = [
    "std::fs",
    "std::net",
    "std::process",
    "tokio::",
    "kube::",
    "std::time::SystemTime",
];
const PURE: [&str; 2] = ["template/", "components/"];

#[test]
fn dependencies_point_down_and_each_thing_has_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&root);
    assert!(files.len() > 20, "the sources are found: {files:?}");
    let faults: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            faults(name, &fs::read_to_string(path).unwrap())
        })
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_module_is_drawn() {
    let map = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let (prose, declarations) = map.split_at(map.find("\npub mod").unwrap());
    for line in declarations.lines().filter(|line| !line.is_empty()) {
        let module = line.trim_start_matches("pub mod ").trim_end_matches(';');
        assert!(ROWS.concat().contains(&module), "`{module}` has no row");
        assert!(
            prose.contains(module),
            "`{module}` is not in the map of src/lib.rs"
        );
    }
}

#[test]
fn every_file_of_a_test_target_is_declared() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mains: Vec<PathBuf> = folders(&tests)
        .map(|folder| folder.join("main.rs"))
        .filter(|main| main.exists())
        .collect();
    assert!(
        mains.iter().any(|main| main.ends_with("cli/main.rs")),
        "{mains:?}"
    );
    for main in mains {
        let declared = fs::read_to_string(&main).unwrap();
        for file in sources(main.parent().unwrap())
            .iter()
            .filter(|file| file.parent() == main.parent())
        {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let is_declared = name == "main"
                || declared.contains(&format!("mod {name};"))
                || declared.contains(&format!("mod r#{name};"));
            assert!(
                is_declared,
                "`{}` is never compiled: declare it in `{}`",
                file.display(),
                main.display()
            );
        }
    }
}

#[test]
fn wrong_samples_are_found() {
    let table = [
        (
            "model/a.rs",
            "use crate::ops::Session;",
            "`model` may not use `ops`",
        ),
        (
            "config/a.rs",
            "use crate::{error::Result, cluster::{A, B}};",
            "`config` may not use `cluster`",
        ),
        (
            "config/a.rs",
            "use super::super::cluster::A;",
            "`config` may not use `cluster`",
        ),
        (
            "ui.rs",
            "fn f() { super::ops::f() }",
            "`ui` may not use `ops`",
        ),
        (
            "error.rs",
            "use crate::{\n    model::Object,\n};",
            "`error` may not use `model`",
        ),
        ("ops/a.rs", "use crate::cli;", "`ops` may not use `cli`"),
        (
            "cluster/a.rs",
            "use clap::Args;",
            "`clap::` belongs to cli/",
        ),
        (
            "cli/a.rs",
            "let x = std::env::var(\"X\");",
            "`std::env` belongs to config/, main.rs, cli/plugins.rs",
        ),
        (
            "ops/a.rs",
            "fn f() { eprintln!(\"x\") }",
            "`eprintln!` belongs to ui.rs, main.rs",
        ),
        (
            "ops/a.rs",
            "x.unwrap();",
            "`.unwrap()` belongs to nothing but tests",
        ),
        (
            "template/a.rs",
            "use std::fs;",
            "`template/` is pure, but uses `std::fs`",
        ),
    ];
    for (path, source, expected) in table {
        let found = faults(path, source);
        assert!(
            found.iter().any(|fault| fault.contains(expected)),
            "{path}: {source}: {found:?}"
        );
    }
}

#[test]
fn right_samples_are_not_found() {
    let table = [
        (
            "cli/a/b.rs",
            "use crate::{ops::X, error::Y}; use super::super::args; use super::c; use crate::cli::d;",
        ),
        (
            "cluster/wait.rs",
            "use super::request; use crate::ui::Ui; // as crate::ops does\n/// [`crate::cli`]",
        ),
        (
            "model/a.rs",
            "fn f() {}\n#[cfg(test)]\nmod tests { use crate::ops; x.unwrap(); println!(); }",
        ),
        (
            "cli/version.rs",
            "std::env::consts::OS; format!(\"https://x\"); writeln!(x)",
        ),
        ("main.rs", "capictl::cli::main(std::env::args_os())"),
    ];
    for (path, source) in table {
        assert_eq!(
            faults(path, source),
            Vec::<String>::new(),
            "{path}: {source}"
        );
    }
}

/// Returns what is wrong with a file, whose path is relative to `src`.
fn faults(path: &str, source: &str) -> Vec<String> {
    if path.ends_with("tests.rs") {
        return Vec::new();
    }
    let code = code_of(source);
    let mut faults = layer_faults(path, &code);
    for (word, places) in BELONGS {
        if has_word(&code, word) && !places.iter().any(|place| path.starts_with(place)) {
            let places = if places.is_empty() {
                "nothing but tests".to_owned()
            } else {
                places.join(", ")
            };
            faults.push(format!("src/{path}: `{word}` belongs to {places}"));
        }
    }
    if let Some(module) = PURE.iter().find(|module| path.starts_with(*module)) {
        let effects = EFFECTS.iter().filter(|effect| has_word(&code, effect));
        faults.extend(
            effects.map(|effect| format!("src/{path}: `{module}` is pure, but uses `{effect}`")),
        );
    }
    faults
}

fn layer_faults(path: &str, code: &str) -> Vec<String> {
    let module = module_path(path);
    let Some(own) = module.first().filter(|own| *own != "lib") else {
        return Vec::new();
    };
    let row = |name: &str| ROWS.iter().position(|row| row.contains(&name));
    let above = |used: &String| used != own && row(used).is_some_and(|used| Some(used) <= row(own));
    used_modules(code, &module)
        .into_iter()
        .filter(above)
        .map(|used| format!("src/{path}: `{own}` may not use `{used}`, it is not below"))
        .collect()
}

/// Returns `["a", "b"]` for `a/b.rs`, `["a"]` for `a/mod.rs`.
fn module_path(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// Returns the top modules that the code names by `crate::` or by as many `super::` as lead there.
fn used_modules(code: &str, module: &[String]) -> BTreeSet<String> {
    let supers = "super::".repeat(module.len());
    let roots = ["crate::", &supers]
        .into_iter()
        .flat_map(|root| code.match_indices(root).map(move |(at, _)| at + root.len()));
    roots.flat_map(|at| first_names(&code[at..])).collect()
}

/// Returns the first name of a path, or of each path in braces.
fn first_names(code: &str) -> Vec<String> {
    let name = |text: &str| {
        text.trim_start()
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let Some(list) = code.strip_prefix('{') else {
        return vec![name(code)];
    };
    let mut depth = 0_i32;
    let mut names = Vec::new();
    let mut start = Some(0);
    for (at, character) in list.char_indices() {
        if let Some(from) = start.filter(|_| !character.is_whitespace()) {
            names.push(name(&list[from..]));
            start = None;
        }
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = Some(at + 1),
            _ => {}
        }
    }
    names
}

/// Tells whether `word` is there, not as the end of a longer name. `std::env::consts` says nothing of the environment.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let starts = !word.starts_with(char::is_alphabetic)
            || before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':');
        let is_constant = code[at + word.len()..].starts_with("::consts");
        starts && !is_constant
    })
}

/// Returns the source without comments and without the tests at its foot.
fn code_of(source: &str) -> String {
    let end = source
        .find("#[cfg(test)]\nmod tests {")
        .unwrap_or(source.len());
    let code = |line: &str| match line
        .match_indices("//")
        .find(|(at, _)| !line[..*at].ends_with(':'))
    {
        Some((at, _)) => line[..at].to_owned(),
        None => line.to_owned(),
    };
    source[..end]
        .lines()
        .map(code)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = folders(folder)
        .flat_map(|folder| sources(&folder))
        .collect();
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    found.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")));
    found.sort();
    found
}

fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
}
