//! Graphics processors: which one a command uses, and `stubborn devices`.

use gpu::Choice;
use stubborn::ModelOptions;
use stubborn::base::device::{Device, Failure as Gone};
use stubborn::check::device::{capacity, refusal};
use stubborn::language::Purpose;
use stubborn::report::human_bytes;

use crate::args::{DeviceArguments, DevicesArguments, EngineArguments, SearchArguments};
use crate::exit::{Exit, Failure};
use crate::model;
use crate::terminal::{self, Display};

/// A device searches breadth first, and keeps states exactly.
pub(crate) fn check_usage(device: DeviceArguments, search: &SearchArguments) -> Result<(), Failure> {
    if device.device == Choice::Cpu || search.is_plain() {
        return Ok(());
    }
    let message =
        "a device searches breadth first, and keeps states exactly: use --store exact and --order bfs";
    Err(Failure::plain("usage", message))
}

/// The device that was asked for; none if the processor does the work.
pub(crate) fn open(arguments: &EngineArguments) -> Result<Option<Box<dyn Device>>, Failure> {
    let max_bytes = arguments.limits.resources.max_memory.unwrap_or(u64::MAX);
    let hears = |why: &str| terminal::print_stderr(&format!("{why}: the processor searches\n"));
    let opened = arguments.device.device.open(max_bytes, hears);
    opened.map_err(|Gone(why)| Failure::plain("no-device", format!("{why}: use --device cpu")))
}

/// Lists what there is.
pub(crate) fn list(arguments: &DevicesArguments) -> Result<Exit, Failure> {
    let mut lines = Vec::new();
    let mut cards = Vec::new();
    match gpu::list() {
        Ok(listed) => cards = listed,
        Err(Gone(why)) => lines.push(format!("no graphics processor can be used: {why}")),
    }
    if lines.is_empty() && cards.is_empty() {
        lines.push("no graphics processor can be used: there is none".to_owned());
    }
    for card in &cards {
        lines.push(format!("gpu:{}  {}, {}", card.number, card.name, human_bytes(card.bytes)));
    }
    if let Some(file) = &arguments.file {
        let display = Display::new(true);
        let clock = model::clock(&arguments.limits, &display);
        let options = ModelOptions { definitions: arguments.definitions.clone(), ..ModelOptions::default() };
        let session = model::whole(model::open_as(file, &options, &clock)?)?;
        let view = session.view(Purpose::Runs, &clock)?;
        let width = 4 * stubborn::model::System::width(&*view.system) as u64;
        lines.push(match refusal(&view.system) {
            Some(why) => format!("{}: cannot be searched on a device: {why}", file.display()),
            None => format!("{}: a state takes {}", file.display(), human_bytes(width)),
        });
        for card in &cards {
            let n_states = capacity(&view.system, card.bytes / 10 * 9);
            lines.push(format!("gpu:{}  about {n_states} states fit", card.number));
        }
    }
    terminal::print_stdout(&(lines.join("\n") + "\n"));
    Ok(Exit::Success)
}
