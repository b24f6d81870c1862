//! Which actions can help to make an expression true, from a state where it is false.
//!
//! A search for a state where an expression is true needs no more of a stubborn set than these: as long
//! as none of them happens, the expression stays false, so one of them is on the way to every such state.
//! (*Up-sets* of Kristensen, Schmidt and Valmari, *Question-guided stubborn set methods for state
//! properties* (FMSD 2006) [kristensen.06.fmsd]; *interesting transitions* of Bønneland, Jensen, Larsen,
//! Muñiz and Srba.) They depend on the state: of a conjunction, one false part suffices; a sum that is
//! too small must grow, so who makes it smaller does not matter.
//!
//! Unlike visibility this is no relation between runs and words, and good for single states alone:
//! formulas about runs must not use it.

use base::{Budget, Limit};
use model::relations::Change;
use model::{ActionId, ActionSystem, BinaryOp, Expr, ExprId, Relations, UnaryOp, VarId};

/// An expression, with who changes its parts in which direction.
#[derive(Clone, Debug)]
pub struct Attractor {
    pub(crate) root: Node,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Constant(bool),
    All(Vec<Node>),
    Some(Vec<Node>),
    /// A comparison of a sum with zero.
    Sum {
        terms: Vec<(VarId, i64)>,
        constant: i64,
        test: Test,
        /// The actions that may make the sum greater; smaller.
        up: Vec<u32>,
        down: Vec<u32>,
    },
    /// Anything else: the actions that may change what it looks at.
    Opaque(Vec<u32>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    NotNegative,
    Zero,
    NotZero,
}

/// No part of an expression is further away than this.
const FAR: u64 = 1 << 20;
/// Deeper expressions are not looked into.
const MAX_DEPTH: usize = 200;

impl Attractor {
    /// For states where the expression is true; or, if `wanted` is false, where it is false.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn new(
        system: &ActionSystem,
        relations: &Relations,
        expr: ExprId,
        wanted: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Attractor, Limit> {
        Ok(Attractor { root: Reader { system, relations: Some(relations), budget }.read(expr, wanted, 0)? })
    }

    /// The same, which only says how far states are: it knows no actions.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn without_actions(
        system: &ActionSystem,
        expr: ExprId,
        wanted: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Attractor, Limit> {
        Ok(Attractor { root: Reader { system, relations: None, budget }.read(expr, wanted, 0)? })
    }

    /// Fills `out` with actions one of which must happen before the expression can become true. Returns
    /// whether it is false in `state`, as far as can be told; if it is not, nothing is filled in.
    pub fn attract(&self, system: &ActionSystem, state: &[u32], out: &mut Vec<u32>) -> bool {
        out.clear();
        match self.root.value(system, state) {
            Some(true) => false,
            Some(false) | None => {
                self.root.attract(system, state, out);
                out.sort_unstable();
                out.dedup();
                true
            }
        }
    }
}

impl Attractor {
    /// How far a state is from one where the expression is true, as a guess: 0 where it is, as far as can be told. A sum
    /// is as far away as it has to change; of a conjunction, all parts count, of a disjunction the nearest.
    pub fn distance(&self, system: &ActionSystem, state: &[u32]) -> u64 {
        self.root.distance(system, state)
    }
}

impl Node {
    fn distance(&self, system: &ActionSystem, state: &[u32]) -> u64 {
        match self {
            Node::Constant(value) => {
                if *value {
                    0
                } else {
                    FAR
                }
            }
            Node::All(parts) => {
                parts.iter().fold(0, |sum, part| part.distance(system, state).saturating_add(sum))
            }
            Node::Some(parts) => parts.iter().map(|part| part.distance(system, state)).min().unwrap_or(FAR),
            Node::Sum { terms, constant, test, .. } => {
                let Some(sum) = sum(system, state, terms, *constant) else { return FAR };
                let amount = |sum: i128| u64::try_from(sum).map_or(FAR, |sum| sum.min(FAR));
                match test {
                    Test::NotNegative => amount((-sum).max(0)),
                    Test::Zero => amount(sum.abs()),
                    Test::NotZero => u64::from(sum == 0),
                }
            }
            Node::Opaque(_) => 1,
        }
    }

    /// Whether it is true, if that can be told.
    fn value(&self, system: &ActionSystem, state: &[u32]) -> Option<bool> {
        match self {
            Node::Constant(value) => Some(*value),
            Node::All(parts) => together(parts, system, state, false),
            Node::Some(parts) => together(parts, system, state, true),
            Node::Sum { terms, constant, test, .. } => {
                let sum = sum(system, state, terms, *constant)?;
                Some(match test {
                    Test::NotNegative => sum >= 0,
                    Test::Zero => sum == 0,
                    Test::NotZero => sum != 0,
                })
            }
            Node::Opaque(_) => None,
        }
    }

    /// Adds all that may change it, wherever it is.
    pub(crate) fn actions(&self, out: &mut Vec<u32>) {
        match self {
            Node::Constant(_) => {}
            Node::All(parts) | Node::Some(parts) => parts.iter().for_each(|part| part.actions(out)),
            Node::Sum { up, down, .. } => out.extend(up.iter().chain(down)),
            Node::Opaque(actions) => out.extend(actions),
        }
    }

    /// Adds what can make it true. It is false, or perhaps so.
    fn attract(&self, system: &ActionSystem, state: &[u32], out: &mut Vec<u32>) {
        match self {
            Node::Constant(_) => {}
            Node::All(parts) => {
                // One false part suffices: the one with the fewest actions.
                let (start, mut is_false) = (out.len(), false);
                for part in parts.iter().filter(|part| part.value(system, state) == Some(false)) {
                    let end = out.len();
                    part.attract(system, state, out);
                    if !is_false {
                        is_false = true;
                    } else if out.len() - end < end - start {
                        out.drain(start..end);
                    } else {
                        out.truncate(end);
                    }
                }
                if !is_false {
                    let open = parts.iter().filter(|part| part.value(system, state).is_none());
                    open.for_each(|part| part.attract(system, state, out));
                }
            }
            Node::Some(parts) => parts.iter().for_each(|part| part.attract(system, state, out)),
            Node::Sum { terms, constant, test, up, down } => {
                let sum = sum(system, state, terms, *constant);
                let (too_small, too_great) = match test {
                    Test::NotNegative => (true, false),
                    Test::Zero => (sum.is_none_or(|sum| sum < 0), sum.is_none_or(|sum| sum > 0)),
                    Test::NotZero => (true, true),
                };
                if too_small {
                    out.extend(up);
                }
                if too_great {
                    out.extend(down);
                }
            }
            Node::Opaque(actions) => out.extend(actions),
        }
    }
}

/// The value of a conjunction or disjunction; one part with the value `decides` decides it.
fn together(parts: &[Node], system: &ActionSystem, state: &[u32], decides: bool) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match part.value(system, state) {
            Some(value) if value == decides => return Some(decides),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!decides)
}

fn sum(system: &ActionSystem, state: &[u32], terms: &[(VarId, i64)], constant: i64) -> Option<i128> {
    let mut sum = i128::from(constant);
    for &(var, factor) in terms {
        let value = i128::from(system.layout().field(var).value(state));
        sum = sum.checked_add(value.checked_mul(i128::from(factor))?)?;
    }
    Some(sum)
}

struct Reader<'a, 'b, 'w> {
    system: &'a ActionSystem,
    relations: Option<&'a Relations>,
    budget: &'b mut Budget<'w>,
}

/// A sum of variables with factors, and a constant.
#[derive(Default)]
struct Linear {
    terms: Vec<(VarId, i64)>,
    constant: i64,
}

impl Reader<'_, '_, '_> {
    fn read(&mut self, expr: ExprId, wanted: bool, depth: usize) -> Result<Node, Limit> {
        self.budget.tick()?;
        if depth > MAX_DEPTH {
            return self.opaque(expr);
        }
        Ok(match self.system.exprs.get(expr) {
            Expr::Int(value) => Node::Constant((value != 0) == wanted),
            Expr::Unary(UnaryOp::Not, x) => self.read(x, !wanted, depth + 1)?,
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
                let mut parts = Vec::new();
                self.flatten(op, expr, wanted, depth, &mut parts)?;
                if (op == BinaryOp::And) == wanted { Node::All(parts) } else { Node::Some(parts) }
            }
            Expr::Binary(op, x, y) => {
                // Each is said as a test of `greater - less`, perhaps minus 1.
                let (greater, less, test, strict) = match (op, wanted) {
                    (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => (x, y, Test::NotNegative, 0),
                    (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (x, y, Test::NotNegative, 1),
                    (BinaryOp::Le, true) | (BinaryOp::Gt, false) => (y, x, Test::NotNegative, 0),
                    (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (y, x, Test::NotNegative, 1),
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => (x, y, Test::Zero, 0),
                    (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => (x, y, Test::NotZero, 0),
                    _ => return self.opaque(expr),
                };
                let mut linear = Linear { constant: -strict, ..Linear::default() };
                let is_linear = self.add(greater, 1, depth, &mut linear).is_some()
                    && self.add(less, -1, depth, &mut linear).is_some();
                if is_linear { self.sum(linear, test)? } else { self.opaque(expr)? }
            }
            Expr::Var(var) => {
                let test = if wanted { Test::NotZero } else { Test::Zero };
                self.sum(Linear { terms: vec![(var, 1)], constant: 0 }, test)?
            }
            Expr::Unary(..) | Expr::Element { .. } | Expr::Cond(..) => self.opaque(expr)?,
        })
    }

    /// The parts of nested conjunctions or disjunctions.
    fn flatten(
        &mut self,
        op: BinaryOp,
        expr: ExprId,
        wanted: bool,
        depth: usize,
        parts: &mut Vec<Node>,
    ) -> Result<(), Limit> {
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            match self.system.exprs.get(expr) {
                Expr::Binary(its_op, x, y) if its_op == op => work.extend([y, x]),
                _ => parts.push(self.read(expr, wanted, depth + 1)?),
            }
        }
        Ok(())
    }

    /// Adds an expression times a factor; nothing if it is not linear.
    fn add(&self, expr: ExprId, factor: i64, depth: usize, linear: &mut Linear) -> Option<()> {
        let mut work = vec![(expr, factor)];
        while let Some((expr, factor)) = work.pop() {
            if work.len() > MAX_DEPTH + depth {
                return None;
            }
            match self.system.exprs.get(expr) {
                Expr::Int(value) => {
                    linear.constant = linear.constant.checked_add(value.checked_mul(factor)?)?;
                }
                Expr::Var(var) => match linear.terms.iter_mut().find(|(known, _)| *known == var) {
                    Some((_, its)) => *its = its.checked_add(factor)?,
                    None => linear.terms.push((var, factor)),
                },
                Expr::Unary(UnaryOp::Neg, x) => work.push((x, factor.checked_neg()?)),
                Expr::Binary(BinaryOp::Add, x, y) => work.extend([(x, factor), (y, factor)]),
                Expr::Binary(BinaryOp::Sub, x, y) => work.extend([(x, factor), (y, factor.checked_neg()?)]),
                Expr::Binary(BinaryOp::Mul, x, y) => {
                    match (self.system.exprs.get(x), self.system.exprs.get(y)) {
                        (Expr::Int(by), _) => work.push((y, factor.checked_mul(by)?)),
                        (_, Expr::Int(by)) => work.push((x, factor.checked_mul(by)?)),
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn sum(&mut self, Linear { terms, constant }: Linear, test: Test) -> Result<Node, Limit> {
        let vars: Vec<VarId> = terms.iter().map(|(var, _)| *var).collect();
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for action in self.writers_of(&vars)? {
            let Some(relations) = self.relations else { break };
            let (may_grow, may_shrink) = self.direction(relations, ActionId::new(action as usize), &terms);
            if may_grow {
                up.push(action);
            }
            if may_shrink {
                down.push(action);
            }
        }
        Ok(Node::Sum { terms, constant, test, up, down })
    }

    /// Whether an action may make a sum greater; smaller.
    fn direction(&self, relations: &Relations, action: ActionId, terms: &[(VarId, i64)]) -> (bool, bool) {
        let mut change = 0i128;
        for &(var, factor) in terms {
            if !relations.is_written(var, action) {
                continue;
            }
            match relations.change(self.system, action, var) {
                Change::By(amount) => change += i128::from(amount) * i128::from(factor),
                Change::To(_) | Change::Map(_) | Change::Among(_) | Change::Any => return (true, true),
            }
        }
        (change > 0, change < 0)
    }

    fn opaque(&mut self, expr: ExprId) -> Result<Node, Limit> {
        let mut vars = Vec::new();
        self.system.exprs.reads(expr, &mut vars);
        Ok(Node::Opaque(self.writers_of(&vars)?))
    }

    fn writers_of(&mut self, vars: &[VarId]) -> Result<Vec<u32>, Limit> {
        let mut writers = Vec::new();
        let Some(relations) = self.relations else { return Ok(writers) };
        for action in vars.iter().flat_map(|&var| relations.writers(var)) {
            self.budget.tick()?;
            writers.push(action.index() as u32);
        }
        writers.sort_unstable();
        writers.dedup();
        // It is listed twice at most, up and down.
        self.budget.hold(8 * writers.len() as u64)?;
        Ok(writers)
    }
}
