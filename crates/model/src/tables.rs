//! An action system as plain words, for machines that know no Rust; and what the words mean, in plain Rust.
//!
//! [`Tables::of`] makes the words, [`Program`] runs them. A kernel for a graphics processor is a second reading of this file in
//! another language, and nothing here is more than it can do: no allocation, no recursion, a stack of
//! [`op::MAX_DEPTH`] values.
//!
//! # What is hard
//! Some steps are not taken here: those that go wrong, whose effect goes round more than [`op::MAX_ROUNDS`] times, that are chains
//! with a choice, or with more than [`MAX_CHAIN`] actions. Whoever runs a program is told that something was
//! [`Hard`], and asks the system itself about that state. So tables are never wrong, and nothing has to be refused that is rare.
//!
//! # The words
//! A header of [`HEADER`] words, by the numbers in [`head`]; all places are counted in words from its beginning. An action has 4
//! words: where its tests begin and end, where its effect is, and flags (1 if it happens only where no others can; from
//! bit 1 on, the process that goes on after it, plus 1). Tests and instructions have 4 words each: what it is
//! ([`mod@test`], [`op`]), and up to three operands. A field has 8: word, shift, number of bits, nothing, least value and
//! span, the lower half first. A process has 2: where the actions begin and end with which it goes on.

use crate::code::Code;
use crate::{ActionSystem, BinaryOp, Guard, GuardId, ProcessId};

/// Words of the header.
pub const HEADER: usize = 16;

/// A chain of more actions is hard.
pub const MAX_CHAIN: usize = 32;

/// A state has at most this many words.
pub const MAX_WIDTH: usize = 16;

/// What the words of the header are.
#[allow(missing_docs)] // The names say it.
pub mod head {
    pub const WIDTH: usize = 0;
    pub const N_ACTIONS: usize = 1;
    pub const ACTIONS: usize = 2;
    pub const FIELDS: usize = 3;
    pub const PROPOSITIONS: usize = 4;
    pub const N_PROPOSITIONS: usize = 5;
    pub const PROCESSES: usize = 6;
    /// Whether some actions happen only where no others can.
    pub const HAS_QUIET: usize = 7;
    /// The first word that is 0 here, and free for whoever has more to say.
    pub const FREE: usize = 8;
    /// The next one.
    pub const FREE_TOO: usize = 9;
}

/// Tests of an action.
#[allow(missing_docs)]
pub mod test {
    /// Word, mask, bits.
    pub const MATCH: u32 = 0;
    /// Field, members (two words).
    pub const MEMBER: u32 = 1;
    /// Field, where the least and the greatest number are.
    pub const BETWEEN: u32 = 2;
    /// Field, where the least and the greatest number are, and then bits.
    pub const MEMBER_OF: u32 = 3;
    /// Where the code is.
    pub const RUN: u32 = 4;
    pub const NEVER: u32 = 5;
}

/// Instructions of the stack machine.
#[allow(missing_docs)]
pub mod op {
    use super::BinaryOp;

    /// So many values are on the stack at most.
    pub const MAX_DEPTH: usize = 32;
    /// An effect that goes round more often, in all, is hard.
    pub const MAX_ROUNDS: u32 = 4096;

    pub const RETURN: u32 = 0;
    pub const BLIT: u32 = 1;
    pub const PUSH: u32 = 2;
    pub const LOAD: u32 = 3;
    pub const LOAD_ELEMENT: u32 = 4;
    pub const NEG: u32 = 5;
    pub const NOT: u32 = 6;
    pub const BIT_NOT: u32 = 7;
    /// Unused bits, whether signed.
    pub const TRUNCATE: u32 = 8;
    /// Which one of [`BINARIES`].
    pub const BINARY: u32 = 9;
    pub const JUMP_IF_ZERO: u32 = 10;
    pub const JUMP: u32 = 11;
    pub const LOOP: u32 = 12;
    pub const AND_THEN: u32 = 13;
    pub const OR_ELSE: u32 = 14;
    pub const TRUTH: u32 = 15;
    pub const STORE: u32 = 16;
    pub const STORE_ELEMENT: u32 = 17;
    pub const ADD: u32 = 18;
    pub const MAP: u32 = 19;
    pub const ASSERT: u32 = 20;

    /// Operators with two operands, by their numbers.
    pub const BINARIES: [BinaryOp; 18] = [
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
}

/// Why a system has no tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A state has more words than fit.
    Wide(usize),
    /// An expression needs too many values at once.
    Deep,
    /// There is more code than can be addressed.
    Large,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Wide(width) => {
                write!(f, "a state takes {} bytes, and at most {} are possible", 4 * width, 4 * MAX_WIDTH)
            }
            Refusal::Deep => write!(f, "an expression is nested too deeply"),
            Refusal::Large => write!(f, "the model has too many actions"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Something that is not done by tables: the system itself must be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hard;

/// The words of a system.
#[derive(Clone, Debug)]
pub struct Tables {
    words: Vec<u32>,
}

impl Tables {
    /// More words are refused.
    const MAX_WORDS: usize = 1 << 28;

    /// The words of a system.
    ///
    /// # Errors
    /// The system is too wide, too deep, or too large.
    pub fn of(system: &ActionSystem) -> Result<Tables, Refusal> {
        Tables::new(system, false)
    }

    /// The same with each guard as one more action behind those that there are, for [`Program::guard_holds`].
    ///
    /// # Errors
    /// The system is too wide, too deep, or too large.
    pub fn with_guards(system: &ActionSystem) -> Result<Tables, Refusal> {
        Tables::new(system, true)
    }

    fn new(system: &ActionSystem, with_guards: bool) -> Result<Tables, Refusal> {
        let width = system.layout.width();
        if width > MAX_WIDTH {
            return Err(Refusal::Wide(width));
        }
        // All guards are tested: there is no index that implies some of them.
        let mut code = Code::new(&system.layout);
        system.guards.iter().for_each(|guard| code.add_guard(&system.exprs, guard));
        for action in &system.actions {
            let guards = action.guards.iter().map(|&guard| (guard, &system.guards[guard.index()]));
            code.add_action(&system.exprs, &system.layout, guards, &action.effect);
        }
        if with_guards {
            for (number, guard) in system.guards.iter().enumerate() {
                let guard = (GuardId::new(number), guard);
                code.add_action(&system.exprs, &system.layout, std::iter::once(guard), &[]);
            }
        }
        system.propositions.iter().for_each(|it| code.add_proposition(&system.exprs, it.expr));
        let mut words = vec![0; HEADER];
        let places = code.flatten(&mut words)?;
        words.resize(words.len().next_multiple_of(4), 0);
        words[head::ACTIONS] = words.len() as u32;
        for (number, place) in places.actions.iter().enumerate() {
            let action = (number < system.actions.len()).then_some(crate::ActionId::new(number));
            let next = action.and_then(|action| system.next_process(action));
            let next = next.map_or(0, |process| process.index() as u32 + 1);
            words.extend(place);
            words.push(u32::from(action.is_some_and(|action| system.is_quiet(action))) | next << 1);
        }
        words[head::WIDTH] = width as u32;
        words[head::N_ACTIONS] = system.actions.len() as u32;
        words[head::FIELDS] = places.fields;
        words[head::N_PROPOSITIONS] = places.propositions.len() as u32;
        words[head::PROPOSITIONS] = words.len() as u32;
        words.extend(places.propositions);
        words[head::HAS_QUIET] = system.guards.contains(&Guard::Quiet).into();
        words[head::PROCESSES] = words.len() as u32;
        if system.has_chains() {
            Tables::add_processes(system, &mut words);
        }
        if words.len() > Tables::MAX_WORDS {
            return Err(Refusal::Large);
        }
        Ok(Tables { words })
    }

    /// The actions with which each process goes on.
    fn add_processes(system: &ActionSystem, words: &mut Vec<u32>) {
        let start = words.len();
        words.resize(start + 2 * system.processes.len(), 0);
        let mut of_process = vec![Vec::new(); system.processes.len()];
        for (number, action) in system.actions.iter().enumerate() {
            if let Some(first) = action.owners.first().copied().map(ProcessId::index)
                && !system.is_quiet(crate::ActionId::new(number))
            {
                of_process[first].push(number as u32);
            }
        }
        for (process, actions) in of_process.iter().enumerate() {
            words[start + 2 * process] = words.len() as u32;
            words.extend(actions);
            words[start + 2 * process + 1] = words.len() as u32;
        }
    }

    /// All words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// What they mean.
    pub fn program(&self) -> Program<'_> {
        Program { words: &self.words }
    }
}

/// The words of a system, to be run.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    words: &'a [u32],
}

/// A field of a state.
#[derive(Clone, Copy)]
struct Field {
    word: usize,
    shift: u32,
    bits: u32,
    lo: i64,
    span: u64,
}

impl Field {
    fn raw(self, state: &[u32]) -> u64 {
        if self.bits > 32 {
            u64::from(state[self.word]) | u64::from(state[self.word + 1]) << 32
        } else {
            (u64::from(state[self.word]) >> self.shift) & ((1u64 << self.bits) - 1)
        }
    }

    fn value(self, state: &[u32]) -> i64 {
        (self.raw(state) as i64).wrapping_add(self.lo)
    }

    fn set_raw(self, state: &mut [u32], raw: u64) {
        if self.bits > 32 {
            state[self.word] = raw as u32;
            state[self.word + 1] = (raw >> 32) as u32;
        } else {
            let mask = (((1u64 << self.bits) - 1) << self.shift) as u32;
            state[self.word] = state[self.word] & !mask | (raw << self.shift) as u32;
        }
    }

    fn set(self, state: &mut [u32], value: i64) -> Result<(), Hard> {
        let raw = value.wrapping_sub(self.lo) as u64;
        if value < self.lo || raw > self.span {
            return Err(Hard);
        }
        self.set_raw(state, raw);
        Ok(())
    }
}

impl<'a> Program<'a> {
    /// The program of some words, which [`Tables::of`] has made.
    pub fn new(words: &'a [u32]) -> Program<'a> {
        Program { words }
    }

    /// Words per state.
    pub fn width(self) -> usize {
        self.words[head::WIDTH] as usize
    }

    /// Number of actions.
    pub fn n_actions(self) -> usize {
        self.words[head::N_ACTIONS] as usize
    }

    fn four(self, at: u32) -> [u32; 4] {
        let at = at as usize;
        [self.words[at], self.words[at + 1], self.words[at + 2], self.words[at + 3]]
    }

    fn long(self, at: u32) -> u64 {
        u64::from(self.words[at as usize]) | u64::from(self.words[at as usize + 1]) << 32
    }

    fn action(self, action: usize) -> [u32; 4] {
        self.four(self.words[head::ACTIONS] + 4 * action as u32)
    }

    fn field(self, number: u32) -> Field {
        let at = self.words[head::FIELDS] + 8 * number;
        let [word, shift, bits, _] = self.four(at);
        Field { word: word as usize, shift, bits, lo: self.long(at + 4) as i64, span: self.long(at + 6) }
    }

    /// Whether an action can happen, apart from waiting for others.
    ///
    /// # Errors
    /// The system must be asked.
    pub fn is_enabled(self, action: usize, state: &[u32]) -> Result<bool, Hard> {
        let [mut at, end, ..] = self.action(action);
        while at < end {
            let [kind, a, b, c] = self.four(at);
            at += 4;
            let succeeds = match kind {
                test::MATCH => state[a as usize] & b == c,
                test::MEMBER => {
                    (u64::from(b) | u64::from(c) << 32) >> (self.field(a).raw(state) & 63) & 1 == 1
                }
                test::BETWEEN => (self.long(b)..=self.long(b + 2)).contains(&self.field(a).raw(state)),
                test::MEMBER_OF => {
                    let raw = self.field(a).raw(state);
                    let first = self.long(b);
                    (first..=self.long(b + 2)).contains(&raw) && {
                        let bit = raw - first;
                        self.words[b as usize + 4 + (bit / 32) as usize] >> (bit % 32) & 1 == 1
                    }
                }
                test::RUN => {
                    let mut unchanged = [0; MAX_WIDTH];
                    unchanged[..state.len()].copy_from_slice(state);
                    self.run(a, &mut unchanged)? != 0
                }
                _ => false,
            };
            if !succeeds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a guard is true; one that waits until nothing else can happen counts as true.
    ///
    /// # Errors
    /// The system must be asked.
    pub fn guard_holds(self, guard: usize, state: &[u32]) -> Result<bool, Hard> {
        self.is_enabled(self.n_actions() + guard, state)
    }

    /// The number that is stored of a variable.
    pub fn raw(self, var: usize, state: &[u32]) -> u64 {
        self.field(var as u32).raw(state)
    }

    /// Calls `visit` with every action that is enabled.
    ///
    /// # Errors
    /// The system must be asked.
    pub fn for_each_enabled(self, state: &[u32], mut visit: impl FnMut(usize)) -> Result<(), Hard> {
        let mut is_any = false;
        for quiet in 0..=self.words[head::HAS_QUIET].min(1) {
            if quiet == 1 && is_any {
                break;
            }
            for action in 0..self.n_actions() {
                if self.action(action)[3] & 1 == quiet && self.is_enabled(action, state)? {
                    is_any = true;
                    visit(action);
                }
            }
        }
        Ok(())
    }

    /// The step that begins with an action which is enabled, into `state`; calls `took` with every action that happens.
    ///
    /// # Errors
    /// The system must be asked.
    pub fn take(self, action: usize, state: &mut [u32], mut took: impl FnMut(usize)) -> Result<(), Hard> {
        self.step(action, state, &mut took)
    }

    /// The effect of an action alone, whatever may follow.
    ///
    /// # Errors
    /// The system must be asked.
    pub fn fire(self, action: usize, state: &mut [u32]) -> Result<(), Hard> {
        self.run(self.action(action)[2], state).map(|_| ())
    }

    /// Whether a proposition is true.
    ///
    /// # Errors
    /// The system must be asked.
    pub fn holds(self, proposition: usize, state: &[u32]) -> Result<bool, Hard> {
        let mut unchanged = [0; MAX_WIDTH];
        unchanged[..state.len()].copy_from_slice(state);
        let at = self.words[self.words[head::PROPOSITIONS] as usize + proposition];
        Ok(self.run(at, &mut unchanged)? != 0)
    }

    /// Calls `visit` with the action that each step begins with and the state that it leads to, and `took` with every action
    /// that happens; returns the number of steps.
    ///
    /// # Errors
    /// The system must be asked. Steps that were told are steps all the same; others may be missing.
    pub fn for_each_step(
        self,
        state: &[u32],
        mut visit: impl FnMut(usize, &[u32]),
        mut took: impl FnMut(usize),
    ) -> Result<u32, Hard> {
        let has_quiet = self.words[head::HAS_QUIET] != 0;
        let mut n_steps = 0;
        for quiet in 0..=u32::from(has_quiet) {
            if quiet == 1 && n_steps > 0 {
                break;
            }
            for action in 0..self.n_actions() {
                if self.action(action)[3] & 1 != quiet || !self.is_enabled(action, state)? {
                    continue;
                }
                let mut target = [0; MAX_WIDTH];
                let target = &mut target[..state.len()];
                target.copy_from_slice(state);
                self.step(action, target, &mut took)?;
                n_steps += 1;
                visit(action, target);
            }
        }
        Ok(n_steps)
    }

    /// The step that begins with an action: what follows, too, as long as there is one way. A chain that ends so has come
    /// back nowhere.
    fn step(self, action: usize, state: &mut [u32], took: &mut impl FnMut(usize)) -> Result<(), Hard> {
        let mut next = action;
        for _ in 0..MAX_CHAIN {
            self.fire(next, state)?;
            took(next);
            let process = self.action(next)[3] >> 1;
            if process == 0 {
                return Ok(());
            }
            match self.follower(process - 1, state)? {
                None => return Ok(()),
                Some(follower) => next = follower,
            }
        }
        Err(Hard)
    }

    /// The one action with which a process goes on, if there is one.
    fn follower(self, process: u32, state: &[u32]) -> Result<Option<usize>, Hard> {
        let at = (self.words[head::PROCESSES] + 2 * process) as usize;
        let mut found = None;
        for &action in &self.words[self.words[at] as usize..self.words[at + 1] as usize] {
            if self.is_enabled(action as usize, state)? {
                if found.is_some() {
                    return Err(Hard);
                }
                found = Some(action as usize);
            }
        }
        Ok(found)
    }

    /// Runs code from a place to the next return; gives the value that is left, if one is.
    fn run(self, mut at: u32, state: &mut [u32]) -> Result<i64, Hard> {
        let mut stack = [0i64; op::MAX_DEPTH];
        let mut top = 0; // The values are below.
        let mut rounds = 0;
        loop {
            let [kind, a, b, c] = self.four(at);
            at += 4;
            match kind {
                op::RETURN => return Ok(if top > 0 { stack[top - 1] } else { 0 }),
                op::BLIT => state[a as usize] = state[a as usize] & b | c,
                op::PUSH => {
                    stack[top] = (u64::from(a) | u64::from(b) << 32) as i64;
                    top += 1;
                }
                op::LOAD => {
                    stack[top] = self.field(a).value(state);
                    top += 1;
                }
                op::LOAD_ELEMENT => {
                    stack[top - 1] = self.field(element(a, b, stack[top - 1])?).value(state);
                }
                op::NEG => stack[top - 1] = stack[top - 1].checked_neg().ok_or(Hard)?,
                op::NOT => stack[top - 1] = i64::from(stack[top - 1] == 0),
                op::BIT_NOT => stack[top - 1] = !stack[top - 1],
                op::TRUNCATE => {
                    let x = stack[top - 1];
                    stack[top - 1] = if b != 0 { x << a >> a } else { ((x as u64) << a >> a) as i64 };
                }
                op::BINARY => {
                    let (x, y) = (stack[top - 2], stack[top - 1]);
                    top -= 1;
                    stack[top - 1] = op::BINARIES[a as usize].apply(x, y).map_err(|_| Hard)?;
                }
                op::JUMP_IF_ZERO => {
                    top -= 1;
                    if stack[top] == 0 {
                        at = a;
                    }
                }
                op::JUMP => at = a,
                op::LOOP => {
                    rounds += 1;
                    if rounds > op::MAX_ROUNDS {
                        return Err(Hard);
                    }
                    at = a;
                }
                op::AND_THEN if stack[top - 1] == 0 => at = a,
                op::OR_ELSE if stack[top - 1] != 0 => {
                    stack[top - 1] = 1;
                    at = a;
                }
                op::AND_THEN | op::OR_ELSE => top -= 1,
                op::TRUTH => stack[top - 1] = i64::from(stack[top - 1] != 0),
                op::STORE => {
                    top -= 1;
                    self.field(a).set(state, stack[top])?;
                }
                op::STORE_ELEMENT => {
                    top -= 2;
                    self.field(element(a, b, stack[top])?).set(state, stack[top + 1])?;
                }
                op::ADD => {
                    let field = self.field(a);
                    let amount = (u64::from(b) | u64::from(c) << 32) as i64;
                    field.set(state, field.value(state).checked_add(amount).ok_or(Hard)?)?;
                }
                op::MAP => {
                    let field = self.field(a);
                    let raw = field.raw(state);
                    if raw >= u64::from(c) {
                        return Err(Hard);
                    }
                    let target = self.long(b + 2 * raw as u32);
                    if target == u64::MAX {
                        return Err(Hard);
                    }
                    field.set_raw(state, target);
                }
                op::ASSERT => {
                    top -= 1;
                    if stack[top] == 0 {
                        return Err(Hard);
                    }
                }
                _ => return Err(Hard),
            }
        }
    }
}

fn element(first: u32, len: u32, index: i64) -> Result<u32, Hard> {
    if (0..i64::from(len)).contains(&index) { Ok(first + index as u32) } else { Err(Hard) }
}
