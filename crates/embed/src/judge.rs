//! The second judge: it runs the model itself, on real states, and knows neither words nor searches.
//!
//! Whatever was found is a list of actions. They are taken one by one, each only if `actions` offers it; propositions
//! are asked of the states, formulas by their own semantics ([`ltl::satisfies`]), claims by membership, fairness by its
//! definition. What cannot be repeated is never shown as a violation.

use std::collections::BTreeSet;

use automata::AnyAutomaton;
use automata::illegal::{Follower, Illegal};
use base::Budget;
use ltl::{Formula, Formulas, Lasso, Prop, Valuation, satisfies};

use crate::answer::Labels;
use crate::classes::{Fair, Fairness};
use crate::footprint::Prints;
use crate::model::Model;
use crate::panics::catch;
use crate::propositions::Propositions;
use crate::run::{Because, Ending, FairTo, Names, Run, Step};
use crate::verdict::Reason;

/// What a run is said to show.
pub(crate) enum Claimed<'q, M: Model> {
    /// In its last state, a proposition has this value.
    State(usize, bool),
    /// It ends, since nothing can happen.
    Deadlock,
    /// It does not satisfy a formula.
    Formula(&'q Formulas, Formula),
    /// An automaton accepts it.
    Automaton(&'q AnyAutomaton),
    /// A tester, which sees these labels of actions, calls it illegal.
    Illegal(&'q automata::Tester, &'q Labels<'q, M>, Illegal),
}

/// A model and what is asked of it.
pub(crate) struct Judge<'a, M: Model> {
    pub(crate) model: &'a M,
    pub(crate) propositions: &'a Propositions<'a, M>,
    pub(crate) fairness: &'a [Fairness<'a, M>],
    pub(crate) interference: Option<&'a dyn Prints<M>>,
    /// Those that are asked about: what a formula calls them, and their numbers.
    pub(crate) asked: &'a [(Prop, usize)],
}

/// What a run is made of: which initial state, and which actions; none where the environment rests.
pub(crate) struct Given<A> {
    pub(crate) initial: usize,
    pub(crate) actions: Vec<Option<A>>,
    pub(crate) ending: Ending,
}

fn unfair<M: Model>(fairness: &Fairness<'_, M>) -> Reason {
    unconfirmed(format!("the run is not {} to {}", fairness.fair.adjective(), fairness.name))
}

fn unconfirmed(text: impl Into<String>) -> Reason {
    Reason::Unconfirmed(text.into())
}

impl<M: Model> Judge<'_, M> {
    /// Runs the model along some actions.
    ///
    /// # Errors
    /// It does not do that; or it panics, which is said together with the run up to there.
    pub(crate) fn repeat(&self, given: &Given<M::Action>) -> Result<Run<M>, Reason> {
        let nth = |states: Vec<M::State>| states.into_iter().nth(given.initial);
        let start = catch(|| nth(self.model.initial())).map_err(unconfirmed)?;
        let start = start.ok_or_else(|| unconfirmed("there is no such initial state"))?;
        let names = Names {
            propositions: self
                .asked
                .iter()
                .filter_map(|(_, number)| self.propositions.name(*number))
                .collect(),
            values: self.values(&start)?,
        };
        let mut run = Run { start, steps: Vec::new(), ending: given.ending, initial: given.initial, names };
        let processes = self.model.processes();
        for (index, action) in given.actions.iter().enumerate() {
            let state = run.last();
            let offered = self.offered(state)?;
            let (choice, after, by) = match action {
                None if self.may_rest(&offered) => (0, state.clone(), None),
                None => return Err(unconfirmed(format!("the environment must not rest after step {index}"))),
                Some(action) => {
                    let Some(choice) = offered.iter().position(|known| known == action) else {
                        return Err(self.not_offered(state, action, index));
                    };
                    let by = self.model.process(action).and_then(|process| processes.get(process).cloned());
                    (choice, self.after(state, action)?, by.or_else(|| self.environment(&processes)))
                }
            };
            let values = self.values(&after)?;
            run.steps.push(Step { action: action.clone(), state: after, choice, by, values });
        }
        Ok(run)
    }

    fn environment(&self, processes: &[String]) -> Option<String> {
        (!processes.is_empty()).then(|| "environment".to_owned())
    }

    /// What can happen in a state.
    pub(crate) fn offered(&self, state: &M::State) -> Result<Vec<M::Action>, Reason> {
        let list = || {
            let mut offered = Vec::new();
            self.model.actions(state, &mut offered);
            offered
        };
        catch(list).map_err(|text| unconfirmed(format!("`actions` panics: {text}")))
    }

    pub(crate) fn after(&self, state: &M::State, action: &M::Action) -> Result<M::State, Reason> {
        let mut after = state.clone();
        catch(|| self.model.step(&mut after, action))
            .map_err(|text| unconfirmed(format!("{action:?} panics: {text}")))?;
        Ok(after)
    }

    fn values(&self, state: &M::State) -> Result<Vec<bool>, Reason> {
        let value = |(_, number): &(Prop, usize)| self.propositions.holds(*number, state);
        catch(|| self.asked.iter().map(value).collect()).map_err(unconfirmed)
    }

    /// Whether only the environment can do anything.
    pub(crate) fn may_rest(&self, offered: &[M::Action]) -> bool {
        let n_processes = self.model.processes().len();
        let of_process = |action: &M::Action| self.model.process(action).is_some_and(|who| who < n_processes);
        n_processes > 0 && !offered.is_empty() && !offered.iter().any(of_process)
    }

    fn not_offered(&self, state: &M::State, action: &M::Action, index: usize) -> Reason {
        match (self.offered(state), self.offered(state)) {
            (Ok(one), Ok(other)) if one != other => Reason::Nondeterministic(format!(
                "in the state {state:?}, `actions` gives {one:?} and {other:?}"
            )),
            _ => unconfirmed(format!("{action:?} cannot happen after step {index}, in the state {state:?}")),
        }
    }

    /// Whether a run shows what it is said to show, and why it is fair.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn judge(&self, run: &Run<M>, claimed: &Claimed<'_, M>) -> Result<Vec<FairTo>, Reason> {
        match claimed {
            Claimed::State(number, value) => {
                let found = catch(|| self.propositions.holds(*number, run.last())).map_err(unconfirmed)?;
                if found != *value {
                    return Err(unconfirmed("the proposition has another value in the last state"));
                }
                Ok(Vec::new())
            }
            Claimed::Deadlock => self.ends(run).map(|()| Vec::new()),
            Claimed::Formula(..) | Claimed::Automaton(_) => {
                self.judge_word(run, claimed)?;
                self.judge_fairness(run)
            }
            Claimed::Illegal(tester, label, illegal) => {
                self.judge_illegal(run, tester, *label, *illegal)?;
                // Runs that end are fair.
                if run.cycle().is_some() { self.judge_fairness(run) } else { Ok(Vec::new()) }
            }
        }
    }

    fn ends(&self, run: &Run<M>) -> Result<(), Reason> {
        match self.offered(run.last())?.is_empty() {
            true => Ok(()),
            false => Err(unconfirmed("something can happen in the last state")),
        }
    }

    /// Judges the valuations of the run's states.
    fn judge_word(&self, run: &Run<M>, claimed: &Claimed<'_, M>) -> Result<(), Reason> {
        let letter = |values: &Vec<bool>| -> Valuation {
            self.asked.iter().zip(values).filter(|(_, value)| **value).map(|((prop, _), _)| *prop).collect()
        };
        let mut letters = vec![letter(&run.names.values)];
        letters.extend(run.steps.iter().map(|step| letter(&step.values)));
        let is_bad = |word: &Lasso| match claimed {
            Claimed::Formula(formulas, formula) => Ok(!satisfies(formulas, *formula, word)),
            Claimed::Automaton(automaton) => Ok(automaton.accepts(word, &mut Budget::unlimited())?),
            Claimed::State(..) | Claimed::Deadlock | Claimed::Illegal(..) => Ok(false),
        };
        let found = match run.ending {
            Ending::Cycle(start) if start < run.steps.len() => {
                if run.state(start) != run.last() {
                    return Err(unconfirmed("the cycle does not close"));
                }
                // Its last state is its first one.
                letters.pop();
                let cycle = letters.split_off(start);
                Lasso::new(letters, cycle).map_or(Ok(false), |word| is_bad(&word))
            }
            Ending::Cycle(_) | Ending::Deadlock => {
                self.ends(run)?;
                match claimed {
                    Claimed::Automaton(automaton) if run.ending == Ending::Deadlock => {
                        Ok(automaton.accepts_finite(&letters, &mut Budget::unlimited())?)
                    }
                    _ => {
                        let cycle = letters.split_off(letters.len() - 1);
                        Lasso::new(letters, cycle).map_or(Ok(false), |word| is_bad(&word))
                    }
                }
            }
            // It cannot be tried with everything that might follow, only with some of it.
            Ending::Open | Ending::Refusal => {
                let last = letters.last().cloned().unwrap_or_default();
                let everything: Valuation = self.asked.iter().map(|(prop, _)| *prop).collect();
                let mut tried = [last, Valuation::new(), everything].into_iter();
                tried.try_fold(true, |all, cycle| {
                    Ok(all && is_bad(&Lasso::with_cycle(letters.clone(), cycle, []))?)
                })
            }
        };
        match found {
            Ok(true) => Ok(()),
            Ok(false) => Err(unconfirmed("the run is not what was asked for")),
            Err(limit) => Err(Reason::Limit(limit)),
        }
    }

    /// Why the cycle is fair to each who must be treated so, by the definitions. A run that ends is fair.
    fn judge_fairness(&self, run: &Run<M>) -> Result<Vec<FairTo>, Reason> {
        let start = run.cycle().unwrap_or(run.steps.len());
        // The states of the cycle, each with what can happen there.
        let states = (start.min(run.steps.len().saturating_sub(1))..run.steps.len().max(1)).map(|at| {
            let at = if start == run.steps.len() { start } else { at };
            Ok((at, self.offered(run.state(at))?))
        });
        let states: Vec<(usize, Vec<M::Action>)> = states.collect::<Result<_, Reason>>()?;
        let fair_to = |fairness: &Fairness<'_, M>| {
            let is_about = |action: &M::Action| fairness.is_about(self.model, action);
            let is_taken = |step: &Step<M>| step.action.as_ref().is_some_and(is_about);
            let taken = (start..run.steps.len()).find(|&at| is_taken(&run.steps[at]));
            let disabled = states.iter().find(|(_, offered)| !offered.iter().any(is_about));
            let is_ever_enabled = states.iter().any(|(_, offered)| offered.iter().any(is_about));
            let because = match (taken, disabled) {
                _ if fairness.fair == Fair::Just => self.just(run, start, &states, fairness)?,
                (Some(at), _) => Because::Taken(at + 1),
                _ if !is_ever_enabled => Because::NeverEnabled,
                (None, Some((at, _))) if fairness.fair == Fair::Weak => Because::Disabled(*at),
                _ => {
                    return Err(unfair(fairness));
                }
            };
            Ok(FairTo { name: fairness.name.clone(), fair: fairness.fair, because })
        };
        self.fairness.iter().map(fair_to).collect()
    }

    /// Why the cycle is just: each action that can happen in all of its states is interfered with.
    fn just(
        &self,
        run: &Run<M>,
        start: usize,
        states: &[(usize, Vec<M::Action>)],
        fairness: &Fairness<'_, M>,
    ) -> Result<Because, Reason> {
        let prints = self.interference.ok_or_else(|| unconfirmed("nobody knows what interferes"))?;
        let is_about = |action: &&M::Action| fairness.is_about(self.model, action);
        let mut because = Because::NeverEnabled;
        for (at, offered) in states {
            let goes_away = |action: &M::Action| states.iter().any(|(_, offered)| !offered.contains(action));
            if offered.iter().filter(is_about).any(goes_away) {
                because = Because::Disabled(*at);
            }
        }
        // What can happen all the time can happen in the first state.
        for action in states.first().into_iter().flat_map(|(_, offered)| offered).filter(is_about) {
            if !states.iter().all(|(_, offered)| offered.contains(action)) {
                continue;
            }
            let needs = (self.model.process(action), prints.touched(self.model, action));
            let interferes = |step: &Step<M>| {
                step.action.as_ref().is_some_and(|other| {
                    let is_same = self.model.process(other) == needs.0;
                    is_same || prints.touched(self.model, other).disturbs(&needs.1)
                })
            };
            let step = (start..run.steps.len()).find(|&at| interferes(&run.steps[at]));
            because = Because::Interfered(step.ok_or_else(|| unfair(fairness))? + 1);
        }
        Ok(because)
    }

    /// Whether a tester calls a run illegal.
    fn judge_illegal(
        &self,
        run: &Run<M>,
        tester: &automata::Tester,
        label: &Labels<'_, M>,
        illegal: Illegal,
    ) -> Result<(), Reason> {
        let budget = &mut Budget::unlimited();
        let letter = |action: &M::Action| {
            let label = catch(|| label(action)).ok().flatten()?;
            tester.letters.iter().position(|letter| *letter == label).map(|letter| letter as u32)
        };
        let letters: Vec<Option<u32>> =
            run.steps.iter().map(|step| step.action.as_ref().and_then(letter)).collect();
        let start = run.cycle().unwrap_or(letters.len());
        let (before, cycle) = letters.split_at(start);
        if run.cycle().is_some() && (cycle.is_empty() || run.state(start) != run.last()) {
            return Err(unconfirmed("the cycle does not close"));
        }
        let mut follower = Follower::new(tester, budget)?;
        before.iter().try_for_each(|letter| follower.follow(*letter, budget))?;
        let is_illegal = match illegal {
            Illegal::IllegalTrace => follower.rejects(),
            Illegal::StableFailure => {
                let offered = self.offered(run.last())?;
                let offered: Option<BTreeSet<u32>> = offered.iter().map(letter).collect();
                offered.is_some_and(|offered| follower.refuses(&offered))
            }
            Illegal::Divergence => !cycle.is_empty() && follower.diverges(cycle),
            Illegal::InfiniteTrace => !cycle.is_empty() && follower.leaves_for_ever(cycle, budget)?,
        };
        if is_illegal { Ok(()) } else { Err(unconfirmed("the tester does not call the run illegal")) }
    }

    /// How the model panics at the end of a run: while it takes this action, or while it is asked.
    pub(crate) fn panic_after(&self, run: &Run<M>, action: Option<&M::Action>) -> Option<String> {
        let state = run.last();
        let of_step = |action: &M::Action| {
            let text = catch(|| self.model.step(&mut state.clone(), action)).err()?;
            Some(format!("{action:?} panics after this run: {text}"))
        };
        if let Some(action) = action {
            return of_step(action);
        }
        let list = || {
            let mut offered = Vec::new();
            self.model.actions(state, &mut offered);
            offered
        };
        let watch =
            || (0..self.propositions.len()).for_each(|number| _ = self.propositions.holds(number, state));
        match (catch(list), catch(watch)) {
            (Err(text), _) => Some(format!("`actions` panics after this run: {text}")),
            (_, Err(text)) => Some(format!("a proposition panics after this run: {text}")),
            (Ok(offered), Ok(())) => offered.iter().find_map(of_step),
        }
    }
}
