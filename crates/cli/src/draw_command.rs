//! `stubborn draw`: models as pictures.

use std::fmt;
use std::io::Write as _;
use std::path::Path;

use stubborn::Clock;
use stubborn::base::Diagnostic;
use stubborn::drawing::TooLarge;

use crate::args::{DrawArguments, DrawFormat};
use crate::exit::{Exit, Failure};
use crate::terminal::Display;
use crate::{model, output};

pub(crate) fn run(arguments: &DrawArguments) -> Result<Exit, Failure> {
    let path = arguments.output.as_deref();
    let format = match (arguments.format, path) {
        (Some(format), _) => format,
        (None, Some(path)) => format_by_name(path)?,
        (None, None) => DrawFormat::Svg,
    };
    let display = Display::new(true);
    let clock = model::clock(&arguments.resources, &display);
    let session = model::open_whole(&arguments.model, &clock)?;
    let drawing = session
        .draw(&clock)?
        .ok_or_else(|| Failure::plain("cannot-draw", "the model has no processes whose states have names"))?;
    match format {
        DrawFormat::Dot => write(path, &clock, drawing.to_dot())?,
        DrawFormat::Svg => write(path, &clock, drawing.to_svg().map_err(|reason| too_large(&reason))?)?,
    }
    Ok(Exit::Success)
}

fn write(path: Option<&Path>, clock: &Clock<'_>, picture: impl fmt::Display) -> Result<(), Failure> {
    match path {
        Some(path) => output::write(path, clock, |out| write!(out, "{picture}")),
        None => output::print(clock, picture),
    }
}

fn format_by_name(path: &Path) -> Result<DrawFormat, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "svg" => Ok(DrawFormat::Svg),
        "dot" | "gv" => Ok(DrawFormat::Dot),
        _ => {
            let message = format!("cannot tell the format of `{}` by its extension", path.display());
            let diagnostic = Diagnostic::error("unknown-format", message)
                .with_help("use a name that ends in `.svg` or `.dot`, or --format");
            Err(diagnostic.into())
        }
    }
}

/// There is no picture as SVG; there may be one by Graphviz.
pub(crate) fn too_large(reason: &TooLarge) -> Failure {
    Diagnostic::error("too-large", reason.to_string())
        .with_help("use --format dot, and a program that can search and zoom")
        .into()
}
