//! What a template lets slip: text that comes out other than its author may think, and no error says so.
//!
//! Published templates depend on all of it, so the result stays; whoever renders a template is told.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::fmt::{self, Display};
use std::ops::Range;

use memchr::{memchr_iter, memrchr};

use super::Template;
use super::syntax::{Expression, Intent, Operator, Piece, Replace};

/// A place of a template where a value is silently lost, or taken for something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// The line, from 1.
    pub line: usize,
    /// What happens there.
    pub kind: HoleKind,
}

/// The ways in which a template can lose a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoleKind {
    /// `${A:=${B}}`: nothing asks for `B`.
    UnsetInside {
        /// The variable without a value.
        name: String,
        /// The variable that the outer reference begins with.
        outer: String,
    },
    /// `${V#x}`, `${V:0:3}`, `${V/x/y}`: what the operator needs reads as a default.
    UnsetOperand {
        /// The variable without a value.
        name: String,
    },
    /// `${V:text}`: an offset that is no number leaves a value as it is, and was meant as a default.
    DefaultAsOffset {
        /// The variable without a value.
        name: String,
        /// The text.
        text: String,
    },
    /// `${V:?text}` puts the text in place of the value.
    MessageAsValue {
        /// The variable without a value.
        name: String,
    },
    /// `${V:+text}` is a default, not what stands for a value that is set.
    AlternativeAsDefault {
        /// The variable.
        name: String,
    },
    /// `${V:=d}` and then `${V}`: the default is good for its own place only.
    DefaultElsewhere {
        /// The variable without a value.
        name: String,
        /// Line of the use that makes the variable an optional one.
        default_line: usize,
    },
    /// `${V/x/y}` and then `${V}`: the first use makes the variable an optional one, though there is no default.
    OptionalElsewhere {
        /// The variable without a value.
        name: String,
        /// Line of the first use.
        first_line: usize,
    },
    /// `${1:-x}`, `${file:-x}`: text of a shell script, by the custom that variables of templates are in upper case.
    ShellText {
        /// The name.
        name: String,
    },
    /// What stands behind a NUL is no part of the template.
    AfterNul,
    /// `{V:=d}`, or `{V}` of a variable that is used elsewhere: the `$` is missing.
    NoDollar {
        /// What looks like a variable.
        name: String,
    },
}

impl Display for Hole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: ", self.line)?;
        match &self.kind {
            HoleKind::UnsetInside { name, outer } => write!(
                formatter,
                "`{name}`, which is part of the reference to `{outer}`, is not set and reads as empty; \
                 set it, or write `${{{name}:=...}}` there"
            ),
            HoleKind::UnsetOperand { name } => write!(
                formatter,
                "`{name}` is not set, and nothing is left of the reference; set it, or write `$${{{name}...` if this is text \
                 for a shell"
            ),
            HoleKind::DefaultAsOffset { name, text } => write!(
                formatter,
                "`{name}` is not set, and nothing is left of the reference; set it, or write `${{{name}:={text}}}` if that is its \
                 default"
            ),
            HoleKind::MessageAsValue { name } => write!(
                formatter,
                "`{name}` is not set, and the text behind `:?` takes the place of its value; set it, or write `${{{name}}}` to \
                 have it asked for"
            ),
            HoleKind::AlternativeAsDefault { name } => write!(
                formatter,
                "`${{{name}:+...}}` gives a default, as `:=` does, and not what replaces a value that is set"
            ),
            HoleKind::DefaultElsewhere { name, default_line } => write!(
                formatter,
                "`{name}` is not set and reads as empty here: what line {default_line} has in its place counts there only; set it, \
                 or give it a default here"
            ),
            HoleKind::OptionalElsewhere { name, first_line } => write!(
                formatter,
                "`{name}` is not set and reads as empty here: the way in which line {first_line} uses it makes it an optional \
                 variable; set it, or give it a default here"
            ),
            HoleKind::ShellText { name } => write!(
                formatter,
                "`${{{name}...` is read as a variable; write `$${{{name}...` if this is text for a shell"
            ),
            HoleKind::AfterNul => formatter
                .write_str("all text behind a NUL character is left out; remove the character"),
            HoleKind::NoDollar { name } => write!(
                formatter,
                "`{{{name}` looks like a variable without its `$`; write `${{{name}`"
            ),
        }
    }
}

/// Finds the holes of a template with these values, in the order of lines.
pub(super) fn find(template: &Template, values: &[Option<String>]) -> Vec<Hole> {
    let mut search = Search {
        template,
        values,
        found: Vec::new(),
    };
    search.uses();
    search.later_uses();
    search.texts();
    search.found.sort_by_key(|hole| hole.line);
    search.found.dedup();
    search.found
}

struct Search<'a> {
    template: &'a Template,
    values: &'a [Option<String>],
    found: Vec<Hole>,
}

impl Search<'_> {
    /// Looks at every reference whose result counts. An outer reference has a higher index than what is in it.
    fn uses(&mut self) {
        let expressions = &self.template.expressions;
        let mut outer_of: Vec<Option<usize>> = vec![None; expressions.len()];
        let mut counts = vec![false; expressions.len()];
        for piece in &self.template.pieces {
            if let Piece::Reference(index) = piece {
                counts[*index] = true;
            }
        }
        for (index, expression) in expressions.iter().enumerate().rev() {
            if !counts[index] {
                continue;
            }
            self.look_at(expression, outer_of[index].map(|outer| &expressions[outer]));
            let has_value = self
                .value(expression)
                .is_some_and(|value| !value.is_empty());
            let takes_value = has_value && matches!(expression.operator, Operator::Default(_));
            for argument in &expression.arguments {
                if let (Piece::Reference(nested), false) = (argument, takes_value) {
                    counts[*nested] = true;
                    outer_of[*nested] = Some(index);
                }
            }
        }
    }

    fn look_at(&mut self, expression: &Expression, outer: Option<&Expression>) {
        let name = self.name(expression);
        let unset = self.value(expression).is_none();
        let kind = match (expression.operator, outer) {
            (Operator::Default(_), None) if unset && is_shell_name(&name) => {
                HoleKind::ShellText { name }
            }
            (Operator::Default(Intent::Alternative), _) => HoleKind::AlternativeAsDefault { name },
            (Operator::Default(Intent::Message), _) if unset => HoleKind::MessageAsValue { name },
            (Operator::Default(_), Some(outer)) if unset && expression.arguments.is_empty() => {
                let outer = self.name(outer);
                HoleKind::UnsetInside { name, outer }
            }
            (Operator::Value | Operator::Length | Operator::Case(_), Some(outer)) if unset => {
                let outer = self.name(outer);
                HoleKind::UnsetInside { name, outer }
            }
            // To replace a prefix or suffix is how providers turn a set variable into a line of their own.
            (
                Operator::Substring
                | Operator::Replace(Replace::First | Replace::All)
                | Operator::Trim(..),
                _,
            ) if unset => match self.default_as_offset(expression) {
                Some(text) => HoleKind::DefaultAsOffset { name, text },
                None => HoleKind::UnsetOperand { name },
            },
            _ => return,
        };
        self.add_at(expression, kind);
    }

    /// Returns the offset of a substring that is no number, but for what a shell may have there: `${text:from}`.
    fn default_as_offset(&self, expression: &Expression) -> Option<String> {
        if expression.operator != Operator::Substring || is_shell_name(&self.name(expression)) {
            return None;
        }
        let text = self.plain_argument(expression)?;
        let is_meant = !text.is_empty() && text.trim().parse::<i64>().is_err();
        is_meant.then(|| text.to_owned())
    }

    /// Returns the argument of a reference that has one, without references in it.
    fn plain_argument(&self, expression: &Expression) -> Option<&str> {
        match &expression.arguments[..] {
            [Piece::Text(range)] => std::str::from_utf8(&self.template.text[range.clone()]).ok(),
            _ => None,
        }
    }

    /// Looks for uses of a variable that another use, the first one, has made an optional one.
    fn later_uses(&mut self) {
        let template = self.template;
        let mut first_uses: Vec<Option<&Expression>> = vec![None; template.names.len()];
        for piece in &template.pieces {
            let Piece::Reference(index) = piece else {
                continue;
            };
            let expression = &template.expressions[*index];
            if self.value(expression).is_some() {
                continue;
            }
            match (expression.operator, first_uses[expression.name]) {
                (Operator::Value | Operator::Length | Operator::Case(_), Some(first)) => {
                    if let Some(kind) = self.kind_after(first) {
                        self.add_at(expression, kind);
                    }
                }
                (_, None) => first_uses[expression.name] = Some(expression),
                _ => {}
            }
        }
    }

    /// Returns what is lost at a later use of a variable, if anything is: a default of `""` is as empty as nothing.
    fn kind_after(&self, first: &Expression) -> Option<HoleKind> {
        let name = self.name(first);
        match (first.operator, self.plain_argument(first)) {
            (Operator::Default(_), Some(r#""""# | "''")) => None,
            (Operator::Default(_), _) => Some(HoleKind::DefaultElsewhere {
                name,
                default_line: first.line,
            }),
            _ => Some(HoleKind::OptionalElsewhere {
                name,
                first_line: first.line,
            }),
        }
    }

    /// Looks through the text outside of references.
    fn texts(&mut self) {
        let template = self.template;
        let known = LazyCell::new(|| -> HashSet<&str> {
            template.names.iter().map(String::as_str).collect()
        });
        // The line of the byte up to which lines were counted.
        let (mut line, mut counted) = (1, Some(0));
        for piece in &template.pieces {
            let range = match piece {
                Piece::Text(range) => range,
                // A text follows a reference directly; there may be line ends between `${` and `}`.
                Piece::Reference(index) => {
                    (line, counted) = (template.expressions[*index].end_line, None);
                    continue;
                }
                Piece::Unescaped(_) => continue,
            };
            for (start, name, follows) in bare_references(&template.text, range) {
                if follows != b':' && !known.contains(name) {
                    continue;
                }
                let lines = &template.text[counted.unwrap_or(range.start)..start];
                (line, counted) = (line + memchr_iter(b'\n', lines).count(), Some(start));
                let name = name.to_owned();
                if !self.is_in_comment(start) {
                    self.add(line, HoleKind::NoDollar { name });
                }
            }
            let rest = &template.text[counted.unwrap_or(range.start)..range.end];
            (line, counted) = (line + memchr_iter(b'\n', rest).count(), Some(range.end));
        }
        if template.ends_at_nul {
            self.add(line, HoleKind::AfterNul);
        }
    }

    /// What is lost in a comment is no loss.
    fn add_at(&mut self, expression: &Expression, kind: HoleKind) {
        if !self.is_in_comment(expression.range.start) {
            self.add(expression.line, kind);
        }
    }

    /// Tells whether the line of a place begins with `#`, be it of YAML or of a script.
    fn is_in_comment(&self, place: usize) -> bool {
        let before = &self.template.text[..place];
        let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
        before[start..].trim_ascii_start().starts_with(b"#")
    }

    fn add(&mut self, line: usize, kind: HoleKind) {
        self.found.push(Hole { line, kind });
    }

    fn name(&self, expression: &Expression) -> String {
        self.template.names[expression.name].clone()
    }

    fn value(&self, expression: &Expression) -> Option<&str> {
        self.values[expression.name].as_deref()
    }
}

fn is_shell_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit())
}

/// Finds `{NAME}`, `{NAME:=` and `{NAME:-` in a range of the text; `NAME` is in upper case, as variables are by custom, and
/// long enough to be none of a formula. Each comes with its place, its name, and the byte behind it.
fn bare_references<'t>(
    text: &'t [u8],
    range: &Range<usize>,
) -> impl Iterator<Item = (usize, &'t str, u8)> {
    let start = range.start;
    memchr_iter(b'{', &text[range.clone()]).filter_map(move |offset| {
        let place = start + offset;
        if place > 0 && matches!(text[place - 1], b'$' | b'{') {
            return None;
        }
        let rest = &text[place + 1..];
        let is_part = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        let (name, rest) = rest.split_at(length);
        let is_reference =
            rest.starts_with(b"}") || rest.starts_with(b":=") || rest.starts_with(b":-");
        let is_name = length >= 3 && name[0].is_ascii_uppercase();
        let name = std::str::from_utf8(name).expect("it is ASCII");
        (is_reference && is_name).then(|| (place, name, rest[0]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holes(text: &str) -> Vec<String> {
        let template = Template::parse(text).unwrap();
        let value = |name: &str| (name == "SET").then(|| "value".to_owned());
        let holes = template.holes(value);
        holes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_hole_is_named_with_its_line() {
        let cases = [
            (
                "\n${A:=${B}-x}",
                "line 2: `B`, which is part of the reference to `A`, is not set and reads as empty; set it, or write \
                 `${B:=...}` there",
            ),
            (
                "${A:=${B:=}}",
                "line 1: `B`, which is part of the reference to `A`, is not set and reads as empty; set it, or write \
                 `${B:=...}` there",
            ),
            (
                "${A:0:3}",
                "line 1: `A` is not set, and nothing is left of the reference; set it, or write `$${A...` if this is text for \
                 a shell",
            ),
            (
                "${A:?set it}",
                "line 1: `A` is not set, and the text behind `:?` takes the place of its value; set it, or write `${A}` to \
                 have it asked for",
            ),
            (
                "${SET:+x}",
                "line 1: `${SET:+...}` gives a default, as `:=` does, and not what replaces a value that is set",
            ),
            (
                "${A:=1}\n${ A\n}",
                "line 2: `A` is not set and reads as empty here: what line 1 has in its place counts there only; set it, or \
                 give it a default here",
            ),
            (
                "# ${A//x/}\nk: ${A}",
                "line 2: `A` is not set and reads as empty here: the way in which line 1 uses it makes it an optional variable; \
                 set it, or give it a default here",
            ),
            (
                "${A:50Gi} ${SET:50Gi}",
                "line 1: `A` is not set, and nothing is left of the reference; set it, or write `${A:=50Gi}` if that is its \
                 default",
            ),
            (
                "a\nb\0c",
                "line 2: all text behind a NUL character is left out; remove the character",
            ),
            (
                "  echo ${file:-x}",
                "line 1: `${file...` is read as a variable; write `$${file...` if this is text for a shell",
            ),
            (
                "${1:-x}",
                "line 1: `${1...` is read as a variable; write `$${1...` if this is text for a shell",
            ),
            (
                "${ SET\n}\n$${ABC}\n{ABC:-",
                "line 4: `{ABC` looks like a variable without its `$`; write `${ABC`",
            ),
            (
                "${SET} {SET}",
                "line 1: `{SET` looks like a variable without its `$`; write `${SET`",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(holes(text), [message], "{text}");
        }
    }

    #[test]
    fn sound_templates_have_none() {
        for text in [
            "${SET:=${B}}",
            "${A:=${B:=x}}",
            "${A:=${SET}}",
            "${SET#v} ${SET:0:3} ${SET:?m}",
            "${A:=1} ${A:=2} ${A:=}",
            "${A:=\"\"} ${A} ${B:-''} ${B}",
            "${A/#arn/role: arn}",
            "# ${A#x} ${B:?m} ${1:-x} {ABC:=x} ${A}\n  # ${C:=${D}}",
            "{ABC} {{ABC}} {a} {AB:=} $${ABC:=1} {\"ABC\": 1} {ABC: 1}",
        ] {
            assert_eq!(holes(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn holes_are_in_the_order_of_lines_and_each_once() {
        let found = holes("${A#x}${A#x}\n${B:=${C}${C}}\n${A%x}");
        let lines: Vec<&str> = found.iter().map(|hole| &hole[..6]).collect();
        assert_eq!(lines, ["line 1", "line 2", "line 3"]);
    }
}
