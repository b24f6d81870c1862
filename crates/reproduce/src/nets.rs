//! The nets of [bensalem.12.topnoc]'s benchmark, written from the literature as texts in PNML.
//!
//! - *Kanban*: Ciardo and Tilgner, *On the use of Kronecker operators for the solution of generalized
//!   stochastic Petri nets* (1996). Four cells; scale: kanbans per cell.
//! - *FMS*, a flexible manufacturing system: Ciardo and Trivedi, *A decomposition approach for stochastic
//!   reward net models* (1993). Scale: parts of each kind.
//! - *Ring*, the slotted ring: Pastor, Roig, Cortadella and Badia, *Petri net analysis using Boolean
//!   manipulation* (1994). Scale: nodes.
//! - *Peterson*: Peterson, *Myths about the mutual exclusion problem* (1981), generalized to several
//!   processes; its reading of the other levels is ours. Scale: processes.
//! - *MAPK*, a cascade of protein kinases: Heiner, Gilbert and Donaldson, *Petri nets for systems and
//!   synthetic biology* (2008). Scale as in the Model Checking Contest: 8 gives 8 tokens in `Raf`.
//! - *PolyORB-like*: a middleware with leader and followers, after Hugues and others, *On the formal
//!   verification of middleware behavioral properties* (2004). The net of the paper is not published with it;
//!   ours is much smaller, and has the same two moments of interest per source. Scale: sources, with as
//!   many jobs, and two threads.

use std::fmt::Write as _;

use stubborn::{Session, base, petri};

use crate::lab::Halt;
use crate::subject::open;

base::define_words! {
    /// A net of the benchmark.
    pub(crate) enum Family {
        Kanban = "Kanban",
        Fms = "FMS",
        Ring = "Ring",
        Peterson = "Peterson",
        Mapk = "MAPK",
        Polyorb = "PolyORB-like",
    }
}

impl Family {
    /// The name of its file.
    pub(crate) fn file(self, scale: u32) -> String {
        format!("nets/{}-{scale}.pnml", self.name().to_lowercase())
    }

    fn draft(self, scale: u32) -> Draft {
        let mut net = Draft::new(self.name());
        match self {
            Family::Kanban => kanban(&mut net, scale),
            Family::Fms => fms(&mut net, scale),
            Family::Ring => ring(&mut net, scale),
            Family::Peterson => peterson(&mut net, scale),
            Family::Mapk => mapk(&mut net, scale),
            Family::Polyorb => polyorb(&mut net, scale),
        }
        net
    }

    /// The text of its file.
    pub(crate) fn pnml(self, scale: u32) -> String {
        self.draft(scale).to_pnml()
    }

    /// The names of its places.
    pub(crate) fn places(self, scale: u32) -> Vec<String> {
        self.draft(scale).places.into_iter().map(|(name, _)| name).collect()
    }

    /// The net, ready to be searched.
    pub(crate) fn open(self, scale: u32) -> Result<Session, Halt> {
        open(&petri::LANGUAGE, &self.file(scale), &self.pnml(scale), Vec::new())
    }
}

/// A net that is being written: places with tokens, transitions with the places before and after them.
struct Draft {
    id: &'static str,
    places: Vec<(String, u32)>,
    transitions: Vec<(String, Vec<String>, Vec<String>)>,
}

impl Draft {
    fn new(id: &'static str) -> Draft {
        Draft { id, places: Vec::new(), transitions: Vec::new() }
    }

    fn place(&mut self, name: impl Into<String>, tokens: u32) {
        self.places.push((name.into(), tokens));
    }

    /// A transition; names of places are separated by blanks.
    fn transition(&mut self, name: impl Into<String>, inputs: &str, outputs: &str) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        self.transitions.push((name.into(), words(inputs), words(outputs)));
    }

    fn to_pnml(&self) -> String {
        // Writing to a string cannot fail.
        let mut text = format!(
            "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
             <net id=\"{}\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"page\">\n",
            self.id
        );
        for (name, tokens) in &self.places {
            _ = write!(text, "<place id=\"{name}\">");
            if *tokens > 0 {
                _ = write!(text, "<initialMarking><text>{tokens}</text></initialMarking>");
            }
            text += "</place>\n";
        }
        let mut n_arcs = 0;
        for (name, inputs, outputs) in &self.transitions {
            _ = writeln!(text, "<transition id=\"{name}\"/>");
            let inputs = inputs.iter().map(|place| (place, name));
            for (source, target) in inputs.chain(outputs.iter().map(|place| (name, place))) {
                _ = writeln!(text, "<arc id=\"arc{n_arcs}\" source=\"{source}\" target=\"{target}\"/>");
                n_arcs += 1;
            }
        }
        text + "</page></net>\n</pnml>\n"
    }
}

fn kanban(net: &mut Draft, n: u32) {
    for cell in 1..=4 {
        net.place(format!("Pm{cell}"), 0);
        net.place(format!("Pback{cell}"), 0);
        net.place(format!("Pout{cell}"), 0);
        net.place(format!("P{cell}"), n);
        net.transition(format!("tredo{cell}"), &format!("Pm{cell}"), &format!("Pback{cell}"));
        net.transition(format!("tback{cell}"), &format!("Pback{cell}"), &format!("Pm{cell}"));
        net.transition(format!("tok{cell}"), &format!("Pm{cell}"), &format!("Pout{cell}"));
    }
    net.transition("tin1", "P1", "Pm1");
    net.transition("tsynch1_23", "Pout1 P2 P3", "P1 Pm2 Pm3");
    net.transition("tsynch23_4", "Pout2 Pout3 P4", "P2 P3 Pm4");
    net.transition("tout4", "Pout4", "P4");
}

fn fms(net: &mut Draft, n: u32) {
    for part in [1, 2] {
        for (suffix, tokens) in [("", n), ("wM", 0), ("M", 0), ("d", 0), ("s", 0), ("wP", 0)] {
            net.place(format!("P{part}{suffix}"), tokens);
        }
        let machine = format!("M{part}");
        net.place(machine.clone(), if part == 1 { 3 } else { 1 });
        let p = format!("P{part}");
        net.transition(format!("t{p}"), &p, &format!("{p}wM"));
        net.transition(format!("t{p}load"), &format!("{p}wM {machine}"), &format!("{p}M"));
        net.transition(format!("t{p}done"), &format!("{p}M"), &format!("{p}d {machine}"));
        net.transition(format!("t{p}ship"), &format!("{p}d"), &format!("{p}s"));
        net.transition(format!("t{p}join"), &format!("{p}d"), &format!("{p}wP"));
        net.transition(format!("t{p}s"), &format!("{p}s"), &p);
    }
    for (name, tokens) in
        [("P12", 0), ("P12wM3", 0), ("P12M3", 0), ("P12s", 0), ("M3", 2), ("P3", n), ("P3M2", 0), ("P3s", 0)]
    {
        net.place(name, tokens);
    }
    net.transition("tx", "P1wP P2wP", "P12");
    net.transition("tP12", "P12", "P12wM3");
    net.transition("tM3", "P12wM3 M3", "P12M3");
    net.transition("tP12M3", "P12M3", "P12s M3");
    net.transition("tP12s", "P12s", "P1 P2");
    net.transition("tP3", "P3", "P3M2");
    net.transition("tP3M2", "P3M2 M2", "P3s M2");
    net.transition("tP3s", "P3s", "P3");
}

/// A node has a slot to hand on, free or full, and a handshake with the next node: `ready` to prepare a slot,
/// or `clear` to send it. Eight places per node, as in later versions, where what only acknowledges is left
/// out.
fn ring(net: &mut Draft, n: u32) {
    for i in 0..n {
        let (next, previous) = ((i + 1) % n, (i + n - 1) % n);
        for name in ["freed", "free_out", "ready", "clear", "full_in", "free_in", "to_fill", "full_out"] {
            net.place(format!("{name}_{i}"), u32::from(name == "free_out" || name == "clear"));
        }
        let mut transition = |name: &str, inputs: &str, outputs: &str| {
            net.transition(format!("{name}_{i}"), inputs, outputs);
        };
        transition("give", &format!("freed_{i} ready_{i}"), &format!("free_out_{i} clear_{previous}"));
        transition("send_free", &format!("free_out_{i} clear_{i}"), &format!("ready_{i} free_in_{next}"));
        transition("other", &format!("full_in_{i}"), &format!("to_fill_{i}"));
        transition("owner", &format!("full_in_{i}"), &format!("free_in_{i}"));
        transition("go", &format!("free_in_{i}"), &format!("freed_{i}"));
        transition("write", &format!("free_in_{i}"), &format!("to_fill_{i}"));
        transition("put", &format!("ready_{i} to_fill_{i}"), &format!("clear_{previous} full_out_{i}"));
        transition("send_full", &format!("clear_{i} full_out_{i}"), &format!("ready_{i} full_in_{next}"));
    }
}

/// A process climbs n - 1 levels. On each it says that it is there, then that it came last; it goes on if all
/// others, looked at one after the other, are lower, or if somebody came after it.
fn peterson(net: &mut Draft, n: u32) {
    for i in 0..n {
        net.place(format!("idle_{i}"), 1);
        net.place(format!("critical_{i}"), 0);
        for l in 0..n {
            net.place(format!("level_{i}_{l}"), u32::from(l == 0));
        }
        for l in 1..n {
            net.place(format!("raised_{i}_{l}"), 0);
            for k in (0..n).filter(|k| *k != i) {
                net.place(format!("look_{i}_{l}_{k}"), 0);
            }
            net.place(format!("last_{l}_{i}"), u32::from(i == 0));
        }
    }
    for i in 0..n {
        net.transition(
            format!("try_{i}"),
            &format!("idle_{i} level_{i}_0"),
            &format!("raised_{i}_1 level_{i}_1"),
        );
        for l in 1..n {
            let others: Vec<u32> = (0..n).filter(|k| *k != i).collect();
            // Behind the last look: the next level, or the critical section.
            let (up_in, up_out) = if l + 1 < n {
                (format!(" level_{i}_{l}"), format!(" raised_{i}_{0} level_{i}_{0}", l + 1))
            } else {
                (String::new(), format!(" critical_{i}"))
            };
            for j in 0..n {
                let start = format!("raised_{i}_{l} last_{l}_{j}");
                let begun = format!("look_{i}_{l}_{} last_{l}_{i}", others[0]);
                net.transition(format!("came_{i}_{l}_{j}"), &start, &begun);
            }
            for (index, k) in others.iter().enumerate() {
                let here = format!("look_{i}_{l}_{k}");
                for lower in 0..l {
                    let seen = format!("level_{k}_{lower}");
                    let (input, output) = match others.get(index + 1) {
                        Some(next) => (format!("{here} {seen}"), format!("look_{i}_{l}_{next} {seen}")),
                        None => (format!("{here} {seen}{up_in}"), format!("{seen}{up_out}")),
                    };
                    net.transition(format!("below_{i}_{l}_{k}_{lower}"), &input, &output);
                }
                for j in &others {
                    let last = format!("last_{l}_{j}");
                    let input = format!("{here} {last}{up_in}");
                    net.transition(format!("after_{i}_{l}_{k}_{j}"), &input, &format!("{last}{up_out}"));
                }
            }
        }
        let top = n - 1;
        net.transition(
            format!("leave_{i}"),
            &format!("critical_{i} level_{i}_{top}"),
            &format!("idle_{i} level_{i}_0"),
        );
    }
}

fn mapk(net: &mut Draft, n: u32) {
    // What is free at first; the scale is the number of tokens in Raf.
    let free = [
        ("Raf", n),
        ("RafP", 0),
        ("MEK", n / 2),
        ("MEKP", 0),
        ("MEKPP", 0),
        ("ERK", 3 * n / 4),
        ("ERKP", 0),
        ("ERKPP", 0),
        ("RasGTP", n / 4),
        ("Phase1", 3 * n / 4),
        ("Phase2", n / 2),
        ("Phase3", 3 * n / 4),
    ];
    for (name, tokens) in free {
        net.place(name, tokens);
    }
    // Substrate and enzyme bind, and part again: as before, or with the substrate changed.
    let reactions = [
        ("Raf", "RasGTP", "RafP"),
        ("RafP", "Phase1", "Raf"),
        ("MEK", "RafP", "MEKP"),
        ("MEKP", "RafP", "MEKPP"),
        ("MEKP", "Phase2", "MEK"),
        ("MEKPP", "Phase2", "MEKP"),
        ("ERK", "MEKPP", "ERKP"),
        ("ERKP", "MEKPP", "ERKPP"),
        ("ERKP", "Phase3", "ERK"),
        ("ERKPP", "Phase3", "ERKP"),
    ];
    for (substrate, enzyme, product) in reactions {
        let complex = format!("{substrate}_{enzyme}");
        net.place(complex.clone(), 0);
        net.transition(format!("bind_{complex}"), &format!("{substrate} {enzyme}"), &complex);
        net.transition(format!("part_{complex}"), &complex, &format!("{substrate} {enzyme}"));
        net.transition(format!("make_{complex}"), &complex, &format!("{product} {enzyme}"));
    }
}

/// The leader looks at the sources in turn. It takes a message, puts a job into a slot, and is a follower
/// again; a follower becomes the leader if there is none, or does a job.
fn polyorb(net: &mut Draft, sources: u32) {
    const THREADS: u32 = 2;
    net.place("slots", sources);
    net.place("no_leader", 1);
    for s in 1..=sources {
        net.place(format!("quiet_{s}"), 1);
        net.place(format!("MSrc_{s}"), 0);
        net.place(format!("queued_{s}"), 0);
        net.place(format!("next_{s}"), u32::from(s == 1));
        net.transition(format!("arrive_{s}"), &format!("quiet_{s}"), &format!("MSrc_{s}"));
    }
    for t in 1..=THREADS {
        net.place(format!("follower_{t}"), 1);
        net.place(format!("scheduling_{t}"), 0);
        net.transition(format!("lead_{t}"), &format!("follower_{t} no_leader"), &format!("scheduling_{t}"));
        for s in 1..=sources {
            let next = s % sources + 1;
            net.place(format!("polling_{t}_{s}"), 0);
            net.place(format!("holding_{t}_{s}"), 0);
            net.place(format!("DOSrc_{t}_{s}"), 0);
            net.place(format!("done_{t}_{s}"), 0);
            let mut transition = |name: &str, inputs: &str, outputs: &str| {
                net.transition(format!("{name}_{t}_{s}"), inputs, outputs);
            };
            transition("poll", &format!("scheduling_{t} next_{s}"), &format!("polling_{t}_{s}"));
            transition(
                "nothing",
                &format!("polling_{t}_{s} quiet_{s}"),
                &format!("scheduling_{t} next_{next} quiet_{s}"),
            );
            transition(
                "detect",
                &format!("polling_{t}_{s} MSrc_{s} slots"),
                &format!("holding_{t}_{s} next_{next}"),
            );
            transition("enqueue", &format!("holding_{t}_{s}"), &format!("queued_{s} follower_{t} no_leader"));
            transition("fetch", &format!("follower_{t} queued_{s}"), &format!("DOSrc_{t}_{s}"));
            transition("perform", &format!("DOSrc_{t}_{s}"), &format!("done_{t}_{s} slots"));
            transition("answer", &format!("done_{t}_{s}"), &format!("follower_{t} quiet_{s}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use stubborn::{Clock, Limits};

    use super::*;
    use crate::subject::plain;

    #[test]
    fn the_nets_have_as_many_states_as_the_literature_says() {
        for (family, scale, states) in [
            (Family::Kanban, 1, 160),
            (Family::Kanban, 2, 4_600),
            (Family::Kanban, 3, 58_400),
            (Family::Fms, 2, 3_444),
            (Family::Ring, 2, 52),
            (Family::Ring, 3, 504),
            (Family::Ring, 4, 5_136),
            (Family::Ring, 5, 53_856),
        ] {
            let clock = Clock::start(&Limits::default());
            let explored = family.open(scale).unwrap().explore(None, &plain(), false, &clock).unwrap();
            assert!(explored.report.complete && explored.report.states == states, "{family:?} {scale}");
        }
    }

    #[test]
    fn the_large_nets_have_as_many_nodes_as_the_paper_says() {
        for (family, scale, places, transitions) in
            [(Family::Kanban, 5, 16, 16), (Family::Fms, 5, 22, 20), (Family::Mapk, 8, 22, 30)]
        {
            let net = family.open(scale).unwrap().info();
            assert_eq!((family.places(scale).len(), net.actions), (places, transitions));
        }
    }
}
