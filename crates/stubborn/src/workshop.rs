//! Automata at hand: read from files or made of formulas, combined, changed, converted, and asked about.
//!
//! Automata of other kinds than TGBA become TGBA where something needs that.

mod questions;

use std::fmt;
use std::path::Path;

use automata::by_change::{self, Refusal};
use automata::clean::{simplify_marks, trim};
use automata::extended::Extended;
use automata::stutter::{self, Proof};
use automata::translate::polish;
use automata::{
    AnyAutomaton, Config, Effort, GaveUp, Placement, Tgba, TooLarge, complement, never, product, word,
};
use base::{Diagnostic, SourceId, SourceMap};
use ltl::{Formula, Formulas, Lasso, Prop};

pub use self::questions::Saying;
use crate::Error;
use crate::clock::Clock;
use crate::error::Trouble;
use crate::files;
use crate::question::{Text, shortened};

/// Kinds of automata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomatonKind {
    /// Generalized Büchi automata, with marks on edges.
    Tgba,
    /// Büchi automata, with accepting states.
    Ba,
    /// Testing automata, which watch changes.
    Ta,
    /// Generalized testing automata.
    Tgta,
    /// Büchi automata with a value on each state, which also accept livelocks.
    Extended,
}

/// A formula, where it stands.
#[derive(Clone, Debug)]
pub struct Line {
    /// The text.
    pub text: String,
    source: SourceId,
    offset: usize,
}

/// An automaton with its name.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub automaton: AnyAutomaton,
    /// Its complement, if that is known: it may be the automaton of a negated formula.
    negation: Option<Tgba>,
}

/// Automata that are worked on.
///
/// ```
/// use stubborn::{AutomatonKind, Clock, Limits, Workshop};
///
/// let clock = Clock::start(&Limits::default());
/// let mut workshop = Workshop::new(20_000, &clock);
/// workshop.add_formula(&"a U b".into())?;
/// workshop.add_formula(&"b | a & X (a U b)".into())?;
/// assert_eq!(workshop.equivalent(0, 1)?.holds, Some(true));
/// assert_eq!(workshop.is_stutter_invariant(0)?.holds, Some(true));
/// workshop.convert(0, AutomatonKind::Tgta)?;
/// # Ok::<(), stubborn::Error>(())
/// ```
pub struct Workshop<'c> {
    clock: &'c Clock<'c>,
    max_states: usize,
    formulas: Formulas,
    sources: SourceMap,
    pieces: Vec<Piece>,
}

impl<'c> Workshop<'c> {
    /// A place to work in, where nothing may have more states than this.
    pub fn new(max_states: usize, clock: &'c Clock<'c>) -> Workshop<'c> {
        let (formulas, sources) = (Formulas::new(), SourceMap::new());
        Workshop { clock, max_states, formulas, sources, pieces: Vec::new() }
    }

    /// The automata that are there.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The formulas that propositions belong to.
    pub fn formulas(&self) -> &Formulas {
        &self.formulas
    }

    /// Reads the automata of a file: HOA, or a never claim.
    ///
    /// # Errors
    /// The file cannot be read, what is wrong with it, or a limit was reached.
    pub fn read(&mut self, path: &Path) -> Result<(), Error> {
        let found =
            files::read_automata(path, &mut self.formulas, &mut self.sources, &mut self.clock.budget());
        let found = found.map_err(|trouble| self.error(trouble))?;
        self.pieces.extend(found.into_iter().map(|(name, automaton)| Piece {
            name,
            automaton,
            negation: None,
        }));
        Ok(())
    }

    /// Adds the automaton of a formula.
    ///
    /// # Errors
    /// What is wrong with the text, the automaton is too large, or a limit was reached.
    pub fn add_formula(&mut self, text: &Text) -> Result<(), Error> {
        let line = self.line(text)?;
        let formula = self.parse(&line)?;
        let negated = self.formulas.not(formula);
        let [yes, no] = [formula, negated].map(|formula| {
            let made =
                automata::translate(&mut self.formulas, formula, Effort::High, &mut self.clock.budget());
            made.map_err(|why| self.too_large(why))
        });
        self.pieces.push(Piece { name: line.text, automaton: AnyAutomaton::Tgba(yes?), negation: Some(no?) });
        Ok(())
    }

    /// A formula that is given.
    ///
    /// # Errors
    /// The text is none.
    pub fn line(&mut self, text: &Text) -> Result<Line, Error> {
        let source = self.sources.add(text.source.clone(), text.text.clone().into_bytes());
        let source = source.map_err(|diagnostic| self.error(diagnostic))?;
        Ok(Line { text: text.text.clone(), source, offset: 0 })
    }

    /// The formulas of a file, one per line; lines that start with `#` are comments.
    ///
    /// # Errors
    /// The file cannot be read, or has no formula; or a limit was reached.
    pub fn lines(&mut self, path: &Path) -> Result<Vec<Line>, Error> {
        let bytes = files::read(path, &self.clock.budget()).map_err(|trouble| self.error(trouble))?;
        let source = self.sources.add(path.display().to_string(), bytes);
        let source = source.map_err(|diagnostic| self.error(diagnostic))?;
        let mut found = Vec::new();
        let mut offset = 0;
        for line in self.sources.get(source).text.split_inclusive('\n') {
            let text = line.trim();
            if !text.is_empty() && !text.starts_with('#') {
                let start = offset + (line.len() - line.trim_start().len());
                found.push(Line { text: text.to_owned(), source, offset: start });
            }
            offset += line.len();
        }
        if found.is_empty() {
            let message = "the file contains no formula: expected one per line";
            return Err(self.error(Diagnostic::error("no-formula", message)));
        }
        Ok(found)
    }

    /// The automaton of a formula or of its negation, with the formula as its name.
    ///
    /// # Errors
    /// What is wrong with the text, the automaton is too large, the formula sees stuttering and the automaton would
    /// not, or a limit was reached.
    pub fn translate(
        &mut self,
        line: &Line,
        is_negated: bool,
        to: AutomatonKind,
        effort: Effort,
    ) -> Result<Piece, Error> {
        let mut formula = self.parse(line)?;
        if is_negated {
            formula = self.formulas.not(formula);
        }
        let automaton = self.translated(formula, to, effort).map_err(|why| match why {
            Refusal::GaveUp(GaveUp::Limit(limit)) => self.error(limit),
            why => {
                let message = format!("`{}`: {why}", shortened(&line.text));
                self.error(Diagnostic::error("cannot-translate", message))
            }
        })?;
        let name = self.formulas.display(formula, ltl::Spelling::Spot).to_string();
        Ok(Piece { name, automaton, negation: None })
    }

    fn translated(
        &mut self,
        formula: Formula,
        to: AutomatonKind,
        effort: Effort,
    ) -> Result<AnyAutomaton, Refusal> {
        let (max_states, placement) = (self.max_states, Placement::States);
        let config = Config { effort, max_states, ..Config::default() };
        let limits = by_change::Limits { max_states: max_states.min(1 << 20), ..Default::default() };
        let (formulas, budget) = (&mut self.formulas, &mut self.clock.budget());
        Ok(match to {
            AutomatonKind::Tgba => {
                AnyAutomaton::Tgba(automata::translate(formulas, formula, config, budget)?)
            }
            AutomatonKind::Ba => {
                AnyAutomaton::Tgba(automata::translate_ba(formulas, formula, config, placement, budget)?)
            }
            AutomatonKind::Extended => {
                let ba = automata::translate_ba(formulas, formula, config, placement, budget)?;
                AnyAutomaton::Extended(Extended::from_ba(&ba, max_states, budget)?)
            }
            AutomatonKind::Ta => {
                AnyAutomaton::Ta(by_change::translate_ta(formulas, formula, config, &limits, budget)?)
            }
            AutomatonKind::Tgta => {
                AnyAutomaton::Tgta(by_change::translate_tgta(formulas, formula, config, &limits, budget)?)
            }
        })
    }

    /// All automata become their product.
    ///
    /// # Errors
    /// It is too large, or a limit was reached.
    pub fn combine(&mut self) -> Result<(), Error> {
        let mut parts = std::mem::take(&mut self.pieces).into_iter();
        let Some(Piece { mut name, automaton: first, .. }) = parts.next() else { return Ok(()) };
        let mut result = self.to_tgba(&first)?;
        for other in parts {
            let (a, b) = (result, self.to_tgba(&other.automaton)?);
            let combined = product(&a, &b, self.max_states, &mut self.clock.budget());
            result = combined.map_err(|why| self.gave_up("the product", why))?;
            name = format!("({name}) & ({})", other.name);
        }
        let result = trim(result, &mut self.clock.budget()).map_err(|limit| self.error(limit))?;
        self.pieces.push(Piece { name, automaton: AnyAutomaton::Tgba(result), negation: None });
        Ok(())
    }

    /// Closes all automata under stuttering.
    ///
    /// # Errors
    /// A closure is too large, or a limit was reached.
    pub fn close_under_stuttering(&mut self) -> Result<(), Error> {
        self.change(|workshop, piece| {
            let given = workshop.to_tgba(&piece.automaton)?;
            let closed = stutter::closure(&given, workshop.max_states, &mut workshop.clock.budget());
            let (closed, _) = closed.map_err(|why| workshop.gave_up("the closure", why))?;
            Ok(Piece { name: piece.name.clone(), automaton: AnyAutomaton::Tgba(closed), negation: None })
        })
    }

    /// Complements all automata.
    ///
    /// # Errors
    /// A complement is too large, or a limit was reached.
    pub fn complement(&mut self) -> Result<(), Error> {
        self.change(|workshop, piece| {
            let given = workshop.to_tgba(&piece.automaton)?;
            let other = complement::complement(&given, workshop.max_states, &mut workshop.clock.budget());
            let other = other.map_err(|why| workshop.gave_up("the complement", why))?;
            let name = format!("!({})", piece.name);
            Ok(Piece { name, automaton: AnyAutomaton::Tgba(other), negation: None })
        })
    }

    /// Makes all automata smaller, as what they are.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn simplify(&mut self) -> Result<(), Error> {
        self.change(|workshop, piece| {
            let budget = &mut workshop.clock.budget();
            let mut simplify = || {
                Ok(match piece.automaton.clone() {
                    AnyAutomaton::Tgba(tgba) => AnyAutomaton::Tgba(polish(tgba, Effort::High, budget)?),
                    AnyAutomaton::Ta(ta) => AnyAutomaton::Ta(ta.trim(budget)?.reduce(budget)?),
                    AnyAutomaton::Tgta(tgta) => AnyAutomaton::Tgta(tgta.trim(budget)?.reduce(budget)?),
                    AnyAutomaton::Extended(extended) => AnyAutomaton::Extended(extended.reduce(budget)?),
                })
            };
            let automaton = simplify().map_err(|limit: base::Limit| workshop.error(limit))?;
            Ok(Piece { automaton, ..piece.clone() })
        })
    }

    fn change(&mut self, change: impl Fn(&Self, &Piece) -> Result<Piece, Error>) -> Result<(), Error> {
        for at in 0..self.pieces.len() {
            self.pieces[at] = change(self, &self.pieces[at])?;
        }
        Ok(())
    }

    /// An automaton as another kind.
    ///
    /// # Errors
    /// It is too large, sees stuttering, which the kind does not, or a limit was reached.
    pub fn convert(&self, at: usize, to: AutomatonKind) -> Result<Piece, Error> {
        let piece = &self.pieces[at];
        let automaton = &piece.automaton;
        if let (AutomatonKind::Ta, AnyAutomaton::Ta(_))
        | (AutomatonKind::Tgta, AnyAutomaton::Tgta(_))
        | (AutomatonKind::Extended, AnyAutomaton::Extended(_)) = (to, automaton)
        {
            return Ok(piece.clone());
        }
        let tgba = &self.to_tgba(automaton)?;
        let watches_changes = matches!(to, AutomatonKind::Ta | AutomatonKind::Tgta);
        let is_known = Proof::of_form(automaton).is_some();
        if watches_changes && !is_known && self.is_stutter_invariant(at)?.holds != Some(true) {
            let message = "a testing automaton does not see stuttering, but this automaton does, or may";
            return Err(self.error(Diagnostic::error("not-invariant", message)));
        }
        let limits = by_change::Limits::default();
        let budget = &mut self.clock.budget();
        let converted = match to {
            AutomatonKind::Tgba => trim(tgba.clone(), budget)
                .and_then(|trimmed| simplify_marks(trimmed, budget))
                .map(AnyAutomaton::Tgba)
                .map_err(GaveUp::from),
            AutomatonKind::Ba => automata::to_ba(tgba, Effort::High, Placement::States, budget)
                .map(AnyAutomaton::Tgba)
                .map_err(GaveUp::from),
            AutomatonKind::Extended => {
                let ba = automata::to_ba(tgba, Effort::High, Placement::States, budget);
                let ba = ba.map_err(|limit| self.error(limit))?;
                let extended = Extended::from_ba(&ba, self.max_states, budget);
                let extended = extended.map_err(|why| self.gave_up("the extended automaton", why))?;
                Ok(AnyAutomaton::Extended(extended))
            }
            AutomatonKind::Ta => by_change::small_ta(tgba, &limits, budget).map(AnyAutomaton::Ta),
            AutomatonKind::Tgta => by_change::small_tgta(tgba, &limits, budget).map(AnyAutomaton::Tgta),
        };
        let automaton = converted.map_err(|why| self.too_large(why))?;
        Ok(Piece { automaton, ..piece.clone() })
    }

    /// An automaton as it is, but for states and marks of a TGBA that are of no use.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn tidied(&self, at: usize) -> Result<Piece, Error> {
        match &self.pieces[at].automaton {
            AnyAutomaton::Tgba(_) => self.convert(at, AutomatonKind::Tgba),
            _ => Ok(self.pieces[at].clone()),
        }
    }

    /// Writes an automaton as a never claim, while it is made: it may be long.
    ///
    /// # Errors
    /// It cannot be written as one, or a limit was reached.
    pub fn never_claim<T>(
        &self,
        piece: &Piece,
        write: impl FnOnce(&dyn fmt::Display) -> T,
    ) -> Result<T, Error> {
        let reason = match &piece.automaton {
            AnyAutomaton::Tgba(tgba) => {
                let ba = automata::to_ba(tgba, Effort::High, Placement::States, &mut self.clock.budget());
                let ba = ba.map_err(|limit| self.error(limit))?;
                match never::write(&ba, &self.formulas, Some(&piece.name)) {
                    Some(claim) => return Ok(write(&claim)),
                    None => {
                        let message = "the automaton cannot be written as a never claim";
                        return Err(self.error(Diagnostic::error("not-supported", message)));
                    }
                }
            }
            AnyAutomaton::Ta(_) | AnyAutomaton::Tgta(_) => {
                "a testing automaton reads changes, not values: it cannot be written as a never claim"
            }
            AnyAutomaton::Extended(_) => {
                "an extended automaton has more than one way to accept: it cannot be written as a never claim"
            }
        };
        Err(self.error(Diagnostic::error("no-claim", reason)))
    }

    /// The automaton of the infinite words it accepts. If that is converted, it is worth while to make it small.
    fn to_tgba(&self, automaton: &AnyAutomaton) -> Result<Tgba, Error> {
        let budget = &mut self.clock.budget();
        match automaton {
            AnyAutomaton::Tgba(tgba) => Ok(tgba.clone()),
            _ => {
                let tgba = automaton.to_tgba(budget).and_then(|tgba| polish(tgba, Effort::High, budget));
                tgba.map_err(|limit| self.error(limit))
            }
        }
    }

    fn parse(&mut self, line: &Line) -> Result<Formula, Error> {
        let parsed = ltl::parse(&mut self.formulas, &line.text, line.source, line.offset);
        parsed.map(|parsed| parsed.formula).map_err(|diagnostic| self.error(diagnostic))
    }

    fn word(&self, lasso: &Lasso, propositions: &[Prop]) -> String {
        word::show(&self.formulas, lasso, propositions)
    }

    fn error(&self, trouble: impl Into<Trouble>) -> Error {
        Error::new(&self.sources, trouble)
    }

    /// Something takes too many states, or a limit was reached.
    fn gave_up(&self, what: &str, why: GaveUp) -> Error {
        let message = match why {
            GaveUp::Limit(limit) => return self.error(limit),
            GaveUp::TooLarge(TooLarge::States) => {
                let message = format!("{what} takes more than {} states", self.max_states);
                return self.error(Diagnostic::error("too-many-states", message));
            }
            GaveUp::TooLarge(reason) => format!("{what}: {reason}"),
        };
        self.error(Diagnostic::error("too-large", message))
    }

    fn too_large(&self, why: GaveUp) -> Error {
        match why {
            GaveUp::Limit(limit) => self.error(limit),
            GaveUp::TooLarge(reason) => self.error(Diagnostic::error("too-large", reason.to_string())),
        }
    }
}
