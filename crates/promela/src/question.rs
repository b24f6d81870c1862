//! Questions about a model, in its own words: an expression, or a formula as in an `ltl` block. They are read
//! as if they stood at the end of the text, so that its macros, its symbolic names, its labels and the
//! variables of its processes (`P@label`, `P:x`) mean what they mean there. A question is one expression or
//! one formula, and nothing may stand behind it.

use base::{Diagnostic, Diagnostics, SourceId};

use crate::ast;
use crate::cost::paid;
use crate::errors::{Fail, Sink};
use crate::options::Limits;
use crate::parse::{self, Kinds};
use crate::preprocess::Macros;
use crate::program::{Expr, Formula};
use crate::resolve::{self, Names};

/// What a text may refer to at the end of a model.
#[derive(Clone, Debug)]
pub struct Questions {
    pub(crate) macros: Macros,
    pub(crate) kinds: Kinds,
    pub(crate) names: Names,
    pub(crate) limits: Limits,
    /// What should be said about what was asked.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Questions {
    /// The expression that a text stands for; its first byte is at `offset` in its source.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn expression(&mut self, text: &str, source: SourceId, offset: usize) -> Result<Expr, Diagnostics> {
        match self.read(text, source, offset, false)? {
            Formula::State(expr) => Ok(expr),
            // The parser has let no operator pass that makes one.
            Formula::Op(..) => Err(Diagnostics::new()),
        }
    }

    /// The formula that a text stands for, as between the braces of `ltl { … }`.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn formula(&mut self, text: &str, source: SourceId, offset: usize) -> Result<Formula, Diagnostics> {
        self.read(text, source, offset, true)
    }

    fn read(
        &mut self,
        text: &str,
        source: SourceId,
        offset: usize,
        may_be_temporal: bool,
    ) -> Result<Formula, Diagnostics> {
        let mut sink = Sink::default();
        match self.resolved(text, source, offset, may_be_temporal, &mut sink) {
            Ok(formula) if !sink.has_errors() => {
                self.warnings.extend(sink.finish().iter().cloned());
                Ok(formula)
            }
            Ok(_) => Err(sink.finish()),
            Err(error) => {
                sink.push(*error);
                Err(sink.finish())
            }
        }
    }

    fn resolved(
        &mut self,
        text: &str,
        source: SourceId,
        offset: usize,
        may_be_temporal: bool,
        sink: &mut Sink,
    ) -> Result<Formula, Fail> {
        let Questions { macros, kinds, names, limits, .. } = self;
        let input = macros.question(text, source, offset)?;
        paid(|cost| {
            let formula: ast::Expr = parse::question(input, kinds, limits, sink, cost, may_be_temporal)?;
            resolve::question(&formula, names, limits, sink, cost)
        })
    }
}
