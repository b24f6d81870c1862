//! Chores: `cargo xtask tidy` checks what the compiler does not, `cargo xtask mcc` runs the questions of
//! the Model Checking Contest, `cargo xtask spin-bench` compares Promela models with Spin.
#![allow(clippy::print_stdout, clippy::print_stderr)] // A command of its own.

mod mcc;
mod spin;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(),
        ["mcc", ref rest @ ..] => mcc::run(rest),
        ["spin-bench", ref rest @ ..] => spin::run(rest),
        _ => {
            eprintln!("usage: cargo xtask tidy\n{}\n{}", mcc::USAGE, spin::USAGE);
            ExitCode::from(2)
        }
    }
}
