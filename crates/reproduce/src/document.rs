//! What a report is made of: sections with findings, tables and plots, whatever they are written as.

use stubborn::{base, report};

use crate::lab::Record;
use crate::plot::Plot;

/// What is said about one paper.
pub(crate) struct Section {
    /// The paper.
    pub(crate) title: String,
    /// What was done.
    pub(crate) introduction: Vec<String>,
    /// What the paper claims, and what became of it.
    pub(crate) findings: Vec<Finding>,
    pub(crate) parts: Vec<Part>,
}

/// A part of a section.
pub(crate) enum Part {
    Table(Table),
    Plot(Plot),
    /// Commands that repeat what is shown, each with what it is about.
    Commands {
        title: String,
        commands: Vec<(String, String)>,
    },
}

impl Section {
    pub(crate) fn new(
        title: &str,
        introduction: &[&str],
        findings: Vec<Finding>,
        parts: Vec<Part>,
    ) -> Section {
        let introduction = introduction.iter().map(|&text| text.to_owned()).collect();
        Section { title: title.to_owned(), introduction, findings, parts }
    }
}

impl Part {
    /// The commands of some records, each with what it is about.
    pub(crate) fn commands<'r>(
        title: impl Into<String>,
        records: impl IntoIterator<Item = &'r Record>,
        what: impl Fn(&Record) -> String,
    ) -> Part {
        let command = |record: &Record| (what(record), record.text("command").to_owned());
        Part::Commands { title: title.into(), commands: records.into_iter().map(command).collect() }
    }
}

/// A claim of a paper.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What the paper says.
    pub claim: String,
    /// Its figures.
    pub published: String,
    /// What our figures say.
    pub judgment: Judgment,
    /// The figures.
    pub evidence: String,
}

impl Finding {
    pub(crate) fn new(
        claim: &str,
        published: impl Into<String>,
        judgment: Judgment,
        evidence: impl Into<String>,
    ) -> Finding {
        let (claim, published, evidence) = (claim.to_owned(), published.into(), evidence.into());
        Finding { claim, published, judgment, evidence }
    }
}

base::define_words! {
    /// What became of a claim.
    pub enum Judgment {
        /// Our figures say the same.
        Confirmed = "confirmed",
        /// They do so in part; the evidence says which.
        Partly = "partly confirmed",
        /// They do not.
        NotConfirmed = "not confirmed",
        /// There are not enough of them yet.
        NoData = "not enough data",
    }
}

impl Judgment {
    /// The judgment of a number of cases, of which some agree.
    pub(crate) fn of_cases(agree: usize, all: usize) -> Judgment {
        match (agree, all) {
            (_, 0) => Judgment::NoData,
            (agree, all) if agree == all => Judgment::Confirmed,
            (0, _) => Judgment::NotConfirmed,
            _ => Judgment::Partly,
        }
    }

    /// The judgment of one case, if there is one.
    pub(crate) fn of(agrees: Option<bool>) -> Judgment {
        match agrees {
            None => Judgment::NoData,
            Some(true) => Judgment::Confirmed,
            Some(false) => Judgment::NotConfirmed,
        }
    }
}

/// A table. The first column says what a row is about.
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// What must be known to read it.
    pub(crate) note: Option<String>,
}

impl Table {
    /// A table without rows; the names of its columns are separated by bars.
    pub(crate) fn new(caption: impl Into<String>, header: &str) -> Table {
        let header = header.split(" | ").map(str::to_owned).collect();
        Table { caption: caption.into(), header, rows: Vec::new(), note: None }
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Table {
        self.note = Some(note.into());
        self
    }
}

/// A whole number as people read it, a fraction with three digits.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        "–".to_owned()
    } else if value.abs() >= 100.0 || value.fract() == 0.0 {
        let digits = report::grouped(value.abs().round() as u64);
        if value < 0.0 { format!("−{digits}") } else { digits }
    } else if value.abs() >= 0.01 {
        format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.1e}")
    }
}

/// The same, or a dash.
pub(crate) fn number_or_dash(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), number)
}

/// The mean.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// The geometric mean.
pub(crate) fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    mean(values.filter(|value| *value > 0.0).map(f64::ln)).map(f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let shown = [59_048.0, 0.5, 1.23456, 0.000_12, f64::NAN, 12.0].map(number);
        assert_eq!(shown, ["59 048", "0.5", "1.235", "1.2e-4", "–", "12"]);
        assert_eq!(geometric_mean([1.0, 100.0].into_iter()).map(f64::round), Some(10.0));
        assert_eq!(mean([].into_iter()), None);
    }

    #[test]
    fn a_claim_is_confirmed_only_by_all_cases() {
        assert_eq!(Judgment::of_cases(3, 3), Judgment::Confirmed);
        assert_eq!(Judgment::of_cases(1, 3), Judgment::Partly);
        assert_eq!(Judgment::of_cases(0, 3), Judgment::NotConfirmed);
        assert_eq!(Judgment::of_cases(0, 0), Judgment::NoData);
    }
}
