//! A look at whether a pass says something does not prove the property a second time.

use std::sync::Mutex;
use std::time::Duration;

use stubborn::base::Progress;
use stubborn::check::method::ReductionWish;
use stubborn::{Clock, Limits, Options, Question, Rules, Session, Verdict, Watcher};

/// Counts the searches that have come as far as so many states.
struct Large {
    states: u64,
    /// How many there were, and how far the last one has come.
    seen: Mutex<(u32, u64)>,
}

impl Watcher for Large {
    fn look(&self, _: Duration, progress: &Progress) -> bool {
        let (n_large, most) = &mut *self.seen.lock().unwrap();
        // A search that begins has few states. Several workers of one do not tell in order.
        if progress.states < *most / 2 {
            *most = 0;
        }
        *n_large += u32::from(*most < self.states && progress.states >= self.states);
        *most = progress.states.max(*most);
        true
    }
}

#[test]
fn what_holds_is_proved_once() {
    // Sixteen processes that do as they like: 65 536 states without reduction.
    let text = "process P[i in 0..16] { s: a[i] -> t; t: b[i] -> s; }";
    let mut session = Session::of_text("process", text).unwrap();
    let large = Large { states: 40_000, seen: Mutex::default() };
    let clock = Clock::start(&Limits::default()).watched_by(&large);
    let options = Options { reduce: ReductionWish::None, statics: Some(Rules::none()), ..Options::default() };
    let always = [Question::ltl("[] (P[0]@s || P[0]@t)")];
    let report = session.check_within(&always, &options, &clock).unwrap();
    let answer = &report.results[0];
    assert_eq!((answer.verdict, &answer.remarks[..]), (Verdict::Holds, &[][..]));
    assert_eq!(answer.stats.states, 65_536);
    assert_eq!(large.seen.lock().unwrap().0, 1, "one search of that size");
}
