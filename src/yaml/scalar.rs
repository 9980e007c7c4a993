//! What a plain scalar stands for.
//!
//! The tables are those of go-yaml (`resolve.go`): version 2 for manifests, with the booleans of YAML 1.1; version 3 for
//! configuration files. Both know octal numbers by a leading zero and drop underscores in numbers; neither knows numbers
//! of base 60, and dates stay texts.

use super::read::Rules;

/// The meaning of a scalar. `Text` stands for the text as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Above `i64::MAX`.
    Uint(u64),
    /// May be infinite or not a number only when it is written so.
    Float(f64),
    Text,
}

/// Returns the meaning of a plain scalar without a tag.
pub(super) fn resolve(text: &str, rules: Rules) -> Scalar {
    let Some(first) = text.bytes().next() else {
        return Scalar::Null;
    };
    match first {
        b'0'..=b'9' | b'+' | b'-' => word(text).unwrap_or_else(|| number(text)),
        b'.' => word(text).unwrap_or_else(|| finite(text)),
        b'~' | b't' | b'T' | b'f' | b'F' => word(text).unwrap_or(Scalar::Text),
        b'n' | b'N' | b'y' | b'Y' | b'o' | b'O' => word(text)
            .or_else(|| old_boolean(text).filter(|_| rules == Rules::Manifest))
            .unwrap_or(Scalar::Text),
        _ => Scalar::Text,
    }
}

/// Only these spellings count, in YAML 1.1 and 1.2.
fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// Returns the meaning of a plain scalar for the readers that find most in it, words in any case included.
pub(super) fn resolve_any(text: &str) -> Scalar {
    let lower = text.to_ascii_lowercase();
    match resolve(text, Rules::Manifest) {
        Scalar::Text => resolve(&lower, Rules::Manifest),
        meaning => meaning,
    }
}

/// The booleans that YAML 1.2 dropped.
fn old_boolean(text: &str) -> Option<Scalar> {
    Some(Scalar::Bool(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => true,
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => false,
        _ => return None,
    }))
}

fn number(text: &str) -> Scalar {
    let plain = text.replace('_', "");
    if let Some(integer) = integer(&plain).or_else(|| signed_binary(&plain)) {
        return integer;
    }
    if is_decimal(&plain) {
        finite(&plain)
    } else {
        Scalar::Text
    }
}

/// A number that does not fit stays a text.
fn finite(text: &str) -> Scalar {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Scalar::Float(number),
        _ => Scalar::Text,
    }
}

/// Go's `strconv.ParseInt` with base 0, else `ParseUint`, which takes no sign.
fn integer(text: &str) -> Option<Scalar> {
    let (sign, digits) = match text.as_bytes() {
        [sign @ (b'+' | b'-'), ..] => (Some(*sign), &text[1..]),
        _ => (None, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    let signed = match sign {
        Some(b'-') => 0_i64.checked_sub_unsigned(magnitude),
        _ => i64::try_from(magnitude).ok(),
    };
    match (signed, sign) {
        (Some(number), _) => Some(Scalar::Int(number)),
        (None, None) => Some(Scalar::Uint(magnitude)),
        (None, Some(_)) => None,
    }
}

/// `0b-1`: go-yaml reads the rest of a binary number by itself, and takes a sign there.
fn signed_binary(text: &str) -> Option<Scalar> {
    let digits = text.strip_prefix("0b")?;
    i64::from_str_radix(digits, 2).ok().map(Scalar::Int)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal(text: &str) -> bool {
    let unsigned = |text: &str| text.strip_prefix(['+', '-']).unwrap_or(text).to_owned();
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let text = unsigned(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, unsigned(exponent)),
        None => (text.as_str(), "0".to_owned()),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let lacks_digits = exponent.is_empty() || whole.is_empty() && fraction.is_empty();
    !lacks_digits && are_digits(whole) && are_digits(fraction) && are_digits(&exponent)
}

/// Returns the text that a float has as a key: Go's `strconv.FormatFloat(number, 'g', -1, 32)`.
pub(super) fn float_key(number: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "single precision is the rule"
    )]
    let number = number as f32;
    if number.is_nan() {
        return ".nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.into();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("{:e} writes an exponent");
    let exponent: i32 = exponent.parse().expect("{:e} writes a number behind the e");
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_of_manifests_follow_yaml_1_1() {
        let table: &[(&str, Scalar)] = &[
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("NULL", Scalar::Null),
            ("nUll", Scalar::Text),
            ("y", Scalar::Bool(true)),
            ("On", Scalar::Bool(true)),
            ("OFF", Scalar::Bool(false)),
            ("oN", Scalar::Text),
            ("0644", Scalar::Int(420)),
            ("0o644", Scalar::Int(420)),
            ("0x1F", Scalar::Int(31)),
            ("-0x1F", Scalar::Int(-31)),
            ("0b101", Scalar::Int(5)),
            ("0b-1", Scalar::Int(-1)),
            ("1_000", Scalar::Int(1000)),
            ("+5", Scalar::Int(5)),
            ("0", Scalar::Int(0)),
            ("-9223372036854775808", Scalar::Int(i64::MIN)),
            ("18446744073709551615", Scalar::Uint(u64::MAX)),
            (
                "18446744073709551616",
                Scalar::Float(18_446_744_073_709_551_616.0),
            ),
            ("08", Scalar::Float(8.0)),
            ("1.", Scalar::Float(1.0)),
            ("+.5", Scalar::Float(0.5)),
            (".5e3", Scalar::Float(500.0)),
            ("1e3", Scalar::Float(1000.0)),
            ("1e400", Scalar::Text),
            ("12e4567", Scalar::Text),
            (".", Scalar::Text),
            ("-", Scalar::Text),
            ("0x", Scalar::Text),
            ("1:30", Scalar::Text),
            ("2001-01-01", Scalar::Text),
            ("1.2.3", Scalar::Text),
            ("1e", Scalar::Text),
            ("1Gi", Scalar::Text),
            ("v1", Scalar::Text),
            ("<<", Scalar::Text),
        ];
        for (text, meaning) in table {
            assert_eq!(resolve(text, Rules::Manifest), *meaning, "{text}");
        }
    }

    #[test]
    fn configuration_files_have_no_yes_and_no() {
        for text in ["y", "yes", "No", "ON", "off"] {
            assert_eq!(resolve(text, Rules::Config), Scalar::Text, "{text}");
        }
        assert_eq!(resolve("0644", Rules::Config), Scalar::Int(420));
        assert_eq!(resolve("True", Rules::Config), Scalar::Bool(true));
    }

    #[test]
    fn floats_are_keys_as_go_prints_them() {
        let keys = [
            1.0,
            1.1,
            -0.5,
            123_456.0,
            1e6,
            1e21,
            0.000_1,
            0.000_01,
            123_456_789.5,
        ];
        let texts = [
            "1",
            "1.1",
            "-0.5",
            "123456",
            "1e+06",
            "1e+21",
            "0.0001",
            "1e-05",
            "1.2345679e+08",
        ];
        assert_eq!(keys.map(float_key), texts);
    }
}
