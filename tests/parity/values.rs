//! Values for the variables of a text: from the table, else made from the variable's name, so that texts that nobody
//! here has seen can be rendered.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::{Map, Value};

const TABLE: &str = include_str!("../fixtures/parity/variables.yaml");

/// Words of a name that say what kind of value fits; the last one in the name that is here counts.
const WORDS: [(&[&str], &str); 6] = [
    (
        &[
            "COUNT", "REPLICAS", "SIZE", "GB", "MB", "CORES", "SOCKETS", "CPU", "OCPUS", "PREFIX",
        ],
        "24",
    ),
    (&["PORT", "ASN"], "6443"),
    (&["CIDR", "BLOCK"], "10.96.0.0/12"),
    (&["IP", "GATEWAY", "HOST", "ADDRESS"], "10.0.0.9"),
    (&["B64", "BASE64", "DATA"], "dmFsdWU="),
    (&["ENABLED", "ENABLE", "INSECURE", "DISABLE"], "true"),
];

/// Scalars that readers of YAML take for one thing or for another, and texts that have to be quoted when written.
const AWKWARD: [&str; 44] = [
    "0755",
    "0o17",
    "0x1F",
    "0b101",
    "1_000",
    "1e3",
    "1E-3",
    "-0",
    "+1",
    "1.0",
    "1.50",
    ".5",
    "5.",
    ".inf",
    "-.INF",
    ".nan",
    "12:30:45",
    "190:20:30",
    "2024-01-01",
    "2024-01-01T10:00:00Z",
    "9007199254740993",
    "18446744073709551616",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "N",
    "true",
    "False",
    "null",
    "Null",
    "~",
    "=",
    "<<",
    "\"quoted\"",
    "it's",
    "a#b",
    "a # remark",
    "a:b",
    "",
    "Grüße – ✓",
    "v1.36.0",
    "-1.5e-7",
];

/// Returns the table, and for variables without default that it lacks a value that suits their name.
pub fn plain(text: &str) -> Result<Map<String, Value>> {
    let mut values: BTreeMap<String, String> = serde_yaml::from_str(TABLE)?;
    for (name, _) in references(text).into_iter().filter(|(_, bare)| *bare) {
        let value = suitable(name);
        values.entry(name.to_owned()).or_insert(value);
    }
    Ok(values.into_iter().map(|(k, v)| (k, v.into())).collect())
}

/// Returns awkward values for all variables, those with a default included.
pub fn awkward(text: &str) -> Map<String, Value> {
    let names: BTreeSet<&str> = references(text).into_iter().map(|(name, _)| name).collect();
    let choose = |name: &str| AWKWARD[hash(name) % AWKWARD.len()];
    names
        .into_iter()
        // `generate cluster` checks what these are set to.
        .filter(|name| !name.ends_with("_MACHINE_COUNT"))
        .map(|name| (name.to_owned(), choose(name).into()))
        .collect()
}

fn suitable(name: &str) -> String {
    let of_word = |word: &str| {
        let found = WORDS.iter().find(|(words, _)| words.contains(&word));
        found.map(|(_, value)| (*value).to_owned())
    };
    name.rsplit('_')
        .find_map(of_word)
        .unwrap_or_else(|| format!("value-of-{}", name.to_lowercase().replace('_', "-")))
}

/// Returns the names that follow `${`, and whether they need a value: an empty default is none.
fn references(text: &str) -> Vec<(&str, bool)> {
    text.split("${")
        .skip(1)
        .map(|rest| {
            let rest = rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
            let default = ["=", ":=", ":-"]
                .into_iter()
                .find_map(|sign| rest.strip_prefix(sign));
            (name, default.is_none_or(|text| text.starts_with('}')))
        })
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

/// The same on every machine, unlike the standard library's: FNV-1a.
fn hash(name: &str) -> usize {
    let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, add) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_without_default_get_a_value_that_suits_their_name() {
        let text = "${A_PORT} ${ B } ${C:=1} ${D%.*} ${E:0:3} ${C_IP=${F_CIDR}} ${G:=}";
        let values = plain(text).unwrap();
        let value = |name: &str| values.get(name).and_then(Value::as_str);
        assert_eq!(value("A_PORT"), Some("6443"));
        assert_eq!(value("B"), Some("value-of-b"));
        assert_eq!(value("C"), None);
        assert_eq!(value("D"), Some("value-of-d"));
        assert_eq!(value("E"), Some("value-of-e"));
        assert_eq!(value("C_IP"), None);
        assert_eq!(value("F_CIDR"), Some("10.96.0.0/12"));
        assert_eq!(value("G"), Some("value-of-g"));
        let all: Vec<String> = awkward(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(all, ["A_PORT", "B", "C", "C_IP", "D", "E", "F_CIDR", "G"]);
    }
}
