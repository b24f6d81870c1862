//! Front end for Promela: from a text to an action system, and back to the words of the text.
//!
//! [`read`] turns a text into a [`Program`], in which every name is resolved and every constant is
//! known, or into everything that is wrong with it. [`flow::flow`] turns the body of a proctype into
//! a graph of locations and edges, the same that Spin has. [`lower::Code`] is the action system of a program,
//! and [`Model`] all of it, as other parts of the house know it ([`LANGUAGE`]).
//!
//! The language is that of the manual of Spin 6.5, without embedded C. Texts are read by whoever
//! has files: this crate gets a [`Loader`] for `#include`.
//!
//! ```
//! use stubborn_promela::{Options, flow, program::ProctypeId, read};
//!
//! let text = "
//!     byte x;
//!     active proctype P() {
//!         do
//!         :: x < 3 -> x++
//!         :: else -> break
//!         od
//!     }";
//! let mut sources = base::SourceMap::new();
//! let source = sources.add("model.pml", text.into()).unwrap();
//! let (options, mut budget) = (Options::default(), base::Budget::unlimited());
//! let mut loader = |_: &str| Err("no files here".into());
//! let (program, _) = read(&mut sources, source, &options, &mut loader, &mut budget).unwrap();
//! assert_eq!(&*program.globals[0].name, "x");
//!
//! // The loop is one location, `x++` another, and the end a third.
//! let flow = flow::flow(&program, ProctypeId::new(0)).unwrap();
//! assert_eq!(flow.locations.len(), 3);
//! let edges = &flow.location(flow.initial).edges;
//! assert_eq!(edges.iter().map(|edge| &*edge.text).collect::<Vec<_>>(), ["x < 3", "else"]);
//! ```
//!
//! | module | is |
//! |---|---|
//! | [`options`] | what the caller may choose, and how large a model may be |
//! | `preprocess` | macros, conditionals, included files |
//! | `lexer`, `words` | tokens and keywords |
//! | `parse`, `ast` | the syntax; inlines are expanded here |
//! | `resolve` | names and types |
//! | [`program`] | the checked program |
//! | [`flow`] | control flow as a graph |
//! | [`eval`], [`text`] | constants, and expressions as text |
//! | `formula` | `ltl` formulas for the crate `ltl` |
//! | `question` | expressions and formulas that are not in the text |
//! | [`lower`] | the action system of a program, and its runs in words |
//! | `discover` | which processes a model starts |
//! | [`model`](mod@model) | the model, as all languages have it |
//! | `cost` | the budget, shared by many hands |

mod ast;
mod cost;
mod discover;
mod errors;
pub mod eval;
pub mod flow;
mod formula;
mod lexer;
pub mod lower;
pub mod model;
pub mod options;
mod outline;
mod parse;
mod preprocess;
pub mod program;
mod question;
mod resolve;
pub mod text;
mod words;

use base::{Budget, SourceId, SourceMap};
use language::Trouble;

pub use model::{LANGUAGE, Model};
pub use options::{Limits, Options};
pub use preprocess::Loader;
pub use program::Program;
pub use question::Questions;

/// Reads a model, and what questions about it may refer to.
///
/// # Errors
/// Everything that is wrong with it, each with its place; or the budget is spent.
pub fn read(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Result<(Program, Questions), Trouble> {
    cost::shared(budget, |cost| {
        let left = cost.left();
        let read = read_within(sources, source, options, loader, cost)?;
        // The tokens and the syntax tree are gone.
        cost.release((left - cost.left()) / 4 * 3);
        Ok(read)
    })
}

fn read_within(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
    cost: &dyn cost::Cost,
) -> Result<(Program, Questions), Trouble> {
    let mut sink = errors::Sink::default();
    let (tokens, macros) = preprocess::preprocess(sources, source, options, loader, &mut sink, cost);
    sink.limit()?;
    if sink.has_errors() {
        return Err(sink.finish().into());
    }
    let (model, kinds) = parse::model(tokens, sources, &options.limits, &mut sink, cost);
    let resolved = resolve::resolve(&model, &options.limits, &mut sink, cost);
    sink.limit()?;
    if let Some((program, _)) = &resolved {
        if let (Some(span), false) = (program.priorities, program.heeds_priorities()) {
            let message = "priorities are ignored, since there are rendezvous channels";
            let help = "so it is in Spin, where they can only be used together by `spin -o6`";
            sink.push(base::Diagnostic::warning("not-checked", message).at(span, "").with_help(help));
        }
        for index in 0..program.proctypes.len() {
            let left = cost.left();
            match flow::flow_within(program, program::ProctypeId::new(index), cost) {
                Err(Trouble::Wrong(errors)) => errors.iter().for_each(|error| sink.push(error.clone())),
                Err(Trouble::Limit(limit)) => return Err(limit.into()),
                Ok(_) => cost.release(left - cost.left()),
            }
        }
    }
    match resolved {
        Some((program, names)) if !sink.has_errors() => {
            let program = Program { warnings: sink.finish(), ..program };
            Ok((program, Questions { macros, kinds, names, limits: options.limits, warnings: Vec::new() }))
        }
        _ => Err(sink.finish().into()),
    }
}
