//! Everything that has a place in the state: variables, processes, channels.

use model::{Builder, Queue, VarId, Variable};

use super::facts::Facts;
use super::plan::{Instance, Plan};
use super::ranges::{Interval, Ranges};
use super::storage::{At, Part, Row, Storage, element_name, n_channels, parts};
use super::trace::{self, Trace};
use crate::flow::Flow;
use crate::program::{self, ExprKind, Init, Program, Type};

/// The name of variables that nobody wants to see.
pub(crate) const UNNAMED: &str = "";

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) globals: Vec<Storage>,
    /// The processes of the plan, in its order.
    pub(crate) processes: Vec<Process>,
    /// Per process number: where that process is. 0: nowhere.
    pub(crate) slots: Vec<VarId>,
    /// How many processes there are.
    pub(crate) n_processes: VarId,
    /// How many channels there are; nothing if that never changes.
    pub(crate) n_channels: Option<VarId>,
    pub(crate) priorities: Priorities,
    /// Who made the last step, if somebody wants to know.
    pub(crate) last: Option<VarId>,
    /// The trace that watches what is sent and received.
    pub(crate) trace: Option<Trace>,
    /// For the use of effects; always 0 between steps.
    pub(crate) scratch: Option<VarId>,
    /// Always 0.
    pub(crate) nothing: VarId,
    /// Channels; the number of the first is 1.
    pub(crate) channels: Vec<Channel>,
    /// Least and greatest value of each variable.
    pub(crate) ranges: Vec<(i64, i64)>,
}

/// The priorities of processes.
#[derive(Clone, Debug)]
pub(crate) enum Priorities {
    /// All are 1, or they are ignored.
    None,
    /// Those with which processes start.
    Fixed,
    /// A variable per process number.
    Vars(Vec<VarId>),
}

/// A process for which there is code.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) instance: Instance,
    pub(crate) owner: model::ProcessId,
    pub(crate) locals: Vec<Storage>,
    /// What its first location is called in its slot's variable; the others follow.
    pub(crate) first_location: i64,
    pub(crate) n_locations: i64,
    /// Its own channels: from this one, so many.
    pub(crate) own_channels: Vec<usize>,
    /// The variables of its frame.
    pub(crate) frame: (usize, usize),
}

/// A channel: how many messages it holds, and the messages.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// Its number among the channels that exist with it, from 1 on.
    pub(crate) position: u32,
    /// The variable that it was first seen in.
    pub(crate) name: String,
    pub(crate) shape: program::Channel,
    /// The number of messages; nothing if it is a rendezvous channel.
    pub(crate) len: Option<VarId>,
    /// Per field: the first of as many variables as messages fit. Those that are not used are 0.
    pub(crate) cells: Vec<VarId>,
    /// What it is among the queues of the system, if it holds messages.
    pub(crate) queue: Option<u32>,
}

impl Channel {
    /// Whether a variable is part of it.
    pub(crate) fn has(&self, var: VarId) -> bool {
        let is_cell =
            |first: &VarId| (first.index()..first.index() + self.capacity() as usize).contains(&var.index());
        self.len == Some(var) || self.cells.iter().any(is_cell)
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.shape.capacity
    }
}

/// Builds the world.
pub(crate) struct WorldBuilder<'b> {
    pub(crate) program: &'b Program,
    pub(crate) facts: &'b Facts,
    values: &'b Ranges,
    pub(crate) builder: &'b mut Builder,
    /// The initial values of the variables.
    pub(crate) initial: Vec<i64>,
    ranges: Vec<(i64, i64)>,
    channels: Vec<Channel>,
}

/// A value that is known: of an initial value that is an expression over what is known.
pub(crate) type Known<'k> =
    &'k dyn Fn(&[Storage], Option<(&Instance, &[Storage])>, &program::Expr) -> Option<i32>;

impl<'b> WorldBuilder<'b> {
    pub(crate) fn new(
        program: &'b Program,
        facts: &'b Facts,
        values: &'b Ranges,
        builder: &'b mut Builder,
    ) -> WorldBuilder<'b> {
        WorldBuilder {
            program,
            facts,
            values,
            builder,
            initial: Vec::new(),
            ranges: Vec::new(),
            channels: Vec::new(),
        }
    }

    fn variable(&mut self, variable: Variable, initial: i64) -> VarId {
        self.ranges.push((variable.lo, variable.hi));
        self.initial.push(initial);
        self.builder.variable(variable)
    }

    /// All of it.
    pub(crate) fn build(
        mut self,
        plan: &Plan,
        flows: &[Flow<'_>],
        scratch: Option<i64>,
        known: Known<'_>,
    ) -> (World, Vec<i64>) {
        let program = self.program;
        let most = plan.instances().iter().map(|instance| i64::from(instance.slot) + 1).max().unwrap_or(0);
        let n_initial = program.initial.len() as i64;
        let n_processes = self.variable(Variable::new("_nr_pr", 0, most.max(n_initial)), n_initial);
        let mut globals = Vec::new();
        let mut n_own = 0;
        for (index, variable) in program.globals.iter().enumerate() {
            let changes = self.facts.changes_global(index);
            let own = self.add_channels(&mut n_own, &variable.name, variable);
            let values = |expr: &program::Expr| known(&globals, None, expr);
            let storage = match self.facts.drops_global(program, index) {
                true => Storage { rows: vec![Row { ty: variable.ty, lengths: Vec::new(), at: At::Nowhere }] },
                false => {
                    let ranges = |part| self.values.global(index, part);
                    self.storage(&variable.name, variable, changes, None, &own, &values, &ranges)
                }
            };
            globals.push(storage);
        }
        let has_own = |instance: &Instance| {
            let locals = &program.proctypes[instance.proctype.index()].locals;
            locals.iter().any(|local| n_channels(program, local) > 0)
        };
        let n_global = n_own;
        let last = self.facts.uses_last.then(|| self.variable(Variable::new("_last", 0, 255), 0));
        let trace = trace::find(program).map(|(proctype, forbids)| {
            let flow = &flows[proctype.index()];
            let variable = Variable::new("_event", 0, flow.locations.len() as i64);
            Trace { proctype, at: self.variable(variable, flow.initial.index() as i64), forbids }
        });
        let scratch = scratch.map(|most| self.variable(Variable::new(UNNAMED, 0, most), 0));
        let nothing = self.variable(Variable::new(UNNAMED, 0, 0), 0);
        let n_channels = plan
            .instances()
            .iter()
            .any(has_own)
            .then(|| self.variable(Variable::new("_nr_qs", 0, 255), i64::from(n_global)));
        let mut slots: Vec<(VarId, i64)> = Vec::new();
        let n_slots = most as usize;
        let mut n_locations = vec![0i64; n_slots];
        let mut names: Vec<Vec<String>> = vec![vec!["-".to_owned()]; n_slots];
        for instance in plan.instances() {
            let flow = &flows[instance.proctype.index()];
            let name = &program.proctypes[instance.proctype.index()].name;
            n_locations[instance.slot as usize] += flow.locations.len() as i64;
            names[instance.slot as usize]
                .extend(flow.locations.iter().map(|location| format!("{name}:{}", location.number)));
        }
        for (slot, names) in names.into_iter().enumerate() {
            let mut variable = Variable::named(format!("_pc[{slot}]"), names.into());
            variable.hi = n_locations[slot];
            let var = self.variable(variable, 0);
            slots.push((var, 1));
        }
        let priorities = match program.heeds_priorities() {
            false => Priorities::None,
            true if self.facts.sets_priority => {
                let name = |slot| Variable::new(format!("_priority[{slot}]"), 0, 255);
                Priorities::Vars((0..n_slots).map(|slot| self.variable(name(slot), 0)).collect())
            }
            true => Priorities::Fixed,
        };
        let mut processes = Vec::new();
        for instance in plan.instances() {
            let proctype = &program.proctypes[instance.proctype.index()];
            let owner = self.builder.process(format!("{}({})", proctype.name, instance.slot));
            let start = self.initial.len();
            let mut locals: Vec<Storage> = Vec::new();
            let mut n_own = instance.n_channels;
            let mut own_channels = Vec::new();
            for (index, local) in proctype.locals.iter().enumerate() {
                let name = format!("{}({}):{}", proctype.name, instance.slot, local.name);
                let own = self.add_channels(&mut n_own, &name, local);
                own_channels.extend(own.iter().flatten().map(|&number| number as usize - 1));
                let changes = self.facts.changes_local(instance.proctype, index);
                let argument = instance.arguments.get(index).copied().flatten();
                let is_variable = changes || index < proctype.n_parameters && argument.is_none();
                let values = |expr: &program::Expr| known(&globals, Some((instance, &locals)), expr);
                let ranges = |part| self.values.local(instance.proctype, index, part);
                let storage = self.storage(&name, local, is_variable, argument, &own, &values, &ranges);
                locals.push(storage);
            }
            let (_, next) = &mut slots[instance.slot as usize];
            let first_location = *next;
            let n_locations = flows[instance.proctype.index()].locations.len() as i64;
            *next += n_locations;
            let frame = (start, self.initial.len());
            self.initial[start..].fill(0);
            processes.push(Process {
                instance: instance.clone(),
                owner,
                locals,
                first_location,
                n_locations,
                own_channels,
                frame,
            });
        }
        let world = World {
            globals,
            processes,
            slots: slots.into_iter().map(|(var, _)| var).collect(),
            n_processes,
            n_channels,
            priorities,
            last,
            trace,
            scratch,
            nothing,
            channels: self.channels,
            ranges: self.ranges,
        };
        (world, self.initial)
    }

    /// The channels that a declaration makes, by their numbers: for each part of the variable, its own.
    fn add_channels(
        &mut self,
        n_before: &mut u32,
        name: &str,
        variable: &program::Variable,
    ) -> Vec<Vec<i32>> {
        let mut numbers = Vec::new();
        for part in parts(self.program, variable) {
            let mut own = Vec::new();
            if let Init::Channel(shape) = &part.declared.init {
                for index in 0..part.len() {
                    *n_before += 1;
                    let name = format!("{name}{}", element_name(&part.name, &part.lengths, index));
                    own.push(self.channel(*n_before, name, shape));
                }
            }
            numbers.push(own);
        }
        numbers
    }

    /// The channel of this shape at this position; the same for all who can only have it one after another.
    fn channel(&mut self, position: u32, name: String, shape: &program::Channel) -> i32 {
        let same = |known: &Channel| {
            known.position == position
                && known.shape.capacity == shape.capacity
                && known.shape.fields == shape.fields
        };
        if let Some(known) = self.channels.iter().position(same) {
            return known as i32 + 1;
        }
        let capacity = shape.capacity;
        let len = (capacity > 0)
            .then(|| self.variable(Variable::new(format!("len({name})"), 0, i64::from(capacity)), 0));
        let mut cells = Vec::new();
        for (field, ty) in shape.fields.iter().enumerate() {
            let (lo, hi) = within(self.values.field(shape, field), *ty);
            let first = VarId::new(self.initial.len());
            for message in 0..capacity {
                let name = format!("{name}[{message}].{field}");
                self.variable(Variable::new(name, lo, hi), 0);
            }
            cells.push(first);
        }
        let queue = len.map(|len| {
            let behind = (len.index() + 1)..self.initial.len();
            let (front, cells) = (cells.clone(), behind.map(VarId::new).collect());
            self.builder.queue(Queue { len, front, cells })
        });
        self.channels.push(Channel { position, name, shape: shape.clone(), len, cells, queue });
        self.channels.len() as i32
    }

    /// The rows of a variable. If it never changes and its values are known, they are constants.
    #[allow(clippy::too_many_arguments)]
    fn storage(
        &mut self,
        name: &str,
        variable: &program::Variable,
        changes: bool,
        argument: Option<i32>,
        own: &[Vec<i32>],
        known: &dyn Fn(&program::Expr) -> Option<i32>,
        ranges: &dyn Fn(usize) -> Interval,
    ) -> Storage {
        let mut rows = Vec::new();
        for (at, (part, own)) in parts(self.program, variable).into_iter().zip(own).enumerate() {
            let (ty, n) = (part.declared.ty, part.len() as usize);
            let values = match argument {
                Some(argument) => Some(vec![argument; n]),
                None => initial_values(&part, own, known),
            };
            let at = match values {
                Some(values) if !changes => At::Constants(values),
                values => {
                    let (lo, hi) = within(ranges(at), ty);
                    let first = VarId::new(self.initial.len());
                    for index in 0..n {
                        let name = format!("{name}{}", element_name(&part.name, &part.lengths, index as u32));
                        let variable = self.shown(Variable::new(name, lo, hi), ty);
                        let value = values.as_ref().map_or(0, |values| values[index]);
                        self.variable(variable, i64::from(value));
                    }
                    At::Vars(first)
                }
            };
            rows.push(Row { ty, lengths: part.lengths, at });
        }
        Storage { rows }
    }

    /// Symbolic names are shown as such.
    fn shown(&self, mut variable: Variable, ty: Type) -> Variable {
        if let Type::Mtype(id) = ty {
            let names = &self.program.mtypes[id.index()].names;
            if !names.is_empty() {
                let mut shown: Vec<String> = vec!["0".to_owned()];
                shown.extend(names.iter().map(ToString::to_string));
                shown.extend((shown.len()..256).map(|value| value.to_string()));
                variable.value_names = Some(shown.into());
            }
        }
        variable
    }
}

/// An interval, as far as a type has these values.
fn within(interval: Interval, ty: Type) -> Interval {
    let (lo, hi) = ty.range();
    (interval.0.max(i64::from(lo)), interval.1.min(i64::from(hi)))
}

/// The initial values of all elements of a part, if they are known. `own` are its channels.
pub(crate) fn initial_values(
    part: &Part<'_>,
    own: &[i32],
    known: &dyn Fn(&program::Expr) -> Option<i32>,
) -> Option<Vec<i32>> {
    let (ty, n) = (part.declared.ty, part.len() as usize);
    Some(match &part.declared.init {
        Init::Zero => vec![0; n],
        Init::Expr(expr) => vec![ty.truncate(known(expr)?); n],
        // Fields of typedefs have their list in each element.
        Init::List(values) => {
            (0..n).map(|at| ty.truncate(values.get(at % values.len().max(1)).copied().unwrap_or(0))).collect()
        }
        Init::Channel(_) => own.to_vec(),
    })
}

/// The value of an expression over what never changes.
pub(crate) fn known(
    globals: &[Storage],
    process: Option<(&Instance, &[Storage])>,
    expr: &program::Expr,
) -> Option<i32> {
    let known = |expr: &program::Expr| known(globals, process, expr);
    match &expr.kind {
        ExprKind::Int(value) | ExprKind::Symbol(_, value) => Some(*value),
        ExprKind::Pid => process.map(|(instance, _)| instance.slot as i32),
        ExprKind::Unary(op, x) => Some(crate::eval::unary(*op, known(x)?)),
        ExprKind::Binary(op, operands) => crate::eval::binary(*op, known(&operands.0)?, known(&operands.1)?),
        ExprKind::Conditional(parts) => {
            if known(&parts.0)? != 0 {
                known(&parts.1)
            } else {
                known(&parts.2)
            }
        }
        ExprKind::Load(place) => {
            let storage = match place.root {
                program::VarId::Global(global) => globals.get(global.index())?,
                program::VarId::Local(local) => process?.1.get(local.index())?,
            };
            let ([row], At::Constants(values)) = (&storage.rows[..], &storage.rows.first()?.at) else {
                return None;
            };
            match (&place.steps[..], &row.lengths[..]) {
                ([], []) => values.first().copied(),
                ([program::Step::Index(index)], [_]) => {
                    values.get(usize::try_from(known(index)?).ok()?).copied()
                }
                _ => None,
            }
        }
        _ => None,
    }
}
