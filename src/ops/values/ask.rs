//! Asking for variables without values, where somebody can answer.

use std::collections::HashMap;

use crate::config::Origin;
use crate::error::{Failure, Result};
use crate::model::secret::is_secret_name;
use crate::ops::Session;
use crate::template::{Lines, Template, Variable};
use crate::ui::dialogue::{Answer, Dialogue};

/// How many names the offer tells.
const MAX_NAMED: usize = 8;

/// Offers to ask, then asks for each value. Who declines, be it amid the questions, gets the error about missing values;
/// what was answered until then does not count.
pub(super) async fn ask_for_missing(session: &mut Session, template: &Template) -> Result<()> {
    let config = &session.config;
    let unattended = config.environment().is_unattended();
    if !session.values.may_ask || unattended || !session.ui.can_ask() {
        return Ok(());
    }
    let is_missing = |variable: &&Variable| {
        variable.default.is_none() && config.variable(&variable.name).is_none()
    };
    let missing = questions(template.variables().iter().filter(is_missing));
    if missing.is_empty() {
        return Ok(());
    }
    let Some(answers) = ask(session, &missing).await? else {
        return Ok(());
    };
    for (Question { name, .. }, answer) in missing.iter().zip(answers) {
        session
            .config
            .set_variable_from(name, answer, Origin::Answer);
    }
    Ok(())
}

/// A variable to ask for.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    /// The first of its spellings.
    name: String,
    /// The lines where it is used in any of them.
    lines: Vec<usize>,
}

/// Returns one question for all spellings of a name: case does not count for values.
fn questions<'t>(missing: impl Iterator<Item = &'t Variable>) -> Vec<Question> {
    let mut place_of: HashMap<String, usize> = HashMap::new();
    let mut questions: Vec<Question> = Vec::new();
    for Variable { name, lines, .. } in missing {
        match place_of.get(&name.to_lowercase()) {
            Some(place) => questions[*place].lines.extend(lines),
            None => {
                place_of.insert(name.to_lowercase(), questions.len());
                questions.push(Question {
                    name: name.clone(),
                    lines: lines.clone(),
                });
            }
        }
    }
    for Question { lines, .. } in &mut questions {
        lines.sort_unstable();
        lines.dedup();
    }
    questions
}

/// Returns an answer for each variable, or `None` when there are not to be any.
async fn ask(session: &Session, missing: &[Question]) -> Result<Option<Vec<String>>> {
    let Ok(dialogue) = Dialogue::begin() else {
        return Ok(None);
    };
    session.ui.status(list(missing));
    let offer = "Enter values now (Esc stops)?".to_owned();
    match blocking(dialogue.confirm(offer)).await {
        Answer::Given(true) => {}
        Answer::Given(false) | Answer::Declined => return Ok(None),
        Answer::Interrupted => return Err(interrupted()),
    }
    let mut answers = Vec::new();
    for Question { name, lines } in missing {
        let question = format!("{name} ({})", Lines(lines));
        let hidden = is_secret_name(name);
        match blocking(dialogue.ask(question, hidden)).await {
            Answer::Given(answer) => answers.push(answer),
            Answer::Declined => return Ok(None),
            Answer::Interrupted => return Err(interrupted()),
        }
    }
    Ok(Some(answers))
}

/// `A, B have no value`
fn list(missing: &[Question]) -> String {
    let names = missing.iter().take(MAX_NAMED);
    let mut names: Vec<String> = names.map(|question| question.name.clone()).collect();
    if missing.len() > MAX_NAMED {
        names.push(format!("{} more", missing.len() - MAX_NAMED));
    }
    let verb = if missing.len() == 1 { "has" } else { "have" };
    format!("{} {verb} no value", names.join(", "))
}

/// A key that never comes must not keep a signal from being heard.
async fn blocking<T: Send + 'static>(question: impl FnOnce() -> T + Send + 'static) -> T {
    let answer = tokio::task::spawn_blocking(question).await;
    answer.expect("questions do not panic")
}

fn interrupted() -> Failure {
    Failure::interrupted("interrupted by Ctrl-C").hint("nothing was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_name_are_one_question() {
        let template = Template::parse("${region}\n${B}${Region}\n${REGION}${region}").unwrap();
        let question = |name: &str, lines: &[usize]| Question {
            name: name.to_owned(),
            lines: lines.to_vec(),
        };
        let expected = [question("B", &[2]), question("REGION", &[1, 2, 3])];
        assert_eq!(questions(template.variables().iter()), expected);
    }
}
