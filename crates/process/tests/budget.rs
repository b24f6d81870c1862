//! Reading ends with the budget, wherever that is spent; and with enough of it, nothing is different.

use base::budget::Patience;
use base::{Budget, Limit, SourceMap};
use language::Trouble;
use model::Guard;
use stubborn_process::{Model, Options, load};

/// Texts that are long, or that stand for much: each for another phase.
fn texts() -> Vec<(&'static str, String)> {
    let states: String = (0..2_000).map(|at| format!("s{at}: a -> s{};\n", (at + 1) % 2_000)).collect();
    let sum = format!("P@s{}", " + P@s".repeat(5_000));
    vec![
        ("a long text", format!("process P {{ {states} }}")),
        ("many states", "process P { at[k in 0..5000]: a -> at[(k + 1) % 5000]; }".to_owned()),
        ("many labels", "process P { s: a[i] -> s for i in 0..5000; }".to_owned()),
        ("many conditions", "process P { s: a[i] -> s for i in 0..9000 when i < 3; }".to_owned()),
        ("many processes", "process P[i in 0..5000] { s: a[i] -> t; t: b[i] -> s; }".to_owned()),
        ("many versions", "process P[i in 0..12] { s: a -> s | a -> t; t: ; }".to_owned()),
        ("a long expression", format!("process P {{ s: a -> s; }} invariant x = {sum} == 5001;")),
        ("many testers", {
            let system = "process P { s: a -> s; }".to_owned();
            system + "tester T[i in 0..3000] { at[k in 0..20]: a -> at[k]; reject at[i % 20]; }"
        }),
        ("a large component", "process P = extern \"x.aut\";".to_owned()),
    ]
}

fn read(text: &str, budget: &mut Budget<'_>) -> Result<Model, Trouble> {
    let mut sources = SourceMap::new();
    let source = sources.add("test.proc", text.into()).unwrap();
    let edges: String =
        (0..5_000).map(|at| format!("({at}, \"a{}\", {})\n", at % 7, (at + 1) % 5_000)).collect();
    let component = format!("des (0, 5000, 5000)\n{edges}").into_bytes();
    load(&mut sources, source, &Options::default(), &mut |_| Ok(component.clone()), budget)
}

/// All that there is to know about a model.
fn told(model: &Model) -> (String, Vec<Guard>) {
    let Model { system, properties, warnings, .. } = model;
    let (variables, actions) = (system.variables(), system.actions());
    (format!("{variables:?} {actions:?} {properties:?} {warnings:?}"), system.guards().to_vec())
}

#[test]
fn reading_ends_when_the_watch_says_so() {
    for (what, text) in texts() {
        let whole = told(&read(&text, &mut Budget::unlimited()).unwrap());
        let mut n_stopped = 0;
        for looks in 0.. {
            let watch = Patience::new(looks);
            match read(&text, &mut Budget::new(u64::MAX, u64::MAX, &watch)) {
                Err(Trouble::Limit(limit)) => assert_eq!(limit, Limit::Interrupt, "{what}"),
                Err(Trouble::Wrong(mistakes)) => panic!("{what}: {mistakes:?}"),
                Ok(model) => {
                    assert!(told(&model) == whole, "{what}");
                    break;
                }
            }
            n_stopped += 1;
        }
        assert!(n_stopped > 12, "{what}: looked at {n_stopped} times");
    }
}

#[test]
fn reading_ends_when_the_bytes_are_used_up() {
    for (what, text) in texts() {
        let (mut bytes, mut n_stopped) = (1u64, 0);
        loop {
            let watch = Patience::new(u64::MAX);
            match read(&text, &mut Budget::new(u64::MAX, bytes, &watch)) {
                Err(Trouble::Limit(limit)) => assert_eq!(limit, Limit::Memory(bytes), "{what}"),
                Err(Trouble::Wrong(mistakes)) => panic!("{what}: {mistakes:?}"),
                Ok(_) => break,
            }
            (bytes, n_stopped) = (bytes * 2, n_stopped + 1);
        }
        assert!(n_stopped > 10 && bytes < 1 << 28, "{what}: {bytes} bytes");
    }
}
