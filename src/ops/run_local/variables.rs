//! The variables that tell the provider where its mails go.

use crate::config::{Config, env};
use crate::controllers::mailgun::client::Account;
use crate::error::{Explain, Result};
use crate::model::Secret;

/// What must be set, in the order in which it is asked for. The first name of each is the one that counts.
const REQUIRED: [&[&str]; 3] = [
    &[env::MAILGUN_DOMAIN],
    &[env::MAILGUN_API_KEY],
    &[env::MAIL_RECIPIENT, env::MAILGUN_RECIPIENT],
];

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("missing required env `{}`", .0.join("`, `"))]
    Missing(Vec<&'static str>),
    #[error("the recipient in `{}` is no mail address", env::MAIL_RECIPIENT)]
    Recipient,
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Missing(names) => {
                let mut hints: Vec<String> =
                    names.iter().map(|name| meaning(name).to_owned()).collect();
                hints.push("set variables in the environment, or as keys of the configuration file `$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`".to_owned());
                hints
            }
            Self::Recipient => vec![format!(
                "set `{}` to one address, e.g. `me@example.com`",
                env::MAIL_RECIPIENT
            )],
        }
    }
}

fn meaning(name: &str) -> &'static str {
    match name {
        env::MAILGUN_DOMAIN => {
            "`MAILGUN_DOMAIN` is the domain as Mailgun's control panel shows it; a sandbox domain will do"
        }
        env::MAILGUN_API_KEY => {
            "`MAILGUN_API_KEY` is an account key, or a sending key of the domain"
        }
        _ => {
            "`MAIL_RECIPIENT` is the address that all mails go to; a sandbox domain sends to authorized recipients only"
        }
    }
}

/// Returns the required variables that have no value.
pub fn missing_variables(config: &Config) -> Vec<&'static str> {
    let missing = REQUIRED
        .iter()
        .filter(|names| value(config, names).is_none());
    missing.map(|names| names[0]).collect()
}

/// Returns the account that mails are sent by, and their recipient.
pub(super) fn read(config: &Config) -> Result<(Account, String)> {
    let [domain, key, recipient] = REQUIRED.map(|names| value(config, names));
    let (Some(domain), Some(key), Some(recipient)) = (domain, key, recipient) else {
        return Err(Error::Missing(missing_variables(config)).into());
    };
    if !recipient.contains('@') || recipient.contains(char::is_control) {
        return Err(Error::Recipient.into());
    }
    let account = Account {
        domain,
        api_base: value(config, &[env::MAILGUN_API_BASE]).unwrap_or_default(),
        key: Secret::new(key),
        events_key: value(config, &[env::MAILGUN_EVENTS_API_KEY]).map(Secret::new),
    };
    Ok((account, recipient))
}

/// Returns the value of the first of these variables that has one; blanks are none.
fn value(config: &Config, names: &[&str]) -> Option<String> {
    let value = |name: &&str| {
        let value = config.variable(name)?.trim().to_owned();
        (!value.is_empty()).then_some(value)
    };
    names.iter().find_map(value)
}
