//! A walk through a model by hand: where a path leads, what can happen there, at random until something is so, and the
//! shortest way to a state that is looked for.
//!
//! A path is told by what everybody sees of its steps, not by numbers of actions: those change where a model turns out
//! to be too small and is made larger. So whoever walks keeps nothing but the path, and may come back with it at any
//! time; the model may have been read again meanwhile.

use std::hash::{DefaultHasher, Hash, Hasher};

use base::{Budget, Diagnostic, Limit, Progress};
use check::walk::Walk;
use check::{Exact, Goal, Stop, search};
use language::{Purpose, View, story};
use model::{ActionId, ActionSystem, Describe as _, ExprId, StepError, Steps, System, UnaryOp, reference};
use replay::{Doubt, Ending, Evidence, Question};
use report::{Trace, trace};

use crate::Error;
use crate::answer::told;
use crate::clock::Clock;
use crate::session::Session;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Which of the choices it was.
    pub number: usize,
    /// What everybody sees of it.
    pub key: u64,
}

/// The way from an initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Which of the initial states it begins in.
    pub initial: usize,
    /// What happens.
    pub steps: Vec<PathStep>,
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub struct Place {
    /// Equal states of one [generation](Walker::generation) have equal ids, and different ones different ids.
    pub id: u128,
    /// The parts of the state, as people read them.
    pub state: Vec<(String, String)>,
    /// Where the processes are, if the language can tell.
    pub positions: Vec<String>,
    /// Variables whose values have names, with these names: where a drawing is to be lit.
    pub lit: Vec<String>,
    /// What can happen.
    pub choices: Vec<Choice>,
    /// Whether each expression that is watched is true; nothing where it cannot be evaluated.
    pub watched: Vec<Option<bool>>,
    /// Whether every process may stay where it is, as far as somebody can tell.
    pub may_end: bool,
}

/// Something that can happen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The step, to be added to the path.
    pub step: PathStep,
    /// Who does it.
    pub processes: Vec<String>,
    /// What it is called.
    pub action: String,
    /// What differs afterwards.
    pub changes: Vec<String>,
    /// The lines of the model's text that are executed, if the language can tell.
    pub lines: Vec<usize>,
    /// The id of the state that it leads to; or how the model goes wrong.
    pub leads_to: Result<u128, String>,
}

/// Why a walk at random ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// There were enough steps.
    Enough,
    /// Nothing can happen.
    Deadlock,
    /// The expression of this number has become true.
    Breakpoint(usize),
    /// The model goes wrong in the next step.
    Fault(String),
}

/// What became of looking for a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A shortest way to it, from where the path leads.
    Found(Vec<PathStep>),
    /// There is none among so many states, which are all that can be reached.
    Nowhere(u64),
    /// None was found before a limit was reached.
    Limit(Limit, u64),
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A state in which an expression is true.
    Where(String),
    /// A state in which nothing can happen.
    Deadlock,
}

/// Why a path cannot be followed.
enum Halt {
    Fault(StepError),
    Limit(Limit),
    /// No step is the one of this number.
    Nowhere(usize),
}

impl From<StepError> for Halt {
    fn from(error: StepError) -> Halt {
        error.limit().map_or(Halt::Fault(error), Halt::Limit)
    }
}

impl From<Limit> for Halt {
    fn from(limit: Limit) -> Halt {
        Halt::Limit(limit)
    }
}

/// A model that is walked through.
///
/// ```
/// use stubborn::{Clock, Limits, Path, Session, Walker};
///
/// let session = Session::of_text("process", "process P { a: go -> b | stay -> a; b: ; }")?;
/// let clock = Clock::start(&Limits::default());
/// let mut walker = Walker::new(session, &clock)?;
/// let place = walker.place(&Path::default(), &["P@b".into()], &clock)?;
/// assert_eq!((place.choices.len(), &place.watched[..]), (2, &[Some(false)][..]));
/// let path = Path { initial: 0, steps: vec![place.choices[0].step.clone()] };
/// let place = walker.place(&path, &["P@b".into()], &clock)?;
/// assert_eq!((place.choices.len(), &place.watched[..]), (0, &[Some(true)][..]));
/// # Ok::<(), stubborn::Error>(())
/// ```
pub struct Walker {
    session: Session,
    view: View,
    generation: u32,
    /// Expressions that were resolved.
    known: Vec<(String, ExprId)>,
}

impl Walker {
    /// Walks through this model.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn new(session: Session, clock: &Clock<'_>) -> Result<Walker, Error> {
        let view = session.view(Purpose::Runs, clock)?;
        Ok(Walker { session, view, generation: 0, known: Vec::new() })
    }

    /// How often the model was made larger: ids of states change with it.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The model.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Where a path leads, and which of the expressions are true there.
    ///
    /// # Errors
    /// The path does not fit the model, an expression is wrong, or a limit was reached.
    pub fn place(&mut self, path: &Path, watched: &[String], clock: &Clock<'_>) -> Result<Place, Error> {
        self.walking(path, watched, clock, |session, view, walk, exprs, _| {
            let system = &*view.system;
            let state = system.layout().decode(walk.state());
            let mut choices = Vec::new();
            for (number, action) in walk.choices()?.into_iter().enumerate() {
                choices.push(choice(&can_refine(session), view, walk, number, action)?);
            }
            let holds = |&expr: &ExprId| reference::value(system, expr, &state).ok().map(|value| value != 0);
            let story = view.story.as_deref();
            let is_named = |variable: &&model::Variable| variable.value_names.is_some();
            let named = system.variables().iter().zip(&state).filter(|(variable, _)| is_named(variable));
            Ok(Place {
                id: id(walk.state()),
                state: items(view, &state),
                positions: story.map_or_else(Vec::new, |story| story.positions(&state)),
                lit: named
                    .map(|(variable, &value)| format!("{}@{}", variable.name, variable.show(value)))
                    .collect(),
                choices,
                watched: exprs.iter().map(holds).collect(),
                may_end: story.is_some_and(|story| story.places(&state).iter().all(|place| place.may_stay)),
            })
        })
    }

    /// Goes on at random for at most so many steps, until one of these expressions becomes true; `choose` picks one of so
    /// many.
    ///
    /// # Errors
    /// The path does not fit the model, an expression is wrong, or a limit was reached.
    pub fn wander(
        &mut self,
        path: &Path,
        n_steps: usize,
        breakpoints: &[String],
        choose: &mut dyn FnMut(usize) -> usize,
        clock: &Clock<'_>,
    ) -> Result<(Vec<PathStep>, WalkEnd), Error> {
        self.walking(path, breakpoints, clock, |session, view, walk, exprs, budget| {
            let system = &*view.system;
            let values = |walk: &Walk<'_, ActionSystem>| -> Vec<bool> {
                let state = system.layout().decode(walk.state());
                exprs
                    .iter()
                    .map(|&expr| reference::value(system, expr, &state).is_ok_and(|it| it != 0))
                    .collect()
            };
            let mut steps = Vec::new();
            let mut before = values(walk);
            while steps.len() < n_steps {
                budget.poll(&Progress { bytes: walk.bytes(), ..Progress::default() })?;
                let choices = walk.choices()?;
                if choices.is_empty() {
                    return Ok((steps, WalkEnd::Deadlock));
                }
                let number = choose(choices.len()).min(choices.len() - 1);
                let chosen = choice(&can_refine(session), view, walk, number, choices[number])?;
                if let Err(fault) = chosen.leads_to {
                    return Ok((steps, WalkEnd::Fault(fault)));
                }
                walk.step(choices[number])?;
                steps.push(chosen.step);
                let now = values(walk);
                if let Some(at) = (0..now.len()).find(|&at| now[at] && !before[at]) {
                    return Ok((steps, WalkEnd::Breakpoint(at)));
                }
                before = now;
            }
            Ok((steps, WalkEnd::Enough))
        })
    }

    /// Looks for a state, from where the path leads: breadth first, so that the way is a shortest.
    ///
    /// # Errors
    /// The path does not fit the model, or the expression is wrong.
    pub fn seek(
        &mut self,
        path: &Path,
        destination: &Destination,
        clock: &Clock<'_>,
    ) -> Result<Sought, Error> {
        let texts: &[String] = match destination {
            Destination::Where(text) => std::slice::from_ref(text),
            Destination::Deadlock => &[],
        };
        loop {
            let start = self.walking(path, texts, clock, |_, _, walk, _, _| Ok(walk.state().to_vec()))?;
            let goal = match self.expressions(texts, clock)?.first() {
                Some(&expr) => {
                    let system = self.session.model.parts().0;
                    let never = system.exprs.unary(UnaryOp::Not, expr);
                    Goal::Invariant(system.add_proposition(&texts[0], never))
                }
                None => Goal::Deadlock,
            };
            self.view = self.session.view(Purpose::Runs, clock)?;
            let clock = &self.session.clock(clock);
            let mut budget = clock.budget();
            let from = StartingIn { system: &self.view.system, start };
            let mut store = Exact::new(from.width(), budget.room());
            let found = search::bfs::search(&from, &mut store, &[goal], &mut budget);
            let faults = found.faults.into_iter().flatten().map(|(error, _)| error);
            let fault = match &found.stop {
                Some(Stop::Fault(error, _)) => Some(*error),
                _ => faults.into_iter().next(),
            };
            if let Some(run) = found.violations.into_iter().flatten().next() {
                drop(store);
                return self.steps_of(path, &run.actions, clock).map(Sought::Found);
            }
            match (fault, found.stop) {
                (Some(error), _) if self.session.model.can_refine(&error) => self.refine(&error, clock)?,
                (Some(error), _) => return Err(self.fault(&error)),
                (None, Some(Stop::Limit(limit))) => return Ok(Sought::Limit(limit, found.stats.states)),
                (None, _) => return Ok(Sought::Nowhere(found.stats.states)),
            }
        }
    }

    /// The run of a path, replayed by the judge of evidence.
    ///
    /// # Errors
    /// The path does not fit the model, or a limit was reached.
    pub fn trace(&mut self, path: &Path, watched: &[String], clock: &Clock<'_>) -> Result<Trace, Error> {
        let run = self.walking(path, watched, clock, |_, _, walk, _, _| Ok(walk.run()))?;
        let exprs = self.expressions(watched, clock)?;
        let evidence = Evidence::new(&run, Ending::Open);
        let judged = replay::judge(&self.view.system, &Question::Possible, &evidence, &mut clock.budget());
        let judged = judged.map_err(|doubt| match doubt {
            Doubt::Limit(limit) => self.session.error(limit),
            Doubt::Rejected(why) => self.session.error(Diagnostic::error(
                "internal",
                format!("internal error, please report it: the run does not stand up to replay: {why}"),
            )),
        })?;
        let propositions = watched.iter().cloned().zip(exprs).collect();
        Ok(Trace::new(self.view.clone(), judged.replayed).with_propositions(propositions))
    }

    /// Actions as steps, after a path.
    fn steps_of(
        &mut self,
        path: &Path,
        actions: &[ActionId],
        clock: &Clock<'_>,
    ) -> Result<Vec<PathStep>, Error> {
        self.walking(path, &[], clock, |session, view, walk, _, budget| {
            let mut steps = Vec::new();
            for (at, &action) in actions.iter().enumerate() {
                budget.poll(&Progress { bytes: walk.bytes(), ..Progress::default() })?;
                let number =
                    walk.choices()?.iter().position(|&known| known == action).ok_or(Halt::Nowhere(at))?;
                steps.push(choice(&can_refine(session), view, walk, number, action)?.step);
                walk.step(action)?;
            }
            Ok(steps)
        })
    }

    /// Follows a path, and does something there. Where the model turns out to be too small, it is made larger, and the
    /// walk begins again.
    fn walking<T>(
        &mut self,
        path: &Path,
        texts: &[String],
        clock: &Clock<'_>,
        mut act: impl FnMut(
            &Session,
            &View,
            &mut Walk<'_, ActionSystem>,
            &[ExprId],
            &mut Budget<'_>,
        ) -> Result<T, Halt>,
    ) -> Result<T, Error> {
        loop {
            let exprs = self.expressions(texts, clock)?;
            let view = self.view.clone();
            let clock = &self.session.clock(clock);
            let mut budget = clock.budget();
            let Some(mut walk) = Walk::new(&*view.system, path.initial) else {
                let message = format!("there is no initial state {}", path.initial);
                return Err(self.session.error(Diagnostic::error("no-initial-state", message)));
            };
            let done = follow(&self.session, &view, &mut walk, path, &mut budget)
                .and_then(|()| act(&self.session, &view, &mut walk, &exprs, &mut budget));
            match done {
                Ok(done) => return Ok(done),
                Err(Halt::Fault(error)) if self.session.model.can_refine(&error) => {
                    self.refine(&error, clock)?;
                }
                Err(Halt::Fault(error)) => return Err(self.fault(&error)),
                Err(Halt::Limit(limit)) => return Err(self.session.error(limit)),
                Err(Halt::Nowhere(step)) => {
                    let message = format!("step {} of the path is not possible in this model", step + 1);
                    return Err(self.session.error(Diagnostic::error("bad-path", message)));
                }
            }
        }
    }

    /// The model is too small: it is made larger, and what was known of it is forgotten.
    fn refine(&mut self, error: &StepError, clock: &Clock<'_>) -> Result<(), Error> {
        self.session.refine(error, clock)?;
        self.generation += 1;
        self.known.clear();
        self.view = self.session.view(Purpose::Runs, clock)?;
        Ok(())
    }

    fn fault(&self, error: &StepError) -> Error {
        self.session.error(Diagnostic::error("model-error", told(&self.view, error)))
    }

    /// The expressions of these texts, in the system of the view.
    fn expressions(&mut self, texts: &[String], clock: &Clock<'_>) -> Result<Vec<ExprId>, Error> {
        let n_known = self.known.len();
        for text in texts {
            if !self.known.iter().any(|(known, _)| known == text) {
                let source = self.session.sources.add("the expression", text.clone().into_bytes());
                let source = source.map_err(|error| self.session.error(error))?;
                let expr = self.session.model.resolve(text, source, 0);
                let expr = expr.map_err(|errors| self.session.error(errors))?;
                self.known.push((text.clone(), expr));
            }
        }
        if self.known.len() > n_known {
            self.view = self.session.view(Purpose::Runs, clock)?;
        }
        let expr = |text: &String| self.known.iter().find(|(known, _)| known == text).map(|(_, expr)| *expr);
        Ok(texts.iter().filter_map(expr).collect())
    }
}

/// Takes the steps of a path, from its initial state.
fn follow(
    session: &Session,
    view: &View,
    walk: &mut Walk<'_, ActionSystem>,
    path: &Path,
    budget: &mut Budget<'_>,
) -> Result<(), Halt> {
    for (at, step) in path.steps.iter().enumerate() {
        budget.poll(&Progress { bytes: walk.bytes(), ..Progress::default() })?;
        let choices = walk.choices()?;
        let mut is_meant = |number: usize, action: ActionId| -> Result<bool, Halt> {
            let found = choice(&can_refine(session), view, walk, number, action)?;
            Ok(found.step.key == step.key && found.leads_to.is_ok())
        };
        let mut meant = None;
        // The number is right, unless the model was made larger since.
        let first = choices.get(step.number).map(|&action| (step.number, action));
        for (number, action) in first.into_iter().chain(choices.iter().copied().enumerate()) {
            if is_meant(number, action)? {
                meant = Some(action);
                break;
            }
        }
        walk.step(meant.ok_or(Halt::Nowhere(at))?)?;
    }
    Ok(())
}

/// Which faults say that the model is too small.
fn can_refine(session: &Session) -> impl Fn(&StepError) -> bool {
    |error| session.model.can_refine(error)
}

/// A run as a path.
pub(crate) fn told_path(view: &View, initial: usize, actions: &[ActionId]) -> Option<Path> {
    let mut walk = Walk::new(&*view.system, initial)?;
    let mut steps = Vec::with_capacity(actions.len());
    for &action in actions {
        let number = walk.choices().ok()?.iter().position(|&known| known == action)?;
        steps.push(choice(&|_| false, view, &mut walk, number, action).ok()?.step);
        walk.step(action).ok()?;
    }
    Some(Path { initial, steps })
}

/// What can happen, as people see it.
fn choice(
    can_refine: &dyn Fn(&StepError) -> bool,
    view: &View,
    walk: &mut Walk<'_, ActionSystem>,
    number: usize,
    action: ActionId,
) -> Result<Choice, Halt> {
    let (system, story) = (&*view.system, view.story.as_deref());
    let before = system.layout().decode(walk.state());
    let processes: Vec<String> =
        system.action_owners(action).iter().map(|&process| system.process_name(process).to_owned()).collect();
    let statements = story.map(|story| story::of_step(story, system, action, &before)).unwrap_or_default();
    let name = match &statements[..] {
        [] => reference::label(system, action, &before),
        all => all.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; "),
    };
    let (changes, leads_to) = match walk.peek(action) {
        Ok(after) => {
            let values = system.layout().decode(&after);
            let changes = match story {
                Some(story) => story::changes(story, &before, &values),
                None => trace::changes(system, &before, &values),
            };
            (changes, Ok(id(&after)))
        }
        Err(error) if can_refine(&error) || error.limit().is_some() => return Err(error.into()),
        Err(error) => (Vec::new(), Err(told(view, &error))),
    };
    let lines: Vec<usize> = statements.iter().filter(|one| one.file.is_none()).map(|one| one.line).collect();
    let mut hasher = DefaultHasher::new();
    (&processes, &name, &changes, &lines, leads_to.is_ok()).hash(&mut hasher);
    let step = PathStep { number, key: hasher.finish() };
    Ok(Choice { step, processes, action: name, changes, lines, leads_to })
}

/// The parts of a state: names and values.
pub(crate) fn items(view: &View, state: &[i64]) -> Vec<(String, String)> {
    match view.story.as_deref() {
        Some(story) => story.items(state).into_iter().map(|item| (item.name, item.value)).collect(),
        None => {
            let all = view.system.variables().iter().zip(state);
            all.map(|(variable, &value)| (variable.name.clone(), variable.show(value).to_string())).collect()
        }
    }
}

/// A number for a state.
pub(crate) fn id(state: &[u32]) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, state).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// A system that begins in another state.
struct StartingIn<'s> {
    system: &'s ActionSystem,
    start: Vec<u32>,
}

impl System for StartingIn<'_> {
    type Scratch = <ActionSystem as System>::Scratch;

    fn new_scratch(&self) -> Self::Scratch {
        self.system.new_scratch()
    }

    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        out.extend(&self.start);
    }

    fn successors(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        self.system.successors(state, scratch, out)
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.system.enabled(state, scratch, out)
    }

    fn fire(
        &self,
        state: &mut [u32],
        action: ActionId,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        self.system.fire(state, action, scratch)
    }

    fn n_propositions(&self) -> usize {
        self.system.n_propositions()
    }

    fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        scratch: &mut Self::Scratch,
    ) -> Result<bool, StepError> {
        self.system.holds(proposition, state, scratch)
    }
}
