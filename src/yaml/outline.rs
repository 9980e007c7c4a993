//! Where the nodes of a manifest are in its text: the way from a byte to a field and back.
//!
//! Built when something must be told about a place, never to read values.

use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, StrInput};

use super::error::{Error, MAX_DEPTH, Place, Problem};
use super::{go, split};

/// The keys and values of a manifest, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The nodes; a list or mapping comes before what is in it.
    pub nodes: Vec<Node>,
}

/// A key or a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Which document it is in, from 1, among those that hold something.
    pub document: usize,
    /// The way to it from the document's root, as in `spec.containers[0].image`; empty for the root. A key has the path of
    /// its value.
    pub path: String,
    /// Its bytes in the text, quotes and the mark of a block included.
    pub range: Range<usize>,
    /// How it is written.
    pub form: Form,
    /// What a scalar says, before anything is made of it; empty for lists and mappings.
    pub text: String,
    /// Place of the list or mapping that it is in.
    parent: Option<usize>,
}

/// How a node is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A scalar without quotes.
    Plain,
    /// A scalar in double quotes, where `\` begins an escape.
    DoubleQuoted,
    /// A scalar in single quotes.
    SingleQuoted,
    /// A scalar behind `|` or `>`.
    Block,
    /// `*name`
    Alias,
    /// A list or a mapping.
    Collection,
}

impl Outline {
    /// Outlines a manifest.
    ///
    /// # Errors
    /// The first place that is no YAML. What YAML allows and a manifest does not, such as a list as a document, is fine.
    pub fn of(text: &str) -> Result<Self, Error> {
        split::ensure_printable(text)?;
        let mut outline = Self::default();
        let mut documents = 0;
        for part in split::split(text) {
            let part = part.map_err(|line| Error::separator(documents + 1, line))?;
            let start = offset_in(text, part.text);
            let mut nodes = outline_part(part.text, part.line, documents + 1)?;
            let earlier = outline.nodes.len();
            for node in &mut nodes {
                node.parent = node.parent.map(|parent| earlier + parent);
                node.range = start + node.range.start..start + node.range.end;
                documents = documents.max(node.document);
            }
            outline.nodes.append(&mut nodes);
        }
        Ok(outline)
    }

    /// Returns the innermost node that a range of the text lies in.
    pub fn around(&self, range: &Range<usize>) -> Option<&Node> {
        let before = self
            .nodes
            .partition_point(|node| node.range.start <= range.start);
        // Whatever began before and has not ended holds the node that began last.
        let last = before.checked_sub(1)?;
        std::iter::successors(Some(&self.nodes[last]), |node| {
            node.parent.map(|parent| &self.nodes[parent])
        })
        .find(|node| node.range.end >= range.end)
    }

    /// Returns the value at a path of a document; where there is none, that of the longest part of the path that leads to one.
    pub fn nearest(&self, document: usize, path: &str) -> Option<&Node> {
        let leads_to = |node: &&Node| {
            node.document == document
                && path.strip_prefix(node.path.as_str()).is_some_and(|rest| {
                    rest.is_empty() || node.path.is_empty() || rest.starts_with(['.', '['])
                })
        };
        self.nodes
            .iter()
            .filter(leads_to)
            .max_by_key(|node| node.path.len())
    }
}

/// Both are texts of the same memory.
fn offset_in(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// Outlines a text between separators; the ranges are those of the text.
fn outline_part(text: &str, first_line: usize, document: usize) -> Result<Vec<Node>, Error> {
    let unmarked = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mark = text.len() - unmarked.len();
    // See `read::read`: a blank goes before a comment that touches what is before it. Quotes keep the length.
    let removed = go::removed(unmarked);
    let (mut spaced, mut blanks) = (go::normalise(unmarked.into()), Vec::new());
    let mut quotes = 0;
    loop {
        let mut outliner = Outliner::new(document);
        let Err(error) = outliner.read(&spaced) else {
            let original = |at: usize| {
                let at = at - blanks.partition_point(|blank| *blank < at);
                mark + at + removed.partition_point(|place| *place < at)
            };
            for node in &mut outliner.nodes {
                node.range = original(node.range.start)..original(node.range.end);
            }
            return Ok(outliner.nodes);
        };
        match (error.kind(), error.marker().byte_offset()) {
            (ErrorKind::CommentNotSeparated, Some(offset)) if blanks.len() < MAX_BLANKS => {
                spaced.to_mut().insert(offset, ' ');
                blanks.push(offset);
            }
            (ErrorKind::UnknownQuotedScalarEscape, Some(start))
                if quotes < MAX_BLANKS && go::unescape_in_place(spaced.to_mut(), start) =>
            {
                quotes += 1;
            }
            _ => {
                let place = Place {
                    line: first_line + error.marker().line() - 1,
                    column: error.marker().col() + 1,
                };
                let fault = place.fault(Problem::Syntax(error.info()));
                return Err(Error::in_document(outliner.document, fault));
            }
        }
    }
}

/// Limit on the comments that touch what is before them, and on quotes with a `\` before them that YAML does not know, for
/// the text is read again for each.
const MAX_BLANKS: usize = 1000;

/// Follows the events of one text.
struct Outliner {
    nodes: Vec<Node>,
    /// The lists and mappings around.
    open: Vec<Open>,
    document: usize,
    /// The value of the whole document was seen.
    has_root: bool,
}

/// A list or mapping whose end was not seen yet.
struct Open {
    /// Its place in the nodes.
    node: usize,
    /// Items of a list so far; `None` in a mapping.
    items: Option<usize>,
    /// The path of the value to come in a mapping; `None` before a key.
    value_path: Option<String>,
}

impl Outliner {
    fn new(document: usize) -> Self {
        Self {
            nodes: Vec::new(),
            open: Vec::new(),
            document,
            has_root: false,
        }
    }

    fn read(&mut self, text: &str) -> Result<(), ScanError> {
        let mut options = Options::default();
        options.set_emit_comments(false);
        options.bom_inside_document_as_content = true;
        let document = &text[..go::document_end(text).unwrap_or(text.len())];
        let parser: Parser<'_, StrInput<'_>> = Parser::new_from_str_with_options(document, options);
        for next in parser {
            let (event, span) = match next {
                // Nobody reads what is behind the first document.
                Ok((Event::DocumentEnd, _)) => break,
                Err(error) if self.has_root && go::ends_document(error.kind()) => break,
                next => next?,
            };
            let range = span.byte_range().expect("a text in memory has offsets");
            self.take(event, range);
            if self.open.len() > MAX_DEPTH {
                return Err(ScanError::new(span.start, Problem::TooDeep.to_string()));
            }
        }
        Ok(())
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Scalar(text, style, ..) => {
                let form = match style {
                    ScalarStyle::SingleQuoted => Form::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Form::DoubleQuoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Form::Block,
                    ScalarStyle::Plain => Form::Plain,
                };
                // The parser says `~` for a value that is left out.
                let text = if range.is_empty() { "" } else { &text };
                self.scalar(form, text.to_owned(), range);
            }
            Event::Alias(_) => self.scalar(Form::Alias, String::new(), range),
            Event::SequenceStart(..) => self.begin(Some(0), range),
            Event::MappingStart(..) => self.begin(None, range),
            Event::SequenceEnd | Event::MappingEnd => self.end(range),
            _ => {}
        }
    }

    fn scalar(&mut self, form: Form, text: String, range: Range<usize>) {
        let is_null = form == Form::Plain && matches!(text.as_str(), "" | "~" | "null");
        let is_root = self.open.is_empty();
        self.has_root |= is_root;
        let path = self.place(&text);
        if !(is_root && is_null) {
            self.add(path, form, text, range);
        }
        if is_root && !is_null {
            self.document += 1;
        }
    }

    fn begin(&mut self, items: Option<usize>, range: Range<usize>) {
        let path = self.place("");
        let node = self.nodes.len();
        self.add(path, Form::Collection, String::new(), range);
        self.open.push(Open {
            node,
            items,
            value_path: None,
        });
    }

    fn end(&mut self, range: Range<usize>) {
        let open = self.open.pop().expect("the parser ends what it began");
        self.nodes[open.node].range.end = range.end;
        if self.open.is_empty() {
            self.document += 1;
            self.has_root = true;
        }
    }

    fn add(&mut self, path: String, form: Form, text: String, range: Range<usize>) {
        let parent = self.open.last().map(|open| open.node);
        self.nodes.push(Node {
            parent,
            document: self.document,
            path,
            range,
            form,
            text,
        });
    }

    /// Returns the path of the next node; `text` is what it says if it is a key.
    fn place(&mut self, text: &str) -> String {
        let Some(open) = self.open.last_mut() else {
            return String::new();
        };
        let around = &self.nodes[open.node].path;
        if let Some(items) = &mut open.items {
            *items += 1;
            return format!("{around}[{}]", *items - 1);
        }
        match open.value_path.take() {
            Some(path) => path,
            None => {
                let path = key_path(around, text);
                open.value_path = Some(path.clone());
                path
            }
        }
    }
}

/// The path of a key as the API server writes it: `a.b`, and `a[b.c/d]` where the key has dots.
fn key_path(around: &str, key: &str) -> String {
    if key.contains(['.', '[', ']']) {
        format!("{around}[{key}]")
    } else if around.is_empty() {
        key.to_owned()
    } else {
        format!("{around}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Document, path, form and source text of each node.
    fn outline(text: &str) -> Vec<(usize, String, Form, &str)> {
        let nodes = Outline::of(text).unwrap().nodes;
        nodes
            .into_iter()
            .map(|node| (node.document, node.path, node.form, &text[node.range]))
            .collect()
    }

    #[test]
    fn every_node_has_its_document_path_and_bytes() {
        let text = "\u{FEFF}# none\n---\na: \"é\\n\" # c\nb:\n- c: 'x'\n  d.e/f: |# touches\n    1\n    2\n\
                    - [&q é, *q]\n---\nnull\n--- # x\nk: v#w\n";
        let node = |document, path: &str, form, source| (document, path.to_owned(), form, source);
        let nodes: Vec<_> = outline(text)
            .into_iter()
            .filter(|node| node.2 != Form::Collection)
            .collect();
        let expected = [
            node(1, "a", Form::Plain, "a"),
            node(1, "a", Form::DoubleQuoted, "\"é\\n\""),
            node(1, "b", Form::Plain, "b"),
            node(1, "b[0].c", Form::Plain, "c"),
            node(1, "b[0].c", Form::SingleQuoted, "'x'"),
            node(1, "b[0][d.e/f]", Form::Plain, "d.e/f"),
            node(1, "b[0][d.e/f]", Form::Block, "1\n    2\n"),
            node(1, "b[1][0]", Form::Plain, "é"),
            node(1, "b[1][1]", Form::Alias, "*q"),
            node(2, "k", Form::Plain, "k"),
            node(2, "k", Form::Plain, "v#w"),
        ];
        assert_eq!(nodes, expected);
    }

    #[test]
    fn a_value_that_is_left_out_says_nothing() {
        let nodes = Outline::of("a:\nb: ~\n").unwrap().nodes;
        let texts: Vec<&str> = nodes.iter().map(|node| node.text.as_str()).collect();
        assert_eq!(texts, ["", "a", "", "b", "~"]);
    }

    #[test]
    fn bytes_lead_to_nodes_and_paths_too() {
        let text = "a:\n  b: [x, yz]\n  c: 'd'\n";
        let outline = Outline::of(text).unwrap();
        let around = |needle: &str| {
            let start = text.find(needle).unwrap();
            let node = outline.around(&(start..start + needle.len())).unwrap();
            (node.path.as_str(), &text[node.range.clone()])
        };
        assert_eq!(around("z"), ("a.b[1]", "yz"));
        assert_eq!(around("x, y"), ("a.b", "[x, yz]"));
        assert_eq!(around("d"), ("a.c", "'d'"));
        let nearest = |path: &str| &text[outline.nearest(1, path).unwrap().range.clone()];
        assert_eq!(nearest("a.b[1].more"), "yz");
        assert_eq!(nearest("a.b[7]"), "[x, yz]");
        assert_eq!(nearest("a.bc"), "b: [x, yz]\n  c: 'd'\n");
        assert_eq!(outline.nearest(2, "a"), None);
    }

    #[test]
    fn what_the_reader_takes_as_go_does_has_an_outline() {
        for (text, last) in [
            ("---\n%YAML 1.1\n", None),
            ("{a: 1}\n{b: [\n", Some("1")),
            ("a: \"it\\'s\"\nb: 'c'\n", Some("'c'")),
            ("a: 1\u{85}b: 2\n", Some("2")),
            ("a:\u{85}-\u{85}-", Some("")),
            ("a: |\r\r\n  b\r\r\nc: d\n", Some("d")),
        ] {
            assert!(crate::yaml::parse_documents(text).is_ok(), "{text:?}");
            let nodes = outline(text);
            assert_eq!(nodes.last().map(|node| node.3), last, "{text:?}");
        }
    }

    #[test]
    fn faults_are_those_of_the_reader() {
        for text in ["a: 1\n---\nb: [", "a: 1\n--- x\nb: 1", "a: \u{7}", "a: *b"] {
            let error = Outline::of(text).unwrap_err();
            assert_eq!(Err(error), crate::yaml::parse_documents(text).map(|_| ()));
        }
    }
}
