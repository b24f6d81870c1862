//! Processes that do a job together, perhaps on several machines.
//!
//! The libraries open no connection. Who has some hands in its [`Peers`], in the [budget](crate::Budget), as threads are
//! handed in by a [`Team`](crate::Team). All processes run the same program on the same input, and so come to the same
//! searches; a search for several processes is one that all of them do together, each with a part of the states. What they tell
//! each other goes in *steps*: in a step, everybody sends [parts](Packet::Part) to whom it likes, and then an [end](Packet::End) to
//! everybody. Who has the ends of all others knows that nothing more is coming in this step: no other detection of
//! termination is needed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Limit, Worker};

/// What one process sends to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Something in a step.
    Part(Vec<u32>),
    /// Nothing more in this step; and what everybody is told.
    End(Vec<u32>),
}

impl Packet {
    fn bytes(&self) -> u64 {
        let (Packet::Part(words) | Packet::End(words)) = self;
        4 * words.capacity() as u64
    }
}

/// The processes of a job, as one of them sees them.
pub trait Peers: Sync {
    /// Which one this is, and how many there are.
    fn me(&self) -> Worker;

    /// Whether states should belong to processes by a part of them that changes seldom, so that less is sent.
    fn owns_by_part(&self) -> bool {
        false
    }

    /// Told how many states, or questions about some, are sent together.
    fn count(&self, _n_messages: u64) {}

    /// Sends something to another process. What is sent to one arrives there in order.
    ///
    /// # Errors
    /// That process cannot be reached any more.
    fn send(&self, to: usize, packet: Packet) -> Result<(), Limit>;

    /// Takes what came next from one of the processes that are `open`, if something came. Who wants to wait does so for some
    /// milliseconds at most.
    ///
    /// # Errors
    /// One of them is gone, and nothing of what it sent is left.
    fn receive(&self, open: &[bool], waits: bool) -> Result<Option<(usize, Packet)>, Limit>;

    /// Bytes of what came and was not taken yet.
    fn waiting(&self) -> u64 {
        0
    }
}

/// What came from other processes and was not taken yet, in the order in which each of them sent it.
#[derive(Debug)]
pub struct Inbox {
    queues: Mutex<Vec<Queue>>,
    news: Condvar,
    /// Bytes of it.
    n_bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<Packet>,
    is_gone: bool,
}

impl Inbox {
    /// How long somebody waits at most before it looks at its limits.
    const PATIENCE: Duration = Duration::from_millis(20);

    /// Of a job of so many processes.
    pub fn new(n_processes: usize) -> Inbox {
        let queues = (0..n_processes).map(|_| Queue::default()).collect();
        Inbox { queues: Mutex::new(queues), news: Condvar::new(), n_bytes: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something came.
    pub fn push(&self, from: usize, packet: Packet) {
        self.n_bytes.fetch_add(packet.bytes(), Ordering::Relaxed);
        self.lock()[from].packets.push_back(packet);
        self.news.notify_one();
    }

    /// Nothing more will come from a process.
    pub fn close(&self, from: usize) {
        self.lock()[from].is_gone = true;
        self.news.notify_one();
    }

    /// Whether a process is gone.
    pub fn is_closed(&self, from: usize) -> bool {
        self.lock()[from].is_gone
    }

    /// Bytes of what came and was not taken yet.
    pub fn bytes(&self) -> u64 {
        self.n_bytes.load(Ordering::Relaxed)
    }

    /// Takes what came next from one of the processes that are `open`: see [`Peers::receive`].
    ///
    /// # Errors
    /// One of them is gone, and nothing of what it sent is left.
    pub fn receive(&self, open: &[bool], waits: bool) -> Result<Option<(usize, Packet)>, Limit> {
        let mut queues = self.lock();
        for has_waited in [!waits, true] {
            for (from, queue) in queues.iter_mut().enumerate().filter(|(from, _)| open[*from]) {
                match queue.packets.pop_front() {
                    Some(packet) => {
                        self.n_bytes.fetch_sub(packet.bytes(), Ordering::Relaxed);
                        return Ok(Some((from, packet)));
                    }
                    None if queue.is_gone => return Err(Limit::Process(from as u32)),
                    None => {}
                }
            }
            if !has_waited {
                let waited = self.news.wait_timeout(queues, Inbox::PATIENCE);
                queues = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        Ok(None)
    }
}

/// Several processes in one: each is a thread, and what they send goes from hand to hand.
#[derive(Debug)]
pub struct Hall(Vec<Inbox>);

/// One of them. When it goes, the others notice.
#[derive(Debug)]
pub struct Seat<'h> {
    me: Worker,
    inboxes: &'h [Inbox],
}

impl Hall {
    /// With so many seats.
    pub fn new(n_processes: usize) -> Hall {
        Hall((0..n_processes).map(|_| Inbox::new(n_processes)).collect())
    }

    /// The seat of one of them; each is taken once.
    pub fn seat(&self, index: usize) -> Seat<'_> {
        Seat { me: Worker { index, of: self.0.len() }, inboxes: &self.0 }
    }
}

impl Peers for Seat<'_> {
    fn me(&self) -> Worker {
        self.me
    }

    fn send(&self, to: usize, packet: Packet) -> Result<(), Limit> {
        self.inboxes[to].push(self.me.index, packet);
        Ok(())
    }

    fn receive(&self, open: &[bool], waits: bool) -> Result<Option<(usize, Packet)>, Limit> {
        self.inboxes[self.me.index].receive(open, waits)
    }

    fn waiting(&self) -> u64 {
        self.inboxes[self.me.index].bytes()
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.inboxes.iter().for_each(|inbox| inbox.close(self.me.index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_until_it_is_taken() {
        let hall = Hall::new(2);
        let (sender, receiver) = (hall.seat(0), hall.seat(1));
        assert_eq!(sender.send(1, Packet::Part(vec![7; 25])), Ok(()));
        assert_eq!(sender.send(1, Packet::End(Vec::new())), Ok(()));
        assert_eq!((receiver.waiting(), sender.waiting()), (100, 0));
        assert_eq!(receiver.receive(&[true, false], false), Ok(Some((0, Packet::Part(vec![7; 25])))));
        assert_eq!(receiver.waiting(), 0);
    }
}
