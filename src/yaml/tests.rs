use proptest::prelude::*;
use serde_json::{Number, json};

use super::*;
use crate::error::Failure;

fn values(text: &str) -> Vec<Value> {
    let documents = parse_documents(text).unwrap();
    documents
        .into_iter()
        .map(|document| Value::Object(document.map))
        .collect()
}

fn value(text: &str) -> Value {
    let values = values(text);
    assert_eq!(values.len(), 1, "{text:?}");
    values.into_iter().next().unwrap()
}

/// The problem with a manifest and its place.
fn problem(text: &str) -> (usize, usize, Problem) {
    let error = parse_documents(text).unwrap_err();
    (error.line, error.column, error.problem)
}

#[test]
fn documents_without_content_are_left_out() {
    let text = "# nothing\n---\n\n---\n# a\na: 1\n--- # two\n~\n---\n\nb: 2\n---\n";
    let documents = parse_documents(text).unwrap();
    let lines: Vec<usize> = documents.iter().map(|document| document.line).collect();
    assert_eq!(lines, [6, 11]);
    assert_eq!(values(text), [json!({"a": 1}), json!({"b": 2})]);
    assert_eq!(parse_documents(""), Ok(vec![]));
}

#[test]
fn manifests_have_the_scalars_of_yaml_1_1() {
    assert_eq!(
        value(
            "a: yes\nb: \"yes\"\nc: 0644\nd: 1.0\ne: 1e3\nf: 1.5\ng: 2001-01-01\nh: 1:30\ni: ~\n"
        ),
        json!({"a": true, "b": "yes", "c": 420, "d": 1, "e": 1000, "f": 1.5, "g": "2001-01-01", "h": "1:30", "i": null})
    );
    assert_eq!(
        value("on: a\n1.0: b\n0x10: c\n010: d\n'on': e\n"),
        json!({"true": "a", "1": "b", "16": "c", "8": "d", "on": "e"})
    );
}

#[test]
fn tags_decide_and_foreign_ones_are_ignored() {
    assert_eq!(
        value(
            "a: !!str 1\nb: !!int '2'\nc: !!float 1\nd: !foo 1\ne: !!binary aGk=\nf: ! 1\ng: !foo {h: 1}\n"
        ),
        json!({"a": "1", "b": 2, "c": 1, "d": "1", "e": "hi", "f": "1", "g": {"h": 1}})
    );
    assert_eq!(problem("a: !!int x\n"), (1, 10, Problem::Tag("int")));
}

#[test]
fn the_last_of_equal_keys_counts_and_explicit_keys_win_over_merged_ones() {
    assert_eq!(value("a: 1\na: 2\n"), json!({"a": 2}));
    let merged = value("x: &x {a: 1, b: 1}\nz:\n  b: 2\n  <<: [*x, {a: 3, c: 3}]\n");
    assert_eq!(merged["z"], json!({"a": 1, "b": 2, "c": 3}));
    assert_eq!(value("a: {\"<<\": 1}\n"), json!({"a": {"<<": 1}}));
    assert_eq!(problem("a:\n  <<: 1\n"), (2, 7, Problem::MergeValue));
}

#[test]
fn aliases_are_copies() {
    assert_eq!(
        value("a: &x [1, {b: c}]\nd: *x\ne: &y f\n*y : g\n"),
        json!({"a": [1, {"b": "c"}], "d": [1, {"b": "c"}], "e": "f", "f": "g"})
    );
}

#[test]
fn a_comment_may_touch_what_is_before_it() {
    assert_eq!(
        value("a: |# one\n  # text\nb: 'x'#two\nc: x#no\nd: \"|#\"\n"),
        json!({"a": "# text\n", "b": "x", "c": "x#no", "d": "|#"})
    );
}

#[test]
fn json_byte_order_marks_and_windows_line_ends_are_fine() {
    assert_eq!(
        value("{\"a\": [1.5, \"\\u00e9\\ud83d\\ude00\\/\"]}"),
        json!({"a": [1.5, "é😀/"]})
    );
    assert_eq!(
        values("\u{FEFF}a: 1\n---\n\u{FEFF}b: 2\n"),
        [json!({"a": 1}), json!({"b": 2})]
    );
    assert_eq!(value("a: |\r\n  b\r\n  c\r\n"), json!({"a": "b\nc\n"}));
    assert_eq!(value("a: |\n  b"), json!({"a": "b\n"}));
}

#[test]
fn errors_count_lines_of_the_whole_text() {
    assert_eq!(
        Failure::from(parse_documents("a: 1\n---\n# c\n---\n\nb:\n\tc: secret\n").unwrap_err())
            .to_string(),
        "error: failed to unmarshal the 2nd yaml document: line 7, column 2: tabs disallowed within this context (block \
         indentation)\n\
         hint: indent with spaces, YAML allows no tabs there"
    );
    assert_eq!(
        problem("a: 1\n---\n- secret\n"),
        (3, 1, Problem::NotAMapping)
    );
    assert_eq!(
        problem("a: 1\n---\n\nsecret\n"),
        (4, 1, Problem::NotAMapping)
    );
    assert_eq!(
        problem("a: 1\n---\n# c\n- op: add\n  path: /a\n"),
        (4, 1, Problem::Patch)
    );
    assert_eq!(problem("a: 1\n--- secret\n"), (2, 1, Problem::Separator));
    assert_eq!(
        problem("a: 1\n? [secret]\n: 2\n"),
        (2, 3, Problem::UnsupportedKey)
    );
    assert_eq!(problem("a: 1\n~: 2\n"), (2, 1, Problem::UnsupportedKey));
    assert_eq!(problem("a: [1, .inf]\n"), (1, 8, Problem::NotFinite));
    assert_eq!(
        problem("a: x\0y\nb: 1\n"),
        (1, 5, Problem::ControlCharacter(0))
    );
}

#[test]
fn no_error_shows_any_of_the_text() {
    for text in [
        "s3cret: [",
        "a: *s3cret",
        "s3cret: s3cret: x",
        "? {s3cret: 1}\n: 2",
        "- s3cret",
        "--- s3cret",
        "a: !!int s3cret",
        "a: !s3cret!x 1",
        "a: &s3cret [*s3cret]",
        "a: \"s3cret",
        "%s3cret\na: 1",
        "a: !!binary s3cret!",
    ] {
        let message = Failure::from(parse_documents(text).unwrap_err()).to_string();
        assert!(!message.contains("s3cret"), "{message}");
    }
}

#[test]
fn aliases_cannot_fill_the_memory() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        text += &format!(
            "a{level}: &a{level} [{}]\n",
            [alias.as_str(); 10].join(", ")
        );
    }
    assert_eq!(problem(&text).2, Problem::ExcessiveAliasing);
    assert_eq!(problem("a: &a\n  b: *a\n"), (2, 6, Problem::SelfReference));
}

#[test]
fn nesting_has_a_limit_also_through_aliases() {
    let nested = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    assert!(parse_documents(&nested(200)).is_ok());
    assert!(parse_documents(&nested(200_000)).is_err());
    let mut text = "a0: &a0 [x]\n".to_owned();
    for level in 1..1000 {
        text += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert_eq!(problem(&text).2, Problem::TooDeep);
}

#[test]
fn configuration_files_follow_yaml_1_2() {
    assert_eq!(
        parse_config("a: yes\nB: 0644\n1.0: x\nc: [on, true]\n").unwrap(),
        json!({"a": "yes", "B": 420, "1.0": "x", "c": ["on", true]})
    );
    for empty in ["", "# c\n", "---\n", "~\n", "---\n# c\n---\n"] {
        assert_eq!(parse_config(empty), Ok(Value::Null), "{empty:?}");
    }
    assert_eq!(parse_config("---\na: 1\n---\n"), Ok(json!({"a": 1})));
    let error = |text| {
        let error = parse_config(text).unwrap_err();
        (error.line, error.column, error.problem)
    };
    assert_eq!(error("a: 1\nb: 2\na: 3\n"), (3, 1, Problem::DuplicateKey));
    assert_eq!(error("a: 1\n---\nb: 2\n"), (3, 1, Problem::SecondDocument));
    assert_eq!(
        parse_config("a: [\n").unwrap_err().to_string(),
        "line 1, column 4: unclosed bracket '['"
    );
}

#[test]
fn the_layout_is_that_of_go() {
    let value = json!({
        "spec": {"list": [{"b": 1, "a": [[1, 2], []]}, "x"], "empty": {}},
        "script": "#!/bin/sh\nexit 0\n",
        "long": "word ".repeat(60).trim_end(),
        "kind": "No",
    });
    let long = "word ".repeat(60);
    assert_eq!(
        render(&value),
        format!(
            "kind: \"No\"\nlong: {}\nscript: |\n  #!/bin/sh\n  exit 0\nspec:\n  empty: {{}}\n  list:\n  - a:\n    - - 1\n      \
             - 2\n    - []\n    b: 1\n  - x\n",
            long.trim_end()
        )
    );
}

#[test]
fn texts_that_readers_take_for_structure_are_quoted() {
    assert_eq!(
        render(&json!({"---a": "\tb\nc", "d": "e\n\n", "f": "\n\tg", "h": "---"})),
        "\"---a\": \"\\tb\\nc\"\nd: \"e\\n\\n\"\nf: \"\\n\\tg\"\nh: \"---\"\n"
    );
}

#[test]
fn documents_are_joined_by_separators() {
    let values = [json!({"a": 1}), json!({"b": 2})];
    assert_eq!(render_documents(&values), "a: 1\n---\nb: 2");
    assert_eq!(render_documents(&values[..1]), "a: 1");
    assert_eq!(render_documents::<Value>([]), "");
}

/// Texts that a reader could take for something else.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "yes",
        "no",
        "on",
        "y",
        "N",
        "true",
        "null",
        "~",
        "0644",
        "0x1f",
        "0b1",
        "1_000",
        "1e3",
        ".5",
        "1.",
        ".inf",
        "1:30",
        "2001-01-01",
        "<<",
        "=",
        "-",
        "- ",
        "? ",
        ": ",
        ":",
        " #",
        "#",
        "&a",
        "*a",
        "!",
        "!!str ",
        "|",
        ">",
        "%",
        "@",
        "`",
        "'",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        "---",
        "...",
        "\n---\n",
        "\u{85}",
        "\u{2028}",
        "\u{FEFF}",
        "\u{A0}",
        "\0",
        "\u{7}",
        "\u{7F}",
        "\u{80}",
        "\u{FFFF}",
        "é",
        "日",
        "😀",
        "a",
        "word",
    ]);
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![odd_text(), any::<String>(), "[a-z]{1,8}"]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number)),
        (-1000_i32..1000).prop_map(|number| Value::from(f64::from(number) / 4.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            json_map(inner).prop_map(Value::from),
        ]
    })
}

fn json_map(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::btree_map(text(), value, 0..5).prop_map(|map| map.into_iter().collect())
}

/// A float without a fraction reads back as the integer that JSON in Go writes for it.
fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float)
                if number.is_f64()
                    && float.fract() == 0.0
                    && float.abs() <= 9_007_199_254_740_992.0 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "it is exact")]
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, with_integers(value)))
            .collect(),
        other => other,
    }
}

proptest! {
    #[test]
    fn what_is_rendered_reads_back_the_same(maps in proptest::collection::vec(json_map(json_value()), 1..4)) {
        let text = render_documents(&maps) + "\n";
        let read = values(&text);
        let written: Vec<Value> = maps.into_iter().map(|map| with_integers(Value::Object(map))).collect();
        prop_assert_eq!(read, written, "{}", text);
    }

    #[test]
    fn what_is_rendered_means_the_same_in_configuration_files(value in json_value()) {
        let text = render(&value);
        prop_assert_eq!(parse_config(&text), Ok(with_integers(value)), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(a|b|: |- |\n|  |\\[|\\]|\\{|\\}|,|'|\"|#|&a|\\*a|!|<<|\\||>|---|\t|1|\\PC){0,40}") {
        let _ = parse_documents(&text);
        let _ = parse_config(&text);
    }
}
