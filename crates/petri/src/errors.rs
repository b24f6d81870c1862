//! Errors on their way to whoever collects them.

use base::Diagnostic;
pub(crate) use base::{Fail, fail};

/// Suggests a name that is near the given one. Of very many known names only some are compared, those
/// that begin or end alike: a slip is not worth minutes.
pub(crate) fn suggest<'n>(
    error: Diagnostic,
    given: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    const MAX_LOOKED_AT: usize = 200_000;
    let ends = |name: &str| {
        let lower = |c: char| c.to_lowercase().next();
        (name.chars().next().and_then(lower), name.chars().next_back().and_then(lower), name.len())
    };
    let (first, last, length) = ends(given);
    let is_alike = |name: &&str| {
        let (its_first, its_last, its_length) = ends(name);
        (its_first == first || its_last == last)
            && its_length.abs_diff(length) <= length.max(its_length) / 3 + 1
    };
    error.suggesting(given, known.into_iter().take(MAX_LOOKED_AT).filter(is_alike))
}

/// A text from a file as it is shown in messages: not too long, and on one line.
pub(crate) fn shown(text: &str) -> String {
    const MAX_SHOWN: usize = 60;
    let mut shown: String = text.trim().chars().take(MAX_SHOWN).map(plain).collect();
    if text.trim().chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}
