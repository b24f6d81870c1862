//! The automaton of a formula, without any simplification.
//!
//! # Idea
//! A state is a set of formulas in negation normal form that the rest of the word must satisfy. A letter and the laws
//! `a U b = b | a & X (a U b)`, `F a = a | X F a`, and so on, turn it into alternatives: what the rest must satisfy after
//! the letter, and which *promises* (`a U b`, `F a`, `a M b`) were put off. A run is accepting if none of the
//! promises is put off for ever. Of two alternatives, one that demands less after the letter and puts off less makes the
//! other superfluous. (Gerth, Peled, Vardi, Wolper, *Simple on-the-fly automatic verification of LTL*, 1995; marks on
//! edges as in Couvreur 1999.)
//!
//! # It accepts every word that satisfies the formula
//! That is all that certificates need. Let a word satisfy all formulas of a state from position `i` on. Where a law offers
//! alternatives, take one that is true there: where a promise is made, the one that keeps it now (`b` of `a U b`, `a` of
//! `F a`, `a & b` of `a M b`) if it can be kept at `i`, else the other. The result demands only what is true from `i + 1` on,
//! and puts off a promise only if it is true at `i` and cannot be kept there. If that alternative was left out, another one
//! demands less and puts off less, so both are said of it, too. Hence there is a run over the whole word; and a promise that is
//! put off at `i` is true there, so it can be kept at some `j > i`, where it is not put off. So the run is accepting.

use std::rc::Rc;

use base::{Budget, SourceId};
use ltl::{Formula, Formulas, Op, Prop, negation_normal_form};
use rustc_hash::FxHashMap;

use crate::Refusal;

/// A formula is this many nodes at most, and has at most so many propositions and promises.
const MAX_NODES: usize = 2_000;
const MAX_BITS: usize = 64;

/// One step has at most so many alternatives on the way.
const MAX_ALTERNATIVES: usize = 20_000;

/// A step of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state that it leads to.
    pub target: u32,
    /// The promises that it puts off, as bits.
    pub postponed: u64,
}

/// The automaton of a formula; its states are made when they are met.
pub struct Tableau {
    /// The operator and operands of each formula, operands first; the last one is the formula itself.
    nodes: Vec<(Op, Vec<u16>)>,
    /// Per formula, which promise it is.
    promise: Vec<Option<u32>>,
    n_promises: usize,
    /// The propositions, each with its bit in letters.
    propositions: Vec<Prop>,
    /// The states: sorted numbers of formulas.
    states: Vec<Rc<[u16]>>,
    numbers: FxHashMap<Rc<[u16]>, u32>,
    steps: FxHashMap<(u32, u64), Rc<[Step]>>,
}

impl Tableau {
    /// The automaton of the negation of a formula, whose parts are numbered as these texts say: the last is the whole.
    ///
    /// # Errors
    /// They are not its parts; or the automaton is too large; or the budget is spent.
    pub fn new(
        formulas: &mut Formulas,
        formula: Formula,
        parts: &[String],
        budget: &mut Budget<'_>,
    ) -> Result<Tableau, Refusal> {
        if parts.len() > MAX_NODES {
            return Err(format!("the formula has more than {MAX_NODES} parts").into());
        }
        let negation = formulas.not(formula);
        let negation = negation_normal_form(formulas, negation, budget)?;
        let mut all = Vec::new();
        for text in parts {
            budget.tick()?;
            let parsed = ltl::parse(formulas, text, SourceId::new(0), 0);
            all.push(parsed.map_err(|_| "its formula cannot be read")?.formula);
        }
        if all.last() != Some(&negation) {
            return Err("it is about another formula".into());
        }
        let number = |formula: &Formula| all.iter().position(|known| known == formula);
        let (mut nodes, mut promise, mut propositions) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_promises = 0;
        for &formula in &all {
            let op = formulas.op(formula);
            let operands: Option<Vec<u16>> =
                formulas.operands(formula).iter().map(|operand| Some(number(operand)? as u16)).collect();
            nodes.push((op, operands.ok_or("a part of its formula is missing")?));
            if let Op::Prop(prop) = op {
                propositions.push(prop);
            }
            let is_promise = matches!(op, Op::Until | Op::Finally | Op::StrongRelease);
            promise.push(is_promise.then_some(n_promises as u32));
            n_promises += usize::from(is_promise);
        }
        if propositions.len() > MAX_BITS || n_promises > MAX_BITS {
            return Err(format!("the formula has more than {MAX_BITS} propositions or promises").into());
        }
        let (states, numbers, steps) = Default::default();
        let mut tableau = Tableau { nodes, promise, n_promises, propositions, states, numbers, steps };
        tableau.state(&[all.len() as u16 - 1]);
        Ok(tableau)
    }

    /// The propositions; the first is the lowest bit of a letter.
    pub fn propositions(&self) -> &[Prop] {
        &self.propositions
    }

    /// Whether it looks at the next state in particular.
    pub fn has_next(&self) -> bool {
        self.nodes.iter().any(|(op, _)| *op == Op::Next)
    }

    /// How many promises there are.
    pub fn n_promises(&self) -> usize {
        self.n_promises
    }

    /// The states that were met, by their formulas. The first is the initial one.
    pub fn states(&self) -> &[Rc<[u16]>] {
        &self.states
    }

    /// The number of a state; none if it is no sorted list of formulas.
    pub fn number_of(&mut self, formulas: &[u16]) -> Option<u32> {
        let is_sorted = formulas.windows(2).all(|pair| pair[0] < pair[1]);
        let are_known = formulas.iter().all(|&formula| usize::from(formula) < self.nodes.len());
        (is_sorted && are_known).then(|| self.state(formulas))
    }

    fn state(&mut self, formulas: &[u16]) -> u32 {
        if let Some(&number) = self.numbers.get(formulas) {
            return number;
        }
        let number = self.states.len() as u32;
        let formulas: Rc<[u16]> = formulas.into();
        self.states.push(formulas.clone());
        self.numbers.insert(formulas, number);
        number
    }

    /// The steps from a state by a letter.
    ///
    /// # Errors
    /// There are too many alternatives, or the budget is spent.
    pub fn steps(&mut self, state: u32, letter: u64, budget: &mut Budget<'_>) -> Result<Rc<[Step]>, Refusal> {
        if let Some(steps) = self.steps.get(&(state, letter)) {
            return Ok(steps.clone());
        }
        let found = self.alternatives(&self.states[state as usize], letter, budget)?;
        let steps: Rc<[Step]> = found
            .into_iter()
            .map(|(next, postponed)| Step { target: self.state(&next), postponed })
            .collect();
        budget.hold(16 * steps.len() as u64 + 64)?;
        self.steps.insert((state, letter), steps.clone());
        Ok(steps)
    }

    /// What may be demanded after a letter, each with the promises that are put off; only what demands least.
    fn alternatives(
        &self,
        state: &[u16],
        letter: u64,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<(Vec<u16>, u64)>, Refusal> {
        /// What is not looked at yet, what was looked at, what is demanded afterwards, what is put off.
        struct Open {
            now: Vec<u16>,
            done: Vec<u16>,
            next: Vec<u16>,
            postponed: u64,
        }
        let mut found: Vec<(Vec<u16>, u64)> = Vec::new();
        let mut work = vec![Open { now: state.to_vec(), done: Vec::new(), next: Vec::new(), postponed: 0 }];
        let mut n_done = 0;
        while let Some(mut open) = work.pop() {
            budget.tick()?;
            n_done += 1;
            if n_done > MAX_ALTERNATIVES {
                return Err("a state of its automaton has too many alternatives".into());
            }
            let Some(formula) = open.now.pop() else {
                open.next.sort_unstable();
                open.next.dedup();
                let is_less = |less: &(Vec<u16>, u64), more: &(Vec<u16>, u64)| {
                    less.1 & !more.1 == 0 && less.0.iter().all(|part| more.0.binary_search(part).is_ok())
                };
                let new = (open.next, open.postponed);
                if !found.iter().any(|known| is_less(known, &new)) {
                    found.retain(|known| !is_less(&new, known));
                    found.push(new);
                }
                continue;
            };
            // To choose for a formula once more could only demand more.
            if open.done.contains(&formula) {
                work.push(open);
                continue;
            }
            open.done.push(formula);
            let (op, operands) = &self.nodes[usize::from(formula)];
            // The other alternative of a law, which holds now and demands the formula again.
            let mut again = |now: &[u16]| {
                let mut other =
                    Open { now: open.now.clone(), done: open.done.clone(), next: open.next.clone(), ..open };
                other.now.extend(now);
                other.next.push(formula);
                other.postponed |= self.promise[usize::from(formula)].map_or(0, |promise| 1 << promise);
                work.push(other);
            };
            match (op, &operands[..]) {
                (Op::False, _) => continue,
                (Op::Prop(_), _) if !self.is_in(formula, letter) => continue,
                (Op::Not, &[a]) if self.is_in(a, letter) => continue,
                (Op::And, all) => open.now.extend(all),
                (Op::Or, all) => {
                    for &one in all {
                        let mut now = open.now.clone();
                        now.push(one);
                        work.push(Open { now, done: open.done.clone(), next: open.next.clone(), ..open });
                    }
                    continue;
                }
                (Op::Next, &[a]) => open.next.push(a),
                (Op::Globally, &[a]) => {
                    open.now.push(a);
                    open.next.push(formula);
                }
                (Op::Finally, &[a]) => {
                    again(&[]);
                    open.now.push(a);
                }
                (Op::Until | Op::WeakUntil, &[a, b]) => {
                    again(&[a]);
                    open.now.push(b);
                }
                (Op::Release | Op::StrongRelease, &[a, b]) => {
                    again(&[b]);
                    open.now.extend([a, b]);
                }
                // `true`, and literals that are.
                _ => {}
            }
            work.push(open);
        }
        Ok(found)
    }

    /// Whether a proposition is true in a letter.
    fn is_in(&self, formula: u16, letter: u64) -> bool {
        let Op::Prop(prop) = self.nodes[usize::from(formula)].0 else { return false };
        self.propositions.iter().position(|&known| known == prop).is_some_and(|bit| letter >> bit & 1 == 1)
    }
}
