//! Takes secrets out of what the API server says, which likes to quote the value that it does not want.

/// In place of a value.
const HIDDEN: &str = "[redacted]";
/// Shorter values are no secrets, and would be found in every other word.
const SHORTEST: usize = 4;
/// What goes before a value that is quoted.
const BEFORE_VALUE: &str = " value: ";

/// Returns a message on one line without the secrets; of a secret field, without any value.
pub(super) fn redact(message: &str, secrets: &[String], is_secret: bool) -> String {
    let mut text = message.to_owned();
    if is_secret {
        text = without_value(&text);
    }
    let mut secrets: Vec<&str> = secrets.iter().map(|secret| secret.trim()).collect();
    secrets.retain(|secret| secret.len() >= SHORTEST);
    // A secret may be part of another one.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in secrets {
        let escaped = serde_json::Value::from(secret).to_string();
        let inside_quotes = &escaped[1..escaped.len() - 1];
        text = text.replace(secret, HIDDEN).replace(inside_quotes, HIDDEN);
    }
    crate::cluster::one_line(&text)
}

/// Takes out what follows `Invalid value: ` and its like: a text in quotes, or else everything, as the end of a map or list
/// cannot be told from text behind it.
fn without_value(message: &str) -> String {
    let Some((before, value)) = message.split_once(BEFORE_VALUE) else {
        return message.to_owned();
    };
    let after = match value.strip_prefix('"') {
        Some(quoted) => end_of_quotes(quoted),
        None => "",
    };
    format!("{before}{BEFORE_VALUE}{HIDDEN}{}", without_value(after))
}

/// Returns what follows the quote that is not escaped.
fn end_of_quotes(quoted: &str) -> &str {
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '"' => return &quoted[at + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_wherever_it_is_quoted() {
        let secrets = [
            "hunter2".to_owned(),
            "line\n\"two\"".to_owned(),
            "x".to_owned(),
            "hunter".to_owned(),
        ];
        for (message, expected) in [
            (
                "Invalid value: \"hunter2\": no x",
                "Invalid value: \"[redacted]\": no x",
            ),
            (
                "webhook: \"a hunter2 b\" is bad",
                "webhook: \"a [redacted] b\" is bad",
            ),
            ("got \"line\\n\\\"two\\\"\"", "got \"[redacted]\""),
            ("got line\n\"two\"\nend", "got [redacted] end"),
        ] {
            assert_eq!(redact(message, &secrets, false), expected);
        }
    }

    #[test]
    fn of_a_secret_field_no_value_is_shown() {
        for (message, expected) in [
            (
                r#"Invalid value: "a\"b": too short"#,
                "Invalid value: [redacted]: too short",
            ),
            (
                r#"Unsupported value: "a": supported values: "b""#,
                r#"Unsupported value: [redacted]: supported values: "b""#,
            ),
            (
                r#"Invalid value: {"a":"b: c"}: no"#,
                "Invalid value: [redacted]",
            ),
            ("Required value", "Required value"),
        ] {
            assert_eq!(redact(message, &[], true), expected);
        }
    }
}
