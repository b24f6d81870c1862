//! Random action systems with data: all kinds of guards and statements, faults included.
//!
//! A [`Recipe`] is plain data that shrinks well; [`Recipe::build`] makes the system. Numbers in a
//! recipe are taken modulo what exists, so every recipe is valid.

use model::{
    Action, ActionId, ActionSystem, BinaryOp, Builder, ExprId, Guard, GuardId, Queue, QueueUse, Stmt,
    UnaryOp, ValueSet, VarId, Variable,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// An expression.
#[derive(Clone, Debug)]
pub enum ExprRecipe {
    /// A constant.
    Int(i64),
    /// A variable.
    Var(usize),
    /// An element of the array of all variables but the first.
    Element(Box<ExprRecipe>),
    /// One operand.
    Unary(usize, Box<ExprRecipe>),
    /// Two operands.
    Binary(usize, Box<ExprRecipe>, Box<ExprRecipe>),
    /// Three operands.
    Cond(Box<ExprRecipe>, Box<ExprRecipe>, Box<ExprRecipe>),
}

/// A guard.
#[derive(Clone, Debug)]
pub enum GuardRecipe {
    /// Values relative to the variable's least one.
    Member(usize, Vec<i64>),
    /// At least this, relative to the variable's least value.
    AtLeast(usize, i64),
    /// An expression.
    True(ExprRecipe),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum StmtRecipe {
    /// `var := expr`, brought into range.
    Assign(usize, ExprRecipe),
    /// `var := expr`, in range or not.
    AssignRaw(usize, ExprRecipe),
    /// `array[expr] := expr`.
    AssignElement(ExprRecipe, ExprRecipe),
    /// `var := value`, relative to the least.
    Set(usize, i64),
    /// `var := table[var]`, entries relative to the least value, some missing.
    Map(usize, Vec<Option<i64>>),
    /// `var += amount`.
    Add(usize, i64),
    /// If.
    If(ExprRecipe, Vec<StmtRecipe>, Vec<StmtRecipe>),
    /// Counts a variable down to its least value while the condition holds.
    While(usize, ExprRecipe, Vec<StmtRecipe>),
    /// An assertion.
    Assert(ExprRecipe),
}

/// What an action does to the queue besides.
#[derive(Clone, Debug)]
pub enum QueueRecipe {
    /// Puts this in.
    Put(ExprRecipe),
    /// Takes something out, perhaps only if it is this, and keeps it in a variable.
    Take(Option<i64>, usize),
    /// Happens only if this is in front.
    Look(i64),
    /// Makes it empty.
    Clear,
}

/// A system.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Whether nothing may go wrong: what could is replaced by something similar.
    pub is_tame: bool,
    /// Least value and number of further values of each variable.
    pub ranges: Vec<(i64, i64)>,
    /// Guards (indices) and effect of each action.
    pub actions: Vec<(Vec<GuardRecipe>, Vec<StmtRecipe>)>,
    /// Propositions.
    pub propositions: Vec<ExprRecipe>,
    /// Initial states, relative to the least values.
    pub initial: Vec<Vec<i64>>,
    /// The process of each action, in turn; if there is none, one process owns all.
    pub owners: Vec<usize>,
    /// After these actions, these processes go on.
    pub goes_on: Vec<(usize, usize)>,
    /// These actions happen only where no others can.
    pub quiet: Vec<usize>,
    /// What these actions do to the queue; if there is nothing, there is no queue.
    pub queue: Vec<(usize, QueueRecipe)>,
}

/// How much fits into the queue.
const CAPACITY: u32 = 2;

const UNARY: [UnaryOp; 5] = [
    UnaryOp::Neg,
    UnaryOp::Not,
    UnaryOp::BitNot,
    UnaryOp::Truncate { bits: 2, signed: false },
    UnaryOp::Truncate { bits: 3, signed: true },
];
const BINARY: [BinaryOp; 18] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::Shl,
    BinaryOp::Shr,
];

fn expr() -> impl Strategy<Value = ExprRecipe> {
    let leaf = prop_oneof![
        4 => (0..6usize).prop_map(ExprRecipe::Var),
        3 => (-2..5i64).prop_map(ExprRecipe::Int),
        1 => prop_oneof![4 => Just(7), 1 => Just(i64::MAX), 1 => Just(i64::MIN)].prop_map(ExprRecipe::Int),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let inner = move || inner.clone().prop_map(Box::new);
        prop_oneof![
            1 => inner().prop_map(ExprRecipe::Element),
            2 => (0..UNARY.len(), inner()).prop_map(|(op, x)| ExprRecipe::Unary(op, x)),
            6 => (0..BINARY.len(), inner(), inner()).prop_map(|(op, x, y)| ExprRecipe::Binary(op, x, y)),
            1 => (inner(), inner(), inner()).prop_map(|(c, x, y)| ExprRecipe::Cond(c, x, y)),
        ]
    })
}

fn guard() -> impl Strategy<Value = GuardRecipe> {
    prop_oneof![
        4 => (0..6usize, vec(0..6i64, 1..4)).prop_map(|(var, values)| GuardRecipe::Member(var, values)),
        1 => (0..6usize, 0..4i64).prop_map(|(var, least)| GuardRecipe::AtLeast(var, least)),
        1 => expr().prop_map(GuardRecipe::True),
    ]
}

fn stmt() -> impl Strategy<Value = StmtRecipe> {
    let simple = prop_oneof![
        3 => (0..6usize, expr()).prop_map(|(var, value)| StmtRecipe::Assign(var, value)),
        1 => (0..6usize, expr()).prop_map(|(var, value)| StmtRecipe::AssignRaw(var, value)),
        2 => (expr(), expr()).prop_map(|(index, value)| StmtRecipe::AssignElement(index, value)),
        5 => (0..6usize, 0..6i64).prop_map(|(var, value)| StmtRecipe::Set(var, value)),
        2 => (0..6usize, vec(proptest::option::weighted(0.95, 0..6i64), 3..6))
            .prop_map(|(var, table)| StmtRecipe::Map(var, table)),
        3 => (0..6usize, -2..3i64).prop_map(|(var, amount)| StmtRecipe::Add(var, amount)),
        1 => expr().prop_map(StmtRecipe::Assert),
    ];
    simple.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            2 => (expr(), vec(inner.clone(), 0..3), vec(inner.clone(), 0..3))
                .prop_map(|(condition, yes, no)| StmtRecipe::If(condition, yes, no)),
            1 => (0..6usize, expr(), vec(inner, 1..3))
                .prop_map(|(var, condition, body)| StmtRecipe::While(var, condition, body)),
        ]
    })
}

/// Any system; a tame one has no faults.
pub fn recipe(is_tame: bool) -> impl Strategy<Value = Recipe> {
    // Now and then a variable is wider than a word, or has one value only.
    let range = (-3..3i64, prop_oneof![8 => 0..5i64, 1 => 300..400i64, 1 => Just(1i64 << 40)]);
    (
        vec(range, 1..6),
        vec((vec(guard(), 0..4), vec(stmt(), 0..4)), 1..7),
        vec(expr(), 0..3),
        vec(vec(0..5i64, 6), 1..4),
    )
        .prop_map(move |(ranges, actions, propositions, initial)| Recipe {
            is_tame,
            ranges,
            actions,
            propositions,
            initial,
            owners: Vec::new(),
            goes_on: Vec::new(),
            quiet: Vec::new(),
            queue: Vec::new(),
        })
}

fn queue_use() -> impl Strategy<Value = QueueRecipe> {
    prop_oneof![
        3 => expr().prop_map(QueueRecipe::Put),
        3 => (proptest::option::of(0..4i64), 0..6usize).prop_map(|(wanted, var)| QueueRecipe::Take(wanted, var)),
        1 => (0..4i64).prop_map(QueueRecipe::Look),
        1 => Just(QueueRecipe::Clear),
    ]
}

/// Any system without faults in which steps may consist of several actions, and some actions wait until
/// nothing else can happen, and there may be a queue.
pub fn recipe_with_chains() -> impl Strategy<Value = Recipe> {
    let goes_on = vec((0..7usize, 0..3usize), 0..5);
    let queue = prop_oneof![vec((0..7usize, queue_use()), 3..6), Just(Vec::new())];
    (recipe(true), vec(0..3usize, 7), goes_on, vec(0..7usize, 0..2), queue).prop_map(
        |(mut recipe, owners, goes_on, quiet, queue)| {
            // Chains that count up a wide variable take long.
            recipe.ranges.iter_mut().for_each(|(_, more)| *more = (*more).min(5));
            Recipe { owners, goes_on, quiet, queue, ..recipe }
        },
    )
}

impl Recipe {
    /// The system.
    ///
    /// # Panics
    /// Never: every recipe is valid.
    pub fn build(&self) -> ActionSystem {
        let mut builder = Builder::new();
        let processes = ["p", "q", "r"].map(|name| builder.process(name));
        let quiet = self.quiet.iter().map(|action| action % self.actions.len()).collect::<Vec<_>>();
        for (index, &(lo, more)) in self.ranges.iter().enumerate() {
            builder.variable(Variable::new(format!("v{index}"), lo, lo + more));
        }
        let queue = (!self.queue.is_empty()).then(|| {
            let len = builder.variable(Variable::new("len", 0, i64::from(CAPACITY)));
            let cells: Vec<VarId> =
                (0..CAPACITY).map(|at| builder.variable(Variable::new(format!("cell{at}"), 0, 3))).collect();
            let number = builder.queue(Queue { len, front: vec![cells[0]], cells: cells.clone() });
            (number, len, cells)
        });
        for (index, (guards, effect)) in self.actions.iter().enumerate() {
            let label = builder.label(format!("a{index}"));
            let mut guards: Vec<_> = guards.iter().map(|guard| self.guard(&mut builder, guard)).collect();
            if quiet.contains(&index) {
                guards.push(builder.guard(Guard::Quiet));
            }
            let mut effect = self.block(&mut builder, effect);
            let mut queue_use = None;
            let its = self.queue.iter().find(|(action, _)| action % self.actions.len() == index);
            if let (Some((number, len, cells)), Some((_, recipe))) = (&queue, its) {
                let of = self.queue_use(&mut builder, recipe, (*len, cells), &mut guards, &mut effect);
                queue_use = of.map(|of| of(*number));
            }
            let owner = processes[self.owners.get(index).copied().unwrap_or(0)];
            let action = builder.action(Action { label, guards, effect, owners: vec![owner] });
            if let Some(queue_use) = queue_use.filter(|_| !quiet.contains(&index)) {
                builder.uses_queue(action, queue_use);
            }
        }
        for &(action, process) in &self.goes_on {
            builder.goes_on(ActionId::new(action % self.actions.len()), processes[process]);
        }
        let holder = (!self.goes_on.is_empty()).then(|| builder.variable(Variable::new("holder", 0, 3)));
        holder.iter().for_each(|&holder| builder.may_go_round(processes.to_vec(), holder));
        let mut propositions: Vec<ExprId> =
            self.propositions.iter().map(|recipe| self.expr(&mut builder, recipe)).collect();
        if let (Some((_, len, cells)), Some(last)) = (&queue, propositions.last_mut()) {
            let (len, front) = (builder.exprs.var(*len), builder.exprs.var(cells[0]));
            *last = builder.exprs.binary(BinaryOp::Gt, len, front);
        }
        for offsets in &self.initial {
            let mut values: Vec<i64> =
                self.ranges.iter().zip(offsets).map(|(&(lo, more), offset)| lo + offset.min(&more)).collect();
            values.extend(queue.iter().flat_map(|_| [0; CAPACITY as usize + 1]));
            values.extend(holder.map(|_| 0));
            builder.initial(&values);
        }
        let mut system = builder.finish().expect("a valid recipe");
        for (index, expr) in propositions.into_iter().enumerate() {
            system.add_proposition(format!("p{index}"), expr);
        }
        system
    }

    /// Adds what an action does to the queue; says whether that is putting or taking.
    fn queue_use(
        &self,
        builder: &mut Builder,
        recipe: &QueueRecipe,
        (len, cells): (VarId, &[VarId]),
        guards: &mut Vec<GuardId>,
        effect: &mut Vec<Stmt>,
    ) -> Option<fn(u32) -> QueueUse> {
        match recipe {
            QueueRecipe::Put(value) => {
                guards.push(builder.guard(Guard::In(len, ValueSet::Range(0, i64::from(CAPACITY) - 1))));
                let value = self.expr(builder, value);
                let value = self.brought_into_range(builder, 0, 3, value);
                let index = builder.exprs.var(len);
                effect.push(Stmt::AssignElement { first: cells[0], len: CAPACITY, index, value });
                effect.push(Stmt::Add(len, 1));
                Some(QueueUse::Put)
            }
            QueueRecipe::Take(wanted, var) => {
                guards.push(builder.guard(Guard::at_least(len, 1)));
                if let Some(wanted) = wanted {
                    guards.push(builder.guard(Guard::equals(cells[0], *wanted)));
                }
                let (var, lo, more) = self.var(*var);
                let front = builder.exprs.var(cells[0]);
                effect.push(Stmt::Assign(var, self.brought_into_range(builder, lo, more, front)));
                let second = builder.exprs.var(cells[1]);
                effect.extend([Stmt::Assign(cells[0], second), Stmt::Set(cells[1], 0), Stmt::Add(len, -1)]);
                Some(QueueUse::Take)
            }
            QueueRecipe::Look(wanted) => {
                guards.push(builder.guard(Guard::equals(cells[0], *wanted)));
                None
            }
            QueueRecipe::Clear => {
                effect.extend([len, cells[0], cells[1]].map(|var| Stmt::Set(var, 0)));
                None
            }
        }
    }

    fn var(&self, index: usize) -> (VarId, i64, i64) {
        let index = index % self.ranges.len();
        (VarId::new(index), self.ranges[index].0, self.ranges[index].1)
    }

    fn array(&self) -> (VarId, u32) {
        (VarId::new(usize::from(self.ranges.len() > 1)), (self.ranges.len() as u32 - 1).max(1))
    }

    fn guard(&self, builder: &mut Builder, recipe: &GuardRecipe) -> GuardId {
        let guard = match recipe {
            GuardRecipe::Member(var, values) => {
                let (var, lo, _) = self.var(*var);
                Guard::one_of(var, values.iter().map(|value| lo + value))
            }
            GuardRecipe::AtLeast(var, least) => {
                let (var, lo, _) = self.var(*var);
                Guard::at_least(var, lo + least)
            }
            GuardRecipe::True(recipe) => Guard::True(self.expr(builder, recipe)),
        };
        builder.guard(guard)
    }

    fn block(&self, builder: &mut Builder, block: &[StmtRecipe]) -> Vec<Stmt> {
        block.iter().map(|stmt| self.stmt(builder, stmt)).collect()
    }

    /// `lo + (value & mask)`, where the mask has as many bits as surely fit the range.
    fn brought_into_range(&self, builder: &mut Builder, lo: i64, more: i64, value: ExprId) -> ExprId {
        let exprs = &mut builder.exprs;
        let (mask, lo) = (exprs.int((1i64 << (more + 1).ilog2()) - 1), exprs.int(lo));
        let offset = exprs.binary(BinaryOp::BitAnd, value, mask);
        exprs.binary(BinaryOp::Add, lo, offset)
    }

    fn assign(&self, builder: &mut Builder, var: usize, value: &ExprRecipe) -> Stmt {
        let (var, lo, more) = self.var(var);
        let value = self.expr(builder, value);
        Stmt::Assign(var, self.brought_into_range(builder, lo, more, value))
    }

    fn stmt(&self, builder: &mut Builder, recipe: &StmtRecipe) -> Stmt {
        match recipe {
            StmtRecipe::Assign(var, value) => self.assign(builder, *var, value),
            StmtRecipe::AssignRaw(var, value) if self.is_tame => self.assign(builder, *var, value),
            StmtRecipe::AssignElement(_, value) if self.is_tame => self.assign(builder, 1, value),
            StmtRecipe::AssignRaw(var, value) => Stmt::Assign(self.var(*var).0, self.expr(builder, value)),
            StmtRecipe::AssignElement(index, value) => {
                let (first, len) = self.array();
                let (index, value) = (self.expr(builder, index), self.expr(builder, value));
                // An index that is in bounds more often than not.
                let three = builder.exprs.int(3);
                let index = builder.exprs.binary(BinaryOp::BitAnd, index, three);
                Stmt::AssignElement { first, len, index, value }
            }
            StmtRecipe::Set(var, value) => {
                let (var, lo, more) = self.var(*var);
                Stmt::Set(var, lo + if self.is_tame || *value < 5 { (*value).min(more) } else { *value })
            }
            StmtRecipe::Map(var, table) => {
                let (var, lo, more) = self.var(*var);
                let mut table: Vec<Option<i64>> =
                    table.iter().map(|entry| entry.map(|value| lo + value.min(more))).collect();
                if self.is_tame {
                    if more > 300 {
                        return Stmt::Set(var, lo + 1);
                    }
                    table.resize(more as usize + 1, Some(lo));
                    table.iter_mut().for_each(|entry| *entry = entry.or(Some(lo)));
                }
                Stmt::Map(var, table)
            }
            StmtRecipe::Add(var, amount) => {
                let (id, lo, more) = self.var(*var);
                if !self.is_tame {
                    return Stmt::Add(id, *amount);
                }
                // Only where the sum fits.
                let exprs = &mut builder.exprs;
                let (now, amount_expr) = (exprs.var(id), exprs.int(*amount));
                let sum = exprs.binary(BinaryOp::Add, now, amount_expr);
                let (lo, hi) = (exprs.int(lo), exprs.int(lo + more));
                let (above, below) =
                    (exprs.binary(BinaryOp::Ge, sum, lo), exprs.binary(BinaryOp::Le, sum, hi));
                let fits = exprs.binary(BinaryOp::And, above, below);
                Stmt::If(fits, vec![Stmt::Add(id, *amount)], vec![])
            }
            StmtRecipe::If(condition, yes, no) => {
                Stmt::If(self.expr(builder, condition), self.block(builder, yes), self.block(builder, no))
            }
            StmtRecipe::While(var, condition, body) => {
                let (id, lo, more) = self.var(*var);
                let condition = self.expr(builder, condition);
                let exprs = &mut builder.exprs;
                let (now, lo, near) = (exprs.var(id), exprs.int(lo), exprs.int(lo + more.min(300)));
                let above = exprs.binary(BinaryOp::Gt, now, lo);
                let below = exprs.binary(BinaryOp::Le, now, near);
                let not_done = exprs.binary(BinaryOp::And, above, below);
                let condition = exprs.binary(BinaryOp::And, not_done, condition);
                let mut body = self.block(builder, body);
                body.retain(
                    |stmt| matches!(stmt, Stmt::Set(target, _) | Stmt::Add(target, _) if *target != id),
                );
                body.push(Stmt::Add(id, -1));
                Stmt::While(condition, body)
            }
            StmtRecipe::Assert(condition) => {
                let condition = self.expr(builder, condition);
                if self.is_tame { Stmt::If(condition, vec![], vec![]) } else { Stmt::Assert(condition, 7) }
            }
        }
    }

    fn expr(&self, builder: &mut Builder, recipe: &ExprRecipe) -> ExprId {
        match recipe {
            ExprRecipe::Int(value) => builder.exprs.int(if self.is_tame { value % 100 } else { *value }),
            ExprRecipe::Var(var) => builder.exprs.var(self.var(*var).0),
            ExprRecipe::Element(index) => {
                let index = self.expr(builder, index);
                let (first, len) = self.array();
                if self.is_tame {
                    return builder.exprs.var(first);
                }
                builder.exprs.element(first, len, index)
            }
            ExprRecipe::Unary(op, x) => {
                let x = self.expr(builder, x);
                builder.exprs.unary(UNARY[*op], x)
            }
            ExprRecipe::Binary(op, x, y) => {
                let (x, y) = (self.expr(builder, x), self.expr(builder, y));
                let op = match BINARY[*op] {
                    BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl if self.is_tame => {
                        BinaryOp::BitXor
                    }
                    op => op,
                };
                builder.exprs.binary(op, x, y)
            }
            ExprRecipe::Cond(condition, x, y) => {
                let condition = self.expr(builder, condition);
                let (x, y) = (self.expr(builder, x), self.expr(builder, y));
                builder.exprs.cond(condition, x, y)
            }
        }
    }
}
