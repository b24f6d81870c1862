//! Compiled code as plain words, for machines that know no Rust: see [`tables`](mod@crate::tables), which says what the
//! words mean.

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
        let ops = out.len() as u32;
        out.extend(self.ops.iter().flat_map(|op| encode_op(*op, ops, maps)));
        let tests = out.len() as u32;
        out.resize(out.len() + 4 * self.tests.len(), 0);
        for (number, test) in self.tests.iter().enumerate() {
            let words = self.encode_test(*test, ops, out);
            out[tests as usize + 4 * number..][..4].copy_from_slice(&words);
        }
        let actions = self.entries.iter();
        let actions = actions
            .map(|entry| [tests + 4 * entry.tests.0, tests + 4 * entry.tests.1, ops + 4 * entry.effect]);
        let actions = actions.collect();
        let propositions = self.propositions.iter().map(|at| ops + 4 * at).collect();
        Ok(Places { actions, propositions, fields })
    }

    fn encode_test(&self, test: Test, ops: u32, out: &mut Vec<u32>) -> [u32; 4] {
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
            Test::Run(at) => [test::RUN, ops + 4 * at, 0, 0],
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
                Op::Push(_) | Op::Load(_) => depth += 1,
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
                Op::Loop(_)
                | Op::LoadElement { .. }
                | Op::Unary(_)
                | Op::Truth
                | Op::Blit { .. }
                | Op::Add(..)
                | Op::Map { .. } => {}
            }
            if depth > op::MAX_DEPTH {
                return Err(Refusal::Deep);
            }
        }
        Ok(())
    }
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn encode_op(op: Op, ops: u32, maps: u32) -> [u32; 4] {
    let to = |at: u32| ops + 4 * at;
    match op {
        Op::Return => [op::RETURN, 0, 0, 0],
        Op::Blit { word, keep, bits } => [op::BLIT, word, keep, bits],
        Op::Push(value) => {
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
    }
}

/// The number of an operator with two operands in the words.
fn number_of(binary: BinaryOp) -> u32 {
    let all = op::BINARIES.iter().position(|&known| known == binary);
    all.map_or(u32::MAX, |at| at as u32)
}
