//! What a step is in the words of the program: its statements, where they stand, what they print, what they
//! send; and a state with its channels and processes as such.
//!
//! Every action of a system has `Words`. A d_step has those of what happens inside, which is repeated
//! statement by statement.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{SourceMap, Span};
use language::Story;
use language::story::{Item, Message, Position, Statement, Unreached, Way};
use model::{
    ActionId, ActionSystem, ExprId, Fault, Guard, GuardId, LabelId, ProcessId, StepError, Stmt, VarId,
    reference,
};
use rustc_hash::FxHashSet;

use super::code::{NOBODY, RESTS};
use super::facts::inside;
use super::storage::{At, element_name, parts};
use super::world::{Channel, Process};
use super::{Code, Made};
use crate::cost;
use crate::flow::{Action, Edge, Flow, Location, LocationId};
use crate::program::{self, ExprKind, MtypeId, ProctypeId, ProctypeKind, Program, StmtKind, Type};

/// Tells the runs of a system in the words of its text.
pub(crate) struct Teller {
    pub(crate) code: Code,
    pub(crate) sources: SourceMap,
    /// The file of the model.
    pub(crate) file: String,
}

/// Longer statements are cut where a process waits.
const MAX_LETTERS: usize = 60;

/// What a location is in words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// The statement that is next.
    span: Span,
    may_stay: bool,
    is_over: bool,
}

/// What the locations of a graph are in words.
pub(crate) fn stops(flow: &Flow<'_>) -> Vec<Stop> {
    let end = flow.end.map(LocationId::index);
    let stop = |(index, location): (usize, &Location<'_>)| Stop {
        span: location.span,
        may_stay: location.is_end,
        is_over: end == Some(index),
    };
    flow.locations.iter().enumerate().map(stop).collect()
}

/// The number in Spin's trails of the first statement of each proctype: Spin counts through all of them, in the order
/// in which they stand in the text. Where it numbers something later, nothing that follows is known.
pub(crate) fn firsts(flows: &[Flow<'_>]) -> Vec<Option<u32>> {
    let mut next = Some(0);
    let mut firsts = Vec::new();
    for flow in flows {
        firsts.push(next);
        next = next.zip(flow.n_elements).map(|(first, n)| first + n);
    }
    // A jump that is split has another number, too.
    firsts.into_iter().map(|first| first.filter(|_| next.is_some())).collect()
}

/// What an action is in words.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// The process that executes it, by its number in the plan.
    pub(crate) process: usize,
    /// The number of the statement in its proctype.
    pub(crate) statement: u32,
    pub(crate) span: Span,
    pub(crate) text: Arc<str>,
    pub(crate) print: Option<Print>,
    pub(crate) sends: Option<Sends>,
    /// What happens inside a d_step.
    pub(crate) inside: Option<Arc<Inside>>,
}

/// `printf` or `printm`.
#[derive(Clone, Debug)]
pub(crate) struct Print {
    pub(crate) format: Arc<str>,
    /// The values, and of which set they are, if they are symbolic names.
    pub(crate) values: Vec<(ExprId, MtypeId)>,
}

/// What is sent or received.
#[derive(Clone, Debug)]
pub(crate) enum Sends {
    Send { channel: usize, values: Vec<ExprId> },
    Receive { channel: usize, wanted: Vec<Option<ExprId>> },
    Hand { channel: usize, values: Vec<ExprId>, to: usize },
}

/// A d_step.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// What its first statement has done, if that is no step of this graph: it was a handshake.
    pub(crate) first: Option<Vec<Stmt>>,
    pub(crate) start: usize,
    /// Per location: what may happen.
    pub(crate) locations: Vec<Vec<Inner>>,
}

/// A step of a d_step.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    pub(crate) possible: ExprId,
    pub(crate) effect: Vec<Stmt>,
    pub(crate) words: Words,
    pub(crate) target: usize,
}

/// Of a longer d_step the rest is not told.
const MAX_STATEMENTS: usize = 1000;

impl Story for Teller {
    fn fault(&self, error: &StepError) -> Option<String> {
        Some(self.code.describe(error))
    }

    fn statements(&self, action: ActionId, before: &[i64]) -> Vec<Statement> {
        let mut statements = Vec::new();
        for words in self.code.made.words.get(action.index()).into_iter().flatten() {
            self.tell_words(words, before, &mut statements);
        }
        statements
    }

    fn items(&self, state: &[i64]) -> Vec<Item> {
        self.items_unlike(state, None)
    }

    fn different_items(&self, before: &[i64], after: &[i64]) -> (Vec<Item>, Vec<Item>) {
        (self.items_unlike(before, Some(after)), self.items_unlike(after, Some(before)))
    }

    /// The trace is the last.
    fn places(&self, state: &[i64]) -> Vec<Position> {
        let world = &self.code.made.world;
        let mut living: Vec<&Process> = self.living(state).collect();
        living.sort_by_key(|process| process.instance.slot);
        let mut positions: Vec<Position> = Vec::new();
        for process in living {
            let at = state[world.slots[process.instance.slot as usize].index()];
            let index = (at - process.first_location) as usize;
            positions.extend(self.position(self.name_of(process), process.instance.proctype, index));
        }
        positions.extend(world.trace.and_then(|trace| {
            let name = self.code.made.program.proctypes[trace.proctype.index()].name.to_string();
            self.position(name, trace.proctype, state[trace.at.index()] as usize)
        }));
        positions
    }

    /// Statement by statement. What happens inside of a d_step is not told apart, and jumps are no statements.
    fn unreached(&self, taken: &[bool]) -> Vec<Unreached> {
        let Made { program, world, words, .. } = &*self.code.made;
        let mut executed: FxHashSet<(ProctypeId, u32)> = FxHashSet::default();
        for words in words.iter().zip(taken).filter(|(_, taken)| **taken).flat_map(|(words, _)| words) {
            executed.insert((world.processes[words.process].instance.proctype, words.statement));
        }
        // They were made before.
        let flows = cost::paid(|cost| super::flows(program, cost)).unwrap_or_default();
        let mut found = Vec::new();
        for (index, flow) in flows.iter().enumerate() {
            let (id, proctype) = (ProctypeId::new(index), &program.proctypes[index]);
            let process = proctype.name.to_string();
            if !matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init) {
                continue;
            }
            if !world.processes.iter().any(|process| process.instance.proctype == id) {
                found.push(Unreached::Process { process, started: false });
                continue;
            }
            let edges = || flow.locations.iter().flat_map(|location| &location.edges);
            let is_executed = |edge: &Edge<'_>| executed.contains(&(id, edge.statement));
            let mut reached: FxHashSet<LocationId> =
                edges().filter(|edge| is_executed(edge)).map(|edge| edge.target).collect();
            reached.insert(flow.initial);
            // The same statement may be an edge of several locations.
            let mut missing: BTreeMap<u32, (&Edge<'_>, bool)> = BTreeMap::new();
            for (at, location) in flow.locations.iter().enumerate() {
                let is_told = |edge: &&Edge<'_>| {
                    !matches!(edge.action, Action::Jump | Action::End) && !is_executed(edge)
                };
                for edge in location.edges.iter().filter(is_told) {
                    let known = missing.entry(edge.statement).or_insert((edge, false));
                    known.1 |= reached.contains(&LocationId::new(at));
                }
            }
            let missing = missing.values().map(|(edge, reached)| (edge.span, &edge.text, *reached));
            let cut_off =
                cut_off(&proctype.body, flow).into_iter().map(|stmt| (stmt.span, &stmt.text, false));
            let mut missing: Vec<(Span, &Arc<str>, bool)> = missing.chain(cut_off).collect();
            missing.sort_by_key(|(span, ..)| span.start);
            found.extend(missing.into_iter().map(|(span, text, reached)| {
                let ((file, line), text) = (self.place(span), text.to_string());
                Unreached::Statement { process: process.clone(), file, line, text, reached }
            }));
        }
        found
    }

    fn pardon(&self, system: &ActionSystem, error: &StepError) -> Option<ActionSystem> {
        let Fault::Assertion(number) = error.fault else { return None };
        let promises = &self.code.made.promises;
        let assertion = promises.get(number as usize)?.assertion?;
        let is_pardoned =
            |number: u32| promises.get(number as usize).is_some_and(|its| its.assertion == Some(assertion));
        let mut parts = system.to_parts();
        parts.actions.iter_mut().for_each(|action| forget(&mut action.effect, &is_pardoned));
        system.with_parts(parts).ok()
    }

    fn may_stay(&self, system: &ActionSystem, state: &[i64]) -> Option<ActionSystem> {
        let label = system.labels().iter().position(|label| label.name == RESTS)?;
        let owner = system.processes().iter().position(|process| process.name == NOBODY)?;
        let mut parts = system.to_parts();
        let places = self.code.made.world.slots.iter().map(|&slot| Guard::equals(slot, state[slot.index()]));
        let first = parts.guards.len();
        parts.guards.extend(places.chain([Guard::Quiet]));
        let guards = (first..parts.guards.len()).map(GuardId::new).collect();
        let (label, owners) = (LabelId::new(label), vec![ProcessId::new(owner)]);
        parts.actions.push(model::Action { label, guards, effect: Vec::new(), owners });
        parts.goes_on.push(None);
        system.with_parts(parts).ok()
    }

    fn location(&self, process: &str) -> Option<VarId> {
        let slot: usize = process.rsplit_once('(')?.1.strip_suffix(')')?.parse().ok()?;
        self.code.made.world.slots.get(slot).copied()
    }
}

impl Teller {
    /// The file, if it is not the model's own, and the line.
    fn place(&self, span: Span) -> (Option<String>, usize) {
        let source = self.sources.get(span.source);
        let file = (source.name != self.file).then(|| source.name.clone());
        (file, source.position(span.start).0)
    }

    /// A location of a proctype, if there is one.
    fn position(&self, process: String, proctype: ProctypeId, index: usize) -> Option<Position> {
        let Stop { span, may_stay, is_over } = *self.code.made.stops[proctype.index()].get(index)?;
        let (file, line) = self.place(span);
        let words = self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let mut text: String = words.chars().take(MAX_LETTERS).collect();
        if text.len() < words.len() {
            text.push('…');
        }
        Some(Position { process, file, line, text, may_stay, is_over })
    }

    /// Returns whether nothing goes wrong that it knows of.
    fn tell_words(&self, words: &Words, before: &[i64], out: &mut Vec<Statement>) -> bool {
        let (start, mark) = (out.len(), self.mark(words));
        let is_fine = self.tell_inside(words, before, out);
        // To Spin, all of a d_step is one statement.
        for (nth, statement) in out[start..].iter_mut().enumerate() {
            statement.mark = mark.filter(|_| nth == 0);
        }
        is_fine
    }

    /// What a statement is called in Spin's trails.
    fn mark(&self, words: &Words) -> Option<(u32, u32)> {
        let instance = &self.code.made.world.processes[words.process].instance;
        let first = self.code.made.firsts[instance.proctype.index()]?;
        Some((instance.slot, first + words.statement - 1))
    }

    fn tell_inside(&self, words: &Words, before: &[i64], out: &mut Vec<Statement>) -> bool {
        let Some(inside) = &words.inside else {
            out.push(self.statement(words, before));
            return true;
        };
        let mut values = before.to_vec();
        if let Some(first) = &inside.first {
            out.push(self.statement(words, before));
            if reference::execute(&self.code.system, first, &mut values).is_err() {
                return false;
            }
        }
        let mut at = inside.start;
        while !inside.locations[at].is_empty() && out.len() < MAX_STATEMENTS {
            let is_possible = |inner: &&Inner| self.value(inner.possible, &values) != Some(0);
            let Some(inner) = inside.locations[at].iter().find(is_possible) else {
                // It blocks.
                out.extend(inside.locations[at].first().map(|inner| self.statement(&inner.words, &values)));
                return false;
            };
            if !self.tell_words(&inner.words, &values, out)
                || reference::execute(&self.code.system, &inner.effect, &mut values).is_err()
            {
                return false;
            }
            at = inner.target;
        }
        true
    }

    fn statement(&self, words: &Words, before: &[i64]) -> Statement {
        let (file, line) = self.place(words.span);
        Statement {
            process: self.name_of(&self.code.made.world.processes[words.process]),
            file,
            line,
            text: words.text.to_string(),
            output: words.print.as_ref().map(|print| self.printed(print, before)),
            message: words.sends.as_ref().and_then(|sends| self.message(sends, before)),
            mark: None,
        }
    }

    fn living<'s>(&'s self, state: &'s [i64]) -> impl Iterator<Item = &'s Process> {
        self.code.made.world.processes.iter().filter(|process| self.lives(process, state))
    }

    fn lives(&self, process: &Process, state: &[i64]) -> bool {
        let at = state[self.code.made.world.slots[process.instance.slot as usize].index()];
        (process.first_location..process.first_location + process.n_locations).contains(&at)
    }

    fn name_of(&self, process: &Process) -> String {
        let proctype = &self.code.made.program.proctypes[process.instance.proctype.index()];
        format!("{}({})", proctype.name, process.instance.slot)
    }

    /// What is in a state; without variables of which another state has the same.
    fn items_unlike(&self, state: &[i64], other: Option<&[i64]>) -> Vec<Item> {
        let (program, world) = (&self.code.made.program, &self.code.made.world);
        let mut items = Vec::new();
        for (variable, storage) in program.globals.iter().zip(&world.globals) {
            self.add_items(&variable.name, variable, storage, state, other, &mut items);
        }
        for channel in &world.channels {
            if let Some(len) = channel.len {
                let len = state[len.index()].clamp(0, i64::from(channel.capacity())) as usize;
                let messages: Vec<String> =
                    (0..len).map(|message| self.contents(channel, message, state).join(",")).collect();
                let value = format!("[{}]", messages.join(if channel.cells.len() > 1 { "; " } else { "," }));
                items.push(Item { name: channel.name.clone(), value, is_channel: true });
            }
        }
        for process in self.living(state) {
            let proctype = &program.proctypes[process.instance.proctype.index()];
            // Who does not live there has no variables there.
            let other = other.filter(|other| self.lives(process, other));
            for (local, storage) in proctype.locals.iter().zip(&process.locals) {
                let name = format!("{}:{}", self.name_of(process), local.name);
                self.add_items(&name, local, storage, state, other, &mut items);
            }
        }
        items
    }

    fn add_items(
        &self,
        name: &str,
        variable: &program::Variable,
        storage: &super::storage::Storage,
        state: &[i64],
        other: Option<&[i64]>,
        items: &mut Vec<Item>,
    ) {
        for (part, row) in parts(&self.code.made.program, variable).iter().zip(&storage.rows) {
            let At::Vars(first) = row.at else { continue };
            for index in 0..row.len() {
                let at = first.index() + index as usize;
                if other.is_some_and(|other| other[at] == state[at]) {
                    continue;
                }
                let name = format!("{name}{}", element_name(&part.name, &part.lengths, index));
                let value = self.shown(row.ty, state[at]);
                items.push(Item { name, value, is_channel: false });
            }
        }
    }

    /// A value of a type, as it is shown.
    fn shown(&self, ty: Type, value: i64) -> String {
        let channel =
            usize::try_from(value - 1).ok().and_then(|index| self.code.made.world.channels.get(index));
        match (ty, channel) {
            (Type::Mtype(id), _) => symbol(&self.code.made.program, id, value),
            (Type::Chan, Some(channel)) => channel.name.clone(),
            _ => value.to_string(),
        }
    }

    fn contents(&self, channel: &Channel, message: usize, state: &[i64]) -> Vec<String> {
        let cells = channel.cells.iter().map(|first| state[first.index() + message]);
        channel.shape.fields.iter().zip(cells).map(|(&ty, value)| self.shown(ty, value)).collect()
    }

    fn value(&self, expr: ExprId, values: &[i64]) -> Option<i64> {
        reference::value(&self.code.system, expr, values).ok()
    }

    fn message(&self, sends: &Sends, before: &[i64]) -> Option<Message> {
        let given = |channel: &Channel, values: &[ExprId]| {
            let fields = channel.shape.fields.iter().zip(values);
            fields.map(|(&ty, &value)| self.shown(ty, self.value(value, before).unwrap_or(0))).collect()
        };
        let (channel, values, way) = match sends {
            Sends::Send { channel, values } => {
                let channel = &self.code.made.world.channels[*channel];
                (channel, given(channel, values), Way::Sent)
            }
            Sends::Hand { channel, values, to } => {
                let channel = &self.code.made.world.channels[*channel];
                let to = self.name_of(&self.code.made.world.processes[*to]);
                (channel, given(channel, values), Way::Handed(to))
            }
            Sends::Receive { channel, wanted } => {
                let channel = &self.code.made.world.channels[*channel];
                let fits = |message: &usize| {
                    wanted.iter().zip(&channel.cells).all(|(wanted, first)| {
                        let cell = before[first.index() + message];
                        wanted.is_none_or(|wanted| self.value(wanted, before) == Some(cell))
                    })
                };
                let message = (0..channel.capacity() as usize).find(fits)?;
                (channel, self.contents(channel, message, before), Way::Received)
            }
        };
        Some(Message { channel: channel.name.clone(), values, way })
    }

    /// What a `printf` prints, as Spin does it.
    fn printed(&self, print: &Print, before: &[i64]) -> String {
        let mut values = print.values.iter().map(|&(expr, set)| (self.value(expr, before).unwrap_or(0), set));
        let mut text = String::new();
        let mut letters = print.format.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(other) => text.push(other),
                    None => {}
                },
                '%' => {
                    let kind = letters.next();
                    if kind == Some('%') {
                        text.push('%');
                        continue;
                    }
                    let Some((value, set)) = values.next() else { continue };
                    match kind {
                        Some('c') => text.push(char::from(value as u8)),
                        Some('e') => text.push_str(&symbol(&self.code.made.program, set, value)),
                        Some('o') => text.push_str(&format!("{:o}", value as i32)),
                        Some('u') => text.push_str(&format!("{}", value as u32)),
                        Some('x') => text.push_str(&format!("{:x}", value as i32)),
                        _ => text.push_str(&value.to_string()),
                    }
                }
                letter => text.push(letter),
            }
        }
        text
    }
}

/// Leaves promises out.
fn forget(effect: &mut Vec<Stmt>, is_pardoned: &dyn Fn(u32) -> bool) {
    effect.retain(|stmt| !matches!(stmt, Stmt::Assert(_, number) if is_pardoned(*number)));
    for stmt in effect {
        match stmt {
            Stmt::If(_, first, second) => {
                forget(first, is_pardoned);
                forget(second, is_pardoned);
            }
            Stmt::While(_, body) => forget(body, is_pardoned),
            _ => {}
        }
    }
}

/// The statements that no way leads to, whatever the values are: behind a jump, say, or a loop without an end. Those
/// that do nothing are not told: some of them are left out of graphs.
fn cut_off<'p>(body: &'p [program::Stmt], flow: &Flow<'p>) -> Vec<&'p program::Stmt> {
    let mut used: FxHashSet<*const program::Stmt> = FxHashSet::default();
    let mut flows = vec![flow];
    while let Some(flow) = flows.pop() {
        for edge in flow.locations.iter().flat_map(|location| &location.edges) {
            match &edge.action {
                Action::Stmt(stmt) => _ = used.insert(std::ptr::from_ref(*stmt)),
                Action::DStep(inner) => flows.push(inner),
                Action::Else | Action::Jump | Action::End => {}
            }
        }
    }
    let does_something = |stmt: &program::Stmt| match &stmt.kind {
        StmtKind::Expr(expr) => !matches!(expr.kind, ExprKind::Int(_)),
        StmtKind::Assign(..)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Assert(_)
        | StmtKind::SetPriority(..) => true,
        _ => false,
    };
    let mut found = Vec::new();
    let mut pending: Vec<&program::Stmt> = body.iter().collect();
    while let Some(stmt) = pending.pop() {
        if does_something(stmt) && !used.contains(&std::ptr::from_ref(stmt)) {
            found.push(stmt);
        }
        pending.extend(inside(stmt));
    }
    found.reverse();
    found
}

/// A symbolic name, or a number that is none.
fn symbol(program: &Program, set: MtypeId, value: i64) -> String {
    let names = program.mtypes.get(set.index()).map_or(&[][..], |set| &set.names);
    let name = usize::try_from(value - 1).ok().and_then(|index| names.get(index));
    name.map_or_else(|| value.to_string(), ToString::to_string)
}
