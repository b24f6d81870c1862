//! Models that are too large for a budget: reading and making them ends soon, and says which limit was reached.

mod common;

use base::budget::Patience;
use base::{Budget, Limit, SourceMap};
use language::{File, Model as _, Options, Purpose, Trouble};
use stubborn_promela::Model;

/// Reads a model and makes all its systems.
fn make(text: &str, budget: &mut Budget<'_>) -> Result<usize, Limit> {
    let file = File { name: "model.pml".to_owned(), bytes: text.into() };
    let mut loader = |_: &str| Err("there is none".to_owned());
    let model = Model::read(file, &Options::default(), &mut SourceMap::new(), &mut loader, budget);
    let mut model = match model {
        Ok(model) => model,
        Err(Trouble::Limit(limit)) => return Err(limit),
        Err(Trouble::Wrong(errors)) => panic!("{:?}", errors.iter().next()),
    };
    let mut n_actions = model.system().actions().len();
    for purpose in [Purpose::Assertions, Purpose::EndStates, Purpose::Walk] {
        n_actions += match model.view(purpose, budget) {
            Ok(view) => view.system.actions().len(),
            Err(Trouble::Limit(limit)) => return Err(limit),
            Err(Trouble::Wrong(errors)) => panic!("{errors:?}"),
        };
    }
    assert!(model.properties().is_ok());
    Ok(n_actions)
}

/// Large models of many kinds.
fn giants() -> Vec<(&'static str, String)> {
    let globals: String = (0..10).map(|n| format!("int a{n}[99000]; ")).collect();
    let touched: String = (0..10).map(|n| format!("a{n}[x] = x; ")).collect();
    let many = "x++; x--; y = x + 1; if :: x > y -> x = 0 :: else -> y = x fi; ".repeat(60);
    let branches = "if :: x > 1 -> x-- :: else -> x++ fi; x = x + 1; ".repeat(15_000);
    let mut inlines = "inline f0() { x++; x = x + y }\n".to_owned();
    for level in 1..14 {
        inlines.push_str(&format!("inline f{level}() {{ f{}(); f{}() }}\n", level - 1, level - 1));
    }
    let names: String = (0..250).map(|n| format!("name{n}, ")).collect();
    let sends = ":: c[x]!x,x,x,x :: c[x]?x,y,x,y :: c[x]??x,1,2,eval(y) :: c[x]!!1,2,x,y ".repeat(10);
    let meets = ":: m!1,x :: m!2,y :: m!x,y :: m?1,x :: m?2,y :: m?x,y ".repeat(4);
    let list: String = (0..60_000).map(|n| format!("{}, ", n % 251)).collect();
    let stops: String = (0..4_000).map(|n| format!(":: x == {} -> x = {} ", 7 * n, 7 * n + 9)).collect();
    let options: String = (0..500).map(|n| format!(":: y == {n} -> y = {} ", n + 1)).collect();
    let escapes = "x = 1; ".repeat(1500);
    let runs = "run Q(x); ".repeat(200);
    vec![
        ("arrays", format!("{globals} active proctype P() {{ int x; {touched} }}")),
        ("frames", "active [250] proctype P() { int a[4000]; int x; a[x] = x; x++ }".to_owned()),
        ("processes", format!("byte y; active [200] proctype P() {{ byte x; {many} }}")),
        ("d_step", format!("active [5] proctype P() {{ int x; d_step {{ {branches} }} }}")),
        ("inlines", format!("byte y; {inlines} active [8] proctype P() {{ byte x; f13() }}")),
        (
            "mtype",
            format!(
                "mtype = {{ {names} last }} mtype a[99000]; active proctype P() {{ int x; a[x] = last }}"
            ),
        ),
        (
            "channels",
            format!(
                "chan c[100] = [255] of {{ int, int, int, int }};
                 active [20] proctype P() {{ int x, y; do {sends} od }}"
            ),
        ),
        (
            "rendezvous",
            format!(
                "chan m = [0] of {{ int, int }}; active [150] proctype P() {{ int x, y; do {meets} od }}"
            ),
        ),
        (
            "constants",
            format!(
                "int a[60001] = {{ {list} 9 }}; active [9] proctype P() {{ int x; x = a[x] + a[x + 1] }}"
            ),
        ),
        ("ranges", format!("int x; active proctype P() {{ do {stops} od }}")),
        (
            "escapes",
            format!("int x, y; active [9] proctype P() {{ {{ {escapes} }} unless {{ if {options} fi }} }}"),
        ),
        ("started", format!("proctype Q(byte n) {{ byte a[500]; a[n] = n }} init {{ byte x; {runs} }}")),
        (
            "priorities",
            format!("byte y; active [60] proctype P() priority 5 {{ byte x; {many} set_priority(0, 3) }}"),
        ),
    ]
}

const MEGABYTE: u64 = 1 << 20;

#[test]
fn giants_end_within_their_bytes() {
    for (name, text) in giants() {
        for megabytes in [1, 10, 100] {
            let patience = Patience::new(1_000_000);
            let mut budget = Budget::new(u64::MAX, megabytes * MEGABYTE, &patience);
            match make(&text, &mut budget) {
                Err(Limit::Memory(bytes)) => assert_eq!(bytes, megabytes * MEGABYTE, "{name}"),
                Err(limit) => panic!("{name}: {limit}"),
                Ok(_) => assert!(megabytes > 1, "{name} is no giant"),
            }
        }
    }
}

#[test]
fn giants_end_when_the_watch_has_had_enough() {
    for (name, text) in giants() {
        // Looks are at most 1024 pieces of work apart.
        for looks in [0, 1, 5, 30] {
            let patience = Patience::new(looks);
            let mut budget = Budget::new(u64::MAX, u64::MAX, &patience);
            assert_eq!(make(&text, &mut budget), Err(Limit::Interrupt), "{name} after {looks} looks");
        }
    }
}

#[test]
fn a_budget_that_is_just_enough_changes_nothing() {
    let text = "mtype = { a, b }; chan c = [2] of { mtype }; byte x;
        proctype Q(byte n) { c!a; x = n; assert(x < 9); c?_ }
        init { run Q(1); run Q(2); d_step { if :: x > 0 -> x = 0 :: else fi } }";
    let all = make(text, &mut Budget::unlimited()).expect("there is no limit");
    let mut n_interrupted = 0;
    for looks in 0.. {
        let patience = Patience::new(looks);
        match make(text, &mut Budget::new(u64::MAX, u64::MAX, &patience)) {
            Err(limit) => assert_eq!(limit, Limit::Interrupt),
            Ok(n_actions) => {
                assert_eq!(n_actions, all);
                break;
            }
        }
        n_interrupted += 1;
    }
    assert!(n_interrupted > 5);
    let mut n_refused = 0;
    for bytes in (0..).map(|step| 20_000 * step) {
        let patience = Patience::new(u64::MAX);
        match make(text, &mut Budget::new(u64::MAX, bytes, &patience)) {
            Err(limit) => assert_eq!(limit, Limit::Memory(bytes)),
            Ok(n_actions) => {
                assert_eq!(n_actions, all);
                break;
            }
        }
        n_refused += 1;
    }
    assert!(n_refused > 2);
}
