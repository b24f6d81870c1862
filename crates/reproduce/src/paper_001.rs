//! [valmari.93.cav]: stubborn sets that keep deadlocks, and those that a tester guides; and both in
//! little memory (*Supertrace*). The tables, plots and findings are in `tables_001`.
//!
//! Differences from the paper: it has no experiments, but one figure, of the ring of Graf and Steffen. Our
//! ring has as many states; the process itself is not printed there.

use stubborn::check::method::{ReductionWish, StoreKind};
use stubborn::{Options, Question};

use crate::Scale;
use crate::lab::{Cell, Experiment, Lab, Rows, seconds};
use crate::subject::{network, plain};

/// Systems that scale, with a tester.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    file: &'static str,
    pub(crate) tester: &'static str,
    /// The sizes for a quick look, more of them, and all.
    sizes: [&'static [i64]; 3],
}

pub(crate) const FAMILIES: [Family; 5] = [
    Family {
        name: "ring",
        file: "acknowledged_ring.proc",
        tester: "Exclusion",
        sizes: [&[2, 4, 6, 8, 10], &[12, 14], &[16, 18]],
    },
    Family {
        name: "ring, livelock",
        file: "acknowledged_ring.proc",
        tester: "Starves",
        sizes: [&[2, 4, 6, 8, 10], &[12, 14], &[16, 18]],
    },
    Family {
        name: "philosophers",
        file: "dining.proc",
        tester: "Neighbors",
        sizes: [&[3, 4, 6, 8, 10], &[12], &[14]],
    },
    Family {
        name: "counters",
        file: "counters.proc",
        tester: "InOrder",
        sizes: [&[2, 4, 6, 8], &[10], &[11]],
    },
    Family { name: "protocols", file: "protocols.proc", tester: "Order", sizes: [&[1, 2], &[3], &[]] },
];

/// What is explored, and what it is called in plots.
pub(crate) const WAYS: [(&str, &str); 4] = [
    ("all", "all states"),
    ("deadlocks", "kept for deadlocks"),
    ("product", "product with the tester"),
    ("tester", "guided by the tester"),
];

fn max_states(scale: Scale) -> u64 {
    match scale {
        Scale::Tiny => 10_000,
        Scale::Quick => 200_000,
        Scale::Standard => 3_000_000,
        Scale::Full => 30_000_000,
    }
}

fn sizes(family: &Family, scale: Scale) -> Vec<i64> {
    match scale {
        Scale::Tiny => family.sizes[0][..2].to_vec(),
        Scale::Quick => family.sizes[0].to_vec(),
        Scale::Standard => family.sizes[..2].concat(),
        Scale::Full => family.sizes.concat(),
    }
}

pub(crate) fn experiments(scale: Scale) -> Vec<Experiment> {
    let max_states = max_states(scale);
    let mut growth = Vec::new();
    for family in &FAMILIES {
        let sizes = sizes(family, scale);
        for (index, &size) in sizes.iter().enumerate() {
            for (way, _) in WAYS {
                let is_large = matches!(way, "all" | "product") && index + 2 >= sizes.len();
                let seconds = if is_large { max_states as f64 / 2e6 } else { 0.02 };
                growth.push(Cell::new(&[&family.name, &size, &way, &max_states], seconds, move |lab, _| {
                    explore(lab, family, size, way, max_states)
                }));
            }
        }
    }
    let philosophers = match scale {
        Scale::Tiny => 6,
        Scale::Quick => 10,
        Scale::Standard => 12,
        Scale::Full => 14,
    };
    let all_states = 3u64.pow(philosophers as u32) - 1;
    let mut supertrace = Vec::new();
    for hashes in [1, 3] {
        // From an eighth of a bit per state to over a hundred.
        let mut bytes = (all_states / 64).next_power_of_two();
        while bytes <= 16 * all_states {
            let seconds = all_states as f64 / 1e6;
            supertrace.push(Cell::new(&[&philosophers, &bytes, &hashes], seconds, move |lab, _| {
                bitstate(lab, philosophers, bytes, hashes)
            }));
            bytes *= 2;
        }
    }
    vec![
        Experiment::new(
            "001-growth",
            "family | size | way | max states",
            "verdict | states | transitions | seconds | command",
            growth,
        ),
        Experiment::new(
            "001-supertrace",
            "philosophers | bytes | hashes",
            "states | share | estimated share | deadlocks | seconds | command",
            supertrace,
        ),
    ]
}

fn explore(lab: &Lab<'_>, family: &Family, size: i64, way: &str, max_states: u64) -> Rows {
    let mut session = network(family.file, "N", size)?;
    let reduce =
        if matches!(way, "deadlocks" | "tester") { ReductionWish::Best } else { ReductionWish::None };
    let options = Options { reduce, ..plain() };
    let measured = match way {
        "all" => lab.explore(&mut session, None, &options, max_states)?.0,
        "deadlocks" => lab.check(&mut session, &Question::DeadlockFree, &options, max_states)?,
        _ => lab.check(&mut session, &Question::property(family.tester), &options, max_states)?,
    };
    let what = format!("models/{} -D N={size}", family.file);
    let command = match way {
        "all" => format!("explore {what}"),
        "deadlocks" => format!("check {what} --deadlock-free --reduce stubborn"),
        "tester" => format!("check {what} --property {} --reduce stubborn", family.tester),
        _ => format!("check {what} --property {} --reduce none", family.tester),
    };
    let command = format!("stubborn {command} --max-states {max_states}");
    Ok(vec![[measured.fields(), vec![command]].concat()])
}

fn bitstate(lab: &Lab<'_>, philosophers: i64, bytes: u64, hashes: u32) -> Rows {
    let mut session = network("dining.proc", "N", philosophers)?;
    let options = Options { store: StoreKind::Bitstate { bytes, n_hashes: hashes }, ..plain() };
    let (measured, explored) = lab.explore(&mut session, None, &options, u64::MAX)?;
    let all = 3u64.pow(philosophers as u32) - 1;
    Ok(vec![vec![
        measured.states.to_string(),
        format!("{:.5}", measured.states as f64 / all as f64),
        explored.coverage.map_or(String::new(), |coverage| format!("{:.5}", coverage.most)),
        explored.report.deadlocks.to_string(),
        seconds(measured.seconds),
        format!(
            "stubborn explore models/dining.proc -D N={philosophers} --store bitstate --bitstate-size \
             {bytes} --bitstate-hashes {hashes}"
        ),
    ]])
}
