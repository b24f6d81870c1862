//! Formulas from the literature, with what Spot says about them, from the corpus beside the project.

mod common;

use base::Budget;
use std::path::PathBuf;

use common::{difference, formula, shown};
use stubborn_ltl::{Formulas, Spelling, negation_normal_form, simplify};

/// The texts of the corpus' formula files, or nothing (said plainly) where the corpus is missing.
fn read(names: &[&str]) -> Option<Vec<String>> {
    let folder = PathBuf::from(generators::corpus::FOLDER);
    if !folder.is_dir() {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("SKIPPED: the corpus {} does not exist", folder.display());
        }
        return None;
    }
    Some(names.iter().map(|name| std::fs::read_to_string(folder.join(name)).expect(name)).collect())
}

#[test]
fn every_formula_parses_prints_and_simplifies() {
    let budget = &mut Budget::unlimited();
    let names = ["dac", "eh", "families", "hkrss", "p", "random-nox", "random", "sb"];
    let files: Vec<String> = names.iter().map(|name| format!("formulas/{name}.ltl")).collect();
    let Some(texts) = read(&files.iter().map(String::as_str).collect::<Vec<_>>()) else { return };
    let mut n_formulas = 0;
    let (mut size_before, mut size_after) = (0, 0);
    for text in texts.iter().flat_map(|text| text.lines()) {
        let mut formulas = Formulas::new();
        let before = formula(&mut formulas, text);
        for spelling in [Spelling::Spot, Spelling::Words] {
            let printed = formulas.display(before, spelling).to_string();
            assert_eq!(formula(&mut formulas, &printed), before, "{text} as {printed}");
        }
        let propositions = formulas.propositions(before);
        let simple = simplify(&mut formulas, before, budget).unwrap();
        assert_eq!(difference(&formulas, before, simple, &propositions), None, "{text}");
        let normal = negation_normal_form(&mut formulas, before, budget).unwrap();
        let simple = simplify(&mut formulas, normal, budget).unwrap();
        assert_eq!(difference(&formulas, before, simple, &propositions), None, "{text}");
        assert_eq!(simplify(&mut formulas, simple, budget).unwrap(), simple, "{text}");
        size_before += formulas.size(normal);
        size_after += formulas.size(simple);
        n_formulas += 1;
    }
    assert!(n_formulas >= 900, "{n_formulas}");
    assert!(size_after * 10 < size_before * 9, "simplification from {size_before} to {size_after} only");
}

/// Spot's column is the exact class, ours the one that the shape shows: ours is never smaller.
#[test]
fn classes_fit_the_exact_ones() {
    let Some(rows) = generators::corpus::read() else { return };
    let (mut n_shown, mut n_lines) = (0, 0);
    for row in &rows {
        let [text, class, stutter_invariant] =
            ["formula", "class", "stutter_invariant"].map(|name| &*row[name]);
        if class == "timeout" {
            continue; // Spot did not find the exact class in time.
        }
        let mut formulas = Formulas::new();
        let formula = formula(&mut formulas, text);
        let classes = formulas.classes(formula);
        assert!(!classes.is_next_free() || stutter_invariant != "no", "{text}");
        let simple = simplify(&mut formulas, formula, &mut Budget::unlimited()).unwrap();
        for classes in [classes, formulas.classes(simple)] {
            let promised = [(classes.is_safety(), "BS"), (classes.is_guarantee(), "BG")];
            for (is_shown, contained) in promised.into_iter().chain([(classes.is_obligation(), "BSGO")]) {
                assert!(!is_shown || contained.contains(class), "{text}: in {contained}, exactly {class}");
            }
        }
        n_shown += usize::from(formulas.classes(simple).is_obligation());
        n_lines += usize::from("BSGO".contains(class));
        assert!(formulas.size(simple) <= formulas.size(formula), "{}", shown(&formulas, simple));
    }
    assert!(n_lines > 300 && n_shown * 10 > n_lines * 8, "{n_shown} of {n_lines} obligations are shown");
}
