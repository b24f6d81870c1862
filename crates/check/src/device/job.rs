//! The kernels, as functions on a memory that was divided.

use base::Limit;
use base::device::{Device, Failure, Kernel, Memory, Orders};
use model::ActionSystem;
use model::tables::Tables;

use super::cycles::Sieve;
use super::memory::{self, BLOCK, Counter, MAX_LETTERS, Place, Plan};

/// What states are picked out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// A proposition is false.
    False(usize),
    /// Nothing can happen.
    Deadlock,
}

/// A search on a device.
pub(super) struct Job<'d> {
    memory: Box<dyn Memory + 'd>,
    pub(super) plan: Plan,
    n_actions: usize,
}

/// What kernels have counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) added: u64,
    pub(super) holes: u64,
    pub(super) transitions: u64,
    pub(super) deadlocks: u64,
    pub(super) notes: u64,
    pub(super) found: u64,
}

impl<'d> Job<'d> {
    /// Takes so many bytes of memory.
    pub(super) fn new(
        system: &ActionSystem,
        tables: &Tables,
        device: &'d dyn Device,
        bytes: u64,
    ) -> Result<Job<'d>, Limit> {
        let program = memory::program_words(tables);
        let n_words = bytes / 8;
        let plan = Plan::new(system, program.len() as u64, n_words);
        let plan = plan.ok_or(Limit::DeviceMemory(8 * n_words))?;
        let memory = device.take(plan.n_words).map_err(failed)?;
        let mut job = Job { memory, plan, n_actions: system.actions().len() };
        job.begin(&program).map_err(failed)?;
        Ok(job)
    }

    fn begin(&mut self, program: &[u64]) -> Result<(), Failure> {
        let Job { memory, plan, .. } = self;
        memory.fill(0, plan.place(Place::Notes), 0)?;
        memory.write(0, &plan.places)?;
        memory.write(plan.place(Place::Program), program)?;
        memory.fill(plan.place(Place::Table), 4 * plan.place(Place::NBuckets), 0xff)?;
        if !plan.is_narrow {
            memory.fill(plan.place(Place::Holes), plan.n_ids() / 64 + 1, 0)?;
        }
        self.clear_codes()
    }

    /// Nothing is picked out any more.
    fn clear_codes(&mut self) -> Result<(), Failure> {
        self.memory.fill(self.plan.place(Place::Codes), self.plan.n_ids() / 8 + 1, 0)
    }

    pub(super) fn forget(&mut self) -> Result<(), Limit> {
        self.clear_codes().map_err(failed)
    }

    /// Bytes that were taken.
    pub(super) fn bytes(&self) -> u64 {
        8 * self.plan.n_words
    }

    /// Runs a kernel. Notes, and what is found, are counted anew.
    fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<Counts, Limit> {
        self.memory.write(Counter::Notes as u64, &[0, 0]).map_err(failed)?;
        self.memory.launch(kernel, n, orders).map_err(failed)?;
        self.counts()
    }

    /// What was counted so far.
    pub(super) fn counts(&mut self) -> Result<Counts, Limit> {
        let Job { memory, plan, .. } = self;
        let mut counts = [0; (BLOCK - Counter::Added as u64) as usize];
        memory.read(Counter::Added as u64, &mut counts).map_err(failed)?;
        let count = |counter: Counter| counts[counter as usize - Counter::Added as usize];
        if count(Counter::Full) != 0 {
            return Err(Limit::DeviceMemory(8 * plan.n_words));
        }
        let counts = Counts {
            added: count(Counter::Added),
            holes: count(Counter::Holes),
            transitions: count(Counter::Transitions),
            deadlocks: count(Counter::Deadlocks),
            notes: count(Counter::Notes),
            found: count(Counter::Found),
        };
        // What cannot be is a fault of the device.
        let is_possible = counts.notes <= plan.chunk && counts.holes <= counts.added;
        if is_possible { Ok(counts) } else { Err(Limit::Device) }
    }

    /// Writes states where kernels look for them.
    fn send(&mut self, states: &[Vec<u32>]) -> Result<u64, Limit> {
        let mut words = Vec::with_capacity(states.len() * self.plan.state_words);
        states.iter().for_each(|state| self.plan.pack(state, &mut words));
        self.memory.write(self.plan.place(Place::Letters), &words).map_err(failed)?;
        Ok(states.len() as u64)
    }

    /// Adds states; the ring is in use from an item on.
    pub(super) fn insert(&mut self, states: &[Vec<u32>], in_use: u64) -> Result<(), Limit> {
        for states in states.chunks(MAX_LETTERS as usize) {
            let n = self.send(states)?;
            self.launch(Kernel::Insert, n, [0, in_use, 0, 0, 0, 0])?;
        }
        Ok(())
    }

    /// Expands `n` items, at most a chunk; the ring is in use from an item on.
    pub(super) fn expand(&mut self, from: u64, n: u64, in_use: u64) -> Result<Counts, Limit> {
        self.launch(Kernel::Expand, n, [from, in_use, 0, 0, 0, 0])
    }

    /// Picks out items, at most a chunk, and gives them a code if it is not 0.
    pub(super) fn select(&mut self, from: u64, n: u64, pick: Pick, code: u8) -> Result<Counts, Limit> {
        let (kind, proposition) = match pick {
            Pick::False(proposition) => (0, proposition as u64),
            Pick::Deadlock => (1, 0),
        };
        self.launch(Kernel::Select, n, [from, kind, proposition, code.into(), 0, 0])
    }

    /// Gives a code to those states, by slot or number and at most a chunk, that have none, and a step to one with the code
    /// `want`.
    pub(super) fn scan(&mut self, from: u64, n: u64, want: u8, code: u8) -> Result<Counts, Limit> {
        self.launch(Kernel::Scan, n, [from, want.into(), code.into(), 0, 0, 0])
    }

    /// Gives bits to those states, by slot or number and at most a chunk, that pass a sieve and have none of some others.
    pub(super) fn sift(
        &mut self,
        from: u64,
        n: u64,
        sieve: Sieve,
        bits: u8,
        lacks: u8,
    ) -> Result<Counts, Limit> {
        let (mode, want, proposition) = match sieve {
            Sieve::Some(want) => (1, want, 0),
            Sieve::None(want) => (2, want, 0),
            Sieve::True(proposition) => (3, 0, proposition as u64),
            Sieve::All => (4, 0, 0),
            Sieve::Clear => (5, 0, 0),
        };
        self.launch(Kernel::Scan, n, [from, want.into(), bits.into(), mode, lacks.into(), proposition])
    }

    /// The codes of states; nothing for one that is not there.
    pub(super) fn ask(&mut self, states: &[Vec<u32>]) -> Result<Vec<Option<u8>>, Limit> {
        let mut codes = Vec::with_capacity(states.len());
        for states in states.chunks(MAX_LETTERS as usize) {
            let n = self.send(states)?;
            self.launch(Kernel::Ask, n, [0; 6])?;
            let mut words = vec![0; states.len()];
            let answers = self.plan.place(Place::Letters) + MAX_LETTERS * self.plan.state_words as u64;
            self.memory.read(answers, &mut words).map_err(failed)?;
            codes.extend(words.into_iter().map(|word| u8::try_from(word).ok()));
        }
        Ok(codes)
    }

    /// Gives a code to states that have none.
    pub(super) fn mark(&mut self, states: &[Vec<u32>], code: u8) -> Result<(), Limit> {
        for states in states.chunks(MAX_LETTERS as usize) {
            let n = self.send(states)?;
            self.launch(Kernel::Mark, n, [code.into(), 0, 0, 0, 0, 0])?;
        }
        Ok(())
    }

    /// The states that the last kernel has noted: so many.
    pub(super) fn notes(&mut self, n: u64) -> Result<Vec<Vec<u32>>, Limit> {
        let mut words = vec![0; n as usize * self.plan.state_words];
        self.memory.read(self.plan.place(Place::Notes), &mut words).map_err(failed)?;
        let mut states: Vec<Vec<u32>> =
            words.chunks_exact(self.plan.state_words).map(|words| self.plan.unpack(words)).collect();
        // Whoever was first wrote first: nothing may depend on that.
        states.sort_unstable();
        Ok(states)
    }

    /// Per action, whether it happened.
    pub(super) fn taken(&mut self) -> Result<Vec<bool>, Limit> {
        let mut words = vec![0; self.n_actions.div_ceil(64)];
        self.memory.read(self.plan.place(Place::Taken), &mut words).map_err(failed)?;
        Ok((0..self.n_actions).map(|action| words[action / 64] >> (action % 64) & 1 == 1).collect())
    }
}

/// A device that fails costs an answer, never a wrong one.
fn failed(_: Failure) -> Limit {
    Limit::Device
}
