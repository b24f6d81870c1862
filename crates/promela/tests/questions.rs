//! Questions about a model: what a text may say, and what it means.

mod common;

use std::collections::BTreeSet;

use base::{Budget, Diagnostics, SourceMap};
use common::{model_of, shown};
use language::{Asked, Model as _, PropertyKind, Purpose, Refined};
use model::{ActionSystem, ExprId, StepError, reference};
use stubborn_promela::{LANGUAGE, Model};

const MODEL: &str = "#define small (x < 3)
mtype = { red, green };
byte x; mtype m = green; hidden byte h; bool a[4];
chan c = [2] of { byte, mtype };
proctype Q(byte n) { byte y = n; here: y++; c!y(red) }
active proctype P() {
    byte z = 7;
start:
    x = 1; x = 2; h = x; run Q(3);
    if :: x > 5 -> goto over :: else fi;
jump: goto over;
    x = 9;
over:
    skip
}
ltl always_small { [] small }
never accepts { do :: x < 9 od }";

fn resolve(model: &mut Model, text: &str) -> Result<ExprId, Diagnostics> {
    let mut sources = SourceMap::new();
    let source = sources.add("a question", format!("....{text}").into()).unwrap();
    model.resolve(text, source, 4)
}

fn formula(model: &mut Model, text: &str) -> Result<language::Ltl, String> {
    let mut sources = SourceMap::new();
    let source = sources.add("--ltl", text.into()).unwrap();
    model.formula(source, &sources).map_err(|errors| shown(&errors, &sources))
}

/// What is said about the text of a proposition: a column, counted from 1, and a message.
fn complaint(text: &str) -> (u32, String) {
    let errors = resolve(&mut model_of(MODEL).0, text).unwrap_err();
    let error = errors.iter().next().expect("there is one").clone();
    (error.span.expect("it has a place").start - 3, error.message)
}

#[test]
fn an_expression_means_what_it_means_at_the_end_of_the_text() {
    let mut model = model_of(MODEL).0;
    let mut value = |text: &str| {
        let expr = resolve(&mut model, text).unwrap_or_else(|_| panic!("{text}"));
        let system = model.system();
        reference::value(system, expr, &reference::initial(system)[0]).unwrap()
    };
    for (text, expected) in [
        ("x == 0", 1),
        ("small", 1),
        ("!small", 0),
        ("small -> x == 1", 0),
        ("m == green && m != red", 1),
        ("P@start", 1),
        ("P[0]@start && !P@over", 1),
        ("P:z", 7),
        ("Q@here || Q[1]:y > 0", 0),
        ("empty(c) && len(c) == 0", 1),
        ("a[x + 1]", 0),
        ("_nr_pr", 1),
        ("2 + 3 * 4", 14),
        ("true", 1),
        ("/* a */ x /* b */ == 0 // c", 1),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn nothing_else_is_an_expression() {
    let temporal = "a temporal operator stands where an expression about one state is needed";
    for (text, column, message) in [
        ("[] (x == 0)", 1, temporal),
        ("x == 0 && <> (x == 1)", 11, temporal),
        ("x == 0 U x == 1", 1, temporal),
        ("x == 0 }", 8, "expected an operator or the end of the text, found `}`"),
        ("x == 0 } ltl other { [] (x == 0)", 8, "expected an operator or the end of the text, found `}`"),
        ("x == 0; x == 1", 7, "expected an operator or the end of the text, found `;`"),
        ("x == 0 x", 8, "expected an operator or the end of the text, found `x`"),
        ("ltl p { x == 0 }", 1, "expected an expression, found the keyword `ltl`"),
        ("", 1, "expected an expression, found the end of the text"),
        ("x == ", 6, "expected an expression, found the end of the text"),
        ("nosuchthing > 3", 1, "there is no variable `nosuchthing`"),
        ("P@nowhere", 3, "the proctype `P` has no label `nowhere`"),
        ("small(3)", 6, "expected an operator or the end of the text, found `(`"),
        ("run Q(1)", 1, "`run` can only be used in a proctype"),
        ("_pid", 1, "`_pid` outside of a process is not supported"),
    ] {
        assert_eq!(complaint(text), (column, message.to_owned()), "{text}");
    }
}

#[test]
fn a_formula_is_the_whole_text() {
    let mut model = model_of(MODEL).0;
    let ltl = formula(&mut model, "[] (small -> <> (x == 2 && P@over));").unwrap();
    assert_eq!(ltl.propositions.len(), 2);
    let last_warning = |model: &Model| model.warnings().iter().last().map(|warning| warning.code);
    assert_ne!(last_warning(&model), Some("formula-grouping"));
    formula(&mut model, "[] x == 0").unwrap();
    assert_eq!(last_warning(&model), Some("formula-grouping"));
    let declared = model.properties().unwrap();
    let PropertyKind::Ltl(always) = &declared[2].kind else { panic!("{declared:?}") };
    assert_eq!(formula(&mut model, "always small").unwrap().formula, always.formula);
    for (text, said) in [
        ("[] (nosuchthing > 3)", "1:5: unknown-variable: there is no variable `nosuchthing`"),
        ("x == 0 } ltl other { [] (x == 0)", "1:8: syntax: expected an operator or the end of the text"),
        ("[] (x == 0) }", "1:13: syntax: expected an operator or the end of the text"),
        ("[] (x == 0); <> (x == 1)", "1:14: syntax: expected an operator or the end of the text"),
        ("ltl p { [] (x == 0) }", "1:1: syntax: expected an expression"),
        ("1 + [] x", "1:5: misplaced-temporal: a temporal operator stands inside"),
        ("[] (x == 0", "1:11: syntax: expected"),
    ] {
        let found = formula(&mut model, text).unwrap_err();
        assert!(found.starts_with(said), "{text}: {found}");
    }
}

/// The values of an expression in all states, or the first fault.
fn values(system: &ActionSystem, expr: ExprId) -> Result<(usize, BTreeSet<i64>), StepError> {
    let mut pending = reference::initial(system);
    let mut known: BTreeSet<Vec<i64>> = pending.iter().cloned().collect();
    let mut values = BTreeSet::new();
    while let Some(state) = pending.pop() {
        let fails = |fault| StepError { fault, action: None };
        values.insert(reference::value(system, expr, &state).map_err(fails)?);
        let steps = reference::successors(system, &state).map_err(fails)?;
        pending.extend(steps.into_iter().map(|(_, state)| state).filter(|state| known.insert(state.clone())));
    }
    Ok((known.len(), values))
}

/// The same; what is missing is made. And how often that was.
fn explore(model: &mut Model, text: &str) -> (usize, Vec<i64>, usize) {
    for n_refined in 0.. {
        let expr = resolve(model, text).unwrap_or_else(|_| panic!("{text}"));
        match values(model.system(), expr) {
            Ok((n_states, values)) => return (n_states, values.into_iter().collect(), n_refined),
            Err(error) => {
                assert!(model.can_refine(&error), "{error:?}");
                assert_eq!(model.refine(&error, &mut Budget::unlimited()).unwrap(), Refined::Parts);
            }
        }
    }
    unreachable!()
}

/// The same model with the question in its text, where it counts from the start.
fn with_question(question: &str) -> String {
    format!("{MODEL} ltl question {{ [] ({question}) }}")
}

#[test]
fn what_only_questions_look_at_is_made_for_them() {
    for (question, values, n_refined) in [
        ("x", &[0, 1, 2][..], 0),
        // A jump is passed, unless somebody looks at its label.
        ("P@jump", &[0, 1], 1),
        ("_last", &[0, 1], 1),
        ("h", &[0, 2], 1),
        ("P@jump || _last == 1 || h == 2", &[0, 1], 1),
    ] {
        let asked = explore(&mut model_of(MODEL).0, question);
        let written = explore(&mut model_of(&with_question(question)).0, question);
        assert_eq!((asked.1.as_slice(), asked.2), (values, n_refined), "{question}");
        assert_eq!((asked.0, asked.1), (written.0, written.1), "{question}");
        assert_eq!(written.2, 0, "{question}");
    }
}

#[test]
fn properties_come_in_the_order_in_which_they_are_checked() {
    let mut model = model_of(MODEL).0;
    let properties = model.properties().unwrap();
    let names: Vec<(&str, Asked)> =
        properties.iter().map(|property| (property.name.as_str(), property.asked)).collect();
    let expected = [
        ("assertions", Asked::ByDefault),
        ("end-states", Asked::ByDefault),
        ("always_small", Asked::ByDefault),
        ("accepts", Asked::ByDefault),
        ("progress", Asked::ByKind),
        ("acceptance", Asked::ByKind),
    ];
    assert_eq!(names, expected);
    assert!(matches!(properties[3].kind, PropertyKind::Claim(_)));
    let PropertyKind::Progress(progress) = &properties[4].kind else { panic!("{properties:?}") };
    let shown = model.parts().1.display(progress.formula, ltl::Spelling::Spin).to_string();
    assert_eq!(shown, "[] <> !np_");
}

#[test]
fn a_view_stays_as_it_is() {
    let mut model = model_of(MODEL).0;
    let before = model.view(Purpose::Runs, &mut Budget::unlimited()).unwrap();
    let expr = resolve(&mut model, "x == 1 && P@over").unwrap();
    model.parts().0.add_proposition("p", expr);
    let after = model.view(Purpose::Replay, &mut Budget::unlimited()).unwrap();
    assert_eq!((before.system.propositions().len(), after.system.propositions().len()), (0, 1));
    let story = before.story.expect("there is always one");
    assert_eq!(story.places(&reference::initial(&before.system)[0])[0].line, 9);
    let assertions = model.view(Purpose::Assertions, &mut Budget::unlimited()).unwrap();
    let ends = model.view(Purpose::EndStates, &mut Budget::unlimited()).unwrap();
    assert_eq!(assertions.system.actions().len(), ends.system.actions().len());
}

#[test]
fn the_language_is_known_by_its_words() {
    let is = |text: &str| (LANGUAGE.recognizes)(text.as_bytes());
    assert!(is(MODEL) && is("active [2] proctype P() { skip }") && is("\n\tproctype P(byte x) {"));
    assert!(!is("<?xml version=\"1.0\"?>") && !is("process P = a -> STOP;") && !is("never { skip }"));
    assert!(!is("") && !is("the word proctype") && !is("active = 3;"));
}
