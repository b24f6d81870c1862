//! Where states are searched: on the processor, or on a device, which is opened.

use std::str::FromStr;

use stubborn::base::device::{Device, Failure};
use stubborn::check::device::CpuDevice;

use crate::{Gpu, list};

/// Where states are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The processor.
    #[default]
    Cpu,
    /// The first graphics processor, if there is one that can be used.
    Auto,
    /// The graphics processor of this number.
    Gpu(usize),
    /// The processor, by the search and the kernels of a graphics processor.
    Emulated,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        match text.split_once(':') {
            None if text == "cpu" => Ok(Choice::Cpu),
            None if text == "auto" => Ok(Choice::Auto),
            None if text == "emulated" => Ok(Choice::Emulated),
            None if text == "gpu" => Ok(Choice::Gpu(0)),
            Some(("gpu", number)) if number.parse::<u16>().is_ok() => {
                Ok(Choice::Gpu(number.parse().unwrap_or(0)))
            }
            _ => Err("expected cpu, gpu, gpu:1 or auto".to_owned()),
        }
    }
}

/// The memory of a card that is emulated; it is the processor's, so half of what this may use is all that there is.
const EMULATED_BYTES: u64 = 2 << 30;

impl Choice {
    /// The device that was asked for; none if the processor does the work. So many bytes of the processor's memory may be
    /// used. Where the choice is ours, who wants to know is told why a card is not used.
    ///
    /// # Errors
    /// The graphics processor that was asked for cannot be used.
    pub fn open(self, max_bytes: u64, hears: impl FnOnce(&str)) -> Result<Option<Box<dyn Device>>, Failure> {
        match self {
            Choice::Cpu => Ok(None),
            Choice::Emulated => Ok(Some(Box::new(CpuDevice::new(EMULATED_BYTES.min(max_bytes / 2))))),
            Choice::Gpu(number) => Ok(Some(Box::new(Gpu::open(number)?))),
            // Where there is no card, nobody expects one.
            Choice::Auto if !list().is_ok_and(|cards| !cards.is_empty()) => Ok(None),
            Choice::Auto => match Gpu::open(0) {
                Ok(gpu) => Ok(Some(Box::new(gpu))),
                Err(Failure(why)) => {
                    hears(&why);
                    Ok(None)
                }
            },
        }
    }
}
