//! The product of a system with the automaton of a negated formula: without any reduction, and with every edge kept, so that
//! ranks can be found.

use std::rc::Rc;

use base::{Budget, Progress};
use certify::rank::{Marks, Masks};
use certify::states::States;
use certify::tableau::{Step, Tableau};
use certify::waits::Waits;
use certify::{Claim, Ends, Wait, What};
use ltl::{Formula, Formulas, Spelling, negation_normal_form};
use model::{ActionId, ActionSystem, ExprId, Steps, System};
use rustc_hash::FxHashMap;

use super::waiting::{self, Sought, Waiting};
use super::{Failed, unobserved};

/// A step that nobody takes: the last state repeats. And no node.
const NOBODY: u32 = u32::MAX;

/// All parts of a formula have so many operators and propositions at most.
const MAX_SIZE: u64 = 200_000;

/// The steps of a state that was not expanded.
const UNKNOWN: (u32, u32) = (u32::MAX, 0);

/// A state of the product.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// The state of the system.
    pub(super) state: u32,
    /// The state of the automaton.
    pub(super) automaton: u32,
    /// Which steps the automaton has here.
    steps: u32,
    /// The next node with the same state of the system.
    next: u32,
}

/// The numbers of nodes: most states of a system are beside one state of the automaton, which is at hand.
#[derive(Default)]
struct Numbers {
    /// Per state of the system, the state of the automaton and the number of the node that was met last.
    last: Vec<(u32, u32)>,
}

impl Numbers {
    /// The number of a node, which may be new.
    fn number(&mut self, state: u32, automaton: u32, nodes: &mut Vec<Node>) -> u32 {
        let at = state as usize;
        if self.last.len() <= at {
            self.last.resize(at + 1, (0, NOBODY));
        }
        let (known, first) = self.last[at];
        if first != NOBODY && known == automaton {
            return first;
        }
        let mut other = first;
        while let Some(node) = nodes.get(other as usize) {
            if node.automaton == automaton {
                return other;
            }
            other = node.next;
        }
        let new = nodes.len() as u32;
        nodes.push(Node { state, automaton, steps: 0, next: first });
        self.last[at] = (automaton, new);
        new
    }
}

/// The states of the system, and the product.
pub(super) struct Product {
    pub(super) states: States,
    /// Per state that was expanded, where its steps are in `steps`.
    expanded: Vec<(u32, u32)>,
    /// Per state, which of its steps are followed; nothing if all are, from all states.
    pub(super) waits: Vec<Wait>,
    /// The action that a step begins with, and where it leads.
    steps: Vec<(u32, u32)>,
    pub(super) nodes: Vec<Node>,
    /// Per node, where its edges end in `targets`: first by steps of the automaton, then by those of the system.
    ends: Vec<u32>,
    targets: Vec<u32>,
    kinds: Vec<Rc<[Step]>>,
    pub(super) masks: Masks,
}

impl Product {
    /// Explores the product with the automaton of a negated formula. Steps and truths are asked of `runner`, which is the
    /// system, unless somebody wants to know what becomes of its mistakes.
    pub(super) fn explore<S: System>(
        runner: &S,
        claim: &mut Claim<'_>,
        may_wait: bool,
        budget: &mut Budget<'_>,
    ) -> Result<(Product, Tableau, Vec<String>), Failed> {
        let system = claim.system;
        let What::Formula { formulas, formula, propositions } = &mut claim.what else {
            return Err(Failed::Unfit("there is no formula".to_owned()));
        };
        let parts = parts(formulas, *formula, budget)?;
        let mut tableau = Tableau::new(formulas, *formula, &parts, budget)?;
        let mut truths = Vec::new();
        for prop in tableau.propositions() {
            let known = propositions.iter().find(|(known, _)| known == prop);
            truths.push(known.and_then(|(_, expr)| system.proposition(*expr)).ok_or_else(unobserved)?);
        }
        let looked_at: Vec<ExprId> =
            truths.iter().map(|&number| system.propositions()[number].expr).collect();
        let waiting = match may_wait && claim.constraints.is_empty() && !tableau.has_next() {
            true => waiting::explore(runner, system, &looked_at, Sought::Runs, &[], budget)?,
            false => None,
        };
        let sets = match waiting {
            Some(_) => Some(Waits::new(system, &looked_at, budget)?),
            None => None,
        };
        let nothing = Waiting { states: States::new(system.width()), waits: Vec::new() };
        let Waiting { states, waits } = waiting.unwrap_or(nothing);
        let masks = Masks::new(system, claim.constraints, tableau.n_promises());
        let product = Product {
            states,
            expanded: Vec::new(),
            waits,
            steps: Vec::new(),
            nodes: Vec::new(),
            ends: Vec::new(),
            targets: Vec::new(),
            kinds: Vec::new(),
            masks: masks.map_err(|why| Failed::Unfit(why.to_owned()))?,
        };
        let (scratch, out) = (runner.new_scratch(), Steps::new(system.width()));
        let known = Vec::new();
        let mut explorer = Explorer {
            runner,
            system,
            ends: claim.ends,
            truths,
            scratch,
            out,
            known,
            sets,
            values: Vec::new(),
            product,
        };
        explorer.product(&mut tableau, budget)?;
        Ok((explorer.product, tableau, parts))
    }

    /// Where the edges of a node lead.
    pub(super) fn targets(&self, node: u32) -> &[u32] {
        let at = node as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.targets[start..self.ends[at] as usize]
    }

    /// The constraints that are enabled at a node.
    pub(super) fn enabled(&self, node: u32) -> u128 {
        let steps = self.steps_of(self.nodes[node as usize].state);
        self.masks.enabled(steps.iter().filter_map(|(action, _)| begun(*action)))
    }

    fn steps_of(&self, state: u32) -> &[(u32, u32)] {
        // Where the automaton goes on by no step, nothing was expanded.
        let (start, end) = self.expanded.get(state as usize).copied().unwrap_or(UNKNOWN);
        self.steps.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The marks of the edges of a node, in the order of its targets.
    pub(super) fn marks(&self, node: u32) -> impl Iterator<Item = (u32, Marks)> {
        let Node { state, steps, .. } = self.nodes[node as usize];
        let here = self.enabled(node);
        let both = self.kinds[steps as usize]
            .iter()
            .flat_map(move |step| self.steps_of(state).iter().map(move |(action, _)| (step, *action)));
        both.zip(self.targets(node)).map(move |((step, action), &target)| {
            (target, self.masks.of_edge(here, begun(action), step.postponed))
        })
    }
}

/// The parts of the negation of a formula, as texts; the last is the whole.
fn parts(formulas: &mut Formulas, formula: Formula, budget: &mut Budget<'_>) -> Result<Vec<String>, Failed> {
    let negation = formulas.not(formula);
    let negation = negation_normal_form(formulas, negation, budget)?;
    let parts = formulas.subformulas(negation);
    // A text is as long as the formula is as a tree.
    let size = parts.iter().fold(0, |sum: u64, &part| sum.saturating_add(formulas.size(part)));
    if size > MAX_SIZE {
        return Err(Failed::Unfit("the formula is too large".to_owned()));
    }
    Ok(parts.iter().map(|&part| formulas.display(part, Spelling::Spot).to_string()).collect())
}

/// The action of that number.
fn begun(action: u32) -> Option<ActionId> {
    (action != NOBODY).then(|| ActionId::new(action as usize))
}

struct Explorer<'e, S: System> {
    runner: &'e S,
    system: &'e ActionSystem,
    ends: Ends,
    /// The numbers of the propositions that are looked at.
    truths: Vec<usize>,
    scratch: S::Scratch,
    out: Steps,
    /// The numbers of its targets that were known.
    known: Vec<Option<u32>>,
    /// The sets of steps that are followed where others wait, and the values of a state.
    sets: Option<Waits<'e>>,
    values: Vec<i64>,
    product: Product,
}

impl<S: System> Explorer<'_, S> {
    fn progress(&self) -> Progress {
        let Product { states, expanded, steps, nodes, targets, .. } = &self.product;
        let bytes = states.bytes()
            + 8 * (expanded.capacity() + steps.capacity()) as u64
            + 50 * nodes.capacity() as u64
            + 4 * targets.capacity() as u64;
        let n_states = if nodes.is_empty() { states.count() } else { nodes.len() };
        Progress { states: n_states as u64, transitions: targets.len() as u64, bytes, ..Progress::default() }
    }

    fn initial(&mut self, budget: &Budget<'_>) -> Result<Vec<u32>, Failed> {
        let mut words = Vec::new();
        self.runner.initial_states(&mut words);
        let mut numbers = Vec::new();
        for state in words.chunks_exact(self.system.width()) {
            numbers.push(self.product.states.add(state, budget)?.0);
        }
        Ok(numbers)
    }

    /// Finds the successors of a state, unless they are known.
    fn expand(&mut self, state: u32, budget: &Budget<'_>) -> Result<(), Failed> {
        let product = &mut self.product;
        if product.expanded.len() <= state as usize {
            product.expanded.resize(state as usize + 1, UNKNOWN);
        }
        if product.expanded[state as usize] != UNKNOWN {
            return Ok(());
        }
        self.out.clear();
        self.runner.successors(product.states.get(state), &mut self.scratch, &mut self.out)?;
        let start = product.steps.len() as u32;
        product.states.find_all(self.out.targets(), &mut self.known);
        let wait = product.waits.get(state as usize).filter(|wait| wait.from > 0);
        let sets = self.sets.as_mut().zip(wait).map(|(sets, wait)| {
            sets.enable(self.out.actions().iter().map(|&step| self.system.first(step)));
            waiting::read(self.system, product.states.get(state), &mut self.values);
            sets.grow(ActionId::new(wait.from as usize - 1), &self.values);
            &*sets
        });
        for ((step, target), known) in self.out.iter().zip(&self.known) {
            if sets.is_some_and(|sets| !sets.has(self.system.first(step))) {
                continue;
            }
            let target = match known {
                Some(number) => *number,
                None => product.states.add(target, budget)?.0,
            };
            product.steps.push((self.system.first(step).index() as u32, target));
        }
        if self.out.is_empty() && self.ends == Ends::Stutter {
            product.steps.push((NOBODY, state));
        }
        let end = u32::try_from(product.steps.len())
            .map_err(|_| Failed::Unfit("there are too many steps".to_owned()))?;
        product.expanded[state as usize] = (start, end);
        Ok(())
    }

    /// Which of the propositions are true, as bits.
    fn letter(&mut self, state: u32) -> Result<u64, Failed> {
        let mut letter = 0;
        for (bit, &proposition) in self.truths.iter().enumerate() {
            let words = self.product.states.get(state);
            letter |= u64::from(self.runner.holds(proposition, words, &mut self.scratch)?) << bit;
        }
        Ok(letter)
    }

    /// The product with an automaton.
    fn product(&mut self, tableau: &mut Tableau, budget: &mut Budget<'_>) -> Result<(), Failed> {
        let mut letters: Vec<Option<u64>> = Vec::new();
        let mut kinds: FxHashMap<(u32, u64), u32> = FxHashMap::default();
        let mut numbers = Numbers::default();
        for state in self.initial(budget)? {
            numbers.number(state, 0, &mut self.product.nodes);
        }
        let mut next = 0;
        while let Some(&Node { state, automaton, .. }) = self.product.nodes.get(next) {
            budget.poll(&self.progress())?;
            if letters.len() <= state as usize {
                letters.resize(self.product.states.count(), None);
            }
            let letter = match letters[state as usize] {
                Some(letter) => letter,
                None => *letters[state as usize].insert(self.letter(state)?),
            };
            let product = &mut self.product;
            let kind = match kinds.get(&(automaton, letter)) {
                Some(&kind) => kind,
                None => {
                    product.kinds.push(tableau.steps(automaton, letter, budget)?);
                    kinds.insert((automaton, letter), product.kinds.len() as u32 - 1);
                    product.kinds.len() as u32 - 1
                }
            };
            product.nodes[next].steps = kind;
            let steps = product.kinds[kind as usize].clone();
            if !steps.is_empty() {
                self.expand(state, budget)?;
            }
            let product = &mut self.product;
            let (start, end) = product.expanded.get(state as usize).copied().unwrap_or(UNKNOWN);
            for step in steps.iter() {
                for at in start..end {
                    let target = product.steps[at as usize].1;
                    product.targets.push(numbers.number(target, step.target, &mut product.nodes));
                }
            }
            let end = u32::try_from(product.targets.len());
            product.ends.push(end.map_err(|_| Failed::Unfit("there are too many steps".to_owned()))?);
            next += 1;
        }
        Ok(())
    }
}
