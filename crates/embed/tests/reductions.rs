//! Symmetry and footprints: the same answers with fewer states, and wrong declarations are found out.

use stubborn_embed::{
    Check, Fair, Footprint, Model, Reason, Verdict, assert_always, assert_reachable, assert_violated,
};

/// Clients that compete for a lock; in the order of their requests, or not.
struct Lock {
    clients: usize,
    /// One of them is privileged, so they are not equal.
    favors: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Client {
    Idle,
    Waits,
    Holds,
}

impl Model for Lock {
    type State = Vec<Client>;
    type Action = (usize, Client);

    fn initial(&self) -> Vec<Vec<Client>> {
        vec![vec![Client::Idle; self.clients]]
    }

    fn actions(&self, clients: &Vec<Client>, out: &mut Vec<(usize, Client)>) {
        let is_free = !clients.contains(&Client::Holds);
        for (i, client) in clients.iter().enumerate() {
            match client {
                Client::Idle => out.push((i, Client::Waits)),
                Client::Waits if is_free && !(self.favors && i > 0 && clients[0] == Client::Waits) => {
                    out.push((i, Client::Holds));
                }
                Client::Waits => {}
                Client::Holds => out.push((i, Client::Idle)),
            }
        }
    }

    fn step(&self, clients: &mut Vec<Client>, &(i, to): &(usize, Client)) {
        clients[i] = to;
    }

    fn processes(&self) -> Vec<String> {
        (0..self.clients).map(|i| format!("client {i}")).collect()
    }

    fn process(&self, action: &(usize, Client)) -> Option<usize> {
        Some(action.0)
    }
}

#[allow(clippy::ptr_arg)] // That is the type of states.
fn permute(clients: &Vec<Client>, permutation: &[usize]) -> Vec<Client> {
    let mut permuted = clients.clone();
    permutation.iter().enumerate().for_each(|(from, &to)| permuted[to] = clients[from]);
    permuted
}

fn lock(model: &Lock) -> Check<'_, Lock> {
    let holds = |clients: &Vec<Client>| clients.iter().filter(|client| **client == Client::Holds).count();
    Check::new(model)
        .prop("exclusive", move |clients| holds(clients) <= 1)
        .prop("all_wait", |clients| clients.iter().all(|client| *client == Client::Waits))
        .prop("held", move |clients| holds(clients) == 1)
}

#[test]
fn equal_actors_are_not_told_apart() {
    for clients in [2, 3, 4, 5] {
        let model = Lock { clients, favors: false };
        let (all, equal) = (lock(&model), lock(&model).symmetric(clients, permute));
        assert_eq!(equal.verify_symmetry(), Ok(()));
        let trusting = equal.clone().trusting_symmetry();
        assert_eq!(trusting.count().expect("small").states, equal.count().expect("small").states);
        let n = equal.count().expect("small").states;
        // As many as there are of each kind, but for one holder at most.
        assert_eq!(n as usize, (clients + 1) + clients);
        assert!(n < all.count().expect("small").states);
        assert_always!(equal, "exclusive");
        assert_eq!(assert_reachable!(equal, "all_wait").steps.len(), clients);
        for formula in ["[] <> held", "[] (all_wait -> <> held)", "<> [] !held", "[] exclusive", "X X held"] {
            let (one, other) = (all.ltl(formula), equal.ltl(formula));
            assert_eq!(one.holds(), other.holds(), "{formula}: {other}");
            assert_eq!(one.is_violated(), other.is_violated(), "{formula}: {other}");
        }
        let run = assert_violated!(equal, "<> [] !held");
        assert_eq!(equal.replay(&run.schedule()).expect("it is a run").last(), run.last());
    }
}

#[test]
fn actors_that_are_not_equal_are_found_out() {
    let model = Lock { clients: 3, favors: true };
    let equal = lock(&model).symmetric(3, permute);
    assert!(matches!(equal.verify_symmetry(), Err(Reason::Refused(_))));
    assert!(matches!(equal.always("exclusive"), Verdict::Unknown(Reason::Refused(_))));
    let model = Lock { clients: 3, favors: false };
    let tells = lock(&model).prop("first", |clients| clients[0] == Client::Holds).symmetric(3, permute);
    let Err(Reason::Refused(text)) = tells.verify_symmetry() else { panic!("it tells them apart") };
    assert!(text.contains("`first` tells"), "{text}");
    assert!(!tells.never("first").holds());
    let many = Lock { clients: 7, favors: false };
    let many = lock(&many).symmetric(7, permute);
    assert!(many.always("exclusive").is_unknown() && many.trusting_symmetry().always("exclusive").holds());
    let wrong = lock(&model).symmetric(3, |clients, _| vec![clients[0]; 3]);
    assert!(wrong.verify_symmetry().is_err() && wrong.always("exclusive").is_unknown());
    let fair = lock(&model).symmetric(3, permute).weakly_fair();
    assert!(matches!(fair.ltl("[] <> held"), Verdict::Unknown(Reason::Refused(_))));
    assert_always!(fair, "exclusive");
}

/// Processes with programs over shared variables, at random.
struct Programs {
    n_vars: usize,
    /// Per process, its steps: from where, what is tested, what is set, to where.
    steps: Vec<Vec<Step>>,
    /// A part that somebody forgot to declare.
    forgotten: Option<(usize, usize, bool)>,
    /// Whether the last of them is the environment.
    has_environment: bool,
}

impl Programs {
    /// Which steps are meant: nobody's are the environment's, if there is one.
    fn owner(&self, process: Option<usize>) -> Option<usize> {
        process.or_else(|| self.has_environment.then(|| self.steps.len() - 1))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Step {
    from: u8,
    test: Option<(usize, u8)>,
    set: Option<(usize, u8)>,
    to: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct State {
    at: Vec<u8>,
    vars: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    At(usize),
    Var(usize),
}

impl Model for Programs {
    type State = State;
    type Action = (usize, usize);

    fn initial(&self) -> Vec<State> {
        vec![State { at: vec![0; self.steps.len()], vars: vec![0; self.n_vars] }]
    }

    fn actions(&self, state: &State, out: &mut Vec<(usize, usize)>) {
        for (process, steps) in self.steps.iter().enumerate() {
            for (number, step) in steps.iter().enumerate() {
                let passes = step.test.is_none_or(|(var, value)| state.vars[var] == value);
                if step.from == state.at[process] && passes {
                    out.push((process, number));
                }
            }
        }
    }

    fn step(&self, state: &mut State, &(process, number): &(usize, usize)) {
        let step = &self.steps[process][number];
        state.at[process] = step.to;
        if let Some((var, value)) = step.set {
            state.vars[var] = value;
        }
    }

    fn processes(&self) -> Vec<String> {
        let n = self.steps.len() - usize::from(self.has_environment);
        (0..n).map(|process| format!("P{process}")).collect()
    }

    fn process(&self, action: &(usize, usize)) -> Option<usize> {
        Some(action.0).filter(|process| !self.has_environment || process + 1 < self.steps.len())
    }
}

impl Footprint for Programs {
    type Part = Part;

    fn touches(&self, &(process, number): &(usize, usize), reads: &mut Vec<Part>, writes: &mut Vec<Part>) {
        let step = &self.steps[process][number];
        reads.push(Part::At(process));
        writes.push(Part::At(process));
        let is_forgotten = |writes| self.forgotten == Some((process, number, writes));
        reads.extend(step.test.filter(|_| !is_forgotten(false)).map(|(var, _)| Part::Var(var)));
        writes.extend(step.set.filter(|_| !is_forgotten(true)).map(|(var, _)| Part::Var(var)));
    }

    fn reaches(&self, process: Option<usize>, reads: &mut Vec<Part>, writes: &mut Vec<Part>) {
        let Some(process) = self.owner(process) else { return };
        (0..self.steps[process].len()).for_each(|number| self.touches(&(process, number), reads, writes));
    }

    fn waits_for(&self, process: Option<usize>, state: &State, out: &mut Vec<Part>) {
        let Some(process) = self.owner(process) else { return };
        for (number, step) in self.steps[process].iter().enumerate() {
            if step.from == state.at[process] && self.forgotten != Some((process, number, false)) {
                out.extend(step.test.map(|(var, _)| Part::Var(var)));
            }
        }
    }
}

fn random_programs(random: &mut fastrand::Rng) -> Programs {
    let n_vars = random.usize(1..4);
    let n_processes = random.usize(2..5);
    let step = |random: &mut fastrand::Rng| {
        let on_var =
            |random: &mut fastrand::Rng| random.bool().then(|| (random.usize(0..n_vars), random.u8(0..2)));
        let (from, test, set, to) = (random.u8(0..3), on_var(random), on_var(random), random.u8(0..3));
        Step { from, test, set, to }
    };
    let steps = (0..n_processes).map(|_| (0..random.usize(1..5)).map(|_| step(random)).collect()).collect();
    Programs { n_vars, steps, forgotten: None, has_environment: random.bool() }
}

fn programs(model: &Programs) -> Check<'_, Programs> {
    Check::new(model)
        .prop("not_set", |state| state.vars[0] == 0)
        .prop("far", |state| state.at[0] == 2)
        .prop("both", |state| state.at[0] == 2 && state.at[1] == 1)
}

fn reduced(model: &Programs) -> Check<'_, Programs> {
    programs(model).reduced(&[
        ("not_set", &[Part::Var(0)]),
        ("far", &[Part::At(0)]),
        ("both", &[Part::At(0), Part::At(1)]),
    ])
}

/// The answers to all questions about states, and to some about runs.
fn answers(check: &Check<'_, Programs>) -> [bool; 8] {
    let holds = |verdict: Verdict<Programs>| {
        assert!(!verdict.is_unknown(), "{verdict}");
        verdict.holds()
    };
    [
        holds(check.deadlock_free()),
        holds(check.always("not_set")),
        holds(check.never("far")),
        holds(check.never("both")),
        holds(check.always("far")),
        holds(check.ltl(FORMULAS[0])),
        holds(check.ltl(FORMULAS[2])),
        holds(check.ltl(FORMULAS[7])),
    ]
}

fn cases() -> usize {
    let times = std::env::var("STUBBORN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    600 * times
}

#[test]
fn footprints_leave_out_what_does_not_matter() {
    let mut random = fastrand::Rng::with_seed(12);
    let mut n_smaller = 0;
    for _ in 0..cases() {
        let model = random_programs(&mut random);
        assert_eq!(reduced(&model).verify_footprint(), Ok(()), "{:?}", model.steps);
        assert_eq!(answers(&reduced(&model)), answers(&programs(&model)), "{:?}", model.steps);
        let states = |check: Check<'_, Programs>| check.never("both").proof().map(|proof| proof.states);
        if let (Some(few), Some(all)) = (states(reduced(&model)), states(programs(&model))) {
            assert!(few <= all);
            n_smaller += usize::from(few < all);
        }
    }
    assert!(n_smaller > cases() / 20, "{n_smaller}");
}

/// Formulas that do not see stuttering, one that does, and some that are about what the environment need not do.
const FORMULAS: [&str; 9] = [
    "<> far",
    "[] <> far",
    "<> [] not_set",
    "[] (far -> <> !far)",
    "!not_set R !both",
    "[] (both -> <> !not_set)",
    "<> (far && <> !not_set)",
    "<> !not_set || <> far",
    "[] (far -> X !far)",
];

#[test]
fn formulas_are_decided_by_fewer_states() {
    let mut random = fastrand::Rng::with_seed(14);
    let (mut n_smaller, mut n_found) = (0, [0; 2]);
    for case in 0..cases() {
        let model = random_programs(&mut random);
        for formula in [FORMULAS[case % FORMULAS.len()], FORMULAS[random.usize(0..FORMULAS.len())]] {
            let (all, few) = (programs(&model).ltl(formula), reduced(&model).ltl(formula));
            let told = |verdict: &Verdict<Programs>| (verdict.holds(), verdict.is_violated());
            assert!(!all.is_unknown(), "{all}");
            assert_eq!(
                told(&few),
                told(&all),
                "{formula}, {:?}, {few}",
                (&model.steps, model.has_environment)
            );
            let many = reduced(&model).together(3).ltl(formula);
            assert_eq!(
                told(&many),
                told(&all),
                "{formula}, {:?}, {many}",
                (&model.steps, model.has_environment)
            );
            n_found[usize::from(few.is_violated())] += 1;
            if let (Some(few), Some(all)) = (few.proof(), all.proof()) {
                n_smaller += usize::from(few.states < all.states);
            }
        }
    }
    assert!(n_smaller > cases() / 20, "{n_smaller}");
    assert!(n_found.iter().all(|n| *n > cases() / 10), "{n_found:?}");
}

/// The same questions about fair runs: to all, or to one of the processes.
fn fairly<'m>(check: Check<'m, Programs>, kind: usize, process: usize) -> Check<'m, Programs> {
    match kind {
        0 => check.weakly_fair(),
        1 => check.strongly_fair(),
        2 => check.fair_to(Fair::Weak, &format!("P{process}")),
        3 => check.fair_to(Fair::Strong, &format!("P{process}")),
        4 => check.just(),
        _ => check.just_to(&format!("P{process}")),
    }
}

/// Those in which more depends on who goes on: everybody goes on and on, and most steps test or set something.
fn lively_programs(random: &mut fastrand::Rng) -> Programs {
    let n_vars = random.usize(1..4);
    let step = |random: &mut fastrand::Rng, from: u8| {
        let on_var = |random: &mut fastrand::Rng| {
            (random.u8(0..4) > 0).then(|| (random.usize(0..n_vars), random.u8(0..2)))
        };
        Step { from, test: on_var(random), set: on_var(random), to: random.u8(0..3) }
    };
    let process = |random: &mut fastrand::Rng| {
        let others = random.usize(0..3);
        let mut from: Vec<u8> = (0..others).map(|_| random.u8(0..3)).collect();
        from.extend(0..random.u8(1..4));
        from.into_iter().map(|from| step(random, from)).collect()
    };
    let steps = (0..random.usize(2..5)).map(|_| process(random)).collect();
    Programs { n_vars, steps, forgotten: None, has_environment: random.u8(0..4) == 0 }
}

#[test]
fn fair_runs_are_kept() {
    let mut random = fastrand::Rng::with_seed(15);
    // Per kind of fairness: how often less was explored, and how often fairness mattered.
    let mut n = [[0; 2]; 6];
    for case in 0..2 * cases() {
        let model = if case % 4 == 0 { random_programs(&mut random) } else { lively_programs(&mut random) };
        let (kind, formula) = (case % 6, FORMULAS[random.usize(0..FORMULAS.len() - 1)]);
        let process = random.usize(0..model.steps.len() - usize::from(model.has_environment));
        let all = fairly(programs(&model), kind, process).ltl(formula);
        let few = fairly(reduced(&model), kind, process);
        assert_eq!(few.verify_footprint(), Ok(()));
        assert!(!all.is_unknown(), "{all}");
        for few in [few.ltl(formula), few.clone().together(2).ltl(formula)] {
            let what = (formula, kind, process, &model.steps, model.has_environment);
            assert_eq!((few.holds(), few.is_violated()), (all.holds(), all.is_violated()), "{what:?}, {few}");
            if let (Some(few), Some(all)) = (few.proof(), all.proof()) {
                assert!(few.unreduced.is_none(), "{few}");
                n[kind][0] += usize::from(few.states < all.states);
            }
        }
        n[kind][1] += usize::from(all.holds() && programs(&model).ltl(formula).is_violated());
    }
    let n_smaller: usize = n.iter().map(|[smaller, _]| smaller).sum();
    assert!(n_smaller > cases() / 15 && n.iter().all(|[_, mattered]| *mattered > 0), "{n:?}");
}

/// Runs are fair to process 0 alone, which can go on once process 1 has gone on: that need not happen. It must not be taken
/// first, though process 0 has to go on then, and nobody sees it (KEY).
#[test]
fn somebody_favored_is_in_the_set() {
    let step = |test, set, to| vec![Step { from: 0, test, set, to }];
    let steps = vec![step(Some((0, 1)), None, 2), step(None, Some((0, 1)), 1), step(None, None, 0)];
    let model = Programs { n_vars: 1, steps, forgotten: None, has_environment: false };
    assert_violated!(reduced(&model).fair_to(Fair::Weak, "P0"), "<> far");
    assert!(reduced(&model).weakly_fair().ltl("<> far").holds());
}

/// One goes through two gates at once, which others open and close.
struct Gates;

impl Model for Gates {
    type State = [bool; 3];
    type Action = usize;

    fn initial(&self) -> Vec<[bool; 3]> {
        vec![[false; 3]]
    }

    fn actions(&self, &[_, one, other]: &[bool; 3], out: &mut Vec<usize>) {
        out.extend((one && other).then_some(0).into_iter().chain([1, 2]));
    }

    fn step(&self, state: &mut [bool; 3], &who: &usize) {
        state[who] = !state[who];
    }

    fn processes(&self) -> Vec<String> {
        vec!["walker".into(), "one".into(), "other".into()]
    }

    fn process(&self, who: &usize) -> Option<usize> {
        Some(*who)
    }
}

impl Footprint for Gates {
    type Part = usize;

    fn touches(&self, &who: &usize, reads: &mut Vec<usize>, writes: &mut Vec<usize>) {
        writes.push(who);
        reads.extend(if who == 0 { vec![0, 1, 2] } else { vec![who] });
    }

    fn reaches(&self, process: Option<usize>, reads: &mut Vec<usize>, writes: &mut Vec<usize>) {
        process.iter().for_each(|who| self.touches(who, reads, writes));
    }

    fn waits_for(&self, process: Option<usize>, state: &[bool; 3], out: &mut Vec<usize>) {
        // It is enough that the first gate is closed.
        if process == Some(0) {
            out.extend(if state[1] { 1..3 } else { 1..2 });
        }
    }
}

/// The gates need never be open at the same time. If the first one were always opened at once, they would be (FLIP).
#[test]
fn who_enables_does_not_overtake_who_disables() {
    let check = Check::new(&Gates).prop("through", |state| state[0]);
    let few = check.clone().reduced(&[("through", &[0])]).strongly_fair();
    assert_eq!(few.verify_footprint(), Ok(()));
    assert_violated!(check.strongly_fair(), "<> through");
    assert_violated!(few, "<> through");
}

/// Process 0 becomes far once the environment has set something, process 1 just moves. The environment need not do it, but
/// if its step were taken before all others, process 0 would have to go on.
#[test]
fn the_environment_does_not_act_alone() {
    let step = |test, set, to| vec![Step { from: 0, test, set, to }];
    let steps = vec![step(Some((0, 1)), None, 2), step(None, None, 1), step(None, Some((0, 1)), 1)];
    let mut model = Programs { n_vars: 1, steps, forgotten: None, has_environment: true };
    let run = assert_violated!(reduced(&model), "<> (far || both)");
    assert_eq!(run.actions().next(), Some(&(1, 0)), "{run}");
    model.has_environment = false;
    assert!(reduced(&model).ltl("<> (far || both)").holds(), "who is no environment goes on");
}

#[test]
fn wrong_footprints_are_found() {
    let mut random = fastrand::Rng::with_seed(18);
    let (mut n_found, mut n_wrong, mut n_tried) = (0, 0, 0);
    // Few of them make an answer wrong.
    for _ in 0..2 * cases() {
        let mut model = random_programs(&mut random);
        let process = random.usize(0..model.steps.len());
        let number = random.usize(0..model.steps[process].len());
        let writes = random.bool();
        let step = &model.steps[process][number];
        if if writes { step.set.is_none() } else { step.test.is_none() } {
            continue;
        }
        let right = answers(&programs(&model));
        model.forgotten = Some((process, number, writes));
        let is_found = reduced(&model).verify_footprint().is_err();
        let is_wrong = answers(&reduced(&model)) != right;
        assert!(is_found || !is_wrong, "not found: {:?}, {:?}", model.forgotten, model.steps);
        n_tried += 1;
        n_found += usize::from(is_found);
        n_wrong += usize::from(is_wrong);
    }
    assert!(n_found > n_tried / 20 && n_wrong > 0, "{n_found} found, {n_wrong} wrong, of {n_tried}");
}
