//! Testers and specifications, made by names: what may happen, seen by the labels of actions.

use automata::tester::{Edge, Flaw, State};
use automata::{GaveUp, Tester as Explicit};
use base::Budget;

use crate::verdict::Reason;

/// The tester of a specification may have this many states and transitions.
const MAX_SIZE: usize = 200_000;

/// States and letters by name, and the steps between them.
#[derive(Clone, Debug, Default)]
struct Graph {
    letters: Vec<String>,
    states: Vec<State>,
    edges: Vec<Edge>,
}

impl Graph {
    fn state(&mut self, name: &str) -> u32 {
        let known = self.states.iter().position(|state| state.name == name);
        known.unwrap_or_else(|| {
            self.states.push(State { name: name.to_owned(), ..State::default() });
            self.states.len() - 1
        }) as u32
    }

    fn letter(&mut self, name: &str) -> u32 {
        let known = self.letters.iter().position(|letter| letter == name);
        known.unwrap_or_else(|| {
            self.letters.push(name.to_owned());
            self.letters.len() - 1
        }) as u32
    }

    fn edge(&mut self, from: &str, letter: Option<&str>, to: &str) {
        let from = self.state(from);
        let letter = letter.map(|letter| self.letter(letter));
        let to = self.state(to);
        self.edges.push(Edge { from, letter, to });
    }
}

/// A process that watches actions and knows what is illegal, after Valmari, *On-the-fly verification with stubborn
/// sets* (1993). It takes part in every action whose label it knows, and keeps those from happening that it has no step
/// for.
///
/// ```
/// use stubborn_embed::{Check, Model, Tester};
///
/// /// A door that opens and closes, and may be knocked at.
/// struct Door;
///
/// impl Model for Door {
///     type State = bool;
///     type Action = &'static str;
///
///     fn initial(&self) -> Vec<bool> { vec![false] }
///     fn actions(&self, is_open: &bool, out: &mut Vec<&'static str>) {
///         out.extend(if *is_open { ["close", "knock"] } else { ["open", "knock"] });
///     }
///     fn step(&self, is_open: &mut bool, action: &&'static str) { *is_open = match *action { "open" => true, "close" => false, _ => *is_open } }
/// }
///
/// let label = |action: &&str| Some(action.to_string());
/// let in_turn = Tester::new("closed")
///     .on("closed", "open", "opened").on("closed", "close", "twice")
///     .on("opened", "close", "closed").on("opened", "open", "twice")
///     .reject("twice");
/// assert!(Check::new(&Door).tester(&in_turn, label).holds());
/// let never_knocked = Tester::new("quiet").on("quiet", "knock", "knocked").reject("knocked");
/// assert!(Check::new(&Door).tester(&never_knocked, label).is_violated());
/// ```
#[derive(Clone, Debug)]
pub struct Tester(Graph);

impl Tester {
    /// A tester that begins in this state.
    pub fn new(initial: &str) -> Tester {
        let mut graph = Graph::default();
        graph.state(initial);
        Tester(graph)
    }

    /// With an action of this label it can go from one state to another.
    #[must_use]
    pub fn on(mut self, from: &str, label: &str, to: &str) -> Tester {
        self.0.edge(from, Some(label), to);
        self
    }

    /// It can go from one state to another by itself.
    #[must_use]
    pub fn by_itself(mut self, from: &str, to: &str) -> Tester {
        self.0.edge(from, None, to);
        self
    }

    /// It sees actions of this label, also where it has no step for them.
    #[must_use]
    pub fn watching(mut self, label: &str) -> Tester {
        self.0.letter(label);
        self
    }

    /// To come to this state is illegal.
    #[must_use]
    pub fn reject(self, state: &str) -> Tester {
        self.marked(state, |state| state.reject = true)
    }

    /// That nothing more can happen, together with it, is illegal in this state.
    #[must_use]
    pub fn deadlock(self, state: &str) -> Tester {
        self.marked(state, |state| state.deadlock = true)
    }

    /// To go on for ever without anything that it sees is illegal in this state.
    #[must_use]
    pub fn livelock(self, state: &str) -> Tester {
        self.marked(state, |state| state.livelock = true)
    }

    /// To leave this state again and again is illegal.
    #[must_use]
    pub fn infinite(self, state: &str) -> Tester {
        self.marked(state, |state| state.infinite = true)
    }

    fn marked(mut self, name: &str, mark: impl FnOnce(&mut State)) -> Tester {
        let number = self.0.state(name) as usize;
        mark(&mut self.0.states[number]);
        self
    }

    /// As searches need it.
    pub(crate) fn explicit(&self) -> Result<Explicit, Reason> {
        let Graph { letters, states, edges } = self.0.clone();
        let tester = Explicit { letters, states, initial: 0, edges };
        let name = |state: u32| &tester.states[state as usize].name;
        match tester.flaw() {
            None => Ok(tester),
            Some(Flaw::TauLoop(state)) => Err(Reason::Question(format!(
                "the tester can go round by itself through `{}`, and then nobody knows whether it waits: take out a \
                 `by_itself` of the loop",
                name(state)
            ))),
            Some(Flaw::TauFromDeadlock(state)) => Err(Reason::Question(format!(
                "the tester can leave the deadlock state `{}` by itself: give the mark to where that leads",
                name(state)
            ))),
            Some(Flaw::Dangling(_)) => {
                Err(Reason::Question("the tester names a state that it has not".to_owned()))
            }
        }
    }
}

/// A process that shows what is legal: whatever a model does must be something that this could do, too.
///
/// ```
/// use stubborn_embed::Spec;
///
/// let one_place_buffer = Spec::new("empty").on("empty", "put", "full").on("full", "take", "empty");
/// ```
#[derive(Clone, Debug)]
pub struct Spec(Graph);

impl Spec {
    /// A specification that begins in this state.
    pub fn new(initial: &str) -> Spec {
        Spec(Tester::new(initial).0)
    }

    /// With an action of this label it can go from one state to another.
    #[must_use]
    pub fn on(self, from: &str, label: &str, to: &str) -> Spec {
        Spec(Tester(self.0).on(from, label, to).0)
    }

    /// It can go from one state to another by itself.
    #[must_use]
    pub fn by_itself(self, from: &str, to: &str) -> Spec {
        Spec(Tester(self.0).by_itself(from, to).0)
    }

    /// Its tester.
    pub(crate) fn tester(&self, budget: &mut Budget<'_>) -> Result<Explicit, Reason> {
        let Graph { letters, states, edges } = self.0.clone();
        let states = states.into_iter().map(|state| state.name).collect();
        let spec = automata::Spec { letters, states, initial: 0, edges };
        spec.to_tester(MAX_SIZE, budget).map_err(|why| match why {
            GaveUp::Limit(limit) => Reason::Limit(limit),
            GaveUp::TooLarge(what) => {
                Reason::Refused(format!("the tester of the specification is too large: {what}"))
            }
        })
    }
}
