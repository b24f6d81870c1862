//! Families of systems with formulas about them: those of the note on guided reduction, which the
//! reductions were chosen on, and others, which they were not.
//!
//! Systems are models of the `models` folder where there is one that fits, or texts below. Formulas
//! name constants of the model, so that they fit every size.

/// A system that scales.
pub struct Family {
    /// What it is called in tables.
    pub name: &'static str,
    /// Whether the note on guided reduction has it.
    pub is_in_note: bool,
    /// The model.
    pub source: Source,
    /// Per size, the values of constants.
    pub sizes: &'static [&'static [(&'static str, i64)]],
    /// The same for sizes at which time can be measured well.
    pub larger: &'static [&'static [(&'static str, i64)]],
    /// What is claimed: the class of the formula, and the formula.
    pub formulas: &'static [(Class, &'static str)],
}

/// Where a model is.
pub enum Source {
    /// A file of the `models` folder.
    File(&'static str),
    /// A text.
    Text(&'static str),
}

/// What a formula is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Something never happens, or not before something else.
    Safety,
    /// Something is always followed by something else.
    Response,
    /// Something happens again and again.
    Recurrence,
    /// Something is so from some moment on.
    Persistence,
    /// Until something happens, something else is so.
    Until,
    /// Several of these.
    Nested,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 6] =
        [Class::Safety, Class::Response, Class::Recurrence, Class::Persistence, Class::Until, Class::Nested];

    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Class::Safety => "safety",
            Class::Response => "response",
            Class::Recurrence => "recurrence",
            Class::Persistence => "persistence",
            Class::Until => "until",
            Class::Nested => "nested",
        }
    }
}

/// A chain of one-place buffers that only know full and empty.
const CHAIN: &str = "
const N = 6;
process Cell[i in 0..N] {
    empty: move[i] -> full;
    full:  move[i + 1] -> empty;
}
";

/// Mutual exclusion with one bit per process (Burns and Lynch; Lamport): who sees that a process
/// before it wants to enter gives way, and waits for those after it. Its place is `look[N]`.
const ONE_BIT: &str = "
const N = 3;
process Flag[i in 0..N] {
    down: raise[i] -> up | is_down[i, j] -> down for j in 0..N when j != i;
    up:   lower[i] -> down | is_up[i, j] -> up for j in i + 1..N;
}
process Peer[j in 0..N] {
    idle:            raise[j] -> look[0];
    look[k in 0..N]: is_down[k, j] -> look[k + 1] when k != j
                   | tau -> look[k + 1] when k == j
                   | is_up[k, j] -> back[k] when k < j;
    look[N]:         lower[j] -> idle;
    back[k in 0..N]: lower[j] -> off[k] when k < j;
    off[k in 0..N]:  is_down[k, j] -> idle when k < j;
}
";

/// An elevator that goes up and down, and stops where a button was pressed.
const ELEVATOR: &str = "
const N = 4;
process Button[f in 0..N] {
    off: press[f] -> on | pass[f] -> off;
    on:  serve[f] -> off;
}
process Cabin {
    up[f in 0..N]:        serve[f] -> open_up[f]
                        | pass[f] -> up[f + 1] when f < N - 1
                        | pass[f] -> down[f - 1] when f == N - 1;
    open_up[f in 0..N]:   close -> up[f + 1] when f < N - 1 | close -> down[f - 1] when f == N - 1;
    down[f in 0..N]:      serve[f] -> open_down[f]
                        | pass[f] -> down[f - 1] when f > 0
                        | pass[f] -> up[f + 1] when f == 0;
    open_down[f in 0..N]: close -> down[f - 1] when f > 0 | close -> up[f + 1] when f == 0;
}
";

/// The sliding window protocol that goes back to the first message without an acknowledgment. Messages
/// are numbered modulo M; C places in each direction, of which the first may lose what it has.
const WINDOW: &str = "
const M = 3;
const C = 1;
process Sender {
    at[b in 0..M, k in 0..M]: data[0, (b + k) % M] -> at[b, k + 1] when k < M - 1
                            | ack[C, (b + j) % M] -> at[(b + j) % M, k - j] for j in 0..M when j <= k
                            | ack[C, (b + j) % M] -> at[b, k] for j in 0..M when j > k
                            | timeout -> at[b, 0] when k > 0;
}
process Data[c in 0..C] {
    empty:           data[c, m] -> full[m] for m in 0..M;
    full[m in 0..M]: data[c + 1, m] -> empty | tau -> empty when c == 0;
}
process Receiver {
    wait[e in 0..M]:   data[C, e] -> got[e] | data[C, d] -> answer[e] for d in 0..M when d != e;
    got[e in 0..M]:    deliver[e] -> answer[(e + 1) % M];
    answer[e in 0..M]: ack[0, e] -> wait[e];
}
process Ack[c in 0..C] {
    empty:           ack[c, m] -> full[m] for m in 0..M;
    full[m in 0..M]: ack[c + 1, m] -> empty | tau -> empty when c == 0;
}
";

/// All families.
pub const FAMILIES: [Family; 15] = [
    Family {
        name: "philosophers",
        is_in_note: true,
        source: Source::File("dining.proc"),
        sizes: &[&[("N", 4)], &[("N", 5)], &[("N", 6)], &[("N", 7)]],
        larger: &[&[("N", 9)], &[("N", 11)]],
        formulas: &[
            (Class::Safety, "[] !(Phil[0]@eat && Phil[1]@eat)"),
            (Class::Safety, "[] !(Phil[0]@eat && Phil[2]@eat)"),
            (Class::Response, "[] (Phil[0]@left -> <> Phil[0]@eat)"),
            (Class::Recurrence, "[] <> Phil[0]@think"),
            (Class::Persistence, "<> [] !Phil[0]@eat"),
            (Class::Until, "!Phil[0]@eat W Phil[0]@left"),
            (Class::Until, "[] (Phil[0]@eat -> (Phil[0]@eat W Phil[0]@right))"),
            (Class::Nested, "([] <> Phil[0]@eat) -> ([] <> Phil[0]@left)"),
        ],
    },
    Family {
        name: "token ring",
        is_in_note: true,
        source: Source::File("token_ring.proc"),
        sizes: &[&[("N", 4)], &[("N", 5)], &[("N", 6)], &[("N", 7)], &[("N", 8)]],
        larger: &[&[("N", 10)], &[("N", 12)]],
        formulas: &[
            (Class::Safety, "[] !(Customer[0]@using && Customer[1]@using)"),
            (Class::Safety, "[] !(Customer[0]@waiting && Customer[1]@using)"),
            (Class::Response, "[] (Customer[0]@waiting -> <> Customer[0]@using)"),
            (Class::Recurrence, "[] <> Station[0]@token[1]"),
            (Class::Persistence, "<> [] !Customer[0]@using"),
            (Class::Until, "!Customer[0]@using W Customer[0]@waiting"),
            (Class::Until, "[] (Station[0]@busy -> (Station[0]@busy U Station[0]@token[1]))"),
            (Class::Nested, "([] <> Customer[0]@using) -> ([] <> Station[0]@busy)"),
        ],
    },
    Family {
        name: "counters",
        is_in_note: true,
        source: Source::File("counters.proc"),
        sizes: &[&[("N", 4)], &[("N", 5)], &[("N", 6)], &[("N", 7)]],
        larger: &[&[("N", 8)], &[("N", 9)]],
        formulas: &[
            (Class::Safety, "[] !(Counter[0]@at[3] && Counter[1]@at[3])"),
            (Class::Response, "[] (Counter[0]@at[1] -> <> Counter[0]@at[2])"),
            (Class::Recurrence, "[] <> Counter[0]@at[0]"),
            (Class::Persistence, "<> [] !Counter[0]@at[0]"),
            (Class::Until, "!Counter[0]@at[2] W Counter[0]@at[1]"),
            (Class::Until, "[] (Counter[0]@at[1] -> (Counter[0]@at[1] W Counter[0]@at[2]))"),
            (Class::Nested, "([] <> Counter[0]@at[1]) -> ([] <> Counter[0]@at[2])"),
            (Class::Nested, "<> [] !Counter[0]@at[1] || ([] <> Counter[0]@at[2] && [] <> Counter[0]@at[0])"),
        ],
    },
    Family {
        name: "chains",
        is_in_note: true,
        source: Source::Text(CHAIN),
        sizes: &[&[("N", 6)], &[("N", 8)], &[("N", 10)], &[("N", 12)], &[("N", 14)]],
        larger: &[&[("N", 16)], &[("N", 17)]],
        formulas: &[
            (Class::Safety, "[] !(Cell[0]@full && Cell[N - 1]@full)"),
            (Class::Response, "[] (Cell[0]@full -> <> Cell[N - 1]@full)"),
            (Class::Recurrence, "[] <> Cell[N - 1]@full"),
            (Class::Persistence, "<> [] Cell[0]@empty"),
            (Class::Until, "!Cell[N - 1]@full U Cell[0]@full"),
            (Class::Until, "[] (Cell[N - 1]@full -> (Cell[N - 1]@full U Cell[0]@full))"),
            (Class::Nested, "([] <> Cell[0]@full) -> ([] <> Cell[N - 1]@empty)"),
        ],
    },
    Family {
        name: "semaphore",
        is_in_note: true,
        source: Source::File("semaphore.proc"),
        sizes: &[&[("N", 4)], &[("N", 5)], &[("N", 6)], &[("N", 7)]],
        larger: &[&[("N", 10)], &[("N", 13)]],
        formulas: &[
            (Class::Safety, "[] !(Worker[0]@critical[*] && Worker[1]@critical[*])"),
            (Class::Response, "[] (Worker[0]@trying -> <> Worker[0]@critical[*])"),
            (Class::Recurrence, "[] <> Semaphore@free"),
            (Class::Persistence, "<> [] !Worker[0]@critical[*]"),
            (Class::Until, "!Worker[0]@critical[*] W Worker[0]@trying"),
            (Class::Until, "[] (Worker[0]@critical[*] -> (Worker[0]@critical[*] U Semaphore@free))"),
            (Class::Nested, "([] <> Worker[0]@critical[*]) -> ([] <> Worker[1]@critical[*])"),
        ],
    },
    Family {
        name: "one-bit mutex",
        is_in_note: false,
        source: Source::Text(ONE_BIT),
        sizes: &[&[("N", 2)], &[("N", 3)], &[("N", 4)]],
        larger: &[&[("N", 5)]],
        formulas: &[
            (Class::Safety, "[] !(Peer[0]@look[N] && Peer[1]@look[N])"),
            (Class::Safety, "[] !(Peer[0]@look[1] && Peer[N - 1]@look[N])"),
            (Class::Response, "[] (Peer[0]@look[0] -> <> Peer[0]@look[N])"),
            (Class::Response, "[] (Peer[N - 1]@look[0] -> <> Peer[N - 1]@look[N])"),
            (Class::Recurrence, "[] <> Flag[0]@down"),
            (Class::Persistence, "<> [] !Peer[0]@look[N]"),
            (Class::Until, "!Peer[0]@look[N] W Flag[0]@up"),
            (Class::Until, "[] (Peer[0]@look[N] -> (Flag[0]@up W Peer[0]@idle))"),
            (Class::Nested, "([] <> Peer[0]@look[N]) -> ([] <> Peer[1]@look[N])"),
        ],
    },
    Family {
        name: "buffer",
        is_in_note: false,
        source: Source::File("buffer.proc"),
        sizes: &[&[("P", 2), ("C", 2)], &[("P", 3), ("C", 3)], &[("P", 4), ("C", 4)], &[("P", 5), ("C", 5)]],
        larger: &[&[("P", 6), ("C", 6)], &[("P", 7), ("C", 7)]],
        formulas: &[
            (Class::Safety, "[] !(Buffer@items[K] && Producer[0]@give)"),
            (Class::Safety, "[] (Consumer[0]@use -> !Consumer[0]@take)"),
            (Class::Response, "[] (Producer[0]@give -> <> Producer[0]@make)"),
            (Class::Response, "[] (Buffer@items[K] -> <> !Buffer@items[K])"),
            (Class::Recurrence, "[] <> Consumer[0]@use"),
            (Class::Persistence, "<> [] !Buffer@items[0]"),
            (Class::Until, "Consumer[0]@take W !Buffer@items[0]"),
            (Class::Nested, "([] <> Buffer@items[0] && [] <> Buffer@items[2]) -> ([] <> Buffer@items[1])"),
        ],
    },
    Family {
        name: "elevator",
        is_in_note: false,
        source: Source::Text(ELEVATOR),
        sizes: &[&[("N", 4)], &[("N", 6)], &[("N", 8)], &[("N", 10)]],
        larger: &[&[("N", 11)], &[("N", 12)]],
        formulas: &[
            (Class::Safety, "[] !(Button[0]@on && Button[N - 1]@on)"),
            (Class::Response, "[] (Button[0]@on -> <> Button[0]@off)"),
            (Class::Recurrence, "[] <> Cabin@up[1]"),
            (Class::Recurrence, "[] <> Button[0]@on"),
            (Class::Persistence, "<> [] !Button[0]@on"),
            (Class::Until, "!Cabin@open_up[1] W Button[1]@on"),
            (Class::Until, "[] (Button[1]@on -> (Button[1]@on U (Cabin@open_up[1] || Cabin@open_down[1])))"),
            (Class::Nested, "([] <> Button[0]@on) -> ([] <> Cabin@open_up[N - 2])"),
        ],
    },
    Family {
        name: "sliding window",
        is_in_note: false,
        source: Source::Text(WINDOW),
        sizes: &[&[("M", 2), ("C", 1)], &[("M", 3), ("C", 1)], &[("M", 4), ("C", 1)], &[("M", 2), ("C", 2)]],
        larger: &[&[("M", 3), ("C", 2)], &[("M", 3), ("C", 3)]],
        formulas: &[
            (Class::Safety, "[] !(Sender@at[1, 0] && Receiver@got[1])"),
            (Class::Safety, "[] !(Sender@at[0, 1] && Receiver@got[1])"),
            (Class::Response, "[] (Receiver@got[0] -> <> Receiver@wait[1])"),
            (Class::Recurrence, "[] <> Receiver@got[0]"),
            (Class::Persistence, "<> [] !Receiver@got[0]"),
            (Class::Until, "!Sender@at[1, 0] W Receiver@got[0]"),
            (Class::Until, "[] (Receiver@got[0] -> (Receiver@got[0] W Receiver@answer[1]))"),
            (Class::Nested, "([] <> Receiver@got[0]) -> ([] <> Receiver@got[1])"),
        ],
    },
    Family {
        name: "leader election",
        is_in_note: false,
        source: Source::File("leader_election.proc"),
        sizes: &[&[("N", 3)], &[("N", 4)], &[("N", 5)], &[("N", 6)]],
        larger: &[&[("N", 8)], &[("N", 10)]],
        formulas: &[
            (Class::Safety, "[] !Node[0]@leader"),
            (Class::Safety, "[] !(Node[0]@pass[N - 1] && Node[1]@pass[N - 1])"),
            (Class::Response, "[] (Node[0]@listen -> <> Node[0]@pass[N - 1])"),
            (Class::Recurrence, "[] <> Node[0]@pass[1]"),
            (Class::Persistence, "<> [] Node[N - 1]@leader"),
            (Class::Until, "!Node[N - 1]@leader U Node[0]@pass[N - 1]"),
            (Class::Until, "!Node[0]@listen U Node[1]@listen"),
            (Class::Nested, "<> (Node[0]@pass[N - 1] && <> Node[1]@pass[N - 1])"),
        ],
    },
    Family {
        name: "readers-writers",
        is_in_note: false,
        source: Source::File("readers_writers.proc"),
        sizes: &[&[("R", 3)], &[("R", 5)], &[("R", 7)], &[("R", 9), ("W", 3)]],
        larger: &[&[("R", 11), ("W", 3)], &[("R", 13), ("W", 3)]],
        formulas: &[
            (Class::Safety, "[] !(Writer[0]@writing && Reader[0]@reading)"),
            (Class::Response, "[] (Writer[0]@waiting -> <> Writer[0]@writing)"),
            (Class::Response, "[] (Writer[0]@writing -> <> Writer[0]@idle)"),
            (Class::Recurrence, "[] <> Controller@readers[0]"),
            (Class::Persistence, "<> [] !Writer[0]@writing"),
            (Class::Until, "!Writer[0]@writing W Writer[0]@waiting"),
            (Class::Nested, "([] <> Writer[0]@writing) -> ([] <> Controller@readers[0])"),
        ],
    },
    Family {
        name: "acknowledged",
        is_in_note: false,
        source: Source::File("acknowledged_ring.proc"),
        sizes: &[&[("N", 4)], &[("N", 6)], &[("N", 8)], &[("N", 10)]],
        larger: &[&[("N", 11)], &[("N", 12)]],
        formulas: &[
            (Class::Safety, "[] !(Customer[0]@at[7] && Customer[1]@at[7])"),
            (Class::Safety, "[] !(Customer[0]@at[1] && Customer[1]@at[7])"),
            (Class::Response, "[] (Customer[0]@at[1] -> <> Customer[0]@at[7])"),
            (Class::Recurrence, "[] <> Customer[0]@at[5]"),
            (Class::Persistence, "<> [] !Customer[0]@at[8]"),
            (Class::Until, "!Customer[1]@at[7] W Customer[0]@at[8]"),
            (Class::Until, "[] (Customer[0]@at[8] -> (Customer[0]@at[8] W Customer[0]@at[0]))"),
            (Class::Nested, "([] <> Customer[0]@at[8]) -> ([] <> Customer[0]@at[5])"),
        ],
    },
    Family {
        name: "scheduler",
        is_in_note: false,
        source: Source::File("scheduler.proc"),
        sizes: &[&[("N", 4)], &[("N", 6)], &[("N", 8)], &[("N", 10)]],
        larger: &[&[("N", 11)], &[("N", 12)]],
        formulas: &[
            (Class::Safety, "[] !(Cell[0]@started && Cell[1]@started)"),
            (Class::Safety, "[] !(Cell[0]@running && Cell[1]@running)"),
            (Class::Response, "[] (Cell[0]@running -> <> Cell[0]@turn[0])"),
            (Class::Recurrence, "[] <> Cell[0]@turn[1]"),
            (Class::Recurrence, "[] <> Cell[0]@finished"),
            (Class::Persistence, "<> [] !Cell[0]@running"),
            (Class::Until, "!Cell[1]@started W Cell[0]@started"),
            (Class::Until, "[] (Cell[0]@started -> (Cell[0]@started U Cell[0]@finished))"),
            (Class::Nested, "[] (Cell[0]@started -> (!Cell[N - 1]@started U Cell[1]@started))"),
        ],
    },
    Family {
        name: "crossing",
        is_in_note: false,
        source: Source::File("crossing.proc"),
        sizes: &[&[("N", 3)], &[("N", 4)], &[("N", 5)], &[("N", 6)]],
        larger: &[&[("N", 8)], &[("N", 10)]],
        formulas: &[
            (Class::Safety, "[] (Train[0]@there -> Gate@down)"),
            (Class::Response, "[] (Train[0]@near -> <> Train[0]@there)"),
            (Class::Response, "[] (Gate@up -> <> Gate@down)"),
            (Class::Recurrence, "[] <> Gate@up"),
            (Class::Persistence, "<> [] Gate@down"),
            (Class::Until, "!Train[0]@there W Gate@down"),
            (Class::Until, "[] (Train[0]@there -> (Train[0]@there U Train[0]@far))"),
            (Class::Nested, "([] <> Train[0]@there) -> ([] <> Train[0]@near)"),
        ],
    },
    Family {
        name: "protocols",
        is_in_note: false,
        source: Source::File("protocols.proc"),
        sizes: &[&[("N", 1)], &[("N", 2)]],
        larger: &[],
        formulas: &[
            (Class::Safety, "[] !(Sender[0]@ready[1] && Receiver[0]@expecting[0])"),
            (Class::Response, "[] (Sender[0]@sending[0] -> <> Receiver[0]@got[0])"),
            (Class::Recurrence, "[] <> Receiver[0]@got[0]"),
            (Class::Persistence, "<> [] !Receiver[0]@got[0]"),
            (Class::Until, "!Receiver[0]@got[0] W Sender[0]@waiting[0]"),
            (Class::Until, "[] (Receiver[0]@got[0] -> (Receiver[0]@got[0] W Receiver[0]@answer[0]))"),
            (Class::Nested, "([] <> Receiver[0]@got[0]) -> ([] <> Receiver[0]@got[1])"),
        ],
    },
];
