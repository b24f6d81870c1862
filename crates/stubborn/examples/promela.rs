//! A model in Promela: its assertions, its end states, and a formula that was not in the file.
#![allow(clippy::print_stdout, clippy::print_stderr)] // An example shows what it finds.

use stubborn::{Error, Options, Question, Session, Verdict};

const MODEL: &str = "
    byte n;
    active [2] proctype P() { byte t; t = n; n = t + 1; (n == 2) -> skip }
";

/// Asks, and compares.
pub(crate) fn main() -> Result<(), Error> {
    let mut session = Session::of_text("promela", MODEL)?;
    let questions = [Question::Declared, Question::ltl("<> (n == 2)"), Question::invariant("n <= 2")];
    let report = session.check(&questions, &Options::default())?;
    let verdicts: Vec<(&str, Verdict)> =
        report.results.iter().map(|answer| (answer.property.as_str(), answer.verdict)).collect();
    let expected = [
        ("assertions", Verdict::Holds),
        ("end-states", Verdict::Violated),
        ("<> (n == 2)", Verdict::Violated),
        ("n <= 2", Verdict::Holds),
    ];
    assert_eq!(verdicts, expected, "both may read n before either writes it");
    println!("{report}");
    Ok(())
}
