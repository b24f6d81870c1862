//! The page of answers about a model in Rust: made of the document, since its states have no type here.

use std::fmt::Write as _;

use serde_json::Value;

use super::markup::{escape, escape_quoted};
use super::run::{MAX_STEPS, RunView};
use super::{badge, begun, finished, sentence, write_words};
use crate::explain::Explanation;
use crate::explain::record::Record;
use crate::{count, grouped, human_bytes};

/// The page of some results, each with its explanation.
pub(crate) fn page(title: &str, results: &[Value], explanations: &[Explanation]) -> String {
    let about = format!("a model in Rust, {}", count(results.len() as u64, "question"));
    let mut page = begun(title, &about);
    for (index, (result, explanation)) in results.iter().zip(explanations).enumerate() {
        write_result(&mut page, index + 1, result, explanation);
    }
    finished(page)
}

fn write_result(page: &mut String, number: usize, result: &Value, explanation: &Explanation) {
    // Writing to a string cannot fail.
    _ = writeln!(
        page,
        "<section class=\"result\" id=\"p{number}\" aria-labelledby=\"p{number}-name\">\n\
         <h2 id=\"p{number}-name\">{} {}</h2>",
        escape(&explanation.property),
        badge(explanation.verdict)
    );
    if let Some(reason) = &explanation.reason {
        _ = writeln!(page, "<p>{}</p>", escape_quoted(&sentence(reason)));
    }
    if let Some(record) = result.get("counterexample").and_then(Record::of_json) {
        let record = record.cut(MAX_STEPS);
        write_words(page, &explanation.explanation);
        RunView { number, record: &record, picture: None, has_messages: false }.write(page);
    }
    let figure = |name: &str| result["stats"][name].as_u64();
    let figures = (figure("states"), figure("transitions"), figure("peak_bytes"));
    let stats = if let (Some(states), Some(transitions), Some(bytes)) = figures {
        let (states, bytes) = (count(states, "state"), human_bytes(bytes));
        Some(format!("{states}, {} transitions, {bytes}.", grouped(transitions)))
    } else {
        None
    };
    let fairness = result["counterexample"]["fairness"].as_array().into_iter().flatten().map(fair);
    let schedule = result["counterexample"]["schedule"].as_str();
    let schedule = schedule.map(|schedule| format!("To repeat it: check.replay(\"{schedule}\")."));
    let notes: Vec<String> = stats.into_iter().chain(fairness).chain(schedule).collect();
    if !notes.is_empty() {
        page.push_str("<ul class=\"notes\">\n");
        for note in notes {
            _ = writeln!(page, "<li>{}</li>", escape(&note));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</section>\n");
}

/// Why the run is fair to somebody.
fn fair(fair: &Value) -> String {
    let text = |name: &str| fair[name].as_str().unwrap_or_default().to_owned();
    let kind = match text("kind").as_str() {
        "weak" => "Weakly fair",
        "strong" => "Strongly fair",
        _ => "Just",
    };
    let step = fair["step"].as_u64().map_or(String::new(), |step| format!(" (step {step})"));
    format!("{kind} to {}: {}{step}.", text("constraint"), text("because"))
}
