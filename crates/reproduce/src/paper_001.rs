//! [valmari.93.cav]: stubborn sets that keep deadlocks, and those that a tester guides; and both in
//! little memory (*Supertrace*). The tables, plots and findings are in `tables_001`.
//!
//! Differences from the paper: it has no experiments, but one figure, of the ring of Graf and Steffen. Our
//! ring has as many states; the process itself is not printed there.

use base::Budget;
use check::reduced::Reduced;
use check::search::one_pass::WorkSet;
use check::search::tester;
use check::store::{ExactPlanes, Queue};
use check::{Bitstate, Exact, Exploration, Goal, search};
use model::System;
use process::PropertyKind;

use crate::Scale;
use crate::lab::{Cell, Experiment, Halt, Lab, Measured, always, measured, not_interrupted, seconds};
use crate::subject::network;

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
                growth.push(Cell {
                    key: vec![
                        family.name.to_owned(),
                        size.to_string(),
                        way.to_owned(),
                        max_states.to_string(),
                    ],
                    seconds: if is_large { max_states as f64 / 2e6 } else { 0.02 },
                    job: Box::new(move |lab, _| explore(lab, family, size, way, max_states)),
                });
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
            supertrace.push(Cell {
                key: vec![philosophers.to_string(), bytes.to_string(), hashes.to_string()],
                seconds: all_states as f64 / 1e6,
                job: Box::new(move |lab, _| bitstate(lab, philosophers, bytes, hashes)),
            });
            bytes *= 2;
        }
    }
    vec![
        Experiment {
            file: "001-growth",
            key: &["family", "size", "way", "max states"],
            results: &["verdict", "states", "transitions", "seconds", "command"],
            cells: growth,
            is_needed: always,
        },
        Experiment {
            file: "001-supertrace",
            key: &["philosophers", "bytes", "hashes"],
            results: &["states", "share", "estimated share", "deadlocks", "seconds", "command"],
            cells: supertrace,
            is_needed: always,
        },
    ]
}

fn of_exploration(time: f64, outcome: &Exploration) -> Result<Measured, Halt> {
    let verdict = match &outcome.stop {
        Some(check::Stop::AllViolated) => "violated",
        None => "holds",
        Some(check::Stop::Limit(limit)) => {
            not_interrupted(*limit)?;
            "gave up"
        }
        Some(check::Stop::Fault(..)) => return Err(Halt::Trouble("the model goes wrong".to_owned())),
    };
    let stats = &outcome.stats;
    Ok(Measured { verdict, states: stats.states, transitions: stats.transitions, seconds: time })
}

fn explore(
    lab: &mut Lab<'_>,
    family: &Family,
    size: i64,
    way: &str,
    max_states: u64,
) -> Result<Vec<Vec<String>>, Halt> {
    let model = network(family.file, &[("N", size)])?;
    let system = &model.system;
    let width = system.width();
    let what = format!("models/{} -D N={size}", family.file);
    let (measured, command) = match way {
        "all" | "deadlocks" => {
            let reduced = Reduced::for_deadlocks(system);
            let (time, outcome) = lab.timed(max_states, |budget| {
                let mut store = Exact::new(width, budget.max_bytes);
                match way {
                    "all" => search::bfs::search(system, &mut store, &[], budget),
                    _ => search::bfs::search(&reduced, &mut store, &[Goal::Deadlock], budget),
                }
            });
            let command = match way {
                "all" => format!("stubborn explore {what}"),
                _ => format!("stubborn check {what} --deadlock-free --reduce stubborn"),
            };
            (of_exploration(time, &outcome)?, command)
        }
        _ => {
            let reduces = way == "tester";
            let property = model.properties.iter().find(|property| property.name == family.tester);
            let Some(PropertyKind::Tester(observed)) = property.map(|property| &property.kind) else {
                return Err(Halt::Trouble(format!("{} has no tester {}", family.file, family.tester)));
            };
            let product = tester::product(
                system,
                &observed.process,
                &observed.labels,
                reduces,
                &mut Budget::unlimited(),
            );
            let mut product = product.map_err(|_| Halt::Trouble("the tester is too large".to_owned()))?;
            let product_width = product.width();
            let (time, outcome) = lab.timed(max_states, |budget| {
                let max_bytes = budget.max_bytes;
                let planes = || ExactPlanes::new(product_width, max_bytes);
                tester::check(&mut product, WorkSet::Queue, planes, budget)
            });
            let reduce = if reduces { "stubborn" } else { "none" };
            let command = format!("stubborn check {what} --property {} --reduce {reduce}", family.tester);
            (measured(time, &outcome)?, command)
        }
    };
    let command = format!("{command} --max-states {max_states}");
    Ok(vec![[measured.fields(), vec![command]].concat()])
}

fn bitstate(lab: &mut Lab<'_>, philosophers: i64, bytes: u64, hashes: u32) -> Result<Vec<Vec<String>>, Halt> {
    let model = network("dining.proc", &[("N", philosophers)])?;
    let width = model.system.width();
    let (time, outcome) = lab.timed(u64::MAX, |budget| {
        let store = Bitstate::new(bytes, hashes)?;
        Some(search::bfs::search(&model.system, &mut Queue::new(store, width), &[], budget))
    });
    let outcome = outcome.ok_or_else(|| Halt::Trouble(format!("{bytes} bytes cannot be had")))?;
    if let Some(check::Stop::Limit(limit)) = outcome.stop {
        not_interrupted(limit)?;
    }
    let all = 3u64.pow(philosophers as u32) - 1;
    let states = outcome.stats.states;
    Ok(vec![vec![
        states.to_string(),
        format!("{:.5}", states as f64 / all as f64),
        outcome.coverage.map_or(String::new(), |coverage| format!("{coverage:.5}")),
        outcome.stats.deadlocks.to_string(),
        seconds(time),
        format!(
            "stubborn explore models/dining.proc -D N={philosophers} --store bitstate --bitstate-size \
             {bytes} --bitstate-hashes {hashes}"
        ),
    ]])
}
