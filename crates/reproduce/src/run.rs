//! Runs what is missing, cell by cell, and writes the report.
//!
//! A cell that was computed is added to its file at once, so that nothing is lost when somebody interrupts,
//! and is found there the next time. The report is written at the end in any case, from what is there.

use std::collections::HashSet;
use std::fmt;

use stubborn::report::{count, grouped};

use crate::document::{Finding, Part, Section};
use crate::html;
use crate::lab::{Experiment, Halt, Host, Lab, Record, Status};
use crate::nets::Family;
use crate::subject::FILES;
use crate::{Paper, Scale, csv, markdown, paper_003};

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Cells that were computed.
    pub computed: usize,
    /// Cells that were there already.
    pub reused: usize,
    /// Cells that are still missing.
    pub missing: usize,
    /// Whether the user interrupted.
    pub interrupted: bool,
    /// What went wrong, by cell.
    pub troubles: Vec<String>,
    /// What became of the papers' claims.
    pub findings: Vec<(Paper, Finding)>,
}

impl fmt::Display for Outcome {
    /// What became of the claims, by paper, and how much was measured for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = "";
        for (paper, finding) in &self.findings {
            if paper.name() != last {
                last = paper.name();
                writeln!(f, "{last}")?;
            }
            writeln!(f, "  {}: {}", finding.judgment.name(), finding.claim)?;
        }
        write!(
            f,
            "{} made, {} reused",
            count(self.computed as u64, "measurement"),
            grouped(self.reused as u64)
        )?;
        match self.missing {
            0 => Ok(()),
            missing => write!(f, ", {} missing", grouped(missing as u64)),
        }
    }
}

/// A paper's tables and what is in them.
struct Work {
    paper: Paper,
    experiments: Vec<Experiment>,
    records: Vec<Vec<Record>>,
}

/// Computes the cells of these papers that are missing, and writes the report on all papers of which there is
/// anything.
///
/// # Errors
/// What the operating system refused.
pub fn run(papers: &[Paper], scale: Scale, host: &mut dyn Host) -> Result<Outcome, String> {
    write_models(papers, scale, host)?;
    let mut all = Vec::new();
    for paper in Paper::ALL {
        let experiments = paper.experiments(scale);
        let is_asked = papers.contains(&paper);
        let records = experiments
            .iter()
            .map(|experiment| load(experiment, is_asked, host))
            .collect::<Result<Vec<_>, String>>()?;
        all.push(Work { paper, experiments, records });
    }
    let mut outcome = Outcome {
        computed: 0,
        reused: 0,
        missing: 0,
        interrupted: false,
        troubles: Vec::new(),
        findings: Vec::new(),
    };
    compute(&mut all, papers, host, &mut outcome)?;
    write_report(&all, scale, host, &mut outcome)?;
    Ok(outcome)
}

/// The systems, so that the commands of the report can be repeated.
fn write_models(papers: &[Paper], scale: Scale, host: &mut dyn Host) -> Result<(), String> {
    for (file, text) in FILES {
        host.write(&format!("models/{file}"), text)?;
    }
    if papers.contains(&Paper::P003) {
        for family in Family::ALL {
            for size in [paper_003::size(family, scale), paper_003::case_size(family, scale)] {
                host.write(&family.file(size), &family.pnml(size))?;
            }
        }
    }
    Ok(())
}

/// The records of a table that are there. A file that is in the way, or ends in the middle of a line, is
/// written anew if something is to be added.
fn load(experiment: &Experiment, is_asked: bool, host: &mut dyn Host) -> Result<Vec<Record>, String> {
    let file = experiment.file_name();
    let text = host.read(&file).unwrap_or_default();
    let (lines, end) = csv::parse(&text);
    let columns: Vec<String> = experiment.columns().iter().map(|name| (*name).to_owned()).collect();
    let is_ours = lines.first() == Some(&columns);
    if is_asked && !is_ours {
        host.write(&file, &csv::line(&columns))?;
    } else if is_asked && end < text.len() {
        host.write(&file, &text[..end])?;
    }
    let records = lines.into_iter().skip(1).filter(|_| is_ours);
    Ok(records.filter_map(|fields| experiment.record(fields)).collect())
}

fn compute(
    all: &mut [Work],
    papers: &[Paper],
    host: &mut dyn Host,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let asked = |work: &Work| papers.contains(&work.paper);
    let cells = |all: &[Work]| -> Vec<f64> {
        let works = all.iter().filter(|work| asked(work));
        let experiments = works.flat_map(|work| &work.experiments);
        experiments.flat_map(|experiment| &experiment.cells).map(|cell| cell.seconds).collect()
    };
    let guesses = cells(all);
    let mut guess_left: f64 = guesses.iter().sum();
    // Seconds that were guessed, and that it took.
    let (mut guessed, mut took) = (1.0, 1.0);
    let mut done = 0;
    for work in all.iter_mut().filter(|work| asked(work)) {
        for (experiment, records) in work.experiments.iter().zip(&mut work.records) {
            let n_key = experiment.key.len();
            let there: HashSet<Vec<String>> =
                records.iter().map(|record| record.fields[..n_key].to_vec()).collect();
            for cell in &experiment.cells {
                guess_left -= cell.seconds;
                done += 1;
                if there.contains(&cell.key) {
                    outcome.reused += 1;
                    continue;
                }
                if !(experiment.is_needed)(cell, records) {
                    continue;
                }
                if outcome.interrupted {
                    outcome.missing += 1;
                    continue;
                }
                host.show(&Status {
                    done: done - 1,
                    total: guesses.len(),
                    seconds_left: (guess_left.max(0.0) + cell.seconds) * took / guessed,
                    now: format!("{} {}", experiment.file, cell.key.join(" ")),
                });
                let start = host.seconds();
                let computed = (cell.job)(&Lab::new(host), records);
                took += host.seconds() - start;
                guessed += cell.seconds;
                match computed {
                    Ok(results) => {
                        let mut text = String::new();
                        for result in results {
                            let fields = [cell.key.clone(), result].concat();
                            text += &csv::line(&fields);
                            records.extend(experiment.record(fields));
                        }
                        host.append(&experiment.file_name(), &text)?;
                        outcome.computed += 1;
                    }
                    Err(Halt::Interrupted) => {
                        outcome.interrupted = true;
                        outcome.missing += 1;
                    }
                    Err(Halt::Trouble(why)) => {
                        outcome.missing += 1;
                        outcome.troubles.push(format!("{} {}: {why}", experiment.file, cell.key.join(" ")));
                    }
                }
            }
        }
    }
    Ok(())
}

fn write_report(
    all: &[Work],
    scale: Scale,
    host: &mut dyn Host,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let mut sections = Vec::new();
    for work in all {
        // Only what this scale asks for, so that tables compare like with like.
        let planned = |(experiment, records): (&Experiment, &Vec<Record>)| -> Vec<Record> {
            let keys: HashSet<&[String]> = experiment.cells.iter().map(|cell| cell.key.as_slice()).collect();
            let is_planned = |record: &&Record| keys.contains(&record.fields[..experiment.key.len()]);
            records.iter().filter(is_planned).cloned().collect()
        };
        let records: Vec<Vec<Record>> = work.experiments.iter().zip(&work.records).map(planned).collect();
        if records.iter().all(Vec::is_empty) {
            continue;
        }
        let section = work.paper.section(&records);
        host.write(&format!("{}.md", work.paper.name()), &markdown::section(&section))?;
        for part in &section.parts {
            if let Part::Plot(plot) = part {
                host.write(&format!("{}.svg", plot.file), &plot.to_svg(true))?;
            }
        }
        outcome.findings.extend(section.findings.iter().map(|finding| (work.paper, finding.clone())));
        sections.push(section);
    }
    host.write("index.html", &page(&sections, scale, outcome))
}

fn page(sections: &[Section], scale: Scale, outcome: &Outcome) -> String {
    let mut summary = vec![
        "The experiments of five papers, repeated with Stubborn: our figures beside the published ones, and \
         what became of each claim. Counts of states and transitions are the same on every machine; times \
         are of the machine that wrote this page, the shortest of up to three runs."
            .to_owned(),
        "The tables are in the CSV files beside this page, one line per measurement, with the command that \
         repeats it. Commands are meant to be run in the folder of this page, where the models are as well."
            .to_owned(),
        match scale {
            Scale::Tiny => "Scale: tiny, for tests.",
            Scale::Quick => {
                "Scale: quick. Fewer and smaller systems; `stubborn reproduce` without --quick has more."
            }
            Scale::Standard => "Scale: standard. `stubborn reproduce --full` has the largest systems.",
            Scale::Full => "Scale: full.",
        }
        .to_owned(),
    ];
    if outcome.missing > 0 {
        let n = count(outcome.missing as u64, "measurement");
        summary.push(format!("Incomplete: {n} are missing. The same command goes on where it stopped."));
    }
    html::page("The papers' experiments, repeated", &summary, sections)
}
