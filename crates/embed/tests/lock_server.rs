//! A server that lends one lock to clients, who wait in its queue: what a search says, whether it leaves something out or
//! not, and what a plain search through the worlds says. With whatever message there may be, the queue grows for ever: so
//! it is not known who may send to whom, and that is said. A server that listens to nobody who waits already is known.

use std::collections::{HashSet, VecDeque};

use stubborn_embed::actors::{Actor, Actors, Id, Network, Out, Part, World};
use stubborn_embed::{Check, Model};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Msg {
    Ask,
    Grant,
    Release,
}

/// What a client does, and how often it will still ask.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Client {
    Idle(u8),
    Waits(u8),
    Has(u8),
}

struct Asks(u8);

impl Actor for Asks {
    type Local = Client;
    type Msg = Msg;
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<Msg>) -> Client {
        Client::Idle(self.0)
    }

    fn timers(&self, _: Id, client: &Client, timers: &mut Vec<()>) {
        timers.extend((!matches!(client, Client::Idle(0) | Client::Waits(_))).then_some(()));
    }

    fn on_timer(&self, _: Id, client: &mut Client, (): &(), out: &mut Out<Msg>) {
        match *client {
            Client::Idle(n) => {
                *client = Client::Waits(n - 1);
                out.send(0, Msg::Ask);
            }
            Client::Has(n) => {
                *client = Client::Idle(n);
                out.send(0, Msg::Release);
            }
            Client::Waits(_) => {}
        }
    }

    fn on_msg(&self, _: Id, client: &mut Client, _: Id, msg: &Msg, _: &mut Out<Msg>) {
        if let (Client::Waits(n), Msg::Grant) = (&*client, msg) {
            *client = Client::Has(*n);
        }
    }
}

/// Whether it listens to who waits already.
struct Lends {
    listens: bool,
}

impl Actor for Lends {
    type Local = (Option<Id>, VecDeque<Id>);
    type Msg = Msg;
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<Msg>) -> Self::Local {
        Self::Local::default()
    }

    fn on_msg(&self, _: Id, (holder, queue): &mut Self::Local, from: Id, msg: &Msg, out: &mut Out<Msg>) {
        let is_known = *holder == Some(from) || queue.contains(&from);
        match msg {
            Msg::Ask if holder.is_none() => {
                *holder = Some(from);
                out.send(from, Msg::Grant);
            }
            Msg::Ask if self.listens || !is_known => queue.push_back(from),
            Msg::Release if *holder == Some(from) => {
                *holder = queue.pop_front();
                holder.iter().for_each(|next| out.send(*next, Msg::Grant));
            }
            _ => {}
        }
    }
}

fn n_have(world: &World<Msg>) -> usize {
    world.all::<Client>().filter(|client| matches!(client, Client::Has(_))).count()
}

fn has(world: &World<Msg>) -> bool {
    matches!(world.local(1), Some(Client::Has(_)))
}

fn are_done(world: &World<Msg>) -> bool {
    world.all::<Client>().all(|client| *client == Client::Idle(0))
}

/// All worlds, and whether one is stuck, two clients have the lock in one, and all are done in one.
#[allow(clippy::mutable_key_type)] // What a world reads late is the same whenever it is read.
fn plainly(actors: &Actors<Msg>) -> (u64, [bool; 3]) {
    let mut seen: HashSet<World<Msg>> = actors.initial().into_iter().collect();
    let (mut queue, mut events, mut found) = (actors.initial(), Vec::new(), [false; 3]);
    while let Some(world) = queue.pop() {
        events.clear();
        actors.actions(&world, &mut events);
        for (found, now) in found.iter_mut().zip([events.is_empty(), n_have(&world) > 1, are_done(&world)]) {
            *found |= now;
        }
        for event in &events {
            let mut next = world.clone();
            actors.step(&mut next, event);
            if seen.insert(next.clone()) {
                queue.push(next);
            }
        }
    }
    (seen.len() as u64, found)
}

fn answers(check: &Check<'_, Actors<Msg>>) -> ([bool; 3], Vec<bool>) {
    let states = [
        !check.deadlock_free().holds(),
        !check.always("alone").holds(),
        check.reachable("done").run().is_some(),
    ];
    let kinds = [check.clone(), check.clone().weakly_fair(), check.clone().weakly_fair().fair_network()];
    let formulas = ["<> has", "[] (has -> <> !has)"];
    let holds = |check: &Check<'_, Actors<Msg>>| formulas.map(|formula| check.ltl(formula).holds());
    (states, kinds.iter().flat_map(holds).collect())
}

#[test]
fn a_lock_server_is_what_it_is_reduced_or_not() {
    let networks =
        [Network::unordered(), Network::ordered().at_most(1), Network::unordered().lossy().at_most(1)];
    for (network, listens) in networks.into_iter().flat_map(|network| [(network, true), (network, false)]) {
        let actors =
            Actors::new().add("server", Lends { listens }).add_many(2, "client", Asks(2)).network(network);
        let (states, found) = plainly(&actors);
        let check = actors.check();
        let check = check.prop("alone", |world| n_have(world) <= 1).prop("done", are_done).prop("has", has);
        assert_eq!(check.count().map(|proof| proof.states).ok(), Some(states));
        let clients = [Part::Actor(1), Part::Actor(2)];
        let few = check.clone().reduced(&[("alone", &clients), ("done", &clients), ("has", &clients[..1])]);
        assert_eq!(answers(&check).0, found, "{network:?}");
        assert_eq!(answers(&check), answers(&few), "{network:?}");
        let why = few.always("alone").proof().and_then(|proof| proof.unreduced.clone()).unwrap_or_default();
        assert_eq!(why.contains("a queue may then grow for ever"), listens, "{why}");
    }
}
