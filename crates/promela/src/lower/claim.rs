//! Never claims as automata: of runs that the claim forbids.
//!
//! A claim moves with every step of the system, the first move before the first step. Locations are
//! states; an edge can be taken where its condition is true. A run is forbidden if the claim is at accept
//! labels again and again, reaches its end, or an assertion in it fails.

use automata::{AnyAutomaton, Label, Marks, State, Tgba};
use language::Claim;
use ltl::{Formulas, Prop};
use model::ExprId;

use super::expr::{Lowered, Lowering, Scope, not_supported};
use crate::flow::{Action, Edge, Flow};
use crate::program::{Expr, StmtKind};
use crate::text;

/// Makes the automaton of a claim.
pub(crate) fn read<'a>(
    lowering: &mut Lowering<'a>,
    formulas: &mut Formulas,
    flow: &Flow<'a>,
) -> Lowered<Claim> {
    let mut reader = Reader { lowering, formulas, propositions: Vec::new(), automaton: Tgba::new(1) };
    let states: Vec<State> = flow.locations.iter().map(|_| reader.automaton.add_state()).collect();
    let lost = reader.automaton.add_state();
    let all = reader.automaton.all_marks();
    reader.automaton.add_edge(lost, Label::TRUE, all, lost);
    for (location, &state) in flow.locations.iter().zip(&states) {
        let marks = if location.is_accept { all } else { Marks::default() };
        let mut possible = Label::FALSE;
        for edge in &location.edges {
            let label = match edge.action {
                Action::Else => reader.automaton.labels_mut().not(possible),
                _ => reader.label(edge)?,
            };
            possible = reader.automaton.labels_mut().or(possible, label);
            if matches!(edge.action, Action::End) {
                reader.automaton.add_edge(state, label, all, lost);
                continue;
            }
            let mut kept = label;
            if let Some(assertion) = assertion(edge) {
                kept = reader.condition(assertion)?;
                let broken = reader.automaton.labels_mut().not(kept);
                reader.automaton.add_edge(state, broken, all, lost);
            }
            reader.automaton.add_edge(state, kept, marks, states[edge.target.index()]);
        }
    }
    reader.automaton.set_initial(states[flow.initial.index()]);
    Ok(Claim { automaton: AnyAutomaton::Tgba(reader.automaton), propositions: reader.propositions })
}

fn assertion<'a>(edge: &Edge<'a>) -> Option<&'a Expr> {
    match &edge.action {
        Action::Stmt(stmt) => match &stmt.kind {
            StmtKind::Assert(expr) => Some(expr),
            _ => None,
        },
        _ => None,
    }
}

struct Reader<'l, 'a> {
    lowering: &'l mut Lowering<'a>,
    formulas: &'l mut Formulas,
    propositions: Vec<(Prop, ExprId)>,
    automaton: Tgba,
}

impl<'a> Reader<'_, 'a> {
    /// When an edge can be taken.
    fn label(&mut self, edge: &Edge<'a>) -> Lowered<Label> {
        match &edge.action {
            Action::Jump | Action::End | Action::Else => Ok(Label::TRUE),
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Expr(expr) => self.condition(expr),
                StmtKind::Assert(_) | StmtKind::Print(..) | StmtKind::PrintM(_) => Ok(Label::TRUE),
                _ => Err(not_supported(stmt.span, "a statement with an effect in a never claim")),
            },
            Action::DStep(_) => Err(not_supported(edge.span, "`d_step` in a never claim")),
        }
    }

    fn condition(&mut self, expr: &Expr) -> Lowered<Label> {
        let lowered = self.lowering.expr(Scope::Global, expr)?;
        if let Some(value) = self.lowering.constant(lowered) {
            return Ok(if value == 0 { Label::FALSE } else { Label::TRUE });
        }
        let known = self.propositions.iter().find(|(_, known)| *known == lowered);
        let prop = match known {
            Some(&(prop, _)) => prop,
            None => {
                let prop = self.formulas.proposition(&text::expr(self.lowering.program, None, expr));
                self.propositions.push((prop, lowered));
                self.automaton.declare([prop]);
                prop
            }
        };
        Ok(self.automaton.labels_mut().prop(prop))
    }
}
