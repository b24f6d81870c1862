//! The driver's library: the one place with unsafe code.
//!
//! Nothing leaves this module that could be misused: a [`Card`] is open as long as it is there, [`Words`] are memory that belongs to it,
//! reading and writing stay within them, and kernels get the whole of them. What a kernel does within its words is the matter of the
//! kernel text, which is compiled into this program and tested.
//!
//! The library is loaded at run time. `cudarc` panics if it is used where there is none, so everything begins with
//! [`n_cards`], which looks first.

#![allow(unsafe_code)]

use std::ffi::{CString, c_void};
use std::sync::OnceLock;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use stubborn::base::device::{Failure, Kernel, Orders};

/// The kernels as PTX, which the driver compiles for the card that there is.
const PTX: &str = include_str!("../kernel/explore.ptx");

/// Those that leave something out, of systems and of products. They are compiled when they are first asked for.
const LATER: [(&str, &[Kernel]); 2] = [
    (include_str!("../kernel/reduce.ptx"), &[Kernel::Reduce, Kernel::Retrace]),
    (include_str!("../kernel/guide.ptx"), &[Kernel::PairLed, Kernel::ScanLed, Kernel::SpreadLed]),
];

/// Which of these has a kernel.
fn later(kernel: Kernel) -> Option<usize> {
    LATER.iter().position(|(_, kernels)| kernels.contains(&kernel))
}

/// Lanes of a block.
const BLOCK: u32 = 256;

/// So many blocks for each multiprocessor keep it busy; lanes take several numbers if there are more.
const BLOCKS: u32 = 32;

fn failed(error: DriverError) -> Failure {
    Failure(
        error
            .error_string()
            .map_or_else(|_| format!("{error:?}"), |text| text.to_string_lossy().into_owned()),
    )
}

/// How many cards there are.
///
/// # Errors
/// There is no driver, or it does not answer.
pub(crate) fn n_cards() -> Result<usize, Failure> {
    // SAFETY: it loads a library of a known name, and runs what that does when it is loaded.
    if !unsafe { sys::is_culib_present() } {
        return Err(Failure("there is no driver for graphics processors (libcuda)".to_owned()));
    }
    result::init().map_err(failed)?;
    result::device::get_count().map(|n| n.max(0) as usize).map_err(failed)
}

/// A graphics processor that is open, with the kernels loaded.
pub(crate) struct Card {
    device: sys::CUdevice,
    context: sys::CUcontext,
    kernels: Functions,
    later: [OnceLock<Result<Functions, Failure>>; 2],
    n_processors: u32,
}

/// Kernels that were compiled.
type Functions = Vec<(Kernel, sys::CUfunction)>;

/// Has kernels compiled for the card whose context is this thread's.
fn load(text: &str, kernels: impl IntoIterator<Item = Kernel>) -> Result<Functions, Failure> {
    let text = CString::new(text).map_err(|error| Failure(error.to_string()))?;
    // SAFETY: the text ends with a zero.
    let module = unsafe { result::module::load_data(text.as_ptr().cast::<c_void>()) }.map_err(failed)?;
    let function = |kernel: Kernel| {
        let name = CString::new(format!("stubborn_{}", kernel.name()));
        let name = name.map_err(|error| Failure(error.to_string()))?;
        // SAFETY: the module was loaded a moment ago, and is never unloaded; if it has no kernel of the name, that is an error.
        let function = unsafe { result::module::get_function(module, name) }.map_err(failed)?;
        Ok((kernel, function))
    };
    kernels.into_iter().map(function).collect()
}

// SAFETY: the driver's handles may be used by any thread that has made the context its own, which every function here does.
unsafe impl Send for Card {}
// SAFETY: as above; the driver locks what it shares.
unsafe impl Sync for Card {}

/// What a card is called, and how many bytes of memory it has.
///
/// # Errors
/// There is none of this number.
pub(crate) fn describe(number: usize) -> Result<(String, u64), Failure> {
    let device = device(number)?;
    let name = result::device::get_name(device).map_err(failed)?;
    // SAFETY: the device was given by the driver.
    let bytes = unsafe { result::device::total_mem(device) }.map_err(failed)?;
    Ok((name, bytes as u64))
}

fn device(number: usize) -> Result<sys::CUdevice, Failure> {
    let n_cards = n_cards()?;
    if number >= n_cards {
        return Err(Failure(format!("there is no graphics processor {number}: {n_cards} can be used")));
    }
    result::device::get(number as i32).map_err(failed)
}

impl Card {
    /// Opens a card, and has the kernels compiled for it.
    ///
    /// # Errors
    /// There is none of this number, or it is too old for the kernels.
    pub(crate) fn open(number: usize) -> Result<Card, Failure> {
        let device = device(number)?;
        // SAFETY: the device was given by the driver. Should something fail, the context stays retained, which costs memory and
        // nothing else.
        unsafe {
            let attribute = sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
            let n_processors = result::device::get_attribute(device, attribute).map_err(failed)?;
            let context = result::primary_ctx::retain(device).map_err(failed)?;
            result::ctx::set_current(context).map_err(failed)?;
            let kernels = load(PTX, Kernel::ALL.into_iter().filter(|kernel| later(*kernel).is_none()))?;
            let n_processors = n_processors.max(1) as u32;
            Ok(Card { device, context, kernels, later: Default::default(), n_processors })
        }
    }

    /// A kernel; those that leave something out are compiled first, if they were not yet.
    fn function(&self, kernel: Kernel) -> Result<sys::CUfunction, Failure> {
        let kernels = match later(kernel) {
            None => &self.kernels,
            Some(number) => {
                let (text, kernels) = LATER[number];
                let loaded = self.later[number].get_or_init(|| load(text, kernels.iter().copied()));
                loaded.as_ref().map_err(Clone::clone)?
            }
        };
        let found = kernels.iter().find(|(known, _)| *known == kernel);
        found.map(|(_, function)| *function).ok_or_else(|| Failure("no such kernel".to_owned()))
    }

    /// Makes this thread work with the card.
    fn enter(&self) -> Result<(), Failure> {
        // SAFETY: the context is retained as long as the card is there.
        unsafe { result::ctx::set_current(self.context) }.map_err(failed)
    }

    /// Bytes of memory that can be had.
    pub(crate) fn free_bytes(&self) -> Result<u64, Failure> {
        self.enter()?;
        result::mem_get_info().map(|(free, _)| free as u64).map_err(failed)
    }

    /// Takes so many words of memory.
    pub(crate) fn take(&self, n_words: u64) -> Result<Words<'_>, Failure> {
        self.enter()?;
        let bytes = usize::try_from(n_words).ok().and_then(|n| n.checked_mul(8));
        let bytes = bytes.ok_or_else(|| Failure("out of memory".to_owned()))?;
        // SAFETY: the memory belongs to the words, which free it once.
        let start = unsafe { result::malloc_sync(bytes) }.map_err(failed)?;
        Ok(Words { card: self, start, n_words })
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        // SAFETY: it was retained once, and is released once. All words were freed before: they borrow the card.
        _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Words in the memory of a card.
pub(crate) struct Words<'c> {
    card: &'c Card,
    start: sys::CUdeviceptr,
    n_words: u64,
}

impl Words<'_> {
    /// Where some words are that belong to these.
    fn part(&self, at: u64, n_words: u64) -> Result<sys::CUdeviceptr, Failure> {
        self.card.enter()?;
        match at.checked_add(n_words) {
            Some(end) if end <= self.n_words => Ok(self.start + 8 * at),
            _ => Err(Failure("no such memory".to_owned())),
        }
    }

    pub(crate) fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure> {
        let to = self.part(at, words.len() as u64)?;
        // SAFETY: so many words are there, and nothing else uses them: kernels were waited for.
        unsafe { result::memcpy_htod_sync(to, words) }.map_err(failed)
    }

    pub(crate) fn read(&self, at: u64, words: &mut [u64]) -> Result<(), Failure> {
        let from = self.part(at, words.len() as u64)?;
        // SAFETY: so many words are there; whatever they are, they are words.
        unsafe { result::memcpy_dtoh_sync(words, from) }.map_err(failed)
    }

    pub(crate) fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure> {
        let to = self.part(at, n_words)?;
        // SAFETY: so many words are there.
        unsafe { result::memset_d8_sync(to, byte, 8 * n_words as usize) }.map_err(failed)?;
        result::ctx::synchronize().map_err(failed)
    }

    pub(crate) fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure> {
        if n == 0 {
            return Ok(());
        }
        self.card.enter()?;
        let function = self.card.function(kernel)?;
        let most = u64::from(self.card.n_processors * BLOCKS);
        let n_blocks = n.div_ceil(BLOCK.into()).min(most) as u32;
        let (mut start, mut n, mut orders) = (self.start, n, orders);
        let mut parameters = [
            (&raw mut start).cast::<c_void>(),
            (&raw mut n).cast::<c_void>(),
            (&raw mut orders).cast::<c_void>(),
        ];
        let stream = result::stream::null();
        // SAFETY: the function is a kernel with these parameters, which are copied before the call returns; the memory stays
        // until the kernel is done, which is waited for.
        unsafe {
            result::launch_kernel(function, (n_blocks, 1, 1), (BLOCK, 1, 1), 0, stream, &mut parameters)
        }
        .map_err(failed)?;
        result::ctx::synchronize().map_err(failed)
    }
}

impl Drop for Words<'_> {
    fn drop(&mut self) {
        if self.card.enter().is_ok() {
            // SAFETY: it was taken once, and is freed once.
            _ = unsafe { result::free_sync(self.start) };
        }
    }
}
