//! What a user writes: a model, with states and actions of any type.

use std::fmt::Debug;
use std::hash::Hash;

/// A system with states and actions of any type.
///
/// States are values: two that are equal are the same state. `actions` and `step` depend on nothing else than what
/// they are given; a model that asks the clock, or the order of a hash table, is not one, and is found out.
///
/// ```
/// use stubborn_embed::{Check, Model, assert_always};
///
/// /// Two glasses of 3 and 5 measures, and a tap.
/// struct Glasses;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Action {
///     Fill(usize),
///     Empty(usize),
///     Pour { from: usize },
/// }
///
/// impl Model for Glasses {
///     type State = [u32; 2];
///     type Action = Action;
///
///     fn initial(&self) -> Vec<[u32; 2]> {
///         vec![[0, 0]]
///     }
///
///     fn actions(&self, _: &[u32; 2], out: &mut Vec<Action>) {
///         out.extend((0..2).flat_map(|i| [Action::Fill(i), Action::Empty(i), Action::Pour { from: i }]));
///     }
///
///     fn step(&self, glasses: &mut [u32; 2], action: &Action) {
///         match *action {
///             Action::Fill(i) => glasses[i] = [3, 5][i],
///             Action::Empty(i) => glasses[i] = 0,
///             Action::Pour { from } => {
///                 let poured = glasses[from].min([3, 5][1 - from] - glasses[1 - from]);
///                 glasses[from] -= poured;
///                 glasses[1 - from] += poured;
///             }
///         }
///     }
/// }
///
/// let check = Check::new(&Glasses).prop("in_bounds", |glasses| glasses[0] <= 3 && glasses[1] <= 5);
/// assert_always!(check, "in_bounds");
/// let run = check.prop("four", |glasses| glasses[1] == 4).reachable("four").run().expect("it can be done");
/// assert_eq!(run.steps.len(), 6);
/// ```
pub trait Model: Sync {
    /// What the system is in. `#[derive(Clone, PartialEq, Eq, Hash, Debug)]` gives all that is needed.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// What happens.
    type Action: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// Where runs begin.
    fn initial(&self) -> Vec<Self::State>;

    /// Appends what can happen in a state. Each action is deterministic: where there is a choice, there are several.
    fn actions(&self, state: &Self::State, out: &mut Vec<Self::Action>);

    /// Makes an action happen that can. A panic is a verdict: it is shown with the run that leads to it.
    fn step(&self, state: &mut Self::State, action: &Self::Action);

    /// Names of the processes, for fairness and for people. Without any, all actions are those of one process without
    /// a name.
    fn processes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Who does it, as an index into `processes`. None is the *environment*: users, crashes, losses. Whatever it can
    /// do, it may also rest for ever; processes go on as long as one of them can.
    fn process(&self, _action: &Self::Action) -> Option<usize> {
        None
    }
}
