//! States that are still to be expanded, in the order of their numbers.
//!
//! Where states are expanded in the order in which they were met, those that wait are a queue: a state is where its number
//! says, without another look, and who goes through them goes through memory from one end to the other. The queue is made
//! of pieces that never move. Where states are expanded in another order, pieces get empty here and there; what is left of
//! the oldest one is then given to somebody else, so that at most half of the room is empty.

use std::collections::VecDeque;

/// So many states are in a piece.
const PIECE: usize = 1024;

pub(super) struct Ahead<S> {
    pieces: VecDeque<Piece<S>>,
    /// The number of the first place of the first piece.
    first: u32,
    /// So many states are here.
    n_here: usize,
}

struct Piece<S> {
    /// Fewer than [`PIECE`] in the last piece only.
    places: Vec<Option<S>>,
    n_here: usize,
}

impl<S> Default for Ahead<S> {
    fn default() -> Ahead<S> {
        Ahead { pieces: VecDeque::new(), first: 0, n_here: 0 }
    }
}

impl<S> Ahead<S> {
    /// So many states are here.
    pub(super) fn len(&self) -> usize {
        self.n_here
    }

    fn place(&self, number: u32) -> Option<(usize, usize)> {
        let offset = number.checked_sub(self.first)? as usize;
        Some((offset / PIECE, offset % PIECE))
    }

    /// The state of a number, if it is here.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&S> {
        let (piece, at) = self.place(number)?;
        self.pieces.get(piece)?.places.get(at)?.as_ref()
    }

    /// Adds the state of the next number. Returns what is no longer here: states from a number on.
    pub(super) fn push(&mut self, state: S) -> Option<(u32, Vec<Option<S>>)> {
        self.n_here += 1;
        if let Some(last) = self.pieces.back_mut().filter(|last| last.places.len() < PIECE) {
            last.places.push(Some(state));
            last.n_here += 1;
            return None;
        }
        let room = if self.pieces.is_empty() { 0 } else { PIECE };
        let mut places = Vec::with_capacity(room);
        places.push(Some(state));
        self.pieces.push_back(Piece { places, n_here: 1 });
        let is_sparse = self.pieces.len() > 2 + 2 * self.n_here.div_ceil(PIECE);
        if is_sparse { self.pop() } else { None }
    }

    /// Takes a state away.
    pub(super) fn take(&mut self, number: u32) -> Option<S> {
        let (piece, at) = self.place(number)?;
        let piece = self.pieces.get_mut(piece)?;
        let state = piece.places.get_mut(at)?.take()?;
        (piece.n_here, self.n_here) = (piece.n_here - 1, self.n_here - 1);
        while self.pieces.front().is_some_and(|first| first.n_here == 0 && first.places.len() == PIECE) {
            self.pop();
        }
        Some(state)
    }

    /// Puts a state back where it was taken from.
    ///
    /// # Errors
    /// Its place is gone: the state.
    pub(super) fn put_back(&mut self, number: u32, state: S) -> Result<(), S> {
        let found = self.place(number).and_then(|(piece, at)| Some((self.pieces.get_mut(piece)?, at)));
        let Some((piece, at)) =
            found.filter(|(piece, at)| piece.places.get(*at).is_some_and(Option::is_none))
        else {
            return Err(state);
        };
        piece.places[at] = Some(state);
        (piece.n_here, self.n_here) = (piece.n_here + 1, self.n_here + 1);
        Ok(())
    }

    /// Takes the first piece away, which is full but for what was taken.
    fn pop(&mut self) -> Option<(u32, Vec<Option<S>>)> {
        let Piece { places, n_here } = self.pieces.pop_front()?;
        let first = self.first;
        self.first += places.len() as u32;
        self.n_here -= n_here;
        Some((first, places))
    }

    /// Bytes held, less what states hold elsewhere.
    pub(super) fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.places.capacity()).sum::<usize>() * size_of::<Option<S>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes states in an order that a number says, and tells what must be where.
    fn take_some(seed: usize, n: usize) {
        let mut ahead = Ahead::default();
        let (mut here, mut elsewhere) = (vec![false; n], vec![false; n]);
        for number in 0..n {
            here[number] = true;
            if let Some((first, states)) = ahead.push(number) {
                for (number, state) in (first as usize..).zip(states) {
                    assert_eq!(state.is_some(), std::mem::take(&mut here[number]));
                    assert!(state.is_none_or(|state| state == number));
                    elsewhere[number] = true;
                }
            }
            // In turn, in no turn at all, and with some that never are.
            for other in [number / 2, number * seed % (number + 1), number - number % 7] {
                let taken = ahead.take(other as u32);
                assert_eq!(taken.is_some(), std::mem::take(&mut here[other]));
                if let Some(state) = taken.filter(|state| state % 3 == 0) {
                    here[other] = ahead.put_back(other as u32, state).is_ok();
                }
            }
        }
        for (number, &is_here) in here.iter().enumerate() {
            assert_eq!(ahead.get(number as u32).copied(), is_here.then_some(number));
        }
        assert_eq!(ahead.len(), here.iter().filter(|is_here| **is_here).count());
        assert!(
            ahead.pieces.len() <= 3 + 2 * ahead.len().div_ceil(PIECE),
            "half of the room is empty at most"
        );
    }

    #[test]
    fn states_are_where_their_numbers_say() {
        for seed in [1, 3, 7, 1023] {
            take_some(seed, 10 * PIECE);
        }
    }

    #[test]
    fn what_is_left_here_and_there_is_handed_on() {
        let (mut ahead, mut n_handed_on) = (Ahead::default(), 0);
        for number in 0..20 * PIECE as u32 {
            let handed_on = ahead.push(number).map_or(Vec::new(), |(_, states)| states);
            n_handed_on += handed_on.into_iter().flatten().count();
            if number % 100 > 0 {
                assert_eq!(ahead.take(number), Some(number));
            }
        }
        assert_eq!(n_handed_on + ahead.len(), (20 * PIECE).div_ceil(100));
        assert!(ahead.pieces.len() <= 5, "{} pieces for {} states", ahead.pieces.len(), ahead.len());
    }
}
