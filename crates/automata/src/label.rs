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
//! functions, by `Labels::letters_by` and `Labels::all_primes`.
//!
//! # Requirements and limits
//! Any number of propositions. Operations recurse once per variable, so whoever makes diagrams bounds
//! the number of variables by [`MAX_VARIABLES`].

use std::collections::BTreeSet;

use ltl::{Prop, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

/// The first variable that is not a proposition.
pub(crate) const FIRST_HIDDEN: u32 = 1 << 24;

/// Diagrams of more variables are not made: operations recurse once per variable.
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
#[derive(Clone, Debug, Default)]
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
}

/// A bounded pool is exhausted if nobody asks for its [steps](Labels::take_steps) during more than these: so no
/// operation takes longer than some seconds.
const MAX_STEPS_AT_ONCE: u64 = 20_000_000;

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

    fn count_steps(&mut self, steps: usize) {
        self.steps += steps as u64;
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
        match a {
            Label::FALSE => Label::TRUE,
            Label::TRUE => Label::FALSE,
            _ => self.remembered(Op::Not, a, a),
        }
    }

    /// The valuations in both.
    pub fn and(&mut self, a: Label, b: Label) -> Label {
        match (a.min(b), a.max(b)) {
            (Label::FALSE, _) => Label::FALSE,
            (Label::TRUE, b) => b,
            (a, b) if a == b => a,
            (a, b) => self.remembered(Op::And, a, b),
        }
    }

    /// The valuations in one of them or both.
    pub fn or(&mut self, a: Label, b: Label) -> Label {
        match (a.min(b), a.max(b)) {
            (Label::FALSE, b) => b,
            (Label::TRUE, _) => Label::TRUE,
            (a, b) if a == b => a,
            (a, b) => self.remembered(Op::Or, a, b),
        }
    }

    /// The valuations in the first but not in the second.
    pub(crate) fn minus(&mut self, a: Label, b: Label) -> Label {
        let other = self.not(b);
        self.and(a, other)
    }

    /// Whether every valuation in `a` is in `b`.
    pub fn implies(&mut self, a: Label, b: Label) -> bool {
        self.implication(a, b) == Label::TRUE
    }

    fn implication(&mut self, a: Label, b: Label) -> Label {
        match (a, b) {
            (Label::FALSE, _) | (_, Label::TRUE) => Label::TRUE,
            (Label::TRUE, _) | (_, Label::FALSE) => Label::FALSE,
            _ if a == b => Label::TRUE,
            _ => self.remembered(Op::Implies, a, b),
        }
    }

    /// The operation on labels that are not constants, once per pair.
    fn remembered(&mut self, op: Op, a: Label, b: Label) -> Label {
        self.count_steps(1);
        if let Some(&result) = self.memo.get(&(op, a, b)) {
            return result;
        }
        if self.exhausted {
            return Label::FALSE;
        }
        let variable = self.variable_of(a).min(self.variable_of(b));
        let ((low_a, high_a), (low_b, high_b)) = (self.split(a, variable), self.split(b, variable));
        let (low, high) = match op {
            Op::Not => (self.not(low_a), self.not(high_a)),
            Op::And => (self.and(low_a, low_b), self.and(high_a, high_b)),
            Op::Or => (self.or(low_a, low_b), self.or(high_a, high_b)),
            Op::Implies => match self.implication(low_a, low_b) {
                Label::TRUE => (Label::TRUE, self.implication(high_a, high_b)),
                _ => (Label::FALSE, Label::FALSE),
            },
        };
        let result = match op {
            Op::Implies => low.min(high),
            _ => self.make(variable, low, high),
        };
        self.memo.insert((op, a, b), result);
        result
    }

    /// The same function in this pool. `memo` remembers what was copied already.
    pub(crate) fn import(
        &mut self,
        from: &Labels,
        label: Label,
        memo: &mut FxHashMap<Label, Label>,
    ) -> Label {
        if label.is_constant() {
            return label;
        }
        if let Some(&known) = memo.get(&label) {
            return known;
        }
        let Node { variable, low, high } = from.node(label);
        let (low, high) = (self.import(from, low, memo), self.import(from, high, memo));
        let copy = self.make(variable, low, high);
        memo.insert(label, copy);
        copy
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
        self.evaluate(label, |variable| valuation.holds(Prop::new(variable as usize)))
    }

    /// The value of the function where exactly these variables hold.
    fn evaluate(&self, label: Label, holds: impl Fn(u32) -> bool) -> bool {
        let mut label = label;
        while !label.is_constant() {
            let node = self.node(label);
            label = if holds(node.variable) { node.high } else { node.low };
        }
        label == Label::TRUE
    }

    /// The propositions that one of the labels depends on, sorted.
    pub(crate) fn propositions(&self, labels: impl IntoIterator<Item = Label>) -> Vec<Prop> {
        let mut seen = FxHashSet::default();
        let mut found = BTreeSet::new();
        let mut stack: Vec<Label> = labels.into_iter().collect();
        while let Some(label) = stack.pop() {
            if !label.is_constant() && seen.insert(label) {
                let Node { variable, low, high } = self.node(label);
                found.insert(Prop::new(variable as usize));
                stack.extend([low, high]);
            }
        }
        found.into_iter().collect()
    }

    /// A valuation in the set, with as few propositions as the first questions allow; none if the set is empty.
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
    /// propositions it fixes, in order, and their values.
    pub fn cubes(&self, label: Label) -> Vec<Vec<(Prop, bool)>> {
        let mut cubes = Vec::new();
        let mut stack = vec![(label, Vec::new())];
        while let Some((label, path)) = stack.pop() {
            if label == Label::TRUE {
                cubes.push(path);
            } else if label != Label::FALSE {
                let Node { variable, low, high } = self.node(label);
                for (next, value) in [(low, false), (high, true)] {
                    let mut path = path.clone();
                    path.push((Prop::new(variable as usize), value));
                    stack.push((next, path));
                }
            }
        }
        cubes
    }

    /// Number of valuations of `n_propositions` propositions, all of the label's among them, in the
    /// set; `u64::MAX` stands for more.
    pub fn n_valuations(&self, label: Label, n_propositions: usize) -> u64 {
        let power = |exponent: usize| 1u64.checked_shl(exponent as u32).unwrap_or(u64::MAX);
        self.cubes(label)
            .iter()
            .fold(0u64, |sum, cube| sum.saturating_add(power(n_propositions.saturating_sub(cube.len()))))
    }
}

/// Functions of propositions and hidden variables.
impl Labels {
    /// The function as a map from letters: each function of hidden variables that some letter leads
    /// to, except `false`, with the set of all such letters. The sets are disjoint; functions that
    /// were made earlier come first.
    pub(crate) fn leaves(&mut self, function: Label) -> Vec<(Label, Label)> {
        let found = self.letters_by(function, |_, leaf| vec![leaf]);
        found.into_iter().map(|(leaf, letters)| (letters, leaf)).collect()
    }

    /// Where each function of hidden variables, except `false`, stands for some things, in order: each thing,
    /// in order, with the set of all letters that lead to a function that stands for it.
    pub(crate) fn letters_by<K: Copy + Ord>(
        &mut self,
        function: Label,
        mut things: impl FnMut(&mut Labels, Label) -> Vec<K>,
    ) -> Vec<(K, Label)> {
        let mut memo = FxHashMap::default();
        self.collect_letters(function, &mut things, &mut memo);
        memo.remove(&function).unwrap_or_default()
    }

    /// Notes for each node of the diagram its things, in order, with their letters.
    fn collect_letters<K: Copy + Ord>(
        &mut self,
        function: Label,
        things: &mut impl FnMut(&mut Labels, Label) -> Vec<K>,
        memo: &mut FxHashMap<Label, Vec<(K, Label)>>,
    ) {
        if memo.contains_key(&function) {
            return;
        }
        let found = if function == Label::FALSE {
            vec![]
        } else if self.variable_of(function) >= FIRST_HIDDEN {
            things(self, function).into_iter().map(|thing| (thing, Label::TRUE)).collect()
        } else {
            let Node { variable, low, high } = self.node(function);
            self.collect_letters(low, things, memo);
            self.collect_letters(high, things, memo);
            self.merge_letters(variable, &memo[&low], &memo[&high])
        };
        memo.insert(function, found);
    }

    fn merge_letters<K: Copy + Ord>(
        &mut self,
        variable: u32,
        low: &[(K, Label)],
        high: &[(K, Label)],
    ) -> Vec<(K, Label)> {
        let mut merged = Vec::with_capacity(low.len().max(high.len()));
        let (mut low, mut high) = (low.iter().peekable(), high.iter().peekable());
        self.count_steps(low.len() + high.len());
        if self.exhausted {
            return merged;
        }
        loop {
            let thing = match (low.peek(), high.peek()) {
                (Some(a), Some(b)) => a.0.min(b.0),
                (Some(only), None) | (None, Some(only)) => only.0,
                (None, None) => return merged,
            };
            let letters = |list: &mut std::iter::Peekable<std::slice::Iter<'_, (K, Label)>>| {
                list.next_if(|entry| entry.0 == thing).map_or(Label::FALSE, |entry| entry.1)
            };
            let (when_low, when_high) = (letters(&mut low), letters(&mut high));
            merged.push((thing, self.make(variable, when_low, when_high)));
        }
    }

    /// The minimal sets of variables that make a monotone function true: its prime implicants, all of
    /// which are needed.
    pub(crate) fn all_primes(&mut self, function: Label) -> Vec<Vec<u32>> {
        let mut found = vec![];
        self.collect_primes(function, Label::FALSE, &mut vec![], &mut found);
        found
    }

    /// Adds the prime implicants of `function` that do not make `known` true, each with the variables of `path`.
    /// There is one, unless the function implies `known`; so no step is in vain.
    fn collect_primes(
        &mut self,
        function: Label,
        known: Label,
        path: &mut Vec<u32>,
        found: &mut Vec<Vec<u32>>,
    ) {
        self.count_steps(1);
        if self.implies(function, known) || self.exhausted {
            return;
        }
        if function == Label::TRUE {
            found.push(path.clone());
            return;
        }
        let variable = self.variable_of(function);
        // The variables that are asked by `known` alone are not in the set.
        let mut known = known;
        while self.variable_of(known) < variable {
            known = self.node(known).low;
        }
        let ((low, high), (known_low, known_high)) =
            (self.split(function, variable), self.split(known, variable));
        self.collect_primes(low, known_low, path, found);
        let known = self.or(low, known_high);
        path.push(variable);
        self.collect_primes(high, known, path, found);
        path.pop();
    }

    /// The same for a function that has few of them, such as a conjunction: many are made only to be dropped.
    pub(crate) fn primes(&self, function: Label) -> Vec<Vec<u32>> {
        match function {
            Label::FALSE => vec![],
            Label::TRUE => vec![vec![]],
            _ => {
                let Node { variable, low, high } = self.node(function);
                let mut primes = self.primes(low);
                let more = self.primes(high).into_iter();
                primes.extend(
                    more.filter(|prime| !self.evaluate(low, |v| prime.binary_search(&v).is_ok())).map(
                        |mut prime| {
                            prime.insert(0, variable);
                            prime
                        },
                    ),
                );
                primes
            }
        }
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

    #[test]
    fn leaves_partition_the_letters_and_primes_are_minimal() {
        let mut labels = Labels::new();
        let a = labels.prop(Prop::new(0));
        let not_a = labels.not(a);
        let [x, y] = [0, 1].map(|index| labels.variable(FIRST_HIDDEN + index));
        // a: x or (x and y), that is, x; otherwise: x or y.
        let xy = labels.and(x, y);
        let both = labels.or(x, xy);
        let first = labels.and(a, both);
        let either = labels.or(x, y);
        let second = labels.and(not_a, either);
        let function = labels.or(first, second);
        assert_eq!(labels.leaves(function), [(a, x), (not_a, either)]);
        for primes in [labels.primes(either), labels.all_primes(either)] {
            assert_eq!(primes, [vec![FIRST_HIDDEN + 1], vec![FIRST_HIDDEN]]);
        }
    }
}
