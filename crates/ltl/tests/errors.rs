//! Mistakes, and what is said about them. The place is what stands between `»` and `«`.

mod common;

use base::{Diagnostic, SourceId};
use stubborn_ltl::{Formulas, parse};

/// The error about a text with marks, after its place was checked.
fn error(marked: &str) -> Diagnostic {
    let start = marked.find('»').unwrap();
    let end = marked.find('«').unwrap() - '»'.len_utf8();
    let text = marked.replace(['»', '«'], "");
    let offset = 1000;
    let error = match parse(&mut Formulas::new(), &text, SourceId::new(5), offset) {
        Err(error) => error,
        Ok(_) => panic!("{text} was accepted"),
    };
    let span = error.span.unwrap();
    let found = (span.start as usize - offset, span.end as usize - offset);
    assert_eq!(found, (start, end), "{text}: {}", error.message);
    assert_eq!(span.source, SourceId::new(5));
    error
}

#[test]
fn messages() {
    let cases = [
        ("»«", "expected a formula, but there is nothing"),
        ("  // only a comment»«", "expected a formula, but there is nothing"),
        ("p &»«", "the formula ends too early"),
        ("[] »«", "the formula ends too early"),
        ("p & »&&« q", "expected a formula, found the operator `&&`"),
        ("»U« p", "expected a formula, found the operator `U`"),
        ("p -> (»)«", "expected a formula, found `)`"),
        ("p »q«", "expected an operator, found the name `q`"),
        ("p »\"q\"«", "expected an operator, found the proposition \"q\""),
        ("p »[]« q", "expected an operator, found the operator `[]`"),
        ("p »(«q)", "expected an operator, found `(`"),
        ("x »=« 3", "expected an operator, found `=`"),
        ("p »;«", "expected an operator, found `;`"),
        ("»$«p", "expected a formula, found `$`"),
        ("»[«p] q", "expected a formula, found `[`"),
        ("p & »(«q | (r)", "a `(` is never closed"),
        ("p & (q | »(«r", "a `(` is never closed"),
        ("x»[«1 & p", "a `[` is never closed"),
        ("len»(«q > 2", "a `(` is never closed"),
        ("p »)« & q", "this `)` closes nothing"),
        ("(p »]«", "this `]` closes nothing"),
        ("x[(1»]«)", "this `]` closes nothing"),
        ("p & »\"«q", "the text in double quotes does not end"),
        ("p »/*« q", "the comment does not end"),
        ("p & »\" \"«", "a proposition without text"),
        ("x + »(p & q)« > 2", "`+` takes values of the model, not formulas"),
        ("»(p & q)« == 1", "`==` takes values of the model, not formulas"),
        ("x == »X y«", "`==` takes values of the model, not formulas"),
        ("»\"x\"« == 3", "`==` takes values of the model, not formulas"),
        ("-»(p -> q)«", "`-` takes values of the model, not formulas"),
        ("a < b »<« c", "comparisons cannot be chained"),
        ("[] »3«", "the number 3 is not a formula"),
        ("P[0]@»«", "expected a name after `@`"),
        ("P[0]@ »3«", "expected a name after `@`, found the number 3"),
        ("x.»&« y", "expected a name after `.`, found the operator `&`"),
        ("été »été«", "expected an operator, found the name `été`"),
    ];
    for (marked, message) in cases {
        assert_eq!(error(marked).message, message, "{marked}");
    }
}

#[test]
fn words_that_are_operators() {
    for (marked, word) in [
        ("[] (»W«)", "W"),
        ("p U »until« q", "until"),
        ("[] (X »)«", "X"),
        ("F »->« p", "F"),
        ("p W »==« 1", "W"),
        ("p U »@«crit", "U"),
        ("! X »&&« p", "X"),
        ("x > »M«", "M"),
    ] {
        let help = error(marked).help.unwrap_or_default();
        assert!(help.starts_with(&format!("`{word}` is an operator")), "{marked}: {help}");
        assert!(help.ends_with("in double quotes"), "{marked}: {help}");
    }
    assert_eq!(error("p U»«").help, None, "it has its first operand");
    assert!(error("[] X»«").help.is_some());
}

#[test]
fn help() {
    let cases = [
        ("x »=« 3", "equality is written `==`, implication `->` or `=>`"),
        ("p »unitl« q", "did you mean the operator `until`?"),
        ("p »u« q", "did you mean the operator `U`?"),
        ("g »p«", "did you mean the operator `G`?"),
        ("alway »p«", "did you mean the operator `always`?"),
        ("p »AND« q", "did you mean the operator `and`?"),
        ("len »(«q) > 2", "if this is the argument of a name, leave no blank before the `(`"),
        ("»'«p'", "a proposition is quoted by double quotes"),
        ("»{«p}", "formulas are grouped by `(` and `)`"),
        ("x »?« y", "a model expression that uses other symbols can be written in double quotes"),
        ("a < b »<« c", "write `a < b && b < c`, or put one comparison in parentheses"),
    ];
    for (marked, help) in cases {
        assert_eq!(error(marked).help.as_deref(), Some(help), "{marked}");
    }
}

#[test]
fn related_places() {
    let cases = [
        ("p -> (»)«", 5, "after this `(`"),
        ("p && »«", 2, "as the operand of this `&&`"),
        ("»(«p & q", 6, "expected `)` before the end"),
        ("(p »]«", 0, "this one needs a `)`"),
        ("x + »(p & q)«", 2, "operand of this operator"),
        ("a < b »<« c", 2, "first comparison"),
    ];
    for (marked, at, label) in cases {
        let error = error(marked);
        let (span, text) = &error.related[0];
        assert_eq!((span.start as usize - 1000, text.as_str()), (at, label), "{marked}");
    }
}
