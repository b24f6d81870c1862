//! Formulas about models that have more states than a first look takes: whatever finds the answer, by states alone or by
//! another observer, it is the one that a search without any reduction finds.

use stubborn::{Options, PropertyResult, Question, ReductionWish, Rules, Session, Text, Verdict};

/// Processes that count round and round, and look at each other's counters.
fn program(random: &mut fastrand::Rng) -> String {
    const N: usize = 4;
    let most = random.usize(6..8);
    let mut text = format!("byte x[{N}];\n");
    for me in 0..N {
        let other = (me + random.usize(1..N)) % N;
        let (value, to) = (random.usize(0..most), random.usize(0..most));
        let jumps = format!(":: x[{other}] == {value} -> x[{me}] = {to}\n");
        let jumps = if random.bool() { jumps.as_str() } else { "" };
        let waits = format!(" && x[{other}] != {value}");
        let waits = if random.bool() { waits.as_str() } else { "" };
        text += &format!(
            "active proctype P{me}() {{ do\n:: x[{me}] < {most} -> x[{me}]++\n:: x[{me}] == {most}{waits} -> x[{me}] = 0\n{jumps}od }}\n"
        );
    }
    text
}

fn formula(random: &mut fastrand::Rng) -> String {
    let all = format!("(x[0] + x[1] + x[2] + x[3] != {})", random.usize(0..32));
    let some = format!("(x[0] + x[{}] > {})", random.usize(1..4), random.usize(0..14));
    let one = format!("(x[{}] == {})", random.usize(0..4), random.usize(0..6));
    match random.usize(0..6) {
        0 | 1 => format!("[] {all}"),
        2 => format!("[] <> {some}"),
        3 => format!("<> !{some}"),
        4 => format!("[] ({one} -> <> {some})"),
        _ => format!("[] <> !({one} && {some})"),
    }
}

#[test]
fn answers_do_not_depend_on_what_finds_them() {
    let mut random = fastrand::Rng::with_seed(7);
    let plain = Options { reduce: ReductionWish::None, statics: Some(Rules::none()), ..Options::default() };
    // By verdict: how many were decided by states alone, and how many where a first look was not enough.
    let (mut by_states, mut large, mut by_other) = ([0; 2], [0; 2], 0);
    // Of violations that a state shows: the steps of all runs, and of all shortest ones.
    let (mut n_steps, mut n_shortest, mut n_long) = (0, 0, 0);
    let shortest = Options { shortest: true, ..Options::default() };
    for _ in 0..12 {
        let mut session = Session::of_text("promela", &program(&mut random)).unwrap();
        for _ in 0..5 {
            let text = formula(&mut random);
            let question = Question::Ltl(Text { text: text.clone(), source: "test".to_owned() });
            let mut ask = |options: &Options| {
                let mut report = session.check(std::slice::from_ref(&question), options).unwrap();
                report.results.remove(0)
            };
            let (found, expected) = (ask(&Options::default()), ask(&plain));
            assert_eq!(found.verdict, expected.verdict, "{text}");
            assert_ne!(found.verdict, Verdict::Unknown, "{text}: {:?}", found.remarks);
            let holds = usize::from(found.verdict == Verdict::Holds);
            let chosen = found.chosen.clone().unwrap_or_default();
            by_states[holds] += usize::from(chosen.contains("no observer"));
            by_other += usize::from(chosen.contains("lazy-tgta"));
            large[holds] += usize::from(expected.stats.states > 2_000);
            if holds == 0 && text.starts_with("[] (") && !text.contains("->") {
                let length = |found: &PropertyResult| found.counterexample.as_ref().unwrap().trace.len();
                let (here, least) = (length(&found), length(&ask(&shortest)));
                assert!(here >= least, "{text}: {here} steps, {least} of a shortest run");
                (n_steps, n_shortest) = (n_steps + here, n_shortest + least);
                n_long += usize::from(least > 12);
            }
        }
    }
    assert!(
        by_states.iter().all(|n| *n > 1) && by_other > 0,
        "{by_states:?}, {by_other} by another observer"
    );
    assert!(
        n_long > 2 && n_steps <= n_shortest + n_shortest / 2,
        "{n_steps} steps, {n_shortest}, {n_long} runs are long"
    );
    assert!(large.iter().all(|n| *n > 5), "{large:?}");
}
