//! Searches for several processes, perhaps on several machines.
//!
//! Every process runs the same program on the same model ([`Peers`](base::Peers)), and comes to the same searches. In one of
//! these, each process has the states that are its own by their hash, in a store as on one machine. What a process finds that is not its own, it
//! sends to the owner. All go from round to round together, as threads do ([`parallel`](crate::parallel)), so counts, verdicts and
//! shortest runs are those of one machine; and in the end everybody has the same answer.
//!
//! | module | does |
//! |---|---|
//! | `exchange` | steps: what is sent in one arrives in it, and everybody hears what all others say at its end |
//! | `owners` | whose a state is, by a hash of all of it, or of a part that changes seldom |
//! | `states` | deadlocks, invariants, faults, counts: by rounds |
//! | `expand` | the states of a round are expanded, with or without reduction |
//! | `backward` | runs, found by going back through the rounds |
//! | `products` | formulas and testers: the product by rounds, and cycles in it |
//! | `piece`, `own` | what one process has of a product, and phases that all go through together |
//! | `fixpoint` | whether there is an accepted cycle, by removing what is on none |
//! | `sets` | sets that must close no cycle: states are sorted, and those on cycles enlarged |
//! | `kept` | searches that are kept, and go on after an interruption |
//! | `lasso` | runs through a product, and its cycles |
//!
//! The workers of a [team](base::Team) can search in the same way, each with a part of the states. That is how a search is kept which only one process does.
//!
//! What only looks at all states when they were found, does so in every process, which then [say](say) what came of it.
//!
//! A limit that one process reaches ends the search for all, at the end of the step. A process that is gone ends it at once.

mod backward;
mod exchange;
mod expand;
mod fixpoint;
mod kept;
mod lasso;
mod own;
mod owners;
mod piece;
mod products;
mod sets;
mod states;

pub(crate) use products::{FIRST_LOOK, Unfit, Wanted, attempt as attempt_products, search as products};
pub(crate) use states::{keep, search as states};

use base::peers::Hall;
use base::{Budget, Limit, Peers, Progress, Worker};

use self::exchange::{Exchange, Watch};
use crate::sync::{Mutex, OnceLock, lock};

/// Does a job with the other processes of the budget; or with a team, each worker of which is like a process.
fn seats<T: Send>(budget: &mut Budget<'_>, job: impl Fn(&dyn Peers, &mut Budget<'_>) -> T + Sync) -> T {
    if let Some(peers) = budget.peers() {
        return job(peers, budget);
    }
    let (hall, answer) = (OnceLock::new(), Mutex::new(None));
    budget.team().run(&|worker: Worker| {
        let hall = hall.get_or_init(|| Hall::new(worker.of));
        let mut budget = budget.for_worker();
        budget.max_bytes /= worker.of as u64;
        let own = job(&hall.seat(worker.index), &mut budget);
        // All answers are the same.
        *lock(&answer) = Some(own);
    });
    lock(&answer).take().expect("a team has workers")
}

/// What all processes of the budget say, in their order; what this one says, if there are no others.
///
/// # Errors
/// One of them is gone.
pub fn say(words: &[u32], budget: &mut Budget<'_>) -> Result<Vec<Vec<u32>>, Limit> {
    let Some(peers) = budget.peers() else { return Ok(vec![words.to_vec()]) };
    Exchange::of_words(peers).all(words, &mut Watch { budget, progress: Progress::default() })
}
