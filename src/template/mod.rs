//! Cluster templates: text with `${VARIABLE}` references in, text out.
//!
//! The language is that of clusterctl's simple processor over `github.com/drone/envsubst/v2`, reproduced byte for byte
//! with its oddities, since published templates depend on them; where that library crashes, there is an error here.
//! YAML is not understood at this level: comments and quoted texts are scanned too.
//!
//! ```text
//! text ─ normalise ─ parse ─┬─ variables   names, defaults, lines: what the template asks for
//!        (`${ A }`)         └─ render      missing ones first, all at once; then operators and patterns
//! ```

mod characters;
mod error;
mod holes;
mod mentions;
mod normalise;
mod operators;
mod parse;
mod pattern;
mod references;
mod render;
mod rendering;
mod syntax;

use std::borrow::Cow;
use std::sync::OnceLock;

pub use error::{
    Error, EvaluationError, Form, Lines, MissingVariable, Next, ParseError, missing_hints,
};
pub use holes::{Hole, HoleKind};
pub use mentions::Mention;
pub use references::Reference;
pub use rendering::{Rendering, Substitution};
use syntax::{Expression, Intent, Operator, Piece};

/// A parsed template. It owns its text.
#[derive(Debug, Clone)]
pub struct Template {
    /// The text after normalisation, up to the first NUL.
    text: Vec<u8>,
    /// There was more text, behind a NUL.
    ends_at_nul: bool,
    /// The top level, in text order.
    pieces: Vec<Piece>,
    /// Every reference; the nested ones come before the one that they are in.
    expressions: Vec<Expression>,
    /// Every name, also those that occur only inside other references.
    names: Vec<String>,
    /// Collected when somebody asks; for each its place in `names`.
    variables: OnceLock<(Vec<Variable>, Vec<usize>)>,
}

/// A variable that a template uses outside of other references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name as it is written.
    pub name: String,
    /// The default of the first use; `None` makes the variable a required one.
    pub default: Option<String>,
    /// The first use has an empty default, which counts as none: `${V:=}`.
    pub empty_default: bool,
    /// The lines of the uses, from 1, each once and in order.
    pub lines: Vec<usize>,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// [`Error::Parse`] at the first reference that is no valid one.
    pub fn parse(text: impl Into<Vec<u8>>) -> Result<Self, Error> {
        let parsed = parse::parse(text.into())?;
        Ok(Self {
            text: parsed.text,
            ends_at_nul: parsed.ends_at_nul,
            pieces: parsed.pieces,
            expressions: parsed.expressions,
            names: parsed.names,
            variables: OnceLock::new(),
        })
    }

    /// Returns the variables, one per name, in the byte order of the names.
    ///
    /// A name that occurs only inside another reference, as `B` in `${A:=${B}}`, is not among them and never missing.
    pub fn variables(&self) -> &[Variable] {
        &self.collected().0
    }

    /// Renders the template. `lookup` gets each name as it is written, once.
    ///
    /// # Errors
    /// [`Error::Missing`] with all required variables that have no value, before anything else; [`Error::Evaluation`] for
    /// a substring that ends before it begins, or a result beyond all reason.
    pub fn render(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<Vec<u8>, Error> {
        Ok(self.render_tracked(lookup)?.text)
    }

    /// Renders the template as [`Template::render`] does, and says where each reference of the top level went.
    ///
    /// # Errors
    /// Those of [`Template::render`].
    pub fn render_tracked(
        &self,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Rendering<'_>, Error> {
        let values: Vec<Option<String>> = self.names.iter().map(|name| lookup(name)).collect();
        self.ensure_complete(&values)?;
        render::render(self, &values)
    }

    /// Finds the places where values are lost or mistaken in silence; `lookup` as for [`Template::render`].
    pub fn holes(&self, lookup: impl Fn(&str) -> Option<String>) -> Vec<Hole> {
        let values: Vec<Option<String>> = self.names.iter().map(|name| lookup(name)).collect();
        holes::find(self, &values)
    }

    fn ensure_complete(&self, values: &[Option<String>]) -> Result<(), Error> {
        if values.iter().all(Option::is_some) {
            return Ok(());
        }
        let (variables, names) = self.collected();
        let missing: Vec<MissingVariable> = variables
            .iter()
            .zip(names)
            .filter(|(variable, name)| variable.default.is_none() && values[**name].is_none())
            .map(|(variable, _)| MissingVariable {
                name: variable.name.clone(),
                lines: variable.lines.clone(),
                empty_default: variable.empty_default,
            })
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Error::Missing(missing))
        }
    }

    fn collected(&self) -> &(Vec<Variable>, Vec<usize>) {
        self.variables.get_or_init(|| self.collect_variables())
    }

    /// The first use of a name decides on its default.
    fn collect_variables(&self) -> (Vec<Variable>, Vec<usize>) {
        let mut place_of: Vec<Option<usize>> = vec![None; self.names.len()];
        let mut found: Vec<(Variable, usize)> = Vec::new();
        for piece in &self.pieces {
            let Piece::Reference(index) = piece else {
                continue;
            };
            let expression = &self.expressions[*index];
            let place = *place_of[expression.name].get_or_insert_with(|| {
                found.push((self.first_use(expression), expression.name));
                found.len() - 1
            });
            let lines = &mut found[place].0.lines;
            if lines.last() != Some(&expression.line) {
                lines.push(expression.line);
            }
        }
        found.sort_unstable_by(|(left, _), (right, _)| left.name.cmp(&right.name));
        found.into_iter().unzip()
    }

    fn first_use(&self, expression: &Expression) -> Variable {
        let default = self.default_of(expression);
        Variable {
            name: self.names[expression.name].clone(),
            default: (!default.is_empty()).then(|| String::from_utf8_lossy(&default).into_owned()),
            empty_default: default.is_empty()
                && expression.operator == Operator::Default(Intent::Default),
            lines: Vec::new(),
        }
    }

    /// The arguments joined, whatever the operator is; of a nested reference only `${NAME}`.
    fn default_of(&self, expression: &Expression) -> Vec<u8> {
        let mut text = Vec::new();
        for piece in &expression.arguments {
            let part: Cow<'_, [u8]> = match piece {
                Piece::Text(range) => Cow::Borrowed(&self.text[range.clone()]),
                Piece::Unescaped(bytes) => Cow::Borrowed(bytes),
                Piece::Reference(index) => {
                    let name = &self.names[self.expressions[*index].name];
                    Cow::Owned(format!("${{{name}}}").into_bytes())
                }
            };
            text.extend_from_slice(&part);
        }
        text
    }
}

#[cfg(test)]
mod tests;
