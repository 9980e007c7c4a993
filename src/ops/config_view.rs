//! Shows what is in use, and where each of it comes from. Nothing is asked but the disk; secrets are masked.

use std::path::Path;

use serde::Serialize;

use super::{ClusterOptions, Session};
use crate::cluster::access::context_in_use;
use crate::config::env::{CLUSTER_TOPOLOGY, CLUSTERCTL_LOG_LEVEL, KUBECONFIG, XDG_CACHE_HOME};
use crate::config::{Config, CustomProvider, FileVariable, Origin};
use crate::error::Result;
use crate::model::image::ImageOverride;
use crate::model::secret::is_secret_name;

/// What stands in for a secret.
const MASK: &str = "****";

/// A thing in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What it is.
    pub name: String,
    /// Its value; none when it is not set.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: String,
    /// What is special about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// All that is in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Files and folders.
    pub files: Vec<Entry>,
    /// The way to the management cluster.
    pub cluster: Vec<Entry>,
    /// How the tool works.
    pub settings: Vec<Entry>,
    /// Proxies and CA certificates.
    pub network: Vec<Entry>,
    /// Tokens, and whether they are set.
    pub tokens: Vec<Entry>,
    /// cert-manager.
    pub cert_manager: Vec<Entry>,
    /// Providers that the configuration file adds or replaces.
    pub providers: Vec<Entry>,
    /// What is replaced in image references.
    pub images: Vec<Entry>,
    /// Variables that the configuration file sets.
    pub variables: Vec<Entry>,
}

/// Returns what is in use.
///
/// # Errors
/// A section of the configuration file is wrong.
pub fn config_view(session: &Session, cluster: &ClusterOptions) -> Result<View> {
    Ok(View {
        files: files(&session.config)?,
        cluster: way_to_cluster(session, cluster),
        settings: settings(session),
        network: network(session),
        tokens: tokens(&session.config),
        cert_manager: cert_manager(&session.config)?,
        providers: providers(&session.config)?,
        images: images(&session.config)?,
        variables: variables(&session.config),
    })
}

impl Entry {
    fn new(name: &str, value: Option<String>, source: impl ToString) -> Self {
        Self {
            name: name.to_owned(),
            value,
            source: source.to_string(),
            note: None,
        }
    }

    fn note(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }
}

fn files(config: &Config) -> Result<Vec<Entry>> {
    let file = config.file_in_use();
    let source = match (&file, config.is_file_named()) {
        (_, true) => "flag --config",
        (Some(_), false) => "first one found",
        (None, false) => "default",
    };
    let mut entries = vec![Entry::new(
        "configuration file",
        file.as_deref().map(without_credentials),
        source,
    )];
    let searched = config.searched_files().into_iter();
    entries.extend(
        searched.map(|pattern| {
            Entry::new("looked for", Some(pattern.display().to_string()), "default")
        }),
    );
    let overrides = config.overrides_folder()?;
    let source = source_of(config, "overridesFolder");
    let note = match &overrides {
        Some(folder) => missing(folder),
        None => Some("none of the usual folders has `overrides`".to_owned()),
    };
    let overrides = overrides.map(|folder| folder.display().to_string());
    entries.push(Entry::new("overrides folder", overrides, source).note(note));
    let cache = config.cache_folder();
    let source = match config.environment().get_non_empty(XDG_CACHE_HOME) {
        Some(base) if cache.as_ref().is_some_and(|cache| cache.starts_with(base)) => {
            format!("environment {XDG_CACHE_HOME}")
        }
        _ => "default".to_owned(),
    };
    let note = cache.as_deref().and_then(missing);
    let cache = cache.map(|folder| folder.display().to_string());
    entries.push(Entry::new("cache folder", cache, source).note(note));
    Ok(entries)
}

fn way_to_cluster(session: &Session, options: &ClusterOptions) -> Vec<Entry> {
    let access = session.access(options);
    let source = match session.config.environment().get_non_empty(KUBECONFIG) {
        Some(_) => format!("environment {KUBECONFIG}"),
        None => "default".to_owned(),
    };
    let entry = |path: &Path, source: &str| {
        Entry::new("kubeconfig", Some(path.display().to_string()), source).note(missing(path))
    };
    let mut entries: Vec<Entry> = match &access.kubeconfig {
        Some(path) => vec![entry(path, "flag --kubeconfig")],
        None => access
            .search
            .iter()
            .map(|path| entry(path, &source))
            .collect(),
    };
    let source = match &access.context {
        Some(_) => "flag --kubeconfig-context",
        None => "kubeconfig",
    };
    let (context, note) = match context_in_use(&access) {
        Ok(Some(context)) => (Some(context), None),
        Ok(None) if access.is_in_cluster() => (
            None,
            Some("there is no kubeconfig; in a Pod its own credentials count".to_owned()),
        ),
        Ok(None) => (None, Some("the kubeconfig names none".to_owned())),
        Err(error) => (None, Some(error.to_string())),
    };
    entries.push(Entry::new("context", context, source).note(note));
    entries
}

fn settings(session: &Session) -> Vec<Entry> {
    let config = &session.config;
    let of = |name: &str| {
        let (value, origin) = config.variable_with_origin(name).unzip();
        Entry::new(name, value, source_text(origin))
    };
    let topology = config.environment().get(CLUSTER_TOPOLOGY);
    let source = match topology {
        Some(_) => format!("environment {CLUSTER_TOPOLOGY}"),
        None => "default".to_owned(),
    };
    let flag = |is_set: bool| if is_set { "flag --offline" } else { "default" };
    vec![
        of(CLUSTERCTL_LOG_LEVEL),
        Entry::new(CLUSTER_TOPOLOGY, topology.map(str::to_owned), source),
        Entry::new(
            "offline",
            Some(session.offline.to_string()),
            flag(session.offline),
        ),
    ]
}

fn network(session: &Session) -> Vec<Entry> {
    let environment = session.config.environment();
    let proxies = environment.proxy_variables().into_iter();
    let proxies = proxies.map(|(name, value)| {
        let value = without_credentials(value);
        Entry::new(name, Some(value), format!("environment {name}"))
    });
    let named = session.ca_file.iter().map(|path| {
        Entry::new("CA certificates", Some(path.clone()), "flag --ca-file")
            .note(missing(Path::new(path)))
    });
    let certificates = environment.certificate_variables().into_iter();
    let certificates = certificates.map(|(name, path)| {
        Entry::new(name, Some(path.to_owned()), format!("environment {name}"))
            .note(missing(Path::new(path)))
    });
    proxies.chain(named).chain(certificates).collect()
}

fn tokens(config: &Config) -> Vec<Entry> {
    let masked = |is_set: bool| is_set.then(|| MASK.to_owned());
    let mut entries = vec![Entry::new(
        "github.com",
        masked(config.github_token().is_some()),
        source_of(config, "github-token"),
    )];
    if let Some((host, token)) = config.github_enterprise() {
        let source = source_of(config, "github-enterprise-token");
        entries.push(Entry::new(&host, masked(token.is_some()), source));
    }
    entries.push(Entry::new(
        "GitLab",
        masked(config.gitlab_token().is_some()),
        source_of(config, "gitlab-access-token"),
    ));
    entries
}

fn cert_manager(config: &Config) -> Result<Vec<Entry>> {
    let settings = config.cert_manager()?;
    let entry = |name: &str, value: String| {
        let is_set = config.file_has(&format!("cert-manager.{name}"));
        let source = match config.file_in_use() {
            Some(file) if is_set => Origin::File(without_credentials(&file)).to_string(),
            _ => "default".to_owned(),
        };
        Entry::new(name, Some(value), source)
    };
    Ok(vec![
        entry("url", without_credentials(&settings.url)),
        entry("version", settings.version),
        entry("timeout", format!("{:?}", settings.timeout)),
        entry(
            "externallyProvisioned",
            settings.externally_provisioned.to_string(),
        ),
    ])
}

fn providers(config: &Config) -> Result<Vec<Entry>> {
    let source = file_source(config);
    let entry = |CustomProvider { provider, replaces }: CustomProvider| {
        let note = match replaces {
            Some(url) => format!("replaces {url}"),
            None => "added".to_owned(),
        };
        let url = without_credentials(&provider.url);
        Entry::new(&provider.label(), Some(url), &source).note(Some(note))
    };
    Ok(config.custom_providers()?.into_iter().map(entry).collect())
}

fn images(config: &Config) -> Result<Vec<Entry>> {
    let source = file_source(config);
    let overrides = config.image_overrides()?.0.into_iter();
    let entries = overrides.map(|(key, entry)| {
        let ImageOverride {
            repository,
            name,
            tag,
        } = entry;
        let fields = [("repository", repository), ("name", name), ("tag", tag)];
        let fields: Vec<String> = fields
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(field, value)| format!("{field}={value}"))
            .collect();
        Entry::new(&key, Some(fields.join(" ")), &source)
    });
    Ok(entries.collect())
}

fn variables(config: &Config) -> Vec<Entry> {
    let entry = |FileVariable {
                     name,
                     value,
                     origin,
                 }| {
        let value = match is_secret_name(&name) {
            true => MASK.to_owned(),
            false if value.contains("://") => without_credentials(&value),
            false => value,
        };
        let note = matches!(origin, Origin::Environment(_))
            .then(|| "the value in the configuration file does not count".to_owned());
        Entry::new(&name, Some(value), source_text(Some(origin))).note(note)
    };
    config.file_variables().into_iter().map(entry).collect()
}

/// Returns where a setting comes from.
fn source_of(config: &Config, name: &str) -> String {
    source_text(config.origin_of_setting(name))
}

fn source_text(origin: Option<Origin>) -> String {
    match origin {
        None => "default".to_owned(),
        Some(Origin::File(file)) => Origin::File(without_credentials(&file)).to_string(),
        Some(origin) => origin.to_string(),
    }
}

fn file_source(config: &Config) -> String {
    source_text(config.file_in_use().map(Origin::File))
}

fn missing(path: &Path) -> Option<String> {
    (!path.exists()).then(|| "does not exist".to_owned())
}

/// Returns an address without user, password, query and fragment; whatever is before the last `@` of it may be a
/// password. Paths and lists of hosts stay as they are.
fn without_credentials(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None if address.starts_with(['/', '.', '~', '\\']) => return address.to_owned(),
        None => (String::new(), address),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, behind)| behind);
    let rest = match scheme.is_empty() {
        true => rest,
        false => rest.split(['?', '#']).next().unwrap_or_default(),
    };
    format!("{scheme}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_credentials() {
        for (address, shown) in [
            ("http://proxy:3128", "http://proxy:3128"),
            ("http://me:pw@proxy:3128/", "http://proxy:3128/"),
            ("http://me:p/w@x@proxy:3128", "http://proxy:3128"),
            ("me:pw@proxy:3128", "proxy:3128"),
            ("https://host/a?token=abc#x", "https://host/a"),
            ("localhost,.example.com", "localhost,.example.com"),
            ("/a@b/c?d", "/a@b/c?d"),
        ] {
            assert_eq!(without_credentials(address), shown);
        }
    }
}
