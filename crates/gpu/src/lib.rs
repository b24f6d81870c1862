//! Searches on graphics processors.
//!
//! A [`Gpu`] is a [`Device`] of the engine: `check::device` divides its memory and
//! says what its kernels do; here are the kernel texts (`kernel/explore.cu`; `kernel/reduce.cu` and
//! `kernel/guide.cu` for searches of systems and products that leave something out), the PTX that was made of them (`cargo xtask gpu-ptx`),
//! and the driver, which is loaded at run time (`driver`). Nothing of CUDA is needed to build this crate or to run a program
//! that has it.
//!
//! Before a card is used, it is [tried out](mod@trial): it searches some small systems, and must find what the processor finds. Before it
//! leaves something out, it is tried out for that, too; if it fails there, it searches everything all the same.
//!
//! ```no_run
//! use stubborn::{Clock, Limits, Options, Session};
//! use stubborn_gpu::Gpu;
//!
//! let gpu = Gpu::open(0)?;
//! let clock = Clock::start(&Limits::default()).with_device(Some(&gpu));
//! let options = Options { on_device: true, ..Options::default() };
//! let explored = Session::open("dining.proc")?.explore(None, &options, false, &clock)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod driver;
pub mod trial;

use std::sync::OnceLock;

use stubborn::base::device::{Device, Failure, Kernel, Memory, Orders, Reduces};

pub use choice::Choice;
use driver::{Card, Words};

/// A graphics processor that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub number: usize,
    /// What it is called.
    pub name: String,
    /// The bytes of its memory.
    pub bytes: u64,
}

/// The graphics processors of this machine.
///
/// # Errors
/// There is no driver, or it does not answer.
pub fn list() -> Result<Vec<Listed>, Failure> {
    let describe = |number| driver::describe(number).map(|(name, bytes)| Listed { number, name, bytes });
    (0..driver::n_cards()?).map(describe).collect()
}

/// A graphics processor.
pub struct Gpu {
    card: Card,
    name: String,
    /// Whether it leaves out what it should, of systems and of products, once that was tried.
    reduces: [OnceLock<Result<(), Failure>>; 2],
}

impl Gpu {
    /// Opens a graphics processor, and tries it out.
    ///
    /// # Errors
    /// There is none of this number, the kernels do not run on it, or it does not find what the processor finds.
    pub fn open(number: usize) -> Result<Gpu, Failure> {
        let (name, _) = driver::describe(number)?;
        let gpu = Gpu { card: Card::open(number)?, name, reduces: Default::default() };
        match trial::run(&gpu) {
            Ok(()) => Ok(gpu),
            Err(Failure(why)) => Err(Failure(format!("{} cannot be used: {why}", gpu.name))),
        }
    }
}

impl Device for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        self.card.free_bytes()
    }

    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
        Ok(Box::new(GpuMemory(self.card.take(n_words)?)))
    }

    fn reduces(&self, what: Reduces) -> Result<(), Failure> {
        let refuse =
            |Failure(why)| Failure(format!("{} does not leave out what it should: {why}", self.name));
        let trial = match what {
            Reduces::Systems => trial::sets,
            Reduces::Products => trial::guided,
        };
        self.reduces[what as usize].get_or_init(|| trial(self).map_err(refuse)).clone()
    }
}

struct GpuMemory<'c>(Words<'c>);

impl Memory for GpuMemory<'_> {
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure> {
        self.0.write(at, words)
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Failure> {
        self.0.read(at, words)
    }

    fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure> {
        self.0.fill(at, n_words, byte)
    }

    fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure> {
        self.0.launch(kernel, n, orders)
    }
}
