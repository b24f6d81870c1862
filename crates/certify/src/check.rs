//! The test of every state and every step.
//!
//! The list of states is read twice. First every state gets a number; then each is looked at: what can happen there, by the
//! reference semantics, leads to states of the list, and ranks do what they promise. So the list is closed under steps
//! and has the initial states: nothing that can be reached is missing, whatever else is in it. Of a list in which steps wait it is
//! looked at, besides, that nothing is lost by that: what is demanded, and why it is enough, is said in `docs/certificates.md`.

use std::rc::Rc;

use base::text::count;
use base::{Budget, Progress};
use ltl::Prop;
use model::layout::Field;
use model::reference;
use model::{ActionId, ActionSystem, ExprId, Fault, Layout, StepError};

use crate::Refusal;
use crate::claim::{Claim, What};
use crate::proof::{Ends, Pair, Proof, StateReader, Wait};
use crate::rank::{Masks, ends_well, keeps};
use crate::states::States;
use crate::tableau::{Step, Tableau};
use crate::waits::Waits;

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certified {
    /// States of the system.
    pub states: u64,
    /// States of the product, for a formula.
    pub pairs: u64,
    /// Steps of the system.
    pub steps: u64,
}

/// Checks a certificate. Whether it is about the system is up to who calls ([`certify`](crate::certify)).
///
/// # Errors
/// Why it is not certified.
pub fn check(claim: Claim<'_>, proof: &Proof, budget: &mut Budget<'_>) -> Result<Certified, Refusal> {
    let Claim { system, what, ends, constraints } = claim;
    if proof.ends != ends || proof.variables != system.variables().len() {
        return Err("it is about another model or another question".into());
    }
    if !is_sound(system.layout()) {
        return Err("variables of the model share bits, which they should not".into());
    }
    let (watch, truth, no_deadlock) = match what {
        What::Formula { formulas, formula, propositions } => {
            let tableau = Tableau::of_written(formulas, formula, &proof.formula, budget)?;
            (Some(Watch::new(tableau, propositions, proof)?), None, false)
        }
        _ if !proof.formula.is_empty() => {
            return Err("it is about a formula, which is not the question".into());
        }
        What::Invariant(expr) => (None, Some(expr), false),
        What::DeadlockFree => (None, None, true),
        What::FaultFree => (None, None, false),
    };
    let n_promises = watch.as_ref().map_or(0, |watch| watch.tableau.n_promises());
    let masks = Masks::new(system, constraints, n_promises)?;
    if proof.waits
        && (!constraints.is_empty() || watch.as_ref().is_some_and(|watch| watch.tableau.has_next()))
    {
        return Err("steps wait, which a formula with X or fairness would see".into());
    }
    let looked_at = truth.as_slice().iter().chain(watch.iter().flat_map(|watch| &watch.exprs));
    let looked_at: Vec<ExprId> = looked_at.copied().collect();
    let waits = if proof.waits { Some(Waits::new(system, &looked_at, budget)?) } else { None };
    let list = List::read(system, proof, budget)?;
    let check = Check { system, proof, list, masks, waits, watch, truth, no_deadlock, ends };
    check.run(budget)
}

/// The automaton beside the system.
struct Watch {
    tableau: Tableau,
    /// Per proposition, by the bits of letters, its expression.
    exprs: Vec<ExprId>,
}

impl Watch {
    fn new(mut tableau: Tableau, known: &[(Prop, ExprId)], proof: &Proof) -> Result<Watch, Refusal> {
        let expr = |prop: &Prop| known.iter().find(|(known, _)| known == prop).map(|(_, expr)| *expr);
        let exprs: Option<Vec<ExprId>> = tableau.propositions().iter().map(expr).collect();
        let exprs = exprs.ok_or("it is about propositions that the formula has not")?;
        for (number, state) in proof.automaton.iter().enumerate() {
            if tableau.number_of(state) != Some(number as u32) {
                return Err("the states of its automaton are in disorder".into());
            }
        }
        Ok(Watch { tableau, exprs })
    }
}

/// The states of a certificate.
struct List {
    states: States,
    /// What waits in them, if steps may.
    waits: Vec<Wait>,
    /// What is beside the states, one after the other, and where that of each state ends.
    pairs: Vec<Pair>,
    ends: Vec<u32>,
}

impl List {
    fn read(system: &ActionSystem, proof: &Proof, budget: &mut Budget<'_>) -> Result<List, Refusal> {
        let states = States::new(system.layout().width());
        let mut list = List { states, waits: Vec::new(), pairs: Vec::new(), ends: Vec::new() };
        let mut reader = StateReader::new(proof);
        let mut packed = Vec::new();
        for _ in 0..proof.states {
            let bytes = list.states.bytes()
                + 8 * (list.waits.capacity() + list.pairs.capacity()) as u64
                + 4 * list.ends.capacity() as u64;
            budget.poll(&Progress { states: list.states.len() as u64, bytes, ..Progress::default() })?;
            reader.advance()?;
            if !pack(system, &reader.values, &mut packed) {
                return Err("a state has a value that its variable cannot have".into());
            }
            if !list.states.add(&packed, budget)?.1 {
                return Err("a state is listed twice".into());
            }
            if proof.waits {
                if reader.wait.from as usize > system.actions().len() {
                    return Err("a state names an action that there is not".into());
                }
                list.waits.push(reader.wait);
            }
            let is_known = |pair: &Pair| {
                (pair.automaton as usize) < proof.automaton.len() && (pair.rank as usize) < proof.ranks.len()
            };
            let is_sorted = reader.pairs.windows(2).all(|two| two[0].automaton < two[1].automaton);
            if !is_sorted || !reader.pairs.iter().all(is_known) {
                return Err("what is said beside a state makes no sense".into());
            }
            list.pairs.extend_from_slice(&reader.pairs);
            list.ends.push(u32::try_from(list.pairs.len()).map_err(|_| "there are too many states")?);
        }
        Ok(list)
    }

    /// What is beside a state.
    fn beside(&self, state: u32) -> &[Pair] {
        let at = state as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.pairs[start..self.ends[at] as usize]
    }
}

/// Packs values; whether they fit.
fn pack(system: &ActionSystem, values: &[i64], packed: &mut Vec<u32>) -> bool {
    packed.clear();
    packed.resize(system.layout().width(), 0);
    let fields = system.layout().fields().iter().zip(values);
    fields.into_iter().all(|(field, &value)| put(*field, value, packed))
}

/// Packs a state that differs from another one in some values only, after those that are packed; whether they fit.
fn add_packed(
    system: &ActionSystem,
    (here, old): (&[u32], &[i64]),
    values: &[i64],
    packed: &mut Vec<u32>,
) -> bool {
    let start = packed.len();
    packed.extend_from_slice(here);
    let mut fields = system.layout().fields().iter().zip(old.iter().zip(values));
    fields.all(|(field, (old, &new))| *old == new || put(*field, new, &mut packed[start..]))
}

/// Puts a value into its field; whether it fits, and comes back as it is.
fn put(field: Field, value: i64, packed: &mut [u32]) -> bool {
    let Some(raw) = field.encode(value) else { return false };
    field.set_raw(packed, raw);
    field.value(packed) == value
}

/// Whether no two variables share a bit, so that states with different values are different words, and what is put into one
/// field stays away from the others.
fn is_sound(layout: &Layout) -> bool {
    let mut taken = vec![0_u32; layout.width()];
    layout.fields().iter().all(|field| {
        (0..u32::from(field.bits)).all(|bit| {
            let at = u32::from(field.shift) + bit;
            let (word, bit) = (field.word as usize + (at / 32) as usize, 1 << (at % 32));
            let is_free = taken.get(word).is_some_and(|taken| taken & bit == 0);
            if is_free {
                taken[word] |= bit;
            }
            is_free
        })
    })
}

struct Check<'c> {
    system: &'c ActionSystem,
    proof: &'c Proof,
    list: List,
    masks: Masks,
    waits: Option<Waits<'c>>,
    watch: Option<Watch>,
    truth: Option<ExprId>,
    no_deadlock: bool,
    ends: Ends,
}

/// The steps of the state that is looked at; kept, so that not every state asks for memory anew.
#[derive(Default)]
struct Out {
    /// The actions that they begin with, and the states that they lead to, one after the other.
    begun: Vec<ActionId>,
    packed: Vec<u32>,
    /// The numbers of these states.
    numbers: Vec<Option<u32>>,
    targets: Vec<(Option<ActionId>, u32)>,
}

impl Check<'_> {
    fn run(mut self, budget: &mut Budget<'_>) -> Result<Certified, Refusal> {
        let mut packed = Vec::new();
        for values in reference::initial(self.system) {
            let number = self.number(&values, &mut packed).ok_or("an initial state is missing")?;
            let is_watched = self.list.beside(number).first().is_some_and(|pair| pair.automaton == 0);
            if self.watch.is_some() && !is_watched {
                return Err("an initial state is missing".into());
            }
        }
        let bytes = self.list.states.bytes() + 8 * self.list.pairs.capacity() as u64;
        let n_states = self.list.states.len();
        let (mut n_steps, mut values, mut out) = (0, Vec::new(), Out::default());
        for number in 0..n_states as u32 {
            budget.poll(&Progress { states: u64::from(number), bytes, ..Progress::default() })?;
            let state = self.list.states.get(number);
            values.clear();
            values.extend(self.system.layout().fields().iter().map(|field| field.value(state)));
            n_steps += self.state(number, &values, &mut out, budget)?;
        }
        Ok(Certified { states: n_states as u64, pairs: self.list.pairs.len() as u64, steps: n_steps })
    }

    fn number(&self, values: &[i64], packed: &mut Vec<u32>) -> Option<u32> {
        if pack(self.system, values, packed) { self.list.states.find(packed) } else { None }
    }

    /// Looks at a state, and what can happen there; how much that is.
    fn state(
        &mut self,
        number: u32,
        values: &[i64],
        out: &mut Out,
        budget: &mut Budget<'_>,
    ) -> Result<u64, Refusal> {
        if let Some(expr) = self.truth
            && reference::value(self.system, expr, values).map_err(|fault| self.wrong(fault))? == 0
        {
            return Err("the invariant is false in a state".into());
        }
        let watched = self.watched(number, values, budget)?;
        // Where the automaton goes on by no step, nothing that follows matters.
        if self.watch.is_some() && watched.iter().all(|steps| steps.is_empty()) {
            return Ok(0);
        }
        let Out { begun, packed, numbers, targets } = out;
        let (here, mut fit) = (self.list.states.get(number), true);
        begun.clear();
        packed.clear();
        targets.clear();
        reference::for_each_successor(self.system, values, |step, target| {
            begun.push(self.system.first(step));
            fit &= add_packed(self.system, (here, values), target, packed);
        })
        .map_err(|fault| self.wrong(fault))?;
        if self.no_deadlock && begun.is_empty() {
            return Err("nothing can happen in a state".into());
        }
        let waiting = self.list.waits.get(number as usize).filter(|wait| wait.from > 0).copied();
        if let Some(wait) = waiting {
            self.leave_out(wait, values, begun, packed)?;
        }
        self.list.states.find_all(packed, numbers);
        for (action, target) in begun.iter().zip(&*numbers) {
            targets.push((Some(*action), target.filter(|_| fit).ok_or("a successor is missing")?));
        }
        if let Some(wait) = waiting {
            self.comes_down(wait, targets)?;
        }
        if begun.is_empty() && self.ends == Ends::Stutter {
            targets.push((None, number));
        }
        self.product(number, &watched, targets)?;
        Ok(begun.len() as u64)
    }

    /// Leaves the steps out that wait: those that begin with no action of the set that grows in a state.
    fn leave_out(
        &mut self,
        wait: Wait,
        values: &[i64],
        begun: &mut Vec<ActionId>,
        packed: &mut Vec<u32>,
    ) -> Result<(), Refusal> {
        let Some(waits) = &mut self.waits else { return Ok(()) };
        waits.enable(begun.iter().copied());
        waits.grow(ActionId::new(wait.from as usize - 1), values);
        if waits.taken().next().is_none() {
            return Err("all steps of a state wait".into());
        }
        if waits.taken().any(|action| waits.is_seen(action)) {
            return Err("steps wait for one that changes what is looked at".into());
        }
        let (width, mut kept) = (self.system.layout().width(), 0);
        for at in 0..begun.len() {
            if waits.has(begun[at]) {
                begun[kept] = begun[at];
                packed.copy_within(at * width..(at + 1) * width, kept * width);
                kept += 1;
            }
        }
        begun.truncate(kept);
        packed.truncate(kept * width);
        Ok(())
    }

    /// Whether what waits does not do so for ever: of the steps that are followed, one leads on to where nothing waits; for runs,
    /// all do.
    fn comes_down(&self, wait: Wait, targets: &[(Option<ActionId>, u32)]) -> Result<(), Refusal> {
        let is_lower = |&(_, target): &(_, u32)| {
            let there = self.list.waits[target as usize];
            there.from == 0 || there.height < wait.height
        };
        let is_fine = match self.watch {
            Some(_) => targets.iter().all(is_lower),
            None => targets.iter().any(is_lower),
        };
        if is_fine { Ok(()) } else { Err("steps may wait for ever".into()) }
    }

    /// What the automaton does in a state, for each of its states that are beside it.
    fn watched(
        &mut self,
        number: u32,
        values: &[i64],
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Rc<[Step]>>, Refusal> {
        let Check { system, list, watch: Some(watch), .. } = self else { return Ok(Vec::new()) };
        let mut letter = 0;
        for (bit, &expr) in watch.exprs.iter().enumerate() {
            let value = reference::value(system, expr, values).map_err(|fault| told(system, fault))?;
            letter |= u64::from(value != 0) << bit;
        }
        let beside = list.beside(number).iter();
        Ok(beside
            .map(|pair| watch.tableau.steps(pair.automaton, letter, budget))
            .collect::<Result<_, _>>()?)
    }

    /// Looks at the states of the product that a state is in, and their steps.
    fn product(
        &self,
        number: u32,
        watched: &[Rc<[Step]>],
        targets: &[(Option<ActionId>, u32)],
    ) -> Result<(), Refusal> {
        let Check { proof, list, masks, .. } = self;
        // A step begins with each action that is enabled.
        let here = masks.enabled(targets.iter().filter_map(|(action, _)| *action));
        for (pair, steps) in list.beside(number).iter().zip(watched) {
            let rank = &proof.ranks[pair.rank as usize];
            if !ends_well(rank, here.strong) {
                return Err("a rank ends too soon".into());
            }
            for step in steps.iter() {
                for &(action, target) in targets {
                    let beside = list.beside(target);
                    let there = beside.binary_search_by_key(&step.target, |pair| pair.automaton);
                    let there = &beside[there.map_err(|_| "a successor is missing")?];
                    let marks = masks.marks(here, action, step.postponed);
                    keeps(rank, &proof.ranks[there.rank as usize], marks)?;
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, fault: Fault) -> Refusal {
        told(self.system, fault)
    }
}

fn told(system: &ActionSystem, fault: Fault) -> Refusal {
    Refusal::Wrong(format!(
        "the model goes wrong: {}",
        system.describe_fault(&StepError { fault, action: None })
    ))
}

impl std::fmt::Display for Certified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Certified { states, pairs, steps } = self;
        write!(f, "{} and {} looked at", count(*states, "state"), count(*steps, "step"))?;
        if *pairs > 0 { write!(f, ", {} of the product", count(*pairs, "state")) } else { Ok(()) }
    }
}
