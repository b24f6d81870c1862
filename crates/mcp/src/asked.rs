//! What tools take: models, questions, limits. Every field is described for whoever reads the schema.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use stubborn::base::Diagnostic;
use stubborn::folder::{Draft, Folder};
use stubborn::{Clock, Error, Limits, Options, Question, Session};

/// A call that says nothing has so much time and memory.
const SECONDS: f64 = 30.0;
const MEGABYTES: u64 = 500;

const MEGABYTE: u64 = 1_000_000;

/// A model: either `text`, or `path` of a file in the folder that the server was given.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// The text of the model.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// A file in the folder that the server was given, relative to it.
    #[serde(default)]
    pub(crate) path: Option<String>,
    /// The language; needed only where neither the name of the file nor the text tells.
    #[serde(default)]
    pub(crate) language: Option<Language>,
    /// Values for constants or macros of the model, like {"N": 3}.
    #[serde(default)]
    pub(crate) definitions: BTreeMap<String, Definition>,
}

/// The language of a model.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    /// Process networks (.proc).
    Process,
    /// Promela, as Spin reads it (.pml).
    Promela,
    /// Petri nets in PNML (.pnml).
    Petri,
}

/// A value of a constant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Definition {
    /// A number.
    Number(i64),
    /// Any text.
    Text(String),
}

impl Model {
    /// Reads it, from the folder alone.
    pub(crate) fn open(&self, folder: Option<&Folder>, clock: &Clock<'_>) -> Result<Session, Error> {
        let text = match (&self.text, &self.path) {
            (Some(text), None) => text.clone(),
            (None, Some(path)) => read(path, folder)?,
            (Some(_), Some(_)) => {
                return Err(usage("the model has both `text` and `path`", "give one of them"));
            }
            (None, None) => return Err(usage("the model has neither `text` nor `path`", "give one of them")),
        };
        let language = self.language.map(|language| match language {
            Language::Process => "process".to_owned(),
            Language::Promela => "promela".to_owned(),
            Language::Petri => "petri".to_owned(),
        });
        let value = |value: &Definition| match value {
            Definition::Number(number) => number.to_string(),
            Definition::Text(text) => text.clone(),
        };
        let definitions =
            self.definitions.iter().map(|(name, given)| (name.clone(), Some(value(given)))).collect();
        let draft = Draft { name: self.path.clone(), language, text, definitions };
        draft.open(folder, clock).map(|(session, _)| session)
    }
}

fn read(path: &str, folder: Option<&Folder>) -> Result<String, Error> {
    let Some(folder) = folder else {
        let help = "send the text instead, or start the server with `stubborn mcp --folder DIR`";
        return Err(usage("the server was given no folder: files cannot be read", help));
    };
    let bytes = folder.read(path).map_err(|why| {
        let files = folder.files();
        let error = Diagnostic::error("cannot-read", why.message(path));
        let listed = files.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
        let error = error.with_help(match &files[..] {
            [] => "the folder has no models: send the text instead".to_owned(),
            _ => format!("models in the folder: {listed}"),
        });
        error.suggesting(path, files.iter().map(String::as_str))
    })?;
    String::from_utf8(bytes)
        .map_err(|_| usage(&format!("`{path}` is not UTF-8 text"), "send the text instead"))
}

/// What is wrong with the arguments, and what to change.
pub(crate) fn usage(message: &str, help: &str) -> Error {
    Diagnostic::error("usage", message).with_help(help).into()
}

/// What is asked; if nothing is, everything that the model declares.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Questions {
    /// Properties that the model declares, by their names.
    #[serde(default)]
    properties: Vec<String>,
    /// Formulas of linear temporal logic that every run must satisfy, like "[] (try -> <> P@critical)".
    #[serde(default)]
    ltl: Vec<String>,
    /// Expressions that must be true in every state.
    #[serde(default)]
    invariants: Vec<String>,
    /// Whether something can always happen, or processes come to rest only where they may.
    #[serde(default)]
    deadlock_free: bool,
    /// Promela: that no process can avoid its progress labels for ever.
    #[serde(default)]
    progress: bool,
    /// Promela: that no accept label can be passed again and again.
    #[serde(default)]
    acceptance: bool,
}

impl Questions {
    pub(crate) fn all(&self) -> Vec<Question> {
        let mut all = Vec::new();
        if !self.properties.is_empty() {
            all.push(Question::Properties(self.properties.clone()));
        }
        all.extend(self.deadlock_free.then_some(Question::DeadlockFree));
        all.extend(self.progress.then_some(Question::Progress));
        all.extend(self.acceptance.then_some(Question::Acceptance));
        all.extend(self.invariants.iter().map(|text| Question::invariant(text)));
        all.extend(self.ltl.iter().map(|text| Question::ltl(text)));
        if all.is_empty() { vec![Question::Declared] } else { all }
    }
}

/// Which infinite runs count: each of "weak", "strong", "just", "weak:P,Q", "strong-action:send", or "none".
pub(crate) fn fair(texts: &[String]) -> Result<Options, Error> {
    let fair = texts.iter().map(|text| text.parse()).collect::<Result<_, Error>>()?;
    Ok(Options { fair, explain_choice: true, ..Options::default() })
}

/// How properties are decided. What is not said is chosen, which is best unless methods are to be compared.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Method {
    /// The automaton that watches runs, for formulas: tgba, ba, ta, tgta, lazy-ta, lazy-tgta, extended or auto.
    #[serde(default)]
    observer: String,
    /// How accepted runs are looked for, for formulas: scc, nested, one-pass, two-pass or auto.
    #[serde(default)]
    search: String,
    /// Which interleavings are left out: none, stubborn, closure, guided, hybrid, classical, repaired, fair or auto.
    #[serde(default)]
    reduce: String,
}

impl Method {
    pub(crate) fn choose(&self, options: Options) -> Result<Options, Error> {
        options.with_methods(&self.observer, &self.search, &self.reduce)
    }
}

/// How far this call may go. Running out is the answer "unknown", never an error of the model.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bounds {
    /// Seconds (default 30, or what the server allows at most).
    #[serde(default)]
    seconds: Option<f64>,
    /// Megabytes of memory (default 500, or what the server allows at most).
    #[serde(default)]
    megabytes: Option<u64>,
    /// States in one search (default: no limit).
    #[serde(default)]
    states: Option<u64>,
}

impl Bounds {
    /// The limits, if they are within what is allowed at most.
    pub(crate) fn within(&self, most: &Limits) -> Result<Limits, Error> {
        let most_seconds = most.time.map_or(f64::MAX, |time| time.as_secs_f64());
        let most_bytes = most.memory.unwrap_or(u64::MAX);
        let seconds = self.seconds.unwrap_or(SECONDS.min(most_seconds));
        let bytes = self.megabytes.unwrap_or(MEGABYTES).saturating_mul(MEGABYTE);
        // What nobody asked for is less where less is allowed.
        let bytes = if self.megabytes.is_none() { bytes.min(most_bytes) } else { bytes };
        // Not a number is not within anything.
        if !(seconds > 0.0 && seconds <= most_seconds) {
            let message = format!(
                "`seconds` is {seconds}, but this server allows more than 0 and at most {most_seconds}"
            );
            return Err(usage(&message, "ask for less, or start the server with a larger --timeout"));
        }
        if bytes > most_bytes {
            let message =
                format!("`megabytes` is more than the {} that this server allows", most_bytes / MEGABYTE);
            return Err(usage(&message, "ask for less, or start the server with a larger --max-memory"));
        }
        let limits = Limits::default().time(Duration::from_secs_f64(seconds)).memory(bytes);
        Ok(Limits { states: self.states, ..limits })
    }
}
