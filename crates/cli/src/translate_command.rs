//! `stubborn translate`: formulas become automata.

use serde_json::Value;
use stubborn::automata::by_change::{self, Limits, Refusal};
use stubborn::automata::extended::Extended;
use stubborn::automata::{self, AnyAutomaton, Config, Effort, GaveUp, Placement, dot, hoa, never};
use stubborn::base::{Budget, SourceId, SourceMap};
use stubborn::ltl::{self, Formula, Formulas};
use stubborn::report::{automaton, outcome};
use stubborn::{drawing, files};

use crate::args::{AutomatonFormat, AutomatonKind, EffortLevel, LimitArguments, TranslateArguments};
use crate::exit::{Exit, Failure};
use crate::model;
use crate::terminal::{self, Display};

pub(crate) fn run(arguments: &TranslateArguments) -> Result<Exit, Failure> {
    let format = if arguments.json { AutomatonFormat::Json } else { arguments.format };
    let mut sources = SourceMap::new();
    let display = Display::new(true);
    let limits = LimitArguments { timeout: arguments.timeout, ..LimitArguments::default() };
    let clock = model::clock(&limits, &display);
    let mut formulas = Formulas::new();
    let texts = texts(arguments, &mut sources)?;
    let mut documents = Vec::new();
    for (text, source, offset) in &texts {
        let parsed = ltl::parse(&mut formulas, text, *source, *offset);
        let parsed = parsed.map_err(|diagnostic| Failure::new(sources.clone(), diagnostic))?;
        let formula = if arguments.negate { formulas.not(parsed.formula) } else { parsed.formula };
        let request =
            Request { to: arguments.to, effort: arguments.effort.into(), max_states: arguments.max_states };
        let automaton = match request.translate(&mut formulas, formula, &mut clock.budget()) {
            Ok(automaton) => automaton,
            Err(Refusal::GaveUp(GaveUp::Limit(limit))) => {
                Failure::plain("gave-up", format!("`{text}`: {limit}")).report(arguments.json);
                return Ok(Exit::Undecided);
            }
            Err(reason) => {
                return Err(Failure::plain("cannot-translate", format!("`{text}`: {reason}")));
            }
        };
        let name = formulas.display(formula, ltl::Spelling::Spot).to_string();
        match show(&automaton, &formulas, format, &name, &mut clock.budget()) {
            Ok(Shown::Text(text)) => terminal::print_stdout(&text),
            Ok(Shown::Json(value)) => documents.push((name, value)),
            Err(reason) => return Err(Failure::plain("not-supported", reason)),
        }
    }
    print_json(documents, format);
    Ok(Exit::Success)
}

/// One document: of a single formula its automaton, of several a list.
pub(crate) fn print_json(documents: Vec<(String, Value)>, format: AutomatonFormat) {
    match format {
        // One line each, for scripts.
        AutomatonFormat::Stats => {
            for (_, value) in &documents {
                terminal::print_stdout(&format!("{value}\n"));
            }
        }
        AutomatonFormat::Json => {
            let mut entries: Vec<Value> = documents
                .into_iter()
                .map(|(name, mut value)| {
                    value["schema"] = outcome::SCHEMA.into();
                    value["name"] = name.into();
                    value
                })
                .collect();
            let document = if entries.len() == 1 { entries.remove(0) } else { Value::from(entries) };
            terminal::print_stdout(&format!("{document:#}\n"));
        }
        _ => {}
    }
}

type Text = (String, SourceId, usize);

/// The formulas: the one given, or those of a file, one per line.
fn texts(arguments: &TranslateArguments, sources: &mut SourceMap) -> Result<Vec<Text>, Failure> {
    let (name, bytes) = match (&arguments.formula, &arguments.file) {
        (Some(formula), _) => ("formula".to_owned(), formula.clone().into_bytes()),
        (None, Some(path)) => (path.display().to_string(), files::read(path)?),
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

/// An automaton in the format asked for.
pub(crate) enum Shown {
    Text(String),
    Json(Value),
}

/// Shows an automaton; the error says why that format cannot.
pub(crate) fn show(
    automaton: &AnyAutomaton,
    formulas: &Formulas,
    format: AutomatonFormat,
    name: &str,
    budget: &mut Budget<'_>,
) -> Result<Shown, String> {
    Ok(match format {
        AutomatonFormat::Hoa => Shown::Text(hoa::write_any(automaton, formulas, Some(name))),
        AutomatonFormat::Dot => Shown::Text(match automaton {
            AnyAutomaton::Tgba(tgba) => dot::draw(tgba, formulas),
            AnyAutomaton::Ta(ta) => automaton::ta_dot(ta, formulas),
            AnyAutomaton::Tgta(tgta) => automaton::tgta_dot(tgta, formulas),
            AnyAutomaton::Extended(extended) => automaton::extended_dot(extended, formulas),
        }),
        AutomatonFormat::Svg => {
            let picture = drawing::automaton::draw(automaton, formulas, name).to_svg();
            Shown::Text(picture.map_err(|reason| format!("{reason}; use --format dot"))?)
        }
        AutomatonFormat::Json => Shown::Json(match automaton {
            AnyAutomaton::Tgba(tgba) => automaton::tgba_json(tgba, formulas),
            AnyAutomaton::Ta(ta) => automaton::ta_json(ta, formulas),
            AnyAutomaton::Tgta(tgta) => automaton::tgta_json(tgta, formulas),
            AnyAutomaton::Extended(extended) => automaton::extended_json(extended, formulas),
        }),
        AutomatonFormat::Stats => Shown::Json(match automaton {
            AnyAutomaton::Tgba(tgba) => automaton::tgba_stats(tgba),
            AnyAutomaton::Ta(ta) => automaton::ta_stats(ta),
            AnyAutomaton::Tgta(tgta) => automaton::tgta_stats(tgta),
            AnyAutomaton::Extended(extended) => automaton::extended_stats(extended),
        }),
        AutomatonFormat::Spin => {
            let reason = match automaton {
                AnyAutomaton::Tgba(tgba) => {
                    let ba = automata::to_ba(tgba, Effort::High, Placement::States, budget);
                    let ba = ba.map_err(|limit| limit.to_string())?;
                    let claim = never::write(&ba, formulas, Some(name));
                    return claim
                        .map(Shown::Text)
                        .ok_or_else(|| "the automaton cannot be written as a never claim".to_owned());
                }
                AnyAutomaton::Ta(_) | AnyAutomaton::Tgta(_) => {
                    "a testing automaton reads changes, not values: it"
                }
                AnyAutomaton::Extended(_) => "an extended automaton has more than one way to accept: it",
            };
            return Err(format!("{reason} cannot be written as a never claim; use --to ba"));
        }
    })
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
