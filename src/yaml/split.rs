//! From a manifest to the texts of its documents, before anything is parsed.

use super::error::{Error, Place, Problem};

/// The text between two separators.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub text: &'a str,
    /// The line of the whole text that it begins on, from 1.
    pub line: usize,
}

/// Cuts at lines that begin with `---`, as the readers of Kubernetes do (apimachinery, `util/yaml/decoder.go`): such a line
/// is left out, unless nothing is before it.
///
/// On such a line only blanks and a comment may follow, else the item is the line's number, and the last one.
pub(super) fn split(text: &str) -> impl Iterator<Item = Result<Part<'_>, usize>> {
    let mut rest = Some((text, 1));
    std::iter::from_fn(move || {
        let (text, line) = rest.take()?;
        let mut from = 0;
        loop {
            let Some(separator) = next_separator(text, from) else {
                return Some(Ok(Part { text, line }));
            };
            let separator_line = line + text[..separator.start].matches('\n').count();
            let behind = text[separator.start + 3..separator.end].trim();
            if !(behind.is_empty() || behind.starts_with('#')) {
                return Some(Err(separator_line));
            }
            if separator.start == 0 {
                from = separator.end;
                continue;
            }
            rest = Some((&text[separator.end..], separator_line + 1));
            let text = &text[..separator.start];
            return Some(Ok(Part { text, line }));
        }
    })
}

/// The range of the next line that begins with `---`, with its line end; the line at `from` is the first one to look at.
fn next_separator(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let start = if text[from..].starts_with("---") {
        from
    } else {
        from + text[from..].find("\n---")? + 1
    };
    let end = text[start..]
        .find('\n')
        .map_or(text.len(), |length| start + length + 1);
    Some(start..end)
}

/// Fails at the first character that YAML does not allow, which a parser might take for the end of the text.
pub(super) fn ensure_printable(text: &str) -> Result<(), Error> {
    let Some((offset, character)) = text
        .char_indices()
        .find(|(_, character)| is_forbidden(*character))
    else {
        return Ok(());
    };
    let before = &text[..offset];
    let place = Place {
        line: before.matches('\n').count() + 1,
        column: before
            .chars()
            .rev()
            .take_while(|character| *character != '\n')
            .count()
            + 1,
    };
    Err(Error::in_config(
        place.fault(Problem::ControlCharacter(character.into())),
    ))
}

/// The complement of YAML's c-printable (specification 1.2.2, section 5.1; the same in 1.1).
fn is_forbidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F' | '\x7F'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<Result<(&str, usize), usize>> {
        split(text)
            .map(|part| part.map(|part| (part.text, part.line)))
            .collect()
    }

    #[test]
    fn documents_are_cut_at_separators() {
        assert_eq!(parts(""), [Ok(("", 1))]);
        assert_eq!(parts("a: 1"), [Ok(("a: 1", 1))]);
        assert_eq!(
            parts("---\na: 1\n--- # two\r\nb: |\n  ---\n---"),
            [
                Ok(("---\na: 1\n", 1)),
                Ok(("b: |\n  ---\n", 4)),
                Ok(("", 7))
            ]
        );
        assert_eq!(
            parts("---\n---# x\na: 1\n---\n---# y\nb: 1\n"),
            [
                Ok(("---\n", 1)),
                Ok(("a: 1\n", 3)),
                Ok(("---# y\nb: 1\n", 5))
            ]
        );
    }

    #[test]
    fn nothing_but_a_comment_may_follow_a_separator() {
        assert_eq!(parts("a: 1\n--- x\nb: 1"), [Err(2)]);
        assert_eq!(parts("----"), [Err(1)]);
    }

    #[test]
    fn control_characters_are_found_by_line_and_column() {
        let error = ensure_printable("a: é\nb: é\u{7}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 5));
        assert_eq!(ensure_printable("\t\r\n\u{85}\u{A0}\u{FEFF}😀"), Ok(()));
    }
}
