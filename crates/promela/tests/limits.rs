//! Models that are too large, too deep or endless are refused, quickly and with a reason.

mod common;

use common::{read_text, read_with, shown, wrong};
use stubborn_promela::{Limits, Options, read};

/// The kinds of errors in a text.
fn codes(text: &str) -> Vec<&'static str> {
    match read_text(text) {
        (Ok(_), _) => Vec::new(),
        (Err(errors), _) => errors.iter().map(|error| error.code).collect(),
    }
}

const PROCESS: &str = "\nactive proctype P() { skip }";

#[test]
fn macro_bombs() {
    let mut bomb = "#define A0 x x x x x x x x x x\n".to_owned();
    for level in 1..20 {
        let inner = format!("A{} ", level - 1).repeat(10);
        bomb.push_str(&format!("#define A{level} {inner}\n"));
    }
    assert_eq!(codes(&(bomb + "A19" + PROCESS)), ["macro-too-large"]);
    // A macro does not expand itself, so this is a name.
    assert_eq!(codes("#define a b\n#define b a\nbyte a;\nactive proctype P() { a = 1 }"), Vec::<&str>::new());
    let mut deep = "#define A0 1\n".to_owned();
    for level in 1..100 {
        deep.push_str(&format!("#define A{level} A{}\n", level - 1));
    }
    assert_eq!(codes(&(deep + "byte x = A99;" + PROCESS)), ["bad-macro-call"]);
    let nested = format!("#define f(x) x\nbyte x = {}1{};", "f(".repeat(1000), ")".repeat(1000));
    assert_eq!(codes(&(nested + PROCESS)), ["bad-macro-call"]);
}

#[test]
fn endless_includes() {
    let load = |text: &str, loader: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>| {
        let mut sources = base::SourceMap::new();
        let source = sources.add("model.pml", text.into()).unwrap();
        let mut budget = base::Budget::unlimited();
        let read = read(&mut sources, source, &Options::default(), loader, &mut budget);
        shown(&wrong(read.unwrap_err()), &sources)
    };
    let said = load("#include \"a\"", &mut |_| Ok(b"\n#include \"a\"".to_vec()));
    assert_eq!(said, "2:10: endless-include: a includes itself (is being read already)\n");
    let mut n = 0;
    let said = load("#include \"a\"", &mut |_| {
        n += 1;
        Ok(format!("#include \"a{n}\"").into_bytes())
    });
    assert_eq!(said, "1:10: endless-include: files are included more than 64 levels deep\n");
}

#[test]
fn inline_bombs() {
    let mut bomb = "byte x; inline f0() { x = 1; x = 2 }\n".to_owned();
    for level in 1..30 {
        let inner = format!("f{}(); ", level - 1).repeat(10);
        bomb.push_str(&format!("inline f{level}() {{ {inner} }}\n"));
    }
    assert_eq!(codes(&(bomb + "active proctype P() { f29() }"))[0], "inline-too-large");
}

#[test]
fn large_variables() {
    assert_eq!(codes(&("int a[1000000000];".to_owned() + PROCESS)), ["too-large"]);
    assert_eq!(codes(&("int a[-1]; int b[0];".to_owned() + PROCESS)), ["bad-length", "bad-length"]);
    assert_eq!(codes(&("chan c = [1000000000] of { int };".to_owned() + PROCESS)), ["too-large"]);
    let mut nested = "typedef T0 { byte a[100] }\n".to_owned();
    for level in 1..10 {
        nested.push_str(&format!("typedef T{level} {{ T{} a[100] }}\n", level - 1));
    }
    assert_eq!(codes(&(nested + PROCESS))[0], "too-large");
    let many: String = (0..20).map(|n| format!("int a{n}[100000]; ")).collect();
    assert!(codes(&(many + PROCESS)).contains(&"too-large"));
    let message = "typedef T { byte a[1000] } chan c = [1] of { T };";
    assert_eq!(codes(&(message.to_owned() + PROCESS)), ["too-large"]);
    assert_eq!(codes("active [1000] proctype P() { skip }"), ["too-many"]);
}

#[test]
fn deep_texts() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| {
        format!("byte x; active proctype P() {{ {}{inner}{} }}", open.repeat(n), close.repeat(n))
    };
    for (open, inner, close) in [
        ("(", "x", ")"),
        ("!", "x", ""),
        ("!!", "x", ""),
        ("{ ", "skip", " }"),
        ("if :: ", "skip", " fi "),
        ("do :: atomic { ", "skip", " } od "),
        ("(x -> ", "1", " : 1)"),
        ("run P(", "1", ")"),
        ("x[", "0", "] == 0"),
        ("{ skip } unless { ", "skip", "}"),
        ("for (x : 0 .. 1) { ", "skip", "}"),
        ("x == (1 + ", "1", ")"),
        ("c?[eval(", "1", ")]"),
        ("x * (1 + (2 - ", "1", "))"),
    ] {
        assert_eq!(codes(&deep(open, inner, close, 20_000)).first(), Some(&"too-deep"), "{open}");
    }
    assert_eq!(codes(&deep("skip unless ", "skip", "", 20_000)).first(), Some(&"syntax"));
    // Long chains of one operator are fine, and so are long sequences.
    assert_eq!(codes(&deep("x == 1 && ", "x", "", 20_000)), Vec::<&str>::new());
    assert_eq!(codes(&deep("x + ", "x", "", 20_000)), Vec::<&str>::new());
    assert_eq!(codes(&deep("x = 1; ", "x = 1", "", 20_000)), Vec::<&str>::new());
    assert_eq!(codes(&deep("x - ", "x", "", 100_000)), ["too-deep"]);
    let formula = |n: usize| format!("byte x; ltl {{ {} x }}{PROCESS}", "[] <> ".repeat(n));
    assert_eq!(codes(&formula(100_000)), ["too-deep"]);
}

#[test]
fn many_jumps_labels_and_errors() {
    let labels: String = (0..20_000).map(|n| format!("L{n}: goto L{}; ", n + 1)).collect();
    let text = format!("active proctype P() {{ {labels} L20000: skip }}");
    assert_eq!(codes(&text), ["endless-jump"]);
    let options: String = (0..20_000).map(|n| format!(":: x = {} ", n % 256)).collect();
    let text =
        format!("byte x; active proctype P() {{ {{ if {options} fi }} unless {{ if {options} fi }} }}");
    assert_eq!(codes(&text), Vec::<&str>::new());
    let many = "x = 1; ".repeat(2000);
    let text = format!("byte x; active proctype P() {{ {{ {many} }} unless {{ if {options} fi }} }}");
    assert_eq!(codes(&text), ["too-large"]);
    let unknown: String = (0..50_000).map(|n| format!("unknown{n} = 1; ")).collect();
    assert_eq!(codes(&format!("active proctype P() {{ {unknown} skip }}")).len(), 50);
}

#[test]
fn limits_are_up_to_the_caller() {
    let limits = Limits { array: 3, ..Limits::default() };
    let (program, sources) =
        read_with(&("byte a[4];".to_owned() + PROCESS), &Options { limits, ..Options::default() });
    let said = shown(&program.unwrap_err(), &sources);
    assert!(said.contains("at most 3 scalars are allowed in one array"), "{said}");
}
