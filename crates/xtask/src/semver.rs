//! `cargo xtask semver REF`: whether the library `stubborn` can still be used by who used it at `REF`, a commit or tag.
//!
//! The work is done by `cargo semver-checks`, which has to be installed.

use std::process::{Command, ExitCode};

pub(crate) const USAGE: &str = "       cargo xtask semver REF";

pub(crate) fn run(reference: &str) -> ExitCode {
    let installed = Command::new(env!("CARGO")).args(["semver-checks", "--version"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "semver: needs `cargo semver-checks`; `cargo install cargo-semver-checks --locked` gets it"
        );
        return ExitCode::from(2);
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "semver-checks",
        "check-release",
        "--package",
        "stubborn",
        "--all-features",
        "--baseline-rev",
    ]);
    match cargo.arg(reference).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
