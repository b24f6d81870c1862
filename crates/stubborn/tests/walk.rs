//! Walks by hand: paths lead to the same place again, ways are shortest, and models that turn out to be too small are
//! made larger under the feet of who walks.

use stubborn::{
    Clock, Destination, Limits, Options, Path, Place, Question, Session, Sought, WalkEnd, Walker,
};

fn clock() -> Clock<'static> {
    Clock::start(&Limits::default())
}

fn walker(language: &str, text: &str) -> Walker {
    Walker::new(Session::of_text(language, text).expect("it can be read"), &clock())
        .expect("it can be walked")
}

fn place(walker: &mut Walker, path: &Path) -> Place {
    walker.place(path, &[], &clock()).expect("the path fits")
}

const DINING: &str = "const N = 3;
process Fork[i in 0..N] { free: take_left[i] -> held | take_right[i] -> held; held: put_left[i] -> free | put_right[i] -> free; }
process Phil[i in 0..N] { think: take_left[i] -> left; left: take_right[(i + 1) % N] -> eat; eat: put_left[i] -> right; right: put_right[(i + 1) % N] -> think; }";

/// The number of steps to a state where an expression is true, as a check finds it.
fn shortest(expression: &str) -> Option<usize> {
    let mut session = Session::of_text("process", DINING).unwrap();
    let options = Options { shortest: true, ..Options::default() };
    let report = session.check(&[Question::invariant(&format!("!({expression})"))], &options).unwrap();
    report.results[0].counterexample.as_ref().map(|run| run.trace.len())
}

#[test]
fn ways_to_a_state_are_shortest_and_lead_there() {
    for expression in [
        "Phil[0]@eat",
        "Phil[0]@right && Phil[1]@left",
        "Phil[2]@eat && Phil[1]@think",
        "Phil[0]@eat && Phil[1]@eat",
    ] {
        let mut walker = walker("process", DINING);
        let found = walker.seek(&Path::default(), &Destination::Where(expression.into()), &clock()).unwrap();
        match (found, shortest(expression)) {
            (Sought::Found(steps), Some(length)) => {
                assert_eq!(steps.len(), length, "{expression}");
                let path = Path { initial: 0, steps };
                let there = walker.place(&path, &[expression.into()], &clock()).unwrap();
                assert_eq!(there.watched, [Some(true)], "{expression}");
                // From there it is no step.
                let again = walker.seek(&path, &Destination::Where(expression.into()), &clock()).unwrap();
                assert_eq!(again, Sought::Found(Vec::new()));
                // From elsewhere, the way is as long as it is by looking at everything.
                for choice in place(&mut walker, &Path::default()).choices {
                    let start = Path { initial: 0, steps: vec![choice.step] };
                    let found =
                        walker.seek(&start, &Destination::Where(expression.into()), &clock()).unwrap();
                    let Sought::Found(steps) = found else { panic!("{expression}: {found:?}") };
                    assert_eq!(
                        Some(steps.len()),
                        by_looking(&mut walker, &start, expression),
                        "{expression}"
                    );
                }
            }
            (Sought::Nowhere(states), None) => assert_eq!(states, 26, "all of them"),
            (found, length) => panic!("{expression}: {found:?}, but {length:?}"),
        }
    }
    let deadlock =
        walker("process", DINING).seek(&Path::default(), &Destination::Deadlock, &clock()).unwrap();
    assert!(matches!(deadlock, Sought::Found(steps) if steps.len() == 3));
}

/// The same, layer by layer, through nothing but places.
fn by_looking(walker: &mut Walker, start: &Path, expression: &str) -> Option<usize> {
    let mut seen = std::collections::BTreeSet::new();
    let mut layer = vec![start.clone()];
    for depth in 0.. {
        let mut next = Vec::new();
        for path in layer {
            let here = walker.place(&path, &[expression.into()], &clock()).unwrap();
            if here.watched == [Some(true)] {
                return Some(depth);
            }
            if seen.insert(here.id) {
                next.extend(here.choices.into_iter().map(|choice| {
                    let steps = path.steps.iter().cloned().chain([choice.step]).collect();
                    Path { initial: 0, steps }
                }));
            }
        }
        if next.is_empty() {
            return None;
        }
        layer = next;
    }
    None
}

/// Ids are equal where states are, and a choice leads where its step leads.
#[test]
fn places_are_those_of_the_system() {
    let mut walker = walker("process", DINING);
    let mut random = 7_usize;
    let mut path = Path::default();
    for _ in 0..200 {
        let here = place(&mut walker, &path);
        if here.choices.is_empty() {
            path = Path::default();
            continue;
        }
        random = random.wrapping_mul(48_271) % 0x7fff_ffff;
        let chosen = &here.choices[random % here.choices.len()];
        path.steps.push(chosen.step.clone());
        assert_eq!(Ok(place(&mut walker, &path).id), chosen.leads_to);
        // Whoever reads the model again is at the same place.
        let mut other = self::walker("process", DINING);
        assert_eq!(place(&mut other, &path).id, place(&mut walker, &path).id);
    }
    let trace = walker.trace(&path, &["Phil[0]@eat".into()], &clock()).unwrap();
    assert_eq!((trace.len(), trace.run().initial), (path.steps.len(), 0));
}

#[test]
fn chance_stops_at_breakpoints_and_ends() {
    let mut walker = walker("process", DINING);
    let mut wander = |n_steps: usize, breakpoint: &str| {
        let breakpoints: &[String] = &[breakpoint.to_owned()];
        walker.wander(&Path::default(), n_steps, breakpoints, &mut |_| 0, &clock())
    };
    // The first choice is always that the next one takes the left fork.
    let ended =
        |result: Result<(Vec<_>, WalkEnd), stubborn::Error>| result.map(|(steps, end)| (steps.len(), end));
    assert_eq!(ended(wander(100, "Phil[1]@left")).unwrap(), (2, WalkEnd::Breakpoint(0)));
    assert_eq!(ended(wander(100, "Phil[0]@think")).unwrap(), (3, WalkEnd::Deadlock), "it was true before");
    assert_eq!(ended(wander(2, "Phil[0]@eat")).unwrap(), (2, WalkEnd::Enough));
    assert!(ended(wander(2, "Phil[0]@ate")).unwrap_err().to_string().contains("ate"));
}

/// A place that gets ever more tokens has too little room at first; a path goes on all the same.
#[test]
fn models_grow_under_the_feet() {
    let net = "<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'>
        <place id='p'/><place id='q'><initialMarking><text>1</text></initialMarking></place><transition id='fill'/><transition id='turn'/>
        <arc id='a' source='fill' target='p'/><arc id='b' source='q' target='turn'/><arc id='c' source='turn' target='q'/></page></net></pnml>";
    let mut walker = walker("petri", net);
    let mut path = Path::default();
    for n in 0..20_usize {
        let here = place(&mut walker, &path);
        assert_eq!(here.state[0], ("p".to_owned(), n.to_string()));
        path.steps.extend(here.choices.into_iter().find(|it| it.action == "fill").map(|it| it.step));
    }
    let (steps, end) = walker.wander(&path, 4980, &[], &mut |_| 0, &clock()).unwrap();
    path.steps.extend(steps);
    assert_eq!(end, WalkEnd::Enough);
    assert_eq!(place(&mut walker, &path).state[0].1, "5000", "filled again and again");
    assert!(walker.generation() > 0, "it was too small at first");
    let promela = "active proctype A() { byte i; do :: i < 3 -> run B(i); i++ :: else -> break od }\nproctype B(byte n) { byte x = n }";
    let mut walker = self::walker("promela", promela);
    let (steps, end) = walker.wander(&Path::default(), 1000, &[], &mut |n| n - 1, &clock()).unwrap();
    assert_eq!(end, WalkEnd::Deadlock);
    let path = Path { initial: 0, steps };
    assert!(place(&mut walker, &path).may_end && place(&mut self::walker("promela", promela), &path).may_end);
}

#[test]
fn paths_of_other_models_are_refused() {
    let mut dining = walker("process", DINING);
    let step = place(&mut dining, &Path::default()).choices[0].step.clone();
    let path = Path { initial: 0, steps: vec![step] };
    let mut other = walker("process", "process P { a: go -> a; }");
    let error = other.place(&path, &[], &clock()).unwrap_err().to_string();
    assert!(error.contains("step 1 of the path is not possible"), "{error}");
    let error = other.place(&Path { initial: 7, ..Path::default() }, &[], &clock()).unwrap_err().to_string();
    assert!(error.contains("no initial state 7"), "{error}");
}

/// Assertions that fail are told before the step is taken; the walk goes on all the same, as runs of formulas do. At
/// random, it ends there.
#[test]
fn failing_assertions_are_told() {
    let text = "byte x;\nactive proctype P() { x = 1; assert(x == 0); x = 2; atomic { x = 3; assert(x == 9) }; \
                d_step { x = 4; assert(x == 4) } }";
    let mut walker = walker("promela", text);
    let mut path = Path::default();
    let mut failures = Vec::new();
    loop {
        let here = place(&mut walker, &path);
        let [choice] = &here.choices[..] else { break };
        assert!(choice.leads_to.is_ok());
        failures.push(choice.fails.clone());
        path.steps.push(choice.step.clone());
    }
    let failing: Vec<usize> = (0..failures.len()).filter(|&step| failures[step].is_some()).collect();
    assert_eq!(failing, [1, 3], "{failures:?}");
    assert!(failures[1].as_ref().is_some_and(|why| why.contains("x == 0")), "{failures:?}");
    let (steps, end) = walker.wander(&Path::default(), 100, &[], &mut |_| 0, &clock()).unwrap();
    assert!(matches!((steps.len(), end), (1, WalkEnd::Fault(_))));
}
