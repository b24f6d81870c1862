//! A text that is edited, with its lines. The protocol counts columns in units of UTF-16.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

/// A text and where its lines begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    text: String,
    starts: Vec<usize>,
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Text { text, starts }
    }
}

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The byte at a position; positions behind the end of a line or of the text are at that end.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return self.text.len() };
        let end = self.starts.get(position.line as usize + 1).map_or(self.text.len(), |next| next - 1);
        let mut column = 0;
        for (at, letter) in self.text[start..end].char_indices() {
            if column >= position.character {
                return start + at;
            }
            column += letter.len_utf16() as u32;
        }
        end
    }

    /// The position of a byte; bytes inside a letter, or behind the end, belong to what begins before.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let column: usize = self.text[self.starts[line]..offset].chars().map(char::len_utf16).sum();
        Position { line: line as u32, character: column as u32 }
    }

    pub(crate) fn range(&self, start: usize, end: usize) -> Range {
        Range { start: self.position(start), end: self.position(end) }
    }

    pub(crate) fn whole(&self) -> Range {
        self.range(0, self.text.len())
    }

    /// What an editor says has changed: a part of the text, or all of it.
    pub(crate) fn change(&mut self, change: TextDocumentContentChangeEvent) {
        let Some(range) = change.range else {
            *self = Text::from(change.text);
            return;
        };
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        let mut text = std::mem::take(&mut self.text);
        text.replace_range(start..end.max(start), &change.text);
        *self = Text::from(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_are_counted_in_units_of_utf_16() {
        let text = Text::from("aé𝄞b\n\nx".to_owned());
        for (offset, position) in [
            (0, at(0, 0)),
            (1, at(0, 1)),
            (3, at(0, 2)),
            (7, at(0, 4)),
            (8, at(0, 5)),
            (9, at(1, 0)),
            (11, at(2, 1)),
        ] {
            assert_eq!(text.position(offset), position, "{offset}");
            assert_eq!(text.offset(position), offset, "{offset}");
        }
        assert_eq!(text.offset(at(0, 99)), 8, "the end of the line");
        assert_eq!(text.offset(at(9, 0)), 11, "the end of the text");
        assert_eq!(text.position(2), at(0, 1), "inside é");
    }

    #[test]
    fn a_part_is_changed() {
        let mut text = Text::from("one\ntwo\n".to_owned());
        let range = Some(Range { start: at(0, 2), end: at(1, 1) });
        text.change(TextDocumentContentChangeEvent { range, range_length: None, text: "ß\n".to_owned() });
        assert_eq!(text.as_str(), "onß\nwo\n");
        assert_eq!(text.position(5), at(1, 0));
    }
}
