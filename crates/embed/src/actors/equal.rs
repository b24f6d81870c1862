//! Equal actors: worlds that differ only in who is who are one world (`symmetry` says why, and tests it).

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::network::Mail;
use super::world::Place;
use super::{Actors, Envelope, Id, Message, Value, World};
use crate::check::Check;
use crate::codec::Interned;
use crate::symmetry::Symmetry;

/// What actors are called after some of them have changed places.
#[derive(Clone, Debug)]
pub struct Rename(Vec<Id>);

impl Rename {
    /// The number of an actor afterward; what is no number of an actor stays as it is.
    pub fn of(&self, actor: Id) -> Id {
        self.0.get(actor).copied().unwrap_or(actor)
    }
}

impl<'m, M: Message> Check<'m, Actors<M>> {
    /// Says that these actors are equal: worlds that differ only in which of them is which are kept once. Whatever local
    /// states and messages say about actors by number has to be renamed; `local` and `msg` do that, for actors of all
    /// types. What is said is tested as for [`Check::symmetric`]. Worlds are then kept whole, which is slower
    /// than tables: it pays where there are many equal actors.
    ///
    /// ```
    /// use stubborn_embed::actors::{Actor, Actors, Id, Out, Rename, Value};
    ///
    /// /// Three who tell each other, once, that they are there.
    /// struct Greeter;
    ///
    /// impl Actor for Greeter {
    ///     type Local = Vec<Id>;
    ///     type Msg = ();
    ///     type Timer = ();
    ///
    ///     fn start(&self, _: Id, out: &mut Out<()>) -> Vec<Id> {
    ///         out.broadcast(());
    ///         Vec::new()
    ///     }
    ///     fn on_msg(&self, _: Id, met: &mut Vec<Id>, from: Id, (): &(), _: &mut Out<()>) {
    ///         met.push(from);
    ///         met.sort();
    ///     }
    /// }
    ///
    /// let actors = Actors::new().add_many(3, "greeter", Greeter);
    /// let renamed = |local: &Value, rename: &Rename| {
    ///     let met = local.get::<Vec<Id>>().expect("they are all greeters");
    ///     let mut met: Vec<Id> = met.iter().map(|id| rename.of(*id)).collect();
    ///     met.sort();
    ///     Value::new(met)
    /// };
    /// let equal = actors.check().equal(&[0, 1, 2], renamed, |(), _| ());
    /// assert_eq!(actors.check().count().unwrap().states, 64);
    /// assert_eq!(equal.count().unwrap().states, 16);
    /// assert_eq!(equal.verify_symmetry(), Ok(()));
    /// ```
    #[must_use]
    pub fn equal(
        self,
        actors: &[Id],
        local: impl Fn(&Value, &Rename) -> Value + Send + Sync + 'm,
        msg: impl Fn(&M, &Rename) -> M + Send + Sync + 'm,
    ) -> Self {
        let equal = actors.to_vec();
        if let Some(unknown) = equal.iter().find(|actor| **actor >= self.model.actors.len()) {
            let (n, mut check) = (self.model.actors.len(), self);
            check.mistakes.push(format!("there is no actor {unknown}: there are {n}"));
            return check;
        }
        let permute = {
            let equal = equal.clone();
            move |world: &World<M>, permutation: &[usize]| {
                let mut rename = Rename((0..world.places.len()).collect());
                for (from, &to) in equal.iter().zip(permutation) {
                    rename.0[*from] = equal[to];
                }
                permuted(world, &rename, &local, &msg)
            }
        };
        // Any order will do, also one in which different worlds are equal.
        let compare = |one: &World<M>, other: &World<M>| {
            FxBuildHasher.hash_one(one).cmp(&FxBuildHasher.hash_one(other))
        };
        let mut check = self.codec(Interned::default);
        check.symmetry = Some(Symmetry::ordered_by(equal.len(), permute, compare));
        check
    }
}

fn permuted<M: Message>(
    world: &World<M>,
    rename: &Rename,
    local: &impl Fn(&Value, &Rename) -> Value,
    msg: &impl Fn(&M, &Rename) -> M,
) -> World<M> {
    let mut places = world.places.clone();
    for (actor, place) in world.places.iter().enumerate() {
        places[rename.of(actor)] = Place { local: local(&place.local, rename), is_up: place.is_up };
    }
    let mail = world.mail();
    let renamed = |envelope: &Envelope<M>| Envelope {
        from: rename.of(envelope.from),
        to: rename.of(envelope.to),
        msg: msg(&envelope.msg, rename),
    };
    let all = mail.all.iter().map(renamed).collect();
    World::new(places, world.crashes, Mail { network: mail.network, all })
}
