//! What processes will be started, if it goes on as it did.
//!
//! Two starts by the same statement differ by a *step*: how the number, the channels before and the arguments of who starts
//! and of who is started differ. Where a start is the third in a row of equal steps, as many more are added as there were
//! before it. So recursion to a depth of `n`, and a loop that starts `n` processes, need about `log n` plans. Who is
//! foreseen and never started costs room and time alone: nothing is concluded from a process having code.

use rustc_hash::FxHashMap;

use super::{Instance, InstanceId, Plan, Site};

/// What may be foreseen.
#[derive(Clone, Copy)]
pub(crate) struct Foresight<'f> {
    /// Whether there can be such a process.
    pub(crate) is_possible: &'f dyn Fn(&Instance) -> bool,
    /// Whether also those that one process starts, one after the other: mostly there are few of them.
    pub(crate) siblings: bool,
}

/// So many starts before one make a row.
const MIN_ROW: usize = 2;

/// In a row, the numbers of processes differ by so much at most.
const MAX_APART: u32 = 2;

/// How a process differs from another one of its proctype.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) slot: u32,
    n_channels: u32,
    arguments: Vec<i32>,
}

impl Step {
    pub(super) fn between(from: &Instance, to: &Instance) -> Option<Step> {
        let slot = to.slot.checked_sub(from.slot).filter(|slot| *slot <= MAX_APART)?;
        if (from.proctype, from.priority) != (to.proctype, to.priority) {
            return None;
        }
        let difference = |(from, to): (&Option<i32>, &Option<i32>)| match (from, to) {
            (None, None) => Some(0),
            (Some(from), Some(to)) => to.checked_sub(*from),
            _ => None,
        };
        Some(Step {
            slot,
            n_channels: to.n_channels.checked_sub(from.n_channels)?,
            arguments: from.arguments.iter().zip(&to.arguments).map(difference).collect::<Option<_>>()?,
        })
    }

    pub(super) fn before(&self, instance: &Instance) -> Option<Instance> {
        self.applied(instance, -1)
    }

    pub(super) fn after(&self, instance: &Instance) -> Option<Instance> {
        self.applied(instance, 1)
    }

    fn applied(&self, instance: &Instance, sign: i32) -> Option<Instance> {
        let argument = |(argument, by): (&Option<i32>, &i32)| match argument {
            Some(argument) => argument.checked_add(by.checked_mul(sign)?).map(Some),
            None => Some(None),
        };
        let number = |number: u32, by: u32| number.checked_add_signed(sign * by as i32);
        Some(Instance {
            slot: number(instance.slot, self.slot)?,
            n_channels: number(instance.n_channels, self.n_channels)?,
            arguments: instance.arguments.iter().zip(&self.arguments).map(argument).collect::<Option<_>>()?,
            ..*instance
        })
    }
}

impl Plan {
    /// Adds what follows in a row after starts that were just added; not more processes than there are.
    pub(super) fn foresee(&mut self, added: &[(Site, InstanceId)], foresight: Foresight<'_>) {
        let most = 2 * self.instances.len();
        let ids = self.instances.iter().cloned().zip((0..).map(InstanceId::new));
        let mut ids: FxHashMap<Instance, InstanceId> = ids.collect();
        for &(site, id) in added {
            let [caller, started] = [site.caller, id].map(|id| self.instances[id.index()].clone());
            for (of_caller, of_started) in
                self.steps_to(site.statement, &caller, &started, foresight.siblings)
            {
                let before = |(caller, started): &(Instance, Instance)| {
                    let row = (of_caller.before(caller)?, of_started.before(started)?);
                    let [caller, started] = [ids.get(&row.0)?, ids.get(&row.1)?];
                    let known = self.started_by(Site { caller: *caller, ..site });
                    known.contains(started).then_some(row)
                };
                let first = Some((caller.clone(), started.clone()));
                let n_before = std::iter::successors(first, before).skip(1).count();
                if n_before < MIN_ROW {
                    continue;
                }
                let (mut caller, mut started) = (caller.clone(), started.clone());
                for _ in 0..n_before {
                    let (Some(next), Some(then)) = (of_caller.after(&caller), of_started.after(&started))
                    else {
                        break;
                    };
                    let Some(&by) = ids.get(&next).filter(|_| (foresight.is_possible)(&then)) else { break };
                    if self.instances.len() >= most {
                        return;
                    }
                    let id = *ids.entry(then.clone()).or_insert_with_key(|new| {
                        self.instances.push(new.clone());
                        InstanceId::new(self.instances.len() - 1)
                    });
                    self.may_start(Site { caller: by, ..site }, id);
                    (caller, started) = (next, then);
                }
            }
        }
    }

    /// The steps from starts by the same statement, by processes with the same or a lower number.
    fn steps_to(
        &self,
        statement: u32,
        caller: &Instance,
        started: &Instance,
        siblings: bool,
    ) -> Vec<(Step, Step)> {
        let mut steps = Vec::new();
        for (index, by) in self.instances.iter().enumerate() {
            let Some(of_caller) = Step::between(by, caller) else { continue };
            if of_caller.slot == 0 && (!siblings || by != caller) {
                continue;
            }
            for id in self.started_by(Site { caller: InstanceId::new(index), statement }) {
                let of_started = Step::between(&self.instances[id.index()], started);
                let differs = |step: &Step| step.slot > 0;
                steps.extend(of_started.filter(differs).map(|of_started| (of_caller.clone(), of_started)));
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use crate::program::ProctypeId;

    use super::*;

    fn process(slot: u32, argument: i32, n_channels: u32) -> Instance {
        let (proctype, arguments) = (ProctypeId::new(0), vec![Some(argument), None]);
        Instance { slot, proctype, arguments, n_channels, priority: 1 }
    }

    /// How often a plan is extended until all starts are there that happen one after the other, each by a process that
    /// another one of them started, or by the first; and how many processes it has then.
    fn n_plans(starts: &[(Instance, Instance)], siblings: bool) -> (usize, usize) {
        let is_possible = |instance: &Instance| instance.slot < 200;
        let foresight = Foresight { is_possible: &is_possible, siblings };
        let mut plan = Plan::default();
        plan.add(starts[0].0.clone());
        let (mut n, mut at) = (0, 0);
        while let Some((caller, started)) = starts.get(at) {
            let caller = plan.add(caller.clone());
            let site = Site { caller, statement: 7 };
            if plan.started_by(site).iter().any(|id| plan.instances()[id.index()] == *started) {
                at += 1;
                continue;
            }
            plan.extend(vec![(site, started.clone())], &|_, _| false, Some(foresight));
            n += 1;
        }
        (n, plan.instances().len())
    }

    #[test]
    fn rows_are_foreseen() {
        let level = |n: u32| process(n, 3 * n as i32, 2 * n);
        let deep: Vec<_> = (0..150).map(|n| (level(n), level(n + 1))).collect();
        let (n, n_processes) = n_plans(&deep, false);
        assert!(n <= 12 && (151..=200).contains(&n_processes), "{n} {n_processes}");
        // Each process starts a few that come later.
        let late = |n: u32| (1..=4).map(move |by| (level(n), level(n + by)));
        let (n, _) = n_plans(&(0..40).flat_map(late).collect::<Vec<_>>(), false);
        assert!(n < 40, "{n} of 160");
        let first = Instance { proctype: ProctypeId::new(1), ..process(0, 0, 0) };
        let wide: Vec<_> = (1..150).map(|n| (first.clone(), level(n))).collect();
        assert!(n_plans(&wide, true).0 <= 12);
        assert_eq!(n_plans(&wide, false), (149, 150));
    }

    #[test]
    fn what_is_no_row_is_not_foreseen() {
        let level = |n: u32| process(n, (n * n) as i32, 0);
        let bent: Vec<_> = (0..30).map(|n| (level(n), level(n + 1))).collect();
        assert_eq!(n_plans(&bent, true), (30, 31));
    }
}
