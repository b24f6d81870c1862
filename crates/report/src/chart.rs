//! Message sequence charts: a lane per process, an arrow per message.
//!
//! A message that is handed over is an arrow. One that goes into a channel is a mark where it is sent, and an
//! arrow from there when it is received. What is printed is a mark. Steps that do none of these are not shown.

use std::fmt::Write as _;

use base::text::escape_xml;

use crate::story::{Message, Statement, Way};
use crate::trace::Trace;

/// A chart.
struct Chart {
    lanes: Vec<String>,
    rows: Vec<Row>,
    /// Whether there was more.
    is_cut: bool,
}

/// What is shown in a row.
struct Row {
    step: usize,
    lane: usize,
    /// The lane that an arrow leads to.
    to: Option<usize>,
    label: String,
}

/// A chart has at most so many rows.
const MAX_ROWS: usize = 2000;

/// Lanes have room for labels of this length; longer ones are cut.
const MAX_LABEL: usize = 30;

impl Chart {
    fn new(trace: &Trace) -> Chart {
        let mut chart = Chart { lanes: Vec::new(), rows: Vec::new(), is_cut: false };
        // Messages in channels: channel, values, the lane of the sender.
        let mut pending: Vec<(String, Vec<String>, usize)> = Vec::new();
        for step in 1..=trace.len() {
            for statement in trace.statements(step) {
                chart.add(step, &statement, &mut pending);
            }
        }
        let failing = trace.failing_statements();
        for statement in &failing {
            chart.add(trace.len() + 1, statement, &mut pending);
        }
        if let Some(last) = failing.last() {
            let lane = chart.lane(&last.process);
            chart.push(Row { step: trace.len() + 1, lane, to: None, label: format!("{} fails", last.text) });
        }
        chart
    }

    fn lane(&mut self, process: &str) -> usize {
        match self.lanes.iter().position(|known| known == process) {
            Some(lane) => lane,
            None => {
                self.lanes.push(process.to_owned());
                self.lanes.len() - 1
            }
        }
    }

    fn push(&mut self, mut row: Row) {
        if self.rows.len() >= MAX_ROWS {
            self.is_cut = true;
            return;
        }
        if row.label.chars().count() > MAX_LABEL {
            row.label = row.label.chars().take(MAX_LABEL - 1).chain(['…']).collect();
        }
        self.rows.push(row);
    }

    fn add(&mut self, step: usize, statement: &Statement, pending: &mut Vec<(String, Vec<String>, usize)>) {
        let lane = self.lane(&statement.process);
        if let Some(output) = &statement.output {
            for line in output.lines() {
                self.push(Row { step, lane, to: None, label: format!("> {line}") });
            }
        }
        let Some(Message { channel, values, way }) = &statement.message else { return };
        let text = values.join(",");
        match way {
            Way::Sent => {
                pending.push((channel.clone(), values.clone(), lane));
                self.push(Row { step, lane, to: None, label: format!("{channel}!{text}") });
            }
            Way::Received => {
                let sent = pending.iter().position(|(its, sent, _)| its == channel && sent == values);
                let label = format!("{channel}?{text}");
                match sent.map(|index| pending.remove(index)) {
                    Some((.., from)) if from != lane => {
                        self.push(Row { step, lane: from, to: Some(lane), label });
                    }
                    _ => self.push(Row { step, lane, to: None, label }),
                }
            }
            Way::Handed(process) => {
                let to = self.lane(process);
                self.push(Row { step, lane, to: Some(to), label: format!("{channel}: {text}") });
            }
        }
    }

    /// The letters from the middle of a lane to that of the next.
    fn lane_width(&self) -> usize {
        let labels = self.rows.iter().map(|row| row.label.chars().count() + 6);
        let names = self.lanes.iter().map(|name| name.chars().count() + 2);
        labels.chain(names).max().unwrap_or(0).max(8)
    }
}

/// The chart of a run as text.
pub fn to_text(trace: &Trace) -> String {
    let chart = Chart::new(trace);
    let width = chart.lane_width();
    let digits = (trace.len() + 1).to_string().len();
    let (left, n_lanes) = (digits + 2 + width / 2, chart.lanes.len());
    let blank: Vec<char> = vec![' '; left + width * n_lanes.max(1)];
    let middle = |lane: usize| left + lane * width;
    let put = |line: &mut Vec<char>, at: usize, text: &str| {
        for (offset, letter) in text.chars().enumerate() {
            if let Some(place) = line.get_mut(at + offset) {
                *place = letter;
            }
        }
    };
    let mut lines = Vec::new();
    let mut head = blank.clone();
    for (lane, name) in chart.lanes.iter().enumerate() {
        put(&mut head, middle(lane).saturating_sub(name.chars().count() / 2), name);
    }
    lines.push(head);
    let mut last_step = 0;
    for row in &chart.rows {
        let mut line = blank.clone();
        (0..n_lanes).for_each(|lane| put(&mut line, middle(lane), "|"));
        if row.step != last_step {
            put(&mut line, 0, &format!("{:>digits$}", row.step));
            last_step = row.step;
        }
        let from = middle(row.lane);
        match row.to.map(middle) {
            Some(to) => {
                let (a, b) = (from.min(to), from.max(to));
                put(&mut line, a + 1, &"-".repeat(b - a - 1));
                let length = row.label.chars().count();
                put(&mut line, (a + b - length) / 2, &format!(" {} ", row.label)[..]);
                put(&mut line, if to > from { b - 1 } else { a + 1 }, if to > from { ">" } else { "<" });
            }
            None => put(&mut line, from, &format!("* {}", row.label)),
        }
        lines.push(line);
    }
    let mut text = String::new();
    for line in lines {
        let line: String = line.into_iter().collect();
        // Writing to a string cannot fail.
        _ = writeln!(text, "{}", line.trim_end());
    }
    if chart.is_cut {
        text.push_str("… and so on\n");
    }
    text
}

/// The chart of a run as a picture.
pub fn to_svg(trace: &Trace) -> String {
    const LANE: usize = 8; // The width of a letter.
    const ROW: usize = 24;
    let chart = Chart::new(trace);
    let (width, n_rows) = (chart.lane_width() * LANE, chart.rows.len());
    let x = |lane: usize| 40 + width / 2 + lane * width;
    let (total, bottom) = (40 + width * chart.lanes.len().max(1), 50 + n_rows * ROW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total}\" height=\"{}\" font-family=\"monospace\" \
         font-size=\"13\">\n<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"8\" refY=\"4\" \
         orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        bottom + 10
    );
    for (lane, name) in chart.lanes.iter().enumerate() {
        let x = x(lane);
        // Writing to a string cannot fail.
        _ = writeln!(svg, "<text x=\"{x}\" y=\"18\" text-anchor=\"middle\">{}</text>", escape_xml(name));
        _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"26\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"gray\" stroke-dasharray=\"3,3\"/>"
        );
    }
    for (index, row) in chart.rows.iter().enumerate() {
        let y = 50 + index * ROW;
        let (from, label) = (x(row.lane), escape_xml(&row.label));
        _ = writeln!(svg, "<text x=\"4\" y=\"{}\" fill=\"gray\">{}</text>", y + 4, row.step);
        _ = match row.to.map(x) {
            Some(to) => writeln!(
                svg,
                "<line x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\" stroke=\"black\" \
                 marker-end=\"url(#tip)\"/>\n<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                usize::midpoint(from, to),
                y - 4
            ),
            None => writeln!(
                svg,
                "<circle cx=\"{from}\" cy=\"{y}\" r=\"3\"/>\n<text x=\"{}\" y=\"{}\">{label}</text>",
                from + 8,
                y + 4
            ),
        };
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{Action, ActionId, ActionSystem, Builder, Run, Stmt, VarId, Variable};

    use super::*;
    use crate::story::{Item, Position, Story, Unreached};

    /// A system of one action, which counts, and what its steps are said to be.
    struct Scripted(Vec<Vec<Statement>>);

    impl Story for Scripted {
        fn statements(&self, _: ActionId, before: &[i64]) -> Vec<Statement> {
            self.0[before[0] as usize].clone()
        }

        fn items(&self, _: &[i64]) -> Vec<Item> {
            Vec::new()
        }

        fn places(&self, _: &[i64]) -> Vec<Position> {
            Vec::new()
        }

        fn unreached(&self, _: &[bool]) -> Vec<Unreached> {
            Vec::new()
        }

        fn location(&self, _: &str) -> Option<VarId> {
            None
        }
    }

    fn counter() -> ActionSystem {
        let mut builder = Builder::new();
        let owner = builder.process("counter");
        let x = builder.variable(Variable::new("x", 0, 100));
        let label = builder.label("tick");
        let effect = vec![Stmt::Add(x, 1)];
        builder.action(Action { label, guards: Vec::new(), effect, owners: vec![owner] });
        builder.initial(&[0]);
        builder.finish().expect("it is well formed")
    }

    fn statement(process: &str, output: Option<&str>, message: Option<(&str, &str, Way)>) -> Statement {
        let message = message.map(|(channel, value, way)| Message {
            channel: channel.to_owned(),
            values: vec![value.to_owned()],
            way,
        });
        let (process, output) = (process.to_owned(), output.map(str::to_owned));
        Statement { process, file: None, line: 1, text: "…".to_owned(), output, message, mark: None }
    }

    #[test]
    fn messages_are_arrows_and_output_is_a_mark() {
        let script = Scripted(vec![
            vec![statement("A(0)", None, Some(("c", "1", Way::Sent)))],
            vec![statement("B(1)", None, Some(("c", "1", Way::Received)))],
            vec![],
            vec![statement("B(1)", None, Some(("d", "<2>", Way::Handed("A(0)".to_owned()))))],
            vec![statement("B(1)", Some("hi\n"), None)],
        ]);
        let system = counter();
        let run = Run { initial: 0, actions: vec![ActionId::new(0); script.0.len()] };
        let mut trace = Trace::replayed(system, &run);
        trace.tell(Arc::new(script));
        let expected = [
            "       A(0)        B(1)",
            "1        * c!1       |",
            "2        |--- c?1 -->|",
            "4        |<- d: <2> -|",
            "5        |           * > hi",
        ];
        assert_eq!(to_text(&trace).lines().collect::<Vec<_>>(), expected);
        let svg = to_svg(&trace);
        assert!(svg.contains("d: &lt;2&gt;") && svg.matches("marker-end").count() == 2, "{svg}");
    }
}
