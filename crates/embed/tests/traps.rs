//! Three models on which stateright 0.31 misses what is wrong; `benches/stateright` has them as it wants them.

use stubborn_embed::actors::{Actor, Actors, Id, Out};
use stubborn_embed::{Check, Model, Verdict};

/// A graph; a state is a node, an action where it leads.
struct Graph(&'static [&'static [u8]]);

impl Model for Graph {
    type State = u8;
    type Action = u8;

    fn initial(&self) -> Vec<u8> {
        vec![0]
    }

    fn actions(&self, at: &u8, out: &mut Vec<u8>) {
        out.extend(self.0[usize::from(*at)]);
    }

    fn step(&self, at: &mut u8, to: &u8) {
        *at = *to;
    }
}

fn states_of(verdict: &Verdict<Graph>) -> Vec<u8> {
    let found = verdict.counterexample().unwrap_or_else(|| panic!("{verdict}"));
    (0..=found.run.steps.len()).map(|steps| *found.run.state(steps)).collect()
}

#[test]
fn eventually_where_ways_join() {
    // The state in which both ways join was met on the good way first.
    let join = Graph(&[&[1, 2], &[3], &[3], &[]]);
    let check = Check::new(&join).prop("good", |at| *at == 1);
    assert_eq!(states_of(&check.eventually("good"))[..3], [0, 2, 3]);
}

#[test]
fn eventually_on_a_cycle() {
    let round = Graph(&[&[1], &[0, 2], &[]]);
    let check = Check::new(&round).prop("out", |at| *at == 2);
    let verdict = check.eventually("out");
    assert!(!states_of(&verdict).contains(&2));
    assert!(verdict.counterexample().is_some_and(|found| found.run.cycle().is_some()), "{verdict}");
}

#[test]
fn always_is_told_by_a_shortest_run() {
    // Depth first, the long way comes first.
    let ways = Graph(&[&[1, 4], &[2], &[3], &[4], &[0]]);
    let check = Check::new(&ways).prop("last", |at| *at == 4).prop("first", |at| *at == 0);
    for formula in ["[] !last", "[] (!last || first)", "[] (last -> first)", "G (last xor true)"] {
        let verdict = check.ltl(formula);
        assert_eq!(states_of(&verdict), [0, 4], "{formula}");
        assert!(verdict.to_string().starts_with(&format!("`{formula}` is violated")), "{verdict}");
    }
    assert!(check.ltl("[] (last -> !first)").holds() && check.ltl("[] true").holds());
    assert!(check.ltl("[] (last || first)").is_violated() && check.ltl("[] false").is_violated());
}

/// Two of three have a timer, which rings once. Whether it is still set is part of the state.
struct Node;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Msg {
    First,
    Go,
    Second,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Is {
    Idle,
    Ready,
    Open,
    Bad,
}

impl Actor for Node {
    type Local = (Is, bool);
    type Msg = Msg;
    type Timer = ();

    fn start(&self, me: Id, _: &mut Out<Msg>) -> (Is, bool) {
        (Is::Idle, me < 2)
    }

    fn timers(&self, _: Id, &(_, is_set): &(Is, bool), timers: &mut Vec<()>) {
        timers.extend(is_set.then_some(()));
    }

    fn on_timer(&self, _: Id, (is, is_set): &mut (Is, bool), (): &(), out: &mut Out<Msg>) {
        *is_set = false;
        out.send(2, if *is == Is::Ready { Msg::Second } else { Msg::First });
    }

    fn on_msg(&self, me: Id, (is, _): &mut (Is, bool), from: Id, msg: &Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::First if me == 2 && *is == Is::Idle => {
                *is = Is::Open;
                out.send(0, Msg::Go);
                out.send(1, Msg::Go);
            }
            Msg::Go => *is = Is::Ready,
            Msg::Second if *is == Is::Open && from == 0 => *is = Is::Bad,
            _ => {}
        }
    }
}

#[test]
fn states_that_differ_in_who_has_a_timer() {
    let nodes = Actors::new().add_many(3, "node", Node);
    let check = nodes.check().prop("bad", |world| world.all::<(Is, bool)>().any(|(is, _)| *is == Is::Bad));
    let found = check.reachable("bad").run().expect("it can be reached");
    assert_eq!(found.steps.len(), 5, "{found}");
    assert!(check.never("bad").is_violated());
}
