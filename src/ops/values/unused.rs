//! `--set` of a variable that no template has.

use crate::error::suggest;
use crate::ops::Session;

/// Warns of each one, with the variable that may be meant. Says nothing when no template was seen.
pub(crate) fn warn_of_unused(session: &Session) {
    let mentioned = session.values.mentioned();
    let Some(mentioned) = mentioned.as_ref() else {
        return;
    };
    for name in session.config.set_names() {
        let own = &session.values.own;
        let has_use = own.iter().any(|own| own.eq_ignore_ascii_case(name));
        if has_use || mentioned.contains_key(&name.to_lowercase()) {
            continue;
        }
        let meant = match suggest(name, mentioned.values().map(String::as_str)) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        session.ui.warn(format!(
            "the template has no variable `{name}`, which `--set` sets{meant}"
        ));
    }
}
