//! Source texts and places in them.

use std::sync::{Arc, OnceLock};

use crate::Diagnostic;

crate::define_id! {
    /// One text of a [`SourceMap`]: a file, or a formula given on the command line.
    pub struct SourceId;
}

/// A range of bytes in one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Span {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { source, start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that covers both; they must be of the same text.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A text with the name it goes by in messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name as the user gave it, or `--ltl` and the like.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Where lines end: found when they are asked for.
    newlines: OnceLock<Vec<u32>>,
}

impl Source {
    fn new(name: String, text: String) -> Source {
        Source { name, text, newlines: OnceLock::new() }
    }

    /// Line and column of a byte offset, both counted from 1; the column counts characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let mut end = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let newlines = self.newlines.get_or_init(|| {
            let newline = |(at, byte): (u32, u8)| (byte == b'\n').then_some(at);
            (0..).zip(self.text.bytes()).filter_map(newline).collect()
        });
        let n_before = newlines.partition_point(|&newline| (newline as usize) < end);
        let line_start = n_before.checked_sub(1).map_or(0, |last| newlines[last] as usize + 1);
        (n_before + 1, self.text[line_start..end].chars().count() + 1)
    }
}

/// All texts of one run. A copy shares the texts.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Arc<Source>>,
}

impl SourceMap {
    /// The largest text that is read. Spans are 32 bits wide, and no model is this long.
    pub const MAX_BYTES: usize = 1 << 30;

    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text read as bytes. Text that is not UTF-8 is refused with the place; so is one that
    /// is too long.
    pub fn add(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> Result<SourceId, Diagnostic> {
        let name = name.into();
        if bytes.len() > SourceMap::MAX_BYTES {
            return Err(Diagnostic::error(
                "too-long",
                format!("{name} has {} bytes; at most {} are read", bytes.len(), SourceMap::MAX_BYTES),
            ));
        }
        let id = SourceId::new(self.sources.len());
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                // The place is shown in the text as far as it can be read.
                let valid = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
                let message = format!("{name} is not UTF-8 text: bad byte at offset {valid}, line {line}");
                self.sources.push(Arc::new(Source::new(name, text)));
                let span = Span::new(id, valid, valid + char::REPLACEMENT_CHARACTER.len_utf8());
                let help = "save the file in the UTF-8 encoding";
                return Err(Diagnostic::error("not-utf8", message).at(span, "not UTF-8").with_help(help));
            }
        };
        self.sources.push(Arc::new(Source::new(name, text)));
        Ok(id)
    }

    /// The text of an id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.index()]
    }

    /// All texts, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().map(|source| &**source)
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.get(span.source).text[span.start as usize..span.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = Source::new("x".into(), "aé\nb".into());
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(3), (1, 3));
        assert_eq!(source.position(2), (1, 2), "inside é: its start");
        assert_eq!(source.position(4), (2, 1));
        assert_eq!(source.position(99), (2, 2), "clamped to the end");
    }

    #[test]
    fn bad_utf8_names_the_place() {
        let mut sources = SourceMap::new();
        let error = sources.add("m.proc", b"ok\nx\xff".to_vec()).unwrap_err();
        let span = error.span.unwrap();
        assert_eq!(sources.get(span.source).position(span.start), (2, 2));
    }
}
