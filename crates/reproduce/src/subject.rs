//! What is checked: process networks and nets, and formulas about them.

use automata::{Effort, translate};
use base::{Budget, Diagnostic, SourceId, SourceMap};
use check::decide::Claim;
use ltl::{Formula, Formulas, Prop};
use model::{ActionSystem, ExprId};

use crate::lab::Halt;

/// The models of the experiments that are process networks, by the names of their files.
pub(crate) const FILES: [(&str, &str); 12] = [
    ("acknowledged_ring.proc", include_str!("../../../models/acknowledged_ring.proc")),
    ("alternating_bit.proc", include_str!("../../../models/alternating_bit.proc")),
    ("broken_ring.proc", include_str!("../../../models/broken_ring.proc")),
    ("counters.proc", include_str!("../../../models/counters.proc")),
    ("crossing.proc", include_str!("../../../models/crossing.proc")),
    ("dining.proc", include_str!("../../../models/dining.proc")),
    ("fischer.proc", include_str!("../../../models/fischer.proc")),
    ("peterson_n.proc", include_str!("../../../models/peterson_n.proc")),
    ("protocols.proc", include_str!("../../../models/protocols.proc")),
    ("scheduler.proc", include_str!("../../../models/scheduler.proc")),
    ("semaphore.proc", include_str!("../../../models/semaphore.proc")),
    ("token_ring.proc", include_str!("../../../models/token_ring.proc")),
];

/// A process network, with constants replaced.
pub(crate) fn network(file: &str, constants: &[(&str, i64)]) -> Result<process::Model, Halt> {
    let text = FILES.iter().find(|(name, _)| *name == file).map(|(_, text)| *text);
    let text = text.ok_or_else(|| Halt::Trouble(format!("there is no model `{file}`")))?;
    let mut sources = SourceMap::new();
    let source = sources.add(file, text.as_bytes().to_vec()).map_err(|error| trouble(file, &error))?;
    let constants = constants.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let options = process::Options { constants, ..process::Options::default() };
    let no_files = &mut |name: &str| Err(format!("no file `{name}`"));
    process::load(&mut sources, source, &options, no_files).map_err(|errors| {
        let messages: Vec<String> = errors.iter().map(|error| error.message.clone()).collect();
        Halt::Trouble(format!("{file}: {}", messages.join("; ")))
    })
}

fn trouble(place: &str, error: &Diagnostic) -> Halt {
    Halt::Trouble(format!("{place}: {}", error.message))
}

/// What formulas can be about.
pub(crate) trait Subject {
    /// The formulas and the system.
    fn parts(&mut self) -> (&mut Formulas, &mut ActionSystem);
    /// The expression that a proposition stands for.
    fn expression(&mut self, text: &str) -> Result<ExprId, Diagnostic>;
}

impl Subject for process::Model {
    fn parts(&mut self) -> (&mut Formulas, &mut ActionSystem) {
        (&mut self.formulas, &mut self.system)
    }

    fn expression(&mut self, text: &str) -> Result<ExprId, Diagnostic> {
        self.resolve(text, SourceId::new(0), 0)
    }
}

impl Subject for petri::Model {
    fn parts(&mut self) -> (&mut Formulas, &mut ActionSystem) {
        (&mut self.formulas, &mut self.system)
    }

    fn expression(&mut self, text: &str) -> Result<ExprId, Diagnostic> {
        self.resolve(text, SourceId::new(0), 0)
    }
}

/// A formula about a subject, and the claim that some run violates it.
pub(crate) struct Question {
    pub(crate) formula: Formula,
    pub(crate) propositions: Vec<(Prop, ExprId)>,
    pub(crate) claim: Claim,
}

/// Parses a formula about a subject.
pub(crate) fn ask(subject: &mut impl Subject, text: &str) -> Result<Question, Halt> {
    let formula = {
        let (formulas, _) = subject.parts();
        let parsed = ltl::parse(formulas, text, SourceId::new(0), 0);
        parsed.map_err(|error| trouble(text, &error))?.formula
    };
    let (formulas, _) = subject.parts();
    let negation = formulas.not(formula);
    let tgba = translate(formulas, negation, Effort::High, &mut Budget::unlimited())
        .map_err(|why| Halt::Trouble(format!("the automaton of `{text}` is too large: {why:?}")))?;
    let stutter_invariant = formulas.classes(formula).is_next_free();
    let props = formulas.propositions(formula);
    let mut propositions = Vec::new();
    let mut numbers = Vec::new();
    for prop in props {
        let name = subject.parts().0.text(prop).to_owned();
        let expr = subject.expression(&name).map_err(|error| trouble(&name, &error))?;
        propositions.push((prop, expr));
        numbers.push((prop, subject.parts().1.add_proposition(name, expr)));
    }
    Ok(Question { formula, propositions, claim: Claim::new(tgba, numbers, stutter_invariant) })
}

/// A word of a command line, quoted if a shell would not leave it alone.
pub(crate) fn shell(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,+@".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
