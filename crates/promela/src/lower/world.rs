//! Everything that has a place in the state: variables, processes, channels.

use std::sync::Arc;

use base::Limit;
use model::{Builder, Queue, Range, VarId, Variable};

use super::facts::Facts;
use super::plan::{Instance, Plan};
use super::ranges::{Interval, Ranges};
use super::scratch;
use super::storage::{At, Part, Row, Storage, element_name, n_channels, parts};
use super::trace::{self, Trace};
use crate::cost::Cost;
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
    /// What the values of each set of symbolic names are called.
    symbols: Vec<Option<Arc<[String]>>>,
    cost: &'b dyn Cost,
}

impl<'b> WorldBuilder<'b> {
    pub(crate) fn new(
        program: &'b Program,
        facts: &'b Facts,
        values: &'b Ranges,
        builder: &'b mut Builder,
        cost: &'b dyn Cost,
    ) -> WorldBuilder<'b> {
        WorldBuilder {
            program,
            facts,
            values,
            builder,
            cost,
            initial: Vec::new(),
            ranges: Vec::new(),
            channels: Vec::new(),
            symbols: vec![None; program.mtypes.len()],
        }
    }

    /// Adds a variable with its initial value.
    fn variable(&mut self, variable: Variable, initial: i64) -> Result<VarId, Limit> {
        self.cost.keep(VARIABLE_BYTES + variable.name.len())?;
        self.ranges.push((variable.lo, variable.hi));
        self.initial.push(initial);
        Ok(self.builder.variable(variable))
    }

    /// All of it.
    pub(crate) fn build(mut self, plan: &Plan, flows: &[Flow<'_>]) -> Result<(World, Vec<i64>), Limit> {
        let program = self.program;
        let most = plan.instances().iter().map(|instance| i64::from(instance.slot) + 1).max().unwrap_or(0);
        let n_initial = program.initial.len() as i64;
        let n_processes = self.variable(Variable::new("_nr_pr", 0, most.max(n_initial)), n_initial)?;
        let (globals, n_global) = self.globals()?;
        let last = match self.facts.uses_last {
            true => Some(self.variable(Variable::new("_last", 0, 255), 0)?),
            false => None,
        };
        let trace = match trace::find(program) {
            Some((proctype, forbids)) => {
                let flow = &flows[proctype.index()];
                let variable = Variable::new("_event", 0, flow.locations.len() as i64);
                Some(Trace { proctype, at: self.variable(variable, flow.initial.index() as i64)?, forbids })
            }
            None => None,
        };
        let scratch = match scratch(program, flows) {
            Some(most) => Some(self.variable(Variable::new(UNNAMED, 0, most), 0)?),
            None => None,
        };
        let nothing = self.variable(Variable::new(UNNAMED, 0, 0), 0)?;
        let has_own = |instance: &Instance| {
            let locals = &program.proctypes[instance.proctype.index()].locals;
            locals.iter().any(|local| n_channels(program, local) > 0)
        };
        let n_channels = match plan.instances().iter().any(has_own) {
            true => Some(self.variable(Variable::new("_nr_qs", 0, 255), i64::from(n_global))?),
            false => None,
        };
        let slots = self.slots(plan, flows, most as usize)?;
        let priorities = match program.heeds_priorities() {
            false => Priorities::None,
            true if self.facts.sets_priority => {
                let vars: Result<_, Limit> = (0..slots.len())
                    .map(|slot| self.variable(Variable::new(format!("_priority[{slot}]"), 0, 255), 0))
                    .collect();
                Priorities::Vars(vars?)
            }
            true => Priorities::Fixed,
        };
        let mut processes = Vec::new();
        let mut next_location = vec![1; slots.len()];
        for instance in plan.instances() {
            let n_locations = flows[instance.proctype.index()].locations.len() as i64;
            let first_location = next_location[instance.slot as usize];
            next_location[instance.slot as usize] += n_locations;
            processes.push(self.process(instance, &globals, first_location, n_locations)?);
        }
        let world = World {
            globals,
            processes,
            slots,
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
        Ok((world, self.initial))
    }

    /// The global variables, and how many channels they make.
    fn globals(&mut self) -> Result<(Vec<Storage>, u32), Limit> {
        let program = self.program;
        let (mut globals, mut n_own) = (Vec::new(), 0);
        for (index, variable) in program.globals.iter().enumerate() {
            let own = self.add_channels(&mut n_own, &variable.name, variable)?;
            if self.facts.drops_global(program, index) {
                let nowhere = Row { ty: variable.ty, lengths: Vec::new(), at: At::Nowhere };
                globals.push(Storage { rows: vec![nowhere] });
                continue;
            }
            let ranges = self.values;
            let subject = Subject {
                name: variable.name.to_string(),
                variable,
                changes: self.facts.changes_global(index),
                argument: None,
                own,
            };
            let known = |expr: &program::Expr| known(&globals, None, expr);
            let storage = self.storage(&subject, &known, &|part| ranges.global(index, part))?;
            globals.push(storage);
        }
        Ok((globals, n_own))
    }

    /// Per process number, where that process is.
    fn slots(&mut self, plan: &Plan, flows: &[Flow<'_>], n_slots: usize) -> Result<Vec<VarId>, Limit> {
        let mut names: Vec<Vec<String>> = vec![vec!["-".to_owned()]; n_slots];
        for instance in plan.instances() {
            let flow = &flows[instance.proctype.index()];
            let name = &self.program.proctypes[instance.proctype.index()].name;
            self.cost.keep(flow.locations.len() * (size_of::<String>() + name.len() + 16))?;
            names[instance.slot as usize]
                .extend(flow.locations.iter().map(|location| format!("{name}:{}", location.number)));
        }
        let mut slots = Vec::new();
        for (slot, names) in names.into_iter().enumerate() {
            slots.push(self.variable(Variable::named(format!("_pc[{slot}]"), names.into()), 0)?);
        }
        Ok(slots)
    }

    /// A process of the plan, and its frame.
    fn process(
        &mut self,
        instance: &Instance,
        globals: &[Storage],
        first_location: i64,
        n_locations: i64,
    ) -> Result<Process, Limit> {
        let proctype = &self.program.proctypes[instance.proctype.index()];
        let owner = self.builder.process(format!("{}({})", proctype.name, instance.slot));
        let start = self.initial.len();
        let (mut locals, mut own_channels) = (Vec::new(), Vec::new());
        let mut n_own = instance.n_channels;
        for (index, variable) in proctype.locals.iter().enumerate() {
            let name = format!("{}({}):{}", proctype.name, instance.slot, variable.name);
            let own = self.add_channels(&mut n_own, &name, variable)?;
            own_channels.extend(own.iter().flatten().map(|&number| number as usize - 1));
            let argument = instance.arguments.get(index).copied().flatten();
            let is_open = index < proctype.n_parameters && argument.is_none();
            let changes = is_open || self.facts.changes_local(instance.proctype, index);
            let ranges = self.values;
            let subject = Subject { name, variable, changes, argument, own };
            let known = |expr: &program::Expr| known(globals, Some((instance, &locals)), expr);
            let ranges = |part| ranges.local(instance.proctype, index, part);
            let storage = self.storage(&subject, &known, &ranges)?;
            locals.push(storage);
        }
        let frame = (start, self.initial.len());
        self.initial[start..].fill(0);
        let instance = instance.clone();
        Ok(Process { instance, owner, locals, first_location, n_locations, own_channels, frame })
    }

    /// The channels that a declaration makes, by their numbers: for each part of the variable, its own.
    fn add_channels(
        &mut self,
        n_before: &mut u32,
        name: &str,
        variable: &program::Variable,
    ) -> Result<Vec<Vec<i32>>, Limit> {
        let mut numbers = Vec::new();
        for part in parts(self.program, variable) {
            let mut own = Vec::new();
            if let Init::Channel(shape) = &part.declared.init {
                for index in 0..part.len() {
                    *n_before += 1;
                    let name = format!("{name}{}", element_name(&part.name, &part.lengths, index));
                    own.push(self.channel(*n_before, name, shape)?);
                }
            }
            numbers.push(own);
        }
        Ok(numbers)
    }

    /// The channel of this shape at this position; the same for all who can only have it one after another.
    fn channel(&mut self, position: u32, name: String, shape: &program::Channel) -> Result<i32, Limit> {
        let same = |known: &Channel| {
            known.position == position
                && known.shape.capacity == shape.capacity
                && known.shape.fields == shape.fields
        };
        if let Some(known) = self.channels.iter().position(same) {
            return Ok(known as i32 + 1);
        }
        let capacity = shape.capacity;
        let len = match capacity {
            0 => None,
            _ => Some(self.variable(Variable::new(format!("len({name})"), 0, i64::from(capacity)), 0)?),
        };
        let mut cells = Vec::new();
        for (field, ty) in shape.fields.iter().enumerate() {
            let (lo, hi) = within(self.values.field(shape, field), *ty);
            let first = VarId::new(self.initial.len());
            for message in 0..capacity {
                let name = format!("{name}[{message}].{field}");
                self.variable(Variable::new(name, lo, hi), 0)?;
            }
            cells.push(first);
        }
        let queue = len.map(|len| {
            let behind = (len.index() + 1)..self.initial.len();
            let (front, cells) = (cells.clone(), behind.map(VarId::new).collect());
            self.builder.queue(Queue { len, front, cells })
        });
        self.channels.push(Channel { position, name, shape: shape.clone(), len, cells, queue });
        Ok(self.channels.len() as i32)
    }

    /// The rows of a variable. If it never changes and its values are known, they are constants.
    fn storage(
        &mut self,
        subject: &Subject<'_>,
        known: &dyn Fn(&program::Expr) -> Option<i32>,
        ranges: &dyn Fn(usize) -> Interval,
    ) -> Result<Storage, Limit> {
        let Subject { name, variable, changes, argument, own } = subject;
        let mut rows = Vec::new();
        for (at, (part, own)) in parts(self.program, variable).into_iter().zip(own).enumerate() {
            let (ty, n) = (part.declared.ty, part.len() as usize);
            self.cost.keep(n * size_of::<i32>())?;
            let values = match *argument {
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
                        let mut variable = Variable::new(name, lo, hi);
                        variable.value_names = self.symbols(ty);
                        variable.range = Range::Proved;
                        let value = values.as_ref().map_or(0, |values| values[index]);
                        self.variable(variable, i64::from(value))?;
                    }
                    At::Vars(first)
                }
            };
            rows.push(Row { ty, lengths: part.lengths, at });
        }
        Ok(Storage { rows })
    }

    /// What the values of a type are called, if they have names.
    fn symbols(&mut self, ty: Type) -> Option<Arc<[String]>> {
        let Type::Mtype(id) = ty else { return None };
        let names = &self.program.mtypes[id.index()].names;
        if names.is_empty() {
            return None;
        }
        let shown = self.symbols[id.index()].get_or_insert_with(|| {
            let mut shown: Vec<String> = vec!["0".to_owned()];
            shown.extend(names.iter().map(ToString::to_string));
            shown.extend((shown.len()..256).map(|value| value.to_string()));
            shown.into()
        });
        Some(shown.clone())
    }
}

/// A variable for which places are made.
struct Subject<'p> {
    name: String,
    variable: &'p program::Variable,
    /// Whether it may change.
    changes: bool,
    /// Its value, if it is a parameter whose value is known.
    argument: Option<i32>,
    /// Its own channels, part by part.
    own: Vec<Vec<i32>>,
}

/// What a variable takes, but for its name: its range and initial value, its field in a state, and its part in
/// an index.
const VARIABLE_BYTES: usize = size_of::<Variable>() + 160;

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
