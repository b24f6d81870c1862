//! The sets that keep fair runs have what the proof asks of them: the rules at the head of por's module `fair`, in each state
//! of the full product, by their definitions over the whole state space. What is said there for all states (who may make
//! a guard true, what recurs) is looked for here, so that a rule asks for less; a set that breaks one of these is wrong, whatever
//! comes of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use automata::waiting::waiting_form;
use base::Budget;
use check::decide::Claim;
use check::fairness::Constraint;
use check::observer::{ByValue, Kind, Lazy, Observer, Valuations};
use check::product::{AtDeadlock, Path, Product};
use check::reduction::Method;
use generators::random;
use model::{ActionId, ActionSystem, GuardId, System as _};
use por::Rule;
use proptest::prelude::*;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::toys::{Toy, any_toy, meetings, shared};
use stubborn_testing::{assert_met, run_cases, tell_count};

/// What a set may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Broken {
    Closed,
    Order,
    Key,
    Flip,
}

type Actions = BTreeSet<ActionId>;

/// The whole state space.
struct Space<'a> {
    system: &'a ActionSystem,
    numbers: HashMap<Vec<u32>, usize>,
    states: Vec<Vec<u32>>,
    /// Per state: what a step begins with, and where it leads.
    edges: Vec<Vec<(ActionId, usize)>>,
    /// Per state, the values of the propositions, and of the guards.
    letters: Vec<Vec<bool>>,
    guards: Vec<Vec<bool>>,
}

impl<'a> Space<'a> {
    fn new(system: &'a ActionSystem, propositions: &[usize]) -> Space<'a> {
        let (states, edges, letters, guards) = (vec![], vec![], vec![], vec![]);
        let mut space = Space { system, numbers: HashMap::new(), states, edges, letters, guards };
        let (mut words, mut scratch) = (Vec::new(), system.new_scratch());
        system.initial_states(&mut words);
        words.chunks(system.width()).for_each(|state| _ = space.number(state));
        while let Some(state) = space.states.get(space.edges.len()).cloned() {
            let mut enabled = Vec::new();
            system.enabled(&state, &mut scratch, &mut enabled).expect("a good system");
            let fired = enabled.into_iter().map(|step| {
                let mut target = state.clone();
                system.fire(&mut target, step, &mut scratch).expect("a good system");
                (system.first(step), space.number(&target))
            });
            let edges = fired.collect();
            space.edges.push(edges);
            let holds = |&at: &usize| system.holds(at, &state, &mut scratch).expect("a good system");
            space.letters.push(propositions.iter().map(holds).collect());
            let guards = (0..system.guards().len()).map(GuardId::new);
            let holds = |guard| system.guard_holds(guard, &state, &mut scratch).expect("a good guard");
            space.guards.push(guards.map(holds).collect());
        }
        space
    }

    fn number(&mut self, state: &[u32]) -> usize {
        *self.numbers.entry(state.to_vec()).or_insert_with(|| {
            self.states.push(state.to_vec());
            self.states.len() - 1
        })
    }

    fn enabled(&self, state: usize) -> Actions {
        self.edges[state].iter().map(|edge| edge.0).collect()
    }

    fn holds(&self, guard: GuardId, state: usize) -> bool {
        self.guards[state][guard.index()]
    }

    fn is_silent(&self, from: usize, to: usize) -> bool {
        self.letters[from] == self.letters[to]
    }

    /// All that is reached from a state by such steps.
    fn reached(&self, from: usize, takes: impl Fn(usize, &(ActionId, usize)) -> bool) -> BTreeSet<usize> {
        let (mut reached, mut work) = (BTreeSet::from([from]), vec![from]);
        while let Some(state) = work.pop() {
            let targets = self.edges[state].iter().filter(|edge| takes(state, edge)).map(|edge| edge.1);
            work.extend(targets.filter(|&target| reached.insert(target)));
        }
        reached
    }

    /// While others happen, the actions of a set stay enabled, and what happens before one of them may happen after it, with
    /// the same result, and what is seen of either is the same.
    fn is_closed(&self, set: &Actions, without: &BTreeSet<usize>) -> bool {
        let enabled = |state: usize| -> Actions { &self.enabled(state) & set };
        let by = |state: usize, action: ActionId| {
            self.edges[state].iter().filter(move |edge| edge.0 == action).map(|edge| edge.1)
        };
        let flips = |from: usize, to: usize| -> Vec<bool> {
            self.letters[from].iter().zip(&self.letters[to]).map(|(before, after)| before != after).collect()
        };
        without.iter().all(|&u| {
            let others = self.edges[u].iter().filter(|edge| !set.contains(&edge.0));
            enabled(u) == *set
                && others.flat_map(|edge| set.iter().map(move |&a| (edge, a))).all(|(&(b, v), a)| {
                    // u goes to v by b and to x by a; both go on to w.
                    let is_corner =
                        |x: usize, w: usize| flips(u, x) == flips(v, w) && flips(u, v) == flips(x, w);
                    let after = |x: usize| by(x, b).any(|w| by(v, a).any(|to| to == w) && is_corner(x, w));
                    let before = |w: usize| by(u, a).any(|x| by(x, b).any(|to| to == w) && is_corner(x, w));
                    by(u, a).all(after) && by(v, a).all(before)
                })
        })
    }

    /// The actions that make a guard true of a constraint that they are not in.
    fn harmful(&self, constraints: &[Constraint]) -> Actions {
        let mut harmful = Actions::new();
        for (from, row) in self.edges.iter().enumerate() {
            for &(by, to) in row {
                let others = constraints.iter().filter(|its| !its.actions.contains(&by));
                let mut guards =
                    others.flat_map(|its| &its.actions).flat_map(|&its| &self.system.action(its).guards);
                if guards.any(|&guard| !self.holds(guard, from) && self.holds(guard, to)) {
                    harmful.insert(by);
                }
            }
        }
        harmful
    }
}

/// What a weak or strong constraint looks at.
struct Watch<'c> {
    constraint: &'c Constraint,
    /// Per guard of its actions: who makes it true, and who makes it false, again and again without the constraint.
    flippers: BTreeMap<GuardId, [Actions; 2]>,
}

impl<'c> Watch<'c> {
    fn new(space: &Space<'_>, constraint: &'c Constraint) -> Watch<'c> {
        let others = |row: &Vec<(ActionId, usize)>| -> Vec<(ActionId, usize)> {
            row.iter().filter(|edge| !constraint.takers().contains(&edge.0)).copied().collect()
        };
        let edges: Vec<_> = space.edges.iter().map(others).collect();
        let found = automata::scc::components(&edges, |_, edge| Some(edge.1), &mut Budget::unlimited());
        let found = found.expect("no limit");
        let guards = constraint.actions.iter().flat_map(|&its| &space.system.action(its).guards);
        let mut flippers: BTreeMap<GuardId, [Actions; 2]> =
            guards.map(|&guard| (guard, Default::default())).collect();
        for (from, row) in edges.iter().enumerate() {
            for &(action, to) in row.iter().filter(|edge| found.of[edge.1] == found.of[from]) {
                for (&guard, flippers) in &mut flippers {
                    match (space.holds(guard, from), space.holds(guard, to)) {
                        (false, true) => _ = flippers[0].insert(action),
                        (true, false) => _ = flippers[1].insert(action),
                        _ => {}
                    }
                }
            }
        }
        Watch { constraint, flippers }
    }

    fn is_frozen(&self, guard: GuardId) -> bool {
        self.flippers[&guard].iter().all(Actions::is_empty)
    }

    /// The watched sets of a state.
    fn sets(&self, space: &Space<'_>, state: usize) -> Vec<Vec<GuardId>> {
        let guards = |action: &ActionId| space.system.action(*action).guards.iter().copied();
        let is_here =
            |action: &&ActionId| guards(action).all(|its| !self.is_frozen(its) || space.holds(its, state));
        let moving = |action: &ActionId| -> Vec<GuardId> {
            guards(action).filter(|&guard| !self.is_frozen(guard)).collect()
        };
        let here: Vec<Vec<GuardId>> = self.constraint.actions.iter().filter(is_here).map(moving).collect();
        // Who has frozen guards only stays enabled until the constraint is taken.
        if here.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        if self.constraint.strong {
            return here;
        }
        let choose = |sets: Vec<Vec<GuardId>>, guards: &Vec<GuardId>| {
            let longer =
                sets.iter().flat_map(|set| guards.iter().map(|guard| [&set[..], &[*guard]].concat()));
            longer.collect()
        };
        here.iter().fold(vec![Vec::new()], choose)
    }

    /// Whether something of a set raises a watched set while something that lowers it can happen first.
    fn is_overtaken(&self, space: &Space<'_>, state: usize, set: &Actions, before: &Actions) -> bool {
        let any = |guards: &[GuardId], which: usize, of: &Actions| {
            guards.iter().any(|guard| !self.flippers[guard][which].is_disjoint(of))
        };
        self.sets(space, state).iter().any(|guards| any(guards, 0, set) && any(guards, 1, before))
    }
}

/// Goes through the full product, without a rule or with all; counts the states where less than everything is taken, and
/// what is broken there.
fn look<O: Observer>(
    case: &Case,
    observer: O,
    numbers: Vec<usize>,
    constraints: &[Constraint],
    without: Option<Rule>,
) -> BTreeMap<Option<Broken>, u32> {
    let (system, budget) = (&case.system, &mut Budget::unlimited());
    let space = Space::new(system, &numbers);
    let watches: Vec<Watch<'_>> =
        constraints.iter().filter(|its| !its.is_just()).map(|its| Watch::new(&space, its)).collect();
    let product = Product::new(system, observer, Valuations::new(numbers), AtDeadlock::Stutter);
    let mut product = product.reduced(Method::Fair, constraints, budget).expect("no limit");
    if let Some(rule) = without {
        product = product.without(rule, budget).expect("no limit");
    }
    let initial = product.initial_states().expect("a good system");
    let mut work: Vec<Vec<u32>> = initial.into_iter().map(|initial| initial.1).collect();
    let mut known: BTreeSet<Vec<u32>> = work.iter().cloned().collect();
    let (mut out, mut found) = (product.new_steps(), BTreeMap::new());
    let harmful = space.harmful(constraints);
    let first = |step: Option<ActionId>| step.map(|step| system.first(step));
    while let Some(state) = work.pop() {
        let (words, observer) = state.split_at(state.len() - 1);
        let stance = product.expand_fully(words, observer[0], &mut out).expect("a good system").stance;
        let mut target = vec![0; state.len()];
        for step in &out.steps {
            out.copy_target(step, &mut target);
            if known.insert(target.clone()) {
                work.push(target.clone());
            }
        }
        let possible: Actions = out.steps.iter().filter_map(|step| first(step.action)).collect();
        let at = space.numbers[words];
        let path = Path::Repaired { extra: &[], again: None };
        product.expand(words, observer[0], path, &mut out).expect("a good system");
        let set: Actions = out.steps.iter().filter_map(|step| first(step.action)).collect();
        // Where the observer blocks something, the set has more than can be seen.
        if possible != space.enabled(at) || set == possible {
            continue;
        }
        let outside = space.reached(at, |_, edge| !set.contains(&edge.0));
        let can_happen: Actions = outside.iter().flat_map(|&state| &space.enabled(state) - &set).collect();
        let flips = |&action: &ActionId| {
            space.edges[at].iter().any(|edge| edge.0 == action && !space.is_silent(at, edge.1))
        };
        // Nothing that is seen has happened yet, and now something does that the observer follows and the set lacks.
        let mut is_overtaken = || {
            let takes =
                |from, edge: &(ActionId, usize)| !set.contains(&edge.0) && space.is_silent(from, edge.1);
            space.reached(at, takes).into_iter().any(|u| {
                product.expand_fully(&space.states[u], observer[0], &mut out).expect("a good system");
                let followed: Actions = out.steps.iter().filter_map(|step| first(step.action)).collect();
                let mut seen = space.edges[u].iter().filter(|edge| !space.is_silent(u, edge.1));
                seen.any(|edge| !set.contains(&edge.0) && followed.contains(&edge.0))
            })
        };
        let is_forced = |action: &ActionId| {
            let mut its = constraints.iter().filter(|its| its.actions.contains(action));
            its.any(|its| its.takers().iter().all(|taker| !can_happen.contains(taker)))
        };
        let is_key = |action: &ActionId| is_forced(action) || !flips(action) && !harmful.contains(action);
        let may_wait = stance.may_wait || stance.deadlock;
        let broken = if !space.is_closed(&set, &outside) {
            Some(Broken::Closed)
        } else if set.iter().any(flips) && is_overtaken() {
            Some(Broken::Order)
        } else if !set.iter().any(is_key) && (may_wait || is_overtaken()) {
            Some(Broken::Key)
        } else if !stance.passing && watches.iter().any(|its| its.is_overtaken(&space, at, &set, &can_happen))
        {
            Some(Broken::Flip)
        } else {
            None
        };
        *found.entry(broken).or_insert(0) += 1;
    }
    found
}

/// What is broken for a random toy and formula, with an observer by value or by change.
fn look_at(
    toy: &Toy,
    seed: u64,
    size: u32,
    without: Option<Rule>,
) -> Option<(Case, BTreeMap<Option<Broken>, u32>)> {
    let mut case =
        toy.draw(Draw { seed, size, operators: random::NEXT_FREE }).filter(|case| case.n_states() <= 150)?;
    let claim: Claim = case.claim(case.formula);
    let constraints = toy.constraints(&case.system);
    let (props, numbers): (Vec<_>, Vec<_>) = claim.propositions().iter().copied().unzip();
    let found = if seed & 1 == 0 {
        let tgba = waiting_form(claim.tgba(), 10_000, &mut Budget::unlimited()).expect("a small automaton");
        look(&case, ByValue::new(&tgba, props), numbers, &constraints, without)
    } else {
        look(&case, Lazy::new(claim.tgba(), Kind::Tgta, props), numbers, &constraints, without)
    };
    Some((case, found))
}

/// Toys of all kinds.
fn toys() -> impl Strategy<Value = (Toy, u64, u32)> {
    (prop_oneof![any_toy(), shared(), meetings()], any::<u64>(), 1..8u32)
}

#[test]
fn sets_have_what_the_proof_asks_for() {
    let n_sets = RefCell::new(0);
    run_cases(1500, &toys(), |(toy, seed, size)| {
        let Some((case, found)) = look_at(&toy, seed, size, None) else { return Ok(()) };
        *n_sets.borrow_mut() += found.get(&None).copied().unwrap_or(0);
        let is_good = found.keys().all(Option::is_none);
        prop_assert!(is_good, "{found:?}, {} on\n{toy:?}", case.text());
        Ok(())
    });
    tell_count("sets", n_sets.take(), 0);
}

/// Without a rule, sets break it.
#[test]
fn a_dropped_rule_is_broken() {
    for (rule, what) in [
        (Rule::Order, Broken::Order),
        (Rule::Key, Broken::Key),
        (Rule::Waiting, Broken::Key),
        (Rule::Shut, Broken::Key),
        (Rule::Flip, Broken::Flip),
    ] {
        let n_broken = RefCell::new(0);
        run_cases(150, &toys(), |(toy, seed, size)| {
            let found = look_at(&toy, seed, size, Some(rule));
            *n_broken.borrow_mut() += found.and_then(|found| found.1.get(&Some(what)).copied()).unwrap_or(0);
            Ok(())
        });
        assert_met!(*n_broken.borrow() > 0, "{rule:?}");
    }
}
