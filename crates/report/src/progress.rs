//! How far searches have come, in a line.

use std::collections::BTreeMap;
use std::time::Duration;

use base::Progress;

use crate::{grouped, human_bytes};

/// One search.
pub fn line(elapsed: Duration, progress: &Progress) -> String {
    let seconds = elapsed.as_secs_f64();
    if progress.states == 0 {
        return format!("preparing, {seconds:.0} s");
    }
    let rate = progress.states as f64 / seconds;
    let workers =
        if progress.workers > 1 { format!(", {} threads", progress.workers) } else { String::new() };
    format!(
        "{} states, {} states/s, depth {}, {} pending, {}, {seconds:.0} s{workers}",
        grouped(progress.states),
        grouped(rate as u64),
        grouped(progress.depth),
        grouped(progress.pending),
        human_bytes(progress.bytes),
    )
}

/// What is done at once, in lanes: the first few jobs by their names.
pub fn lanes(elapsed: Duration, lanes: &BTreeMap<usize, (String, Progress)>) -> String {
    const MOST: usize = 4;
    const NAME: usize = 16;
    let job = |(name, progress): &(String, Progress)| {
        let dots = if name.chars().count() > NAME { "…" } else { "" };
        let name: String = name.chars().take(NAME).collect();
        match progress.states {
            0 => format!("{name}{dots} preparing"),
            states => format!("{name}{dots} {} states", grouped(states)),
        }
    };
    let jobs: Vec<String> = lanes.values().take(MOST).map(job).collect();
    let others = lanes.len().saturating_sub(MOST);
    let others = if others > 0 { format!("; {others} more") } else { String::new() };
    let bytes = lanes.values().map(|(_, progress)| progress.bytes).sum();
    format!("{}{others}; {}, {:.0} s", jobs.join("; "), human_bytes(bytes), elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_what_every_worker_does() {
        let long = "some question of a long name".to_owned();
        let job = |lane: usize| (lane, (long.clone(), Progress::default()));
        let mut jobs: BTreeMap<usize, (String, Progress)> = (2..=6).map(job).collect();
        let progress = Progress { states: 12_345, bytes: 1_000_000, ..Progress::default() };
        jobs.insert(2, ("short".to_owned(), progress));
        let other = "some question of… preparing";
        let expected = format!("short 12 345 states; {other}; {other}; {other}; 1 more; 1.0 MB, 3 s");
        assert_eq!(lanes(Duration::from_secs(3), &jobs), expected);
        let alone = "12 345 states, 4 115 states/s, depth 0, 0 pending, 1.0 MB, 3 s";
        assert_eq!(line(Duration::from_secs(3), &progress), alone);
    }
}
