//! What a transition of a reduced net stands for: a sequence of transitions of the original.
//!
//! Sequences are made of sequences, and share their parts, so that a chain of a thousand merged
//! transitions takes a thousand small nodes. They are written out only for transitions that are part
//! of a run that is shown.

use crate::net::TransitionId;

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
                };
                let mut parts = of.iter().map(|(part, _)| *part).filter(|&part| self.length(part) > 0);
                part = if last { parts.next_back()? } else { parts.next()? };
            }
        };
        Some((end(false)?, end(true)?))
    }

    /// The transitions of a sequence, in order.
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
            }
        }
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
