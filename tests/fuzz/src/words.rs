//! Texts made of words. A fuzzer that changes single bytes rarely hits upon `${A:-b}`; one that strings words together
//! does.

use arbitrary::{Arbitrary, Result, Unstructured};

/// Makes a text of all the input, or as much as the limit allows: a byte for each word, and a byte that is no word's
/// number stands for the byte after it.
pub fn text(input: &mut Unstructured<'_>, words: &[&str], limit: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while let Ok([choice]) = input.bytes(1)
        && text.len() < limit
    {
        match words.get(usize::from(*choice)) {
            Some(word) => text.extend_from_slice(word.as_bytes()),
            None => text.extend_from_slice(input.bytes(1).unwrap_or_default()),
        }
    }
    text
}

/// Makes a text of a few words, for one of several in a row. Bytes that are no characters become U+FFFD.
pub fn short_text(input: &mut Unstructured<'_>, words: &[&str]) -> Result<String> {
    let length = usize::from(u8::arbitrary(input)? % 16);
    let mut part = Unstructured::new(input.bytes(length.min(input.len()))?);
    Ok(String::from_utf8_lossy(&text(&mut part, words, usize::MAX)).into_owned())
}
