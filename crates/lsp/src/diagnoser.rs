//! The thread that looks for mistakes a moment after the last key.
//!
//! A text that has changed since is given up, and what is found is sent with the stamp of the text that it is about:
//! whoever publishes it compares, so that nothing stale is ever shown.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use stubborn::{Progress, Watcher};

use crate::analysis::Snapshot;
use crate::server::Event;

/// How long nobody must have typed.
const QUIET: Duration = Duration::from_millis(60);

/// The newest stamps, by address.
type Newest = Arc<Mutex<BTreeMap<String, Arc<AtomicU64>>>>;

/// Hands texts to the thread.
pub(crate) struct Diagnoser {
    work: Sender<(u64, Snapshot)>,
    newest: Newest,
}

impl Diagnoser {
    pub(crate) fn start(events: Sender<Event>) -> Diagnoser {
        let (work, orders) = mpsc::channel();
        let newest = Newest::default();
        let known = newest.clone();
        thread::spawn(move || run(&orders, &events, &known));
        Diagnoser { work, newest }
    }

    /// A text has changed; the stamp is larger than all before.
    pub(crate) fn look_at(&self, stamp: u64, snapshot: Snapshot) {
        self.forget(snapshot.uri.as_str(), stamp);
        // The thread ends only with the program.
        _ = self.work.send((stamp, snapshot));
    }

    /// Nothing older than this is worth looking at any more.
    pub(crate) fn forget(&self, uri: &str, stamp: u64) {
        newest(&self.newest, uri).store(stamp, Ordering::Relaxed);
    }
}

fn newest(all: &Newest, uri: &str) -> Arc<AtomicU64> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(uri.to_owned()).or_default().clone()
}

/// Gives up when there is a newer text.
struct Current {
    stamp: u64,
    newest: Arc<AtomicU64>,
}

impl Watcher for Current {
    fn look(&self, _elapsed: Duration, _progress: &Progress) -> bool {
        self.newest.load(Ordering::Relaxed) <= self.stamp
    }
}

fn run(orders: &Receiver<(u64, Snapshot)>, events: &Sender<Event>, all: &Newest) {
    let mut waiting: BTreeMap<String, (u64, Snapshot)> = BTreeMap::new();
    while let Ok((stamp, snapshot)) = orders.recv() {
        waiting.insert(snapshot.uri.as_str().to_owned(), (stamp, snapshot));
        loop {
            match orders.recv_timeout(QUIET) {
                Ok((stamp, snapshot)) => {
                    waiting.insert(snapshot.uri.as_str().to_owned(), (stamp, snapshot));
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        for (uri, (stamp, snapshot)) in std::mem::take(&mut waiting) {
            let current = Current { stamp, newest: newest(all, &uri) };
            let (diagnostics, ranges) = snapshot.diagnose(&current);
            if current.look(Duration::ZERO, &Progress::default())
                && events.send(Event::Diagnosed { uri, stamp, diagnostics, ranges }).is_err()
            {
                return;
            }
        }
    }
}
