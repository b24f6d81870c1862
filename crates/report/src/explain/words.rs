//! Words: lists, quotation marks, lines.

use super::record::{Record, Told};
use crate::count;

/// A name or a text of the model, set apart from our own words.
pub(super) fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// A value: numbers speak for themselves.
pub(super) fn value(text: &str) -> String {
    if text.parse::<i64>().is_ok() { text.to_owned() } else { quoted(text) }
}

/// `a, b and c`.
pub(super) fn and(items: &[String]) -> String {
    joined(items, "and")
}

/// `a, b or c`.
pub(super) fn either(items: &[String]) -> String {
    joined(items, "or")
}

fn joined(items: &[String], word: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// The items, each once.
pub(super) fn distinct(items: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut met = Vec::new();
    for item in items {
        if !met.contains(&item) {
            met.push(item);
        }
    }
    met
}

/// The first items, and how many more there are.
pub(super) fn some_of(items: &[String], max: usize, noun: &str) -> Vec<String> {
    if items.len() <= max {
        return items.to_vec();
    }
    let mut some = items[..max].to_vec();
    some.push(count((items.len() - max) as u64, &format!("more {noun}")));
    some
}

/// A statement, and where it stands.
pub(super) fn statement(text: &str, place: Option<&str>) -> String {
    match place {
        Some(place) => format!("{} ({place})", quoted(text)),
        None => quoted(text),
    }
}

/// What happens in a step, and who does it.
pub(super) fn step_phrase(record: &Record, index: usize) -> String {
    let statements = &record.steps[index].statements;
    if !statements.is_empty() {
        return statements_phrase(record, statements);
    }
    let action = record.action(index).unwrap_or("nothing");
    let who: Vec<String> = record.who(index).map(str::to_owned).collect();
    match who.as_slice() {
        // A transition of a net.
        [one] if one == action => quoted(action),
        [] => quoted(action),
        who => format!("{} ({})", quoted(action), and(&some_of(who, 6, "process"))),
    }
}

/// Statements, together where one process executes several in a row.
fn statements_phrase(record: &Record, statements: &[Told]) -> String {
    const MAX_STATEMENTS: usize = 3;
    let mut phrases = Vec::new();
    for own in statements.chunk_by(|a, b| a.process == b.process) {
        let texts: Vec<String> = own.iter().map(|one| one.text.clone()).collect();
        let texts = match texts.len() {
            0..=MAX_STATEMENTS => quoted(&texts.join("; ")),
            n => format!(
                "{} and {}",
                quoted(&texts[..MAX_STATEMENTS].join("; ")),
                count((n - MAX_STATEMENTS) as u64, "more statement")
            ),
        };
        let name = &record.processes()[own[0].process];
        let place = own[0].place.as_ref().map_or(String::new(), |place| format!(", {place}"));
        phrases.push(format!("{texts} ({name}{place})"));
    }
    phrases.join(" with ")
}

/// A sentence in lines of about so many letters, indented, with a mark before the first line.
pub(super) fn wrap(sentence: &str, columns: usize) -> String {
    let mut text = String::from("  -");
    let mut width = 3;
    for word in sentence.split(' ') {
        let letters = word.chars().count();
        if width > 4 && width + 1 + letters > columns {
            text.push_str("\n    ");
            width = 4;
        } else {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += letters;
    }
    text.push('\n');
    text
}
