//! What a transition of a reduced net stands for: a sequence of transitions of the original, some of which may be one of several,
//! whichever can fire.
//!
//! Sequences are made of sequences, and share their parts, so that a chain of a thousand merged
//! transitions takes a thousand small nodes. They are written out only for transitions that are part
//! of a run that is shown.

use crate::net::{Net, TransitionId};

/// A sequence, by number.
pub(super) type PartId = u32;

/// No sequence gets longer than this: a rule that would need it is not applied. Else runs that are shown
/// might get too long to be looked at.
pub(super) const MAX_LENGTH: u64 = 1 << 12;

#[derive(Clone, Debug)]
enum Part {
    Original(TransitionId),
    /// Parts and how often each is repeated, in order.
    Sequence(Box<[(PartId, u64)]>),
    /// One of these, the first that can fire.
    Either(Box<[PartId]>),
}

/// All sequences of a reduction.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    parts: Vec<Part>,
    lengths: Vec<u64>,
}

impl Parts {
    /// The transitions of a net, each with the number that it has there.
    pub(super) fn new(n_transitions: usize) -> Parts {
        let originals = (0..n_transitions).map(|index| Part::Original(TransitionId::new(index)));
        Parts { parts: originals.collect(), lengths: vec![1; n_transitions] }
    }

    /// A sequence of sequences; nothing if it gets too long.
    pub(super) fn sequence(&mut self, of: &[(PartId, u64)]) -> Option<PartId> {
        let of: Vec<(PartId, u64)> = of.iter().copied().filter(|(_, times)| *times > 0).collect();
        if let [(only, 1)] = of[..] {
            return Some(only);
        }
        let length = |&(part, times): &(PartId, u64)| self.lengths[part as usize].checked_mul(times);
        let total = of.iter().try_fold(0u64, |total, item| total.checked_add(length(item)?))?;
        let id = PartId::try_from(self.parts.len()).ok()?;
        if total > MAX_LENGTH {
            return None;
        }
        self.parts.push(Part::Sequence(of.into()));
        self.lengths.push(total);
        Some(id)
    }

    /// One of several sequences that lead to the same, whichever can fire; nothing if there are too many parts.
    pub(super) fn either(&mut self, of: &[PartId]) -> Option<PartId> {
        let mut of = of.to_vec();
        of.sort_unstable();
        of.dedup();
        if let [only] = of[..] {
            return Some(only);
        }
        let id = PartId::try_from(self.parts.len()).ok()?;
        self.lengths.push(of.iter().map(|&part| self.lengths[part as usize]).max()?);
        self.parts.push(Part::Either(of.into()));
        Some(id)
    }

    pub(super) fn length(&self, part: PartId) -> u64 {
        self.lengths[part as usize]
    }

    /// The first and the last transition of a sequence that is not empty.
    pub(super) fn ends(&self, part: PartId) -> Option<(TransitionId, TransitionId)> {
        let end = |last: bool| {
            let mut part = part;
            loop {
                let of = match &self.parts[part as usize] {
                    Part::Original(transition) => return Some(*transition),
                    Part::Sequence(of) => of,
                    Part::Either(of) => {
                        part = *of.first()?;
                        continue;
                    }
                };
                let mut parts = of.iter().map(|(part, _)| *part).filter(|&part| self.length(part) > 0);
                part = if last { parts.next_back()? } else { parts.next()? };
            }
        };
        Some((end(false)?, end(true)?))
    }

    /// The transitions of a sequence, in order; of several, the first.
    pub(super) fn write_out(&self, part: PartId, out: &mut Vec<TransitionId>) {
        // What is left to do: parts, and how often each.
        let mut open = vec![(part, 1)];
        while let Some((part, times)) = open.pop() {
            if times > 1 {
                open.push((part, times - 1));
            }
            match &self.parts[part as usize] {
                Part::Original(transition) => out.push(*transition),
                Part::Sequence(of) => open.extend(of.iter().rev()),
                Part::Either(of) => open.extend(of.first().map(|&part| (part, 1))),
            }
        }
    }

    /// Fires a sequence from a marking of the original, and adds its transitions. Says whether it could be fired; if not, nothing was
    /// changed.
    pub(super) fn fire(
        &self,
        part: PartId,
        net: &Net,
        marking: &mut [i64],
        out: &mut Vec<TransitionId>,
    ) -> bool {
        let start = out.len();
        let is_fired = match &self.parts[part as usize] {
            Part::Original(transition) => {
                let is_fired = net.transition(*transition).fire(marking);
                out.extend(is_fired.then_some(*transition));
                is_fired
            }
            Part::Sequence(of) => {
                of.iter().all(|&(part, times)| (0..times).all(|_| self.fire(part, net, marking, out)))
            }
            Part::Either(of) => of.iter().any(|&part| self.fire(part, net, marking, out)),
        };
        if !is_fired {
            out.drain(start..).rev().for_each(|transition| net.transition(transition).take_back(marking));
        }
        is_fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_written_out_in_order_and_do_not_get_too_long() {
        let mut parts = Parts::new(3);
        let pair = parts.sequence(&[(0, 1), (1, 2)]).unwrap();
        let all = parts.sequence(&[(pair, 2), (2, 1), (1, 0)]).unwrap();
        let mut written = Vec::new();
        parts.write_out(all, &mut written);
        assert_eq!(written.iter().map(|t| t.index()).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 1, 2]);
        assert_eq!(parts.length(all), 7);
        let nothing = parts.sequence(&[]).unwrap();
        let padded = parts.sequence(&[(nothing, 1), (all, 1), (nothing, 3)]).unwrap();
        assert_eq!(parts.ends(padded).map(|(first, last)| (first.index(), last.index())), Some((0, 2)));
        assert_eq!(parts.ends(nothing), None);
        assert_eq!(parts.sequence(&[(2, 1)]), Some(2), "one alone is itself");
        assert_eq!(parts.sequence(&[(all, MAX_LENGTH)]), None);
        assert_eq!(parts.sequence(&[(all, u64::MAX)]), None);
    }
}
