//! The rules of the reductions: the ways to get them wrong that are known are named tests, and a
//! reduction without one of its rules is noticed by random cases.

use std::cell::{Cell, RefCell};

use automata::stutter::Proof;
use base::Budget;
use check::decide::Settings;
use check::method::{Method, ObserverKind, SearchKind};
use check::product::{AtDeadlock, Orders, StepOrder};
use check::reduction;
use generators::random;
use ltl::Formulas;
use model::{Action, Builder, Guard, Stmt, Variable};
use por::Rule;
use proptest::prelude::*;
use stubborn_testing::claims::{Case, Draw, about_places as case, critical, load};
use stubborn_testing::methods::Tally;
use stubborn_testing::{assert_met, networks, run_cases};

/// The methods with a reduction, one for each kind of observer and search.
fn reducing_methods() -> Vec<Method> {
    use ObserverKind::{Ba, LazyTa, LazyTgta, Ta, Tgba, Tgta};
    use SearchKind::{Nested, OnePass, Scc, TwoPass};
    use reduction::Method::{Classical, Guided, Hybrid, Repaired};
    let all = [
        (Ta, TwoPass, Guided),
        (Ta, OnePass, Guided),
        (Ta, TwoPass, Hybrid),
        (LazyTa, TwoPass, Guided),
        (LazyTa, TwoPass, Hybrid),
        (Tgta, Scc, Guided),
        (Tgta, Scc, Hybrid),
        (LazyTgta, Scc, Guided),
        (LazyTgta, Scc, Hybrid),
        (Tgba, Scc, Classical),
        (Ba, Scc, Classical),
        (Ba, Nested, Classical),
        (Tgba, Scc, Repaired),
        (Ba, Scc, Repaired),
        (Ta, TwoPass, Repaired),
        (LazyTgta, Scc, Repaired),
    ];
    all.into_iter()
        .map(|(observer, search, reduction)| Method::new(observer, search, Some(reduction)))
        .collect()
}

/// Those of them that have components repaired.
fn repairing_methods() -> Vec<Method> {
    let is_repaired = |method: &Method| method.reduction == Some(reduction::Method::Repaired);
    reducing_methods().into_iter().filter(is_repaired).collect()
}

/// Number of methods that miss a violation, without a rule, in two orders of the system's steps.
fn n_wrong(case: &mut Case, without_rule: Option<Rule>, tally: &Tally) -> u32 {
    n_wrong_of(&reducing_methods(), case, without_rule, tally)
}

/// The same of some methods.
fn n_wrong_of(methods: &[Method], case: &mut Case, without_rule: Option<Rule>, tally: &Tally) -> u32 {
    let formula = case.formula;
    let mut claim = case.claim(formula);
    let mut n_wrong = 0;
    let each = |&method| [StepOrder::Forward, StepOrder::Reverse].map(|steps| (method, steps));
    for (method, steps) in methods.iter().flat_map(each) {
        let orders = Orders { steps, ..Orders::default() };
        let settings = Settings { without_rule, orders, ..Settings::default() };
        let decision = tally.search(&mut claim, &case.system, method, &settings);
        let decision = decision.expect("refused if, and only if, it is not sound");
        n_wrong += u32::from(decision.is_some_and(|decision| decision.outcome.evidence().is_none()));
    }
    n_wrong
}

/// All methods find the violation, and some do not without the rule.
fn needs_rule(mut case: Case, rule: Rule) {
    assert!(case.is_violated_naively(AtDeadlock::Stutter), "{} is violated", case.text());
    let tally = Tally::default();
    assert_eq!(n_wrong(&mut case, None, &tally), 0, "{}", case.text());
    assert!(n_wrong(&mut case, Some(rule), &tally) > 0, "{} without {rule:?}", case.text());
}

/// [valmari.93.cav]'s rule for states where waiting is not accepted: what may move the observer is not put
/// off.
#[test]
fn progress() {
    needs_rule(
        case("process P0 { s0: a -> s1; s1: ; } process P1 { s0: c -> s0; }", "G !P0_1"),
        Rule::Progress,
    );
}

/// [valmari.93.cav]'s rule for states where waiting is accepted: a way to wait is not lost. (The last process
/// never moves; the observer follows `a` in the hope that it does.)
#[test]
fn waiting() {
    let network = "process P0 { s0: a -> s1; s1: ; } process P1 { s0: c -> s0; } process P2 { s0: ; s1: ; }";
    needs_rule(case(network, "!(G !P0_1 | F (P0_1 & F P2_1))"), Rule::Waiting);
}

/// Of two moves of the observer, the order is not fixed. (The last process never moves.)
#[test]
fn one_moves_all_move() {
    let network = "process P0 { s0: a -> s1; s1: ; } process P1 { s0: b -> s1; s1: ; }
        process P2 { s0: ; s1: ; }";
    let formula = "!(G (!P0_1 & !P1_1) | (!P0_1 U (P1_1 & !P0_1)) | (F P0_1 & F P2_1))";
    needs_rule(case(network, formula), Rule::OneMovesAllMove);
    needs_rule(case(network, formula), Rule::Invisible);
}

/// The first of the two ways to get guided reduction wrong: the observer refuses `a` now, but not after
/// `b`, which it does not see.
#[test]
fn refused_for_good() {
    let network = "process P0 { s0: a -> s1; s1: ; }
        process P1 { s0: a -> s1 | b -> s2; s1: ; s2: a -> s0; }
        process P2 { s0: c -> s0; }";
    needs_rule(case(network, "!(F P0_1 & G !P1_1)"), Rule::RefusedForGood);
}

/// The same with data: `a := y`, then `b := 1`, beside `y := 1` and an idle loop; `a U b` is the violation.
#[test]
fn refused_for_good_with_data() {
    let mut builder = Builder::new();
    let owner = builder.process("p");
    let variable = |builder: &mut Builder, name: &str, hi| builder.variable(Variable::new(name, 0, hi));
    let [a, y, b] = ["a", "y", "b"].map(|name| variable(&mut builder, name, 1));
    let place = variable(&mut builder, "place", 2);
    let (raised, idle) = (variable(&mut builder, "raised", 1), variable(&mut builder, "idle", 0));
    let [a_expr, y_expr, b_expr] = [a, y, b].map(|var| builder.exprs.var(var));
    let mut action = |name: &str, guard: Guard, effect: Vec<Stmt>| {
        let (label, guard) = (builder.label(name), builder.guard(guard));
        builder.action(Action { label, guards: vec![guard], effect, owners: vec![owner] });
    };
    action("copy", Guard::equals(place, 0), vec![Stmt::Assign(a, y_expr), Stmt::Set(place, 1)]);
    action("finish", Guard::equals(place, 1), vec![Stmt::Set(b, 1), Stmt::Set(place, 2)]);
    action("raise", Guard::equals(raised, 0), vec![Stmt::Set(y, 1), Stmt::Set(raised, 1)]);
    action("idle", Guard::equals(idle, 0), vec![Stmt::Set(idle, 0)]);
    builder.initial(&[1, 0, 0, 0, 0, 0]);
    let system = builder.finish().expect("a good system");
    let mut formulas = Formulas::new();
    let [p, q] = ["a", "b"].map(|name| formulas.proposition(name));
    let case = Case::of_system(formulas, system, vec![(p, a_expr), (q, b_expr)], |formulas, _| {
        ltl::parse(formulas, "!(a U b)", base::SourceId::new(0), 0).expect("a good formula").formula
    });
    needs_rule(case.expect("a small system"), Rule::RefusedForGood);
}

/// The observer may ignore a proposition of the formula, which only a small automaton shows not to matter: steps that flip
/// it are silent, and what the observer follows must not be said for its present value alone.
#[test]
fn a_proposition_that_does_not_matter() {
    let network = "process P0 { s0: a -> s2; s1: ; s2: b -> s3; s3: c -> s2; }";
    let mut case = case(network, "G (P0_0 ^ (P0_3 <-> P0_0))");
    assert_eq!(n_wrong(&mut case, None, &Tally::default()), 0);
}

/// A smaller set that is always chosen must not put the rest off for ever.
#[test]
fn proviso() {
    let network = "process P0 { s0: a -> s1 | d -> s2; s1: x -> s3; s2: e -> s2; s3: ; }
        process P1 { s0: c -> s0; }";
    needs_rule(case(network, "G !P0_3"), Rule::Proviso);
}

/// Each observer that has components repaired needs that.
fn needs_repair(mut case: Case, at_deadlock: AtDeadlock) {
    assert!(case.is_violated_naively(at_deadlock), "{} is violated", case.text());
    let mut claim = case.claim(case.formula);
    for method in repairing_methods() {
        let mut is_found = |without_rule| {
            let settings = Settings { without_rule, at_deadlock, ..Settings::default() };
            let decision = claim.search(&case.system, method, &settings, &mut Budget::unlimited());
            case.judge(case.formula, &decision.expect("an allowed method").outcome).expect("a good run")
        };
        assert!(is_found(None), "{method:?}");
        assert!(!is_found(Some(Rule::Proviso)), "{method:?} without it");
    }
}

/// What a loop of somebody else leaves out is not left out for ever.
#[test]
fn left_out() {
    let network = "process P0 { s0: c -> s0; } process P1 { s0: a -> s1 | d -> s2; s1: ; s2: ; }";
    needs_repair(case(network, "G !P1_1"), AtDeadlock::Stutter);
}

/// Two loops, each of which leaves out the other: only who takes both in turn comes to see both.
#[test]
fn two_loops() {
    let network = "process P0 { s0: a -> s1; s1: b -> s0; } process P1 { s0: c -> s1; s1: d -> s0; }
        process P2 { s0: e -> s0; }";
    needs_repair(case(network, "!(G F P0_1 & G F P1_1)"), AtDeadlock::Stutter);
}

/// It is not enough that what is left out is taken somewhere in the component. Here `b` is, but where `y` has
/// led, and where the run then ends, which does not count; it is needed where it was left out, on the way round by `x`.
#[test]
fn trap() {
    let network = "process P0 { s0: x -> s0 | y -> s1; s1: back -> s0; }
        process P1 { s0: back -> s0 | b -> s1; s1: ; }";
    needs_repair(case(network, "G !P1_1"), AtDeadlock::Ignore);
}

/// The labeling that is inconsistent in the sense of Neele, Valmari and Willemse: `a` and `b` commute, but
/// which of them is seen depends on the order. Only one order is a violation.
#[test]
fn inconsistent_labeling() {
    let network = "process P0 { s0: a -> s1; s1: ; } process P1 { s0: b -> s1; s1: ; }";
    let mut case = Case::of_model(load(network), &["P0@s1 && P1@s0"], |formulas, props| {
        let p = formulas.prop(props[0]);
        let never = formulas.not(p);
        formulas.globally(never)
    })
    .expect("a small network");
    let tally = Tally::default();
    assert_eq!(n_wrong(&mut case, None, &tally), 0);
    assert!(n_wrong(&mut case, Some(Rule::Watched), &tally) > 0);
}

/// Accepts what begins without `p` and has it later; but it counts the letters before, in two branches for
/// even and odd numbers. Where a reduction puts `p` off depends on the branch, so it may be put off until the
/// number is wrong, in both.
const COUNTS_STUTTERING: &str = r#"
HOA: v1 States: 7 Start: 0 AP: 1 "P0@s1" Acceptance: 1 Inf(0)
--BODY--
State: 0 [!0] 1 [!0] 3
State: 1 [!0] 2
State: 2 [!0] 1 [0] 6
State: 3 [!0] 4 [0] 6
State: 4 [!0] 5
State: 5 [!0] 4 [0] 6
State: 6 [t] 6 {0}
--END--
"#;

/// An automaton whose states see stuttering though its language does not: on-the-fly reduction with such
/// automata is unsound (Siegel, CAV 2019), so they are brought into a form that waits.
#[test]
fn an_automaton_that_counts_stuttering() {
    let network = "process P0 { s0: a -> s1; s1: ; } process P1 { s0: c -> s0; }";
    let mut case = case(network, "!(!P0_1 & F P0_1)");
    let source = base::SourceId::new(0);
    let budget = &mut Budget::unlimited();
    let named = automata::hoa::read_any(&mut case.formulas, COUNTS_STUTTERING, source, budget);
    let tgba = named.expect("an automaton")[0].automaton.to_tgba(budget).expect("no limit");
    let complement = automata::complement::complement(&tgba, 1_000, budget).expect("a small automaton");
    let stuttering = automata::stutter::stuttering(&tgba, &complement, 1_000, budget).expect("small ones");
    assert!(stuttering.proof().is_some(), "its language does not see stuttering");
    let mut claim = case.claim_of(tgba, stuttering.proof());
    let method = reducing_methods().into_iter().find(|method| method.observer == ObserverKind::Tgba);
    let method = method.expect("a method by value");
    let mut is_found = |without_rule| {
        let settings = Settings { without_rule, ..Settings::default() };
        let decision = claim.search(&case.system, method, &settings, &mut Budget::unlimited());
        decision.expect("an allowed method").outcome.evidence().is_some()
    };
    assert!(is_found(None));
    assert!(!is_found(Some(Rule::WaitingForm)), "the form is needed");
}

/// Automata whose states see stuttering though their languages do not: on-the-fly reduction with them is
/// unsound in general (Siegel, CAV 2019), so they are brought into a form that is safe.
#[test]
fn automata_whose_states_see_stuttering() {
    let (n_violated, tally) = (Cell::new(0u32), Tally::default());
    let strategy = (networks::network(), any::<u64>(), 1..8u32);
    run_cases(1500, &strategy, |(network, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        let Some(mut case) = Case::of_network(&network, draw) else { return Ok(()) };
        let violated = case.is_violated_naively(AtDeadlock::Stutter);
        n_violated.set(n_violated.get() + u32::from(violated));
        // For each proposition p, the next value of p is guessed, and the guess is checked.
        let mut guessing = case.formulas.not(case.formula);
        for (prop, _) in case.propositions.clone() {
            let formulas = &mut case.formulas;
            let p = formulas.prop(prop);
            let not_p = formulas.not(p);
            let (next, next_not) = (formulas.next(p), formulas.next(not_p));
            let (with, without) = (formulas.and([p, next, guessing]), formulas.and([p, next_not, guessing]));
            let otherwise = formulas.and([not_p, guessing]);
            guessing = formulas.or([with, without, otherwise]);
        }
        let Ok(tgba) = automata::translate(
            &mut case.formulas,
            guessing,
            automata::Effort::Low,
            &mut Budget::unlimited(),
        ) else {
            return Ok(());
        };
        let mut claim = case.claim_of(tgba, Proof::of_next_free(&case.formulas, case.formula));
        for method in reducing_methods() {
            let decision = tally.search(&mut claim, &case.system, method, &Settings::default())?;
            let Some(decision) = decision else { continue };
            let found = case.judge(case.formula, &decision.outcome)?;
            prop_assert_eq!(found, violated, "{:?}: {} on\n{}", method, case.text(), network.to_text());
        }
        Ok(())
    });
    assert_met!(n_violated.get() > 300, "{n_violated:?} are violated");
    tally.assert_each(reducing_methods(), 100);
}

#[test]
fn critical_violations_survive_every_reduction_and_a_dropped_rule_is_noticed() {
    // The other rules are missed more rarely; they have tests of their own above.
    const RULES: [Rule; 5] =
        [Rule::Progress, Rule::OneMovesAllMove, Rule::Proviso, Rule::Invisible, Rule::Watched];
    let n_noticed = RefCell::new([0u32; RULES.len()]);
    let (n_cases, n_unrepaired, tally) = (Cell::new(0u32), Cell::new(0u32), Tally::default());
    let strategy = (networks::network(), any::<u64>(), 1..10u32);
    run_cases(2000, &strategy, |(network, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        let Some(critical) = critical(&network, draw) else { return Ok(()) };
        let Some(mut case) = Case::of_network(&critical, draw) else { return Ok(()) };
        n_cases.set(n_cases.get() + 1);
        let n = n_wrong(&mut case, None, &tally);
        prop_assert_eq!(n, 0, "{} on\n{}", case.text(), critical.to_text());
        for (count, rule) in n_noticed.borrow_mut().iter_mut().zip(RULES) {
            *count += u32::from(n_wrong(&mut case, Some(rule), &tally) > 0);
        }
        let n = n_wrong_of(&repairing_methods(), &mut case, Some(Rule::Proviso), &tally);
        n_unrepaired.set(n_unrepaired.get() + u32::from(n > 0));
        Ok(())
    });
    assert_met!(n_unrepaired.get() > 0, "components that are not repaired are noticed");
    assert_met!(n_noticed.borrow().iter().all(|&n| n > 0), "{n_noticed:?} of {n_cases:?}");
    tally.assert_each(reducing_methods(), 100);
}
