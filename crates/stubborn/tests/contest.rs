//! The contest's questions about nets that nobody has seen: families that can be made as large as one likes, and random nets. Every
//! answer is that of a token game that knows nothing but the definition.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use fastrand::Rng;
use stubborn::petri::mcc::Examination;
use stubborn::{Clock, ContestAnswer, ContestOptions, Limits, ModelOptions, Session, Technique, Threads};

type Arcs = Vec<(usize, i64)>;

/// A net: initial tokens; per transition, what it takes and gives.
#[derive(Clone, Debug, Default)]
struct Plan {
    initial: Vec<i64>,
    transitions: Vec<(Arcs, Arcs)>,
}

impl Plan {
    fn place(&mut self, tokens: i64) -> usize {
        self.initial.push(tokens);
        self.initial.len() - 1
    }

    fn step(&mut self, takes: &[usize], gives: &[usize]) {
        let arcs = |places: &[usize]| {
            let mut arcs: BTreeMap<usize, i64> = BTreeMap::new();
            places.iter().for_each(|place| *arcs.entry(*place).or_default() += 1);
            arcs.into_iter().collect::<Arcs>()
        };
        self.transitions.push((arcs(takes), arcs(gives)));
    }

    /// Tokens in a ring of stations, each of which has room for one.
    fn ring(stations: usize, tokens: usize) -> Plan {
        let mut plan = Plan::default();
        let full: Vec<usize> = (0..stations).map(|at| plan.place(i64::from(at < tokens))).collect();
        let free: Vec<usize> = (0..stations).map(|at| plan.place(i64::from(at >= tokens))).collect();
        for at in 0..stations {
            let next = (at + 1) % stations;
            plan.step(&[full[at], free[next]], &[free[at], full[next]]);
        }
        plan
    }

    /// Processes that each take two resources one after the other, in the same order or around a table.
    fn allocation(processes: usize, in_order: bool) -> Plan {
        let mut plan = Plan::default();
        let resources: Vec<usize> = (0..processes).map(|_| plan.place(1)).collect();
        for at in 0..processes {
            let (mut first, mut second) = (resources[at], resources[(at + 1) % processes]);
            if in_order && first > second {
                (first, second) = (second, first);
            }
            let (idle, one, two) = (plan.place(1), plan.place(0), plan.place(0));
            plan.step(&[idle, first], &[one]);
            plan.step(&[one, second], &[two]);
            plan.step(&[two], &[idle, first, second]);
        }
        plan
    }

    /// A counter of some bits, which goes on or stops when it overflows.
    fn counter(bits: usize, goes_on: bool) -> Plan {
        let mut plan = Plan::default();
        let zeros: Vec<usize> = (0..bits).map(|_| plan.place(1)).collect();
        let ones: Vec<usize> = (0..bits).map(|_| plan.place(0)).collect();
        for bit in 0..bits {
            let takes: Vec<usize> = ones[..bit].iter().copied().chain([zeros[bit]]).collect();
            let gives: Vec<usize> = zeros[..bit].iter().copied().chain([ones[bit]]).collect();
            plan.step(&takes, &gives);
        }
        if goes_on {
            plan.step(&ones, &zeros);
        }
        plan
    }

    /// Parts that are made in two ways, from pallets; a pair of them is put together.
    fn manufacture(pallets: i64) -> Plan {
        let mut plan = Plan::default();
        let (a, b) = (plan.place(pallets), plan.place(pallets));
        let (machine, part, other, done) = (plan.place(1), plan.place(0), plan.place(0), plan.place(0));
        let (busy, kits) = (plan.place(0), plan.place(0));
        plan.step(&[a, machine], &[busy]);
        plan.step(&[busy], &[part, machine]);
        plan.step(&[b], &[other]);
        plan.step(&[part, other], &[done]);
        plan.step(&[done, done], &[kits]);
        plan.step(&[kits], &[a, a, b, b]);
        plan
    }

    /// A token goes round for ever, sometimes by a way that takes a ticket; and tokens that go to and fro in pairs only, of which one is
    /// left, which no equation in real numbers knows.
    fn tickets(tickets: i64, tokens: i64) -> Plan {
        let mut plan = Plan::default();
        let (here, there, left) = (plan.place(1), plan.place(0), plan.place(tickets));
        let (one, other) = (plan.place(tokens), plan.place(0));
        plan.step(&[here], &[there]);
        plan.step(&[there], &[here]);
        plan.step(&[there, left], &[here]);
        plan.step(&[one, one], &[other, other]);
        plan.step(&[other, other], &[one, one]);
        plan
    }

    /// A workflow: a choice, two things at once, and a way that loses a token.
    fn workflow(cases: i64, loses: bool) -> Plan {
        let mut plan = Plan::default();
        let (start, left, right) = (plan.place(cases), plan.place(0), plan.place(0));
        let (left_done, right_done, end) = (plan.place(0), plan.place(0), plan.place(0));
        plan.step(&[start], &[left, right]);
        plan.step(&[left], &[left_done]);
        plan.step(&[right], &[right_done]);
        plan.step(&[left_done, right_done], &[end]);
        plan.step(&[start], &[end]);
        plan.step(&[end], &[start]);
        if loses {
            plan.step(&[left], &[end]);
        }
        plan
    }

    fn random(rng: &mut Rng) -> Plan {
        let n_places = rng.usize(1..6);
        let arcs = |rng: &mut Rng, least: usize| -> Arcs {
            let mut arcs: BTreeMap<usize, i64> = BTreeMap::new();
            for _ in 0..rng.usize(least..3) {
                arcs.insert(rng.usize(0..n_places), if rng.u8(0..5) == 0 { 2 } else { 1 });
            }
            arcs.into_iter().collect()
        };
        let initial = (0..n_places).map(|_| rng.i64(0..3)).collect();
        let transitions = (0..rng.usize(1..7)).map(|_| (arcs(rng, 1), arcs(rng, 0))).collect();
        Plan { initial, transitions }
    }

    fn pnml(&self) -> String {
        let mut text = String::from("<pnml><net id='n'>");
        for (place, tokens) in self.initial.iter().enumerate() {
            text += &format!(
                "<place id='p{place}'><initialMarking><text>{tokens}</text></initialMarking></place>"
            );
        }
        let arc = |from: String, to: String, weight: i64| {
            format!(
                "<arc source='{from}' target='{to}'><inscription><text>{weight}</text></inscription></arc>"
            )
        };
        for (number, (takes, gives)) in self.transitions.iter().enumerate() {
            text += &format!("<transition id='t{number}'/>");
            takes.iter().for_each(|(p, weight)| text += &arc(format!("p{p}"), format!("t{number}"), *weight));
            gives.iter().for_each(|(p, weight)| text += &arc(format!("t{number}"), format!("p{p}"), *weight));
        }
        text + "</net></pnml>"
    }

    fn fire(&self, marking: &[i64], transition: usize) -> Option<Vec<i64>> {
        let (takes, gives) = &self.transitions[transition];
        let mut after = marking.to_vec();
        takes.iter().for_each(|(place, weight)| after[*place] -= weight);
        if after.iter().any(|tokens| *tokens < 0) {
            return None;
        }
        gives.iter().for_each(|(place, weight)| after[*place] += weight);
        Some(after)
    }

    /// All markings with the transitions that are enabled and where they lead; nothing if there are many.
    fn space(&self, max: usize) -> Option<Space> {
        let mut numbers = BTreeMap::from([(self.initial.clone(), 0)]);
        let (mut markings, mut edges) = (vec![self.initial.clone()], Vec::new());
        let mut open = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            let marking: Vec<i64> = markings[at].clone();
            let mut its = Vec::new();
            for transition in 0..self.transitions.len() {
                let Some(after) = self.fire(&marking, transition) else { continue };
                let next = numbers.len();
                let number = *numbers.entry(after.clone()).or_insert_with(|| {
                    markings.push(after);
                    open.push_back(next);
                    next
                });
                its.push((transition, number));
            }
            edges.push(its);
            if markings.len() > max {
                return None;
            }
        }
        Some(Space { markings, edges })
    }
}

struct Space {
    markings: Vec<Vec<i64>>,
    edges: Vec<Vec<(usize, usize)>>,
}

impl Space {
    fn is_live(&self, transition: usize) -> bool {
        let mut can: Vec<bool> =
            self.edges.iter().map(|its| its.iter().any(|(label, _)| *label == transition)).collect();
        loop {
            let mut has_changed = false;
            for (from, its) in self.edges.iter().enumerate().rev() {
                if !can[from] && its.iter().any(|(_, to)| can[*to]) {
                    (can[from], has_changed) = (true, true);
                }
            }
            if !has_changed {
                return can.into_iter().all(|can| can);
            }
        }
    }

    /// How large it is.
    fn extent(&self) -> ContestAnswer {
        let sum = |marking: &Vec<i64>| marking.iter().map(|&tokens| i128::from(tokens)).sum::<i128>();
        ContestAnswer::Space {
            states: (self.markings.len() as u64).into(),
            transitions: (self.edges.iter().map(Vec::len).sum::<usize>() as u64).into(),
            in_marking: self.markings.iter().map(sum).max().unwrap_or(0),
            in_place: self.markings.iter().flatten().copied().max().unwrap_or(0),
        }
    }

    /// The answer to an examination that has no file.
    fn answer(&self, plan: &Plan, examination: Examination) -> ContestAnswer {
        let fires = |transition: usize| {
            self.edges.iter().any(|its| its.iter().any(|(label, _)| *label == transition))
        };
        ContestAnswer::Truth(match examination {
            Examination::ReachabilityDeadlock => self.edges.iter().any(Vec::is_empty),
            Examination::OneSafe => self.markings.iter().flatten().all(|tokens| *tokens <= 1),
            Examination::StableMarking => (0..plan.initial.len())
                .any(|place| self.markings.iter().all(|marking| marking[place] == plan.initial[place])),
            Examination::QuasiLiveness => (0..plan.transitions.len()).all(fires),
            Examination::Liveness => (0..plan.transitions.len()).all(|transition| self.is_live(transition)),
            _ => unreachable!("it has a file"),
        })
    }
}

/// A comparison of two sums of places, or of one with a number.
struct Comparison(Vec<usize>, Result<Vec<usize>, i64>);

impl Comparison {
    fn random(rng: &mut Rng, n_places: usize) -> Comparison {
        let sum = |rng: &mut Rng| (0..rng.usize(1..3)).map(|_| rng.usize(0..n_places)).collect();
        let right = if rng.bool() { Ok(sum(rng)) } else { Err(rng.i64(0..4)) };
        Comparison(sum(rng), right)
    }

    fn holds(&self, marking: &[i64]) -> bool {
        let value = |places: &[usize]| places.iter().map(|place| marking[*place]).sum::<i64>();
        value(&self.0) <= self.1.as_ref().map_or_else(|number| *number, |places| value(places))
    }

    fn xml(&self) -> String {
        let right = match &self.1 {
            Ok(places) => tokens(places),
            Err(number) => format!("<integer-constant>{number}</integer-constant>"),
        };
        format!("<integer-le>{}{right}</integer-le>", tokens(&self.0))
    }
}

fn places(places: &[usize]) -> String {
    places.iter().map(|place| format!("<place>p{place}</place>")).collect()
}

fn tokens(list: &[usize]) -> String {
    format!("<tokens-count>{}</tokens-count>", places(list))
}

fn file(questions: impl Iterator<Item = String>) -> String {
    let property = |(number, formula): (usize, String)| {
        format!("<property><id>q-{number:02}</id><description/><formula>{formula}</formula></property>")
    };
    let all: String = questions.enumerate().map(property).collect();
    format!("<?xml version='1.0'?><property-set xmlns='http://mcc.lip6.fr/'>{all}</property-set>")
}

/// The answers to an examination, by id.
fn ask(
    folder: &Path,
    examination: Examination,
    threads: usize,
    limits: &Limits,
) -> BTreeMap<String, (ContestAnswer, Technique)> {
    let clock = Clock::start(limits).with_threads(Threads::new(threads));
    let path = folder.join("model.pnml");
    let mut session = Session::open_within(&path, &ModelOptions::default(), &clock).expect("it is a net");
    let mut answers = BTreeMap::new();
    let mut hears = |id: &str, answer: &ContestAnswer, technique: Technique| {
        let old = answers.insert(id.to_owned(), (answer.clone(), technique));
        assert!(old.is_none(), "{id} is answered twice");
    };
    let how = ContestOptions::default();
    session.contest(examination, folder, &how, &clock, &mut hears).expect("the files are right");
    answers
}

/// Asks everything about a net, and compares. Within limits, not everything need be answered.
fn check(plan: &Plan, rng: &mut Rng, limits: &Limits, techniques: &mut BTreeSet<String>) {
    let Some(space) = plan.space(3_000) else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write =
        |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("there is room");
    write("model.pnml", plan.pnml());
    for examination in [
        Examination::ReachabilityDeadlock,
        Examination::OneSafe,
        Examination::StableMarking,
        Examination::QuasiLiveness,
        Examination::Liveness,
    ] {
        let answers = ask(folder.path(), examination, 1, limits);
        let expected = space.answer(plan, examination);
        let (given, technique) = answers.values().next().expect("there is one question");
        assert_eq!(answers.len(), 1);
        if is_told(given, limits) {
            assert_eq!(given, &expected, "{examination} {technique:?} {plan:?}");
            techniques.insert(format!("{examination} {technique:?}"));
        }
    }
    let answers = ask(folder.path(), Examination::StateSpace, 1, limits);
    let (given, technique) = answers.values().next().expect("it is one question");
    if is_told(given, limits) {
        assert_eq!(given, &space.extent(), "{technique:?} {plan:?}");
        techniques.insert(format!("StateSpace {technique:?}"));
    }
    let n_places = plan.initial.len();
    let sums: Vec<Vec<usize>> =
        (0..4).map(|_| (0..rng.usize(1..4)).map(|_| rng.usize(0..n_places)).collect()).collect();
    let bound = |list: &Vec<usize>| format!("<place-bound>{}</place-bound>", places(list));
    write("UpperBounds.xml", file(sums.iter().map(bound)));
    let answers = ask(folder.path(), Examination::UpperBounds, 1, limits);
    for (number, list) in sums.iter().enumerate() {
        let value = |marking: &Vec<i64>| list.iter().map(|place| marking[*place]).sum::<i64>();
        let expected = space.markings.iter().map(value).max().map(ContestAnswer::Number);
        let (given, technique) = &answers[&format!("q-{number:02}")];
        if is_told(given, limits) {
            assert_eq!(Some(given), expected.as_ref(), "bound of {list:?} {technique:?} {plan:?}");
            techniques.insert(format!("bound {technique:?}"));
        }
    }
    let asked: Vec<(bool, Comparison, Comparison, bool)> = (0..6)
        .map(|_| {
            (rng.bool(), Comparison::random(rng, n_places), Comparison::random(rng, n_places), rng.bool())
        })
        .collect();
    let question = |(is_possible, a, b, is_and): &(bool, Comparison, Comparison, bool)| {
        let word = if *is_and { "conjunction" } else { "disjunction" };
        let both = format!("<{word}>{}<negation>{}</negation></{word}>", a.xml(), b.xml());
        match is_possible {
            true => format!("<exists-path><finally>{both}</finally></exists-path>"),
            false => format!("<all-paths><globally>{both}</globally></all-paths>"),
        }
    };
    write("ReachabilityCardinality.xml", file(asked.iter().map(question)));
    let answers = ask(folder.path(), Examination::ReachabilityCardinality, 1, limits);
    // How much several threads do before a limit stops them is not always the same.
    if limits.states.is_none() {
        let by_two = ask(folder.path(), Examination::ReachabilityCardinality, 2, limits);
        assert_eq!(answers, by_two, "{plan:?}");
    }
    for (number, (is_possible, a, b, is_and)) in asked.iter().enumerate() {
        let holds = |marking: &Vec<i64>| match is_and {
            true => a.holds(marking) && !b.holds(marking),
            false => a.holds(marking) || !b.holds(marking),
        };
        let expected = match is_possible {
            true => space.markings.iter().any(holds),
            false => space.markings.iter().all(holds),
        };
        let (given, technique) = &answers[&format!("q-{number:02}")];
        if is_told(given, limits) {
            assert_eq!(given, &ContestAnswer::Truth(expected), "{number} {technique:?} {plan:?}");
            techniques.insert(format!("reachability {technique:?}"));
        }
    }
}

/// Whether a question was answered, which it must be if nothing is limited.
fn is_told(given: &ContestAnswer, limits: &Limits) -> bool {
    let is_told = *given != ContestAnswer::Unknown;
    assert!(is_told || limits.states.is_some(), "nothing keeps it from being answered");
    is_told
}

#[test]
fn families_that_nobody_has_seen() {
    let mut rng = Rng::with_seed(18);
    let mut techniques = BTreeSet::new();
    let mut plans =
        vec![Plan::manufacture(2), Plan::manufacture(3), Plan::counter(5, true), Plan::counter(6, false)];
    plans.extend([Plan::tickets(3, 3), Plan::tickets(2, 5)]);
    plans.extend([Plan::workflow(2, false), Plan::workflow(3, true), Plan::ring(5, 2), Plan::ring(6, 6)]);
    plans.extend((2..5).flat_map(|n| [Plan::allocation(n, true), Plan::allocation(n, false)]));
    plans.iter().for_each(|plan| check(plan, &mut rng, &Limits::default(), &mut techniques));
    // Each way to an answer is tried here.
    for wanted in ["Walk", "Siphons", "Exhaustion", "Equation", "Invariants", "Explicit"] {
        assert!(techniques.iter().any(|its| its.contains(wanted)), "{wanted} is not among {techniques:?}");
    }
}

#[test]
fn random_nets() {
    let cases = std::env::var("STUBBORN_CASES").ok().and_then(|text| text.parse::<usize>().ok()).unwrap_or(1);
    let mut rng = Rng::with_seed(24);
    let mut techniques = BTreeSet::new();
    for _ in 0..250 * cases {
        let plan = Plan::random(&mut rng);
        check(&plan, &mut rng, &Limits::default(), &mut techniques);
    }
    assert!(techniques.len() > 12, "{techniques:?}");
}

#[test]
fn what_diagrams_say_where_states_may_not_be_listed() {
    let mut rng = Rng::with_seed(31);
    let mut techniques = BTreeSet::new();
    let limits = Limits { states: Some(8), ..Limits::default() };
    for _ in 0..120 {
        check(&Plan::random(&mut rng), &mut rng, &limits, &mut techniques);
    }
    for n in 2..5 {
        check(&Plan::allocation(n, true), &mut rng, &limits, &mut techniques);
        check(&Plan::allocation(n, false), &mut rng, &limits, &mut techniques);
    }
    // The others are answered before, if nets are so small.
    for wanted in ["StateSpace Diagram", "bound Diagram"] {
        assert!(techniques.contains(wanted), "{wanted} is not among {techniques:?}");
    }
}
