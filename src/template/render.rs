//! From pieces and values to text.

use std::borrow::Cow;

use super::Template;
use super::error::{Error, EvaluationError};
use super::operators;
use super::rendering::{Rendering, Substitution};
use super::syntax::{Expression, Operator, Piece};

/// Renders the top level; `values` go by the index of the name, and what has none reads as empty.
pub(super) fn render<'t>(
    template: &'t Template,
    values: &[Option<String>],
) -> Result<Rendering<'t>, Error> {
    let mut evaluation = Evaluation {
        template,
        values,
        results: Vec::new(),
        held: 0,
    };
    let mut output = Vec::with_capacity(template.text.len() + template.text.len() / 8);
    let mut substitutions = Vec::new();
    let mut evaluated = 0;
    for piece in &template.pieces {
        match piece {
            Piece::Text(range) => output.extend_from_slice(&template.text[range.clone()]),
            Piece::Unescaped(text) => output.extend_from_slice(text),
            // What is inside of a reference comes right before it.
            Piece::Reference(index) => {
                for nested in evaluated..*index {
                    let mut result = Vec::new();
                    evaluation.evaluate(nested, &mut result)?;
                    evaluation.hold(result);
                }
                let start = output.len();
                evaluation.evaluate(*index, &mut output)?;
                evaluated = index + 1;
                let expression = &template.expressions[*index];
                substitutions.push(Substitution {
                    name: &template.names[expression.name],
                    source: String::from_utf8_lossy(&template.text[expression.range.clone()]),
                    is_default: matches!(expression.operator, Operator::Default(_))
                        && values[expression.name]
                            .as_deref()
                            .unwrap_or_default()
                            .is_empty(),
                    range: start..output.len(),
                    line: expression.line,
                    end_line: expression.end_line,
                });
            }
        }
    }
    Ok(Rendering {
        text: output,
        substitutions,
    })
}

struct Evaluation<'a> {
    template: &'a Template,
    values: &'a [Option<String>],
    /// Results of references whose outer one is still to come; the innermost ones last.
    results: Vec<Vec<u8>>,
    /// How long `results` are together.
    held: usize,
}

impl<'a> Evaluation<'a> {
    /// Appends the result of an expression. Those that are in it have been evaluated.
    fn evaluate(&mut self, index: usize, output: &mut Vec<u8>) -> Result<(), Error> {
        let template = self.template;
        let expression = &template.expressions[index];
        let arguments = self.take_arguments(expression);
        let value = self.values[expression.name].as_deref().unwrap_or_default();
        apply(expression.operator, value, &arguments, output)
            .and_then(|()| operators::ensure_reasonable(self.held + output.len()))
            .map_err(|problem| Error::Evaluation {
                variable: template.names[expression.name].clone(),
                line: expression.line,
                problem,
            })
    }

    fn hold(&mut self, result: Vec<u8>) {
        self.held += result.len();
        self.results.push(result);
    }

    fn take_arguments(&mut self, expression: &'a Expression) -> Vec<Cow<'a, [u8]>> {
        let is_reference = |piece: &&Piece| matches!(piece, Piece::Reference(_));
        let nested = expression.arguments.iter().filter(is_reference).count();
        let mut results = self
            .results
            .split_off(self.results.len() - nested)
            .into_iter();
        let argument = |piece: &'a Piece| match piece {
            Piece::Text(range) => Cow::Borrowed(&self.template.text[range.clone()]),
            Piece::Unescaped(text) => Cow::Borrowed(text.as_slice()),
            Piece::Reference(_) => Cow::Owned(results.next().expect("evaluated before")),
        };
        expression.arguments.iter().map(argument).collect()
    }
}

fn apply(
    operator: Operator,
    value: &str,
    arguments: &[Cow<'_, [u8]>],
    output: &mut Vec<u8>,
) -> Result<(), EvaluationError> {
    match (operator, arguments) {
        (Operator::Value | Operator::Case(None), _) => output.extend_from_slice(value.as_bytes()),
        (Operator::Length, _) => output.extend_from_slice(value.len().to_string().as_bytes()),
        (Operator::Default(_), _) if !value.is_empty() => {
            output.extend_from_slice(value.as_bytes())
        }
        (Operator::Default(_), pieces) => pieces
            .iter()
            .for_each(|piece| output.extend_from_slice(piece)),
        (Operator::Case(Some((case, extent))), _) => {
            operators::change_case(case, extent, value, output);
        }
        (Operator::Substring, [offset, rest @ ..]) => {
            let length = rest.first().map(AsRef::as_ref);
            output.extend_from_slice(operators::substring(value.as_bytes(), offset, length)?);
        }
        (Operator::Replace(replace), [pattern, rest @ ..]) => {
            let replacement = rest.first().map(AsRef::as_ref);
            operators::replace(replace, value, pattern, replacement, output)?;
        }
        (Operator::Trim(end, reach), [pattern, ..]) => {
            output.extend_from_slice(&operators::trim(end, reach, value.as_bytes(), pattern));
        }
        _ => unreachable!("the parser demands an argument for {operator:?}"),
    }
    Ok(())
}
