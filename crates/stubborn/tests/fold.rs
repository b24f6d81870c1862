//! State spaces folded into classes: compared with all states, which are found by walking.

use std::collections::{BTreeMap, BTreeSet};

use stubborn::base::Limit;
use stubborn::{Clock, Fold, Folded, Limits, Path, Session, Walker};

const MODEL: &str = "process P[i in 0..3] { idle: ask[i] -> wait; wait: get[i] -> work; work: put[i] -> idle | fail[i] -> broken; broken: ; }
process Lock { free: get[i] -> taken for i in 0..3; taken: put[i] -> free for i in 0..3; }";

fn clock() -> Clock<'static> {
    Clock::start(&Limits::default())
}

fn session() -> Session {
    Session::of_text("process", MODEL).expect("it can be read")
}

fn fold(fold: &Fold, opened: &[usize], max: usize) -> Folded {
    session().fold(fold, opened, max, &clock()).expect("it can be folded")
}

/// A state: its parts, and the ids of those that follow.
struct State {
    parts: BTreeMap<String, String>,
    next: Vec<u128>,
}

/// All states by their ids, found by walking.
fn all_states() -> BTreeMap<u128, State> {
    let mut walker = Walker::new(session(), &clock()).unwrap();
    let mut states = BTreeMap::new();
    let mut work = vec![Path::default()];
    while let Some(path) = work.pop() {
        let place = walker.place(&path, &[], &clock()).unwrap();
        if states.contains_key(&place.id) {
            continue;
        }
        for choice in &place.choices {
            let steps = path.steps.iter().cloned().chain([choice.step.clone()]).collect();
            work.push(Path { initial: 0, steps });
        }
        let next = place.choices.iter().map(|it| *it.leads_to.as_ref().unwrap()).collect();
        states.insert(place.id, State { parts: place.state.into_iter().collect(), next });
    }
    states
}

/// Whether one state can be reached from another, each from itself.
fn reach(states: &BTreeMap<u128, State>, from: u128) -> BTreeSet<u128> {
    let (mut seen, mut work) = (BTreeSet::new(), vec![from]);
    while let Some(at) = work.pop() {
        if seen.insert(at) {
            work.extend(&states[&at].next);
        }
    }
    seen
}

/// Every class has the states that it should have, and so have the edges.
fn is_right(folded: &Folded, states: &BTreeMap<u128, State>, class_of: impl Fn(u128) -> String) {
    let transitions: usize = states.values().map(|state| state.next.len()).sum();
    assert_eq!((folded.states, folded.transitions), (states.len() as u64, transitions as u64));
    let mut sizes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut edges: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (&id, state) in states {
        let size = sizes.entry(class_of(id)).or_default();
        size.0 += 1;
        size.1 += u64::from(state.next.is_empty());
        for &next in &state.next {
            if class_of(id) != class_of(next) {
                *edges.entry((class_of(id), class_of(next))).or_default() += 1;
            }
        }
    }
    let name = |at: usize| class_of(folded.classes[at].first);
    let found: BTreeMap<String, (u64, u64)> = (0..folded.classes.len())
        .map(|at| (name(at), (folded.classes[at].states, folded.classes[at].deadlocks)))
        .collect();
    assert_eq!(found, sizes);
    let found: BTreeMap<(String, String), u64> =
        folded.edges.iter().map(|edge| ((name(edge.from), name(edge.to)), edge.steps)).collect();
    assert_eq!(found, edges);
    // A way leads to the state that it should lead to.
    let mut walker = Walker::new(session(), &clock()).unwrap();
    for class in &folded.classes {
        let path = class.path.as_ref().expect("ways are short here");
        assert_eq!(walker.place(path, &[], &clock()).unwrap().id, class.first);
    }
}

#[test]
fn classes_are_what_they_should_be() {
    let states = all_states();
    is_right(&fold(&Fold::States, &[], 10_000), &states, |id| id.to_string());
    let parts = ["P[1]", "Lock"].map(str::to_owned);
    let by_parts = fold(&Fold::Parts(parts.to_vec()), &[], 100);
    is_right(&by_parts, &states, |id| parts.iter().map(|part| states[&id].parts[part].clone()).collect());
    assert!(by_parts.classes[0].initial && by_parts.classes[0].label == ["P[1] = idle", "Lock = free"]);
    let truths = Fold::Truths(vec!["P[0]@broken".into(), "Lock@taken".into()]);
    let truth = |id: u128, part: &str, value: &str| states[&id].parts[part] == value;
    let by_truths = fold(&truths, &[], 100);
    is_right(&by_truths, &states, |id| {
        format!("{}{}", truth(id, "P[0]", "broken"), truth(id, "Lock", "taken"))
    });
    assert_eq!(by_truths.classes[0].label, ["P[0]@broken: false", "Lock@taken: false"]);
    let reached: BTreeMap<u128, BTreeSet<u128>> = states.keys().map(|&id| (id, reach(&states, id))).collect();
    let component = |id: u128| {
        reached[&id].iter().filter(|&other| reached[other].contains(&id)).min().unwrap().to_string()
    };
    is_right(&fold(&Fold::Components, &[], 1000), &states, component);
    // An opened class is its states.
    let opened = fold(&Fold::Parts(vec!["Lock".into()]), &[1], 1000);
    is_right(&opened, &states, |id| match states[&id].parts["Lock"].as_str() {
        "taken" => id.to_string(),
        other => other.to_owned(),
    });
}

#[test]
fn what_is_too_much_is_told() {
    let states = all_states().len();
    let few = fold(&Fold::States, &[], 5);
    assert_eq!((few.classes.len(), few.n_others), (5, states - 4));
    assert_eq!(few.classes.iter().map(|class| class.states).sum::<u64>(), states as u64);
    assert!(few.edges.iter().all(|edge| edge.from < 5 && edge.to < 5));
    let clock = Clock::start(&Limits::default().states(10));
    let cut = session().fold(&Fold::States, &[], 100, &clock).unwrap();
    assert_eq!(cut.cut, Some(Limit::States(10)));
    assert!(cut.states >= 10 && cut.states < states as u64, "{}", cut.states);
    let wrong =
        session().fold(&Fold::Parts(vec!["Lok".into()]), &[], 9, &self::clock()).unwrap_err().to_string();
    assert!(wrong.contains("no part `Lok`") && wrong.contains("did you mean `Lock`?"), "{wrong}");
    let wrong = session().fold(&Fold::Truths(vec!["Lock@open".into()]), &[], 9, &self::clock()).unwrap_err();
    assert!(wrong.to_string().contains("open"), "{wrong}");
}
