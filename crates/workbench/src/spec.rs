//! The model that a request is about, as the page sends it; and how questions and methods are spelled there.

use serde::Deserialize;
use stubborn::base::Diagnostic;
use stubborn::check::reduction::Method as Reduction;
use stubborn::folder::{Draft, Folder};
use stubborn::{
    Clock, Error, ObserverKind, Options, Path as Route, PathStep, Question, ReductionWish, SearchKind,
    Session,
};

/// A model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Spec {
    /// Its file in the folder, if it has one.
    name: Option<String>,
    /// The language, if the name does not tell.
    language: Option<String>,
    text: String,
    /// Constants with their values.
    definitions: Vec<(String, Option<String>)>,
}

impl Spec {
    /// Reads it. Files that it names are looked for in the folder alone.
    pub(crate) fn open(&self, folder: Option<&Folder>, clock: &Clock<'_>) -> Result<Session, Error> {
        self.open_and_tell(folder, clock).map(|(session, _)| session)
    }

    /// The same, and whether other files were read, too.
    pub(crate) fn open_and_tell(
        &self,
        folder: Option<&Folder>,
        clock: &Clock<'_>,
    ) -> Result<(Session, bool), Error> {
        let Spec { name, language, text, definitions } = self.clone();
        Draft { name, language, text, definitions }.open(folder, clock)
    }
}

/// A question.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask", content = "what")]
pub(crate) enum Ask {
    /// Everything that the file declares.
    Declared,
    Property(String),
    DeadlockFree,
    Progress,
    Acceptance,
    Invariant(String),
    Ltl(String),
}

impl From<&Ask> for Question {
    fn from(ask: &Ask) -> Question {
        match ask {
            Ask::Declared => Question::Declared,
            Ask::Property(name) => Question::property(name),
            Ask::DeadlockFree => Question::DeadlockFree,
            Ask::Progress => Question::Progress,
            Ask::Acceptance => Question::Acceptance,
            Ask::Invariant(text) => Question::invariant(text),
            Ask::Ltl(text) => Question::ltl(text),
        }
    }
}

/// How to answer; what is not said is chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Way {
    observer: String,
    search: String,
    reduce: String,
    fair: String,
    shortest: bool,
}

/// The methods that can be asked for, by what people call them.
pub(crate) const OBSERVERS: [ObserverKind; 7] = [
    ObserverKind::Tgba,
    ObserverKind::Ba,
    ObserverKind::Ta,
    ObserverKind::Tgta,
    ObserverKind::LazyTa,
    ObserverKind::LazyTgta,
    ObserverKind::Extended,
];

/// Searches.
pub(crate) const SEARCHES: [SearchKind; 4] =
    [SearchKind::Scc, SearchKind::Nested, SearchKind::OnePass, SearchKind::TwoPass];

/// Reductions.
pub(crate) const REDUCTIONS: [ReductionWish; 8] = [
    ReductionWish::None,
    ReductionWish::Best,
    ReductionWish::Closure,
    ReductionWish::Fixed(Reduction::Guided),
    ReductionWish::Fixed(Reduction::Hybrid),
    ReductionWish::Fixed(Reduction::Classical),
    ReductionWish::Fixed(Reduction::Repaired),
    ReductionWish::Fixed(Reduction::Fair),
];

impl Way {
    /// The options that it stands for.
    pub(crate) fn options(&self) -> Result<Options, Error> {
        let fair = match self.fair.trim() {
            "" => Vec::new(),
            texts => texts.split_whitespace().map(str::parse).collect::<Result<_, Error>>()?,
        };
        Ok(Options {
            observer: named(&OBSERVERS, ObserverKind::name, &self.observer)?,
            search: named(&SEARCHES, SearchKind::name, &self.search)?,
            reduce: named(&REDUCTIONS, ReductionWish::name, &self.reduce)?.unwrap_or_default(),
            fair,
            shortest: self.shortest,
            explain_choice: true,
            ..Options::default()
        })
    }
}

/// The one that is called so; none if nothing is said.
fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, wanted: &str) -> Result<Option<T>, Error> {
    if matches!(wanted, "" | "auto") {
        return Ok(None);
    }
    let unknown = || Diagnostic::error("usage", format!("there is no method `{wanted}`")).into();
    all.iter().copied().find(|&one| name(one) == wanted).map(Some).ok_or_else(unknown)
}

/// A path through a model: what [`Route`] is, with keys as texts, since numbers of browsers are too short.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Steps {
    initial: usize,
    steps: Vec<(usize, String)>,
}

impl From<&Steps> for Route {
    fn from(told: &Steps) -> Route {
        // What is no key is that of no step.
        let step = |(number, key): &(usize, String)| PathStep {
            number: *number,
            key: u64::from_str_radix(key, 16).unwrap_or_default(),
        };
        Route { initial: told.initial, steps: told.steps.iter().map(step).collect() }
    }
}
