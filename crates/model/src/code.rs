//! The interpreter: guards and effects compiled to flat code over packed words.
//!
//! Most of what a model does is test a few bits and set a few bits. So an action's tests on one
//! word become a single masked comparison, and consecutive constant assignments to one word a
//! single masked store; only what is left runs on a small machine. It has one register, *the value*, and instructions
//! for what is most frequent (a variable and a constant, the value and a variable), so that few values ever have to be
//! put on its stack, which is reused. Nothing is allocated per step.

mod flatten;

use crate::chain::ChainScratch;
use crate::layout::{Field, Layout};
use crate::system::{Fault, StepError};
use crate::{ActionId, BinaryOp, Expr, ExprId, Exprs, Guard, GuardId, Stmt, UnaryOp, ValueSet, VarId};

/// Working memory of one thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    stack: Vec<i64>,
    /// Per action: whether it was executed.
    pub(crate) taken: Vec<bool>,
    /// Of steps that consist of several actions.
    pub(crate) chain: ChainScratch,
}

/// A test of an action.
#[derive(Clone, Copy, Debug)]
enum Test {
    /// `word & mask == bits`.
    Match { word: u32, mask: u32, bits: u32 },
    /// The stored number is among the (at most 64) members.
    Member { var: VarId, members: u64 },
    /// The stored number is in the range.
    Between { var: VarId, lo: u64, hi: u64 },
    /// The value is in `sets[set]`.
    MemberOf { var: VarId, set: u32 },
    /// The code at this place leaves a true value.
    Run(u32),
    /// Never true.
    Never,
}

/// An instruction. What comes after a jump does not need the value, unless it is said here.
#[derive(Clone, Copy, Debug)]
enum Op {
    Int(i64),
    Load(VarId),
    /// Pushes the value.
    Save,
    /// The value is the index.
    LoadElement {
        first: VarId,
        len: u32,
    },
    Unary(UnaryOp),
    /// Pops the first operand; the value is the second one.
    Binary(BinaryOp),
    /// The value and a constant.
    BinaryInt(BinaryOp, i64),
    /// The value and a variable.
    BinaryVar(BinaryOp, VarId),
    /// A variable and a constant, whatever the value is.
    VarInt(BinaryOp, VarId, i64),
    /// Jumps if the value is 0.
    JumpIfZero(u32),
    Jump(u32),
    /// As `Jump`, but backward: counts rounds.
    Loop(u32),
    /// If the value is 0: leaves it and jumps.
    AndThen(u32),
    /// If the value is not 0: makes it 1 and jumps.
    OrElse(u32),
    /// Makes the value 0 or 1.
    Truth,
    /// `word := word & keep | bits`.
    Blit {
        word: u32,
        keep: u32,
        bits: u32,
    },
    Store(VarId),
    /// Pops the index.
    StoreElement {
        first: VarId,
        len: u32,
    },
    Add(VarId, i64),
    /// The stored number is replaced by `maps[at + number]`.
    Map {
        var: VarId,
        at: u32,
        len: u32,
    },
    Assert(u32),
    Return,
}

/// Where the code of an action is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tests: (u32, u32),
    effect: u32,
}

/// The compiled actions and propositions of a system.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    fields: Vec<Field>,
    entries: Vec<Entry>,
    /// Per action: where its tests are in a process's turn, which the index does not imply. Empty if nobody ever goes on.
    turns: Vec<(u32, u32)>,
    tests: Vec<Test>,
    ops: Vec<Op>,
    /// Tables of `Op::Map`: stored number to stored number, or `UNMAPPED`.
    maps: Vec<u64>,
    sets: Vec<ValueSet>,
    propositions: Vec<u32>,
    /// Where the code of each guard is, if it is an expression.
    guards: Vec<Option<u32>>,
}

/// Loops of fewer rounds are not watched.
const UNWATCHED: u32 = 64;

/// No number of a mapped variable, whose table is far shorter.
const UNMAPPED: u64 = u64::MAX;

impl Code {
    pub(crate) fn new(layout: &Layout) -> Code {
        Code {
            fields: layout.fields().to_vec(),
            entries: Vec::new(),
            turns: Vec::new(),
            tests: Vec::new(),
            ops: Vec::new(),
            maps: Vec::new(),
            sets: Vec::new(),
            propositions: Vec::new(),
            guards: Vec::new(),
        }
    }

    pub(crate) fn new_scratch(&self) -> Scratch {
        Scratch {
            stack: Vec::with_capacity(64),
            taken: vec![false; self.entries.len()],
            chain: ChainScratch::default(),
        }
    }

    // ---- Running -------------------------------------------------------------------------------

    /// Whether the tests of an action succeed.
    #[inline]
    pub(crate) fn is_enabled(
        &self,
        action: ActionId,
        state: &[u32],
        scratch: &mut Scratch,
    ) -> Result<bool, StepError> {
        self.passes(self.entries[action.index()].tests, action, state, scratch)
    }

    /// Whether all guards of an action are true that is one of a process which goes on.
    #[inline]
    pub(crate) fn can_follow(
        &self,
        action: ActionId,
        state: &[u32],
        scratch: &mut Scratch,
    ) -> Result<bool, StepError> {
        self.passes(self.turns[action.index()], action, state, scratch)
    }

    #[inline]
    fn passes(
        &self,
        (from, to): (u32, u32),
        action: ActionId,
        state: &[u32],
        scratch: &mut Scratch,
    ) -> Result<bool, StepError> {
        for test in &self.tests[from as usize..to as usize] {
            let succeeds = match *test {
                Test::Match { word, mask, bits } => state[word as usize] & mask == bits,
                Test::Member { var, members } => members >> self.field(var).raw(state) & 1 == 1,
                Test::Between { var, lo, hi } => (lo..=hi).contains(&self.field(var).raw(state)),
                Test::MemberOf { var, set } => self.sets[set as usize].contains(self.field(var).value(state)),
                Test::Run(at) => self
                    .evaluate(at, state, scratch)
                    .map_err(|fault| StepError { fault, action: Some(action) })?,
                Test::Never => false,
            };
            if !succeeds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs the effect of an action on `state`.
    #[inline]
    pub(crate) fn fire(
        &self,
        action: ActionId,
        state: &mut [u32],
        scratch: &mut Scratch,
    ) -> Result<(), StepError> {
        let mut at = self.entries[action.index()].effect as usize;
        scratch.taken[action.index()] = true;
        // The common case, kept out of the general loop.
        while let Op::Blit { word, keep, bits } = self.ops[at] {
            let word = &mut state[word as usize];
            *word = *word & keep | bits;
            at += 1;
        }
        if matches!(self.ops[at], Op::Return) {
            return Ok(());
        }
        scratch.stack.clear();
        match self.run(at, state, &mut scratch.stack) {
            Ok(_) => Ok(()),
            Err(fault) => Err(StepError { fault, action: Some(action) }),
        }
    }

    /// Whether a proposition is true.
    #[inline]
    pub(crate) fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        scratch: &mut Scratch,
    ) -> Result<bool, StepError> {
        self.evaluate(self.propositions[proposition], state, scratch)
            .map_err(|fault| StepError { fault, action: None })
    }

    /// Whether a guard that is an expression is true.
    pub(crate) fn guard_holds(
        &self,
        guard: usize,
        state: &[u32],
        scratch: &mut Scratch,
    ) -> Result<bool, Fault> {
        self.guards[guard].map_or(Ok(true), |at| self.evaluate(at, state, scratch))
    }

    #[inline]
    fn field(&self, var: VarId) -> Field {
        self.fields[var.index()]
    }

    fn evaluate(&self, at: u32, state: &[u32], scratch: &mut Scratch) -> Result<bool, Fault> {
        scratch.stack.clear();
        Ok(self.run(at as usize, ReadOnly(state), &mut scratch.stack)? != 0)
    }

    /// Runs from `at` to the next `Return`; returns the value.
    fn run<M: Memory>(&self, mut at: usize, mut memory: M, stack: &mut Vec<i64>) -> Result<i64, Fault> {
        let (mut value, mut rounds) = (0, 0);
        // A state that loops came by, and where: if they come by again, they do so for ever. It is
        // replaced after 2, 4, 8, … rounds (Brent, *An improved Monte Carlo factorization algorithm*, 1980).
        let (mut known, mut known_at) = (Vec::new(), 0);
        loop {
            let op = self.ops[at];
            at += 1;
            match op {
                Op::Int(int) => value = int,
                Op::Load(var) => value = self.field(var).value(memory.words()),
                Op::Save => stack.push(value),
                Op::LoadElement { first, len } => {
                    value = self.field(element(first, len, value)?).value(memory.words());
                }
                Op::Unary(op) => value = op.apply(value)?,
                Op::Binary(op) => value = op.apply(pop(stack), value)?,
                Op::BinaryInt(op, int) => value = op.apply(value, int)?,
                Op::BinaryVar(op, var) => value = op.apply(value, self.field(var).value(memory.words()))?,
                Op::VarInt(op, var, int) => value = op.apply(self.field(var).value(memory.words()), int)?,
                Op::JumpIfZero(to) | Op::AndThen(to) => {
                    if value == 0 {
                        at = to as usize;
                    }
                }
                Op::Jump(to) => at = to as usize,
                Op::Loop(to) => {
                    rounds += 1;
                    if at == known_at && memory.words() == known {
                        return Err(Fault::Endless);
                    }
                    if rounds >= UNWATCHED && rounds.is_power_of_two() {
                        if rounds >= Stmt::MAX_ROUNDS {
                            return Err(Fault::TooLong);
                        }
                        memory.words().clone_into(&mut known);
                        known_at = at;
                    }
                    at = to as usize;
                }
                Op::OrElse(to) => {
                    if value != 0 {
                        value = 1;
                        at = to as usize;
                    }
                }
                Op::Truth => value = i64::from(value != 0),
                Op::Blit { word, keep, bits } => {
                    let word = &mut memory.words_mut()[word as usize];
                    *word = *word & keep | bits;
                }
                Op::Store(var) => self.store(var, value, memory.words_mut())?,
                Op::StoreElement { first, len } => {
                    let var = element(first, len, pop(stack))?;
                    self.store(var, value, memory.words_mut())?;
                }
                Op::Add(var, amount) => {
                    let sum = self.field(var).value(memory.words()).checked_add(amount);
                    self.store(var, sum.ok_or(Fault::Overflow)?, memory.words_mut())?;
                }
                Op::Map { var, at, len } => {
                    let field = self.field(var);
                    let raw = field.raw(memory.words());
                    let target =
                        if raw < u64::from(len) { self.maps[at as usize + raw as usize] } else { UNMAPPED };
                    if target == UNMAPPED {
                        return Err(Fault::OutOfRange { var, value: field.value(memory.words()) });
                    }
                    field.set_raw(memory.words_mut(), target);
                }
                Op::Assert(number) => {
                    if value == 0 {
                        return Err(Fault::Assertion(number));
                    }
                }
                Op::Return => return Ok(value),
            }
        }
    }

    fn store(&self, var: VarId, value: i64, state: &mut [u32]) -> Result<(), Fault> {
        let field = self.field(var);
        let raw = field.encode(value).ok_or(Fault::OutOfRange { var, value })?;
        field.set_raw(state, raw);
        Ok(())
    }

    // ---- Compiling -----------------------------------------------------------------------------

    /// Compiles the next guard.
    pub(crate) fn add_guard(&mut self, exprs: &Exprs, guard: &Guard) {
        let at = match guard {
            Guard::In(..) | Guard::Quiet => None,
            Guard::True(expr) => {
                let at = self.ops.len() as u32;
                self.compile_expr(exprs, *expr);
                self.ops.push(Op::Return);
                Some(at)
            }
        };
        self.guards.push(at);
    }

    /// Compiles the next action: the guards (all compiled before) that the index does not already
    /// imply, and the effect.
    pub(crate) fn add_action<'a>(
        &mut self,
        exprs: &Exprs,
        layout: &Layout,
        guards: impl Iterator<Item = (GuardId, &'a Guard)>,
        effect: &[Stmt],
    ) {
        let tests = self.add_tests(layout, guards);
        let start = self.ops.len();
        self.compile_block(exprs, effect);
        self.merge_blits(start);
        self.ops.push(Op::Return);
        self.entries.push(Entry { tests, effect: start as u32 });
    }

    /// Compiles the guards of the next action once more: all of them.
    pub(crate) fn add_turn<'a>(
        &mut self,
        layout: &Layout,
        guards: impl Iterator<Item = (GuardId, &'a Guard)>,
    ) {
        let tests = self.add_tests(layout, guards);
        self.turns.push(tests);
    }

    /// Adds the tests of guards; returns where they are.
    fn add_tests<'a>(
        &mut self,
        layout: &Layout,
        guards: impl Iterator<Item = (GuardId, &'a Guard)>,
    ) -> (u32, u32) {
        let from = self.tests.len();
        let mut general = Vec::new();
        for (id, guard) in guards {
            match guard {
                Guard::In(var, set) => self.add_membership(from, *var, set, layout.field(*var)),
                // Expressions come last, as written: they may rely on the cheaper tests.
                Guard::True(_) => general.extend(self.guards[id.index()].map(Test::Run)),
                // Looked at when nothing else is left to try.
                Guard::Quiet => {}
            }
        }
        self.tests.extend(general);
        (from as u32, self.tests.len() as u32)
    }

    pub(crate) fn add_proposition(&mut self, exprs: &Exprs, expr: ExprId) {
        self.propositions.push(self.ops.len() as u32);
        self.compile_expr(exprs, expr);
        self.ops.push(Op::Return);
    }

    /// Adds a test for membership in `set`, merged into one of those from `from` on if possible.
    fn add_membership(&mut self, from: usize, var: VarId, set: &ValueSet, field: Field) {
        let hi = field.lo.wrapping_add(field.span as i64);
        let count = set.count_within(field.lo, hi);
        if count == 0 {
            return self.tests.push(Test::Never);
        }
        if count > field.span {
            return; // Every value is a member.
        }
        let test = match set {
            ValueSet::Range(lo, _) if count == 1 && !field.is_wide() => {
                let raw = (*lo).max(field.lo).wrapping_sub(field.lo) as u64;
                return self.add_match(from, field.word, field.word_mask(), (raw << field.shift) as u32);
            }
            ValueSet::Range(from, to) => Test::Between {
                var,
                lo: (*from).max(field.lo).wrapping_sub(field.lo) as u64,
                hi: (*to).min(hi).wrapping_sub(field.lo) as u64,
            },
            ValueSet::Bits { .. } if field.span < 64 => {
                let raws = (0..=field.span).filter(|&raw| set.contains(field.lo + raw as i64));
                Test::Member { var, members: raws.fold(0, |members, raw| members | 1 << raw) }
            }
            ValueSet::Bits { .. } => {
                self.sets.push(set.clone());
                Test::MemberOf { var, set: self.sets.len() as u32 - 1 }
            }
        };
        self.tests.push(test);
    }

    fn add_match(&mut self, from: usize, word: u32, mask: u32, bits: u32) {
        for test in &mut self.tests[from..] {
            if let Test::Match { word: its_word, mask: its_mask, bits: its_bits } = test
                && *its_word == word
            {
                if (*its_bits ^ bits) & mask & *its_mask != 0 {
                    *test = Test::Never; // Two different values of one field.
                } else {
                    *its_mask |= mask;
                    *its_bits |= bits;
                }
                return;
            }
        }
        self.tests.push(Test::Match { word, mask, bits });
    }

    fn compile_block(&mut self, exprs: &Exprs, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.compile_stmt(exprs, stmt));
    }

    fn compile_stmt(&mut self, exprs: &Exprs, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(var, value) => match exprs.get(*value) {
                Expr::Int(value) => self.compile_set(*var, value),
                _ => {
                    self.compile_expr(exprs, *value);
                    self.ops.push(Op::Store(*var));
                }
            },
            Stmt::Set(var, value) => self.compile_set(*var, *value),
            Stmt::AssignElement { first, len, index, value } => {
                self.compile_expr(exprs, *index);
                self.ops.push(Op::Save);
                self.compile_expr(exprs, *value);
                self.ops.push(Op::StoreElement { first: *first, len: *len });
            }
            Stmt::Map(var, table) => {
                let field = self.field(*var);
                let at = self.maps.len() as u32;
                let encode =
                    |value: &Option<i64>| value.and_then(|value| field.encode(value)).unwrap_or(UNMAPPED);
                self.maps.extend(table.iter().map(encode));
                self.ops.push(Op::Map { var: *var, at, len: table.len() as u32 });
            }
            Stmt::Add(var, amount) => self.ops.push(Op::Add(*var, *amount)),
            Stmt::If(condition, yes, no) => {
                self.compile_expr(exprs, *condition);
                let to_no = self.hole();
                self.compile_block(exprs, yes);
                let to_end = self.hole();
                self.ops[to_no] = Op::JumpIfZero(self.ops.len() as u32);
                self.compile_block(exprs, no);
                self.ops[to_end] = Op::Jump(self.ops.len() as u32);
            }
            Stmt::While(condition, body) => {
                let start = self.ops.len() as u32;
                self.compile_expr(exprs, *condition);
                let to_end = self.hole();
                self.compile_block(exprs, body);
                self.ops.push(Op::Loop(start));
                self.ops[to_end] = Op::JumpIfZero(self.ops.len() as u32);
            }
            Stmt::Assert(condition, number) => {
                self.compile_expr(exprs, *condition);
                self.ops.push(Op::Assert(*number));
            }
        }
    }

    fn compile_set(&mut self, var: VarId, value: i64) {
        let field = self.field(var);
        match field.encode(value) {
            Some(raw) if !field.is_wide() => {
                let (word, keep) = (field.word, !field.word_mask());
                self.ops.push(Op::Blit { word, keep, bits: (raw << field.shift) as u32 });
            }
            _ => self.ops.extend([Op::Int(value), Op::Store(var)]),
        }
    }

    /// Merges the blits that an effect begins with, where they are of the same word.
    fn merge_blits(&mut self, start: usize) {
        let mut merged: Vec<(u32, u32, u32)> = Vec::new();
        let mut end = start;
        while let Some(&Op::Blit { word, keep, bits }) = self.ops.get(end) {
            match merged.iter_mut().find(|entry| entry.0 == word) {
                Some(entry) => *entry = (word, entry.1 & keep, entry.2 & keep | bits),
                None => merged.push((word, keep, bits)),
            }
            end += 1;
        }
        // Jumps are absolute, so code behind the blits may move only if there is none.
        if end == self.ops.len() {
            self.ops.truncate(start);
            self.ops.extend(merged.iter().map(|&(word, keep, bits)| Op::Blit { word, keep, bits }));
        }
    }

    fn hole(&mut self) -> usize {
        self.ops.push(Op::Return);
        self.ops.len() - 1
    }

    fn compile_expr(&mut self, exprs: &Exprs, expr: ExprId) {
        match exprs.get(expr) {
            Expr::Int(value) => self.ops.push(Op::Int(value)),
            Expr::Var(var) => self.ops.push(Op::Load(var)),
            Expr::Element { first, len, index } => {
                self.compile_expr(exprs, index);
                self.ops.push(Op::LoadElement { first, len });
            }
            Expr::Unary(op, x) => {
                self.compile_expr(exprs, x);
                self.ops.push(Op::Unary(op));
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) => {
                self.compile_expr(exprs, x);
                let shortcut = self.hole();
                self.compile_expr(exprs, y);
                if !is_truth(exprs.get(y)) {
                    self.ops.push(Op::Truth);
                }
                let end = self.ops.len() as u32;
                self.ops[shortcut] = if op == BinaryOp::And { Op::AndThen(end) } else { Op::OrElse(end) };
            }
            Expr::Binary(op, x, y) => match (exprs.get(x), exprs.get(y)) {
                (Expr::Var(var), Expr::Int(int)) => self.ops.push(Op::VarInt(op, var, int)),
                (_, Expr::Int(int)) => {
                    self.compile_expr(exprs, x);
                    self.ops.push(Op::BinaryInt(op, int));
                }
                (_, Expr::Var(var)) => {
                    self.compile_expr(exprs, x);
                    self.ops.push(Op::BinaryVar(op, var));
                }
                _ => {
                    self.compile_expr(exprs, x);
                    self.ops.push(Op::Save);
                    self.compile_expr(exprs, y);
                    self.ops.push(Op::Binary(op));
                }
            },
            Expr::Cond(condition, x, y) => {
                self.compile_expr(exprs, condition);
                let to_y = self.hole();
                self.compile_expr(exprs, x);
                let to_end = self.hole();
                self.ops[to_y] = Op::JumpIfZero(self.ops.len() as u32);
                self.compile_expr(exprs, y);
                self.ops[to_end] = Op::Jump(self.ops.len() as u32);
            }
        }
    }
}

/// Whether an expression is 0 or 1 wherever it has a value.
fn is_truth(expr: Expr) -> bool {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(expr, Expr::Unary(UnaryOp::Not, _) | Expr::Binary(And | Or | Eq | Ne | Lt | Le | Gt | Ge, ..))
}

/// The words that code works on: a state being changed, or one that is only looked at.
trait Memory {
    fn words(&self) -> &[u32];
    fn words_mut(&mut self) -> &mut [u32];
}

impl Memory for &mut [u32] {
    #[inline]
    fn words(&self) -> &[u32] {
        self
    }
    #[inline]
    fn words_mut(&mut self) -> &mut [u32] {
        self
    }
}

struct ReadOnly<'a>(&'a [u32]);

impl Memory for ReadOnly<'_> {
    #[inline]
    fn words(&self) -> &[u32] {
        self.0
    }
    fn words_mut(&mut self) -> &mut [u32] {
        unreachable!("the code of an expression changes nothing")
    }
}

/// The compiler pushes as much as it pops, so the stack is never empty here.
#[inline]
fn pop(stack: &mut Vec<i64>) -> i64 {
    debug_assert!(!stack.is_empty());
    stack.pop().unwrap_or(0)
}

#[inline]
fn element(first: VarId, len: u32, index: i64) -> Result<VarId, Fault> {
    if (0..i64::from(len)).contains(&index) {
        Ok(VarId::new(first.index() + index as usize))
    } else {
        Err(Fault::IndexOutOfBounds { array: first, index, len })
    }
}
