//! The section about [valmari.93.cav]: growth curves, Supertrace, and what became of the paper's claims.

use crate::document::{Finding, Judgment, Part, Section, Table, number, number_or_dash};
use crate::lab::Record;
use crate::paper_001::{FAMILIES, Family, WAYS};
use crate::plot::{Axis, Plot, Series};

pub(crate) fn section(records: &[Vec<Record>]) -> Section {
    let (growth, supertrace): (&[Record], &[Record]) = match records {
        [growth, supertrace] => (growth, supertrace),
        _ => (&[], &[]),
    };
    let mut parts = Vec::new();
    for family in &FAMILIES {
        let of_family: Vec<&Record> =
            growth.iter().filter(|record| record.text("family") == family.name).collect();
        parts.push(Part::Table(growth_table(family, &of_family)));
        parts.push(Part::Plot(growth_plot(family, &of_family)));
    }
    parts.push(Part::Table(supertrace_table(supertrace)));
    parts.push(Part::Plot(supertrace_plot(supertrace)));
    parts
        .push(Part::commands("Commands: growth", growth, |record| record.joined(&["family", "size", "way"])));
    parts.push(Part::commands("Commands: Supertrace", supertrace, |record| {
        format!("{} bytes, {} hashes", record.text("bytes"), record.text("hashes"))
    }));
    Section::new(
        "001 · Valmari: On-the-fly verification with stubborn sets (1993)",
        &[
            "Families of systems with a growing number of processes: all states; the states that stubborn \
             sets keep for deadlocks (up to the first one, if there is one); the product with a tester that \
             watches one or two processes; and that product with the stubborn sets that the tester guides.",
            "The paper has no experiments, but mentions a token ring of n customers that goes from \
             9n·2^(n−2) to 5n states, and says that everything works with Supertrace, which keeps a few \
             bits per state.",
        ],
        findings(growth, supertrace),
        parts,
    )
}

/// The record of a family's size, explored in a way.
fn find<'r>(records: &[&'r Record], size: &str, way: &str) -> Option<&'r Record> {
    records.iter().copied().find(|record| record.is(&[("size", size), ("way", way)]))
}

fn growth_table(family: &Family, records: &[&Record]) -> Table {
    let mut table = Table::new(
        format!("{}, watched by the tester {}: states", family.name, family.tester),
        "n | all | for deadlocks | product | guided by the tester | product ÷ guided | verdict of the tester",
    );
    let sizes = records.iter().filter(|record| record.text("way") == "all").map(|record| record.text("size"));
    for size in sizes {
        let shown = |way: &str| match find(records, size, way) {
            None => "–".to_owned(),
            Some(record) => {
                let states = number_or_dash(record.number("states"));
                if record.text("verdict") == "gave up" { format!("> {states}") } else { states }
            }
        };
        let states = |way: &str| find(records, size, way).and_then(|record| record.number("states"));
        let ratio =
            states("product").zip(states("tester")).map(|(product, guided)| product / guided.max(1.0));
        table.rows.push(vec![
            size.to_owned(),
            shown("all"),
            shown("deadlocks"),
            shown("product"),
            shown("tester"),
            number_or_dash(ratio.map(|ratio| (ratio * 10.0).round() / 10.0)),
            find(records, size, "tester").map_or("–", |record| record.text("verdict")).to_owned(),
        ]);
    }
    table.with_note("“>”: gave up at the limit of states.")
}

fn growth_plot(family: &Family, records: &[&Record]) -> Plot {
    let series = WAYS.iter().map(|(way, name)| {
        let of_way = records.iter().filter(|record| record.text("way") == *way);
        let points = of_way.filter_map(|record| Some((record.number("size")?, record.number("states")?)));
        Series::curve(*name, points.collect())
    });
    Plot {
        file: format!("001-{}", family.name.replace(", ", "-")),
        title: format!("Growth: {}, tester {}", family.name, family.tester),
        description:
            "States against the number of processes, explored in four ways. A straight line on this scale is \
                      exponential growth."
                .to_owned(),
        x: Axis::linear("n"),
        y: Axis::log("states"),
        series: series.collect(),
        has_diagonal: false,
    }
}

fn supertrace_table(records: &[Record]) -> Table {
    let philosophers = records.first().map_or("", |record| record.text("philosophers"));
    let mut table = Table::new(
        format!("Supertrace: {philosophers} philosophers in little memory"),
        "Bytes | Hashes | States found | Share | Estimated share | Deadlock found | Seconds",
    );
    let percent =
        |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.2} %", share * 100.0));
    for record in records {
        table.rows.push(vec![
            number_or_dash(record.number("bytes")),
            record.text("hashes").to_owned(),
            number_or_dash(record.number("states")),
            percent(record.number("share")),
            percent(record.number("estimated share")),
            if record.text("deadlocks") == "0" { "no" } else { "yes" }.to_owned(),
            record.text("seconds").to_owned(),
        ]);
    }
    table.with_note(
        "The estimate is what the search says of itself; it cannot know what lies behind a \
     state that it missed.",
    )
}

fn supertrace_plot(records: &[Record]) -> Plot {
    let philosophers = records.first().and_then(|record| record.number("philosophers")).unwrap_or(1.0);
    let all = 3f64.powf(philosophers) - 1.0;
    let curve = |hashes: &str, column: &str, name: &str| {
        let wanted = records.iter().filter(|record| record.text("hashes") == hashes);
        let points = wanted
            .filter_map(|record| Some((record.number("bytes")? * 8.0 / all, record.number(column)? * 100.0)));
        Series::curve(name, points.collect())
    };
    Plot {
        file: "001-supertrace".to_owned(),
        title: "Supertrace: share of the states that is found".to_owned(),
        description: "Share of the states found, against bits of memory per state, with one and with three \
         bits set per state, and the share that the search itself estimates."
            .to_owned(),
        x: Axis::log("bits of memory per state"),
        y: Axis::linear("states found (%)"),
        series: vec![
            curve("1", "share", "1 hash"),
            curve("3", "share", "3 hashes"),
            curve("1", "estimated share", "1 hash, estimated"),
            curve("3", "estimated share", "3 hashes, estimated"),
        ],
        has_diagonal: false,
    }
}

fn findings(growth: &[Record], supertrace: &[Record]) -> Vec<Finding> {
    let ring: Vec<&Record> = growth.iter().filter(|record| record.text("family") == "ring").collect();
    let of_way = |way: &str| -> Vec<(f64, f64)> {
        let wanted =
            ring.iter().filter(|record| record.text("way") == way && record.text("verdict") != "gave up");
        wanted.filter_map(|record| Some((record.number("size")?, record.number("states")?))).collect()
    };
    let all = of_way("all");
    let n_exact = all.iter().filter(|(n, states)| *states == 9.0 * n * 2f64.powf(n - 2.0)).count();
    let largest =
        all.last().map_or("–".to_owned(), |(n, states)| format!("{} for n = {n}", number(*states)));
    let mut findings = vec![Finding::new(
        "The token ring has 9n·2^(n−2) states.",
        "9n·2^(n−2)",
        Judgment::of_cases(n_exact, all.len()),
        format!("Exactly so for {n_exact} of {} sizes; {largest}.", all.len()),
    )];
    let reduced = of_way("deadlocks");
    let per_customer: Vec<f64> = reduced.iter().map(|(n, states)| states / n).collect();
    let last = per_customer.last().copied();
    // Linear if the states per customer stop growing, and about 5n if they come to no more than six.
    let is_linear = per_customer.windows(2).last().map(|pair| pair[1] <= pair[0] * 1.05);
    let judgment = match (is_linear, last) {
        (None, _) | (_, None) => Judgment::NoData,
        (Some(true), Some(last)) if last <= 6.0 => Judgment::Confirmed,
        (Some(true), _) => Judgment::Partly,
        (Some(false), _) => Judgment::NotConfirmed,
    };
    let livelock =
        growth.iter().filter(|record| record.is(&[("family", "ring, livelock"), ("way", "tester")]));
    let livelock =
        livelock.filter_map(|record| Some(record.number("states")? / record.number("size")?)).next_back();
    findings.push(Finding::new(
        "Stubborn sets leave about 5n of them.",
        "5n, with stubborn sets that are not made on the fly",
        judgment,
        format!(
            "Linear, with {} states per customer for the largest ring, and {} where a tester looks for a \
             livelock. The ring behind the figure 5n is not printed; ours has the same number of states.",
            number_or_dash(last),
            number_or_dash(livelock)
        ),
    ));
    let pairs: Vec<(f64, f64)> = growth
        .iter()
        .filter(|record| record.text("way") == "tester" && record.text("verdict") == "holds")
        .filter_map(|guided| {
            let same = growth.iter().find(|record| {
                record.is(&[
                    ("way", "product"),
                    ("family", guided.text("family")),
                    ("size", guided.text("size")),
                ])
            });
            Some((guided.number("states")?, same?.number("states")?))
        })
        .collect();
    let agree = pairs.iter().filter(|(guided, product)| guided <= product).count();
    let most = pairs.iter().map(|(guided, product)| product / guided.max(1.0)).reduce(f64::max);
    findings.push(Finding::new(
        "Stubborn sets guided by a tester make the product smaller, and never larger.",
        "none: this is proved, not measured",
        Judgment::of_cases(agree, pairs.len()),
        format!(
            "In {agree} of {} cases where the tester finds nothing; at best {} times as small.",
            pairs.len(),
            number_or_dash(most.map(f64::round))
        ),
    ));
    let largest = |hashes: &str| supertrace.iter().rfind(|record| record.text("hashes") == hashes);
    let shares: Vec<f64> = ["1", "3"].iter().filter_map(|hashes| largest(hashes)?.number("share")).collect();
    let agree = shares.iter().filter(|share| **share > 0.98).count();
    findings.push(Finding::new(
        "Supertrace finds nearly everything in a few bytes per state, and never too much.",
        "none",
        Judgment::of_cases(agree, shares.len()),
        format!(
            "With the largest array: {} of the states.",
            shares.iter().map(|share| format!("{:.2} %", share * 100.0)).collect::<Vec<_>>().join(" and ")
        ),
    ));
    findings
}
