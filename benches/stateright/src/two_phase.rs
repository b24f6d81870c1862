//! Two-phase commit with crashes, for N participants: with states as one would write them, with derived bits, and with
//! bits by hand. The actions are the same.

use std::collections::BTreeSet;

use stubborn::pack::{Reader, Writer};
use stubborn::{Model, Pack};

use crate::Safe;

/// Number of participants.
pub const N: usize = 7;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    TmCommit,
    TmAbort,
    TmRcvPrepared(u8),
    RmPrepare(u8),
    RmChooseAbort(u8),
    RmRcvCommit(u8),
    RmRcvAbort(u8),
    RmCrash(u8),
    TmCrash,
    TmRecover,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Pack)]
pub enum Rm {
    Working,
    Prepared,
    Committed,
    Aborted,
    Crashed,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Pack)]
pub enum Tm {
    Init,
    Committed,
    Aborted,
    Crashed,
}

/// What the protocol needs of a state, however that is kept.
pub trait Parts: Clone {
    fn start() -> Self;
    fn rm(&self, i: u8) -> Rm;
    fn set_rm(&mut self, i: u8, rm: Rm);
    fn tm(&self) -> Tm;
    fn set_tm(&mut self, tm: Tm);
    fn knows(&self, i: u8) -> bool;
    fn learn(&mut self, i: u8);
    fn has(&self, msg: Msg) -> bool;
    fn send(&mut self, msg: Msg);
    fn may_crash(&self) -> bool;
    fn crash(&mut self);
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Pack)]
pub enum Msg {
    Prepared(#[pack(0..=7)] u8),
    Commit,
    Abort,
}

#[derive(Clone)]
pub struct TwoPhase<S>(pub usize, pub std::marker::PhantomData<S>);

impl<S> Model for TwoPhase<S>
where
    S: Parts + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static,
{
    type State = S;
    type Action = Action;

    fn initial(&self) -> Vec<S> {
        vec![S::start()]
    }

    fn actions(&self, s: &S, out: &mut Vec<Action>) {
        let n = self.0 as u8;
        if s.tm() == Tm::Init {
            if (0..n).all(|i| s.knows(i)) {
                out.push(Action::TmCommit);
            }
            out.push(Action::TmAbort);
            if s.may_crash() {
                out.push(Action::TmCrash);
            }
        }
        if s.tm() == Tm::Crashed {
            out.push(Action::TmRecover);
        }
        for i in 0..n {
            if s.tm() == Tm::Init && !s.knows(i) && s.has(Msg::Prepared(i)) {
                out.push(Action::TmRcvPrepared(i));
            }
            let rm = s.rm(i);
            if rm == Rm::Working {
                out.extend([Action::RmPrepare(i), Action::RmChooseAbort(i)]);
            }
            if rm == Rm::Prepared && s.has(Msg::Commit) {
                out.push(Action::RmRcvCommit(i));
            }
            if matches!(rm, Rm::Working | Rm::Prepared) {
                if s.has(Msg::Abort) {
                    out.push(Action::RmRcvAbort(i));
                }
                out.push(Action::RmCrash(i));
            }
        }
    }

    fn step(&self, s: &mut S, action: &Action) {
        match *action {
            Action::TmCommit => {
                s.set_tm(Tm::Committed);
                s.send(Msg::Commit);
            }
            Action::TmAbort => {
                s.set_tm(Tm::Aborted);
                s.send(Msg::Abort);
            }
            Action::TmRcvPrepared(i) => s.learn(i),
            Action::RmPrepare(i) => {
                s.set_rm(i, Rm::Prepared);
                s.send(Msg::Prepared(i));
            }
            Action::RmChooseAbort(i) | Action::RmRcvAbort(i) => s.set_rm(i, Rm::Aborted),
            Action::RmRcvCommit(i) => s.set_rm(i, Rm::Committed),
            Action::RmCrash(i) => s.set_rm(i, Rm::Crashed),
            Action::TmCrash => {
                s.set_tm(Tm::Crashed);
                s.crash();
            }
            Action::TmRecover => s.set_tm(Tm::Init),
        }
    }
}

impl<S> Safe for TwoPhase<S>
where
    S: Parts + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static,
{
    fn is_safe(&self, s: &S) -> bool {
        let has = |rm| (0..self.0 as u8).any(|i| s.rm(i) == rm);
        !(has(Rm::Aborted) && has(Rm::Committed))
    }
}

/// As one would write it; and how long collections get, which matters only where states are packed.
#[derive(Clone, Debug, Eq, Hash, PartialEq, Pack)]
pub struct Idiomatic {
    #[pack(max = 8)]
    rm: Vec<Rm>,
    tm: Tm,
    #[pack(max = 8)]
    tm_prepared: Vec<bool>,
    #[pack(max = 10)]
    msgs: BTreeSet<Msg>,
    #[pack(0..=1)]
    crashes_left: u8,
}

impl Parts for Idiomatic {
    fn start() -> Self {
        let (rm, tm_prepared) = (vec![Rm::Working; N], vec![false; N]);
        Idiomatic { rm, tm: Tm::Init, tm_prepared, msgs: BTreeSet::new(), crashes_left: 1 }
    }
    fn rm(&self, i: u8) -> Rm {
        self.rm[usize::from(i)]
    }
    fn set_rm(&mut self, i: u8, rm: Rm) {
        self.rm[usize::from(i)] = rm;
    }
    fn tm(&self) -> Tm {
        self.tm
    }
    fn set_tm(&mut self, tm: Tm) {
        self.tm = tm;
    }
    fn knows(&self, i: u8) -> bool {
        self.tm_prepared[usize::from(i)]
    }
    fn learn(&mut self, i: u8) {
        self.tm_prepared[usize::from(i)] = true;
    }
    fn has(&self, msg: Msg) -> bool {
        self.msgs.contains(&msg)
    }
    fn send(&mut self, msg: Msg) {
        self.msgs.insert(msg);
    }
    fn may_crash(&self) -> bool {
        self.crashes_left > 0
    }
    fn crash(&mut self) {
        self.crashes_left -= 1;
    }
}

/// As one would write it who knows how many there are: `#[derive(Pack)]` does the rest.
#[derive(Clone, Debug, Eq, Hash, PartialEq, Pack)]
pub struct Derived {
    rm: [Rm; N],
    tm: Tm,
    tm_prepared: [bool; N],
    msg_prepared: [bool; N],
    commit: bool,
    abort: bool,
    #[pack(0..=1)]
    crashes_left: u8,
}

impl Parts for Derived {
    fn start() -> Self {
        Derived {
            rm: [Rm::Working; N],
            tm: Tm::Init,
            tm_prepared: [false; N],
            msg_prepared: [false; N],
            commit: false,
            abort: false,
            crashes_left: 1,
        }
    }
    fn rm(&self, i: u8) -> Rm {
        self.rm[usize::from(i)]
    }
    fn set_rm(&mut self, i: u8, rm: Rm) {
        self.rm[usize::from(i)] = rm;
    }
    fn tm(&self) -> Tm {
        self.tm
    }
    fn set_tm(&mut self, tm: Tm) {
        self.tm = tm;
    }
    fn knows(&self, i: u8) -> bool {
        self.tm_prepared[usize::from(i)]
    }
    fn learn(&mut self, i: u8) {
        self.tm_prepared[usize::from(i)] = true;
    }
    fn has(&self, msg: Msg) -> bool {
        match msg {
            Msg::Prepared(i) => self.msg_prepared[usize::from(i)],
            Msg::Commit => self.commit,
            Msg::Abort => self.abort,
        }
    }
    fn send(&mut self, msg: Msg) {
        match msg {
            Msg::Prepared(i) => self.msg_prepared[usize::from(i)] = true,
            Msg::Commit => self.commit = true,
            Msg::Abort => self.abort = true,
        }
    }
    fn may_crash(&self) -> bool {
        self.crashes_left > 0
    }
    fn crash(&mut self) {
        self.crashes_left -= 1;
    }
}

/// The best that stateright can be given: bits by hand.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ByHand {
    rm: u32,
    tm: u8,
    tm_prepared: u8,
    msg_prepared: u8,
    decided: u8,
    crashes_left: u8,
}

const RMS: [Rm; 8] = [
    Rm::Working,
    Rm::Prepared,
    Rm::Committed,
    Rm::Aborted,
    Rm::Crashed,
    Rm::Crashed,
    Rm::Crashed,
    Rm::Crashed,
];
const TMS: [Tm; 4] = [Tm::Init, Tm::Committed, Tm::Aborted, Tm::Crashed];

impl Parts for ByHand {
    fn start() -> Self {
        ByHand { rm: 0, tm: 0, tm_prepared: 0, msg_prepared: 0, decided: 0, crashes_left: 1 }
    }
    fn rm(&self, i: u8) -> Rm {
        RMS[(self.rm >> (3 * i) & 7) as usize]
    }
    fn set_rm(&mut self, i: u8, rm: Rm) {
        self.rm = self.rm & !(7 << (3 * i)) | (rm as u32) << (3 * i);
    }
    fn tm(&self) -> Tm {
        TMS[usize::from(self.tm)]
    }
    fn set_tm(&mut self, tm: Tm) {
        self.tm = tm as u8;
    }
    fn knows(&self, i: u8) -> bool {
        self.tm_prepared >> i & 1 == 1
    }
    fn learn(&mut self, i: u8) {
        self.tm_prepared |= 1 << i;
    }
    fn has(&self, msg: Msg) -> bool {
        match msg {
            Msg::Prepared(i) => self.msg_prepared >> i & 1 == 1,
            Msg::Commit => self.decided & 1 == 1,
            Msg::Abort => self.decided & 2 == 2,
        }
    }
    fn send(&mut self, msg: Msg) {
        match msg {
            Msg::Prepared(i) => self.msg_prepared |= 1 << i,
            Msg::Commit => self.decided |= 1,
            Msg::Abort => self.decided |= 2,
        }
    }
    fn may_crash(&self) -> bool {
        self.crashes_left > 0
    }
    fn crash(&mut self) {
        self.crashes_left -= 1;
    }
}

impl Pack for ByHand {
    const BITS: u32 = 64;
    type Tables = ();

    #[inline]
    fn pack(&self, (): &(), out: &mut Writer<'_>) {
        out.put(self.rm | u32::from(self.tm) << 24 | u32::from(self.crashes_left) << 28, 32);
        let low = u32::from(self.tm_prepared) | u32::from(self.msg_prepared) << 8;
        out.put(low | u32::from(self.decided) << 16, 32);
    }

    #[inline]
    fn unpack((): &(), input: &mut Reader<'_>) -> Self {
        let (high, low) = (input.take(32), input.take(32));
        ByHand {
            rm: high & 0xff_ffff,
            tm: (high >> 24 & 3) as u8,
            crashes_left: (high >> 28) as u8,
            tm_prepared: low as u8,
            msg_prepared: (low >> 8) as u8,
            decided: (low >> 16) as u8,
        }
    }
}
