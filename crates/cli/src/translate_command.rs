//! `stubborn translate`: formulas become automata.

use std::borrow::Cow;

use stubborn::automata::by_change::{self, Limits, Refusal};
use stubborn::automata::extended::Extended;
use stubborn::automata::{self, AnyAutomaton, Config, Effort, GaveUp, Placement, hoa, never};
use stubborn::base::{Budget, Limit, SourceId, SourceMap};
use stubborn::ltl::{self, Formula, Formulas};
use stubborn::report::automaton::{self, AutomatonJson};
use stubborn::{Clock, drawing, files};

use crate::args::{AutomatonFormat, AutomatonKind, EffortLevel, TranslateArguments};
use crate::exit::{Exit, Failure};
use crate::terminal::{self, Display};
use crate::{model, output};

pub(crate) fn run(arguments: &TranslateArguments) -> Result<Exit, Failure> {
    let format = if arguments.json { AutomatonFormat::Json } else { arguments.format };
    let mut sources = SourceMap::new();
    let display = Display::new(true);
    let clock = model::clock(&arguments.resources, &display);
    let mut formulas = Formulas::new();
    let texts = texts(arguments, &mut sources, &clock)?;
    let request =
        Request { to: arguments.to, effort: arguments.effort.into(), max_states: arguments.max_states };
    let mut list = List::new(format, texts.len());
    let shown = texts.iter().try_for_each(|(text, source, offset)| {
        let parsed = ltl::parse(&mut formulas, text, *source, *offset);
        let parsed = parsed.map_err(|diagnostic| Failure::new(sources.clone(), diagnostic))?;
        let formula = if arguments.negate { formulas.not(parsed.formula) } else { parsed.formula };
        let automaton = request.translate(&mut formulas, formula, &mut clock.budget());
        let automaton = automaton.map_err(|reason| {
            let message = format!("`{}`: {reason}", shortened(text));
            match reason {
                Refusal::GaveUp(GaveUp::Limit(_)) => Failure::Limit(message),
                _ => Failure::plain("cannot-translate", message),
            }
        })?;
        let name = formulas.display(formula, ltl::Spelling::Spot).to_string();
        list.show(&automaton, &formulas, &name, &clock)
    });
    list.end(shown)
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> Cow<'_, str> {
    const LONG: usize = 200;
    match text.char_indices().nth(LONG) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

type Text = (String, SourceId, usize);

/// The formulas: the one given, or those of a file, one per line.
fn texts(
    arguments: &TranslateArguments,
    sources: &mut SourceMap,
    clock: &Clock<'_>,
) -> Result<Vec<Text>, Failure> {
    let (name, bytes) = match (&arguments.formula, &arguments.file) {
        (Some(formula), _) => ("formula".to_owned(), formula.clone().into_bytes()),
        (None, Some(path)) => (
            path.display().to_string(),
            files::read(path, &clock.budget()).map_err(|trouble| Failure::new(sources.clone(), trouble))?,
        ),
        (None, None) => return Err(Failure::plain("usage", "give a formula, or --file FILE")),
    };
    let source = sources.add(name, bytes);
    let source = source.map_err(|diagnostic| Failure::new(sources.clone(), diagnostic))?;
    let text = &sources.get(source).text;
    if arguments.formula.is_some() {
        return Ok(vec![(text.clone(), source, 0)]);
    }
    let mut found = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let formula = line.trim();
        if !formula.is_empty() && !formula.starts_with('#') {
            let start = offset + (line.len() - line.trim_start().len());
            found.push((formula.to_owned(), source, start));
        }
        offset += line.len();
    }
    if found.is_empty() {
        return Err(Failure::plain("no-formula", "the file contains no formula: expected one per line"));
    }
    Ok(found)
}

/// How to translate.
struct Request {
    to: AutomatonKind,
    effort: Effort,
    max_states: usize,
}

impl Request {
    fn translate(
        &self,
        formulas: &mut Formulas,
        formula: Formula,
        budget: &mut Budget<'_>,
    ) -> Result<AnyAutomaton, Refusal> {
        let config = Config { effort: self.effort, max_states: self.max_states, ..Config::default() };
        let limits = Limits { max_states: self.max_states.min(1 << 20), ..Limits::default() };
        let placement = Placement::States;
        Ok(match self.to {
            AutomatonKind::Tgba => {
                AnyAutomaton::Tgba(automata::translate(formulas, formula, config, budget)?)
            }
            AutomatonKind::Ba => {
                AnyAutomaton::Tgba(automata::translate_ba(formulas, formula, config, placement, budget)?)
            }
            AutomatonKind::Extended => {
                let ba = automata::translate_ba(formulas, formula, config, placement, budget)?;
                AnyAutomaton::Extended(Extended::from_ba(&ba, self.max_states, budget)?)
            }
            AutomatonKind::Ta => {
                AnyAutomaton::Ta(by_change::translate_ta(formulas, formula, config, &limits, budget)?)
            }
            AutomatonKind::Tgta => {
                AnyAutomaton::Tgta(by_change::translate_tgta(formulas, formula, config, &limits, budget)?)
            }
        })
    }
}

/// Automata that are shown one after the other. As JSON, one is a document, and several are a list.
pub(crate) struct List {
    format: AutomatonFormat,
    is_list: bool,
    n_shown: usize,
}

impl List {
    pub(crate) fn new(format: AutomatonFormat, n: usize) -> List {
        List { format, is_list: n != 1 && format == AutomatonFormat::Json, n_shown: 0 }
    }

    /// Shows the next one; it may be that its format cannot.
    pub(crate) fn show(
        &mut self,
        automaton: &AnyAutomaton,
        formulas: &Formulas,
        name: &str,
        clock: &Clock<'_>,
    ) -> Result<(), Failure> {
        let limited = |limit: Limit| Failure::Limit(limit.to_string());
        match self.format {
            AutomatonFormat::Hoa => output::print(clock, hoa::write_any(automaton, formulas, Some(name)))?,
            AutomatonFormat::Dot => output::print(clock, automaton::to_dot(automaton, formulas))?,
            AutomatonFormat::Svg => {
                let picture = drawing::automaton::draw(automaton, formulas, name, &mut clock.budget());
                let picture = picture.map_err(limited)?.to_svg();
                let unseen = |reason| Failure::plain("not-supported", format!("{reason}; use --format dot"));
                output::print(clock, picture.map_err(unseen)?)?;
            }
            AutomatonFormat::Json => {
                if self.is_list {
                    terminal::print_stdout(if self.n_shown == 0 { "[\n" } else { ",\n" });
                }
                output::print_json(clock, &AutomatonJson { automaton, formulas, name }, None)?;
            }
            // One line each, for scripts.
            AutomatonFormat::Stats => {
                let stats = automaton::stats(automaton, &mut clock.budget()).map_err(limited)?;
                terminal::print_stdout(&format!("{stats}\n"));
            }
            AutomatonFormat::Spin => print_claim(automaton, formulas, name, clock)?,
        }
        self.n_shown += 1;
        Ok(())
    }

    /// Ends the list, also where something went wrong after its beginning.
    pub(crate) fn end(self, shown: Result<(), Failure>) -> Result<Exit, Failure> {
        let has_begun = self.is_list && self.n_shown > 0;
        if has_begun {
            terminal::print_stdout("]\n");
        }
        match shown {
            Ok(()) => Ok(Exit::Success),
            Err(failure) if has_begun => Ok(failure.report_beside()),
            Err(failure) => Err(failure),
        }
    }
}

fn print_claim(
    automaton: &AnyAutomaton,
    formulas: &Formulas,
    name: &str,
    clock: &Clock<'_>,
) -> Result<(), Failure> {
    let reason = match automaton {
        AnyAutomaton::Tgba(tgba) => {
            let ba = automata::to_ba(tgba, Effort::High, Placement::States, &mut clock.budget());
            let ba = ba.map_err(|limit| Failure::Limit(limit.to_string()))?;
            match never::write(&ba, formulas, Some(name)) {
                Some(claim) => return output::print(clock, claim),
                None => "the automaton cannot be written as a never claim",
            }
        }
        AnyAutomaton::Ta(_) | AnyAutomaton::Tgta(_) => {
            "a testing automaton reads changes, not values: it cannot be written as a never claim; use --to ba"
        }
        AnyAutomaton::Extended(_) => {
            "an extended automaton has more than one way to accept: it cannot be written as a never claim; use \
             --to ba"
        }
    };
    Err(Failure::plain("not-supported", reason))
}

impl From<EffortLevel> for Effort {
    fn from(level: EffortLevel) -> Effort {
        match level {
            EffortLevel::Low => Effort::Low,
            EffortLevel::Medium => Effort::Medium,
            EffortLevel::High => Effort::High,
        }
    }
}
