//! Going on after a mistake in a sequence of statements.

use crate::errors::fail;
use crate::lexer::Kind;
use crate::words::Word;

use super::Parser;

impl Parser<'_> {
    /// What must stand between two statements.
    pub(super) fn separator(&mut self) {
        if self.eat_separators() || self.at_end_of_sequence() {
            return;
        }
        let last = self.tokens[self.at.saturating_sub(1)].kind;
        let is_closed = matches!(last, Kind::CloseBrace | Kind::Keyword(Word::Fi | Word::Od | Word::Else));
        if is_closed || self.token().first {
            return;
        }
        let error = self.unexpected("`;` or `->`");
        if error.code == "syntax" {
            let place = self.end_of_last();
            let label = "expected `;` or `->`";
            let error = fail("syntax", error.message.clone(), place, label);
            self.complain(self.with_origin(error));
            // `a b` is one mistake, not a mistake and a statement.
            if !matches!(self.peek(), Kind::Name | Kind::Keyword(_) | Kind::OpenParen | Kind::OpenBrace) {
                self.skip_statement(self.at);
            }
        } else {
            self.complain(error);
            self.bump();
        }
    }

    /// After an error in a statement that began at `start`: skips to what may be the next one.
    pub(super) fn skip_statement(&mut self, start: usize) {
        let mut open: Vec<Kind> = Vec::new();
        let failed_at = self.at;
        self.at = start;
        loop {
            let kind = self.peek();
            let is_skipped = self.at >= failed_at;
            match kind {
                Kind::End => return,
                Kind::Semicolon if open.is_empty() && is_skipped => {
                    self.bump();
                    return;
                }
                Kind::Option if open.is_empty() && is_skipped => return,
                Kind::OpenBrace | Kind::Keyword(Word::If | Word::Do) => open.push(kind),
                Kind::CloseBrace | Kind::Keyword(Word::Fi | Word::Od) => {
                    // What closes something outside of the statement ends it.
                    match open.iter().rposition(|&opened| closes(opened, kind)) {
                        Some(position) => open.truncate(position),
                        None if is_skipped => return,
                        None => {}
                    }
                }
                // What stands here was not the reason for the error.
                _ if open.is_empty() && self.at > failed_at && self.token().first && self.at_statement() => {
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Whether the next token begins a statement, whatever came before.
    fn at_statement(&self) -> bool {
        use Word::*;
        matches!(
            self.peek_word(),
            Some(If | Do | Atomic | DStep | Goto | Break | Assert | Printf | For | Select)
        )
    }
}

/// Whether a token closes what another one opened.
fn closes(opened: Kind, kind: Kind) -> bool {
    matches!(
        (opened, kind),
        (Kind::OpenBrace, Kind::CloseBrace)
            | (Kind::Keyword(Word::If), Kind::Keyword(Word::Fi))
            | (Kind::Keyword(Word::Do), Kind::Keyword(Word::Od))
    )
}
