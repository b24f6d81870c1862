//! Formula files of the contest: what the elements mean, what is refused, and fixed questions.

mod common;

use base::{Budget, Diagnostics, SourceMap};
use common::{lower, mistakes, net_of};
use language::{Model as _, Property, PropertyKind};
use ltl::Spelling;
use model::{ExprId, reference};
use stubborn_petri::Model;
use stubborn_petri::mcc::Examination;

/// Two places, one token going round; an id that must be quoted.
fn model() -> Model {
    lower(&net_of(
        "<pnml><net id='n'><place id='p'><initialMarking><text>1</text></initialMarking></place>
         <place id='q r'><name><text>q</text></name></place><transition id='t'/><transition id='u'/>
         <arc source='p' target='t'/><arc source='t' target='q r'/>
         <arc source='q r' target='u'/><arc source='u' target='p'/></net></pnml>",
    ))
}

fn read(model: &mut Model, text: &str) -> Result<Vec<Property>, Diagnostics> {
    let mut sources = SourceMap::new();
    let source = sources.add("LTLCardinality.xml", text.into()).unwrap();
    let read = model.read_formulas(text, source, &mut Budget::unlimited()).map_err(mistakes);
    for error in read.as_ref().err().into_iter().flatten() {
        let span = error.span.expect("a place");
        assert!(text.get(span.start as usize..span.end as usize).is_some());
    }
    read
}

fn file(formulas: &[&str]) -> String {
    let mut text = String::from("<?xml version='1.0'?>\n<property-set xmlns='http://mcc.lip6.fr/'>");
    for (index, formula) in formulas.iter().enumerate() {
        text += &format!(
            "<property><id> f-{index} </id><description>d</description><tags><x/></tags><formula>{formula}</formula></property>"
        );
    }
    text + "</property-set>"
}

fn question(model: &mut Model, formula: &str) -> PropertyKind {
    let properties = read(model, &file(&[formula])).unwrap_or_else(|errors| panic!("{formula}: {errors:?}"));
    let [property] = &properties[..] else { panic!("{properties:?}") };
    assert_eq!(property.name, "f-0");
    property.kind.clone()
}

fn error(formula: &str) -> &'static str {
    read(&mut model(), &file(&[formula])).unwrap_err().iter().next().unwrap().code
}

fn initially(model: &Model, expr: ExprId) -> i64 {
    reference::value(&model.system, expr, &reference::initial(&model.system)[0]).unwrap()
}

const P: &str = "<tokens-count><place>p</place></tokens-count>";
const T: &str = "<is-fireable><transition>t</transition></is-fireable>";

#[test]
fn predicates_mean_what_they_say() {
    let one = "<integer-constant>1</integer-constant>";
    let both = "<tokens-count><place>p</place><place>q r</place><place>p</place></tokens-count>";
    let mut model = model();
    for (predicate, expected) in [
        (format!("<integer-le>{P}{one}</integer-le>"), 1),
        (format!("<integer-lt>{P}{one}</integer-lt>"), 0),
        (format!("<integer-ge>{P}{one}</integer-ge>"), 1),
        (format!("<integer-gt>{P}{one}</integer-gt>"), 0),
        (format!("<integer-eq>{P}{one}</integer-eq>"), 1),
        (format!("<integer-ne>{P}{one}</integer-ne>"), 0),
        (format!("<integer-eq>{both}<integer-constant> 2 </integer-constant></integer-eq>"), 1),
        (format!("<integer-eq>{P}<integer-sum>{P}{P}{one}</integer-sum></integer-eq>"), 0),
        (format!("<integer-eq>{P}<integer-difference>{both}{one}</integer-difference></integer-eq>"), 1),
        (format!("<integer-eq>{P}<integer-product>{P}{P}</integer-product></integer-eq>"), 1),
        (T.to_owned(), 1),
        ("<is-fireable><transition>u</transition></is-fireable>".to_owned(), 0),
        ("<is-fireable><transition>u</transition><transition>t</transition></is-fireable>".to_owned(), 1),
        ("<deadlock/>".to_owned(), 0),
        ("<true/>".to_owned(), 1),
        ("<false></false>".to_owned(), 0),
        (format!("<negation>{T}</negation>"), 0),
        (format!("<conjunction>{T}<true/>{T}</conjunction>"), 1),
        (format!("<disjunction><false/><deadlock/>{T}</disjunction>"), 1),
        (format!("<implication>{T}<deadlock/></implication>"), 0),
        (format!("<equivalence>{T}<deadlock/></equivalence>"), 0),
        (format!("<exclusive-disjunction>{T}<deadlock/></exclusive-disjunction>"), 1),
    ] {
        let all = question(&mut model, &format!("<all-paths><globally>{predicate}</globally></all-paths>"));
        let PropertyKind::Invariant(expr) = all else { panic!("{all:?}") };
        assert_eq!(initially(&model, expr), expected, "{predicate}");
        let some =
            question(&mut model, &format!("<exists-path><finally>{predicate}</finally></exists-path>"));
        assert!(matches!(some, PropertyKind::Possible(its) if its == expr));
    }
}

#[test]
fn formulas_are_read_with_their_propositions() {
    let mut model = model();
    let le = format!("<integer-le>{P}<tokens-count><place>q r</place></tokens-count></integer-le>");
    for (formula, expected) in [
        (format!("<next><globally>{T}</globally></next>"), "X G \"fireable(t)\""),
        (format!("<finally>{T}</finally>"), "F \"fireable(t)\""),
        (format!("<globally><finally>{le}</finally></globally>"), "G F \"p <= 'q r'\""),
        (
            format!("<until><before>{T}</before><reach>{le}</reach></until>"),
            "\"fireable(t)\" U \"p <= 'q r'\"",
        ),
        (
            format!("<conjunction><next>{T}</next><disjunction>{T}<deadlock/></disjunction></conjunction>"),
            "X \"fireable(t)\" & (\"fireable(t)\" | \"deadlock()\")",
        ),
        (format!("<disjunction><true/><next>{T}</next></disjunction>"), "1"),
        (T.to_owned(), "\"fireable(t)\""),
    ] {
        let asked = question(&mut model, &format!("<all-paths>{formula}</all-paths>"));
        let PropertyKind::Ltl(ltl) = asked else { panic!("{asked:?}") };
        let shown = model.formulas.display(ltl.formula, Spelling::Spot).to_string();
        assert_eq!(shown, expected);
        for (prop, expr) in ltl.propositions {
            // What a proposition is called can be resolved, and means the same.
            let text = model.formulas.text(prop).to_owned();
            let source = SourceMap::new().add("--ltl", text.clone().into()).unwrap();
            assert_eq!(model.resolve(&text, source, 0).unwrap(), expr, "{text}");
        }
    }
}

#[test]
fn bounds_are_sums() {
    let mut model = model();
    let asked = question(&mut model, "<place-bound><place>p</place><place>q r</place></place-bound>");
    let PropertyKind::Maximum(expr) = asked else { panic!("{asked:?}") };
    assert_eq!(initially(&model, expr), 1);
}

#[test]
fn what_cannot_be_answered_is_kept_with_a_reason() {
    let ctl = format!(
        "<all-paths><globally><exists-path><finally>{T}</finally></exists-path></globally></all-paths>"
    );
    let unknown = format!("<all-paths><globally><moreover>{T}</moreover></globally></all-paths>");
    let exists = format!("<exists-path><globally>{T}</globally></exists-path>");
    let fine = format!("<all-paths><next>{T}</next></all-paths>");
    let properties = read(&mut model(), &file(&[&ctl, &unknown, &fine, &exists])).unwrap();
    let ids: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(ids, ["f-0", "f-1", "f-2", "f-3"]);
    for index in [0, 1, 3] {
        let PropertyKind::Unsupported(reason) = &properties[index].kind else { panic!("{properties:?}") };
        assert!(reason.contains("not supported"), "{reason}");
    }
    assert!(matches!(properties[2].kind, PropertyKind::Ltl(_)));
    let ctl = file(&[&fine]).replace("f-0", "N-PT-1-CTLFireability-00");
    assert!(matches!(read(&mut model(), &ctl).unwrap()[0].kind, PropertyKind::Unsupported(_)));
}

#[test]
fn mistakes_are_told() {
    let all = |inside: &str| error(&format!("<all-paths><globally>{inside}</globally></all-paths>"));
    assert_eq!(all("<is-fireable><transition>p</transition></is-fireable>"), "unknown-transition");
    let nowhere = "<integer-le><tokens-count><place>q</place></tokens-count><integer-constant>1</integer-constant></integer-le>";
    assert_eq!(all(nowhere), "unknown-place", "names are not ids");
    assert_eq!(all(&format!("<integer-le>{P}</integer-le>")), "bad-formula");
    assert_eq!(all(&format!("<integer-le>{P}{T}</integer-le>")), "bad-formula");
    assert_eq!(
        all(&format!("<integer-le>{P}<integer-constant>x</integer-constant></integer-le>")),
        "not-a-number"
    );
    assert_eq!(all("<is-fireable/>"), "bad-formula");
    assert_eq!(all(P), "bad-formula");
    assert_eq!(all(""), "bad-formula");
    assert_eq!(error(""), "bad-formula");
    assert_eq!(error(T), "bad-formula");
    assert_eq!(error(&format!("<all-paths><until>{T}{T}</until></all-paths></x>")), "not-xml");
    let deep = "<negation>".repeat(1000) + T + &"</negation>".repeat(1000);
    assert_eq!(all(&deep), "too-deep");
    let code = |text: &str| read(&mut model(), text).unwrap_err().iter().next().unwrap().code;
    assert_eq!(code("<pnml/>"), "not-formulas");
    assert_eq!(code("<property-set/>"), "no-property");
    assert_eq!(code("<property-set><property><formula/></property></property-set>"), "bad-formula");
    assert_eq!(code("<property-set><property><id>a</id></property></property-set>"), "bad-formula");
}

#[test]
fn examinations_have_names_and_questions() {
    let mut model = model();
    for examination in Examination::ALL {
        assert_eq!(examination.name().parse::<Examination>().unwrap(), examination);
        let question = model.examination(examination.name(), &mut Budget::unlimited()).unwrap();
        let is_fixed = !examination.has_file() && examination != Examination::StateSpace;
        assert_eq!(question.is_some(), is_fixed, "{examination}");
    }
    let error = "LTLFirability".parse::<Examination>().unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `LTLFireability`?"));
    let mut kind =
        |examination| model.global_question(examination, &mut Budget::unlimited()).unwrap().unwrap().kind;
    let quasi_live = kind(Examination::QuasiLiveness);
    let stable = kind(Examination::StableMarking);
    let PropertyKind::AllPossible(fireable) = quasi_live else { panic!() };
    assert_eq!(fireable.iter().map(|&expr| initially(&model, expr)).collect::<Vec<_>>(), [1, 0]);
    let PropertyKind::SomeInvariant(stable) = stable else { panic!() };
    assert_eq!(stable.iter().map(|&expr| initially(&model, expr)).collect::<Vec<_>>(), [1, 1]);
}
