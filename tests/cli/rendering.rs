//! What `generate yaml` says about templates and values that do not fit each other. The published reports that these cases
//! follow are named by their number.

use crate::environment::TestEnvironment;

fn rendering(template: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("t.yaml", template);
    environment
}

const LINE: &str = "generate yaml --from t.yaml";

/// An empty default is none, see a8m/envsubst #61.
#[test]
fn an_empty_default_asks_for_the_value_and_a_quoted_one_does_not() {
    insta::assert_snapshot!(rendering("k: ${K:=\"\"}\n").run(LINE), @r#"
    status: 0
    ---- stdout
    k: ""
    ---- stderr
    "#);
    insta::assert_snapshot!(rendering("k: ${K:=}\nl: ${L:-}\n").run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot render `t.yaml`
      caused by: value for variables [K, L] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `K` is used in line 1; an empty default is none; where a value of YAML stands alone, `${K:=""}` makes it an empty text
    hint: `L` is used in line 2; an empty default is none; where a value of YAML stands alone, `${L:=""}` makes it an empty text
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    "#);
}

#[test]
fn a_variable_of_a_shell_script_is_told_how_to_stay_text() {
    insta::assert_snapshot!(rendering("k: echo ${file} ${1}\n").run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot render `t.yaml`
      caused by: value for variables [1, file] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `1` is used in line 1; if it is a variable of a shell, write `$${1}`
    hint: `file` is used in line 1; if it is a variable of a shell, write `$${file}`
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    ");
}

/// Nothing asks for what is inside of a default, see kubernetes-sigs/cluster-api #3270.
#[test]
fn what_is_lost_inside_of_a_default_is_named() {
    let environment = rendering(
        "a: ${E:-pre${V1}post}\nb: ${A:=${B:=${C:=deep}}}\nc: ${F:-$V1}\nd: ${NET:=${NETWORK_NAME}-net}\n",
    )
    .with("V1", "mid")
    .with("E", "");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 0
    ---- stdout
    a: premidpost
    b: deep
    c: $V1
    d: -net
    ---- stderr
    warning: `t.yaml`, line 4: `NETWORK_NAME`, which is part of the reference to `NET`, is not set and reads as empty; set it, or write `${NETWORK_NAME:=...}` there
    ");
    insta::assert_snapshot!(environment.run("generate yaml --from t.yaml --strict"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: `t.yaml` does not pass `--strict`
      - line 4: `NETWORK_NAME`, which is part of the reference to `NET`, is not set and reads as empty; set it, or write `${NETWORK_NAME:=...}` there
    ");
}

/// See fluxcd/flux2 #5836 for the kind.
#[test]
fn a_default_is_good_for_its_own_place_only() {
    insta::assert_snapshot!(rendering("a: ${N:=3}\nb: ${N}\n").run(LINE), @"
    status: 0
    ---- stdout
    a: 3
    b: null
    ---- stderr
    warning: `t.yaml`, line 2: `N` is not set and reads as empty here: what line 1 has in its place counts there only; set it, or give it a default here
    ");
    insta::assert_snapshot!(rendering("a: ${N}\nb: ${N:=3}\n").run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot render `t.yaml`
      caused by: value for variables [N] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `N` is used in lines 1, 2
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    ");
}

#[test]
fn operators_of_the_shell_that_mean_something_else_are_named() {
    let template = "a: ${A#x}\nb: ${B:0:3}x\nc: ${C/x/y}\nd: ${D:?give one}\ne: ${E:+yes}\nf: ${1:-x}\ng: '{OTHER:-x}'\n";
    insta::assert_snapshot!(rendering(template).run(LINE), @r#"
    status: 0
    ---- stdout
    a: null
    b: x
    c: null
    d: give one
    e: true
    f: x
    g: "{OTHER:-x}"
    ---- stderr
    warning: `t.yaml`, line 1: `A` is not set, and nothing is left of the reference; set it, or write `$${A...` if this is text for a shell
    warning: `t.yaml`, line 2: `B` is not set, and nothing is left of the reference; set it, or write `$${B...` if this is text for a shell
    warning: `t.yaml`, line 3: `C` is not set, and nothing is left of the reference; set it, or write `$${C...` if this is text for a shell
    warning: `t.yaml`, line 4: `D` is not set, and the text behind `:?` takes the place of its value; set it, or write `${D}` to have it asked for
    warning: `t.yaml`, line 5: `${E:+...}` gives a default, as `:=` does, and not what replaces a value that is set
    warning: `t.yaml`, line 6: `${1...` is read as a variable; write `$${1...` if this is text for a shell
    warning: `t.yaml`, line 7: `{OTHER` looks like a variable without its `$`; write `${OTHER`
    "#);
    insta::assert_snapshot!(rendering(template).run("generate yaml --from t.yaml --strict"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: `t.yaml` does not pass `--strict`
      - line 1: `A` is not set, and nothing is left of the reference; set it, or write `$${A...` if this is text for a shell
      - line 2: `B` is not set, and nothing is left of the reference; set it, or write `$${B...` if this is text for a shell
      - line 3: `C` is not set, and nothing is left of the reference; set it, or write `$${C...` if this is text for a shell
      - line 4: `D` is not set, and the text behind `:?` takes the place of its value; set it, or write `${D}` to have it asked for
      - line 5: `${E:+...}` gives a default, as `:=` does, and not what replaces a value that is set
      - line 6: `${1...` is read as a variable; write `$${1...` if this is text for a shell
      - line 7: `{OTHER` looks like a variable without its `$`; write `${OTHER`
    ");
}

/// See kubernetes-sigs/cluster-api-provider-vsphere #792 and #3028.
#[test]
fn white_space_is_fine_around_a_bare_name_only() {
    let environment = rendering("a: ${ N }\nb: ${N }\nc: ${ N}\n").with("N", "1");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 0
    ---- stdout
    a: 1
    b: 1
    c: 1
    ---- stderr
    ");
    insta::assert_snapshot!(rendering("d: ${ N:=3 }\n").run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot parse `t.yaml`
      caused by: invalid variable reference at line 1, column 4: no variable name follows the `${`
    hint: only a bare name may have white space around it, not one with an operator
    hint: if it is text for a shell or another program, write `$${` in place of `${`
    ");
}

/// See kubernetes-sigs/cluster-api #3807: the whole document was shown, passwords included.
#[test]
fn a_value_that_breaks_the_yaml_is_named_and_nothing_is_shown() {
    let template = |pool: &str| {
        format!("a: 1\n---\nresourcePool: {pool}\npassword: \"s3cret-${{P}}\"\n---\nb: 1\n")
    };
    let values =
        |environment: TestEnvironment| environment.with("POOL", "*/Resources").with("P", "abc");
    insta::assert_snapshot!(values(rendering(&template("${POOL}"))).run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `POOL`, used in line 3, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 2nd yaml document: line 3, column 15: while parsing node, found unknown anchor
    hint: put quotes around it in the template: `"${POOL}"`
    "#);
    insta::assert_snapshot!(values(rendering(&template("\"${POOL}\""))).run(LINE), @r#"
    status: 0
    ---- stdout
    a: 1
    ---
    password: s3cret-abc
    resourcePool: "*/Resources"
    ---
    b: 1
    ---- stderr
    "#);
}

#[test]
fn the_place_at_fault_is_named_and_not_the_one_above() {
    let environment = rendering("k: 1\na: \"${V}\"\nb: ${V}\nc: '${V}'\n").with("V", "a: b");
    insta::assert_snapshot!(environment.run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 3, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 3, column 5: mapping values are not allowed in this context
    hint: put quotes around it in the template: `"${V}"`
    "#);
    let environment = rendering("a: \"${V}\"\nb: '${V}'\n").with("V", "it's");
    insta::assert_snapshot!(environment.run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 2, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 2, column 8: invalid trailing content after single-quoted scalar
    hint: put quotes around it in the template: `"${V}"`
    "#);
    // The bracket that is not closed is in line 1, and it is line 2 that cannot be read.
    let environment = rendering("a: ${V}\nb: \"${V}\"\nc: '${V}'\n").with("V", "[x");
    insta::assert_snapshot!(environment.run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 1, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 2, column 2: illegal placement of ':' indicator
    hint: put quotes around it in the template: `"${V}"`
    "#);
}

#[test]
fn a_number_without_end_is_named_as_other_values_are() {
    let environment = rendering("a: ${V}\nb: ${W}\n")
        .with("V", ".inf")
        .with("W", "x: y");
    insta::assert_snapshot!(environment.run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 1, and the value of `W`, used in line 2, break the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 1, column 4: infinity and not-a-number have no counterpart in JSON
    hint: put quotes around it in the template: `"${V}"`
    "#);
}

#[test]
fn a_word_where_no_word_fits_is_named() {
    let labels = "metadata:\n  labels:\n    ${V}\n    x: ${W}\n";
    let environment = rendering(labels).with("V", "foo").with("W", "w");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 3, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 4, column 6: mapping values are not allowed in this context
    hint: the lines around have fields or items: set `V` to such lines, as in `key: value`, or to nothing
    ");
    let environment = rendering("a: 1\n${V}: 2\nb: '${W}'\n")
        .with("V", "")
        .with("W", "w #");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 2, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 2, column 1: a key must be a text, a number or a boolean
    hint: `V` is empty, and something must stand there: set it
    ");
    let environment = rendering("image: repository:${TAG}\nname: ${V}\n")
        .with("TAG", "")
        .with("V", "v");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `TAG`, used in line 1, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 1, column 18: mapping values are not allowed in this context
    hint: `TAG` is empty, and something must stand there: set it
    ");
    let environment = rendering("l:\n- image: a:${TAG}\n- image: b:${TAG}\n").with("TAG", "");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `TAG`, used in line 2, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 2, column 11: mapping values are not allowed in this context
    hint: `TAG` is empty, and something must stand there: set it
    ");
    let environment = rendering("a: ${W}\nb: !!int \"${V}\"\n")
        .with("V", "x")
        .with("W", "w");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 2, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 2, column 10: the value is no `!!int`
    hint: the tag before it asks for another type: set `V` to a value of that type, such as `1`
    ");
    let environment = rendering("${V}: 1\n").with("V", "null");
    insta::assert_snapshot!(environment.run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `V`, used in line 1, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 1, column 1: a key must be a text, a number or a boolean
    hint: put quotes around it in the template: `"${V}"`
    "#);
}

#[test]
fn what_is_no_manifest_is_told_by_its_looks() {
    insta::assert_snapshot!(rendering("a: 1\nb: {{ .Values.b }}\n").run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: what `t.yaml` renders to cannot be read
      caused by: failed to unmarshal the 1st yaml document: line 2, column 5: a key must be a text, a number or a boolean
    hint: `{{` without quotes looks like a Helm template, which is no YAML: render it with `helm template` first
    ");
    insta::assert_snapshot!(rendering("{{- if .Values.b }}\na: 1\n{{- end }}\n").run(LINE), @r#"
    status: 1
    ---- stdout
    ---- stderr
    error: what `t.yaml` renders to cannot be read
      caused by: failed to unmarshal the 1st yaml document: line 1, column 3: "-" is only valid inside a block
    hint: `{{` without quotes looks like a Helm template, which is no YAML: render it with `helm template` first
    "#);
    insta::assert_snapshot!(rendering("a: '{{ .Values.b }}'\nb: [\n").run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: what `t.yaml` renders to cannot be read
      caused by: failed to unmarshal the 1st yaml document: line 2, column 4: unclosed bracket '['
    hint: look at the indentation and the quotes there and on the lines before
    ");
    let patch = "- op: replace\n  path: /spec/replicas\n  value: 3\n";
    insta::assert_snapshot!(rendering(patch).run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: what `t.yaml` renders to cannot be read
      caused by: failed to unmarshal the 1st yaml document: line 1, column 1: the document is no mapping, but a list of operations with `op` and `path`
    hint: this looks like a JSON patch, which is no manifest: give what comes of it, as `kustomize build` prints it
    ");
    insta::assert_snapshot!(rendering("- name: x\n  path: /\n").run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: what `t.yaml` renders to cannot be read
      caused by: failed to unmarshal the 1st yaml document: line 1, column 1: the document is no mapping
    hint: every document must hold one object, with `apiVersion` and `kind`
    ");
}

#[test]
fn a_number_that_is_read_as_another_text_is_a_warning() {
    let environment = rendering("a: ${A}\nb: ${B}\nc: [${C}, '${A}', ${D}, ${E}]\nf: n${B}\n")
        .with("A", "123456789012345678901")
        .with("B", "007")
        .with("C", "0644")
        .with("D", "0")
        .with("E", "12345678901234567890");
    insta::assert_snapshot!(environment.run(LINE), @r#"
    status: 0
    ---- stdout
    a: 1.2345678901234568e+20
    b: 7
    c:
    - 420
    - "123456789012345678901"
    - 0
    - 12345678901234567890
    f: n007
    ---- stderr
    warning: `t.yaml`, line 1: YAML takes a part of the value of `A` for its own; put quotes around it in the template: `"${A}"`
    warning: `t.yaml`, line 2: YAML takes a part of the value of `B` for its own; put quotes around it in the template: `"${B}"`
    "#);
}

/// See harvester/cluster-api-provider-harvester #109.
#[test]
fn a_variable_without_its_dollar_is_pointed_at() {
    insta::assert_snapshot!(rendering("a: ${A:=1}\n{EXTRA:-  foo: 1\nb: 2\n}\n").run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: what `t.yaml` renders to cannot be read
      caused by: failed to unmarshal the 1st yaml document: line 2, column 1: simple key expected ':'
    hint: look at the indentation and the quotes there and on the lines before
    hint: line 2: `{EXTRA` looks like a variable without its `$`; write `${EXTRA`
    ");
}

/// A template knows the indentation of its own line only; the class of kubernetes-sigs/cluster-api-provider-azure #4067.
#[test]
fn several_lines_at_a_place_for_one_are_an_error_or_a_warning() {
    let environment = || rendering("data:\n  k: |\n    ${KEYS}\n");
    let broken = environment().with("KEYS", "ssh-ed25519 A\nssh-rsa B");
    insta::assert_snapshot!(broken.run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: the value of `KEYS`, used in line 3, breaks the YAML of `t.yaml` there
      caused by: failed to unmarshal the 1st yaml document: line 3, column 1: simple key expected ':'
    hint: it has several lines, and the template's indentation is that of the first one only: indent the others in `KEYS`, or give it on one line
    ");
    let misread = environment().with("KEYS", "ssh-ed25519 A\nowner: B");
    insta::assert_snapshot!(misread.run(LINE), @"
    status: 0
    ---- stdout
    data:
      k: |
        ssh-ed25519 A
    owner: B
    ---- stderr
    warning: `t.yaml`, line 3: YAML takes a part of the value of `KEYS` for its own; it has several lines, and the template's indentation is that of the first one only: indent the others in `KEYS`, or give it on one line
    ");
    insta::assert_snapshot!(misread.run("generate yaml --from t.yaml --strict"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: `t.yaml` does not pass `--strict`
      - line 3: YAML takes a part of the value of `KEYS` for its own; it has several lines, and the template's indentation is that of the first one only: indent the others in `KEYS`, or give it on one line
    ");
}

#[test]
fn what_yaml_takes_for_its_own_is_a_warning() {
    let environment = rendering("a: ${NOTE}\nb: ['${IT}', ${LIST}]\n")
        .with("NOTE", "one #two")
        .with("IT", "it''s")
        .with("LIST", "x, y");
    insta::assert_snapshot!(environment.run(LINE), @r#"
    status: 0
    ---- stdout
    a: one
    b:
    - it's
    - x
    - true
    ---- stderr
    warning: `t.yaml`, line 1: YAML takes a part of the value of `NOTE` for its own; put quotes around it in the template: `"${NOTE}"`
    warning: `t.yaml`, line 2: YAML takes a part of the value of `LIST` for its own; put quotes around it in the template: `"${LIST}"`
    "#);
}

/// See kubernetes-sigs/cluster-api #5422.
#[test]
fn no_field_of_a_definition_gets_lost() {
    let template = "image: ${IMG}\nspec:\n  default: {}\n  nullable: true\n  list: []\n  x-kubernetes-preserve-unknown-fields: true\n";
    insta::assert_snapshot!(rendering(template).run(LINE), @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot render `t.yaml`
      caused by: value for variables [IMG] is not set. Please set the value using os environment variables or the clusterctl config file
    hint: `IMG` is used in line 1
    hint: a variable set to the empty text counts as set; a template gives a default by `${NAME:=default}`
    hint: `--set NAME=VALUE` and `--values FILE` set variables too
    ");
    insta::assert_snapshot!(rendering(template).with("IMG", "demo:v1").run(LINE), @"
    status: 0
    ---- stdout
    image: demo:v1
    spec:
      default: {}
      list: []
      nullable: true
      x-kubernetes-preserve-unknown-fields: true
    ---- stderr
    ");
}

#[test]
fn raw_text_is_left_as_it_is_but_for_the_variables() {
    let script = "#!/bin/sh\n\techo \"${GREETING:=hi}, $${USER}\"  # $(date)\n: [ no YAML\n";
    insta::assert_snapshot!(rendering(script).run("generate yaml --raw --from t.yaml"), @r#"
    status: 0
    ---- stdout
    #!/bin/sh
    	echo "hi, ${USER}"  # $(date)
    : [ no YAML
    ---- stderr
    "#);
    insta::assert_snapshot!(rendering("a ${A#b} c").run("generate yaml --raw --from t.yaml"), @"
    status: 0
    ---- stdout
    a  c---- stderr
    warning: `t.yaml`, line 1: `A` is not set, and nothing is left of the reference; set it, or write `$${A...` if this is text for a shell
    ");
    insta::assert_snapshot!(rendering("a ${A#b} c").run("generate yaml --raw --strict --from t.yaml"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: `t.yaml` does not pass `--strict`
      - line 1: `A` is not set, and nothing is left of the reference; set it, or write `$${A...` if this is text for a shell
    ");
}

/// clusterctl refuses the YAML that comes of it, too.
#[test]
fn a_character_that_is_cut_in_two_is_refused() {
    let environment = rendering("a: ${A}\nb: ${B:0:1}\n")
        .with("A", "é")
        .with("B", "é");
    for line in [LINE, "generate yaml --raw --from t.yaml"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(environment.run(line), @"
            status: 1
            ---- stdout
            ---- stderr
            error: cannot render `t.yaml`
              caused by: the reference to `B` at line 2 cuts a character in two
            hint: offsets, lengths and patterns work on bytes, of which a character beyond ASCII has several
            ");
        }
    }
}

/// As clusterctl reads it, and in its silence.
#[test]
fn what_is_behind_the_end_of_a_document_is_a_warning() {
    let environment = rendering("  a: ${A}\nb: 1\n---\nc: 2\n...\nd: 3\n").with("A", "x");
    insta::assert_snapshot!(environment.run(LINE), @"
    status: 0
    ---- stdout
    a: x
    ---
    c: 2
    ---- stderr
    warning: `t.yaml`, line 2: nothing from here to the next `---` is read, for the document before has ended; begin another one with `---`, or indent this as the lines before
    warning: `t.yaml`, line 6: nothing from here to the next `---` is read, for the document before has ended; begin another one with `---`, or indent this as the lines before
    ");
    let strict = format!("{LINE} --strict");
    assert!(
        environment
            .run(&strict)
            .to_string()
            .starts_with("status: 1")
    );
}
