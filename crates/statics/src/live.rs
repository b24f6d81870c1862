//! Variables that do not matter for a while, or never.
//!
//! A variable is *live* in a state if a guard, an assertion, an expression in question or something that may go
//! wrong can read its value before it is written. What is asked here is less: another variable, its *control*, is
//! tested by everybody who uses the variable, and the question is for which values of the control it may be
//! live. The control of a local variable is, in practice, the location of its process.
//!
//! # The rules
//! - `dead-variables`: a step after which a variable is not live sets it to its initial value;
//! - `unread-variables`: a statement is left out if what it writes is not live afterwards, and it cannot go wrong. What
//!   only such statements read is not live either: a counter that nobody looks at. Where something must still write a
//!   variable that is never live, since it may go wrong, all do: or what others have taken away would stay, in more states.
//!
//! # Why they are right
//! Let `s` be a state of the original system and `t` one of the new one, and let them be similar if they agree on
//! every variable that may be live in `s` (where its control is in `s`). Then they enable the same actions and make
//! the same expressions in question true, since all that these read is live. Let an action lead from `s` to `s'`, and
//! as it is now from `t` to `t'`. If it goes wrong in one, it does so in the other: what may go wrong is not left
//! out, and what it reads is live. And `s'` and `t'` are similar: if `x` is live in `s'`, the action does not reset it,
//! for it knows of all values that the control may have in `s'`; if it writes `x`, then from what is live in `s`; if
//! it may leave it alone, `x` is live in `s`. So similarity is a bisimulation. Nothing depends on the resets being
//! complete: where it is not known whether a variable is live after a step, it keeps its value.
//!
//! A cycle of the new system need not be one of the original at once: variables that are not live may differ. Once
//! round, all that is written on the cycle has the values that it has after every further round, unless it
//! is computed from what is not live (`unread-variables`): then it may take longer, as with a counter.
//!
//! # The equations
//! `x` is live before an action with the control at `l` if a guard of the action reads it, or its effect reads it for
//! something that is live after, or the action does not surely write it and it is live afterwards, where the control
//! is then. The least solution is found by going through all actions until nothing changes. Other guards are not
//! looked at: actions count as enabled wherever the control allows them.

use std::collections::BTreeMap;

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{Action, Expr, ExprId, Guard, Stmt, VarId};

use crate::Rule;
use crate::bounds::Bounds;
use crate::draft::{Draft, Uses};

/// Which rules are applied.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) dead: bool,
    pub(crate) unread: bool,
    pub(crate) constant: bool,
}

/// Applies the rules.
pub(crate) fn apply(draft: &mut Draft<'_>, rules: Rules, budget: &mut Budget<'_>) -> Result<(), Limit> {
    if rules.dead || rules.unread {
        let uses = Uses::new(draft, budget)?;
        let mut liveness = Liveness::new(draft, &uses, rules.unread);
        let mut changes = liveness.changes(rules.dead, budget)?;
        while liveness.keep_halves(&changes) {
            changes = liveness.changes(rules.dead, budget)?;
        }
        if rules.dead {
            liveness.rewrite_initial(&mut changes);
        }
        let Changes { effects, initial, n_resets, n_left_out, .. } = changes;
        effects.into_iter().for_each(|(action, effect)| draft.parts.actions[action].effect = effect);
        for (state, var, value) in initial {
            draft.parts.initial[state][var.index()] = value;
        }
        draft.note(Rule::DeadVariables, n_resets);
        draft.note(Rule::UnreadVariables, n_left_out);
    }
    if rules.constant {
        let n_constants = fold_constants(draft);
        draft.note(Rule::ConstantVariables, n_constants);
    }
    Ok(())
}

/// Takes the room from variables that nobody changes.
fn fold_constants(draft: &mut Draft<'_>) -> usize {
    let parts = &mut draft.parts;
    let (mut reads, mut written) = (Vec::new(), Vec::new());
    for action in &parts.actions {
        model::relations::uses(draft.exprs, &action.effect, &mut reads, &mut written);
    }
    let mut is_written = FixedBitSet::with_capacity(parts.variables.len());
    is_written.extend(written.into_iter().map(VarId::index));
    let mut n_constants = 0;
    for (index, variable) in parts.variables.iter_mut().enumerate() {
        let value = parts.initial[0][index];
        let is_constant = !is_written.contains(index)
            && variable.range.is_certain()
            && parts.initial.iter().all(|state| state[index] == value);
        if is_constant && variable.lo < variable.hi {
            (variable.lo, variable.hi, variable.value_names) = (value, value, None);
            n_constants += 1;
        }
    }
    n_constants
}

/// What is to be changed.
#[derive(Default)]
struct Changes {
    effects: Vec<(usize, Vec<Stmt>)>,
    /// In which initial state, which variable, to what.
    initial: Vec<(usize, VarId, i64)>,
    /// What actions still write, and what some no longer do.
    written: FixedBitSet,
    unwritten: FixedBitSet,
    n_resets: usize,
    n_left_out: usize,
}

/// The variables of an action that are live at some point of its effect; and whether something from there on reads
/// them, whatever comes after the action.
type Needs = BTreeMap<VarId, bool>;

struct Liveness<'d, 's> {
    draft: &'d Draft<'s>,
    uses: &'d Uses,
    bounds: Bounds,
    /// Whether only reads that matter count.
    strong: bool,
    /// Per variable: its control, if it has one.
    control: Vec<Option<VarId>>,
    /// Per control: whose it is.
    controlled: Vec<Vec<VarId>>,
    /// Per variable: with which values of its control it may be live, counted from the least; without a control, one
    /// bit says whether it ever is.
    live: Vec<FixedBitSet>,
    /// What writes these is not left out.
    kept: FixedBitSet,
    /// Per action and statement of its effect: whether its guards keep it from going wrong.
    guarded: Vec<Vec<bool>>,
}

impl<'d, 's> Liveness<'d, 's> {
    fn new(draft: &'d Draft<'s>, uses: &'d Uses, strong: bool) -> Liveness<'d, 's> {
        let n_variables = draft.parts.variables.len();
        let mut controlled = vec![Vec::new(); n_variables];
        let (mut control, mut live) = (Vec::with_capacity(n_variables), Vec::with_capacity(n_variables));
        for var in (0..n_variables).map(VarId::new) {
            let has_none = draft.fixed.contains(var.index()) || draft.queued.contains(var.index());
            let its = if has_none { None } else { find_control(uses, var) };
            let mut values = FixedBitSet::with_capacity(1);
            if let Some(its) = its {
                controlled[its.index()].push(var);
                let (lo, hi) = draft.range(its);
                values.grow((hi - lo + 1) as usize);
            }
            if draft.fixed.contains(var.index()) {
                values.insert_range(..);
            }
            control.push(its);
            live.push(values);
        }
        let bounds = Bounds::new(draft);
        let guarded = match strong {
            true => draft.parts.actions.iter().map(|action| guarded(draft, &bounds, action)).collect(),
            false => vec![Vec::new(); draft.parts.actions.len()],
        };
        let kept = FixedBitSet::with_capacity(n_variables);
        Liveness { draft, uses, bounds, strong, control, controlled, live, kept, guarded }
    }

    /// What is to be changed.
    fn changes(&mut self, resets: bool, budget: &mut Budget<'_>) -> Result<Changes, Limit> {
        self.solve(budget)?;
        let n_variables = self.draft.parts.variables.len();
        let none = || FixedBitSet::with_capacity(n_variables);
        let mut changes = Changes { written: none(), unwritten: none(), ..Changes::default() };
        for action in 0..self.draft.parts.actions.len() {
            budget.tick()?;
            self.rewrite(action, resets, &mut changes);
        }
        Ok(changes)
    }

    /// Keeps all that writes what is never live, where only some of it would be left out; whether there is such.
    fn keep_halves(&mut self, changes: &Changes) -> bool {
        let is_half = |&var: &usize| {
            self.control[var].is_none() && !self.live[var].contains(0) && !self.kept.contains(var)
        };
        let halves: Vec<usize> = changes.written.intersection(&changes.unwritten).filter(is_half).collect();
        self.kept.extend(halves.iter().copied());
        !halves.is_empty()
    }

    /// Whether a variable may be live with this value of its control.
    fn is_live_at(&self, var: VarId, value: i64) -> bool {
        let at = match self.control[var.index()] {
            Some(control) => (value - self.draft.range(control).0) as usize,
            None => 0,
        };
        self.live[var.index()].contains(at)
    }

    /// The values of the control of a variable with which an action may begin, each with the one after it. Without a
    /// control, there is one value.
    fn ways(&self, action: usize, var: VarId) -> impl Iterator<Item = (i64, i64)> + use<'d, 's> {
        let control = self.control[var.index()];
        let only = control.is_none().then_some((0, 0));
        let (uses, draft) = (self.uses, self.draft);
        control.into_iter().flat_map(move |control| uses.ways(draft, action, control)).chain(only)
    }

    fn is_live_after(&self, var: VarId, action: usize) -> bool {
        self.ways(action, var).any(|(_, after)| self.is_live_at(var, after))
    }

    /// The least solution.
    fn solve(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let mut is_solved = false;
        while !is_solved {
            is_solved = true;
            for action in (0..self.draft.parts.actions.len()).rev() {
                budget.tick()?;
                is_solved &= !self.go_through(action);
            }
        }
        Ok(())
    }

    /// Lets what is live after an action be live before it; whether that was new.
    fn go_through(&mut self, action: usize) -> bool {
        let uses = self.uses;
        let mut needs = self.needed_after(action);
        self.back(&self.draft.parts.actions[action].effect, &self.guarded[action], &mut needs, None);
        needs.extend(uses.guard_reads[action].iter().map(|&var| (var, true)));
        let mut is_new = false;
        for (&var, &is_read) in &needs {
            for (before, after) in self.ways(action, var) {
                if is_read || self.is_live_at(var, after) {
                    is_new |= self.set_live(var, before);
                }
            }
        }
        for &(control, _) in &uses.turns[action] {
            let controlled = std::mem::take(&mut self.controlled[control.index()]);
            if !controlled.is_empty() {
                let ways: Vec<(i64, i64)> = uses.ways(self.draft, action, control).collect();
                for &var in controlled.iter().filter(|&&var| !uses.is_used(action, var)) {
                    for &(before, after) in &ways {
                        if self.is_live_at(var, after) {
                            is_new |= self.set_live(var, before);
                        }
                    }
                }
            }
            self.controlled[control.index()] = controlled;
        }
        is_new
    }

    fn set_live(&mut self, var: VarId, value: i64) -> bool {
        let at = match self.control[var.index()] {
            Some(control) => (value - self.draft.range(control).0) as usize,
            None => 0,
        };
        !self.live[var.index()].put(at)
    }

    /// The variables that an effect mentions and that are live after the action.
    fn needed_after(&self, action: usize) -> Needs {
        let mentioned = self.uses.effect_reads[action].iter().chain(&self.uses.writes[action]);
        mentioned.filter(|&&var| self.is_live_after(var, action)).map(|&var| (var, false)).collect()
    }

    /// Goes through statements from the last to the first: from what is needed after them to what is needed before.
    /// What is kept of them is added, the last first. Some are `guarded`: they do not go wrong.
    fn back(&self, block: &[Stmt], guarded: &[bool], needs: &mut Needs, mut kept: Option<&mut Vec<Stmt>>) {
        for (at, stmt) in block.iter().enumerate().rev() {
            if self.is_left_out(stmt, guarded.get(at) == Some(&true), needs) {
                continue;
            }
            let mut keep = |stmt: Stmt| {
                if let Some(kept) = &mut kept {
                    kept.push(stmt);
                }
            };
            match stmt {
                Stmt::Assign(var, value) => {
                    needs.remove(var);
                    self.read(*value, needs);
                    keep(stmt.clone());
                }
                Stmt::Set(var, _) => {
                    needs.remove(var);
                    keep(stmt.clone());
                }
                Stmt::Map(var, _) | Stmt::Add(var, _) => {
                    needs.insert(*var, true);
                    keep(stmt.clone());
                }
                Stmt::If(condition, yes, no) => {
                    let (mut with_yes, mut with_no) = (Vec::new(), Vec::new());
                    let mut other = needs.clone();
                    self.back(yes, &[], needs, Some(&mut with_yes));
                    self.back(no, &[], &mut other, Some(&mut with_no));
                    for (var, is_read) in other {
                        *needs.entry(var).or_insert(is_read) |= is_read;
                    }
                    self.read(*condition, needs);
                    with_yes.reverse();
                    with_no.reverse();
                    keep(Stmt::If(*condition, with_yes, with_no));
                }
                // Rounds are not looked into.
                Stmt::While(..) | Stmt::AssignElement { .. } | Stmt::Assert(..) => {
                    let (mut reads, mut writes) = (Vec::new(), Vec::new());
                    let block = std::slice::from_ref(stmt);
                    model::relations::uses(self.draft.exprs, block, &mut reads, &mut writes);
                    needs.extend(reads.into_iter().map(|var| (var, true)));
                    keep(stmt.clone());
                }
            }
        }
    }

    fn read(&self, expr: ExprId, needs: &mut Needs) {
        let mut reads = Vec::new();
        self.draft.exprs.reads(expr, &mut reads);
        needs.extend(reads.into_iter().map(|var| (var, true)));
    }

    /// Whether nothing that a statement does matters.
    fn is_left_out(&self, stmt: &Stmt, is_guarded: bool, needs: &Needs) -> bool {
        if !self.strong || !is_guarded && !self.bounds.is_harmless(stmt) {
            return false;
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        model::relations::uses(self.draft.exprs, std::slice::from_ref(stmt), &mut reads, &mut writes);
        writes.iter().all(|var| !needs.contains_key(var) && !self.kept.contains(var.index()))
    }

    /// The effect of an action without what does not matter, and with resets.
    fn rewrite(&self, action: usize, resets: bool, changes: &mut Changes) {
        let uses = self.uses;
        let effect = &self.draft.parts.actions[action].effect;
        let mut kept = Vec::new();
        self.back(effect, &self.guarded[action], &mut self.needed_after(action), Some(&mut kept));
        kept.reverse();
        let (n_kept, n_left_out) = (kept.len(), count(effect) - count(&kept));
        let mut candidates: Vec<VarId> = uses.writes[action].clone();
        for (control, _) in &uses.turns[action] {
            candidates.extend(&self.controlled[control.index()]);
        }
        candidates.sort_unstable();
        candidates.dedup();
        let (mut reads, mut written) = (Vec::new(), Vec::new());
        model::relations::uses(self.draft.exprs, &kept, &mut reads, &mut written);
        for var in candidates.into_iter().filter(|_| resets) {
            let is_dead = self.control[var.index()].is_some() && !self.is_live_after(var, action);
            let is_other = || {
                written.contains(&var)
                    || self.ways(action, var).any(|(before, _)| self.is_live_at(var, before))
            };
            let reset = Stmt::Set(var, self.draft.parts.initial[0][var.index()]);
            if is_dead && is_other() && !kept.contains(&reset) {
                kept.push(reset);
            }
        }
        written.iter().for_each(|var| changes.written.insert(var.index()));
        if n_left_out > 0 {
            let (mut reads, mut before) = (Vec::new(), Vec::new());
            model::relations::uses(self.draft.exprs, effect, &mut reads, &mut before);
            let times = |list: &[VarId], var: VarId| list.iter().filter(|&&other| other == var).count();
            let is_left = |var: &VarId| times(&written, *var) < times(&before, *var);
            changes.unwritten.extend(before.iter().copied().filter(is_left).map(VarId::index));
        }
        let n_resets = kept.len() - n_kept;
        if n_left_out > 0 || n_resets > 0 {
            changes.effects.push((action, kept));
        }
        changes.n_left_out += n_left_out;
        changes.n_resets += n_resets;
    }

    /// What is not live in an initial state has the value of the first one.
    fn rewrite_initial(&self, changes: &mut Changes) {
        let initial = &self.draft.parts.initial;
        for (number, state) in initial.iter().enumerate() {
            for var in (0..state.len()).map(VarId::new) {
                let control = self.control[var.index()];
                let at = control.map_or(0, |control| state[control.index()]);
                let reset = initial[0][var.index()];
                let is_reset = control.is_some() || !changes.written.contains(var.index());
                if is_reset && state[var.index()] != reset && !self.is_live_at(var, at) {
                    changes.initial.push((number, var, reset));
                    changes.n_resets += 1;
                }
            }
        }
    }
}

/// Per statement of an effect: whether it sets an element whose index the guards keep within bounds.
fn guarded(draft: &Draft<'_>, bounds: &Bounds, action: &Action) -> Vec<bool> {
    let (mut reads, mut written) = (Vec::new(), Vec::new());
    let mut is_guarded = |stmt: &Stmt| {
        let is_safe = match stmt {
            Stmt::AssignElement { first, len, index, value } => match draft.exprs.get(*index) {
                Expr::Var(var) => {
                    let elements = (0..*len as usize).map(|at| VarId::new(first.index() + at));
                    !written.contains(&var)
                        && keeps_within(draft, action, var, *len)
                        && elements.into_iter().all(|element| bounds.fits(*value, element))
                }
                _ => false,
            },
            _ => false,
        };
        model::relations::uses(draft.exprs, std::slice::from_ref(stmt), &mut reads, &mut written);
        is_safe
    };
    action.effect.iter().map(&mut is_guarded).collect()
}

/// Whether an action is enabled only where a variable is an index of so many elements.
fn keeps_within(draft: &Draft<'_>, action: &Action, var: VarId, len: u32) -> bool {
    let (lo, hi) = draft.range(var);
    action.guards.iter().any(|guard| match &draft.parts.guards[guard.index()] {
        Guard::In(tested, set) if *tested == var && set.count_within(lo, hi) <= u64::from(len) => {
            set.values_within(lo, hi).all(|value| (0..i64::from(len)).contains(&value))
        }
        _ => false,
    })
}

/// The number of statements, those in others included.
fn count(block: &[Stmt]) -> usize {
    let inner = |stmt: &Stmt| match stmt {
        Stmt::If(_, yes, no) => count(yes) + count(no),
        Stmt::While(_, body) => count(body),
        _ => 0,
    };
    block.iter().map(|stmt| 1 + inner(stmt)).sum()
}

/// A variable that steers and is tested by all who use another one; where there are several, the one that most of
/// them change, too.
fn find_control(uses: &Uses, var: VarId) -> Option<VarId> {
    let users = &uses.users[var.index()];
    let first = *users.first()? as usize;
    let is_control =
        |control: VarId| control != var && users.iter().all(|&user| uses.tests(user as usize, control));
    let changes =
        |control: VarId| users.iter().filter(|&&user| uses.turn(user as usize, control).is_some()).count();
    let candidates =
        uses.tests[first].iter().map(|(control, _)| *control).filter(|&control| is_control(control));
    candidates.max_by_key(|&control| (changes(control), std::cmp::Reverse(control)))
}
