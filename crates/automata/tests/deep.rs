//! Formulas that are nested deeper than any call stack: each entry makes something of them or refuses them, in a
//! thread with a small stack.

mod common;

use base::budget::Patience;
use base::{Budget, SourceId};
use ltl::{Formula, Formulas, Spelling};
use stubborn_automata::by_change::{Limits, translate_ta, translate_tgta};
use stubborn_automata::stutter::formula_stuttering;
use stubborn_automata::{Effort, Placement, translate, translate_ba, word};

const DEPTH: usize = 100_000;

/// Runs something in a thread with two megabytes of stack.
fn with_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
    thread.join().expect("no panic, and no overflow");
}

/// Texts of nested operators.
fn texts(depth: usize) -> Vec<String> {
    let before = |sign: &str| sign.repeat(depth) + "p";
    let left = |op: &str| "(".repeat(depth) + "p" + &format!(" {op} q)").repeat(depth);
    let right = |op: &str| format!("p {op} (").repeat(depth) + "q" + &")".repeat(depth);
    let mut texts: Vec<String> =
        ["X ", "!", "! X ", "F G ", "G F ", "X F ", "(X ! "].iter().map(|sign| before(sign)).collect();
    texts.push("(".repeat(depth) + "p" + &")".repeat(depth));
    for op in ["U", "R", "W", "M", "&&", "||", "->", "<->", "xor"] {
        texts.extend([left(op), right(op)]);
    }
    let alternating: String = (0..depth).map(|i| format!("p{} && (X q || (", i % 7)).collect();
    texts.push(alternating + "p" + &"))".repeat(depth));
    texts
}

/// All that can be done with a formula.
fn use_formula(formulas: &mut Formulas, formula: Formula) {
    // Spin has no `M`, and what stands for it is twice as long: not for nested ones.
    for spelling in [Spelling::Spot, Spelling::Words] {
        // Shared parts are printed each time, so a text may be exponentially long.
        if formulas.size(formula) < 1_000_000 {
            assert!(!formulas.display(formula, spelling).to_string().is_empty());
        }
    }
    let lasso = ltl::Lasso::new(vec![], vec![ltl::Valuation::new()]).unwrap();
    ltl::satisfies(formulas, formula, &lasso);
    // Deep calls come early: there is no need to wait for the end.
    let patience: Vec<Patience> = (0..6).map(|_| Patience::new(8)).collect();
    let mut watches = patience.iter();
    let mut budget = || Budget::new(u64::MAX, u64::MAX, watches.next().expect("enough of them"));
    let normal = ltl::negation_normal_form(formulas, formula, &mut Budget::unlimited()).unwrap();
    let simple = ltl::simplify(formulas, normal, &mut budget()).unwrap_or(normal);
    ltl::syntactically_implies(formulas, simple, normal);
    let (limits, config) = (Limits::default(), Effort::High);
    let _ = translate(formulas, formula, config, &mut budget());
    let _ = translate_ba(formulas, formula, config, Placement::States, &mut budget());
    let _ = translate_ta(formulas, formula, config, &limits, &mut budget());
    let _ = translate_tgta(formulas, formula, config, &limits, &mut budget());
    let _ = formula_stuttering(formulas, formula, config, &mut budget());
}

#[test]
fn formulas_as_deep_as_can_be_parsed_are_translated_or_refused() {
    with_a_small_stack(|| {
        for text in texts(2_000) {
            let mut formulas = Formulas::new();
            let parsed = ltl::parse(&mut formulas, &text, SourceId::new(0), 0);
            if let Ok(parsed) = parsed {
                use_formula(&mut formulas, parsed.formula);
            }
        }
        for text in texts(DEPTH) {
            if let Err(error) = ltl::parse(&mut Formulas::new(), &text, SourceId::new(0), 0) {
                assert!(!error.message.is_empty() && error.span.is_some());
            }
        }
    });
}

#[test]
fn formulas_that_are_built_may_be_deeper_than_those_that_are_parsed() {
    with_a_small_stack(|| {
        for op in [ltl::Op::Next, ltl::Op::Until, ltl::Op::Release, ltl::Op::And, ltl::Op::Equivalent] {
            let mut formulas = Formulas::new();
            let (p, q) = (formulas.atom("p"), formulas.atom("q"));
            let deep = (0..DEPTH).fold(p, |deep, turn| match op {
                ltl::Op::Next => formulas.next(deep),
                // A conjunction is flat, unless something stands between.
                ltl::Op::And if turn % 2 == 0 => formulas.or([deep, q]),
                op => formulas.apply(op, &[q, deep]),
            });
            use_formula(&mut formulas, deep);
        }
    });
}

#[test]
fn labels_of_many_propositions_are_no_deeper_than_the_stack() {
    with_a_small_stack(|| {
        let n = 1_000;
        let names: Vec<String> = (0..n).map(|i| format!("p{i}")).collect();
        let mut formulas = Formulas::new();
        let text = format!("G ({}) | F ({})", names.join(" & "), names.join(" | "));
        let formula = common::formula(&mut formulas, &text);
        let budget = &mut Budget::unlimited();
        let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
        assert!(tgba.n_states() <= 3);
        stubborn_automata::to_ba(&tgba, Effort::High, Placement::States, budget).unwrap();
        let other = stubborn_automata::complement::complement(&tgba, 100, budget).unwrap();
        assert_eq!(stubborn_automata::is_empty(&other, budget), Ok(false));
        assert!(
            word::parse(&mut formulas, &format!("cycle{{{}}}", names.join(" & ")), SourceId::new(0)).is_ok()
        );
    });
}
