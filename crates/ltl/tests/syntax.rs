//! Reading and writing formulas: spellings, precedence, model expressions, places, large inputs.

mod common;

use base::{SourceId, SourceMap};
use common::{config, formula, shown, tape};
use generators::random;
use proptest::prelude::*;
use stubborn_ltl::parse::MAX_DEPTH;
use stubborn_ltl::{Formulas, Op, Spelling, parse};

/// All texts must mean the same formula.
fn same(texts: &[&str]) {
    let mut formulas = Formulas::new();
    let first = formula(&mut formulas, texts[0]);
    for text in texts {
        let other = formula(&mut formulas, text);
        assert_eq!(other, first, "{text} is {}", shown(&formulas, other));
    }
}

#[test]
fn spellings() {
    same(&["G p", "[] p", "[ ]p", "always p", "globally p", "Gp", "□ p", "(([](p)))"]);
    same(&["F p", "<> p", "<>p", "eventually p", "finally p", "Fp", "◇p"]);
    same(&["X p", "next p", "Xp", "○ p"]);
    same(&["!p", "~p", "not p", "! p", "¬p", "!!!p"]);
    same(&["p U q", "p until q", "p stronguntil q", "p strong until q", "p strong\n  until q"]);
    same(&["p R q", "p V q", "p release q", "p releases q"]);
    same(&["p W q", "p weakuntil q", "p weak until q"]);
    same(&["p M q", "p strongrelease q", "p strong release q", "p strong releases q"]);
    same(&["p & q", "p && q", "p /\\ q", "p and q", "p ∧ q", "q & p", "p & q & p", "p&&q"]);
    same(&["p | q", "p || q", "p \\/ q", "p or q", "p ∨ q", "p|q"]);
    same(&["p ^ q", "p xor q", "p ⊕ q", "q xor p"]);
    same(&["p -> q", "p => q", "p implies q", "p --> q", "p → q", "p->q"]);
    same(&["p <-> q", "p <=> q", "p equivalent q", "p <--> q", "p ↔ q", "p<->q"]);
    same(&["true", "1", "True", "TRUE", "(1)", "!false"]);
    same(&["false", "0", "FALSE", "!1"]);
    same(&["GFp1", "G F p1", "[]<>p1", "always eventually p1", "GF(p1)", "GF p1", "G(Fp1)"]);
    same(&["XXXFGready", "X X X F G ready"]);
    same(&["p // comment\n & q", "p /* a /* comment */ & q", "p & q // comment"]);
}

#[test]
fn precedence_and_associativity() {
    same(&["!p U q", "(!p) U q"]);
    same(&["F p U q", "(F p) U q"]);
    same(&["p U q & r", "(p U q) & r"]);
    same(&["p & q | r", "(p & q) | r"]);
    same(&["p | q & r", "p | (q & r)"]);
    same(&["p & q ^ r", "(p & q) ^ r"]);
    same(&["p ^ q | r", "(p ^ q) | r"]);
    same(&["p | q -> r", "(p | q) -> r"]);
    same(&["p -> q -> r", "p -> (q -> r)"]);
    same(&["p -> q <-> r", "p -> (q <-> r)"]);
    same(&["p <-> q -> r", "p <-> (q -> r)"]);
    same(&["p U q U r", "p U (q U r)"]);
    same(&["p U q R r W s M t", "p U (q R (r W (s M t)))"]);
    same(&["p ^ q ^ r", "(p ^ q) ^ r"]);
    same(&["G p -> F q", "(G p) -> (F q)"]);
    same(&["! x == 3 & y", "(!(x == 3)) & y"]);
    same(&["[] x > 0 -> p", "([] (x > 0)) -> p"]);
}

/// The propositions of a text, in order.
fn propositions(text: &str) -> Vec<String> {
    let mut formulas = Formulas::new();
    let parsed = parse(&mut formulas, text, SourceId::new(0), 0)
        .unwrap_or_else(|error| panic!("{text}: {} {:?}", error.message, error.span));
    parsed.propositions.iter().map(|&(prop, _)| formulas.text(prop).to_owned()).collect()
}

#[test]
fn model_expressions_become_propositions() {
    let cases: &[(&str, &[&str])] = &[
        ("Phil[0]@left", &["Phil[0]@left"]),
        ("x == 3", &["x == 3"]),
        ("(x + y) >= 2", &["(x + y) >= 2"]),
        ("((x + y) >= 2)", &["(x + y) >= 2"]),
        ("((p)) && (q)", &["p", "q"]),
        ("a.b[i+1] > 0", &["a.b[i+1] > 0"]),
        ("P[1]:var", &["P[1]:var"]),
        ("len(q) > 2 U full(q)", &["len(q) > 2", "full(q)"]),
        ("fireable(t1, t2)", &["fireable(t1, t2)"]),
        ("P[0]@st[3]", &["P[0]@st[3]"]),
        ("x\n  ==\t3", &["x == 3"]),
        ("x /* the counter */ == 3", &["x == 3"]),
        ("x==3 & x == 3", &["x==3", "x == 3"]),
        ("x<y & x<=y | x>y", &["x<y", "x<=y", "x>y"]),
        ("<>x<y", &["x<y"]),
        ("a <-1", &["a <-1"]),
        ("x == -1 -> -x * 2 % 3 != - y", &["x == -1", "-x * 2 % 3 != - y"]),
        ("x-y>0", &["x-y>0"]),
        ("x!=y", &["x!=y"]),
        ("x == true & y", &["x == true", "y"]),
        ("(x > 3) == (y > 3)", &["(x > 3) == (y > 3)"]),
        ("P@next & x.F & Q:U", &["P@next", "x.F", "Q:U"]),
        ("q[a ? b : c] == 1", &["q[a ? b : c] == 1"]),
        ("f(g(x)[2], \"a ) b\")", &["f(g(x)[2], \"a ) b\")"]),
        ("Fork[0]@free & Grant & G1 & Xylo", &["Fork[0]@free", "Grant", "G1", "Xylo"]),
        ("Fp[0]@x & Go@on", &["Fp[0]@x", "Go@on"]),
        ("[] (W@crit) & X[0]@y", &["W@crit", "X[0]@y"]),
        ("U == 1 U M > 2 & [] V @ x", &["U == 1", "M > 2", "V @ x"]),
        ("W@a W W@b", &["W@a", "W@b"]),
        ("release == 1 & not@b", &["release == 1", "not@b"]),
        ("GF@crit & XX[1] == 2 & GFp", &["GF@crit", "XX[1] == 2", "p"]),
        ("x > W.y", &["x > W.y"]),
        ("X - y > 0 & Fp0 == 3", &["- y > 0", "p0 == 3"]),
        ("p U []q & X[]q & F <> r & G (s)", &["p", "q", "r", "s"]),
        ("weak until strong", &["weak", "strong"]),
        ("weak weak until strong & strong", &["weak", "strong"]),
        ("\"any  text, \\\"quoted\\\" \\\\ even U\"", &["any text, \"quoted\" \\ even U"]),
        ("\"x == 3\" & x == 3", &["x == 3"]),
        ("\"true\" & \"U\" & \"1\"", &["true", "U", "1"]),
        ("a & b U c | a", &["a", "b", "c"]),
        ("größe > 3 & été", &["größe > 3", "été"]),
        ("p & false", &["p"]),
        ("1 + 1 == 2", &["1 + 1 == 2"]),
    ];
    for (text, expected) in cases {
        assert_eq!(propositions(text), *expected, "{text}");
    }
}

#[test]
fn places_are_those_of_the_larger_file() {
    let mut sources = SourceMap::new();
    let file = "// é\nltl fed = [] (Phil[0]@left -> <> (Phil[0]@eat));\n";
    let source = sources.add("m.proc", file.into()).unwrap();
    let (start, end) = (file.find("[]").unwrap(), file.rfind(';').unwrap());
    let mut formulas = Formulas::new();
    let parsed = parse(&mut formulas, &file[start..end], source, start).unwrap();
    for &(prop, span) in &parsed.propositions {
        assert_eq!(sources.slice(span), formulas.text(prop));
        assert_eq!(formulas.place(prop), Some(span));
    }
    // A later formula has its own places, while the pool remembers the first.
    let again = parse(&mut formulas, "Phil[0]@eat", source, 7).unwrap();
    let (eat, span) = again.propositions[0];
    assert_eq!((span.start, span.end), (7, 18));
    assert_ne!(formulas.place(eat), Some(span));
    let by_hand = formulas.proposition("by hand");
    assert_eq!(formulas.place(by_hand), None);
}

#[test]
fn printing() {
    // Text, then how Spin, Spot and words have it.
    let cases = [
        ("G F a", "[] <> a", "G F a", "always eventually a"),
        ("G(a -> X !b)", "[] (a -> X !b)", "G (a -> X !b)", "always (a implies next not b)"),
        ("!(a & b) | c | 0", "!(a && b) || c", "!(a & b) | c", "not (a and b) or c"),
        ("a U (b R c)", "a U (b V c)", "a U (b R c)", "a until (b release c)"),
        ("c & (a W b)", "c && (a W b)", "c & (a W b)", "c and (a weakuntil b)"),
        ("a M b", "b U (a && b)", "a M b", "a strongrelease b"),
        ("c & (a M X b)", "c && (X b U (a && X b))", "c & (a M X b)", "c and (a strongrelease next b)"),
        ("(a ^ b) U c", "!(a <-> b) U c", "(a ^ b) U c", "(a xor b) until c"),
        ("(a <-> b) -> 1", "true", "1", "true"),
        ("0", "false", "0", "false"),
        (
            "x == 3 -> X \"U\"",
            "\"x == 3\" -> X \"U\"",
            "\"x == 3\" -> X \"U\"",
            "\"x == 3\" implies next \"U\"",
        ),
        (r#" "a \"b\" \\" "#, r#""a \"b\" \\""#, r#""a \"b\" \\""#, r#""a \"b\" \\""#),
        ("\"Go\" & Fork", "\"Go\" && Fork", "\"Go\" & Fork", "\"Go\" and Fork"),
    ];
    for (text, spin, spot, words) in cases {
        let mut formulas = Formulas::new();
        let formula = formula(&mut formulas, text);
        let show = |spelling| formulas.display(formula, spelling).to_string();
        assert_eq!(
            [Spelling::Spin, Spelling::Spot, Spelling::Words].map(show),
            [spin, spot, words],
            "{text}"
        );
    }
}

/// Texts that look like operators, numbers, quotes or nothing in particular.
const NAMES: &[&str] = &[
    "p",
    "U",
    "true",
    "0",
    "Go",
    "GFready",
    "x == 3",
    "a \"b\" \\",
    "weak",
    "F1",
    "é",
    "x.y[2]",
    "a  b",
    "/*",
    "weak until",
];

proptest! {
    #![proptest_config(config(10_000))]

    #[test]
    fn parsing_undoes_printing(tape in tape(), size in 1u32..40) {
        let mut formulas = Formulas::new();
        let propositions: Vec<_> = NAMES.iter().map(|name| formulas.proposition(name)).collect();
        let mut draw = random::from_tape(&tape);
        let all = random::formula(&mut formulas, &propositions, random::ALL, size, &mut draw);
        for spelling in [Spelling::Spot, Spelling::Words] {
            let text = formulas.display(all, spelling).to_string();
            prop_assert_eq!(formula(&mut formulas, &text), all, "{}", text);
        }
        let spin: Vec<Op> =
            random::ALL.iter().copied().filter(|op| !matches!(op, Op::Xor | Op::StrongRelease)).collect();
        let in_spin = random::formula(&mut formulas, &propositions, &spin, size, &mut draw);
        let text = formulas.display(in_spin, Spelling::Spin).to_string();
        prop_assert_eq!(formula(&mut formulas, &text), in_spin, "{}", text);
    }

    /// What Spin cannot say is written in other words.
    #[test]
    fn spin_spelling_keeps_the_meaning(tape in tape(), size in 1u32..12) {
        let mut draw = random::from_tape(&tape);
        let (mut formulas, propositions, before) = random::pool(2, random::ALL, size, &mut draw);
        let lasso = random::lasso(&propositions, 3, 3, &mut draw);
        let text = formulas.display(before, Spelling::Spin).to_string();
        let after = formula(&mut formulas, &text);
        prop_assert_eq!(stubborn_ltl::satisfies(&formulas, before, &lasso), stubborn_ltl::satisfies(&formulas, after, &lasso));
    }

    /// Whatever the text, there is an answer, and an error points into the text.
    #[test]
    fn no_text_is_too_strange(text in "[ab01UXFGp\\[\\]()<>=!&|\"\\\\/*.@:+%é^ \n-]{0,30}") {
        if let Err(error) = parse(&mut Formulas::new(), &text, SourceId::new(0), 0) {
            let span = error.span.unwrap();
            prop_assert!(span.start <= span.end && span.end as usize <= text.len());
            prop_assert!(text.is_char_boundary(span.start as usize) && text.is_char_boundary(span.end as usize));
        }
    }
}

#[test]
fn deep_texts() {
    let mut formulas = Formulas::new();
    let p = formulas.atom("p");
    let n = 100_000;
    assert_eq!(formula(&mut formulas, &format!("{}p{}", "(".repeat(n), ")".repeat(n))), p);
    assert_eq!(formula(&mut formulas, &format!("{}p", "!".repeat(n))), p);
    let index = format!("x[{}1{}]", "(".repeat(n), ")".repeat(n));
    assert_eq!(propositions(&index), [index]);
    for text in [format!("{}p", "X ".repeat(n)), "p U ".repeat(n) + "q", "p -> ".repeat(n) + "q"] {
        let error = parse(&mut formulas, &text, SourceId::new(0), 0).unwrap_err();
        assert_eq!(error.code, "too-deep", "{}", error.message);
    }
    // At the limit everything still works.
    let text = format!("{}p", "X ".repeat(MAX_DEPTH as usize));
    let deep = formula(&mut formulas, &text);
    assert_eq!(shown(&formulas, deep), text);
}

#[test]
fn long_texts() {
    let mut formulas = Formulas::new();
    let megabyte = 1 << 20;
    let chain = (0..megabyte / 8).map(|n| format!("p{n}")).collect::<Vec<_>>();
    let flat = formula(&mut formulas, &chain.join(" & "));
    assert_eq!((formulas.operands(flat).len(), formulas.depth(flat)), (chain.len(), 1));
    let left = format!("{}{}", "(".repeat(chain.len()), chain.join(") || ") + ")");
    let left = formula(&mut formulas, &left);
    let right = format!("{}{}", chain.join(" | ("), ")".repeat(chain.len() - 1));
    assert_eq!(formula(&mut formulas, &right), left);
    assert_eq!(
        formula(&mut formulas, &"[]<>(p -> X q) && ".repeat(megabyte / 18)[..megabyte / 18 * 18 - 4]).index(),
        { formula(&mut formulas, "G F (p -> X q)").index() }
    );
    let term = format!("{} > 0", chain.join(" + "));
    let sum = formula(&mut formulas, &term);
    assert!(matches!(formulas.op(sum), Op::Prop(prop) if formulas.text(prop) == term));
}
