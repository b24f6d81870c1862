//! Checks that somebody asked for: a thread each, within limits, with progress, and an end on demand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lsp_server::{ErrorCode, RequestId};
use serde_json::{Value, json};
use stubborn::report::{PropertyResult, grouped};
use stubborn::{Clock, Options, Progress, Question, Watcher};

use crate::analysis::Snapshot;
use crate::server::Event;

/// The command that checks a property, or all.
pub(crate) const CHECK: &str = "stubborn.check";

/// The command that gives the run that violates a property.
pub(crate) const STEP: &str = "stubborn.step";

/// Progress is told not more often.
const EVERY: Duration = Duration::from_millis(250);

/// A check that is to be made.
pub(crate) struct Order {
    pub(crate) id: RequestId,
    pub(crate) stamp: u64,
    pub(crate) snapshot: Snapshot,
    pub(crate) property: Option<String>,
    /// Whether the run is wanted, or the answers.
    pub(crate) steps: bool,
    /// Set when nobody wants to know any more.
    pub(crate) is_over: Arc<AtomicBool>,
}

/// What a check has found.
pub(crate) struct Checked {
    pub(crate) id: RequestId,
    pub(crate) uri: String,
    pub(crate) stamp: u64,
    /// What is answered.
    pub(crate) answer: Result<Value, (ErrorCode, String)>,
    /// What was looked at, and whether it is violated.
    pub(crate) verdicts: Vec<(String, bool)>,
    /// One line for people.
    pub(crate) summary: String,
}

struct Teller {
    id: RequestId,
    is_over: Arc<AtomicBool>,
    events: Sender<Event>,
    last: Mutex<Duration>,
}

impl Watcher for Teller {
    fn look(&self, elapsed: Duration, progress: &Progress) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if elapsed >= *last + EVERY {
            *last = elapsed;
            let message = format!("{} states, {} s", grouped(progress.states), elapsed.as_secs());
            _ = self.events.send(Event::Progress { id: self.id.clone(), message });
        }
        !self.is_over.load(Ordering::Relaxed)
    }
}

/// Starts a check; what it finds is an event.
pub(crate) fn start(order: Order, events: Sender<Event>) {
    thread::spawn(move || {
        let teller = Teller {
            id: order.id.clone(),
            is_over: order.is_over.clone(),
            events: events.clone(),
            last: Mutex::default(),
        };
        let (answer, verdicts, summary) = match check(&order, &teller) {
            Ok(results) => tell(&order, &results),
            Err(message) => (Err((ErrorCode::RequestFailed, message.clone())), Vec::new(), message),
        };
        let answer = match order.is_over.load(Ordering::Relaxed) {
            true => Err((ErrorCode::RequestCanceled, "the check was ended".to_owned())),
            false => answer,
        };
        let uri = order.snapshot.uri.as_str().to_owned();
        // The server is gone: nobody wants to know.
        _ = events.send(Event::Checked(Checked {
            id: order.id,
            uri,
            stamp: order.stamp,
            answer,
            verdicts,
            summary,
        }));
    });
}

fn check(order: &Order, teller: &Teller) -> Result<Vec<PropertyResult>, String> {
    let Order { snapshot, property, .. } = order;
    let language =
        snapshot.dialect.language().ok_or("formulas alone cannot be checked: they need a model")?;
    let limits = snapshot.settings.limits();
    let clock = Clock::start(&limits).watched_by(teller);
    let mut session = snapshot.session(language, &clock).map_err(|error| error.to_string())?;
    let question = property.as_ref().map_or(Question::Declared, |name| Question::property(name));
    let report = session.check_within(&[question], &Options { limits, ..Options::default() }, &clock);
    Ok(report.map_err(|error| error.to_string())?.results)
}

type Told = (Result<Value, (ErrorCode, String)>, Vec<(String, bool)>, String);

fn tell(order: &Order, results: &[PropertyResult]) -> Told {
    let verdicts: Vec<(String, bool)> =
        results.iter().map(|result| (result.property.clone(), result.is_violated())).collect();
    let lines: Vec<String> =
        results.iter().map(|result| format!("{}: {}", result.property, result.verdict)).collect();
    let summary = lines.join(", ");
    if !order.steps {
        let answer = |result: &PropertyResult| json!({ "property": result.property, "verdict": result.verdict, "text": result.to_string() });
        let results: Vec<Value> = results.iter().map(answer).collect();
        return (Ok(json!({ "summary": summary, "results": results })), verdicts, summary);
    }
    let violated = results.iter().find(|result| result.is_violated() && result.counterexample.is_some());
    let Some((result, run)) = violated.and_then(|result| Some((result, result.counterexample.as_ref()?)))
    else {
        let message = format!("there is no run to step through: {summary}");
        return (Err((ErrorCode::RequestFailed, message)), verdicts, summary);
    };
    let step = |number: usize| {
        let place = run
            .trace
            .statements(number)
            .first()
            .map(|first| json!({ "file": first.file, "line": first.line }));
        json!({ "text": run.trace.lines(number).join("\n"), "place": place })
    };
    let steps: Vec<Value> = (0..=run.trace.len()).map(step).collect();
    let text = result.to_string();
    let answer =
        json!({ "property": result.property, "text": text, "steps": steps, "cycleStart": run.cycle_start });
    (Ok(answer), verdicts, summary)
}
