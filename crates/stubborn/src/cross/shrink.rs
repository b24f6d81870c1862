//! Makes a case small on which two methods do not agree: parts of the text are left out as long as they still disagree.
//!
//! Delta debugging [zeller.02.tse] on a text that nobody has to understand: first lines, then shorter pieces; what does not
//! parse any more does not disagree. Of markup (nets), elements are left out first, each with those that refer to it; in the end,
//! numbers get smaller. The formula gets smaller by its own structure: an operand instead of the whole.

use std::ops::Range;

use ltl::{Formula, Formulas, Spelling};
use rustc_hash::FxHashMap;

/// Leaves out pieces of a text, as long as `still` says that the rest will do. `still` may end it by saying no.
pub(super) fn text(whole: &str, mut still: impl FnMut(&str) -> bool) -> String {
    let mut text = whole.to_owned();
    let elements = elements(whole);
    if !elements.is_empty() {
        let all = (0..elements.len()).collect();
        let kept = fewest(all, |kept: &[usize]| still(&without_others(whole, &elements, kept)));
        text = without_others(whole, &elements, &kept);
    }
    for separators in [&['\n'][..], &[';', '}', '{', '\n'], &[';', '|', ',', ' ', '\n']] {
        let pieces = text.split_inclusive(separators).map(str::to_owned).collect();
        text = fewest(pieces, |pieces: &[String]| still(&pieces.concat())).concat();
    }
    smaller_numbers(text, still)
}

/// Leaves out pieces, many at once first.
fn fewest<T: Clone>(mut pieces: Vec<T>, mut still: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut size = pieces.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        let mut has_less = false;
        while at < pieces.len() {
            let end = (at + size).min(pieces.len());
            let rest = [&pieces[..at], &pieces[end..]].concat();
            if still(&rest) {
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
    pieces
}

/// The elements of a text that is markup, each with those that refer to it by its `id`. Comments and the like may
/// mislead it, which costs nothing but a larger case.
fn elements(text: &str) -> Vec<Vec<Range<usize>>> {
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        return Vec::new();
    }
    let mut found: Vec<(Range<usize>, &str)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (start, _) in text.match_indices('<') {
        let Some(length) = text[start..].find('>') else { break };
        let (tag, end) = (&text[start + 1..start + length], start + length + 1);
        if tag.starts_with('/') {
            open.pop().into_iter().for_each(|number| found[number].0.end = end);
        } else if !tag.starts_with(['?', '!']) {
            if !tag.ends_with('/') {
                open.push(found.len());
            }
            found.push((start..end, tag));
        }
    }
    let mut naming: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (number, (_, tag)) in found.iter().enumerate() {
        let others = values(tag).filter(|(name, _)| *name != "id");
        others.for_each(|(_, value)| naming.entry(value).or_default().push(number));
    }
    let with_references = |(range, tag): &(Range<usize>, &str)| {
        let id = values(tag).find(|(name, _)| *name == "id").map(|(_, id)| id);
        let others = id.and_then(|id| naming.get(id)).into_iter().flatten();
        std::iter::once(range.clone()).chain(others.map(|&number| found[number].0.clone())).collect()
    };
    found.iter().map(with_references).collect()
}

/// The names and values of the attributes of a tag.
fn values(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    tag.split_whitespace().filter_map(|attribute| {
        let (name, value) = attribute.split_once('=')?;
        Some((name, value.trim_end_matches('/').trim_matches(['"', '\''])))
    })
}

/// The text without the elements that are not kept.
fn without_others(text: &str, elements: &[Vec<Range<usize>>], kept: &[usize]) -> String {
    let mut left_out: Vec<Range<usize>> = Vec::new();
    let mut kept = kept.iter().peekable();
    for (number, ranges) in elements.iter().enumerate() {
        if kept.next_if_eq(&&number).is_none() {
            left_out.extend(ranges.iter().cloned());
        }
    }
    left_out.sort_by_key(|range| range.start);
    let (mut rest, mut at) = (String::new(), 0);
    for range in left_out {
        rest.push_str(text.get(at..range.start).unwrap_or_default());
        at = at.max(range.end);
    }
    rest + &text[at..]
}

/// Makes numbers of a text smaller.
fn smaller_numbers(mut text: String, mut still: impl FnMut(&str) -> bool) -> String {
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|found| at + found) {
        let length = text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - start);
        let number = text[start..start + length].parse().unwrap_or(0_u64);
        let mut smaller = [0, 1, number / 2, number.saturating_sub(1)].into_iter().filter(|&n| n < number);
        let less = smaller.find_map(|smaller| {
            let less = format!("{}{smaller}{}", &text[..start], &text[start + length..]);
            still(&less).then_some(less)
        });
        match less {
            // Once more, unless it is as small as it gets.
            Some(less) => text = less,
            None => at = start + length,
        }
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

    #[test]
    fn of_markup_elements_are_left_out_with_what_refers_to_them() {
        let place =
            |n: u32| format!("<place id=\"p{n}\">\n <name>\n  <text>of {n}</text>\n </name>\n</place>\n");
        let arc =
            |n: u32| format!("<arc id=\"a{n}\" source=\"p{n}\" target=\"t\"><in>{}</in></arc>\n", 40 + n);
        let all: String = (0..20).map(|n| place(n) + &arc(n)).collect();
        let net = format!("<?xml version=\"1.0\"?>\n<net><transition id=\"t\"/>\n{all}</net>\n");
        // As a reader of nets does: there is nothing without its ends.
        let still = |text: &str| {
            let names = |name: &str| text.contains(&format!("id=\"{name}\""));
            let is_whole =
                (0..20).all(|n| !text.contains(&format!("source=\"p{n}\"")) || names(&format!("p{n}")));
            let is_balanced = ["net", "place", "name", "text", "arc", "in"].iter().all(|tag| {
                let opened = [" ", ">"].map(|end| text.matches(&format!("<{tag}{end}")).count());
                opened.iter().sum::<usize>() == text.matches(&format!("</{tag}>")).count()
            });
            is_whole && is_balanced && names("t") && text.contains("source=\"p7\"") && text.contains("<net>")
        };
        assert!(still(&net));
        let less = text(&net, still);
        let place = "<place id=\"p7\">\n</place>\n<arc source=\"p7\" target=\"t\"></arc>\n";
        assert_eq!(less, format!("<net><transition id=\"t\"/>\n{place}</net>\n"));
    }

    #[test]
    fn numbers_get_smaller() {
        let less = text("a 117 b 4", |text| {
            let numbers: Vec<u32> = text.split(' ').filter_map(|piece| piece.parse().ok()).collect();
            matches!(numbers[..], [a, b] if a >= 13 && b > 0)
        });
        assert_eq!(less, "13 1");
    }
}
