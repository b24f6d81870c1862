//! Graphics processors: which one a command uses, and `stubborn devices`.

use gpu::Gpu;
use stubborn::ModelOptions;
use stubborn::base::device::{Device, Failure as Gone};
use stubborn::check::device::{self as search, CpuDevice};
use stubborn::language::Purpose;
use stubborn::report::human_bytes;

use crate::args::{DeviceArguments, DeviceChoice, DevicesArguments, SearchArguments};
use crate::exit::{Exit, Failure};
use crate::model;
use crate::terminal::{self, Display};

/// A device searches breadth first, and keeps states exactly.
pub(crate) fn check_usage(device: DeviceArguments, search: &SearchArguments) -> Result<(), Failure> {
    if device.device == DeviceChoice::Cpu || search.is_plain() {
        return Ok(());
    }
    let message =
        "a device searches breadth first, and keeps states exactly: use --store exact and --order bfs";
    Err(Failure::plain("usage", message))
}

/// The memory of a card that is emulated.
const EMULATED_BYTES: u64 = 2 << 30;

/// The device that was asked for; none if the processor does the work.
pub(crate) fn open(arguments: DeviceArguments) -> Result<Option<Box<dyn Device>>, Failure> {
    match arguments.device {
        DeviceChoice::Cpu => Ok(None),
        DeviceChoice::Emulated => Ok(Some(Box::new(CpuDevice::new(EMULATED_BYTES)))),
        DeviceChoice::Gpu(number) => match Gpu::open(number) {
            Ok(gpu) => Ok(Some(Box::new(gpu))),
            Err(Gone(why)) => Err(Failure::plain("no-device", format!("{why}: use --device cpu"))),
        },
        // Where there is no card, nobody expects one.
        DeviceChoice::Auto if !gpu::list().is_ok_and(|cards| !cards.is_empty()) => Ok(None),
        DeviceChoice::Auto => match Gpu::open(0) {
            Ok(gpu) => Ok(Some(Box::new(gpu))),
            Err(Gone(why)) => {
                terminal::print_stderr(&format!("{why}: the processor searches\n"));
                Ok(None)
            }
        },
    }
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
        lines.push(match search::refusal(&view.system) {
            Some(why) => format!("{}: cannot be searched on a device: {why}", file.display()),
            None => format!("{}: a state takes {}", file.display(), human_bytes(width)),
        });
        for card in &cards {
            let n_states = search::capacity(&view.system, card.bytes / 10 * 9);
            lines.push(format!("gpu:{}  about {n_states} states fit", card.number));
        }
    }
    terminal::print_stdout(&(lines.join("\n") + "\n"));
    Ok(Exit::Success)
}
