//! Labels: the names of actions after their indices have been evaluated, each with a number.

use std::borrow::Cow;

use base::Diagnostic;
use rustc_hash::FxHashMap;

use crate::names::indexed;

/// The label of `tau`, which is private to each process.
pub(crate) const TAU: u32 = u32::MAX;

/// All labels but `tau`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    texts: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, u32>,
    /// Whether some process has a move with the label.
    offered: Vec<bool>,
}

impl Labels {
    /// The number of a label in its canonical spelling, new or known.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        // There are far fewer labels than `TAU`: the number of transitions is limited.
        let id = self.texts.len() as u32;
        self.texts.push(text.into());
        self.offered.push(false);
        self.ids.insert(text.into(), id);
        id
    }

    /// Says that a process has a move with the label.
    pub(crate) fn offer(&mut self, label: u32) {
        self.offered[label as usize] = true;
    }

    pub(crate) fn is_offered(&self, label: u32) -> bool {
        self.offered[label as usize]
    }

    /// The number of a label, if it is offered.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied().filter(|&label| self.is_offered(label))
    }

    pub(crate) fn text(&self, label: u32) -> &str {
        &self.texts[label as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(AsRef::as_ref)
    }

    /// Suggests labels that are offered and near the given one: the same name with other indices,
    /// or another name.
    pub(crate) fn suggest(&self, error: Diagnostic, given: &str) -> Diagnostic {
        let offered =
            || self.iter().zip(&self.offered).filter(|(_, offered)| **offered).map(|(text, _)| text);
        let name = base_name(given);
        let quoted = |text: &str| format!("`{text}`");
        let same_name: Vec<String> =
            offered().filter(|text| base_name(text) == name).take(4).map(quoted).collect();
        match same_name.as_slice() {
            [] => {
                // The same name many times in a row: indices change fastest.
                let mut names: Vec<&str> = offered().map(base_name).collect();
                names.dedup();
                error.suggesting(name, names)
            }
            [one] => error.with_help(format!("did you mean {one}?")),
            [three @ .., _] if same_name.len() == 4 => {
                error.with_help(format!("there are {}, …", three.join(", ")))
            }
            all => error.with_help(format!("there are {}", all.join(", "))),
        }
    }
}

/// A label without its indices.
fn base_name(text: &str) -> &str {
    &text[..text.find('[').unwrap_or(text.len())]
}

/// The spelling that labels are compared in: `name[1,2]` for anything that reads as a name with
/// numbers for indices, like `name [1, 2]` or `name[1][2]`; other texts stay as they are.
pub(crate) fn canonical(text: &str) -> Cow<'_, str> {
    match split_indexed(text) {
        Some((name, indices)) => Cow::Owned(indexed(name, &indices)),
        None => Cow::Borrowed(text),
    }
}

fn split_indexed(text: &str) -> Option<(&str, Vec<i64>)> {
    let text = text.trim();
    let (name, rest) = text.split_at(text.find('[').unwrap_or(text.len()));
    let name = name.trim_end();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut indices = Vec::new();
    let mut rest = rest.trim();
    while let Some(group) = rest.strip_prefix('[') {
        let (inside, after) = group.split_once(']')?;
        for index in inside.split(',') {
            indices.push(index.trim().parse().ok()?);
        }
        rest = after.trim_start();
    }
    (is_name && rest.is_empty()).then_some((name, indices))
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn labels_with_indices_have_one_spelling_and_others_keep_theirs() {
        for (text, expected) in [
            ("a", "a"),
            (" a ", "a"),
            ("a[0, 1]", "a[0,1]"),
            ("a [0] [ -1 ]", "a[0,-1]"),
            ("a[007]", "a[7]"),
            ("a[]", "a[]"),
            ("a[x]", "a[x]"),
            ("a[1", "a[1"),
            ("a[1]b", "a[1]b"),
            ("SEND !1", "SEND !1"),
            ("r1(d1, true)", "r1(d1, true)"),
            ("1[2]", "1[2]"),
            ("a[99999999999999999999]", "a[99999999999999999999]"),
        ] {
            assert_eq!(canonical(text), expected);
        }
    }
}
