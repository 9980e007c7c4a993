//! All references of a template, those within other references included.

use super::Template;
use super::syntax::{Operator, Piece};

/// A `${...}` anywhere in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'t> {
    /// The variable that it begins with, as it is written.
    pub name: &'t str,
    /// The line where it begins, from 1.
    pub line: usize,
    /// Its default as it is written, if it has one that is not empty; of what is nested in that only `${NAME}`.
    pub default: Option<String>,
    /// The place, among those of the top level, of the reference that it is in, or of itself.
    pub outermost: usize,
}

impl Template {
    /// Returns the references in the order of the text, but those within another one before that one.
    pub fn references(&self) -> Vec<Reference<'_>> {
        let top_level = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Reference(index) => Some(*index),
            Piece::Text(_) | Piece::Unescaped(_) => None,
        });
        let mut found = Vec::with_capacity(self.expressions.len());
        for (outermost, index) in top_level.enumerate() {
            // What is inside of a reference comes right before it.
            found.extend((found.len()..=index).map(|index| self.reference(index, outermost)));
        }
        found
    }

    fn reference(&self, index: usize, outermost: usize) -> Reference<'_> {
        let expression = &self.expressions[index];
        let default = match expression.operator {
            Operator::Default(_) => self.default_of(expression),
            _ => Vec::new(),
        };
        Reference {
            name: &self.names[expression.name],
            line: expression.line,
            default: (!default.is_empty()).then(|| String::from_utf8_lossy(&default).into_owned()),
            outermost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_come_with_line_default_and_the_outermost_one() {
        let template = Template::parse("${A}\n${B:=${C:=x}${D#y}}\n${A:=}").unwrap();
        let reference = |name, line, default: Option<&str>, outermost| Reference {
            name,
            line,
            default: default.map(str::to_owned),
            outermost,
        };
        let expected = [
            reference("A", 1, None, 0),
            reference("C", 2, Some("x"), 1),
            reference("D", 2, None, 1),
            reference("B", 2, Some("${C}${D}"), 1),
            reference("A", 3, None, 2),
        ];
        assert_eq!(template.references(), expected);
    }
}
