//! Mistakes and the outline of a text, by the front ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri,
};
use serde::Deserialize;
use stubborn::base::{self, Severity, SourceId, SourceMap, Span};
use stubborn::language::{File, Language, Outline};
use stubborn::ltl::{self, Formulas};
use stubborn::{Clock, LANGUAGES, Limits, ModelOptions, Session, Watcher};

use crate::text::Text;

/// What an editor may set when it starts the server (`initializationOptions`).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Constants and macros, each with its value.
    pub definitions: BTreeMap<String, String>,
    /// Where else included files are looked for.
    pub folders: Vec<String>,
    /// How long a check may take.
    pub seconds: u64,
    /// How much memory a check may take.
    pub megabytes: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { definitions: BTreeMap::new(), folders: Vec::new(), seconds: 60, megabytes: 2000 }
    }
}

impl Settings {
    pub(crate) fn model_options(&self) -> ModelOptions {
        let definitions = self.definitions.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        ModelOptions {
            definitions: definitions.collect(),
            folders: self.folders.clone(),
            ..ModelOptions::default()
        }
    }

    /// The limits of a check.
    pub(crate) fn limits(&self) -> Limits {
        Limits::default().time(Duration::from_secs(self.seconds)).memory(self.megabytes * 1_000_000)
    }
}

/// What is read while somebody types must not take longer, or more memory.
fn reading_limits() -> Limits {
    Limits::default().time(Duration::from_secs(3)).memory(1_000_000_000)
}

/// What a text is written in.
#[derive(Clone, Copy)]
pub(crate) enum Dialect {
    Model(&'static Language),
    /// A formula in each line that is not empty and does not begin with `#`.
    Formulas,
}

impl Dialect {
    /// By the editor's word for it, or by the name of the file; process networks if nothing tells.
    pub(crate) fn of(language: &str, uri: &str) -> Dialect {
        let ending = uri.rsplit_once('.').map_or("", |(_, ending)| ending);
        if language == "ltl" || ending == "ltl" {
            return Dialect::Formulas;
        }
        let by_name =
            LANGUAGES.iter().find(|known| known.name == language || known.extensions.contains(&language));
        let by_ending = || LANGUAGES.iter().find(|known| known.extensions.contains(&ending));
        Dialect::Model(by_name.or_else(by_ending).unwrap_or(&LANGUAGES[0]))
    }

    pub(crate) fn language(self) -> Option<&'static Language> {
        match self {
            Dialect::Model(language) => Some(language),
            Dialect::Formulas => None,
        }
    }
}

/// A text that is open in the editor, as it is now.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) uri: Uri,
    pub(crate) dialect: Dialect,
    pub(crate) text: Text,
    /// All texts that are open, by their files: what is included is what is seen.
    pub(crate) open: BTreeMap<PathBuf, String>,
    pub(crate) settings: Settings,
}

/// What is known of the variables of a model: least and greatest values by name.
pub(crate) type Ranges = Vec<(String, i64, i64)>;

impl Snapshot {
    /// The file, as messages name it.
    fn file(&self) -> File {
        let name = path_of(self.uri.as_str())
            .map_or_else(|| self.uri.as_str().to_owned(), |path| path.display().to_string());
        File { name, bytes: self.text.as_str().as_bytes().to_vec() }
    }

    fn load(&self, name: &str) -> Result<Vec<u8>, String> {
        let own =
            path_of(self.uri.as_str()).and_then(|path| Some(path.parent()?.to_owned())).unwrap_or_default();
        let folders = std::iter::once(own.clone()).chain(self.settings.folders.iter().map(PathBuf::from));
        let paths: Vec<PathBuf> = folders.map(|folder| folder.join(name)).collect();
        if let Some(text) = paths.iter().find_map(|path| self.open.get(path)) {
            return Ok(text.clone().into_bytes());
        }
        let path = paths.iter().find(|path| path.is_file()).unwrap_or(&paths[0]);
        std::fs::read(path).map_err(|error| error.to_string())
    }

    /// Reads the model.
    pub(crate) fn session(&self, language: &Language, clock: &Clock<'_>) -> Result<Session, stubborn::Error> {
        Session::read(
            language,
            self.file(),
            &self.settings.model_options(),
            &mut |name| self.load(name),
            clock,
        )
    }

    /// What is wrong with the text, and what is known of its variables if nothing is.
    pub(crate) fn diagnose(&self, watcher: &dyn Watcher) -> (Vec<Diagnostic>, Ranges) {
        let Dialect::Model(language) = self.dialect else { return (self.formulas(), Ranges::new()) };
        if self.text.as_str().trim().is_empty() {
            return (Vec::new(), Ranges::new());
        }
        let clock = Clock::start(&reading_limits()).watched_by(watcher);
        match self.session(language, &clock) {
            Ok(session) => {
                let found = self.convert(session.sources(), session.model().warnings().iter());
                let variables = session.model().system().variables().iter();
                let ranges =
                    variables.take(5000).map(|variable| (variable.name.clone(), variable.lo, variable.hi));
                (found, ranges.collect())
            }
            Err(error) if error.limit().is_some() => {
                let message = "the model is too large to be read while it is edited; checks read it whole";
                let severity = Some(DiagnosticSeverity::INFORMATION);
                let found = Diagnostic { severity, ..plain(Range::default(), message.to_owned()) };
                (vec![found], Ranges::new())
            }
            Err(error) => (self.convert(error.sources(), error.diagnostics().iter()), Ranges::new()),
        }
    }

    /// How many mistakes there are.
    pub(crate) fn n_errors(&self) -> usize {
        let is_error = |found: &&Diagnostic| found.severity == Some(DiagnosticSeverity::ERROR);
        self.diagnose(&Patient).0.iter().filter(is_error).count()
    }

    /// The mistakes in a file of formulas.
    fn formulas(&self) -> Vec<Diagnostic> {
        let mut sources = SourceMap::new();
        let Ok(source) = sources.add(self.uri.as_str(), self.text.as_str().into()) else { return Vec::new() };
        let mut start = 0;
        let mut found = Vec::new();
        for line in self.text.as_str().split_inclusive('\n') {
            let formula = line.trim();
            if !formula.is_empty() && !formula.starts_with('#') {
                let offset = start + (line.len() - line.trim_start().len());
                found.extend(ltl::parse(&mut Formulas::new(), formula, source, offset).err());
            }
            start += line.len();
        }
        self.convert(&sources, found.iter())
    }

    fn convert<'d>(
        &self,
        sources: &SourceMap,
        found: impl Iterator<Item = &'d base::Diagnostic>,
    ) -> Vec<Diagnostic> {
        found.map(|diagnostic| self.diagnostic(sources, diagnostic)).collect()
    }

    fn diagnostic(&self, sources: &SourceMap, diagnostic: &base::Diagnostic) -> Diagnostic {
        let mut message = diagnostic.message.clone();
        if !diagnostic.label.is_empty() && !message.contains(&diagnostic.label) {
            message += &format!(": {}", diagnostic.label);
        }
        if let Some(help) = &diagnostic.help {
            message += &format!("\n{help}");
        }
        let (range, elsewhere) = match diagnostic.span {
            Some(span) if is_own(span) => (self.text.range(span.start as usize, span.end as usize), None),
            Some(span) => {
                let source = sources.get(span.source);
                let (line, column) = source.position(span.start);
                (Range::default(), Some(format!("in {} line {line}, column {column}: ", source.name)))
            }
            None => (Range::default(), None),
        };
        let related = diagnostic.related.iter().filter(|(span, _)| is_own(*span)).map(|(span, label)| {
            let range = self.text.range(span.start as usize, span.end as usize);
            DiagnosticRelatedInformation {
                location: Location { uri: self.uri.clone(), range },
                message: label.clone(),
            }
        });
        let related: Vec<DiagnosticRelatedInformation> = related.collect();
        Diagnostic {
            severity: Some(match diagnostic.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: Some(NumberOrString::String(diagnostic.code.to_owned())),
            related_information: (!related.is_empty()).then_some(related),
            ..plain(range, elsewhere.unwrap_or_default() + &message)
        }
    }

    /// What the text declares, as far as it can be read.
    pub(crate) fn outline(&self) -> Outlined {
        let mut sources = SourceMap::new();
        let outline = match self.dialect {
            Dialect::Model(language) => {
                let clock = Clock::start(&reading_limits());
                let options = self.settings.model_options();
                let mut load = |name: &str| self.load(name);
                (language.outline)(self.file(), &options, &mut sources, &mut load, &mut clock.budget())
            }
            Dialect::Formulas => Outline::default(),
        };
        Outlined { outline, sources }
    }
}

/// An outline, and the texts that it is about; the first is the one that is edited.
pub(crate) struct Outlined {
    pub(crate) outline: Outline,
    pub(crate) sources: SourceMap,
}

/// Whether a place is in the text that is edited.
pub(crate) fn is_own(span: Span) -> bool {
    span.source == SourceId::new(0)
}

fn plain(range: Range, message: String) -> Diagnostic {
    Diagnostic { range, message, source: Some("stubborn".to_owned()), ..Diagnostic::default() }
}

/// What is wrong with a text: what the server publishes about it.
pub fn diagnose(uri: &Uri, language: &str, text: &str) -> Vec<Diagnostic> {
    let dialect = Dialect::of(language, uri.as_str());
    let text = Text::from(text.to_owned());
    let (open, settings) = (BTreeMap::new(), Settings::default());
    Snapshot { uri: uri.clone(), dialect, text, open, settings }.diagnose(&Patient).0
}

/// Who never has had enough.
struct Patient;

impl Watcher for Patient {
    fn look(&self, _elapsed: Duration, _progress: &stubborn::Progress) -> bool {
        true
    }
}

/// The file that a `file:` address names.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// The address of a file.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let mut uri = "file://".to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char);
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_addresses() {
        let path = Path::new("/a b/ü.proc");
        let uri = uri_of(path).expect("it has an address");
        assert_eq!(uri.as_str(), "file:///a%20b/%C3%BC.proc");
        assert_eq!(path_of(uri.as_str()).as_deref(), Some(path));
        assert_eq!(path_of("untitled:1"), None);
    }
}
