//! The same command line for both tools, and what their answers have in common.

use anyhow::{Context, Result};
use capictl::model::Object;
use futures::StreamExt;
use futures::stream;

use crate::report::Report;
use crate::rules::{self, Excuses};
use crate::support::environment::{Environment, Output};

/// A command line whose outcome is compared.
pub struct Question {
    /// What is asked about.
    pub subject: String,
    /// The way to ask.
    pub mode: &'static str,
    pub arguments: Vec<String>,
    pub compare: Compare,
}

/// Compares what both printed, once both succeeded: differences that no rule excuses.
pub type Compare = fn(&str, &str, &mut Excuses) -> Result<Vec<String>>;

/// Asks both tools, as many questions at once as there are cores.
pub async fn ask(environment: &Environment, questions: Vec<Question>) -> Result<Report> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let answers = questions
        .into_iter()
        .map(|question| ask_both(environment, question));
    let mut answers = stream::iter(answers).buffer_unordered(at_once);
    let mut report = Report::default();
    while let Some(answer) = answers.next().await {
        let (question, reference, ours) = answer?;
        judge(&question, &reference, &ours, &mut report);
    }
    Ok(report)
}

async fn ask_both(
    environment: &Environment,
    question: Question,
) -> Result<(Question, Output, Output)> {
    let (reference, ours) = tokio::try_join!(
        environment.clusterctl(&question.arguments),
        environment.capictl(&question.arguments)
    )
    .with_context(|| format!("{}, {}", question.subject, question.mode))?;
    Ok((question, reference, ours))
}

fn judge(question: &Question, reference: &Output, ours: &Output, report: &mut Report) {
    report.asked += 1;
    let found = match (reference.status.success(), ours.status.success()) {
        (true, true) => {
            report.compared += 1;
            (question.compare)(&reference.stdout, &ours.stdout, &mut report.excuses)
                .unwrap_or_else(|error| vec![format!("{error:#}")])
        }
        (false, false) => {
            *report.refused.entry(question.mode).or_default() += 1;
            compare_refusals(reference, ours)
        }
        (true, false) => vec![format!("only capictl fails: {}", ours.stderr)],
        (false, true) if rules::excuse_failure(&reference.stderr, &mut report.excuses) => {
            Vec::new()
        }
        (false, true) => vec![format!("only clusterctl fails: {}", reference.stderr)],
    };
    let Question { subject, mode, .. } = question;
    let found = found
        .into_iter()
        .map(|one| format!("{subject}, {mode}: {one}"));
    report.differences.extend(found);
}

/// The words of an error are each tool's own, but the variables that lack a value are the same.
fn compare_refusals(reference: &Output, ours: &Output) -> Vec<String> {
    let (reference, ours) = (&reference.stderr, &ours.stderr);
    match missing_variables(reference) == missing_variables(ours) {
        true => Vec::new(),
        false => vec![format!(
            "clusterctl says\n{reference}\ncapictl says\n{ours}"
        )],
    }
}

fn missing_variables(stderr: &str) -> Option<&str> {
    let (_, names) = stderr.split_once("value for variables [")?;
    Some(names.split_once(']')?.0)
}

/// Compares texts byte for byte.
pub fn compare_texts(reference: &str, ours: &str, _: &mut Excuses) -> Result<Vec<String>> {
    Ok(match reference == ours {
        true => Vec::new(),
        false => vec![format!(
            "clusterctl prints\n{reference}capictl prints\n{ours}"
        )],
    })
}

/// Compares the objects of manifests and their order.
pub fn compare_objects(reference: &str, ours: &str, excuses: &mut Excuses) -> Result<Vec<String>> {
    let reference = read_objects(reference).context("output of clusterctl")?;
    let ours = read_objects(ours).context("output of capictl")?;
    let names =
        |objects: &[Object]| -> Vec<String> { objects.iter().map(Object::to_string).collect() };
    if names(&reference) != names(&ours) {
        return Ok(vec![format!(
            "the objects are not the same: clusterctl has {}, capictl {}",
            names(&reference).join(", "),
            names(&ours).join(", ")
        )]);
    }
    let mut found = Vec::new();
    for (reference, ours) in reference.iter().zip(&ours) {
        for difference in rules::differences(reference, ours, excuses) {
            found.push(format!("{ours}: {difference}"));
        }
    }
    Ok(found)
}

/// Reads YAML that a tool printed. Not by capictl's own reader, which might undo a fault of its writer.
fn read_objects(text: &str) -> Result<Vec<Object>> {
    let options = serde_yaml::options! { budget: None };
    Ok(serde_yaml::from_multiple_with_options(text, options)?)
}
