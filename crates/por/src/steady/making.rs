//! How the words of steady sets are made: see the head of [`steady`](super).

use base::{Budget, Limit};
use model::{ActionSystem, Guard, VarId};

use super::{
    Keeps, Led, MAX_VERTICES, MAY_END, MAY_WAIT, NONE, PART, SteadySets, UNKNOWN, USERS, WRITERS, part,
};
use crate::attract::{Node, Test};
use crate::choose::StubbornSets;
use crate::graph::{GROUP, Graph, List, Vertex};

/// Of a control variable with more values it is not known which it can get.
const MAX_ROWS: u32 = 64;

/// More words are refused.
const MAX_WORDS: usize = 1 << 22;

/// The words for what is to be kept; nothing if there are too many.
pub(super) fn make(
    sets: &StubbornSets<'_>,
    keeps: Keeps<'_>,
    budget: &mut Budget<'_>,
) -> Result<Option<SteadySets>, Limit> {
    let (system, graph) = (sets.system, &sets.graph);
    let is_led = matches!(keeps, Keeps::Errors { .. });
    let n_vertices = graph.n_actions + graph.hubs.len() as u32 + u32::from(is_led);
    if n_vertices as usize > MAX_VERTICES {
        return Ok(None);
    }
    let mut making = Making { graph, words: vec![0; part::LEN], is_possible: true };
    making.add_lists(system, budget)?;
    making.add_controls(system, budget)?;
    making.add_guards(system, budget)?;
    match keeps {
        Keeps::Deadlocks => {}
        Keeps::Goal(attractor, anywhere) => {
            making.add_goal(system, &attractor.root);
            let List { start, end } = making.add(anywhere.iter().copied());
            [making.words[part::ANYWHERE], making.words[part::ANYWHERE + 1]] = [start, end];
        }
        Keeps::Errors { offers, of } => making.add_offers(offers, of, budget)?,
    }
    let Making { mut words, is_possible, .. } = making;
    words[part::N_ACTIONS] = graph.n_actions;
    words[part::N_VERTICES] = n_vertices;
    words[part::OPEN] =
        graph.open.map_or(0, |open| open - graph.number(Vertex::Hub(0)) + graph.n_actions + 1);
    words[part::HAS_CHAINS] = system.has_chains().into();
    budget.hold(4 * words.len() as u64)?;
    Ok((is_possible && words.len() <= MAX_WORDS)
        .then_some(SteadySets { words, n_guards: system.guards().len() }))
}

/// Words that are being made.
struct Making<'g> {
    graph: &'g Graph,
    words: Vec<u32>,
    is_possible: bool,
}

impl Making<'_> {
    fn place(&self) -> u32 {
        self.words.len() as u32
    }

    fn add(&mut self, items: impl IntoIterator<Item = u32>) -> List {
        let start = self.place();
        // What is too much is refused in the end.
        let room = MAX_WORDS.saturating_sub(self.words.len()) + 1;
        self.words.extend(items.into_iter().take(room));
        self.is_possible &= self.words.len() <= MAX_WORDS;
        List { start, end: self.place() }
    }

    /// A table of lists.
    fn add_table(&mut self, lists: &[List]) -> u32 {
        self.add(lists.iter().flat_map(|list| [list.start, list.end])).start
    }

    /// A list of the graph.
    fn list(&mut self, list: List) -> List {
        let graph = self.graph;
        let item = |&item: &u32| match graph.vertex(item) {
            Vertex::Action(action) => action,
            Vertex::Hub(hub) => graph.n_actions + hub,
            Vertex::Users(control) => USERS | control,
            Vertex::Writers(control) => WRITERS | control,
            Vertex::Beyond(_) | Vertex::Enablers(_) | Vertex::Observer => NONE,
        };
        let items: Vec<u32> = graph.pool.get(list).iter().filter(|it| **it < GROUP).map(item).collect();
        self.is_possible &= !items.contains(&NONE);
        self.add(items)
    }

    /// The actions of a list of the graph, and of the hubs in it.
    fn actions(&mut self, list: List) -> List {
        let graph = self.graph;
        let (mut work, mut actions) = (vec![list], Vec::new());
        while let Some(list) = work.pop() {
            for &item in graph.pool.get(list).iter().filter(|item| **item < GROUP) {
                match graph.vertex(item) {
                    Vertex::Action(action) => actions.push(action),
                    Vertex::Hub(hub) => work.push(graph.hubs[hub as usize]),
                    _ => self.is_possible = false,
                }
            }
        }
        actions.sort_unstable();
        actions.dedup();
        self.add(actions)
    }

    fn add_lists(&mut self, system: &ActionSystem, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let graph = self.graph;
        let (mut needs, mut guards_of) = (Vec::new(), Vec::new());
        for action in 0..graph.n_actions {
            budget.tick()?;
            needs.push(self.list(graph.needs(action)));
            let [simple, mut others] = graph.guards(action as usize).map(<[u32]>::to_vec);
            // To wait until nothing else can happen is what is left if all others are true.
            others.retain(|&guard| system.guards()[guard as usize] != Guard::Quiet);
            let (start, middle) = (self.add(simple).start, self.place());
            guards_of.extend([start, middle, self.add(others).end]);
        }
        let mut hubs = Vec::new();
        for &hub in &graph.hubs {
            budget.tick()?;
            hubs.push(self.list(hub));
        }
        self.words[part::NEEDS] = self.add_table(&needs);
        self.words[part::HUBS] = self.add_table(&hubs);
        self.words[part::GUARDS_OF] = self.add(guards_of).start;
        Ok(())
    }

    fn add_controls(&mut self, system: &ActionSystem, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let graph = self.graph;
        let mut controls = Vec::new();
        for control in &graph.controls {
            let n_rows = system.variables()[control.var.index()].span() as usize + 1;
            let first = control.first_row as usize;
            let mut rows = Vec::new();
            for row in first..first + n_rows {
                budget.tick()?;
                let moves = graph.moves(row).flat_map(|(action, to)| [action, to - control.first_row]);
                let moves: Vec<u32> = moves.collect();
                rows.extend([self.list(graph.users[row]), self.list(graph.writers[row]), self.add(moves)]);
            }
            controls.extend([control.var.index() as u32, self.add_table(&rows), n_rows as u32]);
        }
        self.words[part::CONTROLS] = self.add(controls).start;
        Ok(())
    }

    fn add_guards(&mut self, system: &ActionSystem, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let graph = self.graph;
        let mut guards = Vec::new();
        for (number, guard) in system.guards().iter().enumerate() {
            budget.tick()?;
            let enablers = match graph.uses_enablers(number as u32) {
                true => self.actions(graph.enablers[number]),
                false => List { start: NONE, end: NONE },
            };
            let (front, in_front) = match graph.in_front[number] {
                Some((var, list)) => (var.index() as u32, self.actions(list)),
                None => (NONE, List::default()),
            };
            let control = graph.control_of_guard[number];
            let n_rows =
                |control: u32| self.words[self.words[part::CONTROLS] as usize + 3 * control as usize + 2];
            let mut rows = u64::MAX;
            if let (Some(control), Guard::In(_, set)) = (control, guard)
                && n_rows(control) <= MAX_ROWS
            {
                let first = graph.controls[control as usize].first_row;
                let value = |row: u32| graph.value_of_row(system, control, first + row);
                let is_in = |row: &u32| set.contains(value(*row));
                rows = (0..n_rows(control)).filter(is_in).fold(0, |rows, row| rows | 1 << row);
            }
            guards.extend([enablers.start, enablers.end, front, in_front.start, in_front.end]);
            guards.extend([control.unwrap_or(NONE), rows as u32, (rows >> 32) as u32]);
        }
        self.words[part::GUARDS] = self.add(guards).start;
        Ok(())
    }

    fn add_goal(&mut self, system: &ActionSystem, root: &Node) {
        let conjunctions = match root {
            Node::Some(parts) => parts.iter().collect(),
            other => vec![other],
        };
        let mut goal = vec![conjunctions.len() as u32];
        for conjunction in conjunctions {
            let parts = match conjunction {
                Node::All(parts) => parts.iter().collect(),
                other => vec![other],
            };
            goal.push(parts.len() as u32);
            for part in parts {
                goal.extend(self.part(system, part));
            }
        }
        self.words[part::GOAL] = self.add(goal).start;
    }

    /// What an observer offers in each of its states, whatever it sees.
    fn add_offers(&mut self, offers: &[Led], of: &[u32], budget: &mut Budget<'_>) -> Result<(), Limit> {
        let mut places = Vec::with_capacity(offers.len());
        for Led { offer, may_wait, may_end } in offers {
            budget.tick()?;
            let follows = self.add(offer.follows.iter().copied());
            let mut refused = vec![0; self.graph.n_actions.div_ceil(32) as usize];
            offer.refuses.ones().for_each(|action| refused[action / 32] |= 1 << (action % 32));
            let refused = self.add(refused);
            let waits = if *may_wait { MAY_WAIT } else { 0 };
            let flags = if *may_end { waits | MAY_END } else { waits };
            places.push(self.add([flags, follows.start, follows.end, refused.start]).start);
        }
        self.words[part::OFFERS] = self.add(of.iter().map(|&number| places[number as usize])).start;
        Ok(())
    }

    fn part(&mut self, system: &ActionSystem, node: &Node) -> [u32; PART] {
        let (terms, constant, signs, lists) = match node {
            Node::Constant(value) => (List::default(), 0, if *value { 7 } else { 0 }, [List::default(); 3]),
            Node::Sum { terms, constant, test, up, down } if is_small(system, terms, *constant) => {
                let (up, down) = (self.add(up.iter().copied()), self.add(down.iter().copied()));
                let none = List::default();
                // What is between, ends where the second one does.
                let (signs, lists) = match test {
                    Test::NotNegative => (0b110, [up, none, none]),
                    Test::Zero => (0b010, [up, none, down]),
                    Test::NotZero => (0b101, [none, List { start: up.start, end: down.end }, none]),
                };
                let mut constant = *constant;
                let mut words = Vec::new();
                for &(var, factor) in terms {
                    // Variables are read as they are stored.
                    constant += factor * system.variables()[var.index()].lo;
                    words.extend([var.index() as u32, factor as u32, (factor >> 32) as u32]);
                }
                (self.add(words), constant, signs, lists)
            }
            other => {
                let mut actions = Vec::new();
                other.actions(&mut actions);
                actions.sort_unstable();
                actions.dedup();
                (List::default(), 0, UNKNOWN, [self.add(actions); 3])
            }
        };
        let [a, b, c] = lists;
        let [low, high] = [constant as u32, (constant >> 32) as u32];
        let n_terms = (terms.end - terms.start) / 3;
        [n_terms, terms.start, low, high, signs, a.start, a.end, b.start, b.end, c.start, c.end]
    }
}

/// Whether a sum, and all that is added up on the way, has 62 bits.
fn is_small(system: &ActionSystem, terms: &[(VarId, i64)], constant: i64) -> bool {
    let size = |&(var, factor): &(VarId, i64)| {
        let its = &system.variables()[var.index()];
        let greatest = i128::from(its.lo).abs() + i128::from(its.span());
        greatest.saturating_mul(2).saturating_mul(i128::from(factor).abs())
    };
    let all = terms.iter().map(size).fold(i128::from(constant).abs(), i128::saturating_add);
    all < 1 << 62
}
