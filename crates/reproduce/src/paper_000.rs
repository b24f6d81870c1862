//! 000 [hansen.02.fmics]: how soon a livelock is found, by the one-pass search with a testing automaton and
//! by the nested search with a Büchi automaton, each in several orders (Tables 1 to 4).
//!
//! Differences from the paper: two of its three models are not printed. Ours have as many states (Fischer),
//! or nearly (the ring). A run that ends in a deadlock is no infinite run, there as here.

use check::decide::Settings;
use check::method::{Method, ObserverKind, SearchKind};
use check::product::{AtDeadlock, ObserverOrder, Orders};
use check::search::one_pass::WorkSet;
use check::{Exact, search};
use model::System as _;

use crate::Scale;
use crate::document::{Finding, Judgment, Part, Section, Table, mean, number, number_or_dash};
use crate::lab::{Cell, Experiment, Halt, Lab, Record, always, not_interrupted, seconds};
use crate::plot::{Axis, Plot, Series};
use crate::subject::{ask, network, shell};

/// A system of the paper.
struct System {
    name: &'static str,
    file: &'static str,
    /// The size in the paper, and in tests.
    size: i64,
    tiny: i64,
    /// The states in the paper.
    published_states: u64,
    /// Where somebody may starve, with `#` for the number of the process.
    places: &'static [&'static str],
    /// The table of the paper: per search C to J, how many experiments took 10 000, 1000 and 100 states.
    table: (&'static str, [[u32; 3]; 8]),
}

const SYSTEMS: [System; 3] = [
    System {
        name: "token ring",
        file: "broken_ring.proc",
        size: 6,
        tiny: 3,
        published_states: 53_856,
        places: &[
            "Server[#]@at[0, 1, 0, 0]",
            "Server[#]@at[0, 1, 0, 1]",
            "Server[#]@at[0, 1, 1, 0]",
            "Server[#]@at[0, 1, 1, 1]",
            "Server[#]@at[0, 1, *, *]",
        ],
        table: (
            "Table 2",
            [
                [0, 5, 20],
                [0, 5, 19],
                [0, 4, 10],
                [2, 11, 16],
                [1, 13, 23],
                [0, 8, 15],
                [1, 11, 28],
                [0, 5, 22],
            ],
        ),
    },
    System {
        name: "philosophers",
        file: "dining.proc",
        size: 10,
        tiny: 4,
        published_states: 59_048,
        places: &["Phil[#]@left"],
        table: (
            "Table 3",
            [[0, 0, 1], [0, 0, 1], [2, 4, 7], [2, 4, 8], [1, 4, 10], [0, 4, 7], [1, 4, 10], [0, 4, 7]],
        ),
    },
    System {
        name: "Fischer's mutex",
        file: "fischer.proc",
        size: 12,
        tiny: 4,
        published_states: 49_153,
        places: &["Server[#]@waiting"],
        table: (
            "Table 4",
            [[0, 0, 4], [0, 0, 4], [3, 6, 9], [3, 6, 9], [2, 12, 12], [2, 12, 12], [2, 12, 12], [2, 12, 12]],
        ),
    },
];

/// The searches of Table 1: letter, what it is, whether it is one-pass, whether breadth first or with the
/// accepting state first, and whether backwards.
const SEARCHES: [(&str, &str, bool, bool, bool); 8] = [
    ("C", "one-pass, breadth first, forward", true, true, false),
    ("D", "one-pass, breadth first, reverse", true, true, true),
    ("E", "one-pass, depth first, forward", true, false, false),
    ("F", "one-pass, depth first, reverse", true, false, true),
    ("G", "nested, error first, forward", false, true, false),
    ("H", "nested, error last, forward", false, false, false),
    ("I", "nested, error first, reverse", false, true, true),
    ("J", "nested, error last, reverse", false, false, true),
];

const BUCKETS: [u64; 3] = [10_000, 1000, 100];

impl System {
    fn size(&self, scale: Scale) -> i64 {
        if scale == Scale::Tiny { self.tiny } else { self.size }
    }
}

pub(crate) fn experiments(scale: Scale) -> Vec<Experiment> {
    let mut spaces = Vec::new();
    let mut searches = Vec::new();
    for system in &SYSTEMS {
        let size = system.size(scale);
        spaces.push(Cell {
            key: vec![system.name.to_owned(), size.to_string()],
            seconds: 0.1,
            job: Box::new(move |lab, _| count(lab, system, size)),
        });
        for (letter, ..) in SEARCHES {
            for process in 0..size {
                for place in system.places {
                    let formula = format!("! <> [] {}", place.replace('#', &process.to_string()));
                    searches.push(Cell {
                        key: vec![
                            system.name.to_owned(),
                            size.to_string(),
                            formula.clone(),
                            letter.to_owned(),
                        ],
                        seconds: 0.05,
                        job: Box::new(move |lab, _| find(lab, system, size, &formula, letter)),
                    });
                }
            }
        }
    }
    vec![
        Experiment {
            file: "000-spaces",
            key: &["system", "size"],
            results: &["states", "transitions", "seconds", "command"],
            cells: spaces,
            is_needed: always,
        },
        Experiment {
            file: "000-searches",
            key: &["system", "size", "formula", "search"],
            results: &["verdict", "states", "transitions", "seconds", "command"],
            cells: searches,
            is_needed: always,
        },
    ]
}

fn count(lab: &mut Lab<'_>, system: &System, size: i64) -> Result<Vec<Vec<String>>, Halt> {
    let model = network(system.file, &[("N", size)])?;
    let (time, outcome) = lab.timed(u64::MAX, |budget| {
        let mut store = Exact::new(model.system.width(), budget.max_bytes);
        search::bfs::search(&model.system, &mut store, &[], budget)
    });
    if let Some(check::Stop::Limit(limit)) = outcome.stop {
        not_interrupted(limit)?;
    }
    let stats = outcome.stats;
    let command = format!("stubborn explore models/{} -D N={size}", system.file);
    Ok(vec![vec![stats.states.to_string(), stats.transitions.to_string(), seconds(time), command]])
}

fn find(
    lab: &mut Lab<'_>,
    system: &System,
    size: i64,
    formula: &str,
    letter: &str,
) -> Result<Vec<Vec<String>>, Halt> {
    let Some(&(.., is_one_pass, is_first, reverse)) = SEARCHES.iter().find(|search| search.0 == letter)
    else {
        return Err(Halt::Trouble(format!("there is no search {letter}")));
    };
    let mut model = network(system.file, &[("N", size)])?;
    let mut question = ask(&mut model, formula)?;
    let mut settings = Settings { at_deadlock: AtDeadlock::Ignore, ..Settings::default() };
    let mut options = String::from("--deadlock ignore --reduce none");
    let (observer, search) = if is_one_pass {
        settings.work_set = if is_first { WorkSet::Queue } else { WorkSet::Stack };
        options += " --observer ta --search one-pass --order ";
        options += if is_first { "bfs" } else { "dfs" };
        (ObserverKind::Ta, SearchKind::OnePass)
    } else {
        let order = if is_first { ObserverOrder::AcceptingFirst } else { ObserverOrder::AcceptingLast };
        settings.orders.observer = order;
        options += " --observer extended --search nested --observer-order accepting-";
        options += if is_first { "first" } else { "last" };
        (ObserverKind::Extended, SearchKind::Nested)
    };
    settings.orders = Orders { reverse, ..settings.orders };
    if reverse {
        options += " --successors reverse";
    }
    let method = Method { observer, search, reduction: None, bitstate: false };
    let (measured, _) =
        lab.decide(u64::MAX, |budget| question.claim.search(&model.system, method, &settings, budget))?;
    let command =
        format!("stubborn check models/{} -D N={size} --ltl {} {options}", system.file, shell(formula));
    Ok(vec![[measured.fields(), vec![command]].concat()])
}

pub(crate) fn section(records: &[Vec<Record>]) -> Section {
    let [spaces, searches] = records else { return empty() };
    let mut parts = vec![Part::Table(space_table(spaces))];
    for system in &SYSTEMS {
        let of_system: Vec<&Record> =
            searches.iter().filter(|record| record.text("system") == system.name).collect();
        parts.push(Part::Table(bucket_table(system, &of_system)));
        parts.push(Part::Plot(plot(system, &of_system)));
    }
    let command = |record: &Record| {
        (format!("{}, {}", record.text("search"), record.text("formula")), record.text("command").to_owned())
    };
    for system in &SYSTEMS {
        let of_system = searches.iter().filter(|record| record.text("system") == system.name);
        parts.push(Part::Commands {
            title: format!("Commands: {}", system.name),
            commands: of_system.map(command).collect(),
        });
    }
    Section { findings: findings(spaces, searches), parts, ..empty() }
}

fn empty() -> Section {
    Section {
        title: "000 · Hansen, Penczek, Valmari: Stuttering-insensitive automata for on-the-fly detection of \
                livelock properties (2002)"
            .to_owned(),
        introduction: vec![
            "“Somebody does not stay in this state for ever” is checked about every process of three \
             systems, all of which are wrong, and the states are counted that are stored until a livelock \
             is found. The one-pass search watches with a testing automaton, the nested depth-first search \
             with a Büchi automaton with labels on states. Tables show how many of the experiments took at \
             least so many states; the paper's figures are in parentheses."
                .to_owned(),
            "Our nested search is better than the one of the paper: its inner search stops at any state on \
             the path of the outer one, not only where it began (Holzmann, Peled and Yannakakis 1996). So \
             it often finds a livelock with few states, where the paper's goes far."
                .to_owned(),
        ],
        findings: Vec::new(),
        parts: Vec::new(),
    }
}

fn space_table(spaces: &[Record]) -> Table {
    let mut table = Table::new(
        "Systems",
        &["System", "Size", "States", "States in the paper", "Transitions", "Seconds", "Remark"],
    );
    for system in &SYSTEMS {
        let Some(record) = spaces.iter().find(|record| record.text("system") == system.name) else {
            continue;
        };
        let states = record.number("states");
        let remark = match system.name {
            "philosophers" => "the same system: 3^N − 1 states",
            "token ring" => {
                "the paper's server is not printed; ours is the nearest of several that were tried (53 856 \
                 is also the number of states of the slotted ring of 003 with five nodes)"
            }
            _ => "not printed; ours was made to have as many, N·2^N + 1",
        };
        table.rows.push(vec![
            system.name.to_owned(),
            record.text("size").to_owned(),
            number_or_dash(states),
            number(system.published_states as f64),
            number_or_dash(record.number("transitions")),
            record.text("seconds").to_owned(),
            remark.to_owned(),
        ]);
    }
    table
}

/// How many records have at least so many states.
fn at_least(records: &[&Record], states: u64) -> usize {
    records.iter().filter(|record| record.number("states").is_some_and(|its| its >= states as f64)).count()
}

fn of_search<'r>(records: &[&'r Record], letter: &str) -> Vec<&'r Record> {
    records.iter().copied().filter(|record| record.text("search") == letter).collect()
}

fn bucket_table(system: &System, records: &[&Record]) -> Table {
    let (number_of_table, published) = &system.table;
    let mut table = Table::new(
        format!("{number_of_table}: {}", system.name),
        &["Search", "", "≥ 10 000", "≥ 1000", "≥ 100", "experiments", "median states", "most states"],
    );
    for (index, (letter, description, ..)) in SEARCHES.iter().enumerate() {
        let of_search = of_search(records, letter);
        let mut states: Vec<f64> = of_search.iter().filter_map(|record| record.number("states")).collect();
        states.sort_by(f64::total_cmp);
        let mut row = vec![(*letter).to_owned(), (*description).to_owned()];
        for (bucket, theirs) in BUCKETS.iter().zip(published[index]) {
            row.push(format!("{} ({theirs})", at_least(&of_search, *bucket)));
        }
        row.push(of_search.len().to_string());
        row.push(number_or_dash(states.get(states.len() / 2).copied()));
        row.push(number_or_dash(states.last().copied()));
        table.rows.push(row);
    }
    table.with_note("Ours, and the paper's in parentheses.")
}

fn plot(system: &System, records: &[&Record]) -> Plot {
    let curve = |letters: &[&str], name: &str| {
        let of_letters = records.iter().filter(|record| letters.contains(&record.text("search")));
        let mut states: Vec<f64> = of_letters.filter_map(|record| record.number("states")).collect();
        states.sort_by(f64::total_cmp);
        let n = states.len().max(1) as f64;
        let points = states
            .iter()
            .enumerate()
            .map(|(index, states)| ((index as f64 + 1.0) / n * 100.0, states.max(1.0)));
        Series::curve(name, points.collect())
    };
    Plot {
        file: format!("000-{}", system.file.trim_end_matches(".proc").replace('_', "-")),
        title: format!("States until a livelock is found: {}", system.name),
        description:
            "For each pair of searches, the numbers of states of all experiments, from the easiest to the \
                      hardest; lower is better."
                .to_owned(),
        x: Axis::linear("experiments, from the easiest to the hardest (%)"),
        y: Axis::log("states stored"),
        series: vec![
            curve(&["C", "D"], "C, D: one-pass, breadth first"),
            curve(&["E", "F"], "E, F: one-pass, depth first"),
            curve(&["G", "I"], "G, I: nested, error first"),
            curve(&["H", "J"], "H, J: nested, error last"),
        ],
        has_diagonal: false,
    }
}

fn findings(spaces: &[Record], searches: &[Record]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut shown = Vec::new();
    let mut n_equal = 0;
    for system in &SYSTEMS {
        let record = spaces.iter().find(|record| record.is(&[("system", system.name)]));
        if let Some(states) = record.and_then(|record| record.number("states")) {
            n_equal += usize::from(states == system.published_states as f64);
            shown.push(format!(
                "{} {} ({})",
                system.name,
                number(states),
                number(system.published_states as f64)
            ));
        }
    }
    findings.push(Finding {
        claim: "The systems have 53 856, 59 048 and 49 153 states.".to_owned(),
        judgment: Judgment::of_cases(n_equal, shown.len()),
        evidence: format!(
            "{}; the paper's in parentheses. Only the philosophers are evidence: the other two models are \
             not printed, and ours were made to come close.",
            shown.join(", ")
        ),
    });
    let mean_of = |system: &System, letters: &[&str]| {
        let wanted = searches.iter().filter(|record| {
            record.text("system") == system.name && letters.contains(&record.text("search"))
        });
        mean(wanted.filter_map(|record| record.number("states")))
    };
    let mut compare = |claim: &str, fast: &[&str], slow: &[&str]| {
        let mut shown = Vec::new();
        let mut agree = 0;
        for system in &SYSTEMS {
            if let (Some(fast), Some(slow)) = (mean_of(system, fast), mean_of(system, slow)) {
                agree += usize::from(fast < slow);
                shown.push(format!(
                    "{}: {} against {}",
                    system.name,
                    number(fast.round()),
                    number(slow.round())
                ));
            }
        }
        findings.push(Finding {
            claim: claim.to_owned(),
            judgment: Judgment::of_cases(agree, shown.len()),
            evidence: format!("Mean states: {}.", shown.join("; ")),
        });
    };
    compare(
        "One pass (C to F) finds livelocks with fewer states than the nested search (G to J).",
        &["C", "D", "E", "F"],
        &["G", "H", "I", "J"],
    );
    compare("Breadth first (C, D) is the best of all.", &["C", "D"], &["E", "F", "G", "H", "I", "J"]);
    let hardest = |system: &System| {
        let wanted = searches.iter().filter(|record| {
            record.text("system") == system.name && ["C", "D"].contains(&record.text("search"))
        });
        wanted.filter_map(|record| record.number("states")).reduce(f64::max)
    };
    let most: Vec<(&System, f64)> =
        SYSTEMS.iter().filter_map(|system| Some((system, hardest(system)?))).collect();
    let early = most.iter().filter_map(|(system, states)| {
        let space = spaces.iter().find(|record| record.text("system") == system.name)?;
        Some((system.name, states / space.number("states")?))
    });
    let early: Vec<(&str, f64)> = early.collect();
    let shown: Vec<String> = early
        .iter()
        .map(|(name, share)| format!("{name} {} %", number((share * 1000.0).round() / 10.0)))
        .collect();
    findings.push(Finding {
        claim: "One pass, breadth first, finds livelocks early (our measure: within a tenth of the states)."
            .to_owned(),
        judgment: Judgment::of_cases(early.iter().filter(|(_, share)| *share <= 0.1).count(), early.len()),
        evidence: format!("Share of the states in the worst experiment: {}.", shown.join(", ")),
    });
    let most: Vec<&(&System, f64)> = most.iter().filter(|(system, _)| system.name != "token ring").collect();
    let agree = most.iter().filter(|(_, states)| *states < 1000.0).count();
    let shown: Vec<String> =
        most.iter().map(|(system, states)| format!("{}: at most {}", system.name, number(*states))).collect();
    findings.push(Finding {
        claim: "C and D never take 1000 states with philosophers and Fischer's mutex.".to_owned(),
        judgment: Judgment::of_cases(agree, most.len()),
        evidence: format!("{}.", shown.join("; ")),
    });
    findings
}
