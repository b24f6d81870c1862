//! The messages of the parser: where, what was expected, and the usual slip behind it.

use base::{Diagnostic, Span, suggest};

use crate::parser::{Parser, Pending, Waiting};
use crate::syntax::{Kind, WORDS, word};

pub(crate) fn unclosed_quote(quote: Span) -> Diagnostic {
    Diagnostic::error("unclosed-quote", "the text in double quotes does not end")
        .at(quote, "this `\"` is never closed")
}

pub(crate) fn unclosed_comment(comment: Span) -> Diagnostic {
    Diagnostic::error("unclosed-comment", "the comment does not end")
        .at(comment, "this `/*` is never closed")
        .with_help("`and` is written `/\\`, division `/`")
}

pub(crate) fn blank_proposition(quotes: Span) -> Diagnostic {
    Diagnostic::error("blank-proposition", "a proposition without text")
        .at(quotes, "there is nothing between these quotes")
}

pub(crate) fn too_deep(operator: Span, max: u32) -> Diagnostic {
    Diagnostic::error("too-deep", format!("operators are nested more than {max} deep"))
        .at(operator, "one operator too many")
        .with_help("parentheses do not count; a chain of `&` or of `|` counts as one operator")
}

/// A token at the parser's place that cannot begin a formula.
pub(crate) fn expected_formula(parser: &Parser<'_>) -> Diagnostic {
    let here = parser.span(parser.next, parser.next);
    let mut error = match parser.peek() {
        None if parser.tokens.is_empty() => {
            Diagnostic::error("expected-formula", "expected a formula, but there is nothing")
                .at(here, "expected a formula")
        }
        None => Diagnostic::error("expected-formula", "the formula ends too early")
            .at(here, "expected a formula here"),
        Some(kind) => {
            let found = parser.token_text(parser.next);
            Diagnostic::error("expected-formula", format!("expected a formula, found {}", named(kind, found)))
                .at(here, "expected a formula here")
        }
    };
    if let Some(waiting) = parser.pending.last() {
        let text = parser.token_text(waiting.token);
        let what = match waiting.what {
            Waiting::Parenthesis => format!("after this `{text}`"),
            _ => format!("as the operand of this `{text}`"),
        };
        error = error.with_related(parser.span(waiting.token, waiting.token), what);
    }
    help_with_operand(parser, error)
}

fn help_with_operand(parser: &Parser<'_>, error: Diagnostic) -> Diagnostic {
    let is_word = |text: &&str| text.starts_with(char::is_alphabetic);
    let found = parser.token_text(parser.next);
    // Who ends after `p U` has said of what.
    let may_be_name = |pending: &&Pending| match pending.what {
        Waiting::Infix(_) => parser.peek().is_some(),
        _ => true,
    };
    let before = parser.pending.last().filter(|pending| pending.token + 1 == parser.next).filter(may_be_name);
    let before = before.map(|pending| parser.token_text(pending.token)).filter(is_word);
    match parser.peek() {
        Some(Kind::Infix(_)) if is_word(&found) => might_be_name(error, found),
        Some(Kind::OpenBracket) => error.with_help(
            "always is written `[]`, an index follows a name, and formulas are grouped by `(` and `)`",
        ),
        Some(Kind::Other) => help_with_other(parser, error),
        _ => match before {
            Some(operator) => might_be_name(error, operator),
            None => error,
        },
    }
}

/// `[] (W)`: a word that was read as an operator.
fn might_be_name(error: Diagnostic, operator: &str) -> Diagnostic {
    error.with_help(format!(
        "`{operator}` is an operator; if a name of the model is meant, write it and what belongs to it in double quotes"
    ))
}

/// A token at the parser's place that cannot follow a complete operand.
pub(crate) fn expected_operator(parser: &Parser<'_>) -> Diagnostic {
    let (here, found) = (parser.span(parser.next, parser.next), parser.token_text(parser.next));
    let kind = parser.peek().unwrap_or(Kind::Other);
    let error =
        Diagnostic::error("expected-operator", format!("expected an operator, found {}", named(kind, found)))
            .at(here, "expected an operator or the end of the formula here");
    match kind {
        Kind::CloseBracket => unopened(parser, None),
        Kind::Other => help_with_other(parser, error),
        Kind::Open => error.with_help("if this is the argument of a name, leave no blank before the `(`"),
        Kind::Number if parser.tokens[parser.next - 1].kind == Kind::Number => {
            error.with_help("a number cannot be continued after a blank")
        }
        _ => help_with_word(parser, found, error),
    }
}

/// `p unitl q`, `p u q`, `g p`: a word that is almost an operator, here or just before.
fn help_with_word(parser: &Parser<'_>, found: &str, error: Diagnostic) -> Diagnostic {
    let before = parser.token_text(parser.next - 1);
    match (operator_like(found), operator_like(before)) {
        (Some(operator), _) | (None, Some(operator)) => {
            error.with_help(format!("did you mean the operator `{operator}`?"))
        }
        (None, None) => error.with_help(
            "two formulas need an operator between them; text with blanks can be one proposition in double quotes",
        ),
    }
}

/// The operator that a word was probably meant to be. A single letter is near everything, so it
/// must be the operator itself, in the wrong case.
fn operator_like(found: &str) -> Option<&'static str> {
    let words = || WORDS.iter().map(|&(word, _)| word);
    if word(found) != Kind::Name || !found.starts_with(char::is_alphabetic) {
        None
    } else if found.chars().count() == 1 {
        words().find(|word| word.eq_ignore_ascii_case(found))
    } else {
        suggest::nearest(found, words().filter(|word| word.len() > 1))
    }
}

fn help_with_other(parser: &Parser<'_>, error: Diagnostic) -> Diagnostic {
    match parser.token_text(parser.next) {
        "=" => error.with_help("equality is written `==`, implication `->` or `=>`"),
        "'" => error.with_help("a proposition is quoted by double quotes"),
        "{" | "}" => error.with_help("formulas are grouped by `(` and `)`"),
        ";" => error.with_help("a formula ends without `;`"),
        _ => error.with_help("a model expression that uses other symbols can be written in double quotes"),
    }
}

/// A place after `.`, `@` or `:` where no name follows.
pub(crate) fn expected_name(parser: &Parser<'_>) -> Diagnostic {
    let access = parser.next - 1;
    let text = parser.token_text(access);
    let message = match parser.peek() {
        None => format!("expected a name after `{text}`"),
        Some(kind) => {
            format!("expected a name after `{text}`, found {}", named(kind, parser.token_text(parser.next)))
        }
    };
    Diagnostic::error("expected-name", message)
        .at(parser.span(parser.next, parser.next), "expected a name here")
        .with_related(parser.span(access, access), format!("after this `{text}`"))
}

/// An opening bracket that is still open at the end.
pub(crate) fn unclosed(parser: &Parser<'_>, open: usize) -> Diagnostic {
    let bracket = parser.token_text(open);
    let end = parser.span(parser.tokens.len(), parser.tokens.len());
    Diagnostic::error("unclosed-bracket", format!("a `{bracket}` is never closed"))
        .at(parser.span(open, open), "opened here")
        .with_related(end, format!("expected `{}` before the end", closing(bracket)))
}

/// A closing bracket at the parser's place that does not fit the opening one, if there is one.
pub(crate) fn unopened(parser: &Parser<'_>, open: Option<usize>) -> Diagnostic {
    let bracket = parser.token_text(parser.next);
    let error = Diagnostic::error("unopened-bracket", format!("this `{bracket}` closes nothing"))
        .at(parser.span(parser.next, parser.next), "nothing to close here");
    let waiting = parser.pending.iter().rev().find(|pending| pending.what == Waiting::Parenthesis);
    match open.or(waiting.map(|pending| pending.token)) {
        Some(open) => {
            let expected = closing(parser.token_text(open));
            error.with_related(parser.span(open, open), format!("this one needs a `{expected}`"))
        }
        None => error,
    }
}

fn closing(bracket: &str) -> &'static str {
    if bracket == "[" { "]" } else { ")" }
}

/// `x + (p && q)`: the operator at `token` has a formula as an operand.
pub(crate) fn formula_as_term(parser: &Parser<'_>, token: usize, operand: Span) -> Diagnostic {
    let operator = parser.token_text(token);
    Diagnostic::error("formula-as-term", format!("`{operator}` takes values of the model, not formulas"))
        .at(operand, "this is a formula")
        .with_related(parser.span(token, token), "operand of this operator")
        .with_help("formulas are compared by `<->` and `^`; text in double quotes is a whole proposition")
}

/// `a < b < c`.
pub(crate) fn chained_comparison(parser: &Parser<'_>, first: usize, second: usize) -> Diagnostic {
    Diagnostic::error("chained-comparison", "comparisons cannot be chained")
        .at(parser.span(second, second), "second comparison")
        .with_related(parser.span(first, first), "first comparison")
        .with_help("write `a < b && b < c`, or put one comparison in parentheses")
}

/// `[] 3`.
pub(crate) fn number_as_formula(parser: &Parser<'_>, token: usize) -> Diagnostic {
    let number = parser.token_text(token);
    Diagnostic::error("number-as-formula", format!("the number {number} is not a formula"))
        .at(parser.span(token, token), "neither true nor false")
        .with_help("only 0 and 1 are formulas (false and true); compare the number with something")
}

fn named(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Prefix(_) | Kind::Infix(_) | Kind::Arithmetic(_) => format!("the operator `{text}`"),
        Kind::Constant(_) => format!("the constant `{text}`"),
        Kind::Number => format!("the number {text}"),
        Kind::Name => format!("the name `{text}`"),
        Kind::Quoted => format!("the proposition {text}"),
        _ => format!("`{text}`"),
    }
}
