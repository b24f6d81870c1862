//! `cargo xtask licences`: whatever we build on has a permissive licence.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

use serde_json::Value;

pub(crate) const USAGE: &str = "       cargo xtask licences";

/// Licences that ask for no more than being named.
const PERMISSIVE: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(crate) fn run() -> ExitCode {
    let mut cargo = Command::new(env!("CARGO"));
    let output =
        cargo.args(["metadata", "--format-version", "1", "--locked"]).output().expect("cargo runs this");
    let Ok(metadata) = serde_json::from_slice::<Value>(&output.stdout) else {
        eprintln!("licences: {}", String::from_utf8_lossy(&output.stderr));
        return ExitCode::FAILURE;
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut refused = 0;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("none");
        *counts.entry(licence).or_default() += 1;
        if !is_permissive(licence) {
            println!("{}: {licence}", package["name"].as_str().unwrap_or_default());
            refused += 1;
        }
    }
    for (licence, n) in &counts {
        println!("{n:4}  {licence}");
    }
    println!("licences: {} packages, {refused} not permissive", packages.len());
    if refused == 0 && !packages.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether an expression gives a permissive choice: one side of each `OR`, both of each `AND`.
fn is_permissive(licence: &str) -> bool {
    let licence = licence.trim();
    // Outside of parentheses, the weakest connective first.
    for (connective, any) in [(" OR ", true), ("/", true), (" AND ", false)] {
        let parts = split_outside(licence, connective);
        if parts.len() > 1 {
            let mut permissive = parts.into_iter().map(is_permissive);
            return if any { permissive.any(|yes| yes) } else { permissive.all(|yes| yes) };
        }
    }
    match licence.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inside) => is_permissive(inside),
        None => PERMISSIVE.contains(&licence),
    }
}

/// The parts of a text between separators that are not in parentheses.
fn split_outside<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 && at >= start && text[at..].starts_with(separator) {
            parts.push(&text[start..at]);
            start = at + separator.len();
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::{PERMISSIVE, is_permissive};

    #[test]
    fn cargo_deny_allows_the_same() {
        let file = include_str!("../../../deny.toml");
        let (_, list) = file.split_once("allow = [").expect("it has a list");
        let (list, _) = list.split_once(']').expect("the list ends");
        let allowed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(allowed, PERMISSIVE);
    }

    #[test]
    fn expressions() {
        for permissive in ["MIT", "MIT OR GPL-3.0", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(is_permissive(permissive), "{permissive}");
        }
        for other in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND MPL-2.0", "none", ""] {
            assert!(!is_permissive(other), "{other}");
        }
    }
}
