//! Random expressions have the values that their definition gives them: as constants, where the
//! front end evaluates them, and as invariants, where the action system does.

mod common;

use common::load_plain;
use language::PropertyKind;
use model::reference;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// The processes are in state `a` or `b`; `At(i)` asks whether process `i` is in `b`.
#[derive(Clone, Debug)]
enum Expr {
    Int(i64),
    At(usize),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
}

const N: usize = 3;
const OPERATORS: [&str; 15] =
    ["<->", "->", "||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"];

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![(-3i64..8).prop_map(Expr::Int), (0..N).prop_map(Expr::At)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let binary = (prop::sample::select(&OPERATORS[..]), inner.clone(), inner.clone());
        prop_oneof![
            1 => inner.clone().prop_map(|x| Expr::Not(Box::new(x))),
            1 => inner.prop_map(|x| Expr::Neg(Box::new(x))),
            6 => binary.prop_map(|(op, x, y)| Expr::Binary(op, Box::new(x), Box::new(y))),
        ]
    })
}

/// How tightly an operator binds.
fn level(op: &str) -> usize {
    let levels: [&[&str]; 7] = [
        &["<->"],
        &["->"],
        &["||"],
        &["&&"],
        &["==", "!=", "<", "<=", ">", ">="],
        &["+", "-"],
        &["*", "/", "%"],
    ];
    levels.iter().position(|level| level.contains(&op)).unwrap()
}

/// Writes an expression with no more parentheses than the grammar asks for; `min` is the level
/// that its operator must have. Places become numbers if the state is given.
fn print(expr: &Expr, min: usize, state: Option<&[i64]>) -> String {
    let (text, own) = match expr {
        Expr::Int(value) if *value < 0 => (value.to_string(), 8),
        Expr::Int(value) => (value.to_string(), 9),
        Expr::At(i) => (state.map_or_else(|| format!("P[{i}]@b"), |state| state[*i].to_string()), 9),
        // Always in parentheses where anything but `&&` and its like could follow.
        Expr::Not(x) => (format!("!{}", print(x, 9, state)), 4),
        Expr::Neg(x) => (format!("-{}", print(x, 9, state)), 8),
        Expr::Binary(op, x, y) => {
            let level = level(op);
            let (left, right) = match level {
                1 => (2, 1),
                4 => (5, 5),
                _ => (level, level + 1),
            };
            (format!("{} {op} {}", print(x, left, state), print(y, right, state)), level)
        }
    };
    if own < min || (min > 4 && own == 4) { format!("({text})") } else { text }
}

/// The value by definition; `None` is a fault.
fn value(expr: &Expr, state: &[i64]) -> Option<i64> {
    let truth = |truth: bool| Some(i64::from(truth));
    match expr {
        Expr::Int(value) => Some(*value),
        Expr::At(i) => Some(state[*i]),
        Expr::Not(x) => truth(value(x, state)? == 0),
        Expr::Neg(x) => value(x, state)?.checked_neg(),
        Expr::Binary(op, x, y) => {
            let x = value(x, state)?;
            match *op {
                "->" if x == 0 => return Some(1),
                "||" if x != 0 => return Some(1),
                "&&" if x == 0 => return Some(0),
                _ => {}
            }
            let y = value(y, state)?;
            match *op {
                "<->" => truth((x != 0) == (y != 0)),
                "->" | "||" | "&&" => truth(y != 0),
                "==" => truth(x == y),
                "!=" => truth(x != y),
                "<" => truth(x < y),
                "<=" => truth(x <= y),
                ">" => truth(x > y),
                ">=" => truth(x >= y),
                "+" => x.checked_add(y),
                "-" => x.checked_sub(y),
                "*" => x.checked_mul(y),
                "/" => x.checked_div_euclid(y),
                _ => x.checked_rem_euclid(y),
            }
        }
    }
}

fn states() -> impl Iterator<Item = [i64; N]> {
    (0..1i64 << N).map(|bits| std::array::from_fn(|i| bits >> i & 1))
}

proptest! {
    #![proptest_config(Config {
        rng_seed: RngSeed::Fixed(64), failure_persistence: None, cases: 3000, ..Config::default()
    })]

    #[test]
    fn expressions_have_their_values(expr in expr()) {
        for state in states() {
            let text = format!("process P {{ s: a[{}] -> s; }}", print(&expr, 0, Some(&state)));
            let loaded = load_plain(&text).map(|model| model.system.labels()[0].name.clone());
            match value(&expr, &state) {
                Some(value) => prop_assert_eq!(loaded, Ok(format!("a[{value}]")), "{}", text),
                None => prop_assert!(loaded.is_err(), "{}", text),
            }
        }
        let text = format!(
            "process P[i in 0..{N}] {{ a: x[i] -> b; b: y[i] -> a; }} invariant x = {};",
            print(&expr, 0, None)
        );
        match load_plain(&text) {
            Ok(model) => {
                let PropertyKind::Invariant(lowered) = model.properties[0].kind else { panic!() };
                for state in states() {
                    let found = reference::value(&model.system, lowered, &state).ok();
                    prop_assert_eq!(found, value(&expr, &state), "{} in {:?}", &text, state);
                }
            }
            Err(errors) => {
                let is_fault = |error: &String| error.contains("division-by-zero") || error.contains("overflow");
                prop_assert!(errors.iter().all(is_fault), "{}: {:?}", text, errors);
            }
        }
    }
}
