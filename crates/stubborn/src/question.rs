//! What can be asked, and how a question becomes a property of the model.

use std::fmt;
use std::path::PathBuf;

use automata::Tester;
use automata::tester::Flaw;
use base::{Budget, Diagnostic, Diagnostics, Limit, Span};
use language::{Argument, Asked, Claim, Facts, Known, Ltl, Model, Observed, Property, PropertyKind};
use ltl::Prop;
use model::{ActionSystem, ExprId, LabelId};

use crate::clock::Clock;
use crate::error::Trouble;
use crate::files;
use crate::options::Options;
use crate::session::Session;

/// What is asked about a model.
#[derive(Clone, Debug)]
pub enum Question {
    /// Everything that the file wants checked.
    Declared,
    /// The declared properties of these names.
    Properties(Vec<String>),
    /// That something can always happen, or that processes come to rest only where they may.
    DeadlockFree,
    /// That no process can avoid its progress labels for ever.
    Progress,
    /// That no accept label can be passed again and again.
    Acceptance,
    /// That an expression is true in every state.
    Invariant(Text),
    /// That every run satisfies a formula of linear temporal logic.
    Ltl(Text),
    /// That no run is accepted by an automaton in this file: HOA, or a never claim.
    ClaimFile(PathBuf),
    /// That the system does nothing that a tester calls illegal, whose letters are actions of the model.
    Tester {
        /// What it is called.
        name: String,
        /// The tester.
        tester: Tester,
    },
    /// What is asked in a file of the Model Checking Contest; only under these ids or numbers, if there are some.
    ContestFile {
        /// The file.
        path: PathBuf,
        /// Ids, or numbers at the end of ids.
        only: Vec<String>,
    },
}

/// A text, and what messages call the place that it comes from.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where it comes from.
    pub source: String,
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text { text: text.to_owned(), source: "the question".to_owned() }
    }
}

impl Question {
    /// That every run satisfies a formula of linear temporal logic.
    pub fn ltl(text: &str) -> Question {
        Question::Ltl(text.into())
    }

    /// That an expression is true in every state.
    pub fn invariant(text: &str) -> Question {
        Question::Invariant(text.into())
    }

    /// The declared property of this name.
    pub fn property(name: &str) -> Question {
        Question::Properties(vec![name.to_owned()])
    }
}

impl fmt::Display for Question {
    /// What it is called, as long as it is not resolved.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Declared => f.write_str("all declared properties"),
            Question::Properties(names) => f.write_str(&names.join(", ")),
            Question::DeadlockFree => f.write_str("deadlock-free"),
            Question::Progress => f.write_str("progress"),
            Question::Acceptance => f.write_str("acceptance"),
            Question::Invariant(text) | Question::Ltl(text) => f.write_str(&shortened(&text.text)),
            Question::ClaimFile(path) | Question::ContestFile { path, .. } => path.display().fmt(f),
            Question::Tester { name, .. } => f.write_str(name),
        }
    }
}

/// A question that was resolved.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) name: String,
    /// Where its name stands, if it was written.
    pub(crate) span: Option<Span>,
    pub(crate) kind: PropertyKind,
    /// Whether it is so, if what is known without a search decides it; and what shows it.
    pub(crate) known: Option<(bool, Argument)>,
    /// The numbers that show it, in words, if somebody asked why.
    pub(crate) proof: Vec<String>,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

/// Where a question comes from: how somebody else can ask it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The model declares it, under its name.
    Declared,
    /// The text of a formula.
    Ltl(String),
    /// The text of an invariant.
    Invariant(String),
    /// Another file, or a program.
    Elsewhere,
}

impl Session {
    /// Resolves questions.
    pub(crate) fn ask(
        &mut self,
        questions: &[Question],
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<Vec<Task>, Trouble> {
        let properties = self.model.properties()?;
        let mut tasks = Vec::new();
        for question in questions {
            match question {
                Question::Declared => {
                    let is_asked = |property: &Property| property.asked == Asked::ByDefault;
                    tasks.extend(properties.iter().filter(|known| is_asked(known)).cloned().map(Task::from));
                }
                Question::Properties(names) => tasks.extend(named(&properties, names)?),
                Question::DeadlockFree => {
                    let is_meant = |kind: &PropertyKind| {
                        matches!(kind, PropertyKind::DeadlockFree | PropertyKind::EndStates)
                    };
                    tasks.extend(of_kind(&properties, is_meant, "deadlocks")?);
                }
                Question::Progress => {
                    let is_meant = |kind: &PropertyKind| matches!(kind, PropertyKind::Progress(_));
                    tasks.extend(of_kind(&properties, is_meant, "progress labels")?);
                }
                Question::Acceptance => {
                    let is_meant = |kind: &PropertyKind| matches!(kind, PropertyKind::Acceptance(_));
                    tasks.extend(of_kind(&properties, is_meant, "accept labels")?);
                }
                Question::Invariant(Text { text, source }) => {
                    let source = self.sources.add(source, text.clone().into_bytes())?;
                    let expr = self.model.resolve(text, source, 0)?;
                    let task = Task::new(shortened(text), PropertyKind::Invariant(expr));
                    tasks.push(Task { origin: Origin::Invariant(text.clone()), ..task });
                }
                Question::Ltl(Text { text, source }) => {
                    let source = self.sources.add(source, text.clone().into_bytes())?;
                    let ltl = self.model.formula(source, &self.sources)?;
                    let task = Task::new(shortened(text), PropertyKind::Ltl(ltl));
                    tasks.push(Task { origin: Origin::Ltl(text.clone()), ..task });
                }
                Question::ClaimFile(path) => {
                    let formulas = self.model.formulas();
                    for (name, automaton) in
                        files::read_automata(path, formulas, &mut self.sources, &mut clock.budget())?
                    {
                        let mut propositions = Vec::new();
                        for &prop in automaton.propositions() {
                            let text = self.model.formulas().text(prop).to_owned();
                            let source = format!("a proposition of {}", path.display());
                            let source = self.sources.add(source, text.clone().into_bytes())?;
                            propositions.push((prop, self.model.resolve(&text, source, 0)?));
                        }
                        tasks.push(Task::new(name, PropertyKind::Claim(Claim { automaton, propositions })));
                    }
                }
                Question::Tester { name, tester } => {
                    if let Some(flaw) = tester.flaw() {
                        return Err(illegal(name, tester, flaw).into());
                    }
                    let process = tester.clone();
                    let labels = labels(self.model.system(), &tester.letters)?;
                    tasks.push(Task::new(name, PropertyKind::Tester(Observed { process, labels })));
                }
                Question::ContestFile { path, only } => {
                    let mut budget = clock.budget();
                    let file = files::file(path, &budget)?;
                    let properties = self.model.contest_file(file, &mut self.sources, &mut budget)?;
                    let is_off = options.structural.is_none();
                    let facts = if is_off { None } else { self.model.facts(&mut budget)? };
                    for property in pick(properties, only)? {
                        let facts = facts.as_deref();
                        let explains = options.explain_choice;
                        tasks.push(decide_by_facts(
                            property,
                            facts,
                            explains,
                            &mut *self.model,
                            &mut budget,
                        )?);
                    }
                }
            }
        }
        // What is asked twice is answered once.
        let mut known: Vec<String> = Vec::new();
        tasks.retain(|task| match task.kind {
            PropertyKind::DeadlockFree | PropertyKind::EndStates | PropertyKind::Assertions => {
                let is_new = !known.contains(&task.name);
                known.push(task.name.clone());
                is_new
            }
            _ => true,
        });
        // All at once: later on, views and runs would need copies of the system.
        for task in &tasks {
            if let PropertyKind::Ltl(Ltl { propositions, .. })
            | PropertyKind::Acceptance(Ltl { propositions, .. })
            | PropertyKind::Progress(Ltl { propositions, .. })
            | PropertyKind::Claim(Claim { propositions, .. }) = &task.kind
            {
                observe(&mut *self.model, propositions);
            }
        }
        Ok(tasks)
    }
}

impl Task {
    fn new(name: impl Into<String>, kind: PropertyKind) -> Task {
        Task {
            name: name.into(),
            span: None,
            kind,
            known: None,
            proof: Vec::new(),
            origin: Origin::Elsewhere,
        }
    }
}

impl From<Property> for Task {
    fn from(property: Property) -> Task {
        let task = Task::new(property.name, property.kind);
        Task { span: property.span, origin: Origin::Declared, ..task }
    }
}

/// The properties of these names, in the order of the file.
fn named(properties: &[Property], names: &[String]) -> Result<Vec<Task>, Diagnostics> {
    let nameable = || properties.iter().filter(|known| known.asked != Asked::ByKind);
    for name in names {
        if !nameable().any(|known| is_named(&known.name, name)) {
            let is_declared = |known: &&Property| !matches!(known.kind, PropertyKind::DeadlockFree);
            let list = nameable().filter(is_declared).chain(nameable().filter(|known| !is_declared(known)));
            let list: Vec<String> = list.map(|known| format!("`{}`", known.name)).collect();
            let message = format!("the file declares no property `{name}`");
            return Err(Diagnostic::error("unknown-property", message)
                .with_help(format!("known are {}", list.join(", ")))
                .suggesting(name, nameable().map(|known| known.name.as_str()))
                .into());
        }
    }
    let is_asked = |known: &&Property| names.iter().any(|name| is_named(&known.name, name));
    Ok(nameable().filter(is_asked).cloned().map(Task::from).collect())
}

/// Whether a property is meant by a name: its own, or that of all instances with parameters.
fn is_named(property: &str, name: &str) -> bool {
    property.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// The property of a kind, which only some languages have.
fn of_kind(
    properties: &[Property],
    is_meant: impl Fn(&PropertyKind) -> bool,
    what: &str,
) -> Result<Vec<Task>, Diagnostics> {
    let found: Vec<Task> =
        properties.iter().filter(|known| is_meant(&known.kind)).cloned().map(Task::from).collect();
    if found.is_empty() {
        return Err(Diagnostic::error("usage", format!("models of this language have no {what}")).into());
    }
    Ok(found)
}

/// The labels of these names.
fn labels(system: &ActionSystem, names: &[String]) -> Result<Vec<LabelId>, Diagnostics> {
    let known = || system.labels().iter().filter(|label| !label.internal).map(|label| label.name.as_str());
    let label = |name: &String| {
        let found = system.labels().iter().position(|label| label.name == *name && !label.internal);
        found.map(LabelId::new).ok_or_else(|| {
            Diagnostic::error("unknown-action", format!("the model has no action `{name}`"))
                .suggesting(name, known())
        })
    };
    Ok(names.iter().map(label).collect::<Result<Vec<LabelId>, Diagnostic>>()?)
}

/// What is wrong with a tester.
fn illegal(name: &str, tester: &Tester, flaw: Flaw) -> Diagnostic {
    let state = |state: u32| &tester.states[state as usize].name;
    let what = match flaw {
        Flaw::TauLoop(at) => format!("it can go round by tau for ever at `{}`", state(at)),
        Flaw::TauFromDeadlock(at) => format!("its deadlock state `{}` can be left by tau", state(at)),
        Flaw::Dangling(None) => "it has no initial state".to_owned(),
        Flaw::Dangling(Some(number)) => {
            format!("its transition {number} names a state or a letter that it does not have")
        }
    };
    Diagnostic::error("illegal-tester", format!("the tester `{name}` cannot be used: {what}"))
}

/// Makes propositions observable; returns their numbers in the system.
pub(crate) fn observe(model: &mut dyn Model, propositions: &[(Prop, ExprId)]) -> Vec<(Prop, usize)> {
    let mut number = |&(prop, expr): &(Prop, ExprId)| {
        let known = model.system().proposition(expr);
        let number = known.unwrap_or_else(|| {
            let (system, formulas) = model.parts();
            system.add_proposition(formulas.text(prop), expr)
        });
        (prop, number)
    };
    propositions.iter().map(&mut number).collect()
}

/// A property of the contest; if what is known decides it, and no run has to be shown, with its answer.
fn decide_by_facts(
    property: Property,
    facts: Option<&dyn Facts>,
    explains: bool,
    model: &mut dyn Model,
    budget: &mut Budget<'_>,
) -> Result<Task, Limit> {
    let (system, formulas) = model.parts();
    let known = match facts {
        Some(facts) => facts.answer(&system.exprs, formulas, &property.kind, budget)?,
        None => None,
    };
    let known = match (&property.kind, known.map(|known| (known.answer, known.by))) {
        (PropertyKind::Invariant(_) | PropertyKind::Ltl(_), Some((Known::Truth(true), by))) => {
            Some((true, by))
        }
        (PropertyKind::Possible(_), Some((Known::Truth(false), by))) => Some((false, by)),
        _ => None,
    };
    // What is never false, or never true.
    let shown = match (&property.kind, known) {
        (PropertyKind::Invariant(expr), Some(_)) => Some((*expr, false)),
        (PropertyKind::Possible(expr), Some(_)) => Some((*expr, true)),
        _ => None,
    };
    let proof = match (facts, shown.filter(|_| explains)) {
        (Some(facts), Some((expr, truth))) => facts.proof(&system.exprs, expr, truth, budget)?,
        _ => None,
    };
    Ok(Task { known, proof: proof.unwrap_or_default(), origin: Origin::Elsewhere, ..property.into() })
}

/// The properties with these ids, or with these numbers at the end of their ids.
fn pick(properties: Vec<Property>, only: &[String]) -> Result<Vec<Property>, Diagnostic> {
    if only.is_empty() {
        return Ok(properties);
    }
    let number = |id: &str| id.rsplit('-').next().and_then(|end| end.parse::<u64>().ok());
    let is_meant = |property: &Property, wanted: &String| {
        let wanted_number = wanted.parse::<u64>().ok();
        property.name == *wanted || wanted_number.is_some() && number(&property.name) == wanted_number
    };
    for wanted in only {
        if !properties.iter().any(|property| is_meant(property, wanted)) {
            let message = format!("the file has no formula `{wanted}`");
            let error = Diagnostic::error("unknown-property", message);
            return Err(error.suggesting(wanted, properties.iter().map(|property| property.name.as_str())));
        }
    }
    let is_picked = |property: &Property| only.iter().any(|wanted| is_meant(property, wanted));
    Ok(properties.into_iter().filter(is_picked).collect())
}

/// The text of a formula as a name: of a very long one the beginning.
pub(crate) fn shortened(text: &str) -> String {
    const MAX_LETTERS: usize = 300;
    let mut name: String = text.chars().take(MAX_LETTERS).collect();
    if name.len() < text.len() {
        name.push('…');
    }
    name
}
