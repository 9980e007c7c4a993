//! Characters as the template language sees them: names, letter case, bytes that are no character.

use icu_properties::{CodePointMapData, props::GeneralCategory};

/// Tells whether a name may contain the character: general category L* or Nd, or `_`.
///
/// [`char::is_alphabetic`] and [`char::is_numeric`] are both wider.
pub(super) fn is_name(character: char) -> bool {
    if character.is_ascii() {
        return is_ascii_name(character as u8);
    }
    matches!(
        CodePointMapData::<GeneralCategory>::new().get(character),
        GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter
            | GeneralCategory::DecimalNumber
    )
}

/// [`is_name`] for a byte that is a character.
pub(super) fn is_ascii_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the character at the front of `bytes` and its length; without a character when the first byte begins none.
pub(super) fn first_character(bytes: &[u8]) -> Option<(Option<char>, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((Some(first as char), 1));
    }
    // A leading byte tells the length by the number of its leading ones; from_utf8 checks the rest.
    let length = first.leading_ones() as usize;
    let character = bytes
        .get(..length)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .and_then(|text| text.chars().next());
    Some((character, character.map_or(1, char::len_utf8)))
}

/// Returns the bytes with their characters in reverse order; every byte that is no character becomes U+FFFD.
pub(super) fn reversed(bytes: &[u8]) -> Vec<u8> {
    let mut characters = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        characters.push_str(chunk.valid());
        characters.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    characters.chars().rev().collect::<String>().into_bytes()
}

/// Returns the simple upper case mapping (one character to one), where [`char::to_uppercase`] has the full mapping.
pub(super) fn simple_uppercase(character: char) -> char {
    let mut full = character.to_uppercase();
    match (full.next(), full.next()) {
        (Some(upper), None) => upper,
        _ => several_to_one(character),
    }
}

/// Returns the simple lower case mapping. Only `İ` has a longer full mapping.
pub(super) fn simple_lowercase(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

/// The simple mapping of a character whose full upper case is more than one character (UnicodeData.txt, field 12): the
/// Greek vowels with iota subscript have a title case character of their own, the others none.
fn several_to_one(character: char) -> char {
    let distance = match character {
        '\u{1F80}'..='\u{1F87}' | '\u{1F90}'..='\u{1F97}' | '\u{1FA0}'..='\u{1FA7}' => 8,
        '\u{1FB3}' | '\u{1FC3}' | '\u{1FF3}' => 9,
        _ => 0,
    };
    char::from_u32(u32::from(character) + distance).unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_decimal_digits_and_underscores() {
        for good in ['a', 'Z', '0', '_', 'é', '日', '٣', 'ǅ', 'ʰ'] {
            assert!(is_name(good), "{good:?}");
        }
        for bad in ['-', '.', ' ', '$', '\u{301}', 'Ⅷ', '²', '‿', '\u{A0}'] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn case_mapping_is_one_to_one() {
        let upper = |text: &str| text.chars().map(simple_uppercase).collect::<String>();
        let lower = |text: &str| text.chars().map(simple_lowercase).collect::<String>();
        assert_eq!(upper("straße ŉ ﬁ ᾳ ῳ ᾀ é"), "STRAßE ŉ ﬁ ᾼ ῼ ᾈ É");
        assert_eq!(lower("İΣ ΑΣ"), "iσ ασ");
    }

    #[test]
    fn a_byte_that_begins_no_character_stands_for_itself() {
        assert_eq!(first_character("é".as_bytes()), Some((Some('é'), 2)));
        assert_eq!(first_character(b"\xC3"), Some((None, 1)));
        assert_eq!(first_character(b"\xC3a"), Some((None, 1)));
        assert_eq!(first_character(b"\xFF"), Some((None, 1)));
        assert_eq!(first_character(b"\x80"), Some((None, 1)));
        assert_eq!(first_character(b""), None);
        assert_eq!(
            reversed(b"a\xE6\x97b\xC3\xA9"),
            "éb\u{FFFD}\u{FFFD}a".as_bytes()
        );
    }
}
