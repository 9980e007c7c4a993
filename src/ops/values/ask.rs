//! Asking for variables without values, where somebody can answer.

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
    let missing: Vec<&Variable> = template.variables().iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let Some(answers) = ask(session, &missing).await? else {
        return Ok(());
    };
    for (variable, answer) in missing.iter().zip(answers) {
        session
            .config
            .set_variable_from(&variable.name, answer, Origin::Answer);
    }
    Ok(())
}

/// Returns an answer for each variable, or `None` when there are not to be any.
async fn ask(session: &Session, missing: &[&Variable]) -> Result<Option<Vec<String>>> {
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
    for variable in missing {
        let question = format!("{} ({})", variable.name, Lines(&variable.lines));
        let hidden = is_secret_name(&variable.name);
        match blocking(dialogue.ask(question, hidden)).await {
            Answer::Given(answer) => answers.push(answer),
            Answer::Declined => return Ok(None),
            Answer::Interrupted => return Err(interrupted()),
        }
    }
    Ok(Some(answers))
}

/// `A, B have no value`
fn list(missing: &[&Variable]) -> String {
    let names = missing.iter().take(MAX_NAMED);
    let mut names: Vec<String> = names.map(|variable| variable.name.clone()).collect();
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
