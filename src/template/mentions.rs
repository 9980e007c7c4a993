//! All names in a template, those within other references included.

use std::collections::BTreeMap;

use super::Template;
use super::syntax::Operator;

/// A variable that a template names anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention<'t> {
    /// The name as it is written.
    pub name: &'t str,
    /// The first default that is not empty, as it is written, and its line, from 1. Arguments of other operators are none.
    pub default: Option<(String, usize)>,
    /// Whether rendering fails when it has no value.
    pub required: bool,
}

impl Template {
    /// Returns the variables that the template names, one per name, in the byte order of the names.
    pub fn mentions(&self) -> Vec<Mention<'_>> {
        let mut found: BTreeMap<&str, Mention<'_>> = BTreeMap::new();
        for expression in &self.expressions {
            let name = self.names[expression.name].as_str();
            let mention = found.entry(name).or_insert(Mention {
                name,
                default: None,
                required: false,
            });
            if matches!(expression.operator, Operator::Default(_)) && mention.default.is_none() {
                let text = self.default_of(expression);
                let text = String::from_utf8_lossy(&text).into_owned();
                mention.default = (!text.is_empty()).then_some((text, expression.line));
            }
        }
        for variable in self.variables() {
            if let Some(mention) = found.get_mut(variable.name.as_str()) {
                mention.required = variable.default.is_none();
            }
        }
        found.into_values().collect()
    }

    /// Returns every name, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_names_and_defaults_are_found() {
        let text = "${A:=${B:=x}}\n${C#p} ${D}\n${D:=late}${B}${E:=}";
        let template = Template::parse(text).unwrap();
        let mention = |name, default: Option<(&str, usize)>, required| Mention {
            name,
            default: default.map(|(text, line)| (text.to_owned(), line)),
            required,
        };
        let expected = [
            mention("A", Some(("${B}", 1)), false),
            mention("B", Some(("x", 1)), true),
            mention("C", None, false),
            mention("D", Some(("late", 3)), true),
            mention("E", None, true),
        ];
        assert_eq!(template.mentions(), expected);
        assert_eq!(template.names().count(), 5);
    }
}
