//! What can be asked about a model.

use automata::{AnyAutomaton, Spec, Tester};
use base::Span;
use ltl::{Formula, Prop};
use model::{ActionId, ExprId, LabelId, ProcessId};

/// Something to be checked.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Where the name stands, if it was written.
    pub span: Option<Span>,
    /// When it is checked.
    pub asked: Asked,
    /// What it says.
    pub kind: PropertyKind,
}

/// When a property of a file is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// By its name, or where nothing in particular is asked.
    ByDefault,
    /// By its name.
    ByName,
    /// By what it is about: progress, acceptance.
    ByKind,
}

/// That one of some actions can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enabled {
    /// As a truth about states.
    pub expr: ExprId,
    /// The actions.
    pub actions: Vec<ActionId>,
}

/// What a property says. A *state* is one that can be reached.
#[derive(Clone, Debug)]
pub enum PropertyKind {
    /// Something can happen in every state.
    DeadlockFree,
    /// Nothing goes wrong: assertions hold, and no step is a fault.
    Assertions,
    /// Where nothing can happen, every process is where it may stay.
    EndStates,
    /// This is true in every state.
    Invariant(ExprId),
    /// This is true in some state.
    Possible(ExprId),
    /// Asks for the greatest value in any state.
    Maximum(ExprId),
    /// Each of these is true in some state.
    AllPossible(Vec<ExprId>),
    /// One of these is true in every state.
    SomeInvariant(Vec<ExprId>),
    /// Each of these can be made possible, from every state.
    AllLive(Vec<Enabled>),
    /// Every run satisfies the formula.
    Ltl(Ltl),
    /// A cycle passes through progress labels: as [`PropertyKind::Ltl`], about infinite runs only.
    Progress(Ltl),
    /// No run passes through accept labels for ever.
    Acceptance(Ltl),
    /// No run is accepted by the automaton.
    Claim(Claim),
    /// The system does nothing that the tester calls illegal.
    Tester(Observed<Tester>),
    /// The system does only what the spec can do.
    Spec(Observed<Spec>),
    /// Something else, and what to say about it.
    Unsupported(String),
}

impl PropertyKind {
    /// Whether an automaton watches the runs.
    pub fn is_about_runs(&self) -> bool {
        use PropertyKind::{Acceptance, Claim, Ltl, Progress};
        matches!(self, Ltl(_) | Progress(_) | Acceptance(_) | Claim(_))
    }

    /// What people call properties of its kind.
    pub fn name(&self) -> &'static str {
        match self {
            PropertyKind::DeadlockFree => "deadlock",
            PropertyKind::Assertions => "assertions",
            PropertyKind::EndStates => "end states",
            PropertyKind::Invariant(_) | PropertyKind::SomeInvariant(_) => "invariant",
            PropertyKind::Possible(_) | PropertyKind::AllPossible(_) => "possible",
            PropertyKind::Maximum(_) => "maximum",
            PropertyKind::AllLive(_) => "live",
            PropertyKind::Ltl(_) => "ltl",
            PropertyKind::Progress(_) => "progress",
            PropertyKind::Acceptance(_) => "acceptance",
            PropertyKind::Claim(_) => "claim",
            PropertyKind::Tester(_) => "tester",
            PropertyKind::Spec(_) => "spec",
            PropertyKind::Unsupported(_) => "unsupported",
        }
    }
}

/// A formula about a model.
#[derive(Clone, Debug)]
pub struct Ltl {
    /// The formula, in the model's pool.
    pub formula: Formula,
    /// Its propositions, each with the expression that says when it is true.
    pub propositions: Vec<(Prop, ExprId)>,
}

/// An automaton that accepts the runs that must not be.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The automaton, as it was written.
    pub automaton: AnyAutomaton,
    /// Its propositions, each with the expression that says when it is true.
    pub propositions: Vec<(Prop, ExprId)>,
}

/// A process over letters, and the labels that these are.
#[derive(Clone, Debug)]
pub struct Observed<T> {
    /// The process.
    pub process: T,
    /// Per letter, its label in the system.
    pub labels: Vec<LabelId>,
}

/// What runs are assumed to be like: fair to each of these processes.
#[derive(Clone, Debug)]
pub struct Fairness {
    /// In which way.
    pub kind: model::fairness::Kind,
    /// The processes, each of which is treated fairly.
    pub processes: Vec<ProcessId>,
    /// Where it stands.
    pub span: Span,
}
