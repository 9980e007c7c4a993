//! Decoding and validating `metadata.yaml`.

use serde_json::{Map, Value};

use super::{Error, File};
use crate::error::Explain;
use crate::model::{Metadata, metadata::API_VERSION};

/// Why a `metadata.yaml` does not decode.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum SyntaxError {
    /// It is no YAML.
    Yaml(#[from] crate::yaml::Error),
    /// It has another structure.
    Structure(#[from] serde_json::Error),
}

impl Explain for SyntaxError {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Yaml(error) => error.hints(),
            Self::Structure(_) => Vec::new(),
        }
    }
}

/// Decodes the first document of the file, as Kubernetes reads objects; unknown fields do not matter.
pub(super) fn parse(file: &File) -> Result<Metadata, SyntaxError> {
    let documents = crate::yaml::parse_documents(&file.text)?;
    let map = documents
        .into_iter()
        .next()
        .map_or_else(Map::new, |document| document.map);
    Ok(serde_json::from_value(Value::Object(map))?)
}

/// Decodes the file and holds it to the rules, all at once.
pub(super) fn parse_valid(file: &File) -> Result<Metadata, Error> {
    let metadata = parse(file).map_err(|source| Error::MetadataSyntax {
        origin: file.origin.clone(),
        source,
    })?;
    let problems = problems_of(&metadata);
    if problems.is_empty() {
        Ok(metadata)
    } else {
        Err(Error::InvalidMetadata {
            origin: file.origin.clone(),
            problems,
        })
    }
}

fn problems_of(metadata: &Metadata) -> Vec<String> {
    let Metadata {
        api_version,
        kind,
        release_series,
    } = metadata;
    let mut problems = Vec::new();
    if api_version != API_VERSION {
        problems.push(format!(
            "`apiVersion` must be `{API_VERSION}`, not `{api_version}`"
        ));
    }
    if !matches!(kind.as_str(), "" | "Metadata") {
        problems.push(format!("`kind` must be `Metadata`, not `{kind}`"));
    }
    if release_series.is_empty() {
        problems.push("`releaseSeries` must not be empty".into());
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Metadata, Error> {
        parse_valid(&File {
            text: text.into(),
            origin: "metadata.yaml".into(),
            overridden: false,
        })
    }

    #[test]
    fn a_kind_is_not_needed_and_more_fields_do_no_harm() {
        let text = format!(
            "apiVersion: {API_VERSION}\nmore: 1\nreleaseSeries:\n- {{major: 1, minor: 2, contract: v1beta2, x: y}}\n"
        );
        assert_eq!(parse(&text).unwrap().list_series(), "1.2");
    }

    #[test]
    fn every_problem_is_reported() {
        let error = parse("apiVersion: v1\nkind: Other\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid provider metadata in `metadata.yaml`: \
             `apiVersion` must be `clusterctl.cluster.x-k8s.io/v1alpha3`, not `v1`; \
             `kind` must be `Metadata`, not `Other`; `releaseSeries` must not be empty"
        );
        for text in ["a: [", "- 1", "releaseSeries: [{major: x}]"] {
            assert!(
                matches!(parse(text), Err(Error::MetadataSyntax { .. })),
                "{text}"
            );
        }
    }
}
