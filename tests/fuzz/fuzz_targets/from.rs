//! Any text that `--from` may name is taken apart without a panic, tokens go where they are meant to go, and no message
//! shows credentials; what that means is written beside the code, in `src/repository/source.rs`.

#![no_main]

use arbitrary::{Arbitrary, Error, Result, Unstructured};
use capictl::repository::source::assert_sound;
use capictl_fuzz::words;
use libfuzzer_sys::fuzz_target;

/// What credentials are made of; they are where a URL has them, at the beginning or the end.
const SECRET: &str = "qZx7";
const ENTERPRISE: &str = "git.acme.example";

const BEGINNINGS: [&str; 8] = [
    "https://",
    "https://u:qZx7@",
    "http://u:qZx7@",
    "https://github.com/o/r/",
    "http://",
    "file:",
    "ftp://",
    "",
];
const ENDS: [&str; 3] = ["", "?token=qZx7", "#qZx7"];

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "https://", "://", "github.com", "www.github.com", "raw.githubusercontent.com", "api.github.com", ENTERPRISE,
    "GIT.acme.example", "acme.ghe.com", "example.com", "[::1]", "127.1", "xn--a", "::", ".", ":443", ":8443", ":80", ":", "@",
    "/", "//", "\\", "/o/r", "/blob/", "/tree/", "/raw/", "/edit/", "/blame/", "/raw", "main/", "refs/heads/", "refs/tags/",
    "x.yaml", "/releases/download/", "v1/", "/releases/", "latest/download/", "?", "&", "#", "..", "/../", "%2e%2e", "%2F",
    "%5C", "%", "%FF", "%00", "%23", "%3F", " ", "\t", "\n", "é", "日", "-", "a",
];

#[derive(Debug)]
struct Case(String);

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let beginning = input.choose(&BEGINNINGS)?;
        let end = input.choose(&ENDS)?;
        let text = words::text(input, WORDS, 4096);
        let text = String::from_utf8_lossy(&text);
        // URLs are read without tabs and line ends.
        if text.replace(['\t', '\r', '\n'], "").contains(SECRET) {
            return Err(Error::IncorrectFormat);
        }
        Ok(Self(format!("{beginning}{text}{end}")))
    }
}

fuzz_target!(|case: Case| assert_sound(&case.0, ENTERPRISE, SECRET));
