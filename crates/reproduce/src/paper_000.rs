//! [hansen.02.fmics]: how soon a livelock is found, by the one-pass search with a testing automaton and
//! by the nested search with a Büchi automaton, each in several orders (Tables 1 to 4). The tables, plots and
//! findings are in `tables_000`.
//!
//! The nested search is made twice: as it was when the paper was written (`cvwy`), and as it is in `check`.
//!
//! Differences from the paper: two of its three models are not printed. Ours have as many states (Fischer),
//! or nearly (the ring). A run that ends in a deadlock is no infinite run, there as here.

use std::fmt::Display;

use stubborn::check::method::{ObserverKind, SearchKind};
use stubborn::check::product::{AtDeadlock, ObserverOrder, Orders, StepOrder};
use stubborn::model::ActionSystem;
use stubborn::{Options, Order, Question};

use crate::Scale;
use crate::cvwy::{self, Found};
use crate::lab::{Cell, Experiment, Halt, Lab, Measured, Record, Rows, seconds};
use crate::subject::{by, network, plain, shell};

/// A system of the paper.
pub(crate) struct System {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    /// The size in the paper, and in tests.
    pub(crate) size: i64,
    tiny: i64,
    /// The states in the paper.
    pub(crate) published_states: u64,
    /// Where somebody may starve, with `#` for the number of the process.
    pub(crate) places: &'static [&'static str],
    /// The table of the paper: per search C to J, how many experiments took 10 000, 1000 and 100 states.
    pub(crate) table: (&'static str, [[u32; 3]; 8]),
}

pub(crate) const SYSTEMS: [System; 3] = [
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

/// A search of Table 1.
pub(crate) struct SearchOf {
    pub(crate) letter: &'static str,
    pub(crate) what: &'static str,
    kind: Kind,
    /// Breadth first, or with the accepting state first.
    is_first: bool,
    /// Steps of the system backwards.
    reverse: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One pass.
    OnePass,
    /// Nested, as the paper has it.
    Nested1992,
    /// Nested, as Stubborn has it.
    Nested,
}

const fn search_of(
    letter: &'static str,
    what: &'static str,
    kind: Kind,
    is_first: bool,
    reverse: bool,
) -> SearchOf {
    SearchOf { letter, what, kind, is_first, reverse }
}

impl SearchOf {
    /// Its row in the paper's tables; nothing if it is not the paper's.
    pub(crate) fn row(&self) -> Option<usize> {
        let letters = ["C", "D", "E", "F", "G", "H", "I", "J"];
        letters.iter().position(|letter| *letter == self.letter)
    }
}

/// The searches of Table 1, and the last four as they are made today.
pub(crate) const SEARCHES: [SearchOf; 12] = [
    search_of("C", "one-pass, breadth first, forward", Kind::OnePass, true, false),
    search_of("D", "one-pass, breadth first, reverse", Kind::OnePass, true, true),
    search_of("E", "one-pass, depth first, forward", Kind::OnePass, false, false),
    search_of("F", "one-pass, depth first, reverse", Kind::OnePass, false, true),
    search_of("G", "nested (1992), error first, forward", Kind::Nested1992, true, false),
    search_of("H", "nested (1992), error last, forward", Kind::Nested1992, false, false),
    search_of("I", "nested (1992), error first, reverse", Kind::Nested1992, true, true),
    search_of("J", "nested (1992), error last, reverse", Kind::Nested1992, false, true),
    search_of("G 1996", "nested (1996), error first, forward", Kind::Nested, true, false),
    search_of("H 1996", "nested (1996), error last, forward", Kind::Nested, false, false),
    search_of("I 1996", "nested (1996), error first, reverse", Kind::Nested, true, true),
    search_of("J 1996", "nested (1996), error last, reverse", Kind::Nested, false, true),
];

/// The one-pass searches, those of them that are breadth first, the paper's nested ones, and today's.
pub(crate) const ONE_PASS: [&str; 4] = ["C", "D", "E", "F"];
pub(crate) const BREADTH_FIRST: [&str; 2] = ["C", "D"];
pub(crate) const NESTED: [&str; 4] = ["G", "H", "I", "J"];
pub(crate) const NESTED_TODAY: [&str; 4] = ["G 1996", "H 1996", "I 1996", "J 1996"];

pub(crate) const BUCKETS: [u64; 3] = [10_000, 1000, 100];

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
        spaces.push(Cell::new(&[&system.name, &size], 0.1, move |lab, _| count(lab, system, size)));
        for search in &SEARCHES {
            for process in 0..size {
                for place in system.places {
                    let place = place.replace('#', &process.to_string());
                    let key: [&dyn Display; 4] = [&system.name, &size, &formula(&place), &search.letter];
                    let job = move |lab: &Lab<'_>, _: &[Record]| find(lab, system, size, &place, search);
                    searches.push(Cell::new(&key, 0.05, job));
                }
            }
        }
    }
    vec![
        Experiment::new("000-spaces", "system | size", "states | transitions | seconds | command", spaces),
        Experiment::new(
            "000-searches",
            "system | size | formula | search",
            "verdict | states | steps | seconds | command",
            searches,
        ),
    ]
}

fn count(lab: &Lab<'_>, system: &System, size: i64) -> Rows {
    let mut session = network(system.file, "N", size)?;
    let (counted, _) = lab.explore(&mut session, None, &plain(), u64::MAX)?;
    let command = format!("stubborn explore models/{} -D N={size}", system.file);
    let Measured { states, transitions, .. } = counted;
    Ok(vec![vec![states.to_string(), transitions.to_string(), seconds(counted.seconds), command]])
}

/// Nobody stays there for ever.
fn formula(place: &str) -> String {
    format!("! <> [] {place}")
}

/// The number of a proposition that is watched.
fn proposition(system: &ActionSystem, name: &str) -> Result<usize, Halt> {
    let number = system.propositions().iter().position(|known| known.name == name);
    number.ok_or_else(|| Halt::Trouble(format!("nothing watches {name}")))
}

fn find(lab: &Lab<'_>, system: &System, size: i64, place: &str, search: &SearchOf) -> Rows {
    let SearchOf { kind, is_first, reverse, .. } = *search;
    let formula = formula(place);
    let question = Question::ltl(&formula);
    let mut session = network(system.file, "N", size)?;
    let mut watching = lab.untimed(|clock| session.watch(&question, clock))?;
    if kind == Kind::Nested1992 {
        let system = session.model().system();
        let proposition = proposition(system, place)?;
        let order = cvwy::Order { accepting_first: is_first, reverse };
        let (seconds, found) =
            lab.timed(u64::MAX, |clock| cvwy::search(system, proposition, order, &mut clock.budget()))?;
        let Found { livelock, states, transitions } = found;
        let verdict = if livelock { "violated" } else { "holds" };
        let measured = Measured { verdict, states, transitions, seconds };
        // No command has this search.
        return Ok(vec![[measured.fields(), vec![String::new()]].concat()]);
    }
    let mut spelled = String::from("--deadlock ignore --reduce none");
    let mut options = if kind == Kind::OnePass {
        let order = if is_first { Order::Bfs } else { Order::Dfs };
        spelled += " --observer ta --search one-pass --order ";
        spelled += if is_first { "bfs" } else { "dfs" };
        Options { order: Some(order), ..by(ObserverKind::Ta, SearchKind::OnePass) }
    } else {
        let observer = if is_first { ObserverOrder::AcceptingFirst } else { ObserverOrder::AcceptingLast };
        spelled += " --observer extended --search nested --observer-order accepting-";
        spelled += if is_first { "first" } else { "last" };
        let orders = Orders { observer, ..Orders::default() };
        Options { orders, ..by(ObserverKind::Extended, SearchKind::Nested) }
    };
    options.at_deadlock = AtDeadlock::Ignore;
    if reverse {
        options.orders.steps = StepOrder::Reverse;
        spelled += " --successors reverse";
    }
    let (measured, _) = lab.search(&mut watching, &options, u64::MAX)?;
    let command = format!(
        "stubborn check models/{} -D N={size} --ltl {} {spelled} --static none",
        system.file,
        shell(&formula)
    );
    Ok(vec![[measured.fields(), vec![command]].concat()])
}

#[cfg(test)]
mod tests {
    use stubborn::base::Budget;
    use stubborn::{Clock, Limits};

    use super::*;

    #[test]
    fn the_search_of_1992_finds_what_there_is_and_nothing_else() {
        let search = |file: &str, place: &str, accepting_first: bool, reverse: bool| {
            let mut session = network(file, "N", 3).expect("it is a model");
            let question = Question::ltl(&formula(place));
            session.watch(&question, &Clock::start(&Limits::default())).expect("it is a formula");
            let system = session.model().system();
            let order = cvwy::Order { accepting_first, reverse };
            let proposition = proposition(system, place).expect("it has one");
            cvwy::search(system, proposition, order, &mut Budget::unlimited()).expect("it ends")
        };
        for (first, reverse) in [(true, false), (false, false), (true, true), (false, true)] {
            assert!(search("dining.proc", "Phil[0]@left", first, reverse).livelock);
            // While somebody eats, the others get stuck. So all pairs are stored: the automaton waits with
            // all 26 states, and accepts with the three where the first one eats.
            let all = search("dining.proc", "Phil[0]@eat", first, reverse);
            assert_eq!((all.livelock, all.states), (false, 29));
        }
    }
}
