//! Who waits for what, where a story tells statements: the statements that a process could execute next, and
//! what keeps it from doing so: a channel that is empty or full, a partner that is elsewhere, a condition.
//!
//! A process is at a location, by a variable that its story names ([`Story::location`]); what it could do next
//! are the actions whose guards accept that location. Their other guards, as far as they are false, are what
//! it waits for.

use model::{ActionId, ActionSystem, Describe as _, Guard, VarId, reference};

use super::waiting::{round_trip, wanted};
use super::words::{and, either, quoted, some_of, statement, value};
use crate::count;
use crate::story::{Position, Story, place};

/// More processes than this are not told about.
const MAX_WAITING: usize = 10;

/// Of one process, more statements than this are not.
const MAX_STATEMENTS: usize = 4;

/// The label of the action by which a process ends.
const END: &str = "-end-";

/// A state, and who tells it.
struct Scene<'s> {
    system: &'s ActionSystem,
    story: &'s dyn Story,
    state: &'s [i64],
    positions: Vec<Position>,
}

/// A statement that a process waits for.
struct Wish {
    /// How it reads, and where it stands.
    text: String,
    /// The ways to execute it: what each lacks.
    ways: Vec<Vec<Lack>>,
}

/// What is missing.
#[derive(Clone, PartialEq, Eq)]
enum Lack {
    /// A process would have to be elsewhere.
    Partner { process: String, text: String },
    /// A channel would have to hold something else.
    Channel(String),
    /// A variable would have to have another value, or a condition would have to be true.
    Other(String),
}

impl Lack {
    fn text(&self) -> String {
        match self {
            Lack::Partner { process, text } => format!("{process} {text}"),
            Lack::Channel(text) | Lack::Other(text) => text.clone(),
        }
    }
}

/// Says who waits for what in a state where nothing is enabled.
pub(super) fn explain(system: &ActionSystem, story: &dyn Story, state: &[i64], sentences: &mut Vec<String>) {
    let scene = Scene { system, story, state, positions: story.places(state) };
    let waits: Vec<Vec<Wish>> = scene.positions.iter().map(|position| scene.wishes(position)).collect();
    let stuck = |position: &Position| !position.is_over && !position.may_stay;
    let mut n_told = 0;
    for (position, wishes) in scene.positions.iter().zip(&waits).filter(|(position, _)| stuck(position)) {
        if n_told < MAX_WAITING {
            sentences.push(sentence(position, wishes));
        }
        n_told += 1;
    }
    if n_told > MAX_WAITING {
        let more = count((n_told - MAX_WAITING) as u64, "more process");
        sentences.push(format!("{more} wait for something, too."));
    }
    let resting = |position: &&Position| position.may_stay && !position.is_over;
    for position in scene.positions.iter().filter(resting).take(MAX_WAITING) {
        let place = place(position.file.as_deref(), position.line);
        sentences.push(format!("{} is at {place}, where it may stay.", position.process));
    }
    sentences.extend(over(&scene.positions));
    sentences.extend(scene.circle(&waits));
}

/// The variable that says how many messages a channel holds; the messages are in variables like `c[0].1`.
fn length_of(channel: &str) -> String {
    format!("len({channel})")
}

/// Who is at its end.
pub(super) fn over(positions: &[Position]) -> Option<String> {
    let names: Vec<String> =
        positions.iter().filter(|position| position.is_over).map(|one| one.process.clone()).collect();
    let some = and(&some_of(&names, 6, "process"));
    match names.len() {
        0 => None,
        1 => Some(format!("{some} is at its end.")),
        _ => Some(format!("{some} are at their ends.")),
    }
}

/// The statements that a process waits for, without what they lack; nothing if there is none.
pub(super) fn wished(
    system: &ActionSystem,
    story: &dyn Story,
    state: &[i64],
    position: &Position,
) -> Vec<String> {
    let scene = Scene { system, story, state, positions: Vec::new() };
    let wishes: Vec<String> = scene.wishes(position).into_iter().map(|wish| wish.text).collect();
    some_of(&wishes, MAX_STATEMENTS, "statement")
}

/// How the part of an action reads that a process has in it, from a state on.
pub(super) fn part(story: &dyn Story, action: ActionId, state: &[i64], process: &str) -> Option<String> {
    let its = story.statements(action, state).into_iter().find(|one| one.process == process)?;
    Some(statement(&its.text, Some(&place(its.file.as_deref(), its.line))))
}

fn sentence(position: &Position, wishes: &[Wish]) -> String {
    let name = &position.process;
    if wishes.is_empty() {
        let text = statement(&position.text, Some(&place(position.file.as_deref(), position.line)));
        // What neither sends nor receives has no partner.
        let why = if position.text.contains(['!', '?']) {
            "a handshake without a partner, or a condition that is never true"
        } else {
            "its condition is never true"
        };
        return format!("{name} is at {text}, where nothing is possible: {why}.");
    }
    let n_least = wishes.iter().map(Wish::n_lacks).min().unwrap_or(0);
    let is_near = |wish: &&Wish| wishes.len() <= 2 || wish.n_lacks() == n_least;
    // Statements that lack the same are told together.
    let mut phrases: Vec<(Vec<String>, String)> = Vec::new();
    for wish in wishes.iter().filter(is_near) {
        let lacks = wish.lacks();
        match phrases.iter_mut().find(|(_, known)| *known == lacks) {
            Some((texts, _)) => texts.push(wish.text.clone()),
            None => phrases.push((vec![wish.text.clone()], lacks)),
        }
    }
    let phrases: Vec<String> = phrases
        .iter()
        .map(|(texts, lacks)| {
            let texts = either(&some_of(texts, MAX_STATEMENTS, "statement"));
            if lacks.is_empty() { texts } else { format!("{texts}, for which {lacks}") }
        })
        .collect();
    let mut phrases = some_of(&phrases, MAX_STATEMENTS, "statement");
    let n_far = wishes.iter().filter(|wish| !is_near(wish)).count();
    if n_far > 0 {
        phrases.push(format!("{} that lack more", count(n_far as u64, "statement")));
    }
    format!("{name} waits for {}.", phrases.join("; or for "))
}

impl Wish {
    /// How much the way that lacks least lacks.
    fn n_lacks(&self) -> usize {
        self.ways.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// What would have to be: of several ways, those that lack least, and above all what others could bring
    /// about. Of partners, all are told.
    fn lacks(&self) -> String {
        let rank = |way: &Vec<Lack>| {
            let n_others = way.iter().filter(|lack| matches!(lack, Lack::Other(_))).count();
            (way.len(), n_others)
        };
        let best = self.ways.iter().map(rank).min();
        let ways: Vec<&Vec<Lack>> = self.ways.iter().filter(|way| Some(rank(way)) == best).collect();
        let mut partners: Vec<(Vec<String>, &str)> = Vec::new();
        for way in &ways {
            let [Lack::Partner { process, text }] = way.as_slice() else {
                return and(&ways[0].iter().map(Lack::text).collect::<Vec<_>>());
            };
            match partners.iter_mut().find(|(_, known)| known == text) {
                Some((names, _)) if names.contains(process) => {}
                Some((names, _)) => names.push(process.clone()),
                None => partners.push((vec![process.clone()], text)),
            }
        }
        let partners: Vec<String> = partners
            .iter()
            .map(|(names, text)| format!("{} {text}", either(&some_of(names, 4, "process"))))
            .collect();
        either(&some_of(&partners, 3, "way"))
    }
}

impl Scene<'_> {
    fn wishes(&self, position: &Position) -> Vec<Wish> {
        let name = position.process.as_str();
        let Some(location) = self.story.location(name) else { return Vec::new() };
        let mut wishes: Vec<Wish> = Vec::new();
        for (index, action) in self.system.actions().iter().enumerate() {
            let is_its = action.owners.iter().any(|&owner| self.system.process_name(owner) == name);
            let guards = || action.guards.iter().map(|guard| &self.system.guards()[guard.index()]);
            let is_here = |guard: &Guard| match guard {
                Guard::In(var, set) if *var == location => set.contains(self.state[var.index()]),
                _ => true,
            };
            let id = ActionId::new(index);
            if !is_its || !guards().all(is_here) || self.system.action_label(id) == END {
                continue;
            }
            let Some(text) = part(self.story, id, self.state, name) else { continue };
            let mut way: Vec<Lack> = Vec::new();
            for lack in guards().filter_map(|guard| self.lack(id, guard)) {
                if !way.contains(&lack) {
                    way.push(lack);
                }
            }
            match wishes.iter_mut().find(|wish| wish.text == text) {
                Some(wish) => wish.ways.push(way),
                None => wishes.push(Wish { text, ways: vec![way] }),
            }
        }
        wishes
    }

    /// What a guard of an action lacks.
    fn lack(&self, action: ActionId, guard: &Guard) -> Option<Lack> {
        // A guard that cannot be evaluated does not hold either.
        if reference::guard_holds(self.system, guard, self.state).unwrap_or(false) {
            return None;
        }
        Some(match guard {
            Guard::In(var, set) => {
                if let Some(partner) = self.partner(action, *var) {
                    return Some(partner);
                }
                if let Some(channel) = self.channel(*var) {
                    return Some(channel);
                }
                let variable = &self.system.variables()[var.index()];
                let wanted = wanted(set, variable, variable.value_names.is_some());
                let now = value(&variable.show(self.state[var.index()]));
                Lack::Other(format!("{} would have to be {wanted} (it is {now})", variable.name))
            }
            Guard::True(expr) => {
                let mut vars = Vec::new();
                self.system.exprs.reads(*expr, &mut vars);
                vars.sort_unstable();
                vars.dedup();
                if let Some(channel) = vars.iter().find_map(|&var| self.channel(var)) {
                    return Some(channel);
                }
                Lack::Other(self.condition(&vars))
            }
            Guard::Quiet => Lack::Other("nothing else would have to be possible".to_owned()),
        })
    }

    /// A condition over variables that is false.
    fn condition(&self, vars: &[VarId]) -> String {
        let values: Vec<String> = vars
            .iter()
            .map(|var| (&self.system.variables()[var.index()], self.state[var.index()]))
            .filter(|(variable, _)| !variable.name.is_empty() && !variable.name.starts_with('_'))
            .map(|(variable, value)| format!("{} = {}", variable.name, variable.show(value)))
            .collect();
        let condition = "its condition would have to be true".to_owned();
        match values.as_slice() {
            [] => condition,
            values => format!("{condition} (it is false with {})", and(&some_of(values, 5, "variable"))),
        }
    }

    /// The other process of a handshake, if the variable says where that is.
    fn partner(&self, action: ActionId, var: VarId) -> Option<Lack> {
        let names = self.system.action_owners(action).iter().map(|&owner| self.system.process_name(owner));
        let process = names.into_iter().find(|name| self.story.location(name) == Some(var))?;
        let its = self.story.statements(action, self.state).into_iter().find(|one| one.process == process);
        let wanted = match its {
            Some(its) => format!("at {} in {}", quoted(&its.text), place(its.file.as_deref(), its.line)),
            None => "elsewhere".to_owned(),
        };
        let now = match self.positions.iter().find(|position| position.process == process) {
            None => "which does not exist".to_owned(),
            Some(position) if position.is_over => "which is at its end".to_owned(),
            Some(position) => format!("which is at {}", place(position.file.as_deref(), position.line)),
        };
        let text = format!("({now}) would have to be {wanted}");
        Some(Lack::Partner { process: process.to_owned(), text })
    }

    /// What a channel lacks, if the variable is a part of one.
    fn channel(&self, var: VarId) -> Option<Lack> {
        let vars = self.system.variables();
        let part = vars[var.index()].name.as_str();
        let items = self.story.items(self.state);
        let is_part = |channel: &str| {
            let is_cell = |rest: &str| rest.starts_with('[') && rest.contains("].");
            part == length_of(channel) || part.strip_prefix(channel).is_some_and(is_cell)
        };
        let channel = items.iter().find(|item| item.is_channel && is_part(&item.name))?;
        let length = vars.iter().position(|variable| variable.name == length_of(&channel.name))?;
        let (name, holds) = (quoted(&channel.name), &channel.value);
        let text = match self.state[length] {
            0 => format!("{name} would have to hold a message (it is empty)"),
            n if n >= vars[length].hi && var.index() == length => {
                format!("{name} would have to have room (it is full: {holds})")
            }
            _ => format!("{name} would have to hold something else (it holds {holds})"),
        };
        Some(Lack::Channel(text))
    }

    /// Processes that wait for each other's handshakes, if there are some: the first shortest circle.
    fn circle(&self, waits: &[Vec<Wish>]) -> Option<String> {
        let number = |name: &str| self.positions.iter().position(|position| position.process == name);
        let partners: Vec<Vec<usize>> = waits
            .iter()
            .map(|wishes| {
                let lacks = wishes.iter().flat_map(|wish| wish.ways.iter().flatten());
                let mut partners: Vec<usize> = lacks
                    .filter_map(|lack| match lack {
                        Lack::Partner { process, .. } => number(process),
                        _ => None,
                    })
                    .collect();
                partners.sort_unstable();
                partners.dedup();
                partners
            })
            .collect();
        let circles = (0..waits.len()).filter_map(|start| round_trip(&partners, start));
        let shortest = circles.min_by_key(Vec::len).filter(|circle| circle.len() <= MAX_WAITING)?;
        let name = |at: usize| &self.positions[shortest[at % shortest.len()]].process;
        let pairs: Vec<String> =
            (0..shortest.len()).map(|at| format!("{} for {}", name(at), name(at + 1))).collect();
        Some(format!("They wait for each other in a circle: {}.", and(&pairs)))
    }
}
