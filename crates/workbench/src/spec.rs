//! The model that a request is about, as the page sends it; and how questions and methods are spelled there.

use serde::Deserialize;
use stubborn::folder::{Draft, Folder};
use stubborn::{Clock, Error, Options, Path as Route, PathStep, Question, Session};

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

impl Way {
    /// The options that it stands for.
    pub(crate) fn options(&self) -> Result<Options, Error> {
        let fair = match self.fair.trim() {
            "" => Vec::new(),
            texts => texts.split_whitespace().map(str::parse).collect::<Result<_, Error>>()?,
        };
        Options { fair, shortest: self.shortest, explain_choice: true, ..Options::default() }.with_methods(
            &self.observer,
            &self.search,
            &self.reduce,
        )
    }
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
