//! What is certainly allowed and probably a mistake.

use base::{Diagnostic, Span};

use crate::program::{GlobalId, Init};

use super::Resolver;

impl Resolver<'_> {
    /// Looks at the whole program.
    pub(super) fn suspect(&mut self) {
        for (index, global) in self.names.globals.iter().enumerate() {
            let uses = self.names.channel_uses.get(&GlobalId::new(index)).copied().unwrap_or_default();
            if let Init::Channel(_) = global.init
                && uses.sends > 0
                && uses.others == 0
            {
                let message = format!("nothing is ever received from the channel `{}`", global.name);
                self.sink.push(Diagnostic::warning("never-received", message).at(global.span, ""));
            }
        }
    }

    /// Compares a format with what is printed.
    pub(super) fn check_format(&mut self, format: &str, given: usize, span: Span) {
        let mut wanted = 0;
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter == '%' && letters.next().is_some_and(|kind| kind != '%') {
                wanted += 1;
            }
        }
        if wanted != given {
            let message = format!("the format has {wanted} places, but {given} values are printed");
            self.warn(Diagnostic::warning("bad-format", message).at(span, ""));
        }
    }
}
