//! Where measurements are made: what an experiment is, the clock and the limits of its cells, and the
//! records that are left of them.
//!
//! An experiment is a table of a paper: its cells are known beforehand, each has a key (its parameters), and
//! a job that gives one or more records. Nothing here reads a clock or a file; whoever calls brings a
//! [`Host`] that does.

use base::budget::Watch;
use base::{Budget, Limit};
use check::decide::{Decision, Refusal};
use check::search::{ProductOutcome, ProductStop};

/// What the world outside does: the clock, the files, and the person who waits.
pub trait Host: Watch {
    /// Seconds since some moment.
    fn seconds(&self) -> f64;
    /// Bytes that a search may hold.
    fn max_bytes(&self) -> u64;
    /// The text of a file of the folder, if there is such a file.
    fn read(&mut self, file: &str) -> Option<String>;
    /// Writes a file of the folder, whole or not at all.
    fn write(&mut self, file: &str, text: &str) -> Result<(), String>;
    /// Adds to a file of the folder.
    fn append(&mut self, file: &str, text: &str) -> Result<(), String>;
    /// Told before each cell that has to be computed.
    fn show(&mut self, status: &Status);
}

/// How far the experiments have come.
#[derive(Clone, Debug)]
pub struct Status {
    /// Cells that are there.
    pub done: usize,
    /// All cells.
    pub total: usize,
    /// Estimated seconds for the rest.
    pub seconds_left: f64,
    /// What is computed now.
    pub now: String,
}

/// Why a cell was not computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The user has had enough.
    Interrupted,
    /// This went wrong.
    Trouble(String),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Halt {
        Halt::Trouble(refusal.to_string())
    }
}

/// A cell: what it computes is a function of its key alone, times aside.
pub(crate) struct Cell {
    /// The parameters.
    pub(crate) key: Vec<String>,
    /// A guess of how long it takes.
    pub(crate) seconds: f64,
    /// Computes the records, without the key. It sees what is there so far.
    pub(crate) job: Job,
}

pub(crate) type Job = Box<dyn Fn(&mut Lab<'_>, &[Record]) -> Result<Vec<Vec<String>>, Halt>>;

/// A table of cells.
pub(crate) struct Experiment {
    /// The name of its file, without `.csv`.
    pub(crate) file: &'static str,
    /// What the parameters are called.
    pub(crate) key: &'static [&'static str],
    /// What the results are called.
    pub(crate) results: &'static [&'static str],
    pub(crate) cells: Vec<Cell>,
    /// Whether a cell is needed, after what is there so far.
    pub(crate) is_needed: fn(&Cell, &[Record]) -> bool,
}

impl Experiment {
    /// The name of its file.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.csv", self.file)
    }

    /// All columns.
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        [self.key, self.results].concat()
    }

    /// A record of this table, if it has as many fields as there are columns.
    pub(crate) fn record(&self, fields: Vec<String>) -> Option<Record> {
        let columns = self.columns();
        (fields.len() == columns.len()).then_some(Record { columns, fields })
    }
}

/// All cells are needed.
pub(crate) fn always(_: &Cell, _: &[Record]) -> bool {
    true
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    columns: Vec<&'static str>,
    pub(crate) fields: Vec<String>,
}

impl Record {
    /// The field in a column; empty if there is none.
    pub(crate) fn text(&self, column: &str) -> &str {
        let index = self.columns.iter().position(|its| *its == column);
        index.and_then(|index| self.fields.get(index)).map_or("", String::as_str)
    }

    /// The number in a column.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// Whether all these columns have these fields.
    pub(crate) fn is(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(column, field)| self.text(column) == *field)
    }
}

/// What a search did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    /// `holds`, `violated`, or `gave up` where a limit was hit: then states are a lower bound.
    pub(crate) verdict: &'static str,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) seconds: f64,
}

impl Measured {
    /// The verdict, states, transitions and seconds as fields.
    pub(crate) fn fields(&self) -> Vec<String> {
        vec![
            self.verdict.to_owned(),
            self.states.to_string(),
            self.transitions.to_string(),
            seconds(self.seconds),
        ]
    }
}

/// Seconds as they are written.
pub(crate) fn seconds(seconds: f64) -> String {
    format!("{seconds:.6}")
}

/// The clock and the limits.
pub(crate) struct Lab<'h> {
    host: &'h mut dyn Host,
}

impl<'h> Lab<'h> {
    pub(crate) fn new(host: &'h mut dyn Host) -> Lab<'h> {
        Lab { host }
    }

    /// Runs something within a number of states. If it was short, it runs again: the shortest time counts.
    pub(crate) fn timed<T>(
        &mut self,
        max_states: u64,
        mut run: impl FnMut(&mut Budget<'_>) -> T,
    ) -> (f64, T) {
        const SHORT: f64 = 0.02;
        let max_bytes = self.host.max_bytes();
        let mut once = |host: &mut dyn Host| {
            let start = host.seconds();
            let result = run(&mut Budget::new(max_states, max_bytes, host));
            (host.seconds() - start, result)
        };
        let (mut best, mut result) = once(self.host);
        for _ in 0..2 {
            if best < SHORT {
                let again = once(self.host);
                (best, result) = (best.min(again.0), again.1);
            }
        }
        (best, result)
    }

    /// The same for a search for a run that is accepted.
    pub(crate) fn decide(
        &mut self,
        max_states: u64,
        run: impl FnMut(&mut Budget<'_>) -> Result<Decision, Refusal>,
    ) -> Result<(Measured, Decision), Halt> {
        let (seconds, decision) = self.timed(max_states, run);
        let decision = decision?;
        Ok((measured(seconds, &decision.outcome)?, decision))
    }
}

/// What an outcome amounts to.
pub(crate) fn measured(seconds: f64, outcome: &ProductOutcome) -> Result<Measured, Halt> {
    let verdict = match &outcome.stop {
        None => "holds",
        Some(ProductStop::Found(_) | ProductStop::NoRun) => "violated",
        Some(ProductStop::Limit(limit)) => {
            not_interrupted(*limit)?;
            "gave up"
        }
        Some(ProductStop::Fault(error, _)) => {
            return Err(Halt::Trouble(format!("the model goes wrong: {:?}", error.fault)));
        }
    };
    let stats = &outcome.stats;
    Ok(Measured { verdict, states: stats.states, transitions: stats.transitions, seconds })
}

/// Whether a limit is one that a result can be made of.
pub(crate) fn not_interrupted(limit: Limit) -> Result<(), Halt> {
    match limit {
        Limit::Interrupt | Limit::Time => Err(Halt::Interrupted),
        Limit::States(_) | Limit::Memory(_) => Ok(()),
    }
}
