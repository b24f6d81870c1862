//! What of a model ever happens: all states are looked at, without leaving out anything.

use check::{Exact, Exploration, StateId, Stop, Store as _, Visited as _, search};
use language::story::Unreached;
use language::{Purpose, View};
use model::{System as _, VarId};
use report::Remark;
use report::coverage::{CoverageReport, Untaken};
use report::outcome::SCHEMA;
use report::remark::Work;

use crate::Error;
use crate::answer::told;
use crate::clock::Clock;
use crate::decide::states::fault;
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
        let looked = refining(&mut self.model, clock, |model| {
            let mut budget = clock.budget();
            let view = model.view(Purpose::Runs, &mut budget)?;
            let mut store = Exact::new(view.system.width(), budget.room());
            let exploration = search::bfs::search(&*view.system, &mut store, &[], &mut budget);
            if let Some(error) = fault(&exploration).filter(|error| model.can_refine(error)) {
                return Ok(Attempt::TooSmall(error));
            }
            Ok(Attempt::Done((view, store, exploration)))
        });
        let (view, store, exploration) = looked.map_err(|trouble| self.error(trouble))?;
        Ok(report(self, &view, &store, &exploration))
    }
}

fn report(session: &Session, view: &View, store: &Exact, exploration: &Exploration) -> CoverageReport {
    let remarks = match &exploration.stop {
        Some(Stop::Limit(limit)) => vec![Remark::Limit(*limit, Work::Search)],
        Some(Stop::Fault(error, _)) => vec![Remark::ModelError(told(view, error))],
        Some(Stop::AllViolated) | None => Vec::new(),
    };
    let never_executed = match &view.story {
        Some(story) => story.unreached(&exploration.taken),
        None => Unreached::labels(&view.system, &exploration.taken),
    };
    CoverageReport {
        schema: SCHEMA,
        model: session.info(),
        complete: remarks.is_empty(),
        remarks,
        states: exploration.stats.states,
        never_executed,
        never_taken: untaken(view, store),
    }
}

/// The variables that never get some of their values.
pub(crate) fn untaken(view: &View, store: &Exact) -> Vec<Untaken> {
    let system = &view.system;
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
