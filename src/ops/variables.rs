//! The variables of a template, as `--list-variables` shows them.

mod paths;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use crate::template::{Mention, Rendering, Template, Variable};
use crate::yaml::{Form, Outline};

/// A variable of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TemplateVariable {
    /// Name.
    pub name: String,
    /// The default as the template has it, or what the command would set; `None` when a value is required, or when the default
    /// is known to a cluster only.
    pub default: Option<String>,
    /// Whether rendering fails without a value.
    pub required: bool,
    /// Where the template uses it, in the order of the text.
    pub uses: Vec<VariableUse>,
    /// Whose default it is.
    #[serde(skip)]
    pub default_source: DefaultSource,
    /// Whether all uses are within other references; clusterctl's lists lack such a variable, for it is never missing.
    #[serde(skip)]
    pub only_nested: bool,
}

/// Whose the default of a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultSource {
    /// The template's, or nobody's.
    Template,
    /// The command's: it would set the variable to this.
    Command,
    /// The current namespace, whichever that is: a list does not tell it.
    CurrentNamespace,
}

/// A place where a template uses a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VariableUse {
    /// The document, from 1, among those that hold something; `None` outside of documents, or when the template is no YAML.
    pub document: Option<usize>,
    /// The way to the field in it, as in `spec.containers[0].image`; `None` in comments too. Keys are those of the template:
    /// `labels.${KEY}`.
    pub path: Option<String>,
    /// The line of the template, from 1.
    pub line: usize,
}

/// Lists the variables of a template, sorted by name.
pub(super) fn list(template: &Template) -> Vec<TemplateVariable> {
    let mut uses = Places::of(template).uses(template);
    let outermost = template.variables();
    let variable = |mention: Mention<'_>| {
        let place = outermost.binary_search_by(|variable| variable.name.as_str().cmp(mention.name));
        TemplateVariable {
            uses: uses.remove(mention.name).unwrap_or_default(),
            default: match place {
                Ok(place) => outermost[place].default.clone(),
                Err(_) => mention.default.map(|(text, _)| text),
            },
            name: mention.name.to_owned(),
            required: mention.required,
            default_source: DefaultSource::Template,
            only_nested: place.is_err(),
        }
    };
    template.mentions().into_iter().map(variable).collect()
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
            let text = std::str::from_utf8(&rendering.text).ok()?;
            let outline = paths::as_written(Outline::of(text).ok()?, text, &rendering);
            Some((rendering, outline))
        };
        let attempt = template.render_tracked(everywhere).ok().and_then(outlined);
        Self(attempt.or_else(|| template.render_tracked(required).ok().and_then(outlined)))
    }

    /// Returns the uses of each name. A use within another reference is where that one is.
    fn uses<'n>(&self, template: &'n Template) -> BTreeMap<&'n str, Vec<VariableUse>> {
        let mut uses: BTreeMap<&str, Vec<VariableUse>> = BTreeMap::new();
        for reference in template.references() {
            let (document, path) = match &self.0 {
                Some((rendering, outline)) => {
                    place(outline, &rendering.substitutions[reference.outermost].range)
                }
                None => (None, None),
            };
            uses.entry(reference.name).or_default().push(VariableUse {
                document,
                path,
                line: reference.line,
            });
        }
        for uses in uses.values_mut() {
            uses.sort_by_key(|used| used.line);
            uses.dedup();
        }
        uses
    }
}

/// Returns the document and the path of a field.
fn place(outline: &Outline, range: &Range<usize>) -> (Option<usize>, Option<String>) {
    let node = outline.around(range);
    // What lies in a list or mapping, but in none of its scalars, is a comment.
    let field = node.filter(|node| node.form != Form::Collection);
    (
        node.map(|node| node.document),
        field.map(|node| node.path.clone()),
    )
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
            place(2, "spec.${A}", 9),
            place(2, "spec.${A}", 11),
        ];
        assert_eq!(uses(text, "A"), expected);
    }

    #[test]
    fn a_default_may_be_needed_for_the_template_to_be_yaml() {
        let text = "a: [1${END:=]}\nb: ${B}\n";
        assert_eq!(uses(text, "B"), [(Some(1), Some("b".to_owned()), 2)]);
        assert_eq!(uses("a: [${B}\n", "B"), [(None, None, 1)]);
    }

    #[test]
    fn names_within_other_references_are_listed_and_never_required() {
        let text = "a: ${A:=${B:=x}-${C}}\nb: ${C}\nd: [1, \"${D/a/${E}}\"]\n";
        let variables = list(&Template::parse(text).unwrap());
        let told: Vec<(&str, Option<&str>, bool, bool)> = variables
            .iter()
            .map(|variable| {
                let TemplateVariable {
                    name,
                    default,
                    required,
                    only_nested,
                    ..
                } = variable;
                (name.as_str(), default.as_deref(), *required, *only_nested)
            })
            .collect();
        let expected = [
            ("A", Some("${B}-${C}"), false, false),
            ("B", Some("x"), false, true),
            ("C", None, true, false),
            ("D", Some("a${E}"), false, false),
            ("E", None, false, true),
        ];
        assert_eq!(told, expected);
        let place = |path: &str, line| (Some(1), Some(path.to_owned()), line);
        assert_eq!(uses(text, "B"), [place("a", 1)]);
        assert_eq!(uses(text, "C"), [place("a", 1), place("b", 2)]);
        assert_eq!(uses(text, "E"), [place("d[1]", 3)]);
    }
}
