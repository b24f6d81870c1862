//! Searches for several processes, perhaps on several machines.
//!
//! Every process runs the same program on the same model ([`Peers`](base::Peers)), and comes to the same searches. In one of
//! these, each process has the states that are its own by their hash, in a store as on one machine. What a process finds that is not its own, it
//! sends to the owner. All go from round to round together, as threads do ([`parallel`](crate::parallel)), so counts, verdicts and
//! shortest runs are those of one machine; and in the end everybody has the same answer.
//!
//! | module | does |
//! |---|---|
//! | `exchange` | steps: what is sent in one arrives in it, and everybody hears what all others say at its end |
//! | `states` | deadlocks, invariants, faults, counts: by rounds |
//! | `expand` | the states of a round are expanded, with or without reduction |
//! | `backward` | runs, found by going back through the rounds |
//!
//! A limit that one process reaches ends the search for all, at the end of the step. A process that is gone ends it at once.

mod backward;
mod exchange;
mod expand;
mod states;

pub(crate) use states::search as states;
