//! `stubborn automaton`: reads automata (HOA or never claims), works on them, and answers
//! questions about them. Automata of other kinds than TGBA are converted where something needs that.

use serde_json::json;
use stubborn::automata::by_change;
use stubborn::automata::clean::{simplify_marks, trim};
use stubborn::automata::extended::Extended;
use stubborn::automata::stutter::{self, Proof, Stuttering};
use stubborn::automata::translate::polish;
use stubborn::automata::{
    self, AnyAutomaton, Effort, GaveUp, Placement, Tgba, TooLarge, complement, emptiness, product, word,
};
use stubborn::base::{Diagnostic, Limit, SourceMap};
use stubborn::ltl::{self, Formulas, Lasso, Prop};
use stubborn::report::outcome::SCHEMA;
use stubborn::{Clock, files};

use crate::args::{AutomatonArguments, AutomatonFormat, AutomatonKind};
use crate::exit::{Exit, Failure};
use crate::model;
use crate::terminal::{self, Display};
use crate::translate_command::List;

pub(crate) fn run(arguments: &AutomatonArguments) -> Result<Exit, Failure> {
    let display = Display::new(true);
    let mut session = Session {
        arguments,
        clock: model::clock(&arguments.resources, &display),
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
    clock: Clock<'a>,
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
    fn fail(&self, diagnostic: Diagnostic) -> Failure {
        Failure::new(self.sources.clone(), diagnostic)
    }

    /// Something takes too many states, or the user has had enough.
    fn gave_up(&self, what: &str, why: GaveUp) -> Failure {
        match why {
            GaveUp::Limit(limit) => out_of(limit),
            GaveUp::TooLarge(TooLarge::States) => {
                let message = format!(
                    "{what} takes more than {} states; raise --max-states",
                    self.arguments.max_states
                );
                Failure::plain("too-large", message)
            }
            GaveUp::TooLarge(reason) => Failure::plain("too-large", format!("{what}: {reason}")),
        }
    }

    fn read(&mut self) -> Result<(), Failure> {
        for path in &self.arguments.files {
            let found =
                files::read_automata(path, &mut self.formulas, &mut self.sources, &mut self.clock.budget());
            self.automata.extend(found.map_err(|trouble| Failure::new(self.sources.clone(), trouble))?);
        }
        self.negations.resize(self.automata.len(), None);
        for text in &self.arguments.ltl {
            self.read_formula(text)?;
        }
        Ok(())
    }

    fn read_formula(&mut self, text: &str) -> Result<(), Failure> {
        let source = self.sources.add("--ltl", text.to_owned().into_bytes());
        let parsed = source.and_then(|source| ltl::parse(&mut self.formulas, text, source, 0));
        let formula = parsed.map_err(|diagnostic| self.fail(diagnostic))?.formula;
        let negated = self.formulas.not(formula);
        let [yes, no] = [formula, negated].map(|formula| {
            automata::translate(&mut self.formulas, formula, Effort::High, &mut self.clock.budget())
                .map_err(too_large)
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
            let mut budget = self.clock.budget();
            let mut result = self.to_tgba(&first)?;
            for (other_name, other) in parts {
                let other = self.to_tgba(&other)?;
                let combined = product(&result, &other, self.arguments.max_states, &mut budget);
                result = combined.map_err(|why| self.gave_up("the product", why))?;
                name = format!("({name}) & ({other_name})");
            }
            let result = trim(result, &mut budget).map_err(out_of)?;
            self.automata.push((name, AnyAutomaton::Tgba(result)));
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
                let given = self.to_tgba(&self.automata[at].1)?;
                let closed = stutter::closure(&given, max_states, &mut self.clock.budget());
                let (closed, _) = closed.map_err(|why| self.gave_up("the closure", why))?;
                self.automata[at].1 = AnyAutomaton::Tgba(closed);
            }
            if self.arguments.complement {
                self.automata[at].0 = format!("!({})", self.automata[at].0);
                let given = self.to_tgba(&self.automata[at].1)?;
                let other = complement::complement(&given, max_states, &mut self.clock.budget());
                let other = other.map_err(|why| self.gave_up("the complement", why))?;
                self.automata[at].1 = AnyAutomaton::Tgba(other);
            }
            if self.arguments.simplify {
                self.automata[at].1 = self.simplify(self.automata[at].1.clone())?;
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
            answers.extend(self.for_each(Session::is_empty)?);
        }
        if self.arguments.stutter_invariant {
            answers.extend(self.for_each(Session::is_stutter_invariant)?);
        }
        if answers.is_empty() { self.show() } else { Ok(self.print(&answers)) }
    }

    fn for_each(
        &self,
        ask: impl Fn(&Self, usize, &Tgba) -> Result<Answer, Failure>,
    ) -> Result<Vec<Answer>, Failure> {
        let automata = self.automata.iter().enumerate();
        automata.map(|(at, (_, automaton))| ask(self, at, &self.to_tgba(automaton)?)).collect()
    }

    fn word(&self, lasso: &Lasso, propositions: &[Prop]) -> String {
        word::show(&self.formulas, lasso, propositions)
    }

    fn is_empty(&self, _at: usize, tgba: &Tgba) -> Result<Answer, Failure> {
        let found = emptiness::accepting_lasso(tgba, &mut self.clock.budget()).map_err(out_of)?;
        let witness = found.iter().map(|lasso| ("accepted", self.word(lasso, tgba.propositions())));
        Ok(Answer { question: "empty", holds: Some(found.is_none()), witness: witness.collect() })
    }

    fn is_stutter_invariant(&self, at: usize, tgba: &Tgba) -> Result<Answer, Failure> {
        let max_states = self.arguments.max_states;
        let mut budget = self.clock.budget();
        let known = self.negations.get(at).cloned().flatten();
        let other = known.map_or_else(|| complement::complement(tgba, max_states, &mut budget), Ok);
        let found = other.and_then(|other| stutter::stuttering(tgba, &other, max_states, &mut budget));
        let (holds, witness) = match found {
            Err(GaveUp::Limit(limit)) => return Err(out_of(limit)),
            Err(GaveUp::TooLarge(_)) => (None, Vec::new()),
            Ok(Stuttering::Invariant(_)) => (Some(true), Vec::new()),
            Ok(Stuttering::Sensitive { accepted, rejected }) => {
                let show = |lasso| self.word(lasso, tgba.propositions());
                (Some(false), vec![("accepted", show(&accepted)), ("rejected", show(&rejected))])
            }
        };
        Ok(Answer { question: "stutter-invariant", holds, witness })
    }

    fn equivalent(&self) -> Result<Answer, Failure> {
        let [(_, a), (_, b)] = &self.automata[..] else {
            let message = format!("--equivalent compares two automata, not {}", self.automata.len());
            return Err(Failure::plain("usage", message));
        };
        let (a, b) = (&self.to_tgba(a)?, &self.to_tgba(b)?);
        let mut budget = self.clock.budget();
        let found = match complement::separating_word(a, b, self.arguments.max_states, &mut budget) {
            Err(GaveUp::Limit(limit)) => return Err(out_of(limit)),
            found => found.ok(),
        };
        let mut propositions = a.propositions().to_vec();
        propositions.extend(b.propositions().iter().filter(|prop| !a.propositions().contains(prop)));
        let mut witness = Vec::new();
        for lasso in found.iter().flatten() {
            let is_first = automata::accepts(a, lasso, &mut budget).map_err(out_of)?;
            let by = if is_first { "accepted by the first only" } else { "accepted by the second only" };
            witness.push((by, self.word(lasso, &propositions)));
        }
        Ok(Answer { question: "equivalent", holds: found.as_ref().map(Option::is_none), witness })
    }

    fn accepts(&mut self, text: &str) -> Result<Answer, Failure> {
        let source = self.sources.add("--accepts", text.as_bytes().to_vec());
        let lasso = source.and_then(|source| word::parse(&mut self.formulas, text, source));
        let lasso = lasso.map_err(|diagnostic| self.fail(diagnostic))?;
        let mut holds = true;
        for (_, automaton) in &self.automata {
            holds &= automaton.accepts(&lasso, &mut self.clock.budget()).map_err(out_of)?;
        }
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
            let document = json!({"schema": SCHEMA, "answers": answers});
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
        let mut list = List::new(format, self.automata.len());
        let shown = self.automata.iter().enumerate().try_for_each(|(at, (name, automaton))| {
            list.show(&self.convert(at, automaton)?, &self.formulas, name, &self.clock)
        });
        list.end(shown)
    }

    /// The automaton as the kind asked for; without that its own.
    fn convert(&self, at: usize, automaton: &AnyAutomaton) -> Result<AnyAutomaton, Failure> {
        let limits = by_change::Limits::default();
        match (self.arguments.to, automaton) {
            (None, AnyAutomaton::Ta(_) | AnyAutomaton::Tgta(_) | AnyAutomaton::Extended(_))
            | (Some(AutomatonKind::Ta), AnyAutomaton::Ta(_))
            | (Some(AutomatonKind::Tgta), AnyAutomaton::Tgta(_))
            | (Some(AutomatonKind::Extended), AnyAutomaton::Extended(_)) => return Ok(automaton.clone()),
            _ => {}
        }
        let budget = &mut self.clock.budget();
        let tgba = &self.to_tgba(automaton)?;
        let testing = matches!(self.arguments.to, Some(AutomatonKind::Ta | AutomatonKind::Tgta));
        let is_known = Proof::of_form(automaton).is_some();
        if testing && !is_known && self.is_stutter_invariant(at, tgba)?.holds != Some(true) {
            let message = "a testing automaton does not see stuttering, but this automaton does, or may: try \
                           --stutter-invariant or --stutter-closure";
            return Err(Failure::plain("not-invariant", message));
        }
        let placement = Placement::States;
        Ok(match self.arguments.to {
            None | Some(AutomatonKind::Tgba) => {
                let trimmed = trim(tgba.clone(), budget).map_err(out_of)?;
                AnyAutomaton::Tgba(simplify_marks(trimmed, budget).map_err(out_of)?)
            }
            Some(AutomatonKind::Ba) => {
                AnyAutomaton::Tgba(automata::to_ba(tgba, Effort::High, placement, budget).map_err(out_of)?)
            }
            Some(AutomatonKind::Extended) => {
                let ba = automata::to_ba(tgba, Effort::High, placement, budget).map_err(out_of)?;
                let extended = Extended::from_ba(&ba, self.arguments.max_states, budget);
                AnyAutomaton::Extended(extended.map_err(|why| self.gave_up("the extended automaton", why))?)
            }
            Some(AutomatonKind::Ta) => {
                AnyAutomaton::Ta(by_change::small_ta(tgba, &limits, budget).map_err(too_large)?)
            }
            Some(AutomatonKind::Tgta) => {
                AnyAutomaton::Tgta(by_change::small_tgta(tgba, &limits, budget).map_err(too_large)?)
            }
        })
    }

    /// The automaton of the infinite words it accepts. If that is converted, it is worth while to make it small.
    fn to_tgba(&self, automaton: &AnyAutomaton) -> Result<Tgba, Failure> {
        let budget = &mut self.clock.budget();
        match automaton {
            AnyAutomaton::Tgba(tgba) => Ok(tgba.clone()),
            _ => {
                automaton.to_tgba(budget).and_then(|tgba| polish(tgba, Effort::High, budget)).map_err(out_of)
            }
        }
    }

    /// A smaller automaton of the same kind.
    fn simplify(&self, automaton: AnyAutomaton) -> Result<AnyAutomaton, Failure> {
        let budget = &mut self.clock.budget();
        let simplify = || {
            Ok(match automaton {
                AnyAutomaton::Tgba(tgba) => AnyAutomaton::Tgba(polish(tgba, Effort::High, budget)?),
                AnyAutomaton::Ta(ta) => AnyAutomaton::Ta(ta.trim(budget)?.reduce(budget)?),
                AnyAutomaton::Tgta(tgta) => AnyAutomaton::Tgta(tgta.trim(budget)?.reduce(budget)?),
                AnyAutomaton::Extended(extended) => AnyAutomaton::Extended(extended.reduce(budget)?),
            })
        };
        simplify().map_err(out_of)
    }
}

/// The user has had enough, or the memory is used up.
fn out_of(limit: Limit) -> Failure {
    Failure::Limit(limit.to_string())
}

fn too_large(why: GaveUp) -> Failure {
    match why {
        GaveUp::Limit(limit) => out_of(limit),
        GaveUp::TooLarge(reason) => Failure::plain("too-large", reason.to_string()),
    }
}
