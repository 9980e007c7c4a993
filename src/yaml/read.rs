//! From the events of the YAML parser to JSON values.
//!
//! The nodes that are open are kept on a stack of their own. Aliases are expanded by copying, within a limit.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{
    ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, StrInput, StructureStyle,
    Tag,
};
use serde_json::{Map, Value};

use super::error::{Fault, MAX_DEPTH, Place, Problem};
use super::go::{self, Edit};
use super::line_start;
use super::scalar::{Scalar, float_key};
use super::tabs;
use super::value::{Meaning, depth, is_merge_tag, meaning, merged_maps, to_value, weight};

/// Limit on what all copies for aliases weigh, see [`weight`].
const MAX_COPIED: usize = 64 << 20;

/// Whose rules a text follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// A manifest: go-yaml v2 and its conversion to JSON.
    Manifest,
    /// A configuration file: go-yaml v3.
    Config,
}

/// The value of a document.
#[derive(Debug)]
pub(super) struct Root {
    pub value: Value,
    /// Where it begins.
    pub place: Place,
    /// The line of the whole text where content begins that is in no document, from 1.
    pub unread: Option<usize>,
}

/// Limit on the bytes of a document that are read again for comments that touch what is before them, all times together.
const MAX_REREAD: usize = 64 << 20;

/// Reads the documents of a text that begins on `first_line` of the whole; as a rule there is one.
///
/// go-yaml takes a comment that touches what is before it, as in `key: |# comment`, and published manifests have such
/// comments; this parser does not. So a blank is put between them where the parser says so, and it begins again.
pub(super) fn read(text: &str, first_line: usize, rules: Rules) -> Result<Vec<Root>, Fault> {
    // A byte order mark is fine at the beginning of each document, since documents are cut from one another.
    let mut text = Cow::Borrowed(text.strip_prefix('\u{FEFF}').unwrap_or(text));
    if rules == Rules::Manifest {
        text = go::normalise(text);
        go::ensure_beginning(&text, first_line)?;
    }
    let mut reread = 0;
    loop {
        let read = Reader::new(&text, first_line, rules).roots();
        let (edit, fault) = match read {
            Ok(roots) if rules == Rules::Manifest => {
                tabs::ensure_allowed(&text, first_line)?;
                return Ok(roots);
            }
            Ok(roots) => return Ok(roots),
            Err(Stop::Repairable(edit, fault)) => (edit, fault),
            Err(Stop::Fault(fault)) => return Err(fault),
        };
        if reread > MAX_REREAD || !go::repair(text.to_mut(), edit) {
            return Err(fault);
        }
        reread += text.len();
    }
}

/// Why reading stopped.
enum Stop {
    Fault(Fault),
    /// A change may mend it that means nothing to go-yaml.
    Repairable(Edit, Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
    first_line: usize,
    rules: Rules,
    open: Vec<Open>,
    /// By the parser's number; `None` while the node is open.
    anchors: HashMap<usize, Option<Anchored>>,
    /// Weight of all copies so far.
    copied: usize,
}

/// A value that aliases may stand for.
struct Anchored {
    value: Value,
    /// What it would be as a key.
    key: Option<String>,
    weight: usize,
    depth: usize,
}

/// A list or mapping whose end was not seen yet.
struct Open {
    place: Place,
    anchor: usize,
    style: StructureStyle,
    nodes: Nodes,
}

enum Nodes {
    List(Vec<Value>),
    Map {
        map: Map<String, Value>,
        /// From `<<`: what the mapping does not have itself.
        merged: Map<String, Value>,
        key: Option<Key>,
    },
}

impl Nodes {
    fn empty_map() -> Self {
        Self::Map {
            map: Map::new(),
            merged: Map::new(),
            key: None,
        }
    }
}

enum Key {
    Text(String),
    Merge,
}

/// A node that is complete.
struct Node {
    value: Value,
    place: Place,
    /// What it would be as a key.
    key: Option<Key>,
    is_alias: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, first_line: usize, rules: Rules) -> Self {
        let mut options = Options::default();
        options.set_emit_comments(false);
        options.bom_inside_document_as_content = rules == Rules::Manifest;
        options.emit_anchor_events = rules == Rules::Manifest;
        let end = match rules {
            Rules::Manifest => go::document_end(text),
            Rules::Config => None,
        };
        let document = &text[..end.unwrap_or(text.len())];
        Self {
            parser: Parser::new_from_str_with_options(document, options),
            text,
            first_line,
            rules,
            open: Vec::new(),
            anchors: HashMap::new(),
            copied: 0,
        }
    }

    fn roots(&mut self) -> Result<Vec<Root>, Stop> {
        let mut roots: Vec<Root> = Vec::new();
        while let Some(next) = self.parser.next_event() {
            let (event, span) = match (next, roots.last_mut()) {
                (Ok((Event::DocumentEnd, span)), Some(root)) if self.rules == Rules::Manifest => {
                    let end = offset(&span.start);
                    root.unread = go::unread(self.text, end, self.first_line)?;
                    break;
                }
                (Err(error), Some(root))
                    if self.rules == Rules::Manifest && go::ends_document(error.kind()) =>
                {
                    // It is somewhere in the first line that is not read.
                    let end = line_start(self.text, offset(error.marker()));
                    root.unread = go::unread(self.text, end, self.first_line)?;
                    break;
                }
                (next, _) => next.map_err(|error| self.stop(&error))?,
            };
            let place = self.place(&span.start);
            let end = span.end.byte_offset().unwrap_or(self.text.len());
            let takes_colon = self.rules == Rules::Manifest
                && matches!(event, Event::Scalar(_, ScalarStyle::Plain, ..))
                && self.is_in_brackets()
                && self.expects_key()
                && go::takes_colon(&self.text[end..]);
            let Some(mut node) = self.node(event, place)? else {
                continue;
            };
            if takes_colon && let Some(Key::Text(key)) = &mut node.key {
                key.push(':');
            }
            if let Some(Node { value, place, .. }) = self.add(node)? {
                roots.push(Root {
                    value,
                    place,
                    unread: None,
                });
            }
        }
        Ok(roots)
    }

    /// Returns the node that an event completes.
    fn node(&mut self, event: Event<'_>, place: Place) -> Result<Option<Node>, Fault> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), place)?;
                let key = match &node.key {
                    Some(Key::Text(text)) => Some(text.clone()),
                    Some(Key::Merge) => Some(text.into_owned()),
                    None => None,
                };
                self.remember(anchor, &node.value, key, place)?;
                Ok(Some(node))
            }
            Event::Alias(anchor) => self.alias(anchor, place).map(Some),
            Event::SequenceStart(style, anchor, _) => {
                self.begin(anchor, place, style, Nodes::List(Vec::new()))?;
                Ok(None)
            }
            Event::MappingStart(style, anchor, _) => {
                self.begin(anchor, place, style, Nodes::empty_map())?;
                Ok(None)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end().map(Some),
            Event::Anchor(_, name) => go::ensure_anchor(&name)
                .map(|()| None)
                .map_err(|problem| place.fault(problem)),
            _ => Ok(None),
        }
    }

    fn begin(
        &mut self,
        anchor: usize,
        place: Place,
        style: StructureStyle,
        nodes: Nodes,
    ) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(place.fault(Problem::TooDeep));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.open.push(Open {
            place,
            anchor,
            style,
            nodes,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<Node, Fault> {
        let open = self.open.pop().expect("the parser ends what it began");
        let value = match open.nodes {
            Nodes::List(items) => Value::Array(items),
            Nodes::Map {
                mut map, merged, ..
            } => {
                for (key, value) in merged {
                    map.entry(key).or_insert(value);
                }
                Value::Object(map)
            }
        };
        self.remember(open.anchor, &value, None, open.place)?;
        Ok(Node {
            value,
            place: open.place,
            key: None,
            is_alias: false,
        })
    }

    /// Puts a node where it belongs; returns it when it is the root.
    fn add(&mut self, node: Node) -> Result<Option<Node>, Fault> {
        let rules = self.rules;
        let Some(open) = self.open.last_mut() else {
            return Ok(Some(node));
        };
        let (map, merged, key) = match &mut open.nodes {
            Nodes::List(items) => {
                items.push(node.value);
                return Ok(None);
            }
            Nodes::Map { map, merged, key } => (map, merged, key),
        };
        match key.take() {
            None => {
                let found = node
                    .key
                    .ok_or_else(|| node.place.fault(Problem::UnsupportedKey))?;
                if let Key::Text(text) = &found
                    && rules == Rules::Config
                    && map.contains_key(text)
                {
                    return Err(node.place.fault(Problem::DuplicateKey));
                }
                *key = Some(found);
            }
            Some(Key::Text(text)) => {
                map.insert(text, node.value);
            }
            // An alias must stand for a map: a list of maps has to be written out.
            Some(Key::Merge) if node.is_alias && node.value.is_array() => {
                return Err(node.place.fault(Problem::MergeValue));
            }
            Some(Key::Merge) => {
                let more = merged_maps(node.value);
                merged.extend(more.ok_or_else(|| node.place.fault(Problem::MergeValue))?);
            }
        }
        Ok(None)
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        place: Place,
    ) -> Result<Node, Fault> {
        let plain = style == ScalarStyle::Plain;
        if self.rules == Rules::Manifest {
            go::ensure_whole(text, style, self.is_in_brackets())
                .map_err(|problem| place.fault(problem))?;
        }
        let meaning =
            meaning(text, plain, tag, self.rules).map_err(|problem| place.fault(problem))?;
        let key = if text == "<<" && tag.map_or(plain, is_merge_tag) {
            Some(Key::Merge)
        } else {
            self.key(&meaning, text).map(Key::Text)
        };
        let value = match meaning {
            Meaning::Decoded(text) => Value::String(text),
            // Infinities may be keys, but not values.
            Meaning::Scalar(Scalar::Float(number))
                if !number.is_finite() && !self.expects_key() =>
            {
                return Err(place.fault(Problem::NotFinite));
            }
            Meaning::Scalar(scalar) => to_value(scalar, text),
        };
        Ok(Node {
            value,
            place,
            key,
            is_alias: false,
        })
    }

    fn is_in_brackets(&self) -> bool {
        matches!(self.open.last(), Some(open) if open.style == StructureStyle::Flow)
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                nodes: Nodes::Map { key: None, .. },
                ..
            })
        )
    }

    fn key(&self, meaning: &Meaning, text: &str) -> Option<String> {
        let scalar = match meaning {
            Meaning::Decoded(text) => return Some(text.clone()),
            Meaning::Scalar(scalar) => *scalar,
        };
        match scalar {
            Scalar::Null => None,
            _ if self.rules == Rules::Config => Some(text.to_owned()),
            Scalar::Bool(value) => Some(value.to_string()),
            Scalar::Int(number) => Some(number.to_string()),
            // Kubernetes knows no key of that type.
            Scalar::Uint(_) => None,
            Scalar::Float(number) => Some(float_key(number)),
            Scalar::Text => Some(text.to_owned()),
        }
    }

    /// Keeps the value of an anchor, if there is one, for the aliases to come.
    fn remember(
        &mut self,
        anchor: usize,
        value: &Value,
        key: Option<String>,
        place: Place,
    ) -> Result<(), Fault> {
        if anchor == 0 {
            return Ok(());
        }
        let weight = weight(value);
        self.copy(weight, place)?;
        let anchored = Anchored {
            key,
            weight,
            depth: depth(value),
            value: value.clone(),
        };
        self.anchors.insert(anchor, Some(anchored));
        Ok(())
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<Node, Fault> {
        let anchored = match self.anchors.get(&anchor) {
            Some(Some(anchored)) => anchored,
            _ => return Err(place.fault(Problem::SelfReference)),
        };
        if self.open.len() + anchored.depth > MAX_DEPTH {
            return Err(place.fault(Problem::TooDeep));
        }
        let weight = anchored.weight;
        self.copy(weight, place)?;
        let anchored = self.anchors[&anchor].as_ref().expect("it was there above");
        Ok(Node {
            value: anchored.value.clone(),
            place,
            key: anchored.key.clone().map(Key::Text),
            is_alias: true,
        })
    }

    fn copy(&mut self, weight: usize, place: Place) -> Result<(), Fault> {
        self.copied += weight;
        if self.copied > MAX_COPIED {
            return Err(place.fault(Problem::ExcessiveAliasing));
        }
        Ok(())
    }

    fn place(&self, marker: &Marker) -> Place {
        Place {
            line: self.first_line + marker.line() - 1,
            column: marker.col() + 1,
        }
    }

    fn stop(&self, error: &ScanError) -> Stop {
        let problem = Problem::Syntax(error.info());
        let fault = self.place(error.marker()).fault(problem);
        match (error.kind(), error.marker().byte_offset()) {
            (ErrorKind::CommentNotSeparated, Some(offset)) => {
                Stop::Repairable(Edit::BlankBefore(offset), fault)
            }
            (ErrorKind::UnknownQuotedScalarEscape, Some(offset))
                if self.rules == Rules::Manifest =>
            {
                Stop::Repairable(Edit::QuoteUnescaped(offset), fault)
            }
            _ => Stop::Fault(fault),
        }
    }
}

/// Returns where a place of a text in memory is, in bytes.
fn offset(place: &Marker) -> usize {
    place.byte_offset().expect("a text in memory has offsets")
}
