//! Walks through random networks, and their state spaces in classes, against the definition: every state that a naive
//! search finds can be walked to, with the steps that it has there; ways to states are shortest; classes have the states
//! and the steps that they should have.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn::{Clock, Destination, Fold, Folded, Limits, Path, Place, Session, Sought, WalkEnd, Walker};
use stubborn_testing::networks::{Network, Space, network};
use stubborn_testing::run_cases;

/// Larger spaces take too long to be walked through.
const MAX_STATES: usize = 200;

fn clock() -> Clock<'static> {
    Clock::start(&Limits::default())
}

/// A network with its state space, by the definition.
struct Case {
    network: Network,
    space: Space,
    /// The states that follow each, once for every way.
    next: Vec<Vec<usize>>,
}

impl Case {
    fn new(network: Network) -> Option<Case> {
        let space = network.explore();
        if space.states.len() > MAX_STATES {
            return None;
        }
        let mut next = vec![Vec::new(); space.states.len()];
        for (from, _, to, _) in &space.transitions {
            next[*from].push(*to);
        }
        Some(Case { network, space, next })
    }

    fn session(&self) -> Session {
        Session::of_text("process", &self.network.to_text()).expect("it can be read")
    }

    fn walker(&self) -> Walker {
        Walker::new(self.session(), &clock()).expect("it can be walked")
    }

    /// The number of the state that a place shows.
    fn number(&self, place: &Place) -> usize {
        let parts: BTreeMap<&str, &str> =
            place.state.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let local = |process: usize| -> usize {
            // A process of one state has nothing to show.
            parts
                .get(format!("P{process}").as_str())
                .map_or(0, |value| value[1..].parse().expect("s0, s1, …"))
        };
        let state: Vec<usize> = (0..self.network.processes.len()).map(local).collect();
        self.space.states.iter().position(|known| *known == state).expect("the state can be reached")
    }

    /// The number of steps to each state from one, where it can be reached.
    fn distances(&self, from: usize) -> Vec<Option<usize>> {
        let mut distance = vec![None; self.next.len()];
        distance[from] = Some(0);
        let mut line = VecDeque::from([from]);
        while let Some(at) = line.pop_front() {
            for &to in &self.next[at] {
                if distance[to].is_none() {
                    distance[to] = distance[at].map(|steps| steps + 1);
                    line.push_back(to);
                }
            }
        }
        distance
    }

    /// An expression that is true in this state alone.
    fn only(&self, state: usize) -> String {
        let locals = self.space.states[state].iter().enumerate();
        let parts: Vec<String> = locals.map(|(process, local)| format!("P{process}@s{local}")).collect();
        parts.join(" && ")
    }
}

/// A path to every state, found by walking; each place has the steps of its state.
fn walk_everywhere(case: &Case, walker: &mut Walker) -> Result<Vec<Path>, TestCaseError> {
    let mut paths: Vec<Option<Path>> = vec![None; case.next.len()];
    let mut ids: Vec<Option<u128>> = vec![None; case.next.len()];
    let mut line = VecDeque::from([Path::default()]);
    while let Some(path) = line.pop_front() {
        let place =
            walker.place(&path, &[], &clock()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let number = case.number(&place);
        prop_assert!(ids[number].is_none_or(|id| id == place.id), "equal states have equal ids");
        ids[number] = Some(place.id);
        if paths[number].is_some() {
            continue;
        }
        // Each step leads where the definition says, and all do.
        let mut reached = Vec::new();
        for choice in &place.choices {
            let steps = path.steps.iter().cloned().chain([choice.step.clone()]).collect();
            let on = Path { initial: 0, steps };
            let there = walker.place(&on, &[], &clock()).expect("a choice can be taken");
            prop_assert_eq!(choice.leads_to.as_ref(), Ok(&there.id));
            prop_assert_eq!(&choice.fails, &None);
            reached.push(case.number(&there));
            line.push_back(on);
        }
        let (reached, wanted): (BTreeSet<usize>, BTreeSet<usize>) =
            (reached.into_iter().collect(), case.next[number].iter().copied().collect());
        prop_assert_eq!(reached, wanted, "state {}", number);
        prop_assert_eq!(place.choices.is_empty(), case.next[number].is_empty());
        paths[number] = Some(path);
    }
    let distinct: BTreeSet<Option<u128>> = ids.iter().copied().collect();
    prop_assert_eq!(distinct.len(), ids.len(), "different states have different ids");
    prop_assert!(paths.iter().all(Option::is_some), "every state is walked to");
    Ok(paths.into_iter().flatten().collect())
}

#[test]
fn walks_lead_everywhere_and_ways_are_shortest() {
    run_cases(60, &(network(), any::<usize>(), any::<u64>()), |(network, draw, seed)| {
        let Some(case) = Case::new(network) else { return Ok(()) };
        let mut walker = case.walker();
        let paths = walk_everywhere(&case, &mut walker)?;
        // From some state to some others, and to a deadlock.
        let from = draw % case.next.len();
        let distance = case.distances(from);
        for to in (0..case.next.len()).step_by(1 + case.next.len() / 5) {
            let goal = Destination::Where(case.only(to));
            match (walker.seek(&paths[from], &goal, &clock()).expect("it can be looked for"), distance[to]) {
                (Sought::Found(steps), Some(length)) => {
                    prop_assert_eq!(steps.len(), length);
                    let steps = paths[from].steps.iter().cloned().chain(steps).collect();
                    let there =
                        walker.place(&Path { initial: 0, steps }, &[case.only(to)], &clock()).unwrap();
                    prop_assert_eq!((case.number(&there), &there.watched[..]), (to, &[Some(true)][..]));
                }
                (Sought::Nowhere(n), None) => {
                    prop_assert_eq!(n as usize, distance.iter().flatten().count());
                }
                (found, length) => prop_assert!(false, "{:?} {:?}", found, length),
            }
        }
        let nearest =
            (0..case.next.len()).filter(|&at| case.next[at].is_empty()).filter_map(|at| distance[at]).min();
        let found = walker.seek(&paths[from], &Destination::Deadlock, &clock()).unwrap();
        let length = if let Sought::Found(steps) = &found { Some(steps.len()) } else { None };
        prop_assert_eq!(length, nearest);
        // At random: as many steps as wanted, unless it is stuck or something becomes true.
        let (mut random, until) = (seed, [case.only(draw / 7 % case.next.len())]);
        let choose = &mut |n: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % n
        };
        let (steps, end) = walker.wander(&paths[from], 20, &until, choose, &clock()).unwrap();
        let n_steps = steps.len();
        let steps = paths[from].steps.iter().cloned().chain(steps).collect();
        let there = walker.place(&Path { initial: 0, steps }, &until, &clock()).unwrap();
        match end {
            WalkEnd::Enough => prop_assert_eq!(n_steps, 20),
            WalkEnd::Deadlock => prop_assert!(there.choices.is_empty()),
            WalkEnd::Breakpoint(at) => prop_assert_eq!((at, &there.watched[..]), (0, &[Some(true)][..])),
            WalkEnd::Fault(why) => prop_assert!(false, "{}", why),
        }
        Ok(())
    });
}

/// Compares classes with a partition of the states, given by what those of a class have in common.
fn compare(
    case: &Case,
    walker: &mut Walker,
    folded: &Folded,
    class_of: &[usize],
) -> Result<(), TestCaseError> {
    prop_assert_eq!((folded.states as usize, folded.n_others), (case.next.len(), 0));
    prop_assert_eq!(folded.transitions as usize, case.next.iter().map(Vec::len).sum::<usize>());
    let classes: BTreeSet<usize> = class_of.iter().copied().collect();
    prop_assert_eq!(folded.classes.len(), classes.len());
    // Which class is meant is known by the state that its path leads to.
    let mut meant = Vec::new();
    for class in &folded.classes {
        let path = class.path.as_ref().expect("the way is short");
        let there = walker.place(path, &[], &clock()).expect("it leads there");
        prop_assert_eq!(there.id, class.first);
        let state = case.number(&there);
        prop_assert_eq!(Some(path.steps.len()), case.distances(0)[state], "the way is a shortest");
        meant.push(class_of[state]);
    }
    let distinct: BTreeSet<usize> = meant.iter().copied().collect();
    prop_assert_eq!(&distinct, &classes);
    for (class, &number) in folded.classes.iter().zip(&meant) {
        let members = || (0..class_of.len()).filter(|&state| class_of[state] == number);
        prop_assert_eq!(class.states as usize, members().count());
        prop_assert_eq!(class.deadlocks as usize, members().filter(|&at| case.next[at].is_empty()).count());
        prop_assert_eq!(class.initial, class_of[0] == number);
        let is_inner = members().any(|at| case.next[at].iter().any(|&to| class_of[to] == number));
        prop_assert_eq!(class.has_inner_steps, is_inner);
    }
    let mut wanted: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (from, all) in case.next.iter().enumerate() {
        for &to in all.iter().filter(|&&to| class_of[to] != class_of[from]) {
            *wanted.entry((class_of[from], class_of[to])).or_default() += 1;
        }
    }
    let edges: BTreeMap<(usize, usize), u64> =
        folded.edges.iter().map(|edge| ((meant[edge.from], meant[edge.to]), edge.steps)).collect();
    prop_assert_eq!(edges, wanted);
    Ok(())
}

#[test]
fn classes_are_those_of_the_definition() {
    run_cases(60, &(network(), any::<usize>()), |(network, draw)| {
        let Some(case) = Case::new(network) else { return Ok(()) };
        let (mut session, mut walker) = (case.session(), case.walker());
        let mut fold = |how: &Fold| session.fold(how, &[], 1_000, &clock()).expect("it can be folded");
        let every: Vec<usize> = (0..case.next.len()).collect();
        compare(&case, &mut walker, &fold(&Fold::States), &every)?;
        // By the state of a process, if it has several.
        let process = draw % case.network.processes.len();
        if case.network.processes[process].n_states > 1 {
            let of: Vec<usize> = case.space.states.iter().map(|state| state[process]).collect();
            compare(&case, &mut walker, &fold(&Fold::Parts(vec![format!("P{process}")])), &of)?;
        }
        // By two truths.
        let (one, two) = (case.only(draw / 3 % case.next.len()), format!("P{process}@s0"));
        let holds = |state: usize| {
            let is_one = case.only(state) == one;
            usize::from(is_one) * 2 + usize::from(case.space.states[state][process] == 0)
        };
        let of: Vec<usize> = every.iter().map(|&state| holds(state)).collect();
        compare(&case, &mut walker, &fold(&Fold::Truths(vec![one.clone(), two])), &of)?;
        // Those that can be reached from each other.
        let reach: Vec<Vec<Option<usize>>> = every.iter().map(|&state| case.distances(state)).collect();
        let is_mutual = |a: usize, b: usize| reach[a][b].is_some() && reach[b][a].is_some();
        let of: Vec<usize> = every
            .iter()
            .map(|&state| every.iter().copied().find(|&other| is_mutual(state, other)).unwrap())
            .collect();
        compare(&case, &mut walker, &fold(&Fold::Components), &of)
    });
}
