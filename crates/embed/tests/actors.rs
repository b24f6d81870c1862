//! Random systems of actors on all kinds of networks: what is looked up in tables is what the definition says.

use std::collections::{HashMap, VecDeque};

use stubborn_embed::actors::{Actor, Actors, Envelope, Event, Id, Network, Out, Part, Rename, Value, World};
use stubborn_embed::{Check, Fair, Model, Verdict};

/// An actor that does what a table says. A local state is a number, and how often it may still send.
#[derive(Clone, Debug)]
struct Random {
    fuel: u8,
    /// By local state and message: what becomes of the state, and what is sent; or the message is not taken.
    on_msg: Vec<Vec<Option<Done>>>,
    /// By local state and timer.
    on_timer: Vec<Vec<Option<Done>>>,
    /// By local state.
    on_crash: Vec<u8>,
    on_restart: Vec<Done>,
}

#[derive(Clone, Debug)]
struct Done {
    state: u8,
    sent: Vec<(Id, u8)>,
}

const STATES: u8 = 3;
const MESSAGES: u8 = 2;
const TIMERS: u8 = 2;

impl Random {
    fn new(random: &mut fastrand::Rng, n_actors: usize, fuel: u8) -> Random {
        let done = |random: &mut fastrand::Rng| Done {
            state: random.u8(0..STATES),
            sent: (0..random.usize(0..3))
                .map(|_| (random.usize(0..n_actors), random.u8(0..MESSAGES)))
                .collect(),
        };
        let maybe = |random: &mut fastrand::Rng, odds: u8| (random.u8(0..4) < odds).then(|| done(random));
        let row = |random: &mut fastrand::Rng, n: u8, odds: u8| (0..n).map(|_| maybe(random, odds)).collect();
        Random {
            fuel,
            on_msg: (0..STATES).map(|_| row(random, MESSAGES, 3)).collect(),
            on_timer: (0..STATES).map(|_| row(random, TIMERS, 1)).collect(),
            on_crash: (0..STATES).map(|_| random.u8(0..STATES)).collect(),
            on_restart: (0..STATES).map(|_| done(random)).collect(),
        }
    }

    fn obey(done: &Done, local: &mut (u8, u8), out: &mut Out<u8>) {
        local.0 = done.state;
        for (to, msg) in &done.sent {
            if local.1 > 0 {
                local.1 -= 1;
                out.send(*to, *msg);
            }
        }
    }
}

impl Actor for Random {
    type Local = (u8, u8);
    type Msg = u8;
    type Timer = u8;

    fn start(&self, me: Id, out: &mut Out<u8>) -> (u8, u8) {
        if me == 0 {
            out.broadcast(0);
        }
        (0, self.fuel)
    }

    fn on_msg(&self, _: Id, local: &mut (u8, u8), from: Id, msg: &u8, out: &mut Out<u8>) {
        // Who sent it matters, too.
        match &self.on_msg[usize::from(local.0)][(usize::from(*msg) + from) % usize::from(MESSAGES)] {
            Some(done) => Random::obey(done, local, out),
            None if *msg == 0 => out.defer(),
            None => {}
        }
    }

    fn timers(&self, _: Id, local: &(u8, u8), timers: &mut Vec<u8>) {
        timers.extend(
            (0..TIMERS).filter(|timer| self.on_timer[usize::from(local.0)][usize::from(*timer)].is_some()),
        );
    }

    fn on_timer(&self, _: Id, local: &mut (u8, u8), timer: &u8, out: &mut Out<u8>) {
        if let Some(done) = &self.on_timer[usize::from(local.0)][usize::from(*timer)] {
            Random::obey(done, local, out);
        }
    }

    fn crash(&self, _: Id, local: &mut (u8, u8)) {
        local.0 = self.on_crash[usize::from(local.0)];
    }

    fn restart(&self, _: Id, local: &mut (u8, u8), out: &mut Out<u8>) {
        Random::obey(&self.on_restart[usize::from(local.0)], local, out);
    }
}

/// An actor of another type, with no timers, that answers a few times.
struct Echo(u8);

impl Actor for Echo {
    type Local = String;
    type Msg = u8;
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<u8>) -> String {
        String::new()
    }

    fn on_msg(&self, _: Id, local: &mut String, from: Id, msg: &u8, out: &mut Out<u8>) {
        if local.len() < usize::from(self.0) {
            local.push(char::from(b'a' + msg));
            out.send(from, 1 - msg);
        }
    }
}

fn system(random: &mut fastrand::Rng) -> Actors<u8> {
    let n = random.usize(1..=3);
    let mut network = if random.bool() { Network::ordered() } else { Network::unordered() };
    if random.u8(0..3) == 0 {
        network = network.lossy();
    }
    if random.u8(0..3) == 0 {
        network = network.duplicating();
    }
    if random.u8(0..3) == 0 {
        network = network.at_most(random.usize(2..4));
    }
    let fuel = random.u8(1..=2);
    let mut actors = Actors::new().network(network);
    for nth in 0..n {
        if nth > 0 && random.u8(0..4) == 0 {
            actors = actors.add("echo", Echo(fuel));
        } else {
            actors = actors.add(&format!("random {nth}"), Random::new(random, n, fuel));
        }
    }
    actors = actors.crashes([0, 0, 1, 2][random.usize(0..4)]);
    if random.bool() { actors.restarts() } else { actors }
}

fn watched(world: &World<u8>) -> bool {
    world.local::<(u8, u8)>(0).is_some_and(|local| local.0 == 1)
}

fn crowded(world: &World<u8>) -> bool {
    world.messages().len() >= 2 || world.all::<String>().any(|text| text.len() > 1)
}

/// All states, by a plain search: how many, how many steps, deadlocks, and whether the two are ever true.
#[allow(clippy::mutable_key_type)] // What changes is only that messages were read, which equality does not see.
fn plainly(actors: &Actors<u8>) -> Option<(u64, u64, u64, bool, bool)> {
    let mut seen: HashMap<World<u8>, ()> = actors.initial().into_iter().map(|world| (world, ())).collect();
    let mut queue: VecDeque<World<u8>> = actors.initial().into();
    let (mut steps, mut deadlocks, mut is_watched, mut is_crowded) = (0, 0, false, false);
    while let Some(world) = queue.pop_front() {
        if seen.len() > 4_000 {
            return None;
        }
        is_watched |= watched(&world);
        is_crowded |= crowded(&world);
        let mut events = Vec::new();
        actors.actions(&world, &mut events);
        deadlocks += u64::from(events.is_empty());
        steps += events.len() as u64;
        for event in events {
            let mut next = world.clone();
            actors.step(&mut next, &event);
            if seen.insert(next.clone(), ()).is_none() {
                queue.push_back(next);
            }
        }
    }
    Some((seen.len() as u64, steps, deadlocks, is_watched, is_crowded))
}

fn with_props<'m>(check: Check<'m, Actors<u8>>) -> Check<'m, Actors<u8>> {
    check.prop("watched", watched).prop("crowded", crowded)
}

/// Leaves out what does not matter, by who may send to whom.
fn reduced<'m>(actors: &Actors<u8>, check: Check<'m, Actors<u8>>) -> Check<'m, Actors<u8>> {
    let n = actors.processes().len();
    let mut all: Vec<Part> = (0..n).map(Part::Actor).collect();
    all.extend((0..n * n).map(|pair| Part::Messages { from: pair / n, to: pair % n }));
    check.reduced(&[("watched", &[Part::Actor(0)]), ("crowded", &all)])
}

fn answer(verdict: &Verdict<Actors<u8>>) -> bool {
    match verdict {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        other => panic!("{other}"),
    }
}

#[test]
fn random_systems_do_what_the_definition_says() {
    let seed: u64 = std::env::var("STUBBORN_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let factor: u64 = std::env::var("STUBBORN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (mut compared, mut verdicts, mut most) = (0, HashMap::<(&str, bool), u32>::new(), 0);
    let mut n_smaller = 0;
    for case in 0..300 * factor {
        let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let actors = system(&mut random);
        let Some((states, transitions, deadlocks, is_watched, is_crowded)) = plainly(&actors) else {
            continue;
        };
        compared += 1;
        most = most.max(states);
        let check = with_props(actors.check());
        let counted = check.count().unwrap_or_else(|failure| panic!("case {case}: {failure}"));
        assert_eq!(
            (counted.states, counted.transitions, counted.deadlocks),
            (states, transitions, deadlocks),
            "case {case}: {:?}",
            actors.initial()
        );
        assert_eq!(check.reachable("watched").run().is_some(), is_watched, "case {case}");
        assert_eq!(check.reachable("crowded").run().is_some(), is_crowded, "case {case}");
        let few = reduced(&actors, check.clone());
        let deadlock_free = few.deadlock_free();
        assert_eq!(answer(&deadlock_free), deadlocks == 0, "case {case}");
        n_smaller += u32::from(deadlock_free.proof().is_some_and(|proof| proof.states < states));
        for (name, is_ever) in [("watched", is_watched), ("crowded", is_crowded)] {
            let never = few.never(name);
            assert_eq!(answer(&never), !is_ever, "case {case}: {name}");
            n_smaller += u32::from(never.proof().is_some_and(|proof| proof.states < states));
        }
        if states > 600 {
            continue;
        }
        assert_eq!(few.verify_footprint(), Ok(()), "case {case}");
        let declared = reduced(&actors, with_props(Check::new(&actors)));
        assert_eq!(answer(&declared.never("watched")), !is_watched, "case {case}, by what is declared");
        // Infinite runs: by the tables, and by the definition as a model like any other.
        let plain = with_props(Check::new(&actors));
        for formula in ["<> watched", "[] <> !crowded", "[] (watched -> <> crowded)"] {
            for (fair, check, plain) in [
                ("none", check.clone(), plain.clone()),
                ("weak", check.clone().weakly_fair(), plain.clone().weakly_fair()),
                (
                    "network",
                    check.clone().weakly_fair().fair_network(),
                    plain.clone().weakly_fair().fair_network(),
                ),
            ] {
                let found = answer(&check.ltl(formula));
                let by_few = reduced(&actors, check).ltl(formula);
                assert_eq!(found, answer(&by_few), "case {case}: {formula}, fair: {fair}, reduced");
                assert_eq!(found, answer(&plain.ltl(formula)), "case {case}: {formula}, fair: {fair}");
                *verdicts.entry((fair, found)).or_default() += 1;
            }
        }
    }
    assert!(compared >= 250 * factor && most > 1_000, "{compared} systems, up to {most} states");
    assert!(n_smaller > 20, "{n_smaller} searches were smaller");
    for fair in ["none", "weak", "network"] {
        assert!(
            verdicts.get(&(fair, true)) > Some(&20) && verdicts.get(&(fair, false)) > Some(&20),
            "{verdicts:?}"
        );
    }
}

/// Clients that ask a server for a lock, and the server.
struct Client;
struct Server {
    /// Whether one of them is never served.
    favors: bool,
}

impl Actor for Client {
    type Local = u8;
    type Msg = u8;
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<u8>) -> u8 {
        0
    }

    fn timers(&self, _: Id, local: &u8, timers: &mut Vec<()>) {
        timers.extend((*local != 1).then_some(()));
    }

    fn on_timer(&self, _: Id, local: &mut u8, (): &(), out: &mut Out<u8>) {
        // It asks, or gives back.
        out.send(0, *local);
        *local = if *local == 0 { 1 } else { 0 };
    }

    fn on_msg(&self, _: Id, local: &mut u8, _: Id, _: &u8, _: &mut Out<u8>) {
        *local = 2;
    }
}

impl Actor for Server {
    /// Who has the lock.
    type Local = Option<Id>;
    type Msg = u8;
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<u8>) -> Option<Id> {
        None
    }

    fn on_msg(&self, _: Id, holder: &mut Option<Id>, from: Id, msg: &u8, out: &mut Out<u8>) {
        match (*msg, *holder) {
            (0, None) if !self.favors || from != 2 => {
                *holder = Some(from);
                out.send(from, 1);
            }
            (0, _) => out.defer(),
            _ => *holder = None,
        }
    }
}

fn renamed(local: &Value, rename: &Rename) -> Value {
    match local.get::<Option<Id>>() {
        Some(holder) => Value::new(holder.map(|holder| rename.of(holder))),
        None => local.clone(),
    }
}

#[test]
fn equal_actors_are_not_told_apart() {
    for network in [Network::unordered(), Network::ordered(), Network::unordered().lossy()] {
        let system = |favors| {
            Actors::new().add("server", Server { favors }).add_many(3, "client", Client).network(network)
        };
        let holders = |world: &World<u8>| world.all::<u8>().filter(|local| **local == 2).count();
        let props = |check: Check<'_, Actors<u8>>| -> Vec<Verdict<Actors<u8>>> {
            let check = check
                .prop("exclusive", move |world| holders(world) <= 1)
                .prop("held", move |world| holders(world) > 0);
            let formulas = ["[] <> held", "[] (held -> <> !held)", "<> [] !held"];
            let asked = formulas.into_iter().map(|formula| check.ltl(formula));
            [check.always("exclusive"), check.never("held"), check.deadlock_free()]
                .into_iter()
                .chain(asked)
                .collect()
        };
        let actors = system(false);
        let equal = actors.check().equal(&[1, 2, 3], renamed, |msg, _| *msg);
        assert_eq!(equal.verify_symmetry(), Ok(()));
        let (all, few) =
            (actors.check().count().expect("small").states, equal.count().expect("small").states);
        assert!(few * 3 < all, "{few} of {all}");
        for (one, other) in props(actors.check()).iter().zip(props(equal)) {
            assert_eq!(
                (one.holds(), one.is_violated()),
                (other.holds(), other.is_violated()),
                "{one}, and {other}"
            );
        }
        // Who forgets to rename, or calls equal who is not, is found out.
        let actors = system(true);
        assert!(actors.check().equal(&[1, 2, 3], renamed, |msg, _| *msg).verify_symmetry().is_err());
        let actors = system(false);
        let forgetful = actors.check().equal(&[1, 2, 3], |local, _| local.clone(), |msg, _| *msg);
        assert!(forgetful.prop("held", move |world| holders(world) > 0).never("held").is_unknown());
        assert!(actors.check().equal(&[1, 7], renamed, |msg, _| *msg).deadlock_free().is_unknown());
    }
}

/// Pairs that tell each other a number, up to a limit, and nobody else.
struct Pair(u32);

impl Actor for Pair {
    type Local = u32;
    type Msg = u32;
    type Timer = ();

    fn start(&self, me: Id, out: &mut Out<u32>) -> u32 {
        if me.is_multiple_of(2) {
            out.send(me + 1, 0);
        }
        0
    }

    fn on_msg(&self, _: Id, local: &mut u32, from: Id, n: &u32, out: &mut Out<u32>) {
        *local = *n;
        if *n < self.0 {
            out.send(from, n + 1);
        }
    }
}

#[test]
fn who_never_hears_of_each_other_is_not_interleaved() {
    for network in [Network::unordered(), Network::ordered(), Network::ordered().at_most(2)] {
        let actors = Actors::new().add_many(6, "pair", Pair(4)).network(network);
        let done = |world: &World<u32>| world.local(1) == Some(&4u32);
        let check = actors.check().prop("done", done).prop("undone", move |world| !done(world));
        let few = check.clone().reduced(&[("done", &[Part::Actor(1)]), ("undone", &[Part::Actor(1)])]);
        assert_eq!(check.count().expect("small").states, 6 * 6 * 6);
        assert_eq!(few.count().expect("small").states, 6 * 6 * 6, "counted are all");
        // Every run comes to where nothing can happen: the three pairs one after the other.
        let Verdict::Violated(run) = few.deadlock_free() else { panic!("it comes to an end") };
        assert_eq!(run.steps.len(), 15);
        assert!(few.always("undone").is_violated());
        let (all, reduced) = (check.ltl("<> done"), few.ltl("<> done"));
        let states = |verdict: &Verdict<Actors<u32>>| verdict.proof().expect("it holds").states;
        assert!(10 * states(&reduced) < states(&all), "{reduced} instead of {all}");
    }
}

/// The first one either goes round for ever, or tells the second one something and comes to an end; for that there must be
/// room, which the second one makes.
struct Waits;

impl Actor for Waits {
    type Local = u8;
    type Msg = ();
    type Timer = u8;

    fn start(&self, me: Id, out: &mut Out<()>) -> u8 {
        if me == 0 {
            out.send(1, ());
        }
        0
    }

    fn on_msg(&self, _: Id, local: &mut u8, _: Id, (): &(), _: &mut Out<()>) {
        *local = 1;
    }

    fn timers(&self, me: Id, local: &u8, timers: &mut Vec<u8>) {
        match (me, local) {
            (0, 0) => timers.extend([1, 3]),
            (0, 1) => timers.push(2),
            (0, 2) => timers.push(1),
            _ => {}
        }
    }

    fn on_timer(&self, _: Id, local: &mut u8, timer: &u8, out: &mut Out<()>) {
        *local = *timer;
        if *timer == 3 {
            out.send(1, ());
        }
    }
}

#[test]
fn who_waits_for_room_waits_for_who_receives() {
    for network in [Network::unordered(), Network::ordered()] {
        let actors = Actors::new().add_many(2, "waits", Waits).network(network.at_most(1));
        let check = actors.check().reduced(&[]);
        assert!(check.deadlock_free().is_violated(), "once the first message is taken");
    }
}

/// Counts what it sends, and what it gets.
struct Counter(u32);

impl Actor for Counter {
    type Local = u32;
    type Msg = u32;
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<u32>) -> u32 {
        0
    }

    fn on_msg(&self, _: Id, local: &mut u32, _: Id, _: &u32, _: &mut Out<u32>) {
        *local += 1;
    }

    fn timers(&self, me: Id, local: &u32, timers: &mut Vec<()>) {
        timers.extend((me == 0 && *local < self.0).then_some(()));
    }

    fn on_timer(&self, _: Id, local: &mut u32, (): &(), out: &mut Out<u32>) {
        *local += 1;
        out.send(1, *local % 2);
    }
}

#[test]
fn states_get_the_room_that_they_need() {
    // Local states, counts of one message, and contents of a channel: far more than random walks meet.
    let of = |network: Network, n: u32| Actors::new().add_many(2, "counter", Counter(n)).network(network);
    let count = |actors: &Actors<u32>| {
        actors.check().count().map(|proof| proof.states).map_err(|why| why.to_string())
    };
    // Sent i, received j of them: how many of the odd ones is open.
    let unordered = |n: u64| (0..=n).map(|i| (i.div_ceil(2) + 1) * (i / 2 + 1)).sum::<u64>();
    assert_eq!(count(&of(Network::unordered(), 60)), Ok(unordered(60)));
    assert_eq!(count(&of(Network::ordered(), 300)), Ok(301 * 302 / 2));
    assert_eq!(count(&of(Network::ordered().at_most(1), 3_000)), Ok(2 * 3_000 + 1));
}

#[test]
fn nobody_does_nothing() {
    let counted = Actors::<u8>::new().check().count().map(|proof| (proof.states, proof.transitions));
    assert_eq!(counted.map_err(|why| why.to_string()), Ok((1, 0)));
}

#[test]
fn networks_do_what_they_are_called() {
    let actors = |network| Actors::new().add_many(2, "counter", Counter(3)).network(network);
    let arrives = |network: Network, wanted: u32| {
        let actors = actors(network);
        actors
            .check()
            .prop("wanted", move |world| world.local(1) == Some(&wanted))
            .reachable("wanted")
            .run()
            .is_some()
    };
    assert!(arrives(Network::unordered(), 3) && !arrives(Network::unordered(), 4));
    assert!(arrives(Network::ordered().duplicating().at_most(1), 4));
    let all = |network: Network| {
        let actors = actors(network);
        let check = actors.check().prop("all", |world| world.local(1) == Some(&3u32));
        answer_of(&check.weakly_fair().ltl("<> all"))
    };
    assert!(all(Network::unordered()) && all(Network::ordered()) && !all(Network::ordered().lossy()));
}

fn answer_of(verdict: &Verdict<Actors<u32>>) -> bool {
    assert!(!verdict.is_unknown(), "{verdict}");
    verdict.holds()
}

/// Panics on the second message.
struct Fragile;

impl Actor for Fragile {
    type Local = u32;
    type Msg = ();
    type Timer = ();

    fn start(&self, me: Id, out: &mut Out<()>) -> u32 {
        if me == 0 {
            out.send(1, ());
            out.send(1, ());
        }
        0
    }

    fn on_msg(&self, _: Id, local: &mut u32, _: Id, (): &(), _: &mut Out<()>) {
        *local += 1;
        assert!(*local < 2, "that is too much");
    }
}

#[test]
fn a_panic_is_shown_with_its_run() {
    let actors = Actors::new().add_many(2, "fragile", Fragile);
    match actors.check().deadlock_free() {
        Verdict::Panics(found) => {
            assert!(found.to_string().contains("that is too much"), "{found}");
            assert!(matches!(
                found.run.steps[0].action,
                Some(Event::Deliver(Envelope { from: 0, to: 1, .. }))
            ));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn crashes_lose_what_they_lose_and_restarts_need_fairness() {
    let actors = Actors::new().add_many(2, "counter", Counter(2)).crashes(1).restarts();
    let check = actors.check().prop("down", |world| !world.is_up(0)).prop("up", |world| world.is_up(0));
    assert!(check.reachable("down").run().is_some());
    assert!(check.clone().weakly_fair().ltl("[] (down -> <> up)").is_violated(), "nothing forces a restart");
    let fair = check.fair(Fair::Weak, "restarts", |event| matches!(event, Event::Restart(_)));
    assert!(fair.ltl("[] (down -> <> up)").holds());
    let count = |crashes| {
        let actors = Actors::new().add_many(2, "counter", Counter(2)).crashes(crashes);
        actors.check().count().map(|proof| proof.states).unwrap_or(0)
    };
    assert!(count(0) < count(1) && count(1) < count(2) && count(2) == count(3), "two actors can crash twice");
}
