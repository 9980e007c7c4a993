//! The catalogue of known providers and what the configuration adds to it.

use serde_json::{Map, Value};

use super::paths::Surroundings;
use super::values;
use crate::http::Url;
use crate::model::provider::dns1123_subdomain_problem;
use crate::model::{Provider, ProviderType, RepositoryType};

/// Name of the one core provider.
const CORE: &str = "cluster-api";

/// Returns the providers that are built in, from `providers.yaml`.
pub fn catalogue() -> Vec<Provider> {
    #[derive(serde::Deserialize)]
    struct Catalogue {
        providers: Vec<Provider>,
    }
    let Catalogue { providers } = crate::yaml::parse_typed(include_str!("../../providers.yaml"))
        .expect("the embedded catalogue is well-formed");
    providers
}

/// Returns the providers of the configuration's `providers` section.
///
/// # Errors
/// Every fault of every entry, a line each.
pub fn parse_custom(
    section: &Value,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Provider>, Vec<String>> {
    let Value::Array(entries) = section else {
        return Err(vec!["it must be a list of providers".into()]);
    };
    let (mut providers, mut faults) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        match parse_entry(entry, surroundings) {
            Ok(provider) => providers.push(provider),
            Err(problems) => {
                let subject = describe_entry(index, entry);
                faults.extend(
                    problems
                        .iter()
                        .map(|problem| format!("{subject}: {problem}")),
                );
            }
        }
    }
    if faults.is_empty() {
        Ok(providers)
    } else {
        Err(faults)
    }
}

/// Adds providers to the catalogue: the same type and name replaces, anything else is new. The result is sorted by
/// type in the order of installation, then by name.
pub fn merge(mut providers: Vec<Provider>, custom: Vec<Provider>) -> Vec<Provider> {
    for provider in custom {
        let same = |known: &&mut Provider| {
            (known.provider_type, &known.name) == (provider.provider_type, &provider.name)
        };
        match providers.iter_mut().find(same) {
            Some(known) => *known = provider,
            None => providers.push(provider),
        }
    }
    providers.sort_by(|left, right| {
        (left.provider_type, &left.name).cmp(&(right.provider_type, &right.name))
    });
    providers
}

/// Returns the variables in the address of a provider that are not set, and so read as empty.
pub fn unset_variables(
    section: &Value,
    provider: &Provider,
    surroundings: &Surroundings<'_>,
) -> Vec<String> {
    let is_it = |entry: &&Map<String, Value>| {
        parse_name(entry).as_ref() == Ok(&provider.name)
            && parse_type(entry) == Ok(provider.provider_type)
    };
    let mut entries = section.as_array().into_iter().flatten().rev();
    let entry = entries.find_map(|entry| entry.as_object().filter(is_it));
    let url = entry.and_then(|entry| values::text_field(entry, "url").ok());
    url.map_or_else(Vec::new, |url| surroundings.unset_variables(&url))
}

fn describe_entry(index: usize, entry: &Value) -> String {
    let text = |field| {
        entry
            .get(field)
            .and_then(values::text_of)
            .unwrap_or_default()
    };
    format!(
        "entry {}: error validating configuration for the {} with name {}",
        index + 1,
        or_unknown(text("type"), "provider"),
        or_unknown(text("name"), "(none)"),
    )
}

fn or_unknown(text: String, unknown: &str) -> String {
    if text.is_empty() {
        unknown.to_owned()
    } else {
        text
    }
}

fn parse_entry(entry: &Value, surroundings: &Surroundings<'_>) -> Result<Provider, Vec<String>> {
    let Value::Object(fields) = entry else {
        return Err(vec![
            "it must be a map with `name`, `type` and `url`".into(),
        ]);
    };
    let name = parse_name(fields);
    let provider_type = parse_type(fields);
    let url = parse_url(fields, surroundings);
    let repository_type = parse_repository_type(fields);
    let pairing = match (&name, &provider_type) {
        (Ok(name), Ok(provider_type)) => ensure_core_name(name, *provider_type),
        _ => Ok(()),
    };
    match (name, provider_type, url, repository_type, pairing) {
        (Ok(name), Ok(provider_type), Ok(url), Ok(repository_type), Ok(())) => Ok(Provider {
            name,
            provider_type,
            url,
            repository_type,
            deprecated: None,
        }),
        (name, provider_type, url, repository_type, pairing) => {
            let problems = [
                name.err(),
                provider_type.err(),
                url.err(),
                repository_type.err(),
                pairing.err(),
            ];
            Err(problems.into_iter().flatten().collect())
        }
    }
}

fn parse_name(fields: &Map<String, Value>) -> Result<String, String> {
    let name = values::text_field(fields, "name")?;
    if name.is_empty() {
        return Err("`name` must not be empty".into());
    }
    match dns1123_subdomain_problem(&name) {
        Some(problem) => Err(format!("`name` is not valid: {problem}")),
        None => Ok(name),
    }
}

fn parse_type(fields: &Map<String, Value>) -> Result<ProviderType, String> {
    let text = values::text_field(fields, "type")?;
    text.parse().map_err(|_| {
        let known = ProviderType::ALL.map(ProviderType::as_str).join(", ");
        let problem = format!("`type` must be one of {known}");
        match text.parse::<RepositoryType>() {
            Ok(server) => {
                format!(
                    "{problem}; what kind of server it is at is told by `repositoryType: {server}`"
                )
            }
            Err(_) => problem,
        }
    })
}

fn parse_url(
    fields: &Map<String, Value>,
    surroundings: &Surroundings<'_>,
) -> Result<String, String> {
    let text = values::text_field(fields, "url")?;
    let url = surroundings
        .substitute(&text)
        .map_err(|error| format!("`url`: {error}"))?;
    if url.is_empty() {
        return Err("`url` must not be empty".into());
    }
    // Where a path begins is asked for when the provider is: others may be used meanwhile.
    if url.contains("://") && Url::parse(&url).is_err() {
        return Err("`url` is not a valid URL".into());
    }
    Ok(url)
}

/// Returns what `repositoryType` says, if it is there.
///
/// # Errors
/// It names no type of repository: says so.
pub(super) fn parse_repository_type(
    fields: &Map<String, Value>,
) -> Result<Option<RepositoryType>, String> {
    let text = values::text_field(fields, "repositoryType")?;
    if text.is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|error| format!("`repositoryType`: {error}"))
}

/// There is one core provider, and nothing else has its name.
fn ensure_core_name(name: &str, provider_type: ProviderType) -> Result<(), String> {
    match (name == CORE, provider_type == ProviderType::CoreProvider) {
        (true, false) => Err(format!("the name {CORE} is reserved for the CoreProvider")),
        (false, true) => Err(format!("a CoreProvider must have the name {CORE}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;
    use serde_json::json;

    fn parse_custom(section: &Value) -> Result<Vec<Provider>, Vec<String>> {
        let environment = Environment::from_pairs([("BASE", "/tmp/x")]);
        super::parse_custom(
            section,
            &Surroundings {
                environment: &environment,
                folder: None,
            },
        )
    }

    #[test]
    fn the_catalogue_is_sorted_and_valid() {
        let providers = catalogue();
        assert_eq!(providers.len(), 67);
        assert_eq!(merge(Vec::new(), providers.clone()), providers);
        let count = |wanted| {
            providers
                .iter()
                .filter(|provider| provider.provider_type == wanted)
                .count()
        };
        assert_eq!(ProviderType::ALL.map(count), [1, 8, 11, 40, 3, 1, 3]);
        let section = serde_json::to_value(&providers).unwrap();
        // Nobody but the catalogue deprecates a provider.
        let undeprecated = |provider| Provider {
            deprecated: None,
            ..provider
        };
        let expected = providers.into_iter().map(undeprecated).collect();
        assert_eq!(parse_custom(&section), Ok(expected));
    }

    #[test]
    fn custom_providers_replace_and_add() {
        let section = json!([
            {"name": "aws", "type": "InfrastructureProvider", "url": "${BASE}/infrastructure-aws/v1.0.0/c.yaml"},
            {"name": "acme", "type": "InfrastructureProvider", "url": "https://a/1"},
            {"name": "acme", "type": "InfrastructureProvider", "url": "https://a/2", "repositorytype": "gitlab", "unknown": []},
        ]);
        let custom = parse_custom(&section).unwrap();
        let merged = merge(catalogue(), custom);
        assert_eq!(merged.len(), 68);
        let url_of = |name: &str| {
            let found = merged.iter().find(|provider| {
                provider.name == name
                    && provider.provider_type == ProviderType::InfrastructureProvider
            });
            found.unwrap().url.clone()
        };
        assert_eq!(url_of("aws"), "/tmp/x/infrastructure-aws/v1.0.0/c.yaml");
        assert_eq!(url_of("acme"), "https://a/2");
        let types: Vec<_> = merged
            .iter()
            .filter_map(|provider| provider.repository_type)
            .collect();
        assert_eq!(types, [RepositoryType::GitLab]);
        assert!(
            merged.is_sorted_by_key(|provider| (provider.provider_type, provider.name.clone()))
        );
    }

    #[test]
    fn every_fault_of_every_entry_is_reported() {
        let section = json!([
            {"name": "Aws", "type": "Infrastructure", "url": ""},
            {"name": "fine", "type": "AddonProvider", "url": "/a/addon-fine/v1.0.0/x.yaml", "repositorytype": ""},
            "text",
            {"name": "cluster-api", "type": "AddonProvider", "url": "https://a b/"},
            {"name": "core", "type": "CoreProvider", "url": "${X", "repositorytype": "GitHub"},
        ]);
        let faults = parse_custom(&section).unwrap_err();
        insta::assert_snapshot!(faults.join("\n"), @r"
        entry 1: error validating configuration for the Infrastructure with name Aws: `name` is not valid: only lower-case letters, digits, `-` and `.` are allowed, each part with a letter or digit at both ends
        entry 1: error validating configuration for the Infrastructure with name Aws: `type` must be one of CoreProvider, BootstrapProvider, ControlPlaneProvider, InfrastructureProvider, IPAMProvider, RuntimeExtensionProvider, AddonProvider
        entry 1: error validating configuration for the Infrastructure with name Aws: `url` must not be empty
        entry 3: error validating configuration for the provider with name (none): it must be a map with `name`, `type` and `url`
        entry 4: error validating configuration for the AddonProvider with name cluster-api: `url` is not a valid URL
        entry 4: error validating configuration for the AddonProvider with name cluster-api: the name cluster-api is reserved for the CoreProvider
        entry 5: error validating configuration for the CoreProvider with name core: `url`: invalid variable reference at line 1, column 1: `X` is followed neither by `}` nor by an operator
        entry 5: error validating configuration for the CoreProvider with name core: `repositoryType`: it must be one of github, gitlab, http, local, not `GitHub`
        entry 5: error validating configuration for the CoreProvider with name core: a CoreProvider must have the name cluster-api
        ");
    }
}
