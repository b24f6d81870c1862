//! What of a model ever happens: all states are looked at, without leaving out anything.

use base::Budget;
use check::{Exact, Exploration, StateId, Stop, Store as _, Visited as _, search};
use language::moves::{Idle, Moves};
use language::story::Unreached;
use language::{Model, Purpose, View};
use model::{ActionSystem, Steps, System as _, VarId, reference};
use report::Remark;
use report::coverage::{CoverageReport, Untaken};
use report::outcome::SCHEMA;
use report::remark::Work;

use crate::Error;
use crate::answer::told;
use crate::clock::Clock;
use crate::decide::states::fault;
use crate::error::Trouble;
use crate::options::Options;
use crate::session::{Attempt, Session, refining};

/// Of variables with more values, only the bounds are known.
const MAX_SPAN: u64 = 1 << 12;

impl Session {
    /// What of the model ever happens, as far as the limits of the options allow to see.
    ///
    /// # Errors
    /// A limit was reached before the first state.
    pub fn coverage(&mut self, options: &Options, clock: &Clock<'_>) -> Result<CoverageReport, Error> {
        let clock = &self.clock(clock).within(&options.limits);
        let looked = refining(&mut self.model, clock, |model| Seen::look(&**model, clock));
        let seen = looked.map_err(|trouble| self.error(trouble))?;
        Ok(report(self, &seen, clock))
    }
}

/// All states of a model, as far as they were seen.
pub(crate) struct Seen {
    pub(crate) view: View,
    store: Exact,
    exploration: Exploration,
}

impl Seen {
    /// Looks at all states.
    pub(crate) fn look(model: &dyn Model, clock: &Clock<'_>) -> Result<Attempt<Seen>, Trouble> {
        let mut budget = clock.budget();
        let view = model.view(Purpose::Runs, &mut budget)?;
        let mut store = Exact::new(view.system.width(), budget.room());
        let exploration = search::bfs::search(&*view.system, &mut store, &[], &mut budget);
        Ok(match fault(&exploration).filter(|error| model.can_refine(error)) {
            Some(error) => Attempt::TooSmall(error),
            None => Attempt::Done(Seen { view, store, exploration }),
        })
    }

    /// Whether all of them were seen.
    pub(crate) fn is_complete(&self) -> bool {
        self.exploration.stop.is_none()
    }

    /// What of these actions never happens, by its statements or labels.
    pub(crate) fn unreached(&self, is_meant: impl Fn(usize) -> bool) -> Vec<Unreached> {
        let happens = |(action, taken): (usize, &bool)| *taken || !is_meant(action);
        let taken: Vec<bool> = self.exploration.taken.iter().enumerate().map(happens).collect();
        match &self.view.story {
            Some(story) => story.unreached(&taken),
            None => Unreached::labels(&self.view.system, &taken),
        }
    }

    /// What processes do in all of them.
    fn moves(&self, budget: &mut Budget<'_>) -> Option<Moves> {
        let system = &*self.view.system;
        let (layout, mut scratch, mut steps) =
            (system.layout(), system.new_scratch(), Steps::new(system.width()));
        let (mut moves, mut state) = (Moves::default(), vec![0; system.width()]);
        reference::initial(system).iter().for_each(|values| moves.begin(system, values));
        for number in 0..self.store.n_states() as usize {
            budget.tick().ok()?;
            self.store.get(StateId::new(number), &mut state);
            let before = layout.decode(&state);
            steps.clear();
            system.successors(&state, &mut scratch, &mut steps).ok()?;
            for (step, target) in steps.iter() {
                moves.add(system, system.action(system.first(step)), &before, &layout.decode(target));
            }
        }
        Some(moves)
    }
}

fn report(session: &Session, seen: &Seen, clock: &Clock<'_>) -> CoverageReport {
    let Seen { view, exploration, .. } = seen;
    let remarks = match &exploration.stop {
        Some(Stop::Limit(limit)) => vec![Remark::Limit(*limit, Work::Search)],
        Some(Stop::Fault(error, _)) => vec![Remark::ModelError(told(view, error))],
        Some(Stop::AllViolated) | None => Vec::new(),
    };
    let mut never_executed = seen.unreached(|_| true);
    if session.model.has_moves()
        && let Some(moves) = seen.moves(&mut clock.budget())
    {
        never_executed.extend(session.model.idle(&moves).into_iter().map(|idle| written(session, idle)));
    }
    CoverageReport {
        schema: SCHEMA,
        model: session.info(),
        complete: remarks.is_empty(),
        remarks,
        states: exploration.stats.states,
        never_executed,
        never_taken: seen.untaken(),
    }
}

/// A move that never happens, as it stands in the text.
fn written(session: &Session, Idle { process, span, reached }: Idle) -> Unreached {
    let source = session.sources.get(span.source);
    let text = source.text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = source.position(span.start).0;
    Unreached::Statement { process, file: None, line, text, reached }
}

impl Seen {
    /// The variables that never get some of their values. Where statements are told, places in code are not, nor how many
    /// processes there are.
    pub(crate) fn untaken(&self) -> Vec<Untaken> {
        let system = &self.view.system;
        let mut found = untaken(system, &self.store);
        if let Some(story) = self.view.story.as_ref().filter(|story| story.has_processes()) {
            let places = system.processes().iter().filter_map(|process| story.location(&process.name));
            let places: Vec<&str> = places.map(|var| &*system.variables()[var.index()].name).collect();
            found.retain(|untaken| untaken.variable != "_nr_pr" && !places.contains(&&*untaken.variable));
        }
        found
    }
}

fn untaken(system: &ActionSystem, store: &Exact) -> Vec<Untaken> {
    let fields = system.layout().fields();
    let mut seen: Vec<Vec<bool>> = fields
        .iter()
        .map(|field| if field.span < MAX_SPAN { vec![false; field.span as usize + 1] } else { Vec::new() })
        .collect();
    let mut bounds: Vec<Option<(i64, i64)>> = vec![None; fields.len()];
    let mut state = vec![0; system.width()];
    for number in 0..store.n_states() as usize {
        store.get(StateId::new(number), &mut state);
        for ((field, seen), bounds) in fields.iter().zip(&mut seen).zip(&mut bounds) {
            let (raw, value) = (field.raw(&state), field.value(&state));
            if let Some(is_seen) = seen.get_mut(raw as usize) {
                *is_seen = true;
            }
            let (least, most) = bounds.unwrap_or((value, value));
            *bounds = Some((least.min(value), most.max(value)));
        }
    }
    let mut found = Vec::new();
    for (index, (seen, bounds)) in seen.iter().zip(bounds).enumerate() {
        let variable = &system.variables()[VarId::new(index).index()];
        let Some((least, most)) = bounds else { continue };
        let taken = seen.iter().filter(|&&is_seen| is_seen).count() as u64;
        let missing = seen.iter().enumerate().filter(|(_, is_seen)| !**is_seen);
        let never: Vec<String> = match variable.value_names {
            Some(_) => missing.map(|(raw, _)| variable.show(variable.lo + raw as i64)).collect(),
            None => Vec::new(),
        };
        if seen.is_empty() || taken == seen.len() as u64 {
            continue;
        }
        let between = (variable.show(least), variable.show(most));
        found.push(Untaken { variable: variable.name.clone(), taken, of: seen.len() as u64, between, never });
    }
    found
}
