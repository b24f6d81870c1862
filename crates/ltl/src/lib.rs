//! Formulas of linear temporal logic: parsing, printing, simplification, syntactic classes, and
//! the reference semantics that all of Stubborn is judged by.
//!
//! This crate knows nothing of models or automata: a proposition is a text and a place, which a
//! front end resolves.
//!
//! ```
//! use stubborn_ltl::{Formulas, Lasso, Spelling, Valuation, parse, satisfies, simplify};
//!
//! // Formulas live in a pool; Spin's, Spot's and word spellings may be mixed.
//! let mut formulas = Formulas::new();
//! let mut sources = base::SourceMap::new();
//! let text = "[] (Phil[0]@left -> <> Phil[0]@eat)";
//! let source = sources.add("--ltl", text.into()).unwrap();
//! let fed = parse(&mut formulas, text, source, 0).unwrap();
//!
//! // Model expressions became propositions, with their places.
//! let [(left, span), (eat, _)] = fed.propositions[..] else { panic!() };
//! assert_eq!(formulas.text(left), "Phil[0]@left");
//! assert_eq!(sources.slice(span), "Phil[0]@left");
//!
//! // The formula holds on the word {left} {eat} {} {} {} …, but not on {left} {} {} {} …
//! let word = |letters: &[Option<stubborn_ltl::Prop>]| {
//!     let prefix = letters.iter().map(|letter| letter.iter().copied().collect()).collect();
//!     Lasso::new(prefix, vec![Valuation::new()]).unwrap()
//! };
//! assert!(satisfies(&formulas, fed.formula, &word(&[Some(left), Some(eat)])));
//! assert!(!satisfies(&formulas, fed.formula, &word(&[Some(left)])));
//!
//! // A model checker looks for a run that satisfies the negation.
//! let negation = formulas.not(fed.formula);
//! let budget = &mut base::Budget::unlimited();
//! let negation = stubborn_ltl::negation_normal_form(&mut formulas, negation, budget).unwrap();
//! let negation = simplify(&mut formulas, negation, budget).unwrap();
//! assert_eq!(
//!     formulas.display(negation, Spelling::Spot).to_string(),
//!     r#"F ("Phil[0]@left" & G !"Phil[0]@eat")"#
//! );
//! assert!(formulas.classes(negation).is_next_free());
//!
//! // Mistakes are reported with their place.
//! let error = parse(&mut formulas, "[] (p -> <> q", source, 0).unwrap_err();
//! assert_eq!(error.message, "a `(` is never closed");
//! ```

mod build;
pub mod classes;
mod errors;
pub mod formula;
mod implication;
pub mod lasso;
mod lexer;
mod nnf;
mod operand;
pub mod parse;
mod parser;
pub mod print;
pub mod semantics;
pub mod simplify;
mod syntax;

pub use classes::Classes;
pub use formula::{Formula, Formulas, Node, Op, Prop};
pub use implication::syntactically_implies;
pub use lasso::{Lasso, Valuation};
pub use nnf::negation_normal_form;
pub use parse::{Parsed, parse};
pub use print::Spelling;
pub use semantics::satisfies;
pub use simplify::simplify;
