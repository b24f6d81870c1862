//! Which proctypes may come back to where they were, and to the same state, inside of one step.
//!
//! A process goes round inside of a step only if its graph has a cycle of edges after which somebody goes on at
//! once: those inside of atomic sequences, and handshakes, which pass the hold on. Most such cycles are loops that
//! count, and a state in which a variable is greater than before is not the same. So edges are left out that
//! change something which no other edge of the same loop changes back:
//!
//! - a variable that is only added to, or only subtracted from, and never leaves the bounds of its type, by what is known
//!   of its values or since no round goes without a test that it is small;
//! - the number of processes, since nobody ends inside of a step;
//! - the number of messages in all channels, if there is only sending or only receiving.
//!
//! Where a step may go on after a handshake, which takes a receiver inside of an atomic sequence, others act, too: only variables of the process itself count then, and
//! messages do not. A proctype in which cycles are left may go round. To say so without need costs time; what is
//! denied must be certain, but if by mistake it were not, the step would be a fault.

use automata::scc;
use base::{Budget, Limit};

use super::facts::own_step;
use super::ranges::Ranges;
use super::storage::parts;
use crate::eval;
use crate::flow::{Action, Edge, Flow};
use crate::program::{
    BinaryOp, Expr, ExprKind, Init, Place, ProctypeId, Program, RecvArg, Stmt, StmtKind, Type, VarId,
    Variable, Visibility,
};

/// Whether each proctype may go round.
pub(crate) fn go_round(program: &Program, flows: &[Flow<'_>], ranges: &Ranges) -> Result<Vec<bool>, Limit> {
    let locals = program.proctypes.iter().flat_map(|proctype| &proctype.locals);
    let mut all = locals.chain(&program.globals).flat_map(|variable| parts(program, variable));
    let mut edges = flows.iter().flat_map(|flow| &flow.locations).flat_map(|location| &location.edges);
    // Who receives goes on, if that is inside of an atomic sequence; who sends never does.
    let meets = all.any(|part| matches!(&part.declared.init, Init::Channel(shape) if shape.capacity == 0))
        && edges.any(|edge| edge.atomic && receives(edge));
    let ids = (0..flows.len()).map(ProctypeId::new);
    ids.map(|proctype| {
        let mut loops = Loops { program, ranges, proctype, meets, edges: Vec::new() };
        for (index, location) in flows[proctype.index()].locations.iter().enumerate() {
            let goes_on = |edge: &&Edge<'_>| edge.atomic || meets && sends(edge);
            let edges = location.edges.iter().filter(goes_on);
            loops.edges.extend(edges.map(|edge| (index, edge.target.index(), Effects::of(edge))));
        }
        loops.remain(flows[proctype.index()].locations.len())
    })
    .collect()
}

fn sends(edge: &Edge<'_>) -> bool {
    matches!(edge.action, Action::Stmt(Stmt { kind: StmtKind::Send { .. }, .. }))
}

fn receives(edge: &Edge<'_>) -> bool {
    match &edge.action {
        Action::Stmt(stmt) => matches!(stmt.kind, StmtKind::Receive { .. }),
        Action::DStep(flow) => flow.locations.iter().flat_map(|location| &location.edges).any(receives),
        Action::Else | Action::Jump | Action::End => false,
    }
}

/// What edges do that others may change back.
#[derive(Default)]
struct Effects {
    /// The variables that are written, and by how much they grow, if that is certain.
    writes: Vec<(VarId, Option<i32>)>,
    /// The variables that are tested, and how great they are then.
    limits: Vec<(VarId, Bound)>,
    sends: bool,
    receives: bool,
    starts: bool,
}

/// How great a variable is.
#[derive(Clone, Copy)]
enum Bound {
    Most(i64),
    Least(i64),
}

impl Effects {
    fn of(edge: &Edge<'_>) -> Effects {
        let mut effects = Effects::default();
        match &edge.action {
            Action::Stmt(stmt) => effects.add(stmt),
            Action::DStep(flow) => {
                for edge in flow.locations.iter().flat_map(|location| &location.edges) {
                    let Effects { writes, sends, receives, starts, .. } = Effects::of(edge);
                    // Nobody knows whether it happens.
                    effects.writes.extend(writes.iter().map(|&(var, _)| (var, None)));
                    effects.sends |= sends;
                    effects.receives |= receives;
                    effects.starts |= starts;
                }
            }
            Action::Else | Action::Jump | Action::End => {}
        }
        effects
    }

    fn add(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                self.starts = is_start(expr);
                limits(expr, &mut self.limits);
            }
            StmtKind::Assign(place, expr) => {
                self.starts = is_start(expr);
                self.writes.push((place.root, growth(place, expr)));
            }
            StmtKind::Declare(var) => self.writes.push((*var, None)),
            StmtKind::Send { .. } => self.sends = true,
            StmtKind::Receive { keep, args, .. } => {
                self.receives = !keep;
                for arg in args {
                    if let RecvArg::Store(place) = arg {
                        self.writes.push((place.root, None));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Adds what a condition says about how great variables are at most, and at least.
fn limits(expr: &Expr, out: &mut Vec<(VarId, Bound)>) {
    let ExprKind::Binary(op, operands) = &expr.kind else { return };
    let (x, y) = &**operands;
    let (small, great, less) = match op {
        BinaryOp::And => {
            limits(x, out);
            return limits(y, out);
        }
        BinaryOp::Lt => (x, y, 1),
        BinaryOp::Le => (x, y, 0),
        BinaryOp::Gt => (y, x, 1),
        BinaryOp::Ge => (y, x, 0),
        _ => return,
    };
    let root = |expr: &Expr| match &expr.kind {
        ExprKind::Load(place) if place.steps.is_empty() => Some(place.root),
        _ => None,
    };
    if let (Some(var), Some(most)) = (root(small), eval::constant(great)) {
        out.push((var, Bound::Most(i64::from(most) - less)));
    }
    if let (Some(var), Some(least)) = (root(great), eval::constant(small)) {
        out.push((var, Bound::Least(i64::from(least) + less)));
    }
}

fn is_start(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Run { .. })
}

/// By how much an assignment makes a variable greater.
fn growth(place: &Place, expr: &Expr) -> Option<i32> {
    let amount = eval::constant(own_step(place, expr)?)?;
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Sub, _) => amount.checked_neg(),
        _ => Some(amount),
    }
}

/// The edges of a proctype after which somebody goes on.
struct Loops<'a> {
    program: &'a Program,
    ranges: &'a Ranges,
    proctype: ProctypeId,
    /// Whether others may act in a step of the process: after a handshake, somebody goes on.
    meets: bool,
    /// From where, to where, and what they do.
    edges: Vec<(usize, usize, Effects)>,
}

impl Loops<'_> {
    /// Whether cycles are left without the edges that cannot be on any.
    fn remain(mut self, n_locations: usize) -> Result<bool, Limit> {
        loop {
            let mut next: Vec<Vec<usize>> = vec![Vec::new(); n_locations];
            self.edges.iter().for_each(|&(from, to, _)| next[from].push(to));
            let of = scc::components(&next, |_, &to| Some(to), &mut Budget::unlimited())?.of;
            self.edges.retain(|&(from, to, _)| of[from] == of[to]);
            let is_passed = |edge: &(usize, usize, Effects)| {
                let &(from, _, ref effects) = edge;
                let others =
                    || self.edges.iter().filter(|other| of[other.0] == of[from]).map(|other| &other.2);
                let counts_messages = !self.meets
                    && (effects.sends && !others().any(|other| other.receives)
                        || effects.receives && !others().any(|other| other.sends));
                effects.starts
                    || counts_messages
                    || effects.writes.iter().any(|&(var, growth)| {
                        let all =
                            || others().flat_map(|other| &other.writes).filter(move |write| write.0 == var);
                        let is_tested = self.is_tested(var, edge, &of);
                        let all = all().map(|write| write.1);
                        growth.is_some_and(|growth| self.keeps(var, growth, is_tested, all))
                    })
            };
            let passed: Vec<bool> = self.edges.iter().map(is_passed).collect();
            if !passed.contains(&true) {
                return Ok(!self.edges.is_empty());
            }
            let mut passed = passed.into_iter();
            self.edges.retain(|_| passed.next() == Some(false));
        }
    }

    /// Whether an edge that adds to a variable, or subtracts, is never taken twice without a test in between that the
    /// variable is so small, or so great, that it stays in the bounds of its type until the next test. All that change
    /// it do so in one direction.
    fn is_tested(&self, var: VarId, (from, to, _): &(usize, usize, Effects), of: &[usize]) -> bool {
        let loops = || self.edges.iter().filter(|other| of[other.0] == of[*from]);
        let writes = loops().flat_map(|other| &other.2.writes).filter(|write| write.0 == var);
        let growth: i64 = writes.map(|write| write.1.map_or(0, i64::from)).sum();
        let (least, most) = self.variable(var).ty.range();
        let is_enough = |bound: Bound| match bound {
            Bound::Most(limit) => growth > 0 && limit + growth <= i64::from(most),
            Bound::Least(limit) => growth < 0 && limit + growth >= i64::from(least),
        };
        let is_test = |&(tested, bound): &(VarId, Bound)| tested == var && is_enough(bound);
        let tests = |effects: &Effects| effects.limits.iter().any(is_test);
        let mut met = vec![*to];
        let mut next = 0;
        while let Some(&here) = met.get(next) {
            next += 1;
            let free = loops().filter(|other| other.0 == here && !tests(&other.2)).map(|other| other.1);
            for there in free.collect::<Vec<usize>>() {
                if !met.contains(&there) {
                    met.push(there);
                }
            }
        }
        !met.contains(from)
    }

    fn variable(&self, var: VarId) -> &Variable {
        match var {
            VarId::Global(global) => &self.program.globals[global.index()],
            VarId::Local(local) => &self.program.proctypes[self.proctype.index()].locals[local.index()],
        }
    }

    /// Whether a variable never comes back to a value that it had, where it grows by so much: nobody else
    /// changes it, all others who do make it change in the same direction, and it does not get so great (or so
    /// small) that it begins from the other end.
    fn keeps(
        &self,
        var: VarId,
        growth: i32,
        is_tested: bool,
        mut others: impl Iterator<Item = Option<i32>>,
    ) -> bool {
        /// An `int` that changes by no more than this at a time takes so many steps to come back that they are
        /// never taken at once.
        const SMALL: i32 = 16;
        let range = match var {
            VarId::Global(_) if self.meets => return false,
            VarId::Global(global) => self.ranges.global(global.index(), 0),
            VarId::Local(local) => self.ranges.local(self.proctype, local.index(), 0),
        };
        let variable = self.variable(var);
        let is_scalar = variable.length.is_none() && !matches!(variable.ty, Type::Struct(_));
        let (lo, hi) = variable.ty.range();
        let stays = is_tested || if growth > 0 { range.1 < i64::from(hi) } else { range.0 > i64::from(lo) };
        let is_like = |other: i32| {
            other.signum() == growth.signum() && (stays || variable.ty == Type::Int && other.abs() <= SMALL)
        };
        growth != 0
            && is_scalar
            && variable.visibility != Visibility::Hidden
            && others.all(|other| other.is_some_and(is_like))
    }
}

#[cfg(test)]
mod tests {
    use base::SourceMap;

    use super::*;
    use crate::{Options, cost, lower::flows, read};

    /// Whether the last proctype of a program, with this body, may go round.
    fn goes_round(globals: &str, body: &str) -> bool {
        let text =
            format!("byte x; int n; chan c = [2] of {{ byte }}; {globals} active proctype P() {{ {body} }}");
        let mut sources = SourceMap::new();
        let source = sources.add("m.pml", text.into_bytes()).expect("small");
        let no_files = &mut |_: &str| Err(String::new());
        let budget = &mut Budget::unlimited();
        let read = read(&mut sources, source, &Options::default(), no_files, budget);
        let (program, _) = read.unwrap_or_else(|_| panic!("{body}"));
        cost::paid(|cost| {
            let flows = flows(&program, cost)?;
            let goes_round = go_round(&program, &flows, &Ranges::new(&program, cost)?)?;
            Ok(goes_round.last() == Some(&true))
        })
        .unwrap_or_else(|_: language::Trouble| panic!("{body}"))
    }

    #[test]
    fn loops_that_count_do_not_go_round() {
        let meets = "chan m = [0] of { byte };";
        let other = "chan m = [0] of { byte }; active proctype Q() { atomic { m?1; skip } }";
        for (globals, body, expected) in [
            ("", "do :: x = 1 - x od", false),
            ("", "atomic { x = 1; x = 2 }", false),
            ("", "atomic { do :: x = 1 - x :: break od }", true),
            ("", "byte i; atomic { do :: i < 9 -> i++ :: else -> break od }", false),
            ("", "byte i; atomic { do :: i < 9 -> i++ :: i > 3 -> i = i - 2 :: else -> break od }", true),
            ("", "byte i; atomic { for (i : 0 .. 3) { x = 1 - x }; for (i : 0 .. 3) { skip } }", false),
            ("", "byte i; atomic { do :: i++ :: break od }", true),
            ("", "byte i; c?i; atomic { do :: i < 9 -> x = i; i++ :: i >= 9 -> break od }", false),
            ("", "byte i; c?i; atomic { do :: i < 255 -> i++ :: i == 255 -> break od }", false),
            ("", "byte i; c?i; atomic { do :: i > 0 -> i--; x = i :: i == 0 -> break od }", false),
            ("", "byte i; c?i; atomic { do :: i >= 0 -> i-- :: break od }", true),
            ("", "byte i; c?i; atomic { do :: i > 0 -> i--; i-- :: i == 0 -> break od }", true),
            ("", "byte i; c?i; atomic { do :: i <= 255 -> i++ :: break od }", true),
            ("", "byte i; c?i; atomic { do :: i < 255 -> i++; i++ :: i == 255 -> break od }", true),
            ("", "byte i; c?i; atomic { do :: i < 9 -> skip :: i++ :: i == 200 -> break od }", true),
            ("", "atomic { do :: n++ :: break od }", false),
            ("", "atomic { do :: n = n + 1000000 :: break od }", true),
            (
                "",
                "byte i; atomic { do :: i < 9 -> i++; if :: skip :: x = 1; do :: skip :: break od fi :: else od }",
                true,
            ),
            ("hidden int h;", "atomic { do :: h++ :: break od }", true),
            ("", "atomic { do :: c?x :: empty(c) -> break od }", false),
            ("", "atomic { do :: c?<x> :: empty(c) -> break od }", true),
            ("", "atomic { do :: c?x :: c!x :: break od }", true),
            ("proctype Q() { skip }", "atomic { do :: run Q() :: break od }", false),
            ("", "byte i; atomic { do :: d_step { i < 9; i++ } :: else -> break od }", true),
            // Nobody goes on after a handshake.
            (meets, "atomic { do :: n++ :: break od }", false),
            (meets, "do :: m!1 od", false),
            (meets, "do :: atomic { m?1 }; m!1 od", false),
            // Somebody else may change what is not its own.
            (other, "atomic { do :: n++ :: break od }", true),
            (other, "atomic { do :: c?x :: empty(c) -> break od }", true),
            (other, "do :: m!1 od", true),
            (meets, "byte i; atomic { do :: i < 9 -> i++ :: else -> break od }", false),
            // The hold is passed on and comes back.
            (meets, "do :: atomic { m?1; m!1 } od", true),
            ("", "do :: atomic { c?1; c!1 } od", false),
        ] {
            assert_eq!(goes_round(globals, body), expected, "{globals} {body}");
        }
    }
}
