//! A model that questions can be asked about: read, and made larger where a search finds it too small.
//!
//! The languages are listed here, and nowhere else.

use std::path::Path;

use base::{Budget, Diagnostic, Diagnostics, SourceMap};
use drawing::Drawing;
use language::{File, Language, Loader, Model, Options, Property, Purpose, Refined, View};
use model::{StepError, System as _};
use report::ModelInfo;

use crate::clock::{Clock, Limits};
use crate::error::Trouble;
use crate::{Error, files};

/// The languages that models are written in: each is a feature.
pub static LANGUAGES: &[&Language] = &[
    #[cfg(feature = "process")]
    &process::LANGUAGE,
    #[cfg(feature = "petri")]
    &petri::LANGUAGE,
    #[cfg(feature = "promela")]
    &promela::LANGUAGE,
];

/// A model, and the texts that it and the questions about it were read from.
///
/// ```
/// use stubborn::{Question, Session, Verdict};
///
/// let mut session = Session::of_text("process", "process P { work: go -> rest; rest: ; }")?;
/// let report = session.check(&[Question::DeadlockFree], &Default::default())?;
/// assert_eq!(report.results[0].verdict, Verdict::Violated);
/// println!("{}", report.results[0]);
/// # Ok::<(), stubborn::Error>(())
/// ```
pub struct Session {
    pub(crate) sources: SourceMap,
    pub(crate) model: Box<dyn Model>,
    /// The file, as the user named it.
    file: String,
    /// Bytes that the model takes.
    pub(crate) held: u64,
    /// What was said when it was read.
    pub(crate) options: Options,
    /// The faults by which it was found too small, and made larger.
    pub(crate) grown: Vec<StepError>,
}

/// What became of an attempt to ask something.
pub(crate) enum Attempt<T> {
    /// An answer.
    Done(T),
    /// The model is too small, as this fault says.
    TooSmall(StepError),
}

impl Clone for Session {
    fn clone(&self) -> Session {
        let Session { sources, model, file, held, options, grown } = self;
        let (options, grown) = (options.clone(), grown.clone());
        Session {
            sources: sources.clone(),
            model: model.copy(),
            file: file.clone(),
            held: *held,
            options,
            grown,
        }
    }
}

impl Session {
    /// Opens the model in a file, whose language is known by its name or by how it begins; `-` is the standard input.
    ///
    /// # Errors
    /// The file cannot be read, or what is wrong with it, each mistake with its place.
    pub fn open(path: impl AsRef<Path>) -> Result<Session, Error> {
        Session::open_within(path, &Options::default(), &Clock::start(&Limits::default()))
    }

    /// The same with constants or macros, as long as a clock allows.
    ///
    /// # Errors
    /// The file cannot be read, what is wrong with it, or a limit was reached.
    pub fn open_within(
        path: impl AsRef<Path>,
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<Session, Error> {
        let path = path.as_ref();
        let budget = &clock.budget();
        let read = || match &options.language {
            Some(name) => Ok((language_named(name)?, files::read(path, budget)?)),
            None => known_language(path, budget),
        };
        let (language, bytes) = read().map_err(|trouble| Error::new(&SourceMap::new(), trouble))?;
        let file = File { name: path.display().to_string(), bytes };
        let own = path.parent().unwrap_or(Path::new(""));
        let mut load = |name: &str| {
            let others = options.folders.iter().map(Path::new);
            let holds_it = |folder: &Path| folder.join(name).exists();
            let folder = std::iter::once(own).chain(others).find(|&folder| holds_it(folder));
            files::read_beside(folder.unwrap_or(own), name)
        };
        Session::read(language, file, options, &mut load, clock)
    }

    /// The model in a text of a language, by the language's name: `process`, `petri`, `promela`.
    ///
    /// # Errors
    /// There is no such language, or what is wrong with the text, each mistake with its place.
    pub fn of_text(language: &str, text: &str) -> Result<Session, Error> {
        let language = language_named(language)?;
        let file = File { name: format!("model.{}", language.extensions[0]), bytes: text.into() };
        let mut no_files = |name: &str| Err(format!("`{name}` cannot be read from here"));
        let clock = Clock::start(&Limits::default());
        Session::read(language, file, &Options::default(), &mut no_files, &clock)
    }

    /// Reads a model in a language, wherever its text comes from.
    ///
    /// # Errors
    /// What is wrong with the text, or a limit was reached.
    pub fn read(
        language: &Language,
        file: File,
        options: &Options,
        loader: &mut Loader<'_>,
        clock: &Clock<'_>,
    ) -> Result<Session, Error> {
        let mut sources = SourceMap::new();
        let mut budget = clock.budget();
        let name = file.name.clone();
        match (language.read)(file, options, &mut sources, loader, &mut budget) {
            Ok(model) => {
                let held = clock.holding(0);
                held.hold_what_is_missing(&budget);
                let (held, options, grown) = (held.held(), options.clone(), Vec::new());
                Ok(Session { sources, model, file: name, held, options, grown })
            }
            Err(trouble) => Err(Error::new(&sources, trouble)),
        }
    }

    /// What reports say about the model.
    pub fn info(&self) -> ModelInfo {
        let system = self.model.system();
        ModelInfo {
            file: self.file.clone(),
            language: self.model.language(),
            processes: system.processes().len(),
            actions: system.actions().len(),
            state_bytes: 4 * system.width(),
        }
    }

    /// What should be said about the model's text, though it can be used.
    pub fn warnings(&self) -> Warnings<'_> {
        Warnings { sources: &self.sources, diagnostics: self.model.warnings() }
    }

    /// The model, as its front end gives it.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// The text of the model's file.
    pub fn text(&self) -> Option<&str> {
        let first = self.sources.get(base::SourceId::new(0));
        (first.name == self.file).then_some(first.text.as_str())
    }

    /// The texts that messages and places refer to; the first is the model's own.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// What the file wants checked, and what can be asked of every model of its language.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn properties(&mut self) -> Result<Vec<Property>, Error> {
        self.model.properties().map_err(|diagnostics| self.error(diagnostics))
    }

    /// A clock with what the model leaves of the memory.
    pub(crate) fn clock<'w>(&self, clock: &Clock<'w>) -> Clock<'w> {
        clock.holding(self.held)
    }

    /// An error about this model or about what is asked.
    pub(crate) fn error(&self, trouble: impl Into<Trouble>) -> Error {
        Error::new(&self.sources, trouble)
    }

    /// Makes the model larger, where a walk through a [`view`](Session::view) found it too small
    /// ([`Model::can_refine`]). Views must be asked for again.
    ///
    /// # Errors
    /// What is missing is not supported, or a limit was reached.
    pub fn refine(&mut self, error: &StepError, clock: &Clock<'_>) -> Result<(), Error> {
        let clock = self.clock(clock);
        let refined = Refine::refine(&mut self.model, error, &clock);
        self.grown.push(*error);
        self.held = clock.held();
        refined.map(drop).map_err(|trouble| self.error(trouble))
    }

    /// Checks a certificate against this model, which must have been read as the certificate says.
    ///
    /// # Errors
    /// Why it is not certified.
    pub fn certify(
        &mut self,
        proof: &certify::Proof,
        clock: &Clock<'_>,
    ) -> Result<certify::Certified, certify::Refusal> {
        let clock = self.clock(clock);
        certify::certify(&mut *self.model, &mut self.sources, proof, &mut clock.budget())
    }

    /// The model as a picture; nothing if there is nothing to be seen.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn draw(&self, clock: &Clock<'_>) -> Result<Option<Drawing>, Error> {
        let clock = self.clock(clock);
        self.model.draw(&self.file, &mut clock.budget()).map_err(|limit| self.error(limit))
    }

    /// The system for a purpose.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn view(&self, purpose: Purpose, clock: &Clock<'_>) -> Result<View, Error> {
        self.model.view(purpose, &mut clock.budget()).map_err(|trouble| self.error(trouble))
    }
}

/// Something that is made larger where a search finds it too small.
pub(crate) trait Refine {
    /// Makes it larger, as a fault says.
    fn refine(&mut self, error: &StepError, clock: &Clock<'_>) -> Result<Refined, Trouble>;
}

impl Refine for Box<dyn Model> {
    fn refine(&mut self, error: &StepError, clock: &Clock<'_>) -> Result<Refined, Trouble> {
        let mut budget = clock.budget();
        let refined = Model::refine(&mut **self, error, &mut budget)?;
        clock.hold_what_is_missing(&budget);
        Ok(refined)
    }
}

/// Asks something again and again, while the model turns out to be too small and is made larger.
pub(crate) fn refining<R: Refine, T>(
    subject: &mut R,
    clock: &Clock<'_>,
    mut ask: impl FnMut(&mut R) -> Result<Attempt<T>, Trouble>,
) -> Result<T, Trouble> {
    loop {
        match ask(subject)? {
            Attempt::Done(answer) => return Ok(answer),
            Attempt::TooSmall(error) => _ = subject.refine(&error, clock)?,
        }
    }
}

/// Messages about a text, and the text.
pub struct Warnings<'s> {
    sources: &'s SourceMap,
    diagnostics: &'s Diagnostics,
}

impl Warnings<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.diagnostics.iter().len()
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As people read them, without the first ones; empty if there are no others. Questions may add some.
    pub fn to_text(&self, n_known: usize, color: bool) -> String {
        let mut others = Diagnostics::new();
        self.diagnostics.iter().skip(n_known).for_each(|known| others.push(known.clone()));
        report::diagnostic::to_text(self.sources, &others, color)
    }
}

/// The language of that name.
pub(crate) fn language_named(name: &str) -> Result<&'static Language, Diagnostic> {
    LANGUAGES.iter().copied().find(|known| known.name == name).ok_or_else(|| {
        let names: Vec<&str> = LANGUAGES.iter().map(|known| known.name).collect();
        Diagnostic::error("unknown-language", format!("there is no language `{name}`"))
            .with_help(format!("there are {}", names.join(", ")))
            .suggesting(name, names)
    })
}

/// What reports say about a model that could not be read within the limits.
pub(crate) fn unread_info(path: &Path) -> ModelInfo {
    let by_content = || if files::is_input(path) { None } else { language_of(&files::beginning(path)) };
    let known = language_by_name(path).or_else(by_content);
    ModelInfo::unread(path.display().to_string(), known.map_or("unknown", |language| language.name))
}

pub(crate) fn language_by_name(path: &Path) -> Option<&'static Language> {
    let extension = path.extension()?.to_str()?;
    LANGUAGES.iter().copied().find(|known| known.extensions.contains(&extension))
}

/// The language of a file, by the end of its name or by how it begins; and what is in it.
fn known_language(
    path: &Path,
    budget: &Budget<'_>,
) -> Result<(&'static Language, Vec<u8>), language::Trouble> {
    if let Some(language) = language_by_name(path) {
        return Ok((language, files::read(path, budget)?));
    }
    if path.exists() || files::is_input(path) {
        let bytes = files::read(path, budget)?;
        if let Some(language) = language_of(&bytes) {
            return Ok((language, bytes));
        }
    }
    let message = format!("cannot tell the language of `{}` by its extension", path.display());
    let must = ["must be in a file whose name ends ", ""];
    let ends = |(nth, language): (usize, &&Language)| {
        format!("{} {}in `.{}`", language.a_model, must[nth.min(1)], language.extensions[0])
    };
    let all: Vec<String> = LANGUAGES.iter().rev().enumerate().map(ends).collect();
    let help = match &all[..] {
        [] => "this build reads no language: its features are off".to_owned(),
        [only] => format!("{only}; or name the language"),
        [first @ .., last] => format!("{}, and {last}; or name the language", first.join(", ")),
    };
    Err(Diagnostic::error("unknown-language", message).with_help(help).into())
}

/// The language of a text, by how it begins.
pub(crate) fn language_of(bytes: &[u8]) -> Option<&'static Language> {
    LANGUAGES.iter().copied().find(|known| (known.recognizes)(bytes))
}
