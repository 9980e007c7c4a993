//! Finding, reading and decoding the configuration file.
//!
//! YAML and JSON are understood. clusterctl's library finds files of further formats (toml, dotenv, ini, properties,
//! hcl), decodes some of them and fails on the rest; here each of those is an error that says what is supported.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Error;
use super::folders::Folders;
use crate::http::{Get, Http};

/// Base name of the configuration file.
const STEM: &str = "clusterctl";
/// Extensions in the order of clusterctl's search.
const EXTENSIONS: [&str; 12] = [
    "json",
    "toml",
    "yaml",
    "yml",
    "properties",
    "props",
    "prop",
    "hcl",
    "tfvars",
    "dotenv",
    "env",
    "ini",
];
/// What can be decoded, as messages list it.
pub(super) const SUPPORTED: &str = "yaml, yml, json";

/// The contents of a configuration file, with all keys in lower case, as clusterctl folds them.
#[derive(Clone, Default)]
pub struct ConfigFile {
    /// Path, for a file on disk.
    pub path: Option<PathBuf>,
    /// Path or URL; empty when there is no file.
    pub origin: String,
    /// Everything in it.
    pub values: Map<String, Value>,
}

impl ConfigFile {
    /// Reads what `--config` names, or else what the usual folders hold, which may be nothing.
    pub(super) async fn load(
        path: Option<&str>,
        folders: &Folders,
        http: &Http,
    ) -> Result<Self, Error> {
        match path {
            Some(url) if is_on_the_web(url) => Self::download(url, http).await,
            Some(path) if Path::new(path).is_dir() => Err(Error::Directory(path.into())),
            Some(path) => Self::read(PathBuf::from(path)).await,
            None => match find(folders) {
                Some(path) => Self::read(path).await,
                None => Ok(Self::default()),
            },
        }
    }

    /// clusterctl takes whatever it downloads for YAML, which JSON is too.
    async fn download(url: &str, http: &Http) -> Result<Self, Error> {
        let failed = |source| Error::Download {
            url: url.to_owned(),
            source,
        };
        let response = http.get(Get::new(url)).await.map_err(failed)?;
        Self::decode(None, url.to_owned(), response.body, Format::Yaml)
    }

    async fn read(path: PathBuf) -> Result<Self, Error> {
        let format = Format::of(&path);
        let bytes = match tokio::fs::read(&path).await {
            Ok(bytes) => bytes,
            Err(source) => return Err(Error::Read { path, source }),
        };
        let origin = path.display().to_string();
        Self::decode(Some(path), origin, bytes, format?)
    }

    fn decode(
        path: Option<PathBuf>,
        origin: String,
        bytes: Vec<u8>,
        format: Format,
    ) -> Result<Self, Error> {
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(Error::NotText { origin });
        };
        let value = match format.parse(&text) {
            Ok(value) => value,
            Err(source) => return Err(Error::Syntax { origin, source }),
        };
        match fold_keys(value) {
            Value::Null => Ok(Map::new()),
            Value::Object(values) => Ok(values),
            _ => Err(Error::NotAMapping {
                origin: origin.clone(),
            }),
        }
        .map(|values| Self {
            path,
            origin,
            values,
        })
    }
}

fn is_on_the_web(config: &str) -> bool {
    let scheme = config.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|web| web.eq_ignore_ascii_case(scheme))
    })
}

/// Returns a pattern of the files that are looked for in a folder.
pub(super) fn pattern_in(folder: &Path) -> PathBuf {
    folder.join(format!("{STEM}.*"))
}

fn find(folders: &Folders) -> Option<PathBuf> {
    folders
        .in_order()
        .flat_map(|folder| EXTENSIONS.map(|extension| folder.join(format!("{STEM}.{extension}"))))
        .find(|path| path.is_file())
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Yaml,
    Json,
}

impl Format {
    fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => Ok(Self::Yaml),
            Some("json") => Ok(Self::Json),
            _ => Err(Error::Format(path.to_owned())),
        }
    }

    fn parse(self, text: &str) -> Result<Value, super::SyntaxError> {
        match self {
            Self::Yaml => Ok(crate::yaml::parse_config(text)?),
            Self::Json if text.trim().is_empty() => Ok(Value::Null),
            Self::Json => Ok(serde_json::from_str(text)?),
        }
    }
}

/// Makes all keys lower case, nested ones too. Of keys that differ by case only, one with an upper-case letter stays, as
/// with clusterctl's library; of several of those, the last in byte order.
fn fold_keys(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut folded = Map::new();
            let is_lower = |key: &String| key.to_lowercase() == *key;
            let (lower, other): (Vec<_>, Vec<_>) =
                map.into_iter().partition(|(key, _)| is_lower(key));
            for (key, value) in lower.into_iter().chain(other) {
                let earlier = folded.insert(key.to_lowercase(), fold_keys(value));
                if earlier.is_some() {
                    tracing::warn!(
                        counts = key,
                        "the configuration file has a key in several spellings, of which one counts"
                    );
                }
            }
            Value::Object(folded)
        }
        Value::Array(items) => items.into_iter().map(fold_keys).collect(),
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_spellings_of_a_key_one_in_upper_case_counts() {
        for (read, expected) in [
            (json!({"X": 1, "x": 0}), json!({"x": 1})),
            (json!({"xA": {"B": 1, "b": 0}}), json!({"xa": {"b": 1}})),
            (json!({"Xy": 1, "XY": 0, "xy": 2}), json!({"xy": 1})),
            (json!([{"É": 1}]), json!([{"é": 1}])),
        ] {
            assert_eq!(fold_keys(read.clone()), expected, "{read}");
        }
    }

    #[test]
    fn a_scheme_has_no_case() {
        assert!(is_on_the_web("HTTPS://host/c.yaml") && is_on_the_web("http://host"));
        assert!(!is_on_the_web("/c.yaml") && !is_on_the_web("file:///c.yaml"));
    }
}
