//! `stubborn draw`: models as pictures.

use std::io::Write as _;
use std::path::Path;

use base::{Diagnostic, SourceMap};
use drawing::{Drawing, TooLarge, system};

use crate::args::{DrawArguments, DrawFormat};
use crate::exit::{Exit, Failure};
use crate::input::{self, Input, Loaded};
use crate::output;
use crate::terminal;

pub(crate) fn run(arguments: &DrawArguments) -> Result<Exit, Failure> {
    let path = arguments.output.as_deref();
    let format = match (arguments.format, path) {
        (Some(format), _) => format,
        (None, Some(path)) => format_by_name(path)?,
        (None, None) => DrawFormat::Svg,
    };
    let input = input::load(&arguments.model, false)?;
    let drawing = draw(&input)?;
    let picture = match format {
        DrawFormat::Dot => drawing.to_dot(),
        DrawFormat::Svg => drawing.to_svg().map_err(|reason| too_large(&reason))?,
    };
    match path {
        Some(path) => output::write(path, false, |out| out.write_all(picture.as_bytes()))?,
        None => terminal::print_stdout(&picture),
    }
    Ok(Exit::Success)
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
            Err(Failure::new(SourceMap::new(), diagnostic, false))
        }
    }
}

fn draw(input: &Input) -> Result<Drawing, Failure> {
    match &input.model {
        Loaded::Petri(model) => Ok(model.net().draw()),
        model @ (Loaded::Process(_) | Loaded::Promela(_)) => system::draw(model.system(), &input.info().file)
            .ok_or_else(|| {
                Failure::plain("cannot-draw", "the model has no processes whose states have names", false)
            }),
    }
}

/// There is no picture as SVG; there may be one by Graphviz.
pub(crate) fn too_large(reason: &TooLarge) -> Failure {
    let diagnostic = Diagnostic::error("too-large", reason.to_string())
        .with_help("use --format dot, and a program that can search and zoom");
    Failure::new(SourceMap::new(), diagnostic, false)
}
