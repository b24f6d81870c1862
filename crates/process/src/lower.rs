//! Lowering: the processes become one action system, after Definition 2.3 of Valmari's
//! *On-the-fly verification with stubborn sets*: a label happens if all processes that have it in
//! their alphabet can do it, and they do it together.
//!
//! Each process is a variable, its location. A label is one action: its guards say from which
//! states the participants can do it, its effect where each of them goes. If a participant has
//! several moves with the label in one state, the action comes in several versions: version
//! (c1, …, ck) takes the ci-th move of participant i, and its guard asks for a state that has so
//! many. Only real choices multiply.
//!
//! A table of moves has a cell for each state up to the last source. Where that would be a waste
//! (few moves in a process with very many states), each move gets a version of its own.

use base::{Diagnostic, Fail, Span};
use model::{Action, ActionSystem, Builder, Guard, GuardId, LabelId, ProcessId, Stmt, VarId, Variable};

use crate::expand::Move;
use crate::labels::TAU;
use crate::meter::{Meter, Quota};
use crate::network::{Local, Network, moves_of};
use crate::options::Limits;

/// Tables up to this size are never a waste.
const SMALL_TABLE: usize = 4096;
/// Larger ones may have so many cells for each move.
const CELLS_PER_MOVE: usize = 64;

/// What an action takes, about, beside its participants and tables: here, and compiled.
const ACTION_BYTES: u64 = 500;
/// What a participant of an action or a cell of a table takes.
const CELL_BYTES: u64 = 40;

/// How much may still be built.
struct Quotas<'m> {
    actions: Quota<'m>,
    cells: Quota<'m>,
}

/// Makes the action system. Label `i` of the network is label `i` of the system; process and
/// variable `i` of the system are process `i` of the network.
pub(crate) fn lower<'m>(
    network: &Network,
    builder: Builder,
    limits: Limits,
    meter: &'m Meter<'m>,
) -> Result<ActionSystem, Fail> {
    let quotas = Quotas {
        actions: Quota::new("actions", limits.actions, ACTION_BYTES, meter),
        cells: Quota::new("participants and table cells of actions", limits.cells, CELL_BYTES, meter),
    };
    let mut lowering = Lowering { network, builder, quotas };
    let mut initial = Vec::with_capacity(network.processes.len());
    for process in &network.processes {
        lowering.builder.process(process.name.as_str());
        lowering.builder.variable(Variable::named(process.name.as_str(), process.states.names.clone()));
        initial.push(i64::from(process.initial));
    }
    lowering.builder.initial(&initial);
    for text in network.labels.iter() {
        lowering.builder.label(text);
    }
    for (label, participants) in participants(network).iter().enumerate() {
        let moves = |&process: &u32| moves_of(&network.processes[process as usize].moves, label as u32);
        lowering.label(LabelId::new(label), participants, moves)?;
    }
    for (number, process) in network.processes.iter().enumerate() {
        let moves = moves_of(&process.moves, TAU);
        if !moves.is_empty() {
            let tau = lowering.builder.internal_label("tau");
            lowering.label(tau, &[number as u32], |_| moves)?;
        }
    }
    let system = lowering.builder.finish();
    system.map_err(|error| Box::new(Diagnostic::error("cannot-build", error.to_string())))
}

/// The processes that take part in each label.
fn participants(network: &Network) -> Vec<Vec<u32>> {
    let mut participants = vec![Vec::new(); network.labels.len()];
    for (number, process) in network.processes.iter().enumerate() {
        process.alphabet.iter().for_each(|&label| participants[label as usize].push(number as u32));
    }
    participants
}

struct Lowering<'n, 'm> {
    network: &'n Network,
    builder: Builder,
    quotas: Quotas<'m>,
}

/// What one participant contributes to one version of an action.
struct Part {
    guard: Option<GuardId>,
    effect: Option<Stmt>,
}

impl<'n> Lowering<'n, '_> {
    /// Adds the actions of a label, one for each choice of versions of the participants.
    fn label(
        &mut self,
        label: LabelId,
        participants: &[u32],
        moves: impl Fn(&u32) -> &'n [Move],
    ) -> Result<(), Fail> {
        if participants.iter().any(|participant| moves(participant).is_empty()) {
            return Ok(()); // Blocked for ever.
        }
        let owners: Vec<ProcessId> =
            participants.iter().map(|&participant| ProcessId::new(participant as usize)).collect();
        let mut parts = Vec::with_capacity(participants.len());
        let mut n_actions = 1u64;
        for participant in participants {
            let process = &self.network.processes[*participant as usize];
            let moves = moves(participant);
            let versions = versions(moves, process.states.names.len());
            n_actions = n_actions.saturating_mul(versions.len() as u64);
            // Before anything is built: it may be a lot.
            self.quotas.actions.check(n_actions, blame(process, moves))?;
            parts.push(self.parts(*participant, &versions)?);
        }
        let (last, moves) = match participants.last() {
            Some(last) => (&self.network.processes[*last as usize], moves(last)),
            None => return Ok(()),
        };
        let n_cells = n_actions.saturating_mul(participants.len() as u64);
        self.quotas.cells.take(n_cells, blame(last, moves))?;
        self.add_versions(label, &owners, &parts, blame(last, moves))
    }

    /// The contributions of one participant.
    fn parts(&mut self, participant: u32, versions: &[Vec<(u32, u32)>]) -> Result<Vec<Part>, Fail> {
        let process = &self.network.processes[participant as usize];
        let var = VarId::new(participant as usize);
        let mut parts = Vec::with_capacity(versions.len());
        for moves in versions {
            let everywhere = moves.len() == process.states.names.len();
            let guard = (!everywhere).then(|| {
                self.builder.guard(Guard::one_of(var, moves.iter().map(|(from, _)| i64::from(*from))))
            });
            self.quotas.cells.take(table_len(moves) as u64, process.span)?;
            parts.push(Part { guard, effect: effect(var, moves) });
        }
        Ok(parts)
    }

    /// Adds an action for each way to take one part of each participant.
    fn add_versions(
        &mut self,
        label: LabelId,
        owners: &[ProcessId],
        parts: &[Vec<Part>],
        place: Span,
    ) -> Result<(), Fail> {
        let mut version = vec![0usize; parts.len()];
        loop {
            self.quotas.actions.take(1, place)?;
            let chosen = || parts.iter().zip(&version).map(|(parts, &at)| &parts[at]);
            self.builder.action(Action {
                label,
                guards: chosen().filter_map(|part| part.guard).collect(),
                effect: chosen().filter_map(|part| part.effect.clone()).collect(),
                owners: owners.to_vec(),
            });
            // The next version: the last participant changes fastest.
            let Some(changed) = (0..parts.len()).rev().find(|&at| version[at] + 1 < parts[at].len()) else {
                return Ok(());
            };
            version[changed] += 1;
            version[changed + 1..].fill(0);
        }
    }
}

/// The moves of one participant with one label, sorted by source and target, as partial functions
/// from source to target: version `c` has the moves that are number `c` in their source.
fn versions(moves: &[Move], n_states: usize) -> Vec<Vec<(u32, u32)>> {
    let mut versions: Vec<Vec<(u32, u32)>> = Vec::new();
    let (mut source, mut number) = (None, 0);
    for one in moves {
        number = if source == Some(one.from) { number + 1 } else { 0 };
        source = Some(one.from);
        if number == versions.len() {
            versions.push(Vec::new());
        }
        versions[number].push((one.from, one.to));
    }
    if n_states > SMALL_TABLE {
        versions = versions.into_iter().flat_map(split_sparse).collect();
    }
    versions
}

/// One version for each move, if the moves are too far apart for a table.
fn split_sparse(moves: Vec<(u32, u32)>) -> Vec<Vec<(u32, u32)>> {
    let extent = match (moves.first(), moves.last()) {
        (Some(first), Some(last)) => (last.0 - first.0) as usize,
        _ => 0,
    };
    let size = extent.max(table_len(&moves));
    if size > SMALL_TABLE && size > CELLS_PER_MOVE * moves.len() {
        moves.into_iter().map(|one| vec![one]).collect()
    } else {
        vec![moves]
    }
}

/// Length of the table that the moves need; 0 if they need none.
fn table_len(moves: &[(u32, u32)]) -> usize {
    let needs_table = !same_target(moves) && moves.iter().any(|(from, to)| from != to);
    if needs_table { moves.last().map_or(0, |last| last.0 as usize + 1) } else { 0 }
}

fn same_target(moves: &[(u32, u32)]) -> bool {
    moves.windows(2).all(|pair| pair[0].1 == pair[1].1)
}

fn effect(var: VarId, moves: &[(u32, u32)]) -> Option<Stmt> {
    if moves.iter().all(|(from, to)| from == to) {
        return None;
    }
    if same_target(moves) {
        return moves.first().map(|(_, to)| Stmt::set(var, i64::from(*to)));
    }
    let mut table = vec![None; table_len(moves)];
    moves.iter().for_each(|(from, to)| table[*from as usize] = Some(i64::from(*to)));
    Some(Stmt::Map(var, table))
}

/// The place of the first of some moves of a process.
fn blame(process: &Local, moves: &[Move]) -> Span {
    let written = moves.first().and_then(|one| process.spans.get(one.written as usize));
    written.copied().unwrap_or(process.span)
}
