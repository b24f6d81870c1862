//! Certificates: what holds, and why, for a checker that shares nothing with the search (`certify`).
//!
//! The search that gave the answer may have left out interleavings, merged steps and kept bits; a certificate leaves out no more
//! than its checker sees that it may (`waiting`). So states are searched again, unless nothing was left out. What is claimed of
//! states is proved by their `list`, one for all such claims. For a formula, `product` finds pairs of states, `ranks` says why
//! no run through them is a violation, and here both become a [`Proof`]. Should that search find a violation after all, one of
//! the two is wrong, and that is said instead of any verdict.

mod list;
mod product;
mod ranks;
mod waiting;
mod writer;

pub(crate) use self::list::{Listed, explore, list};
pub use self::writer::{StateWriter, write};

use std::sync::Arc;

use base::{Budget, Limit};
use certify::claim::{ignores_ends, purpose, what};
use certify::{
    Claim, Claimed, Ends, Fair, Pair, Proof, Reading, Refusal, TooSmall, What, constraints, fingerprint,
};
use check::Goal;
use check::method::ReductionWish;
use check::product::AtDeadlock;
use language::{PropertyKind, Purpose};
use model::{ActionSystem, ExprId, Fault, StepError, System};
use replay::fairness::Subject;

use self::list::Beside;
use self::product::Product;
use crate::clock::Clock;
use crate::decide::Asked;
use crate::error::Trouble;
use crate::fairness::Constraints;
use crate::options::Options;
use crate::question::Origin;
use crate::session::Attempt;

/// Why there is no certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The property does not hold.
    Violated,
    /// There are none for such a question, or it is too large.
    Unfit(String),
    /// A limit was reached.
    Limit(Limit),
    /// The model goes wrong.
    Fault(StepError),
}

impl From<Limit> for Failed {
    fn from(limit: Limit) -> Failed {
        Failed::Limit(limit)
    }
}

impl From<StepError> for Failed {
    fn from(error: StepError) -> Failed {
        error.limit().map_or(Failed::Fault(error), Failed::Limit)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Failed {
        match refusal {
            Refusal::Wrong(why) => Failed::Unfit(why),
            Refusal::Limit(limit) => Failed::Limit(limit),
        }
    }
}

/// Proves what is claimed of a system, as the words say: they become a proof, in which steps wait if the words say so, and if
/// they can. Steps and truths are asked of `runner`: that
/// is the system itself, unless somebody wants to know what becomes of its mistakes.
///
/// # Errors
/// Why there is no proof.
pub fn prove<S: System>(
    runner: &S,
    claim: Claim<'_>,
    words: Proof,
    budget: &mut Budget<'_>,
) -> Result<Proof, Failed> {
    let goal = match claim.what {
        What::Formula { .. } => return prove_formula(runner, claim, words, budget),
        What::Invariant(expr) => {
            Some(Goal::Invariant(claim.system.proposition(expr).ok_or_else(unobserved)?))
        }
        What::DeadlockFree => Some(Goal::Deadlock),
        What::FaultFree => None,
    };
    let words = Proof { ends: claim.ends, ..words };
    if words.waits
        && let Some(listed) = list::explore_waiting(runner, claim.system, goal.as_slice(), budget)?
    {
        return Ok(of_list(words, &listed));
    }
    let (found, listed) = explore(runner, claim.system.layout(), goal.as_slice(), budget);
    list::outcome(&found, goal.map(|_| 0))?;
    Ok(of_list(words, &listed?))
}

/// A proposition is not among those of the system.
fn unobserved() -> Failed {
    Failed::Unfit("a proposition is not observed".to_owned())
}

/// The proof of what is claimed of states, which are in a list.
fn of_list(words: Proof, listed: &Proof) -> Proof {
    let Proof { waits, variables, states, bytes, checksum, body, .. } = listed.clone();
    Proof { waits, variables, states, bytes, checksum, body, ..words }
}

fn prove_formula<S: System>(
    runner: &S,
    mut claim: Claim<'_>,
    words: Proof,
    budget: &mut Budget<'_>,
) -> Result<Proof, Failed> {
    let (product, tableau, formula) = Product::explore(runner, &mut claim, words.waits, budget)?;
    let (of_node, ranks) = ranks::ranks(&product, budget)?;
    // The states beside which nodes are, in one list: where that of each state begins.
    let n_states = product.states.count();
    let mut starts = vec![0_u32; n_states + 1];
    product.nodes.iter().for_each(|node| starts[node.state as usize + 1] += 1);
    (0..n_states).for_each(|state| starts[state + 1] += starts[state]);
    let mut pairs = vec![Pair { automaton: 0, rank: 0 }; product.nodes.len()];
    let mut free = starts.clone();
    for (node, &rank) in product.nodes.iter().zip(&of_node) {
        let place = &mut free[node.state as usize];
        pairs[*place as usize] = Pair { automaton: node.automaton, rank };
        *place += 1;
    }
    let beside = |state: usize| starts[state] as usize..starts[state + 1] as usize;
    (0..n_states).for_each(|state| pairs[beside(state)].sort_unstable_by_key(|pair| pair.automaton));
    let get = |state: u32| product.states.get(state);
    let beside = |state: u32| Beside {
        wait: product.waits.get(state as usize).copied().unwrap_or_default(),
        pairs: &pairs[beside(state as usize)],
    };
    let automaton = tableau.states().iter().map(|state| state.to_vec()).collect();
    let waits = !product.waits.is_empty();
    let proof = Proof { ranks, ends: claim.ends, formula, automaton, waits, ..words };
    Ok(list::written(proof, claim.system.layout(), n_states, get, beside, budget)?)
}

/// A proof of nothing yet, to be completed by [`prove`].
pub fn words(property: Claimed) -> Proof {
    Proof {
        property,
        model: Reading::default(),
        fingerprint: String::new(),
        refinements: Vec::new(),
        ends: Ends::Stutter,
        fairness: Vec::new(),
        formula: Vec::new(),
        automaton: Vec::new(),
        ranks: Vec::new(),
        waits: false,
        variables: 0,
        states: 0,
        bytes: 0,
        checksum: String::new(),
        body: Vec::new(),
    }
}

/// Of which system something is shown for a property; or why that cannot be.
pub(crate) fn purpose_of(asked: &Asked<'_>, task: usize) -> Result<Purpose, Failed> {
    let kind = asked.property(task);
    purpose(kind).ok_or_else(|| {
        let why = match kind {
            PropertyKind::Claim(_) => "there are no certificates for automata that a user wrote",
            PropertyKind::Tester(_) | PropertyKind::Spec(_) => "there are no certificates for testers",
            PropertyKind::Possible(_) | PropertyKind::AllPossible(_) => {
                "what is possible is shown by a run, not by a certificate"
            }
            _ => "there are no certificates for such questions",
        };
        Failed::Unfit(why.to_owned())
    })
}

/// Whether a property is proved by a list of states alone.
pub(crate) fn is_of_states(kind: &PropertyKind) -> bool {
    !kind.is_about_runs() && purpose(kind).is_some()
}

/// A proof that a property holds, of which a search said so; of states, by their list.
pub(crate) fn of_task(
    asked: &mut Asked<'_>,
    task: usize,
    listed: Option<&Listed>,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Result<Proof, Failed>>, Trouble> {
    let kind = asked.property(task).clone();
    let unfit = |why: &str| Ok(Attempt::Done(Err(Failed::Unfit(why.to_owned()))));
    let purpose = match purpose_of(asked, task) {
        Ok(purpose) => purpose,
        Err(why) => return Ok(Attempt::Done(Err(why))),
    };
    let property = match &asked.tasks[task].origin {
        Origin::Declared => Claimed::Declared(asked.tasks[task].name.clone()),
        Origin::Invariant(text) => Claimed::Invariant(text.clone()),
        Origin::Ltl(text) => Claimed::Ltl(text.clone()),
        Origin::Elsewhere => return unfit("the question is in another file than the model"),
    };
    let is_about_runs = kind.is_about_runs();
    let ends = match options.at_deadlock {
        _ if !is_about_runs => Ends::Stutter,
        _ if ignores_ends(&kind) => Ends::Ignore,
        AtDeadlock::Stutter => Ends::Stutter,
        AtDeadlock::Ignore => Ends::Ignore,
        AtDeadlock::Error => return unfit("a deadlock is an error: ask for deadlock freedom besides"),
    };
    let mut budget = clock.budget();
    let refinements: Option<Vec<TooSmall>> = asked.session.grown.iter().map(too_small).collect();
    let Some(refinements) = refinements else {
        return unfit("the question is about parts of the model that are never made");
    };
    let named = Constraints::new(asked.model(), &options.fair, &mut budget)?.named;
    let mut view = asked.model().view(purpose, &mut budget)?;
    observe(&mut view.system, &kind);
    let system = &*view.system;
    let fairness: Vec<Fair> =
        if is_about_runs { named.iter().map(|known| fair(system, known)).collect() } else { Vec::new() };
    let model = Reading {
        language: asked.model().language().to_owned(),
        definitions: asked.session.options.definitions.clone(),
        max_processes: asked.session.options.max_processes,
    };
    let text = &asked.session.sources.get(base::SourceId::new(0)).text;
    let fingerprint = fingerprint(text, system);
    let waits = options.reduce != ReductionWish::None;
    let words = Proof { model, refinements, fairness, fingerprint, ends, waits, ..words(property) };
    if let Some(listed) = listed {
        return Ok(Attempt::Done(Ok(of_list(words, &listed.proof))));
    }
    let proved =
        constraints(system, &words.fairness, &mut budget).map_err(Failed::from).and_then(|constraints| {
            let what = what(&kind, asked.session.model.formulas());
            prove(system, Claim { system, what, ends, constraints: &constraints }, words, &mut budget)
        });
    Ok(match proved {
        Err(Failed::Fault(error)) if asked.model().can_refine(&error) => Attempt::TooSmall(error),
        proved => Attempt::Done(proved),
    })
}

/// As files have a fault; nothing for those of another kind.
fn too_small(error: &StepError) -> Option<TooSmall> {
    let Fault::OutOfRange { var, value } = error.fault else { return None };
    let action = error.action.map(|action| action.index() as u32);
    Some(TooSmall { variable: var.index() as u32, value, action })
}

/// Makes what a property looks at observable.
fn observe(system: &mut Arc<ActionSystem>, kind: &PropertyKind) {
    let exprs: Vec<ExprId> = match kind {
        PropertyKind::Invariant(expr) => vec![*expr],
        PropertyKind::Ltl(ltl) | PropertyKind::Acceptance(ltl) | PropertyKind::Progress(ltl) => {
            ltl.propositions.iter().map(|(_, expr)| *expr).collect()
        }
        _ => Vec::new(),
    };
    for expr in exprs {
        if system.proposition(expr).is_none() {
            Arc::make_mut(system).add_proposition("", expr);
        }
    }
}

/// A constraint by exact names.
fn fair(system: &ActionSystem, known: &replay::fairness::Constraint) -> Fair {
    let label = |action: &model::ActionId| system.labels()[system.action(*action).label.index()].name.clone();
    let (process, mut labels) = match &known.subject {
        Subject::Process(name) => (Some(name.clone()), Vec::new()),
        Subject::Action(_) => (None, known.actions.iter().map(label).collect()),
    };
    labels.sort();
    labels.dedup();
    Fair { kind: known.kind.name().to_owned(), process, labels }
}
