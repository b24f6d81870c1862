//! `stubborn explore`: counts the states of a model or of a product, and exports the state space.

use std::io::Write as _;

use stubborn::drawing::TooLarge;
use stubborn::report::coverage::CoverageReport;
use stubborn::report::space::{self, ExportError};
use stubborn::report::space_picture;
use stubborn::{Clock, ExploreReport, Explored, Options, Question, Remark, Space, unexplored};

use crate::args::ExploreArguments;
use crate::exit::{Exit, Failure};
use crate::terminal::{self, Display};
use crate::together::{self, Company};
use crate::{model, output, spelling};

pub(crate) fn run(arguments: &ExploreArguments) -> Result<Exit, Failure> {
    let exports = arguments.exports().next().is_some();
    check_usage(arguments, exports)?;
    let gpu = together::prepare(&arguments.engine, &arguments.model.file)?;
    let limits = &arguments.engine.limits;
    let display = Display::new(limits.quiet);
    let clock = model::clock(limits, &display).with_device(gpu.as_deref());
    let mut session = match model::open(&arguments.model, &clock)? {
        Ok(session) => session,
        Err(limit) => return Ok(print(&unexplored(&arguments.model.file, limit), limits.json)),
    };
    let n_warnings = session.warnings().len();
    if arguments.coverage {
        let report = session.coverage(&arguments.options(), &clock)?;
        display.clear();
        return tell_coverage(arguments, &report, session.text(), &clock);
    }
    let question = match (&arguments.ltl, &arguments.claim) {
        (Some(text), _) => Some(spelling::formula(text)),
        (None, Some(path)) => Some(Question::ClaimFile(path.clone())),
        (None, None) => None,
    };
    let options = Options { on_device: gpu.is_some(), ..arguments.options() };
    let company = Company::new(&arguments.engine, &session, &options, question.as_slice())?;
    let explored = session.explore(question.as_ref(), &options, exports, &company.clock(&clock));
    let mut explored = explored.map_err(spelling::cannot_be_watched)?;
    display.clear();
    let ExploreReport { remarks, transitions, .. } = &explored.report;
    if !company.reports(remarks, *transitions, limits.quiet) {
        return Ok(complete(explored.report.complete));
    }
    model::print_warnings(&session, n_warnings);
    if exports {
        export(arguments, &mut explored, &clock)?;
    }
    let exit = print(&explored.report, limits.json);
    Ok(if explored.fault.is_some() { Exit::BadInput } else { exit })
}

/// What of the model ever happens.
fn tell_coverage(
    arguments: &ExploreArguments,
    report: &CoverageReport,
    source: Option<&str>,
    clock: &Clock<'_>,
) -> Result<Exit, Failure> {
    output::tell(clock, arguments.engine.limits.json, report)?;
    if let Some(path) = &arguments.annotated {
        output::write_text(path, &report.annotated(source.unwrap_or_default()))?;
    }
    if let Some(path) = &arguments.report {
        output::write_text(path, &report.to_html(source))?;
    }
    Ok(complete(report.complete))
}

fn print(report: &ExploreReport, json: bool) -> Exit {
    if json {
        let document = serde_json::to_string_pretty(report).unwrap_or_default();
        terminal::print_stdout(&(document + "\n"));
    } else {
        terminal::print_stdout(&report.to_text());
    }
    complete(report.complete)
}

fn complete(is_complete: bool) -> Exit {
    if is_complete { Exit::Success } else { Exit::Undecided }
}

fn check_usage(arguments: &ExploreArguments, exports: bool) -> Result<(), Failure> {
    let is_plain = arguments.engine.search.is_plain();
    if exports && !is_plain {
        let message = "exporting needs all states, numbered breadth first: use --store exact and --order bfs";
        return Err(Failure::plain("cannot-export", message));
    }
    for (at, (option, file)) in arguments.exports().enumerate() {
        if let Some((other, _)) = arguments.exports().take(at).find(|(_, known)| *known == file) {
            let message = format!("{other} and {option} name the same file");
            return Err(Failure::plain("cannot-export", message));
        }
    }
    let has_property = arguments.ltl.is_some() || arguments.claim.is_some();
    if has_property && !is_plain {
        let message = "a product is counted breadth first, with all its states: use --store exact and \
                       --order bfs";
        return Err(Failure::plain("usage", message));
    }
    if !has_property && arguments.observer.is_some() {
        let message = "--observer is for the product with a property: give one by --ltl or --claim";
        return Err(Failure::plain("usage", message));
    }
    Ok(())
}

fn export(arguments: &ExploreArguments, explored: &mut Explored, clock: &Clock<'_>) -> Result<(), Failure> {
    let Some(space) = explored.space.as_ref().map(Space::to_report) else {
        explored.note(Remark::NothingExported);
        return Ok(());
    };
    // First, since there may be none.
    let picture =
        arguments.svg.as_ref().map(|path| Ok::<_, Failure>((path, picture(&space, clock)?))).transpose()?;
    let n_initial = space.initial().len();
    if let Some(path) = &arguments.aut {
        output::write(path, clock, |out| space.write_aut(out))?;
    }
    if let Some(path) = &arguments.dot {
        output::write(path, clock, |out| space.write_dot(out))?;
    }
    if let Some((path, picture)) = picture {
        output::write(path, clock, |out| out.write_all(picture.as_bytes()))?;
    }
    if arguments.aut.is_some() && n_initial > 1 {
        explored.note(Remark::InitialStates(n_initial));
    }
    Ok(())
}

fn picture(space: &space::Space<'_>, clock: &Clock<'_>) -> Result<String, Failure> {
    let too_large =
        |reason: TooLarge| Failure::plain("too-large", format!("{reason}: use --dot instead of --svg"));
    space_picture::check_size(space).map_err(too_large)?;
    let drawing = space_picture::draw(space, "states", &mut clock.budget()).map_err(|error| match error {
        ExportError::Limit(limit) => Failure::Limit(limit.to_string()),
        error => Failure::plain("model-error", error.to_string()),
    })?;
    drawing.to_svg().map_err(too_large)
}
