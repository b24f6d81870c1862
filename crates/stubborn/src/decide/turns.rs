//! Who may search, and for how long, where time is limited: a search that explodes must not keep others from being
//! answered that take no time at all.
//!
//! In a first round every job gets the same small share, so that what is easy is answered. What is left of the time is
//! divided among the others, equally; whoever needs less leaves more to the next. A job that takes
//! its second turn begins anew, so that at most an eighth of the time is lost. Without a limit, and for a single job, there
//! are no shares: nothing depends on how fast the machine is.

use crate::across::Begun;
use crate::clock::Clock;

/// The share of the first round in all of the time.
const FIRST_ROUND: f64 = 0.125;

/// How much of the time that is left a job gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// Each of so many jobs gets the same, and little.
    First(usize),
    /// All of it is divided among those that are left.
    Last,
}

impl Turn {
    /// The share of a job, where so many are left and so many are done at once.
    fn share(self, n_left: usize, n_at_once: usize) -> f64 {
        match self {
            Turn::First(n_jobs) => FIRST_ROUND * (n_at_once as f64 / n_jobs as f64).min(1.0),
            Turn::Last => (n_at_once as f64 / n_left as f64).min(1.0),
        }
    }

    /// A clock for the job.
    pub(super) fn clock<'w>(self, begun: &Begun<'_, 'w>) -> Clock<'w> {
        begun.clock.part(self.share(begun.n_left, begun.n_lanes))
    }
}

/// Runs jobs in two rounds if time is limited, otherwise in one. A round returns those that are not done.
pub(super) fn take_turns<J>(jobs: Vec<J>, is_limited: bool, mut round: impl FnMut(Vec<J>, Turn) -> Vec<J>) {
    let left = match jobs.len() {
        n_jobs if is_limited && n_jobs > 1 => round(jobs, Turn::First(n_jobs)),
        _ => jobs,
    };
    round(left, Turn::Last);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs that take so long, in so much time: which are done in the end, and how often each was run.
    fn turns(costs: &[f64], time: Option<f64>) -> (Vec<bool>, Vec<u32>) {
        let (mut done, mut n_runs) = (vec![false; costs.len()], vec![0; costs.len()]);
        let mut left = time;
        let jobs: Vec<usize> = (0..costs.len()).collect();
        take_turns(jobs, time.is_some(), |jobs, turn| {
            let n_jobs = jobs.len();
            let mut undone = Vec::new();
            for (index, job) in jobs.into_iter().enumerate() {
                n_runs[job] += 1;
                let allowed = left.map_or(f64::INFINITY, |left| left * turn.share(n_jobs - index, 1));
                done[job] = costs[job] <= allowed;
                left = left.map(|left| left - allowed.min(costs[job]));
                if !done[job] {
                    undone.push(job);
                }
            }
            undone
        });
        (done, n_runs)
    }

    #[test]
    fn what_explodes_keeps_nobody_from_being_answered() {
        let endless = f64::INFINITY;
        assert_eq!(turns(&[endless, 0.0], Some(1.0)), (vec![false, true], vec![2, 1]));
        assert_eq!(turns(&[endless, 0.3, endless, 0.1], Some(1.0)).0, [false, false, false, true]);
        assert_eq!(turns(&[endless, 0.2, endless, 0.2], Some(1.0)).0, [false, true, false, true]);
        let mut many = vec![endless; 100];
        many[99] = 0.001;
        assert!(turns(&many, Some(1.0)).0[99]);
    }

    #[test]
    fn nearly_all_of_the_time_is_there_for_who_needs_it() {
        assert_eq!(turns(&[0.8, 0.0, 0.01], Some(1.0)).0, [true, true, true]);
        assert_eq!(turns(&[1.0], Some(1.0)), (vec![true], vec![1]));
        assert_eq!(turns(&[0.4, 0.4], Some(1.0)), (vec![true, true], vec![2, 2]));
    }

    #[test]
    fn without_a_limit_everything_is_run_once_and_in_order() {
        assert_eq!(turns(&[3.0, 100.0, 0.0], None), (vec![true, true, true], vec![1, 1, 1]));
    }

    #[test]
    fn who_is_done_at_the_same_time_shares_the_time() {
        assert_eq!(Turn::First(8).share(8, 4), 0.0625);
        assert_eq!([Turn::Last.share(8, 4), Turn::Last.share(3, 4)], [0.5, 1.0]);
        assert_eq!(Turn::First(2).share(1, 4), FIRST_ROUND);
    }
}
