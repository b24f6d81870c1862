//! Which processes there may be: found out while the model runs.
//!
//! A process gets the number of processes that there are when it starts, and is given values that it often
//! keeps for ever: its channels, its index into arrays. Code for a process is made for its number and for
//! these values, so that relations between actions are exact. Which combinations occur is not known
//! beforehand. A `run` that would start one for which there is no code yet is a fault; its number tells
//! which ([`Plan::extend`]), code is made for it, and the search starts again. Nothing is ever left out: also
//! a search with reduction goes wherever such a fault may be met ([`model::Range::Open`]).
//!
//! A proctype that is started with many different values under one number gets code that works for all of them, in
//! which its parameters are variables: one piece of code per number instead of one per number and values.

use base::define_id;
use rustc_hash::{FxHashMap, FxHashSet};

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

/// With more than this of one proctype and number, the code of the proctype works for all arguments.
const MAX_SPECIAL: usize = 8;

/// The processes that were met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    instances: Vec<Instance>,
    starts: FxHashMap<Site, Vec<InstanceId>>,
    /// The proctypes whose code works for all arguments.
    general: FxHashSet<ProctypeId>,
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

    /// Adds what `run`s were about to start.
    pub(crate) fn extend(&mut self, starts: Vec<(Site, Instance)>) {
        let mut met: Vec<ProctypeId> = Vec::new();
        for (site, mut instance) in starts {
            let proctype = instance.proctype;
            if self.general.contains(&proctype) {
                instance.arguments.fill(None);
            } else if !met.contains(&proctype) {
                met.push(proctype);
            }
            let id = self.add(instance);
            self.may_start(site, id);
        }
        // Not before, since the sites know their callers by their numbers so far.
        for proctype in met {
            if self.is_special(proctype) {
                self.generalize(proctype);
            }
        }
    }

    fn may_start(&mut self, site: Site, id: InstanceId) {
        let started = self.starts.entry(site).or_default();
        if !started.contains(&id) {
            started.push(id);
        }
    }

    /// Whether a proctype has too many arguments under one number.
    fn is_special(&self, proctype: ProctypeId) -> bool {
        let mut n_of_slot: FxHashMap<u32, usize> = FxHashMap::default();
        let its = self.instances.iter().filter(|instance| instance.proctype == proctype);
        its.into_iter().any(|instance| {
            let n = n_of_slot.entry(instance.slot).or_default();
            *n += 1;
            *n > MAX_SPECIAL
        })
    }

    /// Makes one process of those of a proctype that differ in their arguments alone.
    fn generalize(&mut self, proctype: ProctypeId) {
        self.general.insert(proctype);
        let mut ids = Vec::new();
        for mut instance in std::mem::take(&mut self.instances) {
            if instance.proctype == proctype {
                instance.arguments.fill(None);
            }
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
