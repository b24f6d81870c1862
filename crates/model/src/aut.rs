//! Labeled transition systems in the Aldebaran format (`.aut`), as CADP and mCRL2 use it.
//!
//! ```text
//! des (0, 2, 2)
//! (0, "work", 1)
//! (1, tau, 0)
//! ```
//!
//! The first line gives the initial state, the number of transitions and the number of states.
//! A label may stand in double quotes. The internal action is written `tau`; read as internal are
//! `tau`, quoted or not (mCRL2), and an unquoted `i` (CADP).

use std::fmt::Write as _;

use base::{Budget, Diagnostic, Limit, SourceId, Span};
use rustc_hash::FxHashMap;

/// A labeled transition system, all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lts {
    /// The initial state.
    pub initial: u32,
    /// States are `0..n_states`.
    pub n_states: u32,
    /// The labels; `None` is the internal action.
    pub labels: Vec<Option<String>>,
    /// Source, index of the label, target.
    pub edges: Vec<(u32, u32, u32)>,
}

/// The first line of a file.
pub fn header(initial: u64, n_transitions: u64, n_states: u64) -> String {
    format!("des ({initial}, {n_transitions}, {n_states})\n")
}

/// Appends the line of a transition; no label stands for the internal action.
pub fn push_edge(out: &mut String, from: u64, label: Option<&str>, to: u64) {
    // Writing to a string cannot fail.
    _ = match label {
        Some(label) => writeln!(out, "({from}, \"{label}\", {to})"),
        None => writeln!(out, "({from}, tau, {to})"),
    };
}

/// Reads a file.
///
/// # Errors
/// The budget is spent; within, the first mistake, with its place.
pub fn parse(
    text: &str,
    source: SourceId,
    budget: &mut Budget<'_>,
) -> Result<Result<Lts, Diagnostic>, Limit> {
    let mut spent = Ok(());
    let lts = Reader { text, source, at: 0 }.file(|bytes| {
        spent = budget.tick().and_then(|()| budget.hold(bytes));
        spent.is_ok()
    });
    spent.map(|()| lts)
}

/// What a transition takes, with a label of its own.
const EDGE_BYTES: u64 = 24;

struct Reader<'a> {
    text: &'a str,
    source: SourceId,
    at: usize,
}

impl<'a> Reader<'a> {
    /// All of it, or as much as it may: it asks before each transition, with the bytes that this will take.
    fn file(&mut self, mut may_go_on: impl FnMut(u64) -> bool) -> Result<Lts, Diagnostic> {
        self.skip_blanks();
        let header_start = self.at;
        if !self.text[self.at..].starts_with("des") {
            return Err(self.expected("the header `des (initial, transitions, states)`"));
        }
        self.at += "des".len();
        self.expect('(')?;
        let initial = self.number("the number of the initial state")?;
        self.expect(',')?;
        let n_transitions = self.number("the number of transitions")?;
        self.expect(',')?;
        let n_states = self.number("the number of states")?;
        self.expect(')')?;
        let header = Span::new(self.source, header_start, self.at);
        let wrong = |message: String| Err(Diagnostic::error("aut-header", message).at(header, ""));
        let Ok(n_states) = u32::try_from(n_states) else {
            return wrong(format!("{n_states} states are too many: at most {} can be read", u32::MAX));
        };
        if initial >= u64::from(n_states) {
            return wrong(format!("the initial state {initial} is not one of the {n_states} states"));
        }
        let mut lts = Lts { initial: initial as u32, n_states, labels: Vec::new(), edges: Vec::new() };
        let mut label_ids = FxHashMap::default();
        loop {
            self.skip_blanks();
            if self.at == self.text.len() || !may_go_on(EDGE_BYTES) {
                break;
            }
            self.edge(&mut lts, &mut label_ids)?;
        }
        if lts.edges.len() as u64 != n_transitions {
            let found = lts.edges.len();
            return wrong(format!(
                "the header announces {n_transitions} transitions, but the file has {found}"
            ));
        }
        Ok(lts)
    }

    fn edge(&mut self, lts: &mut Lts, ids: &mut FxHashMap<Option<String>, u32>) -> Result<(), Diagnostic> {
        self.expect('(')?;
        let from = self.state(lts.n_states)?;
        self.expect(',')?;
        let label = self.label()?;
        self.expect(',')?;
        let to = self.state(lts.n_states)?;
        self.expect(')')?;
        let label = *ids.entry(label).or_insert_with_key(|label| {
            lts.labels.push(label.clone());
            lts.labels.len() as u32 - 1
        });
        lts.edges.push((from, label, to));
        Ok(())
    }

    fn state(&mut self, n_states: u32) -> Result<u32, Diagnostic> {
        self.skip_blanks();
        let start = self.at;
        let number = self.number("the number of a state")?;
        match u32::try_from(number) {
            Ok(state) if state < n_states => Ok(state),
            _ => Err(Diagnostic::error(
                "aut-state",
                format!("state {number} is not one of the {n_states} states"),
            )
            .at(
                Span::new(self.source, start, self.at),
                format!("states are numbered 0 to {}", n_states - 1),
            )),
        }
    }

    /// A quoted label, or everything up to the next comma.
    fn label(&mut self) -> Result<Option<String>, Diagnostic> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let line_end = rest.find('\n').unwrap_or(rest.len());
        if let Some(quoted) = rest[..line_end].strip_prefix('"') {
            let Some(end) = quoted.find('"') else {
                return Err(self.expected("a closing quotation mark on the same line"));
            };
            self.at += end + 2;
            let label = &quoted[..end];
            return Ok((label != "tau").then(|| label.to_owned()));
        }
        let end = rest[..line_end].find(',').unwrap_or(0);
        let label = rest[..end].trim();
        if label.is_empty() {
            return Err(self.expected("a label"));
        }
        self.at += end;
        Ok((label != "tau" && label != "i").then(|| label.to_owned()))
    }

    fn number(&mut self, what: &str) -> Result<u64, Diagnostic> {
        self.skip_blanks();
        let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        match self.text[self.at..self.at + digits].parse() {
            Ok(number) => {
                self.at += digits;
                Ok(number)
            }
            Err(_) => Err(self.expected(what)),
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), Diagnostic> {
        self.skip_blanks();
        if self.text[self.at..].starts_with(wanted) {
            self.at += wanted.len_utf8();
            Ok(())
        } else {
            Err(self.expected(&format!("`{wanted}`")))
        }
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let rest = &self.text[self.at..];
        let found = match rest.chars().next() {
            None => "the end of the file".to_owned(),
            Some(_) => {
                let is_end = |c: &char| c.is_whitespace() || *c == ',';
                let word: String = rest.chars().take_while(|c| !is_end(c)).take(20).collect();
                format!("`{}`", if word.is_empty() { "," } else { &word })
            }
        };
        let end = self.at + rest.chars().next().map_or(0, char::len_utf8);
        Diagnostic::error("aut-syntax", format!("expected {what}, found {found}"))
            .at(Span::new(self.source, self.at, end), format!("expected {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Lts, String> {
        parse(text, SourceId::new(0), &mut Budget::unlimited())
            .unwrap()
            .map_err(|diagnostic| diagnostic.message)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut text = header(1, 3, 2);
        push_edge(&mut text, 0, Some("send[1], twice"), 1);
        push_edge(&mut text, 1, None, 0);
        push_edge(&mut text, 1, Some("i"), 1);
        let lts = read(&text).unwrap();
        assert_eq!((lts.initial, lts.n_states), (1, 2));
        assert_eq!(lts.labels, [Some("send[1], twice".into()), None, Some("i".into())]);
        assert_eq!(lts.edges, [(0, 0, 1), (1, 1, 0), (1, 2, 1)]);
    }

    #[test]
    fn both_spellings_of_the_internal_action_are_read() {
        let lts = read("des(0,4,1)\n(0,i,0)\n(0,tau,0)\n(0,\"tau\",0)\n(0, SEND !1, 0)").unwrap();
        assert_eq!(lts.labels, [None, Some("SEND !1".into())]);
        assert_eq!(lts.edges.len(), 4);
    }

    #[test]
    fn bad_files_are_refused_with_the_reason() {
        for (text, message) in [
            ("", "expected the header `des (initial, transitions, states)`, found the end of the file"),
            ("dse (0, 0, 1)", "expected the header `des (initial, transitions, states)`, found `dse`"),
            ("des (0, 1)", "expected `,`, found `)`"),
            ("des (0, 2, 1)\n(0, a, 0)", "the header announces 2 transitions, but the file has 1"),
            ("des (0, 0, 0)", "the initial state 0 is not one of the 0 states"),
            ("des (0, 1, 1)\n(0, a, 1)", "state 1 is not one of the 1 states"),
            ("des (0, 1, 1)\n(0, \"a, 0)", "expected a closing quotation mark on the same line, found `\"a`"),
            ("des (0, 1, 1)\n(0, , 0)", "expected a label, found `,`"),
            ("des (0, 1, 1)\n(0, a, 0", "expected `)`, found the end of the file"),
            (
                "des (0, 99999999999999999999, 1)",
                "expected the number of transitions, found `99999999999999999999`",
            ),
            ("des (0, 0, 5000000000)", "5000000000 states are too many: at most 4294967295 can be read"),
        ] {
            assert_eq!(read(text).unwrap_err(), message, "{text}");
        }
    }
}
