//! Control flow: from the statements of a proctype to a graph of locations and edges, which is the
//! one that Spin's verifiers have (`pan -d`), location by location, for models that are translated
//! by `spin -a -o1 -o2 -o3`. So state spaces can be compared by their sizes.
//!
//! What costs a step, and what does not:
//!
//! - Every basic statement is a location of its own, and the step out of it. `skip`, `printf`,
//!   `assert` and declarations after a statement are such steps.
//! - `if` and `do` are one location with the edges of all their options' first statements; so are
//!   `{ … }`, `atomic` and the body of an inline around their first statement. Entering them costs
//!   nothing, but where a jump leads to a block, the block is a location beside its first statement.
//! - `goto` and `break` cost nothing where they follow a statement: its edge leads to where they
//!   lead. They are a step of their own where they are the first statement of an option, a block or
//!   an atomic sequence, and where they leave an atomic sequence: the edge that leads to them must
//!   keep the sequence's hold.
//! - The end of an `if` or `do` that ends an atomic sequence is a step for the same reason.
//! - In an option, of several `skip` (or `printf`) in a row only the first `skip` is kept, unless
//!   it has a label, or is the last statement.
//! - A `goto` behind a label that begins with `accept`, `end` or `progress`, or that is the target of a
//!   remote reference, gets a `skip` before it.
//! - The end of a body is a location with one edge: the process dies, which it may if it is the
//!   youngest.
//! - Initial values of declarations before the first statement are set when the process starts.
//! - `d_step` is one edge; what happens in it is a graph of its own.
//! - An option that begins with the constant 0 is dropped.
//!
//! Escapes (`unless`) are edges of every location of the main sequence. They are listed first,
//! those of an outer `unless` before those of an inner one. See [`Edge::escape`].

mod build;
mod graph;
mod link;
mod weave;

use std::sync::Arc;

use base::{Span, define_id};
use language::Trouble;

use crate::cost::{self, Cost};
use crate::program::{ProctypeId, ProctypeKind, Program, Stmt};

define_id! {
    /// A location, see [`Flow::locations`].
    pub struct LocationId;
}

/// The graph of a proctype, or of what happens in a d_step.
#[derive(Clone, Debug)]
pub struct Flow<'p> {
    /// Where a process starts.
    pub initial: LocationId,
    /// All locations that can be reached, in the order of their numbers in Spin.
    pub locations: Vec<Location<'p>>,
    /// Where a process is if it is at a label: by the numbers of the proctype's labels. `None` for
    /// labels that no process is ever at.
    pub labels: Vec<Option<LocationId>>,
    /// Where the body ends, if that can be reached: the process can only die there; a d_step is
    /// over, and the location has no edge.
    pub end: Option<LocationId>,
    /// How many numbers Spin gives away while it reads the body; nothing if it gives others away later.
    pub n_elements: Option<u32>,
}

/// Where a process may be between two steps.
#[derive(Clone, Debug)]
pub struct Location<'p> {
    /// Its number in Spin, as `pan -d` shows it.
    pub number: u32,
    /// What may happen here, escapes first, then in the order of the text, `else` last.
    pub edges: Vec<Edge<'p>>,
    /// Whether a process may stay here forever: there is an `end` label, or it is the end.
    pub is_end: bool,
    /// Whether there is an `accept` label.
    pub is_accept: bool,
    /// Whether there is a `progress` label.
    pub is_progress: bool,
    /// The statement that is next here.
    pub span: Span,
}

/// A step.
#[derive(Clone, Debug)]
pub struct Edge<'p> {
    /// What happens.
    pub action: Action<'p>,
    /// Where it leads; for [`Action::End`] nowhere.
    pub target: LocationId,
    /// Whether the process goes on alone after this step, if it can: it is inside an atomic
    /// sequence.
    pub atomic: bool,
    /// 0, or the number of an escape. Edges are tried in their order; when one of an escape is
    /// possible, only those with the same number are.
    pub escape: u32,
    /// The number of the statement in Spin. The same statement may be an edge of several locations.
    pub statement: u32,
    /// Where the statement stands.
    pub span: Span,
    /// How it reads in a trace.
    pub text: Arc<str>,
}

/// What happens in a step.
#[derive(Clone, Debug)]
pub enum Action<'p> {
    /// A basic statement.
    Stmt(&'p Stmt),
    /// `else`: possible if no edge of the location before it is.
    Else,
    /// A jump, or a `skip` that is not in the text: always possible, changes nothing.
    Jump,
    /// All of a d_step. It is possible if its first step is. Then steps are taken, always the first
    /// one that is possible, until the end; it is an error if none is.
    DStep(Arc<Flow<'p>>),
    /// The process dies.
    End,
}

impl<'p> Flow<'p> {
    /// A location.
    pub fn location(&self, id: LocationId) -> &Location<'p> {
        &self.locations[id.index()]
    }
}

/// The graph of a proctype.
///
/// # Errors
/// Jumps that lead to each other in a circle.
pub fn flow(program: &Program, id: ProctypeId) -> Result<Flow<'_>, Trouble> {
    cost::paid(|cost| flow_within(program, id, cost))
}

/// The same, as far as it can be paid for.
pub(crate) fn flow_within<'p>(
    program: &'p Program,
    id: ProctypeId,
    cost: &dyn Cost,
) -> Result<Flow<'p>, Trouble> {
    let proctype = &program.proctypes[id.index()];
    let setting = build::Setting {
        is_claim: proctype.kind == ProctypeKind::Never,
        in_d_step: false,
        end: proctype.end,
    };
    link::link(build::elements(&proctype.body, &proctype.labels, setting), cost)
}

/// The graph of what stands in a d_step.
fn inner_flow<'p>(
    body: &'p [Stmt],
    labels: &'p [crate::program::Label],
    end: Span,
    cost: &dyn Cost,
) -> Result<Flow<'p>, Trouble> {
    let setting = build::Setting { is_claim: false, in_d_step: true, end };
    link::link(build::elements(body, labels, setting), cost)
}
