//! [holzmann.96.closure]: claims that may see stuttering are checked through their closure, with reduction.
//!
//! The automaton of the negated formula is closed under stuttering, and the closure is checked with stubborn
//! sets. If that finds nothing, the formula holds; if it finds a run that the automaton itself accepts, it is
//! violated; otherwise the formula sees stuttering, and has to be checked again without reduction.
//!
//! Differences from the paper: it has no experiments; systems and claims are ours.

use stubborn::check::method::{ObserverKind, ReductionWish, SearchKind};
use stubborn::{Options, Question};

use crate::Scale;
use crate::document::{Finding, Judgment, Part, Section, Table, geometric_mean, number, number_or_dash};
use crate::lab::{Cell, Experiment, Lab, Record, Rows, seconds};
use crate::plot::{Axis, Plot, Series};
use crate::subject::{by, network, plain, shell};

/// A system, its sizes from tiny to full, and claims about it.
struct Subject {
    file: &'static str,
    constant: &'static str,
    sizes: [i64; 4],
    formulas: &'static [&'static str],
}

const SUBJECTS: [Subject; 7] = [
    Subject {
        file: "dining.proc",
        constant: "N",
        sizes: [4, 8, 11, 13],
        formulas: &[
            "[] !(Phil[0]@eat && Phil[1]@eat)",
            "[] (Phil[0]@left -> <> Phil[0]@eat)",
            "[] (Phil[0]@eat -> X !Phil[0]@think)",
            "[] (Phil[0]@left -> X (Phil[0]@left || Phil[0]@eat))",
            "[] ((Phil[0]@left && X Phil[0]@eat) -> X !Phil[1]@eat)",
            "[] (Phil[0]@think -> X Phil[0]@left)",
            "<> (Phil[0]@think && X Phil[0]@think)",
            "[] X !(Phil[0]@eat && Phil[1]@eat)",
        ],
    },
    Subject {
        file: "token_ring.proc",
        constant: "N",
        sizes: [3, 7, 10, 12],
        formulas: &[
            "[] !(Customer[0]@using && Customer[1]@using)",
            "!Customer[0]@using W Customer[0]@waiting",
            "[] (Customer[0]@idle -> X !Customer[0]@using)",
            "[] ((Customer[0]@waiting && X Customer[0]@using) -> X Station[0]@busy)",
            "[] (Station[0]@busy -> X (Station[0]@busy || Station[0]@token[1]))",
            "[] (Customer[0]@waiting -> X Customer[0]@using)",
            "[] (Customer[0]@using -> X X X !Customer[0]@waiting)",
        ],
    },
    Subject {
        file: "acknowledged_ring.proc",
        constant: "N",
        sizes: [3, 8, 12, 14],
        formulas: &[
            "[] !(Customer[0]@at[7] && Customer[1]@at[7])",
            "[] (Customer[0]@at[8] -> (Customer[0]@at[8] W Customer[0]@at[0]))",
            "[] (Customer[0]@at[0] -> X !Customer[0]@at[7])",
            "[] ((Customer[0]@at[6] && X Customer[0]@at[7]) -> X !Customer[1]@at[7])",
            "[] (Customer[0]@at[1] -> X Customer[0]@at[3])",
            "X X !Customer[0]@at[8]",
        ],
    },
    Subject {
        file: "semaphore.proc",
        constant: "N",
        sizes: [3, 7, 10, 12],
        formulas: &[
            "[] !(Worker[0]@critical[*] && Worker[1]@critical[*])",
            "[] (Worker[0]@idle -> X !Worker[0]@critical[*])",
            "[] (Worker[0]@critical[0] -> X (Worker[0]@critical[0] || Worker[0]@critical[1]))",
            "[] ((Semaphore@free && X Semaphore@taken) -> X (Worker[0]@critical[0] || \
             !Worker[0]@critical[*]))",
            "[] (Worker[0]@critical[0] -> X X X Semaphore@free)",
            "[] <> X Semaphore@free",
        ],
    },
    Subject {
        file: "scheduler.proc",
        constant: "N",
        sizes: [3, 8, 11, 13],
        formulas: &[
            "!Cell[1]@started W Cell[0]@started",
            "[] (Cell[0]@started -> X (Cell[0]@started || Cell[0]@finished || Cell[0]@running))",
            "[] (Cell[0]@turn[0] -> X !Cell[0]@started)",
            "[] (Cell[0]@started -> X !Cell[1]@started)",
            "X Cell[0]@started",
            "[] ((Cell[0]@running && X Cell[0]@turn[0]) -> X !Cell[0]@started)",
        ],
    },
    Subject {
        file: "crossing.proc",
        constant: "N",
        sizes: [2, 4, 7, 9],
        formulas: &[
            "[] (Train[0]@there -> Gate@down)",
            "[] (Train[0]@far -> X !Train[0]@there)",
            "[] ((Gate@down && X Gate@up) -> X !Train[0]@there)",
            "[] (Train[0]@near -> X Gate@down)",
            "[] (Train[0]@there -> X X !Train[0]@near)",
        ],
    },
    Subject {
        file: "alternating_bit.proc",
        constant: "BITS",
        sizes: [2, 2, 3, 6],
        formulas: &[
            "[] (Receiver@got[0] -> (Receiver@got[0] W Receiver@answer[0]))",
            "[] (Sender@ready[0] -> X !Sender@waiting[0])",
            "[] (Receiver@got[0] -> X (Receiver@got[0] || Receiver@answer[0]))",
            "[] (Sender@sending[0] -> X Sender@waiting[0])",
            "[] (Data@full[0] -> X (Data@full[0] || Data@empty))",
        ],
    },
];

pub(crate) fn experiments(scale: Scale) -> Vec<Experiment> {
    let mut cells = Vec::new();
    for subject in &SUBJECTS {
        let size = subject.sizes[scale as usize];
        for formula in subject.formulas {
            let seconds = [0.1, 0.1, 2.0, 20.0][scale as usize];
            cells.push(Cell::new(&[&subject.file, &size, formula], seconds, move |lab, _| {
                compare(lab, subject, size, formula)
            }));
        }
    }
    vec![Experiment::new(
        "004-closure",
        "system | size | formula",
        "sees stuttering | automaton states | closure states | verdict | decided by | \
         states without reduction | seconds without reduction | states with closure | \
         seconds with closure | command",
        cells,
    )]
}

fn compare(lab: &Lab<'_>, subject: &Subject, size: i64, formula: &str) -> Rows {
    let question = Question::ltl(formula);
    let mut session = network(subject.file, subject.constant, size)?;
    let mut watching = lab.untimed(|clock| session.watch(&question, clock))?;
    let sees_stuttering = watching.claim().proof().is_none();
    let automaton_states = watching.claim().tgba().n_states();
    let (full, _) = lab.search(&mut watching, &by(ObserverKind::Tgba, SearchKind::Scc), u64::MAX)?;
    lab.untimed(|clock| watching.close(clock))?;
    let closure_states = watching.claim().tgba().n_states();
    let options = Options { reduce: ReductionWish::Best, ..plain() };
    let (reduced, decision) = lab.search(&mut watching, &options, u64::MAX)?;
    let decided_by = match decision.outcome.evidence() {
        None => "closure",
        Some(run) if lab.untimed(|clock| watching.is_violated_by(run, &options, clock))? => {
            "closure, and the run is accepted"
        }
        Some(_) => FALLBACK,
    };
    let command = format!(
        "stubborn check models/{} -D {}={size} --ltl {} --reduce closure --fair none --static none",
        subject.file,
        subject.constant,
        shell(formula)
    );
    Ok(vec![vec![
        if sees_stuttering { "yes" } else { "no" }.to_owned(),
        automaton_states.to_string(),
        closure_states.to_string(),
        full.verdict.to_owned(),
        decided_by.to_owned(),
        full.states.to_string(),
        seconds(full.seconds),
        reduced.states.to_string(),
        seconds(reduced.seconds),
        command,
    ]])
}

pub(crate) fn section(records: &[Vec<Record>]) -> Section {
    let records: &[Record] = records.first().map_or(&[], Vec::as_slice);
    let what = |record: &Record| format!("{}, {}", record.text("system"), record.text("formula"));
    Section::new(
        "004 · Holzmann, Kupferman: Not checking for closure under stuttering (1996)",
        &[
            "Formulas with and without “next” about the models of this project. The automaton of the \
             negated formula is closed under stuttering, and the closure is checked with stubborn sets, \
             whether or not the formula sees stuttering. That decides the matter unless the closure accepts \
             a run that the automaton itself does not.",
            "The paper has no experiments: its claims are that this often works, also for formulas that see \
             stuttering, and that the fallback is rarely needed.",
        ],
        findings(records),
        vec![
            Part::Table(summary(records)),
            Part::Plot(plot(records)),
            Part::Table(table(records)),
            Part::commands("Commands", records, what),
        ],
    )
}

const FALLBACK: &str = "fallback";

fn is_decided(record: &Record) -> bool {
    record.text("decided by") != FALLBACK
}

/// What the closure saves, where it decides.
fn saving(record: &Record) -> Option<f64> {
    Some(record.number("states with closure")?.max(1.0) / record.number("states without reduction")?.max(1.0))
}

fn summary(records: &[Record]) -> Table {
    let mut table = Table::new(
        "How often the closure decides, and what reduction saves",
        "Formulas | number | decided at once | fallback | closure ÷ automaton states | reduced ÷ full states",
    );
    for (name, sees, verdict) in [
        ("do not see stuttering, hold", "no", "holds"),
        ("do not see stuttering, violated", "no", "violated"),
        ("see stuttering, hold", "yes", "holds"),
        ("see stuttering, violated", "yes", "violated"),
    ] {
        let wanted: Vec<&Record> = records
            .iter()
            .filter(|record| record.is(&[("sees stuttering", sees), ("verdict", verdict)]))
            .collect();
        let decided: Vec<&Record> = wanted.iter().copied().filter(|record| is_decided(record)).collect();
        let growth = wanted.iter().filter_map(|record| {
            Some(record.number("closure states")? / record.number("automaton states")?.max(1.0))
        });
        table.rows.push(vec![
            name.to_owned(),
            wanted.len().to_string(),
            decided.len().to_string(),
            (wanted.len() - decided.len()).to_string(),
            number_or_dash(geometric_mean(growth)),
            number_or_dash(geometric_mean(decided.iter().filter_map(|record| saving(record)))),
        ]);
    }
    table.with_note(
        "Ratios are geometric means; those of states are of the formulas that the closure decides.",
    )
}

fn table(records: &[Record]) -> Table {
    let mut table = Table::new(
        "All formulas",
        "Formula | System | n | Sees stuttering | Verdict | Decided by | States, full | States, closure",
    );
    for record in records {
        table.rows.push(vec![
            record.text("formula").to_owned(),
            record.text("system").trim_end_matches(".proc").replace('_', " "),
            record.text("size").to_owned(),
            record.text("sees stuttering").to_owned(),
            record.text("verdict").to_owned(),
            record.text("decided by").to_owned(),
            number_or_dash(record.number("states without reduction")),
            number_or_dash(record.number("states with closure")),
        ]);
    }
    table.with_note(
        "“Fallback”: the closure accepts a run that the formula does not forbid; states up to that run.",
    )
}

fn plot(records: &[Record]) -> Plot {
    let cloud = |name: &str, is_wanted: &dyn Fn(&Record) -> bool| {
        let wanted = records.iter().filter(|record| is_wanted(record));
        let points = wanted.filter_map(|record| {
            Some((
                record.number("states without reduction")?.max(1.0),
                record.number("states with closure")?.max(1.0),
            ))
        });
        Series::cloud(name, points.collect())
    };
    Plot {
        file: "004-closure".to_owned(),
        title: "States: closure with reduction against full".to_owned(),
        description: "Each point is a formula about a system; points below the diagonal are in favor of the \
         closure with reduction."
            .to_owned(),
        x: Axis::log("states without reduction"),
        y: Axis::log("states with the closure and reduction"),
        series: vec![
            cloud("holds, decided by the closure", &|record| {
                is_decided(record) && record.text("verdict") == "holds"
            }),
            cloud("violated, decided by the closure", &|record| {
                is_decided(record) && record.text("verdict") == "violated"
            }),
            cloud("fallback needed", &|record| !is_decided(record)),
        ],
        has_diagonal: true,
    }
}

fn findings(records: &[Record]) -> Vec<Finding> {
    let decided = records.iter().filter(|record| is_decided(record)).count();
    let sensitive: Vec<&Record> =
        records.iter().filter(|record| record.text("sees stuttering") == "yes").collect();
    let sensitive_decided = sensitive.iter().filter(|record| is_decided(record)).count();
    let insensitive = records.len() - sensitive.len();
    let insensitive_decided = decided - sensitive_decided;
    // Where the closure says that a formula holds or is violated, that must be so.
    let wrong = records.iter().filter(|record| match record.text("decided by") {
        "closure" => record.text("verdict") != "holds",
        FALLBACK => false,
        _ => record.text("verdict") != "violated",
    });
    let wrong = wrong.count();
    let held: Vec<&Record> =
        records.iter().filter(|record| record.text("verdict") == "holds" && is_decided(record)).collect();
    let saved = geometric_mean(held.iter().filter_map(|record| saving(record)));
    vec![
        Finding::new(
            "A verdict through the closure is right, whether or not the formula sees stuttering.",
            "none: this is proved",
            Judgment::of_cases(decided - wrong, decided),
            format!("{} of {decided} verdicts are those of a full search.", decided - wrong),
        ),
        Finding::new(
            "Formulas that do not see stuttering never need the fallback.",
            "none: this is proved",
            Judgment::of_cases(insensitive_decided, insensitive),
            format!("{insensitive_decided} of {insensitive} were decided at once."),
        ),
        Finding::new(
            "Formulas that see stuttering are often decided all the same.",
            "none: “often”",
            Judgment::of((!sensitive.is_empty()).then_some(2 * sensitive_decided >= sensitive.len())),
            format!(
                "{sensitive_decided} of {} were decided at once; the fallback was needed {} times.",
                sensitive.len(),
                sensitive.len() - sensitive_decided
            ),
        ),
        Finding::new(
            "With the closure, reduction can be used for all of them, and saves states.",
            "none",
            Judgment::of(saved.map(|saved| saved < 1.0)),
            format!(
                "Where formulas hold and the closure shows it, {} of the states on average (geometric mean \
                 of {} cases).",
                saved.map_or("–".to_owned(), |saved| format!(
                    "{} %",
                    number((saved * 1000.0).round() / 10.0)
                )),
                held.len()
            ),
        ),
    ]
}
