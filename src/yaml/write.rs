//! From JSON values to YAML text.
//!
//! The layout is that of Go's writers where it shows in a diff: sorted keys, items not indented under their key, texts of
//! several lines as literal blocks. Long lines stay whole. Every text that a reader of YAML 1.1 or 1.2, or the cutting of
//! documents at `---`, could take for something else is in double quotes; when in doubt, it is.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::scalar::{Scalar, resolve_any};

/// The line between two documents.
const SEPARATOR: &str = "---\n";

/// The longest key that is written before its colon on one line; readers look ahead 1,024 characters.
const MAX_SIMPLE_KEY: usize = 1000;

/// Renders a JSON value as one document, with a line end at its end.
pub fn render(value: &impl Serialize) -> String {
    let mut writer = Writer::default();
    writer.document(value);
    writer.text
}

/// Renders JSON values as documents with `---` between them, none at the beginning, and without the last line end.
pub fn render_documents<'a, T: Serialize + 'a>(values: impl IntoIterator<Item = &'a T>) -> String {
    let mut writer = Writer::default();
    for value in values {
        if !writer.text.is_empty() {
            writer.text.push_str(SEPARATOR);
        }
        writer.document(value);
    }
    let mut text = writer.text;
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn document(&mut self, value: &impl Serialize) {
        let value = serde_json::to_value(value).expect("the keys of JSON values are texts");
        match &value {
            Value::Object(map) if !map.is_empty() => self.map(map, 0, false),
            Value::Array(items) if !items.is_empty() => self.list(items, 0, false),
            scalar => {
                self.scalar(scalar, 0);
                self.text.push('\n');
            }
        }
    }

    /// Writes the lines of a mapping that is not empty; `inline` when the first one has begun.
    fn map(&mut self, map: &Map<String, Value>, indent: usize, mut inline: bool) {
        for (key, value) in map {
            if !std::mem::take(&mut inline) {
                self.indent(indent);
            }
            let start = self.text.len();
            self.line(key);
            if self.text.len() - start > MAX_SIMPLE_KEY {
                self.text.insert_str(start, "? ");
                self.text.push('\n');
                self.indent(indent);
            }
            self.text.push(':');
            match value {
                Value::Object(map) if !map.is_empty() => {
                    self.text.push('\n');
                    self.map(map, indent + 2, false);
                }
                Value::Array(items) if !items.is_empty() => {
                    self.text.push('\n');
                    self.list(items, indent, false);
                }
                scalar => {
                    self.text.push(' ');
                    self.scalar(scalar, indent);
                    self.text.push('\n');
                }
            }
        }
    }

    /// Writes the lines of a list that is not empty; `inline` when the first one has begun.
    fn list(&mut self, items: &[Value], indent: usize, mut inline: bool) {
        for item in items {
            if !std::mem::take(&mut inline) {
                self.indent(indent);
            }
            self.text.push_str("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.map(map, indent + 2, true),
                Value::Array(items) if !items.is_empty() => self.list(items, indent + 2, true),
                scalar => {
                    self.scalar(scalar, indent);
                    self.text.push('\n');
                }
            }
        }
    }

    fn indent(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    /// Writes what needs no lines of its own, a literal block apart; `indent` is that of the key or the dash.
    fn scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(true) => self.text.push_str("true"),
            Value::Bool(false) => self.text.push_str("false"),
            Value::Number(number) => self.number(number),
            Value::String(text) if is_literal(text) => self.literal(text, indent + 2),
            Value::String(text) => self.line(text),
            Value::Array(_) => self.text.push_str("[]"),
            Value::Object(_) => self.text.push_str("{}"),
        }
    }

    /// A float needs a point and the sign of its exponent to be one under YAML 1.1.
    fn number(&mut self, number: &Number) {
        let digits = number.to_string();
        match digits.split_once('e') {
            Some((mantissa, exponent)) => {
                let point = if mantissa.contains('.') { "" } else { ".0" };
                let sign = if exponent.starts_with(['+', '-']) {
                    ""
                } else {
                    "+"
                };
                write!(self.text, "{mantissa}{point}e{sign}{exponent}")
                    .expect("a String takes all");
            }
            None => self.text.push_str(&digits),
        }
    }

    /// Writes a text on one line.
    fn line(&mut self, text: &str) {
        if is_plain(text) {
            self.text.push_str(text);
            return;
        }
        self.text.push('"');
        for character in text.chars() {
            self.escaped(character);
        }
        self.text.push('"');
    }

    fn escaped(&mut self, character: char) {
        match character {
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\n' => self.text.push_str("\\n"),
            '\r' => self.text.push_str("\\r"),
            '\t' => self.text.push_str("\\t"),
            character if is_printable(character) => self.text.push(character),
            character => {
                let code = u32::from(character);
                match code {
                    0..=0xFF => write!(self.text, "\\x{code:02X}"),
                    0x100..=0xFFFF => write!(self.text, "\\u{code:04X}"),
                    _ => write!(self.text, "\\U{code:08X}"),
                }
                .expect("a String takes all");
            }
        }
    }

    /// Writes a literal block without its last line end, which is that of the line.
    fn literal(&mut self, text: &str, indent: usize) {
        self.text
            .push_str(if text.ends_with('\n') { "|" } else { "|-" });
        for line in text.trim_end_matches('\n').split('\n') {
            self.text.push('\n');
            if !line.is_empty() {
                self.indent(indent);
                self.text.push_str(line);
            }
        }
    }
}

/// Tells whether a text of several lines is a literal block that every reader takes back.
///
/// A first line that is blank or begins with a blank would need an indentation indicator, and libyaml stumbles over tabs
/// there; more than one line end at the end would depend on what follows.
fn is_literal(text: &str) -> bool {
    let is_blank = |line: &str| line.trim_matches([' ', '\t']).is_empty();
    let Some((first, rest)) = text.split_once('\n') else {
        return false;
    };
    let last = rest.strip_suffix('\n').unwrap_or(rest).rsplit('\n').next();
    let ends_well = rest.is_empty() || last.is_some_and(|line| !is_blank(line));
    let begins_well = !is_blank(first) && !first.starts_with([' ', '\t']);
    begins_well
        && ends_well
        && text
            .chars()
            .all(|character| is_printable(character) || matches!(character, '\n' | '\t'))
}

/// Tells whether a text can stand without quotes, as a key and as a value.
fn is_plain(text: &str) -> bool {
    begins_plainly(text)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && resolve_any(text) == Scalar::Text
        && !is_number_or_time_elsewhere(text)
}

/// Leaves out the indicators of YAML, and the beginnings of separators and of `<<`, `=`, `.inf`.
fn begins_plainly(text: &str) -> bool {
    let mut characters = text.chars();
    let (first, second) = (characters.next(), characters.next());
    match (first, second) {
        (Some('-'), Some('-')) => !text.starts_with("---"),
        (Some('-' | '.'), Some(second)) => second.is_ascii_alphabetic() || second == '/',
        (Some('_' | '/' | '$' | '(' | '^'), _) => true,
        (Some(first), _) => first.is_alphanumeric(),
        (None, _) => false,
    }
}

/// Tells whether some reader of YAML 1.1 takes the text for a number or a time, though Go does not: a base of 60, digits
/// with odd underscores or points, a date, any spelling of infinity.
fn is_number_or_time_elsewhere(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let begins_with_digit = unsigned.starts_with(|first: char| first.is_ascii_digit());
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b"_:.,+-e".contains(&byte);
    let points = unsigned.matches('.').count();
    let is_date = unsigned.len() >= 6
        && unsigned.bytes().take(4).all(|byte| byte.is_ascii_digit())
        && unsigned[4..].starts_with('-');
    lower == ".inf"
        || lower == ".nan"
        || begins_with_digit
            && (is_date
                || lower.starts_with("0x")
                || lower.starts_with("0o")
                || lower.starts_with("0b")
                || points < 2 && lower.bytes().all(is_numeric))
}

/// Tells whether a character may stand for itself: printable, no white space but the blank, no byte order mark.
fn is_printable(character: char) -> bool {
    let is_white = character.is_whitespace() && character != ' ';
    !(character.is_control()
        || is_white
        || matches!(character, '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'))
}
