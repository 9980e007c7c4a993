//! Measures [`Template`] on a template, and makes templates to measure; see `../substitution.sh`, which runs it.
//!
//! The module is compiled here once more, by its path, so that nobody has to wait for all of capictl.
//!
//! ```text
//! substitution make references|escapes|plain|nested COUNT
//!                              a template on standard output: COUNT blocks of 524 bytes, or COUNT references in one another
//! substitution values FILE     NAME=VALUE for all variables of a template
//! substitution measure FILE SECONDS < VALUES
//!                              the shortest and the median wall time of parsing and rendering, the mean processor time,
//!                              in nanoseconds, and the SHA-256 of the result
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use template::Template;

#[allow(dead_code, reason = "it is not for this program alone")]
#[path = "../../src/error.rs"]
mod error;
#[allow(dead_code, unused_imports, reason = "it is not for this program alone")]
#[path = "../../src/template/mod.rs"]
mod template;

/// Bytes of a block: a line with a reference, and lines of comment.
const BLOCK: usize = 524;
/// Two thousand blocks are filled up to a MiB.
const BLOCKS_OF_A_MIB: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["make", kind, count] => print!("{}", make(kind, count.parse()?)),
        ["values", file] => {
            for variable in Template::parse(std::fs::read(file)?)?.variables() {
                let name = &variable.name;
                println!("{name}=value-{}", name.trim_start_matches("VAR_"));
            }
        }
        ["measure", file, seconds] => {
            let limit = Duration::from_secs_f64(seconds.parse()?);
            println!(
                "{}",
                measure(&std::fs::read(file)?, &read_values()?, limit)?
            );
        }
        _ => {
            return Err(
                "usage: substitution make KIND COUNT | values FILE | measure FILE SECONDS".into(),
            );
        }
    }
    Ok(())
}

fn make(kind: &str, count: usize) -> String {
    if kind == "nested" {
        return "${A:-".repeat(count) + "x" + &"}".repeat(count);
    }
    let mut text = String::new();
    for index in 0..count {
        let end = text.len() + BLOCK;
        let number = index % 500;
        let reference = match index % 4 {
            _ if kind == "plain" => format!("value-{number}"),
            3 => format!("${{VAR_{number}:=default-{index}}}"),
            _ => format!("${{VAR_{number}}}"),
        };
        let escape = if kind == "escapes" { " $$" } else { "" };
        writeln!(text, "key_{index:05}: \"{reference}\"{escape}").expect("a String takes all");
        while text.len() < end {
            let length = (end - text.len()).min(80);
            let comment = "#".to_owned() + &"x".repeat(length.saturating_sub(2));
            text.push_str(&comment[..length - 1]);
            text.push('\n');
        }
    }
    let size = (count << 20) / BLOCKS_OF_A_MIB;
    let padding = size.saturating_sub(text.len());
    text + &"#".repeat(padding)
}

fn read_values() -> io::Result<HashMap<String, String>> {
    let lines = io::read_to_string(io::stdin())?;
    let pair = |line: &str| {
        line.split_once('=')
            .map(|(name, value)| (name.into(), value.into()))
    };
    Ok(lines.lines().filter_map(pair).collect())
}

fn measure(
    text: &[u8],
    values: &HashMap<String, String>,
    limit: Duration,
) -> Result<String, Box<dyn Error>> {
    // A template owns its text; giving it away is the caller's, as reading it is, and not part of the work.
    let substitute = |text: Vec<u8>| -> Result<Vec<u8>, template::Error> {
        Template::parse(text)?.render(|name| values.get(name).cloned())
    };
    let output = substitute(text.to_vec())?;
    let mut walls = Vec::new();
    let (before, begun) = (processor_time()?, Instant::now());
    while walls.is_empty() || begun.elapsed() < limit {
        let text = black_box(text).to_vec();
        let start = Instant::now();
        black_box(substitute(text)?);
        walls.push(start.elapsed().as_nanos());
    }
    let mean = (processor_time()? - before) / walls.len() as u128;
    walls.sort_unstable();
    let digest: String = Sha256::digest(&output)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!(
        "{} {} {mean} {digest}",
        walls[0],
        walls[walls.len() / 2]
    ))
}

/// Nanoseconds of this thread, the only one, by Linux's account.
fn processor_time() -> Result<u128, Box<dyn Error>> {
    let statistics = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(statistics.split(' ').next().unwrap_or_default().parse()?)
}
