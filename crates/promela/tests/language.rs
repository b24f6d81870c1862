//! What is accepted, and what becomes of it.

mod common;

use common::{read_text, read_with, shown};
use stubborn_promela::program::{ExprKind, Init, Program, Stmt, StmtKind, Type, VarId};
use stubborn_promela::{Options, read, text};

#[track_caller]
fn program(source: &str) -> Program {
    let (program, sources) = read_text(source);
    program.unwrap_or_else(|errors| panic!("{}", shown(&errors, &sources)))
}

/// The basic statements of the first proctype, as they read in traces.
fn texts(program: &Program) -> Vec<String> {
    let mut list = Vec::new();
    let mut pending: Vec<&Stmt> = program.proctypes[0].body.iter().rev().collect();
    while let Some(statement) = pending.pop() {
        match &statement.kind {
            StmtKind::If(options) | StmtKind::Do(options) | StmtKind::For(options) => {
                pending.extend(options.iter().rev().flat_map(|option| option.iter().rev()));
            }
            StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block(body) => {
                pending.extend(body.iter().rev());
            }
            StmtKind::Unless(parts) => pending.extend([&parts.1, &parts.0]),
            _ => list.push(statement.text.to_string()),
        }
    }
    list
}

#[test]
fn all_declarations() {
    let program = program(
        "mtype = { a, b, c }; mtype { d e }; mtype:fruit = { apple, pear }
         typedef In { byte v; bit w[2] = 1 }
         typedef Out { In in[3]; short s = -1; unsigned u : 5 }
         hidden bit h; show bool s = true; local byte l = 2, m[4] = 7;
         short sh; int i = a + 1, list[3] = { 1, -2 }; unsigned u : 3 = 5; pid p; mtype mt = b;
         mtype:fruit f = pear; Out o[2]; chan q; chan r[2] = [3] of { byte, mtype, chan, In, mtype:fruit };
         #define N 2
         byte n[N + 1];
         active [2] proctype P() { skip }",
    );
    let names: Vec<&str> = program.mtypes[0].names.iter().map(|name| &**name).collect();
    assert_eq!(names, ["c", "b", "a", "e", "d"], "the last name of a list has the least number");
    assert_eq!(program.mtypes[1].names.len(), 2);
    let global = |name: &str| program.globals.iter().find(|global| &*global.name == name).unwrap();
    assert_eq!(global("u").ty, Type::Unsigned(3));
    assert_eq!(global("n").length, Some(3));
    assert!(matches!(&global("list").init, Init::List(values) if values == &[1, -2, -2]));
    let Init::Channel(channel) = &global("r").init else { panic!() };
    assert_eq!((channel.capacity, channel.fields.len()), (3, 7));
    assert_eq!(channel.fields[3..6], [Type::Byte, Type::Bit, Type::Bit]);
    let Init::Expr(value) = &global("f").init else { panic!() };
    assert!(matches!(value.kind, ExprKind::Symbol(_, 1)));
    assert_eq!(program.initial.len(), 2);
}

#[test]
fn all_statements() {
    let program = program(
        "chan q = [2] of { byte, byte }; byte x, y, a[3]; mtype = { ok };
         proctype Q(byte a, b; chan c) priority 3 provided (x == 1) { skip }
         active proctype P() {
             x = 1; x++; x--; a[x] = y; q!x,y; q!x(y); q!!x,y; q?x,y; q?x(y); q??x,y; q?<x,y>; q??<x,_>
             q?eval(x),1; q?ok,-1; q?[x,y] -> skip; (q??[1,ok] && len(q) > 0 || empty(q));
             full(q); nempty(q); nfull(q) -> assert(x == 1); assert x < 2; printf(\"a %d\\n\", x); printm(ok);
             y = run Q(1, 2, q) priority 2; run Q(x, _pid, q); x = (x > 1 -> 2 : 3); timeout; np_;
             enabled(1); pc_value(0) == 1; set_priority(1, get_priority(_pid)); _last == _nr_pr;
             x = 'a'; x = '\\n'; x = ~y | 1 ^ 2 & 3 << 1 >> 1 % 2; !x -> skip; -1 == x;
             if :: x == 1 -> skip :: else fi;
             do :: break :: x++ ; goto L od; L: M: { x = 1 } unless { x == 2 };
             atomic { x = 1; x = 2 } d_step { x = 1 }
             for (x : 1 .. 3) { skip } for (x in a) { a[x] = 0 }
             select (x : 0 .. 9);
             xr q; xs q; P[1]@L; P@L; P[_pid]:z == 0; byte z; end:
         }
         init { atomic { skip } }
         never { do :: P@L -> break :: else od }
         notrace { do :: q?_,1 od }",
    );
    assert_eq!(program.proctypes.len(), 5);
    assert_eq!(program.exclusives.len(), 2);
    assert_eq!(program.initial.len(), 2);
}

#[test]
fn newlines_separate_statements_and_operators_continue_them() {
    let source = "byte x, y; chan c = [1] of { byte }
        active proctype P() {
            x = 1
            y = x
                + 2
            -x == 1
            c!x
            (y == 1)
            c?x
            if
            :: x == 1 -> y = 2
            :: else
            fi
            x++
        }";
    let expected =
        ["x = 1", "y = x + 2", "-x == 1", "c!x", "(y == 1)", "c?x", "x == 1", "y = 2", "else", "x++"];
    assert_eq!(texts(&program(source)), expected);
}

#[test]
fn inlines_take_any_argument_and_have_scopes_of_their_own() {
    let source = "typedef T { byte f[2] } T t; byte x; chan c = [1] of { byte }
        inline twice(what, to) { byte local_one; what = to; local_one = what; goto out; out: skip }
        inline send(ch, v) { ch!v; twice(x, v + 1) }
        inline double(v) { return v * 2 }
        active proctype P() { twice(t.f[x], (x + 1)); send(c, x); c?x; x = double(x) }";
    let program = program(source);
    let found = texts(&program);
    let expected = ["local_one = 0", "t.f[x] = (x + 1)", "local_one = t.f[x]", "goto out", "skip", "c!x"];
    assert_eq!(found[..6], expected);
    assert_eq!(found.last().unwrap(), "x = x * 2");
    let names: Vec<&str> = program.proctypes[0].locals.iter().map(|local| &*local.name).collect();
    assert_eq!(names, ["local_one", "local_one"]);
    assert_eq!(program.proctypes[0].labels.len(), 2);
}

#[test]
fn blocks_are_scopes_and_all_locals_are_in_one_frame() {
    let source = "byte x;
        active proctype P(byte x) { byte y = x; { byte x; x = 1; { byte x; x = 2 } x = 3 } x = 4 }";
    let program = program(source);
    let mut roots = Vec::new();
    let mut pending: Vec<&Stmt> = program.proctypes[0].body.iter().rev().collect();
    while let Some(statement) = pending.pop() {
        match &statement.kind {
            StmtKind::Block(body) => pending.extend(body.iter().rev()),
            StmtKind::Assign(place, _) => roots.push(place.root),
            _ => {}
        }
    }
    let local = |index| VarId::Local(stubborn_promela::program::LocalId::new(index));
    // A declaration after a statement is an assignment, too.
    assert_eq!(roots, [2, 2, 3, 3, 2, 0].map(local));
    assert!(matches!(program.proctypes[0].locals[1].init, Init::Expr(_)));
}

#[test]
fn macros_and_conditionals() {
    let source = "#define MAX(a, b) (a > b -> a : b)
        #define SET(v) v = MAX(v, N); \\
            CAT(v, 2) = 1
        #define CAT(a, b) a ## b
        #define TEXT(a) #a
        #define F G
        #define G(x) x + 1
        #if defined(N) && N >= 3 /* a comment
           over lines */ && !defined M
        byte x, x2;
        #else
        syntax error
        #endif
        #ifndef N
        #  error never
        #elif N == 3
        # 12 \"marker.pml\"
        active proctype P() { SET(x); printf(TEXT(x y)); x = F(2); x = x }
        #define x x2
        #undef x
        #endif";
    let options = Options { defines: vec![("N".into(), "3".into())], ..Options::default() };
    let (program, sources) = read_with(source, &options);
    let program = program.unwrap_or_else(|errors| panic!("{}", shown(&errors, &sources)));
    let expected = ["x = (x > 3 -> x: 3)", "x2 = 1", "printf(\"x y\")", "x = 2 + 1", "x = x"];
    assert_eq!(texts(&program).iter().map(|text| text.replace(" :", ":")).collect::<Vec<_>>(), expected);
}

#[test]
fn included_files_are_found_beside_the_including_one() {
    let mut sources = base::SourceMap::new();
    let main = "#include \"lib/a.h\"\nactive proctype P() { x = N }";
    let source = sources.add("model.pml", main.into()).unwrap();
    let mut loader = |name: &str| match name {
        "lib/a.h" => Ok(b"#include \"b.h\"\nbyte x;".to_vec()),
        "lib/b.h" => Ok(b"#define N 3".to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let mut budget = base::Budget::unlimited();
    let (program, _) = read(&mut sources, source, &Options::default(), &mut loader, &mut budget).unwrap();
    assert_eq!(texts(&program), ["x = 3"]);
}

#[test]
fn formulas_become_temporal_only_where_they_must() {
    let source = "byte x; bool U, X; #define both x == 1 && <> x == 2
        ltl a { [] (x == 1 -> <> (x > 1 && !(x < 9))) }
        ltl { (U U X) && X X }
        ltl c { always (x == 1 implies eventually U) }
        ltl d { ((x == 1) W (x == 2)) V (x == 3) || !(x == 1 <-> x == 2) }
        ltl e { [] (both) }
        ltl f { X /\\ U \\/ x == 1 }
        active proctype P() { skip }"
        .replace("; #define", ";\n#define");
    let program = program(&source);
    let mut formulas = ltl::Formulas::new();
    let shown: Vec<String> = program
        .formulas
        .iter()
        .map(|property| {
            let (formula, _) = program.ltl(&property.formula, &mut formulas);
            format!("{}: {}", property.name, formulas.display(formula, ltl::Spelling::Spot))
        })
        .collect();
    let expected = [
        r#"a: G ("x == 1" -> F "x > 1 && !(x < 9)")"#,
        r#"ltl_0: ("U" U "X") & X "X""#,
        r#"c: G ("x == 1" -> F "U")"#,
        r#"d: (("x == 1" W "x == 2") R "x == 3") | !"!(x == 1) == !(x == 2)""#,
        r#"e: G ("x == 1" & F "x == 2")"#,
        r#"f: "X && U || x == 1""#,
    ];
    assert_eq!(shown, expected);
}

#[test]
fn texts_of_expressions_have_the_parentheses_they_need() {
    let cases = [
        "(x - (y - 1)) * -(x + 1)",
        "x - y - 1",
        "!(x == 1) && (x || y)",
        "a[x + 1].f == len(c[0])",
        "(x -> y : 1) + ~x << 2",
        "c[1]?[1,eval(x + 1),_]",
        "P[x]@L || P:z > 1 || _pid == _last",
        "x == red",
    ];
    for case in cases {
        let source = format!(
            "mtype = {{ red }}; typedef T {{ byte f }} byte x, y; T a[3]; chan c[2] = [1] of {{ byte, byte, byte }};
             active proctype P() {{ byte z; L: z = 1 }} active proctype Q() {{ {case} }}"
        );
        let program = program(&source);
        let StmtKind::Expr(expr) = &program.proctypes[1].body[0].kind else { panic!() };
        assert_eq!(text::expr(&program, None, expr), case);
    }
}

/// Spin makes options of a `select` only if its scanner can: the numbers of states differ.
#[test]
fn select_is_options_or_a_loop() {
    let texts = |select: &str| texts(&program(&format!("active proctype P() {{ byte n, n_; {select} }}")));
    assert_eq!(texts("select(n: 1 .. 2)").len(), 2);
    assert!(texts("select(n_: 1 .. 2)").len() > 2);
    assert!(texts("select(n: (1) .. 2)").len() > 2);
    assert!(texts("select(n:\n1 .. 2)").len() > 2);
}

#[test]
fn the_nameless_variable_and_the_own_priority_are_assigned_to() {
    let program = program("proctype Q() { skip } active proctype P() { _ = 3; _ = run Q(); _priority = 2 }");
    let kinds: Vec<&StmtKind> = program.proctypes[1].body.iter().map(|stmt| &stmt.kind).collect();
    assert!(matches!(kinds[1], StmtKind::Expr(expr) if matches!(expr.kind, ExprKind::Run { .. })));
    assert!(matches!(kinds[2], StmtKind::SetPriority(..)));
}
