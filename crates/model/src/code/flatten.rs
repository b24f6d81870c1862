//! Compiled code as plain words, for machines that know no Rust: see [`tables`](mod@crate::tables), which says what the
//! words mean. They have a stack and no register: the value is what lies on top.

use super::{Code, Op, Test};
use crate::tables::{Refusal, op, test};
use crate::{BinaryOp, UnaryOp};

/// Where the parts are in the words.
pub(crate) struct Places {
    /// Per action: where its tests begin and end, and where its effect is.
    pub(crate) actions: Vec<[u32; 3]>,
    /// Per proposition: where its code is.
    pub(crate) propositions: Vec<u32>,
    pub(crate) fields: u32,
}

impl Code {
    /// Appends fields, code, tests and data to `out`, and says where they are. Places are counted from the beginning
    /// of `out`.
    pub(crate) fn flatten(&self, out: &mut Vec<u32>) -> Result<Places, Refusal> {
        self.check_depth()?;
        let fields = out.len() as u32;
        for field in &self.fields {
            let numbers = [u32::from(field.shift), u32::from(field.bits)];
            out.extend([field.word, numbers[0], numbers[1], 0]);
            out.extend(halves(field.lo as u64).into_iter().chain(halves(field.span)));
        }
        let maps = out.len() as u32;
        out.extend(self.maps.iter().flat_map(|&number| halves(number)));
        // Instructions are read four words at once.
        out.resize(out.len().next_multiple_of(4), 0);
        // Where each instruction is, and where the next one would be.
        let mut ops = Vec::with_capacity(self.ops.len() + 1);
        ops.push(out.len() as u32);
        for op in &self.ops {
            ops.push(ops[ops.len() - 1] + 4 * plain(*op).count() as u32);
        }
        for op in self.ops.iter().flat_map(|op| plain(*op)) {
            out.extend(encode_op(op, &ops, maps));
        }
        let tests = out.len() as u32;
        out.resize(out.len() + 4 * self.tests.len(), 0);
        for (number, test) in self.tests.iter().enumerate() {
            let words = self.encode_test(*test, &ops, out);
            out[tests as usize + 4 * number..][..4].copy_from_slice(&words);
        }
        let actions = self.entries.iter();
        let actions = actions
            .map(|entry| [tests + 4 * entry.tests.0, tests + 4 * entry.tests.1, ops[entry.effect as usize]]);
        let actions = actions.collect();
        let propositions = self.propositions.iter().map(|&at| ops[at as usize]).collect();
        Ok(Places { actions, propositions, fields })
    }

    fn encode_test(&self, test: Test, ops: &[u32], out: &mut Vec<u32>) -> [u32; 4] {
        match test {
            Test::Match { word, mask, bits } => [test::MATCH, word, mask, bits],
            Test::Member { var, members } => {
                let [low, high] = halves(members);
                [test::MEMBER, var.index() as u32, low, high]
            }
            Test::Between { var, lo, hi } => {
                let at = out.len() as u32;
                out.extend(halves(lo).into_iter().chain(halves(hi)));
                [test::BETWEEN, var.index() as u32, at, 0]
            }
            Test::MemberOf { var, set } => {
                // By stored numbers, from the least one that is a member to the greatest.
                let field = self.field(var);
                let hi = field.lo.wrapping_add(field.span as i64);
                let members = self.sets[set as usize].values_within(field.lo, hi);
                let raws: Vec<u64> = members.map(|value| value.wrapping_sub(field.lo) as u64).collect();
                let (first, last) = (raws.iter().min().copied(), raws.iter().max().copied());
                let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
                let at = out.len();
                out.extend(halves(first).into_iter().chain(halves(last)));
                out.resize(out.len() + ((last - first) / 32) as usize + 1, 0);
                for raw in raws {
                    out[at + 4 + ((raw - first) / 32) as usize] |= 1 << ((raw - first) % 32);
                }
                [test::MEMBER_OF, var.index() as u32, at as u32, 0]
            }
            Test::Run(at) => [test::RUN, ops[at as usize], 0, 0],
            Test::Never => [test::NEVER, 0, 0, 0],
        }
    }

    /// Code that needs too many values at once is refused: a lane has little memory of its own.
    fn check_depth(&self) -> Result<(), Refusal> {
        let mut depths: Vec<Option<usize>> = vec![None; self.ops.len() + 1];
        let mut depth = 0;
        for (at, op) in self.ops.iter().enumerate() {
            // What comes after a jump is reached by another one, from before.
            depth = depths[at].unwrap_or(depth);
            match *op {
                Op::Int(_) | Op::Load(_) | Op::VarInt(..) => depth += 1,
                Op::Binary(_) | Op::Store(_) | Op::Assert(_) => depth = depth.saturating_sub(1),
                Op::StoreElement { .. } => depth = depth.saturating_sub(2),
                Op::JumpIfZero(to) => {
                    depth = depth.saturating_sub(1);
                    depths[to as usize] = Some(depth);
                }
                Op::AndThen(to) | Op::OrElse(to) => {
                    depths[to as usize] = Some(depth);
                    depth = depth.saturating_sub(1);
                }
                Op::Jump(to) => depths[to as usize] = Some(depth),
                Op::Return => depth = 0,
                Op::Save
                | Op::BinaryInt(..)
                | Op::BinaryVar(..)
                | Op::Loop(_)
                | Op::LoadElement { .. }
                | Op::Unary(_)
                | Op::Truth
                | Op::Blit { .. }
                | Op::Add(..)
                | Op::Map { .. } => {}
            }
            // Whatever takes two operands puts the second one on top for a moment.
            if depth >= op::MAX_DEPTH {
                return Err(Refusal::Deep);
            }
        }
        Ok(())
    }
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// An instruction, by those of which each is one in the words.
fn plain(op: Op) -> impl Iterator<Item = Op> {
    let parts = match op {
        Op::Save => [None; 3],
        Op::BinaryInt(op, int) => [Some(Op::Int(int)), Some(Op::Binary(op)), None],
        Op::BinaryVar(op, var) => [Some(Op::Load(var)), Some(Op::Binary(op)), None],
        Op::VarInt(op, var, int) => [Some(Op::Load(var)), Some(Op::Int(int)), Some(Op::Binary(op))],
        op => [Some(op), None, None],
    };
    parts.into_iter().flatten()
}

fn encode_op(op: Op, ops: &[u32], maps: u32) -> [u32; 4] {
    let to = |at: u32| ops[at as usize];
    match op {
        Op::Blit { word, keep, bits } => [op::BLIT, word, keep, bits],
        Op::Int(value) => {
            let [low, high] = halves(value as u64);
            [op::PUSH, low, high, 0]
        }
        Op::Load(var) => [op::LOAD, var.index() as u32, 0, 0],
        Op::LoadElement { first, len } => [op::LOAD_ELEMENT, first.index() as u32, len, 0],
        Op::Unary(UnaryOp::Neg) => [op::NEG, 0, 0, 0],
        Op::Unary(UnaryOp::Not) => [op::NOT, 0, 0, 0],
        Op::Unary(UnaryOp::BitNot) => [op::BIT_NOT, 0, 0, 0],
        Op::Unary(UnaryOp::Truncate { bits, signed }) => {
            [op::TRUNCATE, 64 - u32::from(bits.clamp(1, 64)), signed.into(), 0]
        }
        Op::Binary(binary) => [op::BINARY, number_of(binary), 0, 0],
        Op::JumpIfZero(at) => [op::JUMP_IF_ZERO, to(at), 0, 0],
        Op::Jump(at) => [op::JUMP, to(at), 0, 0],
        Op::Loop(at) => [op::LOOP, to(at), 0, 0],
        Op::AndThen(at) => [op::AND_THEN, to(at), 0, 0],
        Op::OrElse(at) => [op::OR_ELSE, to(at), 0, 0],
        Op::Truth => [op::TRUTH, 0, 0, 0],
        Op::Store(var) => [op::STORE, var.index() as u32, 0, 0],
        Op::StoreElement { first, len } => [op::STORE_ELEMENT, first.index() as u32, len, 0],
        Op::Add(var, amount) => {
            let [low, high] = halves(amount as u64);
            [op::ADD, var.index() as u32, low, high]
        }
        Op::Map { var, at, len } => [op::MAP, var.index() as u32, maps + 2 * at, len],
        Op::Assert(_) => [op::ASSERT, 0, 0, 0],
        // All but the first are not among the plain ones.
        Op::Return | Op::Save | Op::BinaryInt(..) | Op::BinaryVar(..) | Op::VarInt(..) => {
            [op::RETURN, 0, 0, 0]
        }
    }
}

/// The number of an operator with two operands in the words.
fn number_of(binary: BinaryOp) -> u32 {
    let all = op::BINARIES.iter().position(|&known| known == binary);
    all.map_or(u32::MAX, |at| at as u32)
}

#[cfg(test)]
mod tests {
    use crate::tables::Tables;
    use crate::{
        Action, ActionId, BinaryOp, Builder, ExprId, Guard, Stmt, System as _, UnaryOp, VarId, Variable,
        reference,
    };

    /// Pseudorandom numbers [knuth.97.taocp, MMIX].
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % n
        }
    }

    const BINARIES: [BinaryOp; 18] = super::op::BINARIES;

    fn expr(random: &mut Random, builder: &mut Builder, vars: &[VarId], depth: usize) -> ExprId {
        let kind = if depth == 0 { random.below(4) } else { random.below(12) };
        let mut operand = |builder: &mut Builder| expr(random, builder, vars, depth - 1);
        match kind {
            0 | 1 => builder.exprs.var(vars[random.below(vars.len())]),
            2 | 3 => builder.exprs.int(random.below(7) as i64 - 2),
            4 => {
                let x = operand(builder);
                let ops = [
                    UnaryOp::Neg,
                    UnaryOp::Not,
                    UnaryOp::BitNot,
                    UnaryOp::Truncate { bits: 3, signed: true },
                ];
                builder.exprs.unary(ops[random.below(4)], x)
            }
            5 => {
                let index = operand(builder);
                builder.exprs.element(vars[0], 3, index)
            }
            6 => {
                let [x, y, z] = [(); 3].map(|()| operand(builder));
                builder.exprs.cond(x, y, z)
            }
            _ => {
                let [x, y] = [(); 2].map(|()| operand(builder));
                builder.exprs.binary(BINARIES[random.below(18)], x, y)
            }
        }
    }

    fn block(random: &mut Random, builder: &mut Builder, vars: &[VarId], depth: usize) -> Vec<Stmt> {
        let mut list = Vec::new();
        for _ in 0..1 + random.below(3) {
            let var = vars[random.below(vars.len())];
            let mut value = |random: &mut Random| expr(random, builder, vars, 3);
            list.push(match random.below(if depth == 0 { 5 } else { 7 }) {
                0 => Stmt::Set(var, random.below(4) as i64),
                1 | 2 => Stmt::Assign(var, value(random)),
                3 => {
                    Stmt::AssignElement { first: vars[0], len: 3, index: value(random), value: value(random) }
                }
                4 => Stmt::Assert(value(random), 0),
                5 => {
                    let condition = value(random);
                    let yes = block(random, builder, vars, depth - 1);
                    Stmt::If(condition, yes, block(random, builder, vars, depth - 1))
                }
                // It ends: the last variable is at most 9.
                _ => {
                    let last = vars[vars.len() - 1];
                    let (now, end) = (builder.exprs.var(last), builder.exprs.int(9));
                    let mut body = block(random, builder, &vars[..vars.len() - 1], 0);
                    body.push(Stmt::Add(last, 1));
                    Stmt::While(builder.exprs.binary(BinaryOp::Lt, now, end), body)
                }
            });
        }
        list
    }

    #[test]
    fn code_and_words_do_what_expressions_and_statements_say() {
        let mut random = Random(5);
        let (mut n_fine, mut n_wrong) = (0, 0);
        for _ in 0..300 {
            let mut builder = Builder::new();
            let (owner, label) = (builder.process("P"), builder.label("a"));
            let ranges = [(-4, 9), (0, 9), (0, 40), (-40_000, 40_000), (0, 9)];
            let vars = ranges.map(|(lo, hi)| builder.variable(Variable::new("v", lo, hi)));
            for _ in 0..3 {
                let condition = expr(&mut random, &mut builder, &vars, 4);
                let guards = vec![builder.guard(Guard::True(condition))];
                let effect = block(&mut random, &mut builder, &vars, 2);
                builder.action(Action { label, guards, effect, owners: vec![owner] });
            }
            let propositions = [(); 3].map(|()| expr(&mut random, &mut builder, &vars, 5));
            builder.initial(&[0; 5]);
            let mut system = builder.finish().unwrap();
            let numbers = propositions.map(|it| system.add_proposition("p", it));
            let tables = Tables::of(&system).unwrap();
            let (program, mut scratch) = (tables.program(), system.new_scratch());
            for _ in 0..20 {
                let values: Vec<i64> =
                    ranges.iter().map(|(lo, hi)| lo + random.below((hi - lo) as usize + 1) as i64).collect();
                let state = system.layout.encode(&values).unwrap();
                for (number, it) in numbers.into_iter().zip(propositions) {
                    let expected = reference::value(&system, it, &values).map(|value| value != 0);
                    let found = system.holds(number, &state, &mut scratch).map_err(|error| error.fault);
                    assert_eq!(found, expected);
                    assert_eq!(program.holds(number, &state).ok(), expected.ok());
                }
                for action in (0..3).map(ActionId::new) {
                    let guard = system.action(action).guards[0];
                    let guard = &system.guards()[guard.index()];
                    let expected = reference::guard_holds(&system, guard, &values);
                    let found =
                        system.code.is_enabled(action, &state, &mut scratch).map_err(|error| error.fault);
                    assert_eq!(found, expected);
                    let expected = reference::act(&system, action, &values);
                    let mut target = state.clone();
                    let found = system.code.fire(action, &mut target, &mut scratch);
                    let found = found.map(|()| system.layout.decode(&target)).map_err(|error| error.fault);
                    assert_eq!(found, expected);
                    let mut target = state.clone();
                    let found = program.fire(action.index(), &mut target);
                    assert_eq!(found.ok().map(|()| system.layout.decode(&target)), expected.clone().ok());
                    *if expected.is_ok() { &mut n_fine } else { &mut n_wrong } += 1;
                }
            }
        }
        assert!(n_fine > 3_000 && n_wrong > 1_000, "{n_fine} {n_wrong}");
    }
}
