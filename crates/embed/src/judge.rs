//! The second judge: it runs the model itself, on real states, and knows neither words nor searches.
//!
//! Whatever was found is a list of actions. They are taken one by one, each only if `actions` offers it; propositions
//! are asked of the states, formulas by their own semantics ([`ltl::satisfies`]), claims by membership, fairness by its
//! definition. What cannot be repeated is never shown as a violation.

use automata::AnyAutomaton;
use base::Budget;
use ltl::{Formula, Formulas, Lasso, Prop, Valuation, satisfies};

use crate::classes::{Fair, Fairness};
use crate::model::Model;
use crate::panics::catch;
use crate::propositions::Propositions;
use crate::run::{Because, Ending, FairTo, Names, Run, Step};
use crate::verdict::Reason;

/// What a run is said to show.
pub(crate) enum Claimed<'q> {
    /// In its last state, a proposition has this value.
    State(usize, bool),
    /// It ends, since nothing can happen.
    Deadlock,
    /// It does not satisfy a formula.
    Formula(&'q Formulas, Formula),
    /// An automaton accepts it.
    Automaton(&'q AnyAutomaton),
}

/// A model and what is asked of it.
pub(crate) struct Judge<'a, M: Model> {
    pub(crate) model: &'a M,
    pub(crate) propositions: &'a Propositions<'a, M>,
    pub(crate) fairness: &'a [Fairness<'a, M>],
    /// Those that are asked about: what a formula calls them, and their numbers.
    pub(crate) asked: &'a [(Prop, usize)],
}

/// What a run is made of: which initial state, and which actions; none where the environment rests.
pub(crate) struct Given<A> {
    pub(crate) initial: usize,
    pub(crate) actions: Vec<Option<A>>,
    pub(crate) ending: Ending,
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
    pub(crate) fn judge(&self, run: &Run<M>, claimed: &Claimed<'_>) -> Result<Vec<FairTo>, Reason> {
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
        }
    }

    fn ends(&self, run: &Run<M>) -> Result<(), Reason> {
        match self.offered(run.last())?.is_empty() {
            true => Ok(()),
            false => Err(unconfirmed("something can happen in the last state")),
        }
    }

    /// Judges the valuations of the run's states.
    fn judge_word(&self, run: &Run<M>, claimed: &Claimed<'_>) -> Result<(), Reason> {
        let letter = |values: &Vec<bool>| -> Valuation {
            self.asked.iter().zip(values).filter(|(_, value)| **value).map(|((prop, _), _)| *prop).collect()
        };
        let mut letters = vec![letter(&run.names.values)];
        letters.extend(run.steps.iter().map(|step| letter(&step.values)));
        let is_bad = |word: &Lasso| match claimed {
            Claimed::Formula(formulas, formula) => Ok(!satisfies(formulas, *formula, word)),
            Claimed::Automaton(automaton) => Ok(automaton.accepts(word, &mut Budget::unlimited())?),
            Claimed::State(..) | Claimed::Deadlock => Ok(false),
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
            Ending::Open => {
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
                (Some(at), _) => Because::Taken(at + 1),
                _ if !is_ever_enabled => Because::NeverEnabled,
                (None, Some((at, _))) if fairness.fair == Fair::Weak => Because::Disabled(*at),
                _ => {
                    let (adverb, name) = (fairness.fair.adverb(), &fairness.name);
                    return Err(unconfirmed(format!("the run is not {adverb} fair to {name}")));
                }
            };
            Ok(FairTo { name: fairness.name.clone(), fair: fairness.fair, because })
        };
        self.fairness.iter().map(fair_to).collect()
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
