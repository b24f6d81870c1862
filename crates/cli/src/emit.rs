//! `check --emit-test`: the files of runs that break a property, as tests that others can keep.

use std::path::Path;

use stubborn::base::Diagnostic;
use stubborn::report::{CheckReport, PropertyResult, trail};
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
            EmittedTest::PromelaTrail => ("trail", trail(report, result)?),
            EmittedTest::Rust => ("rs", test.source(&name, result)?),
        };
        let path = arguments.test_dir.join(format!("{name}.{ending}"));
        output::write_text(&path, &text)?;
        let replay =
            if kind == EmittedTest::PromelaTrail { replayed(arguments, &path) } else { String::new() };
        terminal::print_stderr(&format!("wrote {}{replay}\n", path.display()));
    }
    Ok(())
}

/// A run as Spin reads it.
fn trail(report: &CheckReport, result: &PropertyResult) -> Result<String, Failure> {
    let help = "`--emit-test json` keeps the run, and `stubborn simulate --input` follows it";
    let refused = |message: &str| Failure::from(Diagnostic::error("no-trail", message).with_help(help));
    if report.model.language != "promela" {
        return Err(refused("trails are for Spin, which reads Promela only"));
    }
    let told = result.counterexample.as_ref().and_then(trail::to_text);
    told.ok_or_else(|| {
        refused("the model jumps where a remote reference looks: Spin numbers its statements otherwise")
    })
}

/// How Spin is asked to follow a trail.
fn replayed(arguments: &CheckArguments, path: &Path) -> String {
    let given = |(name, value): &(String, Option<String>)| match value {
        Some(value) => format!("'-D{name}={value}' "),
        None => format!("-D{name} "),
    };
    let definitions: String = arguments.model.definitions.iter().map(given).collect();
    format!("; try: spin -p -k {} {definitions}{}", path.display(), arguments.model.file.display())
}
