//! A machine beside this one with a memory of its own, such as a graphics processor: what a search needs of it.
//!
//! The libraries drive no machine. Who has one hands in a [`Device`], in the [budget](crate::Budget), as threads are handed in by a
//! [`Team`](crate::Team). A device has words of 64 bits, all in one [`Memory`], and knows a fixed number of [kernels](Kernel), each of
//! which does the same for many numbers at once. What the words mean, and what kernels do, is known to who made both (`device` of
//! `stubborn-check`): a device only carries it out.

use std::fmt;

/// What a device can do for many numbers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Adds states to the table.
    Insert,
    /// Takes all steps out of states, and adds where they lead.
    Expand,
    /// Picks out the states in which something is false, or nothing can happen.
    Select,
    /// Picks out the states from which a step leads to one that was picked out.
    Scan,
    /// Says whether states were picked out.
    Ask,
    /// Picks out states.
    Mark,
    /// Takes all steps out of states of a product, and adds where they lead.
    Pair,
    /// Says which states of a product a search for cycles is about.
    Begin,
    /// Lets something spread along the steps of a product, one step far.
    Spread,
    /// Tells states of a product what has spread to them.
    Tell,
    /// Takes those steps out of states that are in a set which suffices, and adds where they lead.
    Reduce,
    /// Picks out the states from which such a step leads to one that was picked out.
    Retrace,
    /// Takes those steps out of states of a product that an observer leads to, and adds where they lead.
    PairLed,
    /// Picks out the states from which such a step of a product leads to one that was picked out.
    ScanLed,
    /// Lets something spread along such steps, one step far.
    SpreadLed,
}

impl Kernel {
    /// All kernels, by their numbers.
    pub const ALL: [Kernel; 15] = [
        Kernel::Insert,
        Kernel::Expand,
        Kernel::Select,
        Kernel::Scan,
        Kernel::Ask,
        Kernel::Mark,
        Kernel::Pair,
        Kernel::Begin,
        Kernel::Spread,
        Kernel::Tell,
        Kernel::Reduce,
        Kernel::Retrace,
        Kernel::PairLed,
        Kernel::ScanLed,
        Kernel::SpreadLed,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Insert => "insert",
            Kernel::Expand => "expand",
            Kernel::Select => "select",
            Kernel::Scan => "scan",
            Kernel::Ask => "ask",
            Kernel::Mark => "mark",
            Kernel::Pair => "pair",
            Kernel::Begin => "begin",
            Kernel::Spread => "spread",
            Kernel::Tell => "tell",
            Kernel::Reduce => "reduce",
            Kernel::Retrace => "retrace",
            Kernel::PairLed => "pair_led",
            Kernel::ScanLed => "scan_led",
            Kernel::SpreadLed => "spread_led",
        }
    }
}

/// Why a device does not do what it is told: it failed, or was taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// What a kernel is told beside the numbers that it is for.
pub type Orders = [u64; 6];

/// What a device may leave something out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduces {
    /// Systems, by sets for deadlocks and goals.
    Systems,
    /// Products, by guided sets.
    Products,
}

/// A machine with a memory of its own.
pub trait Device: Sync {
    /// What people call it.
    fn name(&self) -> String;

    /// Bytes of its memory that can be had now.
    ///
    /// # Errors
    /// The device does not answer.
    fn free_bytes(&self) -> Result<u64, Failure>;

    /// Takes so many words of its memory.
    ///
    /// # Errors
    /// They cannot be had.
    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure>;

    /// Whether it leaves something out: of a system by [`Kernel::Reduce`] and [`Kernel::Retrace`], of a product by [`Kernel::PairLed`],
    /// [`Kernel::ScanLed`] and [`Kernel::SpreadLed`]. It is asked before these are used.
    ///
    /// # Errors
    /// It does not, for this reason.
    fn reduces(&self, what: Reduces) -> Result<(), Failure> {
        let _ = what;
        Ok(())
    }
}

/// Words in the memory of a device.
pub trait Memory {
    /// Writes some words.
    ///
    /// # Errors
    /// The device failed.
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure>;

    /// Reads some words.
    ///
    /// # Errors
    /// The device failed.
    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Failure>;

    /// Writes the same byte into all bytes of some words.
    ///
    /// # Errors
    /// The device failed.
    fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure>;

    /// Lets a kernel run for the numbers below `n`, and waits until it is done.
    ///
    /// # Errors
    /// The device failed.
    fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure>;
}
