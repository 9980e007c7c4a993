//! The patterns of the trim operators: `*`, `?`, `[classes]` and `\c`, over bytes.
//!
//! The reference searches greedily and never reconsiders a place that it has accepted for the text between two stars.
//! With characters of several bytes this shows, so a matcher that tries everything would be a different language.

use super::characters::first_character;

/// A pattern, cut at its stars.
#[derive(Debug)]
pub(super) struct Pattern<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    /// Whether a star stands before it.
    after_star: bool,
    /// Without stars outside of classes; empty only for a star at the end.
    pattern: &'a [u8],
}

impl<'a> Pattern<'a> {
    pub fn new(mut pattern: &'a [u8]) -> Self {
        let mut parts = Vec::new();
        while !pattern.is_empty() {
            let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
            let rest = &pattern[stars..];
            let (part, rest) = rest.split_at(end_of_part(rest));
            parts.push(Part {
                after_star: stars > 0,
                pattern: part,
            });
            pattern = rest;
        }
        Self { parts }
    }

    /// Tells whether the whole candidate matches. A faulty pattern matches nothing.
    pub fn matches(&self, candidate: &[u8]) -> bool {
        let mut rest = candidate;
        for (index, part) in self.parts.iter().enumerate() {
            if part.pattern.is_empty() {
                return true;
            }
            let last = index + 1 == self.parts.len();
            match part.find(rest, last) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        rest.is_empty()
    }
}

impl Part<'_> {
    /// Returns what is left of the candidate behind the first acceptable place of the part.
    ///
    /// At the current place the last part must use the candidate up, and another part may only use it up altogether or
    /// leave something for those that follow, which comes to the same; elsewhere only after a star.
    fn find<'c>(&self, candidate: &'c [u8], last: bool) -> Option<&'c [u8]> {
        let places = if self.after_star { candidate.len() } else { 0 };
        (0..=places)
            .filter_map(|place| match_at(self.pattern, &candidate[place..]))
            .find(|rest| rest.is_empty() || !last)
    }
}

/// Returns where the next star outside of a class is. Classes are told by their brackets alone.
fn end_of_part(pattern: &[u8]) -> usize {
    let mut in_class = false;
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'*' if !in_class => return at,
            _ => {}
        }
        at += 1;
    }
    pattern.len()
}

/// Matches a pattern without stars at the front of the candidate and returns the rest of the candidate.
fn match_at<'c>(mut pattern: &[u8], mut candidate: &'c [u8]) -> Option<&'c [u8]> {
    while let Some((&element, after)) = pattern.split_first() {
        let (character, length) = first_character(candidate)?;
        match element {
            b'[' => {
                let (matches, after_class) = class(after, character)?;
                if !matches {
                    return None;
                }
                (pattern, candidate) = (after_class, &candidate[length..]);
            }
            b'?' => (pattern, candidate) = (after, &candidate[length..]),
            _ => {
                let literal = if element == b'\\' { after } else { pattern };
                if literal.first()? != &candidate[0] {
                    return None;
                }
                (pattern, candidate) = (&literal[1..], &candidate[1..]);
            }
        }
    }
    Some(candidate)
}

/// Reads a class behind its `[`: whether the character is in it, and the pattern behind its `]`; `None` at a fault.
fn class(pattern: &[u8], character: Option<char>) -> Option<(bool, &[u8])> {
    let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
    let (negated, mut pattern) = match pattern.strip_prefix(b"^") {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let mut found = false;
    let mut members = 0;
    loop {
        if let Some(rest) = pattern.strip_prefix(b"]")
            && members > 0
        {
            return Some((found != negated, rest));
        }
        let (low, rest) = member(pattern)?;
        let (high, rest) = match rest.strip_prefix(b"-") {
            Some(rest) => member(rest)?,
            None => (low, rest),
        };
        found |= (low..=high).contains(&character);
        members += 1;
        pattern = rest;
    }
}

/// Reads a character of a class; something must follow it.
fn member(pattern: &[u8]) -> Option<(char, &[u8])> {
    let pattern = match pattern.first()? {
        b'-' | b']' => return None,
        b'\\' => &pattern[1..],
        _ => pattern,
    };
    let (character, length) = first_character(pattern)?;
    let rest = &pattern[length..];
    (!rest.is_empty()).then_some((character?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, candidate: &str) -> bool {
        Pattern::new(pattern.as_bytes()).matches(candidate.as_bytes())
    }

    #[test]
    fn stars_question_marks_and_classes_match() {
        for (pattern, candidate) in [
            ("*", ""),
            ("h*o", "hello"),
            ("h?ll?", "hello"),
            ("*/*", "a/b/c"),
            ("[a-c]*", "b"),
            ("[^a]", "é"),
            ("[\\]]", "]"),
            ("[!b]", "!"),
            ("\\*", "*"),
            ("*[*]", "x*"),
            ("?", "é"),
        ] {
            assert!(matches(pattern, candidate), "{pattern} {candidate}");
        }
        for (pattern, candidate) in [
            ("", "a"),
            ("h*l", "hello"),
            ("?", ""),
            ("[^a]", "a"),
            ("\\*", "a"),
        ] {
            assert!(!matches(pattern, candidate), "{pattern} {candidate}");
        }
    }

    #[test]
    fn faulty_patterns_match_nothing() {
        for pattern in [
            "[", "[]", "[]a]", "[a", "[a-", "[a-]", "[-a]", "a\\", "[\\", "*[",
        ] {
            for candidate in ["", "a", "]", "-", "[", "a]"] {
                assert!(!matches(pattern, candidate), "{pattern} {candidate}");
            }
        }
        assert!(!Pattern::new(b"[\xFF]").matches(b"\xFF"));
    }

    #[test]
    fn an_accepted_place_is_not_reconsidered() {
        // The first `?` takes the whole character, though from its second byte on there would be enough for all.
        assert!(!matches("*?*?", "日"));
        assert!(!matches("*?*?*?", "日a"));
        assert!(Pattern::new(b"*?*?").matches(&"日".as_bytes()[..2]));
    }
}
