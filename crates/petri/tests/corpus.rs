//! The nets of the Model Checking Contest in `../shared/mcc`: all of them load, and those that are not
//! too large have exactly the state spaces and the answers that are known.
//!
//! `STUBBORN_STATES=7000000 cargo test --release -p stubborn-petri --test corpus` looks at larger ones.

mod common;

use automata::stutter::Proof;
use base::Budget;
use check::decide::{Claim, Settings};
use check::method::{Method, ObserverKind, SearchKind};
use check::reduction;
use check::search::ProductStop;
use check::{Exact, Exploration, Goal, StateId, Store as _, Visited as _};
use common::{Expected, answer, corpus, expected, explore, lower, name, negated, net, properties};
use language::{Ltl, Model as _, PropertyKind};
use model::{ExprId, System as _, UnaryOp, reference};
use stubborn_petri::Model;
use stubborn_petri::mcc::Examination;

/// How large a state space may be to be explored here.
fn max_states(default: u64) -> u64 {
    std::env::var("STUBBORN_STATES").ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The nets of the corpus, those with colors last.
fn all() -> Vec<std::path::PathBuf> {
    corpus("").into_iter().chain(corpus("col")).collect()
}

fn known_states(expected: &[Expected]) -> Option<u64> {
    answer(expected, "StateSpace", "STATES")?.parse().ok()
}

#[test]
fn all_nets_and_formulas_load() {
    for folder in &all() {
        let net = net(folder);
        assert!(!net.warnings.iter().any(|warning| warning.code == "bad-units"), "{folder:?}");
        assert_eq!(net.id, name(folder));
        let info = std::fs::read_to_string(folder.join("info.json")).unwrap();
        let (places, transitions) = (net.written_places().count(), net.written_transitions().count());
        let sizes = format!("\"places\": {places}, \"transitions\": {transitions}");
        assert!(info.split_whitespace().collect::<Vec<_>>().join(" ").contains(&sizes), "{sizes} {info}");
        let mut model = lower(&net);
        let files = Examination::ALL.into_iter().filter(|examination| examination.has_file());
        for examination in files.filter(|examination| folder.join(format!("{examination}.xml")).exists()) {
            for property in properties(&mut model, folder, examination) {
                assert!(!matches!(property.kind, PropertyKind::Unsupported(_)), "{property:?}");
            }
        }
    }
}

#[test]
fn state_spaces_are_exact() {
    for folder in all() {
        let expected = expected(&folder);
        let known = |what: &str| answer(&expected, "StateSpace", what).and_then(|answer| answer.parse().ok());
        let Some(states) = known_states(&expected).filter(|&states| states <= max_states(300_000)) else {
            continue;
        };
        let mut model = lower(&net(&folder));
        let (explored, store, _) = explore(&mut model, &[], u64::MAX);
        assert_eq!(explored.stats.states, states, "{folder:?}");
        assert_eq!(Some(explored.stats.transitions), known("TRANSITIONS"), "{folder:?}");
        let most = model.net().place_bounds(&mut Budget::unlimited()).unwrap();
        let (mut in_place, mut in_marking) = (0, 0);
        each_marking(&model, &store, |marking| {
            in_place = in_place.max(marking.iter().copied().max().unwrap_or(0));
            in_marking = in_marking.max(marking.iter().sum::<i64>());
            assert!(marking.iter().zip(&most).all(|(tokens, most)| most.is_none_or(|most| *tokens <= most)));
        });
        assert_eq!(Some(in_place as u64), known("MAX_TOKEN_IN_PLACE"), "{folder:?}");
        assert_eq!(Some(in_marking as u64), known("MAX_TOKEN_PER_MARKING"), "{folder:?}");
    }
}

#[test]
fn questions_about_markings_have_the_known_answers() {
    let mut n_answers = 0;
    for folder in all() {
        let expected = expected(&folder);
        if known_states(&expected).is_some_and(|states| states <= max_states(70_000)) {
            n_answers += answer_about_markings(&folder, &expected);
        }
    }
    assert!(n_answers == 0 || n_answers > 400, "{n_answers}");
}

#[test]
fn questions_about_runs_have_the_known_answers() {
    let mut n_answers = 0;
    for folder in all() {
        let expected = expected(&folder);
        if known_states(&expected).is_some_and(|states| states <= max_states(8_000)) {
            for examination in [Examination::LtlCardinality, Examination::LtlFireability] {
                let mut model = lower(&net(&folder));
                for property in properties(&mut model, &folder, examination) {
                    let Some(known) = answer(&expected, examination.name(), &property.name) else { continue };
                    for holds in all_runs(&mut model, &property.kind) {
                        assert_eq!(if holds { "T" } else { "F" }, known, "{}", property.name);
                        n_answers += 1;
                    }
                }
            }
        }
    }
    assert!(n_answers == 0 || n_answers > 300, "{n_answers}");
}

#[test]
fn liveness_is_as_known() {
    for folder in all() {
        let expected = expected(&folder);
        if known_states(&expected).is_none_or(|states| states > max_states(8_000)) {
            continue;
        }
        let Some(known) = answer(&expected, "Liveness", "Liveness") else { continue };
        let mut model = lower(&net(&folder));
        let live = model.global_question(Examination::Liveness, &mut Budget::unlimited()).unwrap();
        let PropertyKind::AllLive(fireable) = live.unwrap().kind else { panic!() };
        let fireable: Vec<ExprId> = fireable.iter().map(|its| its.expr).collect();
        let (_, mut store, _) = explore(&mut model, &[], u64::MAX);
        let is_live = is_live(&model, &mut store, &fireable);
        assert_eq!(if is_live { "T" } else { "F" }, known, "{folder:?}");
    }
}

/// Whether each of these can be made true from everywhere: whether, backward from where it is true,
/// all states are met.
fn is_live(model: &Model, store: &mut Exact, exprs: &[ExprId]) -> bool {
    let n_states = store.n_states() as usize;
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); n_states];
    let mut markings: Vec<Vec<i64>> = Vec::new();
    let (mut state, mut steps) = (vec![0; model.system.width()], model::Steps::new(model.system.width()));
    for id in 0..n_states {
        store.get(StateId::new(id), &mut state);
        markings.push(model.system.layout().decode(&state));
        steps.clear();
        model.system.successors(&state, &mut model.system.new_scratch(), &mut steps).unwrap();
        for (_, target) in steps.iter() {
            sources[store.insert_id(target).unwrap().0.index()].push(id);
        }
    }
    exprs.iter().all(|&expr| {
        let is_true = |id: &usize| reference::value(&model.system, expr, &markings[*id]).unwrap() != 0;
        let mut open: Vec<usize> = (0..n_states).filter(is_true).collect();
        let mut met = vec![false; n_states];
        open.iter().for_each(|&id| met[id] = true);
        while let Some(id) = open.pop() {
            for &source in &sources[id] {
                if !std::mem::replace(&mut met[source], true) {
                    open.push(source);
                }
            }
        }
        met.iter().all(|&met| met)
    })
}

/// Asks everything about markings at once; returns how many answers were compared.
fn answer_about_markings(folder: &std::path::Path, expected: &[Expected]) -> usize {
    let mut model = lower(&net(folder));
    let mut questions: Vec<(&str, String, PropertyKind)> = Vec::new();
    for examination in Examination::ALL {
        let asked = match examination {
            Examination::UpperBounds
            | Examination::ReachabilityCardinality
            | Examination::ReachabilityFireability => properties(&mut model, folder, examination),
            Examination::Liveness => continue,
            _ => {
                let global =
                    model.global_question(examination, &mut Budget::unlimited()).unwrap().into_iter();
                questions.extend(global.map(|property| (examination.name(), property.name, property.kind)));
                continue;
            }
        };
        questions
            .extend(asked.into_iter().map(|property| (examination.name(), property.name, property.kind)));
    }
    let mut goals = vec![Goal::Deadlock];
    let wanted: Vec<Vec<usize>> =
        questions.iter().map(|(_, _, question)| goals_of(&mut model, question, &mut goals)).collect();
    // Something that is never violated, so that everything is seen.
    let one = model.parts().0.exprs.int(1);
    goals.push(Goal::Invariant(model.parts().0.add_proposition("true", one)));
    let (explored, store, _) = explore(&mut model, &goals, u64::MAX);
    assert!(explored.stop.is_none());
    let maxima = maxima(&model, &store, questions.iter().map(|(_, _, question)| question));
    let mut n_answers = 0;
    for (((examination, id, question), wanted), maximum) in questions.iter().zip(&wanted).zip(&maxima) {
        let found = match maximum {
            Some(maximum) => maximum.to_string(),
            None => judge(&explored, question, wanted).to_owned(),
        };
        if let Some(known) = answer(expected, examination, id) {
            assert_eq!(found, known, "{folder:?} {id}");
            n_answers += 1;
        }
    }
    let has_deadlock = if explored.violations[0].is_some() { "T" } else { "F" };
    let known = answer(expected, "ReachabilityDeadlock", "ReachabilityDeadlock");
    assert!(known.is_none_or(|known| known == has_deadlock));
    n_answers
}

/// Adds the goals of a question; returns their numbers.
fn goals_of(model: &mut Model, question: &PropertyKind, goals: &mut Vec<Goal>) -> Vec<usize> {
    let (exprs, negated): (&[ExprId], bool) = match question {
        PropertyKind::Invariant(expr) => (std::slice::from_ref(expr), false),
        PropertyKind::Possible(expr) => (std::slice::from_ref(expr), true),
        PropertyKind::SomeInvariant(exprs) => (exprs, false),
        PropertyKind::AllPossible(exprs) => (exprs, true),
        PropertyKind::Maximum(_) => (&[], false),
        other => panic!("{other:?}"),
    };
    let mut add = |expr: ExprId| {
        let expr = if negated { model.parts().0.exprs.unary(UnaryOp::Not, expr) } else { expr };
        goals.push(Goal::Invariant(model.parts().0.add_proposition("", expr)));
        goals.len() - 1
    };
    exprs.iter().map(|&expr| add(expr)).collect()
}

/// The greatest values in any marking, for questions that ask for them.
fn maxima<'q>(
    model: &Model,
    store: &Exact,
    questions: impl Iterator<Item = &'q PropertyKind>,
) -> Vec<Option<i64>> {
    let exprs: Vec<Option<ExprId>> = questions
        .map(|question| match question {
            PropertyKind::Maximum(expr) => Some(*expr),
            _ => None,
        })
        .collect();
    let mut maxima: Vec<Option<i64>> = vec![None; exprs.len()];
    each_marking(model, store, |marking| {
        for (maximum, expr) in maxima.iter_mut().zip(&exprs) {
            let value = expr.map(|expr| reference::value(&model.system, expr, marking).unwrap());
            *maximum = (*maximum).max(value);
        }
    });
    maxima
}

fn judge(explored: &Exploration, question: &PropertyKind, goals: &[usize]) -> &'static str {
    let violated = |goal: &usize| explored.violations[*goal].is_some();
    let truth = match question {
        PropertyKind::Invariant(_) => !goals.iter().any(violated),
        PropertyKind::Possible(_) | PropertyKind::AllPossible(_) => goals.iter().all(violated),
        PropertyKind::SomeInvariant(_) => !goals.iter().all(violated),
        other => panic!("{other:?}"),
    };
    if truth { "T" } else { "F" }
}

fn each_marking(model: &Model, store: &Exact, mut look: impl FnMut(&[i64])) {
    let mut state = vec![0; model.system.width()];
    for id in 0..store.n_states() {
        store.get(StateId::new(id as usize), &mut state);
        look(&model.system.layout().decode(&state));
    }
}

/// Whether all runs satisfy a formula, asked in several ways.
fn all_runs(model: &mut Model, question: &PropertyKind) -> Vec<bool> {
    let Ltl { formula, propositions } = match question {
        PropertyKind::Ltl(ltl) => ltl.clone(),
        PropertyKind::Invariant(expr) => {
            let goal = Goal::Invariant(model.parts().0.add_proposition("", *expr));
            return vec![explore(model, &[goal], u64::MAX).0.violations[0].is_none()];
        }
        other => panic!("{other:?}"),
    };
    let tgba = negated(&mut model.formulas, formula);
    let mut number = |(prop, expr): &(ltl::Prop, ExprId)| (*prop, model.parts().0.add_proposition("", *expr));
    let numbered: Vec<_> = propositions.iter().map(&mut number).collect();
    let proof = Proof::of_next_free(&model.formulas, formula);
    let mut claim = Claim::new(tgba, numbered, proof);
    let (plain, testing) = (ObserverKind::Tgba, ObserverKind::LazyTgta);
    let mut methods = vec![(plain, None)];
    if proof.is_some() {
        methods.push((plain, Some(reduction::Method::Classical)));
        methods.push((testing, Some(reduction::Method::Guided)));
    }
    let mut holds = |(observer, reduction)| loop {
        let method = Method::new(observer, SearchKind::Scc, reduction);
        let mut budget = Budget::unlimited();
        let decision = claim.search(&*model.system, method, &Settings::default(), &mut budget).unwrap();
        match decision.outcome.stop {
            None => return true,
            Some(ProductStop::Found(evidence)) => {
                let question = replay::Question::Formula {
                    formulas: &model.formulas,
                    formula,
                    propositions: &propositions,
                };
                let (run, cycle_start) = match evidence.cycle_start {
                    Some(cycle_start) => (evidence.run, cycle_start),
                    None => check::walk::to_lasso(&*model.system, &evidence.run, &mut Budget::unlimited())
                        .unwrap()
                        .unwrap(),
                };
                let run = replay::Evidence::new(&run, replay::Ending::Cycle(cycle_start));
                replay::judge(&model.system, &question, &run, &mut Budget::unlimited()).unwrap();
                return false;
            }
            Some(ProductStop::Fault(error, _)) => {
                assert!(model.widen(&error, &mut Budget::unlimited()).unwrap());
            }
            Some(other) => panic!("{other:?}"),
        }
    };
    methods.into_iter().map(&mut holds).collect()
}
