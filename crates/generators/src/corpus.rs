//! The corpus of formulas from the literature, with what Spot made of them: `../shared/ltl/reference.csv`.

use std::collections::BTreeMap;

/// A formula of the corpus: its columns by name.
pub type Row = BTreeMap<String, String>;

/// Where the corpus is.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/ltl");

/// The rows of the corpus, or nothing (said plainly) where it is missing.
pub fn read() -> Option<Vec<Row>> {
    let Ok(text) = std::fs::read_to_string(format!("{FOLDER}/reference.csv")) else {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("SKIPPED: the corpus {FOLDER} does not exist");
        }
        return None;
    };
    let mut lines = text.lines().map(fields);
    let header = lines.next()?;
    Some(lines.map(|fields| header.iter().cloned().zip(fields).collect()).collect())
}

/// The fields of a line of comma-separated values; a field in quotes may contain commas and, doubled, quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => fields[last].push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields[last].push(character),
        }
    }
    fields
}
