//! From the events of the YAML parser to JSON values.
//!
//! The nodes that are open are kept on a stack of their own. Aliases are expanded by copying, within a limit.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{
    ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, StrInput, Tag,
};
use serde_json::{Map, Value};

use super::error::{Fault, MAX_DEPTH, Place, Problem};
use super::scalar::{Scalar, float_key};
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
    let mut reread = 0;
    loop {
        match Reader::new(&text, first_line, rules).roots() {
            Ok(roots) => return Ok(roots),
            Err(Stop::TouchingComment(offset, _)) if reread < MAX_REREAD => {
                text.to_mut().insert(offset, ' ');
                reread += text.len();
            }
            Err(Stop::TouchingComment(_, fault) | Stop::Fault(fault)) => return Err(fault),
        }
    }
}

/// Why reading stopped.
enum Stop {
    Fault(Fault),
    /// At this byte a comment begins that touches what is before it.
    TouchingComment(usize, Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
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
    weight: usize,
    depth: usize,
}

/// A list or mapping whose end was not seen yet.
struct Open {
    place: Place,
    anchor: usize,
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
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, first_line: usize, rules: Rules) -> Self {
        let mut options = Options::default();
        options.set_emit_comments(false);
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            first_line,
            rules,
            open: Vec::new(),
            anchors: HashMap::new(),
            copied: 0,
        }
    }

    fn roots(&mut self) -> Result<Vec<Root>, Stop> {
        let mut roots = Vec::new();
        while let Some(next) = self.parser.next_event() {
            let (event, span) = next.map_err(|error| self.stop(&error))?;
            let place = self.place(&span.start);
            let Some(node) = self.node(event, place)? else {
                continue;
            };
            if let Some(Node { value, place, .. }) = self.add(node)? {
                roots.push(Root { value, place });
            }
        }
        Ok(roots)
    }

    /// Returns the node that an event completes.
    fn node(&mut self, event: Event<'_>, place: Place) -> Result<Option<Node>, Fault> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), place)?;
                self.remember(anchor, &node.value, place)?;
                Ok(Some(node))
            }
            Event::Alias(anchor) => self.alias(anchor, place).map(Some),
            Event::SequenceStart(_, anchor, _) => {
                self.begin(anchor, place, Nodes::List(Vec::new()))?;
                Ok(None)
            }
            Event::MappingStart(_, anchor, _) => {
                self.begin(anchor, place, Nodes::empty_map())?;
                Ok(None)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end().map(Some),
            _ => Ok(None),
        }
    }

    fn begin(&mut self, anchor: usize, place: Place, nodes: Nodes) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(place.fault(Problem::TooDeep));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.open.push(Open {
            place,
            anchor,
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
        self.remember(open.anchor, &value, open.place)?;
        Ok(Node {
            value,
            place: open.place,
            key: None,
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
        let meaning =
            meaning(text, plain, tag, self.rules).map_err(|problem| place.fault(problem))?;
        let key = if text == "<<" && plain && tag.is_none() || tag.is_some_and(is_merge_tag) {
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
        Ok(Node { value, place, key })
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
            Scalar::Uint(number) => Some(number.to_string()),
            Scalar::Float(number) => Some(float_key(number)),
            Scalar::Text => Some(text.to_owned()),
        }
    }

    /// Keeps the value of an anchor, if there is one, for the aliases to come.
    fn remember(&mut self, anchor: usize, value: &Value, place: Place) -> Result<(), Fault> {
        if anchor == 0 {
            return Ok(());
        }
        let weight = weight(value);
        self.copy(weight, place)?;
        let anchored = Anchored {
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
        let key = match &anchored.value {
            Value::String(text) => Some(Key::Text(text.clone())),
            value @ (Value::Bool(_) | Value::Number(_)) => Some(Key::Text(value.to_string())),
            _ => None,
        };
        Ok(Node {
            value: anchored.value.clone(),
            place,
            key,
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
            (ErrorKind::CommentNotSeparated, Some(offset)) => Stop::TouchingComment(offset, fault),
            _ => Stop::Fault(fault),
        }
    }
}
