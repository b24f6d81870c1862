//! Runs a model for a while, to meet the processes that it starts: code for them is made before anybody
//! searches it (see `lower::plan`). What is not met here, a search will meet, and begin again; so this may stop
//! whenever it likes. Where it has seen everything, nothing is missing, and reductions may know that. It need not look at
//! what follows a state in which no process can come to a `run` any more (see [`Starting`]): in most models all
//! processes are started at the beginning, and that is soon seen.

use std::collections::VecDeque;
use std::sync::Arc;

use base::{Budget, Limit, Progress};
use fixedbitset::FixedBitSet;
use language::Trouble;
use model::{ActionSystem, Guard, Range, StepError, Steps, Stmt, System as _, VarId};
use rustc_hash::FxHashSet;

use crate::lower::Code;

/// How many states are looked at.
const MAX_STATES: usize = 3_000;

/// How many at least are looked at after one where code is missing.
const MORE_STATES: usize = 64;

/// How many bytes are spent on it, and how much of what is left.
const MAX_BYTES: u64 = 64 << 20;
const SHARE: u64 = 8;

/// Makes the code of the processes that are met soon. Who was foreseen and is not met in the end is left out again.
pub(crate) fn discover(mut code: Code, budget: &mut Budget<'_>) -> Result<Code, Trouble> {
    let mut foresees = true;
    loop {
        let other = match look(&code, budget)? {
            Seen::Missing(errors) => match code.extend_all(&errors, foresees, budget)? {
                Some(more) => more,
                None => return Ok(code),
            },
            Seen::Everything(met) => {
                let fewer = if foresees { code.without_unmet(&met, budget)? } else { None };
                let Some(fewer) = fewer else {
                    code.complete();
                    return Ok(code);
                };
                // Where a process begins and ends in one step nobody is seen, so everything is looked at again.
                foresees = false;
                fewer
            }
            Seen::Something => return Ok(code),
        };
        budget.release(code.bytes());
        code = other;
    }
}

/// What was seen of a model.
enum Seen {
    /// Faults that say that code is missing.
    Missing(Vec<StepError>),
    /// All states from which a process may be started, and no fault in any; and, for each process number, where that process
    /// was.
    Everything(Vec<FixedBitSet>),
    /// Not so much.
    Something,
}

fn look(code: &Code, budget: &mut Budget<'_>) -> Result<Seen, Limit> {
    let system = &code.system;
    if !code.may_grow() {
        return Ok(Seen::Something);
    }
    let (width, max_bytes) = (system.width(), MAX_BYTES.min(budget.max_bytes / SHARE));
    // Each process may have a few steps, and each step is a state.
    if (16 * width * system.processes().len()) as u64 > max_bytes {
        return Ok(Seen::Something);
    }
    let starting = Starting::new(system, code.slots());
    let mut met = vec![FixedBitSet::new(); code.slots().len()];
    let mut scratch = system.new_scratch();
    let mut steps = Steps::new(width);
    let mut known: FxHashSet<Arc<[u32]>> = system.initial().map(Arc::from).collect();
    let mut pending: VecDeque<Arc<[u32]>> = system.initial().map(Arc::from).collect();
    let (mut fails, mut missing, mut max_states) = (false, Vec::new(), MAX_STATES);
    while let Some(state) = pending.pop_front() {
        // A state with its counts, and its places in the set and in the queue.
        let bytes = (known.len() * (4 * width + 64)) as u64;
        if known.len() >= max_states || bytes > max_bytes {
            fails = true;
            break;
        }
        budget.poll(&Progress { bytes, ..Progress::default() })?;
        steps.clear();
        let mut n_steps = usize::MAX;
        if let Err(error) = system.successors(&state, &mut scratch, &mut steps) {
            fails = true;
            n_steps = steps.len().saturating_sub(1); // The last may be the one that failed.
            if code.can_extend(&error) && !missing.contains(&error) {
                // What else is missing nearby comes with it.
                max_states = max_states.min(2 * known.len() + MORE_STATES);
                missing.push(error);
            }
        }
        for (_, target) in steps.iter().take(n_steps) {
            for (var, met) in code.slots().iter().zip(&mut met) {
                met.grow_and_insert(system.layout().field(*var).value(target) as usize);
            }
            if !known.contains(target) && starting.may_follow(system, target) {
                let target: Arc<[u32]> = target.into();
                known.insert(target.clone());
                pending.push_back(target);
            }
        }
    }
    Ok(match missing.is_empty() {
        false => Seen::Missing(missing),
        true if fails => Seen::Something,
        true => Seen::Everything(met),
    })
}

/// Where a process may still come to a `run`.
///
/// A process is started by an action of one that is at a `run`. So where all processes are at locations from which no way
/// leads to a `run`, each step leaves all of them at such locations, and nobody is ever started.
struct Starting {
    /// Per process number, where that process is; and at which of its values it may come to a `run`.
    slots: Vec<(VarId, FixedBitSet)>,
}

impl Starting {
    fn new(system: &ActionSystem, slots: &[VarId]) -> Starting {
        let n_values = |var: VarId| system.variables()[var.index()].span() as usize + 1;
        let with_none = |&var: &VarId| (var, FixedBitSet::with_capacity(n_values(var)));
        let mut starting = Starting { slots: slots.iter().map(with_none).collect() };
        let number_of = |var: VarId| slots.iter().position(|&slot| slot == var);
        // Per slot: from where to where.
        let mut moves: Vec<Vec<(usize, usize)>> = vec![Vec::new(); slots.len()];
        for action in system.actions() {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            model::relations::uses(&system.exprs, &action.effect, &mut reads, &mut writes);
            let mut starts = writes.iter().any(|var| system.variables()[var.index()].range == Range::Open);
            let tests = action.guards.iter().filter_map(|guard| match &system.guards()[guard.index()] {
                Guard::In(var, values) => Some((number_of(*var)?, values)),
                _ => None,
            });
            // Locations of processes that take part; whoever begins to be somewhere is started.
            let mut from: Vec<(usize, Vec<usize>)> = Vec::new();
            for (slot, values) in tests {
                let (lo, hi) = (1, n_values(slots[slot]) as i64 - 1);
                from.push((slot, values.values_within(lo, hi).map(|value| value as usize).collect()));
            }
            for stmt in &action.effect {
                let Stmt::Set(var, to) = stmt else { continue };
                let Some(slot) = number_of(*var) else { continue };
                match from.iter().find(|(tested, values)| *tested == slot && !values.is_empty()) {
                    Some((_, values)) => moves[slot].extend(values.iter().map(|&at| (at, *to as usize))),
                    None => starts = true,
                }
            }
            let is_simple = |var: &VarId| {
                number_of(*var).is_none()
                    || action.effect.iter().any(|stmt| matches!(stmt, Stmt::Set(set, _) if set == var))
            };
            if starts || !writes.iter().all(is_simple) {
                // Nobody starts a process from nowhere.
                debug_assert!(from.iter().any(|(_, values)| !values.is_empty()));
                from.iter().for_each(|(slot, values)| starting.slots[*slot].1.extend(values.iter().copied()));
            }
        }
        for ((_, may_start), moves) in starting.slots.iter_mut().zip(&moves) {
            let mut grows = true;
            while std::mem::take(&mut grows) {
                for &(from, to) in moves.iter().rev() {
                    // Nobody is at 0.
                    grows |= to > 0 && may_start.contains(to) && !may_start.put(from);
                }
            }
        }
        starting
    }

    /// Whether a process may be started after this state.
    fn may_follow(&self, system: &ActionSystem, state: &[u32]) -> bool {
        let is_at_start = |(var, values): &(VarId, FixedBitSet)| {
            values.contains(system.layout().field(*var).value(state) as usize)
        };
        self.slots.iter().any(is_at_start)
    }
}

#[cfg(test)]
mod tests {
    use base::SourceMap;
    use language::{File, Model as _, Options, Purpose};
    use model::Range;

    use super::*;

    /// Whether code may be missing in any of the systems of a model.
    fn is_open(text: &str) -> bool {
        let budget = &mut Budget::unlimited();
        let file = File { name: "m.pml".to_owned(), bytes: text.into() };
        let no_files = &mut |_: &str| Err(String::new());
        let model = crate::Model::read(file, &Options::default(), &mut SourceMap::new(), no_files, budget);
        let model = model.expect("a good model");
        let purposes = [Purpose::Runs, Purpose::Assertions, Purpose::EndStates, Purpose::Walk];
        let is_open = purposes.map(|purpose| {
            let view = model.view(purpose, budget).expect("no limit");
            view.system.variables().iter().any(|variable| variable.range == Range::Open)
        });
        assert!(is_open.iter().all(|it| *it == is_open[0]), "{is_open:?}");
        is_open[0]
    }

    #[test]
    fn who_has_seen_everything_knows_that_nothing_is_missing() {
        assert!(!is_open("byte x; proctype Q() { x = 1 } init { run Q(); run Q() }"));
        let many = "byte x; proctype P(byte n) { x = n }
            init { byte i; do :: i < 30 -> run P(i); (_nr_pr == 1); i++ :: else -> break od }";
        assert!(!is_open(many), "code for all arguments");
        let late = "int n; byte x; proctype Q() { x = 1 }
            init { do :: n < 30000 -> n++ :: else -> break od; run Q() }";
        assert!(is_open(late), "it stops before the process is started");
        let long = "int n; proctype Q() { do :: n < 30000 -> n++ :: else -> break od; n = 1 / (n - 30000) }
            init { atomic { run Q(); run Q() } }";
        assert!(!is_open(long), "what follows the last start does not matter");
        let by_another = "int n; proctype R() { n = 0 }
            proctype Q() { do :: n < 30000 -> n++ :: else -> break od; run R() }
            init { run Q() }";
        assert!(is_open(by_another), "who was started may start others");
        let faulty = "byte x; proctype Q() { x = 1 } init { x = 1 / x; run Q() }";
        assert!(is_open(faulty), "nobody knows what happens where something goes wrong");
    }
}
