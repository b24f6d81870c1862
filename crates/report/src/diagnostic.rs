//! Diagnostics with the source line and a caret.
//!
//! The drawing is done by `annotate-snippets`, the renderer of the Rust compiler. It gets only the
//! lines that matter, and of a very long line only the part around the place: an error in a line
//! of ten megabytes is a message of a few lines.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use base::{Diagnostic, Diagnostics, Severity, SourceMap, Span};
use serde::Serialize;

/// Longer lines are cut around the place; then the message says the column.
const MAX_COLUMNS: usize = 4000;

/// One diagnostic as a program reads it.
#[derive(Debug, Serialize)]
pub struct DiagnosticJson {
    severity: &'static str,
    code: &'static str,
    message: String,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    help: Option<String>,
}

/// All diagnostics, as a program reads them.
pub fn to_json(sources: &SourceMap, diagnostics: &Diagnostics) -> Vec<DiagnosticJson> {
    let to_json = |diagnostic: &Diagnostic| {
        let source = diagnostic.span.map(|span| sources.get(span.source));
        let position = diagnostic.span.map(|span| sources.get(span.source).position(span.start));
        DiagnosticJson {
            severity: match diagnostic.severity {
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            code: diagnostic.code,
            message: one_line(&diagnostic.message),
            file: source.map(|source| source.name.clone()),
            line: position.map(|position| position.0),
            column: position.map(|position| position.1),
            help: diagnostic.help.clone(),
        }
    };
    diagnostics.iter().map(to_json).collect()
}

/// All diagnostics as text, with a count of those that were left out.
pub fn to_text(sources: &SourceMap, diagnostics: &Diagnostics, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics {
        text += &render(sources, diagnostic, &renderer);
        text += "\n\n";
    }
    if diagnostics.n_dropped() > 0 {
        text += &format!("… and {} more messages\n\n", diagnostics.n_dropped());
    }
    text
}

fn render(sources: &SourceMap, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut message = one_line(&diagnostic.message);
    if let Some(span) = diagnostic.span
        && Excerpt::new(sources, span).is_cut
    {
        let (line, column) = sources.get(span.source).position(span.start);
        message += &format!(" (line {line}, column {column})");
    }
    let mut group =
        level.primary_title(&message).id(diagnostic.code).elements([] as [annotate_snippets::Padding; 0]);
    let primary = diagnostic.span.map(|span| Excerpt::new(sources, span));
    if let Some(excerpt) = &primary {
        group = group.element(excerpt.snippet(AnnotationKind::Primary, &diagnostic.label));
    }
    let related: Vec<(Excerpt<'_>, &String)> =
        diagnostic.related.iter().map(|(span, label)| (Excerpt::new(sources, *span), label)).collect();
    for (excerpt, label) in &related {
        group = group.element(excerpt.snippet(AnnotationKind::Context, label));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// Control characters out, very long messages cut: a message is one line.
fn one_line(message: &str) -> String {
    const MAX_LETTERS: usize = 400;
    let mut line: String =
        message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_LETTERS + 1).collect();
    if line.chars().count() > MAX_LETTERS {
        line.pop();
        line.push('…');
    }
    line
}

/// The part of a source around a span: its first line, cut if it is long.
struct Excerpt<'a> {
    name: &'a str,
    text: &'a str,
    line: usize,
    start: usize,
    end: usize,
    /// The line does not start where the text does.
    is_cut: bool,
}

impl<'a> Excerpt<'a> {
    fn new(sources: &'a SourceMap, span: Span) -> Excerpt<'a> {
        let source = sources.get(span.source);
        let text = &source.text;
        let floor =
            |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let start = floor(span.start as usize);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor((span.end as usize).max(start)).min(line_end);
        let from = floor(line_start.max(start.saturating_sub(MAX_COLUMNS / 2)));
        let to = floor(line_end.min(from + MAX_COLUMNS)).max(start);
        Excerpt {
            name: &source.name,
            text: &text[from..to],
            line: source.position(start as u32).0,
            start: start - from,
            end: end.min(to) - from,
            is_cut: from > line_start,
        }
    }

    fn snippet<'b>(
        &'b self,
        kind: AnnotationKind,
        label: &'b str,
    ) -> Snippet<'b, annotate_snippets::Annotation<'b>> {
        let annotation = kind.span(self.start..self.end);
        let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
        Snippet::source(self.text).path(self.name).line_start(self.line).annotation(annotation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, start: usize, end: usize) -> String {
        let mut sources = SourceMap::new();
        let source = sources.add("m.proc", text.as_bytes().to_vec()).unwrap();
        let diagnostic = Diagnostic::error("unknown-state", "no state `lfet`")
            .at(Span::new(source, start, end), "not a state of `Phil`")
            .with_help("did you mean `left`?");
        to_text(&sources, &diagnostic.into(), false)
    }

    #[test]
    fn the_place_is_marked() {
        let text = rendered("process P {\n  a: x -> lfet;\n}\n", 22, 26);
        assert!(text.contains("error[unknown-state]: no state `lfet`"), "{text}");
        assert!(text.contains("m.proc:2:11"), "{text}");
        assert!(text.contains("^^^^ not a state of `Phil`"), "{text}");
        assert!(text.contains("help: did you mean `left`?"), "{text}");
    }

    #[test]
    fn a_line_of_ten_megabytes_gives_a_short_message() {
        let long = "é".repeat(5 << 20);
        let text = rendered(&long, 4_000_001, 4_000_003);
        assert!(text.len() < 3000, "{} bytes", text.len());
        assert!(rendered("", 0, 0).contains("no state"));
        assert!(rendered("x", 1, 1).contains("m.proc:1"));
    }
}
