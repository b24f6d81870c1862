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
use model::reference;
use model::{ActionId, ActionSystem, ExprId, Fault, StepError};

use crate::Refusal;
use crate::claim::{Claim, What};
use crate::proof::{Ends, Pair, Proof, StateReader, Wait};
use crate::rank::{Masks, ends_well, keeps};
use crate::states::States;
use crate::steps::{Stepper, is_sound, put};
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
            let tableau = Tableau::new(formulas, formula, &proof.formula, budget)?;
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
    Check { system, proof, list, masks, waits, watch, truth, no_deadlock }.run(budget)
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
        // It says how many there are; so few bytes cannot say much more.
        list.states.reserve(proof.states.min(100 * proof.bytes), budget)?;
        let mut reader = StateReader::new(proof);
        let mut state = vec![0; system.layout().width()];
        let mut before = state.clone();
        let all: Vec<usize> = (0..proof.variables).collect();
        for number in 0..proof.states {
            budget.poll(&Progress { states: number, bytes: list.bytes(), ..Progress::default() })?;
            reader.advance()?;
            let changed = if number == 0 { &all } else { &reader.changed };
            for &var in changed {
                if !put(system.layout().fields()[var], reader.values[var], &mut state) {
                    return Err("a state has a value that its variable cannot have".into());
                }
            }
            if number > 0 && state <= before {
                return Err("states are in disorder, or one is listed twice".into());
            }
            before.copy_from_slice(&state);
            list.states.add_new(&state, budget)?;
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

    fn bytes(&self) -> u64 {
        let List { states, waits, pairs, ends } = self;
        states.bytes() + (8 * (waits.capacity() + pairs.capacity()) + 4 * ends.capacity()) as u64
    }

    /// What is beside a state.
    fn beside(&self, state: u32) -> &[Pair] {
        let at = state as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.pairs[start..self.ends[at] as usize]
    }
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
}

/// The steps of the state that is looked at; kept, so that not every state asks for memory anew.
#[derive(Default)]
struct Out {
    /// The actions that they begin with, and the states that they lead to, one after the other.
    begun: Vec<ActionId>,
    packed: Vec<u32>,
    /// The numbers of these states.
    numbers: Vec<Option<u32>>,
    /// Those that are followed, with the repetition of a last state, which nobody begins.
    targets: Vec<(Option<ActionId>, u32)>,
}

impl Check<'_> {
    fn run(mut self, budget: &mut Budget<'_>) -> Result<Certified, Refusal> {
        for state in self.system.initial() {
            let number = self.list.states.find(state).ok_or("an initial state is missing")?;
            let is_watched = self.list.beside(number).first().is_some_and(|pair| pair.automaton == 0);
            if self.watch.is_some() && !is_watched {
                return Err("an initial state is missing".into());
            }
        }
        let (bytes, n_states) = (self.list.bytes(), self.list.states.count());
        let (mut n_steps, mut stepper, mut out) = (0, Stepper::new(self.system, budget)?, Out::default());
        for number in 0..n_states as u32 {
            budget.poll(&Progress { states: u64::from(number), bytes, ..Progress::default() })?;
            self.state(number, &mut stepper, &mut out, budget)?;
            n_steps += out.begun.len() as u64;
        }
        Ok(Certified { states: n_states as u64, pairs: self.list.pairs.len() as u64, steps: n_steps })
    }

    /// Looks at a state, and what can happen there.
    fn state(
        &mut self,
        number: u32,
        stepper: &mut Stepper<'_>,
        out: &mut Out,
        budget: &mut Budget<'_>,
    ) -> Result<(), Refusal> {
        let Out { begun, packed, numbers, targets } = out;
        begun.clear();
        targets.clear();
        stepper.go_to(self.list.states.get(number));
        let values = &stepper.values;
        let wrong = |fault| told(self.system, fault);
        if let Some(expr) = self.truth
            && reference::value(self.system, expr, values).map_err(wrong)? == 0
        {
            return Err("the invariant is false in a state".into());
        }
        let watched = self.watched(number, values, budget)?;
        // Where the automaton goes on by no step, nothing that follows matters.
        if self.watch.is_some() && watched.iter().all(|steps| steps.is_empty()) {
            return Ok(());
        }
        let fit = stepper.steps(self.list.states.get(number), begun, packed);
        let fit = fit.map_err(|fault| told(self.system, fault))?;
        if self.no_deadlock && begun.is_empty() {
            return Err("nothing can happen in a state".into());
        }
        let wait = self.list.waits.get(number as usize).copied().unwrap_or_default();
        let mut sets = self.waits.as_mut().filter(|_| wait.from > 0);
        if let Some(sets) = &mut sets {
            sets.enable(begun.iter().copied());
            sets.grow(ActionId::new(wait.from as usize - 1), &stepper.values);
            if sets.taken().next().is_none() {
                return Err("all steps of a state wait".into());
            }
            if sets.taken().any(|action| sets.is_seen(action)) {
                return Err("steps wait for one that changes what is looked at".into());
            }
        }
        self.list.states.find_all(packed, numbers);
        for (&action, target) in begun.iter().zip(&*numbers) {
            if sets.as_ref().is_none_or(|sets| sets.has(action)) {
                targets.push((Some(action), target.filter(|_| fit).ok_or("a successor is missing")?));
            }
        }
        if sets.is_some() && !self.comes_down(wait, targets) {
            return Err("steps may wait for ever".into());
        }
        if begun.is_empty() && self.proof.ends == Ends::Stutter {
            targets.push((None, number));
        }
        self.product(number, &watched, targets)
    }

    /// What the automaton does in a state, for each of its states that are beside it.
    fn watched(
        &mut self,
        number: u32,
        values: &[i64],
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Rc<[Step]>>, Refusal> {
        let Check { system, list, watch: Some(Watch { tableau, exprs }), .. } = self else {
            return Ok(Vec::new());
        };
        let mut letter = 0;
        for (bit, &expr) in exprs.iter().enumerate() {
            let value = reference::value(system, expr, values).map_err(|fault| told(system, fault))?;
            letter |= u64::from(value != 0) << bit;
        }
        list.beside(number).iter().map(|pair| tableau.steps(pair.automaton, letter, budget)).collect()
    }

    /// Whether what waits does not do so for ever: of the steps that are followed, one leads on to where nothing waits; for runs,
    /// all do.
    fn comes_down(&self, wait: Wait, targets: &[(Option<ActionId>, u32)]) -> bool {
        let is_lower = |&(_, target): &(_, u32)| {
            let there = self.list.waits[target as usize];
            there.from == 0 || there.height < wait.height
        };
        match self.watch {
            Some(_) => targets.iter().all(is_lower),
            None => targets.iter().any(is_lower),
        }
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
            if !ends_well(rank, here) {
                return Err("a rank ends too soon".into());
            }
            for step in steps.iter() {
                for &(action, target) in targets {
                    let beside = list.beside(target);
                    let there = beside.binary_search_by_key(&step.target, |pair| pair.automaton);
                    let there = &beside[there.map_err(|_| "a successor is missing")?];
                    let marks = masks.of_edge(here, action, step.postponed);
                    keeps(rank, &proof.ranks[there.rank as usize], marks)?;
                }
            }
        }
        Ok(())
    }
}

fn told(system: &ActionSystem, fault: Fault) -> Refusal {
    let error = StepError { fault, action: None };
    format!("the model goes wrong: {}", system.describe_fault(&error)).into()
}

impl std::fmt::Display for Certified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Certified { states, pairs, steps } = self;
        write!(f, "{} and {} looked at", count(*states, "state"), count(*steps, "step"))?;
        if *pairs > 0 { write!(f, ", {} of the product", count(*pairs, "state")) } else { Ok(()) }
    }
}
