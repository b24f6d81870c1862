//! Chores: `cargo xtask tidy` checks what the compiler does not, `cargo xtask mcc` runs the questions of
//! the Model Checking Contest, `cargo xtask spin-bench` compares Promela models with Spin, `cargo xtask fair-table` tells what
//! is left of products under fairness, `cargo xtask gpu-ptx` makes the kernels for graphics processors, and `package`, `licences` and
//! `semver` tell whether we are fit to be published; `cargo xtask soak` tries everything that is random, with new seeds.
#![allow(clippy::print_stdout, clippy::print_stderr)] // A command of its own.

mod fair_table;
mod families;
mod gpu;
mod licences;
mod mcc;
mod package;
mod semver;
mod soak;
mod spin;
mod tidy;
mod verifier;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(),
        ["mcc", ref rest @ ..] => mcc::run(rest),
        ["spin-bench", ref rest @ ..] => spin::run(rest),
        ["fair-table", ref rest @ ..] => fair_table::run(rest),
        ["gpu-ptx", ref rest @ ..] => gpu::run(rest),
        ["package", ref rest @ ..] => package::run(rest),
        ["soak", ref rest @ ..] => soak::run(rest),
        ["licences"] => licences::run(),
        ["semver", reference] => semver::run(reference),
        _ => {
            let others = [
                mcc::USAGE,
                spin::USAGE,
                fair_table::USAGE,
                gpu::USAGE,
                package::USAGE,
                licences::USAGE,
                semver::USAGE,
                soak::USAGE,
            ];
            eprintln!("usage: cargo xtask tidy\n{}", others.join("\n"));
            ExitCode::from(2)
        }
    }
}
