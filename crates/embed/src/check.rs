//! A model, what is watched of it, which runs count, and how far to go.

use std::sync::Arc;
use std::time::Duration;

use base::Progress;
use base::clock::{Clock, Limits, Watcher};
use base::threads::Threads;
use check::choice::Wish;
use check::method::{ReductionWish, StoreKind};
use pack::Pack;

use crate::classes::{Classes, Fair, Fairness, Whom};
use crate::codec::{Codec, Packed};
use crate::footprint::{Declared, Footprint, Prints};
use crate::keeper::{ByCodec, Keeper};
use crate::model::Model;
use crate::opaque::{Opaque, Recall};
use crate::propositions::Propositions;
use crate::retraced::{FEW, Retraced};
use crate::searches::Setup;
use crate::symmetry::Symmetry;

/// Makes a program of a model: the one place where it is decided how states are kept.
pub(crate) type Make<'m, M> =
    dyn for<'a> Fn(&'a Check<'m, M>, &'a Classes<'a, M>, bool) -> Box<dyn Recall<M> + 'a> + Send + Sync + 'm;

/// Questions about a model.
///
/// It is built step by step, and asked as often as one likes; a copy costs little.
///
/// ```
/// use stubborn_embed::{Check, Fair, Model, assert_always, assert_holds};
///
/// /// Two who count, each up to the other's number plus one.
/// struct Race;
///
/// impl Model for Race {
///     type State = [u8; 2];
///     type Action = usize;
///
///     fn initial(&self) -> Vec<[u8; 2]> {
///         vec![[0, 0]]
///     }
///
///     fn actions(&self, at: &[u8; 2], out: &mut Vec<usize>) {
///         out.extend((0..2).filter(|&i| at[i] < 9 && at[i] <= at[1 - i]));
///     }
///
///     fn step(&self, at: &mut [u8; 2], &i: &usize) {
///         at[i] += 1;
///     }
///
///     fn processes(&self) -> Vec<String> {
///         vec!["left".into(), "right".into()]
///     }
///
///     fn process(&self, &i: &usize) -> Option<usize> {
///         Some(i)
///     }
/// }
///
/// let check = Check::new(&Race)
///     .prop("near", |at| at[0].abs_diff(at[1]) <= 1)
///     .prop("done", |at| *at == [9, 9]);
/// assert_always!(check, "near");
/// assert_holds!(check, "<> done");
/// ```
pub struct Check<'m, M: Model> {
    pub(crate) model: &'m M,
    pub(crate) propositions: Propositions<'m, M>,
    pub(crate) fairness: Vec<Fairness<'m, M>>,
    /// Names that were given and that nobody has.
    pub(crate) mistakes: Vec<String>,
    limits: Limits,
    watcher: Option<Arc<dyn Watcher + Send + 'm>>,
    threads: Threads,
    /// All of them begin at once.
    together: bool,
    pub(crate) wish: Wish,
    pub(crate) symmetry: Option<Symmetry<'m, M::State>>,
    /// What is left out by.
    pub(crate) footprint: Option<Arc<dyn Prints<M> + 'm>>,
    /// What interferes with what, if somebody is to be treated justly.
    pub(crate) interference: Option<Arc<dyn Prints<M> + 'm>>,
    make: Arc<Make<'m, M>>,
}

impl<M: Model> Clone for Check<'_, M> {
    fn clone(&self) -> Self {
        Check {
            model: self.model,
            propositions: self.propositions.clone(),
            fairness: self.fairness.clone(),
            mistakes: self.mistakes.clone(),
            limits: self.limits,
            watcher: self.watcher.clone(),
            threads: self.threads,
            together: self.together,
            wish: self.wish,
            symmetry: self.symmetry.clone(),
            footprint: self.footprint.clone(),
            interference: self.interference.clone(),
            make: self.make.clone(),
        }
    }
}

impl<'m, M: Model> Check<'m, M> {
    /// Questions about a model. Its states are told apart by `Eq`, and few of them are kept whole; see [`Check::packed`].
    pub fn new(model: &'m M) -> Check<'m, M> {
        Check {
            model,
            propositions: Propositions::default(),
            fairness: Vec::new(),
            mistakes: Vec::new(),
            limits: Limits::default(),
            watcher: None,
            threads: Threads::ONE,
            together: false,
            wish: Wish { reduction: ReductionWish::None, ..Wish::default() },
            symmetry: None,
            footprint: None,
            interference: None,
            make: Arc::new(make(|check| Retraced::new(FEW, check.hashes()))),
        }
    }

    /// Watches something of a state, by this name.
    #[must_use]
    pub fn prop(mut self, name: &str, holds: impl Fn(&M::State) -> bool + Send + Sync + 'm) -> Self {
        self.propositions.set(name, holds);
        self
    }

    /// Only infinite runs count that are weakly fair to each process.
    #[must_use]
    pub fn weakly_fair(self) -> Self {
        self.fair_to_all(Fair::Weak)
    }

    /// Only infinite runs count that are strongly fair to each process.
    #[must_use]
    pub fn strongly_fair(self) -> Self {
        self.fair_to_all(Fair::Strong)
    }

    /// Only infinite runs count that are just to each process: what it could do all the time happens, unless something
    /// interferes with it again and again ([`Fair::Just`]). Footprints say what does; a wrong one makes answers wrong
    /// ([`Check::verify_footprint`]).
    #[must_use]
    pub fn just(self) -> Self
    where
        M: Footprint,
    {
        self.knowing_interference().fair_to_all(Fair::Just)
    }

    /// Only infinite runs count that are just to this process.
    #[must_use]
    pub fn just_to(self, process: &str) -> Self
    where
        M: Footprint,
    {
        self.knowing_interference().fair_to(Fair::Just, process)
    }

    fn knowing_interference(mut self) -> Self
    where
        M: Footprint,
    {
        self.interference = Some(Arc::new(Declared::new(self.model, Vec::new())));
        self
    }

    fn fair_to_all(mut self, fair: Fair) -> Self {
        let processes = self.model.processes();
        if processes.is_empty() {
            self.mistakes.push("the model names no `processes` that runs could be fair to".to_owned());
        }
        self.fairness.extend(processes.into_iter().enumerate().map(|(process, name)| Fairness {
            name,
            fair,
            whom: Whom::Process(process),
        }));
        self
    }

    /// Only infinite runs count that are fair to this process.
    #[must_use]
    pub fn fair_to(mut self, fair: Fair, process: &str) -> Self {
        let processes = self.model.processes();
        match processes.iter().position(|name| name == process) {
            Some(number) => {
                self.fairness.push(Fairness { name: process.to_owned(), fair, whom: Whom::Process(number) });
            }
            None => {
                let known = processes.iter().map(String::as_str);
                self.mistakes.push(unknown("process", process, known));
            }
        }
        self
    }

    /// Only infinite runs count that are fair to the actions that are picked: some of them must happen again and
    /// again, if some of them can.
    #[must_use]
    pub fn fair(
        mut self,
        fair: Fair,
        name: &str,
        picks: impl Fn(&M::Action) -> bool + Send + Sync + 'm,
    ) -> Self {
        self.fairness.push(Fairness { name: name.to_owned(), fair, whom: Whom::Actions(Arc::new(picks)) });
        self
    }

    /// At most this long; then it is not known.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.limits = self.limits.time(time);
        self
    }

    /// At most so many states; then it is not known.
    #[must_use]
    pub fn max_states(mut self, states: u64) -> Self {
        self.limits = self.limits.states(states);
        self
    }

    /// At most so many bytes, as far as they are known; then it is not known. Four fifths of what is free, if
    /// nothing is said.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.limits = self.limits.memory(bytes);
        self
    }

    /// So many threads search at once, where there are many states; one, if nothing is said. Answers, counts of states
    /// and shortest runs do not depend on it.
    #[must_use]
    pub fn threads(mut self, n: usize) -> Self {
        self.threads = Threads::new(n);
        self
    }

    /// Calls somebody every few milliseconds, who says whether to go on.
    #[must_use]
    pub fn on_progress(mut self, look: impl Fn(Duration, &Progress) -> bool + Send + Sync + 'm) -> Self {
        self.watcher = Some(Arc::new(Looks(look)));
        self
    }

    /// Keeps states in a few bits each, in so many bytes: violations that are found are violations, but that there
    /// are none is never known.
    #[must_use]
    pub fn bitstate(mut self, bytes: u64) -> Self {
        self.wish.store = StoreKind::Bitstate { bytes, n_hashes: 3 };
        self
    }

    /// Tells states apart by 64 bits of a hash. What holds then holds but for a probability that the
    /// [proof](crate::Proof::missed) tells. Packed states and those of actors take ten bytes each; others are found
    /// sooner than by comparing them whole, and by their own `Hash`, which must depend on all that `Eq` compares, as a
    /// derived one does. (That is looked at now and then, and not known if it is not so.)
    #[must_use]
    pub fn fingerprints(mut self) -> Self {
        self.wish.store = StoreKind::Fingerprint;
        self
    }

    /// Keeps states as words of another making.
    #[must_use]
    pub fn codec<C: Codec<M::State> + 'm>(mut self, codec: impl Fn() -> C + Send + Sync + 'm) -> Self {
        self.make = Arc::new(make(move |_| ByCodec(codec())));
        self
    }

    /// Keeps states as few bits, which is faster and takes less memory: for states with `#[derive(Pack)]`.
    #[must_use]
    pub fn packed(self) -> Self
    where
        M::State: Pack,
    {
        self.codec(Packed::<M::State>::default)
    }

    /// Says that so many actors are equal: `permute` gives the state in which the i-th of them has become
    /// the `permutation[i]`-th. States that differ in nothing else are kept once. For questions that do not tell actors apart, and refused under fairness.
    /// That is tested in every state that a search expands, for up to six actors: an answer under symmetry is as good as one
    /// without.
    #[must_use]
    pub fn symmetric(
        mut self,
        n_actors: usize,
        permute: impl Fn(&M::State, &[usize]) -> M::State + Send + Sync + 'm,
    ) -> Self
    where
        M::State: Ord,
    {
        self.symmetry = Some(Symmetry::new(n_actors, permute));
        self
    }

    /// Believes that actors are equal, without testing it again: for models that [`Check::verify_symmetry`] was asked
    /// about. If it is not so, answers may be wrong.
    #[must_use]
    pub fn trusting_symmetry(mut self) -> Self {
        if let Some(symmetry) = &mut self.symmetry {
            symmetry.is_trusted = true;
        }
        self
    }

    /// Explores only interleavings that matter to a question, by the footprints that the model declares, and what
    /// propositions read, by name. Questions about states profit, and formulas that do not see stuttering, under fairness to
    /// processes, too; all others are decided in full, and the proof says why. A wrong footprint makes answers wrong:
    /// [`Check::verify_footprint`] tests it.
    #[must_use]
    pub fn reduced(mut self, propositions: &[(&str, &[M::Part])]) -> Self
    where
        M: Footprint,
    {
        let mut known = Vec::new();
        for (name, parts) in propositions {
            match self.propositions.find(name) {
                Some(number) => known.push((number, parts.to_vec())),
                None => self.mistakes.push(unknown("proposition", name, self.propositions.names())),
            }
        }
        self.footprint = Some(Arc::new(Declared::new(self.model, known)));
        self
    }

    /// With which observer, search and reduction formulas are decided, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn by_method(mut self, wish: Wish) -> Self {
        self.wish = wish;
        self
    }

    /// Keeps hardly any state whole, and makes them again, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.make = Arc::new(make(|check| Retraced::new(1, check.hashes())));
        self
    }

    /// All threads begin at once, however few states there are, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn together(mut self, n: usize) -> Self {
        self.together = true;
        self.threads(n)
    }

    /// Another way to make a program of the model.
    pub(crate) fn made(mut self, make: Arc<Make<'m, M>>) -> Self {
        self.make = make;
        self
    }

    /// How far to go, with a clock that runs from now on.
    pub(crate) fn setup(&self) -> Setup<'_> {
        let clock = Clock::start(&self.limits).with_threads(self.threads);
        let clock = match self.watcher.as_deref() {
            Some(watcher) => clock.watched_by(watcher),
            None => clock,
        };
        let max_states = self.limits.states.unwrap_or(u64::MAX);
        let Check { threads, together, .. } = *self;
        Setup { clock, max_states, threads, together, store: self.wish.store }
    }

    /// Whether states are told apart by a hash.
    fn hashes(&self) -> bool {
        self.wish.store == StoreKind::Fingerprint
    }

    /// The model as a program; for infinite runs the environment may rest.
    pub(crate) fn program<'a>(&'a self, classes: &'a Classes<'a, M>, rests: bool) -> Box<dyn Recall<M> + 'a> {
        (self.make)(self, classes, rests)
    }
}

fn make<'m, M: Model, K: Keeper<M> + 'm>(
    keeper: impl Fn(&Check<'m, M>) -> K + Send + Sync + 'm,
) -> impl for<'a> Fn(&'a Check<'m, M>, &'a Classes<'a, M>, bool) -> Box<dyn Recall<M> + 'a> + Send + Sync + 'm
{
    move |check, classes, rests| Box::new(Opaque::new(check, keeper(check), classes, rests))
}

struct Looks<F>(F);

impl<F: Fn(Duration, &Progress) -> bool + Sync> Watcher for Looks<F> {
    fn look(&self, elapsed: Duration, progress: &Progress) -> bool {
        (self.0)(elapsed, progress)
    }
}

/// What to say of a name that nobody has.
pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = base::suggest::nearest(name, known.clone());
    let hint = match (nearest, known.map(|name| format!("`{name}`")).collect::<Vec<_>>()) {
        (Some(nearest), _) => format!("did you mean `{nearest}`?"),
        (None, all) if all.is_empty() => "there is none".to_owned(),
        (None, all) => format!("there are {}", all.join(", ")),
    };
    format!("there is no {what} `{name}`: {hint}")
}
