//! Histories against the definition: every order of the operations is tried.

use std::collections::HashSet;

use stubborn_embed::histories::{Linearizability, Object, Register, RegisterOp, SequentialConsistency};

/// A stack, since its operations fail to commute.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Stack(Vec<u8>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum StackOp {
    Push(u8),
    Pop,
}

impl Object for Stack {
    type Op = StackOp;
    type Ret = Option<u8>;

    fn apply(&mut self, op: &StackOp) -> Option<u8> {
        match *op {
            StackOp::Push(value) => {
                self.0.push(value);
                None
            }
            StackOp::Pop => self.0.pop(),
        }
    }
}

/// An operation as the definition sees it: invoked and returned at times.
struct Call<O: Object> {
    caller: u8,
    op: O::Op,
    ret: Option<O::Ret>,
    invoked: usize,
    returned: usize,
}

/// The definition: some order of the returned operations and of some others respects `before`, and explains all.
fn explained<O: Object>(
    calls: &[Call<O>],
    object: &O,
    used: &mut Vec<bool>,
    before: &dyn Fn(&Call<O>, &Call<O>) -> bool,
) -> bool {
    let left = |used: &[bool]| (0..calls.len()).filter(|&nth| !used[nth]).collect::<Vec<_>>();
    if left(used).iter().all(|&nth| calls[nth].ret.is_none()) {
        return true;
    }
    for next in left(used) {
        if left(used).iter().any(|&other| other != next && before(&calls[other], &calls[next])) {
            continue;
        }
        let mut object = object.clone();
        let ret = object.apply(&calls[next].op);
        if calls[next].ret.as_ref().is_some_and(|seen| *seen != ret) {
            continue;
        }
        used[next] = true;
        let found = explained(calls, &object, used, before);
        used[next] = false;
        if found {
            return true;
        }
    }
    false
}

/// A random history of three callers; answers are right or made up. Returns the two verdicts.
fn compare<O: Object + Default>(
    random: &mut fastrand::Rng,
    op: impl Fn(&mut fastrand::Rng) -> O::Op,
    made_up: impl Fn(&mut fastrand::Rng) -> O::Ret,
) -> (bool, bool) {
    let (mut linear, mut sequential) =
        (Linearizability::new(O::default()), SequentialConsistency::new(O::default()));
    let mut calls: Vec<Call<O>> = Vec::new();
    let mut object = O::default();
    for now in 0..random.usize(2..14) {
        let caller = random.u8(0..3);
        match calls.iter_mut().rev().find(|call| call.caller == caller && call.ret.is_none()) {
            None => {
                let op = op(random);
                linear.invoke(caller, op.clone());
                sequential.invoke(caller, op.clone());
                calls.push(Call { caller, op, ret: None, invoked: now, returned: usize::MAX });
            }
            Some(call) => {
                let ret = if random.u8(0..5) == 0 { made_up(random) } else { object.apply(&call.op) };
                (call.ret, call.returned) = (Some(ret.clone()), now);
                linear.returns(caller, ret.clone());
                sequential.returns(caller, ret);
            }
        }
    }
    let by_caller = |a: &Call<O>, b: &Call<O>| a.caller == b.caller && a.invoked < b.invoked;
    let by_time = |a: &Call<O>, b: &Call<O>| by_caller(a, b) || a.returned < b.invoked;
    let mut used = vec![false; calls.len()];
    assert_eq!(linear.is_consistent(), explained(&calls, &O::default(), &mut used, &by_time), "{linear:?}");
    assert_eq!(
        sequential.is_consistent(),
        explained(&calls, &O::default(), &mut used, &by_caller),
        "{sequential:?}"
    );
    if let Some(order) = linear.order() {
        let mut object = O::default();
        assert!(order.iter().all(|(_, op, ret)| object.apply(op) == *ret), "{order:?}");
    }
    (linear.is_consistent(), sequential.is_consistent())
}

impl Default for Zero {
    fn default() -> Zero {
        Zero(Register(0))
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Zero(Register<u8>);

impl Object for Zero {
    type Op = RegisterOp<u8>;
    type Ret = Option<u8>;

    fn apply(&mut self, op: &RegisterOp<u8>) -> Option<u8> {
        self.0.apply(op)
    }
}

#[test]
fn random_histories_are_judged_as_by_the_definition() {
    let seed = std::env::var("STUBBORN_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let factor = std::env::var("STUBBORN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut verdicts = HashSet::new();
    for _ in 0..2_000 * factor {
        let register = |random: &mut fastrand::Rng| match random.u8(0..2) {
            0 => RegisterOp::Read,
            _ => RegisterOp::Write(random.u8(0..3)),
        };
        verdicts
            .insert(compare::<Zero>(&mut random, register, |random| random.bool().then(|| random.u8(0..3))));
        let stack = |random: &mut fastrand::Rng| match random.u8(0..2) {
            0 => StackOp::Push(random.u8(0..3)),
            _ => StackOp::Pop,
        };
        verdicts
            .insert(compare::<Stack>(&mut random, stack, |random| random.bool().then(|| random.u8(0..3))));
    }
    assert!(
        verdicts.contains(&(true, true))
            && verdicts.contains(&(false, true))
            && verdicts.contains(&(false, false))
    );
    assert!(!verdicts.contains(&(true, false)), "what is linearizable is sequentially consistent");
}

#[test]
fn the_order_of_events_matters_only_where_it_must() {
    let history = |first: u8, second: u8| {
        let mut history = Linearizability::new(Register(0));
        history.invoke(first, RegisterOp::Write(first));
        history.invoke(second, RegisterOp::Write(second));
        history
    };
    assert_eq!(history(1, 2), history(2, 1), "both wait: who came first does not matter");
    let mut returned = history(1, 2);
    returned.returns(1, None);
    returned.invoke(1, RegisterOp::Read);
    let mut other = history(1, 2);
    other.returns(1, None);
    other.returns(2, None);
    other.invoke(1, RegisterOp::Read);
    assert_ne!(returned, other);
}

#[test]
#[should_panic(expected = "3 invokes Read before its last operation returned")]
fn one_operation_at_a_time() {
    let mut history = SequentialConsistency::new(Register(0));
    history.invoke(3, RegisterOp::Read);
    history.invoke(3, RegisterOp::Read);
}

#[test]
#[should_panic(expected = "None returns to 3, who waits for nothing")]
fn nothing_returns_unasked() {
    SequentialConsistency::new(Register(0)).returns(3, None);
}
