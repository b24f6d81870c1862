//! The page of a check: the model, the answers, and each run to step through.
//!
//! One file with everything, that asks nobody for anything: it can be sent, kept, and read without a network.
//! The markup is HTML that is XML as well, so that tests can read it. Without scripts, all there is to know
//! is in tables; `script.js` adds the stepping. Everything that comes from a model is escaped in `markup`.

mod markup;
pub(crate) mod models;
mod path;
mod picture;
mod run;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use self::markup::{escape, escape_quoted};
pub use self::picture::Picture;
use self::run::RunView;
use crate::explain::Explanation;
use crate::explain::record::Record;
use crate::outcome::Watcher;
use crate::outcome::{CheckReport, Counterexample, PropertyResult, Verdict};
use crate::{Remark, count, grouped};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Of a longer text of a model, the beginning is shown.
const MAX_SOURCE: usize = 200_000;

/// What a page shows.
pub struct Page<'p> {
    /// The answers.
    pub report: &'p CheckReport,
    /// The text of the model, if it is text.
    pub source: Option<&'p str>,
    /// For each answer, the run in words.
    pub explanations: &'p [Explanation],
}

impl Page<'_> {
    /// The page.
    pub fn to_html(&self) -> String {
        let model = &self.report.model;
        let about = model.to_text();
        let about = about.strip_prefix(&format!("{}: ", model.file)).unwrap_or(&about);
        let mut page = begun(&model.file, about);
        self.write_summary(&mut page);
        for (index, result) in self.report.results.iter().enumerate() {
            self.write_result(&mut page, index, result);
        }
        self.write_source(&mut page);
        finished(page)
    }

    fn write_summary(&self, page: &mut String) {
        page.push_str(
            "<section aria-labelledby=\"answers\">\n<h2 id=\"answers\">Answers</h2>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of answers\">\n<table class=\"answers\">\n\
             <thead><tr><th scope=\"col\">Property</th><th scope=\"col\">Verdict</th><th scope=\"col\">States</th>\
             <th scope=\"col\">Transitions</th><th scope=\"col\">Depth</th><th scope=\"col\">Seconds</th>\
             <th scope=\"col\">Memory</th><th scope=\"col\">Method</th></tr></thead>\n<tbody>\n",
        );
        for (index, result) in self.report.results.iter().enumerate() {
            let stats = &result.stats;
            _ = write!(
                page,
                "<tr><th scope=\"row\"><a href=\"#p{}\">{}</a></th><td>{}</td>",
                index + 1,
                escape(&result.property),
                badge(result.verdict)
            );
            let figures = match &result.method {
                Some(method) => [
                    grouped(stats.states),
                    grouped(stats.transitions),
                    grouped(stats.depth),
                    format!("{:.2}", stats.seconds),
                    crate::human_bytes(stats.peak_bytes),
                    method.to_string(),
                ],
                None => Default::default(),
            };
            for figure in figures {
                _ = write!(page, "<td>{}</td>", escape(&figure));
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    }

    fn write_result(&self, page: &mut String, index: usize, result: &PropertyResult) {
        let number = index + 1;
        _ = writeln!(
            page,
            "<section class=\"result\" id=\"p{number}\" aria-labelledby=\"p{number}-name\">\n\
             <h2 id=\"p{number}-name\">{} {}</h2>",
            escape(&result.property),
            badge(result.verdict)
        );
        if let Some(reason) = Remark::join(&result.remarks) {
            _ = writeln!(page, "<p>{}</p>", escape_quoted(&sentence(&reason)));
        }
        let watcher = result.watcher.as_ref();
        if let Some(run) = &result.counterexample {
            self.write_run(page, index, run, watcher, &result.property);
        } else if let Some(picture) =
            watcher.and_then(|watcher| Picture::new(watcher, &result.property, None))
        {
            _ = writeln!(
                page,
                "<details><summary>{0}</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}, {number}\">\n{1}</div></details>",
                picture.caption,
                picture.svg.trim_end()
            );
        }
        let method =
            result.method.as_ref().map(|method| format!("Found with {method}: {}.", result.stats.to_text()));
        let checked = result.reduction_check.as_ref().map(|check| sentence(&check.to_text()));
        let fairness =
            result.counterexample.iter().flat_map(|run| &run.fairness).map(|fair| sentence(&fair.to_text()));
        let choice = result.chosen.iter().chain(&result.choice).map(|reason| sentence(reason));
        let notes: Vec<String> = method.into_iter().chain(checked).chain(choice).chain(fairness).collect();
        if !notes.is_empty() {
            page.push_str("<ul class=\"notes\">\n");
            for note in notes {
                _ = writeln!(page, "<li>{}</li>", escape(&note));
            }
            page.push_str("</ul>\n");
        }
        page.push_str("</section>\n");
    }

    fn write_run(
        &self,
        page: &mut String,
        index: usize,
        run: &Counterexample,
        watcher: Option<&Watcher>,
        property: &str,
    ) {
        let number = index + 1;
        let words = self.explanations.get(index).map_or(&[][..], |known| &known.explanation);
        write_words(page, words);
        let record = Record::of_run(run, run::MAX_STEPS);
        let picture = watcher.and_then(|watcher| Picture::new(watcher, property, Some(&record)));
        let has_messages = run.trace.story().is_some();
        RunView { number, record: &record, picture: picture.as_ref(), has_messages }.write(page);
    }

    fn write_source(&self, page: &mut String) {
        let Some(source) = self.source else { return };
        let mut end = source.len().min(MAX_SOURCE);
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let lines = count(source.lines().count() as u64, "line");
        _ = writeln!(
            page,
            "<section aria-labelledby=\"model\">\n<h2 id=\"model\">Model</h2>\n<details><summary>{}, {lines}</summary>\n\
             <pre tabindex=\"0\"><code>{}</code></pre>",
            escape(&self.report.model.file),
            escape(&source[..end])
        );
        if end < source.len() {
            let more = crate::human_bytes((source.len() - end) as u64);
            _ = writeln!(page, "<p class=\"note\">{more} more are left out.</p>");
        }
        page.push_str("</details>\n</section>\n");
    }
}

/// The beginning of a page, with a title and a line below it.
fn begun(title: &str, about: &str) -> String {
    let (title, about) = (escape(title), escape(about));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>Check of {title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <p>{about}</p>\n</header>\n<main>\n"
    )
}

/// Its end.
fn finished(page: String) -> String {
    page + &format!("</main>\n<script>//<![CDATA[\n{SCRIPT}//]]>\n</script>\n</body>\n</html>\n")
}

/// A run in words, before it is shown step by step.
fn write_words(page: &mut String, words: &[String]) {
    if !words.is_empty() {
        page.push_str("<h3>In words</h3>\n<ul class=\"words\">\n");
        for sentence in words {
            // Writing to a string cannot fail.
            _ = writeln!(page, "<li>{}</li>", escape_quoted(sentence));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("<h3>Step by step</h3>\n");
}

fn badge(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "<span class=\"badge holds\">holds</span>",
        Verdict::Violated => "<span class=\"badge violated\">violated</span>",
        Verdict::Unknown => "<span class=\"badge unknown\">unknown</span>",
    }
}

/// A remark as a sentence.
fn sentence(remark: &str) -> String {
    let mut letters = remark.chars();
    let first = letters.next().map_or(String::new(), |first| first.to_uppercase().collect());
    let end = if remark.ends_with(['.', ':', '!']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}
