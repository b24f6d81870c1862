//! Which actions to try in a state.
//!
//! Every action is filed under one of its guards, the one that is true for the smallest share of
//! its variable's values: a process's location, a scarce place. A state then names the actions to
//! try: for each *trigger* variable, those filed under its value. A word whose triggers are all 0
//! and have nothing filed under 0 (a stretch of unmarked places) is skipped with one comparison,
//! so a net with 10 000 transitions tries those whose scarcest input is marked and no others.
//!
//! Where one process goes on in the same step (see [`chain`](mod@crate::chain)), only its own actions are tried: those
//! filed under the few variables that its actions are filed under.

use crate::layout::{Field, Layout};
use crate::system::StepError;
use crate::{Action, ActionId, Guard, GuardId, ProcessId, ValueSet, VarId};

/// Variables with more values are filed under "least value" and "anything else" only.
const MAX_ROWS: u64 = 1 << 17;

/// So are those whose rows would have more entries than this, all together.
const MAX_ENTRIES: u64 = 1 << 24;

/// A variable that actions are filed under.
#[derive(Clone, Copy, Debug)]
struct Trigger {
    /// Its bits in its word.
    mask: u32,
    shift: u8,
    /// Row of the stored number 0 in `rows`; the row of a number `n` is `first_row + min(n, cap)`.
    first_row: u32,
    cap: u32,
}

/// The triggers of one word.
#[derive(Clone, Debug)]
struct Word {
    word: u32,
    /// Bits of the triggers that have something filed under numbers other than 0.
    nonzero_mask: u32,
    /// For each bit, the trigger it belongs to.
    trigger_of_bit: [u32; 32],
    /// Range of `zero_triggers`: those that have something filed under 0.
    zero: (u32, u32),
}

/// Actions by the values that they need.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    words: Vec<Word>,
    triggers: Vec<Trigger>,
    zero_triggers: Vec<u32>,
    /// Ranges of `actions`.
    rows: Vec<(u32, u32)>,
    actions: Vec<ActionId>,
    /// Actions that no variable triggers.
    always: Vec<ActionId>,
    /// Per action: the guard that is true whenever the action is tried.
    implied: Vec<Option<GuardId>>,
    /// Per process that is the first owner of actions: the triggers that these are filed under, each with its word.
    of_process: Vec<Vec<(u32, u32)>>,
}

/// The actions filed under one variable, each with its guard and the values it is true for.
type Filed<'a> = Vec<(ActionId, GuardId, &'a ValueSet)>;

impl Index {
    /// Files the actions, but none under a variable that says who goes on alone: nearly always nobody does.
    pub(crate) fn new(
        layout: &Layout,
        guards: &[Guard],
        actions: &[Action],
        n_processes: usize,
        holder: Option<VarId>,
    ) -> Index {
        let mut index = Index {
            words: Vec::new(),
            triggers: Vec::new(),
            zero_triggers: Vec::new(),
            rows: Vec::new(),
            actions: Vec::new(),
            always: Vec::new(),
            implied: vec![None; actions.len()],
            of_process: vec![Vec::new(); n_processes],
        };
        let mut filed: Vec<Filed<'_>> = vec![Vec::new(); layout.fields().len()];
        for (id, action) in actions.iter().enumerate() {
            let id = ActionId::new(id);
            match scarcest(layout, guards, action, holder) {
                None => index.always.push(id),
                Some((guard, var, set)) => filed[var.index()].push((id, guard, set)),
            }
        }
        let mut by_word: Vec<Vec<VarId>> = vec![Vec::new(); layout.width()];
        for (var, entries) in filed.iter().enumerate() {
            if !entries.is_empty() {
                let var = VarId::new(var);
                by_word[layout.field(var).word as usize].push(var);
            }
        }
        for (word, vars) in by_word.iter().enumerate().filter(|(_, vars)| !vars.is_empty()) {
            let first = index.triggers.len();
            index.add_word(layout, word, vars, &filed);
            for (offset, var) in vars.iter().enumerate() {
                let owners =
                    filed[var.index()].iter().filter_map(|(id, ..)| actions[id.index()].owners.first());
                for owner in owners {
                    let (its, trigger) = (&mut index.of_process[owner.index()], (first + offset) as u32);
                    if its.last() != Some(&(word as u32, trigger)) {
                        its.push((word as u32, trigger));
                    }
                }
            }
        }
        index.of_process.iter_mut().for_each(|its| {
            its.sort_unstable();
            its.dedup();
        });
        index
    }

    fn add_word(&mut self, layout: &Layout, word: usize, vars: &[VarId], filed: &[Filed<'_>]) {
        let zero_start = self.zero_triggers.len() as u32;
        let mut entry = Word {
            word: word as u32,
            nonzero_mask: 0,
            trigger_of_bit: [0; 32],
            zero: (zero_start, zero_start),
        };
        for &var in vars {
            let field = layout.field(var);
            let id = self.triggers.len() as u32;
            let first_row = self.rows.len();
            self.add_rows(field, &filed[var.index()]);
            let (zero, others) = (self.rows[first_row], &self.rows[first_row + 1..]);
            if zero.0 < zero.1 {
                self.zero_triggers.push(id);
            }
            if others.iter().any(|row| row.0 < row.1) {
                entry.nonzero_mask |= field.word_mask();
            }
            for bit in field.shift..field.shift + field.bits {
                entry.trigger_of_bit[usize::from(bit)] = id;
            }
            let (first_row, cap) = (first_row as u32, (self.rows.len() - first_row - 1) as u32);
            self.triggers.push(Trigger { mask: field.word_mask(), shift: field.shift, first_row, cap });
        }
        entry.zero.1 = self.zero_triggers.len() as u32;
        self.words.push(entry);
    }

    /// Adds one row per value; or, if that would be too much, one for the least value and one for
    /// all others. In the former case the guards that actions are filed under need not be tested.
    fn add_rows(&mut self, field: Field, filed: &Filed<'_>) {
        let hi = field.lo.wrapping_add(field.span as i64);
        let n_entries: u64 =
            filed.iter().map(|(_, _, set)| set.count_within(field.lo, hi)).fold(0, u64::saturating_add);
        let fits = field.span < MAX_ROWS && self.actions.len() as u64 + n_entries <= MAX_ENTRIES;
        let mut rows: Vec<Vec<ActionId>> = vec![Vec::new(); if fits { field.span as usize + 1 } else { 2 }];
        for &(action, guard, set) in filed {
            if fits {
                set.values_within(field.lo, hi)
                    .for_each(|value| rows[(value - field.lo) as usize].push(action));
                self.implied[action.index()] = Some(guard);
            } else {
                if set.contains(field.lo) {
                    rows[0].push(action);
                }
                rows[1].push(action); // Stands for all other values.
            }
        }
        for row in rows {
            let start = self.actions.len() as u32;
            self.actions.extend(row);
            self.rows.push((start, self.actions.len() as u32));
        }
    }

    /// The guard that need not be tested, because an action is tried only where it is true.
    pub(crate) fn implied_guard(&self, action: ActionId) -> Option<GuardId> {
        self.implied[action.index()]
    }

    /// Calls `visit` for a superset of the actions enabled in `state`, each at most once.
    #[inline]
    pub(crate) fn for_each_candidate(
        &self,
        state: &[u32],
        mut visit: impl FnMut(ActionId) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        for &action in &self.always {
            visit(action)?;
        }
        for entry in &self.words {
            let word = state[entry.word as usize];
            for &trigger in &self.zero_triggers[entry.zero.0 as usize..entry.zero.1 as usize] {
                let trigger = &self.triggers[trigger as usize];
                if word & trigger.mask == 0 {
                    self.visit_row(trigger.first_row, &mut visit)?;
                }
            }
            let mut marked = word & entry.nonzero_mask;
            while marked != 0 {
                let trigger = &self.triggers[entry.trigger_of_bit[marked.trailing_zeros() as usize] as usize];
                marked &= !trigger.mask;
                let number = (word & trigger.mask) >> trigger.shift;
                self.visit_row(trigger.first_row + number.min(trigger.cap), &mut visit)?;
            }
        }
        Ok(())
    }

    /// The same for those that a process is the first owner of, and perhaps some others.
    #[inline]
    pub(crate) fn for_each_candidate_of(
        &self,
        process: ProcessId,
        state: &[u32],
        mut visit: impl FnMut(ActionId) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        for &action in &self.always {
            visit(action)?;
        }
        for &(word, trigger) in &self.of_process[process.index()] {
            let trigger = &self.triggers[trigger as usize];
            let number = (state[word as usize] & trigger.mask) >> trigger.shift;
            self.visit_row(trigger.first_row + number.min(trigger.cap), &mut visit)?;
        }
        Ok(())
    }

    #[inline]
    fn visit_row(
        &self,
        row: u32,
        visit: &mut impl FnMut(ActionId) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let (from, to) = self.rows[row as usize];
        for &action in &self.actions[from as usize..to as usize] {
            visit(action)?;
        }
        Ok(())
    }
}

/// The guard that is true for the smallest share of its variable's values.
fn scarcest<'a>(
    layout: &Layout,
    guards: &'a [Guard],
    action: &Action,
    holder: Option<VarId>,
) -> Option<(GuardId, VarId, &'a ValueSet)> {
    let share = |var: VarId, set: &ValueSet| {
        let field = layout.field(var);
        let hi = field.lo.wrapping_add(field.span as i64);
        if field.span < MAX_ROWS {
            set.count_within(field.lo, hi) as f64 / (field.span as f64 + 1.0)
        } else if set.contains(field.lo) {
            1.0 // Filed under every value: no help.
        } else {
            0.5
        }
    };
    let mut best: Option<(f64, GuardId, VarId, &ValueSet)> = None;
    for &id in &action.guards {
        if let Guard::In(var, set) = &guards[id.index()]
            && !layout.field(*var).is_wide()
            && Some(*var) != holder
        {
            let share = share(*var, set);
            if share < 1.0 && best.is_none_or(|(least, ..)| share < least) {
                best = Some((share, id, *var, set));
            }
        }
    }
    best.map(|(_, guard, var, set)| (guard, var, set))
}
