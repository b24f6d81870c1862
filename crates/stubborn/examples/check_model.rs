//! Everything that a file declares, checked by whatever suits each property: what `stubborn check` does.
//!
//! `cargo run --example check_model models/peterson.proc`
#![allow(clippy::print_stdout, clippy::print_stderr)] // An example shows what it finds.

use stubborn::{Error, Options, Question, Session};

/// Checks the model of the command line.
pub(crate) fn main() -> Result<(), Error> {
    let file = std::env::args()
        .nth(1)
        .unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/peterson.proc").into());
    let mut session = Session::open(file)?;
    let report = session.check(&[Question::Declared], &Options::default())?;
    println!("{report}");
    Ok(())
}
