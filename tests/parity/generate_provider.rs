//! `generate provider` for every provider release of a folder, see [`releases::folder`].

use anyhow::{Context, Result};
use serde_json::json;

use crate::comparison::{self, Compare, Question, compare_objects, compare_texts};
use crate::releases::{self, ReleaseFile};
use crate::support::environment::Environment;
use crate::values;

/// A way to call the command.
struct Mode {
    name: &'static str,
    flags: &'static [&'static str],
    overrides_images: bool,
    compare: Compare,
}

const MODES: [Mode; 4] = [
    Mode {
        name: "as published",
        flags: &[],
        overrides_images: false,
        compare: compare_objects,
    },
    Mode {
        name: "moved, with other images",
        flags: &["--target-namespace", "parity-system"],
        overrides_images: true,
        compare: compare_objects,
    },
    Mode {
        name: "--raw",
        flags: &["--raw"],
        overrides_images: false,
        compare: compare_objects,
    },
    Mode {
        name: "--describe",
        flags: &["--describe"],
        overrides_images: true,
        compare: compare_texts,
    },
];

#[tokio::test]
async fn generate_provider_prints_what_clusterctl_prints() -> Result<()> {
    let files = releases::list(&releases::folder()?, releases::is_components)?;
    compare(&files).await
}

/// Runs every mode of both tools on every components file, and panics when anything differs.
pub async fn compare(files: &[ReleaseFile]) -> Result<()> {
    let environment = Environment::new()?;
    let questions: Result<Vec<Question>> = files
        .iter()
        .flat_map(|file| MODES.iter().map(move |mode| (file, mode)))
        .map(|(file, mode)| prepare(&environment, file, mode))
        .collect();
    let report = comparison::ask(&environment, questions?).await?;
    report.conclude(&format!("{} components files", files.len()));
    Ok(())
}

/// Writes the configuration and returns the question.
fn prepare(environment: &Environment, file: &ReleaseFile, mode: &Mode) -> Result<Question> {
    let mut configuration = file.configuration();
    configuration.extend(values::plain(&file.text()?)?);
    if mode.overrides_images {
        let images = json!({
            "all": {"repository": "mirror.example/all/"},
            file.label.as_str(): {"tag": "parity"},
        });
        configuration.insert("images".into(), images);
    }
    let text = serde_json::to_string(&configuration)?;
    let config = environment.write(&format!("parity/{file}, {}.yaml", mode.name), &text)?;
    let config = config
        .to_str()
        .context("the home folder's path is not UTF-8")?;
    let mut arguments = vec!["generate".into(), "provider".into()];
    arguments.extend(file.arguments());
    arguments.extend(["--config".into(), config.to_owned()]);
    arguments.extend(mode.flags.iter().map(|flag| (*flag).to_owned()));
    Ok(Question {
        subject: file.to_string(),
        mode: mode.name,
        arguments,
        compare: mode.compare,
    })
}
