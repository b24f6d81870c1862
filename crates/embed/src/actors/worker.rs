//! One thread's part of a search in a system of actors: what can happen in a state, and what it leads to.

use std::sync::PoisonError;

use model::{ActionId, StepError, Steps};

use super::layout::Field;
use super::lookup::Lookup;
use super::mail_words::{Full, Words};
use super::reach::collect;
use super::tables::{Effect, Filler, Known, Missing, Refused};
use super::world::World;
use super::{Event, Message};
use crate::classes::{Favored, Met};
use crate::panics::catch;
use crate::program::{Choice, Keeps, Worker};
use crate::trouble::Trouble;

/// No effect, no message, nobody.
const NONE: u32 = u32::MAX;

/// Something that can happen in a state.
#[derive(Clone, Copy)]
struct Move {
    /// The number of the event.
    event: u32,
    /// Whom it happens to, and what it does to them, if it happens to somebody.
    actor: u32,
    effect: u32,
    /// The message that is taken from its way, if one is.
    taken: u32,
    is_crash: bool,
}

/// One thread's part.
pub(crate) struct LookupWorker<'p, 'a, M: Message> {
    program: &'p Lookup<'a, M>,
    moves: Vec<Move>,
    /// The steps of these moves.
    steps: Vec<ActionId>,
    met: Met,
    /// By the numbers of messages: the event of losing them.
    losses: Vec<u32>,
    content: Vec<u32>,
    /// A world that is made anew for each state that is looked at, and the numbers of its local states.
    world: Option<(World<M>, Vec<u32>)>,
    seen: Seen,
}

/// What was found out about events and local states, for the choice of steps.
#[derive(Default)]
struct Seen {
    /// The propositions that are watched.
    watched: Vec<usize>,
    /// By the numbers of events, whether they may change one of these.
    visible: Vec<Option<bool>>,
    /// Per actor, by the numbers of its local states, to whom it may ever send.
    sends: Vec<Vec<Option<u64>>>,
}

impl<'p, 'a, M: Message> LookupWorker<'p, 'a, M> {
    pub(crate) fn new(program: &'p Lookup<'a, M>) -> LookupWorker<'p, 'a, M> {
        let (moves, steps, losses, content) = (vec![], vec![], vec![], vec![]);
        let (met, seen) = (Met::default(), Seen::default());
        LookupWorker { program, moves, steps, met, losses, content, world: None, seen }
    }

    /// Lists what can happen. Returns whether the environment may rest.
    #[inline]
    fn list(&mut self, words: &[u32]) -> Result<bool, StepError> {
        while let Err(missing) = self.look(words) {
            self.learn(missing)?;
        }
        self.steps.clear();
        let mut all_environment = true;
        for nth in 0..self.moves.len() {
            let (step, is_environment) = self.number(self.moves[nth].event)?;
            all_environment &= is_environment;
            self.steps.push(step);
        }
        Ok(self.program.rests && all_environment && !self.moves.is_empty())
    }

    /// Lists what can happen, as far as it is known.
    #[inline]
    fn look(&mut self, words: &[u32]) -> Result<(), Missing> {
        let Lookup { actors, shared, .. } = self.program;
        let known = &*shared.read();
        let (layout, network) = (&known.layout, shared.network);
        let may_crash = layout.crashes.is_some_and(|field| (field.get(words) as usize) < actors.crashes);
        let moves = &mut self.moves;
        moves.clear();
        let mut add = |actor: usize, effect: Option<u32>, taken: u32, is_crash: bool| {
            if let Some(effect) = effect {
                let event = known.effects[effect as usize].event;
                moves.push(Move { event, actor: actor as u32, effect, taken, is_crash });
            }
        };
        for (actor, field) in layout.places.iter().enumerate() {
            let place = field.get(words);
            let at = &known.at[actor][place as usize];
            if if at.is_up { may_crash } else { actors.restarts } {
                if !at.turn.is_known() {
                    return Err(Missing::Turn { actor, place });
                }
                add(actor, at.turn.effect(), NONE, at.is_up);
            }
            if !at.is_up {
                continue;
            }
            let Some(timers) = &at.timers else { return Err(Missing::Timers { actor, place }) };
            timers.iter().for_each(|timer| add(actor, timer.effect(), NONE, false));
            let mut deliver = |envelope: u32, is_copy: bool| {
                let entry = known.message(actor, place, envelope, is_copy);
                if !entry.is_known() {
                    return Err(Missing::Message { actor, place, envelope, is_copy });
                }
                let stays = is_copy || network.is_set();
                add(actor, entry.effect(), if stays { NONE } else { envelope }, false);
                Ok(())
            };
            if network.ordered {
                for from in 0..layout.places.len() {
                    let channel = from * layout.places.len() + actor;
                    let Some(field) = layout.queues[channel] else { continue };
                    let Some(&first) = shared.numbers.queues[channel].get(field.get(words)).first() else {
                        continue;
                    };
                    deliver(first, false)?;
                    if network.duplicating {
                        deliver(first, true)?;
                    }
                }
            } else {
                for (word, (bits, mask)) in words.iter().zip(&layout.inbox[actor]).enumerate() {
                    let mut rest = bits & mask;
                    while rest != 0 {
                        let envelope = layout.owner(word, rest.trailing_zeros());
                        rest &= !layout.envelopes[envelope as usize].mask();
                        deliver(envelope, false)?;
                    }
                }
            }
        }
        if network.lossy {
            self.look_for_losses(words, known);
        }
        if network.at_most != usize::MAX {
            let mut moves = std::mem::take(&mut self.moves);
            moves.retain(|one| self.has_room(words, known, one));
            self.moves = moves;
        }
        Ok(())
    }

    fn look_for_losses(&mut self, words: &[u32], known: &Known) {
        let shared = &self.program.shared;
        let first = |(channel, field): (usize, &Option<Field>)| {
            shared.numbers.queues[channel].get((*field)?.get(words)).first().copied()
        };
        let queued = known.layout.queues.iter().enumerate().filter_map(first);
        let counted = known.layout.envelopes.iter().enumerate();
        let counted = counted.filter(|(_, field)| field.get(words) > 0).map(|(number, _)| number as u32);
        for envelope in queued.chain(counted) {
            while self.losses.len() <= envelope as usize {
                let lost = shared.numbers.envelopes.get(self.losses.len() as u32).clone();
                self.losses.push(shared.numbers.events.number(&Event::Lose(lost)));
            }
            let event = self.losses[envelope as usize];
            self.moves.push(Move { event, actor: NONE, effect: NONE, taken: envelope, is_crash: false });
        }
    }

    /// Whether the network takes what would be sent.
    fn has_room(&self, words: &[u32], known: &Known, one: &Move) -> bool {
        if one.effect == NONE {
            return true;
        }
        let shared = &self.program.shared;
        let sent = known.sent(&known.effects[one.effect as usize]);
        let is_new = |&envelope: &u32| {
            !shared.network.is_set() || known.layout.envelopes[envelope as usize].get(words) == 0
        };
        sent.iter().all(|envelope| {
            let channel = shared.channel(*envelope);
            let is_here = |other: u32| shared.channel(other) == channel;
            let more = sent.iter().filter(|other| is_here(**other) && is_new(other)).count();
            let less = usize::from(one.taken != NONE && is_here(one.taken));
            more == 0 || shared.on_the_way(known, words, channel) - less + more <= shared.network.at_most
        })
    }

    /// Runs a handler whose result was missing.
    #[cold]
    fn learn(&mut self, missing: Missing) -> Result<(), StepError> {
        let program = self.program;
        let refused = {
            let known = &mut *program.shared.known.write().unwrap_or_else(PoisonError::into_inner);
            let (actors, numbers, hints) = (program.actors, &program.shared.numbers, &program.hints);
            match (Filler { actors, numbers, hints, known }).fill(missing) {
                Ok(()) => return Ok(()),
                Err(refused) => refused,
            }
        };
        Err(match refused {
            Refused::Outgrown => self.outgrown(None),
            Refused::Panic { event: NONE, text } => program.troubles.add(Trouble::Panic(text), None),
            Refused::Panic { event, text } => {
                let step = self.number(event)?.0;
                program.troubles.add(Trouble::Panic(text), Some(step))
            }
        })
    }

    #[cold]
    fn outgrown(&self, full: Option<&Full>) -> StepError {
        self.program.outgrown(full);
        self.program.troubles.add(Trouble::Outgrown, None)
    }

    /// The number of the steps of an event, and whether it is the environment's.
    #[inline]
    fn number(&mut self, event: u32) -> Result<(ActionId, bool), StepError> {
        let Lookup { actors, classes, shared, troubles, .. } = self.program;
        self.met.steps(event, || shared.numbers.events.get(event), classes, actors, troubles)
    }

    /// Makes a move.
    #[inline]
    fn make(&mut self, known: &Known, words: &mut [u32], one: Move) -> Result<(), StepError> {
        let shared = &*self.program.shared;
        let content = &mut self.content;
        let made = (|| {
            if one.taken != NONE {
                shared.take(known, words, one.taken, content)?;
            }
            if one.effect == NONE {
                return Ok(());
            }
            let effect: &Effect = &known.effects[one.effect as usize];
            known.layout.places[one.actor as usize].set(words, effect.place);
            known.sent(effect).iter().try_for_each(|&envelope| shared.put(known, words, envelope, content))
        })();
        if let (true, Some(field)) = (one.is_crash, known.layout.crashes) {
            field.set(words, field.get(words) + 1);
        }
        made.map_err(|full| self.outgrown(Some(&full)))
    }
}

/// The choice of steps: the head of `reach` says why it is enough.
impl<M: Message> LookupWorker<'_, '_, M> {
    /// The smallest set of what was listed last that is enough, if it is not all of it.
    fn smallest_set(&mut self, words: &[u32], watched: &[usize], keeps: Keeps<'_>) -> Option<Choice> {
        let Lookup { actors, shared, propositions, reduction, .. } = self.program;
        let (prints, _) = reduction.as_ref()?;
        let known = shared.read();
        if known.layout.crashes.is_some_and(|field| (field.get(words) as usize) < actors.crashes) {
            return None;
        }
        if self.seen.watched != watched {
            self.seen = Seen { watched: watched.to_vec(), ..Seen::default() };
        }
        let origins: Vec<usize> = watched.iter().map(|&number| propositions.origin(number)).collect();
        let mut is_visible = Vec::with_capacity(self.moves.len());
        for one in &self.moves {
            let event = one.event as usize;
            if self.seen.visible.len() <= event {
                self.seen.visible.resize(event + 1, None);
            }
            let visible = match self.seen.visible[event] {
                Some(visible) => visible,
                None => prints.changes(actors, shared.numbers.events.get(one.event), &origins)?,
            };
            self.seen.visible[event] = Some(visible);
            is_visible.push(visible);
        }
        let owners: Vec<usize> = self.moves.iter().map(|one| self.owner(one)).collect();
        let needs = self.needs(words, &known, keeps);
        let mut best: Option<Choice> = None;
        let mut begun = 0u64;
        for &first in &owners {
            if begun >> first & 1 == 1 {
                continue;
            }
            begun |= 1 << first;
            let set = collect(first, &needs);
            let is_in = |index: &u32| set >> owners[*index as usize] & 1 == 1;
            let (invisible, visible): (Vec<u32>, Vec<u32>) =
                (0..owners.len() as u32).filter(is_in).partition(|&index| !is_visible[index as usize]);
            let n_invisible = invisible.len();
            let is_enough = match keeps {
                Keeps::States => n_invisible > 0,
                Keeps::Runs => {
                    let acts = invisible.iter().any(|&index| self.is_process(&self.moves[index as usize]));
                    visible.is_empty() && acts
                }
                Keeps::FairRuns(favored) => {
                    let is_key = |&index: &u32| self.is_of(favored, &self.moves[index as usize]);
                    visible.is_empty() && invisible.iter().any(is_key)
                }
            };
            let chosen: Vec<u32> = invisible.into_iter().chain(visible).collect();
            let is_smaller = chosen.len() < best.as_ref().map_or(owners.len(), |(known, _)| known.len());
            if is_enough && is_smaller {
                best = Some((chosen, n_invisible));
            }
        }
        best
    }

    /// Whom it happens to: a message that gets lost, to who would have got it.
    fn owner(&self, one: &Move) -> usize {
        match one.actor {
            NONE => self.program.shared.numbers.envelopes.get(one.taken).to,
            actor => actor as usize,
        }
    }

    /// Whether an actor does it, and not the environment.
    fn is_process(&self, one: &Move) -> bool {
        let event = self.program.shared.numbers.events.get(one.event);
        matches!(event, Event::Deliver(_) | Event::DeliverCopy(_) | Event::Timer { .. })
    }

    /// Whether runs are fair to it: to all that an actor does, or to messages from one to another.
    fn is_of(&self, favored: &Favored, one: &Move) -> bool {
        let actor = one.actor as usize;
        let is_delivery = || {
            let event = self.program.shared.numbers.events.get(one.event);
            matches!(event, Event::Deliver(_) | Event::DeliverCopy(_))
        };
        self.is_process(one)
            && (favored.wholly.contains(&actor) || favored.partly.contains(&actor) && is_delivery())
    }

    /// Per actor, who must be taken together with it.
    fn needs(&mut self, words: &[u32], known: &Known, keeps: Keeps<'_>) -> Vec<u64> {
        let Lookup { shared, reduction, .. } = self.program;
        let Some((_, reach)) = reduction else { return Vec::new() };
        let n = known.layout.places.len();
        let is_lossy = matches!(keeps, Keeps::FairRuns(_)) && shared.network.lossy;
        self.seen.sends.resize(n, Vec::new());
        let mut needs = vec![0u64; n];
        for (actor, field) in known.layout.places.iter().enumerate() {
            let place = field.get(words);
            let cached = &mut self.seen.sends[actor];
            if cached.len() <= place as usize {
                cached.resize(place as usize + 1, None);
            }
            let sends = *cached[place as usize]
                .get_or_insert_with(|| reach.sends(actor, shared.numbers.places[actor].get(place)));
            (0..n).filter(|to| sends >> to & 1 == 1).for_each(|to| needs[to] |= 1 << actor);
            if shared.network.at_most != usize::MAX || is_lossy {
                needs[actor] |= sends & (u64::MAX >> (64 - n));
            }
        }
        needs
    }
}

impl<M: Message> Worker for LookupWorker<'_, '_, M> {
    fn successors(&mut self, words: &[u32], out: &mut Steps) -> Result<(), StepError> {
        let rests = self.list(words)?;
        let known = self.program.shared.read();
        for nth in 0..self.moves.len() {
            let target = out.push(self.steps[nth], words);
            self.make(&known, target, self.moves[nth])?;
        }
        if rests {
            out.push(self.program.classes.rest(), words);
        }
        Ok(())
    }

    fn enabled(&mut self, words: &[u32], out: &mut Vec<ActionId>) -> Result<(), StepError> {
        let rests = self.list(words)?;
        out.extend(&self.steps);
        out.extend(rests.then_some(self.program.classes.rest()));
        Ok(())
    }

    fn choose(
        &mut self,
        words: &[u32],
        watched: &[usize],
        keeps: Keeps<'_>,
        enabled: &mut Vec<ActionId>,
    ) -> Result<Option<Choice>, StepError> {
        self.enabled(words, enabled)?;
        Ok(self.smallest_set(words, watched, keeps))
    }

    fn fire(&mut self, words: &mut [u32], step: ActionId) -> Result<(), StepError> {
        if step == self.program.classes.rest() {
            return Ok(());
        }
        self.list(words)?;
        let known = self.program.shared.read();
        match self.steps.iter().position(|known| *known == step) {
            Some(nth) => self.make(&known, words, self.moves[nth]),
            None => Ok(()),
        }
    }

    fn holds(&mut self, proposition: usize, words: &[u32]) -> Result<bool, StepError> {
        let program = self.program;
        let known = program.shared.read();
        let crashes = known.layout.crashes.map_or(0, |field| field.get(words) as usize);
        let place = |actor: usize, number: u32| program.shared.numbers.places[actor].get(number).clone();
        let fields = known.layout.places.iter().map(|field| field.get(words)).enumerate();
        match &mut self.world {
            Some((world, numbers)) => {
                for (actor, number) in fields {
                    if numbers[actor] == number {
                        continue;
                    }
                    numbers[actor] = number;
                    world.places[actor] = place(actor, number);
                }
                world.turn_to(crashes, words);
            }
            none => {
                let (places, numbers) = fields.map(|(actor, number)| (place(actor, number), number)).unzip();
                let unread = Words { shared: program.shared.clone(), words: words.to_vec() };
                *none = Some((World::with_unread(places, crashes, Box::new(unread)), numbers));
            }
        }
        drop(known);
        let Some((world, _)) = &self.world else { return Ok(false) };
        catch(|| program.propositions.holds(proposition, world))
            .map_err(|text| program.troubles.add(Trouble::Panic(text), None))
    }
}
