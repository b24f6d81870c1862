//! Where measurements are made: what an experiment is, the clock and the limits of its cells, and the
//! records that are left of them.
//!
//! An experiment is a table of a paper: its cells are known beforehand, each has a key (its parameters), and
//! a job that gives one or more records. Files and times are those of a [`Host`], whom whoever calls brings;
//! models are opened, searched and judged by [`stubborn`] alone.

use std::fmt::{self, Display};
use std::time::Duration;

use stubborn::base::{Limit, Progress};
use stubborn::check::decide::Decision;
use stubborn::check::search::ProductStop;
use stubborn::report::remark::Work;
use stubborn::{
    Clock, Error, ExploreReport, Explored, Limits, Options, Question, Remark, Session, Threads, Verdict,
    Watcher, Watching,
};

/// What the world outside does: the clock, the files, and the person who waits.
pub trait Host: Watcher {
    /// Seconds since some moment.
    fn seconds(&self) -> f64;
    /// Bytes that a search may hold.
    fn max_bytes(&self) -> u64;
    /// How many threads may search at once.
    fn threads(&self) -> usize {
        1
    }
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

impl Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = match self.seconds_left.round() as u64 {
            whole @ 0..60 => format!("{whole} s"),
            whole @ 60..3600 => format!("{} min", whole.div_ceil(60)),
            whole => format!("{:.1} h", whole as f64 / 3600.0),
        };
        write!(f, "{} of {} measurements, about {left} left: {}", self.done, self.total, self.now)
    }
}

/// Why a cell was not computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The user has had enough.
    Interrupted,
    /// This went wrong.
    Trouble(String),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        let messages: Vec<String> = error.diagnostics().iter().map(|one| one.message.clone()).collect();
        Halt::Trouble(messages.join("; "))
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

pub(crate) type Rows = Result<Vec<Vec<String>>, Halt>;
pub(crate) type Job = Box<dyn Fn(&Lab<'_>, &[Record]) -> Rows>;

impl Cell {
    pub(crate) fn new(
        key: &[&dyn Display],
        seconds: f64,
        job: impl Fn(&Lab<'_>, &[Record]) -> Rows + 'static,
    ) -> Cell {
        Cell { key: key.iter().map(ToString::to_string).collect(), seconds, job: Box::new(job) }
    }
}

/// A table of cells.
pub(crate) struct Experiment {
    /// The name of its file, without `.csv`.
    pub(crate) file: &'static str,
    /// What the parameters are called.
    pub(crate) key: Vec<&'static str>,
    /// What the results are called.
    pub(crate) results: Vec<&'static str>,
    pub(crate) cells: Vec<Cell>,
    /// Whether a cell is needed, after what is there so far.
    pub(crate) is_needed: fn(&Cell, &[Record]) -> bool,
}

impl Experiment {
    /// A table all of whose cells are needed. The names of columns are separated by bars.
    pub(crate) fn new(
        file: &'static str,
        key: &'static str,
        results: &'static str,
        cells: Vec<Cell>,
    ) -> Experiment {
        let (key, results) = (key.split(" | ").collect(), results.split(" | ").collect());
        Experiment { file, key, results, cells, is_needed: |_, _| true }
    }

    /// The name of its file.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.csv", self.file)
    }

    /// All columns.
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        [&self.key[..], &self.results].concat()
    }

    /// A record of this table, if it has as many fields as there are columns.
    pub(crate) fn record(&self, fields: Vec<String>) -> Option<Record> {
        let columns = self.columns();
        (fields.len() == columns.len()).then_some(Record { columns, fields })
    }
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

    /// The fields in some columns, separated by blanks.
    pub(crate) fn joined(&self, columns: &[&str]) -> String {
        columns.iter().map(|column| self.text(column)).collect::<Vec<_>>().join(" ")
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
    host: &'h dyn Host,
}

impl<'h> Lab<'h> {
    pub(crate) fn new(host: &'h dyn Host) -> Lab<'h> {
        Lab { host }
    }

    fn clock(&self, max_states: u64) -> Clock<'_> {
        let limits = Limits::default().memory(self.host.max_bytes()).states(max_states);
        Clock::start(&limits).with_threads(Threads::new(self.host.threads())).watched_by(self.host)
    }

    /// What the user cut short is no result.
    fn uninterrupted<T, E: Into<Halt>>(&self, result: Result<T, E>) -> Result<T, Halt> {
        match self.host.look(Duration::ZERO, &Progress::default()) {
            true => result.map_err(Into::into),
            false => Err(Halt::Interrupted),
        }
    }

    /// Runs something that is not measured.
    pub(crate) fn untimed<T>(&self, run: impl FnOnce(&Clock<'_>) -> Result<T, Error>) -> Result<T, Halt> {
        self.uninterrupted(run(&self.clock(u64::MAX)))
    }

    /// Runs something within a number of states. If it was short, it runs again: the shortest time counts.
    pub(crate) fn timed<T, E: Into<Halt>>(
        &self,
        max_states: u64,
        mut run: impl FnMut(&Clock<'_>) -> Result<T, E>,
    ) -> Result<(f64, T), Halt> {
        const SHORT: f64 = 0.02;
        let mut once = || {
            let clock = self.clock(max_states);
            let start = self.host.seconds();
            let result = run(&clock);
            (self.host.seconds() - start, result)
        };
        let (mut best, mut result) = once();
        for _ in 0..2 {
            if best < SHORT {
                let again = once();
                (best, result) = (best.min(again.0), again.1);
            }
        }
        Ok((best, self.uninterrupted(result)?))
    }

    /// Searches for a run that is accepted.
    pub(crate) fn search(
        &self,
        watching: &mut Watching<'_>,
        options: &Options,
        max_states: u64,
    ) -> Result<(Measured, Decision), Halt> {
        let (seconds, decision) = self.timed(max_states, |clock| watching.search(options, clock))?;
        let verdict = match &decision.outcome.stop {
            None => "holds",
            Some(ProductStop::Found(_) | ProductStop::NoRun) => "violated",
            Some(ProductStop::Limit(_)) => "gave up",
            Some(ProductStop::Fault(error, _)) => {
                return Err(Halt::Trouble(format!("the model goes wrong: {:?}", error.fault)));
            }
        };
        let (states, transitions) = (decision.outcome.stats.states, decision.outcome.stats.transitions);
        Ok((Measured { verdict, states, transitions, seconds }, decision))
    }

    /// Checks one property.
    pub(crate) fn check(
        &self,
        session: &mut Session,
        question: &Question,
        options: &Options,
        max_states: u64,
    ) -> Result<Measured, Halt> {
        let questions = std::slice::from_ref(question);
        let (seconds, report) =
            self.timed(max_states, |clock| session.check_within(questions, options, clock))?;
        let [result] = &report.results[..] else {
            return Err(Halt::Trouble(format!("{} answers to one question", report.results.len())));
        };
        let verdict = match result.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => match &result.remarks[..] {
                [Remark::Limit(Limit::States(_) | Limit::Memory(_), Work::Search)] => "gave up",
                remarks => return Err(Halt::Trouble(Remark::join(remarks).unwrap_or_default())),
            },
        };
        let (states, transitions) = (result.stats.states, result.stats.transitions);
        Ok(Measured { verdict, states, transitions, seconds })
    }

    /// Counts the states of a model, or of its product with what watches a question.
    pub(crate) fn explore(
        &self,
        session: &mut Session,
        question: Option<&Question>,
        options: &Options,
        max_states: u64,
    ) -> Result<(Measured, Explored), Halt> {
        let (seconds, explored) =
            self.timed(max_states, |clock| session.explore(question, options, false, clock))?;
        if let Some((error, _)) = &explored.fault {
            return Err(Halt::Trouble(format!("the model goes wrong: {:?}", error.fault)));
        }
        let ExploreReport { states, transitions, complete, .. } = explored.report;
        let verdict = if complete { "holds" } else { "gave up" };
        Ok((Measured { verdict, states, transitions, seconds }, explored))
    }
}
