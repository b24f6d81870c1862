//! Rounds over a bit array: states are remembered by a few bits each.
//!
//! States are not kept, so a round is a list of them, and how each was found is noted: the note before it, and the action. That is
//! 8 bytes a state beside the bits. Two workers who find a state at the same moment may both take it for new; it is then expanded
//! twice, and counted twice. Which states are missed depends on who was fast, as it depends on the order for one worker.

use base::{Budget, Limit, Worker};
use model::{StepError, Steps, System as _};

use super::expand::Keep;
use super::levels::Pieces;
use super::notes::{NOTHING, Notes, Pen};
use super::rounds::{Outcome, Rounds, Stock};
use super::states::note;
use crate::search::{Exploration, Goal, Space, Stats, Stop};
use crate::store::{BitsHandle, SharedBits};
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// Rounds of fewer states are done by one worker.
const FEW: usize = 4096;

/// Explores `space` breadth first with the team of the budget, over an empty array.
pub fn bitstate<S: Space + Sync>(
    space: &S,
    bits: SharedBits,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    bitstate_shared(FEW, space, bits, goals, budget)
}

/// The same where smaller rounds are shared out: for tests.
#[doc(hidden)]
pub fn bitstate_shared<S: Space + Sync>(
    n_few: usize,
    space: &S,
    bits: SharedBits,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    let width = space.whole().width();
    let noted =
        Noted { bits, notes: Notes::new(2), found: Mutex::default(), n_queued: AtomicU64::new(0), width };
    let exploration = Exploration {
        stats: Stats::default(),
        violations: vec![None; goals.len()],
        faults: vec![None; goals.len()],
        stop: None,
        coverage: None,
        taken: Vec::new(),
    };
    let mut search = Search { space, goals, noted, exploration, depth: 0, n_few };
    search.exploration.stop = search.run(budget).err();
    search.finish()
}

struct Search<'a, S: Space> {
    space: &'a S,
    goals: &'a [Goal],
    noted: Noted,
    exploration: Exploration,
    depth: u64,
    n_few: usize,
}

impl<S: Space + Sync> Search<'_, S> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), Stop> {
        self.begin()?;
        let mut next = self.noted.next_round(budget.team().n_workers());
        while let Some(first) = next {
            self.all_closed()?;
            let closed: Vec<bool> = (0..self.goals.len()).map(|goal| self.is_closed(goal)).collect();
            let rounds = Rounds {
                space: self.space,
                stock: &self.noted,
                goals: self.goals,
                closed: &closed,
                depth: self.depth,
                n_few: self.n_few,
            };
            let outcome = rounds.run(first, budget);
            let Outcome { report, limit, taken, peak_bytes, n_rounds, .. } = outcome;
            next = outcome.next;
            self.depth += n_rounds;
            note(&mut self.exploration, &report, &taken, peak_bytes);
            let mut news: Vec<(u32, u32, Option<StepError>)> =
                report.violations.iter().map(|&(goal, number)| (goal, number, None)).collect();
            news.extend(report.unclear.iter().map(|&(goal, number, error)| (goal, number, Some(error))));
            news.sort_unstable_by_key(|&(goal, number, _)| (goal, number));
            for (goal, number, error) in news {
                self.close(goal as usize, number, error);
            }
            self.all_closed()?;
            if let Some(&(number, error)) = report.faults.iter().min_by_key(|fault| fault.0) {
                return Err(Stop::Fault(error, self.noted.notes.run_to(number).0));
            }
            limit.map_or(Ok(()), |limit| Err(Stop::Limit(limit)))?;
        }
        Ok(())
    }

    /// Adds the initial states.
    fn begin(&mut self) -> Result<(), Stop> {
        let system = self.space.whole();
        let (mut states, mut scratch) = (Vec::new(), system.new_scratch());
        system.initial_states(&mut states);
        let mut found = Vec::new();
        let mut hand = self.noted.hand(Worker::ONLY);
        for (index, state) in states.chunks_exact(system.width()).enumerate() {
            let Some(number) = hand.insert(state, NOTHING, index as u32)? else { continue };
            for (goal, kind) in self.goals.iter().enumerate() {
                let Goal::Invariant(proposition) = *kind else { continue };
                match system.holds(proposition, state, &mut scratch) {
                    Ok(true) => {}
                    Ok(false) => found.push((goal, number, None)),
                    Err(error) => found.push((goal, number, Some(error))),
                }
            }
        }
        self.noted.hand_in(&mut hand);
        drop(hand);
        found.into_iter().for_each(|(goal, number, error)| self.close(goal, number, error));
        Ok(())
    }

    fn is_closed(&self, goal: usize) -> bool {
        self.exploration.violations[goal].is_some() || self.exploration.faults[goal].is_some()
    }

    fn all_closed(&self) -> Result<(), Stop> {
        let is_over = !self.goals.is_empty() && (0..self.goals.len()).all(|goal| self.is_closed(goal));
        if is_over { Err(Stop::AllViolated) } else { Ok(()) }
    }

    /// The first that closes a goal counts.
    fn close(&mut self, goal: usize, number: u32, error: Option<StepError>) {
        if !self.is_closed(goal) {
            let run = self.noted.notes.run_to(number).0;
            match error {
                None => self.exploration.violations[goal] = Some(run),
                Some(error) => self.exploration.faults[goal] = Some((error, run)),
            }
        }
    }

    fn finish(mut self) -> Exploration {
        let stats = &mut self.exploration.stats;
        stats.states = self.noted.n_states();
        stats.depth = self.depth.saturating_sub(1);
        self.exploration.coverage = Some(self.noted.bits.coverage());
        self.exploration
    }
}

/// A bit array, and notes how states were found.
struct Noted {
    bits: SharedBits,
    notes: Notes,
    /// The states that were found in a round: the number of the note, then the words.
    found: Mutex<Vec<Vec<u32>>>,
    /// Bytes of such lists.
    n_queued: AtomicU64,
    width: usize,
}

/// Lists of states.
struct Lists {
    lists: Vec<Vec<u32>>,
    /// For each list, how many states there are before it.
    starts: Vec<u32>,
    pieces: Pieces,
}

impl Stock for Noted {
    type Round = Lists;
    type Hand<'h> = Hand<'h>;

    const TAKES_TURNS: bool = false;

    fn hand(&self, _: Worker) -> Hand<'_> {
        Hand { noted: self, bits: self.bits.handle(), pen: Pen::default(), list: Vec::new() }
    }

    fn hand_in(&self, hand: &mut Hand<'_>) {
        hand.bits.tell();
        if !hand.list.is_empty() {
            lock(&self.found).push(std::mem::take(&mut hand.list));
        }
    }

    fn next_round(&self, n_workers: usize) -> Option<Lists> {
        let lists = std::mem::take(&mut *lock(&self.found));
        let n_queued: usize = lists.iter().map(|list| 4 * list.capacity()).sum();
        self.n_queued.store(n_queued as u64, Ordering::Relaxed);
        let (mut starts, mut segments, mut n_states) = (Vec::new(), Vec::new(), 0);
        for list in &lists {
            starts.push(n_states);
            let end = n_states + (list.len() / (self.width + 1)) as u32;
            segments.push((n_states, end));
            n_states = end;
        }
        let pieces = Pieces::of(&segments, n_workers);
        (!lists.is_empty()).then_some(Lists { lists, starts, pieces })
    }

    fn pieces(round: &Lists) -> &Pieces {
        &round.pieces
    }

    #[inline]
    fn get(&self, _: &Hand<'_>, round: &Lists, place: u32, out: &mut [u32]) -> u32 {
        let index = round.starts.partition_point(|&start| start <= place) - 1;
        let at = (place - round.starts[index]) as usize * (self.width + 1);
        let record = &round.lists[index][at..at + self.width + 1];
        out.copy_from_slice(&record[1..]);
        record[0]
    }

    #[inline]
    fn n_states(&self) -> u64 {
        self.bits.n_states()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.bits.bytes() + self.notes.bytes() + self.n_queued.load(Ordering::Relaxed)
    }
}

/// What one worker adds by.
struct Hand<'h> {
    noted: &'h Noted,
    bits: BitsHandle<'h>,
    pen: Pen,
    /// The states that it has found.
    list: Vec<u32>,
}

impl Hand<'_> {
    /// Adds a state; returns the number of its note if it is new.
    fn insert(&mut self, state: &[u32], parent: u32, action: u32) -> Result<Option<u32>, Limit> {
        if !self.bits.insert(state) {
            return Ok(None);
        }
        let number = self.pen.add(&self.noted.notes, &[parent, action])?;
        let room = self.list.capacity();
        self.list.try_reserve(1 + state.len()).map_err(|_| Limit::OutOfMemory)?;
        let n_more = 4 * (self.list.capacity() - room) as u64;
        if n_more > 0 {
            self.noted.n_queued.fetch_add(n_more, Ordering::Relaxed);
        }
        self.list.push(number);
        self.list.extend(state);
        Ok(Some(number))
    }
}

impl Keep<Lists> for Hand<'_> {
    fn add(
        &mut self,
        _: &Lists,
        parent: u32,
        steps: &Steps,
        from: usize,
        n_first: usize,
        mut new: impl FnMut(usize, u32),
    ) -> Result<bool, Limit> {
        let mut leads_ahead = false;
        for (index, (action, target)) in steps.iter().enumerate().skip(from) {
            // Of a state that is not new, nobody knows when it is expanded.
            if let Some(number) = self.insert(target, parent, action.index() as u32)? {
                leads_ahead |= index < n_first;
                new(index, number);
            }
        }
        Ok(leads_ahead)
    }
}
