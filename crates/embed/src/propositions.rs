//! What is watched of a model: closures with names.

use std::sync::Arc;

use crate::model::Model;

type Closure<'m, M> = Arc<dyn Fn(&<M as Model>::State) -> bool + Send + Sync + 'm>;

/// Propositions, by name, each with the one that it is the negation of.
pub(crate) struct Propositions<'m, M: Model>(Vec<(String, Closure<'m, M>, Option<usize>)>);

impl<M: Model> Clone for Propositions<'_, M> {
    fn clone(&self) -> Self {
        Propositions(self.0.clone())
    }
}

impl<M: Model> Default for Propositions<'_, M> {
    fn default() -> Self {
        Propositions(Vec::new())
    }
}

impl<'m, M: Model> Propositions<'m, M> {
    /// Adds one, or gives a new meaning to a name.
    pub(crate) fn set(&mut self, name: &str, holds: impl Fn(&M::State) -> bool + Send + Sync + 'm) {
        match self.0.iter_mut().find(|known| known.0 == name) {
            Some(known) => known.1 = Arc::new(holds),
            None => self.0.push((name.to_owned(), Arc::new(holds), None)),
        }
    }

    /// Adds the negation of one, which nobody can ask for by name; returns its number.
    pub(crate) fn negate(&mut self, number: usize) -> usize {
        let holds = self.0[number].1.clone();
        self.0.push((String::new(), Arc::new(move |state: &M::State| !holds(state)), Some(number)));
        self.0.len() - 1
    }

    /// Adds one that looks at the values of others, the first of which is the lowest bit; returns its number.
    pub(crate) fn combine(&mut self, numbers: &[usize], table: Vec<bool>) -> usize {
        if let ([number], [false, true]) = (numbers, &table[..]) {
            return *number;
        }
        if let ([number], [true, false]) = (numbers, &table[..]) {
            return self.negate(*number);
        }
        let parts: Vec<_> = numbers.iter().map(|&number| self.0[number].1.clone()).collect();
        let holds = move |state: &M::State| {
            table[parts.iter().rev().fold(0, |bits, part| bits << 1 | usize::from(part(state)))]
        };
        self.0.push((String::new(), Arc::new(holds), None));
        self.0.len() - 1
    }

    /// The one that it is the negation of, or itself.
    pub(crate) fn origin(&self, number: usize) -> usize {
        self.0[number].2.unwrap_or(number)
    }

    /// What one is called.
    pub(crate) fn name(&self, number: usize) -> Option<String> {
        self.0.get(number).map(|known| known.0.clone())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|known| known.0 == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|known| known.0.as_str())
    }

    /// The name of one that is true in one state only.
    pub(crate) fn tells_apart(&self, one: &M::State, other: &M::State) -> Option<String> {
        let differs = |number: &usize| self.holds(*number, one) != self.holds(*number, other);
        (0..self.len()).find(differs).and_then(|number| self.name(number))
    }

    #[inline]
    pub(crate) fn holds(&self, number: usize, state: &M::State) -> bool {
        (self.0[number].1)(state)
    }
}
