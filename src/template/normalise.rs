//! White space around a bare name: `${ V }` means `${V}`, a form from clusterctl's first years.
//!
//! The rule looks at raw text, before escapes and nesting are known: it also changes `$${ V }`, and leaves `${ V:=d }`
//! alone. What is cut out is kept account of, so that lines and columns are those of the original text.

use std::ops::Range;

use memchr::{memchr_iter, memrchr};

use super::characters::is_ascii_name;

/// A text as it was written, and what is cut out of it before it is parsed.
#[derive(Debug)]
pub(super) struct Source {
    original: Vec<u8>,
    /// Ranges of the original, ascending, none of them empty.
    cuts: Vec<Range<usize>>,
}

impl Source {
    /// Finds the white space in bare references.
    ///
    /// Each look from a `${` ends at the next `{` at the latest, so the time is linear.
    pub fn new(original: Vec<u8>) -> Self {
        let mut cuts = Vec::new();
        let mut end = 0;
        for start in memchr_iter(b'$', &original) {
            if start < end {
                continue;
            }
            if let Some([before, after]) = white_space_of_bare_reference(&original, start) {
                end = after.end + 1;
                cuts.extend([before, after].into_iter().filter(|cut| !cut.is_empty()));
            }
        }
        Self { original, cuts }
    }

    /// Returns the text without what is cut out; `None` when that is nothing.
    pub fn normalised(&self) -> Option<Vec<u8>> {
        if self.cuts.is_empty() {
            return None;
        }
        let mut text = Vec::with_capacity(self.original.len());
        let mut copied = 0;
        for cut in &self.cuts {
            text.extend_from_slice(&self.original[copied..cut.start]);
            copied = cut.end;
        }
        text.extend_from_slice(&self.original[copied..]);
        Some(text)
    }

    /// Returns the text as it was written.
    pub fn original(&self) -> &[u8] {
        &self.original
    }

    /// Gives the text back as it was written.
    pub fn into_original(self) -> Vec<u8> {
        self.original
    }

    /// Returns line and column, in characters, both from 1, of an offset in the normalised text.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut lines = Lines::new(self);
        let line = lines.line_at(offset);
        let before = &self.original[..lines.counted];
        let line_start = memrchr(b'\n', before).map_or(0, |line_end| line_end + 1);
        let is_first_byte = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
        let column = before[line_start..].iter().filter(is_first_byte).count() + 1;
        (line, column)
    }
}

/// Counts lines of the original text for ascending offsets of the normalised one.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    source: &'a Source,
    /// How many cuts lie behind, and how long they are together.
    passed: usize,
    removed: usize,
    /// Up to here, in the original, the line ends were counted.
    counted: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub fn new(source: &'a Source) -> Self {
        Self {
            source,
            passed: 0,
            removed: 0,
            counted: 0,
            line: 1,
        }
    }

    /// Returns the line, from 1; `offset` is not below that of the call before.
    pub fn line_at(&mut self, offset: usize) -> usize {
        while let Some(cut) = self.source.cuts.get(self.passed)
            && cut.start <= offset + self.removed
        {
            self.removed += cut.len();
            self.passed += 1;
        }
        let place = offset + self.removed;
        self.line += memchr_iter(b'\n', &self.source.original[self.counted..place]).count();
        self.counted = place;
        self.line
    }
}

/// Returns the white space before and after the name if at `start` there is `${`, a name, `}`, and any such space.
fn white_space_of_bare_reference(text: &[u8], start: usize) -> Option<[Range<usize>; 2]> {
    if text.get(start + 1) != Some(&b'{') {
        return None;
    }
    let skip = |from: usize, accepts: fn(u8) -> bool| {
        let skipped = text[from..].iter().take_while(|byte| accepts(**byte));
        from + skipped.count()
    };
    let is_space = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ');
    let open = start + 2;
    let name = skip(open, is_space);
    let name_end = skip(name, |byte| is_ascii_name(byte) || byte == b'$');
    let close = skip(name_end, is_space);
    let matches = name_end > name && text.get(close) == Some(&b'}');
    (matches && (name > open || close > name_end)).then_some([open..name, name_end..close])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalise(text: &str) -> String {
        let source = Source::new(text.as_bytes().to_vec());
        let text = source.normalised();
        String::from_utf8(text.unwrap_or_else(|| source.into_original())).unwrap()
    }

    #[test]
    fn white_space_around_a_bare_name_goes() {
        assert_eq!(
            normalise("${ A } ${B\t} ${\r\n C} ${D}"),
            "${A} ${B} ${C} ${D}"
        );
        assert_eq!(normalise("$${ A }"), "$${A}");
        assert_eq!(normalise("${ A$B }"), "${A$B}");
        assert_eq!(normalise("${ A${ B }"), "${ A${B}");
    }

    #[test]
    fn other_forms_keep_it() {
        for text in [
            "${ A:=d }",
            "${A :=d}",
            "${ é }",
            "${\u{A0}A}",
            "${\x0BA}",
            "${ }",
            "${ A",
        ] {
            assert_eq!(normalise(text), text);
        }
    }

    #[test]
    fn positions_are_those_of_the_original() {
        let source = Source::new("é ${\n A }\n  ${B}${ C }".as_bytes().to_vec());
        let normalised = String::from_utf8(source.normalised().unwrap()).unwrap();
        let place = |needle: &str| source.position(normalised.find(needle).unwrap());
        assert_eq!(place("${A}"), (1, 3));
        assert_eq!(place("A}"), (2, 2));
        assert_eq!(place("${B}"), (3, 3));
        assert_eq!(place("${C}"), (3, 7));
        assert_eq!(place("C}"), (3, 10));
    }
}
