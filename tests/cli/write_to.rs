//! `--write-to`: faults of the target are found before the work.

use crate::environment::TestEnvironment;

#[test]
fn what_cannot_be_a_file_is_refused() {
    let environment = TestEnvironment::new();
    let folder = environment.run("generate provider -i docker --write-to bin");
    insta::assert_snapshot!(folder, @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot write `bin`: it is a directory
    hint: name a file in it, e.g. `--write-to bin/output.yaml`
    ");
    let missing = environment.run("generate cluster c --write-to missing/out.yaml");
    insta::assert_snapshot!(missing, @"
    status: 1
    ---- stdout
    ---- stderr
    error: cannot write `missing/out.yaml`: the folder `missing` does not exist
    hint: create it: `mkdir -p missing`
    ");
}
