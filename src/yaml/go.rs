//! Where the scanner of go-yaml v2 sees something else in a text than the parser here, which follows YAML 1.2.
//!
//! Tabs have a module of their own, see `tabs`.

use std::borrow::Cow;

use granit_parser::{ErrorKind, ScalarStyle};

use super::error::{Fault, Place, Problem};

/// A change of a text that means nothing to go-yaml, and something to the parser. The number is a byte of the text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Edit {
    /// A blank before the `#` there.
    BlankBefore(usize),
    /// `\'` becomes `'` in the text in double quotes that begins there.
    QuoteUnescaped(usize),
}

/// Rewrites what go-yaml and the lines of Kubernetes take for line ends, and the parser does not.
///
/// `\r` before `\r\n` is a line end of its own for the parser, whereas the reader of lines takes one `\r` off each line
/// first. U+0085 ends lines in YAML 1.1.
pub(super) fn normalise(text: Cow<'_, str>) -> Cow<'_, str> {
    let replaced = [("\r\r\n", "\r\n"), ("\u{85}", "\n")];
    replaced.into_iter().fold(text, |text, (from, to)| {
        if text.contains(from) {
            Cow::Owned(text.replace(from, to))
        } else {
            text
        }
    })
}

/// Returns the places of a normalised text behind which [`normalise`] has taken a byte away.
pub(super) fn removed(text: &str) -> Vec<usize> {
    let found = text
        .match_indices("\r\r\n")
        .chain(text.match_indices("\u{85}"));
    let mut places: Vec<usize> = found.map(|(place, _)| place).collect();
    places.sort_unstable();
    for (earlier, place) in places.iter_mut().enumerate() {
        *place -= earlier;
    }
    places
}

/// Fails for a document that ends before there is anything in it, and for unknown directives.
pub(super) fn ensure_beginning(text: &str, first_line: usize) -> Result<(), Fault> {
    for (index, line) in text.lines().enumerate() {
        let place = Place {
            line: first_line + index,
            column: 1,
        };
        ensure_directive(line, place)?;
        if is_document_end(line) {
            let problem = "a document ends before it has begun".to_owned();
            return Err(place.fault(Problem::Syntax(problem)));
        }
        if is_content(line) {
            break;
        }
    }
    Ok(())
}

/// Fails for a line that begins with `%`, if no directive that YAML has follows.
fn ensure_directive(line: &str, place: Place) -> Result<(), Fault> {
    match line
        .strip_prefix('%')
        .map(|rest| rest.split([' ', '\t']).next())
    {
        None | Some(Some("YAML" | "TAG")) => Ok(()),
        Some(_) => {
            let problem = "found unknown directive name".to_owned();
            Err(place.fault(Problem::Syntax(problem)))
        }
    }
}

/// Tells whether an error comes of what follows the end of a document.
pub(super) fn ends_document(error: &ErrorKind) -> bool {
    matches!(
        error,
        ErrorKind::ExpectedDocumentStart
            | ErrorKind::MissingDocumentEndBeforeDirective
            | ErrorKind::MisplacedFlowCollectionEnd
            | ErrorKind::UnclosedFlowCollection { .. }
    )
}

/// Returns where the first document of a text ends at the latest: the beginning of the first line that is `...`.
pub(super) fn document_end(text: &str) -> Option<usize> {
    let mut rest = text;
    loop {
        let start = text.len() - rest.len();
        if is_document_end(rest) {
            return Some(start);
        }
        rest = &rest[rest.find("\n...")? + 1..];
    }
}

/// Returns the line, from 1, of the first content behind a place where a document has ended. The next thing that
/// go-yaml looks at may not be an unknown directive.
pub(super) fn unread(text: &str, end: usize, first_line: usize) -> Result<Option<usize>, Fault> {
    let (before, rest) = text.split_at(end);
    let first_line = first_line + before.matches('\n').count();
    let begins_line = |index: usize| index > 0 || before.is_empty() || before.ends_with('\n');
    let behind = |line: &str| line.strip_prefix("...").is_some_and(is_content);
    let mut lines = rest.lines().enumerate();
    let Some((index, line)) = lines.find(|(_, line)| is_content(line)) else {
        return Ok(None);
    };
    let line_number = first_line + index;
    let is_end = begins_line(index) && is_document_end(line);
    if begins_line(index) && !is_end {
        let place = Place {
            line: line_number,
            column: 1,
        };
        ensure_directive(line, place)?;
    }
    if !is_end || behind(line) {
        return Ok(Some(line_number));
    }
    let next = lines.find(|(_, line)| is_content(line) && (!is_document_end(line) || behind(line)));
    Ok(next.map(|(index, _)| first_line + index))
}

/// Fails for the name of an anchor with other characters than go-yaml allows.
pub(super) fn ensure_anchor(name: &str) -> Result<(), Problem> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.bytes().all(is_allowed) {
        return Ok(());
    }
    Err(Problem::Syntax(
        "the name of an anchor has letters from a to z, digits, `-` and `_` only".to_owned(),
    ))
}

/// Fails for a text that would end earlier for go-yaml: at U+2028 or U+2029, line ends of YAML 1.1, and, without quotes, at
/// a `?` inside of brackets.
pub(super) fn ensure_whole(
    text: &str,
    style: ScalarStyle,
    is_in_brackets: bool,
) -> Result<(), Problem> {
    if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
        return Ok(());
    }
    if let Some(character) = text.chars().find(|c| matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(Problem::LineSeparator(character.into()));
    }
    if is_in_brackets && text.contains('?') {
        return Err(Problem::QuestionMark);
    }
    Ok(())
}

/// Tells whether the `:` behind a key without quotes inside of brackets belongs to the key, as in `{a:, b:}`: it ends a
/// key only with white space behind it.
pub(super) fn takes_colon(behind: &str) -> bool {
    behind.starts_with(":,") || behind.starts_with(":}") || behind.starts_with(":]")
}

/// Changes a text, unless there is nothing to change.
pub(super) fn repair(text: &mut String, edit: Edit) -> bool {
    match edit {
        Edit::BlankBefore(offset) => text.insert(offset, ' '),
        Edit::QuoteUnescaped(start) => {
            let Some(backslash) = escaped_quote(&text[start..]) else {
                return false;
            };
            text.remove(start + backslash);
        }
    }
    true
}

/// What [`Edit::QuoteUnescaped`] is where places in the text must stay: `\'` becomes `''`. Tells whether there was one.
pub(super) fn unescape_in_place(text: &mut String, start: usize) -> bool {
    let found = escaped_quote(&text[start..]).map(|backslash| start + backslash);
    if let Some(at) = found {
        text.replace_range(at..=at, "'");
    }
    found.is_some()
}

/// The place of the first `\'` of a text in double quotes.
fn escaped_quote(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match (byte, bytes.clone().next()) {
            (b'\\', Some((_, b'\''))) => return Some(at),
            (b'\\', _) => bytes.next(),
            (b'"', _) => return None,
            _ => continue,
        };
    }
    None
}

fn is_content(line: &str) -> bool {
    !matches!(line.trim_start().bytes().next(), None | Some(b'#'))
}

/// Tells whether a text begins with a line that ends a document.
fn is_document_end(text: &str) -> bool {
    text.strip_prefix("...")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::yaml::parse_documents;

    fn read(text: &str) -> Vec<Value> {
        let documents = parse_documents(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let maps = documents.into_iter().map(|document| document.map);
        maps.map(Value::Object).collect()
    }

    /// The line of the text where it is refused.
    fn refused(text: &str) -> usize {
        match parse_documents(text) {
            Ok(documents) => panic!("{text:?}: {documents:?}"),
            Err(error) => error.line,
        }
    }

    #[test]
    fn only_the_first_document_between_separators_is_read() {
        let cases = [
            ("a: 1\n...\nb: 2\n", Some(3)),
            ("a: 1\n... x\n", Some(2)),
            ("  a: 1\nb: 2\n", Some(2)),
            ("{a: 1}\n{b: [\n", Some(2)),
            ("a: 1\n%YAML 1.1\n", Some(2)),
            ("a: 1\n...\n# c\n...\n", None),
            ("a: 1\n# c\n", None),
            ("a: 1", None),
            ("---\na: 1", None),
            ("a: 1 # c", None),
            ("{a: 1}", None),
            ("{a: 1}\n{b: [", Some(2)),
            ("{a: 1}\nb", Some(2)),
            ("{a: 1} b", Some(1)),
            ("{a: 1} # c\nb: 2", Some(2)),
            ("{a: 1} # c\n...\n# c\nb: 2", Some(4)),
            ("  a: 1\nb: 2", Some(2)),
        ];
        for (text, unread) in cases {
            let documents = parse_documents(text).unwrap();
            assert_eq!(documents.len(), 1, "{text:?}");
            assert_eq!(documents[0].unread, unread, "{text:?}");
            assert_eq!(read(text), [json!({"a": 1})], "{text:?}");
        }
        assert_eq!(read("---\n...\na: 1\n---\nb: 2\n"), [json!({"b": 2})]);
        assert_eq!(refused("...\na: 1\n"), 1);
        assert_eq!(refused("# c\n...\n"), 2);
    }

    #[test]
    fn unknown_directives_are_refused() {
        assert_eq!(refused("a: 1\n%x\n"), 2);
        assert_eq!(refused("%x\na: 1\n"), 1);
    }

    #[test]
    fn line_ends_are_those_of_yaml_1_1() {
        assert_eq!(read("a: 1\u{85}b: 2\n"), [json!({"a": 1, "b": 2})]);
        assert_eq!(
            read("a: |\u{85}  x\u{85}  y\u{85}"),
            [json!({"a": "x\ny\n"})]
        );
        assert_eq!(read("a: |\r\r\n  b\r\r\n"), [json!({"a": "b\n"})]);
        assert_eq!(read("a: \"x\u{2028}y\"\n"), [json!({"a": "x\u{2028}y"})]);
        assert_eq!(refused("b: 1\na: x\u{2028}y\n"), 2);
    }

    #[test]
    fn separators_behind_nothing_begin_their_document() {
        assert_eq!(read("a: 1\n---# c\nb: 1\n").len(), 2);
        assert_eq!(read("a: 1\n---\n---\nb: 1\n").len(), 2);
        assert_eq!(refused("---# no separator, hence a text\na: 1\n"), 2);
    }

    #[test]
    fn texts_and_names_end_where_they_end_for_go() {
        assert_eq!(read(r#"a: "it\'s \\'""#), [json!({"a": r"it's \'"})]);
        assert_eq!(
            read("a: {b:, c: 1, d:}\n"),
            [json!({"a": {"b:": null, "c": 1, "d:": null}})]
        );
        assert_eq!(
            read("a: http://x?y=1\nb: ['c?']\n"),
            [json!({"a": "http://x?y=1", "b": ["c?"]})]
        );
        assert_eq!(refused("a: 1\nb: [http://x?y=1]\n"), 2);
        assert_eq!(refused("a: &é x\n"), 1);
        assert_eq!(
            read("a: b\n\u{FEFF}c: d\n"),
            [json!({"a": "b", "\u{FEFF}c": "d"})]
        );
    }

    #[test]
    fn keys_and_merges_have_the_types_that_go_takes() {
        assert_eq!(refused("18446744073709551615: a\n"), 1);
        assert_eq!(refused("x: &x 18446744073709551615\n*x : a\n"), 2);
        assert_eq!(
            read("x: &x 1000000.0\n*x : a\n"),
            [json!({"x": 1_000_000, "1e+06": "a"})]
        );
        assert_eq!(refused("x: &x [{a: 1}]\ny: {<<: *x}\n"), 2);
        assert_eq!(
            read("x: {!!merge x: {a: 1}, !!merge <<: {b: 2}}\n"),
            [json!({"x": {"x": {"a": 1}, "b": 2}})]
        );
    }
}
