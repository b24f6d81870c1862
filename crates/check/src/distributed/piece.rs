//! One process in the search of a product: its own states, and phases that all processes go through together.
//!
//! In a phase, something spreads along the steps of the product: states that are found, counts of predecessors, marks that were
//! seen. What concerns a state of this process is done here and at once; the rest is sent to the owners. A phase goes on
//! step by step until nobody has sent anything.

use base::{Limit, Room};
use model::{ActionId, StepError, System};

use super::exchange::{Exchange, Watch, limit_of, words_of};
use super::expand::{OFTEN, TOGETHER};
use super::fixpoint::Scope;
use super::own::Own;
use super::sets::{Sets, leaves_out};
use crate::observer::Portable;
use crate::parallel::recent::Recent;
use crate::product::{Expanded, Product, ProductStep, ProductSteps};
use crate::search::Violation;
use crate::search::product_graph::Trouble;
use crate::store::{Exact, Place};

/// Records: states that are found; states, each with a word that says something about it.
pub(super) const STATE: u32 = 0;
pub(super) const ABOUT: u32 = 1;
pub(super) const N_KINDS: u32 = 2;

/// What is told to the target of a step with these marks, if anything.
type About<'m> = &'m dyn Fn(&[u32]) -> Option<u32>;

/// What one process has of a product.
pub(super) struct Piece<'p, 'a, 'x, S: System, O> {
    pub(super) product: &'p mut Product<'a, S, O>,
    pub(super) exchange: Exchange<'x>,
    pub(super) own: Own,
    steps: ProductSteps,
    state: Vec<u32>,
    target: Vec<u32>,
    marks: Vec<u32>,
    /// Targets that are its own, and are stored together with others.
    found: Vec<u32>,
    recent: Recent,
    pub(super) sets: Sets,
    /// Whether the state that was expanded last takes a small set that may leave out something for ever.
    pub(super) leaves_out: bool,
    pub(super) tally: Tally,
    /// How often a state was expanded.
    pub(super) n_expanded: u64,
    /// What is accepted is not looked for.
    counts: bool,
    /// States of other processes, as far as they were told.
    pub(super) n_others: u64,
    /// Bytes that are held for a while.
    pub(super) more_bytes: u64,
}

/// What a round came to, here.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) transitions: u64,
    pub(super) deadlocks: u64,
    /// States in which something goes wrong.
    pub(super) noticed: Vec<u32>,
}

/// What spreads, as one process sees it.
pub(super) trait Phase<'p, 'a, 'x, S: System, O> {
    /// What is sent.
    const KIND: u32;
    /// It is over after one step; what came in it waits.
    const ONE_STEP: bool;

    /// Looks at the next state that has to be looked at; says whether there was one.
    fn visit(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>) -> Result<bool, Limit>;

    /// Something came from another process.
    fn arrived(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>, words: &[u32]) -> Result<(), Limit>;
}

impl<'p, 'a, 'x, S: System, O: Portable> Piece<'p, 'a, 'x, S, O> {
    pub(super) fn new(
        product: &'p mut Product<'a, S, O>,
        exchange: Exchange<'x>,
        (own, room): (Own, Room),
        counts: bool,
    ) -> Self {
        let (steps, width) = (product.new_steps(), product.width());
        let recent = Recent::new(width, exchange.n_processes(), room);
        let sets = Sets::new(product);
        Piece {
            product,
            exchange,
            own,
            steps,
            state: vec![0; width],
            target: vec![0; width],
            marks: Vec::new(),
            found: Vec::new(),
            recent,
            sets,
            leaves_out: false,
            tally: Tally::default(),
            n_expanded: 0,
            counts,
            n_others: 0,
            more_bytes: 0,
        }
    }

    /// Words of a state.
    pub(super) fn width(&self) -> usize {
        self.state.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        let kept = self.own.bytes() + self.sets.bytes() + self.recent.bytes() + self.exchange.waiting();
        kept + self.steps.bytes() + self.product.bytes()
    }

    /// Stores a state, if it is its own.
    pub(super) fn add(&mut self, state: &[u32]) -> Result<(), Limit> {
        if self.is_own(state) { self.own.insert_all(state, state.len() - 1) } else { Ok(()) }
    }

    /// Whose state of the product this is.
    #[inline]
    fn owner(exchange: &Exchange<'_>, state: &[u32]) -> usize {
        exchange.owner(&state[..state.len() - 1])
    }

    pub(super) fn is_own(&self, state: &[u32]) -> bool {
        Self::owner(&self.exchange, state) == self.exchange.me()
    }

    /// Goes through a phase with all others.
    ///
    /// # Errors
    /// A limit was reached by somebody, and everybody knows.
    pub(super) fn go<P: Phase<'p, 'a, 'x, S, O>>(
        &mut self,
        phase: &mut P,
        watch: &mut Watch<'_, '_>,
    ) -> Result<(), Limit> {
        loop {
            let before = self.exchange.sent.records;
            let mut turn = 0_u32;
            while self.exchange.limit().is_none() {
                match phase.visit(self) {
                    Ok(true) => {}
                    Ok(false) => break,
                    // Whoever cannot be reached is not told either.
                    Err(limit @ (Limit::Process(_) | Limit::Apart(_))) => return Err(limit),
                    Err(limit) => self.exchange.ring(limit)?,
                }
                watch.progress.states = self.n_others + self.own.n_states();
                watch.progress.bytes = self.bytes() + self.more_bytes;
                watch.look(&mut self.exchange)?;
                turn += 1;
                if turn.is_multiple_of(OFTEN) {
                    while let Some((from, kind, words)) = self.exchange.take(false)? {
                        self.hand_on(from, kind, &words[1..], phase)?;
                    }
                }
            }
            let n_sent = self.exchange.sent.records - before;
            let [code, low, high] = words_of(self.exchange.limit());
            self.exchange.end(&[code, low, high, u32::from(n_sent > 0)])?;
            loop {
                match self.exchange.take(true)? {
                    Some((from, kind, words)) => self.hand_on(from, kind, &words[1..], phase)?,
                    None if self.exchange.is_over() => break,
                    None => watch.look(&mut self.exchange)?,
                }
            }
            let ends = self.exchange.next();
            if let Some(from) = ends.iter().position(|words| words.len() != 4) {
                return Err(Limit::Apart(from as u32));
            }
            if let Some(limit) = ends.iter().find_map(|words| limit_of(words)) {
                return Err(limit);
            }
            if P::ONE_STEP || ends.iter().all(|words| words[3] == 0) {
                return Ok(());
            }
        }
    }

    fn hand_on<P: Phase<'p, 'a, 'x, S, O>>(
        &mut self,
        from: usize,
        kind: u32,
        words: &[u32],
        phase: &mut P,
    ) -> Result<(), Limit> {
        let size = self.width() + usize::from(kind == ABOUT);
        if kind != P::KIND || !words.len().is_multiple_of(size) {
            return Err(Limit::Apart(from as u32));
        }
        if self.exchange.limit().is_some() {
            return Ok(());
        }
        phase.arrived(self, words).or_else(|limit| self.exchange.ring(limit))
    }

    /// What everybody says, after a limit that somebody has reached.
    pub(super) fn all(&mut self, words: &[u32], watch: &mut Watch<'_, '_>) -> Result<Vec<Vec<u32>>, Limit> {
        let mut said = words_of(self.exchange.limit()).to_vec();
        said.extend_from_slice(words);
        let mut ends = self.exchange.all(&said, watch)?;
        if let Some(from) = ends.iter().position(|words| words.len() < 3) {
            return Err(Limit::Apart(from as u32));
        }
        match ends.iter().find_map(|words| limit_of(words)) {
            Some(limit) => Err(limit),
            None => {
                ends.iter_mut().for_each(|words| _ = words.drain(..3));
                Ok(ends)
            }
        }
    }

    /// The smallest of what everybody says, if anybody says something.
    pub(super) fn first_of(
        &mut self,
        mine: Option<Vec<u32>>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Vec<u32>>, Limit> {
        let ends = self.all(&mine.unwrap_or_default(), watch)?;
        Ok(ends.into_iter().filter(|words| !words.is_empty()).min())
    }

    /// The sums of what everybody says.
    pub(super) fn sums<const N: usize>(
        &mut self,
        mine: [u64; N],
        watch: &mut Watch<'_, '_>,
    ) -> Result<[u64; N], Limit> {
        let words: Vec<u32> = mine.iter().flat_map(|&count| [count as u32, (count >> 32) as u32]).collect();
        let mut sums = [0; N];
        for (from, words) in self.all(&words, watch)?.iter().enumerate() {
            if words.len() != 2 * N {
                return Err(Limit::Apart(from as u32));
            }
            for (sum, two) in sums.iter_mut().zip(words.chunks_exact(2)) {
                *sum += u64::from(two[0]) | u64::from(two[1]) << 32;
            }
        }
        Ok(sums)
    }

    /// Finds the steps of one of its states.
    pub(super) fn expand(&mut self, number: u32) -> Result<Expanded, Trouble> {
        self.own.get(number, &mut self.state);
        self.expand_state(self.sets.is_enlarged(number))
    }

    /// Finds the steps of any state, enlarged or not.
    pub(super) fn expand_words(&mut self, state: &[u32], is_enlarged: bool) -> Result<Expanded, Trouble> {
        self.state.copy_from_slice(state);
        self.expand_state(is_enlarged)
    }

    fn expand_state(&mut self, is_enlarged: bool) -> Result<Expanded, Trouble> {
        let (system, observer) = self.state.split_at(self.state.len() - 1);
        self.n_expanded += 1;
        // What is taken depends on the state alone, and on whether it is enlarged.
        let path = self.sets.path(is_enlarged);
        let expanded = self.product.expand(system, observer[0], path, &mut self.steps)?;
        self.leaves_out = leaves_out(self.product, &expanded);
        Ok(expanded)
    }

    /// The state that was expanded last.
    pub(super) fn state(&self) -> &[u32] {
        &self.state
    }

    /// The marks of that state.
    pub(super) fn state_marks(&self) -> &[u32] {
        &self.steps.state_marks
    }

    /// How the observer accepts in one of its states.
    pub(super) fn stance(&mut self, number: u32) -> Option<crate::observer::Stance> {
        self.own.get(number, &mut self.state);
        let (system, observer) = self.state.split_at(self.state.len() - 1);
        self.product.stance(system, observer[0]).ok()
    }

    /// Which steps of the state that was expanded last count.
    fn counting(&self, scope: Scope) -> impl Fn(&&ProductStep) -> bool + use<S, O> {
        let sees_all = self.product.repair().is_some_and(|repair| !repair.silent);
        let (observer, leaves_out) = (self.state.last().copied(), self.leaves_out);
        move |step| match scope {
            Scope::Cycles => true,
            Scope::Livelocks => step.silent,
            Scope::Sets => leaves_out && (sees_all || step.silent && Some(step.observer) == observer),
        }
    }

    /// Calls `see` with each step of the state that was expanded last: where it leads, its marks with those of the state, and its action.
    pub(super) fn for_each_step(
        &mut self,
        scope: Scope,
        mut see: impl FnMut(&[u32], &[u32], Option<ActionId>),
    ) {
        let counts = self.counting(scope);
        let Piece { product, steps, target, marks, .. } = self;
        for step in steps.steps.iter().filter(counts) {
            steps.copy_target(step, target);
            all_marks(product, steps, step, marks);
            see(target, marks, step.action);
        }
    }

    /// Tells the owners of where the steps lead from the state that was expanded last what `about` makes of
    /// their marks: those elsewhere by sending, this process by `here`.
    pub(super) fn tell(
        &mut self,
        scope: Scope,
        about: Option<About<'_>>,
        mut here: impl FnMut(u32, u32),
    ) -> Result<(), Limit> {
        let counts = self.counting(scope);
        let Piece { product, exchange, own, steps, target, marks, .. } = self;
        for step in steps.steps.iter().filter(counts) {
            let what = match about {
                None => 0,
                Some(about) => {
                    all_marks(product, steps, step, marks);
                    let Some(what) = about(marks) else { continue };
                    what
                }
            };
            steps.copy_target(step, target);
            let owner = Self::owner(exchange, target);
            if owner != exchange.me() {
                exchange.put_two(owner, ABOUT, target, &[what])?;
            } else if let Some(number) = own.find(target) {
                here(number, what);
            }
        }
        Ok(())
    }

    /// What others told about its own states.
    pub(super) fn told(&self, words: &[u32], mut here: impl FnMut(u32, u32)) {
        for record in words.chunks_exact(self.width() + 1) {
            let (state, what) = record.split_at(self.width());
            if let Some(number) = self.own.find(state) {
                here(number, what[0]);
            }
        }
    }

    /// Finds the steps of one of its states for the first time, or after it was enlarged; where they lead is stored, or sent to the owners.
    fn discover(&mut self, number: u32) -> Result<(), Limit> {
        self.own.get(number, &mut self.state);
        let is_enlarged = self.sets.is_enlarged(number);
        // Nothing went wrong when it took its small set.
        let n_before = match is_enlarged && self.expand_state(false).is_ok() {
            true => self.steps.steps.len(),
            false => 0,
        };
        let expanded = match self.expand_state(is_enlarged) {
            Ok(expanded) => expanded,
            Err(Trouble::Limit(limit)) => return Err(limit),
            Err(Trouble::Fault(_)) => {
                self.tally.noticed.push(number);
                return Ok(());
            }
        };
        if self.leaves_out {
            self.sets.open(number);
        }
        let &mut Piece {
            ref mut exchange,
            ref steps,
            ref mut target,
            ref mut found,
            ref mut recent,
            ref mut tally,
            counts,
            ..
        } = self;
        if !is_enlarged {
            if !counts && (expanded.stance.at_once || expanded.is_error) {
                tally.noticed.push(number);
            }
            tally.deadlocks += u64::from(expanded.is_deadlock);
        }
        tally.transitions += (steps.steps.len() - n_before) as u64;
        for step in &steps.steps {
            steps.copy_target(step, target);
            let owner = Self::owner(exchange, target);
            if owner == exchange.me() {
                found.extend_from_slice(target);
            } else if !recent.has(target, Exact::hash(target)) {
                exchange.put(owner, STATE, target)?;
            }
        }
        if found.len() >= TOGETHER * target.len() { self.store_found() } else { Ok(()) }
    }

    /// Stores what was found here.
    fn store_found(&mut self) -> Result<(), Limit> {
        let stored = self.own.insert_all(&self.found, self.target.len() - 1);
        self.found.clear();
        stored
    }

    /// What goes wrong in a state, if something does, whatever it takes.
    pub(super) fn wrong_in(&mut self, state: &[u32]) -> Option<Result<Violation, StepError>> {
        [false, true].into_iter().find_map(|is_enlarged| self.wrong_by(state, is_enlarged))
    }

    fn wrong_by(&mut self, state: &[u32], is_enlarged: bool) -> Option<Result<Violation, StepError>> {
        match self.expand_words(state, is_enlarged) {
            Ok(expanded) if expanded.stance.at_once => Some(Ok(Violation::AtOnce)),
            Ok(expanded) if expanded.is_error => Some(Ok(Violation::Deadlock)),
            Ok(_) | Err(Trouble::Limit(_)) => None,
            Err(Trouble::Fault(error)) => Some(Err(error)),
        }
    }
}

/// The marks of a step, with those of the state that it leaves.
fn all_marks<S: System, O: Portable>(
    product: &Product<'_, S, O>,
    steps: &ProductSteps,
    step: &ProductStep,
    marks: &mut Vec<u32>,
) {
    product.fairness().step_marks(step.marks, step.action, marks);
    crate::fairness::add(marks, &steps.state_marks);
}

/// The states at some places are expanded: those of a round, or those that were enlarged.
pub(super) struct Discover<I>(pub(super) I);

impl<'p, 'a, 'x, S: System, O: Portable, I> Phase<'p, 'a, 'x, S, O> for Discover<I>
where
    I: Iterator<Item = Place>,
{
    const KIND: u32 = STATE;
    const ONE_STEP: bool = true;

    fn visit(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>) -> Result<bool, Limit> {
        match self.0.next() {
            Some(place) => piece.discover(piece.own.number(place)).map(|()| true),
            None => piece.store_found().map(|()| false),
        }
    }

    fn arrived(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>, words: &[u32]) -> Result<(), Limit> {
        let width = piece.width();
        words.chunks(TOGETHER * width).try_for_each(|some| piece.own.insert_all(some, width - 1))
    }
}
