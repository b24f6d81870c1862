//! Certificates: whatever holds can be certified, by a checker that shares nothing with the search; whatever is
//! corrupted is refused, and mistakes of a search are noticed.

use std::cell::RefCell;
use std::collections::BTreeSet;

use base::{Budget, SourceMap};
use certify::rank::{Level, Reason};
use certify::{
    Certified, Claim, Claimed, Ends, Fair, Pair, Proof, Refusal, StateReader, TooSmall, Wait, What,
};
use check::product::AtDeadlock;
use generators::random;
use model::fairness::{Constraint, Kind};
use model::{ActionId, ActionSystem, StepError, Steps, System};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn::certificate::{Failed, StateWriter, prove, words, write};
use stubborn::{Options, Question, Session, Verdict};
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::toys::{kind_of, searched};
use stubborn_testing::{assert_met, networks, run_cases, systems};

fn claim<'c>(case: &'c mut Case, ends: Ends, constraints: &'c [Constraint]) -> Claim<'c> {
    let Case { formulas, formula, propositions, system, .. } = case;
    Claim { system, what: What::Formula { formulas, formula: *formula, propositions }, ends, constraints }
}

/// Proves the formula of a case by whoever runs the system, and lets the checker look at the proof as a file has it.
fn certified<S: System>(
    runner: &S,
    case: &mut Case,
    ends: Ends,
    constraints: &[Constraint],
) -> Result<Result<Certified, Refusal>, Failed> {
    certified_though(runner, constraints, case, ends, constraints)
}

/// The same, where who proves it takes other constraints for those that are meant.
fn certified_though<S: System>(
    runner: &S,
    taken_for: &[Constraint],
    case: &mut Case,
    ends: Ends,
    constraints: &[Constraint],
) -> Result<Result<Certified, Refusal>, Failed> {
    let words = words(Claimed::Ltl(case.text()));
    let proof = prove(runner, claim(case, ends, taken_for), words, &mut Budget::unlimited())?;
    let mut file = Vec::new();
    write(&proof, &mut file).expect("proofs can be written");
    let proofs = Proof::read_all(&file).expect("what was written can be read");
    assert_eq!(proofs, [proof]);
    Ok(certify::check(claim(case, ends, constraints), &proofs[0], &mut Budget::unlimited()))
}

/// What holds is certified; what is violated has no proof.
fn agrees(
    case: &mut Case,
    ends: Ends,
    constraints: &[Constraint],
    violated: bool,
) -> Result<(), TestCaseError> {
    let system = case.system.clone();
    match certified(&system, case, ends, constraints) {
        Ok(checked) => {
            prop_assert!(!violated, "{} is violated, but has a proof", case.text());
            prop_assert!(checked.is_ok(), "{}: {:?} {:?}", case.text(), checked, constraints);
        }
        Err(Failed::Violated) => prop_assert!(violated, "{} holds, but has no proof", case.text()),
        Err(failed) => prop_assert!(false, "{}: {:?}", case.text(), failed),
    }
    Ok(())
}

fn constraints(case: &Case, kinds: &[u8]) -> Vec<Constraint> {
    let of_process = |process: usize| -> Vec<ActionId> {
        let all = (0..case.system.actions().len()).map(ActionId::new);
        all.filter(|&action| case.system.action(action).owners.iter().any(|owner| owner.index() == process))
            .collect()
    };
    let fair =
        kinds.iter().enumerate().filter_map(|(process, &kind)| Some((kind_of(kind)?, of_process(process))));
    let fair: Vec<(Kind, Vec<ActionId>)> = fair.filter(|(_, actions)| !actions.is_empty()).collect();
    searched(&case.system, &fair)
}

/// A case with every way to treat ends, and under fairness; counts what holds.
fn check_case(mut case: Case, kinds: &[u8], counts: &RefCell<[u32; 4]>) -> Result<(), TestCaseError> {
    let violated = case.is_violated_naively(AtDeadlock::Stutter);
    agrees(&mut case, Ends::Stutter, &[], violated)?;
    let on_infinite = case.is_violated_naively(AtDeadlock::Ignore);
    agrees(&mut case, Ends::Ignore, &[], on_infinite)?;
    let constraints = constraints(&case, kinds);
    let fairly = case.is_violated_fairly(&constraints);
    agrees(&mut case, Ends::Stutter, &constraints, fairly)?;
    let mut counts = counts.borrow_mut();
    counts[0] += u32::from(!violated);
    counts[1] += u32::from(!on_infinite && violated);
    counts[2] += u32::from(!fairly && violated);
    counts[3] += u32::from(violated);
    Ok(())
}

#[test]
fn whatever_holds_of_networks_is_certified() {
    let counts = RefCell::default();
    let strategy = (networks::network(), any::<u64>(), 1..12u32, vec(0..4u8, 5));
    run_cases(4000, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        check_case(case, &kinds[..network.processes.len()], &counts)
            .map_err(|error| TestCaseError::fail(format!("{error} on\n{}", network.to_text())))
    });
    let [holds, ends, fairly, violated] = *counts.borrow();
    assert_met!(holds > 1000 && ends > 20 && fairly > 30 && violated > 300, "{counts:?}");
}

#[test]
fn whatever_holds_of_systems_with_data_is_certified() {
    let counts = RefCell::default();
    let recipes = prop_oneof![systems::recipe(true), systems::recipe_with_chains()];
    let strategy = (recipes, any::<u64>(), 1..12u32, vec(0..4u8, 3));
    run_cases(4000, &strategy, |(recipe, seed, size, kinds)| {
        match Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) {
            Some(case) => check_case(case, &kinds, &counts),
            None => Ok(()),
        }
    });
    let [holds, _, fairly, violated] = *counts.borrow();
    assert_met!(holds > 300 && fairly > 1 && violated > 300, "{counts:?}");
}

/// A runner with a mistake.
struct Mistaken<'s> {
    system: &'s ActionSystem,
    mistake: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    Nothing,
    LosesTheFirstStep,
    LosesTheLastStep,
    LosesASometimesStep,
    LosesAnAction,
    StaysWhereItIs,
    MergesStates,
    RepeatsAStep,
    ForgetsTruths,
    InvertsTruths,
    SwapsActions,
    LosesMarks,
    ForgetsFairness,
}

const MISTAKES: [Mistake; 12] = [
    Mistake::LosesTheFirstStep,
    Mistake::LosesTheLastStep,
    Mistake::LosesASometimesStep,
    Mistake::LosesAnAction,
    Mistake::StaysWhereItIs,
    Mistake::MergesStates,
    Mistake::RepeatsAStep,
    Mistake::ForgetsTruths,
    Mistake::InvertsTruths,
    Mistake::SwapsActions,
    Mistake::LosesMarks,
    Mistake::ForgetsFairness,
];

impl Mistake {
    /// What becomes of fairness.
    fn of_constraints(self, constraints: &[Constraint]) -> Vec<Constraint> {
        match self {
            // Steps that take a constraint are not seen to do so, but one.
            Mistake::LosesMarks => {
                let mistaken = |known: &Constraint| {
                    let served_by = known.takers().iter().copied().take(1).collect();
                    Constraint { served_by, ..known.clone() }
                };
                constraints.iter().map(mistaken).collect()
            }
            Mistake::ForgetsFairness => Vec::new(),
            _ => constraints.to_vec(),
        }
    }
}

impl System for Mistaken<'_> {
    type Scratch = <ActionSystem as System>::Scratch;

    fn new_scratch(&self) -> Self::Scratch {
        self.system.new_scratch()
    }

    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        self.system.initial_states(out);
    }

    fn successors(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        let mut all = Steps::new(self.width());
        self.system.successors(state, scratch, &mut all)?;
        let n = all.len();
        let odd = state.iter().fold(0, |sum: u32, &word| sum.wrapping_add(word.wrapping_mul(2_654_435_761)))
            >> 30
            == 0;
        for (index, (action, target)) in all.iter().enumerate() {
            let (mut action, mut target) = (action, target.to_vec());
            match self.mistake {
                Mistake::LosesTheFirstStep if index == 0 && n > 1 => continue,
                Mistake::LosesTheLastStep if index + 1 == n && n > 1 => continue,
                Mistake::LosesASometimesStep if odd && index == 0 && n > 1 => continue,
                Mistake::LosesAnAction if action.index() == 1 => continue,
                Mistake::StaysWhereItIs if odd => target = state.to_vec(),
                Mistake::MergesStates => {
                    // What the first variable is gets lost.
                    let field = self.system.layout().fields()[0];
                    field.set_raw(&mut target, field.raw(state));
                }
                Mistake::RepeatsAStep if index > 0 => target = all.target(0).to_vec(),
                Mistake::SwapsActions => action = all.actions()[n - 1 - index],
                _ => {}
            }
            out.push(action, &target);
        }
        Ok(())
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.system.enabled(state, scratch, out)
    }

    fn fire(
        &self,
        state: &mut [u32],
        action: ActionId,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        self.system.fire(state, action, scratch)
    }

    fn n_propositions(&self) -> usize {
        self.system.n_propositions()
    }

    fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        scratch: &mut Self::Scratch,
    ) -> Result<bool, StepError> {
        let truth = self.system.holds(proposition, state, scratch)?;
        Ok(match self.mistake {
            Mistake::ForgetsTruths => false,
            Mistake::InvertsTruths => !truth,
            _ => truth,
        })
    }
}

/// Whatever a mistaken search says, no violated property is ever certified; and each mistake is noticed often: the proof that it
/// leads to is refused, or it finds a violation that there is not.
#[test]
fn mistakes_of_the_search_are_noticed() {
    let noticed: RefCell<Vec<[u32; 2]>> = RefCell::new(vec![[0; 2]; MISTAKES.len() + 1]);
    let strategy = (networks::network(), any::<u64>(), 1..10u32, vec(0..4u8, 5));
    run_cases(1000, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(mut case) = Case::of_network(&network, draw) else { return Ok(()) };
        let constraints = constraints(&case, &kinds[..network.processes.len()]);
        let violated = case.is_violated_fairly(&constraints);
        let system = case.system.clone();
        for (number, &mistake) in MISTAKES.iter().chain([&Mistake::Nothing]).enumerate() {
            let runner = Mistaken { system: &system, mistake };
            let taken_for = mistake.of_constraints(&constraints);
            let wrong = match certified_though(&runner, &taken_for, &mut case, Ends::Stutter, &constraints) {
                Ok(Ok(_)) => {
                    prop_assert!(!violated, "{:?} makes a wrong proof of {}", mistake, case.text());
                    false
                }
                Ok(Err(_)) => true,
                Err(failed) => failed != Failed::Violated || !violated,
            };
            noticed.borrow_mut()[number][usize::from(wrong)] += 1;
        }
        Ok(())
    });
    let noticed = noticed.borrow();
    for (mistake, [_, n]) in MISTAKES.iter().zip(noticed.iter()) {
        assert_met!(*n > 10, "{mistake:?}: {n}");
    }
    assert_eq!(noticed[MISTAKES.len()][1], 0, "who makes no mistake is believed");
}

const MODEL: &str = "const N = 2;
    process Semaphore { free: acquire[i] -> taken for i in 0..N; taken: release[i] -> free for i in 0..N; }
    process Worker[i in 0..N] { idle: request[i] -> trying; trying: acquire[i] -> critical; critical: release[i] -> idle; }
    deadlock-free;
    invariant exclusion = (count i in 0..N: Worker[i]@critical) <= 1;
    ltl served = [] (Worker[0]@trying -> <> Worker[0]@critical);
    ltl moves = [] (Worker[0]@critical -> (Worker[0]@critical U Worker[0]@idle) || [] Worker[0]@critical);";

/// The proofs of everything that holds of the model, with strong fairness or without.
fn proofs(model: &str, questions: &[Question], fair: &[&str]) -> Vec<Proof> {
    let mut session = Session::of_text("process", model).expect("a good model");
    let fair = fair.iter().map(|text| text.parse().expect("good fairness")).collect();
    let options = Options { certificates: true, fair, ..Options::default() };
    let report = session.check(questions, &options).expect("good questions");
    let proofs = report.results.iter().filter(|result| result.verdict == Verdict::Holds);
    proofs.map(|result| (**result.certificate.as_ref().expect("a certificate")).clone()).collect()
}

/// What the checker says of a proof about a model.
fn judged(model: &str, proof: &Proof) -> Result<Certified, Refusal> {
    let mut sources = SourceMap::new();
    let options = language::Options { definitions: proof.model.definitions.clone(), ..Default::default() };
    let file = language::File { name: "model.proc".to_owned(), bytes: model.into() };
    let mut no_files = |name: &str| Err(format!("no file {name}"));
    let mut budget = Budget::unlimited();
    let mut model =
        (process::LANGUAGE.read)(file, &options, &mut sources, &mut no_files, &mut budget).expect("a model");
    assert_eq!(model.language(), "process");
    certify::certify(&mut *model, &mut sources, proof, &mut budget)
}

type Listed = Vec<(Vec<i64>, Vec<Pair>, Wait)>;

fn listed(proof: &Proof) -> Listed {
    let mut reader = StateReader::new(proof);
    let state = |reader: &mut StateReader<'_>| {
        reader.advance().expect("a state");
        (reader.values.clone(), reader.pairs.clone(), reader.wait)
    };
    (0..proof.states).map(|_| state(&mut reader)).collect()
}

fn relisted(proof: &Proof, list: &Listed) -> Proof {
    let mut writer = StateWriter::new(proof);
    list.iter().for_each(|(values, pairs, wait)| writer.put(values, *wait, pairs));
    let mut proof = proof.clone();
    writer.fill(&mut proof);
    proof
}

/// A proof with all ranks one number higher, and one more rank, which a state gets.
fn reranked(proof: &Proof, state: usize, rank: Vec<Level>) -> Proof {
    let mut proof = proof.clone();
    proof.ranks.iter_mut().for_each(|rank| rank.iter_mut().for_each(|level| level.number += 1));
    proof.ranks.push(rank);
    let mut list = listed(&proof);
    list[state].1[0].rank = proof.ranks.len() as u32 - 1;
    relisted(&proof, &list)
}

#[test]
fn everything_that_holds_of_a_model_is_certified() {
    let all = proofs(MODEL, &[Question::Declared], &["strong:Worker[*]"]);
    assert_eq!(all.len(), 4, "{:?}", all.iter().map(ToString::to_string).collect::<Vec<_>>());
    for proof in &all {
        assert!(judged(MODEL, proof).is_ok(), "{proof}: {:?}", judged(MODEL, proof));
    }
    let asked = [
        Question::ltl("[] (Worker[1]@critical -> Semaphore@taken)"),
        Question::invariant("Semaphore@free || Semaphore@taken"),
    ];
    let asked = proofs(MODEL, &asked, &["none"]);
    assert_eq!(asked.len(), 2);
    asked.iter().for_each(|proof| assert!(judged(MODEL, proof).is_ok(), "{proof}"));
}

/// Whoever wrote a certificate does not choose what is said of it.
#[test]
fn certificates_say_what_they_are_about() {
    let asked = [Question::ltl("Semaphore@free"), Question::invariant("Semaphore@free || Semaphore@taken")];
    let asked = proofs(MODEL, &asked, &["none"]);
    assert_eq!(asked[0].to_string(), "ltl Semaphore@free", "which is about the first state");
    assert_eq!(asked[1].to_string(), "invariant Semaphore@free || Semaphore@taken");
    let mut forged = asked[0].clone();
    forged.property = Claimed::Ltl("Semaphore@free\nserved: certified".to_owned());
    forged.fairness =
        vec![Fair { kind: "weak\n".to_owned(), process: Some("\u{1b}[2K".to_owned()), labels: vec![] }];
    assert!(!forged.to_string().contains(char::is_control), "{forged}");
    let refused = Refusal::Wrong("the model declares no `x\nserved: certified`".to_owned());
    assert!(!refused.to_string().contains('\n'));
    // What the language promises and what the text declares may have one name.
    let model = "byte x; active proctype P() { do :: x = 1 - x od } ltl assertions { [] (x < 2) }";
    let mut session = Session::of_text("promela", model).expect("a good model");
    let options = Options { certificates: true, ..Options::default() };
    let report = session.check(&[Question::Declared], &options).expect("a good question");
    let clock = stubborn::Clock::start(&stubborn::Limits::default());
    for result in report.results.iter().filter_map(|result| result.certificate.as_ref()) {
        let mut session = Session::of_text("promela", model).expect("a good model");
        let is_unique = result.property != Claimed::Declared("assertions".to_owned());
        assert_eq!(session.certify(result, &clock).is_ok(), is_unique, "{result}");
    }
}

/// Where nothing is left out, the search that decides lists the states; otherwise there is another, once for all claims.
#[test]
fn states_are_listed_by_the_search_that_decides() {
    let pml = "byte x; active [2] proctype P() { do :: x < 3 -> x++ :: x > 0 -> x-- od }";
    let told = |language: &str, model: &str, plain: bool| -> Vec<(String, String)> {
        let mut options = Options { certificates: true, threads: Some(1), ..Options::default() };
        if plain {
            options.reduce = check::method::ReductionWish::None;
            options.statics = Some(language::Rules::none());
        }
        let mut session = Session::of_text(language, model).expect("a good model");
        let report = session.check(&[Question::Declared], &options).expect("good questions");
        let clock = stubborn::Clock::start(&stubborn::Limits::default());
        let shown = |result: &report::PropertyResult| {
            let proof = result.certificate.as_ref().expect("it holds");
            let mut session = Session::of_text(language, model).expect("a good model");
            session.certify(proof, &clock).unwrap_or_else(|why| panic!("{proof}: {why}"));
            (result.property.clone(), report::Remark::join(&result.remarks).unwrap_or_default())
        };
        report.results.iter().filter(|result| result.verdict == Verdict::Holds).map(shown).collect()
    };
    let is_again = |told: &[(String, String)], name: &str| {
        let (_, remark) = told.iter().find(|(property, _)| property == name).expect(name);
        assert!(remark.contains("certificate: "), "{remark}");
        remark.contains("searched again")
    };
    let (plain, reduced) = (told("process", MODEL, true), told("process", MODEL, false));
    for name in ["deadlock-free", "exclusion"] {
        assert!(!is_again(&plain, name) && is_again(&reduced, name), "{name}");
    }
    assert!(is_again(&plain, "moves"), "a formula has another automaton");
    let (plain, reduced) = (told("promela", pml, true), told("promela", pml, false));
    assert!(!is_again(&plain, "assertions") && is_again(&reduced, "assertions"));
}

#[test]
fn corrupted_certificates_are_refused() {
    let all = proofs(MODEL, &[Question::Declared], &["strong:Worker[*]"]);
    let named = |name: &str| {
        all.iter().find(|proof| proof.property == Claimed::Declared(name.to_owned())).expect(name)
    };
    let (served, moves, exclusion) = (named("served"), named("moves"), named("exclusion"));
    let (states, list) = (listed(served), listed(served));
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    let mut refused = |kind: &str, proof: &Proof| {
        kinds.insert(kind.to_owned());
        assert!(judged(MODEL, proof).is_err(), "{kind} is certified");
    };
    for at in 0..states.len() {
        let mut less = list.clone();
        less.remove(at);
        refused("a state missing", &relisted(served, &less));
        for pair in 0..list[at].1.len() {
            let mut less = list.clone();
            less[at].1.remove(pair);
            refused("a state of the product missing", &relisted(served, &less));
        }
        let mut other = list.clone();
        other[at].0[1] += 1;
        refused("a state changed", &relisted(served, &other));
        let mut less = listed(exclusion);
        less.remove(at);
        refused("a state of an invariant missing", &relisted(exclusion, &less));
    }
    let changed = |proof: &Proof, change: &dyn Fn(&mut Listed)| {
        let mut list = listed(proof);
        change(&mut list);
        relisted(proof, &list)
    };
    let of_words = |change: &dyn Fn(&mut Proof)| {
        let mut proof = served.clone();
        change(&mut proof);
        proof
    };
    let two = |list: &Listed| list.iter().position(|(_, pairs, _)| pairs.len() > 1).expect("two pairs");
    let last = |rank: u32| vec![Level { number: 0, reason: Reason::Lacks(rank) }];
    let numbers = |proof: &Proof| proof.ranks.iter().map(|rank| rank[0].number).max().unwrap_or(0);
    refused("a state twice", &changed(served, &|list| list.push(list[0].clone())));
    refused(
        "a pair twice",
        &changed(served, &|list| {
            let pair = list[0].1[0];
            list[0].1.push(pair);
        }),
    );
    refused(
        "pairs in disorder",
        &changed(served, &|list| {
            let at = two(list);
            list[at].1.reverse();
        }),
    );
    refused("a value out of range", &changed(served, &|list| list[3].0[0] = 99));
    refused("no states", &changed(served, &|list| list.clear()));
    refused("a rank out of range", &changed(served, &|list| list[2].1[0].rank = 1000));
    refused(
        "an automaton state out of range",
        &changed(served, &|list| {
            list[2].1.last_mut().expect("a pair").automaton = 1000;
        }),
    );
    for at in 0..states.len() {
        refused("a number too low", &reranked(served, at, last(0)));
        refused(
            "a number too low, leaving",
            &reranked(served, at, vec![Level { number: 0, reason: Reason::Leaves }]),
        );
    }
    refused(
        "all leave",
        &of_words(&|proof| {
            proof
                .ranks
                .iter_mut()
                .for_each(|rank| *rank = vec![Level { number: rank[0].number, reason: Reason::Leaves }]);
        }),
    );
    refused("ranks are empty", &of_words(&|proof| proof.ranks.iter_mut().for_each(Vec::clear)));
    refused(
        "a level is missing",
        &of_words(&|proof| {
            proof.ranks.iter_mut().filter(|rank| rank.len() > 1).for_each(|rank| rank.truncate(1));
        }),
    );
    for mark in [0, 1, 2, 7, 127, 128, 4_000_000_000] {
        let right = served.ranks.iter().flatten().all(|level| level.reason == Reason::Lacks(mark));
        if !right {
            refused(
                "a wrong mark everywhere",
                &of_words(&|proof| {
                    proof.ranks.iter_mut().flatten().for_each(|level| level.reason = Reason::Lacks(mark));
                }),
            );
        }
        refused(
            "a wrong constraint everywhere",
            &of_words(&|proof| {
                proof.ranks.iter_mut().flatten().for_each(|level| level.reason = Reason::Never(mark));
            }),
        );
    }
    refused(
        "one number for all",
        &of_words(&|proof| {
            assert!(numbers(proof) > 0);
            proof.ranks.iter_mut().flatten().for_each(|level| level.number = 0);
        }),
    );
    refused(
        "numbers reversed",
        &of_words(&|proof| {
            let most = numbers(proof);
            proof.ranks.iter_mut().for_each(|rank| rank[0].number = most - rank[0].number);
        }),
    );
    refused("automaton states swapped", &of_words(&|proof| proof.automaton.swap(0, 1)));
    refused(
        "an automaton state that demands less",
        &of_words(&|proof| {
            proof.automaton.iter_mut().skip(1).for_each(|state| _ = state.pop());
        }),
    );
    refused("an automaton state missing", &of_words(&|proof| _ = proof.automaton.pop()));
    refused(
        "another formula's proof",
        &of_words(&|proof| proof.property = Claimed::Declared("moves".to_owned())),
    );
    refused(
        "a formula asked instead",
        &of_words(&|proof| proof.property = Claimed::Ltl("[] Semaphore@free".to_owned())),
    );
    refused("another formula in it", &of_words(&|proof| proof.formula.clone_from(&moves.formula)));
    refused("a formula cut off", &of_words(&|proof| _ = proof.formula.pop()));
    refused(
        "an operator changed",
        &of_words(&|proof| {
            let part = proof.formula.iter_mut().find(|part| part.starts_with("F ")).expect("F");
            part.replace_range(..1, "X");
        }),
    );
    refused(
        "another part of a formula",
        &of_words(&|proof| {
            let whole = proof.formula.last_mut().expect("a formula");
            *whole = format!("G ({whole})");
        }),
    );
    refused("a formula in disorder", &of_words(&|proof| proof.formula.reverse()));
    refused("a formula without a part", &of_words(&|proof| _ = proof.formula.remove(0)));
    refused("a formula that cannot be read", &of_words(&|proof| proof.formula[0].push('(')));
    refused("no formula", &of_words(&|proof| proof.formula.clear()));
    refused("fairness left out", &of_words(&|proof| proof.fairness.clear()));
    refused(
        "weak instead of strong fairness",
        &of_words(&|proof| {
            proof.fairness.iter_mut().for_each(|fair| fair.kind = "weak".to_owned());
        }),
    );
    refused(
        "just instead of strong fairness",
        &of_words(&|proof| {
            proof.fairness.iter_mut().for_each(|fair| fair.kind = "just".to_owned());
        }),
    );
    refused(
        "fairness to others",
        &of_words(&|proof| {
            proof.fairness = vec![Fair {
                kind: "strong".to_owned(),
                process: Some("Semaphore".to_owned()),
                labels: vec![],
            }];
        }),
    );
    refused("fairness to nobody", &of_words(&|proof| proof.fairness[0].process = Some("Nobody".to_owned())));
    refused("fairness of no kind", &of_words(&|proof| proof.fairness[0].kind = "sometimes".to_owned()));
    refused(
        "another model",
        &of_words(&|proof| proof.fingerprint = moves.fingerprint.replace(['0', 'a'], "1")),
    );
    refused(
        "another constant",
        &of_words(&|proof| proof.model.definitions.push(("N".to_owned(), Some("3".to_owned())))),
    );
    refused("more variables", &of_words(&|proof| proof.variables += 1));
    refused("fewer states", &of_words(&|proof| proof.states -= 1));
    refused("more states", &of_words(&|proof| proof.states += 1));
    refused(
        "a model made larger",
        &of_words(&|proof| {
            proof.refinements.push(TooSmall { variable: 0, value: 9, action: None });
        }),
    );
    refused(
        "an unknown property",
        &of_words(&|proof| proof.property = Claimed::Declared("nothing".to_owned())),
    );
    refused("a bad formula", &of_words(&|proof| proof.property = Claimed::Ltl("[] (".to_owned())));
    let mut other = exclusion.clone();
    other.property = Claimed::Invariant("Semaphore@free".to_owned());
    refused("an invariant that is false", &other);
    other.property = Claimed::Declared("served".to_owned());
    refused("a list of states for a formula", &other);
    let another = MODEL.replace("acquire[i] -> critical;", "acquire[i] -> critical | give_up[i] -> idle;");
    assert!(judged(&another, served).is_err(), "another model's");
    let mut forged = served.clone();
    forged.fingerprint = proofs(&another, &[Question::Declared], &[])[0].fingerprint.clone();
    assert!(judged(&another, &forged).is_err(), "another model's, with its name");
    assert!(kinds.len() >= 40, "{kinds:?}");
    // The file itself.
    let mut file = Vec::new();
    write(served, &mut file).expect("a file");
    assert!(Proof::read_all(&file).is_ok());
    let of_file = |bytes: &[u8]| {
        Proof::read_all(bytes).and_then(|all| judged(MODEL, &all[0]).map_err(|why| why.to_string()))
    };
    for end in (0..file.len()).rev().step_by(7) {
        assert!(of_file(&file[..end]).is_err(), "cut off at {end}");
    }
    let start = file.len() - served.body.len() - 1;
    for at in start..file.len() {
        let mut flipped = file.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(of_file(&flipped).is_err(), "flipped at {at}");
        // The sum is no proof: without it, states are looked at, and something is missing.
        if at + 1 < file.len() {
            let mut proof = served.clone();
            proof.body[at - start] ^= 1 << (at % 8);
            let list = std::panic::catch_unwind(|| listed(&proof));
            if list.is_ok_and(|list| list != states) {
                assert!(judged(MODEL, &proof).is_err(), "flipped at {at}, sum repaired");
            }
        }
    }
    assert!(Proof::read_all(b"").is_err() && Proof::read_all(b"stubborn certificate 2\n{}\n").is_err());
}
