//! From text to pieces and expressions.
//!
//! Nesting goes as deep as the text says, so the open references are kept on a stack of their own and not on the thread's.

use std::collections::HashMap;

use memchr::{memchr, memchr2, memchr3};

use super::characters::{first_character, is_ascii_name, is_name};
use super::error::{Error, Form, Next, ParseError};
use super::normalise::{Lines, Source};
use super::syntax::{Case, End, Expression, Extent, Intent, Operator, Piece, Reach, Replace};

/// The parts of a [`super::Template`] that come from parsing.
pub(super) struct Parsed {
    pub text: Vec<u8>,
    pub ends_at_nul: bool,
    pub pieces: Vec<Piece>,
    pub expressions: Vec<Expression>,
    pub names: Vec<String>,
}

/// Parses a whole template.
pub(super) fn parse(mut text: Vec<u8>) -> Result<Parsed, Error> {
    // A NUL ends the text for the reference, wherever it stands.
    let end = memchr(0, &text);
    text.truncate(end.unwrap_or(text.len()));
    let source = Source::new(text);
    let normalised = source.normalised();
    let mut parser = Parser {
        text: normalised.as_deref().unwrap_or(source.original()),
        ends_at_nul: end.is_some(),
        at: 0,
        lines: Lines::new(&source),
        expressions: Vec::new(),
        names: Vec::new(),
        name_indices: HashMap::new(),
    };
    let pieces = parser.pieces().map_err(|fault| fault.into_error(&source))?;
    let (expressions, names) = (parser.expressions, parser.names);
    Ok(Parsed {
        text: normalised.unwrap_or_else(|| source.into_original()),
        ends_at_nul: end.is_some(),
        pieces,
        expressions,
        names,
    })
}

/// What is wrong, before the place is known by line and column.
struct Fault {
    /// Offset of the `${` of the faulty reference.
    start: usize,
    nested: bool,
    detail: ParseError,
    next: Next,
}

impl Fault {
    fn into_error(self, source: &Source) -> Error {
        let (line, column) = source.position(self.start);
        Error::Parse {
            line,
            column,
            detail: self.detail,
            next: self.next,
            nested: self.nested,
        }
    }
}

/// A reference whose `}` was not seen yet.
struct Open {
    start: usize,
    line: usize,
    name: usize,
    operator: Operator,
    arguments: Vec<Piece>,
}

/// What follows in an open reference.
enum Part {
    Close,
    Argument(Run),
}

/// Where a run of literal characters ends, and whether `$$`, `\/` and `\\` are escapes in it.
#[derive(Clone, Copy)]
struct Run {
    stops: Stops,
    escapes: bool,
}

#[derive(Clone, Copy)]
enum Stops {
    At(u8),
    AtEither(u8, u8),
}

const TO_BRACE: Run = Run {
    stops: Stops::At(b'}'),
    escapes: false,
};
const OFFSET: Run = Run {
    stops: Stops::AtEither(b':', b'}'),
    escapes: false,
};
const REPLACE_PATTERN: Run = Run {
    stops: Stops::At(b'/'),
    escapes: true,
};
const REPLACEMENT: Run = Run {
    stops: Stops::At(b'}'),
    escapes: true,
};

struct Parser<'a> {
    text: &'a [u8],
    ends_at_nul: bool,
    at: usize,
    lines: Lines<'a>,
    expressions: Vec<Expression>,
    names: Vec<String>,
    name_indices: HashMap<&'a str, usize>,
}

impl<'a> Parser<'a> {
    /// Reads the text outside of references, and every reference with all that is in it.
    fn pieces(&mut self) -> Result<Vec<Piece>, Fault> {
        let mut pieces = Vec::new();
        let mut from = 0;
        while let Some(distance) = memchr(b'$', &self.text[self.at..]) {
            let dollar = self.at + distance;
            match self.text.get(dollar + 1) {
                // `$$`: the first stays as text, the second goes.
                Some(b'$') => {
                    push_text(&mut pieces, from, dollar + 1);
                    self.at = dollar + 2;
                    from = self.at;
                }
                Some(b'{') => {
                    push_text(&mut pieces, from, dollar);
                    self.at = dollar + 2;
                    pieces.push(self.reference()?);
                    from = self.at;
                }
                _ => self.at = dollar + 1,
            }
        }
        push_text(&mut pieces, from, self.text.len());
        Ok(pieces)
    }

    /// Reads a reference whose `${` was read.
    fn reference(&mut self) -> Result<Piece, Fault> {
        let mut outer: Vec<Open> = Vec::new();
        let mut open = self.open(false)?;
        loop {
            let nested = !outer.is_empty();
            let closed = self
                .arguments(&mut open)
                .map_err(|detail| self.fault(open.start, nested, detail))?;
            if !closed {
                outer.push(open);
                open = self.open(true)?;
                continue;
            }
            let piece = self.close(open);
            match outer.pop() {
                None => return Ok(piece),
                Some(parent) => open = parent,
            }
            open.arguments.push(piece);
        }
    }

    fn close(&mut self, open: Open) -> Piece {
        self.expressions.push(Expression {
            name: open.name,
            operator: open.operator,
            arguments: open.arguments,
            range: open.start..self.at,
            line: open.line,
            end_line: self.lines.line_at(self.at),
        });
        Piece::Reference(self.expressions.len() - 1)
    }

    /// Reads the name and the operator.
    fn open(&mut self, nested: bool) -> Result<Open, Fault> {
        let start = self.at - 2;
        let line = self.lines.line_at(start);
        self.head()
            .map(|(name, operator)| Open {
                start,
                line,
                name,
                operator,
                arguments: Vec::new(),
            })
            .map_err(|detail| self.fault(start, nested, detail))
    }

    fn head(&mut self) -> Result<(usize, Operator), ParseError> {
        if self.eat(b"#") {
            let name = self.name().ok_or(ParseError::MalformedExpression {
                name: None,
                form: Form::Length,
            })?;
            return Ok((self.intern(name), Operator::Length));
        }
        let name = self.name().ok_or(ParseError::BadName)?;
        Ok((self.intern(name), self.operator(name)?))
    }

    fn name(&mut self) -> Option<&'a str> {
        let start = self.at;
        while let Some(byte) = self.text.get(self.at) {
            let length = if byte.is_ascii() {
                usize::from(is_ascii_name(*byte))
            } else {
                match first_character(&self.text[self.at..]) {
                    Some((Some(character), length)) if is_name(character) => length,
                    _ => 0,
                }
            };
            if length == 0 {
                break;
            }
            self.at += length;
        }
        let name = std::str::from_utf8(&self.text[start..self.at]).expect("made of characters");
        (!name.is_empty()).then_some(name)
    }

    fn intern(&mut self, name: &'a str) -> usize {
        let next = self.names.len();
        let index = *self.name_indices.entry(name).or_insert(next);
        if index == next {
            self.names.push(name.to_owned());
        }
        index
    }

    /// Reads what comes after the name, by its longest spelling.
    fn operator(&mut self, name: &str) -> Result<Operator, ParseError> {
        const OPERATORS: [(&[u8], Operator); 19] = [
            (b"=", Operator::Default(Intent::Default)),
            (b":=", Operator::Default(Intent::Default)),
            (b":-", Operator::Default(Intent::Default)),
            (b":?", Operator::Default(Intent::Message)),
            (b":+", Operator::Default(Intent::Alternative)),
            (b"^^", Operator::Case(Some((Case::Upper, Extent::All)))),
            (b",,", Operator::Case(Some((Case::Lower, Extent::All)))),
            (b"^,", Operator::Case(None)),
            (b",^", Operator::Case(None)),
            (b"^", Operator::Case(Some((Case::Upper, Extent::First)))),
            (b",", Operator::Case(Some((Case::Lower, Extent::First)))),
            (b"//", Operator::Replace(Replace::All)),
            (b"/#", Operator::Replace(Replace::Prefix)),
            (b"/%", Operator::Replace(Replace::Suffix)),
            (b"/", Operator::Replace(Replace::First)),
            (b"##", Operator::Trim(End::Front, Reach::Longest)),
            (b"#", Operator::Trim(End::Front, Reach::Shortest)),
            (b"%%", Operator::Trim(End::Back, Reach::Longest)),
            (b"%", Operator::Trim(End::Back, Reach::Shortest)),
        ];
        let rest = &self.text[self.at..];
        if rest.starts_with(b"}") {
            return Ok(Operator::Value);
        }
        if let Some((spelling, operator)) = OPERATORS.iter().find(|(s, _)| rest.starts_with(s)) {
            self.at += spelling.len();
            return Ok(*operator);
        }
        if !self.eat(b":") {
            return Err(ParseError::ExpectedClose { name: name.into() });
        }
        // The reference looks one byte ahead here, and takes a character of several and the end for a fault, but not a NUL.
        match first_character(&self.text[self.at..]) {
            Some((_, 1)) => Ok(Operator::Substring),
            None if self.ends_at_nul => Ok(Operator::Substring),
            _ => Err(ParseError::MalformedExpression {
                name: Some(name.into()),
                form: Form::Substring,
            }),
        }
    }

    /// Reads arguments until `}` was read (true) or the `${` of an argument that is a reference (false).
    fn arguments(&mut self, open: &mut Open) -> Result<bool, ParseError> {
        loop {
            let run = match self.part(open)? {
                Part::Close => return Ok(true),
                Part::Argument(run) => run,
            };
            if self.eat(b"${") {
                return Ok(false);
            }
            let argument = self.run(run).ok_or_else(|| ParseError::BadArgument {
                name: self.names[open.name].clone(),
                form: Form::of(open.operator),
            })?;
            open.arguments.push(argument);
        }
    }

    /// Decides by the operator and the number of arguments what must follow, and reads the delimiter before it.
    fn part(&mut self, open: &Open) -> Result<Part, ParseError> {
        let part = match (open.operator, open.arguments.len()) {
            (Operator::Default(_), _) if !self.eat(b"}") => Part::Argument(TO_BRACE),
            (Operator::Default(_), _) => Part::Close,
            (Operator::Substring, 0) => Part::Argument(OFFSET),
            (Operator::Substring, 1) if self.eat_all(b':') => Part::Argument(TO_BRACE),
            (Operator::Replace(_), 0) => Part::Argument(REPLACE_PATTERN),
            (Operator::Replace(_), 1) if !self.eat_all(b'/') => return self.malformed(open),
            (Operator::Replace(_), 1) if !self.eat(b"}") => Part::Argument(REPLACEMENT),
            (Operator::Replace(_), 1) => Part::Close,
            (Operator::Trim(..), 0) => Part::Argument(TO_BRACE),
            _ if self.eat(b"}") => Part::Close,
            _ => return self.malformed(open),
        };
        Ok(part)
    }

    fn malformed<T>(&self, open: &Open) -> Result<T, ParseError> {
        Err(ParseError::MalformedExpression {
            name: Some(self.names[open.name].clone()),
            form: Form::of(open.operator),
        })
    }

    /// Reads literal characters up to a stop, a `${` or the end; `None` when there are none.
    fn run(&mut self, run: Run) -> Option<Piece> {
        let start = self.at;
        let mut unescaped: Option<Vec<u8>> = None;
        // Everything from here on is not in `unescaped` yet.
        let mut from = start;
        while let Some(place) = self.next_special(run) {
            let escape = run.escapes && is_escape(&self.text[place..]);
            if escape {
                let text = unescaped.get_or_insert_default();
                text.extend_from_slice(&self.text[from..place]);
                from = place + 1;
                self.at = place + 2;
                continue;
            }
            let special = &self.text[place..];
            if matches!(special[0], b'$' | b'\\') && !special.starts_with(b"${") {
                self.at = place + 1;
                continue;
            }
            self.at = place;
            break;
        }
        if self.at == start {
            return None;
        }
        match unescaped {
            None => Some(Piece::Text(start..self.at)),
            Some(mut text) => {
                text.extend_from_slice(&self.text[from..self.at]);
                Some(Piece::Unescaped(text))
            }
        }
    }

    /// Returns the place of the next byte that may end a run or begin an escape; at the end of the text, moves there.
    fn next_special(&mut self, run: Run) -> Option<usize> {
        let rest = &self.text[self.at..];
        let distance = match run.stops {
            Stops::At(stop) if run.escapes => memchr3(stop, b'$', b'\\', rest),
            Stops::At(stop) => memchr2(stop, b'$', rest),
            Stops::AtEither(one, other) => memchr3(one, other, b'$', rest),
        };
        if distance.is_none() {
            self.at = self.text.len();
        }
        distance.map(|distance| self.at + distance)
    }

    fn eat(&mut self, expected: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Reads all there are of a delimiter, at least one.
    fn eat_all(&mut self, delimiter: u8) -> bool {
        let rest = &self.text[self.at..];
        let count = rest.iter().take_while(|byte| **byte == delimiter).count();
        self.at += count;
        count > 0
    }

    fn fault(&self, start: usize, nested: bool, detail: ParseError) -> Fault {
        Fault {
            start,
            nested,
            detail,
            next: Next::of(&self.text[self.at..]),
        }
    }
}

fn push_text(pieces: &mut Vec<Piece>, from: usize, to: usize) {
    if from < to {
        pieces.push(Piece::Text(from..to));
    }
}

fn is_escape(text: &[u8]) -> bool {
    matches!(text, [b'$', b'$', ..] | [b'\\', b'/' | b'\\', ..])
}
