//! Which actions to try in a state.
//!
//! Every action is filed under one of its guards, the one that is true for the smallest share of
//! its variable's values: a process's location, a scarce place. A state then names the actions to
//! try: for each *trigger* variable, those filed under its value. A word whose triggers are all 0
//! and have nothing filed under 0 (a stretch of unmarked places) is skipped with one comparison,
//! so a net with 10 000 transitions tries those whose scarcest input is marked and no others.
//!
//! Where many actions are filed under one value, such as all partners of a rendezvous, another variable that most
//! of them test tells them apart ([`Split`]), and so on: the rows of a trigger are the roots of decision trees. An action that does not
//! test that variable is filed under all of its values, so that actions are tried in the same order, split or not.
//!
//! Where one process goes on in the same step (see [`chain`](mod@crate::chain)), only its own actions are tried, which are
//! filed once more for that ([`turns`]).

mod turns;

use turns::Turn;

use crate::layout::{Field, Layout};
use crate::system::StepError;
use crate::{Action, ActionId, Guard, GuardId, ProcessId, ValueSet, VarId};

/// Variables with more values that have to be told apart are filed under "least value" and "anything else" only.
const MAX_ROWS: u64 = 1 << 17;

/// So are those whose rows would have more entries than this, all together.
const MAX_ENTRIES: u64 = 1 << 24;

/// Rows of fewer actions are not split.
const MIN_SPLIT: usize = 6;

/// Nor are those that were split so often.
const MAX_DEPTH: usize = 6;

/// A variable that tells apart the actions of a row.
#[derive(Clone, Copy, Debug)]
struct Split {
    word: u32,
    mask: u32,
    shift: u8,
    /// Row of the stored number 0; one for each number follows.
    first_row: u32,
}

/// Stands in place of the beginning of a row that is split.
const IS_SPLIT: u32 = u32::MAX;

/// A variable that actions are filed under.
#[derive(Clone, Copy, Debug)]
struct Trigger {
    /// Its bits in its word.
    mask: u32,
    shift: u8,
    /// Numbers up to this one are not told apart, nor are those that are greater by `cap` or more.
    base: u32,
    /// Row of `base` in `rows`; the next `cap` rows are those of the next numbers.
    first_row: u32,
    cap: u32,
}

impl Trigger {
    /// The row of the number in this word.
    #[inline]
    fn row(&self, word: u32) -> u32 {
        let number = (word & self.mask) >> self.shift;
        self.first_row + number.saturating_sub(self.base).min(self.cap)
    }
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
    /// Ranges of `actions`; or [`IS_SPLIT`], and the number of a split.
    rows: Vec<(u32, u32)>,
    splits: Vec<Split>,
    actions: Vec<ActionId>,
    /// Actions that no variable triggers.
    always: Vec<ActionId>,
    /// Per action: the guard that is true whenever the action is tried.
    implied: Vec<Option<GuardId>>,
    /// Per process that goes on in the same step: its own actions.
    turns: Vec<Option<Turn>>,
}

/// The actions filed under one variable, each with its guard and the values it is true for.
type Filed<'a> = Vec<(ActionId, GuardId, &'a ValueSet)>;

impl Index {
    /// Files the actions, but none under a variable that says who goes on alone: nearly always nobody does.
    pub(crate) fn new(
        layout: &Layout,
        guards: &[Guard],
        actions: &[Action],
        going_on: &[ProcessId],
        holder: Option<VarId>,
    ) -> Index {
        let mut index = Index {
            words: Vec::new(),
            triggers: Vec::new(),
            zero_triggers: Vec::new(),
            rows: Vec::new(),
            splits: Vec::new(),
            actions: Vec::new(),
            always: Vec::new(),
            implied: vec![None; actions.len()],
            turns: Vec::new(),
        };
        let mut splitter = Splitter { layout, guards, actions, holder, room: 16 * actions.len() + 1024 };
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
            index.add_word(word, vars, &filed, &mut splitter);
        }
        index.add_turns(going_on, &mut splitter);
        index
    }

    fn add_word(&mut self, word: usize, vars: &[VarId], filed: &[Filed<'_>], splitter: &mut Splitter<'_>) {
        let zero_start = self.zero_triggers.len() as u32;
        let mut entry = Word {
            word: word as u32,
            nonzero_mask: 0,
            trigger_of_bit: [0; 32],
            zero: (zero_start, zero_start),
        };
        for &var in vars {
            let field = splitter.layout.field(var);
            let id = self.triggers.len() as u32;
            let first_row = self.rows.len();
            let (base, rows, fits) = self.rows_of(field, &filed[var.index()]);
            if fits {
                filed[var.index()]
                    .iter()
                    .for_each(|&(action, guard, _)| self.implied[action.index()] = Some(guard));
            }
            let cap = (rows.len() - 1) as u32;
            self.add_rows(&rows, &mut vec![var], splitter);
            let its = &self.rows[first_row..first_row + rows.len()];
            let (zero, others) = (its[0], &its[usize::from(base == 0)..]);
            let has_some = |row: &(u32, u32)| row.0 == IS_SPLIT || row.0 < row.1;
            if has_some(&zero) {
                self.zero_triggers.push(id);
            }
            if others.iter().any(has_some) {
                entry.nonzero_mask |= field.word_mask();
            }
            for bit in field.shift..field.shift + field.bits {
                entry.trigger_of_bit[usize::from(bit)] = id;
            }
            let first_row = first_row as u32;
            self.triggers.push(Trigger { mask: field.word_mask(), shift: field.shift, base, first_row, cap });
        }
        entry.zero.1 = self.zero_triggers.len() as u32;
        self.words.push(entry);
    }

    /// One row per value, but for the lowest and the highest ones that nobody tells apart; with the number of the first row.
    /// Or, if that would be too much, one for the least value and one for all others. In the former case, of which it tells,
    /// the guards that actions are filed under need not be tested.
    fn rows_of(&self, field: Field, filed: &Filed<'_>) -> (u32, Vec<Vec<ActionId>>, bool) {
        let sets = || filed.iter().map(|(_, _, set)| *set);
        let (base, last) = told_apart(field, sets());
        let (lo, hi) = (field.lo.wrapping_add(base as i64), field.lo.wrapping_add(last as i64));
        let n_entries: u64 = sets().map(|set| set.count_within(lo, hi)).fold(0, u64::saturating_add);
        let fits = last - base < MAX_ROWS && self.actions.len() as u64 + n_entries <= MAX_ENTRIES;
        let mut rows: Vec<Vec<ActionId>> =
            vec![Vec::new(); if fits { (last - base) as usize + 1 } else { 2 }];
        for &(action, _, set) in filed {
            if fits {
                set.values_within(lo, hi).for_each(|value| rows[(value - lo) as usize].push(action));
            } else {
                if set.contains(field.lo) {
                    rows[0].push(action);
                }
                rows[1].push(action); // Stands for all other values.
            }
        }
        (if fits { base as u32 } else { 0 }, rows, fits)
    }

    /// Adds rows, one after the other, whose actions were told apart by these variables. What they are split into comes
    /// behind them.
    fn add_rows(&mut self, rows: &[Vec<ActionId>], told: &mut Vec<VarId>, splitter: &mut Splitter<'_>) {
        let first = self.rows.len();
        self.rows.resize(first + rows.len(), (0, 0));
        let mut before: &[ActionId] = &[];
        for (at, row) in (first..).zip(rows) {
            self.rows[at] = if at > first && row == before {
                self.rows[at - 1]
            } else if let Some((var, parts)) = splitter.split(row, told) {
                let Field { word, shift, .. } = splitter.layout.field(var);
                let mask = splitter.layout.field(var).word_mask();
                let first_row = self.rows.len() as u32;
                told.push(var);
                self.add_rows(&parts, told, splitter);
                told.pop();
                self.splits.push(Split { word, mask, shift, first_row });
                (IS_SPLIT, self.splits.len() as u32 - 1)
            } else {
                let start = self.actions.len() as u32;
                self.actions.extend_from_slice(row);
                (start, self.actions.len() as u32)
            };
            before = row;
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
            let mut zero = self.zero_triggers[entry.zero.0 as usize..entry.zero.1 as usize].iter();
            let mut marked = word & entry.nonzero_mask;
            loop {
                let row = if let Some(&trigger) = zero.next() {
                    let trigger = &self.triggers[trigger as usize];
                    if word & trigger.mask != 0 {
                        continue;
                    }
                    trigger.first_row
                } else if marked != 0 {
                    let bit = marked.trailing_zeros() as usize;
                    let trigger = &self.triggers[entry.trigger_of_bit[bit] as usize];
                    marked &= !trigger.mask;
                    trigger.row(word)
                } else {
                    break;
                };
                for &action in self.row(row, state) {
                    visit(action)?;
                }
            }
        }
        Ok(())
    }

    /// The actions of a row that are to be tried in `state`.
    #[inline]
    fn row(&self, row: u32, state: &[u32]) -> &[ActionId] {
        let (mut from, mut to) = self.rows[row as usize];
        if from == IS_SPLIT {
            (from, to) = self.part_of(to, state);
        }
        &self.actions[from as usize..to as usize]
    }

    /// Follows a split, and those that it leads to.
    #[inline(never)]
    fn part_of(&self, split: u32, state: &[u32]) -> (u32, u32) {
        let (mut from, mut to) = (IS_SPLIT, split);
        while from == IS_SPLIT {
            let split = &self.splits[to as usize];
            let number = (state[split.word as usize] & split.mask) >> split.shift;
            (from, to) = self.rows[(split.first_row + number) as usize];
        }
        (from, to)
    }
}

/// The greatest number below which, and the least one above which, all numbers of a field are in the same sets.
fn told_apart<'a>(field: Field, sets: impl Iterator<Item = &'a ValueSet>) -> (u64, u64) {
    let (lo, hi) = (field.lo, field.lo.wrapping_add(field.span as i64));
    let number = |value: i64| value.wrapping_sub(lo) as u64;
    // Numbers that are in a set, or not, unlike those before them: the first and the last.
    let (mut first, mut last) = (field.span, 0);
    for set in sets {
        let ends = match set {
            ValueSet::Range(from, to) => Some((*from, *to)),
            ValueSet::Bits { lo: base, members } => members
                .minimum()
                .zip(members.maximum())
                .map(|(least, most)| (base + least as i64, base + most as i64)),
        };
        let Some((from, to)) = ends.filter(|&(from, to)| from <= to && from <= hi && to >= lo) else {
            continue;
        };
        // Those in between may change wherever they like.
        let is_whole = matches!(set, ValueSet::Range(..));
        if from > lo {
            (first, last) = (first.min(number(from)), last.max(number(from)));
        } else if !is_whole {
            first = first.min(1);
        }
        if to < hi {
            (first, last) = (first.min(number(to) + 1), last.max(number(to) + 1));
        } else if !is_whole {
            last = last.max(field.span);
        }
    }
    let base = first.saturating_sub(1).min(last);
    (base, last)
}

/// Looks for variables that tell actions apart.
struct Splitter<'s> {
    layout: &'s Layout,
    guards: &'s [Guard],
    actions: &'s [Action],
    holder: Option<VarId>,
    /// How many rows and entries there may still be.
    room: usize,
}

impl<'s> Splitter<'s> {
    /// The values of small variables that an action needs.
    fn tests(&self, action: ActionId) -> impl Iterator<Item = (VarId, &'s ValueSet)> {
        let (layout, guards, holder) = (self.layout, self.guards, self.holder);
        self.actions[action.index()].guards.iter().filter_map(move |guard| match &guards[guard.index()] {
            Guard::In(var, set) if !layout.field(*var).is_wide() && Some(*var) != holder => Some((*var, set)),
            _ => None,
        })
    }

    /// Splits the actions of a row by the values of another variable, if that leaves half of them in the mean or fewer.
    fn split(&mut self, row: &[ActionId], told: &[VarId]) -> Option<(VarId, Vec<Vec<ActionId>>)> {
        if row.len() < MIN_SPLIT || told.len() > MAX_DEPTH || self.room < row.len() {
            return None;
        }
        // Per variable: how many entries its rows would have less than if all actions were in all of them.
        let mut spared: Vec<(VarId, u64)> = Vec::new();
        for (var, set) in row.iter().flat_map(|&action| self.tests(action)) {
            let field = self.layout.field(var);
            let n_values = field.span + 1;
            if !told.contains(&var) && (2..=4 * row.len() as u64).contains(&n_values) {
                let hi = field.lo.wrapping_add(field.span as i64);
                spared.push((var, n_values - set.count_within(field.lo, hi)));
            }
        }
        spared.sort_unstable();
        let of_var = spared.chunk_by(|one, other| one.0 == other.0);
        let best = of_var.map(|its| {
            let n_values = self.layout.field(its[0].0).span + 1;
            let n_spared = its.iter().map(|(_, n_spared)| n_spared).sum::<u64>();
            (n_spared as f64 / n_values as f64, its[0].0, n_spared)
        });
        let (n_less, var, n_spared) = best.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let field = self.layout.field(var);
        let n_values = field.span as usize + 1;
        let n_entries = (n_values * (row.len() + 1)).saturating_sub(n_spared as usize);
        if 2.0 * n_less < row.len() as f64 || n_entries > self.room {
            return None;
        }
        self.room -= n_entries;
        let mut parts: Vec<Vec<ActionId>> = vec![Vec::new(); n_values];
        for &action in row {
            let sets: Vec<&ValueSet> =
                self.tests(action).filter(|(its, _)| *its == var).map(|(_, set)| set).collect();
            for (value, part) in (field.lo..).zip(&mut parts) {
                if sets.iter().all(|set| set.contains(value)) {
                    part.push(action);
                }
            }
        }
        Some((var, parts))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, System as _, Variable};

    #[test]
    fn rows_of_many_actions_are_split_and_nothing_is_lost() {
        // A generator of pseudorandom numbers [knuth.97.taocp, MMIX].
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..50 {
            let his = [9, 3, 4, 1, 6];
            let mut builder = Builder::new();
            let owners = vec![builder.process("P")];
            let vars = his.map(|hi| builder.variable(Variable::new("v", 0, hi)));
            let label = builder.label("a");
            let mut needs: Vec<Vec<(usize, ValueSet)>> = Vec::new();
            for _ in 0..60 {
                // Every action asks for a location; most ask for more, a few twice for the same variable.
                let mut its = vec![(0, ValueSet::Range(0, 0))];
                if random(4) == 0 {
                    its[0].1 = ValueSet::Range(1, 1);
                }
                if random(8) > 0 {
                    let value = random(5) as i64;
                    its.push((2, ValueSet::Range(value, value)));
                }
                for _ in 0..random(4) {
                    let var = 1 + random(4) as usize;
                    let from = random(his[var] as u64 + 1) as i64;
                    its.push((var, ValueSet::Range(from, from + random(2) as i64)));
                }
                let guards = its.iter().map(|(var, set)| builder.guard(Guard::In(vars[*var], set.clone())));
                let guards = guards.collect();
                builder.action(Action { label, guards, effect: Vec::new(), owners: owners.clone() });
                needs.push(its);
            }
            builder.initial(&[0; 5]);
            let system = builder.finish().unwrap();
            assert!(!system.index.splits.is_empty());
            let mut scratch = system.new_scratch();
            for number in 0..10 * 4 * 5 * 2 * 7 {
                let (mut rest, mut values) = (number, Vec::new());
                for hi in his {
                    values.push(rest % (hi + 1));
                    rest /= hi + 1;
                }
                let is_met =
                    |its: &Vec<(usize, ValueSet)>| its.iter().all(|(var, set)| set.contains(values[*var]));
                let expected: Vec<ActionId> =
                    (0..needs.len()).filter(|&action| is_met(&needs[action])).map(ActionId::new).collect();
                let mut enabled = Vec::new();
                let state = system.layout.encode(&values).unwrap();
                system.enabled(&state, &mut scratch, &mut enabled).unwrap();
                assert_eq!(enabled, expected, "{values:?}");
            }
        }
    }

    #[test]
    fn values_that_nobody_tells_apart_share_a_row() {
        let mut seed = 3u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let ranges = [(-32_768, 32_767), (0, 40), (i64::from(i32::MIN), i64::from(i32::MAX)), (5, 5)];
        for round in 0..200 {
            let (lo, hi) = ranges[round % ranges.len()];
            // Values that are asked for lie near each other, or near the ends.
            let center = [lo, hi, 0][random(3) as usize];
            let mut near = || center + random(24) as i64 - 12;
            let sets: Vec<ValueSet> = (0..4)
                .map(|nth| match nth {
                    0 => ValueSet::Range(near(), near()),
                    1 => ValueSet::Range(lo, near()),
                    2 => ValueSet::Range(near(), hi),
                    _ => ValueSet::of([near(), near(), near()]),
                })
                .collect();
            let mut builder = Builder::new();
            let owners = vec![builder.process("P")];
            let var = builder.variable(Variable::new("v", lo, hi));
            let label = builder.label("a");
            for set in &sets {
                let guards = vec![builder.guard(Guard::In(var, set.clone()))];
                builder.action(Action { label, guards, effect: Vec::new(), owners: owners.clone() });
            }
            builder.initial(&[lo]);
            let system = builder.finish().unwrap();
            assert!(system.index.rows.len() <= 80, "{} rows", system.index.rows.len());
            let mut scratch = system.new_scratch();
            let values = (center - 30..center + 30).chain([lo, hi]).filter(|value| (lo..=hi).contains(value));
            for value in values {
                let is_enabled = |at: &usize| sets[*at].contains(value);
                let expected: Vec<ActionId> = (0..sets.len()).filter(is_enabled).map(ActionId::new).collect();
                let mut enabled = Vec::new();
                let state = system.layout.encode(&[value]).unwrap();
                system.enabled(&state, &mut scratch, &mut enabled).unwrap();
                enabled.sort_unstable();
                assert_eq!(enabled, expected, "{value} of {lo}..={hi}: {sets:?}");
            }
        }
    }
}
