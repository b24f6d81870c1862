//! The arguments of `stubborn certify`.

use std::path::PathBuf;

use clap::Args;

use super::{EXIT_CODES, LimitArguments};

/// Check certificates: that properties of a model hold, state by state, without any search
///
/// A certificate is written by `stubborn check MODEL --certificate FILE`, for each property that holds. It lists states,
/// and says for formulas why no run through them is a violation. Here every state and every step is looked at, by a slow
/// and simple interpreter, and whether steps that are left out can wait; search, stores, reductions and the translation of formulas have no part in it. The program
/// `stubborn-certify` does the same, and contains nothing else. The format is described in docs/certificates.md.
///
/// Constants, fairness and what is said of runs that end are those of the certificate, and are told.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = CERTIFY_EXAMPLES)]
pub(crate) struct CertifyArguments {
    /// The model: .proc, .pnml or .pml
    pub(crate) file: PathBuf,

    /// The certificate
    pub(crate) certificate: PathBuf,

    /// Where else to look for files that the model includes, after its own folder (repeatable)
    #[arg(short = 'I', long = "include", value_name = "DIR", hide_short_help = true)]
    pub(crate) folders: Vec<String>,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

const CERTIFY_EXAMPLES: &str = "\
Examples:
  stubborn check models/peterson.proc --certificate peterson.scert
  stubborn certify models/peterson.proc peterson.scert
  stubborn certify models/peterson.proc peterson.scert --json

Exit codes:
  0  everything in the certificate is certified
  1  something is not: the certificate is wrong, or about another model
  2  bad input or usage: the file is no certificate, or the model cannot be read
  3  undecided: a limit was hit";
