//! Lasso words as text: `a; !a & b; cycle{b; c}`.
//!
//! Each letter is a formula without temporal operators; the cycle stands last, in `cycle{…}`. A letter
//! stands for one valuation that satisfies it, in which a proposition holds only if it must; so `a` means
//! that `a` holds and nothing else does.

use base::{Budget, Diagnostic, SourceId, Span};
use ltl::{Formulas, Lasso, Prop, Spelling, Valuation};

use crate::label::{Labels, MAX_VARIABLES};
use crate::never::propositional;

/// Reads a word.
///
/// ```
/// # use stubborn_automata::word;
/// let mut formulas = ltl::Formulas::new();
/// let lasso = word::parse(&mut formulas, "a; !a & b; cycle{b; 1}", base::SourceId::new(0)).unwrap();
/// let [a, b] = ["a", "b"].map(|name| formulas.proposition(name));
/// assert_eq!(lasso.prefix(), [[a].into_iter().collect(), [b].into_iter().collect()]);
/// assert_eq!(word::show(&formulas, &lasso, &[a, b]), "a & !b; !a & b; cycle{!a & b; !a & !b}");
/// assert!(word::parse(&mut formulas, "a; b", base::SourceId::new(0)).is_err());
/// ```
///
/// # Errors
/// The first mistake, with its place.
pub fn parse(formulas: &mut Formulas, text: &str, source: SourceId) -> Result<Lasso, Diagnostic> {
    let fail = |start: usize, end: usize, message: &str| {
        Diagnostic::error("word", message).at(Span::new(source, start, end), "")
    };
    let trimmed = text.trim_end();
    let end = trimmed.len();
    let Some(open) = trimmed.find("cycle{") else {
        return Err(fail(end, end, "a word ends with its cycle, as in `a; b; cycle{c; d}`"));
    };
    let Some(inner) = trimmed.ends_with('}').then(|| open + "cycle{".len()..end - 1) else {
        return Err(fail(end, end, "the word must end with the `}` of its cycle"));
    };
    let before = trimmed[..open].trim_end();
    let prefix_end = match before.strip_suffix(';') {
        Some(prefix) => prefix.len(),
        None if before.is_empty() => 0,
        None => return Err(fail(open, open, "expected `;` before `cycle`")),
    };
    let prefix = if before.is_empty() { vec![] } else { letters(formulas, &text[..prefix_end], source, 0)? };
    let cycle = letters(formulas, &text[inner.clone()], source, inner.start)?;
    Lasso::new(prefix, cycle).ok_or_else(|| fail(open, end, "the cycle is empty"))
}

/// Letters separated by `;`.
fn letters(
    formulas: &mut Formulas,
    text: &str,
    source: SourceId,
    offset: usize,
) -> Result<Vec<Valuation>, Diagnostic> {
    let mut found = vec![];
    let mut start = 0;
    for part in text.split(';') {
        found.push(letter(formulas, part, source, offset + start)?);
        start += part.len() + 1;
    }
    Ok(found)
}

fn letter(
    formulas: &mut Formulas,
    text: &str,
    source: SourceId,
    offset: usize,
) -> Result<Valuation, Diagnostic> {
    let parsed = ltl::parse(formulas, text, source, offset)?;
    let span = Span::new(source, offset, offset + text.len());
    let fail = |message: &str| Diagnostic::error("word", message).at(span, "");
    if !formulas.classes(parsed.formula).is_propositional() {
        return Err(fail("a letter cannot contain temporal operators"));
    }
    if formulas.subformulas(parsed.formula).len() > MAX_VARIABLES {
        return Err(fail("this letter is too large"));
    }
    let mut labels = Labels::with_limit(1_000_000);
    // A pool that is bounded ends by itself.
    let label = propositional(formulas, &mut labels, parsed.formula, &mut Budget::unlimited());
    let Some(label) = label.ok().filter(|_| !labels.is_exhausted()) else {
        return Err(fail("this letter is too large"));
    };
    labels.pick(label).ok_or_else(|| fail("no valuation satisfies this letter"))
}

/// The word as text: each letter says which of these propositions hold and which do not.
pub fn show(formulas: &Formulas, lasso: &Lasso, propositions: &[Prop]) -> String {
    let name = |prop: Prop| -> String {
        // Printed as a formula, so that texts which are no names get their quotes.
        let mut pool = formulas.clone();
        let atom = pool.prop(prop);
        pool.display(atom, Spelling::Spot).to_string()
    };
    let names: Vec<String> = propositions.iter().map(|&prop| name(prop)).collect();
    let letter = |valuation: &Valuation| {
        let literals = propositions.iter().zip(&names);
        let literals = literals.map(|(&prop, name)| match valuation.holds(prop) {
            true => name.clone(),
            false => format!("!{name}"),
        });
        let text = literals.collect::<Vec<_>>().join(" & ");
        if text.is_empty() { "1".to_owned() } else { text }
    };
    let list = |letters: &[Valuation]| letters.iter().map(letter).collect::<Vec<_>>();
    let cycle = format!("cycle{{{}}}", list(lasso.cycle()).join("; "));
    list(lasso.prefix()).into_iter().chain([cycle]).collect::<Vec<_>>().join("; ")
}
