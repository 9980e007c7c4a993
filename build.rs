//! Links the program for a fixed address where the C library is glibc, as Go links clusterctl: the table of relocations
//! and the pages that a start would write with it are a twentieth of a short command's memory, and a tenth of its time.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
