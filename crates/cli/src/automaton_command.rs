//! `stubborn automaton`: reads automata (HOA or never claims), works on them, and answers
//! questions about them. Automata of other kinds than TGBA are converted where something needs that.

use automata::clean::{simplify_marks, trim};
use automata::extended::Extended;
use automata::stutter::{self, Stuttering};
use automata::translate::polish;
use automata::{AnyAutomaton, Effort, Placement, Tgba, complement, emptiness, product, word};
use base::{Budget, Diagnostic, Limit, SourceMap};
use ltl::{Formulas, Lasso, Prop};
use serde_json::json;

use crate::args::{AutomatonArguments, AutomatonFormat, AutomatonKind};
use crate::exit::{Exit, Failure};
use crate::input;
use crate::terminal;
use crate::translate_command::{Shown, print_json, show};

pub(crate) fn run(arguments: &AutomatonArguments) -> Result<Exit, Failure> {
    let mut session = Session {
        arguments,
        formulas: Formulas::new(),
        sources: SourceMap::new(),
        automata: Vec::new(),
        negations: Vec::new(),
    };
    session.read()?;
    if arguments.product {
        session.combine()?;
    }
    session.transform()?;
    session.answer()
}

struct Session<'a> {
    arguments: &'a AutomatonArguments,
    formulas: Formulas,
    sources: SourceMap,
    /// Names and automata.
    automata: Vec<(String, AnyAutomaton)>,
    /// The complements that are known, since they are those of negated formulas; by place in `automata`.
    negations: Vec<Option<Tgba>>,
}

/// An answer to a question.
struct Answer {
    question: &'static str,
    /// None: it would take too much.
    holds: Option<bool>,
    /// What shows it.
    witness: Vec<(&'static str, String)>,
}

impl Session<'_> {
    fn fail(&mut self, diagnostic: Diagnostic) -> Failure {
        Failure::new(std::mem::take(&mut self.sources), diagnostic, self.arguments.json)
    }

    fn too_large(&self, what: &str) -> Failure {
        let message =
            format!("{what} takes more than {} states; raise --max-states", self.arguments.max_states);
        Failure::plain("too-large", message, self.arguments.json)
    }

    fn read(&mut self) -> Result<(), Failure> {
        for path in &self.arguments.files {
            match input::read_automata(path, &mut self.formulas, &mut self.sources) {
                Ok(found) => self.automata.extend(found),
                Err(diagnostic) => return Err(self.fail(diagnostic)),
            }
        }
        self.negations.resize(self.automata.len(), None);
        for text in &self.arguments.ltl {
            self.read_formula(text)?;
        }
        Ok(())
    }

    fn read_formula(&mut self, text: &str) -> Result<(), Failure> {
        let source = match self.sources.add("--ltl", text.to_owned().into_bytes()) {
            Ok(source) => source,
            Err(diagnostic) => return Err(self.fail(diagnostic)),
        };
        let formula = match ltl::parse(&mut self.formulas, text, source, 0) {
            Ok(parsed) => parsed.formula,
            Err(diagnostic) => return Err(self.fail(diagnostic)),
        };
        let negated = self.formulas.not(formula);
        let [yes, no] = [formula, negated].map(|formula| {
            automata::translate(&mut self.formulas, formula, Effort::High, &mut Budget::unlimited())
                .map_err(|reason| Failure::plain("too-large", reason.to_string(), self.arguments.json))
        });
        self.automata.push((text.to_owned(), AnyAutomaton::Tgba(yes?)));
        self.negations.push(Some(no?));
        Ok(())
    }

    /// All automata become their product.
    fn combine(&mut self) -> Result<(), Failure> {
        self.negations.clear();
        let mut parts = std::mem::take(&mut self.automata).into_iter();
        if let Some((mut name, first)) = parts.next() {
            let mut result = to_tgba(&first);
            for (other_name, other) in parts {
                let (other, max_states) = (to_tgba(&other), self.arguments.max_states);
                let combined = product(&result, &other, max_states, &mut Budget::unlimited());
                result = combined.map_err(|_| self.too_large("the product"))?;
                name = format!("({name}) & ({other_name})");
            }
            self.automata.push((name, AnyAutomaton::Tgba(unlimited(|budget| trim(result, budget)))));
        }
        Ok(())
    }

    fn transform(&mut self) -> Result<(), Failure> {
        let max_states = self.arguments.max_states;
        if self.arguments.stutter_closure || self.arguments.complement {
            self.negations.clear();
        }
        for at in 0..self.automata.len() {
            if self.arguments.stutter_closure {
                let given = to_tgba(&self.automata[at].1);
                let closed = stutter::closure(&given, max_states, &mut Budget::unlimited());
                let closed = closed.map_err(|_| self.too_large("the closure"))?;
                self.automata[at].1 = AnyAutomaton::Tgba(closed);
            }
            if self.arguments.complement {
                self.automata[at].0 = format!("!({})", self.automata[at].0);
                let given = to_tgba(&self.automata[at].1);
                let other = complement::complement(&given, max_states, &mut Budget::unlimited());
                let other = other.map_err(|_| self.too_large("the complement"))?;
                self.automata[at].1 = AnyAutomaton::Tgba(other);
            }
            if self.arguments.simplify {
                self.automata[at].1 = simplify(self.automata[at].1.clone());
            }
        }
        Ok(())
    }

    /// Answers the questions that were asked; without any, shows the automata.
    fn answer(mut self) -> Result<Exit, Failure> {
        let mut answers = Vec::new();
        if self.arguments.equivalent {
            answers.push(self.equivalent()?);
        }
        if let Some(text) = &self.arguments.accepts {
            answers.push(self.accepts(&text.clone())?);
        }
        if self.arguments.empty {
            answers.extend(self.for_each(Session::is_empty));
        }
        if self.arguments.stutter_invariant {
            answers.extend(self.for_each(Session::is_stutter_invariant));
        }
        if answers.is_empty() { self.show() } else { Ok(self.print(&answers)) }
    }

    fn for_each(&self, ask: impl Fn(&Self, usize, &Tgba) -> Answer) -> Vec<Answer> {
        let automata = self.automata.iter().enumerate();
        automata.map(|(at, (_, automaton))| ask(self, at, &to_tgba(automaton))).collect()
    }

    fn word(&self, lasso: &Lasso, propositions: &[Prop]) -> String {
        word::show(&self.formulas, lasso, propositions)
    }

    fn is_empty(&self, _at: usize, tgba: &Tgba) -> Answer {
        let found = unlimited(|budget| emptiness::accepting_lasso(tgba, budget));
        let witness = found.iter().map(|lasso| ("accepted", self.word(lasso, tgba.propositions())));
        Answer { question: "empty", holds: Some(found.is_none()), witness: witness.collect() }
    }

    fn is_stutter_invariant(&self, at: usize, tgba: &Tgba) -> Answer {
        let max_states = self.arguments.max_states;
        let known = self.negations.get(at).cloned().flatten();
        let budget = &mut Budget::unlimited();
        let found = known
            .map_or_else(|| complement::complement(tgba, max_states, budget), Ok)
            .and_then(|other| stutter::stuttering(tgba, &other, max_states, &mut Budget::unlimited()));
        let (holds, witness) = match found {
            Err(_) => (None, Vec::new()),
            Ok(Stuttering::Invariant) => (Some(true), Vec::new()),
            Ok(Stuttering::Sensitive { accepted, rejected }) => {
                let show = |lasso| self.word(lasso, tgba.propositions());
                (Some(false), vec![("accepted", show(&accepted)), ("rejected", show(&rejected))])
            }
        };
        Answer { question: "stutter-invariant", holds, witness }
    }

    fn equivalent(&self) -> Result<Answer, Failure> {
        let [(_, a), (_, b)] = &self.automata[..] else {
            let message = format!("--equivalent compares two automata, not {}", self.automata.len());
            return Err(Failure::plain("usage", message, self.arguments.json));
        };
        let (a, b) = (&to_tgba(a), &to_tgba(b));
        let max_states = self.arguments.max_states;
        let found = complement::separating_word(a, b, max_states, &mut Budget::unlimited()).ok();
        let mut propositions = a.propositions().to_vec();
        propositions.extend(b.propositions().iter().filter(|prop| !a.propositions().contains(prop)));
        let witness = found.iter().flatten().map(|lasso| {
            let by = if unlimited(|budget| automata::accepts(a, lasso, budget)) {
                "accepted by the first only"
            } else {
                "accepted by the second only"
            };
            (by, self.word(lasso, &propositions))
        });
        Ok(Answer {
            question: "equivalent",
            holds: found.as_ref().map(Option::is_none),
            witness: witness.collect(),
        })
    }

    fn accepts(&mut self, text: &str) -> Result<Answer, Failure> {
        let source = self.sources.add("--accepts", text.as_bytes().to_vec());
        let lasso = source.and_then(|source| word::parse(&mut self.formulas, text, source));
        let lasso = lasso.map_err(|diagnostic| self.fail(diagnostic))?;
        let accepts = |automaton: &AnyAutomaton| unlimited(|budget| automaton.accepts(&lasso, budget));
        let holds = self.automata.iter().all(|(_, automaton)| accepts(automaton));
        Ok(Answer { question: "accepts", holds: Some(holds), witness: Vec::new() })
    }

    fn print(&self, answers: &[Answer]) -> Exit {
        if self.arguments.json {
            let entry = |answer: &Answer| {
                let witness: serde_json::Map<String, serde_json::Value> = answer
                    .witness
                    .iter()
                    .map(|(what, word)| ((*what).to_owned(), word.clone().into()))
                    .collect();
                json!({"question": answer.question, "answer": answer.holds, "witness": witness})
            };
            let answers: Vec<_> = answers.iter().map(entry).collect();
            let document = json!({"schema": report::outcome::SCHEMA, "answers": answers});
            terminal::print_stdout(&format!("{document:#}\n"));
        } else {
            for Answer { question, holds, witness } in answers {
                let answer = match holds {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "unknown (it takes more states than --max-states)",
                };
                terminal::print_stdout(&format!("{question}: {answer}\n"));
                witness
                    .iter()
                    .for_each(|(what, word)| terminal::print_stdout(&format!("  {what}: {word}\n")));
            }
        }
        if answers.iter().any(|answer| answer.holds == Some(false)) {
            Exit::Violated
        } else if answers.iter().any(|answer| answer.holds.is_none()) {
            Exit::Undecided
        } else {
            Exit::Success
        }
    }

    fn show(self) -> Result<Exit, Failure> {
        let format = match (self.arguments.stats, self.arguments.json) {
            (true, _) => AutomatonFormat::Stats,
            (false, true) => AutomatonFormat::Json,
            (false, false) => self.arguments.format,
        };
        let mut documents = Vec::new();
        for (at, (name, automaton)) in self.automata.iter().enumerate() {
            let automaton = self.convert(at, automaton)?;
            match show(&automaton, &self.formulas, format, name) {
                Ok(Shown::Text(text)) => terminal::print_stdout(&text),
                Ok(Shown::Json(value)) => documents.push((name.clone(), value)),
                Err(reason) => return Err(Failure::plain("not-supported", reason, self.arguments.json)),
            }
        }
        print_json(documents, format);
        Ok(Exit::Success)
    }

    /// The automaton as the kind asked for; without that its own.
    fn convert(&self, at: usize, automaton: &AnyAutomaton) -> Result<AnyAutomaton, Failure> {
        let limits = automata::by_change::Limits::default();
        let failed =
            |reason: automata::GaveUp| Failure::plain("too-large", reason.to_string(), self.arguments.json);
        match (self.arguments.to, automaton) {
            (None, AnyAutomaton::Ta(_) | AnyAutomaton::Tgta(_) | AnyAutomaton::Extended(_))
            | (Some(AutomatonKind::Ta), AnyAutomaton::Ta(_))
            | (Some(AutomatonKind::Tgta), AnyAutomaton::Tgta(_))
            | (Some(AutomatonKind::Extended), AnyAutomaton::Extended(_)) => return Ok(automaton.clone()),
            _ => {}
        }
        let tgba = &to_tgba(automaton);
        let testing = matches!(self.arguments.to, Some(AutomatonKind::Ta | AutomatonKind::Tgta));
        // A TA never sees stuttering.
        let known = matches!(automaton, AnyAutomaton::Ta(_));
        if testing && !known && self.is_stutter_invariant(at, tgba).holds != Some(true) {
            let message = "a testing automaton does not see stuttering, but this automaton does, or may: try \
                           --stutter-invariant or --stutter-closure";
            return Err(Failure::plain("not-invariant", message, self.arguments.json));
        }
        Ok(match self.arguments.to {
            None | Some(AutomatonKind::Tgba) => {
                AnyAutomaton::Tgba(unlimited(|budget| simplify_marks(trim(tgba.clone(), budget)?, budget)))
            }
            Some(AutomatonKind::Ba) => {
                AnyAutomaton::Tgba(unlimited(|b| automata::to_ba(tgba, Effort::High, Placement::States, b)))
            }
            Some(AutomatonKind::Extended) => {
                let ba = unlimited(|b| automata::to_ba(tgba, Effort::High, Placement::States, b));
                let max_states = self.arguments.max_states;
                let extended = Extended::from_ba(&ba, max_states, &mut Budget::unlimited());
                AnyAutomaton::Extended(extended.map_err(|_| self.too_large("the extended automaton"))?)
            }
            Some(AutomatonKind::Ta) => AnyAutomaton::Ta(
                automata::by_change::small_ta(tgba, &limits, &mut Budget::unlimited()).map_err(failed)?,
            ),
            Some(AutomatonKind::Tgta) => AnyAutomaton::Tgta(
                automata::by_change::small_tgta(tgba, &limits, &mut Budget::unlimited()).map_err(failed)?,
            ),
        })
    }
}

/// The automaton of the infinite words it accepts. If that is converted, it is worth while to make it small.
fn to_tgba(automaton: &AnyAutomaton) -> Tgba {
    match automaton {
        AnyAutomaton::Tgba(tgba) => tgba.clone(),
        _ => unlimited(|budget| polish(automaton.to_tgba(budget)?, Effort::High, budget)),
    }
}

/// A smaller automaton of the same kind.
fn simplify(automaton: AnyAutomaton) -> AnyAutomaton {
    unlimited(|budget| {
        Ok(match automaton {
            AnyAutomaton::Tgba(tgba) => AnyAutomaton::Tgba(polish(tgba, Effort::High, budget)?),
            AnyAutomaton::Ta(ta) => AnyAutomaton::Ta(ta.trim(budget)?.reduce(budget)?),
            AnyAutomaton::Tgta(tgta) => AnyAutomaton::Tgta(tgta.trim(budget)?.reduce(budget)?),
            AnyAutomaton::Extended(extended) => AnyAutomaton::Extended(extended.reduce(budget)?),
        })
    })
}

/// Runs something that only a budget could end, without one.
fn unlimited<T>(run: impl FnOnce(&mut Budget<'static>) -> Result<T, Limit>) -> T {
    run(&mut Budget::unlimited()).expect("a budget without limits is never spent")
}
