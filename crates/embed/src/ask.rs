//! Questions, and how they are answered: a search over words finds a run, the judge repeats it on real states.

use check::method::{ObserverKind, StoreKind};
use check::{Exploration, Goal, Stop};
use model::{Run as Found, StepError};

use crate::check::{Check, unknown};
use crate::classes::{Classes, Letters};
use crate::formulas::Watched;
use crate::judge::{Claimed, Given, Judge};
use crate::model::Model;
use crate::opaque::{Recall, Trouble};
use crate::run::{Counterexample, Ending};
use crate::searches;
use crate::verdict::{Failure, Proof, Reachable, Reason, Verdict};

/// Why an attempt ends without an answer.
pub(crate) enum Stopped<M: Model> {
    /// Classes of actions turned up that were not known, or states need more room: once more.
    Again(Vec<crate::classes::Class>),
    Failed(Failure<M>),
}

impl<M: Model> From<Reason> for Stopped<M> {
    fn from(reason: Reason) -> Self {
        Stopped::Failed(Failure::Unknown(reason))
    }
}

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
        match Watched::formula(formula, &self.propositions, &self.setup()) {
            Ok(watched) => self.watch(watched),
            Err(reason) => Verdict::Unknown(reason),
        }
    }

    /// Whether no run that counts is accepted by an automaton, in the HOA format, over the propositions.
    pub fn claim(&self, hoa: &str) -> Verdict<M> {
        match Watched::automaton(hoa, &self.propositions, &self.setup()) {
            Ok(watched) => self.watch(watched),
            Err(reason) => Verdict::Unknown(reason),
        }
    }

    /// Explores all states, and says how many there are.
    ///
    /// # Errors
    /// Not all of them could be explored.
    pub fn count(&self) -> Result<Proof, Failure<M>> {
        self.explore(&[], |_, explored| Ok(proof(explored)))
    }
}

/// How questions are answered.
impl<M: Model> Check<'_, M> {
    pub(crate) fn judge<'a>(&'a self, asked: &'a [(ltl::Prop, usize)]) -> Judge<'a, M> {
        Judge { model: self.model, propositions: &self.propositions, fairness: &self.fairness, asked }
    }

    /// The model as a program, if it can say where it begins, and nothing is wrong with the question.
    pub(crate) fn begin<'a>(
        &'a self,
        classes: &'a Classes<'a, M>,
        rests: bool,
    ) -> Result<Box<dyn Recall<M> + 'a>, Reason> {
        if let Some(mistake) = self.mistakes.first() {
            return Err(Reason::Question(mistake.clone()));
        }
        if self.symmetry.is_some() && self.footprint.is_some() {
            return Err(Reason::Refused("`symmetric` and `reduced` are not supported together".to_owned()));
        }
        if self.symmetry.as_ref().is_some_and(|symmetry| symmetry.all().is_none() && !symmetry.is_trusted) {
            let why = "there are too many permutations to test them all: `verify_symmetry` once, then `trusting_symmetry`";
            return Err(Reason::Refused(why.to_owned()));
        }
        let program = self.program(classes, rests);
        program.begins()?;
        Ok(program)
    }

    /// Whether a proposition has this value in all states.
    fn invariant(&self, number: usize, value: bool, what: &str) -> Verdict<M> {
        let asked = [(ltl::Formulas::new().proposition("asked"), number)];
        let claimed = Claimed::State(number, !value);
        if value {
            return self.states(Goal::Invariant(number), &asked, &claimed, what);
        }
        // Searches look for where something is false.
        let mut negated = self.clone();
        let negation = negated.propositions.negate(number);
        negated.states(Goal::Invariant(negation), &asked, &claimed, what)
    }

    /// Whether no state violates a goal.
    fn states(
        &self,
        goal: Goal,
        asked: &[(ltl::Prop, usize)],
        claimed: &Claimed<'_>,
        what: &str,
    ) -> Verdict<M> {
        let judge = self.judge(asked);
        let answered = self.explore(&[goal], |program, explored| {
            if let Some(found) = &explored.violations[0] {
                let ending = if goal == Goal::Deadlock { Ending::Deadlock } else { Ending::Open };
                let run = judge.repeat(&self.given(&judge, program, found, ending)?)?;
                judge.judge(&run, claimed)?;
                let (what, fairness) = (what.to_owned(), Vec::new());
                return Err(Stopped::Failed(Failure::Violated(Counterexample { run, what, fairness })));
            }
            if let Some((error, run)) = &explored.faults[0] {
                return Err(self.faulty(program, error, run));
            }
            match explored.coverage {
                Some(coverage) => Err(Reason::NotAllSeen(coverage).into()),
                None => Ok(proof(explored)),
            }
        });
        verdict(answered)
    }

    /// Explores states, again until they have room, and looks at what was found.
    fn explore<T>(
        &self,
        goals: &[Goal],
        answer: impl Fn(&dyn Recall<M>, &Exploration) -> Result<T, Stopped<M>>,
    ) -> Result<T, Failure<M>> {
        loop {
            match self.explore_once(goals, &answer) {
                Ok(answer) => return Ok(answer),
                Err(Stopped::Failed(failure)) => return Err(failure),
                Err(Stopped::Again(classes)) if classes.is_empty() => {}
                Err(Stopped::Again(_)) => {
                    let text = "an action changed its class".to_owned();
                    return Err(Failure::Unknown(Reason::Unconfirmed(text)));
                }
            }
        }
    }

    fn explore_once<T>(
        &self,
        goals: &[Goal],
        answer: impl Fn(&dyn Recall<M>, &Exploration) -> Result<T, Stopped<M>>,
    ) -> Result<T, Stopped<M>> {
        // Classes of actions do not matter here.
        let classes = Classes::new(self.model.processes().len(), &[], None);
        let program = self.begin(&classes, false)?;
        let explored = searches::states(program.as_program(), goals, &self.setup());
        match &explored.stop {
            Some(Stop::Fault(error, run)) => Err(self.faulty(&*program, error, run)),
            Some(Stop::Limit(limit)) if explored.violations.iter().all(Option::is_none) => {
                Err(Reason::Limit(*limit).into())
            }
            _ => answer(&*program, &explored),
        }
    }

    /// Looks for a run that what is watched accepts, again until all classes of actions are known.
    fn watch(&self, mut watched: Watched) -> Verdict<M> {
        self.in_classes(None, |classes| self.watch_once(&mut watched, classes))
    }

    /// Asks until all classes of actions are known.
    pub(crate) fn in_classes(
        &self,
        letters: Option<Letters<'_, M>>,
        mut ask: impl FnMut(&Classes<'_, M>) -> Result<Proof, Stopped<M>>,
    ) -> Verdict<M> {
        let mut classes = Classes::new(self.model.processes().len(), &self.fairness, letters);
        crate::panics::prepare();
        classes.look_around(self.model);
        loop {
            match ask(&classes) {
                Ok(proof) => return Verdict::Holds(proof),
                Err(Stopped::Failed(failure)) => return verdict(Err(failure)),
                Err(Stopped::Again(more)) => more.into_iter().for_each(|class| classes.add(class)),
            }
        }
    }

    fn watch_once(&self, watched: &mut Watched, classes: &Classes<'_, M>) -> Result<Proof, Stopped<M>> {
        if self.symmetry.is_some() && !self.fairness.is_empty() {
            let why = "where equal actors are not told apart, nobody knows who is treated fairly: ask without `symmetric`";
            return Err(Reason::Refused(why.to_owned()).into());
        }
        let program = self.begin(classes, true)?;
        let constraints = classes.constraints();
        let mut wish = self.wish;
        wish.fair = constraints.iter().any(|constraint| !constraint.actions.is_empty());
        // Nothing is known of which actions change what: who looks at changes must look at all targets.
        if wish.is_open() && wish.store == StoreKind::Exact {
            wish.observer = Some(ObserverKind::Tgba);
        }
        let found =
            searches::runs(program.as_program(), &mut watched.claim, &wish, &constraints, &self.setup());
        let (run, ending) = match found.map_err(|why| Reason::Refused(why.to_string()))? {
            searches::Found::Run(run, ending) => (run, ending),
            searches::Found::Limit(limit) => return Err(Reason::Limit(limit).into()),
            searches::Found::Fault(error, run) => return Err(self.faulty(&*program, &error, &run)),
            searches::Found::Lost => {
                // A run that was found is looked for once more, in more states than were met before.
                let troubles = program.troubles();
                let again = |trouble: &Trouble| matches!(trouble, Trouble::NewClass(_) | Trouble::Outgrown);
                if troubles.iter().any(again) {
                    let class =
                        |trouble| if let Trouble::NewClass(class) = trouble { Some(class) } else { None };
                    return Err(Stopped::Again(troubles.into_iter().filter_map(class).collect()));
                }
                return Err(Reason::Unconfirmed("the run was lost".to_owned()).into());
            }
            searches::Found::Nothing(decision) => {
                return match decision.outcome.coverage {
                    Some(coverage) => Err(Reason::NotAllSeen(coverage).into()),
                    None => Ok(Proof::of(&decision.outcome.stats)),
                };
            }
        };
        let judge = self.judge(&watched.propositions);
        let run = judge.repeat(&self.given(&judge, &*program, &run, ending)?)?;
        let fairness = judge.judge(&run, &watched.claimed())?;
        Err(Stopped::Failed(Failure::Violated(Counterexample { run, what: watched.what.clone(), fairness })))
    }

    /// The actions of a run that was found.
    pub(crate) fn given(
        &self,
        judge: &Judge<'_, M>,
        program: &dyn Recall<M>,
        run: &Found,
        ending: Ending,
    ) -> Result<Given<M::Action>, Reason> {
        let actions = run.actions.iter().map(|&step| program.action(step)).collect();
        let given = Given { initial: run.initial, actions, ending };
        match &self.symmetry {
            Some(symmetry) if program.is_symmetric() => symmetry.unfold(judge, &given),
            _ => Ok(given),
        }
    }

    /// What it means that a search ended with an error.
    pub(crate) fn faulty(&self, program: &dyn Recall<M>, error: &StepError, run: &Found) -> Stopped<M> {
        let judge = self.judge(&[]);
        let again = || judge.repeat(&self.given(&judge, program, run, Ending::Open)?);
        match program.trouble(error) {
            Some(Trouble::NewClass(class)) => Stopped::Again(vec![class]),
            Some(Trouble::Outgrown) => Stopped::Again(Vec::new()),
            Some(Trouble::Panic(text)) => {
                // Under symmetry it is known only up to a permutation what panics.
                let action = error.action.filter(|_| self.symmetry.is_none());
                let action = action.and_then(|step| program.action(step));
                match again() {
                    Ok(run) => match judge.panic_after(&run, action.as_ref()) {
                        Some(what) => Stopped::Failed(Failure::Panics(Counterexample {
                            run,
                            what,
                            fairness: Vec::new(),
                        })),
                        None => {
                            let text = format!("a panic does not happen again: {text}");
                            Reason::Nondeterministic(text).into()
                        }
                    },
                    Err(reason) => reason.into(),
                }
            }
            Some(Trouble::Unencodable(text)) => match again() {
                Ok(run) => Reason::OutOfRange(format!("{text}, after this run:\n{run}")).into(),
                Err(reason) => reason.into(),
            },
            Some(Trouble::Nondeterministic(text)) => Reason::Nondeterministic(text).into(),
            Some(Trouble::Asymmetric(text)) => {
                Reason::Refused(format!("actors are said to be equal that are not: {text}")).into()
            }
            Some(Trouble::TooManyActions) => {
                Reason::Refused("there are more than four billion different actions".to_owned()).into()
            }
            None => Reason::Unconfirmed(error.to_string()).into(),
        }
    }
}

fn proof(explored: &Exploration) -> Proof {
    Proof::of(&explored.stats)
}

pub(crate) fn verdict<M: Model>(answered: Result<Proof, Failure<M>>) -> Verdict<M> {
    match answered {
        Ok(proof) => Verdict::Holds(proof),
        Err(Failure::Violated(run)) => Verdict::Violated(run),
        Err(Failure::Panics(run)) => Verdict::Panics(run),
        Err(Failure::Unknown(reason)) => Verdict::Unknown(reason),
    }
}
