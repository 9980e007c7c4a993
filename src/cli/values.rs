//! Values as Go reads them from a command line, since that is what clusterctl's users type.

use std::fmt;
use std::time::Duration;

/// A text that is not a value of the type that the flag wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// No bool.
    #[error("expected `true` or `false`")]
    Bool,
    /// No whole number.
    #[error("expected a whole number")]
    Integer,
    /// A whole number that 64 bits do not hold.
    #[error("the number is out of range")]
    Range,
    /// No number of things.
    #[error("expected a whole number from 1 to 1000")]
    Count,
    /// No length of time.
    #[error("expected a duration, e.g. `15s`, `1m30s` or `500ms`")]
    Duration,
}

/// Reads a bool as Go's `strconv.ParseBool` does.
///
/// # Errors
/// It is none.
pub fn parse_bool(text: &str) -> Result<bool, ValueError> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(ValueError::Bool),
    }
}

/// Reads an integer as Go's `strconv.ParseInt` does with base 0: a sign, `0x`, `0o`, `0b`, a leading 0 for octal, and
/// single underscores between digits.
///
/// # Errors
/// It is none, or too large.
pub fn parse_integer(text: &str) -> Result<i64, ValueError> {
    let (negative, number) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (base, digits) = split_base(number);
    if !underscores_separate_digits(number, digits) {
        return Err(ValueError::Integer);
    }
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return Err(ValueError::Integer);
    }
    let magnitude = i128::from_str_radix(&digits, base).map_err(|_| ValueError::Range)?;
    let value = if negative { -magnitude } else { magnitude };
    i64::try_from(value).map_err(|_| ValueError::Range)
}

/// Reads how many of something there are to be.
///
/// # Errors
/// It is no number, or an absurd one.
pub fn parse_count(text: &str) -> Result<usize, ValueError> {
    match parse_integer(text) {
        Ok(count @ 1..=1000) => Ok(usize::try_from(count).expect("it is small")),
        _ => Err(ValueError::Count),
    }
}

/// Reads a duration as Go's `time.ParseDuration` does, but none below zero.
///
/// # Errors
/// It is none, or too long.
pub fn parse_duration(text: &str) -> Result<Duration, ValueError> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(ValueError::Duration);
    }
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let (part, after) = split_duration(rest).ok_or(ValueError::Duration)?;
        sum = sum.checked_add(part).ok_or(ValueError::Range)?;
        rest = after;
    }
    Ok(sum)
}

/// Splits `1.5h30m` into one and a half hours and `30m`.
fn split_duration(text: &str) -> Option<(Duration, &str)> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let (number, rest) = text.split_at(text.find(|c| !is_number(c))?);
    let (unit, rest) = rest.split_at(rest.find(is_number).unwrap_or(rest.len()));
    let seconds = match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    let part = Duration::try_from_secs_f64(number * seconds).ok()?;
    Some((part, rest))
}

/// Returns the base that a number's prefix tells, and its digits. The 0 of an octal number stays, it is a digit too.
fn split_base(number: &str) -> (u32, &str) {
    let lower = number.get(..2).unwrap_or_default().to_ascii_lowercase();
    match lower.as_str() {
        "0x" => (16, &number[2..]),
        "0o" => (8, &number[2..]),
        "0b" => (2, &number[2..]),
        _ if number.starts_with('0') => (8, number),
        _ => (10, number),
    }
}

/// Tells whether each underscore stands between two digits, or between a base prefix and a digit.
fn underscores_separate_digits(number: &str, digits: &str) -> bool {
    let has_prefix = digits.len() < number.len();
    !(digits.contains("__") || digits.ends_with('_') || (digits.starts_with('_') && !has_prefix))
}

/// Returns the text of a flag unless it is empty: `--flavor ""` means no flavor, since scripts hand variables on.
pub fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// Returns the list without empty elements, see [`given`].
pub fn given_list(list: Vec<String>) -> Vec<String> {
    list.into_iter().filter(|text| !text.is_empty()).collect()
}

/// Displays words as `a`, `b`, `c`.
pub struct Quoted<'a>(pub &'a [String]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<String> = self.0.iter().map(|word| format!("`{word}`")).collect();
        formatter.write_str(&quoted.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bools_are_those_of_go() {
        for text in ["1", "t", "T", "true", "TRUE", "True"] {
            assert_eq!(parse_bool(text), Ok(true), "{text}");
        }
        for text in ["0", "f", "F", "false", "FALSE", "False"] {
            assert_eq!(parse_bool(text), Ok(false), "{text}");
        }
        for text in ["", "yes", "no", "tRUE", "on", "2", " true"] {
            assert_eq!(parse_bool(text), Err(ValueError::Bool), "{text}");
        }
    }

    #[test]
    fn durations_are_those_of_go() {
        let table = [
            ("0", 0),
            ("15s", 15_000),
            ("+2s", 2_000),
            ("1m30s", 90_000),
            ("1.5h", 5_400_000),
            (".5s", 500),
            ("1.s", 1_000),
            ("500ms", 500),
            ("2000000ns", 2),
            ("24h0m0s", 86_400_000),
        ];
        for (text, milliseconds) in table {
            let duration = parse_duration(text).map(|duration| duration.as_millis());
            assert_eq!(duration, Ok(milliseconds), "{text}");
        }
        for text in [
            "", "+", "-1s", "15", "s", "1 s", "1d", "1s2", ".s", "1..2s", "é", "1e3s", "NaNs",
        ] {
            assert_eq!(parse_duration(text), Err(ValueError::Duration), "{text}");
        }
    }

    #[test]
    fn a_count_is_at_least_one() {
        assert_eq!(parse_count("0x10"), Ok(16));
        for text in ["0", "-1", "1001", "many", "99999999999999999999"] {
            assert_eq!(parse_count(text), Err(ValueError::Count), "{text}");
        }
    }

    #[test]
    fn integers_are_those_of_go() {
        let table = [
            ("0", 0),
            ("-0", 0),
            ("+3", 3),
            ("-3", -3),
            ("010", 8),
            ("0_10", 8),
            ("0x1F", 31),
            ("0X1f", 31),
            ("0o17", 15),
            ("0b101", 5),
            ("0x_1", 1),
            ("1_000", 1000),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ];
        for (text, value) in table {
            assert_eq!(parse_integer(text), Ok(value), "{text}");
        }
        for text in [
            "", "-", "+", "_1", "1_", "1__0", "0x", "0x_", "08", "1.5", "1e3", " 1", "--1", "0b2",
            "a", "é",
        ] {
            assert_eq!(parse_integer(text), Err(ValueError::Integer), "{text}");
        }
        for text in [
            "9223372036854775808",
            "-9223372036854775809",
            &"9".repeat(60),
        ] {
            assert_eq!(parse_integer(text), Err(ValueError::Range), "{text}");
        }
    }
}
