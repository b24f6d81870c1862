//! The experiments of the five papers, repeated with this implementation: what is measured, and a report that
//! puts it beside what was published.
//!
//! - [`run()`] computes what is missing, and writes tables (CSV), texts (Markdown), plots (SVG) and one page.
//! - `lab`: cells, records, and the [`Host`] that has the clock and the files.
//! - `paper_000` to `paper_004`: what each paper measured, and what it claims.
//! - `subject`, `nets`: the systems.
//! - `document`, `plot`, `html`, `markdown`: the report.
//!
//! Columns other than times follow from the parameters alone: the same cell gives the same numbers. That is
//! why a cell that is in its file already is not computed again.

mod csv;
mod cvwy;
mod document;
mod html;
mod lab;
mod markdown;
mod nets;
mod paper_000;
mod paper_001;
mod paper_002;
mod paper_003;
mod paper_004;
mod plot;
mod published_003;
mod run;
mod subject;
mod tables_000;
mod tables_001;
mod tables_003;

pub use document::{Finding, Judgment};
pub use lab::{Halt, Host, Status};
pub use run::{Outcome, run};

use document::Section;
use lab::{Experiment, Record};

stubborn::base::define_words! {
    /// A paper, by its number.
    pub enum Paper {
        /// Hansen, Penczek, Valmari: testing automata and the one-pass search.
        P000 = "000",
        /// Valmari: testers and stubborn sets.
        P001 = "001",
        /// Malinen, Luukkainen: fairness.
        P002 = "002",
        /// Ben Salem, Duret-Lutz, Kordon: generalized testing automata.
        P003 = "003",
        /// Holzmann, Kupferman: closure under stuttering.
        P004 = "004",
    }
}

/// How much is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// For tests: seconds, of which most experiments are a shadow.
    Tiny,
    /// A minute or two.
    Quick,
    /// At most an hour.
    Standard,
    /// Hours.
    Full,
}

impl Paper {
    /// Its tables.
    fn experiments(self, scale: Scale) -> Vec<Experiment> {
        match self {
            Paper::P000 => paper_000::experiments(scale),
            Paper::P001 => paper_001::experiments(scale),
            Paper::P002 => paper_002::experiments(scale),
            Paper::P003 => paper_003::experiments(scale),
            Paper::P004 => paper_004::experiments(scale),
        }
    }

    /// What is said about it, given the records of its tables, in their order.
    fn section(self, records: &[Vec<Record>]) -> Section {
        match self {
            Paper::P000 => tables_000::section(records),
            Paper::P001 => tables_001::section(records),
            Paper::P002 => paper_002::section(records),
            Paper::P003 => tables_003::section(records),
            Paper::P004 => paper_004::section(records),
        }
    }
}
