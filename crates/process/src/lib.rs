//! Front end for process networks: `.proc` files become action systems.
//!
//! A network is a set of processes, each with its own states. They move by *actions*, and an
//! action that several processes have in common is one that they do together, after Valmari,
//! *On-the-fly verification with stubborn sets* (CAV '93). This crate owns the language: its
//! grammar, its messages, and what it means as a [`model::ActionSystem`]. It knows nothing of
//! searches, and reads no files: whoever calls [`load`] hands in the text and a [`Loader`](language::Loader).
//!
//! ```
//! use base::Budget;
//! use language::{Model as _, PropertyKind};
//! use stubborn_process::{Options, load};
//!
//! let text = "
//!     const N = 3;
//!
//!     process Fork[i in 0..N] {
//!         free: take_left[i] -> held | take_right[i] -> held;
//!         held: put_left[i] -> free | put_right[i] -> free;
//!     }
//!
//!     process Phil[i in 0..N] {
//!         think: take_left[i] -> left;
//!         left:  take_right[(i + 1) % N] -> eat;
//!         eat:   put_left[i] -> right;
//!         right: put_right[(i + 1) % N] -> think;
//!     }
//!
//!     invariant half_eat = (count i in 0..N: Phil[i]@eat) <= N / 2;
//! ";
//! let mut sources = base::SourceMap::new();
//! let source = sources.add("dining.proc", text.into()).unwrap();
//! let options = Options { constants: vec![("N".into(), 4)], ..Options::default() }; // -D N=4
//! let no_files = &mut |_: &str| Err("there are no files".to_owned());
//! let mut model = load(&mut sources, source, &options, no_files, &mut Budget::unlimited()).unwrap();
//! assert_eq!(model.system.processes().len(), 8);
//! assert!(matches!(model.properties[0].kind, PropertyKind::Invariant(_)));
//!
//! // The text of a proposition, from wherever it comes, becomes an expression of the system.
//! let other = sources.add("--ltl", b"Phil[0]@eat".to_vec()).unwrap();
//! assert!(model.resolve("Phil[0]@eat", other, 0).is_ok());
//! let errors = model.resolve("Phil[0]@aet", other, 0).unwrap_err();
//! assert_eq!(errors.iter().next().unwrap().help.as_deref(), Some("did you mean `eat`?"));
//! ```
//!
//! # A first model
//!
//! ```text
//! process Light {
//!     red:   go -> green;
//!     green: stop -> red;
//! }
//!
//! process Car {
//!     waiting: go -> driving;
//!     driving: honk -> driving | stop -> waiting;
//! }
//!
//! deadlock-free;
//! invariant obeys = Car@driving -> Light@green;
//! ```
//!
//! `Light` and `Car` both have `go` and `stop`, so they do these together or not at all. Only `Car`
//! has `honk`, so it does that alone, whenever it is driving. A state lists its *alternatives*: an
//! action and the state that it leads to, separated by `|`. A state without moves is written
//! `end: ;`. The first state is the initial one, unless the process says `initial other;`.
//!
//! # Many processes, many states
//!
//! `process Phil[i in 0..N] { … }` stands for `N` processes `Phil[0]` to `Phil[N-1]`: `0..N` leaves
//! out `N`, `0..=N` includes it. Inside, `i` is a number. Actions have indices too: `take[i]` of
//! `Phil[2]` is the action `take[2]`, which it has in common with every other process that has
//! `take[2]`. Ranges may use the parameters before them.
//!
//! States may be indexed, so that a variable is a process. This one holds a number below `N`:
//!
//! ```text
//! process X {
//!     at[k in 0..N]: read[k] -> at[k] | write[j] -> at[j] for j in 0..N;
//!     initial at[3];
//! }
//! ```
//!
//! Whoever wants to know the value has alternatives `read[0] -> …| read[1] -> …`: only the one that
//! `X` can do is possible. A state of one index can be written by itself (`at[0]: …;`), beside a
//! range for the others (`at[k in 1..N]: …;`); all of them together must not overlap. Without
//! `initial`, the first index of the first state is the initial one.
//!
//! `for j in 0..N` after an alternative repeats it for each value; `when e` keeps it only where `e`
//! is not 0. Both belong to that one alternative. They may be repeated; all `for` come before all
//! `when`, however they are written.
//!
//! # Who takes part in an action
//!
//! The *alphabet* of a process is the set of actions that occur in it, as written out for its
//! parameters (an alternative that `when` switches off does not count), and those of `alphabet …;`.
//! An action happens when all processes that have it in their alphabets can do it, and then they
//! all do. `tau` is private: each process has its own.
//!
//! Two things to watch:
//! - An action without an index that `N` processes have is done by all `N` *together*. Processes
//!   that should do something one at a time need an index: `acquire[i]`.
//! - An action that only one process has is done by that one *alone*. If `X` above is written to
//!   by a process that only ever does `write[2]`, nobody else has `write[0]`, and `X` may change to
//!   0 by itself. `alphabet write[j] for j in 0..N;` in the writer prevents it.
//!
//! A process that has an action in its alphabet and never does it blocks it for ever. There is a
//! warning if it never does any of what an entry of `alphabet` lists, and an error if no process at
//! all does.
//!
//! # Names
//!
//! Names consist of letters `a` to `z` and `A` to `Z`, digits and `_`, do not begin with a digit,
//! and have at most 1000 characters. Reserved are only `for`, `when`, `in`, `tau`, `true`, `false`, `forall`, `exists` and
//! `count`; all other words may be names. Indexed names are shown as `take[1,2]`; `take[1][2]` is
//! the same. An action may also be any text in quotation marks, like `"SEND !1"`; if that text reads
//! as a name with numbers, like `"take[ 1 ]"`, it is that action, and `"tau"` is `tau`. Parameters
//! and variables must differ from each other and from constants wherever they can be seen.
//! `// …` and `/* … */` are comments.
//!
//! # Components from files
//!
//! `process X = extern "x.aut";` reads a labeled transition system in the Aldebaran format. Its labels
//! are actions as if in quotation marks; its states are `X@s[0]`, `X@s[1]` and so on. It has no
//! parameters.
//!
//! # Expressions
//!
//! Numbers are 64 bits wide, and arithmetic is exact: a constant that does not fit is an error. Truth
//! is 1 and falsehood 0, also as numbers; anything but 0 is true. From the loosest to the tightest:
//!
//! | operators | |
//! |---|---|
//! | `<->` | from the left |
//! | `->` | from the right |
//! | `\|\|` | only as far as needed |
//! | `&&` | only as far as needed |
//! | `!` | as in formulas: `!x == 1` is `!(x == 1)`; beside arithmetic it needs parentheses |
//! | `==` `!=` `<` `<=` `>` `>=` | one at a time |
//! | `+` `-` | from the left |
//! | `*` `/` `%` | from the left; Euclidean, so that `%` is never negative: `(i - 1) % N` goes round a ring |
//! | `-` | sign |
//!
//! Invariants and the propositions of formulas may also ask where processes are, and quantify:
//! - `Phil[0]@eat` is 1 if `Phil[0]` is in the state `eat`, else 0; `X@at[3]` likewise; `X@at[*]` is 1
//!   if `X` is in any of the states `at[…]`.
//! - `forall i in 0..N: e` and `exists i in 0..N: e` reach as far to the right as they can;
//!   `forall i in 0..N, j in 0..i: e` has two variables.
//! - `count i in 0..N: e` is the number of values for which `e` is true. It takes one operand, so
//!   that it can be compared: `count i in 0..N: Phil[i]@eat <= 1` and `(count i in 0..N:
//!   Phil[i]@eat) <= 1` are the same. What is longer needs parentheses.
//!
//! The right side of `&&`, `||` and `->` does not matter where the left side, as far as it is constant,
//! decides: `forall i in 0..N: i + 1 < N -> Phil[i + 1]@think` never asks for `Phil[N]`.
//!
//! # Properties
//!
//! - `deadlock-free;`: some action is always possible.
//! - `invariant name = e;`: `e` is true in every reachable state.
//! - `ltl name = formula;`: every run satisfies the formula, as in [`ltl::parse`](mod@ltl::parse); its
//!   propositions are expressions. Those with quantifiers or Boolean operators inside go in quotation
//!   marks: `[] "forall i in 0..N: Phil[i]@think"`.
//! - `tester Name { … }`: a process that watches the actions of `watch …;` (without it: those that
//!   occur in it), takes part in all of them, and knows what is illegal: reaching a `reject` state, a
//!   deadlock in a `deadlock` state, running on for ever without a watched action in a `livelock`
//!   state, and leaving `infinite` states infinitely often. It moves by watched actions and `tau`; it
//!   has no loops of `tau`, and no `tau` in a `deadlock` state. `reject s, at[*], at[k] for k in 0..3;`
//!   lists states.
//! - `spec Name { … }`: a process that shows what is legal; it has `watch` too.
//! - `fair weak P[*], Q;` and `fair strong …;`: infinite runs that are not fair to each of these
//!   processes are left out. Weakly fair: the process takes part in a step infinitely often, or is
//!   disabled infinitely often; strongly fair: it does, or is enabled only finitely often. `fair just …;`: what it
//!   could do happens, or is interfered with (`model::fairness` has the definition).
//!
//! Testers and specs may have parameters; each value makes a property of its own, like `Name[2]`.
//!
//! # Grammar
//!
//! ```text
//! file        = { declaration }
//! declaration = "const" NAME "=" expr ";"
//!             | "process" NAME [ parameters ] "{" { state | clause } "}"
//!             | "process" NAME "=" "extern" TEXT ";"
//!             | "tester" NAME [ parameters ] "{" { state | clause } "}"
//!             | "spec" NAME [ parameters ] "{" { state | clause } "}"
//!             | "invariant" NAME "=" expr ";"
//!             | "ltl" NAME "=" FORMULA ";"
//!             | "fair" ( "weak" | "strong" | "just" ) place { "," place } ";"
//!             | "deadlock-free" ";"
//! parameters  = "[" binder { "," binder } "]"
//! state       = NAME [ "[" index { "," index } "]" ] ":" [ alternative { "|" alternative } ] ";"
//! index       = binder | expr
//! alternative = action "->" place copies
//! clause      = "initial" place ";"
//!             | "alphabet" action copies { "," action copies } ";"          (process, tester, spec)
//!             | "watch" action copies { "," action copies } ";"             (tester, spec)
//!             | ( "reject" | "deadlock" | "livelock" | "infinite" )
//!               place copies { "," place copies } ";"                       (tester)
//! copies      = { "for" binder { "," binder } | "when" expr }
//! action      = "tau" | TEXT | place
//! place       = NAME [ "[" ( expr | "*" ) { "," ( expr | "*" ) } "]" ]
//! binder      = NAME "in" expr ( ".." | "..=" ) expr
//! expr        = expr OPERATOR expr | "!" expr | "-" expr | "(" expr ")"
//!             | NUMBER | "true" | "false" | NAME | place "@" place
//!             | ( "forall" | "exists" ) binder { "," binder } ":" expr
//!             | "count" binder { "," binder } ":" operand
//! ```
//!
//! `[a][b]` may be written for `[a, b]` everywhere. `*` stands for every index; it is allowed in `fair`,
//! in the lists of testers, and for the state of `process@state`.
//!
//! # Messages and limits
//!
//! Every message has a place and a stable code like `unknown-state`; as many as possible are given at
//! once. `tests/mistakes.md` shows what is said about which mistake, `tests/models.md` what models
//! mean. What a network may grow to is limited by [`Limits`].

mod ast;
mod check;
mod component;
mod eval;
mod expand;
mod format;
mod front;
mod labels;
mod lexer;
mod load;
mod lower;
mod meter;
mod names;
mod network;
mod observer;
mod options;
mod outline;
mod parse;
mod property;
mod proposition;

pub use front::LANGUAGE;
pub use load::{Model, load};
pub use options::{Limits, Options};
