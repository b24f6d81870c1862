//! Models that were written for stateright, checked by Stubborn as they are: three where stateright misses what is wrong.

use std::borrow::Cow;

use stateright::actor::{Actor, ActorModel, Id, Network, Out, model_timeout};
use stateright::{Checker as _, Expectation, Model, Property};

stubborn::embed::stateright_adapter!(Adapted);

/// 0 to 1 and 2, both to 3: `good` is missed by the way through 2.
struct Join;

impl Model for Join {
    type State = u8;
    type Action = u8;

    fn init_states(&self) -> Vec<u8> {
        vec![0]
    }

    fn actions(&self, state: &u8, actions: &mut Vec<u8>) {
        actions.extend_from_slice([&[1, 2][..], &[3], &[3], &[]][usize::from(*state)]);
    }

    fn next_state(&self, _: &u8, to: u8) -> Option<u8> {
        Some(to)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::eventually("good", |_, state| *state == 1),
            Property::<Self>::sometimes("the end", |_, state| *state == 3),
            Property::<Self>::always("in bounds", |_, state| *state <= 3),
        ]
    }
}

/// Goes round for ever, or leaves: `out` need not come.
struct Round;

impl Model for Round {
    type State = u8;
    type Action = u8;

    fn init_states(&self) -> Vec<u8> {
        vec![0]
    }

    fn actions(&self, state: &u8, actions: &mut Vec<u8>) {
        actions.extend_from_slice([&[1][..], &[0, 2], &[]][usize::from(*state)]);
    }

    fn next_state(&self, _: &u8, to: u8) -> Option<u8> {
        Some(to)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::<Self>::eventually("out", |_, state| *state == 2)]
    }
}

/// The example of the guide's page *Coming from stateright*.
#[cfg(test)]
struct Race;

#[cfg(test)]
impl Model for Race {
    type State = [u8; 2];
    type Action = usize;

    fn init_states(&self) -> Vec<[u8; 2]> {
        vec![[0, 0]]
    }
    fn actions(&self, at: &[u8; 2], actions: &mut Vec<usize>) {
        actions.extend((0..2).filter(|&i| at[i] < 9 && at[i] <= at[1 - i]));
    }
    fn next_state(&self, at: &[u8; 2], i: usize) -> Option<[u8; 2]> {
        let mut next = *at;
        next[i] += 1;
        Some(next)
    }
    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("near", |_, at| at[0].abs_diff(at[1]) <= 1),
            Property::<Self>::eventually("done", |_, at| *at == [9, 9]),
        ]
    }
}

/// Three actors, of which two have timers: sets of timers are hashed without their lengths.
struct Node;

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Msg {
    First,
    Go,
    Second,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Local {
    Idle,
    Ready,
    Open,
    Bad,
}

impl Actor for Node {
    type Msg = Msg;
    type Timer = ();
    type State = Local;
    type Storage = ();
    type Random = ();

    fn on_start(&self, id: Id, _: &Option<()>, out: &mut Out<Self>) -> Local {
        if usize::from(id) < 2 {
            out.set_timer((), model_timeout());
        }
        Local::Idle
    }

    fn on_timeout(&self, _: Id, local: &mut Cow<Local>, (): &(), out: &mut Out<Self>) {
        out.send(Id::from(2), if **local == Local::Ready { Msg::Second } else { Msg::First });
    }

    fn on_msg(&self, me: Id, local: &mut Cow<Local>, from: Id, msg: Msg, out: &mut Out<Self>) {
        match msg {
            Msg::First if usize::from(me) == 2 && **local == Local::Idle => {
                *local.to_mut() = Local::Open;
                out.send(Id::from(0), Msg::Go);
                out.send(Id::from(1), Msg::Go);
            }
            Msg::Go => *local.to_mut() = Local::Ready,
            Msg::Second if **local == Local::Open && usize::from(from) == 0 => *local.to_mut() = Local::Bad,
            _ => {}
        }
    }
}

fn nodes() -> ActorModel<Node> {
    ActorModel::new((), ())
        .actors([Node, Node, Node])
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "never bad", |_, state| {
            state.actor_states.iter().all(|local| **local != Local::Bad)
        })
}

/// Shows what both say.
pub(crate) fn show() {
    let missed = |found: bool| if found { "violated" } else { "nothing found" };
    let verdict = |verdict: &Result<(), String>| if verdict.is_ok() { "holds" } else { "violated" };
    let found = Join.checker().spawn_bfs().join().discovery("good").is_some();
    println!(
        "ways that join, `eventually good`: stateright {}, Stubborn {}",
        missed(found),
        verdict(&Adapted(Join).verify()[0].1)
    );
    let found = Round.checker().spawn_bfs().join().discovery("out").is_some();
    println!(
        "a cycle, `eventually out`: stateright {}, Stubborn {}",
        missed(found),
        verdict(&Adapted(Round).verify()[0].1)
    );
    let checker = nodes().checker().spawn_bfs().join();
    let states = Adapted(nodes()).check().count().map_or(0, |proof| proof.states);
    println!(
        "actors with timers, `never bad`: stateright {} in {} states, Stubborn {} of {states} states",
        missed(checker.discovery("never bad").is_some()),
        checker.unique_state_count(),
        verdict(&Adapted(nodes()).verify()[0].1),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_is_right() {
        Race.checker().spawn_bfs().join().assert_properties();
        let race = Adapted(Race);
        for (name, verdict) in race.verify() {
            assert_eq!(verdict, Ok(()), "{name}");
        }
        stubborn::assert_holds!(race.check(), "[] <> near");
    }

    #[test]
    fn what_stateright_misses_is_found() {
        let verdicts: Vec<(&str, bool)> =
            Adapted(Join).verify().into_iter().map(|(name, verdict)| (name, verdict.is_ok())).collect();
        assert_eq!(verdicts, [("good", false), ("the end", true), ("in bounds", true)]);
        assert!(Adapted(Round).verify()[0].1.is_err());
        assert!(Adapted(nodes()).verify()[0].1.is_err());
        assert_eq!(Adapted(nodes()).check().count().map_or(0, |proof| proof.states), 26);
    }
}
