//! Formulas of the model as formulas of linear temporal logic.

use ltl::{Formulas, Op, Prop};

use crate::program::{Expr, ExprKind, Formula, Program, TemporalOp, UnaryOp};
use crate::text;

impl Program {
    /// Makes a formula of the pool of one of the model, with its propositions and what they mean.
    /// A proposition's text is that of its expression, see [`text::expr`], so equal expressions are
    /// one proposition, and so are `p` and `!p`.
    ///
    /// ```
    /// use stubborn_promela::{Options, read};
    ///
    /// let text = "byte x; active proctype P() { x = 1 } ltl p { [] (x == 1 -> <> (x > 1 && x < 9)) }";
    /// let mut sources = base::SourceMap::new();
    /// let source = sources.add("model.pml", text.into()).unwrap();
    /// let (options, mut budget) = (Options::default(), base::Budget::unlimited());
    /// let mut loader = |_: &str| Err(String::new());
    /// let (program, _) = read(&mut sources, source, &options, &mut loader, &mut budget).unwrap();
    /// let mut formulas = ltl::Formulas::new();
    /// let (formula, propositions) = program.ltl(&program.formulas[0].formula, &mut formulas);
    /// assert_eq!(propositions.len(), 2);
    /// let text = formulas.display(formula, ltl::Spelling::Spin).to_string();
    /// assert_eq!(text, r#"[] ("x == 1" -> <> "x > 1 && x < 9")"#);
    /// ```
    pub fn ltl<'f>(
        &self,
        formula: &'f Formula,
        formulas: &mut Formulas,
    ) -> (ltl::Formula, Vec<(Prop, &'f Expr)>) {
        let mut propositions = Vec::new();
        let made = self.ltl_part(formula, formulas, &mut propositions);
        (made, propositions)
    }

    /// Recursion is as deep as the formula, which the parser limits.
    fn ltl_part<'f>(
        &self,
        formula: &'f Formula,
        formulas: &mut Formulas,
        propositions: &mut Vec<(Prop, &'f Expr)>,
    ) -> ltl::Formula {
        match formula {
            Formula::State(expr) => self.ltl_state(expr, formulas, propositions),
            Formula::Op(op, operands) => {
                let operands: Vec<ltl::Formula> =
                    operands.iter().map(|operand| self.ltl_part(operand, formulas, propositions)).collect();
                formulas.apply(ltl_op(*op), &operands)
            }
        }
    }

    /// An expression: a proposition, or its negation, so that `p` and `!p` are one.
    fn ltl_state<'f>(
        &self,
        expr: &'f Expr,
        formulas: &mut Formulas,
        propositions: &mut Vec<(Prop, &'f Expr)>,
    ) -> ltl::Formula {
        if let Some(value) = crate::eval::constant(expr) {
            return formulas.constant(value != 0);
        }
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let inner = self.ltl_state(inner, formulas, propositions);
                formulas.not(inner)
            }
            _ => {
                let prop = formulas.proposition(&text::expr(self, None, expr));
                if propositions.iter().all(|(known, _)| *known != prop) {
                    propositions.push((prop, expr));
                }
                formulas.prop(prop)
            }
        }
    }
}

fn ltl_op(op: TemporalOp) -> Op {
    match op {
        TemporalOp::Not => Op::Not,
        TemporalOp::And => Op::And,
        TemporalOp::Or => Op::Or,
        TemporalOp::Implies => Op::Implies,
        TemporalOp::Equivalent => Op::Equivalent,
        TemporalOp::Next => Op::Next,
        TemporalOp::Always => Op::Globally,
        TemporalOp::Eventually => Op::Finally,
        TemporalOp::Until => Op::Until,
        TemporalOp::WeakUntil => Op::WeakUntil,
        TemporalOp::Release => Op::Release,
    }
}
