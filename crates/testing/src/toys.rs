//! Small systems in which fairness and the order of actions matter: processes that share a little data, meet, watch what
//! others write, or write it once. Plain data that shrinks well; numbers are taken modulo what exists.

use base::Budget;
use check::fairness::Constraint;
use ltl::{Formula, Formulas, Prop};
use model::fairness::{Interference, Kind};
use model::{Action, ActionId, ActionSystem, BinaryOp, Builder, ExprId, Guard, Stmt, VarId, Variable};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::claims::{Case, Draw};

/// A condition on variables.
#[derive(Clone, Debug)]
pub enum Test {
    /// The variable has one of the values whose bits are set.
    In(usize, u8),
    /// Two variables are equal.
    Equal(usize, usize),
    /// Both.
    Both(usize, usize),
}

/// What an action does to a variable.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Sets it.
    Set(i64),
    /// Gives it the next value, and the first one after the last.
    Next,
    /// Gives it the value of another one, as far as it can have it.
    Copy(usize),
}

/// An action.
#[derive(Clone, Debug)]
pub struct Act {
    /// Process, from, to.
    pub moves: Vec<(usize, i64, i64)>,
    /// All must hold.
    pub guards: Vec<Test>,
    /// Besides.
    pub effects: Vec<(usize, Effect)>,
}

/// A constraint: of some kind, to a process or to some actions.
#[derive(Clone, Debug)]
pub enum Fair {
    /// To the actions of a process.
    Process(Kind, usize),
    /// To these actions.
    Actions(Kind, Vec<usize>),
}

/// A system with constraints. The first variables are the locations of processes.
#[derive(Clone, Debug)]
pub struct Toy {
    /// Number of values, and the first one.
    pub variables: Vec<(i64, i64)>,
    /// How many of them are locations.
    pub n_processes: usize,
    /// The actions.
    pub actions: Vec<Act>,
    /// What formulas are about.
    pub propositions: Vec<Test>,
    /// What runs are fair to.
    pub fair: Vec<Fair>,
}

/// An action that moves one process.
pub fn act(process: usize, from: i64, to: i64) -> Act {
    Act { moves: vec![(process, from, to)], guards: Vec::new(), effects: Vec::new() }
}

impl Act {
    /// The same, if a variable has a value.
    #[must_use]
    pub fn when(mut self, var: usize, value: i64) -> Act {
        self.guards.push(Test::In(var, 1 << value));
        self
    }

    /// The same, with an effect.
    #[must_use]
    pub fn and(mut self, var: usize, effect: Effect) -> Act {
        self.effects.push((var, effect));
        self
    }

    /// The same, together with another process.
    #[must_use]
    pub fn with(mut self, process: usize, from: i64, to: i64) -> Act {
        self.moves.push((process, from, to));
        self
    }
}

/// Constraints as searches get them: those of justness are put together where they can be.
///
/// # Panics
/// Never: there is no limit.
pub fn searched(system: &ActionSystem, fair_to: &[(Kind, Vec<ActionId>)]) -> Vec<Constraint> {
    let budget = &mut Budget::unlimited();
    let is_just = |its: &&(Kind, Vec<ActionId>)| its.0 == Kind::Just;
    let mut just: Vec<ActionId> = fair_to.iter().filter(is_just).flat_map(|its| &its.1).copied().collect();
    just.sort_unstable();
    just.dedup();
    let interference = Interference::new(system, budget).expect("no limit");
    let mut constraints = interference.constraints(just, budget).expect("no limit");
    let others = fair_to.iter().filter(|its| !is_just(its));
    constraints.extend(others.map(|(kind, its)| Constraint::new(*kind == Kind::Strong, its.clone())));
    constraints
}

impl Toy {
    fn var(&self, index: usize) -> VarId {
        VarId::new(index % self.variables.len())
    }

    fn n_values(&self, var: VarId) -> i64 {
        self.variables[var.index()].0
    }

    fn values(&self, var: VarId, bits: u8) -> Vec<i64> {
        (0..self.n_values(var)).filter(|value| bits >> value & 1 == 1).collect()
    }

    fn test(&self, builder: &mut Builder, test: &Test) -> ExprId {
        let exprs = &mut builder.exprs;
        match *test {
            Test::In(var, bits) => {
                let var = self.var(var);
                let mut any = exprs.int(0);
                for value in self.values(var, bits) {
                    let (now, value) = (exprs.var(var), exprs.int(value));
                    let is = exprs.binary(BinaryOp::Eq, now, value);
                    any = exprs.binary(BinaryOp::Or, any, is);
                }
                any
            }
            Test::Equal(a, b) => {
                let (a, b) = (exprs.var(self.var(a)), exprs.var(self.var(b)));
                exprs.binary(BinaryOp::Eq, a, b)
            }
            Test::Both(a, b) => {
                let (a, b) = (exprs.var(self.var(a)), exprs.var(self.var(b)));
                exprs.binary(BinaryOp::And, a, b)
            }
        }
    }

    fn effect(&self, builder: &mut Builder, var: VarId, effect: &Effect) -> Stmt {
        let n = self.n_values(var);
        match *effect {
            Effect::Set(value) => Stmt::Set(var, value.rem_euclid(n)),
            Effect::Next => Stmt::Map(var, (0..n).map(|value| Some((value + 1) % n)).collect()),
            Effect::Copy(from) => {
                let value = builder.exprs.var(self.var(from));
                let n = builder.exprs.int(n);
                Stmt::Assign(var, builder.exprs.binary(BinaryOp::Rem, value, n))
            }
        }
    }

    /// The system, and what formulas are about.
    ///
    /// # Panics
    /// Never: every toy is valid.
    pub fn build(&self) -> (ActionSystem, Vec<ExprId>) {
        let mut builder = Builder::new();
        let processes: Vec<_> = (0..self.n_processes).map(|p| builder.process(format!("P{p}"))).collect();
        for (index, (n, _)) in self.variables.iter().enumerate() {
            builder.variable(Variable::new(format!("v{index}"), 0, n - 1));
        }
        for (index, its) in self.actions.iter().enumerate() {
            let (mut guards, mut effect, mut owners) = (Vec::new(), Vec::new(), Vec::new());
            for &(process, from, to) in &its.moves {
                let process = process % self.n_processes;
                let var = VarId::new(process);
                let n = self.n_values(var);
                if owners.contains(&processes[process]) {
                    continue;
                }
                owners.push(processes[process]);
                guards.push(builder.guard(Guard::equals(var, from.rem_euclid(n))));
                // Who stays does not write where it is, as in process networks.
                if (to - from).rem_euclid(n) != 0 {
                    effect.push(Stmt::Set(var, to.rem_euclid(n)));
                }
            }
            for test in &its.guards {
                let guard = match *test {
                    Test::In(var, bits) => {
                        let var = self.var(var);
                        Guard::one_of(var, self.values(var, bits))
                    }
                    _ => Guard::True(self.test(&mut builder, test)),
                };
                guards.push(builder.guard(guard));
            }
            for (var, its) in &its.effects {
                let var = self.var(*var);
                if var.index() >= self.n_processes {
                    effect.push(self.effect(&mut builder, var, its));
                }
            }
            let label = builder.label(format!("a{index}"));
            builder.action(Action { label, guards, effect, owners });
        }
        let initial: Vec<i64> = self.variables.iter().map(|(n, first)| first.rem_euclid(*n)).collect();
        builder.initial(&initial);
        let propositions = self.propositions.iter().map(|test| self.test(&mut builder, test)).collect();
        (builder.finish().expect("a valid toy"), propositions)
    }

    /// What runs are fair to: kinds, and actions.
    fn fair_to(&self) -> Vec<(Kind, Vec<ActionId>)> {
        let of = |fair: &Fair| match fair {
            Fair::Process(kind, process) => {
                let is_its = |act: &Act| self.owners(act).contains(&(process % self.n_processes));
                let actions = self.actions.iter().enumerate().filter(|(_, act)| is_its(act));
                (*kind, actions.map(|(at, _)| ActionId::new(at)).collect())
            }
            Fair::Actions(kind, actions) => {
                let mut actions: Vec<ActionId> =
                    actions.iter().map(|action| ActionId::new(action % self.actions.len())).collect();
                actions.sort_unstable();
                actions.dedup();
                (*kind, actions)
            }
        };
        self.fair.iter().map(of).filter(|(_, actions)| !actions.is_empty()).collect()
    }

    /// The constraints of its system, as searches get them.
    pub fn constraints(&self, system: &ActionSystem) -> Vec<Constraint> {
        searched(system, &self.fair_to())
    }

    /// The same by the definitions, from what is written here: justness to each action by itself.
    pub fn defined_constraints(&self) -> Vec<Constraint> {
        let of = |(kind, actions): (Kind, Vec<ActionId>)| match kind {
            Kind::Just => actions
                .into_iter()
                .map(|action| Constraint {
                    strong: false,
                    actions: vec![action],
                    served_by: self.interfering(&self.actions[action.index()]),
                })
                .collect(),
            kind => vec![Constraint::new(kind == Kind::Strong, actions)],
        };
        self.fair_to().into_iter().flat_map(of).collect()
    }

    /// The processes that take part in an action.
    fn owners(&self, act: &Act) -> Vec<usize> {
        let mut owners: Vec<usize> = act.moves.iter().map(|its| its.0 % self.n_processes).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// The variables that an action writes.
    fn written(&self, act: &Act) -> Vec<usize> {
        let is_first = |&(at, its): &(usize, &(usize, i64, i64))| {
            act.moves[..at].iter().all(|other| other.0 % self.n_processes != its.0 % self.n_processes)
        };
        let moves = act.moves.iter().enumerate().filter(is_first).map(|(_, its)| its);
        let moves = moves.map(|&(process, from, to)| (process % self.n_processes, to - from));
        let moved = moves.filter(|&(process, by)| by.rem_euclid(self.variables[process].0) != 0);
        let data = act.effects.iter().map(|(var, _)| var % self.variables.len());
        moved.map(|(process, _)| process).chain(data.filter(|&var| var >= self.n_processes)).collect()
    }

    /// The actions that interfere with one.
    fn interfering(&self, with: &Act) -> Vec<ActionId> {
        let read_by = |test: &Test| match *test {
            Test::In(var, _) => vec![var],
            Test::Equal(a, b) | Test::Both(a, b) => vec![a, b],
        };
        let read = with.guards.iter().flat_map(read_by).map(|var| var % self.variables.len());
        let read: Vec<usize> = read.chain(self.owners(with)).collect();
        let belongs = |var: usize, process: usize| {
            let mut writers = self.actions.iter().filter(|act| self.written(act).contains(&var));
            writers.all(|act| self.owners(act).contains(&process))
        };
        let interferes = |act: &Act| {
            let (written, owners) = (self.written(act), self.owners(act));
            let mut affected = owners.clone();
            affected.retain(|&process| written.iter().any(|&var| belongs(var, process)));
            let affected = if affected.is_empty() { owners } else { affected };
            std::ptr::eq(act, with)
                || written.iter().any(|var| read.contains(var))
                || affected.iter().any(|process| self.owners(with).contains(process))
        };
        let all = self.actions.iter().enumerate();
        all.filter(|(_, act)| interferes(act)).map(|(at, _)| ActionId::new(at)).collect()
    }

    /// A formula about the propositions, which are called `p0`, `p1` and so on.
    pub fn case(&self, make: impl FnOnce(&mut Formulas, &[Prop]) -> Formula) -> Option<Case> {
        let (system, exprs) = self.build();
        let mut formulas = Formulas::new();
        let named = exprs.into_iter().enumerate();
        let propositions =
            named.map(|(index, expr)| (formulas.proposition(&format!("p{index}")), expr)).collect();
        Case::of_system(formulas, system, propositions, make)
    }

    /// A random formula; half of the time one of those that fairness is for.
    pub fn draw(&self, draw: Draw) -> Option<Case> {
        const USUAL: [&str; 12] = [
            "F p0",
            "G F p0",
            "F G p0",
            "G (p0 -> F p1)",
            "F (p0 & p1)",
            "F p0 & F p1",
            "G p0 | F p1",
            "G F p0 -> G F p1",
            "p0 U p1",
            "F (p0 & F p1)",
            "F G p0 | G F p1",
            "G !p0",
        ];
        self.case(|formulas, props| match USUAL.get(draw.seed as usize % (2 * USUAL.len())) {
            Some(text) => {
                ltl::parse(formulas, text, base::SourceId::new(0), 0).expect("a good formula").formula
            }
            None => draw.formula(formulas, props),
        })
    }
}

fn test() -> impl Strategy<Value = Test> {
    prop_oneof![
        6 => (0..8usize, 1..7u8).prop_map(|(var, bits)| Test::In(var, bits)),
        1 => (0..8usize, 0..8usize).prop_map(|(a, b)| Test::Equal(a, b)),
        1 => (0..8usize, 0..8usize).prop_map(|(a, b)| Test::Both(a, b)),
    ]
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        3 => (0..3i64).prop_map(Effect::Set),
        3 => Just(Effect::Next),
        1 => (0..8usize).prop_map(Effect::Copy),
    ]
}

/// A kind of fairness, or none, by number.
pub fn kind_of(number: u8) -> Option<Kind> {
    [None, Some(Kind::Weak), Some(Kind::Strong), Some(Kind::Just)][usize::from(number % 4)]
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![3 => Just(Kind::Weak), 3 => Just(Kind::Strong), 2 => Just(Kind::Just)]
}

/// Any toy: processes go round, or once, and do other things besides.
pub fn any_toy() -> impl Strategy<Value = Toy> {
    let other = || proptest::option::weighted(0.12, (1..4usize, 0..3i64, 0..3i64));
    let guards = || prop_oneof![3 => Just(Vec::new()), 1 => vec(test(), 1..3)];
    let effects = || prop_oneof![2 => Just(Vec::new()), 1 => vec((0..8usize, effect()), 1..3)];
    let action = move || ((0..3i64, 0..3i64), other(), guards(), effects());
    let process = (2..4i64, proptest::bool::weighted(0.7), vec(action(), 3), vec(action(), 0..3));
    // Weak to all, strong to all, to some in some way, to sets of actions, to both, just to all.
    let fair = (0..7u8, vec(0..4u8, 4), vec((kind(), vec(0..16usize, 1..4)), 1..4));
    let strategy = (vec(process, 2..5), vec((2..4i64, 0..3i64), 0..3), vec(test(), 2), fair);
    strategy.prop_map(|(processes, data, propositions, (mode, kinds, sets))| {
        let n = processes.len();
        let mut variables: Vec<(i64, i64)> = processes.iter().map(|its| (its.0, 0)).collect();
        variables.extend(data);
        let mut actions = Vec::new();
        for (process, (n_locations, returns, round, others)) in processes.into_iter().enumerate() {
            let round = round.into_iter().take((n_locations - i64::from(!returns)) as usize).enumerate();
            let round = round.map(|(at, action)| ((at as i64, at as i64 + 1), action.1, action.2, action.3));
            for ((from, to), other, guards, effects) in round.chain(others) {
                let other = other.map(|(further, from, to)| ((process + further) % n, from, to));
                let moves = std::iter::once((process, from, to)).chain(other).collect();
                actions.push(Act { moves, guards, effects });
            }
        }
        let processes = (0..n).filter_map(|process| match mode {
            0 | 1 => Some(Fair::Process([Kind::Weak, Kind::Strong][usize::from(mode)], process)),
            4 => None,
            6 => Some(Fair::Process(Kind::Just, process)),
            _ => kind_of(kinds[process]).map(|kind| Fair::Process(kind, process)),
        });
        let sets =
            sets.into_iter().filter(|_| matches!(mode, 4 | 5)).map(|(kind, its)| Fair::Actions(kind, its));
        let fair = processes.chain(sets).collect();
        Toy { variables, n_processes: n, actions, propositions, fair }
    })
}

/// Processes that go once or for ever, and constraints that several of them serve.
pub fn shared() -> impl Strategy<Value = Toy> {
    let effect = prop_oneof![2 => Just(Effect::Set(1)), 1 => Just(Effect::Set(0)), 1 => Just(Effect::Next)];
    let guard = proptest::option::weighted(0.5, (0..2usize, 1..4u8));
    let process = (0..3u8, guard, proptest::option::weighted(0.5, (0..2usize, effect)));
    let sets = vec((kind(), vec(0..8usize, 1..4)), 1..3);
    (vec(process, 2..5), vec(0..2i64, 2), any::<bool>(), sets, vec(0..4u8, 4), 0..3u8).prop_map(
        |(processes, data, copies, sets, kinds, style)| {
            let n = processes.len();
            let mut variables = vec![(2, 0); n + 1];
            variables.extend(data.into_iter().map(|first| (2, first)));
            let mut actions = Vec::new();
            for (process, (goes, guard, effect)) in processes.into_iter().enumerate() {
                let mut first = act(process, 0, i64::from(goes != 1));
                first.guards.extend(guard.map(|(var, bits)| Test::In(n + 1 + var, bits)));
                first.effects.extend(effect.map(|(var, effect)| (n + 1 + var, effect)));
                actions.push(first);
                if goes == 2 {
                    actions.push(act(process, 1, 0));
                }
            }
            if copies {
                // Never happens, but makes numbers of the data.
                actions.push(act(n, 1, 0).and(n + 1, Effect::Copy(n + 2)).and(n + 2, Effect::Copy(n + 1)));
            }
            let processes = (0..n).filter(|_| style > 0);
            let some = processes.filter_map(|at| Some(Fair::Process(kind_of(kinds[at % 4])?, at)));
            let sets = sets.into_iter().filter(|_| style < 2).map(|(kind, its)| Fair::Actions(kind, its));
            let fair = some.chain(sets).collect();
            let propositions = vec![Test::In(0, 2), Test::In(1, 2)];
            Toy { variables, n_processes: n + 1, actions, propositions, fair }
        },
    )
}

/// Workers that write between meetings, watchers that wait for what they write, and processes that write once.
pub fn meetings() -> impl Strategy<Value = Toy> {
    let write = || prop_oneof![1 => Just(Effect::Set(0)), 1 => Just(Effect::Set(1)), 3 => Just(Effect::Next)];
    let watch = || (0..4usize, 1..3u8);
    let watcher = (vec((watch(), proptest::option::of(watch())), 1..4), 0..3u8);
    let once = (write(), proptest::bool::weighted(0.3));
    (
        (vec(vec(vec(write(), 1..3), 2..4), 1..3), vec(watcher, 1..3), vec(once, 0..2)),
        (vec(0..2i64, 5), 0..4u8, vec(0..7u8, 8), vec(any::<u16>(), 24), any::<bool>()),
    )
        .prop_map(|((phases, watchers, once), (first, style, kinds, order, other))| {
            let k = phases[0].len();
            let n = k + watchers.len() + once.len();
            let mut variables = vec![(1, 0); n];
            let data = |index: usize| n + index;
            let mut actions: Vec<Act> = Vec::new();
            let mut at = vec![0; k];
            for (number, phase) in phases.iter().enumerate() {
                for worker in 0..k {
                    for write in &phase[worker % phase.len()] {
                        actions
                            .push(act(worker, at[worker], at[worker] + 1).and(data(worker), write.clone()));
                        at[worker] += 1;
                    }
                }
                let to = |at: i64| if number + 1 == phases.len() { 0 } else { at + 1 };
                let moves = (0..k).map(|worker| (worker, at[worker], to(at[worker])));
                let meet = Act { moves: moves.collect(), guards: Vec::new(), effects: Vec::new() };
                actions.push(meet);
                if number + 1 < phases.len() {
                    at.iter_mut().for_each(|at| *at += 1);
                }
            }
            (0..k).for_each(|worker| variables[worker].0 = at[worker] + 1);
            let n_data = k + once.len();
            for (index, (watches, kind)) in watchers.iter().enumerate() {
                let process = k + index;
                variables[process] = (3, if *kind == 1 { 2 } else { 0 });
                actions.push(act(process, 2, 0));
                for (one, other) in watches {
                    let mut see = act(process, 0, 1);
                    for (var, bits) in std::iter::once(one).chain(other) {
                        see.guards.push(Test::In(data(var % n_data), *bits));
                    }
                    actions.push(see);
                }
                if *kind == 2 {
                    actions.push(act(process, 1, 0));
                }
            }
            for (index, (write, again)) in once.iter().enumerate() {
                let process = k + watchers.len() + index;
                variables[process] = (2, 0);
                actions.push(act(process, 0, 1).and(data(k + index), write.clone()));
                if *again {
                    actions.push(act(process, 1, 0));
                }
            }
            variables.extend((0..n_data).map(|index| (2, first[index % first.len()])));
            let mut order: Vec<(u16, Act)> =
                actions.into_iter().enumerate().map(|(at, act)| (order[at % order.len()], act)).collect();
            order.sort_by_key(|(key, _)| *key);
            let actions: Vec<Act> = order.into_iter().map(|(_, act)| act).collect();
            let mut fair = Vec::new();
            for process in 0..n {
                // Watchers are always fair, justly now and then.
                let number = kinds[process % kinds.len()];
                let kind = kind_of(if number == 6 { 3 } else { number % 3 });
                let watched = kind.unwrap_or(Kind::Weak);
                let is_watcher = (k..k + watchers.len()).contains(&process);
                let own = |seen_only: bool| -> Vec<usize> {
                    let its = |act: &Act| act.moves[0].0 == process && !(seen_only && act.guards.is_empty());
                    (0..actions.len()).filter(|&at| its(&actions[at])).collect()
                };
                match style {
                    0 if is_watcher => {
                        fair.extend(own(false).into_iter().map(|at| Fair::Actions(watched, vec![at])));
                    }
                    1 if is_watcher => fair.push(Fair::Actions(watched, own(true))),
                    _ if is_watcher => fair.push(Fair::Process(watched, process)),
                    _ => fair.extend(kind.map(|kind| Fair::Process(kind, process))),
                }
            }
            let seen = if other { n - 1 } else { k + watchers.len() - 1 };
            let propositions = vec![Test::In(k, 2), Test::In(seen, 2)];
            Toy { variables, n_processes: n, actions, propositions, fair }
        })
}
