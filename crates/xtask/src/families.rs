//! Families of models in Promela, so that Spin reads the same text: those of `docs/fair-reduction.md`.

/// A family: its name, some sizes, and a model for `N` with a formula `q`, which fairness is for, and what [`AGAIN`] is about.
pub(crate) const FAMILIES: [(&str, &[u32], &str); 8] = [
    (
        "semaphore",
        &[4, 7, 10, 12],
        "byte sem = 1;
         active [N] proctype W() {
            do :: skip; asks: atomic { sem > 0 -> sem-- }; inside: skip; skip; sem++ od
         }
         #define INSIDE W[0]@inside
         #define BEFORE W[0]@asks
         ltl q { [] (W[0]@inside -> <> !W[0]@inside) }",
    ),
    (
        "peterson",
        &[2, 3],
        "byte level[N]; byte last[N];
         active [N] proctype P() {
            byte l, k;
            do
            :: skip; l = 1;
               do
               :: l < N -> level[_pid] = l; last[l] = _pid; k = 0;
                  waits: do
                  :: k < N -> (k == _pid || level[k] < l || last[l] != _pid); k++
                  :: else -> break
                  od;
                  l++
               :: else -> break
               od;
               inside: level[_pid] = 0
            od
         }
         #define INSIDE P[0]@inside
         #define BEFORE P[0]@waits
         ltl q { [] (P[0]@waits -> <> P[0]@inside) }",
    ),
    (
        "philosophers",
        &[5, 7, 9, 10],
        "bool f[N];
         #define A (_pid == N - 1 -> 0 : _pid)
         #define B (_pid == N - 1 -> N - 1 : _pid + 1)
         active [N] proctype P() {
            do :: atomic { !f[A] -> f[A] = 1 }; one: atomic { !f[B] -> f[B] = 1 }; eats: f[A] = 0; f[B] = 0 od
         }
         #define INSIDE P[0]@eats
         #define BEFORE P[0]@one
         ltl q { [] (P[0]@eats -> <> !P[0]@eats) }",
    ),
    (
        "pipeline",
        &[3, 4, 6, 7],
        "bool b[N];
         active proctype First() { do :: skip; skip; atomic { !b[0] -> b[0] = 1 } od }
         active [N - 2] proctype Middle() {
            do :: atomic { b[_pid - 1] -> b[_pid - 1] = 0 }; skip; atomic { !b[_pid] -> b[_pid] = 1 } od
         }
         active proctype Last() { do :: atomic { b[_pid - 1] -> b[_pid - 1] = 0 }; got: skip; rests: skip od }
         #define INSIDE Last[N - 1]@got
         #define BEFORE Last[N - 1]@rests
         ltl q { [] <> Last[N - 1]@got }",
    ),
    (
        "beside",
        &[3, 5, 7, 9],
        "bool lock;
         active [2] proctype L() { do :: skip; asks: atomic { !lock -> lock = 1 }; inside: lock = 0 od }
         active [N] proctype Loop() { do :: skip; skip; skip od }
         #define INSIDE L[0]@inside
         #define BEFORE L[0]@asks
         ltl q { [] (L[0]@inside -> <> !L[0]@inside) }",
    ),
    (
        "ring",
        &[4, 7, 10, 12],
        "byte t;
         active [N] proctype S() {
            do
            :: skip; waits: t == _pid; uses: t = (_pid + 1) % N
            :: atomic { t == _pid -> t = (_pid + 1) % N }
            od
         }
         #define INSIDE S[0]@uses
         #define BEFORE S[0]@waits
         ltl q { [] (S[0]@waits -> <> S[0]@uses) }",
    ),
    (
        "clients",
        &[4, 6, 8, 9],
        "chan ask = [0] of { byte };
         chan reply[N] = [0] of { bit };
         active [N] proctype C() { do :: skip; ask!_pid; waits: reply[_pid]?_; rests: skip od }
         active proctype S() { byte who; do :: ask?who; reply[who]!0 od }
         #define INSIDE C[0]@waits
         #define BEFORE C[0]@rests
         ltl q { [] (C[0]@waits -> <> !C[0]@waits) }",
    ),
    (
        "pairs",
        &[2, 3, 4, 5],
        "bool x[N];
         active [N] proctype Fills() { do :: atomic { !x[_pid] -> x[_pid] = 1 }; skip od }
         active [N] proctype Drains() { do :: atomic { x[_pid - N] -> x[_pid - N] = 0 }; got: skip od }
         #define INSIDE Drains[N]@got
         #define BEFORE x[0]
         ltl q { [] <> Drains[N]@got }",
    ),
];

/// Holds without fairness: between two times inside there is one before.
pub(crate) const AGAIN: &str = "
         #define AGAIN (BEFORE V (!INSIDE || BEFORE))
         ltl r { [] (INSIDE -> (AGAIN V (INSIDE || AGAIN))) }";
