//! What is said about typical mistakes, word by word.

mod common;

use common::{read_text, shown};

/// Everything that is said about a text.
fn said(text: &str) -> String {
    let (program, sources) = read_text(text);
    match program {
        Ok(program) => shown(&program.warnings, &sources),
        Err(errors) => shown(&errors, &sources),
    }
}

/// Compares what is said, line by line.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(said(text).lines().collect::<Vec<_>>(), expected, "{}", said(text));
}

#[test]
fn names() {
    check(
        "byte count; active proctype P() { cuont = 1 }",
        &["1:35: unknown-variable: there is no variable `cuont`; help: did you mean `count`?"],
    );
    check(
        "active proctype P() { goto L2; L1: skip }",
        &["1:28: unknown-label: there is no label `L2` in this proctype; help: did you mean `L1`?"],
    );
    check(
        "active proctype P() { L: skip; L: skip }",
        &["1:32: redeclared: the label `L` is declared twice; 1:23: it was declared here"],
    );
    check(
        "byte x; byte x; active proctype P() { skip }",
        &["1:14: redeclared: the variable `x` is declared twice; 1:6: it was declared here"],
    );
    check(
        "proctype Q(byte a; chan c) { skip } init { run Q(1); run R() }",
        &[
            "1:44: wrong-arguments: the proctype `Q` has 2 parameters, but 1 is given; 1:10: it is declared here",
            "1:58: unknown-proctype: there is no proctype `R`; help: did you mean `Q`?",
        ],
    );
    check(
        "mtype = { a, b }; active proctype P() { a = 1 }",
        &[
            "1:41: not-assignable: `a` is a symbolic constant and cannot be assigned to; 1:11: it is declared here",
        ],
    );
    check(
        "byte a[3]; active proctype P() { a = 1; a[3] = 2 }",
        &[
            "1:34: missing-index: `a` is an array: an index is missing; help: write `[0]` and the like after it",
        ],
    );
    check(
        "byte x; active proctype P() { x.f = 1; x[1] = 2 }",
        &[
            "1:33: unknown-field: there is no field `f`: its owner is not a typedef",
            "1:40: not-an-array: `x` is not an array (it has no index)",
        ],
    );
    check(
        "typedef T { byte f }; T t; active proctype P() { t = 1; t.g = 2 }",
        &[
            "1:50: missing-field: `t` is of the typedef `T`: a field is missing; help: write `.f`",
            "1:59: unknown-field: the typedef `T` has no field `g`; help: did you mean `f`?",
        ],
    );
    check(
        "active proctype P() { byte len; skip }",
        &["1:28: keyword-as-name: `len` is a keyword and cannot be the name of a variable"],
    );
    check(
        "byte x; active proctype P() { x!1; x?1 }",
        &[
            "1:31: not-a-channel: `x` is not a channel; 1:6: it is declared here",
            "1:36: not-a-channel: `x` is not a channel; 1:6: it is declared here",
        ],
    );
    check(
        "byte b; active proctype P() { P:b == 1; Q@x; b = P@L }",
        &[
            "1:33: unknown-variable: the proctype `P` has no variable `b`",
            "1:41: unknown-proctype: there is no proctype `Q`; help: did you mean `P`?",
            "1:52: unknown-label: the proctype `P` has no label `L`",
        ],
    );
}

#[test]
fn jumps() {
    check(
        "active proctype P() { break }",
        &["1:23: misplaced: `break` is not inside a loop; help: `goto` leaves other statements"],
    );
    check(
        "byte x; active proctype P() { if :: else -> skip :: x == 1 :: else fi }",
        &["1:63: two-elses: there are two `else` options in one selection; 1:37: this is the first one"],
    );
    check(
        "byte x; active proctype P() { d_step { x = 1; goto L }; L: skip }",
        &["1:52: bad-d_step: this jump leaves `d_step`; 1:57: the label is here; help: use `atomic` instead"],
    );
    check(
        "byte x; active proctype P() { goto L; d_step { x = 1; L: x = 2 } }",
        &[
            "1:36: bad-d_step: this jump leads into `d_step`; 1:55: the label is here; help: use `atomic` instead",
        ],
    );
    check(
        "active proctype P() { L: M: goto L }",
        &["1:29: endless-jump: jumps lead only to jumps here, in a circle or very many times (from here)"],
    );
    check(
        "#define A(x) x\n#if B\n#endif\n#else\nbyte y = A(1, 2);\nactive proctype P() { skip }",
        &[
            "4:1: stray-directive: `#else` without `#if`",
            "5:10: bad-macro-call: the macro `A` takes 1 argument, but 2 are given; 1:9: `A` is defined here",
        ],
    );
    check(
        "byte x; active proctype P() { goto L; x = 1; L: skip }",
        &["1:39: unreachable: this statement is never reached (it follows a jump, and has no label)"],
    );
}

#[test]
fn syntax() {
    check(
        "byte x; active proctype P() { x = 1 y = 2 }",
        &["1:36: syntax: expected `;` or `->`, found `y` (expected `;` or `->`)"],
    );
    check(
        "byte x\nactive proctype P() {\n  x = 1\n  x = 2;\n  if\n  :: x == 1 -> x = \n  fi;\n  yy = 3\n}",
        &["7:3: syntax: expected an expression, found the keyword `fi` (expected an expression)"],
    );
    check(
        "active proctype P() { skip; ",
        &["1:29: syntax: expected `}`, found the end of the text (expected `}`); 1:21: opened here"],
    );
    check(
        "active proctype P() { c_code { x = 1; } }",
        &["1:23: embedded-c: embedded C code (`c_code`) is not supported (only Promela itself is read)"],
    );
    check(
        "active proctype P() { byte x; STDIN?x }",
        &["1:31: no-stdin: `STDIN` cannot be read in a model that is checked (a state space has no input)"],
    );
    check(
        "float f; active proctype P() { skip }",
        &["1:1: unknown-type: there is no type `float`; help: the widest type of Promela is `int`"],
    );
    check(
        "active proctype P() { if fi; do :: od }",
        &[
            "1:26: syntax: expected `::`, found the keyword `fi` (expected `::`)",
            "1:36: no-statement: an option has no statement; help: `skip` is a statement that does nothing",
        ],
    );
    check(
        "active proctype P() { assert(true; skip }",
        &["1:34: syntax: expected `)`, found `;` (expected `)`)"],
    );
    check(
        "active proctype P() { byte x; if :: x == 1 -> skip }",
        &["1:52: syntax: expected `fi`, found `}` (expected `fi`); 1:31: opened here"],
    );
    check(
        "active proctype P() { skip } }",
        &["1:30: syntax: this `}` closes nothing (there is no `{` that belongs to it)"],
    );
    check(
        "proctype P(byte a, chan b) { skip } init { run P(1,2) }",
        &[
            "1:20: keyword-as-name: `chan` is a keyword and cannot be the name of a variable; help: parameters of different types are separated by `;`",
        ],
    );
}

#[test]
fn inlines_and_macros() {
    check(
        "inline f(a) { f(a) } byte x; active proctype P() { f(x) }",
        &[
            "1:15: recursive-inline: the inline `f` calls itself; help: an inline is replaced by its body; use a proctype for recursion",
        ],
    );
    check(
        "inline f(a, b) { a = b } byte x; active proctype P() { f(x); g(x) }",
        &[
            "1:56: wrong-arguments: the inline `f` takes 2 arguments, but is called with 1; 1:8: it is declared here",
            "1:62: unknown-inline: there is no inline `g`; help: did you mean `f`?",
        ],
    );
    check(
        "inline f(a) { a = unknown } byte x;\nactive proctype P() { f(x) }",
        &["1:19: unknown-variable: there is no variable `unknown`; 2:23: in this call of `f`"],
    );
    check(
        "#include \"other.h\"\nactive proctype P() { skip }",
        &["1:10: cannot-include: cannot read other.h: there is none"],
    );
}

#[test]
fn suspicions() {
    check(
        "chan c = [1] of { byte, byte }; byte x; active proctype P() { c!1; c?x,x }",
        &[
            "1:63: wrong-message: messages of `c` have 2 fields, but this one has 1; 1:10: the channel is declared here; help: such a step is an error; where assertions do not matter, what is missing is 0 and what is too much is ignored",
        ],
    );
    check(
        "chan c = [1] of { byte }; active proctype P() { c!1 }",
        &["1:6: never-received: nothing is ever received from the channel `c`"],
    );
    check(
        "byte x = 300; active proctype P() { x = -1 }",
        &[
            "1:10: truncated: 300 does not fit: the variable gets 44; help: its values are 0 to 255",
            "1:41: truncated: -1 does not fit: the variable gets 255; help: its values are 0 to 255",
        ],
    );
    check(
        "byte x; active proctype P() { if :: x = 1 -> skip :: else -> skip fi }",
        &[
            "1:37: assignment-as-guard: `else` is never chosen: an assignment is always possible (this is an assignment); 1:54: never chosen; help: `==` compares",
        ],
    );
    check(
        "byte x; ltl p { [] x == 1 } ltl q { a -> <> x -> x } active proctype P() { skip }",
        &["1:37: unknown-variable: there is no variable `a`; help: did you mean `x`?"],
    );
}

#[test]
fn declarations() {
    check(
        "proctype P() { skip }",
        &[
            "1:10: no-process: no process is active at the start; help: write `active proctype P() { … }`, or `init { … }`",
        ],
    );
    check("active proctype P(byte a[2]) { skip }", &["1:24: bad-parameter: a parameter cannot be an array"]);
    check(
        "int a[1000000000]; chan c = [1000000000] of { int }; active proctype P() { skip }",
        &[
            "1:5: too-large: the array `a` is too large: it has 1000000000 elements; help: at most 100000 scalars are allowed in one array",
            "1:30: too-large: a channel cannot hold 1000000000 messages; help: at most 255 are allowed",
        ],
    );
    check(
        "byte x; active proctype P() { x = 1 / 0; printf(\"%d\") }",
        &["1:39: division-by-zero: this divides by zero"],
    );
    check(
        "active proctype P() { chan c; c = 0; skip; chan d = [1] of { bit } }",
        &[
            "1:49: late-declaration: the channel `d` gets its value after a statement; help: write its declaration at the start of the proctype",
        ],
    );
    check(
        "typedef T { byte b[2] } proctype Q(T t) { skip } byte x; chan c; init { (run Q(1) && x); c = 1 }",
        &[
            "1:38: bad-parameter: a parameter cannot contain an array",
            "1:80: wrong-arguments: a value of the typedef `T` is needed",
            "1:90: channel-arithmetic: a number cannot be assigned to a channel",
        ],
    );
    check(
        "proctype Q() { skip } byte x; init { (run Q() && x) } ltl { <> run Q() }",
        &[
            "1:38: bad-run: `run` cannot be a part of a condition; help: start the process by `x = run P()`, then use `x`",
            "1:64: bad-run: `run` can only be used in a proctype",
        ],
    );
}

#[test]
fn what_is_not_looked_at() {
    check(
        "active proctype P() priority 2 { c?1 } active proctype Q() { c!1 } chan c = [0] of { byte };",
        &[
            "1:30: not-checked: priorities are ignored, since there are rendezvous channels; help: so it is in Spin, where they can only be used together by `spin -o6`",
        ],
    );
}

#[test]
fn traces() {
    let said_of = |trace: &str| {
        said(&format!("chan c = [1] of {{ byte }}; byte x; active proctype P() {{ c!1; c?x }} {trace}"))
            .trim_end()
            .to_owned()
    };
    assert_eq!(said_of("trace { do :: c!1; c?_ od }"), "");
    assert_eq!(
        said_of("trace { c!x }"),
        "1:78: not-constant: the fields of an event are constants or `_`; help: `_` is anything"
    );
    assert_eq!(
        said_of("trace { c!1 } notrace { c!1 }"),
        "1:82: two-traces: there is more than one trace; 1:68: this is the first one"
    );
    let no_event = "a trace has only plain sends and receives, `if`, `do` and jumps (this is none of them)";
    for wrong in ["x = 1", "skip", "c??1", "c!!1", "c?<1>", "atomic { c!1 }", "byte y", "c!1 unless c?1"] {
        assert_eq!(
            said_of(&format!("trace {{ {wrong} }}")),
            format!("1:76: not-an-event: {no_event}"),
            "{wrong}"
        );
    }
    assert_eq!(
        said_of("trace { c!1,2 }"),
        "1:76: wrong-message: the event has 2 fields, but messages of this channel have 1"
    );
}
