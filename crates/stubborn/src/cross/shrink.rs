//! Makes a case small on which two methods do not agree: parts of the text are left out as long as they still disagree.
//!
//! Delta debugging [zeller.02.tse] on a text that nobody has to understand: first lines, then shorter pieces; what does not
//! parse any more does not disagree. The formula gets smaller by its own structure: an operand instead of the whole.

use ltl::{Formula, Formulas, Spelling};

/// Leaves out pieces of a text, as long as `still` says that the rest will do. `still` may end it by saying no.
pub(super) fn text(whole: &str, mut still: impl FnMut(&str) -> bool) -> String {
    let mut text = whole.to_owned();
    for separators in [&['\n'][..], &[';', '}', '{', '\n'], &[';', '|', ',', ' ', '\n']] {
        let mut pieces: Vec<String> = text.split_inclusive(separators).map(str::to_owned).collect();
        let mut size = pieces.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            let mut has_less = false;
            while at < pieces.len() {
                let end = (at + size).min(pieces.len());
                let rest: Vec<String> = pieces[..at].iter().chain(&pieces[end..]).cloned().collect();
                if still(&rest.concat()) {
                    (pieces, has_less) = (rest, true);
                } else {
                    at += size;
                }
            }
            if size == 1 && !has_less {
                break;
            }
            size = if has_less { size.min(pieces.len()) } else { size / 2 };
        }
        text = pieces.concat();
    }
    text
}

/// A smaller formula than this text, as long as `still` says that it will do.
pub(super) fn formula(whole: &str, mut still: impl FnMut(&str) -> bool) -> String {
    let mut best = whole.to_owned();
    'smaller: loop {
        let mut formulas = Formulas::new();
        let Ok(parsed) = ltl::parse(&mut formulas, &best, base::SourceId::new(0), 0) else { return best };
        for smaller in smaller(&mut formulas, parsed.formula) {
            let text = formulas.display(smaller, Spelling::Spin).to_string();
            if text.len() < best.len() && still(&text) {
                best = text;
                continue 'smaller;
            }
        }
        return best;
    }
}

/// Formulas with one part less: an operand, or a constant, instead of some subformula.
fn smaller(formulas: &mut Formulas, formula: Formula) -> Vec<Formula> {
    let mut found = Vec::new();
    for part in formulas.subformulas(formula).into_iter().rev() {
        let mut others = formulas.operands(part).to_vec();
        others.extend([Formula::TRUE, Formula::FALSE].into_iter().filter(|_| !part.is_constant()));
        found.extend(others.into_iter().map(|other| formulas.replace(formula, part, other)));
    }
    found.retain(|&smaller| smaller != formula);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_left() {
        let whole = "one;\ntwo { three; four; five }\nsix;\nseven, eight\n";
        let less = text(whole, |text| text.contains("four") && text.contains("eight"));
        assert!(less.len() < 14, "{less:?}");
        let less = formula("[] (p -> (q U (r && <> s)))", |text| text.contains("<>"));
        assert_eq!(less, "<> s");
    }
}
