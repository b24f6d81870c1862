//! A formula about fair runs, within limits, with progress; and the run that breaks it, drawn.
#![allow(clippy::print_stdout, clippy::print_stderr)] // An example shows what it finds.

use std::time::Duration;

use stubborn::base::Progress;
use stubborn::{Clock, Limits, Options, Question, Session, Verdict, Watcher};

const MODEL: &str = "
    process Lock { free: take[i] -> held[i] for i in 0..2; held[i in 0..2]: give[i] -> free; }
    process Worker[i in 0..2] { idle: take[i] -> busy; busy: give[i] -> idle; }
";

/// Says how far it has come.
struct Dots;

impl Watcher for Dots {
    fn look(&self, elapsed: Duration, progress: &Progress) -> bool {
        eprintln!("{} states after {elapsed:?}", progress.states);
        true
    }
}

/// Asks twice.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = Session::of_text("process", MODEL)?;
    let served = [Question::ltl("[] <> Worker[0]@busy")];
    let clock = Clock::start(&Limits::default().time(Duration::from_secs(10)).memory(100_000_000));
    let clock = clock.watched_by(&Dots);
    for (fairness, expected) in [("weak", Verdict::Violated), ("strong", Verdict::Holds)] {
        let options = Options { fair: vec![fairness.parse()?], ..Options::default() };
        let report = session.check_within(&served, &options, &clock)?;
        let answer = &report.results[0];
        assert_eq!(answer.verdict, expected, "a lock that is free again and again is not always free");
        println!("{fairness} fairness: {answer}");
        if let Some(run) = &answer.counterexample {
            println!("{}", run.chart());
        }
    }
    Ok(())
}
