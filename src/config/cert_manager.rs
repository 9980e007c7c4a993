//! The `cert-manager` section.

use std::time::Duration;

use serde_json::{Map, Value};

use super::paths::Surroundings;
use super::providers::parse_repository_type;
use super::values::{parse_bool, text_field};
use crate::model::RepositoryType;

/// The release that is installed unless the configuration says otherwise.
const VERSION: &str = "v1.21.1";
/// Where that release is.
const URL: &str = "https://github.com/cert-manager/cert-manager/releases/v1.21.1/cert-manager.yaml";
/// How long to wait for it to work.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How cert-manager comes into a management cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertManager {
    /// Address of the manifest, as providers have it.
    pub url: String,
    /// What kind of server that is, see [`crate::model::Provider`].
    pub repository_type: Option<RepositoryType>,
    /// The version to fetch and to record, whatever the URL says.
    pub version: String,
    /// How long to wait until it works.
    pub timeout: Duration,
    /// Somebody else installs it: neither install nor upgrade it.
    pub externally_provisioned: bool,
}

impl Default for CertManager {
    fn default() -> Self {
        Self {
            url: URL.into(),
            repository_type: None,
            version: VERSION.into(),
            timeout: TIMEOUT,
            externally_provisioned: false,
        }
    }
}

/// Returns the settings of the section, defaults where it has none.
///
/// # Errors
/// Every fault, a line each.
pub fn parse(section: &Value, surroundings: &Surroundings<'_>) -> Result<CertManager, Vec<String>> {
    let Value::Object(fields) = section else {
        return Err(vec!["it must be a map".into()]);
    };
    let text = |field, default: &str| {
        let text = text_field(fields, field)?;
        Ok(if text.is_empty() {
            default.into()
        } else {
            text
        })
    };
    let url = text("url", URL).and_then(|url: String| {
        surroundings
            .resolve_address(&url)
            .map_err(|error| format!("`url`: {error}"))
    });
    let repository_type = parse_repository_type(fields);
    let version = text("version", VERSION);
    let timeout = parse_timeout(fields);
    let external = parse_externally_provisioned(fields);
    match (url, repository_type, version, timeout, external) {
        (Ok(url), Ok(repository_type), Ok(version), Ok(timeout), Ok(externally_provisioned)) => {
            Ok(CertManager {
                url,
                repository_type,
                version,
                timeout,
                externally_provisioned,
            })
        }
        (url, repository_type, version, timeout, external) => {
            let faults = [
                url.err(),
                repository_type.err(),
                version.err(),
                timeout.err(),
                external.err(),
            ];
            Err(faults.into_iter().flatten().collect())
        }
    }
}

fn parse_externally_provisioned(fields: &Map<String, Value>) -> Result<bool, String> {
    match text_field(fields, "externallyProvisioned")?.as_str() {
        "" => Ok(false),
        text => parse_bool(text)
            .ok_or_else(|| "`externallyProvisioned` must be `true` or `false`".into()),
    }
}

/// A timeout that does not parse is only worth a warning, as with clusterctl: the default is a sound one.
fn parse_timeout(fields: &Map<String, Value>) -> Result<Duration, String> {
    let text = text_field(fields, "timeout")?;
    if text.is_empty() {
        return Ok(TIMEOUT);
    }
    Ok(parse_duration(&text).unwrap_or_else(|| {
        tracing::warn!(
            timeout = text,
            default = "10m",
            "Invalid value set for cert-manager configuration: `timeout` is not a duration such as `5m` or `1h30m`"
        );
        TIMEOUT
    }))
}

/// Parses a duration as Go writes it, such as `300ms`, `1.5h` or `2h45m`; negative ones are none.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = Duration::ZERO;
    loop {
        let digits =
            rest.find(|character: char| !(character.is_ascii_digit() || character == '.'))?;
        let (number, after) = rest.split_at(digits);
        let unit = after
            .find(|character: char| character.is_ascii_digit() || character == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let seconds = number.parse::<f64>().ok()? * seconds_in(unit)?;
        total = total.checked_add(Duration::try_from_secs_f64(seconds).ok()?)?;
        if after.is_empty() {
            return Some(total);
        }
        rest = after;
    }
}

fn seconds_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;
    use serde_json::json;

    fn parse(section: &Value) -> Result<CertManager, Vec<String>> {
        let environment = Environment::from_pairs([("BASE", "/mirror")]);
        super::parse(
            section,
            &Surroundings {
                environment: &environment,
                folder: None,
            },
        )
    }

    #[test]
    fn go_durations_are_understood() {
        let milliseconds = |text| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(milliseconds("300ms"), Some(300));
        assert_eq!(milliseconds("1.5h"), Some(5_400_000));
        assert_eq!(milliseconds("2h45m"), Some(9_900_000));
        assert_eq!(milliseconds("+1m.5s"), Some(60_500));
        assert_eq!(milliseconds("0"), Some(0));
        for bad in ["", "5", "m", "5 m", "-5m", "1.2.3s", "5d", "."] {
            assert_eq!(milliseconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_the_section_lacks_has_defaults() {
        assert_eq!(parse(&json!({})), Ok(CertManager::default()));
        let external = parse(&json!({
            "url": "${BASE}/cert-manager/v1.0.0/cert-manager.yaml",
            "version": "v1.0.0",
            "timeout": "nonsense",
            "repositorytype": "local",
            "externallyprovisioned": "T"
        }));
        assert_eq!(
            external,
            Ok(CertManager {
                url: "/mirror/cert-manager/v1.0.0/cert-manager.yaml".into(),
                repository_type: Some(RepositoryType::Local),
                version: "v1.0.0".into(),
                timeout: Duration::from_secs(600),
                externally_provisioned: true,
            })
        );
    }

    #[test]
    fn every_fault_is_reported() {
        let section = json!({"url": "${", "repositorytype": "ftp", "version": [], "externallyprovisioned": "yes"});
        assert_eq!(
            parse(&section).unwrap_err(),
            [
                "`url`: invalid variable reference at line 1, column 1: no variable name follows the `${`",
                "`repositoryType`: it must be one of github, gitlab, http, local, not `ftp`",
                "`version` must be a text",
                "`externallyProvisioned` must be `true` or `false`"
            ]
        );
    }
}
