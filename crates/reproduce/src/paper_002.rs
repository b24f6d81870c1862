//! [malinen.03.fairness]: liveness of two protocols for mutual exclusion under weak and strong fairness,
//! by monitors with a nested search and by strong components (Figure 1).
//!
//! Differences from the paper: its figure is a picture, so only what its text says can be compared. Where a
//! property is violated, the components of the paper are all looked at; ours stop at the first fair cycle.
//! The automaton of the components is a TGBA, that of the monitors a BA.

use std::fmt::Display;

use stubborn::check::method::{FairnessBy, ObserverKind, ReductionWish, SearchKind};
use stubborn::{Fair, FairKind, FairTo, Options, Question};

use crate::Scale;
use crate::document::{Finding, Judgment, Part, Section, Table, geometric_mean, number, number_or_dash};
use crate::lab::{Cell, Experiment, Lab, Record, Rows};
use crate::plot::{Axis, Plot, Series};
use crate::subject::{by, network, shell};

/// A protocol.
struct Protocol {
    name: &'static str,
    file: &'static str,
    /// The processes that are treated fairly.
    processes: &'static str,
    formula: &'static str,
    /// The fairness that the property needs.
    needs: &'static str,
}

const PROTOCOLS: [Protocol; 2] = [
    Protocol {
        name: "Peterson",
        file: "peterson_n.proc",
        processes: "Peer",
        formula: "[] (Peer[0]@trying -> <> Peer[0]@critical)",
        needs: "weak",
    },
    Protocol {
        name: "semaphore",
        file: "semaphore.proc",
        processes: "Worker",
        formula: "[] (Worker[0]@trying -> <> Worker[0]@critical[*])",
        needs: "strong",
    },
];

const KINDS: [&str; 2] = ["weak", "strong"];

const METHODS: [&str; 2] = ["scc", "monitor"];

/// What a record is about.
const KEY: [&str; 4] = ["protocol", "size", "fairness", "method"];

fn sizes(protocol: &Protocol, scale: Scale) -> Vec<i64> {
    match (protocol.name, scale) {
        ("Peterson", Scale::Tiny) => vec![2],
        ("Peterson", Scale::Standard | Scale::Full) => vec![2, 3, 4, 5],
        ("Peterson", Scale::Quick) | (_, Scale::Tiny) => vec![2, 3],
        (_, Scale::Quick) => vec![2, 4, 6, 8, 10],
        (_, Scale::Standard | Scale::Full) => vec![2, 4, 6, 8, 10, 12, 14],
    }
}

/// The paper ran out of memory after two million states, with monitors.
fn max_states(scale: Scale, method: &str) -> u64 {
    match (scale, method) {
        (Scale::Tiny, _) => 5_000,
        (Scale::Quick, _) => 200_000,
        (Scale::Standard, "monitor") => 2_000_000,
        (Scale::Standard | Scale::Full, _) => 20_000_000,
    }
}

pub(crate) fn experiments(scale: Scale) -> Vec<Experiment> {
    let mut cells = Vec::new();
    for protocol in &PROTOCOLS {
        for size in sizes(protocol, scale) {
            for kind in KINDS {
                for method in METHODS {
                    // Monitors of strong fairness double the states with every process, and steps even more.
                    let doubles = method == "monitor" && kind == "strong";
                    let max_states = max_states(scale, method);
                    let states = if protocol.name == "Peterson" {
                        40.0 * 20f64.powi(size as i32 - 2)
                    } else {
                        2.6f64.powi(size as i32)
                    };
                    let states = states * if doubles { 2f64.powi(size as i32) } else { 1.0 };
                    let steps_per_state = if doubles { 5.0 * size as f64 } else { 4.0 };
                    let seconds = states.min(max_states as f64) * steps_per_state / 1e6;
                    let key: [&dyn Display; 5] = [&protocol.name, &size, &kind, &method, &max_states];
                    cells.push(Cell::new(&key, seconds, move |lab, _| {
                        decide(lab, protocol, size, kind, method, max_states)
                    }));
                }
            }
        }
    }
    vec![Experiment::new(
        "002-fairness",
        "protocol | size | fairness | method | max states",
        "verdict | states | transitions | seconds | system states | command",
        cells,
    )]
}

fn decide(lab: &Lab<'_>, protocol: &Protocol, size: i64, kind: &str, method: &str, max_states: u64) -> Rows {
    let processes = format!("{}[*]", protocol.processes);
    let to = shell(&format!("{kind}:{processes}"));
    let mut spelled = format!("--fair {to} --reduce none --max-states {max_states}");
    let (observer, search, fairness_by) = if method == "scc" {
        spelled += " --observer tgba --search scc";
        (ObserverKind::Tgba, SearchKind::Scc, FairnessBy::Search)
    } else {
        spelled += " --fairness-by monitor";
        (ObserverKind::Ba, SearchKind::Nested, FairnessBy::Monitors)
    };
    let fairness = if kind == "strong" { FairKind::Strong } else { FairKind::Weak };
    let fair = vec![Fair { kind: fairness, to: FairTo::Processes(vec![processes]) }];
    let options = Options { fair, fairness_by, reduce: ReductionWish::None, ..by(observer, search) };
    let question = Question::ltl(protocol.formula);
    let mut session = network(protocol.file, "N", size)?;
    let mut watching = lab.untimed(|clock| session.watch(&question, clock))?;
    let (measured, decision) = lab.search(&mut watching, &options, max_states)?;
    let system_states = decision.outcome.system_states.map_or(String::new(), |states| states.to_string());
    let command = format!(
        "stubborn check models/{} -D N={size} --ltl {} {spelled} --static none",
        protocol.file,
        shell(protocol.formula)
    );
    Ok(vec![[measured.fields(), vec![system_states, command]].concat()])
}

pub(crate) fn section(records: &[Vec<Record>]) -> Section {
    let records: &[Record] = records.first().map_or(&[], Vec::as_slice);
    let mut parts = Vec::new();
    for protocol in &PROTOCOLS {
        let of_protocol: Vec<&Record> =
            records.iter().filter(|record| record.text("protocol") == protocol.name).collect();
        parts.push(Part::Table(table(protocol, &of_protocol)));
        for (column, label) in [("states", "states of the product"), ("seconds", "seconds")] {
            parts.push(Part::Plot(plot(protocol, &of_protocol, column, label)));
        }
    }
    parts.push(Part::commands("Commands", records, |record| record.joined(&KEY)));
    Section::new(
        "002 · Malinen, Luukkainen: Fairness in automata theoretic model checking (2003)",
        &[
            "“Whoever tries gets in” is checked of Peterson's protocol, which needs weak fairness, and of a \
             semaphore, which needs strong fairness. Fairness to all processes is told by strong components \
             (SCC), or by monitors that are part of the product and a nested depth-first search.",
            "The paper's Figure 1 is a picture; its text says: Peterson's protocol for 4 processes has over \
             10^5 states, and monitors ran out of memory after 2·10^6 states; the semaphore for 12 \
             processes has about 77 000 states, monitors could do 10 processes with weak fairness and 6 \
             with strong fairness; with components both kinds of fairness take about the same.",
        ],
        findings(records),
        parts,
    )
}

fn table(protocol: &Protocol, records: &[&Record]) -> Table {
    let mut table = Table::new(
        format!("Figure 1: {}, which needs {} fairness", protocol.name, protocol.needs),
        "Processes | Fairness | Verdict | States, SCC | States, monitors | monitors ÷ SCC | Seconds, SCC | \
         Seconds, monitors | States of the system",
    );
    let scc = records.iter().filter(|record| record.text("method") == "scc");
    for scc in scc {
        let monitor = other(records, scc, &[("method", "monitor")]);
        let gave_up =
            |record: Option<&Record>| record.is_some_and(|record| record.text("verdict") == "gave up");
        let text = |record: Option<&Record>, column: &str| {
            let shown = |column: &str| number_or_dash(record.and_then(|record| record.number(column)));
            match (gave_up(record), column) {
                (true, "states") => format!("> {}", shown("max states")),
                (true, _) => format!("> {}", shown(column)),
                (false, _) => shown(column),
            }
        };
        let ratio = monitor.and_then(|monitor| Some(monitor.number("states")? / scc.number("states")?));
        let ratio = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.1}"));
        let ratio = if gave_up(monitor) { format!("> {ratio}") } else { ratio };
        table.rows.push(vec![
            scc.text("size").to_owned(),
            scc.text("fairness").to_owned(),
            scc.text("verdict").to_owned(),
            text(Some(scc), "states"),
            text(monitor, "states"),
            ratio,
            text(Some(scc), "seconds"),
            text(monitor, "seconds"),
            text(Some(scc), "system states"),
        ]);
    }
    table.with_note(
        "“>”: gave up at the limit of states. Where a property is \
     violated, states up to the first fair cycle.",
    )
}

/// The record that differs from this one in these columns only.
fn other<'r>(records: &[&'r Record], record: &Record, differs: &[(&str, &str)]) -> Option<&'r Record> {
    let wanted = KEY.map(|column| {
        let changed = differs.iter().find(|(its, _)| *its == column);
        (column, changed.map_or(record.text(column), |(_, field)| *field))
    });
    records.iter().copied().find(|record| record.is(&wanted))
}

fn plot(protocol: &Protocol, records: &[&Record], column: &str, label: &str) -> Plot {
    let mut series = Vec::new();
    for method in METHODS {
        for kind in KINDS {
            let wanted = records.iter().filter(|record| record.is(&[("method", method), ("fairness", kind)]));
            let points = wanted.filter_map(|record| Some((record.number("size")?, record.number(column)?)));
            let name = if method == "scc" { "SCC" } else { "monitors" };
            series.push(Series::curve(
                format!("{name}, {kind} fairness"),
                points.filter(|point| point.1 > 0.0).collect(),
            ));
        }
    }
    Plot {
        file: format!("002-{}-{column}", protocol.name.to_lowercase()),
        title: format!("{}: {label}", protocol.name),
        description: format!(
            "Growth of the {label} with the number of processes, for both methods and kinds of fairness."
        ),
        x: Axis::linear("processes"),
        y: Axis::log(label),
        series,
        has_diagonal: false,
    }
}

fn findings(records: &[Record]) -> Vec<Finding> {
    let all: Vec<&Record> = records.iter().collect();
    let mut findings = Vec::new();
    // Where the property holds, both methods see everything, or the monitors give up. Those that give up with
    // fewer states than the components need say nothing.
    let all_held: Vec<(&Record, &Record)> = all
        .iter()
        .filter(|record| record.is(&[("method", "scc"), ("verdict", "holds")]))
        .filter_map(|scc| Some((*scc, other(&all, scc, &[("method", "monitor")])?)))
        .collect();
    let ratio = |pair: &(&Record, &Record), column| Some(pair.1.number(column)? / pair.0.number(column)?);
    let gave_up = |pair: &&(&Record, &Record)| pair.1.text("verdict") == "gave up";
    let says_nothing =
        |pair: &&(&Record, &Record)| gave_up(pair) && ratio(pair, "states").is_some_and(|ratio| ratio < 1.0);
    let held: Vec<&(&Record, &Record)> = all_held.iter().filter(|pair| !says_nothing(pair)).collect();
    let n_silent = match all_held.len() - held.len() {
        0 => String::new(),
        n => format!(" In {n} more, monitors gave up before they had as many as the components need."),
    };
    let n_larger = held.iter().filter(|pair| ratio(pair, "states").is_some_and(|ratio| ratio > 1.0)).count();
    let most = held.iter().filter_map(|pair| ratio(pair, "states")).reduce(f64::max);
    let n_gave_up = held.iter().filter(|pair| gave_up(pair)).count();
    findings.push(Finding::new(
        "Strong components beat monitors, which multiply the states.",
        "with monitors, over 2·10^6 states for Peterson 4, and at most 6 processes of the semaphore \
         with strong fairness; with components, 12",
        Judgment::of_cases(n_larger, held.len()),
        format!(
            "Where the property holds: more states with monitors in {n_larger} of {} cases, up to {} times \
             as many; {n_gave_up} of them hit the limit of states.{n_silent}",
            held.len(),
            number_or_dash(most.map(f64::round))
        ),
    ));
    let both: Vec<(&Record, &Record)> = all
        .iter()
        .filter(|record| record.is(&[("method", "scc"), ("verdict", "holds"), ("fairness", "weak")]))
        .filter_map(|weak| Some((*weak, other(&all, weak, &[("fairness", "strong")])?)))
        .collect();
    let n_same = both.iter().filter(|pair| ratio(pair, "states") == Some(1.0)).count();
    let time = geometric_mean(both.iter().filter_map(|pair| ratio(pair, "seconds")));
    let is_cheap = time.map(|time| time < 2.0 && n_same == both.len());
    findings.push(Finding::new(
        "With components, strong fairness costs hardly more than weak fairness.",
        "about the same (Figure 1, a picture)",
        Judgment::of(is_cheap),
        format!(
            "Where both hold (Peterson), the states are the same in {n_same} of {} cases, and strong \
             fairness takes {} times as long (geometric mean).",
            both.len(),
            time.map_or("–".to_owned(), |time| format!("{time:.2}"))
        ),
    ));
    let verdicts = [
        ("Peterson", "weak", "holds"),
        ("Peterson", "strong", "holds"),
        ("semaphore", "weak", "violated"),
        ("semaphore", "strong", "holds"),
    ];
    let wanted = |record: &&&Record| {
        let found = verdicts
            .iter()
            .find(|(protocol, kind, _)| record.is(&[("protocol", protocol), ("fairness", kind)]));
        found.is_some_and(|(_, _, verdict)| record.text("verdict") == *verdict)
    };
    let decided: Vec<&Record> =
        all.iter().copied().filter(|record| record.text("verdict") != "gave up").collect();
    let n_right = decided.iter().filter(wanted).count();
    findings.push(Finding::new(
        "Peterson's protocol is live with weak fairness; the semaphore needs strong fairness.",
        "so they were made",
        Judgment::of_cases(n_right, decided.len()),
        format!("{n_right} of {} verdicts say so.", decided.len()),
    ));
    let sizes = [("Peterson", 4.0, "over 10^5"), ("semaphore", 12.0, "about 77 000")];
    let mut shown = Vec::new();
    let mut agree = 0;
    for (protocol, size, published) in sizes {
        let record = all.iter().find(|record| {
            record.is(&[
                ("protocol", protocol),
                ("method", "scc"),
                ("fairness", "strong"),
                ("verdict", "holds"),
            ]) && record.number("size") == Some(size)
        });
        let Some(states) = record.and_then(|record| record.number("system states")) else { continue };
        agree += usize::from(if size == 4.0 { states > 1e5 } else { states == 77_824.0 });
        shown.push(format!("{protocol} with {size} processes: {} ({published})", number(states)));
    }
    findings.push(Finding::new(
        "The systems have over 10^5 states (Peterson, 4) and about 77 000 states (semaphore, 12).",
        "over 10^5, and about 77 000",
        Judgment::of_cases(agree, shown.len()),
        if shown.is_empty() { "These sizes were not computed.".to_owned() } else { shown.join("; ") },
    ));
    findings
}
