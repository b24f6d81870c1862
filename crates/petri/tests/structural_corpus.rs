//! The nets of the Model Checking Contest in `../shared/mcc`, reduced: the answers are those that are known,
//! and what is found in a reduced net is shown in the original.
//!
//! `STUBBORN_STATES=300000 cargo test --release -p stubborn-petri --test structural_corpus` looks at larger
//! ones.

mod common;

use std::path::Path;
use std::sync::Arc;

use automata::stutter::Proof;
use base::Budget;
use check::decide::{Claim, Settings};
use check::method::{Method, ObserverKind, SearchKind};
use check::search::ProductStop;
use check::{Goal, Stop};
use common::marking_graph::{fire, initial, is_dead};
use common::{answer, corpus, expected, explore, negated, net, properties};
use language::{Facts as _, Known, Ltl, Model as _, Preserve, PropertyKind, Rules};
use model::{ActionId, ExprId, Run, UnaryOp, reference};
use stubborn_petri::mcc::Examination;
use stubborn_petri::structural::{Keep, Reduced, Reducer};
use stubborn_petri::{Bounds, Facts, Model, Net, TransitionId};

/// How large the state space of a reduced net may be to be explored here.
fn max_states() -> u64 {
    std::env::var("STUBBORN_STATES").ok().and_then(|value| value.parse().ok()).unwrap_or(5_000)
}

/// The net, made smaller, as a model.
fn reduced(reducer: &Reducer, keep: &Keep) -> (Reduced, Model) {
    let budget = &mut Budget::unlimited();
    let reduced = reducer.reduce(keep, &Rules::all(), budget).unwrap();
    let bounds = reduced.bounds(budget).unwrap();
    let model = Arc::new(reduced.net.clone()).lower(bounds, budget).unwrap();
    (reduced, model)
}

fn transitions(run: &Run) -> Vec<TransitionId> {
    run.actions.iter().map(|action| TransitionId::new(action.index())).collect()
}

/// The marking after a run, which must be one.
fn after(net: &Net, run: &[TransitionId]) -> Vec<i64> {
    let step = |marking: Vec<i64>, &transition: &TransitionId| {
        fire(net, &marking, transition).expect("a run of the reduced net is one of the original")
    };
    run.iter().fold(initial(net), step)
}

#[test]
fn deadlocks_are_as_known() {
    let mut n_answers = 0;
    for folder in corpus("") {
        let expected = expected(&folder);
        let Some(known) = answer(&expected, "ReachabilityDeadlock", "ReachabilityDeadlock") else { continue };
        let net = net(&folder);
        let (reduced, mut model) =
            reduced(&Reducer::new(net.clone(), &mut Budget::unlimited()).unwrap(), &Keep::deadlocks());
        let (explored, _, _) = explore(&mut model, &[Goal::Deadlock], max_states());
        let found = match (&explored.violations[0], &explored.stop) {
            (Some(run), _) => {
                let run = reduced.path_to_deadlock(&net, &transitions(run)).unwrap();
                assert!(is_dead(&net, &after(&net, &run)), "{folder:?}");
                "T"
            }
            (None, None) => "F",
            (None, Some(Stop::Limit(_))) => continue,
            (None, Some(other)) => panic!("{folder:?}: {other:?}"),
        };
        assert_eq!(found, known, "{folder:?}");
        n_answers += 1;
    }
    assert!(n_answers == 0 || n_answers > 25, "{n_answers}");
}

/// Looks for a marking where this is false, in the reduced net; nothing if it is too large.
fn is_invariant(reducer: &Reducer, net: &Net, model: &mut Model, expr: ExprId) -> Option<bool> {
    let keep = Keep::of(net, &mut model.parts().0.exprs, Preserve::Reachability, &[expr]);
    let (reduced, mut small) = reduced(reducer, &keep);
    let carried = reduced.carry(net, &mut model.parts().0.exprs, expr, &mut small.parts().0.exprs).unwrap();
    let goal = Goal::Invariant(small.parts().0.add_proposition("", carried));
    let (explored, _, _) = explore(&mut small, &[goal], max_states());
    match (&explored.violations[0], &explored.stop) {
        (Some(run), _) => {
            let marking = after(net, &reduced.path(net, &transitions(run)).unwrap());
            assert_eq!(reference::value(&model.system, expr, &marking), Ok(0));
            Some(false)
        }
        (None, None) => Some(true),
        (None, Some(_)) => None,
    }
}

#[test]
fn questions_about_markings_have_the_known_answers() {
    let mut n_answers = 0;
    each_question(
        &[Examination::ReachabilityCardinality, Examination::ReachabilityFireability],
        |reducer, model, question, known, id| {
            let net = model.net().clone();
            let found = match question {
                PropertyKind::Invariant(expr) => is_invariant(reducer, &net, model, *expr),
                PropertyKind::Possible(expr) => {
                    let not = model.parts().0.exprs.unary(UnaryOp::Not, *expr);
                    is_invariant(reducer, &net, model, not).map(|holds| !holds)
                }
                other => panic!("{other:?}"),
            };
            if let Some(found) = found {
                assert_eq!(if found { "T" } else { "F" }, known, "{id}");
                n_answers += 1;
            }
        },
    );
    assert!(n_answers == 0 || n_answers > 700, "{n_answers}");
}

#[test]
fn questions_about_runs_have_the_known_answers() {
    let mut n_answers = 0;
    each_question(
        &[Examination::LtlCardinality, Examination::LtlFireability],
        |reducer, model, question, known, id| {
            let PropertyKind::Ltl(ltl) = question else { return };
            if model.formulas.classes(ltl.formula).is_next_free()
                && let Some(found) = all_runs(reducer, model, ltl)
            {
                assert_eq!(if found { "T" } else { "F" }, known, "{id}");
                n_answers += 1;
            }
        },
    );
    assert!(n_answers == 0 || n_answers > 100, "{n_answers}");
}

/// Whether all runs satisfy a formula, asked of the reduced net; nothing if that is too large.
fn all_runs(reducer: &Reducer, model: &mut Model, ltl: &Ltl) -> Option<bool> {
    let net = model.net().clone();
    let about: Vec<ExprId> = ltl.propositions.iter().map(|(_, expr)| *expr).collect();
    let keep = Keep::of(&net, &mut model.parts().0.exprs, Preserve::Stuttering, &about);
    let (reduced, mut small) = reduced(reducer, &keep);
    let tgba = negated(&mut model.formulas, ltl.formula);
    let mut numbered = Vec::new();
    for &(prop, expr) in &ltl.propositions {
        let carried =
            reduced.carry(&net, &mut model.parts().0.exprs, expr, &mut small.parts().0.exprs).unwrap();
        numbered.push((prop, small.parts().0.add_proposition("", carried)));
    }
    let mut claim = Claim::new(tgba, numbered, Proof::of_next_free(&model.formulas, ltl.formula));
    let method = Method::new(ObserverKind::Tgba, SearchKind::Scc, None);
    loop {
        let mut budget = Budget::unlimited();
        budget.max_states = max_states();
        let decision = claim.search(&*small.system, method, &Settings::default(), &mut budget).unwrap();
        let evidence = match decision.outcome.stop {
            None => return Some(true),
            Some(ProductStop::Found(evidence)) => evidence,
            Some(ProductStop::Fault(error, _)) if small.widen(&error, &mut Budget::unlimited()).unwrap() => {
                continue;
            }
            Some(_) => return None,
        };
        let (run, start) = match evidence.cycle_start {
            Some(start) => (evidence.run, start),
            None => check::walk::to_lasso(&*small.system, &evidence.run, &mut Budget::unlimited())
                .unwrap()
                .unwrap(),
        };
        let run = transitions(&run);
        let (whole, start) = if start == run.len() {
            let path = reduced.path_to_deadlock(&net, &run).unwrap();
            let end = path.len();
            (path, end)
        } else {
            reduced.lasso(&net, &run[..start], &run[start..]).unwrap()
        };
        let question = replay::Question::Formula {
            formulas: &model.formulas,
            formula: ltl.formula,
            propositions: &ltl.propositions,
        };
        let run = Run { initial: 0, actions: whole.iter().map(|it| ActionId::new(it.index())).collect() };
        let run = replay::Evidence::new(&run, replay::Ending::Cycle(start));
        replay::judge(&model.system, &question, &run, &mut Budget::unlimited()).unwrap();
        return Some(false);
    }
}

#[test]
fn what_facts_decide_is_as_known() {
    let (mut n_answers, mut n_questions) = (0, 0);
    let mut facts: Option<(String, Facts)> = None;
    let examinations: Vec<Examination> =
        Examination::ALL.into_iter().filter(|it| it.has_file() && !it.name().starts_with("CTL")).collect();
    each_question(&examinations, |_, model, question, known, id| {
        let net = model.net().clone();
        if facts.as_ref().is_none_or(|(of, _)| *of != net.id) {
            facts = Some((net.id.clone(), common::facts(&net)));
        }
        let Some((_, facts)) = &facts else { return };
        n_questions += 1;
        let found = match facts
            .answer(&model.system.exprs, &mut model.formulas, question, &mut Budget::unlimited())
            .unwrap()
            .map(|decided| decided.answer)
        {
            Some(Known::Truth(truth)) => if truth { "T" } else { "F" }.to_owned(),
            Some(Known::Number(number)) => number.to_string(),
            None => return,
        };
        assert_eq!(found, known, "{id}");
        n_answers += 1;
    });
    assert!(n_questions == 0 || n_answers > 500, "{n_answers} of {n_questions}");
}

/// Calls a function for every question whose answer is known, with that and its id.
fn each_question(
    examinations: &[Examination],
    mut ask: impl FnMut(&Reducer, &mut Model, &PropertyKind, &str, &str),
) {
    for folder in corpus("") {
        let (known, net) = (expected(&folder), net(&folder));
        let reducer = Reducer::new(net.clone(), &mut Budget::unlimited()).unwrap();
        for &examination in examinations.iter().filter(|it| has_file(&folder, **it)) {
            // Runs of the reduced net are repeated here, and need room.
            let mut model =
                net.lower(Bounds::all(&net, i64::from(u32::MAX)), &mut Budget::unlimited()).unwrap();
            for property in properties(&mut model, &folder, examination) {
                if let Some(known) = answer(&known, examination.name(), &property.name) {
                    ask(&reducer, &mut model, &property.kind, known, &property.name);
                }
            }
        }
    }
}

fn has_file(folder: &Path, examination: Examination) -> bool {
    folder.join(format!("{examination}.xml")).exists()
}
