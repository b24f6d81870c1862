//! How questions are answered: a search over words finds a run, the judge repeats it on real states.

use automata::illegal::Illegal;
use check::decide::TesterClaim;
use check::method::{FairnessBy, ObserverKind, ReductionWish, StoreKind};
use check::search::Violation;
use check::{Coverage, Exploration, Goal, Stats, Stop, reduction};
use model::{LabelId, Run as Found, StepError};

use crate::check::Check;
use crate::classes::{Aspects, Class, Classes, Fair, Letters, Whom};
use crate::formulas::Watched;
use crate::judge::{Claimed, Given, Judge};
use crate::model::Model;
use crate::opaque::Recall;
use crate::run::{Counterexample, Ending};
use crate::searches::{self, Setup};
use crate::trouble::Trouble;
use crate::verdict::{Failure, Proof, Reason, Verdict};

/// Why an attempt ends without an answer.
pub(crate) enum Stopped<M: Model> {
    /// Classes of actions turned up that were not known, or states need more room: once more.
    Again(Vec<Class>),
    Failed(Failure<M>),
}

impl<M: Model> From<Reason> for Stopped<M> {
    fn from(reason: Reason) -> Self {
        Stopped::Failed(Failure::Unknown(reason))
    }
}

/// What testers see of an action.
pub(crate) type Labels<'a, M> = dyn Fn(&<M as Model>::Action) -> Option<String> + Send + Sync + 'a;

impl<M: Model> Check<'_, M> {
    pub(crate) fn judge<'a>(&'a self, asked: &'a [(ltl::Prop, usize)]) -> Judge<'a, M> {
        Judge {
            model: self.model,
            propositions: &self.propositions,
            fairness: &self.fairness,
            interference: self.interference.as_deref(),
            asked,
        }
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
        if self.interference.is_none() && self.fairness.iter().any(|known| known.fair == Fair::Just) {
            let why =
                "who is treated justly depends on what interferes with what: ask by `just` or `just_to`";
            return Err(Reason::Question(why.to_owned()));
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
    pub(crate) fn invariant(&self, number: usize, value: bool, what: &str) -> Verdict<M> {
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
    pub(crate) fn states(
        &self,
        goal: Goal,
        asked: &[(ltl::Prop, usize)],
        claimed: &Claimed<'_, M>,
        what: &str,
    ) -> Verdict<M> {
        let judge = self.judge(asked);
        let answered = self.search(&[goal], |program, explored| {
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
            let unreduced = self.unreduced(program, asked);
            Ok(Proof { unreduced, ..proof(&explored.stats, explored.coverage)? })
        });
        verdict(answered)
    }

    /// Explores states, again until they have room, and looks at what was found.
    pub(crate) fn search<T>(
        &self,
        goals: &[Goal],
        answer: impl Fn(&dyn Recall<M>, &Exploration) -> Result<T, Stopped<M>>,
    ) -> Result<T, Failure<M>> {
        let setup = self.setup();
        loop {
            match self.search_once(goals, &answer, &setup) {
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

    fn search_once<T>(
        &self,
        goals: &[Goal],
        answer: impl Fn(&dyn Recall<M>, &Exploration) -> Result<T, Stopped<M>>,
        setup: &Setup<'_>,
    ) -> Result<T, Stopped<M>> {
        let classes = Classes::plain(self.model.processes().len());
        let program = self.begin(&classes, false)?;
        let explored = searches::states(program.as_program(), goals, setup);
        match &explored.stop {
            Some(Stop::Fault(error, run)) => Err(self.faulty(&*program, error, run)),
            Some(Stop::Limit(limit)) if explored.violations.iter().all(Option::is_none) => {
                Err(Reason::Limit(*limit).into())
            }
            _ => answer(&*program, &explored),
        }
    }

    /// Looks for a run that what is watched accepts.
    pub(crate) fn watch(&self, mut watched: Watched, setup: &Setup<'_>) -> Verdict<M> {
        self.in_classes(None, |classes| self.watch_once(&mut watched, classes, setup))
    }

    /// Looks for a run that a tester calls illegal.
    pub(crate) fn test(
        &self,
        tester: &automata::Tester,
        label: &Labels<'_, M>,
        setup: &Setup<'_>,
    ) -> Verdict<M> {
        let letters = Letters { tester, label };
        self.in_classes(Some(letters), |classes| self.test_once(tester, label, classes, setup))
    }

    /// Asks until all classes of actions are known.
    fn in_classes(
        &self,
        letters: Option<Letters<'_, M>>,
        mut ask: impl FnMut(&Classes<'_, M>) -> Result<Proof, Stopped<M>>,
    ) -> Verdict<M> {
        let aspects = Aspects { fairness: &self.fairness, letters, prints: self.interference.as_deref() };
        let mut classes = Classes::new(self.model.processes().len(), aspects);
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

    fn watch_once(
        &self,
        watched: &mut Watched,
        classes: &Classes<'_, M>,
        setup: &Setup<'_>,
    ) -> Result<Proof, Stopped<M>> {
        self.refuse_fair_symmetry()?;
        let program = self.begin(classes, true)?;
        let constraints = classes.constraints();
        let mut wish = self.wish;
        wish.fair = constraints.iter().any(|constraint| !constraint.actions.is_empty());
        let unreduced = self.unreduced_runs(&*program, watched);
        let is_open = (wish.observer, wish.search, wish.fairness_by) == (None, None, FairnessBy::Search);
        if is_open && wish.store == StoreKind::Exact && watched.claim.written().is_none() {
            // Nothing is known of which actions change what: who looks at changes must look at all targets.
            wish.observer = Some(ObserverKind::Tgba);
            if self.footprint.is_some() && unreduced.is_none() {
                use reduction::Method::{Fair, Repaired};
                wish.reduction = ReductionWish::Fixed(if wish.fair { Fair } else { Repaired });
            }
        }
        let found = searches::runs(program.as_program(), &mut watched.claim, &wish, &constraints, setup);
        let found = found.map_err(|why| Reason::Refused(why.to_string()))?;
        let (run, ending, _) = match self.found(&*program, found)? {
            Ok(proof) => return Ok(Proof { unreduced, ..proof }),
            Err(run) => run,
        };
        let judge = self.judge(&watched.propositions);
        let run = judge.repeat(&self.given(&judge, &*program, &run, ending)?)?;
        let fairness = judge.judge(&run, &watched.claimed())?;
        Err(Stopped::Failed(Failure::Violated(Counterexample { run, what: watched.what.clone(), fairness })))
    }

    fn test_once(
        &self,
        tester: &automata::Tester,
        label: &Labels<'_, M>,
        classes: &Classes<'_, M>,
        setup: &Setup<'_>,
    ) -> Result<Proof, Stopped<M>> {
        if self.symmetry.is_some() {
            let why = "testers tell actions apart, so actors are not equal to them: ask without `symmetric`";
            return Err(Reason::Refused(why.to_owned()).into());
        }
        let program = self.begin(classes, false)?;
        let constraints = classes.constraints();
        let labels: Vec<LabelId> = (0..tester.letters.len()).map(LabelId::new).collect();
        let claim = TesterClaim::new(tester, &labels);
        let mut wish = self.wish;
        wish.fair = constraints.iter().any(|constraint| !constraint.actions.is_empty());
        let found = searches::illegal_runs(program.as_program(), &claim, &wish, &constraints, setup);
        let found = found.map_err(|why| Reason::Refused(why.to_string()))?;
        let (run, ending, violation) = match self.found(&*program, found)? {
            Ok(proof) => return Ok(proof),
            Err(run) => run,
        };
        let (illegal, what) = match violation {
            Violation::AtOnce => (Illegal::IllegalTrace, "the tester rejects what happens"),
            Violation::Deadlock => (Illegal::StableFailure, "nothing happens that the tester waits for"),
            Violation::Livelock => {
                (Illegal::Divergence, "it goes on for ever, and the tester sees nothing of it")
            }
            Violation::Cycle => (Illegal::InfiniteTrace, "the tester rejects what happens again and again"),
        };
        let judge = self.judge(&[]);
        let run = judge.repeat(&self.given(&judge, &*program, &run, ending)?)?;
        let fairness = judge.judge(&run, &Claimed::Illegal(tester, label, illegal))?;
        Err(Stopped::Failed(Failure::Violated(Counterexample { run, what: what.to_owned(), fairness })))
    }

    /// Why all interleavings are explored, though some were to be left out: what is watched says too little.
    fn unreduced(&self, program: &dyn Recall<M>, watched: &[(ltl::Prop, usize)]) -> Option<String> {
        let footprint = self.footprint.as_ref()?;
        let unknown = watched.iter().find(|(_, number)| !footprint.knows(&[*number]));
        match (program.unreduced(), unknown) {
            (Some(why), _) => Some(why.to_owned()),
            (None, Some((_, number))) => {
                let name = self.propositions.name(*number).unwrap_or_default();
                Some(format!("`reduced` was not told what `{name}` reads"))
            }
            (None, None) => None,
        }
    }

    /// The same for infinite runs.
    fn unreduced_runs(&self, program: &dyn Recall<M>, watched: &Watched) -> Option<String> {
        self.footprint.as_ref()?;
        let anybodys = self.fairness.iter().find(|known| matches!(known.whom, Whom::Actions(_)));
        self.unreduced(program, &watched.propositions).or_else(|| match (anybodys, watched.claim.proof()) {
            (Some(known), _) => Some(format!("`{}` may be about anybody's actions", known.name)),
            (None, None) => Some("the property may see stuttering".to_owned()),
            (None, Some(_)) => None,
        })
    }

    fn refuse_fair_symmetry(&self) -> Result<(), Reason> {
        if self.symmetry.is_some() && !self.fairness.is_empty() {
            let why = "where equal actors are not told apart, nobody knows who is treated fairly: ask without `symmetric`";
            return Err(Reason::Refused(why.to_owned()));
        }
        Ok(())
    }

    /// The run that was found, or what it means that there is none.
    #[allow(clippy::type_complexity)] // It is taken apart at once.
    fn found(
        &self,
        program: &dyn Recall<M>,
        found: searches::Found,
    ) -> Result<Result<Proof, (Found, Ending, Violation)>, Stopped<M>> {
        match found {
            searches::Found::Run(run, ending, violation) => Ok(Err((run, ending, violation))),
            searches::Found::Limit(limit) => Err(Reason::Limit(limit).into()),
            searches::Found::Fault(error, run) => Err(self.faulty(program, &error, &run)),
            searches::Found::Nothing(decision) => {
                proof(&decision.outcome.stats, decision.outcome.coverage).map(Ok)
            }
            searches::Found::Lost => {
                // A run that was found is looked for once more, in more states than were met before.
                let again = |trouble: &Trouble| matches!(trouble, Trouble::NewClass(_) | Trouble::Outgrown);
                if program.troubles().all().iter().any(again) {
                    return Err(Stopped::Again(new_classes(program)));
                }
                Err(Reason::Unconfirmed("the run was lost".to_owned()).into())
            }
        }
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
        match program.troubles().of(error) {
            Some(Trouble::NewClass(_)) => Stopped::Again(new_classes(program)),
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

/// The classes that were met and not known.
fn new_classes<M: Model>(program: &dyn Recall<M>) -> Vec<Class> {
    let class = |trouble| if let Trouble::NewClass(class) = trouble { Some(class) } else { None };
    program.troubles().all().into_iter().filter_map(class).collect()
}

/// What is known where nothing was found: not much, if states may well have been missed.
pub(crate) fn proof<M: Model>(stats: &Stats, coverage: Option<Coverage>) -> Result<Proof, Stopped<M>> {
    match coverage {
        Some(coverage) if coverage.missed > Proof::MAX_MISSED => Err(Reason::NotAllSeen(coverage).into()),
        coverage => Ok(Proof { missed: coverage.map(|coverage| coverage.missed), ..Proof::of(stats) }),
    }
}

pub(crate) fn verdict<M: Model>(answered: Result<Proof, Failure<M>>) -> Verdict<M> {
    match answered {
        Ok(proof) => Verdict::Holds(proof),
        Err(Failure::Violated(run)) => Verdict::Violated(run),
        Err(Failure::Panics(run)) => Verdict::Panics(run),
        Err(Failure::Unknown(reason)) => Verdict::Unknown(reason),
    }
}
