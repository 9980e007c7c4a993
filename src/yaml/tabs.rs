//! Tabs where go-yaml takes them for no white space, and the parser here does.
//!
//! Outside of brackets and texts a tab may not stand where a key could begin: at the beginning of a line, behind `- ` and
//! `? `. In the lines that follow a plain text it may, as deep as the text would go on; in a block it may not stand where
//! its indentation is looked for. Inside of brackets and quotes it may stand anywhere.

use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput, StructureStyle};

use super::error::{Fault, Place, Problem};
use super::line_start;

/// Fails at the first tab that is out of place in a text that the parser has read. Looks no further than one document.
pub(super) fn ensure_allowed(text: &str, first_line: usize) -> Result<(), Fault> {
    if !text.contains('\t') {
        return Ok(());
    }
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.bom_inside_document_as_content = true;
    let parser: Parser<'_, StrInput<'_>> = Parser::new_from_str_with_options(text, options);
    let mut scan = Scan::new(text);
    for next in parser {
        let Ok((event, span)) = next else { break };
        let range = span.byte_range().expect("a text in memory has offsets");
        let is_last = matches!(event, Event::DocumentEnd);
        let result = scan.take(&event, range, span.start.col());
        result.map_err(|Tab(at)| fault(text, at, first_line))?;
        if is_last {
            break;
        }
    }
    Ok(())
}

/// The place of a tab.
struct Tab(usize);

fn fault(text: &str, at: usize, first_line: usize) -> Fault {
    let before = &text[..at];
    let place = Place {
        line: first_line + before.matches('\n').count(),
        column: before[line_start(text, at)..].chars().count() + 1,
    };
    place.fault(Problem::Tab)
}

/// Follows the events of a text, and looks at what is between them.
struct Scan<'a> {
    text: &'a str,
    /// Everything before it was looked at.
    at: usize,
    /// Whether a key could begin here.
    key_allowed: bool,
    /// The column that a plain text before needs to go on; `None` behind anything else.
    plain_until: Option<usize>,
    /// How many brackets are open.
    flow: usize,
    /// The columns of the lists and mappings around that are no brackets.
    columns: Vec<usize>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            key_allowed: true,
            plain_until: None,
            flow: 0,
            columns: Vec::new(),
        }
    }

    fn take(&mut self, event: &Event<'_>, range: Range<usize>, column: usize) -> Result<(), Tab> {
        match event {
            Event::SequenceStart(StructureStyle::Block, ..)
            | Event::MappingStart(StructureStyle::Block, ..) => {
                self.gap(range.start)?;
                self.columns.push(column);
            }
            Event::SequenceStart(StructureStyle::Flow, ..)
            | Event::MappingStart(StructureStyle::Flow, ..) => {
                self.gap(range.start)?;
                self.flow += 1;
            }
            Event::SequenceEnd | Event::MappingEnd if self.flow > 0 => {
                self.flow -= 1;
                self.pass(range.end, None);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.columns.pop();
            }
            Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..) => {
                self.gap(range.start)?;
                self.at = self.at.max(range.end);
            }
            Event::Scalar(_, style, ..) if !range.is_empty() => {
                self.gap(range.start)?;
                let until = (*style == ScalarStyle::Plain).then(|| self.indentation());
                if let Some(until) = until {
                    self.plain(range.clone(), until)?;
                }
                self.pass(range.end, until);
            }
            Event::Alias(_) => {
                self.gap(range.start)?;
                self.pass(range.end, None);
            }
            Event::DocumentEnd | Event::StreamEnd => self.gap(range.start)?,
            _ => {}
        }
        Ok(())
    }

    /// The column that the content of the innermost list or mapping needs.
    fn indentation(&self) -> usize {
        self.columns.last().map_or(0, |column| column + 1)
    }

    fn pass(&mut self, end: usize, plain_until: Option<usize>) {
        self.at = self.at.max(end);
        self.key_allowed = false;
        self.plain_until = plain_until;
    }

    /// Looks at the lines of a plain text from the second one on.
    fn plain(&self, range: Range<usize>, until: usize) -> Result<(), Tab> {
        let mut at = range.start;
        for line in self.text[range].split_inclusive('\n') {
            let blanks = line.bytes().take_while(|byte| *byte == b' ').count();
            if at > 0 && self.text[..at].ends_with('\n') && blanks < until && is_tab(line, blanks) {
                return Err(Tab(at + blanks));
            }
            at += line.len();
        }
        Ok(())
    }

    /// Looks at what is before the next event: white space, comments, indicators, anchors, tags, heads of blocks.
    fn gap(&mut self, end: usize) -> Result<(), Tab> {
        if self.flow > 0 {
            self.at = self.at.max(end);
            return Ok(());
        }
        while self.at < end {
            let column = self.at - line_start(self.text, self.at);
            let rest = &self.text[self.at..];
            let word = || rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len());
            let byte = rest.as_bytes()[0];
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                self.plain_until = None;
            }
            self.at += match byte {
                b'\n' | b'\r' => {
                    self.key_allowed = true;
                    1
                }
                b'\t' if self.is_misplaced(column) => return Err(Tab(self.at)),
                b'#' | b'%' => rest.find('\n').unwrap_or(rest.len()),
                b'|' | b'>' => self.block(rest)?,
                b'-' if rest.starts_with("---") => {
                    self.key_allowed = false;
                    3
                }
                b'-' | b'?' => {
                    self.key_allowed = true;
                    1
                }
                b' ' | b'\t' | b':' => 1,
                _ => {
                    self.key_allowed = false;
                    word().max(1)
                }
            };
        }
        Ok(())
    }

    fn is_misplaced(&self, column: usize) -> bool {
        match self.plain_until {
            Some(until) => self.key_allowed && column < until,
            None => self.key_allowed,
        }
    }

    /// Looks at a block from its `|` or `>` on, and returns its length.
    fn block(&mut self, text: &str) -> Result<usize, Tab> {
        let mut lines = text.split_inclusive('\n');
        let head = lines.next().unwrap_or_default();
        let words = head.split([' ', '\t', '#', '\r', '\n']).next();
        let given = words
            .unwrap_or_default()
            .bytes()
            .find(u8::is_ascii_digit)
            .map(|digit| usize::from(digit - b'0'));
        let around = self.columns.last();
        let mut indentation = given.map(|more| around.unwrap_or(&0) + more);
        let (mut length, mut deepest) = (head.len(), 0);
        for line in lines {
            let limit = indentation.unwrap_or(usize::MAX);
            let blanks = line
                .bytes()
                .take_while(|byte| *byte == b' ')
                .count()
                .min(limit);
            if blanks < limit && is_tab(line, blanks) {
                return Err(Tab(self.at + length + blanks));
            }
            deepest = deepest.max(blanks);
            let is_blank = line[blanks..].trim_end_matches(['\r', '\n']).is_empty();
            if !is_blank {
                let found = *indentation.get_or_insert(deepest.max(self.indentation()).max(1));
                if blanks < found {
                    break;
                }
            }
            length += line.len();
        }
        self.key_allowed = true;
        Ok(length)
    }
}

fn is_tab(line: &str, at: usize) -> bool {
    line.as_bytes().get(at) == Some(&b'\t')
}

#[cfg(test)]
mod tests {
    use crate::yaml::{Problem, parse_documents};

    #[test]
    fn tabs_are_white_space_behind_what_begins_no_key() {
        for text in [
            "a:\tb\t# c\n",
            "a: [b,\n\tc]\n",
            "a: \"b\n\tc\"\n",
            "a: |\n  b\tc\n  \td\n",
            "a: |2\n  \tb\n",
            "a: b\n  \t\n  c\n",
            "a: b\n \t# c\n",
            "a:\n- b\t\n- 'c'\t# d\n",
            "a: &x\tb\n",
            "---\t\na: b\n---\t# c\n",
        ] {
            let read = parse_documents(text);
            assert!(read.is_ok(), "{text:?}: {read:?}");
        }
    }

    #[test]
    fn a_tab_where_a_key_could_begin_is_refused_at_its_place() {
        for (text, line, column) in [
            ("\ta: 1\n", 1, 1),
            ("a: 1\n\t# c\n", 2, 1),
            ("a: 'é'\n \t\nb: 1\n", 2, 2),
            ("a:\n-\tb\n", 2, 2),
            ("?\ta\n", 1, 2),
            ("a: |\n\tb\n", 1, 4),
            ("a: |\n  b\n \t\n", 3, 2),
            ("# c\n\t\n", 2, 1),
            ("a: b\n\tc\n", 1, 4),
            ("a: 1\n\t", 2, 1),
            ("a: b\n#c\n \t\nd: e\n", 3, 2),
            ("a: 1\n---\n\t# c\n---\nb: 1\n", 3, 1),
        ] {
            let error = parse_documents(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?}");
            let is_tab = match &error.problem {
                Problem::Tab => true,
                Problem::Syntax(expected) => expected.contains("tab"),
                _ => false,
            };
            assert!(is_tab, "{text:?}: {error}");
        }
    }
}
