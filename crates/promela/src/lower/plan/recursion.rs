//! Proctypes that start themselves, directly or by others.
//!
//! One after the other, such processes get ever new numbers and arguments, so code is made for what they may become before
//! they do: code for all values of a parameter as soon as there are two under one number (not of a channel, since that
//! means code for every channel). When there is one piece of code per number, three in a row go on for twice as many
//! numbers; what one of them starts, all start at the same distance. Where one statement starts different numbers, they are
//! trees: then channels may be any, too, and each process may start all with a higher number.

use rustc_hash::{FxHashMap, FxHashSet};

use super::foresight::Step;
use super::{Foresight, Instance, InstanceId, Plan, Site};
use crate::program::ProctypeId;

impl Plan {
    /// Makes code for all values where a proctype that starts itself has different ones.
    pub(super) fn generalize_recursion(&mut self, is_channel: &dyn Fn(ProctypeId, usize) -> bool) {
        for proctype in self.recursive() {
            let branches = self.branches(proctype);
            let mut values: FxHashMap<(u32, usize), FxHashSet<i32>> = FxHashMap::default();
            for instance in self.instances.iter().filter(|its| its.proctype == proctype) {
                for (parameter, argument) in instance.arguments.iter().enumerate() {
                    values.entry((instance.slot, parameter)).or_default().extend(*argument);
                }
            }
            let is_general = |&(&(_, parameter), values): &(&(u32, usize), &FxHashSet<i32>)| {
                values.len() > 1 && (branches || !is_channel(proctype, parameter))
            };
            let mut parameters: Vec<usize> =
                values.iter().filter(is_general).map(|((_, parameter), _)| *parameter).collect();
            parameters.sort_unstable();
            parameters.dedup();
            if !parameters.is_empty() {
                self.generalize(proctype, &parameters);
            }
        }
    }

    /// Adds what they will need if it goes on as it began.
    pub(super) fn foresee_recursion(&mut self, foresight: Foresight<'_>) {
        let recursive = self.recursive();
        for &proctype in &recursive {
            let Some(known) = self.by_number(proctype) else { continue };
            let [.., first, second, third] = known[..] else { continue };
            let [first, second, mut last] =
                [first, second, third].map(|id| self.instances[id.index()].clone());
            let Some(step) = Step::between(&second, &last).filter(|step| step.slot > 0) else { continue };
            if step.before(&second).as_ref() != Some(&first) {
                continue;
            }
            for _ in 0..known.len() {
                let Some(next) = step.after(&last).filter(foresight.is_possible) else { break };
                self.add(next.clone());
                last = next;
            }
        }
        let is_recursive = |(caller, _, started, _): &(ProctypeId, u32, ProctypeId, u32)| {
            recursive.contains(caller) && recursive.contains(started)
        };
        let mut kinds: Vec<_> = self.kinds().filter(is_recursive).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for (caller, statement, started, distance) in kinds {
            let (Some(callers), Some(all)) = (self.by_number(caller), self.by_number(started)) else {
                continue;
            };
            let is_tree = self.branches(caller);
            for caller in callers {
                let slot = |id: InstanceId| self.instances[id.index()].slot;
                let may_follow = |id: &InstanceId| match is_tree {
                    true => slot(*id) > slot(caller),
                    false => slot(*id) == slot(caller) + distance,
                };
                let started: Vec<InstanceId> = all.iter().copied().filter(may_follow).collect();
                started.into_iter().for_each(|id| self.may_start(Site { caller, statement }, id));
            }
        }
    }

    /// Which statement of which proctype starts which, how many numbers later; in no order.
    fn kinds(&self) -> impl Iterator<Item = (ProctypeId, u32, ProctypeId, u32)> {
        self.starts.iter().flat_map(|(site, started)| {
            let caller = &self.instances[site.caller.index()];
            started.iter().map(|id| {
                let started = &self.instances[id.index()];
                let distance = started.slot.saturating_sub(caller.slot);
                (caller.proctype, site.statement, started.proctype, distance)
            })
        })
    }

    /// The processes of a proctype by their numbers, if each number has one.
    fn by_number(&self, proctype: ProctypeId) -> Option<Vec<InstanceId>> {
        let is_one = |(_, instance): &(usize, &Instance)| instance.proctype == proctype;
        let mut found: Vec<(u32, InstanceId)> = self
            .instances
            .iter()
            .enumerate()
            .filter(is_one)
            .map(|(index, instance)| (instance.slot, InstanceId::new(index)))
            .collect();
        found.sort_unstable();
        let is_unique = found.windows(2).all(|pair| pair[0].0 != pair[1].0);
        is_unique.then(|| found.into_iter().map(|(_, id)| id).collect())
    }

    /// The proctypes that start themselves, as far as was met.
    fn recursive(&self) -> Vec<ProctypeId> {
        let mut reach: FxHashSet<(ProctypeId, ProctypeId)> =
            self.kinds().map(|(caller, _, started, _)| (caller, started)).collect();
        loop {
            let further = |&(from, via): &(ProctypeId, ProctypeId)| {
                let next = reach.iter().filter(move |(start, _)| *start == via);
                next.map(move |(_, to)| (from, *to)).collect::<Vec<_>>()
            };
            let more: Vec<_> = reach.iter().flat_map(further).collect();
            let n_known = reach.len();
            reach.extend(more);
            if reach.len() == n_known {
                break;
            }
        }
        let mut found: Vec<ProctypeId> = reach.iter().filter(|(a, b)| a == b).map(|(a, _)| *a).collect();
        found.sort_unstable();
        found
    }

    /// Whether one statement of a process starts others with different numbers.
    fn branches(&self, proctype: ProctypeId) -> bool {
        let is_tree = |(site, started): (&Site, &Vec<InstanceId>)| {
            let slots: FxHashSet<u32> = started.iter().map(|id| self.instances[id.index()].slot).collect();
            self.instances[site.caller.index()].proctype == proctype && slots.len() > 1
        };
        self.starts.iter().any(is_tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(slot: u32, depth: i32) -> Instance {
        let proctype = ProctypeId::new(0);
        Instance { slot, proctype, arguments: vec![Some(depth)], n_channels: 2 * slot, priority: 1 }
    }

    /// Extends a plan until a tree is there in which each process may start all with higher numbers; returns how often.
    fn n_plans(n: u32, is_channel: bool) -> (usize, Plan) {
        let is_possible = |instance: &Instance| instance.slot < 200;
        let foresight = Foresight { is_possible: &is_possible, siblings: false };
        let mut plan = Plan::default();
        plan.add(node(0, 9));
        let mut times = 0;
        for from in 0..n {
            for to in from + 1..n {
                let met = |slot: u32, plan: &Plan| {
                    let at = plan.instances.iter().position(|its| its.slot == slot);
                    at.map(InstanceId::new)
                };
                let caller = met(from, &plan).expect("it was started");
                for statement in 0..2 {
                    let site = Site { caller, statement };
                    let is_known = |to: u32| {
                        plan.started_by(site).iter().any(|id| plan.instances[id.index()].slot == to)
                    };
                    if !is_known(to) {
                        let start = (site, node(to, 9 - from as i32 - statement as i32));
                        plan.extend(vec![start], &|_, _| is_channel, Some(foresight));
                        times += 1;
                    }
                }
            }
        }
        (times, plan)
    }

    #[test]
    fn trees_need_few_plans() {
        for is_channel in [false, true] {
            let (n, plan) = n_plans(40, is_channel);
            assert!(n <= 12, "{n}");
            assert!((40..=90).contains(&plan.instances.len()), "{}", plan.instances.len());
            assert!(plan.instances.iter().all(|its| its.n_channels == 2 * its.slot));
        }
    }

    #[test]
    fn rows_need_few_plans() {
        let is_possible = |instance: &Instance| instance.slot < 200;
        let foresight = Foresight { is_possible: &is_possible, siblings: false };
        let mut plan = Plan::default();
        plan.add(node(0, 0));
        let mut n = 0;
        for from in 0..60 {
            for (statement, argument) in [(1, 5), (2, 7), (3, from as i32)] {
                let is_at = |its: &Instance| its.slot == from;
                let caller = InstanceId::new(plan.instances.iter().position(is_at).expect("it was started"));
                let site = Site { caller, statement };
                let is_known = |id: &InstanceId| match plan.instances[id.index()].arguments[0] {
                    Some(known) => known == argument,
                    None => true,
                };
                if !plan.started_by(site).iter().any(is_known) {
                    plan.extend(vec![(site, node(from + 1, argument))], &|_, _| false, Some(foresight));
                    n += 1;
                }
            }
        }
        assert!(n <= 12, "{n} of 180");
        assert!((61..=130).contains(&plan.instances.len()), "{}", plan.instances.len());
    }

    #[test]
    fn rows_with_many_values_are_for_all_of_them() {
        let run = |is_channel: bool| {
            let mut plan = Plan::default();
            plan.add(node(0, 0));
            for (from, argument) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)] {
                let is_at = |its: &Instance| its.slot == from;
                let caller = InstanceId::new(plan.instances.iter().position(is_at).expect("it was started"));
                let start = (Site { caller, statement: 7 }, node(from + 1, argument));
                plan.extend(vec![start], &|_, _| is_channel, None);
            }
            plan.instances.len()
        };
        assert_eq!((run(false), run(true)), (3, 6));
    }
}
