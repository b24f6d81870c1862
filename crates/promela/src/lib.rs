//! Front end for Promela: preprocessing, parsing, names and types, control flow.
//!
//! [`read`] turns a text into a [`Program`], in which every name is resolved and every constant is
//! known, or into everything that is wrong with it. [`flow::flow`] turns the body of a proctype into
//! a graph of locations and edges, the same that Spin has.
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
//! let program = read(&mut sources, source, &Options::default(), &mut |_| Err("no files here".into())).unwrap();
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

mod ast;
mod errors;
pub mod eval;
pub mod flow;
mod formula;
mod lexer;
pub mod lower;
pub mod model;
pub mod options;
mod parse;
mod preprocess;
pub mod program;
mod resolve;
pub mod text;
mod words;

use base::{Diagnostics, SourceId, SourceMap};

pub use model::Model;
pub use options::{Limits, Options};
pub use preprocess::Loader;
pub use program::Program;

/// Reads a model.
///
/// # Errors
/// Everything that is wrong with it, each with its place.
pub fn read(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
) -> Result<Program, Diagnostics> {
    let mut sink = errors::Sink::default();
    let tokens = preprocess::preprocess(sources, source, options, loader, &mut sink);
    if sink.has_errors() {
        return Err(sink.finish());
    }
    let model = parse::model(tokens, sources, &options.limits, &mut sink);
    let program = resolve::resolve(&model, &options.limits, &mut sink);
    if let Some(program) = &program {
        if let (Some(span), false) = (program.priorities, program.heeds_priorities()) {
            let message = "priorities are ignored, since there are rendezvous channels";
            let help = "so it is in Spin, where they can only be used together by `spin -o6`";
            sink.push(base::Diagnostic::warning("not-checked", message).at(span, "").with_help(help));
        }
        for index in 0..program.proctypes.len() {
            if let Err(error) = flow::flow(program, program::ProctypeId::new(index)) {
                sink.push(error);
            }
        }
    }
    match program {
        Some(program) if !sink.has_errors() => Ok(Program { warnings: sink.finish(), ..program }),
        _ => Err(sink.finish()),
    }
}
