//! The checked program: every name is resolved, every constant known. This is what the rest of the
//! front end works on.
//!
//! - A variable is a [`GlobalId`], or a [`LocalId`] of its proctype. All locals of a proctype, its
//!   parameters first, then those of all blocks in the order of the text, are one frame.
//! - `for` and `select` are rewritten into assignments and loops as Spin does it, and inlines into
//!   blocks, so statements are few.
//! - Bodies are trees of statements here; [`crate::flow`] turns them into graphs.
//! - All values are 32-bit integers, as in Spin; what a variable keeps of a value is
//!   [`Type::truncate`].

use std::sync::Arc;

use base::{Diagnostics, Span, define_id};

mod code;

pub use code::*;

define_id! {
    /// A global variable, see [`Program::globals`].
    pub struct GlobalId;
}
define_id! {
    /// A variable of a proctype, see [`Proctype::locals`].
    pub struct LocalId;
}
define_id! {
    /// A proctype (or `init`, a claim or a trace), see [`Program::proctypes`].
    pub struct ProctypeId;
}
define_id! {
    /// A typedef, see [`Program::structs`].
    pub struct StructId;
}
define_id! {
    /// A set of symbolic names, see [`Program::mtypes`].
    pub struct MtypeId;
}
define_id! {
    /// A label of a proctype, see [`Proctype::labels`].
    pub struct LabelId;
}

/// A model whose names and types are in order.
#[derive(Clone, Debug)]
pub struct Program {
    /// The global variables in the order of the text.
    pub globals: Vec<Variable>,
    /// The typedefs; a typedef uses only those before it.
    pub structs: Vec<Struct>,
    /// The sets of symbolic names; the first one is the unnamed set, which may be empty.
    pub mtypes: Vec<Mtype>,
    /// Proctypes, `init`, never claims and traces in the order of the text.
    pub proctypes: Vec<Proctype>,
    /// The processes that are there at the start, in the order of their process numbers.
    pub initial: Vec<ProctypeId>,
    /// The formulas of the model.
    pub formulas: Vec<Property>,
    /// `xr` and `xs` assertions.
    pub exclusives: Vec<Exclusive>,
    /// Where a priority other than 1 is given first, or one is set.
    pub priorities: Option<Span>,
    /// How many processes may exist at the same time.
    pub max_processes: u32,
    /// What is probably not meant.
    pub warnings: Diagnostics,
    /// Expressions that are not in the text, but that were asked for.
    pub questions: Vec<Expr>,
}

impl Program {
    /// Whether priorities matter: they do if there are several, and no rendezvous channel.
    pub fn heeds_priorities(&self) -> bool {
        let structs = self.structs.iter().flat_map(|its| &its.fields);
        let locals = self.proctypes.iter().flat_map(|proctype| &proctype.locals);
        let mut all = self.globals.iter().chain(structs).chain(locals);
        let meets = |variable: &Variable| matches!(variable.init, Init::Channel(Channel { capacity: 0, .. }));
        self.priorities.is_some() && !all.any(meets)
    }
}

/// A typedef.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name.
    pub name: Arc<str>,
    /// Its fields; initial values apply to each variable of this type.
    pub fields: Vec<Variable>,
    /// Where its name stands.
    pub span: Span,
}

/// A set of symbolic names.
#[derive(Clone, Debug)]
pub struct Mtype {
    /// Empty for the unnamed set.
    pub name: Arc<str>,
    /// The names: `names[i]` has the value `i + 1`. As in Spin, the last name of a list has the
    /// least value, and a later list of the same set continues: after `mtype = {a, b}` and
    /// `mtype = {c}` this is `b, a, c`.
    pub names: Vec<Arc<str>>,
}

/// The type of a variable or of one element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `bit`: 0 or 1.
    Bit,
    /// `bool`: 0 or 1.
    Bool,
    /// `byte`: 0 to 255.
    Byte,
    /// `pid`: 0 to 255.
    Pid,
    /// `short`: 16 bits with sign.
    Short,
    /// `int`: 32 bits with sign.
    Int,
    /// `unsigned x : n`: *n* bits, 1 to 31.
    Unsigned(u8),
    /// `mtype`: 0, or the value of a symbolic name; 8 bits.
    Mtype(MtypeId),
    /// `chan`: the number of a channel, or 0.
    Chan,
    /// A typedef.
    Struct(StructId),
}

impl Type {
    /// What a variable of this type keeps of a value; structs keep none.
    pub fn truncate(self, value: i32) -> i32 {
        match self {
            Type::Bit | Type::Bool => value & 1,
            Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => value & 0xff,
            Type::Short => i32::from(value as i16),
            Type::Int => value,
            Type::Unsigned(bits) => (i64::from(value) & ((1i64 << bits) - 1)) as i32,
            Type::Struct(_) => 0,
        }
    }

    /// Least and greatest value.
    pub fn range(self) -> (i32, i32) {
        match self {
            Type::Bit | Type::Bool => (0, 1),
            Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => (0, 255),
            Type::Short => (i32::from(i16::MIN), i32::from(i16::MAX)),
            Type::Int => (i32::MIN, i32::MAX),
            Type::Unsigned(bits) => (0, ((1i64 << bits) - 1) as i32),
            Type::Struct(_) => (0, 0),
        }
    }
}

/// `hidden`, `show` and `local`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// No prefix.
    #[default]
    Plain,
    /// `hidden`: not a part of the state.
    Hidden,
    /// `show`: traces show its changes.
    Show,
    /// `local`: only one process uses it.
    Local,
}

/// A variable: a global, a local, a parameter or a field of a typedef.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// The type, of an element if it is an array.
    pub ty: Type,
    /// The number of elements, if it is an array.
    pub length: Option<u32>,
    /// Its value at the start: of a global, when the system starts; of a local, when the process
    /// starts (parameters are known by then). Declarations that stand after a statement have
    /// [`Init::Zero`] here, and are statements of the body, as in Spin.
    pub init: Init,
    /// `hidden` and the like.
    pub visibility: Visibility,
    /// Where its name stands.
    pub span: Span,
}

/// The value of a variable at the start.
#[derive(Clone, Debug)]
pub enum Init {
    /// All zero.
    Zero,
    /// This value; an array has it in every element.
    Expr(Expr),
    /// `{1, 2, 3}`: as many values as there are elements.
    List(Vec<i32>),
    /// A channel of its own; an array has one in every element.
    Channel(Channel),
}

/// `[capacity] of { fields }`.
#[derive(Clone, Debug)]
pub struct Channel {
    /// How many messages fit; 0 is a rendezvous channel.
    pub capacity: u32,
    /// The fields of a message; those of typedefs are listed one by one.
    pub fields: Vec<Type>,
    /// Where it is written.
    pub span: Span,
}

/// What a [`Proctype`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProctypeKind {
    /// `proctype`.
    Proctype,
    /// `init`.
    Init,
    /// `never`.
    Never,
    /// `trace`.
    Trace,
    /// `notrace`.
    NoTrace,
}

/// A proctype, `init`, a never claim or a trace.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// Its name; `init`, `never`, `trace` or `notrace` where there is none.
    pub name: Arc<str>,
    /// What it is.
    pub kind: ProctypeKind,
    /// `D_proctype`: more than one choice is an error.
    pub deterministic: bool,
    /// How many processes of this type there are at the start.
    pub active: u32,
    /// The priority of these, 1 if none is given.
    pub priority: u32,
    /// `provided (e)`: no step is possible while this is 0.
    pub provided: Option<Expr>,
    /// How many of the locals are parameters; they are the first ones.
    pub n_parameters: usize,
    /// All variables of a process: parameters, then locals of all blocks.
    pub locals: Vec<Variable>,
    /// The labels, in the order of the text. Names may occur several times, in different blocks.
    pub labels: Vec<Label>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Where its name stands.
    pub span: Span,
    /// Where its closing brace stands.
    pub end: Span,
}

/// A label.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: Arc<str>,
    /// Where it stands.
    pub span: Span,
    /// Whether `P@label` refers to it.
    pub is_remote: bool,
}

impl Label {
    /// Whether it is an accept label, by its name.
    pub fn is_accept(&self) -> bool {
        self.name.starts_with("accept")
    }

    /// Whether a process may end here, by its name.
    pub fn is_end(&self) -> bool {
        self.name.starts_with("end")
    }

    /// Whether it is a progress label, by its name.
    pub fn is_progress(&self) -> bool {
        self.name.starts_with("progress")
    }
}
