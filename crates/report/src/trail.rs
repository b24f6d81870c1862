//! Runs as Spin reads them again: trails, for `spin -p -k FILE model.pml`.
//!
//! A line has the number of the step, of the process, and of the statement. Statements have the numbers that Spin's parser
//! gives them while it reads the model: one after the other through all bodies, those in a statement before it; front ends
//! know them ([`Statement::mark`]). Spin's verifiers write a line for what a merged sequence begins with, and one for each
//! step of the claim; neither is needed, so there is no line `-4:-4:-4` or `-2:…`: Spin then executes what is told, and
//! only that. The line `-1:-1:-1` says where the cycle begins.

use std::fmt::Write as _;

use language::story::Statement;

use crate::outcome::Counterexample;

/// The trail of a run; nothing if a step cannot be told by statements that have numbers.
pub fn to_text(run: &Counterexample) -> Option<String> {
    let mut trail = String::new();
    let mut n_lines = 0;
    let mut tell = |statements: &[Statement], trail: &mut String| {
        let mut marks = statements.iter().filter_map(|statement| statement.mark).peekable();
        let is_told = marks.peek().is_some() || statements.is_empty();
        for (process, statement) in marks {
            n_lines += 1;
            // Writing to a string cannot fail.
            _ = writeln!(trail, "{n_lines}:{process}:{statement}");
        }
        is_told.then_some(())
    };
    for step in 1..=run.trace.len() {
        if run.cycle_start == Some(step - 1) {
            trail += "-1:-1:-1\n";
        }
        tell(&run.trace.statements(step), &mut trail)?;
    }
    tell(&run.trace.failing_statements(), &mut trail)?;
    Some(trail)
}
