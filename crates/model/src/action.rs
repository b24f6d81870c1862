//! Guards, statements and actions: what a system is made of.
//!
//! Everything here is plain data, written once by a front end through [`Builder`](crate::Builder) and then
//! only read: by the interpreter (`code`, `index`), by the [reference semantics](mod@crate::reference)
//! and by the [`Relations`](crate::Relations).

use fixedbitset::FixedBitSet;

use crate::{ExprId, VarId};

base::define_id! {
    /// An action of an action system.
    pub struct ActionId;
}
base::define_id! {
    /// A guard of an action system, shared by all actions that have it.
    pub struct GuardId;
}
base::define_id! {
    /// A label of an action system.
    pub struct LabelId;
}
base::define_id! {
    /// A process of an action system.
    pub struct ProcessId;
}

/// A process: an owner of actions.
#[derive(Clone, Debug)]
pub struct Process {
    /// What people call it.
    pub name: String,
}

/// What an action is called. Labels of synchronized actions are visible to testers; an internal
/// one (`tau`) is private to its process, whatever its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Whether it is private.
    pub internal: bool,
}

/// A set of values of one variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueSet {
    /// All values from the first to the second, both included.
    Range(i64, i64),
    /// The values `lo + i` for each bit `i` that is set.
    Bits {
        /// What bit 0 stands for.
        lo: i64,
        /// The members.
        members: FixedBitSet,
    },
}

impl ValueSet {
    /// The set of the given values; they should not be far apart.
    pub fn of(values: impl IntoIterator<Item = i64>) -> ValueSet {
        let mut values: Vec<i64> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        let (Some(&lo), Some(&hi)) = (values.first(), values.last()) else {
            return ValueSet::Range(0, -1);
        };
        if hi.wrapping_sub(lo) as u64 == values.len() as u64 - 1 {
            return ValueSet::Range(lo, hi);
        }
        let mut members = FixedBitSet::with_capacity((hi - lo) as usize + 1);
        values.iter().for_each(|value| members.insert((value - lo) as usize));
        ValueSet::Bits { lo, members }
    }

    /// Whether a value is in the set.
    #[inline]
    pub fn contains(&self, value: i64) -> bool {
        match self {
            ValueSet::Range(lo, hi) => *lo <= value && value <= *hi,
            ValueSet::Bits { lo, members } => {
                value >= *lo
                    && usize::try_from(value.wrapping_sub(*lo) as u64).is_ok_and(|i| members.contains(i))
            }
        }
    }

    /// The members that are values of a variable with the range `lo..=hi`, in order.
    pub fn values_within(&self, lo: i64, hi: i64) -> impl Iterator<Item = i64> {
        let (range, listed) = match self {
            ValueSet::Range(from, to) => (Some((*from).max(lo)..=(*to).min(hi)), None),
            ValueSet::Bits { lo: base, members } => {
                (None, Some(members.ones().map(move |at| base + at as i64)))
            }
        };
        let listed = listed.into_iter().flatten().filter(move |value| (lo..=hi).contains(value));
        range.into_iter().flatten().chain(listed)
    }

    /// Number of members that are values of a variable with the range `lo..=hi`.
    pub fn count_within(&self, lo: i64, hi: i64) -> u64 {
        match self {
            ValueSet::Range(from, to) => {
                let (from, to) = ((*from).max(lo), (*to).min(hi));
                if from > to { 0 } else { (to.wrapping_sub(from) as u64).saturating_add(1) }
            }
            ValueSet::Bits { lo: base, members } => {
                members.ones().filter(|&i| (lo..=hi).contains(&(base + i as i64))).count() as u64
            }
        }
    }
}

/// A condition of an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// The variable's value is in the set. What can be said this way should be: such guards are
    /// indexed and their relations are exact.
    In(VarId, ValueSet),
    /// The expression is true.
    True(ExprId),
    /// No action without this guard is enabled: `timeout` of Promela.
    Quiet,
}

impl Guard {
    /// The variable has this value.
    pub fn equals(var: VarId, value: i64) -> Guard {
        Guard::In(var, ValueSet::Range(value, value))
    }

    /// The variable has at least this value.
    pub fn at_least(var: VarId, value: i64) -> Guard {
        Guard::In(var, ValueSet::Range(value, i64::MAX))
    }

    /// The variable has one of these values.
    pub fn one_of(var: VarId, values: impl IntoIterator<Item = i64>) -> Guard {
        Guard::In(var, ValueSet::of(values))
    }
}

/// A statement of an effect. Statements are executed in order; each sees what those before it
/// have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// `var := value`.
    Assign(VarId, ExprId),
    /// `array[index] := value`.
    AssignElement {
        /// Variable of index 0.
        first: VarId,
        /// Number of elements.
        len: u32,
        /// Which element.
        index: ExprId,
        /// The new value.
        value: ExprId,
    },
    /// `var := value`, a constant.
    Set(VarId, i64),
    /// `var := table[var - lo]`, where `lo` is the variable's least value. A value that the table
    /// does not reach or maps to `None` is a fault: the guards must exclude it.
    Map(VarId, Vec<Option<i64>>),
    /// `var := var + amount`.
    Add(VarId, i64),
    /// The first statements if the condition is true, else the second ones.
    If(ExprId, Vec<Stmt>, Vec<Stmt>),
    /// The statements, as long as the condition is true.
    While(ExprId, Vec<Stmt>),
    /// A fault with the given number unless the condition is true.
    Assert(ExprId, u32),
}

impl Stmt {
    /// An effect may go round its loops this often, in all: whoever waits for more gets no answer
    /// ([`Fault::TooLong`](crate::Fault::TooLong)).
    pub const MAX_ROUNDS: u32 = 1 << 24;

    /// `var := value`.
    pub fn assign(var: VarId, value: ExprId) -> Stmt {
        Stmt::Assign(var, value)
    }

    /// `var := value`, a constant.
    pub fn set(var: VarId, value: i64) -> Stmt {
        Stmt::Set(var, value)
    }
}

/// Something the system can do: when all guards are true, the effect happens at once.
#[derive(Clone, Debug)]
pub struct Action {
    /// What it is called.
    pub label: LabelId,
    /// All must be true.
    pub guards: Vec<GuardId>,
    /// What it does.
    pub effect: Vec<Stmt>,
    /// The processes that take part.
    pub owners: Vec<ProcessId>,
}

/// A named truth about states: an invariant, or an atom of a formula.
#[derive(Clone, Debug)]
pub struct Proposition {
    /// What people call it.
    pub name: String,
    /// When it is true.
    pub expr: ExprId,
}
