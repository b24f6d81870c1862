//! Several processes in one: each is a thread, and what they send goes from hand to hand.

use std::thread;

use base::peers::Inbox;
use base::{Limit, Packet, Peers, Worker};

/// One of them.
struct Seat<'h> {
    me: Worker,
    inboxes: &'h [Inbox],
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
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.inboxes.iter().for_each(|inbox| inbox.close(self.me.index));
    }
}

/// Lets so many processes do something together; what each of them says.
///
/// # Panics
/// If one of them does.
pub fn together<T: Send>(n_processes: usize, job: impl Fn(&dyn Peers) -> T + Sync) -> Vec<T> {
    let inboxes: Vec<Inbox> = (0..n_processes).map(|_| Inbox::new(n_processes)).collect();
    thread::scope(|scope| {
        let (job, inboxes) = (&job, &inboxes[..]);
        let work = move |index| job(&Seat { me: Worker { index, of: n_processes }, inboxes });
        let threads: Vec<_> = (0..n_processes).map(|index| scope.spawn(move || work(index))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no process panics")).collect()
    })
}
