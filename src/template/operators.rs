//! The operators that take more than a line. They work on bytes, and may cut characters in two.

use std::borrow::Cow;

use memchr::memmem;

use super::characters::{reversed, simple_lowercase, simple_uppercase};
use super::error::{EvaluationError, MAX_RESULT};
use super::pattern::Pattern;
use super::syntax::{Case, End, Extent, Reach, Replace};

/// Fails for a result that is longer than [`MAX_RESULT`].
pub(super) fn ensure_reasonable(length: usize) -> Result<(), EvaluationError> {
    if length > MAX_RESULT {
        return Err(EvaluationError::TooLong);
    }
    Ok(())
}

/// `${V^}` `${V^^}` `${V,}` `${V,,}`: simple case mapping, free of locale and context.
pub(super) fn change_case(case: Case, extent: Extent, value: &str, output: &mut Vec<u8>) {
    let map = match case {
        Case::Upper => simple_uppercase,
        Case::Lower => simple_lowercase,
    };
    let mut characters = value.chars();
    let changed: String = match extent {
        Extent::All => characters.by_ref().map(map).collect(),
        Extent::First => characters.by_ref().take(1).map(map).collect(),
    };
    output.extend_from_slice(changed.as_bytes());
    output.extend_from_slice(characters.as_str().as_bytes());
}

/// `${V:offset}` `${V:offset:length}`; the whole value when a number is none or does not fit.
///
/// A negative offset counts from the end. A negative length is an error, except where the end that it gives (by
/// arithmetic that wraps around) is that of the value or beyond.
pub(super) fn substring<'a>(
    value: &'a [u8],
    offset: &[u8],
    length: Option<&[u8]>,
) -> Result<&'a [u8], EvaluationError> {
    let size = i64::try_from(value.len()).expect("memory is smaller");
    let Some(offset) = decimal(offset) else {
        return Ok(value);
    };
    let start = if offset < 0 {
        (size + offset).max(0)
    } else {
        offset
    };
    let end = match length.map(decimal) {
        None => size,
        Some(None) => return Ok(value),
        Some(Some(length)) => start.wrapping_add(length).min(size),
    };
    if end >= size {
        let start = usize::try_from(start.min(size)).expect("not negative");
        return Ok(&value[start..]);
    }
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end => Ok(&value[start..end]),
        _ => Err(EvaluationError::NegativeLength),
    }
}

/// A signed decimal number of 64 bits: sign and digits only.
fn decimal(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// `${V/p/r}` `${V//p/r}` `${V/#p/r}` `${V/%p/r}`: literal texts. Without a replacement the last two do nothing, whereas
/// the first two delete.
pub(super) fn replace(
    replace: Replace,
    value: &str,
    pattern: &[u8],
    replacement: Option<&[u8]>,
    output: &mut Vec<u8>,
) -> Result<(), EvaluationError> {
    let bytes = value.as_bytes();
    let matches: Vec<usize> = match replace {
        Replace::All if pattern.is_empty() => {
            let places = value.char_indices().map(|(place, _)| place);
            places.chain([value.len()]).collect()
        }
        Replace::All => memmem::find_iter(bytes, pattern).collect(),
        Replace::First => memmem::find(bytes, pattern).into_iter().collect(),
        Replace::Prefix if replacement.is_some() && bytes.starts_with(pattern) => vec![0],
        Replace::Suffix if replacement.is_some() && bytes.ends_with(pattern) => {
            vec![bytes.len() - pattern.len()]
        }
        Replace::Prefix | Replace::Suffix => Vec::new(),
    };
    let replacement = replacement.unwrap_or_default();
    ensure_reasonable(
        bytes
            .len()
            .saturating_add(matches.len().saturating_mul(replacement.len())),
    )?;
    let mut copied = 0;
    for place in matches {
        output.extend_from_slice(&bytes[copied..place]);
        output.extend_from_slice(replacement);
        copied = place + pattern.len();
    }
    output.extend_from_slice(&bytes[copied..]);
    Ok(())
}

/// `${V#p}` `${V##p}` `${V%p}` `${V%%p}`: takes a matching end off.
///
/// The end is matched by reversing value and pattern, which spoils classes and escapes in the pattern, and characters
/// that the pattern cuts in two.
pub(super) fn trim<'a>(end: End, reach: Reach, value: &'a [u8], pattern: &[u8]) -> Cow<'a, [u8]> {
    match end {
        End::Front => {
            let cut = matching_prefix(reach, value, pattern);
            Cow::Borrowed(&value[cut..])
        }
        End::Back => {
            let value = reversed(value);
            let cut = matching_prefix(reach, &value, &reversed(pattern));
            Cow::Owned(reversed(&value[cut..]))
        }
    }
}

/// Returns the length of the prefix that matches, 0 when none does; the empty prefix is not tried.
fn matching_prefix(reach: Reach, value: &[u8], pattern: &[u8]) -> usize {
    let pattern = Pattern::new(pattern);
    let matches = |end: &usize| pattern.matches(&value[..*end]);
    let mut ends = 1..=value.len();
    let found = match reach {
        Reach::Shortest => ends.find(matches),
        Reach::Longest => ends.rev().find(matches),
    };
    found.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn substring_of_hello(offset: &str, length: Option<&str>) -> Option<&'static str> {
        let result = substring(b"hello", offset.as_bytes(), length.map(str::as_bytes)).ok()?;
        Some(std::str::from_utf8(result).unwrap())
    }

    #[test]
    fn substrings_count_bytes_and_forgive_what_is_no_number() {
        assert_eq!(substring_of_hello("1", None), Some("ello"));
        assert_eq!(substring_of_hello("-2", None), Some("lo"));
        assert_eq!(substring_of_hello("-9", None), Some("hello"));
        assert_eq!(substring_of_hello("9", None), Some(""));
        assert_eq!(substring_of_hello("+1", Some("3")), Some("ell"));
        assert_eq!(substring_of_hello("9", Some("1")), Some(""));
        for not_a_number in ["", "x", " 1", "0x1", "1_0", "9223372036854775808"] {
            assert_eq!(substring_of_hello(not_a_number, Some("-1")), Some("hello"));
            assert_eq!(substring_of_hello("1", Some(not_a_number)), Some("hello"));
        }
    }

    #[test]
    fn a_substring_cannot_end_before_it_begins() {
        assert_eq!(substring_of_hello("1", Some("-1")), None);
        assert_eq!(substring_of_hello("9", Some("-5")), None);
        assert_eq!(substring_of_hello("9", Some("-4")), Some(""));
        assert_eq!(substring_of_hello("1", Some("9223372036854775807")), None);
    }

    #[test]
    fn an_empty_pattern_is_between_all_characters() {
        let replaced = |kind, pattern: &str| {
            let mut output = Vec::new();
            replace(kind, "éa", pattern.as_bytes(), Some(b"-"), &mut output).unwrap();
            String::from_utf8(output).unwrap()
        };
        assert_eq!(replaced(Replace::All, ""), "-é-a-");
        assert_eq!(replaced(Replace::First, ""), "-éa");
        assert_eq!(replaced(Replace::Prefix, ""), "-éa");
        assert_eq!(replaced(Replace::Suffix, ""), "éa-");
        assert_eq!(replaced(Replace::Suffix, "a"), "é-");
    }
}
