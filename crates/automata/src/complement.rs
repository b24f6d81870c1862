//! Complement and equivalence, where they are cheap.
//!
//! # Idea
//! - A *deterministic* automaton has one run on each word. It is not accepting iff it ends, or if from
//!   some point on it misses some mark: guess the point and the mark.
//! - In a *weak* automaton, where each component accepts all that stays in it or nothing, a word is
//!   rejected iff every run visits states outside of accepting components again and again. Runs are
//!   followed all at once; a second set holds those that still owe such a visit, and when it is empty
//!   all have paid [miyano.84.tcs].
//! - Any other automaton is degeneralized, and each state of a set of runs gets a *rank* that never
//!   grows along a run and is even in accepting states. A word is rejected iff ranks can be chosen such
//!   that every run ends in an odd rank [kupferman.01.tocl]. This is exponential with a large base, hence
//!   only for small automata.
//!
//! Everything stops at a limit of states: running out is an answer.

use base::{Budget, Limit};
use ltl::Lasso;
use rustc_hash::FxHashMap;

use crate::clean::{simplify_marks, trim};
use crate::degeneralize::{Placement, degeneralize};
use crate::emptiness::accepting_lasso;
use crate::gave_up::{GaveUp, TooLarge};
use crate::label::{Label, Labels};
use crate::product::product;
use crate::scc::Sccs;
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// The automaton of the words that the given one does not accept.
///
/// ```
/// # use stubborn_automata::{Effort, complement::complement, is_empty, product, translate};
/// let mut formulas = ltl::Formulas::new();
/// let formula = ltl::parse(&mut formulas, "F G a", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
/// let other = complement(&tgba, 1_000, budget).unwrap();
/// assert_eq!(is_empty(&product(&tgba, &other, 1_000, budget).unwrap(), budget), Ok(true));
/// assert_eq!(is_empty(&other, budget), Ok(false));
/// ```
///
/// # Errors
/// It has more than `max_states` states, or the budget is spent.
pub fn complement(tgba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    holding(budget, |budget| {
        let clean = simplify_marks(trim(tgba.clone(), budget)?, budget)?;
        let result = if clean.is_deterministic(budget)? {
            deterministic(&clean, budget)?
        } else if clean.n_states() > MAX_STATES {
            return Err(TooLarge::States.into());
        } else if let Some(accepting) = weak_states(&clean, budget)? {
            breakpoint(&clean, &accepting, max_states, budget)?
        } else {
            let order: Vec<u32> = (0..clean.n_marks()).collect();
            let ba = degeneralize(&clean, Placement::States, &order, budget)?;
            ranked(&ba, max_states, budget)?
        };
        Ok(simplify_marks(trim(result, budget)?, budget)?)
    })
}

/// Automata of more states are not followed in sets: pairs of states are numbered.
const MAX_STATES: usize = 1 << 15;

/// A word that `a` accepts and `b` does not, if there is one.
///
/// # Errors
/// That takes more than `max_states` states, or the budget is spent.
pub fn difference(
    a: &Tgba,
    b: &Tgba,
    max_states: usize,
    budget: &mut Budget<'_>,
) -> Result<Option<Lasso>, GaveUp> {
    let outside = complement(b, max_states, budget)?;
    let rest = product(a, &outside, max_states, budget)?;
    Ok(accepting_lasso(&rest, budget)?)
}

/// A word that exactly one of the automata accepts, if there is one.
///
/// # Errors
/// That takes more than `max_states` states, or the budget is spent.
pub fn separating_word(
    a: &Tgba,
    b: &Tgba,
    max_states: usize,
    budget: &mut Budget<'_>,
) -> Result<Option<Lasso>, GaveUp> {
    match difference(a, b, max_states, budget) {
        // In the other direction there may be a word that takes less to find.
        first @ (Ok(None) | Err(GaveUp::TooLarge(_))) => match difference(b, a, max_states, budget)? {
            None => first,
            word => Ok(word),
        },
        first => first,
    }
}

/// The complement of a deterministic automaton: state *q* of copy *i* > 0 is a promise never to see mark
/// *i* − 1 again; the last state is where runs end.
fn deterministic(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    let n = tgba.n_states();
    let mut result = start(tgba);
    let n_copies = tgba.n_marks() as usize + 1;
    budget.hold((n * n_copies * size_of::<Vec<Edge>>()) as u64)?;
    result.add_states(n * n_copies);
    let end = State::new(n * n_copies);
    result.add_edge(end, Label::TRUE, Marks::single(0), end);
    for state in tgba.states() {
        let mut covered = Label::FALSE;
        for edge in tgba.edges(state) {
            covered = result.labels_mut().with(budget).or(covered, edge.label)?;
            let copy = |state: State, copy: usize| State::new(copy * n + state.index());
            let edge_to = |target, marks| Edge { target, marks, label: edge.label };
            result.add(state, edge_to(edge.target, Marks::NONE), budget)?;
            for mark in (0..tgba.n_marks()).filter(|&mark| !edge.marks.contains(mark)) {
                let target = copy(edge.target, mark as usize + 1);
                result.add(state, edge_to(target, Marks::NONE), budget)?;
                result.add(copy(state, mark as usize + 1), edge_to(target, Marks::single(0)), budget)?;
            }
        }
        let uncovered = result.labels_mut().with(budget).not(covered)?;
        result.add(state, Edge { target: end, marks: Marks::NONE, label: uncovered }, budget)?;
    }
    result.set_initial(tgba.initial());
    Ok(result)
}

/// An automaton with one state and one mark over the same labels.
fn start(tgba: &Tgba) -> Tgba {
    let mut result = Tgba::with_labels(tgba.labels().clone(), 1);
    result.declare(tgba.propositions().iter().copied());
    result
}

/// For each state of a weak automaton whether its component is accepting; nothing if it is not weak.
fn weak_states(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Option<Vec<bool>>, Limit> {
    let sccs = Sccs::of(tgba, budget)?;
    let accepting: Vec<bool> =
        tgba.states().map(|state| sccs.is_accepting(sccs.component(state), tgba)).collect();
    let is_weak = tgba.states().filter(|state| accepting[state.index()]).all(|state| {
        let mut inner = tgba.edges(state).iter().filter(|edge| sccs.is_inner(state, edge));
        inner.all(|edge| edge.marks == tgba.all_marks())
    });
    Ok(is_weak.then_some(accepting))
}

/// For each letter the steps it allows from the states that satisfy the condition: pairs of a source and a
/// target.
fn moves(
    labels: &mut Labels,
    tgba: &Tgba,
    sources: &[usize],
    budget: &mut Budget<'_>,
) -> Result<Moves, Limit> {
    let n = tgba.n_states();
    let edges = sources.iter().flat_map(|&source| {
        let pair = move |edge: &Edge| (edge.label, (source * n + edge.target.index()) as u32);
        tgba.edges(State::new(source)).iter().map(pair)
    });
    let found = labels.sets_by_letter(edges, budget)?.into_iter().map(|(letters, pairs)| {
        let pair = |pair: u32| (pair as usize / n, pair as usize % n);
        (letters, pairs.into_iter().map(pair).collect())
    });
    Ok(found.collect())
}

type Moves = Vec<(Label, Vec<(usize, usize)>)>;

fn sorted(mut states: Vec<usize>) -> Vec<usize> {
    states.sort_unstable();
    states.dedup();
    states
}

/// Explores an automaton given by its initial state and its successors; the first component of a
/// successor is its label, and edges that leave a state with nothing owed are marked.
fn explore<S: Clone + Eq + std::hash::Hash>(
    tgba: &Tgba,
    initial: S,
    owes: impl Fn(&S) -> bool,
    bytes: impl Fn(&S) -> u64,
    mut successors: impl FnMut(&mut Labels, &S, &mut Budget<'_>) -> Result<Vec<(Label, S)>, GaveUp>,
    max_states: usize,
    budget: &mut Budget<'_>,
) -> Result<Tgba, GaveUp> {
    let mut result = start(tgba);
    let mut numbers = FxHashMap::from_iter([(initial.clone(), result.initial())]);
    let mut found = vec![initial];
    let mut next = 0;
    while let Some(state) = found.get(next).cloned() {
        let marks = if owes(&state) { Marks::NONE } else { Marks::single(0) };
        for (label, target) in successors(result.labels_mut(), &state, budget)? {
            budget.tick()?;
            let number = match numbers.get(&target) {
                Some(&number) => number,
                None => {
                    let number = result.add_state();
                    // It is in a list and in a table.
                    budget.hold(2 * bytes(&target))?;
                    numbers.insert(target.clone(), number);
                    found.push(target);
                    number
                }
            };
            result.add(State::new(next), Edge { target: number, marks, label }, budget)?;
        }
        next += 1;
        if found.len() > max_states {
            return Err(TooLarge::States.into());
        }
    }
    Ok(result)
}

/// The complement of a weak automaton. A state is the set of states that runs can be in, and those that owe a
/// visit outside of accepting components.
fn breakpoint(
    tgba: &Tgba,
    accepting: &[bool],
    max_states: usize,
    budget: &mut Budget<'_>,
) -> Result<Tgba, GaveUp> {
    type Sets = (Vec<usize>, Vec<usize>);
    let initial: Sets = (vec![tgba.initial().index()], vec![]);
    let step = |labels: &mut Labels, (all, owing): &Sets, budget: &mut Budget<'_>| {
        let moved = moves(labels, tgba, all, budget)?.into_iter().map(|(letters, pairs)| {
            let everyone = sorted(pairs.iter().map(|pair| pair.1).collect());
            let still = if owing.is_empty() {
                everyone.clone()
            } else {
                let from_owing = pairs.iter().filter(|pair| owing.binary_search(&pair.0).is_ok());
                sorted(from_owing.map(|pair| pair.1).collect())
            };
            let still = still.into_iter().filter(|&state| accepting[state]).collect();
            (letters, (everyone, still))
        });
        Ok(moved.collect())
    };
    let bytes =
        |(all, owing): &Sets| (size_of::<Sets>() + size_of_val(&all[..]) + size_of_val(&owing[..])) as u64;
    explore(tgba, initial, |(_, owing)| !owing.is_empty(), bytes, step, max_states, budget)
}

/// The complement of a Büchi automaton with marks on states. A state is the set of states that runs can be
/// in, each with its rank and whether it owes an odd rank.
fn ranked(ba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    type Ranking = Vec<(usize, usize, bool)>;
    let accepting: Vec<bool> = ba
        .states()
        .map(|state| !ba.edges(state).is_empty() && ba.common_marks(state) == ba.all_marks())
        .collect();
    let largest = 2 * accepting.iter().filter(|&&accepting| !accepting).count();
    let initial: Ranking = vec![(ba.initial().index(), largest, false)];
    let owes = |ranking: &Ranking| ranking.iter().any(|entry| entry.2);
    let step = |labels: &mut Labels, ranking: &Ranking, budget: &mut Budget<'_>| {
        let sources: Vec<usize> = ranking.iter().map(|entry| entry.0).collect();
        let anew = !owes(ranking);
        let mut found = vec![];
        for (letters, pairs) in moves(labels, ba, &sources, budget)? {
            let targets = sorted(pairs.iter().map(|pair| pair.1).collect());
            let mut rankings: Vec<Ranking> = vec![vec![]];
            for target in targets {
                let from: Vec<_> =
                    ranking.iter().filter(|entry| pairs.contains(&(entry.0, target))).collect();
                let bound = from.iter().map(|entry| entry.1).min().unwrap_or(0);
                let owing = anew || from.iter().any(|entry| entry.2);
                let ranks = (0..=bound).filter(|rank| !accepting[target] || rank.is_multiple_of(2));
                let entries: Vec<_> =
                    ranks.map(|rank| (target, rank, owing && rank.is_multiple_of(2))).collect();
                if rankings.len().saturating_mul(entries.len()) > max_states {
                    return Err(TooLarge::States.into());
                }
                let longer = rankings
                    .iter()
                    .flat_map(|ranking| entries.iter().map(move |&entry| [&ranking[..], &[entry]].concat()));
                rankings = longer.collect();
                rankings.iter().try_for_each(|_| budget.tick())?;
            }
            found.extend(rankings.into_iter().map(|ranking| (letters, ranking)));
        }
        Ok(found)
    };
    let bytes = |ranking: &Ranking| (size_of::<Ranking>() + size_of_val(&ranking[..])) as u64;
    explore(ba, initial, owes, bytes, step, max_states, budget)
}
