//! The tables, plots and findings of [hansen.02.fmics]; what is measured is in `paper_000`.

use crate::document::{Finding, Judgment, Part, Section, Table, mean, number, number_or_dash};
use crate::lab::Record;
use crate::paper_000::{
    BREADTH_FIRST, BUCKETS, NESTED, NESTED_TODAY, ONE_PASS, SEARCHES, SYSTEMS, SearchOf, System,
};
use crate::plot::{Axis, Plot, Series};

pub(crate) fn section(records: &[Vec<Record>]) -> Section {
    let (spaces, searches): (&[Record], &[Record]) = match records {
        [spaces, searches] => (spaces, searches),
        _ => (&[], &[]),
    };
    let mut parts = vec![Part::Table(space_table(spaces))];
    for system in &SYSTEMS {
        let of_system: Vec<&Record> =
            searches.iter().filter(|record| record.text("system") == system.name).collect();
        parts.push(Part::Table(bucket_table(system, &of_system)));
        parts.push(Part::Plot(plot(system, &of_system)));
    }
    for system in &SYSTEMS {
        let of_system = searches
            .iter()
            .filter(|record| record.text("system") == system.name && !record.text("command").is_empty());
        parts.push(Part::commands(format!("Commands: {}", system.name), of_system, |record| {
            format!("{}, {}", record.text("search"), record.text("formula"))
        }));
    }
    Section::new(
        "000 · Hansen, Penczek, Valmari: Stuttering-insensitive automata for on-the-fly detection of livelock \
         properties (2002)",
        &[
            "“Somebody does not stay in this state for ever” is checked about every process of three \
             systems, all of which are wrong, and the states are counted that are stored until a livelock \
             is found. The one-pass search watches with a testing automaton, the nested depth-first search \
             with a Büchi automaton with labels on states. Tables show how many of the experiments took at \
             least so many states; the paper's figures are in parentheses.",
            "The nested search of the paper (G to J) is that of Courcoubetis, Vardi, Wolper and Yannakakis \
             (1992). Stubborn has a later one, in which the inner search stops at any state on the path of \
             the outer one, not only where it began (Holzmann, Peled and Yannakakis 1996). Both are shown; \
             there are commands for the later one only. Where the paper's nested searches go far and ours \
             do not, the reason is thus not the algorithm, but the systems and the order of their steps, \
             which the paper does not print. States of the older one are those of its outer search.",
        ],
        findings(spaces, searches),
        parts,
    )
}

fn space_table(spaces: &[Record]) -> Table {
    let mut table = Table::new(
        "Systems",
        "System | Size | States | States in the paper | Transitions | Seconds | Remark",
    );
    for system in &SYSTEMS {
        let Some(record) = spaces.iter().find(|record| record.text("system") == system.name) else {
            continue;
        };
        let states = record.number("states");
        let remark = match system.name {
            "philosophers" => "the same system: 3^N − 1 states",
            "token ring" => {
                "the paper's server is not printed; of 1500 variants of ours, none has as many states, and \
                 the nearest 53 712 (53 856 is also the number of states of the slotted ring of 003 with \
                 five nodes)"
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
        "Search | what it is | ≥\u{a0}10 000 | ≥\u{a0}1000 | ≥\u{a0}100 | experiments | median states | \
         most states",
    );
    for search in &SEARCHES {
        let of_search = of_search(records, search.letter);
        let mut states: Vec<f64> = of_search.iter().filter_map(|record| record.number("states")).collect();
        states.sort_by(f64::total_cmp);
        let mut row = vec![search.letter.to_owned(), search.what.to_owned()];
        for (index, bucket) in BUCKETS.iter().enumerate() {
            let theirs = search.row().map_or(String::new(), |row| format!(" ({})", published[row][index]));
            row.push(format!("{}{theirs}", at_least(&of_search, *bucket)));
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
            curve(&BREADTH_FIRST, "C, D: one-pass, breadth first"),
            curve(&["E", "F"], "E, F: one-pass, depth first"),
            curve(&NESTED, "G to J: nested (1992)"),
            curve(&NESTED_TODAY, "G to J: nested (1996)"),
        ],
        has_diagonal: false,
    }
}

/// In how many of the paper's experiments some of the searches took 1000 states or more.
fn published_share(letters: &[&str]) -> Option<String> {
    let (mut n, mut total) = (0, 0);
    for system in &SYSTEMS {
        let asked = SEARCHES.iter().filter(|search| letters.contains(&search.letter));
        for row in asked.filter_map(SearchOf::row) {
            n += system.table.1[row][1];
            total += system.size as u32 * system.places.len() as u32;
        }
    }
    (total > 0).then(|| share(f64::from(n), f64::from(total)))
}

/// The same for ours.
fn our_share(searches: &[Record], letters: &[&str]) -> String {
    let of_letters = searches.iter().filter(|record| letters.contains(&record.text("search")));
    let states: Vec<f64> = of_letters.filter_map(|record| record.number("states")).collect();
    share(states.iter().filter(|states| **states >= 1000.0).count() as f64, states.len() as f64)
}

fn share(n: f64, total: f64) -> String {
    format!("{} %", number((n / total.max(1.0) * 100.0).round()))
}

fn findings(spaces: &[Record], searches: &[Record]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut shown = Vec::new();
    let mut n_equal = 0;
    for system in &SYSTEMS {
        let record = spaces.iter().find(|record| record.is(&[("system", system.name)]));
        if let Some(states) = record.and_then(|record| record.number("states")) {
            n_equal += usize::from(states == system.published_states as f64);
            shown.push(format!("{} {}", system.name, number(states)));
        }
    }
    findings.push(Finding::new(
        "The systems have 53 856, 59 048 and 49 153 states.",
        "token ring 53 856, philosophers 59 048, Fischer's mutex 49 153",
        Judgment::of_cases(n_equal, shown.len()),
        format!(
            "{}. Only the philosophers are evidence: the other two models are \
             not printed, and ours were made to come close.",
            shown.join(", ")
        ),
    ));
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
        let published = match (published_share(fast), published_share(slow)) {
            (Some(fast), Some(slow)) => {
                format!("1000 states or more in {fast} of the experiments, against {slow}")
            }
            _ => "none".to_owned(),
        };
        findings.push(Finding::new(
            claim,
            published,
            Judgment::of_cases(agree, shown.len()),
            format!(
                "1000 states or more in {} of the experiments, against {}. Mean states: {}. So in {agree} of \
                 {} systems.",
                our_share(searches, fast),
                our_share(searches, slow),
                shown.join("; "),
                shown.len()
            ),
        ));
    };
    compare(
        "One pass (C to F) finds livelocks with fewer states than the nested search (G to J).",
        &ONE_PASS,
        &NESTED,
    );
    compare("Breadth first (C, D) is the best of all.", &BREADTH_FIRST, &["E", "F", "G", "H", "I", "J"]);
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
    findings.push(Finding::new(
        "One pass, breadth first, finds livelocks early (our measure: within a tenth of the states).",
        "no experiment with C or D took 10 000 states",
        Judgment::of_cases(early.iter().filter(|(_, share)| *share <= 0.1).count(), early.len()),
        format!("Share of the states in the worst experiment: {}.", shown.join(", ")),
    ));
    let most: Vec<&(&System, f64)> = most.iter().filter(|(system, _)| system.name != "token ring").collect();
    let agree = most.iter().filter(|(_, states)| *states < 1000.0).count();
    let shown: Vec<String> =
        most.iter().map(|(system, states)| format!("{}: at most {}", system.name, number(*states))).collect();
    findings.push(Finding::new(
        "C and D never take 1000 states with philosophers and Fischer's mutex.",
        "0 of 22 experiments, with each of C and D",
        Judgment::of_cases(agree, most.len()),
        format!("{}.", shown.join("; ")),
    ));
    findings
}
