//! A run of 2 steps that violated `exclusive` of tests/cli/emitted/lock.proc, as a test.
//!
//! It fails as long as the run is possible and the property is violated. Paths are relative to where tests run.
//! Written by `stubborn check --emit-test rust`; needs the crate `stubborn`, with the feature `full`.

use stubborn::{Clock, Limits, ModelOptions, Options, Question, Session, Told};

#[test]
fn lock_exclusive() -> Result<(), stubborn::Error> {
    let model = ModelOptions {
        definitions: vec![],
        folders: vec![],
        language: None,
        ..ModelOptions::default()
    };
    let clock = Clock::start(&Limits::default());
    let mut session = Session::open_within("tests/cli/emitted/lock.proc", &model, &clock)?;
    if session.follow(&Told::of_text(RUN, None)?, &clock)?.is_some() {
        return Ok(()); // The model does not do that any more.
    }
    let options = Options { fair: vec![], ..Options::default() };
    let report = session.check(&[Question::property("exclusive")], &options)?;
    assert_ne!(report.exit_code(), 1, "{report}");
    Ok(())
}

const RUN: &str = r#"{"schema":1,"results":[{"property":"exclusive","counterexample":{"kind":"prefix","prefix":[{"action":null,"process":null,"state":{"Lock":"free","Worker[0]":"idle","Worker[1]":"idle"}},{"action":"acquire[0]","process":"Lock, Worker[0]","state":{"Lock":"held[0]","Worker[0]":"working","Worker[1]":"idle"}},{"action":"sneak[1]","process":"Worker[1]","state":{"Lock":"held[0]","Worker[0]":"working","Worker[1]":"working"}}],"cycle":[]}}]}"#;
