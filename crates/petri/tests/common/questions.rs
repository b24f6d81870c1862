//! Random questions about markings, as texts.

#![allow(dead_code)] // Each test uses a part of it.

use base::SourceMap;
use language::Model as _;
use proptest::prelude::*;
use stubborn_petri::Model;

/// Expressions over the places `p0` and `p1`, and sums of them.
pub(crate) fn expressions() -> impl Strategy<Value = String> {
    let place = (0..2u8).prop_map(|place| format!("p{place}"));
    let number = (0..4i64).prop_map(|number| number.to_string());
    let term = prop_oneof![3 => place, 1 => number].boxed();
    let sum = prop_oneof![
        2 => term.clone(),
        2 => (term.clone(), term.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
        1 => (term.clone(), term.clone()).prop_map(|(a, b)| format!("({a} - {b})")),
        1 => (1..3i64, term).prop_map(|(number, a)| format!("({number} * {a})")),
    ]
    .boxed();
    let sign = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let comparison = (sum.clone(), sign, sum).prop_map(|(a, sign, b)| format!("({a} {sign} {b})"));
    comparison.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            inner.prop_map(|a| format!("(!{a})")),
        ]
    })
}

/// The expression that a text stands for.
pub(crate) fn resolve(model: &mut Model, text: &str) -> model::ExprId {
    let source = SourceMap::new().add("--ltl", text.to_owned().into()).unwrap();
    model.resolve(text, source, 0).unwrap()
}
