//! What changes between two values, by their `Debug` texts: the fields, elements and entries that differ.
//!
//! `Debug` is for people, so any text may stand there: what does not look like derived code is one piece, which
//! changes as a whole. Several values can be shown as a table in the same way: a part that all of them have is a column.

/// A value, as its text shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape<'t> {
    /// Anything, or something without parts.
    Leaf(&'t str),
    /// With parts: what stands before the bracket, the bracket, and the parts, each with its name if it has one.
    Parts { text: &'t str, name: &'t str, open: u8, parts: Vec<(&'t str, Shape<'t>)> },
}

impl<'t> Shape<'t> {
    fn text(&self) -> &'t str {
        match self {
            Shape::Leaf(text) | Shape::Parts { text, .. } => text,
        }
    }

    fn parts(&self) -> &[(&'t str, Shape<'t>)] {
        match self {
            Shape::Leaf(_) => &[],
            Shape::Parts { parts, .. } => parts,
        }
    }

    /// Whether it has parts with names.
    fn is_named(&self) -> bool {
        matches!(self, Shape::Parts { open: b'{', name, .. } if !name.is_empty())
    }

    /// How a part is called from outside.
    fn path_to(&self, path: &str, part: &str, index: usize) -> String {
        match self {
            Shape::Parts { open: b'{', .. } if path.is_empty() => part.to_owned(),
            Shape::Parts { open: b'{', name: "", .. } => format!("{path}[{part}]"),
            Shape::Parts { open: b'{', .. } => format!("{path}.{part}"),
            Shape::Parts { open: b'[', .. } => format!("{path}[{index}]"),
            _ => format!("{path}.{index}"),
        }
    }
}

/// How deep values are looked into.
const MAX_DEPTH: usize = 64;

/// Texts up to this length are shown as a whole where that is as clear.
const SHORT: usize = 60;

/// The changes, each as a line.
pub(crate) fn changes(before: &str, after: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if before != after {
        compare("", &shape(before, 0), &shape(after, 0), &mut lines);
    }
    lines
}

/// Values as a table: the names of its columns, and a row for each value.
pub(crate) fn table(values: &[String]) -> (Vec<String>, Vec<Vec<&str>>) {
    let shapes: Vec<Shape<'_>> = values.iter().map(|text| shape(text, 0)).collect();
    let (mut names, mut rows) = (Vec::new(), vec![Vec::new(); values.len()]);
    add_columns("", &shapes.iter().collect::<Vec<_>>(), &mut names, &mut rows);
    (names, rows)
}

fn add_columns<'t>(path: &str, shapes: &[&Shape<'t>], names: &mut Vec<String>, rows: &mut [Vec<&'t str>]) {
    let first = match shapes {
        [first @ Shape::Parts { parts, .. }, others @ ..]
            if !parts.is_empty() && others.iter().all(|other| are_alike(first, other)) =>
        {
            first
        }
        _ => {
            names.push(if path.is_empty() { "state".to_owned() } else { path.to_owned() });
            rows.iter_mut().zip(shapes).for_each(|(row, shape)| row.push(shape.text()));
            return;
        }
    };
    for (index, (name, _)) in first.parts().iter().enumerate() {
        let nth: Vec<&Shape<'t>> = shapes.iter().map(|shape| &shape.parts()[index].1).collect();
        add_columns(&first.path_to(path, name, index), &nth, names, rows);
    }
}

/// Whether two values have the same parts.
fn are_alike(one: &Shape<'_>, other: &Shape<'_>) -> bool {
    let (
        Shape::Parts { name, open, parts, .. },
        Shape::Parts { name: name2, open: open2, parts: parts2, .. },
    ) = (one, other)
    else {
        return false;
    };
    let is_named = parts.iter().chain(parts2).all(|part| !part.0.is_empty()) && !parts.is_empty();
    let names_agree = || parts.iter().map(|part| part.0).eq(parts2.iter().map(|part| part.0));
    (name, open) == (name2, open2)
        && (is_named && names_agree() || *open != b'{' && parts.len() == parts2.len())
}

/// Where the parts of a text begin and end that a separator divides, outside of brackets and quotes; none if brackets
/// do not match.
fn divide(text: &str, separator: u8) -> Option<Vec<&str>> {
    let bytes = text.as_bytes();
    let (mut parts, mut start, mut closing) = (Vec::new(), 0, Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' => closing.push(b')'),
            b'[' => closing.push(b']'),
            b'{' => closing.push(b'}'),
            close @ (b')' | b']' | b'}') => {
                let opened = closing.pop();
                if opened != Some(close) {
                    return None;
                }
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            byte if byte == separator && closing.is_empty() => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    closing.is_empty().then_some(parts)
}

fn shape(text: &str, depth: usize) -> Shape<'_> {
    let text = text.trim();
    let leaf = Shape::Leaf(text);
    let Some(open) = text.find(['(', '[', '{', '"', '\'']) else { return leaf };
    let (name, rest) = text.split_at(open);
    let Some(&bracket) = rest.as_bytes().first() else { return leaf };
    if depth > MAX_DEPTH || !matches!(bracket, b'(' | b'[' | b'{') || !rest.ends_with([')', ']', '}']) {
        return leaf;
    }
    let Some(parts) = divide(&rest[1..rest.len() - 1], b',') else { return leaf };
    // Only fields and entries have names.
    let named = |part| match divide(part, b':').as_deref() {
        Some([name, value]) if bracket == b'{' => (name.trim(), shape(value, depth + 1)),
        _ => ("", shape(part, depth + 1)),
    };
    Shape::Parts { text, name: name.trim(), open: bracket, parts: parts.into_iter().map(named).collect() }
}

fn compare(path: &str, before: &Shape<'_>, after: &Shape<'_>, lines: &mut Vec<String>) {
    if before == after {
        return;
    }
    let (
        Shape::Parts { name, open, parts, .. },
        Shape::Parts { name: name2, open: open2, parts: parts2, .. },
    ) = (before, after)
    else {
        return lines.push(whole(path, before, after));
    };
    if (name, open) != (name2, open2) {
        return lines.push(whole(path, before, after));
    }
    let differ = parts.iter().zip(parts2).filter(|(one, other)| one != other).count();
    // In a list of many-parted elements, those behind one that comes or goes have moved on.
    let has_moved =
        *open == b'[' && differ > gone(parts, parts2).len() && parts.iter().all(|part| part.1.is_named());
    if are_alike(before, after) && !has_moved {
        let is_another = *open != b'[' && !path.is_empty() && parts.len() > 1 && differ == parts.len();
        if is_another && before.text().len().max(after.text().len()) <= SHORT {
            return lines.push(whole(path, before, after));
        }
        for (index, (one, other)) in parts.iter().zip(parts2).enumerate() {
            compare(&before.path_to(path, one.0, index), &one.1, &other.1, lines);
        }
        return;
    }
    if *open == b'{' && !name.is_empty() {
        // Fields that are not always shown.
        let find = |name: &str, parts: &[(&str, Shape<'_>)]| parts.iter().position(|part| part.0 == name);
        for (index, (field, value)) in parts.iter().enumerate() {
            let path = before.path_to(path, field, index);
            match find(field, parts2) {
                Some(same) => compare(&path, value, &parts2[same].1, lines),
                None => lines.push(format!("- {path}: {}", value.text())),
            }
        }
        for (index, (field, value)) in parts2.iter().enumerate() {
            if find(field, parts).is_none() {
                lines.push(format!("+ {}: {}", after.path_to(path, field, index), value.text()));
            }
        }
        return;
    }
    if before.text().len().max(after.text().len()) <= SHORT {
        return lines.push(whole(path, before, after));
    }
    // A collection: what comes and what goes.
    let part_text = |(name, value): &(&str, Shape<'_>)| match *name {
        "" => value.text().to_owned(),
        name => format!("{name}: {}", value.text()),
    };
    let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
    let n_lines = lines.len();
    lines.extend(gone(parts, parts2).into_iter().map(|part| format!("{at}- {}", part_text(part))));
    lines.extend(gone(parts2, parts).into_iter().map(|part| format!("{at}+ {}", part_text(part))));
    if lines.len() == n_lines {
        lines.push(whole(path, before, after));
    }
}

/// The parts of one value that another one does not have, or not as often.
fn gone<'p, 't>(
    parts: &'p [(&'t str, Shape<'t>)],
    others: &[(&'t str, Shape<'t>)],
) -> Vec<&'p (&'t str, Shape<'t>)> {
    let mut others: Vec<_> = others.iter().collect();
    let mut is_gone = |part: &&(&str, Shape<'_>)| match others.iter().position(|other| other == part) {
        Some(same) => {
            others.swap_remove(same);
            false
        }
        None => true,
    };
    parts.iter().filter(|part| is_gone(part)).collect()
}

fn whole(path: &str, before: &Shape<'_>, after: &Shape<'_>) -> String {
    let colon = if path.is_empty() { "" } else { ": " };
    format!("{path}{colon}{} -> {}", before.text(), after.text())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[derive(Debug, Clone)]
    struct State {
        wants: Vec<bool>,
        queue: Vec<&'static str>,
        pair: (u8, Option<Inner>),
        set: BTreeSet<u32>,
        map: BTreeMap<u8, &'static str>,
    }

    #[derive(Debug, Clone)]
    #[allow(dead_code)] // Its text is read.
    struct Inner {
        x: i32,
    }

    fn state() -> State {
        State {
            wants: vec![false, true],
            queue: vec!["a, b", "c}"],
            pair: (1, Some(Inner { x: -3 })),
            set: BTreeSet::from([1, 2]),
            map: BTreeMap::from([(1, "one"), (2, "two")]),
        }
    }

    fn changed(change: impl Fn(&mut State)) -> Vec<String> {
        let mut after = state();
        change(&mut after);
        changes(&format!("{:?}", state()), &format!("{after:?}"))
    }

    #[test]
    fn only_what_differs_is_named() {
        assert_eq!(changed(|_| {}), [""; 0]);
        assert_eq!(changed(|state| state.wants[0] = true), ["wants[0]: false -> true"]);
        assert_eq!(changed(|state| state.pair.1 = Some(Inner { x: 4 })), ["pair.1.0.x: -3 -> 4"]);
        assert_eq!(changed(|state| state.pair.1 = None), ["pair.1: Some(Inner { x: -3 }) -> None"]);
        assert_eq!(changed(|state| state.queue[1] = "(("), ["queue[1]: \"c}\" -> \"((\""]);
        assert_eq!(
            changed(|state| _ = state.queue.pop()),
            ["queue: [\"a, b\", \"c}\"] -> [\"a, b\"]"],
            "short: as a whole"
        );
        assert_eq!(changed(|state| _ = state.map.insert(2, "zwei")), ["map[2]: \"two\" -> \"zwei\""]);
        assert_eq!(changed(|state| state.set.extend(3..30)).len(), 27, "long: what is new");
    }

    #[test]
    fn messages_come_and_go() {
        let mail = |messages: &str| format!("World {{ actors: [Idle, Idle], messages: [{messages}] }}");
        let (ask, grant) =
            ("Envelope { from: 2, to: 0, msg: Ask }", "Envelope { from: 0, to: 2, msg: Grant }");
        let changed =
            |one: &[&str], other: &[&str]| changes(&mail(&one.join(", ")), &mail(&other.join(", ")));
        assert_eq!(changed(&[ask], &[grant]), [format!("messages[0]: {ask} -> {grant}")]);
        let other = "Envelope { from: 1, to: 0, msg: Ask }";
        // The second one is the first one now.
        assert_eq!(
            changed(&[other, ask], &[ask, grant]),
            [format!("messages: - {other}"), format!("messages: + {grant}")]
        );
        let later = ask.replace("Ask", "Release");
        assert_eq!(changed(&[ask], &[&later]), ["messages[0].msg: Ask -> Release"]);
    }

    #[test]
    fn fields_may_come_and_go() {
        let (one, other) = ("World { actors: [Up, Up] }", "World { actors: [Down, Up], crashes: 1 }");
        assert_eq!(changes(one, other), ["actors[0]: Up -> Down", "+ crashes: 1"]);
        assert_eq!(changes(other, one), ["actors[0]: Down -> Up", "- crashes: 1"]);
    }

    #[test]
    fn parts_that_all_have_are_columns() {
        let mut other = state();
        (other.wants, other.pair.1) = (vec![true, true], None);
        other.queue.push("d");
        let values = [format!("{:?}", state()), format!("{other:?}")];
        let (names, rows) = table(&values);
        assert_eq!(names, ["wants[0]", "wants[1]", "queue", "pair.0", "pair.1", "set", "map[1]", "map[2]"]);
        assert_eq!(rows[0][..2], ["false", "true"]);
        assert_eq!(rows[1][2..5], ["[\"a, b\", \"c}\", \"d\"]", "1", "None"]);
        assert_eq!(table(&["7".to_owned()]), (vec!["state".to_owned()], vec![vec!["7"]]));
    }

    #[test]
    fn other_texts_change_as_a_whole() {
        assert_eq!(changes("3 of 4)", "4 of 4)"), ["3 of 4) -> 4 of 4)"]);
        assert_eq!(changes("[0, 1]", "[0, 2]"), ["[1]: 1 -> 2"]);
        assert_eq!(changes("{\"", "[\""), ["{\" -> [\""]);
    }
}
