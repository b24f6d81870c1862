//! One model: everything that holds of it is certified, and certificates say what they are about.

use base::{Budget, SourceMap};
use certify::{Certified, Claimed, Fair, Proof, Refusal};
use stubborn::{Options, Question, Session, Verdict};

pub(crate) const MODEL: &str = "const N = 2;
    process Semaphore { free: acquire[i] -> taken for i in 0..N; taken: release[i] -> free for i in 0..N; }
    process Worker[i in 0..N] { idle: request[i] -> trying; trying: acquire[i] -> critical; critical: release[i] -> idle; }
    deadlock-free;
    invariant exclusion = (count i in 0..N: Worker[i]@critical) <= 1;
    ltl served = [] (Worker[0]@trying -> <> Worker[0]@critical);
    ltl moves = [] (Worker[0]@critical -> (Worker[0]@critical U Worker[0]@idle) || [] Worker[0]@critical);";

/// The proofs of everything that holds of the model, with strong fairness or without.
pub(crate) fn proofs(model: &str, questions: &[Question], fair: &[&str]) -> Vec<Proof> {
    let mut session = Session::of_text("process", model).expect("a good model");
    let fair = fair.iter().map(|text| text.parse().expect("good fairness")).collect();
    let options = Options { certificates: true, fair, ..Options::default() };
    let report = session.check(questions, &options).expect("good questions");
    let proofs = report.results.iter().filter(|result| result.verdict == Verdict::Holds);
    proofs.map(|result| (**result.certificate.as_ref().expect("a certificate")).clone()).collect()
}

/// What the checker says of a proof about a model.
pub(crate) fn judged(model: &str, proof: &Proof) -> Result<Certified, Refusal> {
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
