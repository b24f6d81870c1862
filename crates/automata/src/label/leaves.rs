//! Functions of propositions and hidden variables: what letters lead to.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::{FIRST_HIDDEN, Label, Labels, Node};

impl Labels {
    /// The function as a map from letters: each function of hidden variables that some letter leads
    /// to, except `false`, with the set of all such letters. The sets are disjoint; functions that
    /// were made earlier come first.
    pub(crate) fn leaves(
        &mut self,
        function: Label,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<(Label, Label)>, Limit> {
        let found = self.letters_by(function, |leaf| vec![leaf], budget)?;
        Ok(found.into_iter().map(|(leaf, letters)| (letters, leaf)).collect())
    }

    /// Where each function of hidden variables, except `false`, stands for some things, in order: each thing,
    /// in order, with the set of all letters that lead to a function that stands for it.
    pub(crate) fn letters_by<K: Copy + Ord>(
        &mut self,
        function: Label,
        things: impl Fn(Label) -> Vec<K>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<(K, Label)>, Limit> {
        // For each node of the diagram its things, in order, with their letters.
        let mut known: FxHashMap<Label, Vec<(K, Label)>> = FxHashMap::default();
        let (mut open, mut held) = (vec![function], 0);
        while let Some(&last) = open.last() {
            let found = if known.contains_key(&last) {
                open.pop();
                continue;
            } else if last == Label::FALSE {
                vec![]
            } else if self.variable_of(last) >= FIRST_HIDDEN {
                things(last).into_iter().map(|thing| (thing, Label::TRUE)).collect()
            } else {
                let Node { variable, low, high } = self.node(last);
                match (known.get(&low), known.get(&high)) {
                    (Some(low), Some(high)) => self.merge_letters(variable, low, high),
                    (None, _) => {
                        open.push(low);
                        continue;
                    }
                    (_, None) => {
                        open.push(high);
                        continue;
                    }
                }
            };
            let bytes = size_of_val(&found[..]) as u64;
            held += bytes;
            budget.hold(bytes)?;
            self.tell(budget)?;
            known.insert(last, found);
        }
        budget.release(held);
        Ok(known.remove(&function).unwrap_or_default())
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
    ///
    /// Those of a function that do not make `known` true are those where its first variable does not hold, and
    /// those where it does which the former do not make superfluous. There is one, unless the function
    /// implies `known`; so no step is in vain.
    pub(crate) fn all_primes(
        &mut self,
        function: Label,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Vec<u32>>, Limit> {
        let (mut found, mut path, mut held) = (vec![], vec![], 0);
        // What is still to be looked at, the last first: with how many variables of the path and which other
        // one, and what is known besides what is there without it.
        let mut open = vec![(0, None, function, Label::FALSE)];
        while let Some((depth, last, function, mut known)) = open.pop() {
            path.truncate(depth);
            if let Some((variable, low)) = last {
                path.push(variable);
                known = self.with(budget).or(low, known)?;
            }
            self.count_steps(1);
            if self.with(budget).implies(function, known)? || self.exhausted {
                continue;
            }
            if function == Label::TRUE {
                let bytes = (size_of::<Vec<u32>>() + size_of_val(&path[..])) as u64;
                held += bytes;
                budget.hold(bytes)?;
                found.push(path.clone());
                continue;
            }
            let variable = self.variable_of(function);
            // The variables that are asked by `known` alone are not in the set.
            while self.variable_of(known) < variable {
                known = self.node(known).low;
            }
            let ((low, high), (known_low, known_high)) =
                (self.split(function, variable), self.split(known, variable));
            open.push((path.len(), Some((variable, low)), high, known_high));
            open.push((path.len(), None, low, known_low));
        }
        budget.release(held);
        Ok(found)
    }

    /// Where each label belongs to a number: for each set of numbers whose labels some letter is in, these
    /// letters. The sets are sorted.
    pub(crate) fn sets_by_letter(
        &mut self,
        numbered: impl IntoIterator<Item = (Label, u32)>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<(Label, Vec<u32>)>, Limit> {
        // Each letter leads to the conjunction of the numbers of its labels.
        let mut function = Label::TRUE;
        for (label, number) in numbered {
            let number = self.variable(FIRST_HIDDEN + number);
            let other = self.with(budget).not(label)?;
            let clause = self.with(budget).or(other, number)?;
            function = self.with(budget).and(function, clause)?;
        }
        let leaves = self.leaves(function, budget)?.into_iter();
        let numbers = |leaf| self.conjuncts(leaf).iter().map(|variable| variable - FIRST_HIDDEN).collect();
        Ok(leaves.map(|(letters, leaf)| (letters, numbers(leaf))).collect())
    }

    /// The variables of a conjunction of variables, in order.
    fn conjuncts(&self, function: Label) -> Vec<u32> {
        let (mut function, mut variables) = (function, vec![]);
        while !function.is_constant() {
            let node = self.node(function);
            variables.push(node.variable);
            function = node.high;
        }
        variables
    }
}

#[cfg(test)]
mod tests {
    use ltl::Prop;

    use super::*;

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
        let budget = &mut Budget::unlimited();
        assert_eq!(labels.leaves(function, budget), Ok(vec![(a, x), (not_a, either)]));
        assert_eq!(labels.all_primes(either, budget), Ok(vec![vec![FIRST_HIDDEN + 1], vec![FIRST_HIDDEN]]));
        assert_eq!(labels.conjuncts(xy), [FIRST_HIDDEN, FIRST_HIDDEN + 1]);
    }
}
