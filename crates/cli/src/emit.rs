//! `check --emit-test`: the files of runs that break a property, as tests that others can keep.

use stubborn::report::CheckReport;
use stubborn::{Options, Question, RunTest};

use crate::args::{CheckArguments, EmittedTest};
use crate::exit::Failure;
use crate::{model, output, terminal};

/// Writes a file for each run that breaks a property.
pub(crate) fn write_tests(
    kind: EmittedTest,
    arguments: &CheckArguments,
    options: &Options,
    questions: &[Question],
    report: &CheckReport,
) -> Result<(), Failure> {
    let model = &model::options(&arguments.model);
    let test = RunTest { file: &arguments.model.file, model, options, questions };
    for (name, result) in test.named(&report.results) {
        let (ending, text) = match kind {
            EmittedTest::Json => ("json", RunTest::document(&report.model, result)),
            EmittedTest::PromelaTrail => ("trail", RunTest::trail(&report.model, result)?),
            EmittedTest::Rust => ("rs", test.source(&name, result)?),
        };
        let path = arguments.test_dir.join(format!("{name}.{ending}"));
        output::write_text(&path, &text)?;
        let replay = match kind {
            EmittedTest::PromelaTrail => format!("; try: {}", test.spin_command(&path)),
            EmittedTest::Json | EmittedTest::Rust => String::new(),
        };
        terminal::print_stderr(&format!("wrote {}{replay}\n", path.display()));
    }
    Ok(())
}
