//! The search of a product for several processes: from the first state to the answer.
//!
//! # Idea
//! All go from round to round together, as for [states](super::states): what is accepted at once, or by its end, is found when its
//! state is expanded. Cycles are looked for by a [fixpoint](super::fixpoint) over all states that were expanded: at the end, and
//! before, whenever there are some times as many states as the last time, so that a violation ends the search before it has seen everything, and
//! the work for cycles stays in proportion.
//!
//! # When should I use this?
//! Where several processes search together, or a search is to be written down from time to time. It looks at everything that all other searches
//! look at: livelocks of testers and testing automata, marks, weak and strong fairness, justness.
//!
//! # Requirements and limits
//! What is taken in a state must depend on the state alone: everything, or its guided set. Other sets must close no cycle, which
//! is seen to when everything was found by them ([`sets`](super::sets)). Verdicts, counts, and runs do not depend on the number of processes.

use base::{Budget, Limit, Progress};
use model::System;

use super::exchange::{Exchange, Watch};
use super::fixpoint::{Fixpoint, Left, Scope};
use super::kept::{Heard, Kept, Log, Rounds, one, two};
use super::own::Own;
use super::piece::{Discover, N_KINDS, Piece};
use super::seats;
use crate::observer::Portable;
use crate::product::{Product, Visits};
use crate::search::{Evidence, ProductOutcome, ProductStop, Stats};
use crate::store::hash;
use crate::sync::{Mutex, lock};

/// What is looked for in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing: it is counted.
    Counts,
    /// What is accepted by marks, at once, or by its end.
    Marks,
    /// Livelocks, and what is accepted at once, or by its end.
    Livelocks,
    /// All of that.
    MarksAndLivelocks,
}

/// Cycles are looked for when there are so many states, and then so many times as many.
pub(crate) const FIRST_LOOK: u64 = 1_000;
const TIMES: u64 = 4;

/// In whose rounds there are fewer states, per worker and on the average, workers wait for each other most of the time.
const NARROW: u64 = 32;

/// So many rounds say how wide they are.
const MANY_ROUNDS: u64 = 64;

/// A look for cycles is cheap if it expands at most so many of ten states again, where other searches could still do better; from so many states on,
/// it must only not be endless: so many times all states.
const CHEAP: u64 = 3;
const TOO_LATE: u64 = 200_000;
const ENDLESS: u64 = 8;

/// Searches a product with the processes of the budget; or with its team, of which each worker has a part of the states. Cycles are looked
/// for from so many states on.
pub(crate) fn search<S, O>(
    product: &mut Product<'_, S, O>,
    wanted: Wanted,
    first_look: u64,
    budget: &mut Budget<'_>,
) -> ProductOutcome
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let searched = try_search(product, wanted, first_look, None, budget);
    searched.unwrap_or_else(|_| unreachable!("nothing is unfit for who has no other search"))
}

/// What a product is unfit for rounds by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Its rounds have few states.
    Narrow,
    /// There are many states on cycles that could be accepted: to find out that none is takes more than to go depth first.
    Cyclic,
}

/// The same by a team that has another search: where rounds take longer than that would, what they found is given up. They do for a product that is
/// narrow, or has many cycles to be looked into, which is seen when there are few states.
pub(crate) fn attempt<S, O>(
    product: &mut Product<'_, S, O>,
    wanted: Wanted,
    first_look: u64,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Unfit>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let n_workers = budget.team().n_workers() as u64;
    try_search(product, wanted, first_look, Some(NARROW * n_workers), budget)
}

fn try_search<S, O>(
    product: &mut Product<'_, S, O>,
    wanted: Wanted,
    first_look: u64,
    least_width: Option<u64>,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Unfit>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    product.begin(Visits::Again);
    let initial = match product.initial_states() {
        Ok(initial) => initial,
        // So it is for everybody.
        Err(error) => {
            let stop = Some(error.into());
            return Ok(ProductOutcome { stop, ..ProductOutcome::limited(Limit::Time) });
        }
    };
    let tag = tag(product, wanted, &initial);
    let kept = budget.keeper().map(|keeper| Kept::begin(keeper, tag));
    // Each seat has a product of its own.
    let n_products = if budget.peers().is_some() { 1 } else { budget.team().n_workers() };
    let products: Vec<_> = (0..n_products).map(|_| Mutex::new(product.for_worker())).collect();
    let outcome = seats(budget, |peers, budget| {
        let index = if n_products == 1 { 0 } else { peers.me().index };
        let product = &mut *lock(&products[index]);
        let room = budget.room();
        let own = (Own::new(product.width() - 1, product.observer().n_states(), room), room);
        let exchange = Exchange::new(peers, N_KINDS, product.system());
        let piece = Piece::new(product, exchange, own, wanted == Wanted::Counts);
        let log = kept.as_ref().map(|kept| Log::new(kept, peers.me()));
        let (sums, next_look) = (Sums::default(), first_look);
        let initial = &initial;
        let mut search =
            Search { piece, wanted, initial, tag, sums, peak_bytes: 0, next_look, least_width, log };
        let workers = if budget.peers().is_some() { 1 } else { peers.me().of as u32 };
        let mut watch = Watch { budget, progress: Progress { workers, ..Progress::default() } };
        let stop = match search.run(&mut watch) {
            Ok(()) => None,
            Err(End::Unfit(why)) => return Err(why),
            Err(End::Stop(stop)) => Some(stop),
        };
        Ok(search.finish(stop, &mut watch))
    });
    products.iter().for_each(|worker| product.absorb(&lock(worker)));
    outcome
}

/// What two searches have in common only if they are the same.
fn tag<S: System, O: Portable>(
    product: &Product<'_, S, O>,
    wanted: Wanted,
    initial: &[(usize, Vec<u32>)],
) -> u64 {
    let n_observer_states = product.observer().n_states() as u32;
    let is_reduced = product.method().is_some().into();
    let fairness = product.fairness().n_words() as u32;
    let mut words = vec![product.width() as u32, n_observer_states, fairness, wanted as u32, is_reduced];
    words.extend(initial.iter().flat_map(|(_, state)| state));
    words.extend(std::any::type_name::<O>().bytes().map(u32::from));
    hash(&words, 1)
}

struct Search<'p, 'a, 'x, S: System, O> {
    piece: Piece<'p, 'a, 'x, S, O>,
    wanted: Wanted,
    initial: &'x [(usize, Vec<u32>)],
    tag: u64,
    sums: Sums,
    peak_bytes: u64,
    next_look: u64,
    /// How wide rounds must be if there is another search.
    least_width: Option<u64>,
    log: Option<Log<'x>>,
}

/// Why a search ends early. All processes come to the same end.
enum End {
    Stop(ProductStop),
    Unfit(Unfit),
}

impl<L: Into<ProductStop>> From<L> for End {
    fn from(stop: L) -> End {
        End::Stop(stop.into())
    }
}

/// What all processes together have come to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    states: u64,
    systems: u64,
    transitions: u64,
    deadlocks: u64,
}

impl<S: System, O: Portable> Search<'_, '_, '_, S, O> {
    fn run(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), End> {
        self.begin_alike(watch)?;
        if self.read_kept(watch)? {
            // What is there was looked at before, but for cycles.
            self.piece.own.reopen_round();
        } else {
            for (_, state) in self.initial {
                if let Err(limit) = self.piece.add(state) {
                    self.piece.exchange.ring(limit)?;
                }
            }
        }
        let stop = self.go_on(watch);
        if let Err(End::Stop(ProductStop::Limit(limit))) = &stop
            && !matches!(limit, Limit::Process(_) | Limit::Apart(_))
        {
            self.keep(true, watch)?;
        }
        stop
    }

    /// Goes from round to round.
    fn go_on(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), End> {
        loop {
            let [n_new, n_noticed] = self.agree(watch)?;
            if n_noticed > 0 {
                return Err(self.explain(watch)?.into());
            }
            if self.sums.states > watch.budget.max_states {
                return Err(Limit::States(watch.budget.max_states).into());
            }
            let n_rounds = self.piece.own.n_rounds() as u64;
            if let Some(width) = self.least_width
                && n_new > 0
                && n_rounds > MANY_ROUNDS
                && self.sums.states < n_rounds * width
            {
                return Err(End::Unfit(Unfit::Narrow));
            }
            // When nothing more is found by small sets, some states take more.
            let turned = if n_new == 0 { self.piece.sort(watch)? } else { None };
            let is_over = n_new == 0 && turned.is_none();
            self.keep(is_over, watch)?;
            if is_over || self.sums.states >= self.next_look && turned.is_none() {
                self.next_look = TIMES * self.sums.states;
                let n_before = self.piece.n_expanded;
                self.look_for_cycles(watch)?;
                let [n_again] = self.piece.sums([self.piece.n_expanded - n_before], watch)?;
                let is_cheap = 10 * n_again <= CHEAP * self.sums.states || self.sums.states > TOO_LATE;
                if !is_cheap && !is_over && self.least_width.is_some() {
                    return Err(End::Unfit(Unfit::Cyclic));
                }
            }
            if is_over {
                return Ok(());
            }
            let own = &self.piece.own;
            let round = own.n_rounds() - 1;
            watch.progress.depth = round as u64;
            match turned {
                None => self.piece.go(&mut Discover(own.round(round)), watch)?,
                Some(turned) => {
                    let places: Vec<_> = turned.into_iter().map(|number| own.place(number)).collect();
                    self.piece.go(&mut Discover(places.into_iter()), watch)?;
                }
            }
        }
    }

    /// All processes must begin the same search.
    fn begin_alike(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let summary = self.log.as_ref().and_then(|log| log.kept().summary());
        let tag = summary.map_or(self.tag, |summary| hash(summary, self.tag));
        let ends = self.piece.all(&two(tag), watch)?;
        let mine = &ends[self.piece.exchange.me()];
        match ends.iter().position(|words| words != mine) {
            None => Ok(()),
            Some(other) => Err(Limit::Apart(other as u32)),
        }
    }

    /// A round is over: everybody says what it came to. Returns how many states are new, and in how many something goes wrong.
    fn agree(&mut self, watch: &mut Watch<'_, '_>) -> Result<[u64; 2], Limit> {
        let piece = &mut self.piece;
        let n_own = piece.own.n_states();
        let n_new = piece.own.end_round();
        let (transitions, deadlocks) = (piece.tally.transitions, piece.tally.deadlocks);
        (piece.tally.transitions, piece.tally.deadlocks) = (0, 0);
        let n_noticed = piece.tally.noticed.len() as u64;
        let mine = [n_own, n_new, piece.own.n_systems(), transitions, deadlocks, n_noticed, piece.bytes()];
        let [states, n_new, systems, transitions, deadlocks, n_noticed, bytes] = piece.sums(mine, watch)?;
        let Sums { transitions: earlier, deadlocks: earlier_deadlocks, .. } = self.sums;
        let (transitions, deadlocks) = (earlier + transitions, earlier_deadlocks + deadlocks);
        self.sums = Sums { states, systems, transitions, deadlocks };
        self.peak_bytes = self.peak_bytes.max(bytes);
        piece.n_others = states - n_own;
        watch.progress = Progress { states, transitions, pending: n_new, ..watch.progress };
        Ok([n_new, n_noticed])
    }

    /// Reads what was kept of this search, if something was.
    fn read_kept(&mut self, watch: &mut Watch<'_, '_>) -> Result<bool, Limit> {
        let Some(log) = &mut self.log else { return Ok(false) };
        let Some(summary) = log.kept().summary() else { return Ok(false) };
        let piece = &mut self.piece;
        let width = piece.width();
        let read = log.read(width, |states| {
            match states {
                Heard::Turned(states) => piece.turned(states),
                Heard::States(states) => states.chunks_exact(width).try_for_each(|state| piece.add(state))?,
                Heard::End => _ = piece.own.end_round(),
            }
            watch.look(&mut piece.exchange)?;
            piece.exchange.limit().map_or(Ok(()), Err)
        });
        if let Err(limit) = read {
            piece.exchange.ring(limit)?;
        }
        // Which of them left something out is not kept; those that were found before some were enlarged were sorted.
        let n_sorted = piece.sets.turns().last().map_or(0, |turn| turn.0);
        let Piece { own, sets, .. } = piece;
        own.since(n_sorted).for_each(|place| sets.open(own.number(place)));
        // Nobody goes on before everybody has read everything.
        piece.sums([0], watch)?;
        let &[a, b, c, d, e, f] = summary else { return Err(Limit::Kept) };
        (self.sums.transitions, self.sums.deadlocks) = (one([a, b]), one([c, d]));
        self.next_look = self.next_look.max(one([e, f]));
        Ok(self.piece.own.n_rounds() > 0)
    }

    /// Writes what was found, if it is time, or the search is over. The rounds that are known are complete.
    fn keep(&mut self, is_last: bool, watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let Search { piece, log: Some(log), sums, next_look, .. } = self else { return Ok(()) };
        if piece.own.n_rounds() == 0 {
            return Ok(());
        }
        let (width, own) = (piece.width(), &piece.own);
        let get = |number: u32, out: &mut [u32]| own.get(number, out);
        let numbers = |round| -> Box<dyn Iterator<Item = u32> + '_> {
            Box::new(own.round(round).map(|place| own.number(place)))
        };
        let n_states_of = |n_rounds| own.n_states_of(n_rounds);
        let rounds = Rounds {
            n_rounds: own.n_rounds(),
            numbers: &numbers,
            n_states_of: &n_states_of,
            turns: piece.sets.turns(),
            width,
            get: &get,
        };
        let summary = |_: &[Vec<u32>]| [two(sums.transitions), two(sums.deadlocks), two(*next_look)].concat();
        log.write(&rounds, is_last, &[], summary, &mut piece.exchange, watch)
    }

    /// Something goes wrong in states that were expanded in the last round: the smallest of the first of these is told.
    fn explain(&mut self, watch: &mut Watch<'_, '_>) -> Result<ProductStop, Limit> {
        let piece = &mut self.piece;
        let mut state = vec![0; piece.width()];
        let mut first: Option<Vec<u32>> = None;
        for &number in &piece.tally.noticed {
            let round = piece.own.round_of(number) as u32;
            piece.own.get(number, &mut state);
            let found = [&[round], &state[..]].concat();
            if first.as_ref().is_none_or(|first| found < *first) {
                first = Some(found);
            }
        }
        let first = piece.first_of(first, watch)?.filter(|first| first.len() == state.len() + 1);
        let Some((round, state)) = first.map(|first| (first[0] as usize, first[1..].to_vec())) else {
            return Ok(ProductStop::NoRun);
        };
        let wrong = piece.wrong_in(&state);
        let way = piece.way_to(&state, round, watch)?;
        let run = way.and_then(|way| piece.run_along(&way));
        Ok(match (wrong, run) {
            (Some(Ok(violation)), Some((run, observer_states))) => {
                ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states })
            }
            (Some(Err(error)), Some((run, _))) => ProductStop::Fault(error, run),
            _ => ProductStop::NoRun,
        })
    }

    /// An accepted cycle among the states that were expanded.
    fn look_for_cycles(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), End> {
        let observer = self.piece.product.observer();
        let has_livelocks = matches!(self.wanted, Wanted::Livelocks | Wanted::MarksAndLivelocks);
        let has_marks = matches!(self.wanted, Wanted::Marks | Wanted::MarksAndLivelocks);
        let scopes = [
            (Scope::Livelocks, 0, has_livelocks && observer.has_livelocks()),
            (Scope::Cycles, observer.all_marks(), has_marks && observer.has_marks()),
        ];
        for (scope, marks, is_wanted) in scopes {
            if !is_wanted {
                continue;
            }
            let acceptance = self.piece.product.fairness().acceptance(marks);
            let n_before = self.piece.n_expanded;
            let most = if self.least_width.is_some() { ENDLESS * self.sums.states } else { u64::MAX };
            let left = match Fixpoint::find(scope, &acceptance, most, &mut self.piece, watch)? {
                Left::Nothing => {
                    self.piece.more_bytes = 0;
                    // Other searches look for livelocks in a second pass, whose steps count.
                    let has_pass = scope == Scope::Livelocks && has_marks && self.least_width.is_some();
                    if has_pass && self.piece.sums([self.piece.n_expanded - n_before], watch)? != [0] {
                        return Err(End::Unfit(Unfit::Cyclic));
                    }
                    continue;
                }
                Left::Unclear => return Err(End::Unfit(Unfit::Cyclic)),
                Left::Some(left) => left,
            };
            self.peak_bytes = self.peak_bytes.max(self.piece.bytes() + left.bytes());
            let found = self.piece.lasso(left, &acceptance, watch)?;
            return Err(found.map_or(ProductStop::NoRun, ProductStop::Found).into());
        }
        Ok(())
    }

    fn finish(mut self, mut stop: Option<ProductStop>, watch: &mut Watch<'_, '_>) -> ProductOutcome {
        let is_lost = matches!(stop, Some(ProductStop::Limit(Limit::Process(_) | Limit::Apart(_))));
        if !is_lost && let Err(limit) = self.share_valuations(watch) {
            stop = Some(limit.into());
        }
        let Sums { states, systems, transitions, deadlocks } = self.sums;
        // The last round was not expanded, or is empty.
        let depth = (self.piece.own.n_rounds() as u64).saturating_sub(2);
        let stats = Stats { states, transitions, deadlocks, depth, peak_bytes: self.peak_bytes };
        ProductOutcome { stats, system_states: Some(systems), stop, coverage: None }
    }

    /// What was met anywhere, was met.
    fn share_valuations(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let words = self.piece.product.valuations().met_words();
        for words in self.piece.exchange.all(&words, watch)? {
            self.piece.product.absorb_words(&words);
        }
        Ok(())
    }
}
