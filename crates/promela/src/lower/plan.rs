//! Which processes there may be: found out while the model runs.
//!
//! A process gets the number of processes that there are when it starts, and is given values that it often
//! keeps for ever: its channels, its index into arrays. Code for a process is made for its number and for
//! these values, so that relations between actions are exact. Which combinations occur is not known
//! beforehand. A `run` that would start one for which there is no code yet is a fault; its number tells
//! which ([`Plan::extend`]), code is made for it, and the search starts again. Nothing is ever left out: also
//! a search with reduction goes wherever such a fault may be met ([`model::Range::Open`]).
//!
//! Where a proctype is started with many different values of a parameter under one number, it gets code that works for all of
//! them, in which that parameter is a variable: one piece of code per number instead of one per number and value.
//!
//! To begin again for each process takes long where processes start others that start others. So a plan looks ahead:
//! what was started three times in equal distances goes on ([`foresight`](Plan::foresee)), and where a proctype starts
//! itself again and again, the first signs of different values and numbers are enough (`recursion`).

mod foresight;
mod recursion;

use base::define_id;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::foresight::Foresight;
use crate::program::{ProctypeId, Type};

define_id! {
    /// A process for which there is code.
    pub(crate) struct InstanceId;
}

/// A process that may be started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Instance {
    /// Its number: how many processes there are before it.
    pub(crate) slot: u32,
    pub(crate) proctype: ProctypeId,
    /// The values of the parameters that it never changes; nothing for the others.
    pub(crate) arguments: Vec<Option<i32>>,
    /// How many channels there are before its own, if it has some.
    pub(crate) n_channels: u32,
    /// The priority that it starts with.
    pub(crate) priority: u32,
}

/// A `run` in the code of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site {
    pub(crate) caller: InstanceId,
    pub(crate) statement: u32,
}

/// With more than this of one proctype and number, the code of the proctype works for all values of the parameters that
/// have most.
const MAX_SPECIAL: usize = 8;

/// The processes that were met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    instances: Vec<Instance>,
    starts: FxHashMap<Site, Vec<InstanceId>>,
    /// The parameters for all values of which the code of a proctype works.
    general: FxHashSet<(ProctypeId, usize)>,
}

impl Plan {
    pub(crate) fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// What a `run` may start.
    pub(crate) fn started_by(&self, site: Site) -> &[InstanceId] {
        self.starts.get(&site).map_or(&[], Vec::as_slice)
    }

    /// Adds a process that is there from the start.
    pub(crate) fn add(&mut self, instance: Instance) -> InstanceId {
        match self.instances.iter().position(|known| *known == instance) {
            Some(known) => InstanceId::new(known),
            None => {
                self.instances.push(instance);
                InstanceId::new(self.instances.len() - 1)
            }
        }
    }

    /// Leaves out all processes of which this is not true.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(InstanceId) -> bool) {
        let mut ids = Vec::new();
        let all = std::mem::take(&mut self.instances);
        for (index, instance) in all.into_iter().enumerate() {
            let kept = is_kept(InstanceId::new(index)).then(|| self.add(instance));
            ids.push(kept);
        }
        let kept = |id: &InstanceId| ids[id.index()];
        let start = |(site, started): (Site, Vec<InstanceId>)| {
            let started: Vec<InstanceId> = started.iter().filter_map(kept).collect();
            Some((Site { caller: kept(&site.caller)?, ..site }, started))
        };
        self.starts = std::mem::take(&mut self.starts).into_iter().filter_map(start).collect();
    }

    /// Makes the values of some parameters unknown.
    pub(crate) fn forget(&mut self, is_unknown: impl Fn(&Instance, usize) -> bool) {
        for instance in &mut self.instances {
            for parameter in 0..instance.arguments.len() {
                if is_unknown(instance, parameter) {
                    instance.arguments[parameter] = None;
                }
            }
        }
    }

    /// Adds what `run`s were about to start, and what is foreseen then. Told is which parameters are channels.
    pub(crate) fn extend(
        &mut self,
        starts: Vec<(Site, Instance)>,
        is_channel: &dyn Fn(ProctypeId, usize) -> bool,
        foresight: Option<Foresight<'_>>,
    ) {
        let mut met: Vec<ProctypeId> = Vec::new();
        let mut added = Vec::new();
        for (site, mut instance) in starts {
            let proctype = instance.proctype;
            self.forget_general(&mut instance);
            if !met.contains(&proctype) {
                met.push(proctype);
            }
            let id = self.add(instance);
            self.may_start(site, id);
            added.push((site, id));
        }
        if let Some(foresight) = foresight {
            self.foresee(&added, foresight);
        }
        // Not before, since the sites know their callers by their numbers so far.
        for proctype in met {
            while let Some(parameters) = self.most_special(proctype) {
                self.generalize(proctype, &parameters);
            }
        }
        self.generalize_recursion(is_channel);
        if let Some(foresight) = foresight {
            self.foresee_recursion(foresight);
        }
    }

    fn may_start(&mut self, site: Site, id: InstanceId) {
        let started = self.starts.entry(site).or_default();
        if !started.contains(&id) {
            started.push(id);
        }
    }

    fn forget_general(&self, instance: &mut Instance) {
        let proctype = instance.proctype;
        for (parameter, argument) in instance.arguments.iter_mut().enumerate() {
            if self.general.contains(&(proctype, parameter)) {
                *argument = None;
            }
        }
    }

    /// If a proctype has too many arguments under one number: the parameters that have the most values there.
    fn most_special(&self, proctype: ProctypeId) -> Option<Vec<usize>> {
        let mut of_slot: FxHashMap<u32, Vec<&Instance>> = FxHashMap::default();
        for instance in self.instances.iter().filter(|instance| instance.proctype == proctype) {
            of_slot.entry(instance.slot).or_default().push(instance);
        }
        let (_, instances) =
            of_slot.into_iter().filter(|(_, its)| its.len() > MAX_SPECIAL).min_by_key(|(slot, _)| *slot)?;
        let n_values = |parameter: usize| {
            let values = instances.iter().filter_map(|instance| instance.arguments[parameter]);
            values.collect::<FxHashSet<i32>>().len()
        };
        let counts: Vec<usize> = (0..instances[0].arguments.len()).map(n_values).collect();
        let most = counts.iter().copied().max().filter(|&most| most > 1)?;
        Some((0..counts.len()).filter(|&parameter| counts[parameter] == most).collect())
    }

    /// Makes one process of those of a proctype that differ in these arguments alone.
    fn generalize(&mut self, proctype: ProctypeId, parameters: &[usize]) {
        self.general.extend(parameters.iter().map(|&parameter| (proctype, parameter)));
        let mut ids = Vec::new();
        for mut instance in std::mem::take(&mut self.instances) {
            self.forget_general(&mut instance);
            ids.push(self.add(instance));
        }
        let mut starts: Vec<(Site, Vec<InstanceId>)> = std::mem::take(&mut self.starts).into_iter().collect();
        starts.sort_unstable();
        for (site, started) in starts {
            let site = Site { caller: ids[site.caller.index()], ..site };
            started.into_iter().for_each(|id| self.may_start(site, ids[id.index()]));
        }
    }
}

/// How the start of a process is told by one number: its own, the channels, then the values.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    /// Per parameter: least value and number of bits, if its value is told.
    fields: Vec<Option<(i32, u32)>>,
}

const SLOT_BITS: u32 = 8;
const CHANNEL_BITS: u32 = 8;
const MAX_BITS: u32 = 62;

impl Ticket {
    /// For parameters of these types, of which some never change.
    pub(crate) fn new(parameters: impl Iterator<Item = (Type, bool)>) -> Ticket {
        let mut n_bits = SLOT_BITS + CHANNEL_BITS;
        let field = |(ty, is_constant): (Type, bool)| {
            let (lo, hi) = ty.range();
            let bits = 64 - (i64::from(hi) - i64::from(lo)).leading_zeros();
            let fits = is_constant && n_bits + bits <= MAX_BITS;
            n_bits += if fits { bits } else { 0 };
            fits.then_some((lo, bits))
        };
        Ticket { fields: parameters.map(field).collect() }
    }

    /// Whether it can tell of a process.
    pub(crate) fn has_room_for(&self, instance: &Instance) -> bool {
        let fits = |(field, argument): (&Option<(i32, u32)>, &Option<i32>)| match (field, argument) {
            (Some((lo, bits)), Some(argument)) => {
                (0..1i64 << bits).contains(&(i64::from(*argument) - i64::from(*lo)))
            }
            _ => true,
        };
        instance.slot < 1 << SLOT_BITS
            && instance.n_channels < 1 << CHANNEL_BITS
            && self.fields.iter().zip(&instance.arguments).all(fits)
    }

    /// Whether the value of a parameter is told.
    pub(crate) fn tells(&self, parameter: usize) -> bool {
        self.fields[parameter].is_some()
    }

    /// What a parameter's value counts in the number: what is to be subtracted, and a power of two.
    pub(crate) fn weights(&self) -> Vec<Option<(i32, u32)>> {
        let mut at = SLOT_BITS + CHANNEL_BITS;
        let weight = |field: &Option<(i32, u32)>| {
            field.map(|(lo, bits)| {
                at += bits;
                (lo, at - bits)
            })
        };
        self.fields.iter().map(weight).collect()
    }

    /// What the number of channels counts in the number, as a power of two.
    pub(crate) const CHANNEL_WEIGHT: u32 = SLOT_BITS;

    /// What a number tells.
    pub(crate) fn read(&self, proctype: ProctypeId, number: i64) -> Instance {
        let part = |at: u32, bits: u32| (number >> at) & ((1i64 << bits) - 1);
        let mut at = SLOT_BITS + CHANNEL_BITS;
        let argument = |field: &Option<(i32, u32)>| {
            field.map(|(lo, bits)| {
                at += bits;
                (part(at - bits, bits) + i64::from(lo)) as i32
            })
        };
        Instance {
            slot: part(0, SLOT_BITS) as u32,
            proctype,
            n_channels: part(SLOT_BITS, CHANNEL_BITS) as u32,
            priority: 1,
            arguments: self.fields.iter().map(argument).collect(),
        }
    }
}
