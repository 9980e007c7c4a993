//! Values that mean nothing to YAML and still do not do where they are: a word where fields must be, nothing where a key
//! must be.

use std::ops::Range;

use super::culprits::Fault;
use super::remedy::remedy;
use super::{is_risky, places, with_words};
use crate::model::object::parse_objects;
use crate::template::{Rendering, Substitution};

/// Limit on the places that are tried; the text is read again for each and for each of the words.
const MAX_TRIED: usize = 4;

/// One of these does in most places: a text, nothing, a number, a boolean.
const WORDS: [&str; 4] = ["x", "", "1", "true"];

/// Finds the place near the fault with whose value replaced the text could be read, and says how to mend that. For where
/// risky values are not to blame, or not alone.
pub(super) fn misfit<'r>(
    text: &str,
    rendering: &'r Rendering,
    fault: &Fault,
) -> Option<(&'r Substitution<'r>, String)> {
    let reads_with = |word: &'static str, is_it: &dyn Fn(&Substitution) -> bool| {
        let replaced = with_words(text, rendering, &fault.document, |other| {
            let is_risky = is_risky(&text[other.range.clone()]);
            is_it(other).then_some(word).or(is_risky.then_some("x"))
        });
        parse_objects(&replaced).is_ok()
    };
    let nearest = fault.nearest(places(text, rendering));
    let tried = &nearest[..nearest.len().min(MAX_TRIED)];
    let found = |is_it: &dyn Fn(&Substitution, &Substitution) -> bool| {
        tried.iter().find_map(|place| {
            let word = WORDS
                .into_iter()
                .find(|word| reads_with(word, &|other| is_it(other, place)))?;
            Some((*place, remedy_by(text, rendering, place, word)))
        })
    };
    // The value may be at fault at other places, too.
    found(&|other, place| other.range == place.range)
        .or_else(|| found(&|other, place| other.name == place.name))
}

/// Says what to do about a value in whose place a word would do.
fn remedy_by(text: &str, rendering: &Rendering, place: &Substitution, word: &str) -> String {
    let name = place.name;
    if text[place.range.clone()].trim().is_empty() {
        return format!("`{name}` is empty, and something must stand there: set it");
    }
    match word {
        "" if has_line_for_itself(text, &place.range) => format!(
            "the lines around have fields or items: set `{name}` to such lines, as in `key: value`, or to nothing"
        ),
        "x" | "" => remedy(text, rendering, place),
        _ => format!(
            "the tag before it asks for another type: set `{name}` to a value of that type, such as `{word}`"
        ),
    }
}

fn has_line_for_itself(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].trim_end_matches([' ', '\t']);
    let behind = text[range.end..].trim_start_matches([' ', '\t', '\r']);
    (before.is_empty() || before.ends_with('\n')) && (behind.is_empty() || behind.starts_with('\n'))
}
