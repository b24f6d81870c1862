//! A device that is this processor, and the kernels in plain Rust: what a device must do, and what others are compared with.
//! Those of products are in `products`, those that leave something out in `sets`.

mod products;
mod sets;

use base::device::{Device, Failure, Kernel, Memory, Orders};
use base::{Alone, Team};
use model::tables::{Hard, MAX_WIDTH, Program};

use super::memory::{Counter, EMPTY, MAX_LETTERS, MAX_PROBES, NUMBER_BITS, Place};
use crate::sync::{AtomicU64, Ordering, zeros};

/// This processor, as a device with so many bytes.
pub struct CpuDevice<'t> {
    bytes: u64,
    team: &'t dyn Team,
}

impl CpuDevice<'static> {
    /// With one worker.
    pub fn new(bytes: u64) -> CpuDevice<'static> {
        CpuDevice { bytes, team: &Alone }
    }
}

impl<'t> CpuDevice<'t> {
    /// With these workers.
    pub fn with_team(bytes: u64, team: &'t dyn Team) -> CpuDevice<'t> {
        CpuDevice { bytes, team }
    }
}

impl Device for CpuDevice<'_> {
    fn name(&self) -> String {
        "this processor".to_owned()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        Ok(self.bytes)
    }

    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
        let words = usize::try_from(n_words).ok().and_then(zeros);
        let words = words.ok_or_else(|| Failure("out of memory".to_owned()))?;
        Ok(Box::new(CpuMemory { words, team: self.team }))
    }
}

struct CpuMemory<'t> {
    words: Box<[AtomicU64]>,
    team: &'t dyn Team,
}

impl CpuMemory<'_> {
    /// What is not there cannot be read or written.
    fn part(&self, at: u64, n_words: u64) -> Result<&[AtomicU64], Failure> {
        let part = self.words.get(at as usize..at.saturating_add(n_words) as usize);
        part.ok_or_else(|| Failure("no such memory".to_owned()))
    }
}

impl Memory for CpuMemory<'_> {
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure> {
        let part = self.part(at, words.len() as u64)?;
        part.iter().zip(words).for_each(|(to, &word)| to.store(word, Ordering::Relaxed));
        Ok(())
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Failure> {
        let part = self.part(at, words.len() as u64)?;
        words.iter_mut().zip(part).for_each(|(word, from)| *word = from.load(Ordering::Relaxed));
        Ok(())
    }

    fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure> {
        let word = u64::from_ne_bytes([byte; 8]);
        self.part(at, n_words)?.iter().for_each(|to| to.store(word, Ordering::Relaxed));
        Ok(())
    }

    fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure> {
        let words = &self.words;
        let place = |place: Place| words[place as usize].load(Ordering::Relaxed);
        // The program ends where the next part begins.
        let program: Vec<u32> = words[place(Place::Program) as usize..place(Place::Taken) as usize]
            .iter()
            .map(|word| word.load(Ordering::Relaxed))
            .flat_map(|word| [word as u32, (word >> 32) as u32])
            .collect();
        let lanes = Lanes {
            words,
            program: Program::new(&program),
            program_words: &program,
            state_words: place(Place::StateWords) as usize,
            is_narrow: place(Place::IsNarrow) != 0,
            table: place(Place::Table),
            n_buckets: place(Place::NBuckets),
            codes: place(Place::Codes),
            arena: place(Place::Arena),
            capacity: place(Place::Capacity),
            orders,
            is_led: matches!(kernel, Kernel::PairLed | Kernel::ScanLed | Kernel::SpreadLed),
        };
        self.team.run(&|worker| {
            let mut lane = worker.index as u64;
            while lane < n {
                match kernel {
                    Kernel::Insert => lanes.insert_letter(lane),
                    Kernel::Expand => lanes.expand(lane),
                    Kernel::Select => lanes.select(lane),
                    Kernel::Scan | Kernel::ScanLed => lanes.scan(lane),
                    Kernel::Ask => lanes.ask(lane),
                    Kernel::Mark => lanes.mark(lane),
                    Kernel::Pair | Kernel::PairLed => lanes.pair(lane),
                    Kernel::Begin => lanes.begin_cycles(lane),
                    Kernel::Spread | Kernel::SpreadLed => lanes.spread(lane),
                    Kernel::Tell => lanes.tell(lane),
                    Kernel::Reduce => lanes.reduce(lane),
                    Kernel::Retrace => lanes.retrace(lane),
                }
                lane += worker.of as u64;
            }
        });
        Ok(())
    }
}

type State = [u32; MAX_WIDTH];

/// What all lanes of a kernel know.
struct Lanes<'a> {
    words: &'a [AtomicU64],
    program: Program<'a>,
    program_words: &'a [u32],
    state_words: usize,
    is_narrow: bool,
    table: u64,
    n_buckets: u64,
    codes: u64,
    arena: u64,
    capacity: u64,
    orders: Orders,
    /// Whether those steps of a product are taken that its observer leads to.
    is_led: bool,
}

/// Spreads the bits of a number.
fn mix(mut number: u64) -> u64 {
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    number ^= number >> 32;
    number = number.wrapping_mul(FACTOR);
    number ^= number >> 32;
    number = number.wrapping_mul(FACTOR);
    number ^ number >> 32
}

impl Lanes<'_> {
    fn word(&self, at: u64) -> &AtomicU64 {
        &self.words[at as usize]
    }

    fn place(&self, place: Place) -> u64 {
        self.word(place as u64).load(Ordering::Relaxed)
    }

    fn count(&self, counter: Counter, n: u64) -> u64 {
        self.word(counter as u64).fetch_add(n, Ordering::Relaxed)
    }

    fn load(&self, at: u64) -> State {
        let mut state = [0; MAX_WIDTH];
        for number in 0..self.state_words {
            let word = self.word(at + number as u64).load(Ordering::Relaxed);
            (state[2 * number], state[2 * number + 1]) = (word as u32, (word >> 32) as u32);
        }
        state
    }

    fn store(&self, at: u64, state: &State) {
        for number in 0..self.state_words {
            self.word(at + number as u64).store(packed(state, number), Ordering::Relaxed);
        }
    }

    /// A state that was given.
    fn letter(&self, lane: u64) -> State {
        self.load(self.place(Place::Letters) + lane * self.state_words as u64)
    }

    /// An item; nothing if it is a hole.
    fn item(&self, number: u64) -> Option<State> {
        if self.is_narrow {
            return Some(self.load(self.arena + number % self.capacity));
        }
        (!self.is_hole(number)).then(|| self.load(self.arena + number * self.state_words as u64))
    }

    /// The state that is known by a number; nothing if there is none.
    fn known(&self, id: u64) -> Option<State> {
        if !self.is_narrow {
            return self.item(id);
        }
        let at = self.table + id;
        (self.word(at).load(Ordering::Relaxed) != EMPTY).then(|| self.load(at))
    }

    /// Calls `visit` with where each step leads, of the system or of the product; says whether something is hard.
    fn for_each_target(&self, state: &State, mut visit: impl FnMut(&State)) -> Result<(), Hard> {
        if self.is_product() {
            return self.for_each_edge(state, |target, _| visit(target)).map(|_| ());
        }
        let visit = |_, target: &[u32]| visit(&whole(target));
        self.program.for_each_step(&state[..self.program.width()], visit, |_| ()).map(|_| ())
    }

    fn is_hole(&self, number: u64) -> bool {
        self.word(self.place(Place::Holes) + number / 64).load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    }

    fn note(&self, state: &State) {
        let number = self.count(Counter::Notes, 1);
        let at = self.place(Place::Notes) + number * self.state_words as u64;
        // More are not expected, and told by their number.
        if at + self.state_words as u64 <= self.table {
            self.store(at, state);
        }
    }

    fn hash(&self, state: &State) -> u64 {
        (0..self.state_words).fold(0x9e37_79b9_7f4a_7c15, |hash, number| mix(hash ^ packed(state, number)))
    }

    /// The slots where a state may be, in order.
    fn slots(&self, hash: u64) -> impl Iterator<Item = u64> {
        let first = ((u128::from(hash) * u128::from(self.n_buckets)) >> 64) as u64;
        let n_buckets = self.n_buckets;
        let buckets = (0..MAX_PROBES.min(n_buckets)).map(move |probe| (first + probe) % n_buckets);
        buckets.flat_map(|bucket| (0..4).map(move |slot| 4 * bucket + slot))
    }

    /// Whether the entry of a table is this state.
    fn is_entry(&self, entry: u64, hash: u64, state: &State) -> bool {
        if self.is_narrow {
            return entry == packed(state, 0);
        }
        let number = entry & ((1 << NUMBER_BITS) - 1);
        let at = self.arena + number * self.state_words as u64;
        let same = |nth: usize| self.word(at + nth as u64).load(Ordering::Relaxed) == packed(state, nth);
        entry >> NUMBER_BITS == hash & 0xff_ffff && (0..self.state_words).all(same)
    }

    /// By what a state is known, if it is.
    fn find(&self, state: &State) -> Option<u64> {
        let hash = self.hash(state);
        for slot in self.slots(hash) {
            let entry = self.word(self.table + slot).load(Ordering::Acquire);
            if entry == EMPTY {
                return None;
            }
            if self.is_entry(entry, hash, state) {
                return Some(if self.is_narrow { slot } else { entry & ((1 << NUMBER_BITS) - 1) });
            }
        }
        None
    }

    /// Adds a state, unless it is known.
    fn insert(&self, state: &State) {
        let hash = self.hash(state);
        // The entry that the state gets, and its number.
        let mut own = self.is_narrow.then(|| (packed(state, 0), 0));
        for slot in self.slots(hash) {
            let at = self.word(self.table + slot);
            let mut entry = at.load(Ordering::Acquire);
            if entry == EMPTY {
                let (mine, number) = match own {
                    Some(own) => own,
                    None => {
                        let number = self.count(Counter::Added, 1);
                        if number >= self.capacity {
                            self.word(Counter::Full as u64).store(1, Ordering::Relaxed);
                            return;
                        }
                        self.store(self.arena + number * self.state_words as u64, state);
                        ((hash & 0xff_ffff) << NUMBER_BITS | number, number)
                    }
                };
                own = Some((mine, number));
                match at.compare_exchange(EMPTY, mine, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) if self.is_narrow => return self.push(state),
                    Ok(_) => return,
                    Err(other) => entry = other,
                }
            }
            if self.is_entry(entry, hash, state) {
                if let (false, Some((_, number))) = (self.is_narrow, own) {
                    self.word(self.place(Place::Holes) + number / 64)
                        .fetch_or(1 << (number % 64), Ordering::Relaxed);
                    self.count(Counter::Holes, 1);
                }
                return;
            }
        }
        self.word(Counter::Full as u64).store(1, Ordering::Relaxed);
    }

    /// Puts a new state into the ring, which is in use from an item on.
    fn push(&self, state: &State) {
        let number = self.count(Counter::Added, 1);
        if number - self.orders[1] >= self.capacity {
            self.word(Counter::Full as u64).store(1, Ordering::Relaxed);
        } else {
            self.store(self.arena + number % self.capacity, state);
        }
    }

    fn code(&self, id: u64) -> u64 {
        self.word(self.codes + id / 8).load(Ordering::Relaxed) >> (8 * (id % 8)) & 0xff
    }

    /// Gives a code to a state that has none.
    fn set_code(&self, id: u64, code: u64) {
        self.word(self.codes + id / 8).fetch_or(code << (8 * (id % 8)), Ordering::Relaxed);
    }

    // ---- Kernels: what one lane does -----------------------------------------------------------

    fn insert_letter(&self, lane: u64) {
        self.insert(&self.letter(lane));
    }

    fn expand(&self, lane: u64) {
        let Some(state) = self.item(self.orders[0] + lane) else { return };
        let width = self.program.width();
        let taken = self.place(Place::Taken);
        let steps = self.program.for_each_step(
            &state[..width],
            |_, target| self.insert(&whole(target)),
            |action| {
                let (word, bit) = (self.word(taken + action as u64 / 64), 1 << (action % 64));
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            },
        );
        match steps {
            Ok(0) => _ = self.count(Counter::Deadlocks, 1),
            Ok(n_steps) => _ = self.count(Counter::Transitions, n_steps.into()),
            Err(_) => self.note(&state),
        }
    }

    fn select(&self, lane: u64) {
        let [from, kind, proposition, code, ..] = self.orders;
        let Some(state) = self.item(from + lane) else { return };
        let words = &state[..self.program.width()];
        let is_picked = match kind {
            0 => self.program.holds(proposition as usize, words).map(|holds| !holds),
            1 => self.program.for_each_step(words, |_, _| (), |_| ()).map(|n_steps| n_steps == 0),
            _ => self.for_each_edge(&state, |_, _| ()).map(|looked| looked.is_wrong),
        };
        match is_picked {
            Ok(false) => {}
            Ok(true) => {
                self.count(Counter::Found, 1);
                if let (true, Some(id)) = (code != 0, self.find(&state)) {
                    self.set_code(id, code);
                }
            }
            Err(_) => self.note(&state),
        }
    }

    fn scan(&self, lane: u64) {
        let [from, want, code, ..] = self.orders;
        let id = from + lane;
        let Some(state) = self.known(id).filter(|_| self.code(id) == 0) else { return };
        let mut is_near = false;
        let looked = self.for_each_target(&state, |target| {
            is_near |= self.find(target).is_some_and(|id| self.code(id) == want);
        });
        // Where something goes wrong, what was found before does not count.
        if looked.is_err() {
            self.note(&state);
        } else if is_near {
            self.set_code(id, code);
            self.count(Counter::Found, 1);
        }
    }

    fn ask(&self, lane: u64) {
        let answer = match (self.find(&self.letter(lane)), self.orders[0]) {
            (None, _) => 256,
            (Some(id), 0) => self.code(id),
            (Some(id), _) => self.seen(id).into(),
        };
        let answers = self.place(Place::Letters) + MAX_LETTERS * self.state_words as u64;
        self.word(answers + lane).store(answer, Ordering::Relaxed);
    }

    fn mark(&self, lane: u64) {
        if let Some(id) = self.find(&self.letter(lane))
            && self.code(id) == 0
        {
            self.set_code(id, self.orders[0]);
            self.count(Counter::Found, 1);
        }
    }
}

/// All words of a state.
fn whole(words: &[u32]) -> State {
    let mut whole = [0; MAX_WIDTH];
    whole[..words.len()].copy_from_slice(words);
    whole
}

fn packed(state: &State, number: usize) -> u64 {
    u64::from(state[2 * number]) | u64::from(state[2 * number + 1]) << 32
}
