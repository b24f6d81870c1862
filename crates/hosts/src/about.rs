//! What a command does, in lines: processes compare them before they search together, and who goes on with a checkpoint
//! compares them with those of whoever began it.

use std::fmt::{self, Write as _};

use sha2::{Digest as _, Sha256};
use stubborn::model::{ActionSystem, Guard, System as _, ValueSet};
use stubborn::{Limits, Options, Question, Session};

use crate::hex;

/// What is done: by which version, on which model, with which options, and what is asked. How far to go, and by how many
/// threads, may differ from time to time.
pub fn about(session: &Session, options: &Options, questions: &[Question]) -> Vec<String> {
    let options = Options { limits: Limits::default(), threads: None, ..options.clone() };
    let mut lines = vec![
        format!("version: {}", env!("CARGO_PKG_VERSION")),
        format!("model: {}", fingerprint(session.model().system())),
    ];
    lines.extend(fields("option", &format!("{options:#?}")));
    lines.extend(fields("question", &format!("{questions:#?}")));
    lines
}

/// The lines of something that was printed in full, each with the field that it is a part of, so that it can be told alone.
fn fields(what: &str, text: &str) -> Vec<String> {
    let mut field = "";
    let mut told = Vec::new();
    for line in text.lines() {
        let part = line.trim().trim_end_matches(',');
        match line.len() - line.trim_start().len() {
            0 => {}
            4 => {
                field = part.split([':', '(', ' ']).next().unwrap_or_default();
                told.push(format!("{what} {part}"));
            }
            _ => told.push(format!("{what} {field}: {part}")),
        }
    }
    told
}

/// What is the same only for those who may go equally far, and give states to processes in the same way.
pub fn limits(options: &Options, owners_by_part: bool) -> Vec<String> {
    let mut lines = fields("limit", &format!("{:#?}", options.limits));
    lines.push(format!("owners by part: {owners_by_part}"));
    lines
}

/// What two systems have in common only if they are the same, whatever machine they are made on.
fn fingerprint(system: &ActionSystem) -> String {
    struct Into<'h>(&'h mut Sha256);
    impl fmt::Write for Into<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.update(text);
            Ok(())
        }
    }
    let mut hasher = Sha256::new();
    let mut initial = Vec::new();
    system.initial_states(&mut initial);
    let parts = (system.variables(), system.actions(), &initial, system.exprs.nodes());
    _ = write!(Into(&mut hasher), "{parts:?}");
    for guard in system.guards() {
        // A set of bits shows where it is in memory.
        _ = match guard {
            Guard::In(var, ValueSet::Bits { lo, members }) => {
                write!(Into(&mut hasher), "{var:?} {lo} {:?}", members.ones().collect::<Vec<_>>())
            }
            guard => write!(Into(&mut hasher), "{guard:?}"),
        };
    }
    hex(&hasher.finalize())
}
