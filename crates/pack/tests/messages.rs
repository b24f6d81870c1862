//! What the compiler says about declarations that cannot be packed.
//!
//! The compiler is run on small programs, beside the libraries that this test was built with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The newest library of a name in the folder that this test is in.
fn library(name: &str, ending: &str) -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let is_it = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(ending)
    };
    let age =
        |path: &PathBuf| path.metadata().and_then(|facts| facts.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let all = deps.read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(is_it);
    all.max_by_key(age).unwrap_or_else(|| panic!("{name} is built before this test"))
}

/// What the compiler says about a program; `None` if it has nothing against it.
fn complaint(nth: usize, program: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join(format!("declaration_{nth}.rs"));
    std::fs::write(&source, format!("use stubborn_derive::Pack;\n{program}\nfn main() {{}}\n")).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".to_owned());
    let derive = library("stubborn_derive", std::env::consts::DLL_SUFFIX);
    let output = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--color=never", "-o"])
        .arg(folder.join(format!("declaration_{nth}.rmeta")))
        .arg("-L")
        .arg(derive.parent().unwrap())
        .arg("--extern")
        .arg(format!("stubborn_derive={}", derive.display()))
        .arg("--extern")
        .arg(format!("stubborn_pack={}", library("stubborn_pack", ".rlib").display()))
        .arg(&source)
        .output()
        .unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn mistakes_are_told_where_they_are() {
    let cases = [
        (
            "struct S { #[pack(max = 4)] count: u8 }",
            "`max` is for collections such as `Vec<T>`, not for `u8`",
        ),
        ("struct S { #[pack(0..=7)] name: String }", "`String`"),
        ("struct S { #[pack(0..=7)] list: Vec<u8> }", "a collection also needs `max = 4`"),
        ("struct S { #[pack(0..=7)] flag: bool }", "a range is for integers, and for arrays, options"),
        ("struct S { #[pack(..=7)] count: u8 }", "both ends of a range are needed, as in `0..=7`"),
        ("struct S { #[pack(7..=0)] count: u8 }", "a range of `#[pack(…)]` is empty"),
        ("struct S { #[pack(range = 7)] count: u8 }", "expected a range as `0..=7`, `max = 4`, `intern`"),
        ("struct S { #[pack(intern, max = 4)] list: Vec<u8> }", "what is interned has a number in a table"),
        ("struct S { list: Vec<u8> }", "`Vec<u8>` has no fixed number of bits"),
        ("struct S { name: String }", "can be numbered: `#[pack(intern)]`"),
        ("struct S<'a> { name: &'a u8 }", "a packed value owns what is in it, so it has no lifetime"),
        ("union S { a: u8, b: i8 }", "unions do not say what is in them"),
        ("enum S {}", "an enum without variants has no values to pack"),
        ("enum S { #[pack(0..=7)] A(u8) }", "`#[pack(…)]` belongs to a field, not to a variant"),
    ];
    for (nth, (declaration, expected)) in cases.into_iter().enumerate() {
        let program = format!("#[derive(Pack)] #[pack(crate = stubborn_pack)] {declaration}");
        let found = complaint(nth, &program).unwrap_or_else(|| panic!("{declaration} is taken"));
        assert!(found.contains(expected), "{declaration}\n{found}");
        assert!(found.contains(&format!("declaration_{nth}.rs:2:")), "the place is told: {found}");
    }
    let program = "#[derive(Pack)] #[pack(0..=7)] struct S(u8);";
    let found = complaint(cases.len(), program).expect("that is wrong");
    assert!(found.contains("a type can say `#[pack(crate = path)]` only"), "{found}");
}

#[test]
fn a_good_declaration_is_taken() {
    let program = "#[derive(Pack)] #[pack(crate = stubborn_pack)] struct S { #[pack(0..=7)] count: u8 }";
    assert_eq!(complaint(100, program), None);
}
