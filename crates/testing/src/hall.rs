//! Several processes in one, for tests of searches by several of them.

use std::thread;

use base::Peers;
use base::peers::Hall;

/// Lets so many processes do something together; what each of them says.
///
/// # Panics
/// If one of them does.
pub fn together<T: Send>(n_processes: usize, job: impl Fn(&dyn Peers) -> T + Sync) -> Vec<T> {
    let hall = Hall::new(n_processes);
    thread::scope(|scope| {
        let (job, hall) = (&job, &hall);
        let threads: Vec<_> =
            (0..n_processes).map(|index| scope.spawn(move || job(&hall.seat(index)))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no process panics")).collect()
    })
}
