//! What a front end can do, and how its files are read.

use std::sync::Arc;

use base::{Budget, Diagnostic, Diagnostics, Limit, SourceId, SourceMap};
use drawing::Drawing;
use ltl::Formulas;
use model::{ActionSystem, ExprId, StepError};

use crate::moves::{Idle, Moves};
use crate::{Diagram, Facts, Fairness, Ltl, Outline, Preserve, Property, Rules, Simpler, Story};

/// A language, by the files that are written in it.
pub struct Language {
    /// What programs call it.
    pub name: &'static str,
    /// What people call one of its models, with an article.
    pub a_model: &'static str,
    /// What names of its files end in; the first is the one that is recommended.
    pub extensions: &'static [&'static str],
    /// Whether a file begins like one of its files, where no name tells.
    pub recognizes: fn(&[u8]) -> bool,
    /// Reads a model.
    pub read: Reader,
    /// What a text declares, for editors; as much as can be read within the budget.
    pub outline: Outliner,
    /// The words that mean something by themselves, for editors.
    pub words: &'static [&'static str],
    /// The same text with the blanks where they should be, if the language has a way to know; nothing if it has mistakes.
    pub format: Option<fn(&str) -> Option<String>>,
}

/// What a text declares; whoever calls has the files.
pub type Outliner = fn(
    file: File,
    options: &Options,
    sources: &mut SourceMap,
    loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Outline;

/// Reads a model, within a budget. Whoever calls has the files.
pub type Reader = fn(
    file: File,
    options: &Options,
    sources: &mut SourceMap,
    loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Result<Box<dyn Model>, Trouble>;

/// A file that is to be read.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name, for messages.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Gives the bytes of another file that a model names, or the reason why it cannot.
pub type Loader<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// What may be said about a model when it is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Constants or macros, each with its value if it has one.
    pub definitions: Vec<(String, Option<String>)>,
    /// How many processes may run at once, where processes start others.
    pub max_processes: usize,
    /// Its language, if neither the name of the file nor how it begins tells.
    pub language: Option<String>,
    /// Where else files are looked for that the model names, after its own folder.
    pub folders: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { definitions: Vec::new(), max_processes: 255, language: None, folders: Vec::new() }
    }
}

/// Why there is no model, or no answer.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// The text is wrong, or asks for something that is not supported.
    Wrong(Diagnostics),
    /// The budget is spent.
    Limit(Limit),
}

impl From<Limit> for Trouble {
    fn from(limit: Limit) -> Trouble {
        Trouble::Limit(limit)
    }
}

impl From<Diagnostics> for Trouble {
    fn from(diagnostics: Diagnostics) -> Trouble {
        Trouble::Wrong(diagnostics)
    }
}

impl From<Diagnostic> for Trouble {
    fn from(diagnostic: Diagnostic) -> Trouble {
        Trouble::Wrong(diagnostic.into())
    }
}

/// What a system is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Formulas, claims, testers, invariants, deadlocks: everything that propositions are added for.
    Runs,
    /// Assertions: those that fail are faults.
    Assertions,
    /// End states: where every process may stay, the last state repeats as a step.
    EndStates,
    /// To replay runs that were found on a simpler model: whatever fits the model fits its states.
    Replay,
    /// To walk about: few states are kept, so they may be large; assertions are looked at.
    Walk,
}

/// A system, and who can tell its runs in the words of the language.
#[derive(Clone)]
pub struct View {
    /// The system.
    pub system: Arc<ActionSystem>,
    /// Who can tell its runs.
    pub story: Option<Arc<dyn Story>>,
}

/// What became of a model that was too small for what a search met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refined {
    /// The fault is a mistake in the model; nothing changed.
    No,
    /// There is more room. Expressions, propositions and actions keep their numbers; states do not keep their
    /// words, so that what was searched must be searched again.
    Room,
    /// There are more parts. Everything must be asked again, from its text.
    Parts,
}

/// A model in some language.
///
/// A model may begin small: with little room in its places, or with the code of the processes that are met
/// first. A search that meets something outside ends in a fault; [`Model::refine`] then makes the model larger,
/// and whoever searched starts again. So nothing is ever left out, and no count is ever wrong.
pub trait Model: Send {
    /// A copy. It shares what does not change; what is added to it is not in the others.
    fn copy(&self) -> Box<dyn Model>;

    /// How often it was made larger, or was told something that makes answers easier to find. As long as that is the same, what was found on a
    /// copy is what would be found here.
    fn n_changes(&self) -> u32 {
        0
    }

    /// What programs call the language.
    fn language(&self) -> &'static str;

    /// What should be said about the text, though it can be used.
    fn warnings(&self) -> &Diagnostics;

    /// The system that runs are about.
    fn system(&self) -> &ActionSystem;

    /// The same, for adding expressions and propositions; and the pool of all formulas.
    fn parts(&mut self) -> (&mut ActionSystem, &mut Formulas);

    /// The pool of all formulas. To ask for the system besides may copy it, if somebody has a view.
    fn formulas(&mut self) -> &mut Formulas {
        self.parts().1
    }

    /// The system for a purpose. It has the expressions and propositions that were added so far, if it is for
    /// runs or for replay.
    ///
    /// # Errors
    /// Something is legal, but not supported for this purpose; or the budget is spent.
    fn view(&self, purpose: Purpose, budget: &mut Budget<'_>) -> Result<View, Trouble>;

    /// The expression that the text of a proposition stands for; its first byte is at `offset` in its source.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    fn resolve(&mut self, text: &str, source: SourceId, offset: usize) -> Result<ExprId, Diagnostics>;

    /// The formula that a text stands for, which is a source of its own.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    fn formula(&mut self, source: SourceId, sources: &SourceMap) -> Result<Ltl, Diagnostics> {
        let parsed = ltl::parse(self.parts().1, &sources.get(source).text, source, 0)?;
        let mut propositions = Vec::with_capacity(parsed.propositions.len());
        let mut errors = Diagnostics::new();
        for &(prop, span) in &parsed.propositions {
            let (written, start) = (sources.slice(span), span.start as usize);
            // What is written, so that places are right; but quotation marks may hide escapes.
            let expr = if written.starts_with('"') {
                let text = self.parts().1.text(prop).to_owned();
                self.resolve(&text, span.source, start + 1)
            } else {
                self.resolve(written, span.source, start)
            };
            match expr {
                Ok(expr) => propositions.push((prop, expr)),
                Err(found) => found.iter().for_each(|error| errors.push(error.clone())),
            }
        }
        if errors.has_errors() { Err(errors) } else { Ok(Ltl { formula: parsed.formula, propositions }) }
    }

    /// What the file wants checked, and what can be asked of every model of the language, in the order in which
    /// it is checked.
    ///
    /// # Errors
    /// What is legal, but not supported.
    fn properties(&mut self) -> Result<Vec<Property>, Diagnostics>;

    /// What the file assumes about infinite runs.
    fn fairness(&self) -> &[Fairness] {
        &[]
    }

    /// Whether its text consists of moves of processes, each of which is the variable of the same number.
    fn has_moves(&self) -> bool {
        false
    }

    /// The moves of the text that never happen, in its order, given all that do.
    fn idle(&self, _moves: &Moves) -> Vec<Idle> {
        Vec::new()
    }

    /// Whether a fault says only that the model is too small; [`Model::refine`] then makes it larger.
    fn can_refine(&self, _error: &StepError) -> bool {
        false
    }

    /// Makes the model larger where a fault says that it is too small.
    ///
    /// # Errors
    /// What is legal, but not supported; or the budget is spent.
    fn refine(&mut self, _error: &StepError, _budget: &mut Budget<'_>) -> Result<Refined, Trouble> {
        Ok(Refined::No)
    }

    /// Told that no step of any run is a fault: so nothing is missing, and reductions may know that.
    fn complete(&mut self) {}

    /// The properties in a file of the Model Checking Contest.
    ///
    /// # Errors
    /// All mistakes, each with its place; or there are no such files about models of this language; or the
    /// budget is spent.
    fn contest_file(
        &mut self,
        _file: File,
        _sources: &mut SourceMap,
        _budget: &mut Budget<'_>,
    ) -> Result<Vec<Property>, Trouble> {
        Err(Diagnostic::error("usage", "formula files of the contest are about Petri nets").into())
    }

    /// What an examination of the Model Checking Contest asks of every model; nothing if its questions are in
    /// a file, or if it asks for figures.
    ///
    /// # Errors
    /// There is no such examination of models of this language; or the budget is spent.
    fn examination(&mut self, _name: &str, _budget: &mut Budget<'_>) -> Result<Option<Property>, Trouble> {
        Err(Diagnostic::error("usage", "examinations of the contest are about Petri nets").into())
    }

    /// The model as a picture; nothing if there is nothing to be seen. That is the processes of its system,
    /// unless the language has a picture of its own.
    ///
    /// # Errors
    /// The budget is spent.
    fn draw(&self, title: &str, budget: &mut Budget<'_>) -> Result<Option<Drawing>, Limit> {
        drawing::system::draw(self.system(), title, budget)
    }

    /// What is known of all states before any search, if this language has a way to know.
    ///
    /// # Errors
    /// The budget is spent.
    fn facts(&self, _budget: &mut Budget<'_>) -> Result<Option<Box<dyn Facts>>, Limit> {
        Ok(None)
    }

    /// All its states as a decision diagram, if this language has a way to make one of this model.
    ///
    /// # Errors
    /// The budget is spent.
    fn diagram(&self, _budget: &mut Budget<'_>) -> Result<Option<Box<dyn Diagram>>, Limit> {
        Ok(None)
    }

    /// A model that has the same answer to a question about these expressions; nothing if there is none that
    /// is simpler.
    fn simplify(
        &mut self,
        _preserve: Preserve,
        _about: &[ExprId],
        _rules: &Rules,
        _budget: &mut Budget<'_>,
    ) -> Option<Simpler> {
        None
    }
}
