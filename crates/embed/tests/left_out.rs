//! What may be left out of the interleavings of actors, and what is said where nothing is.

use stubborn_embed::actors::{Actor, Actors, Id, Network, Out, Part};
use stubborn_embed::{Fair, Verdict};

/// The first one ignores what it gets; the second one has sent it something, and may send once more when there is room,
/// which only a loss makes; the third one does something once.
struct Blocked;

impl Actor for Blocked {
    type Local = bool;
    type Msg = u8;
    type Timer = ();

    fn start(&self, me: Id, out: &mut Out<u8>) -> bool {
        if me == 1 {
            out.send(0, 0);
        }
        false
    }

    fn on_msg(&self, _: Id, _: &mut bool, _: Id, _: &u8, _: &mut Out<u8>) {}

    fn timers(&self, me: Id, is_done: &bool, timers: &mut Vec<()>) {
        timers.extend((me > 0 && !is_done).then_some(()));
    }

    fn on_timer(&self, me: Id, is_done: &mut bool, (): &(), out: &mut Out<u8>) {
        *is_done = true;
        if me == 1 {
            out.send(0, 1);
        }
    }
}

/// A loss alone is no stubborn set for runs: nobody need lose anything, and who then waits for room waits for ever. If it
/// were taken first, the second actor would always go on.
#[test]
fn a_set_that_only_the_environment_acts_in_is_not_enough() {
    let network = Network::unordered().duplicating().lossy().at_most(1);
    let actors = Actors::new().add_many(3, "blocked", Blocked).network(network);
    let check = actors
        .check()
        .prop("sent", |world| world.local(1) == Some(&true))
        .prop("ticked", |world| world.local(2) == Some(&true));
    let few = check.clone().reduced(&[("sent", &[Part::Actor(1)]), ("ticked", &[Part::Actor(2)])]);
    // The tick is seen, so the loss is the smaller set.
    let formula = "<> sent || [] !ticked";
    assert!(check.ltl(formula).is_violated() && few.ltl(formula).is_violated());
    assert!(few.reachable("sent").run().is_some());
}

/// The first one sends again and again; the second one opens and closes, and takes what comes while it is open.
struct Shutter;

impl Actor for Shutter {
    type Local = (bool, bool);
    type Msg = ();
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<()>) -> (bool, bool) {
        (false, false)
    }

    fn on_msg(&self, _: Id, (is_open, got): &mut (bool, bool), _: Id, (): &(), _: &mut Out<()>) {
        *got |= *is_open;
    }

    fn timers(&self, _: Id, _: &(bool, bool), timers: &mut Vec<()>) {
        timers.push(());
    }

    fn on_timer(&self, me: Id, (is_open, _): &mut (bool, bool), (): &(), out: &mut Out<()>) {
        *is_open = !*is_open;
        if me == 0 && *is_open {
            out.send(1, ());
        }
    }
}

/// What is sent may always be lost before the second one opens. If the first one always sent before that, something would be
/// there whenever it opens, again and again, and would arrive some day, as the network is fair.
#[test]
fn who_sends_does_not_overtake_losses() {
    let network = Network::unordered().duplicating().lossy();
    let actors = Actors::new().add_many(2, "shutter", Shutter).network(network);
    let check =
        actors.check().prop("got", |world| world.local(1).is_some_and(|local: &(bool, bool)| local.1));
    let few = check.clone().reduced(&[("got", &[Part::Actor(1)])]);
    for check in [check, few] {
        assert!(check.weakly_fair().fair_network().ltl("<> got").is_violated());
    }
    // Nothing more than their number is said of many channels that nothing ever comes through.
    let three = Actors::new().add_many(3, "blocked", Once);
    let run = three.check().fair_network().ltl("X false").to_string();
    assert!(run.contains(", messages from blocked 1 to blocked 0 and 5 others\n"), "{run}");
}

/// Runs are fair to the second one alone, so the first one need not send anything.
#[test]
fn who_need_not_act_is_not_taken_first() {
    let actors = Actors::new().add_many(3, "blocked", Once);
    let check = actors.check().prop("got", |world| world.local(1) == Some(&true));
    let few = check.clone().reduced(&[("got", &[Part::Actor(1)])]);
    for check in [check, few] {
        assert!(check.clone().fair_to(Fair::Weak, "blocked 1").ltl("<> got").is_violated());
        assert!(check.weakly_fair().ltl("<> got").holds());
    }
}

/// The first one sends something to the second one, once; the third one is always busy.
struct Once;

impl Actor for Once {
    type Local = bool;
    type Msg = ();
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<()>) -> bool {
        false
    }

    fn on_msg(&self, _: Id, got: &mut bool, _: Id, (): &(), _: &mut Out<()>) {
        *got = true;
    }

    fn timers(&self, me: Id, is_done: &bool, timers: &mut Vec<()>) {
        timers.extend((me == 2 || me == 0 && !is_done).then_some(()));
    }

    fn on_timer(&self, me: Id, is_done: &mut bool, (): &(), out: &mut Out<()>) {
        *is_done = !*is_done;
        if me == 0 {
            out.send(1, ());
        }
    }
}

/// Counts so far, and tells the other, who may insist that numbers grow.
struct Counts {
    to: u32,
    is_strict: bool,
}

impl Actor for Counts {
    type Local = u32;
    type Msg = u32;
    type Timer = ();

    fn start(&self, _: Id, _: &mut Out<u32>) -> u32 {
        0
    }

    fn on_msg(&self, _: Id, local: &mut u32, _: Id, msg: &u32, _: &mut Out<u32>) {
        if self.is_strict {
            assert!(*msg > *local, "numbers grow");
            *local = *msg;
        }
    }

    fn timers(&self, me: Id, local: &u32, timers: &mut Vec<()>) {
        timers.extend((me == 0 && *local < self.to).then_some(()));
    }

    fn on_timer(&self, me: Id, local: &mut u32, (): &(), out: &mut Out<u32>) {
        *local += 1;
        out.send(1 - me, *local);
    }
}

#[test]
fn why_nothing_is_left_out_is_said() {
    let said = |n: u32, formula: &str, fair: bool, parts: &[(&str, &[Part])]| {
        let actors = Actors::new()
            .add_many(2, "counts", Counts { to: n, is_strict: false })
            .network(Network::ordered().at_most(1));
        let mut check = actors.check().prop("done", move |world| world.local(0) == Some(&n)).reduced(parts);
        if fair {
            check = check.fair(Fair::Weak, "all", |_| true);
        }
        let verdict = if formula.is_empty() { check.never("done") } else { check.ltl(formula) };
        match &verdict {
            Verdict::Holds(proof) => proof.unreduced.clone().unwrap_or_default(),
            other => panic!("{other}"),
        }
    };
    let reads: &[(&str, &[Part])] = &[("done", &[Part::Actor(0)])];
    assert_eq!(said(9, "<> done", false, reads), "");
    assert!(said(9, "<> done", true, reads).contains("`all` may be about anybody's actions"));
    assert!(said(9, "X !done", false, reads).contains("stuttering"));
    assert!(said(9, "<> done", false, &[]).contains("not told what `done` reads"));
    assert!(said(60_000, "<> done", false, reads).contains("handlers do more than 50000"));
    let strict = Counts { to: 3, is_strict: true };
    let strict = Actors::new().add_many(2, "counts", strict).network(Network::ordered());
    let check = strict.check().prop("no", |_| false).reduced(&[("no", &[])]);
    let proof = check.never("no").proof().cloned().expect("it holds");
    assert!(
        proof.unreduced.is_some_and(|why| why.contains("a handler of counts 1 panics where it is tried out"))
    );
    let many = Actors::new().add_many(65, "counts", Counts { to: 0, is_strict: false });
    let check = many.check().prop("no", |_| false).reduced(&[("no", &[])]);
    let proof = check.never("no").proof().cloned().expect("it holds");
    assert!(
        proof
            .to_string()
            .ends_with("there are 65 actors, and who may send to whom is found out for up to 64")
    );
}
