//! Histories of operations on a shared object, as part of a model's state: could what the callers saw have been
//! seen on one object that does one operation after the other?
//!
//! A history records when an operation is invoked and what it returns. It is
//!
//! - *linearizable* \[herlihy.90.toplas\] if there is such an order of all operations in which an operation that
//!   returned before another was invoked comes first ([`Linearizability`]);
//! - *sequentially consistent* \[lamport.79.tc\] if there is one that respects the order of each caller
//!   ([`SequentialConsistency`]).
//!
//! An operation that has not returned may have happened or not. Both are decided by the search of Wing and Gong
//! \[wing.93.jpdc\], which takes operations one by one; what was taken and the object are remembered, so that no
//! situation is looked at twice \[lowe.17.concurrency\].
//!
//! A history is a value: clone it, compare it, hash it. It keeps which operations of the others had returned when an
//! operation was invoked, not the order of all events, so histories that differ in nothing that matters are equal, and
//! a model has fewer states.
//!
//! ```
//! use stubborn_embed::histories::{Linearizability, Register, RegisterOp, SequentialConsistency};
//!
//! let mut seen = Linearizability::new(Register(0));
//! seen.invoke(1, RegisterOp::Write(5));
//! seen.returns(1, None);
//! seen.invoke(2, RegisterOp::Read);
//! seen.returns(2, Some(0));
//! assert!(!seen.is_consistent(), "the write had returned");
//!
//! let mut seen = SequentialConsistency::new(Register(0));
//! seen.invoke(1, RegisterOp::Write(5));
//! seen.returns(1, None);
//! seen.invoke(2, RegisterOp::Read);
//! seen.returns(2, Some(0));
//! assert_eq!(seen.order().unwrap().len(), 2, "caller 2 read before caller 1 wrote");
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Debug};
use std::hash::Hash;

/// An object that does one operation after the other.
pub trait Object: Clone + Eq + Hash + Debug {
    /// What callers ask for.
    type Op: Clone + Eq + Hash + Debug;
    /// What they get.
    type Ret: Clone + Eq + Hash + Debug;

    /// Does an operation.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;
}

/// A history that must be linearizable.
pub type Linearizability<C, O> = History<C, O, true>;

/// A history that must be sequentially consistent.
pub type SequentialConsistency<C, O> = History<C, O, false>;

/// Operations of callers `C` on an object `O`; with `REAL_TIME`, it matters what had returned when they were invoked.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct History<C: Ord, O: Object, const REAL_TIME: bool> {
    object: O,
    callers: BTreeMap<C, Vec<Operation<C, O>>>,
}

/// An operation of one caller.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Operation<C, O: Object> {
    op: O::Op,
    /// What it returned, if it did.
    ret: Option<O::Ret>,
    /// How many operations of the others had returned before it was invoked; those with none are left out.
    after: Vec<(C, usize)>,
}

/// An operation in an order that explains a history: who asked for what, and got what.
pub type Step<C, O> = (C, <O as Object>::Op, <O as Object>::Ret);

impl<C: Clone + Ord + Debug, O: Object, const REAL_TIME: bool> History<C, O, REAL_TIME> {
    /// Nothing happened yet to an object.
    pub fn new(object: O) -> Self {
        History { object, callers: BTreeMap::new() }
    }

    /// A caller asks for something.
    ///
    /// # Panics
    /// Its last operation has not returned.
    #[track_caller]
    pub fn invoke(&mut self, caller: C, op: O::Op) {
        assert!(!self.waits(&caller), "{caller:?} invokes {op:?} before its last operation returned");
        let returned = |ops: &Vec<Operation<C, O>>| ops.iter().filter(|op| op.ret.is_some()).count();
        let others = self.callers.iter().filter(|(other, _)| REAL_TIME && **other != caller);
        let after =
            others.map(|(other, ops)| (other.clone(), returned(ops))).filter(|(_, n)| *n > 0).collect();
        self.callers.entry(caller).or_default().push(Operation { op, ret: None, after });
    }

    /// The operation that a caller waits for returns.
    ///
    /// # Panics
    /// The caller waits for nothing.
    #[track_caller]
    #[allow(clippy::needless_pass_by_value)] // As for `invoke`.
    pub fn returns(&mut self, caller: C, ret: O::Ret) {
        match self.callers.get_mut(&caller).and_then(|ops| ops.last_mut()) {
            Some(last) if last.ret.is_none() => last.ret = Some(ret),
            _ => panic!("{ret:?} returns to {caller:?}, who waits for nothing"),
        }
    }

    /// Whether a caller's operation has not returned.
    pub fn waits(&self, caller: &C) -> bool {
        self.callers.get(caller).and_then(|ops| ops.last()).is_some_and(|last| last.ret.is_none())
    }

    /// Number of operations, returned or not.
    pub fn len(&self) -> usize {
        self.callers.values().map(Vec::len).sum()
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.callers.is_empty()
    }

    /// Whether one object could have done all this, one operation after the other.
    pub fn is_consistent(&self) -> bool {
        self.order().is_some()
    }

    /// An order of the operations that explains what was returned. Operations that have not returned are in it if
    /// they are needed.
    pub fn order(&self) -> Option<Vec<Step<C, O>>> {
        Search::new(self).run()
    }
}

impl<C: Ord + Debug, O: Object, const REAL_TIME: bool> Debug for History<C, O, REAL_TIME> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |op: &Operation<C, O>| match &op.ret {
            Some(ret) => format!("{:?} = {ret:?}", op.op),
            None => format!("{:?} …", op.op),
        };
        let ops = |ops: &Vec<Operation<C, O>>| ops.iter().map(shown).collect::<Vec<_>>().join(", ");
        f.debug_map().entries(self.callers.iter().map(|(caller, all)| (caller, ops(all)))).finish()
    }
}

/// The search for an order: how many operations of each caller were taken, and what became of the object.
struct Search<'h, C, O: Object> {
    callers: Vec<(&'h C, &'h [Operation<C, O>])>,
    /// Per operation, the numbers of callers instead of the callers.
    after: Vec<Vec<Vec<(usize, usize)>>>,
    taken: Vec<usize>,
    object: O,
    /// The steps taken; each with the object before it, and whose turn it was.
    path: Vec<(usize, O, O::Ret)>,
    seen: HashSet<(Vec<usize>, O)>,
}

impl<'h, C: Clone + Ord, O: Object> Search<'h, C, O> {
    fn new<const REAL_TIME: bool>(history: &'h History<C, O, REAL_TIME>) -> Self {
        let callers: Vec<_> = history.callers.iter().map(|(caller, ops)| (caller, &ops[..])).collect();
        let number =
            |caller: &C| history.callers.keys().position(|other| other == caller).expect("it called");
        let numbered =
            |op: &Operation<C, O>| op.after.iter().map(|(caller, n)| (number(caller), *n)).collect();
        let after = callers.iter().map(|(_, ops)| ops.iter().map(numbered).collect()).collect();
        let taken = vec![0; callers.len()];
        Search {
            callers,
            after,
            taken,
            object: history.object.clone(),
            path: Vec::new(),
            seen: HashSet::new(),
        }
    }

    fn run(mut self) -> Option<Vec<Step<C, O>>> {
        let mut turn = 0;
        loop {
            if self.is_done() {
                let mut taken = vec![0; self.callers.len()];
                let step = |(who, _, ret): (usize, O, O::Ret)| {
                    let (caller, ops) = self.callers[who];
                    taken[who] += 1;
                    (caller.clone(), ops[taken[who] - 1].op.clone(), ret)
                };
                return Some(self.path.into_iter().map(step).collect());
            }
            match (turn..self.callers.len()).find(|&who| self.take(who)) {
                Some(_) => turn = 0,
                None => {
                    let (who, object, _) = self.path.pop()?;
                    self.taken[who] -= 1;
                    self.object = object;
                    turn = who + 1;
                }
            }
        }
    }

    /// Whether everything that returned was taken.
    fn is_done(&self) -> bool {
        let mut next = self.taken.iter().zip(&self.callers).map(|(&taken, (_, ops))| ops.get(taken));
        !next.any(|next| next.is_some_and(|op| op.ret.is_some()))
    }

    /// Takes the next operation of a caller, if it may come now, returns what it did, and leads to something new.
    fn take(&mut self, who: usize) -> bool {
        let nth = self.taken[who];
        let Some(next) = self.callers[who].1.get(nth) else { return false };
        if self.after[who][nth].iter().any(|&(other, n)| self.taken[other] < n) {
            return false;
        }
        let mut object = self.object.clone();
        let ret = object.apply(&next.op);
        if next.ret.as_ref().is_some_and(|seen| *seen != ret) {
            return false;
        }
        self.taken[who] += 1;
        if !self.seen.insert((self.taken.clone(), object.clone())) {
            self.taken[who] -= 1;
            return false;
        }
        self.path.push((who, std::mem::replace(&mut self.object, object), ret));
        true
    }
}

/// A register: one value, read and written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Register<T>(pub T);

/// What a [`Register`] is asked for. A read returns the value, a write nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegisterOp<T> {
    /// What is the value?
    Read,
    /// This is the value from now on.
    Write(T),
}

impl<T: Clone + Eq + Hash + Debug> Object for Register<T> {
    type Op = RegisterOp<T>;
    type Ret = Option<T>;

    fn apply(&mut self, op: &RegisterOp<T>) -> Option<T> {
        match op {
            RegisterOp::Read => Some(self.0.clone()),
            RegisterOp::Write(value) => {
                self.0 = value.clone();
                None
            }
        }
    }
}
