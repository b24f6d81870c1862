//! In which order the bindings of a transition are put together.
//!
//! A binding is a row of a join: of the colors that its input places can hold, under its guard. Whoever knows a
//! color for one input arc (the *trigger*) finds the others step by step, each as early as it is possible: test
//! what is known, take over what an equation says, look colors up by the parts that are known, and only then try
//! all values of a slot. A static order by which constraint is the narrowest, as in S. Ceri, G. Gottlob,
//! L. Tanca, *What you always wanted to know about Datalog* (TKDE 1989); it is chosen greedily.

use super::{Atom, ColoredTransition, Comparison, Guard, Part};

/// A color that must be in a place: one that needs no counting of others.
pub(super) struct Need {
    pub(super) place: u32,
    pub(super) atoms: Vec<Atom>,
}

/// One step of a plan.
pub(super) enum Step {
    /// The guard of this number must be true.
    Test(usize),
    /// A slot gets the value for which the first atom has the value of the second.
    Solve(Atom, Atom),
    /// The color of this need must be there.
    Probe(usize),
    /// Every color that is there for this need, by its parts that are known.
    Look { need: usize, index: Index, rest: Vec<Match> },
    /// Every value of this slot.
    Each(u32),
}

/// Parts of the colors of a place, by which colors are looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) known: Vec<usize>,
}

/// What is done with a part of a color that was found.
#[derive(Clone, Copy)]
pub(super) enum Match {
    /// The slot of its atom is solved.
    Solve(usize),
    /// Its atom must have this value.
    Check(usize),
}

/// A plan for one trigger, or for none.
pub(super) struct Plan {
    pub(super) trigger: Option<(usize, Vec<Match>)>,
    pub(super) steps: Vec<Step>,
}

/// What a transition needs, and plans: one per need, or one if there is none.
pub(super) fn plans(transition: &ColoredTransition) -> (Vec<Need>, Vec<Plan>) {
    let one = |part: &Part| match part {
        Part::One(atom) => Some(*atom),
        Part::All => None,
    };
    let mut needs = Vec::new();
    for (place, bag) in &transition.inputs {
        for pattern in bag.certain() {
            if let Some(atoms) = pattern.iter().map(one).collect() {
                needs.push(Need { place: *place, atoms });
            }
        }
    }
    let triggers: Vec<Option<usize>> =
        if needs.is_empty() { vec![None] } else { (0..needs.len()).map(Some).collect() };
    let plans = triggers.into_iter().map(|trigger| Planner::new(transition, &needs).plan(trigger)).collect();
    (needs, plans)
}

struct Planner<'t> {
    transition: &'t ColoredTransition,
    needs: &'t [Need],
    bound: Vec<bool>,
    /// The guards and needs that no step looks at yet.
    guards: Vec<usize>,
    open: Vec<usize>,
}

impl<'t> Planner<'t> {
    fn new(transition: &'t ColoredTransition, needs: &'t [Need]) -> Planner<'t> {
        let (guards, open) = ((0..transition.guards.len()).collect(), (0..needs.len()).collect());
        Planner { transition, needs, bound: vec![false; transition.slots.len()], guards, open }
    }

    fn plan(mut self, trigger: Option<usize>) -> Plan {
        let trigger = trigger.map(|need| {
            self.open.retain(|open| *open != need);
            (need, self.matches(need, &[]))
        });
        let mut steps = Vec::new();
        while let Some(step) = self.next() {
            steps.push(step);
        }
        Plan { trigger, steps }
    }

    fn next(&mut self) -> Option<Step> {
        let (test, solve) = (self.ready_guard(), self.equation());
        if let Some(at) = test {
            return Some(Step::Test(self.guards.remove(at)));
        }
        if let Some((at, unknown, known)) = solve {
            self.guards.remove(at);
            self.bind(unknown);
            return Some(Step::Solve(unknown, known));
        }
        let unbound =
            |need: usize| self.needs[need].atoms.iter().filter(|atom| !self.is_bound(**atom)).count();
        let known = |need: usize| self.needs[need].atoms.len() - unbound(need);
        // The fewest that are unknown; of these, the most that are known.
        let best = self.open.iter().enumerate().min_by_key(|(_, need)| {
            (unbound(**need) > 0 && known(**need) == 0, unbound(**need), usize::MAX - known(**need))
        });
        if let Some((at, &need)) = best {
            let is_known = unbound(need) == 0;
            let is_cross = known(need) == 0;
            // A slot that a guard speaks of may be narrower than all colors of a place; but who knows.
            if !is_cross || is_known || self.guard_slot().is_none() {
                self.open.remove(at);
                if is_known {
                    return Some(Step::Probe(need));
                }
                let atoms = &self.needs[need].atoms;
                let index =
                    Index { known: (0..atoms.len()).filter(|&part| self.is_bound(atoms[part])).collect() };
                let rest = self.matches(need, &index.known);
                return Some(Step::Look { need, index, rest });
            }
        }
        let slot = self.guard_slot().or_else(|| self.bound.iter().position(|bound| !bound))?;
        self.bound[slot] = true;
        Some(Step::Each(slot as u32))
    }

    /// A slot without a value in a guard that has one part with a value, unless a need will give it one.
    fn guard_slot(&self) -> Option<usize> {
        let will_be_given = |slot: u32| {
            self.open.iter().any(|&need| self.needs[need].atoms.iter().any(|atom| atom.slot() == Some(slot)))
        };
        let mut found = None;
        for &guard in &self.guards {
            self.transition.guards[guard].for_each_slot(&mut |slot| {
                if !self.bound[slot as usize] && !will_be_given(slot) {
                    found.get_or_insert(slot as usize);
                }
            });
        }
        found
    }

    fn is_bound(&self, atom: Atom) -> bool {
        atom.slot().is_none_or(|slot| self.bound[slot as usize])
    }

    fn bind(&mut self, atom: Atom) {
        if let Some(slot) = atom.slot() {
            self.bound[slot as usize] = true;
        }
    }

    /// A guard whose slots all have values.
    fn ready_guard(&self) -> Option<usize> {
        self.guards.iter().position(|&guard| {
            let mut ready = true;
            self.transition.guards[guard].for_each_slot(&mut |slot| ready &= self.bound[slot as usize]);
            ready
        })
    }

    /// An equation with one side known: which guard, the side that is not known, and the one that is.
    fn equation(&self) -> Option<(usize, Atom, Atom)> {
        self.guards.iter().enumerate().find_map(|(at, &guard)| {
            let Guard::Compare(Comparison::Equal, left, right) = &self.transition.guards[guard] else {
                return None;
            };
            if left.elements.is_some() || right.elements.is_some() || left.offset != right.offset {
                return None;
            }
            // Whatever value the one side has, the other side has it, too.
            let fits = |unknown: Atom, known: Atom| match (unknown, known) {
                (Atom::Slot { size, .. }, Atom::Constant(value)) => value < size,
                (Atom::Slot { size, .. }, Atom::Slot { size: other, .. }) => size == other,
                _ => false,
            };
            let (left, right) = (left.atom, right.atom);
            if self.is_bound(left) && !self.is_bound(right) && fits(right, left) {
                Some((at, right, left))
            } else if self.is_bound(right) && !self.is_bound(left) && fits(left, right) {
                Some((at, left, right))
            } else {
                None
            }
        })
    }

    /// What is done with the parts of a color that are not known already.
    fn matches(&mut self, need: usize, known: &[usize]) -> Vec<Match> {
        let needs = self.needs;
        let mut matches = Vec::new();
        for (part, &atom) in needs[need].atoms.iter().enumerate() {
            if known.contains(&part) {
                continue;
            }
            matches.push(if self.is_bound(atom) { Match::Check(part) } else { Match::Solve(part) });
            self.bind(atom);
        }
        matches
    }
}
