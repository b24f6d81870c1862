//! Elections of Raft with restarts, on a network that keeps every message: as actors for Stubborn, and as a plain model,
//! which is the fastest that stateright can be given. Both have the same states.

use std::collections::BTreeSet;

use stubborn::Model;
use stubborn::embed::actors::{Actor, Actors, Id, Network, Out, World};

use crate::Safe;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Role {
    Follower,
    Candidate,
    Leader,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Server {
    pub role: Role,
    pub term: u8,
    pub voted_for: Option<u8>,
    pub votes: BTreeSet<u8>,
}

impl Server {
    fn follower(term: u8) -> Server {
        Server { role: Role::Follower, term, voted_for: None, votes: BTreeSet::new() }
    }
}

/// At most one leader in a term.
fn one_leader<'s>(servers: impl Iterator<Item = &'s Server> + Clone) -> bool {
    let leaders = servers.filter(|server| server.role == Role::Leader);
    leaders.clone().enumerate().all(|(k, a)| leaders.clone().skip(k + 1).all(|b| a.term != b.term))
}

#[derive(Clone)]
pub struct Raft {
    pub servers: usize,
    pub terms: u8,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Msg {
    RequestVote { term: u8 },
    Vote { term: u8 },
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Timer {
    Election,
    Restart,
}

impl Raft {
    fn timers(&self, server: &Server) -> impl Iterator<Item = Timer> {
        let election = server.role != Role::Leader && server.term < self.terms;
        let restart = server.role != Role::Follower;
        election.then_some(Timer::Election).into_iter().chain(restart.then_some(Timer::Restart))
    }

    /// Returns whether votes are asked for.
    fn ring(server: &mut Server, me: u8, timer: Timer) -> Option<u8> {
        match timer {
            Timer::Election => {
                let term = server.term + 1;
                *server = Server { role: Role::Candidate, term, voted_for: Some(me), votes: [me].into() };
                Some(term)
            }
            Timer::Restart => {
                server.role = Role::Follower;
                server.votes.clear();
                None
            }
        }
    }

    /// Returns whether the vote is given.
    fn hear(&self, server: &mut Server, from: u8, msg: Msg) -> bool {
        match msg {
            Msg::RequestVote { term } => {
                if term > server.term {
                    *server = Server::follower(term);
                }
                let votes = term == server.term && server.voted_for.is_none();
                if votes {
                    server.voted_for = Some(from);
                }
                votes
            }
            Msg::Vote { term } => {
                if server.role == Role::Candidate && term == server.term {
                    server.votes.insert(from);
                    if 2 * server.votes.len() > self.servers {
                        server.role = Role::Leader;
                    }
                }
                false
            }
        }
    }
}

impl Actor for Raft {
    type Local = Server;
    type Msg = Msg;
    type Timer = Timer;

    fn start(&self, _: Id, _: &mut Out<Msg>) -> Server {
        Server::follower(0)
    }

    fn timers(&self, _: Id, server: &Server, timers: &mut Vec<Timer>) {
        timers.extend(Raft::timers(self, server));
    }

    fn on_timer(&self, me: Id, server: &mut Server, timer: &Timer, out: &mut Out<Msg>) {
        if let Some(term) = Raft::ring(server, me as u8, *timer) {
            out.broadcast(Msg::RequestVote { term });
        }
    }

    fn on_msg(&self, _: Id, server: &mut Server, from: Id, msg: &Msg, out: &mut Out<Msg>) {
        if self.hear(server, from as u8, *msg) {
            out.send(from, Msg::Vote { term: server.term });
        }
    }
}

/// The same as actors.
pub fn actors(raft: &Raft) -> Actors<Msg> {
    let network = Network::unordered().duplicating();
    Actors::new().add_many(raft.servers, "server", raft.clone()).network(network)
}

pub fn is_safe(world: &World<Msg>) -> bool {
    one_leader(world.all::<Server>())
}

/// A message of the plain model.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Plain {
    RequestVote { term: u8, from: u8 },
    Vote { term: u8, from: u8, to: u8 },
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    pub servers: Vec<Server>,
    pub msgs: BTreeSet<Plain>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    Timer(u8, Timer),
    Deliver(u8, Plain),
}

impl Raft {
    /// Whether a message would change anything.
    fn matters(server: &Server, msg: Plain) -> bool {
        match msg {
            Plain::RequestVote { term, .. } => {
                term > server.term || term == server.term && server.voted_for.is_none()
            }
            Plain::Vote { term, from, .. } => {
                server.role == Role::Candidate && term == server.term && !server.votes.contains(&from)
            }
        }
    }
}

impl Model for Raft {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        vec![State { servers: vec![Server::follower(0); self.servers], msgs: BTreeSet::new() }]
    }

    fn actions(&self, s: &State, out: &mut Vec<Action>) {
        for (i, server) in s.servers.iter().enumerate() {
            out.extend(self.timers(server).map(|timer| Action::Timer(i as u8, timer)));
        }
        for &msg in &s.msgs {
            let to = match msg {
                Plain::RequestVote { from, .. } => (0..self.servers as u8).filter(|&i| i != from).collect(),
                Plain::Vote { to, .. } => vec![to],
            };
            let matters = |to: &u8| Raft::matters(&s.servers[usize::from(*to)], msg);
            out.extend(to.into_iter().filter(matters).map(|to| Action::Deliver(to, msg)));
        }
    }

    fn step(&self, s: &mut State, action: &Action) {
        match *action {
            Action::Timer(i, timer) => {
                let asks = Raft::ring(&mut s.servers[usize::from(i)], i, timer);
                s.msgs.extend(asks.map(|term| Plain::RequestVote { term, from: i }));
            }
            Action::Deliver(i, msg) => {
                let server = &mut s.servers[usize::from(i)];
                let (from, plain) = match msg {
                    Plain::RequestVote { term, from } => (from, Msg::RequestVote { term }),
                    Plain::Vote { term, from, .. } => (from, Msg::Vote { term }),
                };
                if self.hear(server, from, plain) {
                    let term = server.term;
                    s.msgs.insert(Plain::Vote { term, from: i, to: from });
                }
            }
        }
    }
}

impl Safe for Raft {
    fn is_safe(&self, s: &State) -> bool {
        one_leader(s.servers.iter())
    }
}
