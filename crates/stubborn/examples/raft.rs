//! Raft, made of actors: elections and log replication, on a network that loses messages, with a crash.
//!
//! `cargo run --release --example raft`
//!
//! The servers say what they do with a message, when a timer rings, and what survives a crash. What must never happen: two leaders in one term, or two servers that disagree on what is
//! committed. What should happen: once there is a leader that nobody challenges, what it has in its log is committed.
//!
//! The paper: Ongaro and Ousterhout, *In Search of an Understandable Consensus Algorithm*, 2014. What is left out:
//! entries are sent as whole logs, and terms and logs are short, so that there are finitely many states.
#![allow(clippy::print_stdout)] // An example shows what it finds.

use std::collections::{BTreeMap, BTreeSet};

use stubborn::embed::actors::{Actor, Actors, Id, Network, Out, World};
use stubborn::{assert_always, assert_holds};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Role {
    #[default]
    Follower,
    Candidate,
    Leader,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Server {
    role: Role,
    term: u8,
    voted_for: Option<Id>,
    votes: BTreeSet<Id>,
    /// The terms of the entries; what is in them does not matter.
    log: Vec<u8>,
    committed: usize,
    /// As a leader: how much of the log others are known to have.
    acknowledged: BTreeMap<Id, usize>,
}

/// The sender's term, and what it says.
type Msg = (u8, Says);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Says {
    /// Vote for me: this is the term of my last entry, and the length of my log.
    RequestVote((u8, usize)),
    Vote,
    Append {
        log: Vec<u8>,
        committed: usize,
    },
    Acknowledge(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Timer {
    Election,
    Heartbeat,
    /// Not a timer, really: a client that wants something.
    Request,
}

/// Terms and entries are counted up to this.
struct Raft {
    terms: u8,
    entries: usize,
}

impl Server {
    fn last(&self) -> (u8, usize) {
        (self.log.last().copied().unwrap_or(0), self.log.len())
    }

    /// Whoever hears of a later term follows.
    fn hear_of(&mut self, term: u8) {
        if term > self.term {
            let (log, committed) = (self.log.clone(), self.committed);
            *self = Server { term, log, committed, ..Server::default() };
        }
    }
}

impl Actor for Raft {
    type Local = Server;
    type Msg = Msg;
    type Timer = Timer;

    fn start(&self, _: Id, _: &mut Out<Msg>) -> Server {
        Server::default()
    }

    fn timers(&self, _: Id, server: &Server, timers: &mut Vec<Timer>) {
        if server.role == Role::Leader {
            timers.push(Timer::Heartbeat);
            if server.log.len() < self.entries {
                timers.push(Timer::Request);
            }
        } else if server.term < self.terms {
            timers.push(Timer::Election);
        }
    }

    fn on_timer(&self, me: Id, server: &mut Server, timer: &Timer, out: &mut Out<Msg>) {
        match timer {
            Timer::Election => {
                server.hear_of(server.term + 1);
                (server.role, server.voted_for, server.votes) = (Role::Candidate, Some(me), [me].into());
                out.broadcast((server.term, Says::RequestVote(server.last())));
            }
            Timer::Heartbeat => {
                let (log, committed) = (server.log.clone(), server.committed);
                out.broadcast((server.term, Says::Append { log, committed }));
            }
            Timer::Request => server.log.push(server.term),
        }
    }

    fn on_msg(&self, _: Id, server: &mut Server, from: Id, (term, says): &Msg, out: &mut Out<Msg>) {
        server.hear_of(*term);
        if *term < server.term {
            return; // Old news.
        }
        let is_majority = |n: usize| 2 * n > out.n_actors();
        match says {
            Says::RequestVote(last)
                if *last >= server.last() && server.voted_for.is_none_or(|voted| voted == from) =>
            {
                server.voted_for = Some(from);
                out.send(from, (*term, Says::Vote));
            }
            Says::Vote if server.role == Role::Candidate => {
                server.votes.insert(from);
                if is_majority(server.votes.len()) {
                    (server.role, server.votes) = (Role::Leader, BTreeSet::new());
                }
            }
            Says::Append { log, committed } => {
                (server.role, server.votes) = (Role::Follower, BTreeSet::new());
                // A message that was overtaken by a later one of the same leader has less.
                if log.len() >= server.log.len() || !server.log.starts_with(log) {
                    server.log.clone_from(log);
                }
                server.committed = server.committed.max(*committed);
                out.send(from, (*term, Says::Acknowledge(log.len())));
            }
            Says::Acknowledge(len) if server.role == Role::Leader => {
                let known = server.acknowledged.entry(from).or_insert(0);
                *known = (*known).max(*len);
                // An entry of its own term that a majority has is committed, and all before it.
                for end in server.committed + 1..=server.log.len() {
                    let have_it = 1 + server.acknowledged.values().filter(|&&len| len >= end).count();
                    if server.log[end - 1] == server.term && is_majority(have_it) {
                        server.committed = end;
                    }
                }
            }
            _ => {}
        }
    }

    /// Terms, votes and logs are kept on disk.
    fn crash(&self, _: Id, server: &mut Server) {
        let Server { term, voted_for, ref log, .. } = *server;
        *server = Server { term, voted_for, log: log.clone(), ..Server::default() };
    }
}

/// At most one leader in a term.
fn one_leader(world: &World<Msg>) -> bool {
    let mut leaders = world.all::<Server>().filter(|server| server.role == Role::Leader);
    let mut terms = BTreeSet::new();
    leaders.all(|leader| terms.insert(leader.term))
}

/// What two servers have committed is the same, as far as both have.
fn agreed(world: &World<Msg>) -> bool {
    let agree = |a: &Server, b: &Server| {
        let both = a.committed.min(b.committed);
        a.log.get(..both).is_some_and(|committed| b.log.starts_with(committed))
    };
    world.all::<Server>().all(|a| world.all::<Server>().all(|b| agree(a, b)))
}

/// Checks safety with a crash on a network that does whatever it likes, and liveness on one that loses messages.
pub(crate) fn main() {
    let servers = |terms| Actors::new().add_many(3, "server", Raft { terms, entries: 1 });
    let safe = servers(2).network(Network::unordered().duplicating()).crashes(1).restarts();
    let check = safe.check().prop("safe", |world| one_leader(world) && agreed(world));
    println!("one leader in a term, and servers agree: {}", assert_always!(check, "safe"));

    // A leader of the last term is not challenged. Messages may get lost, but not all of them: the network is fair.
    let live = servers(1).network(Network::unordered().lossy().at_most(1));
    let leads = |server: &Server| server.role == Role::Leader && !server.log.is_empty();
    let check = live
        .check()
        .prop("logged", move |world| world.all().any(leads))
        .prop("committed", |world| world.all::<Server>().filter(|server| server.committed == 1).count() >= 2)
        .weakly_fair();
    assert!(check.ltl("[] (logged -> <> committed)").is_violated(), "everything may get lost");
    println!("entries are committed: {}", assert_holds!(check.fair_network(), "[] (logged -> <> committed)"));
}
