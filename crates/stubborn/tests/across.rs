//! Several questions at once: whatever the number of threads, the report of one thread, but for times.

use std::sync::Mutex;
use std::time::Duration;

use stubborn::{Clock, Limits, Options, Progress, Question, Session, Text, Verdict, Watcher};

/// A ring whose stations are started by the first one: the model is made larger while it is searched.
const RING: &str = "
    chan token[3] = [1] of { byte };
    byte holder;
    proctype Station(byte me) {
        byte x;
    end: do :: token[me]?x -> holder = me; token[(me + 1) % 3]!x od
    }
    init { run Station(0); run Station(1); run Station(2); token[0]!7 }
    ltl moves { []<> (holder == 1) }
    ltl stays { []<> (holder == 0) }
    ltl seldom { [] (holder < 2) }
    ltl small { [] (holder < 3) }";

const DINING: &str = include_str!("../../../models/dining.proc");

/// So many philosophers.
fn dining(n: usize) -> Session {
    Session::of_text("process", &DINING.replace("const N = 10;", &format!("const N = {n};"))).unwrap()
}

fn ltl(text: &str) -> Question {
    Question::Ltl(Text { text: text.to_owned(), source: "test".to_owned() })
}

/// The report of some questions, without what depends on time.
fn report(mut session: Session, questions: &[Question], options: &Options) -> String {
    let report = session.check(questions, options).unwrap();
    let mut document = serde_json::to_value(&report).unwrap();
    for result in document["results"].as_array_mut().unwrap() {
        result["stats"].as_object_mut().unwrap().remove("seconds");
        result.as_object_mut().unwrap().remove("seconds");
    }
    document.to_string()
}

fn agree(open: impl Fn() -> Session, questions: &[Question], options: &Options) -> String {
    let with = |threads| Options { threads: Some(threads), ..options.clone() };
    let one = report(open(), questions, &with(1));
    for threads in [2, 3, 8] {
        // With so few questions, more threads search each of them: then the remark that one does is theirs.
        assert_eq!(report(open(), questions, &with(threads.min(questions.len()))), one, "{threads} threads");
    }
    one
}

#[test]
fn reports_do_not_depend_on_the_number_of_threads() {
    let ring = || Session::of_text("promela", RING).unwrap();
    let names = ["moves", "stays", "seldom", "small"].map(str::to_owned).to_vec();
    let mut questions = vec![Question::Properties(names)];
    questions
        .extend(["[] (holder < 2)", "<> (holder == 2)", "[] (holder == 0 -> <> (holder == 1))"].map(ltl));
    let one = agree(ring, &questions, &Options::default());
    assert!(one.contains("violated") && one.contains("holds"), "{one}");
    let fair = Options { fair: vec!["weak".parse().unwrap()], ..Options::default() };
    assert_ne!(agree(ring, &questions, &fair), one);
    let texts = ["[]<> Phil[0]@eat", "[] (Phil[1]@eat -> Fork[1]@held)", "[] !Phil[2]@eat"];
    let mut questions = vec![Question::Declared];
    questions.extend(texts.map(ltl));
    agree(|| dining(5), &questions, &Options::default());
    let stopping = Options { stop_at_first: true, ..Options::default() };
    let one = agree(|| dining(5), &questions[1..], &stopping);
    assert_eq!(one.matches("\"violated\"").count(), 1, "{one}");
}

/// A job that runs out of its part of the memory gets all of it.
#[test]
fn memory_is_there_for_who_needs_it() {
    let questions =
        ["[] (Phil[0]@eat -> Fork[0]@held)", "[]<> (Phil[0]@eat || !Phil[0]@eat && Phil[1]@think)"].map(ltl);
    let needed = 600_000;
    let options = |memory, threads| Options {
        limits: Limits::default().memory(memory),
        threads: Some(threads),
        ..Options::default()
    };
    let verdicts = |memory, threads| -> Vec<Verdict> {
        let report = dining(7).check(&questions, &options(memory, threads)).unwrap();
        report.results.iter().map(|result| result.verdict).collect()
    };
    for memory in [needed / 8, needed / 4, needed / 2, needed, 2 * needed, 8 * needed] {
        assert_eq!(verdicts(memory, 1), verdicts(memory, 2), "{memory} bytes");
    }
}

/// Remembers who was at work, and has had enough when two were.
#[derive(Default)]
struct Witness(Mutex<(Vec<usize>, usize)>);

impl Watcher for Witness {
    fn look(&self, _: Duration, _: &Progress) -> bool {
        self.0.lock().unwrap().1 < 2
    }

    fn lane_has(&self, lane: usize, job: Option<&str>) {
        let (lanes, most) = &mut *self.0.lock().unwrap();
        match job {
            Some(_) => lanes.push(lane),
            None => lanes.retain(|known| *known != lane),
        }
        *most = lanes.len().max(*most);
    }
}

#[test]
fn who_has_had_enough_ends_all_questions() {
    let questions: Vec<Question> =
        (0..6).map(|n| ltl(&format!("[] (Phil[{n}]@eat -> Fork[{n}]@held)"))).collect();
    let mut session = dining(20);
    let witness = Witness::default();
    let clock = Clock::start(&Limits::default()).watched_by(&witness);
    let options = Options { threads: Some(2), reduce: stubborn::ReductionWish::None, ..Options::default() };
    let report = session.check_within(&questions, &options, &clock).unwrap();
    assert_eq!(report.results.len(), 6);
    assert!(report.results.iter().all(|result| result.verdict != Verdict::Holds));
    assert!(report.results.iter().any(|result| result.verdict == Verdict::Unknown));
    assert_eq!(witness.0.into_inner().unwrap(), (Vec::new(), 2));
}
