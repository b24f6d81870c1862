//! What edges are in words: see [`crate::lower::tell`].

use std::sync::Arc;

use model::Stmt;

use super::super::expr::{Lowered, Scope};
use super::super::tell::{Inner, Inside, Print, Words};
use super::Coder;
use crate::flow::{Action, Edge, Flow, LocationId};
use crate::program::{self, ExprKind, Place, StmtKind, Type};

impl<'a> Coder<'a> {
    pub(super) fn plain_words(&self, process: usize, edge: &Edge<'a>) -> Words {
        let Edge { statement, span, ref text, .. } = *edge;
        Words { process, statement, span, text: text.clone(), print: None, sends: None, inside: None }
    }

    /// What an edge is in words.
    pub(super) fn words_of(&mut self, process: usize, edge: &Edge<'a>) -> Lowered<Words> {
        let mut words = self.plain_words(process, edge);
        match &edge.action {
            Action::DStep(flow) => words.inside = Some(self.inside(process, flow, flow.initial, None)?),
            Action::Stmt(stmt) => {
                let (format, args) = match &stmt.kind {
                    StmtKind::Print(format, args) => (format.clone(), &args[..]),
                    StmtKind::PrintM(arg) => ("%e".into(), std::slice::from_ref(arg)),
                    _ => return Ok(words),
                };
                let mut values = Vec::new();
                for arg in args {
                    let set = match &arg.kind {
                        ExprKind::Symbol(set, _) | ExprKind::Load(Place { ty: Type::Mtype(set), .. }) => *set,
                        _ => program::MtypeId::new(0),
                    };
                    values.push((self.lowering().expr(Scope::Process(process), arg)?, set));
                }
                words.print = Some(Print { format, values });
            }
            Action::Jump | Action::Else | Action::End => {}
        }
        Ok(words)
    }

    /// A d_step, statement by statement, from some location on.
    pub(super) fn inside(
        &mut self,
        process: usize,
        flow: &Flow<'a>,
        start: LocationId,
        first: Option<Vec<Stmt>>,
    ) -> Lowered<Arc<Inside>> {
        let mut locations = Vec::new();
        for location in &flow.locations {
            let mut inner = Vec::new();
            for edge in &location.edges {
                let possible = self.possible_inside(process, edge)?;
                let effect = self.d_step_edge(process, edge, false)?;
                let words = self.words_of(process, edge)?;
                inner.push(Inner { possible, effect, words, target: edge.target.index() });
            }
            locations.push(inner);
        }
        Ok(Arc::new(Inside { first, start: start.index(), locations }))
    }
}
