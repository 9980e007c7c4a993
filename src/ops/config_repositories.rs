//! Lists the providers that are known, with their repositories, and on demand with what these offer.

use futures::{StreamExt as _, stream};

use super::Session;
use crate::error::{Failure, Result, suggest};
use crate::model::Provider;
use crate::repository::{Offer, ProviderRepository, Settings};

/// How many repositories are asked at the same time.
const AT_ONCE: usize = 8;

/// Which providers, and what of them.
#[derive(Debug, Clone, Default)]
pub struct RepositoriesOptions {
    /// Names or labels of providers; none: all.
    pub names: Vec<String>,
    /// Ask the repositories for their versions.
    pub versions: bool,
}

/// A provider and, if asked for, what its repository offers, or why that is not known.
#[derive(Debug)]
pub struct Listed {
    /// The provider.
    pub provider: Provider,
    /// `None` when the repository was not asked.
    pub versions: Option<Result<Versions>>,
}

/// The versions of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// The one that is taken when none is named.
    pub default: String,
    /// The newest of each contract.
    pub offers: Vec<Offer>,
}

/// Returns the providers of the catalogue and of the configuration file, by type and name. A repository that fails is
/// warned of, and does not keep the others away.
///
/// # Errors
/// The `providers` section of the configuration is wrong, a name is unknown, or every repository fails.
pub async fn config_repositories(
    session: &Session,
    options: &RepositoriesOptions,
) -> Result<Vec<Listed>> {
    let providers = choose(session.config.providers()?, &options.names)?;
    if !options.versions {
        let listed = providers.into_iter().map(|provider| Listed {
            provider,
            versions: None,
        });
        return Ok(listed.collect());
    }
    let settings = session.repository_settings()?;
    let questions: Vec<_> = providers
        .iter()
        .map(|provider| ask(session, provider, &settings))
        .collect();
    let answers: Vec<Result<Versions>> = stream::iter(questions).buffered(AT_ONCE).collect().await;
    let listed = providers
        .into_iter()
        .zip(answers)
        .map(|(provider, versions)| Listed {
            provider,
            versions: Some(versions),
        })
        .collect();
    ensure_one_answer(session, listed)
}

fn choose(providers: Vec<Provider>, names: &[String]) -> Result<Vec<Provider>> {
    let is_meant =
        |provider: &Provider, name: &String| provider.name == *name || provider.label() == *name;
    for name in names {
        if !providers.iter().any(|provider| is_meant(provider, name)) {
            let known = providers.iter().map(|provider| provider.name.as_str());
            let failure = Failure::new(format!("no provider is named `{name}`"));
            return Err(match suggest(name, known) {
                Some(similar) => failure.hint(format!("did you mean `{similar}`?")),
                None => failure.hint("`capictl config repositories` lists the known ones"),
            });
        }
    }
    let chosen = providers
        .into_iter()
        .filter(|provider| names.is_empty() || names.iter().any(|name| is_meant(provider, name)));
    Ok(chosen.collect())
}

async fn ask(session: &Session, provider: &Provider, settings: &Settings) -> Result<Versions> {
    let provider = session.config.locate(provider.clone())?;
    let repository = ProviderRepository::of(&provider, settings)?;
    let default = repository.default_version().await?;
    let offers = repository.offers().await?;
    Ok(Versions { default, offers })
}

/// Warns of each failure, and gives each piece of advice once.
fn ensure_one_answer(session: &Session, listed: Vec<Listed>) -> Result<Vec<Listed>> {
    let failed = |listed: &Listed| matches!(listed.versions, Some(Err(_)));
    if !listed.is_empty() && listed.iter().all(failed) {
        let failures = listed
            .into_iter()
            .filter_map(|listed| listed.versions?.err());
        let mut failures: Vec<Failure> = failures.collect();
        return Err(match failures.len() {
            1 => failures.remove(0),
            _ => Failure::several("no repository tells its versions", failures),
        });
    }
    let mut hints: Vec<&String> = Vec::new();
    for Listed { versions, .. } in &listed {
        let Some(Err(failure)) = versions else {
            continue;
        };
        let chain: Vec<String> = failure.chain().collect();
        session.ui.warn(chain.join(": "));
        let new = failure.hints().iter().filter(|hint| !hints.contains(hint));
        let new: Vec<&String> = new.collect();
        hints.extend(new);
    }
    for hint in hints {
        session.ui.status(format!("hint: {hint}"));
    }
    Ok(listed)
}
