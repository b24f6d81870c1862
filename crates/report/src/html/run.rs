//! A run: a table that can be read as it is, and what the script of the page needs to step through it.
//!
//! A row is a step. Processes are lanes, if there are not too many: an action stands in the lane of its first
//! owner, and a line leads to the lanes of those who take part. Of a net, whose transitions are alone, and of
//! a run with very many processes, rows name them instead.

use std::fmt::Write as _;

use serde_json::json;

use super::markup::{escape, escape_json};
use super::picture::Picture;
use crate::explain::record::{Ending, Record};
use crate::{count, grouped};

/// More steps than this are not shown: the page should not become large.
pub(super) const MAX_STEPS: usize = 2_000;

/// More processes have no lanes.
const MAX_LANES: usize = 40;

/// Of more variables, those that never change are left out.
const MAX_VARIABLES: usize = 3_000;

/// Of more changes in a step, only the first are in the table.
const MAX_CHANGES: usize = 12;

/// A run, as a part of the page.
pub(super) struct RunView<'a> {
    /// The number of the property, by which the page names it.
    pub(super) number: usize,
    pub(super) record: &'a Record,
    pub(super) picture: Option<&'a Picture>,
    /// Whether actions of several processes have a direction: a message, from the first.
    pub(super) has_messages: bool,
}

impl RunView<'_> {
    /// The whole view.
    pub(super) fn write(&self, page: &mut String) {
        let RunView { number, picture, .. } = self;
        let id = format!("p{number}");
        // Writing to a string cannot fail.
        _ = writeln!(page, "<div class=\"run\" data-run=\"{number}\">");
        _ = writeln!(page, "<p class=\"length\">{}</p>", escape(&self.length()));
        self.write_controls(page, &id);
        _ = writeln!(page, "<div class=\"columns\">");
        _ = writeln!(
            page,
            "<div class=\"steps\" tabindex=\"0\" role=\"region\" aria-label=\"Steps of run {number}\">"
        );
        self.write_table(page, &id);
        _ = writeln!(page, "</div>\n<div class=\"aside\">");
        self.write_panels(page, &id);
        if let Some(picture) = picture {
            let way =
                if picture.way.is_empty() { "" } else { ": colored are the states that the run leads it to" };
            _ = writeln!(
                page,
                "<figure class=\"watcher\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0} of run {number}\">\n{1}</div>\n<figcaption>{0}{way}.</figcaption></figure>",
                picture.caption,
                picture.svg.trim_end()
            );
        }
        _ = writeln!(page, "</div>\n</div>");
        _ = writeln!(
            page,
            "<script type=\"application/json\" class=\"data\">{}</script>",
            escape_json(&self.data().to_string())
        );
        page.push_str("</div>\n");
    }

    fn length(&self) -> String {
        let steps = count(self.record.n_steps as u64, "step");
        match self.record.ending {
            Ending::Cycle(start) => {
                let n = (self.record.n_steps - start) as u64;
                let verb = if n == 1 { "repeats" } else { "repeat" };
                format!("A run of {steps}, of which the last {} {verb} for ever.", count(n, "step"))
            }
            Ending::Deadlock => format!("A run of {steps}, after which nothing more can happen."),
            Ending::Prefix => format!("A run of {steps}."),
            Ending::Error => format!("A run of {steps}, after which the model goes wrong."),
        }
    }

    /// Hidden, until there is a script that makes them work.
    fn write_controls(&self, page: &mut String, id: &str) {
        let last = self.record.steps.len() - 1;
        _ = writeln!(
            page,
            "<div class=\"controls\" role=\"group\" aria-label=\"Go through the run\" hidden=\"hidden\">"
        );
        for (name, sign, label, key) in [
            ("first", "«", "First", "Home"),
            ("previous", "‹", "Previous", "left arrow"),
            ("next", "›", "Next", "right arrow"),
            ("last", "»", "Last", "End"),
        ] {
            _ = writeln!(
                page,
                "<button type=\"button\" data-go=\"{name}\" title=\"{label} step ({key})\"><span aria-hidden=\"true\">{sign}</span><span class=\"word\"> {label}</span></button>"
            );
        }
        if let Ending::Cycle(_) = self.record.ending {
            page.push_str(
                "<button type=\"button\" data-go=\"cycle\" title=\"To where the cycle begins (c)\"><span aria-hidden=\"true\">↻</span> Cycle</button>\n",
            );
        }
        _ = writeln!(
            page,
            "<input type=\"range\" min=\"0\" max=\"{last}\" value=\"0\" step=\"1\" aria-label=\"Step of the run\"/>"
        );
        _ = writeln!(page, "<output id=\"{id}-now\" aria-live=\"polite\"></output>");
        page.push_str("</div>\n");
    }

    fn write_panels(&self, page: &mut String, id: &str) {
        let RunView { record, .. } = self;
        // Filled by the script.
        for (name, title) in [("propositions", "Propositions"), ("variables", "Variables")] {
            _ = writeln!(
                page,
                "<section class=\"panel {name}\" aria-labelledby=\"{id}-name {id}-{name}\" hidden=\"hidden\"><h4 id=\"{id}-{name}\">{title}</h4></section>"
            );
        }
        let initial = self.shown_variables();
        let items: Vec<String> = initial
            .iter()
            .map(|&at| format!("{} = {}", escape(&record.variables()[at]), escape(record.value(0, at))))
            .collect();
        _ = writeln!(
            page,
            "<details class=\"initial-state\"><summary>Initial state</summary><p>{}</p></details>",
            items.join(", ")
        );
        if initial.len() < record.variables().len() {
            let n = count((record.variables().len() - initial.len()) as u64, "variable");
            _ = writeln!(page, "<p class=\"note\">{n} that never change in this run are not shown.</p>");
        }
    }

    /// All variables, or those that ever change.
    fn shown_variables(&self) -> Vec<usize> {
        let record = self.record;
        if record.variables().len() <= MAX_VARIABLES {
            return (0..record.variables().len()).collect();
        }
        let mut changes = vec![false; record.variables().len()];
        for index in 1..record.steps.len() {
            record.changed(index).for_each(|at| changes[at] = true);
        }
        (0..changes.len()).filter(|&at| changes[at]).take(MAX_VARIABLES).collect()
    }

    fn has_lanes(&self) -> bool {
        let record = self.record;
        let is_alone = |index: usize| record.who(index).eq(record.action(index));
        (2..=MAX_LANES).contains(&record.processes().len()) && !(1..record.steps.len()).all(is_alone)
    }

    fn has_observer(&self) -> bool {
        let names_states = matches!(self.picture, Some(picture) if !picture.way.is_empty());
        names_states || self.record.observer(0).is_some()
    }

    /// The state of the watcher, as its drawing calls it; if there is none, as the search did.
    fn watcher_state(&self, index: usize) -> Option<String> {
        match (self.record.observer(index), self.picture) {
            (None, Some(picture)) if !picture.way.is_empty() => Some(picture.way[index].to_string()),
            (Some(name), Some(picture)) if !picture.way.is_empty() && name.starts_with('q') => {
                // Observers of formulas go by numbers, of an automaton that need not be the one that is drawn.
                let is_number = name[1..].bytes().all(|byte| byte.is_ascii_digit());
                Some(if is_number { picture.way[index].to_string() } else { name.to_owned() })
            }
            (name, _) => name.map(str::to_owned),
        }
    }

    fn write_table(&self, page: &mut String, id: &str) {
        let RunView { record, .. } = self;
        let has_lanes = self.has_lanes();
        page.push_str("<table>\n<thead><tr><th scope=\"col\">Step</th>");
        if has_lanes {
            for process in record.processes() {
                _ = write!(page, "<th scope=\"col\" class=\"lane\">{}</th>", escape(process));
            }
        } else {
            page.push_str("<th scope=\"col\">Action</th>");
        }
        page.push_str("<th scope=\"col\">Changes</th>");
        if !record.propositions.is_empty() {
            page.push_str("<th scope=\"col\">Propositions</th>");
        }
        if self.has_observer() {
            page.push_str("<th scope=\"col\">Observer</th>");
        }
        page.push_str("</tr></thead>\n<tbody>\n");
        let columns = 2
            + if has_lanes { record.processes().len() } else { 1 }
            + usize::from(!record.propositions.is_empty())
            + usize::from(self.has_observer());
        let cycle = match record.ending {
            Ending::Cycle(start) => Some(start),
            _ => None,
        };
        for (index, step) in record.steps.iter().enumerate() {
            let hidden = record.n_hidden_before(index);
            if hidden > 0 {
                let n = count(hidden as u64, "step");
                _ = writeln!(
                    page,
                    "<tr class=\"gap\"><td colspan=\"{columns}\">… {n} left out; the JSON document has them all</td></tr>"
                );
            }
            let in_cycle = cycle.is_some_and(|start| step.number > start);
            if in_cycle && cycle.is_some_and(|start| hidden == 0 && step.number == start + 1) {
                _ = writeln!(
                    page,
                    "<tr class=\"turn\"><td colspan=\"{columns}\">↻ from here on, this repeats for ever</td></tr>"
                );
            }
            let class = if in_cycle { " class=\"in-cycle\"" } else { "" };
            _ = write!(
                page,
                "<tr id=\"{id}-s{0}\" data-index=\"{index}\"{class}><th scope=\"row\">{1}</th>",
                step.number,
                grouped(step.number as u64)
            );
            if has_lanes {
                self.write_lanes(page, index);
            } else {
                self.write_action(page, index);
            }
            self.write_changes(page, index);
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody>\n</table>\n");
    }

    fn write_lanes(&self, page: &mut String, index: usize) {
        let record = self.record;
        let owners = &record.steps[index].processes;
        if index == 0 {
            let n = record.processes().len();
            _ = write!(page, "<td colspan=\"{n}\" class=\"start\">initial state</td>");
            return;
        }
        let (Some(&left), Some(&right)) = (owners.iter().min(), owners.iter().max()) else {
            let action = escape(record.action(index).unwrap_or_default());
            _ = write!(page, "<td colspan=\"{}\">{action}</td>", record.processes().len());
            return;
        };
        for lane in 0..record.processes().len() {
            let mut class = String::from("lane");
            // The line to its neighbors.
            if left < lane && lane <= right {
                class += " from-left";
            }
            if left <= lane && lane < right {
                class += " to-right";
            }
            _ = write!(page, "<td class=\"{class}\">");
            if Some(&lane) == owners.first() {
                _ = write!(
                    page,
                    "<span class=\"act\">{}</span>",
                    escape(record.action(index).unwrap_or_default())
                );
            } else if owners.contains(&lane) {
                let sign = match (self.has_messages, owners.first().is_some_and(|first| *first < lane)) {
                    (false, _) => "●",
                    (true, true) => "▶",
                    (true, false) => "◀",
                };
                let label = if self.has_messages { "receives" } else { "takes part" };
                _ = write!(
                    page,
                    "<span class=\"dot\" aria-hidden=\"true\">{sign}</span><span class=\"unseen\">{label}</span>"
                );
            }
            page.push_str("</td>");
        }
    }

    fn write_action(&self, page: &mut String, index: usize) {
        let record = self.record;
        let who: Vec<&str> = record.who(index).collect();
        match record.action(index) {
            None => page.push_str("<td class=\"start\">initial state</td>"),
            Some(action) if who.is_empty() || who == [action] => {
                _ = write!(page, "<td><span class=\"act\">{}</span></td>", escape(action));
            }
            Some(action) => {
                let who = escape(&who.join(", "));
                _ = write!(page, "<td>{who}: <span class=\"act\">{}</span></td>", escape(action));
            }
        }
    }

    fn write_changes(&self, page: &mut String, index: usize) {
        let record = self.record;
        let before = index.saturating_sub(1);
        let mut changes: Vec<String> = record
            .changed(index)
            .take(MAX_CHANGES)
            .map(|at| {
                let (old, new) = (record.value(before, at), record.value(index, at));
                format!(
                    "<span class=\"change\">{}: {} → <b>{}</b></span>",
                    escape(&record.variables()[at]),
                    escape(old),
                    escape(new)
                )
            })
            .collect();
        let n_more = record.changed(index).skip(MAX_CHANGES).count();
        if n_more > 0 {
            changes.push(format!("<span class=\"change\">… and {n_more} more</span>"));
        }
        for note in &record.steps[index].notes {
            changes.push(format!("<span class=\"aside-note\">{}</span>", escape(note)));
        }
        _ = write!(page, "<td class=\"changes\">{}</td>", changes.join(" "));
        if !record.propositions.is_empty() {
            let flips: Vec<String> = (0..record.propositions.len())
                .filter(|&at| index == 0 || record.holds(index, at) != record.holds(before, at))
                .map(|at| {
                    let verb = if index == 0 { "is" } else { "becomes" };
                    let value = record.holds(index, at);
                    format!(
                        "<span class=\"change\"><code>{}</code> {verb} <b>{value}</b></span>",
                        escape(&record.propositions[at])
                    )
                })
                .collect();
            _ = write!(page, "<td class=\"changes\">{}</td>", flips.join(" "));
        }
        if self.has_observer() {
            let state = self.watcher_state(index).unwrap_or_default();
            _ = write!(page, "<td>{}</td>", escape(&state));
        }
    }

    /// What the script needs: texts once, and of each step only what changes.
    fn data(&self) -> serde_json::Value {
        let RunView { record, picture, .. } = self;
        let shown = self.shown_variables();
        let mut place = vec![None; record.variables().len()];
        shown.iter().enumerate().for_each(|(index, &at)| place[at] = Some(index));
        let steps: Vec<serde_json::Value> = (0..record.steps.len())
            .map(|index| {
                let changes: Vec<(usize, &str)> = record
                    .changed(index)
                    .filter_map(|at| Some((place[at]?, record.value(index, at))))
                    .collect();
                let truths: String = (0..record.propositions.len())
                    .map(|at| if record.holds(index, at) { '1' } else { '0' })
                    .collect();
                let who: Vec<&str> = record.who(index).collect();
                let action = record.action(index).unwrap_or_default();
                let who = if who == [action] { String::new() } else { who.join(", ") };
                json!({ "n": record.steps[index].number, "a": action, "w": who, "c": changes, "p": truths })
            })
            .collect();
        let cycle = match record.ending {
            Ending::Cycle(start) => record.steps.iter().position(|step| step.number >= start),
            _ => None,
        };
        json!({
            "length": record.n_steps,
            "cycle": cycle,
            "variables": shown.iter().map(|&at| &record.variables()[at]).collect::<Vec<_>>(),
            "initial": shown.iter().map(|&at| record.value(0, at)).collect::<Vec<_>>(),
            "propositions": record.propositions,
            "way": picture.map_or(&[][..], |picture| &picture.way),
            "steps": steps,
        })
    }
}
