//! Who may search, and for how long, where time is limited: a search that explodes must not keep others from being
//! answered that take no time at all.
//!
//! In a first round every job gets the same small share, so that what is easy is answered. What is left of the time is
//! divided among the others, equally; whoever needs less leaves more to the next. A job that takes
//! its second turn begins anew, so that at most an eighth of the time is lost. Without a limit, and for a single job, there
//! are no shares: nothing depends on how fast the machine is.

/// The share of the first round in all of the time.
const FIRST_ROUND: f64 = 0.125;

/// Runs jobs, each with a share of the time that is left, until they say that they are done or the second round is over.
///
/// # Errors
/// Those of a job, at once.
pub(super) fn take_turns<J, E>(
    jobs: &[J],
    is_limited: bool,
    mut run: impl FnMut(&J, f64) -> Result<bool, E>,
) -> Result<(), E> {
    let mut left: Vec<&J> = jobs.iter().collect();
    if is_limited && jobs.len() > 1 {
        let share = FIRST_ROUND / jobs.len() as f64;
        let mut undone = Vec::new();
        for job in left {
            if !run(job, share)? {
                undone.push(job);
            }
        }
        left = undone;
    }
    for (index, job) in left.iter().enumerate() {
        let share = if is_limited { 1.0 / (left.len() - index) as f64 } else { 1.0 };
        run(job, share)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs that take so long, in so much time: which are done in the end, and how often each was run.
    fn turns(costs: &[f64], time: Option<f64>) -> (Vec<bool>, Vec<u32>) {
        let (mut done, mut n_runs) = (vec![false; costs.len()], vec![0; costs.len()]);
        let mut left = time;
        let jobs: Vec<usize> = (0..costs.len()).collect();
        let never: Result<(), ()> = take_turns(&jobs, time.is_some(), |&job, share| {
            n_runs[job] += 1;
            let allowed = left.map_or(f64::INFINITY, |left| left * share);
            done[job] = costs[job] <= allowed;
            left = left.map(|left| left - allowed.min(costs[job]));
            Ok(done[job])
        });
        assert_eq!(never, Ok(()));
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
    fn what_goes_wrong_ends_it() {
        let mut seen = Vec::new();
        let wrong = take_turns(&[1, 2, 3], true, |&job, _| {
            seen.push(job);
            if job == 2 { Err("wrong") } else { Ok(false) }
        });
        assert_eq!((wrong, seen), (Err("wrong"), vec![1, 2]));
    }
}
