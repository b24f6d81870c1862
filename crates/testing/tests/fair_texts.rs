//! Fair questions about models in every language, asked as a user asks them: with everything that may be left out, and with
//! nothing left out, the answers are the same. (Runs are judged by `replay` on the way.)
//!
//! `STUBBORN_SEED=7 STUBBORN_CASES=20 cargo test --release -p stubborn-testing --test fair_texts` asks other questions, and more.

use std::cell::Cell;

use generators::random;
use ltl::Spelling;
use proptest::collection::vec;
use proptest::prelude::*;
use stubborn::{Fair, Limits, Options, Question, ReductionWish, Rules, Session, Verdict};
use stubborn_testing::texts::{MAKERS, Maker, Text};
use stubborn_testing::{assert_met, run_cases, tell_count};

/// A formula that does not see stuttering, about two of the propositions.
fn formula(text: &Text, draw: &mut impl FnMut(u32) -> u32) -> String {
    let mut pick = || text.propositions[draw(text.propositions.len() as u32) as usize].clone();
    let (p, q) = (pick(), pick());
    match draw(6) {
        0 => format!("[] (({p}) -> <> ({q}))"),
        1 => format!("[] <> ({p})"),
        2 => format!("<> [] ({p})"),
        3 => format!("([] <> ({p})) -> ([] <> ({q}))"),
        _ => {
            let size = 3 + draw(6);
            let (formulas, _, formula) = random::pool(2, random::NEXT_FREE, size, draw);
            let shape = formulas.display(formula, Spelling::Spin).to_string();
            shape.replace("p0", "\u{1}").replace("p1", &format!("({q})")).replace('\u{1}', &format!("({p})"))
        }
    }
}

/// Who is treated fairly: everybody in one way, or some in some ways.
fn fairness(text: &Text, draw: &mut impl FnMut(u32) -> u32) -> Vec<Fair> {
    const KINDS: [&str; 3] = ["weak", "strong", "just"];
    let kind = |draw: &mut dyn FnMut(u32) -> u32| KINDS[draw(3) as usize];
    let mut said = Vec::new();
    match draw(5) {
        0 | 1 => said.push(kind(draw).to_owned()),
        2 if !text.actions.is_empty() => {
            for _ in 0..=draw(3) {
                let action = &text.actions[draw(text.actions.len() as u32) as usize];
                said.push(format!("{}-action:{action}", kind(draw)));
            }
        }
        _ => {
            let some = text.processes.iter().filter(|_| draw(4) > 0).collect::<Vec<_>>();
            said.extend(some.iter().map(|process| format!("{}:{process}", kind(draw))));
        }
    }
    said.iter().map(|said| said.parse().expect("as it is written")).collect()
}

/// The verdict, and how many states were looked at; nothing if the model is too large.
fn ask(text: &Text, formula: &str, options: &Options) -> Result<Option<(Verdict, u64)>, TestCaseError> {
    let fail = |why: stubborn::Error| TestCaseError::fail(format!("{why}\n{}\n{formula}", text.text));
    let mut session = Session::of_text(text.language, &text.text).map_err(fail)?;
    let report = session.check(&[Question::ltl(formula)], options).map_err(fail)?;
    let result = &report.results[0];
    Ok((result.verdict != Verdict::Unknown).then_some((result.verdict, result.stats.states)))
}

fn agree(name: &str, maker: Maker, n_cases: u32) {
    let (holds, violated) = (Cell::new(0_u32), Cell::new(0_u32));
    let states = Cell::new([0; 2]);
    run_cases(n_cases, &vec(any::<u32>(), 0..120), |tape| {
        let mut draw = random::from_tape(&tape);
        let text = maker(&mut draw);
        let formula = formula(&text, &mut draw);
        let fair = fairness(&text, &mut draw);
        let limits = Limits::default().states(20_000);
        let some = Options { fair, limits, threads: Some(1), ..Options::default() };
        let none = Options { reduce: ReductionWish::None, ..some.clone() };
        let (statics, structural) = (Some(Rules::none()), Rules::none());
        let all = Options { statics: statics.clone(), structural: structural.clone(), ..none.clone() };
        let Some((verdict, of_all)) = ask(&text, &formula, &all)? else { return Ok(()) };
        let only_sets = Options { statics, structural, ..some.clone() };
        for options in [&some, &none, &only_sets] {
            let answer = ask(&text, &formula, options)?;
            let Some((answer, of_some)) = answer else {
                return Err(TestCaseError::fail(format!("unknown\n{}\n{formula}\n{options:?}", text.text)));
            };
            prop_assert_eq!(answer, verdict, "{}\n{}\n{:?}", &text.text, formula, options);
            if options.reduce == ReductionWish::Auto && options.statics.is_some() && verdict == Verdict::Holds
            {
                states.set([states.get()[0] + of_all, states.get()[1] + of_some]);
            }
        }
        let count = if verdict == Verdict::Holds { &holds } else { &violated };
        count.set(count.get() + 1);
        Ok(())
    });
    let (holds, violated, [of_all, of_some]) = (holds.get(), violated.get(), states.get());
    tell_count(name, holds, violated);
    assert_met!(10 * holds.min(violated) > n_cases, "{holds} hold, {violated} are violated");
    assert_met!(of_some < of_all, "{of_some} of {of_all} states are left");
}

#[test]
fn process_networks() {
    agree("process networks", MAKERS[0], 400);
}

#[test]
fn promela() {
    agree("Promela", MAKERS[1], 400);
}

#[test]
fn nets() {
    agree("nets", MAKERS[2], 400);
}

/// Who puts a fork down need not bring along a neighbor who has not begun: there are 203 states if it does.
#[test]
fn what_a_disabled_step_waits_for_depends_on_the_set() {
    let text = "bool f[5];
        #define A (_pid == 4 -> 0 : _pid)
        #define B (_pid == 4 -> 4 : _pid + 1)
        active [5] proctype P() {
            do :: atomic { !f[A] -> f[A] = 1 }; atomic { !f[B] -> f[B] = 1 }; eats: f[A] = 0; f[B] = 0 od
        }";
    let text = Text {
        language: "promela",
        text: text.to_owned(),
        propositions: Vec::new(),
        processes: Vec::new(),
        actions: Vec::new(),
    };
    for kind in ["weak", "strong", "just"] {
        let fair = vec![kind.parse().expect("as it is written")];
        let options = Options { fair, threads: Some(1), ..Options::default() };
        let answer = ask(&text, "[] (P[0]@eats -> <> !P[0]@eats)", &options).expect("no error");
        assert_eq!(answer, Some((Verdict::Holds, 99)), "{kind}");
    }
}

/// As long as a formula waits for something to happen, what may make it happen is enough, though nobody has to do it: there are 22
/// states if somebody who goes round is taken along, since that wakes who is treated fairly.
#[test]
fn what_leads_on_is_enough_where_waiting_is_not_accepted() {
    let text = "process X { off: flip -> on | back -> off; on: flip -> off | see -> on; }
        process P { a: flip -> b; b: tau -> c; c: tau -> a; }
        process Q { idle: call -> called; called: rest -> idle; }
        process R { wait: see -> wait2; wait2: see -> wait | answer -> wait; }
        process Z { z: call -> y; y: answer -> z; }";
    let text = Text {
        language: "process",
        text: text.to_owned(),
        propositions: Vec::new(),
        processes: Vec::new(),
        actions: Vec::new(),
    };
    let fair = vec!["weak:R".parse().expect("as it is written")];
    let options = Options { fair, threads: Some(1), ..Options::default() };
    let answer = ask(&text, "[] (Q@called -> <> Q@idle)", &options).expect("no error");
    assert_eq!(answer, Some((Verdict::Violated, 4)));
}
