//! Questions, each with what its answer means.

use check::Goal;

use crate::answer::proof;
use crate::check::{Check, unknown};
use crate::formulas::Watched;
use crate::judge::Claimed;
use crate::model::Model;
use crate::testers::{Spec, Tester};
use crate::verdict::{Failure, Proof, Reachable, Reason, Verdict};

impl<M: Model> Check<'_, M> {
    /// Whether a proposition is true in all reachable states. A violation is shown by a shortest run. What is no name of
    /// a proposition is taken for a formula, of which `[]` is asked.
    pub fn always(&self, name: &str) -> Verdict<M> {
        match self.propositions.find(name) {
            Some(number) => self.invariant(number, true, &format!("`{name}` is not always true")),
            None => self.ltl(&format!("[] ({name})")),
        }
    }

    /// Whether a proposition is false in all reachable states. A violation is shown by a shortest run.
    pub fn never(&self, name: &str) -> Verdict<M> {
        match self.propositions.find(name) {
            Some(number) => self.invariant(number, false, &format!("`{name}` becomes true")),
            None => self.ltl(&format!("[] !({name})")),
        }
    }

    /// Whether a proposition is true in some reachable state; with a shortest run to it.
    pub fn reachable(&self, name: &str) -> Reachable<M> {
        let verdict = match self.propositions.find(name) {
            Some(number) => self.invariant(number, false, ""),
            None => {
                Verdict::Unknown(Reason::Question(unknown("proposition", name, self.propositions.names())))
            }
        };
        match verdict {
            Verdict::Violated(found) => Reachable::Yes(found.run),
            Verdict::Holds(proof) => Reachable::No(proof),
            Verdict::Panics(run) => Reachable::Panics(run),
            Verdict::Unknown(reason) => Reachable::Unknown(reason),
        }
    }

    /// Whether something can always happen. A deadlock is shown by a shortest run.
    pub fn deadlock_free(&self) -> Verdict<M> {
        self.states(Goal::Deadlock, &[], &Claimed::Deadlock, "nothing can happen any more")
    }

    /// Whether a proposition becomes true in every run that counts.
    pub fn eventually(&self, name: &str) -> Verdict<M> {
        self.ltl(&format!("<> ({name})"))
    }

    /// Whether every run that counts satisfies a formula of linear temporal logic over the propositions.
    ///
    /// A run that comes to where nothing can happen stays there for ever; so does one that comes to where only the
    /// environment can do anything, unless that does it.
    pub fn ltl(&self, formula: &str) -> Verdict<M> {
        let setup = self.setup();
        match Watched::formula(formula, &self.propositions, &setup) {
            Ok(watched) => match self.always_of(&watched) {
                Some(verdict) => verdict,
                None => self.watch(watched, &setup),
            },
            Err(reason) => Verdict::Unknown(reason),
        }
    }

    /// `[] p` is about states: a shortest run to one shows a violation, and goes on in some way that counts, whatever is
    /// fair.
    fn always_of(&self, watched: &Watched) -> Option<Verdict<M>> {
        let table =
            watched.always().filter(|_| self.wish.observer.is_none() && self.wish.search.is_none())?;
        let numbers: Vec<usize> = watched.propositions.iter().map(|(_, number)| *number).collect();
        let mut check = self.clone();
        let number = check.propositions.combine(&numbers, table);
        // Of something new, nobody knows what it reads.
        if check.footprint.is_some() && !numbers.contains(&check.propositions.origin(number)) {
            return None;
        }
        let claimed = Claimed::State(number, false);
        Some(check.states(Goal::Invariant(number), &watched.propositions, &claimed, &watched.what))
    }

    /// Whether no run that counts is accepted by an automaton, in the HOA format, over the propositions.
    pub fn claim(&self, hoa: &str) -> Verdict<M> {
        let setup = self.setup();
        match Watched::automaton(hoa, &self.propositions, &setup) {
            Ok(watched) => self.watch(watched, &setup),
            Err(reason) => Verdict::Unknown(reason),
        }
    }

    /// Whether no run that counts is called illegal by a tester, which watches actions: by their labels, if they have one
    /// that the tester knows. What the environment does is an action like others; it never rests.
    pub fn tester(
        &self,
        tester: &Tester,
        label: impl Fn(&M::Action) -> Option<String> + Send + Sync,
    ) -> Verdict<M> {
        match tester.explicit() {
            Ok(tester) => self.test(&tester, &label, &self.setup()),
            Err(reason) => Verdict::Unknown(reason),
        }
    }

    /// Whether all that can be seen of a run is what a specification can do: its traces, its stable failures and its
    /// divergences. Labels are those of [`Check::tester`].
    pub fn conforms(
        &self,
        spec: &Spec,
        label: impl Fn(&M::Action) -> Option<String> + Send + Sync,
    ) -> Verdict<M> {
        let setup = self.setup();
        match spec.tester(&mut setup.clock.budget()) {
            Ok(tester) => self.test(&tester, &label, &setup),
            Err(reason) => Verdict::Unknown(reason),
        }
    }

    /// Explores all states, and says how many there are.
    ///
    /// # Errors
    /// Not all of them could be explored.
    pub fn count(&self) -> Result<Proof, Failure<M>> {
        self.search(&[], |_, explored| proof(&explored.stats, explored.coverage))
    }
}
