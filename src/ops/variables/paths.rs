//! Paths to fields as a template writes them: `labels.${KEY}` and not what `${KEY}` becomes.

use crate::template::{Rendering, Substitution};
use crate::yaml::{Form, Node, Outline};

/// Returns the outline of a rendered text with paths in which `${NAME}` stands for the results in keys.
pub(super) fn as_written(mut outline: Outline, text: &str, rendering: &Rendering) -> Outline {
    let mut around: Vec<Open> = Vec::new();
    let mut paths: Vec<String> = Vec::with_capacity(outline.nodes.len());
    for node in &outline.nodes {
        while around.last().is_some_and(|open| !open.holds(node)) {
            around.pop();
        }
        let path = match around.last_mut() {
            None => String::new(),
            Some(open) => open.path_of(node, || key_as_written(node, text, rendering)),
        };
        if node.form == Form::Collection {
            around.push(Open {
                document: node.document,
                path: &node.path,
                written: path.clone(),
                key: None,
            });
        }
        paths.push(path);
    }
    for (node, path) in outline.nodes.iter_mut().zip(paths) {
        node.path = path;
    }
    outline
}

/// A list or mapping, which nodes to come may be in.
struct Open<'o> {
    document: usize,
    path: &'o str,
    /// The path as it is written.
    written: String,
    /// A key whose value is to come, with both of its paths.
    key: Option<(&'o str, String)>,
}

impl<'o> Open<'o> {
    fn holds(&self, node: &Node) -> bool {
        let is_inside = |rest: &str| self.path.is_empty() || rest.starts_with(['.', '[']);
        let rest = node.path.strip_prefix(self.path);
        self.document == node.document && rest.is_some_and(is_inside)
    }

    fn path_of(&mut self, node: &'o Node, key: impl FnOnce() -> Option<String>) -> String {
        if let Some((path, written)) = self.key.take()
            && path == node.path
        {
            return written;
        }
        let around = &self.written;
        let segment = &node.path[self.path.len()..];
        if is_item(segment) {
            return format!("{around}{segment}");
        }
        let path = match key() {
            None => format!("{around}{segment}"),
            Some(key) if key.contains(['.', '[', ']']) => format!("{around}[{key}]"),
            Some(key) if around.is_empty() => key,
            Some(key) => format!("{around}.{key}"),
        };
        self.key = Some((&node.path, path.clone()));
        path
    }
}

/// `[7]`; the key `[7]` of a mapping has more brackets around it, and the key `7` has none.
fn is_item(segment: &str) -> bool {
    let index = segment
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    index.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a key as it is written, if results of references are in it.
fn key_as_written(node: &Node, text: &str, rendering: &Rendering) -> Option<String> {
    let quotes = match node.form {
        Form::SingleQuoted | Form::DoubleQuoted => 1,
        _ => 0,
    };
    let (start, end) = (node.range.start + quotes, node.range.end - quotes);
    let substitutions = &rendering.substitutions;
    let first =
        substitutions.partition_point(|substitution| substitution.range.end < node.range.start);
    // An empty result may touch the key that it is part of.
    let is_inside = |substitution: &&Substitution| {
        let range = &substitution.range;
        range.is_empty() || range.start < node.range.end && range.end > node.range.start
    };
    let mut inside = substitutions[first..]
        .iter()
        .take_while(|substitution| substitution.range.start <= node.range.end)
        .filter(is_inside)
        .peekable();
    inside.peek()?;
    let mut key = String::new();
    let mut at = start;
    for Substitution { name, range, .. } in inside {
        key += text.get(at..range.start).unwrap_or_default();
        key += &format!("${{{name}}}");
        at = at.max(range.end);
    }
    Some(key + text.get(at..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    #[track_caller]
    fn paths(text: &str) -> Vec<String> {
        let template = Template::parse(text).unwrap();
        let rendering = template.render_tracked(|_| Some("x".into())).unwrap();
        let text = std::str::from_utf8(&rendering.text).unwrap();
        let outline = as_written(Outline::of(text).unwrap(), text, &rendering);
        let scalars = outline.nodes.into_iter();
        scalars
            .filter(|node| node.form != Form::Collection)
            .map(|node| node.path)
            .collect()
    }

    #[test]
    fn keys_show_their_references() {
        let text = "labels:\n  ${A}: 1\n  'pre-${A}-${B}': {${B}: [x, ${A}]}\n  ${B}${C#x}:\n    d.e/${A}: {x: }\n  \
                    x: ${A}\n---\n${A}: x\n0: [{1: x}]\n";
        let expected = [
            "labels",
            "labels.${A}",
            "labels.${A}",
            "labels.pre-${A}-${B}",
            "labels.pre-${A}-${B}.${B}",
            "labels.pre-${A}-${B}.${B}[0]",
            "labels.pre-${A}-${B}.${B}[1]",
            "labels.${B}${C}",
            "labels.${B}${C}[d.e/${A}]",
            "labels.${B}${C}[d.e/${A}].x",
            "labels.${B}${C}[d.e/${A}].x",
            "labels.x",
            "labels.x",
            "${A}",
            "${A}",
            "0",
            "0[0].1",
            "0[0].1",
        ];
        assert_eq!(paths(text), expected);
    }
}
