//! The action system: what every modeling language of Stubborn lowers to.
//!
//! A state is a packed vector of `u32` words ([`Layout`]). An action is a conjunction of
//! [`Guard`]s and an effect (a list of [`Stmt`]s), owned by one or more processes. Actions are
//! deterministic: a state and an action that is enabled there have exactly one successor, so a
//! run is an initial state and a sequence of actions.
//!
//! - [`system`]: the traits that searches know: [`System`] and, beside it, [`Describe`].
//! - [`action`]: guards, statements, actions and the [`ActionSystem`] with its [`Builder`].
//! - [`layout`], [`expr`]: variables and their bits; expressions.
//! - [`chain`](mod@chain): steps that consist of several actions.
//! - `code`, `index`: the interpreter, and which actions to try in a state.
//! - [`reference`](mod@reference): the same semantics, slow and obvious, on unpacked values. The
//!   judge of evidence and the tests use it, so that the fast path is never its own witness.
//! - [`fairness`]: which infinite runs count, and what justness means.
//! - [`relations`]: which actions can enable, disable or disturb which: what reductions need.
//! - [`tables`]: the same system as plain words, for machines that know no Rust.
//! - [`aut`]: labeled transition systems in the Aldebaran format.
//!
//! ```
//! use stubborn_model::{Action, Builder, Guard, Stmt, System, Steps, Variable};
//!
//! // A counter modulo 3 that can be stopped.
//! let mut builder = Builder::new();
//! let owner = builder.process("counter");
//! let x = builder.variable(Variable::new("x", 0, 2));
//! let on = builder.variable(Variable::new("on", 0, 1));
//! let running = builder.guard(Guard::equals(on, 1));
//! let (x_now, one, three) = (builder.exprs.var(x), builder.exprs.int(1), builder.exprs.int(3));
//! let plus = builder.exprs.binary(stubborn_model::BinaryOp::Add, x_now, one);
//! let next = builder.exprs.binary(stubborn_model::BinaryOp::Rem, plus, three);
//! let (tick, stop) = (builder.label("tick"), builder.label("stop"));
//! builder.action(Action { label: tick, guards: vec![running], effect: vec![Stmt::assign(x, next)], owners: vec![owner] });
//! builder.action(Action { label: stop, guards: vec![running], effect: vec![Stmt::set(on, 0)], owners: vec![owner] });
//! builder.initial(&[0, 1]);
//! let system = builder.finish()?;
//!
//! let mut states = Vec::new();
//! system.initial_states(&mut states);
//! let mut steps = Steps::new(system.width());
//! system.successors(&states, &mut system.new_scratch(), &mut steps).unwrap();
//! assert_eq!(steps.len(), 2);
//! # Ok::<(), stubborn_model::BuildError>(())
//! ```

pub mod action;
mod action_system;
pub mod aut;
mod builder;
pub mod chain;
mod code;
pub mod expr;
pub mod fairness;
mod index;
pub mod layout;
mod queue;
pub mod reference;
pub mod relations;
pub mod system;
pub mod tables;

pub use action::{
    Action, ActionId, Guard, GuardId, Label, LabelId, Process, ProcessId, Proposition, Stmt, ValueSet,
};
pub use action_system::ActionSystem;
pub use builder::{BuildError, Builder, Parts};
pub use code::Scratch;
pub use expr::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};
pub use layout::{Layout, Range, VarId, Variable};
pub use queue::{Queue, QueueUse};
pub use relations::Relations;
pub use system::{Describe, Fault, Run, StepError, Steps, System};
