//! Substitution, written a second time: slow, plain, one rule after the other. What it has in common with
//! `capictl::template` is the language, that of clusterctl's simple processor, and nothing else.
//!
//! It works on a tree of nested references and descends by recursion, so a template that nests very deeply is not for it.

use std::collections::BTreeMap;

use icu_properties::{CodePointMapData, props::GeneralCategory as Category};

/// Results longer than this are not worked out.
const LONGEST: usize = 1 << 20;

/// The ways in which rendering fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The kind of mistake, and line and column of the reference.
    Parse(&'static str, Place),
    /// Names in byte order.
    Missing(Vec<String>),
    /// A substring that ends before it begins: name of the variable and line.
    NegativeLength(String, usize),
    /// Beyond what the model works out.
    TooLong,
}

/// Line and column, in characters, both from 1.
pub type Place = (usize, usize);

/// A variable that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub default: Option<String>,
    pub lines: Vec<usize>,
}

/// A node of the tree.
#[derive(Debug)]
enum Node {
    Text(Vec<u8>),
    Reference(Reference),
}

#[derive(Debug)]
struct Reference {
    name: String,
    /// As it is spelled; `length` for `${#V}`, `default` for the five spellings of that.
    operator: String,
    arguments: Vec<Node>,
    line: usize,
}

/// A parsed template.
#[derive(Debug)]
pub struct Model(Vec<Node>);

impl Model {
    pub fn parse(template: &[u8]) -> Result<Self, Failure> {
        let (mut text, mut places) = normalise(template);
        let end = text.iter().position(|byte| *byte == 0);
        text.truncate(end.unwrap_or(text.len()));
        places.truncate(text.len());
        let mut parser = Parser {
            text,
            places,
            at: 0,
        };
        parser.template().map(Self)
    }

    /// Sorted by name. Of several references to one name the first counts.
    pub fn variables(&self) -> Vec<Listed> {
        let mut listed: BTreeMap<&str, Listed> = BTreeMap::new();
        for node in &self.0 {
            let Node::Reference(reference) = node else {
                continue;
            };
            let variable = listed.entry(&reference.name).or_insert_with(|| {
                let default = default_of(reference);
                Listed {
                    name: reference.name.clone(),
                    default: (!default.is_empty())
                        .then(|| String::from_utf8_lossy(&default).into_owned()),
                    lines: Vec::new(),
                }
            });
            if !variable.lines.contains(&reference.line) {
                variable.lines.push(reference.line);
            }
        }
        listed.into_values().collect()
    }

    pub fn render(&self, values: &BTreeMap<String, String>) -> Result<Vec<u8>, Failure> {
        let missing: Vec<String> = self
            .variables()
            .into_iter()
            .filter(|variable| variable.default.is_none() && !values.contains_key(&variable.name))
            .map(|variable| variable.name)
            .collect();
        if !missing.is_empty() {
            return Err(Failure::Missing(missing));
        }
        let mut output = Vec::new();
        for node in &self.0 {
            output.extend(evaluate(node, values)?);
            if output.len() > LONGEST {
                return Err(Failure::TooLong);
            }
        }
        Ok(output)
    }
}

fn default_of(reference: &Reference) -> Vec<u8> {
    let mut default = Vec::new();
    for argument in &reference.arguments {
        match argument {
            Node::Text(text) => default.extend(text),
            Node::Reference(nested) => default.extend(format!("${{{}}}", nested.name).bytes()),
        }
    }
    default
}

// 1. White space in bare references.

/// Takes the white space out of `${ NAME }`; with each byte that is left goes its place in the original.
fn normalise(template: &[u8]) -> (Vec<u8>, Vec<Place>) {
    let places = places_of(template);
    let (mut text, mut kept) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < template.len() {
        let bare = bare_reference(&template[at..]);
        let length = bare.unwrap_or(1);
        for index in at..at + length {
            if bare.is_none() || !is_space(template[index]) {
                text.push(template[index]);
                kept.push(places[index]);
            }
        }
        at += length;
    }
    (text, kept)
}

/// The length of the `${`, name, `}` at the front, with any white space around the name.
fn bare_reference(text: &[u8]) -> Option<usize> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    if !text.starts_with(b"${") {
        return None;
    }
    let mut at = 2;
    while at < text.len() && is_space(text[at]) {
        at += 1;
    }
    let name = at;
    while at < text.len() && is_word(text[at]) {
        at += 1;
    }
    if at == name {
        return None;
    }
    while at < text.len() && is_space(text[at]) {
        at += 1;
    }
    (text.get(at) == Some(&b'}')).then_some(at + 1)
}

fn is_space(byte: u8) -> bool {
    b"\t\n\x0C\r ".contains(&byte)
}

fn places_of(text: &[u8]) -> Vec<Place> {
    let (mut line, mut column) = (1, 0);
    let mut places = Vec::new();
    for byte in text {
        let continues = byte & 0xC0 == 0x80;
        column += usize::from(!continues);
        places.push((line, column));
        if *byte == b'\n' {
            (line, column) = (line + 1, 0);
        }
    }
    places
}

// 2. The grammar.

struct Parser {
    text: Vec<u8>,
    places: Vec<Place>,
    at: usize,
}

type Parsed<T> = Result<T, Failure>;

impl Parser {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn sees(&self, expected: &[u8]) -> bool {
        self.rest().starts_with(expected)
    }

    fn takes(&mut self, expected: &[u8]) -> bool {
        let sees = self.sees(expected);
        if sees {
            self.at += expected.len();
        }
        sees
    }

    fn template(&mut self) -> Parsed<Vec<Node>> {
        let mut nodes = Vec::new();
        while self.at < self.text.len() {
            if self.sees(b"${") {
                nodes.push(Node::Reference(self.reference()?));
            } else if self.takes(b"$$") {
                nodes.push(Node::Text(vec![b'$']));
            } else {
                nodes.push(Node::Text(vec![self.text[self.at]]));
                self.at += 1;
            }
        }
        Ok(nodes)
    }

    fn reference(&mut self) -> Parsed<Reference> {
        let place = self.places[self.at];
        self.at += 2;
        let fault = |kind| Failure::Parse(kind, place);
        if self.takes(b"#") {
            let name = self.name();
            if name.is_empty() || !self.takes(b"}") {
                return Err(fault("malformed-expression"));
            }
            return Ok(Reference {
                name,
                operator: "length".into(),
                arguments: Vec::new(),
                line: place.0,
            });
        }
        let name = self.name();
        if name.is_empty() {
            return Err(fault("bad-name"));
        }
        let operator = self.operator().map_err(fault)?;
        let arguments = match operator.as_str() {
            "" => Vec::new(),
            "default" => self.pieces(place)?,
            ":" => self.two_arguments(place, b":}", b':', false)?,
            "/" | "//" | "/#" | "/%" => self.two_arguments(place, b"/", b'/', true)?,
            "#" | "##" | "%" | "%%" => {
                let argument = self.argument(place, b"}", false)?;
                if !self.takes(b"}") {
                    return Err(fault("malformed-expression"));
                }
                vec![argument]
            }
            _ => {
                if !self.takes(b"}") {
                    return Err(fault("malformed-expression"));
                }
                Vec::new()
            }
        };
        Ok(Reference {
            name,
            operator,
            arguments,
            line: place.0,
        })
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let (Some(character), length) = decode(self.rest()) {
            if !is_of_a_name(character) {
                break;
            }
            name.push(character);
            self.at += length;
        }
        name
    }

    /// Of a bare reference, takes the `}` too.
    fn operator(&mut self) -> Result<String, &'static str> {
        if self.takes(b"}") {
            return Ok(String::new());
        }
        for default in ["=", ":=", ":-", ":?", ":+"] {
            if self.takes(default.as_bytes()) {
                return Ok("default".into());
            }
        }
        for operator in ["//", "/#", "/%", "/", "##", "#", "%%", "%"] {
            if self.takes(operator.as_bytes()) {
                return Ok(operator.into());
            }
        }
        for casing in ["^^", "^,", ",^", ",,", "^", ","] {
            if self.takes(casing.as_bytes()) {
                return Ok(casing.into());
            }
        }
        if !self.takes(b":") {
            return Err("expected-close");
        }
        match decode(self.rest()) {
            (_, 1) => Ok(":".into()),
            _ => Err("malformed-expression"),
        }
    }

    /// Any number of texts and references up to `}`.
    fn pieces(&mut self, place: Place) -> Parsed<Vec<Node>> {
        let mut pieces = Vec::new();
        while !self.takes(b"}") {
            pieces.push(self.argument(place, b"}", false)?);
        }
        Ok(pieces)
    }

    /// `first }` and `first delimiters second }`. Of a replacement the delimiter is a must and the second argument is
    /// not; of a substring it is the other way round.
    fn two_arguments(
        &mut self,
        place: Place,
        stops: &[u8],
        delimiter: u8,
        replaces: bool,
    ) -> Parsed<Vec<Node>> {
        let malformed = || Failure::Parse("malformed-expression", place);
        let mut arguments = vec![self.argument(place, stops, replaces)?];
        if !replaces && self.takes(b"}") {
            return Ok(arguments);
        }
        if !self.takes(&[delimiter]) {
            return Err(malformed());
        }
        while self.takes(&[delimiter]) {}
        if replaces && self.takes(b"}") {
            return Ok(arguments);
        }
        arguments.push(self.argument(place, b"}", replaces)?);
        if !self.takes(b"}") {
            return Err(malformed());
        }
        Ok(arguments)
    }

    /// One reference, or one run of other characters.
    fn argument(&mut self, place: Place, stops: &[u8], escapes: bool) -> Parsed<Node> {
        if self.sees(b"${") {
            return self.reference().map(Node::Reference);
        }
        let start = self.at;
        let mut run = Vec::new();
        while self.at < self.text.len() && !self.sees(b"${") {
            let byte = self.text[self.at];
            if stops.contains(&byte) {
                break;
            }
            let escaped = [&b"$$"[..], b"\\/", b"\\\\"];
            if escapes && escaped.iter().any(|pair| self.sees(pair)) {
                run.push(self.text[self.at + 1]);
                self.at += 2;
            } else {
                run.push(byte);
                self.at += 1;
            }
        }
        if self.at == start {
            return Err(Failure::Parse("bad-argument", place));
        }
        Ok(Node::Text(run))
    }
}

/// The first character and its length. A byte that begins none is one byte long; the end of the text has length 0.
fn decode(bytes: &[u8]) -> (Option<char>, usize) {
    for length in 1..=bytes.len().min(4) {
        if let Ok(text) = std::str::from_utf8(&bytes[..length]) {
            return (text.chars().next(), length);
        }
    }
    (None, bytes.len().min(1))
}

fn is_of_a_name(character: char) -> bool {
    character == '_'
        || matches!(
            CodePointMapData::<Category>::new().get(character),
            Category::UppercaseLetter
                | Category::LowercaseLetter
                | Category::TitlecaseLetter
                | Category::ModifierLetter
                | Category::OtherLetter
                | Category::DecimalNumber
        )
}

// 3. The operators.

fn evaluate(node: &Node, values: &BTreeMap<String, String>) -> Result<Vec<u8>, Failure> {
    let reference = match node {
        Node::Text(text) => return Ok(text.clone()),
        Node::Reference(reference) => reference,
    };
    let mut arguments = Vec::new();
    for argument in &reference.arguments {
        arguments.push(evaluate(argument, values)?);
    }
    let value = values.get(&reference.name).map_or("", String::as_str);
    let bytes = value.as_bytes();
    let first = arguments.first().map_or(&[][..], Vec::as_slice);
    let second = arguments.get(1).map(Vec::as_slice);
    let result = match reference.operator.as_str() {
        "length" => value.len().to_string().into_bytes(),
        "default" if value.is_empty() => arguments.concat(),
        "^" => change_first(value, upper),
        "," => change_first(value, lower),
        "^^" => value.chars().map(upper).collect::<String>().into_bytes(),
        ",," => value.chars().map(lower).collect::<String>().into_bytes(),
        ":" => substring(bytes, first, second)
            .ok_or_else(|| Failure::NegativeLength(reference.name.clone(), reference.line))?,
        "/" => replace_first(bytes, first, second.unwrap_or_default()),
        "//" => replace_all(value, first, second.unwrap_or_default()),
        "/#" => match (second, bytes.strip_prefix(first)) {
            (Some(replacement), Some(rest)) => [replacement, rest].concat(),
            _ => bytes.to_vec(),
        },
        "/%" => match (second, bytes.strip_suffix(first)) {
            (Some(replacement), Some(rest)) => [rest, replacement].concat(),
            _ => bytes.to_vec(),
        },
        "#" => trim(bytes, first, false),
        "##" => trim(bytes, first, true),
        "%" => reverse(&trim(&reverse(bytes), &reverse(first), false)),
        "%%" => reverse(&trim(&reverse(bytes), &reverse(first), true)),
        // A bare reference, a default that is not needed, `^,` and `,^`.
        _ => bytes.to_vec(),
    };
    if result.len() > LONGEST {
        return Err(Failure::TooLong);
    }
    Ok(result)
}

fn change_first(value: &str, change: fn(char) -> char) -> Vec<u8> {
    let mut characters = value.chars();
    let first = characters.next().map(change);
    first
        .into_iter()
        .chain(characters)
        .collect::<String>()
        .into_bytes()
}

/// One character to one: where Unicode's full mapping is longer, a few Greek letters have a title case instead.
fn upper(character: char) -> char {
    let full: Vec<char> = character.to_uppercase().collect();
    match (full.as_slice(), u32::from(character)) {
        ([one], _) => *one,
        (_, code @ (0x1F80..=0x1F87 | 0x1F90..=0x1F97 | 0x1FA0..=0x1FA7)) => {
            char::from_u32(code + 8).expect("a letter")
        }
        (_, code @ (0x1FB3 | 0x1FC3 | 0x1FF3)) => char::from_u32(code + 9).expect("a letter"),
        _ => character,
    }
}

fn lower(character: char) -> char {
    match character {
        'İ' => 'i',
        _ => character.to_lowercase().next().expect("at least one"),
    }
}

/// `None` where the reference implementation crashes.
fn substring(value: &[u8], offset: &[u8], length: Option<&[u8]>) -> Option<Vec<u8>> {
    let size = value.len() as i128;
    let from = |start: i128| value[start.min(size) as usize..].to_vec();
    let Some(offset) = decimal(offset) else {
        return Some(value.to_vec());
    };
    let start = if offset < 0 {
        (size + offset).max(0)
    } else {
        offset
    };
    let Some(length) = length else {
        return Some(from(start));
    };
    let Some(length) = decimal(length) else {
        return Some(value.to_vec());
    };
    // Sums wrap around at 64 bits.
    let end = i128::from((start + length) as i64);
    if end >= size {
        Some(from(start))
    } else if end < start {
        None
    } else {
        Some(value[start as usize..end as usize].to_vec())
    }
}

/// An optional sign and digits, within 64 bits.
fn decimal(text: &[u8]) -> Option<i128> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number: i128 = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = (number * 10 + i128::from(digit - b'0')).min(1 << 100);
    }
    let number = sign * number;
    (i128::from(i64::MIN)..=i128::from(i64::MAX))
        .contains(&number)
        .then_some(number)
}

fn replace_first(value: &[u8], pattern: &[u8], replacement: &[u8]) -> Vec<u8> {
    for at in 0..=value.len() {
        if let Some(rest) = value[at..].strip_prefix(pattern) {
            return [&value[..at], replacement, rest].concat();
        }
    }
    value.to_vec()
}

fn replace_all(value: &str, pattern: &[u8], replacement: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    if pattern.is_empty() {
        for character in value.chars() {
            result.extend(replacement);
            result.extend(character.to_string().bytes());
        }
        result.extend(replacement);
        return result;
    }
    let mut rest = value.as_bytes();
    while let [first, others @ ..] = rest {
        match rest.strip_prefix(pattern) {
            Some(after) => {
                result.extend(replacement);
                rest = after;
            }
            None => {
                result.push(*first);
                rest = others;
            }
        }
    }
    result
}

/// By characters; every byte that belongs to none becomes U+FFFD.
fn reverse(bytes: &[u8]) -> Vec<u8> {
    let mut characters = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (character, length) = decode(&bytes[at..]);
        characters.push(character.unwrap_or('\u{FFFD}'));
        at += length;
    }
    characters
        .into_iter()
        .rev()
        .collect::<String>()
        .into_bytes()
}

// 4. Patterns.

/// Takes a prefix off: the longest that matches or the shortest, but never the empty one.
fn trim(value: &[u8], pattern: &[u8], longest: bool) -> Vec<u8> {
    let lengths = 1..=value.len();
    let matching = lengths.filter(|length| matches(pattern, &value[..*length]));
    let length = if longest {
        matching.max()
    } else {
        matching.min()
    };
    value[length.unwrap_or(0)..].to_vec()
}

#[derive(Debug)]
enum Element {
    Byte(u8),
    Any,
    /// Ranges, and whether it is the others that match.
    Class(Vec<(char, char)>, bool),
}

/// Whether the whole candidate matches. The first place that fits a part between two stars is the place for good.
fn matches(pattern: &[u8], candidate: &[u8]) -> bool {
    let mut parts = Vec::new();
    for (after_star, part) in cut(pattern) {
        match elements(part) {
            Some(elements) => parts.push((after_star, elements)),
            None => return false,
        }
    }
    let mut rest = candidate;
    for (index, (after_star, part)) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        if last && *after_star && part.is_empty() {
            return true;
        }
        let farthest = if *after_star { rest.len() } else { 0 };
        let mut found = None;
        for place in 0..=farthest {
            let after = after_match(part, &rest[place..]);
            if let Some(after) = after
                && (after.is_empty() || !last)
            {
                found = Some(after);
                break;
            }
        }
        match found {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

/// The parts between stars, and whether there is a star before each. A star at the end has an empty part behind it.
fn cut(pattern: &[u8]) -> Vec<(bool, &[u8])> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    let (mut after_star, mut in_class) = (false, false);
    while at < pattern.len() {
        match pattern[at] {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'*' if !in_class => {
                if start < at {
                    parts.push((after_star, &pattern[start..at]));
                }
                after_star = true;
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if after_star || start < pattern.len() {
        parts.push((after_star, &pattern[start..]));
    }
    parts
}

/// `None` for a faulty pattern.
fn elements(mut pattern: &[u8]) -> Option<Vec<Element>> {
    let mut elements = Vec::new();
    while let [first, rest @ ..] = pattern {
        pattern = rest;
        elements.push(match first {
            b'?' => Element::Any,
            b'\\' => {
                let (escaped, rest) = pattern.split_first()?;
                pattern = rest;
                Element::Byte(*escaped)
            }
            b'[' => class(&mut pattern)?,
            byte => Element::Byte(*byte),
        });
    }
    Some(elements)
}

fn class(pattern: &mut &[u8]) -> Option<Element> {
    let negated = take(pattern, b'^');
    let mut ranges = Vec::new();
    while ranges.is_empty() || !take(pattern, b']') {
        let low = member(pattern)?;
        let high = if take(pattern, b'-') {
            member(pattern)?
        } else {
            low
        };
        ranges.push((low, high));
    }
    Some(Element::Class(ranges, negated))
}

fn take(pattern: &mut &[u8], expected: u8) -> bool {
    let taken = pattern.first() == Some(&expected);
    if taken {
        *pattern = &pattern[1..];
    }
    taken
}

fn member(pattern: &mut &[u8]) -> Option<char> {
    if matches!(pattern.first(), Some(b'-' | b']')) {
        return None;
    }
    take(pattern, b'\\');
    let (character, length) = decode(pattern);
    *pattern = &pattern[length..];
    character
}

/// What is left of the candidate behind the elements; `None` if they do not match at its front.
fn after_match<'c>(elements: &[Element], mut candidate: &'c [u8]) -> Option<&'c [u8]> {
    for element in elements {
        let (character, mut length) = decode(candidate);
        if length == 0 {
            return None;
        }
        let fits = match element {
            Element::Any => true,
            Element::Byte(byte) => {
                length = 1;
                candidate[0] == *byte
            }
            Element::Class(ranges, negated) => {
                let character = character.unwrap_or('\u{FFFD}');
                let within = |(low, high): &(char, char)| (*low..=*high).contains(&character);
                ranges.iter().any(within) != *negated
            }
        };
        if !fits {
            return None;
        }
        candidate = &candidate[length..];
    }
    Some(candidate)
}
