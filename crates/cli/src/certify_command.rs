//! `stubborn certify`: checks certificates.

use stubborn::CertifyReport;

use crate::args::CertifyArguments;
use crate::exit::{Exit, Failure};
use crate::terminal::Display;
use crate::{model, output};

pub(crate) fn run(arguments: &CertifyArguments) -> Result<Exit, Failure> {
    let display = Display::new(arguments.limits.quiet);
    let clock = model::clock(&arguments.limits, &display);
    let report = CertifyReport::new(&arguments.file, &arguments.certificate, &arguments.folders, &clock)?;
    display.clear();
    match arguments.limits.json {
        true => output::print_json(&clock, &report.to_json(), None)?,
        false => output::print(&clock, &report)?,
    }
    Ok(report.verdict().into())
}
