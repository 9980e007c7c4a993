//! The variables of a template, as `--list-variables` shows them.

use serde::Serialize;

use crate::template::{Rendering, Substitution, Template, Variable};
use crate::yaml::{Form, Outline};

/// A variable of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TemplateVariable {
    /// Name.
    pub name: String,
    /// The default as the template has it, or what the command would set; `None` when a value is required.
    pub default: Option<String>,
    /// Whether rendering fails without a value.
    pub required: bool,
    /// Where the template uses it, in the order of the text.
    pub uses: Vec<VariableUse>,
    /// Whether `default` is the template's own and not the command's.
    #[serde(skip)]
    pub is_template_default: bool,
}

/// A place where a template uses a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VariableUse {
    /// The document, from 1, among those that hold something; `None` outside of documents, or when the template is no YAML.
    pub document: Option<usize>,
    /// The way to the field in it, as in `spec.containers[0].image`; `None` in comments too.
    pub path: Option<String>,
    /// The line of the template, from 1.
    pub line: usize,
}

/// Lists the variables of a template, sorted by name.
pub(super) fn list(template: &Template) -> Vec<TemplateVariable> {
    let places = Places::of(template);
    let variable = |variable: &Variable| TemplateVariable {
        name: variable.name.clone(),
        default: variable.default.clone(),
        required: variable.default.is_none(),
        uses: places.uses_of(variable),
        is_template_default: variable.default.is_some(),
    };
    template.variables().iter().map(variable).collect()
}

/// Stands for values: a plain scalar wherever one may be, whole or in part.
const PLACEHOLDER: &str = "x";

/// A rendering whose fields can be told. References alone, in a template that was not rendered, are no YAML everywhere.
struct Places<'t>(Option<(Rendering<'t>, Outline)>);

impl<'t> Places<'t> {
    /// Renders with placeholders everywhere, or, when that is no YAML, only where there is no default.
    fn of(template: &'t Template) -> Self {
        let everywhere = |_: &str| Some(PLACEHOLDER.to_owned());
        let required = |name: &str| {
            let has_default =
                |variable: &Variable| variable.name == name && variable.default.is_some();
            let optional = template.variables().iter().any(has_default);
            (!optional).then(|| PLACEHOLDER.to_owned())
        };
        let outlined = |rendering: Rendering<'t>| {
            let outline = Outline::of(std::str::from_utf8(&rendering.text).ok()?).ok()?;
            Some((rendering, outline))
        };
        let attempt = template.render_tracked(everywhere).ok().and_then(outlined);
        Self(attempt.or_else(|| template.render_tracked(required).ok().and_then(outlined)))
    }

    fn uses_of(&self, variable: &Variable) -> Vec<VariableUse> {
        let Some((rendering, outline)) = &self.0 else {
            let line_alone = |line: &usize| VariableUse {
                document: None,
                path: None,
                line: *line,
            };
            return variable.lines.iter().map(line_alone).collect();
        };
        let substitutions = rendering.substitutions.iter();
        let mut uses: Vec<VariableUse> = substitutions
            .filter(|substitution| substitution.name == variable.name)
            .map(|substitution| place(outline, substitution))
            .collect();
        uses.dedup();
        uses
    }
}

fn place(outline: &Outline, substitution: &Substitution<'_>) -> VariableUse {
    let node = outline.around(&substitution.range);
    // What lies in a list or mapping, but in none of its scalars, is a comment.
    let field = node.filter(|node| node.form != Form::Collection);
    VariableUse {
        document: node.map(|node| node.document),
        path: field.map(|node| node.path.clone()),
        line: substitution.line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(text: &str, name: &str) -> Vec<(Option<usize>, Option<String>, usize)> {
        let template = Template::parse(text).unwrap();
        let variables = list(&template);
        let variable = variables.into_iter().find(|variable| variable.name == name);
        let uses = variable.unwrap().uses.into_iter();
        uses.map(|used| (used.document, used.path, used.line))
            .collect()
    }

    #[test]
    fn uses_have_document_path_and_line() {
        let text = "# ${A}\nkind: ${A}\n---\nspec:\n  list:\n  - name: n-${A}-${A}\n  # ${A}\n  flow: [${A}, 'b${A:=c: d}']\n  ${A}: |\n    more\n    ${A}\n";
        let place = |document, path: &str, line| (Some(document), Some(path.to_owned()), line);
        let expected = [
            (None, None, 1),
            place(1, "kind", 2),
            place(2, "spec.list[0].name", 6),
            (Some(2), None, 7),
            place(2, "spec.flow[0]", 8),
            place(2, "spec.flow[1]", 8),
            place(2, "spec.x", 9),
            place(2, "spec.x", 11),
        ];
        assert_eq!(uses(text, "A"), expected);
    }

    #[test]
    fn a_default_may_be_needed_for_the_template_to_be_yaml() {
        let text = "a: [1${END:=]}\nb: ${B}\n";
        assert_eq!(uses(text, "B"), [(Some(1), Some("b".to_owned()), 2)]);
        assert_eq!(uses("a: [${B}\n", "B"), [(None, None, 1)]);
    }
}
