//! The text that a template renders to, and the way back from it to the template.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;

/// A rendered template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendering<'t> {
    /// The text. A template may cut a character in two, so it need not be UTF-8.
    pub text: Vec<u8>,
    /// What came of the references of the top level, in the order of the text.
    pub substitutions: Vec<Substitution<'t>>,
}

/// What came of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution<'t> {
    /// The variable that the reference begins with.
    pub name: &'t str,
    /// The reference as the template has it, without white space around a bare name.
    pub source: Cow<'t, str>,
    /// The result is the default, for want of a value.
    pub is_default: bool,
    /// Where its result is in the rendered text, in bytes; empty when the result is.
    pub range: Range<usize>,
    /// Line of the template where the reference begins, from 1.
    pub line: usize,
    /// Line of the template where it ends.
    pub(super) end_line: usize,
}

impl Rendering<'_> {
    /// Returns the line of the template, from 1, that a byte of the rendered text comes from.
    pub fn template_line(&self, offset: usize) -> usize {
        let before = self
            .substitutions
            .partition_point(|substitution| substitution.range.start <= offset);
        let (from, line) = match before.checked_sub(1).map(|last| &self.substitutions[last]) {
            None => (0, 1),
            Some(substitution) if offset < substitution.range.end => return substitution.line,
            Some(substitution) => (substitution.range.end, substitution.end_line),
        };
        line + memchr_iter(b'\n', &self.text[from..offset.min(self.text.len())]).count()
    }

    /// Returns the offset of a line of the rendered text, from 1; the end of the text when there are not as many.
    pub fn line_start(&self, line: usize) -> usize {
        match line.checked_sub(2) {
            None => 0,
            Some(line_end) => memchr_iter(b'\n', &self.text)
                .nth(line_end)
                .map_or(self.text.len(), |offset| offset + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::template::Template;

    #[test]
    fn every_byte_leads_back_to_its_line() {
        let template = Template::parse("a: ${A}\nb: ${\n B }${C:=x}\nc: $${D}\n${E}\nend").unwrap();
        let value = |name: &str| Some(if name == "A" { "1\n2\n3" } else { "" }.to_owned());
        let rendering = template.render_tracked(value).unwrap();
        let text = std::str::from_utf8(&rendering.text).unwrap();
        assert_eq!(text, "a: 1\n2\n3\nb: x\nc: ${D}\n\nend");
        let line = |needle: &str| rendering.template_line(text.find(needle).unwrap());
        let places = ["a:", "1", "3", "b:", "x", "c:", "D", "end"];
        assert_eq!(places.map(line), [1, 1, 1, 2, 3, 4, 4, 6]);
        assert_eq!(rendering.template_line(text.len()), 6);
        assert_eq!(rendering.line_start(1), 0);
        assert_eq!(rendering.line_start(3), text.find('3').unwrap());
        assert_eq!(rendering.line_start(99), text.len());
        let names: Vec<(&str, usize)> = rendering
            .substitutions
            .iter()
            .map(|substitution| (substitution.name, substitution.line))
            .collect();
        assert_eq!(names, [("A", 1), ("B", 2), ("C", 3), ("E", 5)]);
    }
}
