//! The section about [bensalem.12.topnoc]: Tables 1 and 2, Figure 7, and what became of the paper's claims.

use crate::document::{
    Finding, Judgment, Part, Section, Table, geometric_mean, mean, number, number_or_dash,
};
use crate::lab::Record;
use crate::nets::Family;
use crate::paper_003::{CLASSES, OBSERVERS};
use crate::plot::{Axis, Plot, Series};
use crate::published_003::{Averages, MAPK_PRODUCTS, Three, averages, find};

const VERDICTS: [(&str, &str); 2] =
    [("holds", "formulas that hold"), ("violated", "formulas that are violated")];

/// The observers that the paper's tables have, in their order.
const APPROACHES: [&str; 3] = ["tgba", "ta", "tgta"];

pub(crate) fn section(records: &[Vec<Record>]) -> Section {
    let (all, cases): (&[Record], &[Record]) = match records {
        [all, cases] => (all, cases),
        _ => (&[], &[]),
    };
    let kept: Vec<&Record> = all.iter().filter(|record| record.text("status") == "kept").collect();
    let limit = |column: &str| number_or_dash(all.first().and_then(|record| record.number(column)));
    let mut parts = vec![Part::Table(tried_table(all))];
    for class in CLASSES {
        for (verdict, what) in VERDICTS {
            parts.push(Part::Table(averages_table(&kept, class, verdict, what)));
        }
    }
    parts.push(Part::Table(case_table(cases)));
    for (y, x, file, title) in [
        ("tgta", "ta", "003-tgta-ta", "Figure 7, left: TGTA against TA"),
        ("tgta", "tgba", "003-tgta-tgba", "Figure 7, right: TGTA against TGBA"),
        ("tgta, reduced", "tgta", "003-reduced", "TGTA with stubborn sets against TGTA"),
    ] {
        parts.push(Part::Plot(scatter(&kept, y, x, file, title)));
    }
    parts.push(Part::commands("Commands: case studies", cases, |record| {
        record.joined(&["net", "size", "formula", "observer"])
    }));
    parts.push(Part::commands(
        "Commands: random formulas (`explore` with the same --ltl and --observer counts the full product)",
        kept.iter().copied(),
        |record| {
            format!(
                "{}, formula {}",
                record.joined(&["net", "size", "class", "observer"]),
                record.text("seed")
            )
        },
    ));
    Section::new(
        "003 · Ben Salem, Duret-Lutz, Kordon: Model checking using generalized testing automata (2012)",
        &[
            "Nets from the literature, with random formulas without “next” (RND) and with random formulas \
             under a hypothesis of weak fairness (WFair). Formulas count for which TGBA, TA and TGTA all \
             explore enough states, until there are enough that hold and enough that are violated. Shown \
             are the automaton of the negated formula, the full product, and what the search explores.",
            &format!(
                "Enough are more than {} states (2000 in the paper), and {} formulas of each kind (100 in \
                 the paper); searches give up after {} states.",
                limit("min states"),
                limit("wanted"),
                limit("max states")
            ),
            "The paper's nets are larger than ours unless --full was asked for, so ratios to TGBA are \
             compared, with the paper's in parentheses. The rows “reduced” are the same searches with \
             stubborn sets.",
        ],
        findings(&kept, cases),
        parts,
    )
}

fn tried_table(all: &[Record]) -> Table {
    let mut table = Table::new(
        "Nets, and how many formulas were tried",
        "Net | scale | formulas | kept, hold | kept, violated | too few states | too many states | too large | \
         not needed",
    );
    for family in Family::ALL {
        for class in CLASSES {
            let wanted: Vec<&Record> =
                all.iter().filter(|record| record.is(&[("net", family.name()), ("class", class)])).collect();
            let Some(first) = wanted.first() else { continue };
            let count = |status: &str| {
                wanted.iter().filter(|record| record.text("status") == status).count().to_string()
            };
            let kept = |verdict: &str| {
                let is_kept = |record: &&&Record| {
                    record.is(&[("status", "kept"), ("observer", "tgba"), ("verdict", verdict)])
                };
                wanted.iter().filter(is_kept).count().to_string()
            };
            table.rows.push(vec![
                family.name().to_owned(),
                first.text("size").to_owned(),
                class.to_owned(),
                kept("holds"),
                kept("violated"),
                count("too few states"),
                count("too many states"),
                count("too large an automaton"),
                count("not needed"),
            ]);
        }
    }
    table
}

/// The records of a net, a kind of formula and a verdict, by one observer. All observers agree on the
/// verdict.
fn of_group<'r>(
    kept: &[&'r Record],
    net: &str,
    class: &str,
    verdict: &str,
    observer: &str,
) -> Vec<&'r Record> {
    let wanted = [("net", net), ("class", class), ("verdict", verdict), ("observer", observer)];
    kept.iter().copied().filter(|record| record.is(&wanted)).collect()
}

fn average(records: &[&Record], column: &str) -> Option<f64> {
    mean(records.iter().filter_map(|record| record.number(column)))
}

fn averages_table(kept: &[&Record], class: &str, verdict: &str, what: &str) -> Table {
    let mut table = Table::new(
        format!("{class}, {what}: averages per net"),
        "Net | observer | formulas | automaton states | automaton transitions | full states | ÷ TGBA (paper) | \
         explored states | explored transitions | ÷ TGBA (paper) | seconds",
    );
    for family in Family::ALL {
        let published = find(family.name(), class, verdict);
        let published = published.as_ref();
        let base = of_group(kept, family.name(), class, verdict, "tgba");
        for (observer, ..) in OBSERVERS {
            let records = of_group(kept, family.name(), class, verdict, observer);
            if records.is_empty() {
                continue;
            }
            let index = APPROACHES.iter().position(|name| *name == observer);
            let ratio = |column: &str, three: Option<[Option<f64>; 3]>| {
                let ours =
                    average(&records, column).zip(average(&base, column)).map(|(its, base)| its / base);
                let theirs = three.zip(index).and_then(|(three, index)| Some(three[index]? / three[0]?));
                match (ours, theirs) {
                    (None, _) => "–".to_owned(),
                    (Some(ours), None) => format!("{ours:.2}"),
                    (Some(ours), Some(theirs)) => format!("{ours:.2} ({theirs:.2})"),
                }
            };
            let shown = |column: &str| number_or_dash(average(&records, column).map(f64::round));
            table.rows.push(vec![
                family.name().to_owned(),
                observer.to_owned(),
                records.len().to_string(),
                shown("automaton states"),
                shown("automaton transitions"),
                shown("full states"),
                ratio("full states", published.map(|its| its.full_states)),
                shown("states"),
                shown("transitions"),
                ratio("transitions", published.map(|its| its.transitions)),
                number_or_dash(average(&records, "seconds")),
            ]);
        }
    }
    table.with_note(
        "Ratios are of averages, as in the paper, which has no figures for WFair with the first four nets. \
         Where a TA needs a second pass, its transitions are counted, its states are not: they are stored \
         already.",
    )
}

fn case_table(cases: &[Record]) -> Table {
    let mut table = Table::new(
        "Case studies: Φ2 about MAPK and Φ1 about PolyORB",
        "Net | scale | formula | observer | verdict | full states (paper) | full transitions (paper) | \
         explored transitions | seconds",
    );
    for record in cases {
        let is_mapk = record.is(&[("net", "MAPK"), ("size", "8")]);
        let published = MAPK_PRODUCTS.iter().find(|its| is_mapk && its.0 == record.text("observer"));
        let shown = |column: &str, theirs: Option<u64>| {
            let ours = number_or_dash(record.number(column));
            theirs.map_or(ours.clone(), |theirs| format!("{ours} ({})", number(theirs as f64)))
        };
        let mut row = ["net", "size", "formula", "observer", "verdict"]
            .map(|name| record.text(name).to_owned())
            .to_vec();
        row.extend([
            shown("full states", published.map(|its| its.1)),
            shown("full transitions", published.map(|its| its.2)),
            number_or_dash(record.number("transitions")),
            record.text("seconds").to_owned(),
        ]);
        table.rows.push(row);
    }
    table.with_note(
        "The paper's TA and TGTA are made as our lazy ones are; our explicit ones are reduced further. Its \
         PolyORB net (61 662 states; 345 241, 342 613 and 345 277 states in the products) is not published \
         with it, and ours is another one.",
    )
}

fn scatter(kept: &[&Record], y: &str, x: &str, file: &str, title: &str) -> Plot {
    let cloud = |verdict: &str, name: &str| {
        let wanted = kept.iter().filter(|record| record.is(&[("observer", y), ("verdict", verdict)]));
        let points = wanted.filter_map(|record| {
            let other = partner(kept, record, x)?;
            Some((other.number("transitions")?.max(1.0), record.number("transitions")?.max(1.0)))
        });
        Series::cloud(name, points.collect())
    };
    Plot {
        file: file.to_owned(),
        title: title.to_owned(),
        description: format!(
            "Transitions explored, {y} against {x}; each point is a formula, and those below the diagonal \
             are in favor of {y}."
        ),
        x: Axis::log(&format!("transitions explored, {}", shown(x))),
        y: Axis::log(&format!("transitions explored, {}", shown(y))),
        series: vec![cloud("violated", "violated"), cloud("holds", "holds")],
        has_diagonal: true,
    }
}

/// The name of an observer, as it is written in texts.
fn shown(observer: &str) -> String {
    observer.replace("tgta", "TGTA").replace("tgba", "TGBA").replace("ta", "TA")
}

/// The record of the same formula with another observer.
fn partner<'r>(kept: &[&'r Record], record: &Record, observer: &str) -> Option<&'r Record> {
    let key = ["net", "size", "class", "wanted", "min states", "max states", "seed"];
    kept.iter().copied().find(|other| {
        other.text("observer") == observer
            && key.iter().all(|column| other.text(column) == record.text(column))
    })
}

/// In how many groups of formulas the average of one observer is at most that of another, and how they
/// compare over all formulas.
fn compare(
    kept: &[&Record],
    verdict: &str,
    column: &str,
    one: &str,
    other: &str,
) -> (usize, usize, Option<f64>) {
    let (mut agree, mut groups) = (0, 0);
    for family in Family::ALL {
        for class in CLASSES {
            let of = |observer| average(&of_group(kept, family.name(), class, verdict, observer), column);
            if let (Some(one), Some(other)) = (of(one), of(other)) {
                groups += 1;
                agree += usize::from(one <= other);
            }
        }
    }
    let ratios = kept
        .iter()
        .filter(|record| record.is(&[("observer", one), ("verdict", verdict)]))
        .filter_map(|record| Some(record.number(column)? / partner(kept, record, other)?.number(column)?));
    (agree, groups, geometric_mean(ratios))
}

/// The geometric mean, over the groups of formulas that the paper shows, of one of its three averages
/// divided by another.
fn published(of: fn(&Averages) -> Three, verdict: &str, one: usize, other: usize) -> Option<f64> {
    let groups = averages().filter(|group| group.verdict == verdict);
    geometric_mean(groups.filter_map(|group| Some(of(&group)[one]? / of(&group)[other]?)))
}

fn findings(kept: &[&Record], cases: &[Record]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let both = |column: &str, one: &str, other: &str| {
        let parts = VERDICTS.map(|(verdict, _)| compare(kept, verdict, column, one, other));
        (parts[0].0 + parts[1].0, parts[0].1 + parts[1].1, parts.map(|part| part.2))
    };
    let ratio = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
    // Confirmed if it is so in every group of formulas, partly if it is so for all formulas together.
    let judge = |agree: usize, groups: usize, means: &[Option<f64>]| match Judgment::of_cases(agree, groups) {
        Judgment::Partly | Judgment::NotConfirmed if means.iter().flatten().any(|mean| *mean < 1.0) => {
            Judgment::Partly
        }
        Judgment::Partly => Judgment::NotConfirmed,
        judgment => judgment,
    };
    let (agree, groups, means) = both("full states", "ta", "tgba");
    let (larger, _, automata) = both("automaton states", "tgba", "ta");
    findings.push(Finding::new(
        "TA are larger automata than TGBA, but their products are smaller on average.",
        format!(
            "products with TA have {} of the states of those with TGBA where formulas hold, {} where \
             they are violated",
            ratio(published(|of| of.full_states, "holds", 1, 0)),
            ratio(published(|of| of.full_states, "violated", 1, 0))
        ),
        judge(agree, groups, &means),
        format!(
            "TGBA have {} of the TA's states where formulas hold and {} where they are violated (smaller on \
             average in {larger} of {groups} groups); the full product with the TA has {} and {} of the \
             states of that with the TGBA, and is at most as large on average in {agree} of {groups} groups.",
            ratio(automata[0]),
            ratio(automata[1]),
            ratio(means[0]),
            ratio(means[1])
        ),
    ));
    let (to_tgba, groups, mean_tgba) = compare(kept, "holds", "transitions", "tgta", "tgba");
    let (to_ta, _, mean_ta) = compare(kept, "holds", "transitions", "tgta", "ta");
    findings.push(Finding::new(
        "Where formulas hold, TGTA explore least.",
        format!(
            "{} of the transitions of TGBA, {} of those of TA",
            ratio(published(|of| of.transitions, "holds", 2, 0)),
            ratio(published(|of| of.transitions, "holds", 2, 1))
        ),
        judge(to_tgba.min(to_ta), groups, &[mean_tgba, mean_ta]),
        format!(
            "{} of the transitions of TGBA and {} of those of TA (geometric means); on average not more \
             than TGBA in {to_tgba} and not more than TA in {to_ta} of {groups} groups.",
            ratio(mean_tgba),
            ratio(mean_ta)
        ),
    ));
    let (agree, groups, mean) = compare(kept, "violated", "transitions", "ta", "tgba");
    findings.push(Finding::new(
        "Where formulas are violated, TA explore less than TGBA on average.",
        format!("{} of the transitions", ratio(published(|of| of.transitions, "violated", 1, 0))),
        judge(agree, groups, &[mean]),
        format!(
            "{} of the transitions (geometric mean); at most as many on average in {agree} of {groups} \
             groups.",
            ratio(mean)
        ),
    ));
    let (agree, groups, means) = both("transitions", "tgba", "ba");
    findings.push(Finding::new(
        "BA are always outperformed by TGBA.",
        "said in the text, without figures",
        Judgment::of_cases(agree, groups),
        format!(
            "TGBA explore at most as many transitions on average in {agree} of {groups} groups: {} of them \
             where formulas hold, {} where they are violated.",
            ratio(means[0]),
            ratio(means[1])
        ),
    ));
    let products = MAPK_PRODUCTS.iter().filter_map(|(observer, states, transitions)| {
        let record = cases
            .iter()
            .find(|record| record.is(&[("net", "MAPK"), ("size", "8"), ("observer", observer)]))?;
        let ours = (record.number("full states")?, record.number("full transitions")?);
        Some((
            ours == (*states as f64, *transitions as f64),
            format!("{observer} {} / {}", number(ours.0), number(ours.1)),
        ))
    });
    let products: Vec<(bool, String)> = products.collect();
    let shown: Vec<&str> = products.iter().map(|product| product.1.as_str()).collect();
    findings.push(Finding::new(
        "The products of MAPK 8 with ¬Φ2 have 46 494 states and 302 350 transitions (TGBA), 33 376 \
         and 289 235 (TA and TGTA).",
        "46 494 / 302 350 (TGBA); 33 376 / 289 235 (TA and TGTA)",
        Judgment::of_cases(products.iter().filter(|product| product.0).count(), products.len()),
        if shown.is_empty() {
            "Not computed at this scale.".to_owned()
        } else {
            format!("{}.", shown.join("; "))
        },
    ));
    let (agree, groups, means) = both("states", "tgta, reduced", "tgta");
    findings.push(Finding::new(
        "Beyond the paper: stubborn sets make TGTA products smaller still.",
        "none",
        judge(agree, groups, &means),
        format!(
            "{} of the states where formulas hold, {} where they are violated (geometric means).",
            ratio(means[0]),
            ratio(means[1])
        ),
    ));
    findings
}
