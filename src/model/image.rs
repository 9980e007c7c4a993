//! Container image references and what the configuration's `images` section changes about them.
//!
//! An override replaces parts of a reference, `{repository}/{name}:{tag}@{digest}`. References that no override touches
//! stay as they were written; one that cannot be read is refused all the same, as clusterctl does, for nothing could run it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Explain;

/// The key of the override for every image of every component.
pub const ALL: &str = "all";

/// What to replace in an image reference; empty fields replace nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImageOverride {
    /// Everything before the name, registry host included, e.g. `registry.example/mirror`.
    pub repository: String,
    /// The last element of the path.
    pub name: String,
    /// The tag. A digest of the original reference stays.
    pub tag: String,
}

impl ImageOverride {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes over the fields that `other` sets.
    fn update(&mut self, other: &Self) {
        for (field, newer) in [
            (&mut self.repository, &other.repository),
            (&mut self.name, &other.name),
            (&mut self.tag, &other.tag),
        ] {
            if !newer.is_empty() {
                field.clone_from(newer);
            }
        }
    }
}

/// The overrides by key: `all`, `{component}` or `{component}/{image name}`, from the weakest to the strongest.
///
/// A component is a provider label, such as `infrastructure-aws`, or `cert-manager`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImageOverrides(pub BTreeMap<String, ImageOverride>);

impl ImageOverrides {
    /// Returns the reference that a component uses in place of `image`.
    ///
    /// A reference without registry host means what it means to Docker: `nginx` is `docker.io/library/nginx`. One with a
    /// variable that has no value yet, as `--raw` shows them, passes where no override applies.
    ///
    /// # Errors
    /// The reference before or after the overrides cannot be read.
    pub fn apply(&self, component: &str, image: &str) -> Result<String, InvalidImage> {
        let keys = [
            ALL.to_owned(),
            component.to_owned(),
            format!("{component}/{}", name_of(image)),
        ];
        let mut merged = ImageOverride::default();
        let used: Vec<String> = keys
            .into_iter()
            .filter(|key| self.0.get(key).map(|one| merged.update(one)).is_some())
            .collect();
        if merged.is_empty() && image.contains("${") {
            return Ok(image.to_owned());
        }
        let reference = Reference::parse(image).map_err(|reason| InvalidImage::Original {
            image: image.to_owned(),
            reason,
        })?;
        if merged.is_empty() {
            return Ok(image.to_owned());
        }
        let replaced = reference.replace(&merged);
        match Reference::parse(&replaced) {
            Ok(_) => Ok(replaced),
            Err(reason) => Err(InvalidImage::Overridden {
                image: replaced,
                reason,
                keys: used,
            }),
        }
    }
}

/// An image reference that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidImage {
    /// The manifest has it.
    #[error("couldn't parse image name `{image}`: {reason}")]
    Original {
        /// The reference.
        image: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The overrides make it.
    #[error("the image overrides make `{image}`, which is no image name: {reason}")]
    Overridden {
        /// The reference.
        image: String,
        /// What is wrong.
        reason: &'static str,
        /// Keys of the overrides that were applied.
        keys: Vec<String>,
    },
}

impl Explain for InvalidImage {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Original { image, .. } if image.contains("${") => vec![
                "image overrides apply to this image, and its variables have no values yet when they are not substituted"
                    .into(),
            ],
            Self::Original { .. } => vec![
                "correct the name in the components, or the value of the variable that it comes from"
                    .into(),
            ],
            Self::Overridden { keys, .. } => vec![format!(
                "correct {} in the section `images` of the configuration file",
                keys.iter()
                    .map(|key| format!("`{key}`"))
                    .collect::<Vec<_>>()
                    .join(" or ")
            )],
        }
    }
}

/// The longest repository name, without its registry host.
const MAX_PATH: usize = 255;

/// The parts of a reference, with Docker's defaults filled in.
struct Reference<'a> {
    repository: String,
    name: &'a str,
    tag: Option<&'a str>,
    digest: Option<&'a str>,
}

impl<'a> Reference<'a> {
    /// Takes a reference apart, by the grammar of github.com/distribution/reference.
    fn parse(text: &'a str) -> Result<Self, &'static str> {
        let (text, digest) = split_digest(text);
        let (path, tag) = split_tag(text);
        if let Some(tag) = tag {
            ensure_tag(tag)?;
        }
        if let Some(digest) = digest {
            ensure_digest(digest)?;
        }
        let (host, path) = split_host(path);
        if path.len() > MAX_PATH {
            return Err(
                "the repository name has more than 255 characters behind the registry host",
            );
        }
        ensure_path(path)?;
        // A host with `_` is none, but can be the first part of a path; the grammar knows no better.
        if let Some(host) = host.filter(|host| !is_path_element(host)) {
            ensure_host(host)?;
        }
        let host = host.unwrap_or("docker.io");
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let repository = match folder {
            "" if host == "docker.io" => "docker.io/library".to_owned(),
            "" => host.to_owned(),
            folder => format!("{host}/{folder}"),
        };
        Ok(Self {
            repository,
            name,
            tag,
            digest,
        })
    }

    fn replace(&self, with: &ImageOverride) -> String {
        let or = |new: &'_ str, old: &str| if new.is_empty() { old } else { new }.to_owned();
        let mut text = format!(
            "{}/{}",
            or(with.repository.trim_end_matches('/'), &self.repository),
            or(&with.name, self.name)
        );
        let tag = or(&with.tag, self.tag.unwrap_or_default());
        if !tag.is_empty() {
            text = format!("{text}:{tag}");
        }
        match self.digest {
            Some(digest) => format!("{text}@{digest}"),
            None => text,
        }
    }
}

/// Returns the last path element without tag and digest, of any text.
fn name_of(image: &str) -> &str {
    let (path, _) = split_tag(split_digest(image).0);
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn split_digest(text: &str) -> (&str, Option<&str>) {
    text.split_once('@')
        .map_or((text, None), |(before, digest)| (before, Some(digest)))
}

fn split_tag(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((before, tag)) if !tag.contains('/') => (before, Some(tag)),
        _ => (text, None),
    }
}

/// Splits off the registry host: the first element, when it can be no part of a path on Docker Hub.
fn split_host(path: &str) -> (Option<&str>, &str) {
    match path.split_once('/') {
        Some((host, rest))
            if host.contains(['.', ':'])
                || host == "localhost"
                || host.contains(|c: char| c.is_ascii_uppercase()) =>
        {
            (Some(host), rest)
        }
        _ => (None, path),
    }
}

fn ensure_host(host: &str) -> Result<(), &'static str> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (host, None),
    };
    let label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphanumeric())
            && label.ends_with(|c: char| c.is_ascii_alphanumeric())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_address = name.starts_with('[') && name.ends_with(']');
    if !is_address && !name.split('.').all(label) {
        return Err("the registry host is no host name");
    }
    match port {
        Some(port) if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err("the port of the registry host is no number")
        }
        _ => Ok(()),
    }
}

fn ensure_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        Err("it is empty")
    } else if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Err("the repository name must be lower case")
    } else if !path.split('/').all(is_path_element) {
        Err("a part of the repository name has characters that are not allowed there")
    } else {
        Ok(())
    }
}

/// Lower-case letters and digits, joined by `.`, `_`, `__` or any number of `-`.
fn is_path_element(element: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    element.starts_with(is_word)
        && element.ends_with(is_word)
        && element
            .split(is_word)
            .all(|joint| matches!(joint, "" | "." | "_" | "__") || joint.bytes().all(|b| b == b'-'))
}

fn ensure_tag(tag: &str) -> Result<(), &'static str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let allowed = |byte: u8| is_word(byte) || byte == b'.' || byte == b'-';
    match tag.bytes().next() {
        Some(first) if is_word(first) && tag.len() <= 128 && tag.bytes().all(allowed) => Ok(()),
        _ => Err("the tag must have 1 to 128 letters, digits, `_`, `.` or `-`"),
    }
}

/// The algorithms are those that OCI registers.
fn ensure_digest(digest: &str) -> Result<(), &'static str> {
    let (algorithm, hex) = digest.split_once(':').unwrap_or((digest, ""));
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Err("the algorithm of the digest is none of `sha256`, `sha384`, `sha512`"),
    };
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match hex.len() == length && hex.bytes().all(is_hex) {
        true => Ok(()),
        false => Err(
            "the digest has not as many hexadecimal digits, in lower case, as its algorithm gives",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(entries: &[(&str, [&str; 3])]) -> ImageOverrides {
        let entry = |[repository, name, tag]: [&str; 3]| ImageOverride {
            repository: repository.into(),
            name: name.into(),
            tag: tag.into(),
        };
        ImageOverrides(
            entries
                .iter()
                .map(|(key, fields)| ((*key).to_owned(), entry(*fields)))
                .collect(),
        )
    }

    const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn the_more_specific_override_wins_field_by_field() {
        let overrides = overrides(&[
            ("all", ["mirror.example/all/", "", "v0"]),
            ("infrastructure-x", ["", "", "v1"]),
            ("infrastructure-x/proxy", ["", "other", ""]),
        ]);
        let apply = |component, image| overrides.apply(component, image).unwrap();
        assert_eq!(
            apply("infrastructure-x", "r.io/a/proxy:v9"),
            "mirror.example/all/other:v1"
        );
        assert_eq!(
            apply("infrastructure-x", "r.io/a/b:v9"),
            "mirror.example/all/b:v1"
        );
        assert_eq!(
            apply("cert-manager", "r.io:5000/b"),
            "mirror.example/all/b:v0"
        );
    }

    #[test]
    fn a_digest_stays_and_a_port_is_no_tag() {
        let overrides = overrides(&[("x", ["", "", "v2"])]);
        assert_eq!(
            overrides
                .apply("x", &format!("localhost:5000/a/b@{DIGEST}"))
                .unwrap(),
            format!("localhost:5000/a/b:v2@{DIGEST}")
        );
    }

    #[test]
    fn without_an_override_a_name_stays_as_it_is() {
        let overrides = overrides(&[("other", ["r.io", "", ""]), ("x/y", ["r.io", "", ""])]);
        let long = format!("r.io/{}", "a".repeat(255));
        for image in [
            "nginx:1",
            "${IMAGE}",
            "r.io/${NAME}:v1",
            "docker.io/a/b:1",
            &long,
        ] {
            assert_eq!(overrides.apply("x", image).unwrap(), image);
        }
        for image in ["", "$IMAGE:latest", "A/B:c:d", ".r.io/a:1"] {
            let error = overrides.apply("x", image).unwrap_err();
            assert!(error.hints()[0].starts_with("correct the name"), "{image}");
        }
    }

    #[test]
    fn a_short_name_means_docker_hub() {
        let overrides = overrides(&[("all", ["", "", "2"])]);
        for (image, expected) in [
            ("nginx", "docker.io/library/nginx:2"),
            ("a/b:1", "docker.io/a/b:2"),
            ("docker.io/nginx:1", "docker.io/library/nginx:2"),
            ("localhost/a:1", "localhost/a:2"),
            ("r:5000/a__b/c-d.e:1", "r:5000/a__b/c-d.e:2"),
            ("a_b.local/c:1", "a_b.local/c:2"),
        ] {
            assert_eq!(overrides.apply("x", image).unwrap(), expected);
        }
    }

    #[test]
    fn an_unreadable_name_is_refused() {
        let plain = overrides(&[("all", ["", "", "2"])]);
        for bad in [
            "",
            "${IMAGE}",
            "r.io/A:1",
            "r.io/a:",
            "r.io/a@sha256:12",
            "r.io/a@sha1:0123456789abcdef0123456789abcdef01234567",
            &format!("r.io/a@{}", DIGEST.to_uppercase().replace("SHA", "sha")),
            &format!("r.io/{}", "a".repeat(256)),
            "r.io:x/a",
            "r.io//a",
            "r.io/a/",
            "-r.io/a",
            "r.io/a___b",
            "https://r.io/a",
        ] {
            let error = plain.apply("x", bad).unwrap_err();
            assert!(
                matches!(error, InvalidImage::Original { .. }),
                "{bad}: {error}"
            );
        }
        let url = overrides(&[("x", ["https://r.io", "", ""])]);
        let error = url.apply("x", "r.io/a:1").unwrap_err();
        assert!(error.hints()[0].contains("`x`"), "{:?}", error.hints());
    }
}
