//! The kernels, as functions on a memory that was divided.

use base::Limit;
use base::device::{Device, Failure, Kernel, Memory, Orders};

use super::memory::{self, BLOCK, Counter, GROUP, MAX_LETTERS, Place, Plan, Shape};

/// What states are picked out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// A proposition is false.
    False(usize),
    /// Nothing can happen.
    Deadlock,
    /// Something is accepted here in a product.
    Wrong,
}

/// What spreads along the steps of a product, from the states that were not removed to others of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Spread {
    /// Everybody is counted as a predecessor.
    Count,
    /// Who has no predecessor, or is to leave, is removed, and is no predecessor any more.
    Trim,
    /// Who waits passes on the marks that were seen; who sees new ones waits.
    Reach,
    /// Who misses marks is to leave.
    Leave,
    /// Everybody waits.
    Wait,
    /// Who is there in the beginning.
    Begin,
}

/// The marks that are looked at: of the observer, of weak constraints, or of strong ones; which word of these, and which bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) kind: u64,
    pub(super) word: u64,
    pub(super) bits: u32,
}

/// A search on a device.
pub(super) struct Job<'d> {
    memory: Box<dyn Memory + 'd>,
    pub(super) plan: Plan,
    n_events: usize,
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
    /// Takes so many bytes of memory for states and a program.
    pub(super) fn new(
        shape: &Shape,
        program: &[u32],
        device: &'d dyn Device,
        bytes: u64,
    ) -> Result<Job<'d>, Limit> {
        let program = memory::program_words(program);
        let n_words = bytes / 8;
        let plan = Plan::new(shape, program.len() as u64, n_words);
        let plan = plan.ok_or(Limit::DeviceMemory(8 * n_words))?;
        let memory = device.take(plan.n_words).map_err(failed)?;
        let mut job = Job { memory, plan, n_events: shape.n_events as usize };
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

    /// Expands `n` items, at most a chunk, by a kernel; the ring is in use from an item on.
    pub(super) fn expand(&mut self, kernel: Kernel, from: u64, n: u64, in_use: u64) -> Result<Counts, Limit> {
        self.launch(kernel, n, [from, in_use, 0, 0, 0, 0])
    }

    /// Picks out items, at most a chunk, and gives them a code if it is not 0.
    pub(super) fn select(&mut self, from: u64, n: u64, pick: Pick, code: u8) -> Result<Counts, Limit> {
        let (kind, proposition) = match pick {
            Pick::False(proposition) => (0, proposition as u64),
            Pick::Deadlock => (1, 0),
            Pick::Wrong => (2, 0),
        };
        self.launch(Kernel::Select, n, [from, kind, proposition, code.into(), 0, 0])
    }

    /// Gives a code to those states, by slot or number and at most a chunk, that have none, and a step to one with the code
    /// `want`.
    pub(super) fn scan(
        &mut self,
        kernel: Kernel,
        from: u64,
        n: u64,
        want: u8,
        code: u8,
    ) -> Result<Counts, Limit> {
        self.launch(kernel, n, [from, want.into(), code.into(), 0, 0, 0])
    }

    /// Says which states, by slot or number, a search for cycles is about: those from which livelocks are accepted, or those that accepted runs
    /// may come back to. The others count as removed.
    pub(super) fn begin_cycles(&mut self, from: u64, n: u64, are_livelocks: bool) -> Result<Counts, Limit> {
        self.launch(Kernel::Begin, n.div_ceil(GROUP), [from, are_livelocks.into(), from + n, 0, 0, 0])
    }

    /// Lets something spread from states, by slot or number; along all steps or the silent ones. Where steps may be hard, it is
    /// looked first whether they are.
    pub(super) fn spread(
        &mut self,
        kernel: Kernel,
        (from, n): (u64, u64),
        what: Spread,
        only_silent: bool,
        is_easy: bool,
        marks: Marks,
    ) -> Result<Counts, Limit> {
        let flags = u64::from(only_silent) | u64::from(!is_easy) << 1;
        let orders = [from, what as u64, flags, marks.kind, marks.word, marks.bits.into()];
        self.launch(kernel, n.div_ceil(GROUP), orders)
    }

    /// Tells states what has spread to them, each with a word.
    pub(super) fn tell(&mut self, what: Spread, told: &[(Vec<u32>, u32)]) -> Result<(), Limit> {
        let answers = self.plan.place(Place::Letters) + MAX_LETTERS * self.plan.state_words as u64;
        for told in told.chunks(MAX_LETTERS as usize) {
            let states: Vec<Vec<u32>> = told.iter().map(|(state, _)| state.clone()).collect();
            let n = self.send(&states)?;
            let words: Vec<u64> = told.iter().map(|(_, word)| u64::from(*word)).collect();
            self.memory.write(answers, &words).map_err(failed)?;
            self.launch(Kernel::Tell, n, [0, what as u64, 0, 0, 0, 0])?;
        }
        Ok(())
    }

    /// The marks that states have seen.
    pub(super) fn seen(&mut self, states: &[Vec<u32>]) -> Result<Vec<u32>, Limit> {
        self.answers(states, 1).map(|words| words.into_iter().map(|word| word as u32).collect())
    }

    /// Nothing was seen.
    pub(super) fn see_nothing(&mut self) -> Result<(), Limit> {
        let n_words = self.plan.n_ids().div_ceil(2);
        self.memory.fill(self.plan.place(Place::Seen), n_words, 0).map_err(failed)
    }

    /// The codes of states; nothing for one that is not there.
    pub(super) fn ask(&mut self, states: &[Vec<u32>]) -> Result<Vec<Option<u8>>, Limit> {
        self.answers(states, 0).map(|words| words.into_iter().map(|word| u8::try_from(word).ok()).collect())
    }

    /// What is known of states: their codes, or the marks that they have seen.
    fn answers(&mut self, states: &[Vec<u32>], what: u64) -> Result<Vec<u64>, Limit> {
        let answers = self.plan.place(Place::Letters) + MAX_LETTERS * self.plan.state_words as u64;
        let mut all = Vec::with_capacity(states.len());
        for states in states.chunks(MAX_LETTERS as usize) {
            let n = self.send(states)?;
            self.launch(Kernel::Ask, n, [what, 0, 0, 0, 0, 0])?;
            let mut words = vec![0; states.len()];
            self.memory.read(answers, &mut words).map_err(failed)?;
            all.append(&mut words);
        }
        Ok(all)
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

    /// Per action, or per valuation in a product, whether it happened.
    pub(super) fn taken(&mut self) -> Result<Vec<bool>, Limit> {
        let mut words = vec![0; self.n_events.div_ceil(64)];
        self.memory.read(self.plan.place(Place::Taken), &mut words).map_err(failed)?;
        Ok((0..self.n_events).map(|event| words[event / 64] >> (event % 64) & 1 == 1).collect())
    }
}

/// A device that fails costs an answer, never a wrong one.
fn failed(_: Failure) -> Limit {
    Limit::Device
}
