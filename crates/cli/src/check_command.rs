//! `stubborn check`: decides the properties of a model.

use std::path::Path;
use std::sync::Arc;

use stubborn::base::SourceMap;
use stubborn::report::html::Page;
use stubborn::report::{CheckReport, Explanations, PropertyResult, chart, junit, sarif};
use stubborn::{Options, Question, Remark, certificate, unread};

use crate::args::{CheckArguments, Format};
use crate::exit::{Exit, Failure};
use crate::spelling::{self, SPELLING};
use crate::terminal::{self, Display};
use crate::together::{self, Company};
use crate::{cross_command, emit, model, output, watch};

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// The answers and the runs.
    Answers,
    /// The runs in words.
    Words,
}

pub(crate) fn run(arguments: &CheckArguments, telling: Telling) -> Result<Exit, Failure> {
    if arguments.cross {
        return cross_command::run(arguments, &questions(arguments));
    }
    let format = arguments.format();
    if telling == Telling::Words && !matches!(format, Format::Text | Format::Json) {
        return Err(Failure::plain("usage", "explanations are texts or JSON: leave out --format"));
    }
    let display = Display::new(arguments.engine.limits.quiet);
    match arguments.watch {
        true => watch::run(arguments, |read| {
            let checked = once(arguments, telling, &display, read);
            checked.unwrap_or_else(|failure| failure.report(format == Format::Json))
        }),
        false => once(arguments, telling, &display, &mut SourceMap::new()),
    }
}

/// Checks once, and tells; the texts that were read are kept.
fn once(
    arguments: &CheckArguments,
    telling: Telling,
    display: &Display,
    read: &mut SourceMap,
) -> Result<Exit, Failure> {
    let told = check(arguments, telling, display, read);
    if let Err(Failure::Wrong(sources, _)) = &told {
        *read = sources.clone();
    }
    let file = arguments.model.file.display().to_string();
    match (arguments.format(), told) {
        (Format::Sarif | Format::Junit, Err(failure)) => Ok(failure.report_as(arguments.format(), &file)),
        (_, told) => told,
    }
}

fn check(
    arguments: &CheckArguments,
    telling: Telling,
    display: &Display,
    read: &mut SourceMap,
) -> Result<Exit, Failure> {
    let options = arguments.options()?;
    let gpu = together::prepare(&arguments.engine, &arguments.model.file)?;
    let options = Options { on_device: gpu.is_some(), ..options };
    let clock = model::clock(&arguments.engine.limits, display).with_device(gpu.as_deref());
    let questions = questions(arguments);
    let (mut report, text) = match model::open(&arguments.model, &clock)? {
        Ok(mut session) => {
            let n_warnings = session.warnings().len();
            let company = Company::new(&arguments.engine, &session, &options, &questions)?;
            let report = session.check_within(&questions, &options, &company.clock(&clock))?;
            display.clear();
            *read = session.sources().clone();
            let remarks = report.results.iter().flat_map(|result| &result.remarks);
            let transitions = report.results.iter().map(|result| result.stats.transitions).sum();
            if !company.reports(remarks, transitions, arguments.engine.limits.quiet) {
                return Ok(exit(&report));
            }
            model::print_warnings(&session, n_warnings);
            (report, session.text().map(str::to_owned))
        }
        Err(limit) => (unread(&arguments.model.file, &questions, limit), None),
    };
    if terminal::has_changed() {
        // What was found out is about a file that is not there any more.
        return Ok(Exit::Undecided);
    }
    report.results.iter_mut().for_each(spell);
    match (telling, arguments.format()) {
        (Telling::Words, format) => {
            let explanations = Explanations::of_report(&report, &SPELLING);
            output::tell(&clock, format == Format::Json, &explanations)?;
        }
        (Telling::Answers, Format::Json) => {
            let is_over = Arc::default();
            report.stop_when(&is_over);
            output::print_json(&clock, &report, Some(&is_over))?;
        }
        (Telling::Answers, Format::Sarif) => output::print_json(&clock, &sarif::of_report(&report), None)?,
        (Telling::Answers, Format::Junit) => output::print(&clock, junit::of_report(&report, &SPELLING))?,
        (Telling::Answers, Format::Text) => output::print(&clock, report.spelled(&SPELLING))?,
    }
    if let Some(prefix) = &arguments.chart {
        write_charts(prefix, &report)?;
    }
    if let Some(path) = &arguments.report {
        write_page(path, &report, text.as_deref())?;
    }
    if let Some(path) = &arguments.certificate {
        write_certificates(path, &report)?;
    }
    if let Some(kind) = arguments.emit_test {
        emit::write_tests(kind, arguments, &options, &questions, &report)?;
    }
    Ok(exit(&report))
}

fn exit(report: &CheckReport) -> Exit {
    match report.exit_code() {
        0 => Exit::Success,
        1 => Exit::Violated,
        2 => Exit::BadInput,
        _ => Exit::Undecided,
    }
}

/// What is asked; without anything, what the file wants checked.
fn questions(arguments: &CheckArguments) -> Vec<Question> {
    let mut questions = Vec::new();
    if arguments.deadlock_free {
        questions.push(Question::DeadlockFree);
    }
    if !arguments.property.is_empty() {
        questions.push(Question::Properties(arguments.property.clone()));
    }
    questions.extend(arguments.ltl.iter().map(|text| spelling::formula(text)));
    if arguments.nonprogress {
        questions.push(Question::Progress);
    }
    if arguments.acceptance {
        questions.push(Question::Acceptance);
    }
    questions.extend(arguments.claim.iter().cloned().map(Question::ClaimFile));
    if let Some(path) = arguments.mcc.clone() {
        questions.push(Question::ContestFile { path, only: arguments.only.clone() });
    }
    if questions.is_empty() {
        questions.push(Question::Declared);
    }
    questions
}

/// Says what was refused in the words of the command line.
fn spell(result: &mut PropertyResult) {
    for remark in &mut result.remarks {
        if let Remark::Refused(refusal, hint) = remark {
            *hint = spelling::hint(refusal);
        }
    }
}

/// Runs as message sequence charts.
fn write_charts(prefix: &str, report: &CheckReport) -> Result<(), Failure> {
    let runs = report.results.iter().filter_map(|result| Some((result, result.counterexample.as_ref()?)));
    for (number, (result, counterexample)) in runs.enumerate() {
        if prefix == "-" {
            let chart = chart::to_text(&counterexample.trace);
            terminal::print_stdout(&format!("\n{}:\n{chart}", result.property));
            continue;
        }
        let path = format!("{prefix}-{}.svg", number + 1);
        output::write_text(Path::new(&path), &chart::to_svg(&counterexample.trace))?;
    }
    Ok(())
}

/// Writes the certificates of what holds.
fn write_certificates(path: &Path, report: &CheckReport) -> Result<(), Failure> {
    let mut file = Vec::new();
    for proof in report.results.iter().filter_map(|result| result.certificate.as_ref()) {
        certificate::write(proof, &mut file).map_err(|error| Failure::plain("io", error.to_string()))?;
    }
    if file.is_empty() {
        terminal::print_stderr("nothing is certified, so no certificate was written\n");
        return Ok(());
    }
    output::write_bytes(path, &file)
}

/// Writes the page of a check.
fn write_page(path: &Path, report: &CheckReport, source: Option<&str>) -> Result<(), Failure> {
    let explanations = Explanations::of_report(report, &SPELLING);
    let page = Page { report, source, explanations: &explanations.results }.to_html();
    output::write_text(path, &page)
}
