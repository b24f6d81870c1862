//! Labels of edges: Boolean functions of propositions, as binary decision diagrams.
//!
//! # Idea
//! A diagram is a node that asks one variable and goes on to one of two smaller diagrams; variables
//! are asked in increasing order, no question is superfluous, and equal diagrams are stored once
//! [bryant.86.tc]. So equal functions are equal numbers: a label is false iff it is
//! [`Label::FALSE`].
//!
//! Variable *i* below `FIRST_HIDDEN` is the [`Prop`] of index *i*. Algorithms use *hidden* variables
//! above them for what an edge carries besides its letters (marks, successors): a function of
//! both kinds maps each letter to a function of hidden variables, its *leaf*, and equal leaves are
//! found by following the diagram from the top. Translation and determinization read their edges off such
//! functions (`leaves`).
//!
//! # Requirements and limits
//! Any number of propositions: nothing recurses. The result of an operation may be as large as the product
//! of its operands, so constructions do them `with` a budget, which is asked in the middle
//! of them and is told what they keep.

mod leaves;

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, Limit};
use ltl::{Prop, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

/// The first variable that is not a proposition.
pub(crate) const FIRST_HIDDEN: u32 = 1 << 24;

/// Diagrams of more variables are not made.
pub const MAX_VARIABLES: usize = 4096;

/// A set of valuations, that is, a Boolean function of propositions; named by its place in a pool of
/// [`Labels`]. Two labels of one pool are the same function iff they are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(u32);

impl Label {
    /// No valuation; the same in every pool.
    pub const FALSE: Label = Label(0);
    /// Every valuation; the same in every pool.
    pub const TRUE: Label = Label(1);

    /// Whether this is [`Label::FALSE`] or [`Label::TRUE`].
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }
}

/// Asks `variable`, and goes on to `low` if it does not hold, to `high` if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    low: Label,
    high: Label,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Op {
    Not,
    And,
    Or,
    /// Whether the first implies the second; the result is a constant.
    Implies,
}

/// A pool of [`Label`]s.
#[derive(Debug, Default)]
pub struct Labels {
    /// Label *i* + 2 is node *i*.
    nodes: Vec<Node>,
    unique: FxHashMap<Node, Label>,
    memo: FxHashMap<(Op, Label, Label), Label>,
    /// How many nodes there may be, if that is bounded.
    limit: Option<usize>,
    /// Steps done since somebody asked.
    steps: u64,
    /// There were more nodes or steps than allowed.
    exhausted: bool,
    /// Steps that no budget was told of.
    untold: u64,
    /// Bytes that a budget was told of.
    told_bytes: u64,
    /// The operation under way; empty between operations.
    open: Vec<Open>,
}

/// A pair of labels whose result waits for those of its parts.
#[derive(Clone, Copy, Debug)]
struct Open {
    a: Label,
    b: Label,
    /// The result where the variable does not hold, if it is known.
    low: Option<Label>,
}

impl Clone for Labels {
    /// No budget knows of the copy yet.
    fn clone(&self) -> Labels {
        Labels {
            nodes: self.nodes.clone(),
            unique: self.unique.clone(),
            memo: self.memo.clone(),
            limit: self.limit,
            steps: self.steps,
            exhausted: self.exhausted,
            untold: 0,
            told_bytes: 0,
            open: vec![],
        }
    }
}

/// A bounded pool is exhausted if nobody asks for its [steps](Labels::take_steps) during more than these.
const MAX_STEPS_AT_ONCE: u64 = 20_000_000;

/// A budget is ticked once in so many steps, since a step takes less than a microsecond.
const STEPS_PER_TICK: u64 = 16;

/// In so many steps it is asked whether to go on: after some milliseconds, and some hundred kilobytes.
const STEPS_AT_ONCE: u64 = 8192;

/// Making labels.
impl Labels {
    /// A pool that has the two constants.
    pub fn new() -> Labels {
        Labels::default()
    }

    /// A pool whose results are arbitrary once it [is exhausted](Labels::is_exhausted).
    pub(crate) fn with_limit(max_nodes: usize) -> Labels {
        Labels { limit: Some(max_nodes), ..Labels::default() }
    }

    /// Allows so many more nodes; results are arbitrary once the pool [is exhausted](Labels::is_exhausted).
    pub(crate) fn limit_growth(&mut self, max_new_nodes: usize) {
        self.limit = Some(self.nodes.len() + max_new_nodes);
        self.steps = 0;
    }

    /// Forgets the limit.
    pub(crate) fn lift_limit(&mut self) {
        self.limit = None;
    }

    /// Whether a bounded pool needed more nodes than allowed, or too many steps at once.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// How many steps were done since the last call: a measure of work.
    pub(crate) fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// Bytes that it takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        const NODE: usize = 3 * size_of::<Node>() + 2 * size_of::<Label>();
        const RESULT: usize = 2 * size_of::<(Op, Label, Label, Label)>();
        (self.nodes.len() * NODE + self.memo.len() * RESULT) as u64
    }

    /// Tells a budget what was done and kept since it was told last.
    pub(crate) fn tell(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        while self.untold >= STEPS_PER_TICK {
            self.untold -= STEPS_PER_TICK;
            budget.tick()?;
        }
        let bytes = self.bytes();
        budget.hold(bytes.saturating_sub(self.told_bytes))?;
        self.told_bytes = bytes;
        Ok(())
    }

    /// Operations that a budget may end.
    pub(crate) fn with<'l, 'b, 'w>(&'l mut self, budget: &'b mut Budget<'w>) -> Watched<'l, 'b, 'w> {
        Watched { labels: self, budget }
    }

    fn count_steps(&mut self, steps: usize) {
        self.steps += steps as u64;
        self.untold += steps as u64;
        self.exhausted |=
            self.limit.is_some_and(|max| self.nodes.len() > max || self.steps > MAX_STEPS_AT_ONCE);
    }

    /// The valuations in which the proposition holds.
    pub fn prop(&mut self, prop: Prop) -> Label {
        self.variable(prop.index() as u32)
    }

    pub(crate) fn variable(&mut self, variable: u32) -> Label {
        self.make(variable, Label::FALSE, Label::TRUE)
    }

    fn make(&mut self, variable: u32, low: Label, high: Label) -> Label {
        if low == high {
            return low;
        }
        let node = Node { variable, low, high };
        *self.unique.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            Label(self.nodes.len() as u32 + 1)
        })
    }

    /// The valuations that are not in `a`.
    pub fn not(&mut self, a: Label) -> Label {
        self.operate(Op::Not, a, a)
    }

    /// The valuations in both.
    pub fn and(&mut self, a: Label, b: Label) -> Label {
        self.operate(Op::And, a, b)
    }

    /// The valuations in one of them or both.
    pub fn or(&mut self, a: Label, b: Label) -> Label {
        self.operate(Op::Or, a, b)
    }

    /// Whether every valuation in `a` is in `b`.
    pub fn implies(&mut self, a: Label, b: Label) -> bool {
        self.operate(Op::Implies, a, b) == Label::TRUE
    }

    fn operate(&mut self, op: Op, a: Label, b: Label) -> Label {
        match self.begin(op, a, b) {
            Some(result) => result,
            None => loop {
                if let Some(result) = self.go_on(op) {
                    return result;
                }
            },
        }
    }

    /// The result, if it is known without taking the labels apart.
    fn begin(&mut self, op: Op, a: Label, b: Label) -> Option<Label> {
        let (a, b) = match op {
            Op::And | Op::Or => (a.min(b), a.max(b)),
            Op::Not | Op::Implies => (a, b),
        };
        let known = match (op, a, b) {
            (Op::Not | Op::Implies, Label::FALSE, _)
            | (Op::Or, Label::TRUE, _)
            | (Op::Implies, _, Label::TRUE) => Label::TRUE,
            (Op::Not | Op::Implies, Label::TRUE, _)
            | (Op::And, Label::FALSE, _)
            | (Op::Implies, _, Label::FALSE) => Label::FALSE,
            (Op::And, Label::TRUE, b) | (Op::Or, Label::FALSE, b) => b,
            (Op::And | Op::Or, a, b) if a == b => a,
            (Op::Implies, a, b) if a == b => Label::TRUE,
            _ => {
                self.count_steps(1);
                match self.memo.get(&(op, a, b)) {
                    Some(&result) => result,
                    None if self.exhausted => Label::FALSE,
                    None => {
                        self.open.push(Open { a, b, low: None });
                        return None;
                    }
                }
            }
        };
        Some(known)
    }

    /// Some steps more of the operation under way; the result, if that was all.
    fn go_on(&mut self, op: Op) -> Option<Label> {
        let stop_at = self.steps + STEPS_AT_ONCE;
        while let Some(&Open { a, b, low }) = self.open.last() {
            if self.steps >= stop_at {
                return None;
            }
            // The result of the part that is looked at next, and of all that end with it.
            let (next_a, next_b) = self.part(a, b, low.is_some());
            let mut result = self.begin(op, next_a, next_b);
            while let Some(part) = result.take() {
                let Some(&Open { a, b, low }) = self.open.last() else { return Some(part) };
                let whole = match (op, low) {
                    (Op::Implies, _) if part == Label::FALSE => Label::FALSE,
                    (Op::Implies, Some(_)) => Label::TRUE,
                    (_, Some(low)) => self.make(self.variable_of(a).min(self.variable_of(b)), low, part),
                    (_, None) => {
                        self.set_low(part);
                        break;
                    }
                };
                self.memo.insert((op, a, b), whole);
                self.open.pop();
                result = Some(whole);
            }
        }
        None
    }

    fn set_low(&mut self, low: Label) {
        if let Some(open) = self.open.last_mut() {
            open.low = Some(low);
        }
    }

    /// Both labels where their first variable does not hold, or where it does.
    fn part(&self, a: Label, b: Label, holds: bool) -> (Label, Label) {
        let variable = self.variable_of(a).min(self.variable_of(b));
        let ((low_a, high_a), (low_b, high_b)) = (self.split(a, variable), self.split(b, variable));
        if holds { (high_a, high_b) } else { (low_a, low_b) }
    }

    /// The same function in this pool. `memo` remembers what was copied already.
    pub(crate) fn import(
        &mut self,
        from: &Labels,
        label: Label,
        memo: &mut FxHashMap<Label, Label>,
    ) -> Label {
        let known = |memo: &FxHashMap<Label, Label>, label: Label| match label.is_constant() {
            true => Some(label),
            false => memo.get(&label).copied(),
        };
        let mut open = vec![label];
        while let Some(&last) = open.last() {
            if known(memo, last).is_some() {
                open.pop();
                continue;
            }
            let Node { variable, low, high } = from.node(last);
            match (known(memo, low), known(memo, high)) {
                (Some(low), Some(high)) => {
                    self.untold += 1;
                    let copy = self.make(variable, low, high);
                    memo.insert(last, copy);
                }
                (None, _) => open.push(low),
                (_, None) => open.push(high),
            }
        }
        known(memo, label).unwrap_or(label)
    }
}

/// Operations on labels that end when a budget is spent; see [`Labels::with`].
pub(crate) struct Watched<'l, 'b, 'w> {
    labels: &'l mut Labels,
    budget: &'b mut Budget<'w>,
}

impl Watched<'_, '_, '_> {
    /// The valuations that are not in `a`.
    pub(crate) fn not(self, a: Label) -> Result<Label, Limit> {
        self.operate(Op::Not, a, a)
    }

    /// The valuations in both.
    pub(crate) fn and(self, a: Label, b: Label) -> Result<Label, Limit> {
        self.operate(Op::And, a, b)
    }

    /// The valuations in one of them or both.
    pub(crate) fn or(self, a: Label, b: Label) -> Result<Label, Limit> {
        self.operate(Op::Or, a, b)
    }

    /// The valuations in the first but not in the second.
    pub(crate) fn minus(self, a: Label, b: Label) -> Result<Label, Limit> {
        let Watched { labels, budget } = self;
        let other = labels.with(budget).not(b)?;
        labels.with(budget).and(a, other)
    }

    /// Whether every valuation in `a` is in `b`.
    pub(crate) fn implies(self, a: Label, b: Label) -> Result<bool, Limit> {
        Ok(self.operate(Op::Implies, a, b)? == Label::TRUE)
    }

    /// The valuations in one of the labels.
    pub(crate) fn any(self, list: impl IntoIterator<Item = Label>) -> Result<Label, Limit> {
        let Watched { labels, budget } = self;
        list.into_iter().try_fold(Label::FALSE, |sum, label| labels.with(budget).or(sum, label))
    }

    /// Whether no valuation is in two of the labels.
    pub(crate) fn are_disjoint(self, list: impl IntoIterator<Item = Label>) -> Result<bool, Limit> {
        let Watched { labels, budget } = self;
        let mut seen = Label::FALSE;
        for label in list {
            if labels.with(budget).and(seen, label)? != Label::FALSE {
                return Ok(false);
            }
            seen = labels.with(budget).or(seen, label)?;
        }
        Ok(true)
    }

    fn operate(self, op: Op, a: Label, b: Label) -> Result<Label, Limit> {
        let Watched { labels, budget } = self;
        let mut result = labels.begin(op, a, b);
        loop {
            if let Err(limit) = labels.tell(budget) {
                labels.open.clear();
                return Err(limit);
            }
            match result {
                Some(result) => return Ok(result),
                None => result = labels.go_on(op),
            }
        }
    }
}

/// Looking at labels.
impl Labels {
    fn node(&self, label: Label) -> Node {
        self.nodes[label.0 as usize - 2]
    }

    fn variable_of(&self, label: Label) -> u32 {
        if label.is_constant() { u32::MAX } else { self.node(label).variable }
    }

    /// What is left of the function when the variable, not above its first, is known.
    fn split(&self, label: Label, variable: u32) -> (Label, Label) {
        if self.variable_of(label) == variable {
            let node = self.node(label);
            (node.low, node.high)
        } else {
            (label, label)
        }
    }

    /// Whether the valuation is in the set.
    pub fn holds(&self, label: Label, valuation: &Valuation) -> bool {
        let mut label = label;
        while !label.is_constant() {
            let node = self.node(label);
            label = if valuation.holds(Prop::new(node.variable as usize)) { node.high } else { node.low };
        }
        label == Label::TRUE
    }

    /// The propositions that one of the labels depends on, sorted.
    pub(crate) fn propositions(&self, labels: impl IntoIterator<Item = Label>) -> Vec<Prop> {
        let variables = self.reachable(labels).into_iter().map(|label| self.node(label).variable);
        let variables: BTreeSet<u32> = variables.collect();
        variables.into_iter().map(|variable| Prop::new(variable as usize)).collect()
    }

    /// The labels that are not constants and their parts, each once.
    fn reachable(&self, labels: impl IntoIterator<Item = Label>) -> Vec<Label> {
        let mut seen = FxHashSet::default();
        let mut found: Vec<Label> = vec![];
        let mut stack: Vec<Label> = labels.into_iter().collect();
        while let Some(label) = stack.pop() {
            if !label.is_constant() && seen.insert(label) {
                found.push(label);
                let Node { low, high, .. } = self.node(label);
                stack.extend([low, high]);
            }
        }
        found
    }

    /// A valuation in the set, with as few propositions as the first questions allow; none if the set is
    /// empty.
    pub fn pick(&self, label: Label) -> Option<Valuation> {
        let mut valuation = Valuation::new();
        let mut label = label;
        while !label.is_constant() {
            let node = self.node(label);
            let forced = node.low == Label::FALSE;
            valuation.set(Prop::new(node.variable as usize), forced);
            label = if forced { node.high } else { node.low };
        }
        (label == Label::TRUE).then_some(valuation)
    }

    /// The paths to `true`, which are disjoint cubes whose union is the label: for each the
    /// propositions it fixes, in order, and their values. There may be very many, so they are made one by one.
    pub fn cubes(&self, label: Label) -> impl Iterator<Item = Vec<(Prop, bool)>> + '_ {
        let mut stack = vec![(label, Vec::new())];
        std::iter::from_fn(move || {
            while let Some((label, path)) = stack.pop() {
                if label == Label::TRUE {
                    return Some(path);
                }
                if label != Label::FALSE {
                    let Node { variable, low, high } = self.node(label);
                    for (next, value) in [(low, false), (high, true)] {
                        let mut path = path.clone();
                        path.push((Prop::new(variable as usize), value));
                        stack.push((next, path));
                    }
                }
            }
            None
        })
    }

    /// Number of valuations of `n_propositions` propositions, all of the label's among them, in the
    /// set; `u64::MAX` stands for more.
    pub fn n_valuations(&self, label: Label, n_propositions: usize) -> u64 {
        let support = self.propositions([label]);
        let level = |label: Label| {
            let variable = self.variable_of(label) as usize;
            support.partition_point(|prop| prop.index() < variable)
        };
        // Per node the valuations of its own variable and those after it; parts have smaller numbers.
        let mut counts: BTreeMap<Label, u64> = BTreeMap::from([(Label::FALSE, 0), (Label::TRUE, 1)]);
        let mut nodes = self.reachable([label]);
        nodes.sort_unstable();
        for node in nodes {
            let Node { low, high, .. } = self.node(node);
            let free = |part: Label| times_power(counts[&part], level(part) - level(node) - 1);
            counts.insert(node, free(low).saturating_add(free(high)));
        }
        times_power(counts[&label], n_propositions.saturating_sub(support.len()) + level(label))
    }
}

/// A number times a power of two, or `u64::MAX` if that is more.
fn times_power(number: u64, exponent: usize) -> u64 {
    match number {
        0 => 0,
        _ if exponent < number.leading_zeros() as usize => number << exponent,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_functions_are_equal_labels() {
        let mut labels = Labels::new();
        let [a, b, c] = [0, 1, 200].map(|index| labels.prop(Prop::new(index)));
        let left = {
            let or = labels.or(b, c);
            labels.and(a, or)
        };
        let right = {
            let (ab, ac) = (labels.and(a, b), labels.and(a, c));
            labels.or(ab, ac)
        };
        assert_eq!(left, right);
        let not = labels.not(left);
        assert_eq!(labels.and(left, not), Label::FALSE);
        assert_eq!(labels.or(left, not), Label::TRUE);
        assert!(labels.implies(left, a) && !labels.implies(a, left));
        assert_eq!(labels.n_valuations(left, 3), 3);
        assert_eq!(labels.n_valuations(Label::TRUE, 70), u64::MAX);
        let picked = labels.pick(left).unwrap();
        assert!(labels.holds(left, &picked) && !labels.holds(not, &picked));
        assert_eq!(labels.pick(Label::FALSE), None);
    }
}
