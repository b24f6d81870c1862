//! Reads models, and everything else that comes from a file.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use automata::{AnyAutomaton, Unread, hoa, never};
use base::{Budget, Diagnostic, Diagnostics, SourceId, SourceMap, suggest};
use ltl::{Formulas, Prop};
use model::{ActionSystem, ExprId, StepError, System as _};
use petri::Bounds;
use report::{ModelInfo, diagnostic};

use crate::args::ModelArguments;
use crate::exit::Failure;
use crate::terminal;

/// A model, ready to be explored.
pub(crate) struct Input {
    pub(crate) sources: SourceMap,
    pub(crate) model: Loaded,
    /// The file, as the user named it.
    pub(crate) file: String,
}

impl Input {
    /// What reports say about the model.
    pub(crate) fn info(&self) -> ModelInfo {
        let system = self.model.system();
        ModelInfo {
            file: self.file.clone(),
            language: match self.model {
                Loaded::Process(_) => "process",
                Loaded::Petri(_) => "petri",
                Loaded::Promela(_) => "promela",
            },
            processes: system.processes().len(),
            actions: system.actions().len(),
            state_bytes: 4 * system.width(),
        }
    }

    /// Asks something about the model, again and again while parts of it turn out to be missing and are made.
    pub(crate) fn until_complete<T>(
        &mut self,
        json: bool,
        mut ask: impl FnMut(&mut Input) -> Result<Outcome<T>, Failure>,
    ) -> Result<T, Failure> {
        loop {
            match ask(self)? {
                Outcome::Done(answer) => return Ok(answer),
                Outcome::Incomplete(error) => self.model.extend(&error).map_err(|diagnostics| {
                    Failure::new(std::mem::take(&mut self.sources), diagnostics, json)
                })?,
            }
        }
    }
}

/// What became of a question about a model.
pub(crate) enum Outcome<T> {
    Done(T),
    /// A part of the model was missing, as this fault says; after it is made, everything must be asked again.
    Incomplete(StepError),
}

/// A model in one of the languages.
pub(crate) enum Loaded {
    Process(Box<process::Model>),
    Petri(Box<petri::Model>),
    Promela(Box<PromelaModel>),
}

/// A model in Promela, with what was asked about it when it was read.
pub(crate) struct PromelaModel {
    pub(crate) model: promela::Model,
    /// The formulas of the file, then those of the command line.
    pub(crate) properties: Vec<promela::model::Property>,
    /// How many formulas the file has.
    pub(crate) n_declared: usize,
    /// The propositions of claims, each with its expression.
    pub(crate) propositions: Vec<(String, ExprId)>,
}

impl Loaded {
    pub(crate) fn system(&self) -> &ActionSystem {
        match self {
            Loaded::Process(model) => &model.system,
            Loaded::Petri(model) => &model.system,
            Loaded::Promela(model) => model.model.system(),
        }
    }

    /// The system, and the formulas about it.
    pub(crate) fn parts(&mut self) -> (&mut ActionSystem, &mut Formulas) {
        match self {
            Loaded::Process(model) => (&mut model.system, &mut model.formulas),
            Loaded::Petri(model) => (&mut model.system, &mut model.formulas),
            Loaded::Promela(model) => (&mut model.model.code.system, &mut model.model.formulas),
        }
    }

    pub(crate) fn formulas(&mut self) -> &mut Formulas {
        self.parts().1
    }

    /// The expression that a text of a proposition stands for.
    pub(crate) fn resolve(
        &mut self,
        text: &str,
        source: SourceId,
        offset: usize,
    ) -> Result<ExprId, Diagnostics> {
        match self {
            Loaded::Process(model) => Ok(model.resolve(text, source, offset)?),
            Loaded::Petri(model) => Ok(model.resolve(text, source, offset)?),
            Loaded::Promela(model) => {
                let known = model.propositions.iter().find(|(known, _)| known == text);
                let unknown = || Diagnostic::error("not-supported", format!("`{text}` is not known here"));
                Ok(known.map(|(_, expr)| *expr).ok_or_else(unknown)?)
            }
        }
    }

    /// The propositions of a formula, with their expressions.
    pub(crate) fn resolve_propositions(
        &mut self,
        parsed: &ltl::Parsed,
        sources: &SourceMap,
    ) -> Result<Vec<(Prop, ExprId)>, Diagnostics> {
        match self {
            Loaded::Process(model) => model.resolve_propositions(parsed, sources),
            Loaded::Petri(model) => model.resolve_propositions(parsed, sources),
            // Formulas are read with the model.
            Loaded::Promela(_) => Ok(Vec::new()),
        }
    }

    /// What the file wants checked; a net declares nothing.
    pub(crate) fn properties(&self) -> &[process::Property] {
        match self {
            Loaded::Process(model) => &model.properties,
            Loaded::Petri(_) | Loaded::Promela(_) => &[],
        }
    }

    /// Whether the file says that there is no deadlock.
    pub(crate) fn is_deadlock_free(&self) -> bool {
        match self {
            Loaded::Process(model) => model.deadlock_free.is_some(),
            Loaded::Petri(_) | Loaded::Promela(_) => false,
        }
    }

    /// What the file assumes about runs.
    pub(crate) fn fairness(&self) -> &[process::Fairness] {
        match self {
            Loaded::Process(model) => &model.fairness,
            Loaded::Petri(_) | Loaded::Promela(_) => &[],
        }
    }

    /// Whether a fault is only that a place has too little room; [`Loaded::widen`] makes more.
    pub(crate) fn can_widen(&self, error: &StepError) -> bool {
        match self {
            Loaded::Process(_) | Loaded::Promela(_) => false,
            Loaded::Petri(model) => model.can_widen(error),
        }
    }

    /// Makes room in a place. States are then packed in another way: what was searched must be
    /// searched again.
    pub(crate) fn widen(&mut self, error: &StepError) -> bool {
        match self {
            Loaded::Process(_) | Loaded::Promela(_) => false,
            Loaded::Petri(model) => model.widen(error),
        }
    }

    /// Whether a fault is only that a part of a model in Promela was not made yet; [`Loaded::extend`] makes
    /// it.
    pub(crate) fn can_extend(&self, error: &StepError) -> bool {
        match self {
            Loaded::Process(_) | Loaded::Petri(_) => false,
            Loaded::Promela(model) => model.model.code.can_extend(error),
        }
    }

    /// Makes what a fault says is missing in a model in Promela. Everything must be asked again.
    pub(crate) fn extend(&mut self, error: &StepError) -> Result<(), Diagnostics> {
        match self {
            Loaded::Process(_) | Loaded::Petri(_) => Ok(()),
            Loaded::Promela(model) => model.extend(error),
        }
    }

    /// To be called after propositions were added, before a search with reduction.
    pub(crate) fn settle(&mut self) {
        if let Loaded::Petri(model) = self {
            model.settle();
        }
    }

    /// Makes all the room that there is. For those that keep few states.
    pub(crate) fn widen_fully(&mut self) {
        if let Loaded::Petri(model) = self {
            let net = model.net().clone();
            **model = net.lower(Bounds::all(&net, i64::MAX));
        }
    }
}

impl PromelaModel {
    fn new(
        model: promela::Model,
        n_asked: usize,
        propositions: Vec<String>,
    ) -> Result<PromelaModel, Diagnostics> {
        let propositions = propositions.into_iter().map(|text| (text, ExprId::new(0))).collect();
        let mut model = PromelaModel { model, properties: Vec::new(), n_declared: 0, propositions };
        model.resolve()?;
        model.n_declared = model.properties.len() - n_asked;
        Ok(model)
    }

    /// Resolves all formulas and propositions.
    fn resolve(&mut self) -> Result<(), Diagnostics> {
        self.properties = self.model.properties()?;
        let resolved = self.properties.split_off(self.properties.len() - self.propositions.len());
        for ((_, expr), property) in self.propositions.iter_mut().zip(resolved) {
            match property.propositions.first() {
                Some((_, found)) => *expr = *found,
                // A constant.
                None => {
                    let value = i64::from(property.formula == ltl::Formula::TRUE);
                    *expr = self.model.code.system.exprs.int(value);
                }
            }
        }
        Ok(())
    }

    fn extend(&mut self, error: &StepError) -> Result<(), Diagnostics> {
        self.model.extend(error)?;
        self.resolve()
    }

    /// The names of the properties.
    pub(crate) fn names(&self) -> Vec<String> {
        let declared = self.properties[..self.n_declared].iter().map(|property| property.name.clone());
        let claims = self.model.claim_names();
        ["assertions", "end-states"].map(str::to_owned).into_iter().chain(declared).chain(claims).collect()
    }
}

/// What is asked about a model by texts in its own language: formulas, and propositions of claims.
#[derive(Clone, Debug, Default)]
pub(crate) struct Questions {
    pub(crate) formulas: Vec<String>,
    pub(crate) claims: Vec<PathBuf>,
}

/// Reads a model; warnings are printed.
pub(crate) fn load(arguments: &ModelArguments, json: bool) -> Result<Input, Failure> {
    load_for(arguments, &Questions::default(), json)
}

/// The same; a model in Promela is read together with what is asked.
pub(crate) fn load_for(
    arguments: &ModelArguments,
    questions: &Questions,
    json: bool,
) -> Result<Input, Failure> {
    let path = &arguments.file;
    let mut sources = SourceMap::new();
    let model = match language(path).and_then(|language| Ok((language, read(path)?))) {
        Ok((Some(Language::Petri), bytes)) => load_net(path, bytes, arguments, &mut sources),
        Ok((Some(Language::Promela), bytes)) => {
            load_promela(path, &bytes, arguments, questions, &mut sources)
        }
        Ok((None, bytes)) if is_xml(&bytes) => load_net(path, bytes, arguments, &mut sources),
        Ok((Some(Language::Process), bytes)) => load_processes(path, bytes, arguments, &mut sources),
        Ok((None, _)) => Err(unknown_language(path).into()),
        Err(diagnostic) => Err(diagnostic.into()),
    };
    match model {
        Ok(model) => Ok(Input { sources, model, file: path.display().to_string() }),
        Err(diagnostics) => Err(Failure::new(sources, diagnostics, json)),
    }
}

fn load_processes(
    path: &Path,
    bytes: Vec<u8>,
    arguments: &ModelArguments,
    sources: &mut SourceMap,
) -> Result<Loaded, Diagnostics> {
    let source = sources.add(path.display().to_string(), bytes)?;
    let mut constants = Vec::new();
    for (name, value) in &arguments.definitions {
        let number = match value {
            Some(value) => value.parse().map_err(|_| format!("`{value}` is not a 64-bit integer")),
            None => Err("expected NAME=VALUE, like N=13".to_owned()),
        };
        let number = number.map_err(|message| Diagnostic::error("usage", format!("-D {name}: {message}")))?;
        constants.push((name.clone(), number));
    }
    let options = process::Options { constants, ..process::Options::default() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut loader = |name: &str| {
        let path = folder.join(name);
        read_bytes(&path).map_err(|reason| match neighbor(&path) {
            Some(near) => format!("{reason} (did you mean `{near}`?)"),
            None => reason,
        })
    };
    let model = process::load(sources, source, &options, &mut loader)?;
    terminal::print_stderr(&diagnostic::to_text(sources, &model.warnings, terminal::stderr_has_color()));
    Ok(Loaded::Process(Box::new(model)))
}

fn load_promela(
    path: &Path,
    bytes: &[u8],
    arguments: &ModelArguments,
    questions: &Questions,
    sources: &mut SourceMap,
) -> Result<Loaded, Diagnostics> {
    let name = path.display().to_string();
    // Formulas and propositions are read as if they stood at the end of the file.
    let mut asked: Vec<(String, String)> = Vec::new();
    for (index, text) in questions.formulas.iter().enumerate() {
        asked.push((format!("--ltl {}", index + 1), format!("ltl asked_{index} {{ {text} }}")));
    }
    let mut propositions = Vec::new();
    for path in &questions.claims {
        let mut formulas = Formulas::new();
        for (_, automaton) in read_automata(path, &mut formulas, &mut SourceMap::new())? {
            propositions.extend(automaton.propositions().iter().map(|&prop| formulas.text(prop).to_owned()));
        }
    }
    for (index, text) in propositions.iter().enumerate() {
        let text = format!("ltl proposition_{index} {{ {text} }}");
        asked.push((format!("a proposition of a claim ({})", index + 1), text));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut loader = |wanted: &str| {
        if wanted == name {
            return Ok(bytes.to_vec());
        }
        match asked.iter().find(|(name, _)| name == wanted) {
            Some((_, text)) => Ok(text.clone().into_bytes()),
            None => read_bytes(&folder.join(wanted)),
        }
    };
    // A name alone has the value 1, as for the C preprocessor.
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "1".to_owned());
    let defines = arguments.definitions.iter().map(|(name, value)| (name.clone(), text(value)));
    let mut options = promela::Options { defines: defines.collect(), ..promela::Options::default() };
    options.limits.processes = arguments.max_processes as usize;
    let source = if asked.is_empty() {
        sources.add(name.clone(), bytes.to_vec())?
    } else {
        let names = std::iter::once(&name).chain(asked.iter().map(|(name, _)| name));
        let text: String = names.map(|name| format!("#include \"{name}\"\n")).collect();
        sources.add("what is asked".to_owned(), text.into_bytes())?
    };
    let program = promela::read(sources, source, &options, &mut loader)?;
    let color = terminal::stderr_has_color();
    terminal::print_stderr(&diagnostic::to_text(sources, &program.warnings, color));
    let model = promela::Model::new(program)?;
    let model = PromelaModel::new(model, questions.formulas.len(), propositions)?;
    Ok(Loaded::Promela(Box::new(model)))
}

fn load_net(
    path: &Path,
    bytes: Vec<u8>,
    arguments: &ModelArguments,
    sources: &mut SourceMap,
) -> Result<Loaded, Diagnostics> {
    if let Some((name, _)) = arguments.definitions.first() {
        let message = format!("a net has no constant that `-D {name}=…` could set");
        return Err(Diagnostic::error("unknown-constant", message).into());
    }
    Ok(Loaded::Petri(Box::new(read_net(path, bytes, sources)?)))
}

/// The net in the bytes of a PNML file.
pub(crate) fn read_net(
    path: &Path,
    bytes: Vec<u8>,
    sources: &mut SourceMap,
) -> Result<petri::Model, Diagnostics> {
    let source = add_xml(path, bytes, sources)?;
    let net = Arc::new(petri::read(&sources.get(source).text, source)?);
    terminal::print_stderr(&diagnostic::to_text(sources, &net.warnings, terminal::stderr_has_color()));
    Ok(net.lower(Bounds::guess(&net)))
}

/// Adds the text of an XML file, whatever its encoding.
pub(crate) fn add_xml(path: &Path, bytes: Vec<u8>, sources: &mut SourceMap) -> Result<SourceId, Diagnostic> {
    let name = path.display().to_string();
    let bytes = petri::to_utf8(&name, bytes)?;
    sources.add(name, bytes)
}

enum Language {
    Process,
    Petri,
    Promela,
}

/// The language is known by the file's extension; nothing if that says nothing.
fn language(path: &Path) -> Result<Option<Language>, Diagnostic> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    match extension {
        "proc" => Ok(Some(Language::Process)),
        "pnml" => Ok(Some(Language::Petri)),
        "pml" | "prom" | "promela" | "spin" => Ok(Some(Language::Promela)),
        // Not worth to be read.
        _ if !path.exists() => Err(unknown_language(path)),
        _ => Ok(None),
    }
}

/// Whether a file begins like XML, in whatever encoding.
fn is_xml(bytes: &[u8]) -> bool {
    let is_skipped =
        |byte: &u8| byte.is_ascii_whitespace() || [0, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF].contains(byte);
    bytes.iter().find(|byte| !is_skipped(byte)) == Some(&b'<')
}

fn unknown_language(path: &Path) -> Diagnostic {
    let message = format!("cannot tell the language of `{}` by its extension", path.display());
    Diagnostic::error("unknown-language", message).with_help(
        "a Promela model must be in a file whose name ends in `.pml`, a Petri net in `.pnml`, and a process network in `.proc`",
    )
}

/// Reads a file of bounded size.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    read_bytes(path).map_err(|reason| {
        let message = format!("cannot read `{}`: {reason}", path.display());
        let diagnostic = Diagnostic::error("cannot-read", message);
        match neighbor(path) {
            Some(name) => diagnostic.with_help(format!("did you mean `{name}`?")),
            None => diagnostic,
        }
    })
}

/// The same; the error is the reason alone.
fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("it is a folder".to_owned());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know that there are too many.
    let limit = SourceMap::MAX_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A file beside a missing one with nearly the same name.
fn neighbor(path: &Path) -> Option<String> {
    if path.exists() {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut names: Vec<String> = fs::read_dir(folder.unwrap_or(Path::new(".")))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let nearest = suggest::nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(folder.map_or(nearest.into(), |folder| folder.join(nearest)).display().to_string())
}

/// The automata of a file with their names: several of any kind in the HOA format, or one never claim.
pub(crate) fn read_automata(
    path: &Path,
    formulas: &mut Formulas,
    sources: &mut SourceMap,
) -> Result<Vec<(String, AnyAutomaton)>, Diagnostic> {
    let name = path.display().to_string();
    let source = sources.add(name.clone(), read(path)?)?;
    let text = sources.get(source).text.clone();
    let start = text.trim_start();
    let budget = &mut Budget::unlimited();
    let wrong = |why: Unread| match why {
        Unread::Wrong(diagnostic) => diagnostic,
        Unread::Limit(limit) => Diagnostic::error("limit", limit.to_string()),
    };
    if start.starts_with("never") || start.starts_with("/*") {
        return Ok(vec![(
            name,
            AnyAutomaton::Tgba(never::read(formulas, &text, source, budget).map_err(wrong)?),
        )]);
    }
    let named =
        |found: hoa::Named<AnyAutomaton>| (found.name.unwrap_or_else(|| name.clone()), found.automaton);
    let found = hoa::read_any(formulas, &text, source, budget).map_err(wrong)?;
    let found: Vec<(String, AnyAutomaton)> = found.into_iter().map(named).collect();
    if found.is_empty() {
        return Err(Diagnostic::error("no-automaton", format!("`{name}` contains no automaton")));
    }
    Ok(found)
}
