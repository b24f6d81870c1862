//! [bensalem.12.topnoc]: products with TGBA, BA, TA and TGTA on nets, with random formulas and with
//! formulas under weak fairness; and the same with stubborn sets, which the paper could not have. The tables,
//! plots and findings are in `tables_003`.
//!
//! The recipe of the paper: formulas without *next* are drawn, and those are kept for which all three
//! approaches explore over 2000 states, until there are enough that hold and enough that are violated. A
//! formula under weak fairness is `([]<> p1 && … && []<> pn) -> f` with about 3.2 conditions on average. A
//! proposition says that a place is marked.
//!
//! Differences from the paper: smaller nets unless everything is asked for; automata are those that Stubborn
//! makes, which are reduced further.

use std::fmt::Display;

use generators::random::{self, NEXT_FREE};
use stubborn::automata::{Tgba, stats::Stats};
use stubborn::base::Budget;
use stubborn::check::decide::{Claim, Refusal};
use stubborn::check::method::{ObserverKind, ReductionWish, SearchKind};
use stubborn::check::reduction;
use stubborn::ltl::{Formulas, Prop, Spelling};
use stubborn::{Options, Question};

use crate::Scale;
use crate::lab::{Cell, Experiment, Halt, Lab, Measured, Record, Rows};
use crate::nets::Family;
use crate::subject::{by, shell};

pub(crate) const CLASSES: [&str; 2] = ["RND", "WFair"];

/// The observers, each with its search, and with a reduction if it has one.
pub(crate) const OBSERVERS: [(&str, ObserverKind, SearchKind, Option<reduction::Method>); 6] = [
    ("tgba", ObserverKind::Tgba, SearchKind::Scc, None),
    ("ta", ObserverKind::Ta, SearchKind::TwoPass, None),
    ("tgta", ObserverKind::Tgta, SearchKind::Scc, None),
    ("ba", ObserverKind::Ba, SearchKind::Scc, None),
    ("ta, reduced", ObserverKind::Ta, SearchKind::TwoPass, Some(reduction::Method::Hybrid)),
    ("tgta, reduced", ObserverKind::Tgta, SearchKind::Scc, Some(reduction::Method::Hybrid)),
];

/// The observers of the case studies, each with its search.
const CASE_OBSERVERS: [(ObserverKind, SearchKind); 6] = [
    (ObserverKind::Tgba, SearchKind::Scc),
    (ObserverKind::Ba, SearchKind::Scc),
    (ObserverKind::Ta, SearchKind::TwoPass),
    (ObserverKind::Tgta, SearchKind::Scc),
    (ObserverKind::LazyTa, SearchKind::TwoPass),
    (ObserverKind::LazyTgta, SearchKind::Scc),
];

/// So many formulas are one cell.
const BATCH: u64 = 10;

/// The observers that must explore enough states.
const N_APPROACHES: usize = 3;

/// The formulas of the case studies.
const CASES: [(Family, &str, &str); 2] = [
    (
        Family::Mapk,
        "Φ2",
        "!((!RafP) U MEKP) && !((!MEKP) U MEKPP) && !((!MEKPP) U ERKPP) && !((!ERKP) U ERKPP)",
    ),
    (
        Family::Polyorb,
        "Φ1",
        "[] (MSrc_1 -> <> \"DOSrc_1_1 + DOSrc_2_1 >= 1\") && [] (MSrc_2 -> <> \"DOSrc_1_2 + DOSrc_2_2 >= \
         1\")",
    ),
];

/// The scale of a net.
pub(crate) fn size(family: Family, scale: Scale) -> u32 {
    let sizes = match family {
        Family::Kanban | Family::Fms => [1, 2, 3, 5],
        Family::Ring | Family::Polyorb => [3, 4, 5, 6],
        Family::Peterson => [3, 4, 4, 5],
        Family::Mapk => [4, 4, 4, 8],
    };
    sizes[scale as usize]
}

/// The scale of a net of the case studies.
pub(crate) fn case_size(family: Family, scale: Scale) -> u32 {
    if family == Family::Mapk && scale != Scale::Tiny { 8 } else { size(family, scale) }
}

/// What a scale asks for.
#[derive(Clone, Copy)]
struct Plan {
    /// So many formulas that hold, and so many that are violated, per net and kind.
    wanted: usize,
    /// A formula must need more states.
    min_states: u64,
    max_states: u64,
    /// No more formulas are tried, by tens.
    max_batches: u64,
    /// A guess of the seconds for all formulas of a kind about a net.
    seconds: f64,
}

fn plan(scale: Scale) -> Plan {
    match scale {
        Scale::Tiny => Plan { wanted: 1, min_states: 30, max_states: 20_000, max_batches: 1, seconds: 0.2 },
        Scale::Quick => {
            Plan { wanted: 2, min_states: 500, max_states: 60_000, max_batches: 20, seconds: 2.0 }
        }
        Scale::Standard => {
            Plan { wanted: 10, min_states: 2000, max_states: 500_000, max_batches: 400, seconds: 120.0 }
        }
        Scale::Full => {
            Plan { wanted: 100, min_states: 2000, max_states: 60_000_000, max_batches: 2000, seconds: 6000.0 }
        }
    }
}

pub(crate) fn experiments(scale: Scale) -> Vec<Experiment> {
    let plan = plan(scale);
    let mut formulas = Vec::new();
    for family in Family::ALL {
        let size = size(family, scale);
        for class in CLASSES {
            let recipe = recipe(family, size, class);
            for batch in 0..plan.max_batches {
                // Most time goes into the formulas that are kept, which are among the first.
                let typical = (plan.max_batches / 4).max(1);
                let seconds = if batch < typical { plan.seconds / typical as f64 } else { 0.0 };
                let Plan { wanted, min_states, max_states, .. } = plan;
                let key: [&dyn Display; 8] =
                    [&family, &size, &class, &wanted, &min_states, &max_states, &recipe, &batch];
                let stream = key.map(ToString::to_string);
                formulas.push(Cell::new(&key, seconds, move |lab, so_far| {
                    let kept = of_stream(so_far, &stream);
                    let missing = ["holds", "violated"]
                        .map(|verdict| (verdict, wanted.saturating_sub(n_verdicts(&kept, verdict))));
                    try_batch(lab, &Draw { family, size, class, plan }, batch, missing)
                }));
            }
        }
    }
    let mut cases = Vec::new();
    for (family, name, formula) in CASES {
        let size = case_size(family, scale);
        for (observer, search) in CASE_OBSERVERS {
            cases.push(Cell::new(&[&family, &size, &name, &observer.name()], 0.5, move |lab, _| {
                case(lab, family, size, formula, observer, search)
            }));
        }
    }
    vec![
        Experiment {
            is_needed,
            ..Experiment::new(
                "003-formulas",
                "net | size | class | wanted | min states | max states | recipe | batch",
                "seed | status | formula | observer | automaton states | automaton transitions | full states | \
                 full transitions | verdict | states | transitions | seconds | command",
                formulas,
            )
        },
        Experiment::new(
            "003-cases",
            "net | size | formula | observer",
            "full states | full transitions | verdict | states | transitions | seconds | command",
            cases,
        ),
    ]
}

/// The records of the same net and kind of formulas, one per formula that is kept.
fn of_stream<'r>(so_far: &'r [Record], key: &[String]) -> Vec<&'r Record> {
    let n_shared = key.len() - 1;
    let is_kept = |record: &&Record| {
        record.fields[..n_shared] == key[..n_shared] && record.is(&[("status", "kept"), ("observer", "tgba")])
    };
    so_far.iter().filter(is_kept).collect()
}

fn n_verdicts(stream: &[&Record], verdict: &str) -> usize {
    stream.iter().filter(|record| record.text("verdict") == verdict).count()
}

fn is_needed(cell: &Cell, so_far: &[Record]) -> bool {
    let stream = of_stream(so_far, &cell.key);
    let wanted: usize = cell.key[3].parse().unwrap_or(0);
    n_verdicts(&stream, "holds") < wanted || n_verdicts(&stream, "violated") < wanted
}

/// A random formula about the places of a net.
fn random_formula(places: &[String], class: &str, seed: u64) -> String {
    let mut draw = random::seeded(seed.wrapping_mul(2).wrapping_add(u64::from(class == "WFair")));
    let mut formulas = Formulas::new();
    let mut pick = |n: u32, draw: &mut dyn FnMut(u32) -> u32| -> Vec<Prop> {
        (0..n).map(|_| formulas.proposition(&places[draw(places.len() as u32) as usize])).collect()
    };
    let n_props = 2 + draw(3);
    let mut props = pick(n_props, &mut draw);
    let mut conditions = Vec::new();
    if class == "WFair" {
        // 3.2 on average.
        let n_conditions = [2, 3, 3, 4, 4][draw(5) as usize];
        conditions = pick(n_conditions, &mut draw);
        props.extend(&conditions[..1]);
    }
    let formula_size = 6 + draw(14);
    let formula = random::formula(&mut formulas, &props, NEXT_FREE, formula_size, &mut draw);
    let text = formulas.display(formula, Spelling::Spin).to_string();
    if conditions.is_empty() {
        return text;
    }
    let conditions: Vec<String> =
        conditions.iter().map(|prop| format!("[] <> {}", formulas.text(*prop))).collect();
    format!("({}) -> ({text})", conditions.join(" && "))
}

/// What tells the formulas of a net and a kind from those of other recipes: a digest of the net and of the
/// first formulas. So cells that were made by another recipe, or about another net, are not taken for ours.
fn recipe(family: Family, size: u32, class: &str) -> String {
    const N_FORMULAS: u64 = 2 * BATCH;
    let mut text = family.pnml(size);
    let places = family.places(size);
    text.extend((0..N_FORMULAS).map(|seed| random_formula(&places, class, seed) + "\n"));
    digest(&text)
}

/// FNV-1a, as hexadecimal digits.
fn digest(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// Which formulas are drawn.
struct Draw {
    family: Family,
    size: u32,
    class: &'static str,
    plan: Plan,
}

/// A verdict, and how many more formulas with it are wanted.
type Missing = [(&'static str, usize); 2];

/// Ten formulas, or fewer if no more are wanted.
fn try_batch(lab: &Lab<'_>, draw: &Draw, batch: u64, mut missing: Missing) -> Rows {
    let mut rows = Vec::new();
    for seed in batch * BATCH..(batch + 1) * BATCH {
        if missing.iter().all(|(_, n)| *n == 0) {
            break;
        }
        let (kept, of_formula) = try_formula(lab, draw, seed, &missing)?;
        for (verdict, n) in &mut missing {
            *n -= usize::from(kept == Some(*verdict));
        }
        rows.extend(of_formula.into_iter().map(|row| [vec![seed.to_string()], row].concat()));
    }
    Ok(rows)
}

/// One formula: its verdict and everything about it if it is kept, otherwise why it is not.
fn try_formula(
    lab: &Lab<'_>,
    draw: &Draw,
    seed: u64,
    missing: &Missing,
) -> Result<(Option<&'static str>, Vec<Vec<String>>), Halt> {
    let Draw { family, size, class, plan } = *draw;
    let text = random_formula(&family.places(size), class, seed);
    let dropped = |status: &str| {
        let mut fields = vec![String::new(); 12];
        fields[0] = status.to_owned();
        fields[1].clone_from(&text);
        Ok((None, vec![fields]))
    };
    let question = Question::ltl(&text);
    let mut session = family.open(size)?;
    let mut watching = match lab.untimed(|clock| session.watch(&question, clock)) {
        Err(Halt::Trouble(_)) => return dropped("too large an automaton"),
        watching => watching?,
    };
    let mut searched: Vec<Measured> = Vec::new();
    for (index, (_, observer, search, reduction)) in OBSERVERS.into_iter().enumerate() {
        let reduce = reduction.map_or(ReductionWish::None, ReductionWish::Fixed);
        let options = Options { reduce, ..by(observer, search) };
        let made = match lab.search(&mut watching, &options, plan.max_states) {
            Err(Halt::Trouble(_)) => return dropped("too large an automaton"),
            made => made?.0,
        };
        if made.verdict == "gave up" {
            return dropped("too many states");
        }
        if index < N_APPROACHES && made.states <= plan.min_states {
            return dropped("too few states");
        }
        if index == 0 && missing.contains(&(made.verdict, 0)) {
            return dropped("not needed");
        }
        searched.push(made);
    }
    let verdict = searched.first().map(|made| made.verdict);
    let sizes = OBSERVERS.map(|(_, observer, ..)| automaton_size(watching.claim(), observer));
    let mut rows = Vec::new();
    for (((name, observer, search, reduction), made), size_of) in
        OBSERVERS.into_iter().zip(searched).zip(sizes)
    {
        let mut row = vec!["kept".to_owned(), text.clone(), name.to_owned()];
        if reduction.is_none() {
            let max_states = plan.max_states.saturating_mul(4);
            let (full, _) = lab.explore(&mut session, Some(&question), &by(observer, search), max_states)?;
            let (states, transitions) = size_of.map_err(|why| Halt::Trouble(why.to_string()))?;
            let figures = [states, transitions, full.states, full.transitions];
            row.extend(figures.map(|figure| figure.to_string()));
        } else {
            row.extend([(); 4].map(|()| String::new()));
        }
        row.extend(made.fields());
        let reduce = reduction.map_or("none", reduction::Method::name);
        row.push(format!(
            "stubborn check {} --ltl {} --observer {} --search {} --reduce {reduce} --structural none --static none",
            family.file(size),
            shell(&text),
            observer.name(),
            search.name()
        ));
        rows.push(row);
    }
    Ok((verdict, rows))
}

/// States and transitions of the automaton in the form that an observer needs: one transition per valuation
/// or changeset.
fn automaton_size(claim: &mut Claim, observer: ObserverKind) -> Result<(u64, u64), Refusal> {
    let budget = &mut Budget::unlimited();
    let of_tgba = |tgba: &Tgba| {
        // A budget without limits is never spent.
        let stats = Stats::of(tgba, &mut Budget::unlimited());
        stats.map_or((0, 0), |stats| (stats.states as u64, stats.transitions))
    };
    Ok(match observer {
        ObserverKind::Ba => of_tgba(claim.ba(budget)?),
        ObserverKind::Ta => claim.ta(budget).map(|ta| (ta.n_states() as u64, ta.n_steps() as u64))?,
        ObserverKind::Tgta => {
            claim.tgta(budget).map(|tgta| (tgta.n_states() as u64, tgta.n_steps() as u64))?
        }
        _ => of_tgba(claim.tgba()),
    })
}

/// A formula of the case studies with one observer.
fn case(
    lab: &Lab<'_>,
    family: Family,
    size: u32,
    formula: &str,
    observer: ObserverKind,
    search: SearchKind,
) -> Rows {
    let options = by(observer, search);
    let question = Question::ltl(formula);
    let mut session = family.open(size)?;
    let (full, _) = lab.explore(&mut session, Some(&question), &options, u64::MAX)?;
    let mut watching = lab.untimed(|clock| session.watch(&question, clock))?;
    let (found, _) = lab.search(&mut watching, &options, u64::MAX)?;
    let command = format!(
        "stubborn explore {} --ltl {} --observer {}",
        family.file(size),
        shell(formula),
        observer.name()
    );
    let full = [full.states, full.transitions].map(|figure| figure.to_string());
    Ok(vec![[full.to_vec(), found.fields(), vec![command]].concat()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_known_by_its_formulas_and_its_net() {
        let ring = recipe(Family::Ring, 3, "RND");
        assert_eq!(ring, recipe(Family::Ring, 3, "RND"));
        assert_ne!(ring, recipe(Family::Ring, 3, "WFair"));
        assert_ne!(ring, recipe(Family::Ring, 4, "RND"));
        assert_eq!(digest("a"), "af63dc4c8601ec8c");
    }
}
